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
	plan_cache_forget(plan_cache);
	free(plan_cache);
}

bool plan_cache_find(const struct weft_plan_cache *plan_cache, uint64_t key,
		     uint32_t n, uint32_t *where, struct effort *effort)
{
	for (uint32_t i = 0; plan_cache && i < plan_cache->n_arranged; i++) {
		const struct arranged *one = &plan_cache->arranged[i];

		if (one->key != key)
			continue;
		memcpy(where, one->where, n * sizeof(*where));
		effort->work = one->work;
		effort->random = one->random;
		return true;
	}
	return false;
}

void plan_cache_keep(struct weft_plan_cache *plan_cache, uint64_t key,
		     uint32_t n, const uint32_t *where,
		     const struct effort *effort)
{
	struct arranged *one;

	if (!plan_cache || plan_cache->n_arranged == PLAN_CACHE_ARRANGED)
		return;
	one = &plan_cache->arranged[plan_cache->n_arranged];
	one->where = weft_calloc(n, sizeof(*one->where), NULL);
	if (!one->where)
		return;
	memcpy(one->where, where, n * sizeof(*where));
	one->key = key;
	one->work = effort->work;
	one->random = effort->random;
	plan_cache->n_arranged++;
}

void plan_cache_forget(struct weft_plan_cache *plan_cache)
{
	while (plan_cache->n_arranged)
		free(plan_cache->arranged[--plan_cache->n_arranged].where);
}

int plan_cache_take_orders(struct weft_plan_cache *plan_cache,
			   const struct capacity *s, uint32_t tile,
			   struct orders *o, struct weft_error *err)
{
	struct cliques *traffic = NULL;

	if (plan_cache && plan_cache->orders.n && plan_cache->tile == tile) {
		*o = plan_cache->orders;
		memset(&plan_cache->orders, 0, sizeof(plan_cache->orders));
		orders_traffic(o)->t = s->job->traffic;
		return 0;
	}
	if (plan_cache && plan_cache->bounding)
		traffic = bounding_traffic(plan_cache->bounding);
	if (orders_build(s->job, s->f, tile, traffic, o, err) == 0 &&
	    orders_tile(o, s->job, tile, err) == 0)
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
