/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replicas.h - which order of ranks suits a large job, told by a part of it
 *
 * Private to placement/.  A step of 16,384 ranks takes 4 to 12 ms to predict.
 * Data-parallel replicas are alike, so a job with fewer of them ranks orders as
 * the whole does.
 */
#ifndef WEFT_PLACEMENT_RANKS_REPLICAS_H
#define WEFT_PLACEMENT_RANKS_REPLICAS_H

#include "placement/ranks/arrange.h"

/* Of jobs with more GPUs than this, the first replicas stand for all. */
#define REPLICAS_MANY 4096

/* *order: the one, of those that cost `most` at the most in a->cost, in which
 * the job's first replicas take least time on the first of gpus[], in tree
 * order; what it costs more than the cheapest counts as in comparison.h.
 * WEFT_NONE: no fewer replicas can be told from the job. */
int replicas_find_order(const struct arranger *a, const uint32_t *gpus,
			double most, uint32_t *order, struct weft_error *err);

#endif
