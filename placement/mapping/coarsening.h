/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coarsening.h - ranks that belong together, as groups of one size
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_COARSENING_H
#define WEFT_PLACEMENT_MAPPING_COARSENING_H

#include "placement/mapping/graph.h"

/* Groups of `size` vertices each, of which `of` names one per vertex. */
struct coarsening {
	uint32_t size, n_groups;
	uint32_t *of;  /* [g->n] */
	bool dominant; /* belong together clearly more than to others */
};

/* Pairs along heavy edges, and pairs of pairs, as long as the size divides both
 * `divisor` and the number of vertices: levels[0] is one vertex per group.
 * Returns the number of levels, at most COLLAPSE_MAX, or -1.  Free each. */
#define COLLAPSE_MAX 8
int coarsening_build(const struct graph *g, uint32_t divisor,
		     struct coarsening *levels, struct weft_error *err);
void coarsening_free(struct coarsening *levels, int n);

/* The largest groups that are held together by heavier edges than any between
 * two of them, all of one size of which domains of first[b + 1] - first[b]
 * sites (n_bins of them) have room for all.  size 1: there are none; -1 with
 * err when out of memory.  Free in either case. */
int coarsening_whole(const struct graph *g, const uint32_t *first,
		     uint32_t n_bins, struct coarsening *groups,
		     struct weft_error *err);

#endif
