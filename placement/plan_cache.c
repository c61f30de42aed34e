/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_cache.c - what decisions on one job have in common */
#include "placement/plan_cache.h"

#include "placement/place.h"

#include <stdlib.h>
#include <string.h>

struct weft_plan_cache *weft_plan_cache_build(struct weft_error *err)
{
	return weft_calloc(1, sizeof(struct weft_plan_cache), err);
}

void weft_plan_cache_free(struct weft_plan_cache *plan_cache)
{
	if (!plan_cache)
		return;
	bounding_free(plan_cache->bounding);
	orders_free(&plan_cache->orders);
	capacity_free(&plan_cache->capacity);
	free(plan_cache);
}

int plan_cache_take_orders(struct weft_plan_cache *plan_cache,
			   const struct weft_job *job, uint32_t tile,
			   struct orders *o, struct weft_error *err)
{
	if (plan_cache && plan_cache->orders.n && plan_cache->tile == tile) {
		*o = plan_cache->orders;
		memset(&plan_cache->orders, 0, sizeof(plan_cache->orders));
		return 0;
	}
	if (orders_build(job, o, err) == 0 &&
	    orders_tile(o, job, tile, err) == 0)
		return 0;
	orders_free(o);
	return -1;
}

void plan_cache_return_orders(struct weft_plan_cache *plan_cache, uint32_t tile,
			      struct orders *o)
{
	if (!plan_cache) {
		orders_free(o);
		return;
	}
	orders_free(&plan_cache->orders);
	plan_cache->orders = *o;
	plan_cache->tile = tile;
	memset(o, 0, sizeof(*o));
}
