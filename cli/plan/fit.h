/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fit.h - whether a job fits the GPUs of a fabric, said with a placement */
#ifndef WEFT_CLI_PLAN_FIT_H
#define WEFT_CLI_PLAN_FIT_H

#include "costmodel/job/gpu.h"
#include "costmodel/job/memory.h"
#include "placement/job.h"

#include <jansson.h>

struct fit {
	bool known; /* false: the job's memory cannot be told */
	bool named; /* the job names its model, or its shape */
	struct weft_memory memory;
	double gpu_bytes;  /* of a GPU; 0: not known which */
	char warning[200]; /* why it does not fit, or "" */
};

/* gpu NULL: not known.  There is a warning only for a model that the job names:
 * the default one stands for traffic that the spec does not describe. */
struct fit fit_find(const struct weft_job *job, const struct weft_gpu *gpu);

/* {"total": bytes, "weights": ..., "capacity": what one has, "stage": P}, or
 * null.
 */
json_t *fit_json(const struct fit *fit);

/* Two lines for people: how much, and what of; none of a model that the job
 * does not name. */
void fit_print(const struct fit *fit);

#endif
