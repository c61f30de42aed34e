# SPDX-License-Identifier: GPL-3.0-or-later
# Man pages are written in scdoc and shipped generated, so that a tarball needs
# no scdoc.
man_sources = \
	%D%/man/weft.1.scd \
	%D%/man/weft-advise.1.scd \
	%D%/man/weft-audit.1.scd \
	%D%/man/weft-calibrate.1.scd \
	%D%/man/weft-defrag.1.scd \
	%D%/man/weft-doctor.1.scd \
	%D%/man/weft-draw.1.scd \
	%D%/man/weft-export.1.scd \
	%D%/man/weft-fabric.1.scd \
	%D%/man/weft-fabric.5.scd \
	%D%/man/weft-gains.7.scd \
	%D%/man/weft-import.1.scd \
	%D%/man/weft-inventory.5.scd \
	%D%/man/weft-jobs.7.scd \
	%D%/man/weft-map.1.scd \
	%D%/man/weft-model.1.scd \
	%D%/man/weft-plan.1.scd \
	%D%/man/weft-ranks.1.scd \
	%D%/man/weft-replay.1.scd \
	%D%/man/weft-score.1.scd \
	%D%/man/weft-setup.1.scd \
	%D%/man/weft-slurm.8.scd \
	%D%/man/weft-spec.1.scd \
	%D%/man/weft-spec.7.scd \
	%D%/man/weft-state.5.scd \
	%D%/man/weft-status.1.scd \
	%D%/man/weft-status-file.5.scd \
	%D%/man/weft-synth.1.scd \
	%D%/man/weft-why.1.scd \
	%D%/man/weft.yaml.5.scd \
	# End of man_sources
man_pages = $(man_sources:.scd=)

if HAVE_MAN
dist_man_MANS = $(man_pages)
endif
MAINTAINERCLEANFILES += $(man_pages)
EXTRA_DIST += \
	$(man_sources) \
	%D%/ARCHITECTURE.md \
	%D%/CONTRIBUTING.md \
	CHANGELOG.md \
	# End of EXTRA_DIST

# What each command's --json prints, as JSON Schema; tests/cli/schema.sh.
schemadir = $(datadir)/weft/schema
dist_schema_DATA = \
	%D%/schema/advise-1.json \
	%D%/schema/audit-1.json \
	%D%/schema/calibrate-1.json \
	%D%/schema/defrag-1.json \
	%D%/schema/doctor-1.json \
	%D%/schema/draw-1.json \
	%D%/schema/error-1.json \
	%D%/schema/fabric-1.json \
	%D%/schema/import-1.json \
	%D%/schema/map-1.json \
	%D%/schema/model-1.json \
	%D%/schema/plan-1.json \
	%D%/schema/ranks-1.json \
	%D%/schema/replay-1.json \
	%D%/schema/saved-1.json \
	%D%/schema/score-1.json \
	%D%/schema/setup-1.json \
	%D%/schema/spec-1.json \
	%D%/schema/status-1.json \
	%D%/schema/why-1.json \
	# End of dist_schema_DATA

# How a program uses libweft; built and run by tests/cli/example.sh.
check_PROGRAMS += %D%/example/place
doc_example_place_LDADD = libweft.la

# The manual and the documents as pages that need no network, in html/.
html_documents = \
	README.md \
	CHANGELOG.md \
	%D%/ARCHITECTURE.md \
	%D%/CONTRIBUTING.md \
	# End of html_documents
html: $(man_pages)
	@$(srcdir)/%D%/html '$(srcdir)' html $(man_pages) -- $(html_documents)
.PHONY: html
EXTRA_DIST += %D%/html

SUFFIXES = .scd
.scd:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SCDOC) <$< >$@.tmp && mv $@.tmp $@
