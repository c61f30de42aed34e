/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c - choosing GPUs and rank order for a job: what all strategies share
 */
#include "placement/place.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "base/suggest.h"
#include "placement/objective/bottleneck.h"
#include "placement/objective/bound.h"
#include "placement/objective/comparison.h"
#include "placement/place_parts.h"
#include "placement/plan_cache.h"
#include "placement/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12

/* Of the time granted, what the bound may take. */
#define BOUND_SHARE 0.3

const struct weft_strategy weft_strategies[] = {
	{"pack", "nodes and rank order for the traffic, in few domains",
	 place_pack},
	{"first-fit", "first nodes by name that fit, ranks in order",
	 place_firstfit},
};
const uint32_t weft_n_strategies =
	sizeof(weft_strategies) / sizeof(weft_strategies[0]);

static const struct weft_strategy *
find_strategy(const struct weft_place_options *options, struct weft_error *err)
{
	const char *known[sizeof(weft_strategies) / sizeof(weft_strategies[0])];
	const char *name = options->method;
	char hint[WEFT_SUGGEST_TEXT];

	if (options->strategy)
		return options->strategy;
	for (uint32_t i = 0; i < weft_n_strategies; i++) {
		known[i] = weft_strategies[i].name;
		if (!name || strcmp(name, known[i]) == 0)
			return &weft_strategies[i];
	}
	weft_fail(err, WEFT_EINVAL, "unknown placement method \"%.40s\"; %s",
		  name,
		  weft_suggest_text(name, known, weft_n_strategies, hint));
	return NULL;
}

/* Nodes in the order of their lowest rank. */
static int fill_nodes(const struct weft_fabric *f, struct weft_placement *p,
		      struct weft_error *err)
{
	uint64_t *seen =
		weft_calloc(weft_bitset_words(f->n_nodes), sizeof(*seen), err);

	free(p->nodes);
	p->n_nodes = 0;
	p->nodes = weft_calloc(p->n_ranks, sizeof(*p->nodes), err);
	if (!seen || !p->nodes) {
		free(seen);
		return -1;
	}
	for (uint32_t r = 0; r < p->n_ranks; r++) {
		uint32_t node = f->gpu_node[p->where[r]];

		if (weft_bitset_has(seen, node))
			continue;
		weft_bitset_add(seen, node);
		p->nodes[p->n_nodes++] = node;
	}
	free(seen);
	return 0;
}

int place_set_bound(const struct capacity *s, struct weft_placement *p,
		    struct weft_error *err)
{
	double crossing[WEFT_MAX_LEVELS];

	if (bound_measure(s, p->bounds, crossing, err))
		return -1;
	p->bound = p->bounds[p->metric];
	if (!s->judge)
		return 0;
	if (s->judge->objective.goal == WEFT_GOAL_COST)
		s->judge->least_goal = p->bound;
	if (s->judge->objective.goal == WEFT_GOAL_BUSIEST)
		return bottleneck_bound(s, crossing, &s->judge->least_goal,
					err);
	return 0;
}

int place_finish(const struct weft_fabric *f, struct weft_placement *p,
		 struct weft_error *err)
{
	double cost = p->cost.total[p->metric];

	if (fill_nodes(f, p, err))
		return -1;
	/* the bound is a sum in another order, equal but for rounding */
	if (p->bound > cost * (1 - ROUNDING))
		p->bound = cost;
	p->gap = cost > 0 ? (cost - p->bound) / cost : 0;
	return 0;
}

double place_deadline(const struct weft_place_options *options)
{
	return options->budget_s > 0 ? weft_budget_clock_s() + options->budget_s
				     : 0;
}

/* What was found by the deadline is an answer, though its price is not known:
 * NAN. */
static int keep_unpriced(const struct weft_fabric *f, struct weft_placement *p,
			 struct weft_error *err)
{
	if (!p->placed || !weft_deadline_passed() || fill_nodes(f, p, err))
		return -1;
	for (int m = 0; m < WEFT_N_METRICS; m++)
		p->cost.total[m] = (double)NAN;
	p->bound = p->gap = (double)NAN;
	if (err)
		*err = (struct weft_error){0};
	return 0;
}

void place_start(const struct weft_job *job, struct weft_placement *p)
{
	memset(p, 0, sizeof(*p));
	p->n_ranks = job->n_gpus;
	p->metric = job->spec.metric;
	p->method = "none";
}

static int place_and_compare(struct capacity *s,
			     const struct weft_strategy *strategy,
			     const struct weft_place_options *options,
			     struct weft_placement *p, struct weft_error *err)
{
	double deadline_s = place_deadline(options);
	struct weft_place_options rest = *options;
	struct comparison comparison;
	double baseline = NAN;

	s->bound_by_s = 0;
	if (deadline_s > 0)
		s->bound_by_s =
			deadline_s - (1 - BOUND_SHARE) * options->budget_s;
	if (place_set_bound(s, p, err))
		return -1;
	/* what the bound took is of the budget, too; 0 would be none */
	if (deadline_s > 0)
		rest.budget_s = fmax(deadline_s - weft_budget_clock_s(), 1e-9);
	if (place_search(s, strategy, &rest, p, &comparison, &baseline, err))
		return keep_unpriced(s->f, p, err);
	if (!p->placed) {
		p->bound = 0;
		reason_limits(s, p, options->budget_s <= 0);
		return 0;
	}
	/* its own busiest link is to be named */
	s->judge->links_idle = false;
	weft_known_free(&s->judge->known);
	if (comparison.measure.inferred &&
	    comparison_measure(s, p->where, &comparison, err))
		return keep_unpriced(s->f, p, err);
	p->cost = comparison.measure.cost;
	if (place_finish(s->f, p, err))
		return -1;
	reason_placed(s, p, baseline);
	return 0;
}

/* Whether links above hosts can hold anything up: where they carry all that
 * NICs send, by whichever way, communication takes as long anywhere. */
static bool links_matter(const struct weft_fabric *f)
{
	uint32_t network = f->node_level + 1;

	if (f->routing != WEFT_ROUTING_ADAPTIVE || f->has_steps ||
	    f->uplink_rate_bytes_per_s ||
	    (f->node_level == 0 && f->levels[0].n_domains < f->n_nodes))
		return true;
	for (uint32_t l = network; l < f->n_levels; l++)
		if (f->levels[l].link.oversubscription > 1 ||
		    f->levels[l].link.rate_bytes_per_s <
			    f->levels[network].link.rate_bytes_per_s)
			return true;
	return false;
}

/* Seconds of communication that are the same anywhere leave it to the cost; no
 * need to predict them for every placement. */
static bool time_tells(const struct weft_fabric *f, const struct weft_job *job,
		       const struct weft_objective *objective)
{
	return objective->load || links_matter(f) || job->spec.traffic[0] ||
	       weft_spec_given(&job->spec, "model");
}

struct weft_objective place_objective(const struct weft_job *job,
				      const struct weft_place_options *options,
				      struct weft_job *own)
{
	struct weft_objective objective = weft_objective_of_spec(&job->spec);

	*own = *job;
	if (options->objective)
		objective = *options->objective;
	if ((unsigned)objective.metric < WEFT_N_METRICS)
		own->spec.metric = objective.metric;
	return objective;
}

/* The capacity of the job, in *own or, where that may be, in the plan cache. */
static struct capacity *
get_capacity(const struct weft_fabric *f, const struct weft_job *job,
	     const struct weft_occupancy *o, struct weft_plan_cache *plan_cache,
	     struct capacity *own, struct weft_error *err)
{
	struct capacity *s = own;

	if (plan_cache && !o->weight && !o->required) {
		s = &plan_cache->capacity;
		if (capacity_renew(f, job, o, s, err))
			return NULL;
	} else if (capacity_build(f, job, o, 1, 0, s, err)) {
		return NULL;
	}
	s->plan_cache = plan_cache;
	return s;
}

/* Whatever went wrong, the next decision starts from nothing. */
static void put_capacity(struct weft_plan_cache *plan_cache,
			 struct capacity *own, bool failed)
{
	capacity_free(own);
	if (plan_cache && failed)
		capacity_free(&plan_cache->capacity);
}

int place_check_traffic(const struct weft_job *job, struct weft_error *err)
{
	if (job->traffic.n_ranks == job->n_gpus && job->n_gpus)
		return 0;
	return weft_fail(err, WEFT_EINVAL,
			 "the job has %u GPUs but traffic of %u ranks",
			 job->n_gpus, job->traffic.n_ranks);
}

/* Up to so many GPUs of a fabric the room that a placement destroys decides
 * between equals.  Counting it takes 0.2 ms of a decision at that size, on
 * larger fabrics longer than placing a small job. */
#define ROOM_GPUS 4096

static int place_by(struct capacity *s, const struct weft_strategy *strategy,
		    const struct weft_place_options *options,
		    const struct weft_objective *objective,
		    struct weft_placement *p, struct weft_error *err)
{
	bool counts = objective->fragmentation > 0 || s->f->n_gpus <= ROOM_GPUS;
	const struct weft_occupancy *o = counts ? s->o : NULL;
	struct weft_judge judge = {0};
	int rc = weft_judge_build(s->f, s->job, o, objective, &judge, err);

	s->judge = &judge;
	judge.links_idle = objective->goal == WEFT_GOAL_STEP &&
			   !objective->load && !links_matter(s->f);
	if (rc == 0 && !reason_impossible(s, p))
		rc = place_and_compare(s, strategy, options, p, err);
	weft_judge_free(&judge);
	s->judge = NULL;
	return rc;
}

/* Whether groups of ranks along the axes of a grid fill their nodes. */
static bool fills_nodes(const struct weft_grid *grid, uint32_t share)
{
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		uint32_t block = grid->size[a] * grid->stride[a];

		if (grid->size[a] > 1 && block % share && share % block)
			return false;
	}
	return true;
}

/* Whether the NICs of no node hold others up: all have as many ranks, and no
 * group of ranks has but a few of its own on one. */
static bool nics_are_even(const struct capacity *s, const uint32_t *where)
{
	const struct weft_grid *expert = &s->job->schedule.expert;
	const uint32_t *node = s->f->gpu_node;
	uint32_t share = 0;

	for (uint32_t r = 0; r < s->job->n_gpus; r++)
		share += node[where[r]] == node[where[0]];
	return comparison_is_even(s, where) &&
	       fills_nodes(&s->job->grid, share) &&
	       (expert->n_ranks != s->job->n_gpus ||
		fills_nodes(expert, share));
}

/* Whether steps of the job can be compared in the time there is. */
static bool affords_steps(const struct capacity *s,
			  const struct weft_place_options *options)
{
	const struct weft_judge judge = {
		.f = s->f,
		.job = s->job,
		.objective.goal = WEFT_GOAL_STEP,
		.n_measured = 1,
	};

	return options->work_limit || weft_judge_affords(&judge);
}

/* options: with a plan cache. */
static int place_with(const struct weft_fabric *f, const struct weft_job *job,
		      const struct weft_occupancy *o,
		      const struct weft_place_options *options,
		      struct weft_placement *p, struct weft_error *err)
{
	const struct weft_strategy *strategy;
	struct weft_objective objective;
	struct weft_job own;
	struct capacity own_capacity = {0}, *s;
	bool by_step;
	int rc = -1;

	objective = place_objective(job, options, &own);
	by_step = objective.goal == WEFT_GOAL_STEP;
	place_start(&own, p);
	strategy = find_strategy(options, err);
	if (!strategy)
		return -1;
	if (place_check_traffic(job, err))
		return -1;
	s = get_capacity(f, &own, o, options->plan_cache, &own_capacity, err);
	if (!s)
		goto out;
	p->method = strategy->name;
	if (objective.goal == WEFT_GOAL_STEP && !time_tells(f, job, &objective))
		objective.goal = WEFT_GOAL_COST;
	rc = place_by(s, strategy, options, &objective, p, err);
	if (rc || !p->placed || by_step == (objective.goal == WEFT_GOAL_STEP) ||
	    nics_are_even(s, p->where) || !affords_steps(s, options))
		goto out;
	weft_placement_free(p);
	place_start(&own, p);
	p->method = strategy->name;
	objective.goal = WEFT_GOAL_STEP;
	rc = place_by(s, strategy, options, &objective, p, err);
out:
	plan_cache_forget(options->plan_cache);
	put_capacity(options->plan_cache, &own_capacity, rc != 0);
	return rc;
}

int weft_place(const struct weft_fabric *f, const struct weft_job *job,
	       const struct weft_occupancy *o,
	       const struct weft_place_options *options,
	       struct weft_placement *p, struct weft_error *err)
{
	struct weft_place_options with = {0};
	struct weft_plan_cache *own = NULL;
	int rc;

	if (options)
		with = *options;
	place_start(job, p);
	/* for the searches of this decision, if not for others */
	if (!with.plan_cache) {
		own = weft_plan_cache_build(err);
		if (!own)
			return -1;
		with.plan_cache = own;
	}
	rc = place_with(f, job, o, &with, p, err);
	weft_plan_cache_free(own);
	return rc;
}
