/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_grouped.c - jobs whose nodes must lie in groups
 *
 * 1. layouts.c proposes sets of nodes, with the ranks that each group has.
 * 2. Each is priced, where ranks may go anywhere with every order of order.c.
 * 3. In the best few whole segments change places, then blocks of ranks inside
 *    their groups, by local search.
 * 4. comparison.c decides between them.
 */
#include "placement/place_parts.h"

#include "base/clock.h"
#include "placement/nodes/layouts.h"
#include "placement/ranks/arrange.h"
#include "placement/ranks/ground.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINALISTS 3

struct priced {
	uint32_t layout, order;
	double cost;
};

struct grouped {
	struct capacity *s;
	const struct weft_job *job;
	struct layouts layouts;
	struct arranger arranger;
	struct weft_cost_scratch scratch;
	struct priced priced[LAYOUTS_MAX];
	uint32_t n_priced;
	struct comparison best;
	double target;		/* of costs with their ties: none is less */
	uint32_t *where, *gpus; /* [n_gpus] scratch */
	struct weft_placement *p;
	struct weft_error *err;
};

/* Ranks of a layout in order k, or in its own. */
static void lay_out(struct grouped *x, const struct layout *layout, uint32_t k)
{
	const uint32_t *rank =
		layout->rank ? layout->rank : x->arranger.orders.rank[k];

	node_set_expand(&layout->node_set, x->s->o, x->gpus);
	for (uint32_t i = 0; i < x->job->n_gpus; i++)
		x->where[rank[i]] = x->gpus[i];
}

static int cost_of(struct grouped *x, double *cost)
{
	struct weft_cost c;

	if (weft_cost_sums(x->s->f, &x->job->traffic, x->where, &x->scratch, &c,
			   x->err))
		return -1;
	*cost = sites_blend(x->s->f, x->job->spec.metric, c.total);
	return 0;
}

/* The best order of layout i, put in its place by cost. */
static int price_one(struct grouped *x, uint32_t i)
{
	const struct layout *layout = &x->layouts.layout[i];
	struct priced best = {i, 0, INFINITY};
	uint32_t n = layout->rank ? 1 : x->arranger.orders.n, at;

	for (uint32_t k = 0; k < n; k++) {
		double cost;

		if (k && effort_spent(&x->arranger.effort))
			break;
		lay_out(x, layout, k);
		if (cost_of(x, &cost))
			return -1;
		if (cost < best.cost * (1 - COMPARISON_SAME)) {
			best.cost = cost;
			best.order = k;
		}
	}
	for (at = x->n_priced++; at > 0; at--) {
		if (x->priced[at - 1].cost <= best.cost)
			break;
		x->priced[at] = x->priced[at - 1];
	}
	x->priced[at] = best;
	return 0;
}

/* ---- whole segments ---- */

/* Segments as the search sees them: each is a vertex, each place a site. */
struct swapping {
	struct graph ranks_in; /* traffic between segments */
	struct sites sites;
	uint32_t n;
	uint32_t *group;   /* [n_gpus] segment of each rank */
	uint32_t *site_of; /* [n] */
	uint32_t *item_at, *host_of, *first, *fence;
	struct host *hosts;
	uint32_t *memory;
};

static void swapping_free(struct swapping *w)
{
	free(w->memory);
	free(w->group);
	free(w->hosts);
	graph_free(&w->ranks_in);
	sites_free(&w->sites);
}

/* Those that are whole, and the last one where it is smaller. */
static int swapping_build(struct grouped *x, const struct layout *layout,
			  struct swapping *w)
{
	const struct graph *ranks =
		cliques_whole(orders_traffic(&x->arranger.orders), x->err);
	uint32_t size = layout->segment, whole = layout->n_segments;

	if (!ranks)
		return -1;
	w->n = whole + (whole * size < x->job->n_gpus);
	w->group = weft_calloc(x->job->n_gpus, sizeof(*w->group), x->err);
	w->memory = weft_calloc(w->n, 5 * sizeof(uint32_t), x->err);
	w->hosts = weft_calloc(w->n, sizeof(*w->hosts), x->err);
	if (!w->group || !w->memory || !w->hosts)
		return -1;
	w->site_of = w->memory;
	w->item_at = w->site_of + w->n;
	w->host_of = w->item_at + w->n;
	w->first = w->host_of + w->n;
	w->fence = w->first + w->n;
	w->fence[w->n - 1] = w->n > whole;
	for (uint32_t r = 0; r < x->job->n_gpus; r++)
		w->group[r] = r / size < whole ? r / size : whole;
	for (uint32_t i = 0; i < w->n; i++) {
		w->site_of[i] = w->item_at[i] = w->host_of[i] = i;
		w->first[i] = x->where[i * size];
		w->hosts[i] = (struct host){.used = size, .most = size};
	}
	return graph_contract(ranks, w->group, w->n, &w->ranks_in, x->err) ||
			       sites_build(x->s->f, w->first, w->n, false,
					   x->job->spec.metric, &w->sites,
					   x->err)
		       ? -1
		       : 0;
}

static int swap_segments(struct grouped *x, const struct layout *layout,
			 struct effort *effort)
{
	uint32_t size = layout->segment, n = x->job->n_gpus;
	struct swapping w = {0};
	int rc = -1;

	if (swapping_build(x, layout, &w))
		goto out;
	struct search q = {
		.g = &w.ranks_in,
		.s = &w.sites,
		.site_of = w.site_of,
		.item_at = w.item_at,
		.unit = size,
		.host_of = w.host_of,
		.hosts = w.hosts,
		.fence = w.fence,
		.n_used = w.n,
	};
	if (search_run(&q, effort, 0, x->err))
		goto out;
	memcpy(x->gpus, x->where, n * sizeof(*x->gpus));
	for (uint32_t r = 0; r < layout->n_segments * size; r++)
		x->where[r] = x->gpus[w.site_of[r / size] * size + r % size];
	rc = 0;
out:
	swapping_free(&w);
	return rc;
}

/* ---- ranks inside their groups ---- */

static int improve(struct grouped *x, const struct layout *layout,
		   struct effort *effort)
{
	struct cliques *traffic = orders_traffic(&x->arranger.orders);
	struct ground g = {0};
	uint32_t unit[3],
		n = node_set_units(&layout->node_set, x->job->spec.tp, unit);
	int rc = -1;

	if (layout->segment && swap_segments(x, layout, effort))
		return -1;
	if (ground_build(x->s, &layout->node_set, &g, x->err) ||
	    ground_put(&g, x->where, x->err))
		goto out;
	g.settled = true;
	g.fence = layout->fence;
	for (uint32_t i = 0; i < n; i++) {
		struct effort part = *effort;

		part.work = effort->work / (n - i);
		effort->work -= part.work;
		if (ground_improve(&g, traffic, unit[i], x->target, &part,
				   x->err))
			goto out;
		effort->work += part.work;
		effort->random = part.random;
	}
	ground_get(&g, x->where);
	rc = 0;
out:
	ground_free(&g);
	return rc;
}

/* Keeps x->where when it ranks before the best so far. */
static int consider(struct grouped *x)
{
	struct comparison comparison;

	if (comparison_measure(x->s, x->where, &comparison, x->err))
		return -1;
	if (x->p->placed && comparison_compare(&comparison, &x->best) >= 0)
		return 0;
	x->best = comparison;
	x->p->placed = true;
	memcpy(x->p->where, x->where, x->job->n_gpus * sizeof(*x->where));
	return 0;
}

/* As laid out, and as improved: the search works on cost alone. */
static int finish_one(struct grouped *x, const struct priced *from,
		      uint32_t turns)
{
	const struct layout *layout = &x->layouts.layout[from->layout];
	struct effort *all = &x->arranger.effort, part = *all;

	lay_out(x, layout, from->order);
	if (consider(x))
		return -1;
	if (from->cost <= x->target * (1 + COMPARISON_REACHED) ||
	    effort_spent(all))
		return 0;
	part.work = all->work / turns;
	all->work -= part.work;
	if (improve(x, layout, &part) || consider(x))
		return -1;
	all->work += part.work;
	all->random = part.random;
	return 0;
}

/* What is not the cheapest may yet have the best value. */
static int consider_all(struct grouped *x, uint32_t first)
{
	for (uint32_t i = first; i < x->n_priced; i++) {
		const struct priced *from = &x->priced[i];

		if (effort_spent(&x->arranger.effort))
			return 0;
		lay_out(x, &x->layouts.layout[from->layout], from->order);
		if (consider(x))
			return -1;
		effort_spend(&x->arranger.effort, weft_judge_work(x->s->judge));
	}
	return 0;
}

static int run(struct grouped *x, const struct weft_place_options *options)
{
	struct effort any = {.work = UINT64_MAX};
	uint32_t n = x->job->n_gpus;

	if (options->budget_s > 0)
		any.deadline_s = weft_budget_clock_s() + options->budget_s;
	x->where = weft_calloc(n, sizeof(*x->where), x->err);
	x->gpus = weft_calloc(n, sizeof(*x->gpus), x->err);
	x->p->where = weft_calloc(n, sizeof(*x->p->where), x->err);
	if (!x->where || !x->gpus || !x->p->where ||
	    layouts_build(x->s, &any, &x->layouts, x->err))
		return -1;
	if (!x->layouts.n)
		return 0;
	x->target = sites_blend(x->s->f, x->p->metric, x->p->bounds);
	if (arranger_build(x->s, options, x->target, &x->arranger, x->err))
		return -1;
	x->arranger.effort.deadline_s = any.deadline_s;
	for (uint32_t i = 0; i < x->layouts.n; i++) {
		if (i && effort_spent(&x->arranger.effort))
			break;
		if (price_one(x, i))
			return -1;
	}
	n = x->n_priced < FINALISTS ? x->n_priced : FINALISTS;
	for (uint32_t i = 0; i < n; i++)
		if (finish_one(x, &x->priced[i], n - i))
			return -1;
	return weft_objective_is_cost(&x->s->judge->objective)
		       ? 0
		       : consider_all(x, n);
}

int place_grouped(struct capacity *s, const struct weft_place_options *options,
		  struct weft_placement *p, struct weft_error *err)
{
	struct grouped *x = weft_calloc(1, sizeof(*x), err);
	int rc;

	if (!x)
		return -1;
	x->s = s;
	x->job = s->job;
	x->p = p;
	x->err = err;
	rc = run(x, options);
	p->n_ranks = s->job->n_gpus;
	p->method = "pack";
	layouts_free(&x->layouts);
	arranger_free(&x->arranger);
	weft_cost_scratch_free(&x->scratch);
	free(x->where);
	free(x->gpus);
	free(x);
	return rc;
}
