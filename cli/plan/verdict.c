/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.c - the value of a placement by what was asked for */
#include "cli/plan/verdict.h"

#include "cli/in_unit.h"
#include "cli/json.h"
#include "placement/objective/evaluation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int verdict_occupancy(const struct request *request,
		      const struct weft_placement *p, struct weft_occupancy *o,
		      struct weft_error *err)
{
	const struct weft_fabric *f = request->fabric;

	if (weft_occupancy_build(f, o, err))
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		o->free[i] = request->occupancy.free[i];
		o->usable[i] = request->occupancy.usable[i];
	}
	for (uint32_t r = 0; r < p->n_ranks; r++) {
		uint32_t node = f->gpu_node[p->where[r]];
		uint64_t bit = UINT64_C(1)
			       << (p->where[r] - f->nodes[node].first_gpu);

		o->usable[node] += !(o->free[node] & bit);
		o->free[node] |= bit;
	}
	return 0;
}

int verdict_find(const struct request *request, const struct weft_placement *p,
		 struct verdict *verdict, struct weft_error *err)
{
	struct weft_occupancy o = {0};
	struct weft_judge judge = {0};
	int result = -1;

	memset(verdict, 0, sizeof(*verdict));
	if (verdict_occupancy(request, p, &o, err) == 0 &&
	    weft_judge_build(request->fabric, &request->job, &o,
			     &request->objective, &judge, err) == 0 &&
	    weft_judge_measure(&judge, p->where, &verdict->measure, err) == 0 &&
	    weft_judge_bound(&judge, &o, p->bound, &verdict->bound, err) == 0)
		result = 0;
	weft_judge_free(&judge);
	weft_occupancy_free(&o);
	return result;
}

/* Share of the value that a better placement could save; NAN: not known. */
static double gap_of(const struct verdict *v)
{
	if (!(v->measure.value > 0))
		return 0;
	return fmax(0, (v->measure.value - v->bound) / v->measure.value);
}

json_t *verdict_json(const struct request *request,
		     const struct verdict *verdict)
{
	const struct weft_objective *objective = &request->objective;
	double gap = isnan(verdict->bound) ? verdict->bound : gap_of(verdict);
	json_t *object =
		json_pack("{s:s, s:s, s:f, s:f, s:f, s:o, s:o, s:I}", "goal",
			  weft_goal_names[objective->goal], "metric",
			  weft_metric_names[objective->metric], "value",
			  verdict->measure.value, "fragmentation",
			  objective->fragmentation, "share_lost",
			  verdict->measure.share_lost, "bound",
			  json_real_or_null(verdict->bound), "gap",
			  json_real_or_null(gap), "contending_jobs",
			  (json_int_t)request->load.n);

	return object;
}

/* The step is predicted, not its communication alone. */
static bool is_timed(const struct request *request)
{
	return weft_spec_given(&request->job.spec, "model") &&
	       weft_evaluation_gpu(request->fabric, &request->job,
				   request->objective.gpu, NULL);
}

static void verdict_print_objective(const struct request *request,
				    const struct verdict *verdict)
{
	const struct weft_objective *objective = &request->objective;
	const struct weft_measure *m = &verdict->measure;
	static const char *const names[WEFT_N_GOALS] = {
		[WEFT_GOAL_COST] = "the cost",
		[WEFT_GOAL_BUSIEST] = "the busiest link",
		[WEFT_GOAL_STEP] = "the step",
	};

	printf("  objective  %s, %s",
	       objective->goal == WEFT_GOAL_STEP && !is_timed(request)
		       ? "communication"
		       : names[objective->goal],
	       objective->goal == WEFT_GOAL_COST
		       ? weft_metric_names[objective->metric]
		       : IN_UNIT(m->goal, "s"));
	if (!isnan(verdict->bound))
		printf(", gap %.1f %%", 100 * gap_of(verdict));
	printf("\n  room       %.0f %% of what others need not lose is lost\n",
	       100 * m->share_lost);
}

void verdict_print(const struct request *request, const struct verdict *verdict)
{
	const struct weft_objective *objective = &request->objective;
	uint32_t n = request->load.n;

	if (request->goal || objective->fragmentation > 0 ||
	    objective->goal == WEFT_GOAL_BUSIEST)
		verdict_print_objective(request, verdict);
	if (!objective->load)
		return;
	printf("  beside     %u running job%s on the same links", n,
	       n == 1 ? "" : "s");
	if (request->n_silent)
		printf(", %u of which do not tell what they send (taken for a "
		       "fifth of their time)",
		       request->n_silent);
	putchar('\n');
}
