/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.h - rank orders worth trying, whatever the nodes
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_ORDER_H
#define WEFT_PLACEMENT_RANKS_ORDER_H

#include "placement/job.h"
#include "placement/mapping/cliques.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/sites.h"
#include "placement/ranks/nest.h"

#define ORDERS_MAX 37
/* Sizes of runs that are kept: searches go back and forth between a few. */
#define ORDERS_CUTS 4

/* Every order cut into runs of `block` ranks; 0: not made. */
struct orders_cut {
	uint32_t block;
	bool in_cliques; /* the graphs are of loose edges alone */
	/* a vertex is a run; edges to later ones alone */
	struct graph graph[ORDERS_MAX];
	struct clique_runs cliques[ORDERS_MAX]; /* where they are */
	uint32_t n_edges; /* of order 0, those of cliques among them */
};

/* What every order costs on a list of GPUs, by its hash and in the metric. */
struct orders_priced {
	uint64_t key; /* 0: not of a list */
	bool whole;   /* no order was left out */
	double cost[ORDERS_MAX];
};

/* Prices that are kept: searches come back to what others have looked at. */
#define ORDERS_PRICED 256

/* rank[k][i]: the rank that comes i-th in order k.  Order 0 is that of the
 * ranks themselves, the others nest the job's axes in every other way; the last
 * few cut them into tiles. */
struct orders {
	uint32_t n, n_ranks;
	struct nest nest[ORDERS_MAX];
	uint32_t *rank[ORDERS_MAX];
	/* the job's traffic: the caller's, if not NULL, or its own */
	struct cliques *shared, own;
	struct orders_cut cut[ORDERS_CUTS];
	uint32_t now, last; /* the cut that orders_cost goes by; made last */
	struct orders_priced *priced; /* [ORDERS_PRICED]; NULL: none yet */
};

/* shared: the job's traffic, which it keeps; NULL: it has its own.
 * tile: ranks of a node.  Free with orders_free in either case. */
int orders_build(const struct weft_job *job, const struct weft_fabric *f,
		 uint32_t tile, struct cliques *shared, struct orders *o,
		 struct weft_error *err);
struct cliques *orders_traffic(struct orders *o);
/* Adds orders whose runs of `size` ranks are tiles: a part of several axes
 * each, as 4 tensor ranks of 2 context ranks.  Only where they keep more bytes
 * inside than any nesting does. */
int orders_tile(struct orders *o, const struct weft_job *job, uint32_t size,
		struct weft_error *err);
void orders_free(struct orders *o);

/* Cuts every order into runs of `block` ranks, for orders_cost on sites of f.
 */
int orders_cut(struct orders *o, uint32_t block, const struct weft_fabric *f,
	       struct weft_error *err);

/* Cost of order k when its i-th run sits on site i; exact where a run's GPUs
 * are all equally far from each other.  Cliques take O(members * depth). */
double orders_cost(struct orders *o, uint32_t k, const struct sites *s);

/* Where prices on a list of GPUs are kept, or are to be: key says of which.
 * Without memory NULL. */
struct orders_priced *orders_priced_at(struct orders *o, uint64_t key);

#endif
