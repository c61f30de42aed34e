/* SPDX-License-Identifier: GPL-3.0-or-later */
/* straggler.h - how much longer a step takes because all wait for the slowest
 *
 * Two causes, which multiply.  Jitter: ranks that are equal on average differ
 * from step to step, and the largest of n is what counts.  Health: some nodes
 * are slower in every step (health.h).
 */
#ifndef WEFT_COSTMODEL_TIME_STRAGGLER_H
#define WEFT_COSTMODEL_TIME_STRAGGLER_H

#include <stdint.h>

/* Distribution of one rank's computing time around its mean. */
enum weft_jitter {
	WEFT_JITTER_NORMAL,
	WEFT_JITTER_LOGNORMAL, /* heavy-tailed: now and then a rank is very
				* late */
	WEFT_N_JITTERS
};
extern const char *const weft_jitter_names[WEFT_N_JITTERS];

/* Expected maximum over n independent ranks of a time with mean 1 and standard
 * deviation sigma >= 0 (of one rank, one step): the factor by which a step that
 * waits for all ranks gets longer.  1 for n < 2 or sigma = 0.  Relative error
 * below 1e-9 for sigma up to 1, below 1e-6 up to 10; takes about 0.1 ms, so not
 * to be called per candidate placement. */
double weft_straggler_expected_max(uint32_t n, double sigma,
				   enum weft_jitter jitter);

/* Time of a pipeline whose stage p takes factor[p] times as long as the others'
 * 1, over its time when all are 1: its slowest stage is the beat of all
 * micro-batches, the others only add to filling and draining.  micro_batches
 * and vpp > 0. */
double weft_straggler_pipeline(const double *factor, uint32_t n_stages,
			       uint32_t micro_batches, uint32_t vpp);

#endif
