/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrange.h - which rank on which of the chosen GPUs
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_ARRANGE_H
#define WEFT_PLACEMENT_RANKS_ARRANGE_H

#include "placement/nodes/node_set.h"
#include "placement/place.h"
#include "placement/ranks/order.h"
#include "placement/ranks/search.h"

struct arranger {
	struct capacity *s; /* of single GPUs */
	const struct weft_fabric *f;
	const struct weft_job *job;
	struct weft_plan_cache *plan_cache;
	uint32_t tile; /* ranks of one in orders */
	struct orders orders;
	/* of each, as arrange_price found it last; INFINITY: it was left
	 * out */
	double cost[ORDERS_MAX];
	/* while it is set, arrange_price leaves out orders that cost much more
	 * than others on the first set, whose costs and block these are */
	bool hasty;
	double guide[ORDERS_MAX];
	uint32_t guide_block; /* 0: there was none yet */
	struct effort effort;
	double target; /* cost at which to stop: none is less */
};

/* Free with arranger_free in either case. */
int arranger_build(struct capacity *s, const struct weft_place_options *options,
		   double target, struct arranger *a, struct weft_error *err);
void arranger_free(struct arranger *a);

/* Ranks per block that every node of the choice takes a multiple of; 1 where
 * the GPUs of a node are not all alike. */
uint32_t node_set_block(const struct node_set *c, const struct weft_fabric *f);

/* Cost of the best plain order on gpus[], in tree order, and which one it is;
 * those of all are in a->cost. */
int arrange_price(struct arranger *a, const uint32_t *gpus, uint32_t block,
		  double *cost, uint32_t *order, struct weft_error *err);

/* The cheapest order, by a->cost, that has not been tried nor costs as much as
 * one that has: such are the same but for axes that do not matter.  WEFT_NONE:
 * none costs `most` or less. */
uint32_t arrange_next_kind(const struct arranger *a,
			   const bool tried[ORDERS_MAX], double most);

/* A choice with its best plain order, as arrange_price found them. */
struct arrangement {
	const struct node_set *node_set;
	uint32_t order;
	double cost;
	const uint32_t *where; /* not NULL: ranks lie so, in no such order */
};

/* That order as it is: where[r] for each rank. */
int arrange_plain(const struct arranger *a, const struct arrangement *from,
		  uint32_t *where, struct weft_error *err);

/* The best arrangement found: where[r] for each rank.  May leave the choice for
 * other free GPUs nearby that cost less, within the job's limits.  Spends one
 * of `turns` parts of what is left of the effort. */
int arrange_node_set(struct arranger *a, const struct arrangement *from,
		     uint32_t turns, uint32_t *where, struct weft_error *err);

/* The best order found on exactly the GPUs that s can give, as many as the job
 * has. */
int arrange_ranks(struct capacity *s, const struct weft_place_options *options,
		  double target, uint32_t *where, struct weft_error *err);

#endif
