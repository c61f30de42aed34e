/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrange.c - which rank on which of the chosen GPUs */
#include "placement/ranks/arrange.h"

#include "base/clock.h"
#include "base/hash.h"
#include "placement/objective/comparison.h"
#include "placement/plan_cache.h"
#include "placement/ranks/ground.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An order that costs so many times as much as the best of a large job's first
 * set is not priced on others. */
#define FAR_OFF 1.1

/* Orders whose costs differ by less, in proportion, than this wait about as
 * long as each other. */
#define TWIN 1e-3

/* Enough to settle small jobs fully and to keep large ones in milliseconds; a
 * step takes about 5 ns. */
static uint64_t default_work(uint64_t n_ranks)
{
	uint64_t work = 120000 + n_ranks * n_ranks / 3;

	work = work < 500000 ? work : 500000;
	return effort_share(work, (uint32_t)n_ranks);
}

int arranger_build(struct capacity *s, const struct weft_place_options *options,
		   double target, struct arranger *a, struct weft_error *err)
{
	memset(a, 0, sizeof(*a));
	a->s = s;
	a->f = s->f;
	a->job = s->job;
	a->target = target;
	a->effort.random = options->seed;
	a->effort.stop = options->stop;
	a->effort.work = options->work_limit ? options->work_limit
					     : default_work(s->job->n_gpus);
	if (options->budget_s > 0)
		a->effort.deadline_s =
			weft_budget_clock_s() + options->budget_s;
	a->plan_cache = options->plan_cache;
	/* GPUs that the fullest node can give: what a run of ranks has on it */
	a->tile = s->job->gpus_per_node ? s->job->gpus_per_node : s->give_most;
	return plan_cache_take_orders(a->plan_cache, s, a->tile, &a->orders,
				      err);
}

void arranger_free(struct arranger *a)
{
	plan_cache_return_orders(a->plan_cache, a->tile, &a->orders);
}

uint32_t node_set_block(const struct node_set *c, const struct weft_fabric *f)
{
	uint32_t block = 0;

	if (f->node_level > 0 || f->n_rails > 1)
		return 1;
	for (uint32_t i = 0; i < c->n_nodes; i++)
		block = node_set_divisor(block, c->count[i]);
	return block;
}

/* Whether order k was so much dearer than another on the first set of such
 * blocks that it need not be priced. */
static bool is_far_off(const struct arranger *a, uint32_t k, uint32_t block)
{
	double least = (double)INFINITY;

	if (!a->hasty || a->guide_block != block)
		return false;
	for (uint32_t i = 0; i < a->orders.n; i++)
		least = fmin(least, a->guide[i]);
	return a->guide[k] > FAR_OFF * least;
}

/* The costs of all orders on gpus[]. */
static int price_orders(struct arranger *a, const uint32_t *gpus,
			uint32_t block, struct weft_error *err)
{
	uint32_t n = a->job->n_gpus / block;
	uint32_t *first = weft_calloc(n, sizeof(*first), err);
	struct sites s = {0};
	int rc = -1;

	if (!first)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		first[i] = gpus[i * block];
	if (sites_build(a->f, first, n, block == 1, a->job->spec.metric, &s,
			err))
		goto out;
	for (uint32_t k = 0; k < a->orders.n; k++) {
		a->cost[k] = is_far_off(a, k, block)
				     ? (double)INFINITY
				     : orders_cost(&a->orders, k, &s);
		if (weft_deadline_check(err))
			goto out;
	}
	rc = 0;
out:
	free(first);
	sites_free(&s);
	return rc;
}

/* Of what a price depends on, as price_orders has it; even, and not 0.  One
 * more than it: where orders may be left out. */
static uint64_t price_key(const struct arranger *a, const uint32_t *gpus,
			  uint32_t block)
{
	uint64_t hash = WEFT_HASH_START + (uint64_t)a->job->spec.metric;

	hash = weft_hash_word(hash, block);
	for (uint32_t i = 0; i < a->job->n_gpus; i += block)
		hash = weft_hash_word(hash, gpus[i]);
	return hash > 1 ? hash & ~UINT64_C(1) : 2;
}

/* NULL: none is known.  Where none may be left out, one of which none was does,
 * too. */
static const struct orders_priced *find_price(struct arranger *a, uint64_t key)
{
	for (uint32_t hasty = a->hasty; hasty < 2; hasty++) {
		const struct orders_priced *one =
			orders_priced_at(&a->orders, key + hasty);

		if (one && one->key == key + hasty &&
		    (hasty == a->hasty || one->whole))
			return one;
	}
	return NULL;
}

static void keep_price(struct arranger *a, uint64_t key)
{
	struct orders_priced *one =
		orders_priced_at(&a->orders, key + a->hasty);

	if (!one)
		return;
	one->key = key + a->hasty;
	one->whole = true;
	for (uint32_t k = 0; k < a->orders.n; k++) {
		one->cost[k] = a->cost[k];
		one->whole &= isfinite(a->cost[k]);
	}
}

int arrange_price(struct arranger *a, const uint32_t *gpus, uint32_t block,
		  double *cost, uint32_t *order, struct weft_error *err)
{
	uint64_t key = price_key(a, gpus, block);
	const struct orders_priced *known = find_price(a, key);
	size_t size = a->orders.n * sizeof(*a->cost);

	/* whoever asks goes by this cut, too */
	if (orders_cut(&a->orders, block, a->f, err))
		return -1;
	if (known) {
		memcpy(a->cost, known->cost, size);
	} else {
		if (price_orders(a, gpus, block, err))
			return -1;
		if (a->hasty && !a->guide_block) {
			a->guide_block = block;
			memcpy(a->guide, a->cost, size);
		}
		keep_price(a, key);
	}
	*order = 0;
	for (uint32_t k = 1; k < a->orders.n; k++)
		/* equal but for rounding: the ranks' own order is kept */
		if (a->cost[k] < a->cost[*order] * (1 - COMPARISON_SAME))
			*order = k;
	*cost = a->cost[*order];
	return 0;
}

/* Whether an order has been tried that costs as much. */
static bool has_twin(const struct arranger *a, const bool tried[ORDERS_MAX],
		     uint32_t k)
{
	for (uint32_t i = 0; i < a->orders.n; i++)
		if (tried[i] &&
		    fabs(a->cost[i] - a->cost[k]) <= TWIN * a->cost[k])
			return true;
	return false;
}

uint32_t arrange_next_kind(const struct arranger *a,
			   const bool tried[ORDERS_MAX], double most)
{
	uint32_t next = WEFT_NONE;

	for (uint32_t k = 0; k < a->orders.n; k++) {
		if (a->cost[k] > most || has_twin(a, tried, k) ||
		    (next != WEFT_NONE && a->cost[k] >= a->cost[next]))
			continue;
		next = k;
	}
	return next;
}

/* Spare GPUs to look at beside those of the choice: all of a small fabric, a
 * few nodes of a large one. */
static uint32_t spare_limit(uint32_t n_gpus)
{
	uint32_t limit = n_gpus / 4;

	return limit > 64 ? limit : 64;
}

static int improve(struct arranger *a, const struct node_set *c,
		   struct effort *effort, uint32_t *where,
		   struct weft_error *err)
{
	struct node_set wide = {0};
	struct ground g = {0};
	struct cliques *traffic = orders_traffic(&a->orders);
	uint32_t unit[3], n = node_set_units(c, a->job->spec.tp, unit);
	int rc = -1;

	if (node_set_surround(a->s, c, spare_limit(c->n_gpus), &wide, err) ||
	    ground_build(a->s, &wide, &g, err) || ground_put(&g, where, err))
		goto out;
	for (uint32_t i = 0; i < n; i++) {
		struct effort part = *effort;

		part.work = effort->work / (n - i);
		effort->work -= part.work;
		if (ground_improve(&g, traffic, unit[i], a->target, &part, err))
			goto out;
		effort->work += part.work;
		effort->random = part.random;
	}
	ground_get(&g, where);
	rc = 0;
out:
	node_set_free(&wide);
	ground_free(&g);
	return rc;
}

int arrange_plain(const struct arranger *a, const struct arrangement *from,
		  uint32_t *where, struct weft_error *err)
{
	uint32_t n = a->job->n_gpus;
	uint32_t *gpus;

	if (from->where) {
		memmove(where, from->where, n * sizeof(*where));
		return 0;
	}
	gpus = weft_calloc(n, sizeof(*gpus), err);
	if (!gpus)
		return -1;
	node_set_expand(from->node_set, a->s->o, gpus);
	for (uint32_t i = 0; i < n; i++)
		where[a->orders.rank[from->order][i]] = gpus[i];
	free(gpus);
	return 0;
}

/* Whether that much work on one set moves no rank worth speaking of. */
static bool is_too_little(const struct arranger *a, uint64_t work)
{
	return a->job->n_gpus > EFFORT_FULL_GPUS && work < a->job->n_gpus;
}

/* Of what an arrangement depends on in one decision. */
static uint64_t arrangement_key(const struct arranger *a,
				const struct arrangement *from, uint32_t turns)
{
	const uint64_t words[] = {from->node_set->hash, from->order, turns,
				  a->effort.work, a->effort.random};
	uint64_t hash = weft_hash_bytes(WEFT_HASH_START, words, sizeof(words));

	if (from->where)
		hash = weft_hash_bytes(hash, from->where,
				       a->job->n_gpus * sizeof(*from->where));
	return weft_hash_bytes(hash, &a->target, sizeof(a->target));
}

int arrange_node_set(struct arranger *a, const struct arrangement *from,
		     uint32_t turns, uint32_t *where, struct weft_error *err)
{
	uint64_t key = arrangement_key(a, from, turns);
	struct effort part = a->effort;

	if (from->cost > a->target * (1 + COMPARISON_REACHED) &&
	    plan_cache_find(a->plan_cache, key, a->job->n_gpus, where,
			    &a->effort))
		return 0;
	if (arrange_plain(a, from, where, err))
		return -1;
	if (from->cost <= a->target * (1 + COMPARISON_REACHED) ||
	    effort_spent(&a->effort))
		return 0;
	part.work = a->effort.work / turns;
	if (is_too_little(a, part.work))
		return 0;
	a->effort.work -= part.work;
	if (improve(a, from->node_set, &part, where, err))
		return -1;
	a->effort.work += part.work;
	a->effort.random = part.random;
	plan_cache_keep(a->plan_cache, key, a->job->n_gpus, where, &a->effort);
	return 0;
}

/* Every node that has free GPUs gives all of them. */
static int choose_all(const struct weft_occupancy *o, uint32_t n_gpus,
		      struct node_set *c, struct weft_error *err)
{
	memset(c, 0, sizeof(*c));
	c->node = weft_calloc(n_gpus, sizeof(*c->node), err);
	c->count = weft_calloc(n_gpus, sizeof(*c->count), err);
	if (!c->node || !c->count)
		return -1;
	for (uint32_t i = 0; i < o->fabric->n_nodes; i++)
		if (o->free[i])
			node_set_add(c, i, weft_mask_count(o->free[i]));
	return 0;
}

int arrange_ranks(struct capacity *s, const struct weft_place_options *options,
		  double target, uint32_t *where, struct weft_error *err)
{
	struct arranger a = {0};
	struct node_set all = {0};
	struct arrangement from = {.node_set = &all};
	uint32_t *gpus = weft_calloc(s->job->n_gpus, sizeof(*gpus), err);
	int rc = -1;

	if (!gpus || arranger_build(s, options, target, &a, err) ||
	    choose_all(s->o, s->job->n_gpus, &all, err))
		goto out;
	node_set_expand(&all, s->o, gpus);
	if (arrange_price(&a, gpus, node_set_block(&all, s->f), &from.cost,
			  &from.order, err) ||
	    arrange_node_set(&a, &from, 1, where, err))
		goto out;
	rc = 0;
out:
	free(gpus);
	node_set_free(&all);
	arranger_free(&a);
	return rc;
}
