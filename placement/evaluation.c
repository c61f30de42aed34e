/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluation.c - what one placement costs */
#include "placement/evaluation.h"

#include <stdio.h>

/* 0 with evaluation->step, or -1 with err. */
static int step_predict(const struct weft_fabric *f, const struct weft_job *job,
			const uint32_t *where,
			struct weft_evaluation *evaluation,
			struct weft_error *err)
{
	const struct weft_step_job placed = {
		.fabric = f,
		.spec = &job->spec,
		.model = &job->model,
		.where = where,
		.load = evaluation->load,
	};
	struct weft_step_options options = {.gpu = evaluation->gpu};

	if (!options.gpu)
		options.gpu = weft_gpu_of_profile(f->profile);
	if (!options.gpu)
		return weft_fail(err, WEFT_EINVAL,
				 "the fabric does not say which GPUs it has");
	if (job->spec.traffic[0])
		return weft_fail(err, WEFT_EINVAL,
				 "measured traffic does not say what is "
				 "computed");
	evaluation->gpu = options.gpu;
	return weft_step(&placed, &options, &evaluation->step, err);
}

int weft_evaluate(const struct weft_fabric *f, const struct weft_job *job,
		  const uint32_t *where, struct weft_cost_scratch *scratch,
		  struct weft_evaluation *evaluation, struct weft_error *err)
{
	struct weft_error why = {0};
	int rc;

	evaluation->timed = false;
	evaluation->why[0] = '\0';
	if (evaluation->load)
		rc = weft_cost_shared(evaluation->load, &job->traffic, where,
				      scratch, &evaluation->cost, err);
	else
		rc = weft_cost(f, &job->traffic, where, scratch,
			       &evaluation->cost, err);
	if (rc)
		return -1;
	evaluation->timed = step_predict(f, job, where, evaluation, &why) == 0;
	if (!evaluation->timed)
		snprintf(evaluation->why, sizeof(evaluation->why), "%.159s",
			 why.text);
	return 0;
}
