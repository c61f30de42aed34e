/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_cache.h - what decisions on one job have in common
 *
 * Private to placement/; callers know it from place.h, as an opaque struct.
 */
#ifndef WEFT_PLACEMENT_PLAN_CACHE_H
#define WEFT_PLACEMENT_PLAN_CACHE_H

#include "placement/capacity/capacity.h"
#include "placement/mapping/effort.h"
#include "placement/objective/bound.h"
#include "placement/ranks/order.h"

#define PLAN_CACHE_ARRANGED 4

/* Ranks on a set of nodes, improved, and what was left of the effort. */
struct arranged {
	uint64_t key;
	uint32_t *where;
	uint64_t work, random;
};

/* Each part is made by the first decision that needs it. */
struct weft_plan_cache {
	struct bounding *bounding; /* NULL: not yet */
	/* Rank orders with tiles of this many ranks; n == 0: not yet, or in
	 * use. */
	struct orders orders;
	uint32_t tile;
	struct capacity capacity; /* zeros: not yet */
	/* the first arrangements of one decision; they depend on what is free
	 */
	struct arranged arranged[PLAN_CACHE_ARRANGED];
	uint32_t n_arranged;
};

/* The arrangement kept in this decision under that key: where[n], and what was
 * left of the effort; false: none. */
bool plan_cache_find(const struct weft_plan_cache *plan_cache, uint64_t key,
		     uint32_t n, uint32_t *where, struct effort *effort);
/* Keeps it, as long as there is room and memory. */
void plan_cache_keep(struct weft_plan_cache *plan_cache, uint64_t key,
		     uint32_t n, const uint32_t *where,
		     const struct effort *effort);
/* Another decision begins. */
void plan_cache_forget(struct weft_plan_cache *plan_cache);

/* Orders of the job with tiles, out of the plan cache (NULL: none) where it has
 * them. Give them back with plan_cache_return_orders in either case. */
int plan_cache_take_orders(struct weft_plan_cache *plan_cache,
			   const struct capacity *s, uint32_t tile,
			   struct orders *o, struct weft_error *err);
void plan_cache_return_orders(struct weft_plan_cache *plan_cache, uint32_t tile,
			      struct orders *o);

#endif
