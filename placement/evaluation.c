/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluation.c - what one placement costs */
#include "placement/evaluation.h"

#include <stdio.h>
#include <string.h>

/* 0 with evaluation->timed, or -1 with err. */
static int step_predict(const struct weft_fabric *f, const struct weft_job *job,
			const uint32_t *where,
			const struct weft_step_options *options,
			struct weft_evaluation *evaluation,
			struct weft_error *err)
{
	struct weft_step_options mine = {0};
	struct weft_schedule schedule = {0};
	int rc = -1;

	if (options)
		mine = *options;
	if (!mine.gpu)
		mine.gpu = weft_gpu_of_profile(f->profile);
	if (!mine.gpu)
		return weft_fail(err, WEFT_EINVAL,
				 "the fabric does not say which GPUs it has");
	if (job->spec.traffic[0])
		return weft_fail(err, WEFT_EINVAL,
				 "measured traffic does not say what is "
				 "computed");
	if (weft_schedule_build(&job->spec, &job->model, &schedule, err) == 0)
		rc = weft_step(f, &job->spec, &job->model, &schedule, where,
			       &mine, &evaluation->step, err);
	weft_schedule_free(&schedule);
	evaluation->gpu = mine.gpu;
	evaluation->timed = rc == 0;
	return rc;
}

int weft_evaluate(const struct weft_fabric *f, const struct weft_job *job,
		  const uint32_t *where,
		  const struct weft_step_options *options,
		  struct weft_cost_scratch *scratch,
		  struct weft_evaluation *evaluation, struct weft_error *err)
{
	struct weft_error why = {0};

	memset(evaluation, 0, sizeof(*evaluation));
	if (weft_cost(f, &job->traffic, where, scratch, &evaluation->cost, err))
		return -1;
	if (step_predict(f, job, where, options, evaluation, &why))
		snprintf(evaluation->why, sizeof(evaluation->why), "%.159s",
			 why.text);
	return 0;
}
