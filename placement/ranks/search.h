/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.h - improving who sits where by swaps and moves
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_SEARCH_H
#define WEFT_PLACEMENT_RANKS_SEARCH_H

#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/sites.h"

/* A node that sites are on, while items move. */
struct host {
	uint32_t used, most; /* GPUs taken, GPUs it may give */
	bool required;	     /* may not become empty */
};

/* Items (vertices of g) on sites; a site without an item is spare.
 * hosts: per site the index of its host, so that moves keep to the limits. */
struct search {
	const struct graph *g;
	/* NULL, or what makes the rows, of which g only has the number; then
	 * cost is that of all edges. */
	struct graph_lazy *lazy;
	double cost;
	const struct sites *s;
	uint32_t *site_of;	 /* [g->n] */
	uint32_t *item_at;	 /* [s->n] or WEFT_NONE */
	uint32_t unit;		 /* GPUs per item */
	const uint32_t *host_of; /* [s->n] */
	struct host *hosts;
	uint32_t n_used, min_used, max_used; /* hosts in use; max 0: no limit */
	bool fixed; /* a host in use keeps exactly its GPUs */
	/* by host: items stay on the hosts of their fence; NULL: none */
	const uint32_t *fence;
	/* Called with the cost so far after every change that is accepted, for
	 * tests; NULL: not. */
	void (*watch)(const struct search *q, double cost);
};

/* Sum of weight times distance over all edges. */
double search_cost(const struct search *q);

/* Local search with kicks.  Changes site_of, item_at and hosts; the cost never
 * rises.  Stops at a cost of `target`, when the effort is spent, or when many
 * kicks in a row brought nothing. */
int search_run(struct search *q, struct effort *effort, double target,
	       struct weft_error *err);

#endif
