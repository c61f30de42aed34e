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

#endif
