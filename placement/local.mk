# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_placement.la
libweft_placement_la_SOURCES = \
	%D%/arrange.c \
	%D%/arrange.h \
	%D%/baseline.c \
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
	%D%/deal.c \
	%D%/deal.h \
	%D%/defrag.c \
	%D%/evaluation.c \
	%D%/fragmentation.c \
	%D%/gain.c \
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
	%D%/layout_spread.c \
	%D%/layouts.c \
	%D%/layouts.h \
	%D%/leftovers.c \
	%D%/leftovers.h \
	%D%/limits.c \
	%D%/limits.h \
	%D%/links.c \
	%D%/links.h \
	%D%/memo.c \
	%D%/memo.h \
	%D%/objective.c \
	%D%/occupancy.c \
	%D%/occupancy_parts.h \
	%D%/order.c \
	%D%/order.h \
	%D%/outlook.c \
	%D%/place.c \
	%D%/place_first.c \
	%D%/place_firstfit.c \
	%D%/place_firstfit.h \
	%D%/place_grouped.c \
	%D%/place_grouped.h \
	%D%/place_pack.c \
	%D%/place_pack.h \
	%D%/placement.c \
	%D%/pursuit.c \
	%D%/pursuit.h \
	%D%/ranking.c \
	%D%/ranking.h \
	%D%/reason.c \
	%D%/reason.h \
	%D%/reason_limits.c \
	%D%/refine.c \
	%D%/refine.h \
	%D%/refine_climb.c \
	%D%/refine_parts.h \
	%D%/running.c \
	%D%/search.c \
	%D%/search.h \
	%D%/slots.c \
	%D%/slurm_rule.c \
	%D%/slurm_rule.h \
	%D%/slurm_tree.c \
	%D%/supply.c \
	%D%/supply.h \
	%D%/bounds/contour.c \
	%D%/bounds/contour.h \
	%D%/bounds/cut.c \
	%D%/bounds/cut.h \
	%D%/bounds/lattice.c \
	%D%/bounds/lattice.h \
	%D%/bounds/lattice_runs.c \
	%D%/bounds/lattice_runs.h \
	%D%/bounds/layers.c \
	%D%/bounds/layers.h \
	%D%/bounds/line.c \
	%D%/bounds/line.h \
	%D%/bounds/mapping_bound.c \
	%D%/bounds/perimeter.c \
	%D%/bounds/perimeter.h \
	%D%/bounds/rails.c \
	%D%/bounds/rails.h \
	%D%/bounds/spectrum.c \
	%D%/bounds/spectrum.h \
	%D%/mapping/alignment.c \
	%D%/mapping/alignment.h \
	%D%/mapping/climb.c \
	%D%/mapping/climb.h \
	%D%/mapping/collapse.c \
	%D%/mapping/collapse.h \
	%D%/mapping/effort.c \
	%D%/mapping/effort.h \
	%D%/mapping/exchange.c \
	%D%/mapping/exchange.h \
	%D%/mapping/graph.c \
	%D%/mapping/graph.h \
	%D%/mapping/lap.c \
	%D%/mapping/lap.h \
	%D%/mapping/mapping.c \
	%D%/mapping/mapping.h \
	%D%/mapping/multisection.c \
	%D%/mapping/multisection.h \
	%D%/mapping/portfolio.c \
	%D%/mapping/portfolio.h \
	%D%/mapping/qap.c \
	%D%/mapping/qap.h \
	%D%/mapping/qap_ascent.c \
	%D%/mapping/qap_ascent.h \
	%D%/mapping/qap_bound.c \
	%D%/mapping/qap_form.c \
	%D%/mapping/qap_form.h \
	%D%/mapping/qap_pool.c \
	%D%/mapping/qap_pool.h \
	%D%/mapping/qap_tabu.h \
	%D%/mapping/qap_tabu_cell.h \
	%D%/mapping/qap_tabu_narrow.c \
	%D%/mapping/qap_tabu_step.h \
	%D%/mapping/qap_tabu_wide.c \
	%D%/mapping/seating.c \
	%D%/mapping/seating.h \
	%D%/mapping/sites.c \
	%D%/mapping/sites.h \
	%D%/mapping/split.c \
	%D%/mapping/split.h \
	%D%/mapping/stage.c \
	%D%/mapping/stage.h \
	%D%/mapping/starts.c \
	%D%/mapping/starts.h \
	%D%/mapping/tree.c \
	%D%/mapping/tree.h \
	%D%/replay/contention.c \
	%D%/replay/contention.h \
	%D%/replay/ledger.c \
	%D%/replay/ledger.h \
	%D%/replay/mix.c \
	%D%/replay/policy.c \
	%D%/replay/pricing.c \
	%D%/replay/pricing.h \
	%D%/replay/replay.c \
	%D%/replay/replay_pace.c \
	%D%/replay/replay_run.c \
	%D%/replay/replay_run.h \
	%D%/replay/replay_start.c \
	%D%/replay/replay_summary.c \
	%D%/replay/replay_summary.h \
	%D%/replay/stream.c \
	# End of libweft_placement_la_SOURCES
libweft_placement_la_LIBADD = libweft_costmodel.la

# Proofs, which need a solver: a library of its own, so that slurmctld loads
# none.
noinst_LTLIBRARIES += libweft_exact.la
libweft_exact_la_SOURCES = \
	%D%/bounds/boundary.c \
	%D%/bounds/boundary.h \
	%D%/exact/aggregate.c \
	%D%/exact/aggregate.h \
	%D%/exact/blocks.c \
	%D%/exact/blocks.h \
	%D%/exact/enumeration.c \
	%D%/exact/enumeration.h \
	%D%/exact/excess.c \
	%D%/exact/excess.h \
	%D%/exact/grouping.c \
	%D%/exact/grouping.h \
	%D%/exact/parting.c \
	%D%/exact/parting.h \
	%D%/exact/pieces.c \
	%D%/exact/pieces.h \
	%D%/exact/place_exact.c \
	%D%/exact/place_exact.h \
	%D%/exact/program.c \
	%D%/exact/program.h \
	%D%/exact/proof.c \
	%D%/exact/proof.h \
	# End of libweft_exact_la_SOURCES
libweft_exact_la_LIBADD = libweft_placement.la
if HAVE_GLPK
libweft_exact_la_SOURCES += %D%/exact/program_glpk.c
libweft_exact_la_LIBADD += $(GLPK_LIBS)
else
libweft_exact_la_SOURCES += %D%/exact/program_none.c
endif
EXTRA_DIST += \
	%D%/exact/program_glpk.c \
	%D%/exact/program_none.c \
	# End of EXTRA_DIST

weft_placement_headers = \
	%D%/baseline.h \
	%D%/defrag.h \
	%D%/fragmentation.h \
	%D%/evaluation.h \
	%D%/gain.h \
	%D%/job.h \
	%D%/judge.h \
	%D%/objective.h \
	%D%/occupancy.h \
	%D%/outlook.h \
	%D%/place.h \
	%D%/placement.h \
	%D%/running.h \
	%D%/slots.h \
	%D%/replay/mix.h \
	%D%/replay/policy.h \
	%D%/replay/replay.h \
	%D%/replay/stream.h \
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
	$(weft_base_headers) \
	$(weft_topology_headers) \
	$(weft_costmodel_headers) \
	$(weft_placement_headers) \
	# End of nobase_weftinclude_HEADERS
