/* SPDX-License-Identifier: GPL-3.0-or-later */
/* local_search.h - a assignment improved, from one local optimum to the next
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_LOCAL_SEARCH_H
#define WEFT_PLACEMENT_MAPPING_LOCAL_SEARCH_H

#include "placement/mapping/bisection.h"
#include "placement/mapping/exchange.h"

/* One granularity of the problem, with all that its search needs. */
struct local_search {
	const struct graph *g; /* g->n is t->n_slots */
	const struct tree *t;
	struct assignment now;
	struct assignment best;	   /* since the search began to accept losses */
	struct assignment earlier; /* to return to */
	struct bisector bisector;
	struct exchange exchange;
	struct bisection bisection;
	double floor;	    /* cost if all were in one bin */
	uint32_t n_domains; /* above the bins; 0 if only one can be */
	uint32_t *region;   /* [n_bins] */
	bool *inside;	    /* [n_bins] */
};

/* Free with local_search_free in either case.  Keeps pointers into itself:
 * never move it. */
int local_search_build(const struct graph *g, const struct tree *t,
		       struct effort *effort, struct local_search *c,
		       struct weft_error *err);
void local_search_free(struct local_search *c);

/* From nothing.  False: the effort ran out, and c->now means nothing. */
bool local_search_restart(struct local_search *c);
/* To a local optimum of exchanges between two bins. */
void local_search_settle(struct local_search *c);
/* Spends `work` on random changes, of which losses are accepted ever more
 * rarely, then on whole domains exchanged, up to the highest.  0: those alone.
 * c->now ends no worse than it was.  -1 for lack of memory. */
int local_search_round(struct local_search *c, uint64_t work,
		       struct weft_error *err);

#endif
