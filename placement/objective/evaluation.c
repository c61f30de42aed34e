/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluation.c - what one placement costs */
#include "placement/objective/evaluation.h"

#include <stdio.h>
#include <string.h>

const struct weft_gpu *weft_evaluation_gpu(const struct weft_fabric *f,
					   const struct weft_job *job,
					   const struct weft_gpu *gpu,
					   struct weft_error *err)
{
	if (!gpu)
		gpu = weft_gpu_of_profile(f->profile);
	if (!gpu)
		weft_fail(err, WEFT_EINVAL,
			  "the fabric does not say which GPUs it has");
	else if (job->spec.traffic[0])
		weft_fail(err, WEFT_EINVAL,
			  "measured traffic does not say what is computed");
	else
		return gpu;
	return NULL;
}

void weft_evaluation_busiest(const struct weft_fabric *f,
			     const struct weft_fullest *fullest,
			     struct weft_cost *cost)
{
	struct weft_flow_end end;

	memset(&cost->busiest, 0, sizeof(cost->busiest));
	cost->busiest.domain = cost->busiest.gpu = WEFT_NONE;
	if (fullest->link == WEFT_NONE)
		return;
	end = weft_flows_end(f, fullest->link);
	cost->busiest.time_s = fullest->time_s;
	cost->busiest.bytes = fullest->bytes;
	cost->busiest.up = end.up;
	cost->busiest.domain = end.domain;
	cost->busiest.gpu = end.gpu;
	cost->busiest.level = f->node_level;
	if (end.what == WEFT_LINK_DOMAIN)
		cost->busiest.level = f->domains[end.domain].level;
	else
		cost->busiest.domain = f->gpu_domain[f->node_level][end.gpu];
}

static int cost_measure(const struct weft_fabric *f, const struct weft_job *job,
			const uint32_t *where,
			struct weft_cost_scratch *scratch,
			struct weft_evaluation *evaluation,
			struct weft_error *err)
{
	/* its flows tell the busiest link */
	if (!job->spec.traffic[0])
		return weft_cost_sums(f, &job->traffic, where, scratch,
				      &evaluation->cost, err);
	if (evaluation->load)
		return weft_cost_shared(evaluation->load, &job->traffic, where,
					scratch, &evaluation->cost, err);
	return weft_cost(f, &job->traffic, where, scratch, &evaluation->cost,
			 err);
}

int weft_evaluate(const struct weft_fabric *f, const struct weft_job *job,
		  const uint32_t *where, struct weft_cost_scratch *scratch,
		  struct weft_evaluation *evaluation, struct weft_error *err)
{
	const struct weft_step_job placed = {
		.fabric = f,
		.spec = &job->spec,
		.model = &job->model,
		.where = where,
		.schedule = &job->schedule,
		.load = evaluation->load,
		.exact_sharing = evaluation->exact_sharing,
	};
	struct weft_step_options options = {0};
	struct weft_error why = {0};

	evaluation->timed = false;
	evaluation->why[0] = '\0';
	memset(&evaluation->step, 0, sizeof(evaluation->step));
	if (cost_measure(f, job, where, scratch, evaluation, err))
		return -1;
	options.gpu = weft_evaluation_gpu(f, job, evaluation->gpu, &why);
	if (options.gpu) {
		evaluation->gpu = options.gpu;
		evaluation->timed = weft_step(&placed, &options,
					      &evaluation->step, &why) == 0;
	}
	if (!evaluation->timed)
		snprintf(evaluation->why, sizeof(evaluation->why), "%.159s",
			 why.text);
	if (job->spec.traffic[0])
		return 0;
	if (!evaluation->timed &&
	    weft_step_communication(&placed, &evaluation->step, err))
		return -1;
	weft_evaluation_busiest(f, &evaluation->step.fullest,
				&evaluation->cost);
	return 0;
}
