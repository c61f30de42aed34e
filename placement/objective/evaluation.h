/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluation.h - what one placement costs: bytes times distance, the busiest
 * link, and the time of a training step
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_EVALUATION_H
#define WEFT_PLACEMENT_OBJECTIVE_EVALUATION_H

#include "costmodel/time/cost.h"
#include "costmodel/time/step.h"
#include "placement/job.h"

struct weft_evaluation {
	struct weft_cost cost;
	/* The kind of GPU that the step is for: set it before, or leave it NULL
	 * for that of the fabric's profile. */
	const struct weft_gpu *gpu;
	/* What other jobs send over the links; set it before, too, or NULL. */
	const struct weft_load *load;
	bool exact_sharing; /* as in weft_step_job; set it before */
	bool timed;	    /* step and gpu are there */
	/* Where it is not timed but traffic is that of a schedule, what
	 * weft_step_communication says. */
	struct weft_step step;
	char why[160]; /* why it is not timed */
};

/* The kind of GPU whose step of the job can be predicted on f: `gpu`, or where
 * it is NULL that of the fabric's profile.  NULL with err where nothing can be
 * said: no kind is known, or the traffic was measured. */
const struct weft_gpu *weft_evaluation_gpu(const struct weft_fabric *f,
					   const struct weft_job *job,
					   const struct weft_gpu *gpu,
					   struct weft_error *err);

/* The busiest link of a step's own flows, as cost.h names one. */
void weft_evaluation_busiest(const struct weft_fabric *f,
			     const struct weft_fullest *fullest,
			     struct weft_cost *cost);

/* All of it for a job's ranks on where[]: job->n_gpus distinct GPUs of f.
 * scratch as in weft_cost.  -1 where weft_cost fails; a step that cannot be
 * predicted is an answer. */
int weft_evaluate(const struct weft_fabric *f, const struct weft_job *job,
		  const uint32_t *where, struct weft_cost_scratch *scratch,
		  struct weft_evaluation *evaluation, struct weft_error *err);

#endif
