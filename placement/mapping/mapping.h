/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping.h - which vertex of a graph sits on which site of a tree
 *
 * The optimiser alone, without jobs, nodes' limits or occupancy: what
 * weft_place uses on the sites that it has chosen, and weft map on anyone's
 * problem.  Private to placement/ and to the command line's map.
 */
#ifndef WEFT_PLACEMENT_MAPPING_MAPPING_H
#define WEFT_PLACEMENT_MAPPING_MAPPING_H

#include "base/error.h"
#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/sites.h"

/* Vertices of g on distinct sites of s, of which there are at least as many;
 * those beyond are spare, and which ones stay empty is part of the search. */
struct mapping {
	const struct graph *g;
	const struct sites *s;
	/* Arrangements to start from, site of each vertex, [n_starts][g->n];
	 * the answer is never worse than the best of them.  The order as given,
	 * vertex i on site i, is always one. */
	const uint32_t *const *start;
	uint32_t n_starts;
	double target; /* cost that cannot be improved on; 0 if unknown */
	/* A part of the effort goes into arrangements that take as much of each
	 * lowest domain, where sites are spare. */
	bool spread;
};

/* Fills site_of[g->n] with the best arrangement found and *cost with its sum of
 * weight * distance over all edges (g->inside excluded).  *method: what found
 * it, static text; may be NULL.  No deadline: the same answer for the same
 * effort->random and effort->work, everywhere.  Returns before the
 * effort is spent when target is reached or when it has long found nothing. */
int mapping_solve(const struct mapping *m, struct effort *effort,
		  uint32_t *site_of, double *cost, const char **method,
		  struct weft_error *err);

/* Cost of an arrangement. */
double mapping_cost(const struct graph *g, const struct sites *s,
		    const uint32_t *site_of);

#endif
