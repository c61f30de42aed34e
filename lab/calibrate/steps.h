/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps.h - how long a job's steps took, from the lines that it logs */
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

/* Appends the steps of a log of Megatron-LM ("elapsed time per iteration
 * (ms): 1234.5"), NeMo ("train_step_timing in s: 5.3") or torchtitan ("tps:
 * 5,123", tokens per second and GPU, of tokens a step and GPU). */
int steps_read(const char *text, size_t size, double tokens,
	       struct steps *steps, struct weft_error *err);

/* Leaves out the first tenth, three steps at least, in which kernels are chosen
 * and caches filled, and fills the rest in.  -1 where fewer than five are left.
 */
int steps_sum(struct steps *steps, struct weft_error *err);
void steps_free(struct steps *steps);

#endif
