/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_search.c - what is searched, and compared with what else there is */
#include "base/bitset.h"
#include "base/clock.h"
#include "placement/nodes/limits.h"
#include "placement/place_parts.h"
#include "placement/ranks/pursuit.h"
#include "placement/refine/relocate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12

/* A search that goes on: half the work of its first turn, and turns in vain
 * after which nothing more is expected. */
#define FIRST_WORK    8000000
#define VAIN_SEARCHES 8

static int baseline_cost(const struct capacity *s, const uint32_t *where,
			 double *cost, struct weft_error *err)
{
	struct weft_cost measured;

	if (weft_judge_sums(s->judge, where, &measured, err))
		return -1;
	*cost = measured.total[s->job->spec.metric];
	return 0;
}

/* Keeps where[] instead of p, whose ranking is *mine when it is placed, where
 * it is the better one. */
static int keep_better(const struct capacity *s, const uint32_t *where,
		       const char *method, struct weft_placement *p,
		       struct comparison *mine, struct weft_error *err)
{
	struct comparison theirs;

	if (comparison_measure(s, where, &theirs, err))
		return -1;
	if (p->placed && comparison_compare(&theirs, mine) >= 0)
		return 0;
	memcpy(p->where, where, p->n_ranks * sizeof(*where));
	*mine = theirs;
	p->placed = true;
	p->method = method;
	return 0;
}

/* Whether one that costs so much is not worth the time to measure it. */
static bool is_hopeless(const struct capacity *s,
			const struct weft_placement *p,
			const struct comparison *mine, double cost)
{
	double told = s->judge->cheapest;

	if (!p->placed || !mine->prefers || mine->lost ||
	    weft_judge_affords(s->judge))
		return false;
	return cost > mine->cost * (1 + COMPARISON_SAME) ||
	       (told > 0 && cost >= told * (1 - COMPARISON_SAME));
}

/* Keeps the better of p and first-fit; *baseline is first-fit's cost or -1. */
static int compare_baseline(const struct capacity *s, struct weft_placement *p,
			    struct comparison *mine, double *baseline,
			    struct weft_error *err)
{
	uint32_t *where = weft_calloc(s->job->n_gpus, sizeof(*where), err);
	bool beaten = false;
	int rc;

	*baseline = -1;
	if (!where)
		return -1;
	rc = firstfit_find(s, where, err);
	if (rc <= 0)
		goto out;
	rc = -1;
	if (baseline_cost(s, where, baseline, err))
		goto out;
	beaten = is_hopeless(s, p, mine, *baseline);
	if (p->placed && !beaten &&
	    comparison_is_beaten(s, where, mine, &beaten, err))
		goto out;
	rc = beaten ? 0 : keep_better(s, where, "first-fit", p, mine, err);
out:
	free(where);
	return rc < 0 ? -1 : 0;
}

/* Whether the ranks share hosts with the same others. */
static bool share_hosts_alike(const struct capacity *s, const uint32_t *a,
			      const uint32_t *b)
{
	struct weft_known *known = &s->judge->known;
	struct weft_signature of_a, of_b;
	uint32_t n = s->job->n_gpus;

	if (memcmp(a, b, n * sizeof(*a)) == 0)
		return true;
	return weft_known_sign(known, s->f, NULL, a, n, &of_a) &&
	       weft_known_sign(known, s->f, NULL, b, n, &of_b) &&
	       of_a.hosts == of_b.hosts;
}

/* The same for ranks in order, unless they cost too much to be worth it. */
static int keep_in_order(const struct capacity *s, const uint32_t *where,
			 struct weft_placement *p, struct comparison *mine,
			 struct weft_error *err)
{
	double cost;

	if (weft_judge_affords(s->judge))
		return keep_better(s, where, p->method, p, mine, err);
	if (baseline_cost(s, where, &cost, err))
		return -1;
	return is_hopeless(s, p, mine, cost)
		       ? 0
		       : keep_better(s, where, p->method, p, mine, err);
}

/* Keeps the better of p and the ranks in order on the same GPUs.  The order
 * that costs least may part groups that have most to wait for, as experts, to
 * bring others together. */
static int compare_in_order(const struct capacity *s, struct weft_placement *p,
			    struct comparison *mine, struct weft_error *err)
{
	uint32_t *where;
	uint64_t *set;
	int rc = -1;

	if (s->judge->objective.goal != WEFT_GOAL_STEP)
		return 0;
	where = weft_calloc(p->n_ranks, sizeof(*where), err);
	set = weft_calloc(weft_bitset_words(s->f->n_gpus), sizeof(*set), err);
	if (!where || !set)
		goto out;
	for (uint32_t r = 0; r < p->n_ranks; r++)
		weft_bitset_add(set, p->where[r]);
	weft_bitset_list(set, s->f->n_gpus, where);
	/* the smaller segment need not be the last one in order */
	rc = limits_keep(s, where, err);
	if (rc == 1)
		rc = share_hosts_alike(s, where, p->where)
			     ? 0
			     : keep_in_order(s, where, p, mine, err);
out:
	free(where);
	free(set);
	return rc;
}

int place_pursue(const struct capacity *s,
		 const struct weft_place_options *options, double deadline_s,
		 struct weft_placement *p, struct comparison *comparison,
		 struct weft_error *err)
{
	struct effort effort = {
		.work = options->work_limit ? options->work_limit
					    : pursuit_work(s->judge),
		.deadline_s = deadline_s,
		.random = options->seed,
		.stop = options->stop,
	};
	bool better;

	if (s->judge->objective.goal == WEFT_GOAL_COST)
		return 0;
	if (pursuit_run(s, &effort, p->where, comparison, &better, err))
		return -1;
	if (better)
		p->method = "pursuit";
	return 0;
}

static bool is_late(double deadline_s)
{
	return deadline_s > 0 && weft_budget_passed(deadline_s);
}

/* What one search finds, or first-fit where that is better; ranking: of it. */
static int search_once(struct capacity *s, const struct weft_strategy *strategy,
		       const struct weft_place_options *options,
		       struct weft_placement *p, struct comparison *comparison,
		       double *baseline, struct weft_error *err)
{
	double deadline_s = place_deadline(options);

	if (strategy->place(s, options, p, err) ||
	    (p->placed && comparison_measure(s, p->where, comparison, err)))
		return -1;
	/* what has been found is most often better, but not always there */
	if (!(p->placed && is_late(deadline_s)) &&
	    compare_baseline(s, p, comparison, baseline, err))
		return -1;
	if (!p->placed)
		return 0;
	if (!is_late(deadline_s) && compare_in_order(s, p, comparison, err))
		return -1;
	return place_pursue(s, options, deadline_s, p, comparison, err);
}

/* To where the same destroys less room. */
static int find_room(const struct capacity *s,
		     const struct weft_place_options *options,
		     struct weft_placement *p, struct comparison *comparison,
		     struct weft_error *err)
{
	const struct effort effort = {.deadline_s = place_deadline(options),
				      .stop = options->stop};

	return relocate_run(s, &effort, p->where, comparison, err);
}

/* What the goal cost finds for the job without a weight of fragmentation that
 * goes with the cost, where it is better by the goal there is: the place that
 * costs least often takes least time, too. */
static int search_by_cost(struct capacity *s,
			  const struct weft_place_options *options,
			  struct weft_placement *p, struct comparison *best,
			  struct weft_error *err)
{
	struct weft_judge *own = s->judge, judge = {0};
	struct weft_objective cost = own->objective;
	struct weft_placement other;
	struct comparison comparison;
	bool weighted = own->objective.goal == WEFT_GOAL_COST;
	int rc;

	place_start(s->job, &other);
	memcpy(other.bounds, p->bounds, sizeof(other.bounds));
	other.bound = p->bound;
	cost.goal = WEFT_GOAL_COST;
	if (weighted)
		cost.fragmentation = 0;
	rc = weft_judge_build(s->f, s->job, own->slots.fabric ? s->o : NULL,
			      &cost, &judge, err);
	judge.least_goal = p->bound;
	s->judge = &judge;
	if (rc == 0)
		rc = place_pack(s, options, &other, err);
	if (rc == 0 && other.placed && weighted)
		rc = comparison_measure(s, other.where, &comparison, err) ||
		     find_room(s, options, &other, &comparison, err);
	s->judge = own;
	if (rc == 0 && other.placed)
		rc = comparison_measure(s, other.where, &comparison, err);
	if (rc == 0 && other.placed &&
	    comparison_compare(&comparison, best) < 0) {
		memcpy(p->where, other.where,
		       p->n_ranks * sizeof(*other.where));
		*best = comparison;
	}
	weft_judge_free(&judge);
	weft_placement_free(&other);
	return rc ? -1 : 0;
}

/* Whether a search that goes on has reason to. */
static bool is_open(const struct capacity *s,
		    const struct weft_place_options *options, double deadline_s,
		    const struct weft_placement *p,
		    const struct comparison *comparison)
{
	double least = p->bounds[p->metric] * (1 + ROUNDING);

	if (is_late(deadline_s) || (options->stop && *options->stop))
		return false;
	return s->judge->objective.goal != WEFT_GOAL_COST ||
	       s->judge->objective.fragmentation > 0 ||
	       comparison->cost > least;
}

/* Searches again, each time with twice the work and other random numbers.  The
 * best so far is kept, so that more time is never worse. */
static int search_on(struct capacity *s, const struct weft_strategy *strategy,
		     const struct weft_place_options *options,
		     double deadline_s, struct weft_placement *p,
		     struct comparison *best, struct weft_error *err)
{
	struct weft_place_options more = *options;
	uint32_t vain = 0;
	int rc = 0;

	more.work_limit = FIRST_WORK;
	while (rc == 0 && vain < VAIN_SEARCHES &&
	       is_open(s, options, deadline_s, p, best)) {
		struct weft_placement other;
		struct comparison comparison;
		double baseline;

		place_start(s->job, &other);
		memcpy(other.bounds, p->bounds, sizeof(other.bounds));
		other.bound = p->bound;
		more.seed++;
		more.work_limit *= 2;
		more.budget_s = fmax(deadline_s - weft_budget_clock_s(), 1e-9);
		rc = search_once(s, strategy, &more, &other, &comparison,
				 &baseline, err);
		vain++;
		if (rc == 0 && other.placed &&
		    comparison_compare(&comparison, best) < 0) {
			struct weft_placement worse = *p;

			*p = other;
			*best = comparison;
			other = worse;
			vain = 0;
		}
		weft_placement_free(&other);
	}
	return rc;
}

static bool costs_least(const struct weft_placement *p,
			const struct comparison *comparison)
{
	return comparison->cost <=
	       p->bounds[p->metric] * (1 + COMPARISON_REACHED);
}

/* Whether the place that costs least may be the better one. */
static bool cost_may_tell(const struct capacity *s,
			  const struct weft_place_options *options,
			  const struct weft_placement *p,
			  const struct comparison *comparison)
{
	enum weft_goal goal = s->judge->objective.goal;

	if (goal == WEFT_GOAL_COST)
		return s->judge->objective.fragmentation > 0;
	if (goal == WEFT_GOAL_STEP && costs_least(p, comparison))
		return false;
	return !comparison_is_least(s, comparison) &&
	       (options->work_limit || weft_judge_affords(s->judge));
}

/* By the cost with a weight of fragmentation what is looked at does not depend
 * on that, so that a larger one never loses more. */
static int look_around(struct capacity *s,
		       const struct weft_place_options *options,
		       struct weft_placement *p, struct comparison *comparison,
		       struct weft_error *err)
{
	const struct weft_objective *objective = &s->judge->objective;

	if (cost_may_tell(s, options, p, comparison) &&
	    search_by_cost(s, options, p, comparison, err))
		return -1;
	return objective->goal == WEFT_GOAL_COST && objective->fragmentation > 0
		       ? 0
		       : find_room(s, options, p, comparison, err);
}

int place_search(struct capacity *s, const struct weft_strategy *strategy,
		 const struct weft_place_options *options,
		 struct weft_placement *p, struct comparison *comparison,
		 double *baseline, struct weft_error *err)
{
	double deadline_s = place_deadline(options);
	struct weft_place_options rest = *options;

	if (search_once(s, strategy, options, p, comparison, baseline, err))
		return -1;
	if (!p->placed || strategy->place != place_pack)
		return 0;
	if (deadline_s > 0)
		rest.budget_s = fmax(deadline_s - weft_budget_clock_s(), 1e-9);
	if (!is_late(deadline_s) && look_around(s, &rest, p, comparison, err))
		return -1;
	return options->search_on && deadline_s > 0 && !options->work_limit
		       ? search_on(s, strategy, options, deadline_s, p,
				   comparison, err)
		       : 0;
}
