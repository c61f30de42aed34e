/* SPDX-License-Identifier: GPL-3.0-or-later */
/* local_search.h - an assignment improved, from one local optimum to the next
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_LOCAL_SEARCH_H
#define WEFT_PLACEMENT_MAPPING_LOCAL_SEARCH_H

#include "placement/mapping/assignment.h"
#include "placement/mapping/bisect.h"

/* ---- items of two bins exchanged for the better ---- */

struct exchange {
	struct assignment *assignment;
	struct bisector *bisector;
	uint32_t *slots; /* [n] of the two bins, that may be exchanged */
	uint32_t *local; /* [n] index of each item in the piece */
	uint32_t *queue; /* [n_bins] ring: bins with new items */
	bool *queued;	 /* [n_bins] */
	uint32_t *seen;	 /* [n_bins] bins met around one, by stamp */
	uint32_t *around;
	uint32_t head, n_queued, stamp;
};

enum exchange_mode {
	EXCHANGE_REFINE,  /* from the present arrangement */
	EXCHANGE_PERTURB, /* after a few random swaps */
	EXCHANGE_REGROW,  /* from a random item */
};

/* Free with exchange_free in either case. */
int exchange_build(struct assignment *assignment, struct bisector *bisector,
		   struct exchange *x, struct weft_error *err);
void exchange_free(struct exchange *x);

/* Splits the items on slots of a kind in bins a and b anew; keeps the result
 * if the cost grows by no more than `tolerance`.  True if the cost fell.
 * Changed bins are queued. */
bool exchange_pair(struct exchange *x, uint32_t a, uint32_t b, uint32_t kind,
		   enum exchange_mode mode, double tolerance);

void exchange_queue(struct exchange *x, uint32_t bin);
/* Refines every pair with a queued bin and edges between them until none gains.
 * False: the effort ran out. */
bool exchange_settle(struct exchange *x);
/* Takes all out of the queue. */
void exchange_forget(struct exchange *x);

/* ---- items dealt out to bins from nothing, by repeated cuts ---- */

struct bisection {
	struct assignment *assignment;
	struct bisector *bisector;
	uint32_t *items;  /* [n] to be dealt out */
	uint32_t *local;  /* [n] index of each in the piece at work */
	uint32_t *buffer; /* [n] */
	uint32_t *bins;	  /* [n_bins] to be filled, in order */
	uint32_t *quota;  /* [n_bins] items of each bin */
	bool *open;	  /* [n_bins] being filled */
	uint64_t *key;	  /* [2 * n_bins] */
	uint32_t *weight; /* [n_bins] slots of each domain */
};

/* Free with bisection_free in either case. */
int bisection_build(struct assignment *assignment, struct bisector *bisector,
		    struct bisection *m, struct weft_error *err);
void bisection_free(struct bisection *m);

/* Deals all items out to all bins, domains in random order; spare slots go to
 * random bins, rather to small ones.  False: the effort ran out; the assignment
 * is then without meaning. */
bool bisection_all(struct bisection *m);
/* The same with the items of these bins; the others stay. */
bool bisection_some(struct bisection *m, const uint32_t *bins, uint32_t n_bins);

/* ---- the search ---- */

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

/* ---- many starts, and long work on the best of them ---- */

/* Called with every assignment that is the best so far; false ends the search.
 */
typedef bool (*multistart_offer)(void *context, const struct assignment *s);

/* Searches until the effort is spent, the offer says so, or series of starts of
 * growing length have found nothing better.  c->now as it comes is one of the
 * starts of each; from_given: of the first series the only one.  -1 for lack of
 * memory. */
int multistart_run(struct local_search *c, bool from_given,
		   multistart_offer offer, void *context,
		   struct weft_error *err);

#endif
