# SPDX-License-Identifier: GPL-3.0-or-later
noinst_LTLIBRARIES += libweft_placement.la
libweft_placement_la_SOURCES = \
	%D%/abi/abi.c \
	%D%/abi/abi_answers.c \
	%D%/bounds/contour.c \
	%D%/bounds/contour.h \
	%D%/bounds/cut.c \
	%D%/bounds/cut.h \
	%D%/bounds/filled.c \
	%D%/bounds/filled.h \
	%D%/bounds/lattice.c \
	%D%/bounds/lattice.h \
	%D%/bounds/lattice_runs.c \
	%D%/bounds/lattice_runs.h \
	%D%/bounds/layers.c \
	%D%/bounds/layers.h \
	%D%/bounds/line.c \
	%D%/bounds/perimeter.c \
	%D%/bounds/perimeter.h \
	%D%/bounds/spectrum.c \
	%D%/bounds/spectrum.h \
	%D%/capacity/fragmentation.c \
	%D%/capacity/occupancy.c \
	%D%/capacity/occupancy_parts.h \
	%D%/capacity/running.c \
	%D%/capacity/slots.c \
	%D%/capacity/capacity.c \
	%D%/capacity/capacity.h \
	%D%/defrag.c \
	%D%/job.c \
	%D%/mapping/alignment.c \
	%D%/mapping/mapping_parts.h \
	%D%/mapping/cliques.c \
	%D%/mapping/cliques.h \
	%D%/mapping/local_search.c \
	%D%/mapping/local_search.h \
	%D%/mapping/coarsening.c \
	%D%/mapping/effort.c \
	%D%/mapping/effort.h \
	%D%/mapping/exchange.c \
	%D%/mapping/graph.c \
	%D%/mapping/graph.h \
	%D%/mapping/mapping.c \
	%D%/mapping/mapping.h \
	%D%/mapping/bisection.c \
	%D%/mapping/assignment.c \
	%D%/mapping/assignment.h \
	%D%/mapping/sites.c \
	%D%/mapping/sites.h \
	%D%/mapping/bisect.c \
	%D%/mapping/bisect.h \
	%D%/mapping/multistart.c \
	%D%/mapping/tree.c \
	%D%/mapping/tree.h \
	%D%/plan_cache.c \
	%D%/plan_cache.h \
	%D%/nodes/apart.c \
	%D%/nodes/apart.h \
	%D%/nodes/candidates.c \
	%D%/nodes/candidates.h \
	%D%/nodes/candidates_equal.c \
	%D%/nodes/node_set.c \
	%D%/nodes/node_set.h \
	%D%/nodes/node_set_around.c \
	%D%/nodes/node_set_flat.c \
	%D%/nodes/distribute.c \
	%D%/nodes/distribute.h \
	%D%/nodes/groups.c \
	%D%/nodes/groups.h \
	%D%/nodes/groups_segment.c \
	%D%/nodes/groups_split.c \
	%D%/nodes/layout_spread.c \
	%D%/nodes/layouts.c \
	%D%/nodes/layouts.h \
	%D%/nodes/leftovers.c \
	%D%/nodes/leftovers.h \
	%D%/nodes/limits.c \
	%D%/nodes/limits.h \
	%D%/objective/baseline.c \
	%D%/objective/bottleneck.c \
	%D%/objective/bottleneck.h \
	%D%/objective/bound.c \
	%D%/objective/bound.h \
	%D%/objective/evaluation.c \
	%D%/objective/gain.c \
	%D%/objective/judge.c \
	%D%/objective/known.c \
	%D%/objective/objective.c \
	%D%/objective/comparison.c \
	%D%/objective/comparison.h \
	%D%/objective/slurm_rule.c \
	%D%/objective/slurm_rule.h \
	%D%/objective/slurm_tree.c \
	%D%/blockers.c \
	%D%/place.c \
	%D%/place_first.c \
	%D%/place_given.c \
	%D%/place_parts.h \
	%D%/place_search.c \
	%D%/place_firstfit.c \
	%D%/place_grouped.c \
	%D%/place_pack.c \
	%D%/placement.c \
	%D%/ranks/arrange.c \
	%D%/ranks/arrange.h \
	%D%/ranks/ground.c \
	%D%/ranks/ground.h \
	%D%/ranks/links.c \
	%D%/ranks/links.h \
	%D%/ranks/nest.c \
	%D%/ranks/nest.h \
	%D%/ranks/nest_choose.c \
	%D%/ranks/order.c \
	%D%/ranks/order.h \
	%D%/ranks/pursuit.c \
	%D%/ranks/pursuit.h \
	%D%/ranks/replicas.c \
	%D%/ranks/replicas.h \
	%D%/ranks/search.c \
	%D%/ranks/search.h \
	%D%/refine/refine.c \
	%D%/refine/refine.h \
	%D%/refine/refine_columns.c \
	%D%/refine/refine_fill.c \
	%D%/refine/refine_first.c \
	%D%/refine/refine_local_search.c \
	%D%/refine/refine_pairs.c \
	%D%/refine/refine_parts.h \
	%D%/refine/refine_runs.c \
	%D%/refine/refine_segments.c \
	%D%/refine/refine_wander.c \
	%D%/refine/relocate.c \
	%D%/refine/relocate.h \
	%D%/reason.c \
	%D%/reason.h \
	%D%/reason_limits.c \
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
	%D%/exact/pieces.c \
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
	%D%/abi/abi.h \
	%D%/capacity/fragmentation.h \
	%D%/capacity/occupancy.h \
	%D%/capacity/running.h \
	%D%/capacity/slots.h \
	%D%/defrag.h \
	%D%/job.h \
	%D%/objective/baseline.h \
	%D%/objective/evaluation.h \
	%D%/objective/gain.h \
	%D%/objective/judge.h \
	%D%/objective/known.h \
	%D%/objective/objective.h \
	%D%/blockers.h \
	%D%/place.h \
	%D%/placement.h \
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
