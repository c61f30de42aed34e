# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_placement.la
libweft_placement_la_SOURCES = \
	%D%/alignment.c \
	%D%/alignment.h \
	%D%/arrange.c \
	%D%/arrange.h \
	%D%/bottleneck.c \
	%D%/bottleneck.h \
	%D%/bound.c \
	%D%/bound.h \
	%D%/candidates.c \
	%D%/candidates.h \
	%D%/candidates_equal.c \
	%D%/choice.c \
	%D%/choice.h \
	%D%/choice_around.c \
	%D%/choice_flat.c \
	%D%/climb.c \
	%D%/climb.h \
	%D%/collapse.c \
	%D%/collapse.h \
	%D%/contour.c \
	%D%/contour.h \
	%D%/cut.c \
	%D%/cut.h \
	%D%/deal.c \
	%D%/deal.h \
	%D%/defrag.c \
	%D%/effort.c \
	%D%/effort.h \
	%D%/evaluation.c \
	%D%/exchange.c \
	%D%/exchange.h \
	%D%/graph.c \
	%D%/graph.h \
	%D%/ground.c \
	%D%/ground.h \
	%D%/groups.c \
	%D%/groups.h \
	%D%/groups_segment.c \
	%D%/groups_split.c \
	%D%/job.c \
	%D%/job_grids.c \
	%D%/job_grids.h \
	%D%/judge.c \
	%D%/lap.c \
	%D%/lap.h \
	%D%/lattice.c \
	%D%/lattice.h \
	%D%/lattice_runs.c \
	%D%/lattice_runs.h \
	%D%/layers.c \
	%D%/layers.h \
	%D%/layout_spread.c \
	%D%/layouts.c \
	%D%/layouts.h \
	%D%/ledger.c \
	%D%/ledger.h \
	%D%/limits.c \
	%D%/limits.h \
	%D%/line.c \
	%D%/line.h \
	%D%/leftovers.c \
	%D%/leftovers.h \
	%D%/links.c \
	%D%/links.h \
	%D%/mapping.c \
	%D%/mapping.h \
	%D%/mapping_bound.c \
	%D%/mix.c \
	%D%/multisection.c \
	%D%/multisection.h \
	%D%/objective.c \
	%D%/occupancy.c \
	%D%/occupancy_parts.h \
	%D%/order.c \
	%D%/order.h \
	%D%/outlook.c \
	%D%/perimeter.c \
	%D%/perimeter.h \
	%D%/place.c \
	%D%/place_firstfit.c \
	%D%/place_firstfit.h \
	%D%/place_grouped.c \
	%D%/place_grouped.h \
	%D%/place_pack.c \
	%D%/place_pack.h \
	%D%/placement.c \
	%D%/policy.c \
	%D%/policy_slurm.c \
	%D%/policy_slurm.h \
	%D%/pricing.c \
	%D%/pricing.h \
	%D%/qap.c \
	%D%/qap.h \
	%D%/qap_ascent.c \
	%D%/qap_ascent.h \
	%D%/qap_bound.c \
	%D%/qap_form.c \
	%D%/qap_form.h \
	%D%/qap_pool.c \
	%D%/qap_pool.h \
	%D%/qap_tabu.h \
	%D%/qap_tabu_cell.h \
	%D%/qap_tabu_narrow.c \
	%D%/qap_tabu_step.h \
	%D%/qap_tabu_wide.c \
	%D%/pursuit.c \
	%D%/pursuit.h \
	%D%/rails.c \
	%D%/rails.h \
	%D%/ranking.c \
	%D%/ranking.h \
	%D%/reason.c \
	%D%/reason.h \
	%D%/reason_limits.c \
	%D%/replay.c \
	%D%/replay_run.c \
	%D%/replay_run.h \
	%D%/replay_start.c \
	%D%/replay_summary.c \
	%D%/replay_summary.h \
	%D%/running.c \
	%D%/search.c \
	%D%/search.h \
	%D%/seating.c \
	%D%/seating.h \
	%D%/sites.c \
	%D%/sites.h \
	%D%/slots.c \
	%D%/spectrum.c \
	%D%/spectrum.h \
	%D%/split.c \
	%D%/split.h \
	%D%/stage.c \
	%D%/stage.h \
	%D%/starts.c \
	%D%/starts.h \
	%D%/stream.c \
	%D%/supply.c \
	%D%/supply.h \
	%D%/tree.c \
	%D%/tree.h \
	# End of libweft_placement_la_SOURCES
libweft_placement_la_LIBADD = libweft_costmodel.la

# Proofs, which need a solver: a library of its own, so that slurmctld loads
# none.
noinst_LTLIBRARIES += libweft_exact.la
libweft_exact_la_SOURCES = \
	%D%/aggregate.c \
	%D%/aggregate.h \
	%D%/blocks.c \
	%D%/blocks.h \
	%D%/boundary.c \
	%D%/boundary.h \
	%D%/enumeration.c \
	%D%/enumeration.h \
	%D%/excess.c \
	%D%/excess.h \
	%D%/grouping.c \
	%D%/grouping.h \
	%D%/parting.c \
	%D%/parting.h \
	%D%/pieces.c \
	%D%/pieces.h \
	%D%/place_exact.c \
	%D%/place_exact.h \
	%D%/program.c \
	%D%/program.h \
	%D%/proof.c \
	%D%/proof.h \
	# End of libweft_exact_la_SOURCES
libweft_exact_la_LIBADD = libweft_placement.la
if HAVE_GLPK
libweft_exact_la_SOURCES += %D%/program_glpk.c
libweft_exact_la_LIBADD += $(GLPK_LIBS)
else
libweft_exact_la_SOURCES += %D%/program_none.c
endif
EXTRA_DIST += \
	%D%/program_glpk.c \
	%D%/program_none.c \
	# End of EXTRA_DIST

weft_placement_headers = \
	%D%/defrag.h \
	%D%/evaluation.h \
	%D%/job.h \
	%D%/judge.h \
	%D%/mix.h \
	%D%/objective.h \
	%D%/occupancy.h \
	%D%/outlook.h \
	%D%/place.h \
	%D%/placement.h \
	%D%/policy.h \
	%D%/replay.h \
	%D%/running.h \
	%D%/slots.h \
	%D%/stream.h \
	# End of weft_placement_headers

# The library that others link: the three layers in one.
lib_LTLIBRARIES += libweft.la
libweft_la_SOURCES =
libweft_la_LIBADD = libweft_placement.la
libweft_la_LDFLAGS = \
	$(AM_LDFLAGS) \
	-version-info 0:0:0 \
	-no-undefined \
	-export-symbols-regex '^weft_' \
	# End of libweft_la_LDFLAGS

weftincludedir = $(includedir)/weft
nobase_weftinclude_HEADERS = \
	$(weft_topology_headers) \
	$(weft_costmodel_headers) \
	$(weft_placement_headers) \
	# End of nobase_weftinclude_HEADERS
