/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.h - what a job costs at least
 *
 * Private to placement/; weft_place_bound of place.h is for others.
 */
#ifndef WEFT_PLACEMENT_BOUND_H
#define WEFT_PLACEMENT_BOUND_H

#include "costmodel/spec.h"
#include "placement/supply.h"

/* The bound by metric on any choice of what s, the supply of single GPUs, can
 * give to its job.  crossing[l]: bytes between domains of level l at least,
 * both directions together; NULL: not told. */
int bound_measure(const struct supply *s, double bound[WEFT_N_METRICS],
		  double crossing[WEFT_MAX_LEVELS], struct weft_error *err);

#endif
