/* SPDX-License-Identifier: GPL-3.0-or-later */
/* judge.c - the value of placements of one job, by one objective */
#include "placement/objective/judge.h"

#include "placement/mapping/effort.h"
#include "placement/objective/bottleneck.h"
#include "placement/objective/bound.h"
#include "placement/objective/evaluation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int weft_judge_build(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o,
		     const struct weft_objective *objective,
		     struct weft_judge *judge, struct weft_error *err)
{
	memset(judge, 0, sizeof(*judge));
	judge->f = f;
	judge->job = job;
	judge->objective = *objective;
	if (weft_objective_check(objective, err))
		return -1;
	if (o && weft_slots_build(o, job->n_gpus, &judge->slots, err))
		return -1;
	if (weft_spec_given(&job->spec, "model"))
		judge->gpu = weft_evaluation_gpu(f, job, objective->gpu, NULL);
	judge->same = judge->gpu ? WEFT_SAME_STEP
				 : WEFT_SAME_STEP / WEFT_ASSUMED_SHARE;
	return 0;
}

void weft_judge_free(struct weft_judge *judge)
{
	int saved = errno;

	if (judge) {
		weft_slots_free(&judge->slots);
		weft_known_free(&judge->known);
		weft_cost_scratch_free(&judge->scratch);
		free(judge->summed);
		memset(judge, 0, sizeof(*judge));
	}
	errno = saved;
}

int weft_judge_sums(struct weft_judge *judge, const uint32_t *where,
		    struct weft_cost *cost, struct weft_error *err)
{
	size_t size = judge->job->n_gpus * sizeof(*where);

	if (judge->summed && memcmp(judge->summed, where, size) == 0) {
		*cost = judge->sums;
		return 0;
	}
	if (weft_cost_sums(judge->f, &judge->job->traffic, where,
			   &judge->scratch, cost, err))
		return -1;
	if (!judge->summed)
		judge->summed = weft_realloc(NULL, judge->job->n_gpus,
					     sizeof(*where), NULL);
	if (judge->summed)
		memcpy(judge->summed, where, size);
	judge->sums = *cost;
	return 0;
}

static int measure_cost(struct weft_judge *judge, const uint32_t *where,
			struct weft_cost *cost, struct weft_error *err)
{
	const struct weft_traffic *t = &judge->job->traffic;

	/* measure_time tells the busiest link */
	if (judge->objective.goal != WEFT_GOAL_COST &&
	    !judge->job->spec.traffic[0])
		return weft_judge_sums(judge, where, cost, err);
	if (judge->objective.load)
		return weft_cost_shared(judge->objective.load, t, where,
					&judge->scratch, cost, err);
	return weft_cost(judge->f, t, where, &judge->scratch, cost, err);
}

static bool spans_nodes(const struct weft_fabric *f)
{
	return f->node_level == 0 && f->levels[0].n_domains < f->n_nodes;
}

static struct weft_step_job placed_job(const struct weft_judge *judge,
				       const uint32_t *where)
{
	return (struct weft_step_job){
		.fabric = judge->f,
		.spec = &judge->job->spec,
		.model = &judge->job->model,
		.where = where,
		.schedule = &judge->job->schedule,
		.load = judge->objective.load,
	};
}

/* Predicted step, or where nothing is known of what is computed the seconds
 * that the job communicates; with what other jobs lose meanwhile, spread over
 * this one's GPUs. */
static int predict(const struct weft_judge *judge, const uint32_t *where,
		   struct weft_measure *measure, struct weft_step *step,
		   struct weft_error *err)
{
	const struct weft_step_job placed = placed_job(judge, where);
	const struct weft_step_options options = {
		.gpu = judge->gpu,
		.hop_range = judge->links_idle,
	};
	bool timed = judge->gpu && judge->objective.goal == WEFT_GOAL_STEP;

	if (timed ? weft_step(&placed, &options, step, err)
		  : weft_step_communication(&placed, step, err))
		return -1;
	weft_evaluation_busiest(judge->f, &step->fullest, &measure->cost);
	measure->goal = measure->cost.busiest.time_s;
	if (judge->objective.goal != WEFT_GOAL_STEP)
		return 0;
	measure->to_gain = step->lost_gpu_s / judge->job->n_gpus;
	measure->goal = step->step_s + measure->to_gain;
	/* NVLink domains of several nodes: how a job is dealt to them matters
	 * more than what is above. */
	measure->to_gain +=
		spans_nodes(judge->f) ? (double)INFINITY : step->congestion_s;
	for (int a = 0; !timed && a < WEFT_N_AXES; a++)
		measure->goal += step->communication_s[a] + step->loss_s[a] +
				 step->latency_s[a];
	return 0;
}

/* Whether the step counts as that of all placements on hosts that are alike:
 * nothing but hops can tell them apart, and the shortest and the longest are in
 * one tier (comparison.c).  What a domain's link has to carry goes through NICs
 * below it, and it has as much rate as all of these. */
static bool is_anywhere(const struct weft_judge *judge,
			const struct weft_step *step)
{
	double reference = judge->reference, tier = log1p(judge->same);

	if (!judge->links_idle || !judge->gpu || !(step->nearest_s > 0))
		return false;
	if (!(reference > 0))
		reference = step->step_s;
	return llround(log(step->nearest_s / reference) / tier) ==
	       llround(log(step->farthest_s / reference) / tier);
}

/* Looks up or predicts what takes long.  signature: NULL where there is none.
 */
static int measure_time(struct weft_judge *judge, const uint32_t *where,
			const struct weft_signature *signature,
			struct weft_measure *measure, bool *anywhere,
			struct weft_error *err)
{
	struct weft_step step;

	if (signature && judge->links_idle &&
	    weft_known_find_time(&judge->known, signature, measure))
		return 0;
	if (predict(judge, where, measure, &step, err))
		return -1;
	*anywhere = is_anywhere(judge, &step);
	judge->anywhere |= *anywhere;
	return 0;
}

static int measure_goal(struct weft_judge *judge, const uint32_t *where,
			struct weft_measure *measure, struct weft_error *err)
{
	const struct weft_objective *objective = &judge->objective;
	struct weft_signature signature;
	bool signs = weft_known_sign(&judge->known, judge->f, objective->load,
				     where, judge->job->n_gpus, &signature);
	bool anywhere = false;

	if (signs && weft_known_find(&judge->known, &signature, measure) &&
	    !measure->is_bound)
		return 0;
	judge->n_measured += !measure->is_bound;
	memset(measure, 0, sizeof(*measure));
	if (measure_cost(judge, where, &measure->cost, err))
		return -1;
	measure->to_gain = (double)INFINITY;
	measure->goal = measure->cost.total[objective->metric];
	if (objective->goal != WEFT_GOAL_COST)
		measure->goal = measure->cost.busiest.time_s;
	if (objective->goal != WEFT_GOAL_COST && !judge->job->spec.traffic[0] &&
	    measure_time(judge, where, signs ? &signature : NULL, measure,
			 &anywhere, err))
		return -1;
	if (signs)
		weft_known_keep(&judge->known, &signature, measure, anywhere);
	return 0;
}

int weft_judge_measure(struct weft_judge *judge, const uint32_t *where,
		       struct weft_measure *measure, struct weft_error *err)
{
	memset(measure, 0, sizeof(*measure));
	if (measure_goal(judge, where, measure, err))
		return -1;
	if (judge->slots.fabric)
		measure->share_lost = weft_slots_lost(&judge->slots, where);
	measure->value = measure->goal * (1 + judge->objective.fragmentation *
						      measure->share_lost);
	if (!(judge->reference > 0))
		judge->reference = measure->value;
	return 0;
}

bool weft_judge_infer(struct weft_judge *judge, const uint32_t *where,
		      double *goal)
{
	struct weft_measure measure = {.is_bound = true};
	struct weft_signature signature;

	if (!judge->links_idle || judge->objective.goal != WEFT_GOAL_STEP ||
	    !weft_known_sign(&judge->known, judge->f, judge->objective.load,
			     where, judge->job->n_gpus, &signature) ||
	    weft_known_find(&judge->known, &signature, &measure) ||
	    !weft_known_find_time(&judge->known, &signature, &measure))
		return false;
	/* whoever wants the cost, too, measures it */
	judge->n_measured++;
	weft_known_keep(&judge->known, &signature, &measure, false);
	*goal = measure.goal;
	return true;
}

int weft_judge_bound_one(struct weft_judge *judge, const uint32_t *where,
			 double *goal, struct weft_error *err)
{
	const struct weft_step_job placed = placed_job(judge, where);
	const struct weft_step_options options = {.gpu = judge->gpu};
	struct weft_measure measure = {.is_bound = true};
	struct weft_signature signature;
	bool signs =
		weft_known_sign(&judge->known, judge->f, judge->objective.load,
				where, judge->job->n_gpus, &signature);

	if (!signs || !weft_known_find(&judge->known, &signature, &measure)) {
		judge->n_measured++;
		if (weft_step_bound(&placed, &options, &measure.goal, err))
			return -1;
		if (signs)
			weft_known_keep(&judge->known, &signature, &measure,
					false);
	}
	*goal = measure.goal;
	return 0;
}

int weft_judge_indifferent(struct weft_judge *judge,
			   const struct weft_occupancy *o,
			   struct weft_error *err)
{
	if (!judge->slots.fabric &&
	    weft_slots_build(o, judge->job->n_gpus, &judge->slots, err))
		return -1;
	judge->indifferent = true;
	return 0;
}

/* A level of each edge and rank costs about half of a distance.  A step looks
 * at every rank on every level for each kind of group of its calls, of which
 * there are about ten, twice. */
uint64_t weft_judge_work(const struct weft_judge *judge)
{
	const struct weft_traffic *t = &judge->job->traffic;
	uint64_t levels = judge->f->n_levels;
	uint64_t work = ((uint64_t)t->n_edges + t->n_ranks) * levels / 2;

	if (judge->objective.goal != WEFT_GOAL_COST)
		work += 10 * (uint64_t)t->n_ranks * levels;
	return work;
}

/* Work on placements measured, beside searches that have limits of their own.
 */
#define MAX_MEASURED 1000000

bool weft_judge_affords(const struct weft_judge *judge)
{
	uint32_t n = judge->job->n_gpus;

	return n <= EFFORT_FULL_GPUS ||
	       weft_judge_work(judge) * judge->n_measured <=
		       effort_share(MAX_MEASURED, n);
}

/* No placement loses less than no share, so the bound of the goal is one of the
 * value. */
int weft_judge_bound(const struct weft_judge *judge,
		     const struct weft_occupancy *o, double cost_bound,
		     double *value, struct weft_error *err)
{
	double bound[WEFT_N_METRICS], crossing[WEFT_MAX_LEVELS];
	struct weft_job unlimited = *judge->job;
	struct capacity s = {0};
	int rc;

	*value = cost_bound;
	if (judge->objective.goal == WEFT_GOAL_COST)
		return 0;
	*value = (double)NAN;
	if (judge->objective.goal == WEFT_GOAL_STEP)
		return 0;
	/* what the nodes have, whatever the job may take of them */
	unlimited.gpus_per_node = 0;
	rc = capacity_build(judge->f, &unlimited, o, 1, 0, &s, err);
	if (rc == 0)
		rc = bound_measure(&s, bound, crossing, err);
	if (rc == 0)
		rc = bottleneck_bound(&s, crossing, value, err);
	capacity_free(&s);
	return rc;
}
