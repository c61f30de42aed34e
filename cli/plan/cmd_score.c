/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_score.c - weft score: what an allocation made elsewhere costs */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/plan/gain.h"
#include "cli/plan/ranks.h"
#include "cli/plan/request.h"
#include "cli/plan/verdict.h"
#include "cli/report.h"
#include "placement/place.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

struct score {
	struct request request;
	const char *nodes, *ranks;
	double at_most;
};

#define QUESTION struct score

static const struct option_row options[] = {
	{"nodes", 'n', "HOSTLIST",
	 "ranks in order on these nodes; n07:0-3 names GPUs", 0, TEXT(nodes)},
	{"ranks", 0, "FILE",
	 "the GPU of each rank: JSON of weft plan, or a line NODE[:GPU] a "
	 "rank; \"-\" is stdin",
	 0, TEXT(ranks)},
	{"at-most", 0, "COST",
	 "exit with 3 when the cost, in the job's metric, is higher", 0,
	 NUMBER(at_most, 0, DBL_MAX)},
};

static void score_check(const struct argp_state *state, void *input)
{
	const struct score *score = input;

	if (!score->nodes == !score->ranks)
		argp_error(state, "which allocation? Give either "
				  "--nodes or --ranks");
}

/* Adds what another order of ranks on the same GPUs would save. */
static int order_explain(const struct request *request, const uint32_t *where,
			 struct weft_placement *placement,
			 struct weft_error *err)
{
	struct weft_placement best = {0};
	const struct weft_place_options same = {
		.objective = &request->objective,
	};
	static const char *const would[WEFT_N_GOALS] = {
		[WEFT_GOAL_COST] = "would cost",
		[WEFT_GOAL_BUSIEST] = "would load the busiest link",
		[WEFT_GOAL_STEP] = "would take",
	};
	struct verdict given, other;
	int result = -1;

	if (weft_place_ranks(request->fabric, &request->job, where, &same,
			     &best, err) ||
	    verdict_find(request, placement, &given, err) ||
	    verdict_find(request, &best, &other, err))
		goto out;
	if (other.measure.goal < given.measure.goal * 0.995)
		weft_placement_explain(placement,
				       "another order of ranks on these GPUs "
				       "%s %.2fx as much%s",
				       would[request->objective.goal],
				       other.measure.goal / given.measure.goal,
				       request->objective.goal == WEFT_GOAL_STEP
					       ? " time"
					       : "");
	result = 0;
out:
	weft_placement_free(&best);
	return result;
}

static int answer(struct score *score, double *cost, struct weft_error *err)
{
	struct request *request = &score->request;
	struct weft_placement placement = {0};
	struct verdict verdict;
	struct gain gain = {0};
	struct report report = {
		.placement = &placement, .verdict = &verdict, .gain = &gain};
	uint32_t *where = NULL;
	double start_s;
	int result = -1;

	if (request_open(request, err))
		return -1;
	where = weft_calloc(request->job.n_gpus, sizeof(*where), err);
	if (!where ||
	    ranks_read(request->fabric, score->nodes, score->ranks,
		       request->job.n_gpus, where, err) ||
	    request_contend(request, where, request->job.n_gpus, err))
		goto out;
	start_s = weft_clock_s();
	if (weft_place_score(request->fabric, &request->job,
			     &request->occupancy, where, &placement, err) ||
	    order_explain(request, where, &placement, err))
		goto out;
	report.elapsed_s = weft_clock_s() - start_s;
	if (verdict_find(request, &placement, &verdict, err) ||
	    gain_find(request, &placement, &verdict, false, &gain, err))
		goto out;
	/* the same, but for the busiest link beside other jobs */
	placement.cost = verdict.measure.cost;
	*cost = placement.cost.total[placement.metric];
	result = 0;
	if (request->json)
		result = report_print(report_object("score", request, &report),
				      err);
	else
		report_text(request, &report);
out:
	gain_free(&gain);
	free(where);
	weft_placement_free(&placement);
	return result;
}

int cmd_score(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.shared = &request_line,
		.check = score_check,
		.doc = "What a job costs on an allocation made elsewhere, by "
		       "the same measure as weft plan.",
	};
	struct score score = {.at_most = DBL_MAX};
	struct weft_error err = {0};
	double cost = 0;
	int result;

	command_line_read(&line, argc, argv, &score);
	result = answer(&score, &cost, &err);
	request_close(&score.request);
	if (result)
		return cmd_fail(&err);
	return cost <= score.at_most ? EXIT_YES : EXIT_NEGATIVE;
}
