/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_pack.c - the default strategy: few domains, ranks nested to fit them
 *
 * 1. candidates.c proposes sets of nodes, from the innermost level outwards.
 * 2. Each is priced with every nesting of the job's axes (order.c), on blocks
 *    of ranks as large as all its nodes' shares allow.
 * 3. The best few are improved by local search (arrange.c).
 * 4. comparison.c decides between them.
 * 5. Unless none can be better, refine.c goes on from the best, by the goal;
 *    where room for others counts or a link is to be relieved, comparison.c
 *    decides between the other sets, too.
 */
#include "placement/place_parts.h"

#include "base/clock.h"
#include "placement/nodes/apart.h"
#include "placement/nodes/candidates.h"
#include "placement/nodes/layouts.h"
#include "placement/nodes/leftovers.h"
#include "placement/ranks/arrange.h"
#include "placement/ranks/replicas.h"
#include "placement/refine/refine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINALISTS 4

/* An order that costs this many times as much as another is not timed. */
#define MUCH_DEARER 2

/* Work on what is looked at beside the cost: some 5 ms. */
#define MAX_FURTHER 1000000

/* Work on placements measured before that, beside the first. */
#define MAX_MEASURED 1000000

/* Of the work that the caller grants, the part for the best few sets of nodes;
 * the rest is for other sets, which gain more. */
#define FINALISTS_PART 4

/* Sets of nodes that are looked at besides where the goal decides, in
 * placements measured, and steps that they may take: some 50 ms; where a
 * deadline is set, 10.  On larger fabrics than so many GPUs fewer steps, down
 * to some 2 ms: there are whole domains for most jobs, and of 100,000 GPUs all
 * these steps make answers better by 0.02 %. */
#define REFINED	     8192
#define MAX_REFINE   8000000
#define HASTY_REFINE 2000000
#define LEAST_REFINE 400000
#define REFINE_GPUS  4096

struct pack {
	const struct weft_fabric *f;
	const struct weft_job *job;
	struct capacity *capacity; /* of single GPUs */
	struct candidates candidates;
	struct arranger arranger;
	struct comparison best;
	/* of costs with their ties: the least of those so far that keep to
	 * prefer=, < 0 if none does; and what none is less than */
	double least, target;
	uint32_t *where; /* [n_gpus] scratch */
	double most;	 /* leftovers that cost more are not considered */
	bool limited;	 /* the caller set the work limit */
	uint64_t held;	 /* of that, what refine.c gets */
	struct weft_placement *p;
	struct weft_error *err;
};

/* Prices candidate i and puts it in its place among those priced before. */
static int price_one(struct pack *pack, uint32_t i, uint32_t n_before,
		     uint32_t *gpus)
{
	struct candidates *c = &pack->candidates;
	uint32_t k = n_before;

	node_set_expand(&c->node_set[i], pack->capacity->o, gpus);
	if (arrange_price(&pack->arranger, gpus, c->block[i], &c->cost[i],
			  &c->nesting[i], pack->err))
		return -1;
	/* of equal ones the tighter comes first, as proposed */
	for (; k > 0; k--) {
		uint32_t other = c->order[k - 1];

		if (c->cost[other] < c->cost[i] ||
		    (c->cost[other] == c->cost[i] && other < i))
			break;
		c->order[k] = other;
	}
	c->order[k] = i;
	return 0;
}

/* Whether to keep the time short, of a large job that the caller does not
 * limit.
 */
static bool is_hasty(const struct pack *pack)
{
	return !pack->limited && pack->job->n_gpus > EFFORT_FULL_GPUS;
}

/* Cost of the best nesting on every candidate; the cheapest come first.  Those
 * of one block size go together, because they share the cutting of orders. When
 * time is up, one is enough. */
static int price(struct pack *pack)
{
	struct candidates *c = &pack->candidates;
	uint32_t n_done = 0;
	bool done[CANDIDATES_MAX] = {false};
	uint32_t *gpus =
		weft_calloc(pack->job->n_gpus, sizeof(*gpus), pack->err);
	int rc = gpus ? 0 : -1;

	for (uint32_t i = 0; i < c->n; i++)
		c->block[i] = node_set_block(&c->node_set[i], pack->f);
	if (is_hasty(pack))
		candidates_leave_out(c, pack->f, done);
	pack->arranger.hasty = is_hasty(pack);
	for (uint32_t i = 0; i < c->n; i++) {
		for (uint32_t k = i; k < c->n && rc == 0; k++) {
			if (done[k] || c->block[k] != c->block[i] ||
			    (n_done && effort_spent(&pack->arranger.effort)))
				continue;
			rc = price_one(pack, k, n_done++, gpus);
			done[k] = true;
		}
	}
	c->n_priced = n_done;
	pack->arranger.hasty = false;
	free(gpus);
	return rc;
}

/* Keeps pack->where when it ranks before the best so far. */
static int consider_order(struct pack *pack)
{
	struct comparison comparison;
	double cost;

	if (comparison_measure(pack->capacity, pack->where, &comparison,
			       pack->err))
		return -1;
	cost = comparison.cost +
	       sites_tie(pack->f, pack->job->spec.metric) * comparison.second;
	if (comparison.prefers && (pack->least < 0 || cost < pack->least))
		pack->least = cost;
	if (pack->p->placed &&
	    comparison_compare(&comparison, &pack->best) >= 0)
		return 0;
	pack->best = comparison;
	pack->p->placed = true;
	memcpy(pack->p->where, pack->where,
	       pack->job->n_gpus * sizeof(*pack->where));
	return 0;
}

/* The same, unless it can be told without its step that it does not. */
static int consider(struct pack *pack)
{
	bool beaten = false;

	if (pack->p->placed &&
	    comparison_is_beaten(pack->capacity, pack->where, &pack->best,
				 &beaten, pack->err))
		return -1;
	return beaten ? 0 : consider_order(pack);
}

/* True when the answer costs as little as any can. */
static bool is_least(const struct pack *pack)
{
	return pack->least >= 0 &&
	       pack->least <= pack->target * (1 + COMPARISON_REACHED);
}

/* True when the cheapest so far reaches the bound and candidate k would first
 * have to be improved to come near it. */
static bool is_beaten(const struct pack *pack, uint32_t k)
{
	return pack->job->spec.spread != WEFT_BALANCE && is_least(pack) &&
	       pack->candidates.cost[k] >
		       pack->target * (1 + COMPARISON_REACHED);
}

/* Of the work on what may yet be better. */
static uint64_t share_of(const struct pack *pack, uint64_t work)
{
	return effort_share(work, pack->job->n_gpus);
}

/* Whether the work granted suffices to measure one more before other sets are
 * looked at: on thousands of GPUs a step takes milliseconds to predict. */
static bool may_measure(const struct pack *pack)
{
	const struct weft_judge *judge = pack->capacity->judge;

	return pack->limited || weft_judge_work(judge) * judge->n_measured <=
					share_of(pack, MAX_MEASURED);
}

static struct arrangement arrangement_of(struct pack *pack, uint32_t k)
{
	struct candidates *c = &pack->candidates;

	return (struct arrangement){.node_set = &c->node_set[k],
				    .order = c->nesting[k],
				    .cost = c->cost[k]};
}

/* Whether too little is left to measure one more. */
static bool is_spent(struct pack *pack)
{
	struct effort *effort = &pack->arranger.effort;

	return effort_spent(effort) ||
	       (is_hasty(pack) &&
		effort->work < weft_judge_work(pack->capacity->judge));
}

static int consider_plain(struct pack *pack, const struct arrangement *plain)
{
	if (arrange_plain(&pack->arranger, plain, pack->where, pack->err) ||
	    consider(pack))
		return -1;
	effort_spend(&pack->arranger.effort,
		     weft_judge_work(pack->capacity->judge));
	return 0;
}

/* The share of free slots that candidate i destroys. */
static double share_lost(struct pack *pack, uint32_t i)
{
	node_set_expand(&pack->candidates.node_set[i], pack->capacity->o,
			pack->where);
	return weft_slots_lost(&pack->capacity->judge->slots, pack->where);
}

/* Candidates in the order in which they are best looked at: the cheapest come
 * first or, where the share lost decides before the cost, those that destroy
 * least, so that few of the others have to be timed. */
static void sort_all(struct pack *pack, uint32_t order[CANDIDATES_MAX])
{
	struct candidates *c = &pack->candidates;
	double lost[CANDIDATES_MAX];

	for (uint32_t i = 0; i < c->n_priced; i++) {
		uint32_t one = c->order[i], at = i;
		double its = pack->capacity->judge->indifferent
				     ? share_lost(pack, one)
				     : 0;

		for (; at > 0 && lost[at - 1] > its; at--) {
			lost[at] = lost[at - 1];
			order[at] = order[at - 1];
		}
		lost[at] = its;
		order[at] = one;
	}
}

/* What is neither cheapest nor improved may yet have the best value. */
static int consider_all(struct pack *pack)
{
	uint32_t order[CANDIDATES_MAX];

	sort_all(pack, order);
	for (uint32_t i = 0; i < pack->candidates.n_priced; i++) {
		const struct arrangement plain = arrangement_of(pack, order[i]);

		if (is_spent(pack))
			return 0;
		if (consider_plain(pack, &plain))
			return -1;
	}
	return 0;
}

/* The order to measure next, none that costs much more than `least`.
 * WEFT_NONE: there is no more. */
static uint32_t next_order(const struct pack *pack,
			   const bool tried[ORDERS_MAX], double least)
{
	const struct arranger *a = &pack->arranger;

	if (is_hasty(pack))
		return arrange_next_kind(a, tried, MUCH_DEARER * least);
	for (uint32_t k = 0; k < a->orders.n; k++)
		if (!tried[k] && a->cost[k] <= MUCH_DEARER * least)
			return k;
	return WEFT_NONE;
}

/* A set of nodes in another order of ranks than its first.  On many ranks a
 * bound of the step mostly tells that it is slower. */
static int consider_dearer(struct pack *pack, double cost)
{
	bool slower = false;

	if (is_hasty(pack) && cost > pack->least &&
	    comparison_is_slower(pack->capacity, pack->where, &pack->best,
				 &slower, pack->err))
		return -1;
	return slower ? 0 : consider_order(pack);
}

/* The order that costs least need not be the one that waits least: the others
 * on candidate i, but for those that cost much more. */
static int consider_orders(struct pack *pack, uint32_t i)
{
	struct candidates *c = &pack->candidates;
	struct arranger *a = &pack->arranger;
	struct arrangement plain = arrangement_of(pack, i);
	bool tried[ORDERS_MAX] = {false};
	uint32_t k;

	if (a->orders.n < 2 || is_spent(pack))
		return 0;
	node_set_expand(plain.node_set, pack->capacity->o, pack->where);
	if (arrange_price(a, pack->where, c->block[i], &plain.cost,
			  &plain.order, pack->err))
		return -1;
	tried[c->nesting[i]] = true;
	while ((k = next_order(pack, tried, plain.cost)) != WEFT_NONE &&
	       !is_spent(pack)) {
		tried[k] = true;
		plain.order = k;
		if (arrange_plain(a, &plain, pack->where, pack->err) ||
		    consider_dearer(pack, a->cost[k]))
			return -1;
		effort_spend(&a->effort,
			     weft_judge_work(pack->capacity->judge));
	}
	return 0;
}

/* On all finalists. */
static int consider_all_orders(struct pack *pack)
{
	struct candidates *c = &pack->candidates;
	uint32_t n = c->n_priced < FINALISTS ? c->n_priced : FINALISTS;

	for (uint32_t i = 0; i < n; i++)
		if (consider_orders(pack, c->order[i]))
			return -1;
	return 0;
}

/* Whether these GPUs can be told to rank behind the best without an order of
 * ranks on them, as comparison_is_beaten does. */
static bool destroys_more(const struct pack *pack, const uint32_t *gpus)
{
	struct weft_judge *judge = pack->capacity->judge;
	double most = pack->best.share_lost;

	return judge->indifferent && pack->best.prefers && !pack->best.lost &&
	       weft_slots_lost(&judge->slots, gpus) >
		       most * (1 + COMPARISON_SAME);
}

/* The GPUs left over in one domain. */
static int consider_leftover(struct pack *pack, uint32_t domain, uint32_t unit,
			     bool scattered)
{
	struct node_set node_set;
	struct arrangement plain = {.node_set = &node_set};
	uint32_t *gpus =
		weft_calloc(pack->job->n_gpus, sizeof(*gpus), pack->err);
	int rc = -1;

	if (!gpus)
		return -1;
	rc = leftovers_fill(pack->capacity, domain, unit, scattered, &node_set,
			    pack->err);
	if (rc <= 0)
		goto out;
	node_set_expand(&node_set, pack->capacity->o, gpus);
	rc = 0;
	if (destroys_more(pack, gpus))
		goto out;
	rc = arrange_price(&pack->arranger, gpus,
			   node_set_block(&node_set, pack->f), &plain.cost,
			   &plain.order, pack->err);
	if (rc == 0 && plain.cost <= pack->most)
		rc = consider_plain(pack, &plain);
out:
	node_set_free(&node_set);
	free(gpus);
	return rc;
}

/* At every level in the domain that holds the job most tightly. */
static int consider_leftovers(struct pack *pack)
{
	const struct capacity *s = pack->capacity;
	uint32_t tp = pack->job->spec.tp;
	uint32_t unit = tp > 1 && pack->job->n_gpus % tp == 0 ? tp : 1;

	for (uint32_t l = pack->f->node_level; l < pack->f->n_levels; l++) {
		const struct weft_level *level = &pack->f->levels[l];
		uint32_t best = WEFT_NONE;

		for (uint32_t i = 0; i < level->n_domains; i++) {
			uint32_t d = level->first_domain + i;

			if (capacity_holds(s, d) &&
			    (best == WEFT_NONE || s->cap[d] < s->cap[best]))
				best = d;
		}
		if (best == WEFT_NONE)
			continue;
		if (is_spent(pack))
			return 0;
		for (uint32_t k = 0; k < (unit > 1 ? 4 : 2); k++)
			if (consider_leftover(pack, best, k < 2 ? unit : 1,
					      k % 2))
				return -1;
	}
	return 0;
}

/* What other sets of nodes may take. */
static uint64_t refine_work(const struct pack *pack)
{
	uint64_t work = REFINED * weft_judge_work(pack->capacity->judge);
	uint64_t most = weft_deadline() > 0 ? HASTY_REFINE : MAX_REFINE;

	if (pack->f->n_gpus > REFINE_GPUS)
		most = most * REFINE_GPUS / pack->f->n_gpus;
	if (most < LEAST_REFINE)
		most = share_of(pack, LEAST_REFINE);
	return work < most ? work : most;
}

/* Other sets of nodes by the goal, unless what is known to be the least has
 * been found. */
static int refine(struct pack *pack)
{
	const struct candidates *c = &pack->candidates;
	const struct node_set *start = NULL;
	struct effort *effort = &pack->arranger.effort;
	uint64_t one = weft_judge_work(pack->capacity->judge);

	if (!pack->p->placed ||
	    comparison_is_least(pack->capacity, &pack->best))
		return 0;
	if (!pack->limited)
		effort->work = refine_work(pack);
	effort->work += pack->held;
	pack->held = 0;
	if (effort->work < 2 * one) {
		if (pack->limited ||
		    !refine_breaks(pack->f, pack->job, pack->p->where))
			return 0;
		/* one set, of pairs */
		effort->work = one;
	}
	/* by the cost it looks at the same with any weight of fragmentation */
	if (pack->capacity->judge->objective.goal == WEFT_GOAL_COST)
		start = &c->node_set[c->order[0]];
	return refine_run(&pack->arranger, start, pack->p->where, &pack->best,
			  pack->err);
}

/* Where more than the cost counts.  What is looked at does not depend on the
 * weight of fragmentation, so that a larger one never loses more. */
static int look_further(struct pack *pack)
{
	const struct weft_judge *judge = pack->capacity->judge;
	uint64_t one = weft_judge_work(judge), most = 128 * one;

	if (comparison_suffices(pack->capacity, &pack->best))
		return 0;
	if (judge->objective.goal == WEFT_GOAL_STEP && !judge->indifferent &&
	    !(judge->objective.fragmentation > 0))
		return refine(pack);
	if ((judge->objective.goal != WEFT_GOAL_COST || !is_least(pack)) &&
	    refine(pack))
		return -1;
	if (!pack->limited) {
		if (most > share_of(pack, MAX_FURTHER))
			most = share_of(pack, MAX_FURTHER);
		pack->arranger.effort.work += most;
	}
	if (consider_all(pack))
		return -1;
	if ((judge->objective.fragmentation > 0 || judge->indifferent) &&
	    consider_leftovers(pack))
		return -1;
	return judge->objective.goal == WEFT_GOAL_COST || judge->indifferent
		       ? 0
		       : consider_all_orders(pack);
}

/* Between sets that cost the same the room for others decides. */
static int look_for_room(struct pack *pack)
{
	struct candidates *c = &pack->candidates;
	const struct comparison *best = &pack->best;
	double cost = best->cost +
		      sites_tie(pack->f, pack->job->spec.metric) * best->second;

	if (!pack->p->placed || !pack->capacity->judge->slots.fabric ||
	    !(best->measure.share_lost > 0))
		return 0;
	pack->most = cost * (1 + COMPARISON_SAME);
	for (uint32_t i = 0; i < c->n_priced; i++) {
		const struct arrangement plain =
			arrangement_of(pack, c->order[i]);

		if (plain.cost > pack->most || is_spent(pack))
			break;
		if (consider_plain(pack, &plain))
			return -1;
	}
	return consider_leftovers(pack);
}

/* A job that takes as long anywhere leaves good domains to others: what it
 * destroys of them decides. */
static int find_indifference(struct pack *pack)
{
	struct weft_judge *judge = pack->capacity->judge;
	bool can;

	if (judge->objective.goal != WEFT_GOAL_STEP || !judge->gpu ||
	    judge->objective.fragmentation > 0 || !pack->p->placed ||
	    !(judge->anywhere || weft_judge_affords(judge)))
		return 0;
	if (apart_is_as_good(pack->capacity, pack->p->where, &pack->best,
			     pack->where, &can, pack->err))
		return -1;
	if (!can)
		return 0;
	if (weft_judge_indifferent(judge, pack->capacity->o, pack->err))
		return -1;
	memcpy(pack->where, pack->p->where,
	       pack->job->n_gpus * sizeof(*pack->where));
	pack->p->placed = false;
	return consider(pack);
}

/* Whether seconds of a known model decide. */
static bool predicts_step(const struct pack *pack)
{
	const struct weft_judge *judge = pack->capacity->judge;

	return judge->objective.goal == WEFT_GOAL_STEP && judge->gpu &&
	       pack->p->placed;
}

/* The ranks of the cheapest set in all orders, beyond the work on the cost. */
static int order_best_set(struct pack *pack)
{
	struct effort *effort = &pack->arranger.effort;
	uint64_t one = weft_judge_work(pack->capacity->judge);
	uint64_t work = pack->arranger.orders.n * one;

	if (work > share_of(pack, MAX_MEASURED))
		work = share_of(pack, MAX_MEASURED);
	/* there is hardly ever a third kind that is the best */
	if (work < one)
		work = one;
	if (!pack->limited)
		effort->work += work;
	return consider_orders(pack, pack->candidates.order[0]);
}

/* Has the cheapest set of a job of very many ranks in the order that suits it,
 * as its replicas tell; *told: they do. */
static int find_order(struct pack *pack, bool *told)
{
	struct weft_judge *judge = pack->capacity->judge;
	struct candidates *c = &pack->candidates;
	struct arranger *a = &pack->arranger;
	uint32_t first = c->order[0], order;
	double cost;

	*told = false;
	if (!is_hasty(pack) || pack->job->n_gpus <= REPLICAS_MANY ||
	    judge->objective.goal != WEFT_GOAL_STEP || !judge->gpu ||
	    a->orders.n < 2)
		return 0;
	node_set_expand(&c->node_set[first], pack->capacity->o, pack->where);
	if (arrange_price(a, pack->where, c->block[first], &cost, &order,
			  pack->err) ||
	    replicas_find_order(a, pack->where, MUCH_DEARER * cost, &order,
				pack->err))
		return -1;
	*told = order != WEFT_NONE;
	if (*told) {
		judge->cheapest = cost;
		c->nesting[first] = order;
		c->cost[first] = a->cost[order];
	}
	return 0;
}

static int decide(struct pack *pack)
{
	bool told;
	struct candidates *c = &pack->candidates;
	uint32_t n = c->n_priced < FINALISTS ? c->n_priced : FINALISTS;

	if (find_order(pack, &told))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = c->order[i];
		const struct arrangement start = arrangement_of(pack, k);

		if (is_beaten(pack, k) ||
		    (i > 0 && (effort_late(&pack->arranger.effort) ||
			       !may_measure(pack))))
			continue;
		if (arrange_node_set(&pack->arranger, &start, n - i,
				     pack->where, pack->err) ||
		    consider(pack))
			return -1;
	}
	if (!told && predicts_step(pack) && order_best_set(pack))
		return -1;
	if (find_indifference(pack))
		return -1;
	if (!weft_objective_is_cost(&pack->capacity->judge->objective) &&
	    look_further(pack))
		return -1;
	if (weft_objective_is_cost(&pack->capacity->judge->objective) &&
	    !is_least(pack) && refine(pack))
		return -1;
	return look_for_room(pack);
}

/* Required nodes leave no other sets to look at. */
static void hold_back(struct pack *pack)
{
	struct effort *effort = &pack->arranger.effort;

	if (!pack->limited || pack->capacity->o->required)
		return;
	pack->held = effort->work - effort->work / FINALISTS_PART;
	effort->work -= pack->held;
}

static int run(struct pack *pack, const struct weft_place_options *options)
{
	uint32_t n = pack->job->n_gpus;

	pack->where = weft_calloc(n, sizeof(*pack->where), pack->err);
	pack->p->where = weft_calloc(n, sizeof(*pack->p->where), pack->err);
	if (!pack->where || !pack->p->where)
		return -1;
	if (candidates_build(pack->capacity, &pack->candidates, pack->err))
		return -1;
	if (!pack->candidates.n)
		return 0;
	pack->target = sites_blend(pack->f, pack->p->metric, pack->p->bounds);
	if (arranger_build(pack->capacity, options, pack->target,
			   &pack->arranger, pack->err) ||
	    price(pack))
		return -1;
	hold_back(pack);
	if (decide(pack))
		return -1;
	return pack->p->placed
		       ? candidates_next(&pack->candidates, pack->f, pack->p,
					 pack->job->n_gpus, pack->err)
		       : 0;
}

int place_pack(struct capacity *s, const struct weft_place_options *options,
	       struct weft_placement *p, struct weft_error *err)
{
	struct pack pack = {.f = s->f,
			    .job = s->job,
			    .capacity = s,
			    .least = -1,
			    .most = (double)INFINITY,
			    .limited = options->work_limit > 0,
			    .p = p,
			    .err = err};
	int rc;

	if (layouts_needed(s)) {
		rc = place_grouped(s, options, p, err);
		if (rc || p->placed || layouts_are_binding(s))
			return rc;
		free(p->where);
		p->where = NULL;
	}
	rc = run(&pack, options);
	p->n_ranks = s->job->n_gpus;
	p->method = "pack";
	candidates_free(&pack.candidates);
	arranger_free(&pack.arranger);
	free(pack.where);
	return rc;
}
