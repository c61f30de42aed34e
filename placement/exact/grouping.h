/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grouping.h - ways to take ranks together that may stay together
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_GROUPING_H
#define WEFT_PLACEMENT_EXACT_GROUPING_H

#include "placement/job.h"

#define GROUPINGS_MAX (1 << WEFT_MAX_AXES)

/* Ranks that differ only on some axes of the job's grid are a group. */
struct grouping {
	uint32_t axes;	   /* bit k: axis k */
	uint32_t n_groups; /* of n_gpus / n_groups ranks each */
};

/* Ways with 2 to `most` groups of at most `room` ranks, large groups first; the
 * last may be single ranks.  Returns how many. */
uint32_t groupings_list(const struct weft_job *job, uint32_t most,
			uint32_t room, struct grouping *way);

/* Writes the group of each rank. */
void grouping_apply(const struct weft_job *job, const struct grouping *way,
		    uint32_t *group);

#endif
