/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrange.c - which rank on which of the chosen GPUs */
#include "placement/arrange.h"

#include <stdlib.h>
#include <string.h>

int arranger_build(const struct weft_fabric *f, const struct weft_job *job,
		   const struct weft_occupancy *o,
		   const struct weft_place_options *options, struct arranger *a,
		   struct weft_error *err)
{
	memset(a, 0, sizeof(*a));
	a->f = f;
	a->job = job;
	a->o = o;
	a->random = options->seed;
	return orders_build(job, &a->orders, err);
}

void arranger_free(struct arranger *a)
{
	orders_free(&a->orders);
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

uint32_t choice_block(const struct choice *c, const struct weft_fabric *f)
{
	uint32_t block = 0;

	if (f->node_level > 0 || f->n_rails > 1)
		return 1;
	for (uint32_t i = 0; i < c->n_nodes; i++)
		block = gcd(block, c->count[i]);
	return block;
}

static int price_orders(struct arranger *a, const uint32_t *gpus,
			uint32_t block, double *cost, uint32_t *best,
			struct weft_error *err)
{
	uint32_t n = a->job->n_gpus / block;
	uint32_t *first = weft_calloc(n, sizeof(*first), err);
	struct sites s = {0};
	int rc = -1;

	if (!first)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		first[i] = gpus[i * block];
	if (orders_cut(&a->orders, block, err) ||
	    sites_build(a->f, first, n, block == 1, a->job->spec.metric, &s,
			err))
		goto out;
	for (uint32_t k = 0; k < a->orders.n; k++) {
		double c = orders_cost(&a->orders, k, &s);

		/* equal but for rounding: the ranks' own order is kept */
		if (k && c >= *cost * (1 - 1e-9))
			continue;
		*cost = c;
		*best = k;
	}
	rc = 0;
out:
	free(first);
	sites_free(&s);
	return rc;
}

int arrange_price(struct arranger *a, const uint32_t *gpus, uint32_t block,
		  double *cost, struct weft_error *err)
{
	uint32_t best;

	return price_orders(a, gpus, block, cost, &best, err);
}

int arrange_choice(struct arranger *a, const struct choice *c, uint32_t *where,
		   struct weft_error *err)
{
	uint32_t n = a->job->n_gpus, best;
	uint32_t *gpus = weft_calloc(n, sizeof(*gpus), err);
	double cost;

	if (!gpus)
		return -1;
	choice_expand(c, a->o, gpus);
	if (price_orders(a, gpus, choice_block(c, a->f), &cost, &best, err)) {
		free(gpus);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		where[a->orders.rank[best][i]] = gpus[i];
	free(gpus);
	return 0;
}

/* Every node that has free GPUs gives all of them. */
static int choose_all(const struct weft_occupancy *o, uint32_t n_gpus,
		      struct choice *c, struct weft_error *err)
{
	memset(c, 0, sizeof(*c));
	c->node = weft_calloc(n_gpus, sizeof(*c->node), err);
	c->count = weft_calloc(n_gpus, sizeof(*c->count), err);
	if (!c->node || !c->count)
		return -1;
	for (uint32_t i = 0; i < o->fabric->n_nodes; i++)
		if (o->free[i])
			choice_add(c, i, weft_mask_count(o->free[i]));
	return 0;
}

int arrange_ranks(const struct weft_fabric *f, const struct weft_job *job,
		  const struct weft_occupancy *o,
		  const struct weft_place_options *options, uint32_t *where,
		  struct weft_error *err)
{
	struct arranger a = {0};
	struct choice all = {0};
	int rc = -1;

	if (arranger_build(f, job, o, options, &a, err) ||
	    choose_all(o, job->n_gpus, &all, err))
		goto out;
	rc = arrange_choice(&a, &all, where, err);
out:
	choice_free(&all);
	arranger_free(&a);
	return rc;
}
