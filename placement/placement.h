/* SPDX-License-Identifier: GPL-3.0-or-later */
/* placement.h - the answer: which rank runs on which GPU, and what it costs */
#ifndef WEFT_PLACEMENT_PLACEMENT_H
#define WEFT_PLACEMENT_PLACEMENT_H

#include "costmodel/time/cost.h"

#define WEFT_MAX_REASONS 16

/* placed == false is an answer, not an error: `why` says what is missing. */
struct weft_placement {
	bool placed;
	uint32_t n_ranks, n_nodes;
	uint32_t *where; /* [n_ranks] GPU of each rank */
	uint32_t *nodes; /* [n_nodes] in order of their lowest rank */
	struct weft_cost cost;
	enum weft_metric metric; /* the one optimised, and of bound and gap */
	double bound;		 /* no placement of this job costs less */
	double bounds[WEFT_N_METRICS]; /* the same in every metric */
	double gap;	    /* (cost - bound) / cost, 0..1; 0 when cost is 0 */
	const char *method; /* strategy that found it; static text */
	/* The best of the other sets of nodes that were looked at: [n_next]
	 * nodes, and the cost with the best plain order there; none: n_next 0
	 */
	uint32_t n_next;
	uint32_t *next;
	double next_cost;
	char why[WEFT_MAX_REASONS][160];
	uint32_t n_why;
};

void weft_placement_free(struct weft_placement *p);

/* Adds a sentence to p->why; silently full at WEFT_MAX_REASONS. */
void weft_placement_explain(struct weft_placement *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
