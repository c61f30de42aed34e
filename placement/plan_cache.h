/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_cache.h - what decisions on one job have in common
 *
 * Private to placement/; callers know it from place.h, as an opaque struct.
 */
#ifndef WEFT_PLACEMENT_PLAN_CACHE_H
#define WEFT_PLACEMENT_PLAN_CACHE_H

#include "placement/capacity/capacity.h"
#include "placement/objective/bound.h"
#include "placement/ranks/order.h"

/* Each part is made by the first decision that needs it. */
struct weft_plan_cache {
	struct bounding *bounding; /* NULL: not yet */
	/* Rank orders with tiles of this many ranks; n == 0: not yet, or in
	 * use. */
	struct orders orders;
	uint32_t tile;
	struct capacity capacity; /* zeros: not yet */
};

/* Orders of the job with tiles, out of the plan cache (NULL: none) where it has
 * them. Give them back with plan_cache_return_orders in either case. */
int plan_cache_take_orders(struct weft_plan_cache *plan_cache,
			   const struct weft_job *job, uint32_t tile,
			   struct orders *o, struct weft_error *err);
void plan_cache_return_orders(struct weft_plan_cache *plan_cache, uint32_t tile,
			      struct orders *o);

#endif
