/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bottleneck.h - how long the busiest link needs at least
 *
 * Private to placement/; weft_judge_bound of judge.h is for others.
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_BOTTLENECK_H
#define WEFT_PLACEMENT_OBJECTIVE_BOTTLENECK_H

#include "placement/capacity/capacity.h"

/* No placement of the job of s on what s can give has a busiest link of less
 * than *time_s, whatever other jobs send.  0 where the job fits a node.
 * crossing: that of bound_measure, for a job whose traffic was measured. */
int bottleneck_bound(const struct capacity *s,
		     const double crossing[WEFT_MAX_LEVELS], double *time_s,
		     struct weft_error *err);

#endif
