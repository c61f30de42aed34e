/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relocate.h - a job moved to where it destroys less room for others
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_REFINE_RELOCATE_H
#define WEFT_PLACEMENT_REFINE_RELOCATE_H

#include "placement/mapping/effort.h"
#include "placement/objective/comparison.h"

/* where[] is a valid placement of the job, of which *best is the ranking, and
 * s, the capacity of single GPUs, has a judge that counts slots.  What a domain
 * has of the job moves, nodes as they are, into another that the job does not
 * use, as long as that destroys less room and ranks before.  effort: its
 * deadline. */
int relocate_run(const struct capacity *s, const struct effort *effort,
		 uint32_t *where, struct comparison *best,
		 struct weft_error *err);

#endif
