/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.c - sets of nodes improved by what they are worth */
#include "placement/refine/refine_parts.h"

#include "base/bitset.h"
#include "placement/nodes/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* First sets are looked at in all orders for this part of the effort; in an
 * order that costs this many times as much as another never. */
#define ORDERS_PART 4
#define MUCH_DEARER 2

/* An order is tried from so many other nodes on for a first set; for the end of
 * a search from any of so many nodes. */
#define FIRST_TURNS 8
#define MOST_TURNS  32

/* With less effort than it takes to measure so many placements only the sets
 * and orders that are most often the best are looked at. */
#define MANY 256

/* A placement whose measure is known takes that part of the work. */
#define LOOKED_UP 8

/* ---- one set of nodes ---- */

/* Whether the set has been looked at; remembers it, as long as there is room
 * nearby. */
static bool is_known(struct refine *x, uint64_t hash)
{
	hash += hash == 0;
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t *at = &x->known[(hash + i) % REFINE_KNOWN];

		if (*at == hash)
			return true;
		if (*at)
			continue;
		*at = hash;
		return false;
	}
	return false;
}

static void list_choice(struct refine *x)
{
	const struct weft_domain *d = &x->f->domains[x->scope];
	uint32_t end = d->first_node + d->n_nodes;

	x->node_set.n_nodes = x->node_set.n_gpus = 0;
	x->node_set.hash = 0;
	for (uint32_t i = d->first_node; i < end; i++) {
		uint64_t eight = 0;

		/* most nodes of a large fabric give nothing */
		if (i + 8 <= end)
			memcpy(&eight, x->now + i, 8);
		if (i + 8 <= end && !eight)
			i += 7;
		else if (x->now[i] && x->node_set.n_nodes < x->job->n_gpus)
			node_set_add(&x->node_set, i, x->now[i]);
	}
}

bool refine_is_better(const struct refine *x, const struct comparison *a,
		      const struct comparison *b)
{
	if (x->s->judge->objective.goal != WEFT_GOAL_COST)
		return comparison_compare(a, b) < 0;
	return a->measure.goal < b->measure.goal * (1 - COMPARISON_SAME);
}

static void keep_best(struct refine *x, const struct comparison *comparison)
{
	if (comparison_compare(comparison, x->best) >= 0)
		return;
	*x->best = *comparison;
	memcpy(x->where, x->trial, x->job->n_gpus * sizeof(*x->trial));
}

/* Keeps the trial, an extra set, where it is the best of these. */
static void keep_extra(struct refine *x, const struct comparison *comparison,
		       uint32_t k)
{
	if (x->has_extra && !refine_is_better(x, comparison, &x->extra_is))
		return;
	x->has_extra = true;
	x->extra_is = *comparison;
	x->extra_nesting = k;
	memcpy(x->extra, x->now, x->f->n_nodes);
}

/* Keeps the trial, a first set, where it is the best of its rule. */
static void keep_first(struct refine *x, const struct comparison *comparison,
		       uint32_t k)
{
	struct found *first = &x->first[x->rule_now];

	if (first->is_any && !refine_is_better(x, comparison, &first->is))
		return;
	first->is_any = true;
	first->is = *comparison;
	first->nesting = k;
	memcpy(first->take, x->now, x->f->n_nodes);
}

/* Lists the GPUs of the trial in another way in x->aligned, and whether that
 * differs. */
static int make_listing(struct refine *x, enum listing listing)
{
	x->listing = listing;
	if (listing == LIST_COLUMNS2 || listing == LIST_COLUMNS4)
		return refine_columns(x, listing == LIST_COLUMNS2 ? 2 : 4,
				      &x->is_aligned);
	return refine_align(x, listing == LIST_NEAR, &x->is_aligned);
}

/* The GPUs of the trial in some listing; NULL with err. */
static const uint32_t *list_gpus(struct refine *x, enum listing listing)
{
	if (!listing)
		return x->gpus;
	if (listing != x->listing && make_listing(x, listing))
		return NULL;
	return x->is_aligned ? x->aligned : x->gpus;
}

/* Puts ranks on the trial's GPUs by the nesting k. */
static int put_ranks(struct refine *x, uint32_t k)
{
	uint32_t turn = k % REFINE_LISTED / ORDERS_MAX % x->node_set.n_nodes;
	uint32_t order = k % REFINE_LISTED % ORDERS_MAX, at = 0;
	const uint32_t *rank = x->a->orders.rank[order];
	uint32_t n = x->job->n_gpus;
	const uint32_t *gpus = list_gpus(x, k / REFINE_LISTED);

	if (!gpus)
		return -1;
	for (uint32_t i = 0; i < turn; i++)
		at += x->node_set.count[i];
	for (uint32_t i = 0; i < n; i++, at++)
		x->trial[rank[i]] = gpus[at < n ? at : at - n];
	return 0;
}

/* Measures the trial with the nesting k; keeps it where that is better. */
static int try_order(struct refine *x, uint32_t k, bool *better)
{
	uint32_t n_measured = x->s->judge->n_measured;
	struct comparison comparison;

	if (put_ranks(x, k))
		return -1;
	if (comparison_measure(x->s, x->trial, &comparison, x->err))
		return -1;
	effort_spend(&x->a->effort,
		     x->s->judge->n_measured > n_measured
			     ? weft_judge_work(x->s->judge)
			     : weft_judge_work(x->s->judge) / LOOKED_UP);
	if (x->is_extra) {
		keep_extra(x, &comparison, k);
	} else if (x->is_lost ||
		   refine_is_better(x, &comparison, &x->current)) {
		*better = true;
		x->current = comparison;
		x->is_lost = false;
		x->nesting = k;
	}
	keep_best(x, &comparison);
	if (x->is_first)
		keep_first(x, &comparison, k);
	if (comparison.cost < x->least * (1 - COMPARISON_SAME)) {
		x->least = comparison.cost;
		x->cheap_nesting = k;
		memcpy(x->cheap, x->now, x->f->n_nodes);
	}
	return 0;
}

/* The orders that the trial is looked at in besides the ranks' own: the one
 * that costs least of all on a first set, later that of x->take. */
static int find_order(struct refine *x, uint32_t *order)
{
	const struct orders *orders = &x->a->orders;
	double cost;

	*order = x->nesting;
	if (!x->is_first)
		return 0;
	if (arrange_price(x->a, x->gpus, node_set_block(&x->node_set, x->f),
			  &cost, order, x->err))
		return -1;
	effort_spend(&x->a->effort, (uint64_t)orders->n *
					    orders->cut[orders->now].n_edges /
					    2);
	return 0;
}

/* The order that costs least need not be the one that waits least: the others
 * on a first set, but for those that cost much more. */
static int try_others(struct refine *x, uint32_t cheapest, bool *better)
{
	const struct arranger *a = x->a;
	bool was_extra = x->is_extra;
	int rc = 0;

	x->is_extra = true;
	for (uint32_t k = 1; k < a->orders.n && rc == 0; k++) {
		if (k == cheapest ||
		    a->cost[k] > MUCH_DEARER * a->cost[cheapest])
			continue;
		if (a->effort.work < x->least_work)
			break;
		rc = try_order(x, k, better);
	}
	x->is_extra = was_extra;
	return rc;
}

/* Whether the turn-th node of the trial is the first one in its cell. */
static bool starts_cell(const struct refine *x, uint32_t turn)
{
	const struct weft_node *nodes = x->f->nodes;
	const uint32_t *cell = x->f->gpu_domain[x->level];
	const uint32_t *node = x->node_set.node + turn;

	return cell[nodes[node[0]].first_gpu] !=
	       cell[nodes[node[-1]].first_gpu];
}

/* The same order, but begun on another node: a ring costs as much wherever it
 * begins, but where it begins decides on which nodes a tree has its root.  A
 * first set, and one of more than MOST_TURNS nodes, is only begun on the first
 * node of each cell; at most `most` starts are tried. */
static int try_turns(struct refine *x, uint32_t order, uint32_t most,
		     bool *better)
{
	uint32_t n = x->node_set.n_nodes;

	if (x->s->judge->objective.goal != WEFT_GOAL_STEP || !x->is_thorough)
		return 0;
	for (uint32_t turn = 1; turn < n && most; turn++) {
		if ((x->is_first || n > MOST_TURNS) && !starts_cell(x, turn))
			continue;
		if (effort_spent(&x->a->effort) ||
		    (x->is_first && x->a->effort.work < x->least_work))
			break;
		most--;
		if (try_order(x, order + turn * ORDERS_MAX, better))
			return -1;
	}
	return 0;
}

/* The same order on the GPUs in each other list of them. */
static int try_listings(struct refine *x, uint32_t nesting, bool *better)
{
	uint32_t order = nesting % REFINE_LISTED % ORDERS_MAX;

	if (!x->is_thorough && !x->is_broken)
		return 0;
	for (uint32_t i = LIST_NEAR; i < N_LISTINGS; i++) {
		if (i > LIST_ANYWHERE && !x->is_thorough)
			break;
		if (effort_spent(&x->a->effort) ||
		    (x->is_first && x->a->effort.work < x->least_work))
			break;
		if (!list_gpus(x, i))
			return -1;
		if (x->is_aligned &&
		    try_order(x, order + i * REFINE_LISTED, better))
			return -1;
	}
	return 0;
}

/* Lists the GPUs of the trial. */
static void expand(struct refine *x)
{
	node_set_expand(&x->node_set, x->s->o, x->gpus);
	x->listing = LIST_TREE;
}

int refine_try(struct refine *x, bool *better)
{
	uint32_t order;

	*better = false;
	/* what it takes to make the set and to tell that it is known */
	effort_spend(&x->a->effort, x->f->n_nodes / 8 + 1);
	list_choice(x);
	if (x->node_set.n_gpus != x->job->n_gpus ||
	    is_known(x, x->node_set.hash + x->nesting) ||
	    effort_spent(&x->a->effort) || !node_set_valid(&x->node_set, x->s))
		return 0;
	expand(x);
	if (find_order(x, &order) || try_order(x, order, better) ||
	    (order && try_order(x, 0, better)) ||
	    (x->is_first && (try_listings(x, order, better) ||
			     try_turns(x, order, FIRST_TURNS, better) ||
			     try_others(x, order, better))))
		return -1;
	if (*better)
		memcpy(x->take, x->now, x->f->n_nodes);
	return 0;
}

static void list_take(struct refine *x)
{
	memcpy(x->now, x->take, x->f->n_nodes);
	list_choice(x);
	expand(x);
}

int refine_orders(struct refine *x, bool *better)
{
	uint32_t before = x->nesting, n = x->a->orders.n;
	uint32_t listing = before / REFINE_LISTED;

	*better = false;
	list_take(x);
	for (uint32_t k = 1; k < n * (listing ? 2 : 1); k++) {
		uint32_t nesting = k < n ? k : k - n + listing * REFINE_LISTED;

		if (effort_spent(&x->a->effort))
			return 0;
		if (nesting != before && try_order(x, nesting, better))
			return -1;
	}
	if (try_listings(x, x->nesting, better))
		return -1;
	return try_turns(x, x->nesting % REFINE_LISTED % ORDERS_MAX, UINT32_MAX,
			 better);
}

int refine_polish(struct refine *x, uint64_t work)
{
	struct arranger *a = x->a;
	const struct arrangement from = {.node_set = &x->node_set,
					 .cost = x->current.cost,
					 .where = x->trial};
	uint64_t rest = a->effort.work;
	struct comparison comparison;

	if (rest < work || effort_spent(&a->effort))
		return 0;
	list_take(x);
	if (put_ranks(x, x->nesting))
		return -1;
	rest -= work;
	a->effort.work = work;
	if (arrange_node_set(a, &from, 1, x->trial, x->err) ||
	    comparison_measure(x->s, x->trial, &comparison, x->err))
		return -1;
	a->effort.work += rest;
	keep_best(x, &comparison);
	return 0;
}

/* ---- ways in which nodes give ---- */

static void add_rule(struct refine *x, uint32_t unit, bool same)
{
	if (!unit || x->n_rules == REFINE_RULES || x->job->n_gpus % unit)
		return;
	for (uint32_t i = 0; i < x->n_rules; i++)
		if (x->rule[i].unit == unit && x->rule[i].same == same)
			return;
	x->rule[x->n_rules++] = (struct rule){unit, same};
}

static void find_rules(struct refine *x)
{
	uint32_t tp = x->job->spec.tp ? x->job->spec.tp : 1;
	uint32_t most = x->s->give_most;

	if (x->job->gpus_per_node) {
		add_rule(x, x->job->gpus_per_node, true);
		return;
	}
	for (uint32_t unit = tp <= most ? tp : node_set_divisor(tp, most);
	     unit > 1 && tp % unit == 0; unit /= 2)
		add_rule(x, unit, false);
	add_rule(x, 1, false);
	for (uint32_t g = most; g > 0; g--)
		add_rule(x, g, true);
}

static void add_chunk(struct refine *x, uint64_t size)
{
	if (size <= 1 || size >= x->job->n_gpus || x->n_chunks == REFINE_CHUNKS)
		return;
	for (uint32_t i = 0; i < x->n_chunks; i++)
		if (x->chunk[i] == size)
			return;
	x->chunk[x->n_chunks++] = (uint32_t)size;
}

static void find_chunks(struct refine *x)
{
	const struct weft_spec *spec = &x->job->spec;
	uint64_t tp = spec->tp ? spec->tp : 1, pp = spec->pp ? spec->pp : 1;

	add_chunk(x, tp);
	add_chunk(x, tp * pp);
	if (spec->ep > 1)
		add_chunk(x, (uint64_t)spec->ep * (spec->etp ? spec->etp : 1));
	add_chunk(x, tp * (spec->dp ? spec->dp : 1));
}

/* ---- all together ---- */

static int list_cells(struct refine *x)
{
	const struct weft_domain *scope = &x->f->domains[x->scope];
	const uint32_t *domain = x->f->gpu_domain[x->level];
	uint32_t first = domain[scope->first_gpu];
	uint32_t last = domain[scope->first_gpu + scope->n_gpus - 1];

	x->cell = weft_calloc(last - first + 1, sizeof(*x->cell), x->err);
	x->order = weft_calloc(last - first + 1,
			       (1 + REFINE_GIVES) * sizeof(*x->order), x->err);
	if (!x->cell || !x->order)
		return -1;
	for (uint32_t d = first; d <= last; d++)
		x->cell[x->n_cells++].domain = d;
	return 0;
}

static int refine_build(struct refine *x, const struct node_set *start)
{
	uint32_t n = x->job->n_gpus, n_nodes = x->f->n_nodes;

	x->take = weft_calloc(n_nodes, 5 + REFINE_GIVES + REFINE_RULES, x->err);
	x->gpus = weft_calloc(n, sizeof(*x->gpus), x->err);
	x->trial = weft_calloc(n, sizeof(*x->trial), x->err);
	x->aligned = weft_calloc(n, 2 * sizeof(*x->aligned), x->err);
	x->node_set.node = weft_calloc(n, sizeof(*x->node_set.node), x->err);
	x->node_set.count = weft_calloc(n, sizeof(*x->node_set.count), x->err);
	if (!x->take || !x->gpus || !x->trial || !x->aligned ||
	    !x->node_set.node || !x->node_set.count || list_cells(x))
		return -1;
	x->scratch = x->aligned + n;
	x->now = x->take + n_nodes;
	x->top = x->now + n_nodes;
	x->cheap = x->top + n_nodes;
	x->extra = x->cheap + n_nodes;
	for (uint32_t i = 0; i < REFINE_GIVES; i++) {
		x->gives[i].of_node = x->extra + (i + 1) * n_nodes;
		x->gives[i].cap = x->order + (i + 1) * x->n_cells;
	}
	for (uint32_t i = 0; i < REFINE_RULES; i++)
		x->first[i].take = x->extra + (1 + REFINE_GIVES + i) * n_nodes;
	for (uint32_t i = 0; start && i < start->n_nodes; i++)
		x->now[start->node[i]] = (uint8_t)start->count[i];
	for (uint32_t r = 0; !start && r < n; r++)
		x->now[x->f->gpu_node[x->where[r]]]++;
	return 0;
}

static void refine_free(struct refine *x)
{
	free(x->take);
	free(x->gpus);
	free(x->trial);
	free(x->aligned);
	refine_pairs_free(x);
	free(x->cell);
	free(x->order);
	node_set_free(&x->node_set);
	free(x);
}

int refine_run(struct arranger *a, const struct node_set *start,
	       uint32_t *where, struct comparison *best, struct weft_error *err)
{
	uint32_t top = a->f->n_levels - 1, level = limits_level(a->f);
	struct refine *x;
	int rc = -1;

	if (a->job->within_level < top)
		top = a->job->within_level;
	if (top < level || a->s->o->required)
		return 0;
	x = weft_calloc(1, sizeof(*x), err);
	if (!x)
		return -1;
	x->a = a;
	x->s = a->s;
	x->f = a->f;
	x->job = a->job;
	x->level = level;
	x->scope = a->f->gpu_domain[top][where[0]];
	x->where = where;
	x->best = best;
	x->least = (double)INFINITY;
	x->is_lost = true;
	x->is_thorough = a->effort.work >= MANY * weft_judge_work(a->s->judge);
	x->is_broken = refine_breaks(a->f, a->job, where);
	x->least_work = a->effort.work - a->effort.work / ORDERS_PART;
	x->err = err;
	if (refine_build(x, start))
		goto out;
	find_rules(x);
	find_chunks(x);
	if (refine_first(x) || refine_wander(x))
		goto out;
	rc = 0;
out:
	refine_free(x);
	return rc;
}
