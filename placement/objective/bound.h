/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.h - what a job costs at least
 *
 * Private to placement/; an answer of place.h has it for others.
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_BOUND_H
#define WEFT_PLACEMENT_OBJECTIVE_BOUND_H

#include "costmodel/job/spec.h"
#include "placement/capacity/capacity.h"
#include "placement/mapping/cliques.h"

/* What bounds of one job have in common: its traffic, what is known of it, and
 * the cuts found so far. */
struct bounding;
void bounding_free(struct bounding *b);

/* The job's. */
struct cliques *bounding_traffic(struct bounding *b);

/* The bound by metric on any choice of what s, the capacity of single GPUs, can
 * give to its job.  crossing[l]: bytes between domains of level l at least,
 * both directions together; NULL: not said.
 * Keeps what it learns of the job in s->plan cache, if there is one.  After
 * s->bound_by_s what is not known yet is left out. */
int bound_measure(const struct capacity *s, double bound[WEFT_N_METRICS],
		  double crossing[WEFT_MAX_LEVELS], struct weft_error *err);

#endif
