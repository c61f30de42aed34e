/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.h - how long a job's steps took, from what it logs */
#ifndef WEFT_LAB_CALIBRATE_STEPS_H
#define WEFT_LAB_CALIBRATE_STEPS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct steps {
	double *step_s; /* [n] in the order logged, later sorted */
	uint32_t n;
	double median_s, low_s, high_s; /* tenth and ninetieth percentile */
};

/* What is known of the job. */
struct steps_job {
	double tokens; /* of a step, on each GPU */
	double predicted_s;
	uint32_t micro_batches;
};

/* Appends the steps of a log of Megatron-LM ("elapsed time per iteration
 * (ms): 1234.5"), NeMo ("train_step_timing in s: 5.3", "Step Time : 5.3s"),
 * torchtitan ("tps: 5,123", tokens per second and GPU) or MaxText ("completed
 * step: 7, seconds: 5.3"), or, where it is one of NCCL's or RCCL's Inspector,
 * of the calls in it.  Of several Inspectors' logs the first counts. */
int steps_read(const char *text, size_t size, const struct steps_job *job,
	       struct steps *steps, struct weft_error *err);
int steps_inspector_read(const char *text, size_t size,
			 const struct steps_job *job, struct steps *steps,
			 struct weft_error *err);
int steps_add(struct steps *steps, double step_s, struct weft_error *err);
/* -1 where memory is out; 0 of none. */
double steps_median(const double *step_s, uint32_t n, struct weft_error *err);

/* Leaves out the first tenth, three steps at least, in which kernels are chosen
 * and caches filled, and fills the rest in.  -1 where fewer than five are left.
 */
int steps_sum(struct steps *steps, struct weft_error *err);
void steps_free(struct steps *steps);

#endif
