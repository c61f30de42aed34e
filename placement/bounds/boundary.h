/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boundary.h - the least that a set of so many vertices sends to the others
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_BOUNDARY_H
#define WEFT_PLACEMENT_BOUNDS_BOUNDARY_H

#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"

/* least[s], s = 0 ... g->n: the least weight of edges between any s vertices
 * and the others.  *exact: attained for every s; otherwise only a lower bound.
 * Exact where the graph can be swept with few vertices open at a time, and time
 * allows; memory is bounded. */
int boundary_least(const struct graph *g, const struct effort *effort,
		   double *least, bool *exact, struct weft_error *err);

/* The least weight that parts n vertices of g in two, whatever is around them;
 * INFINITY for a single one.  O(n^3). */
int boundary_cut(const struct graph *g, const uint32_t *vertex, uint32_t n,
		 double *cut, struct weft_error *err);

#endif
