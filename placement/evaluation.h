/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluation.h - what one placement costs: bytes times distance, the busiest
 * link, and the time of a training step
 */
#ifndef WEFT_PLACEMENT_EVALUATION_H
#define WEFT_PLACEMENT_EVALUATION_H

#include "costmodel/cost.h"
#include "costmodel/step.h"
#include "placement/job.h"

struct weft_evaluation {
	struct weft_cost cost;
	bool timed;		    /* step and gpu are there */
	const struct weft_gpu *gpu; /* the kind that the step is for */
	struct weft_step step;
	char why[160]; /* why it is not timed */
};

/* All of it for a job's ranks on where[]: job->n_gpus distinct GPUs of f.
 * options NULL, or without a gpu: the GPU of the fabric's profile.  scratch as
 * in weft_cost.  -1 where weft_cost fails; a step that cannot be predicted is
 * an answer. */
int weft_evaluate(const struct weft_fabric *f, const struct weft_job *job,
		  const uint32_t *where,
		  const struct weft_step_options *options,
		  struct weft_cost_scratch *scratch,
		  struct weft_evaluation *evaluation, struct weft_error *err);

#endif
