/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pursuit.h - improving a placement by a goal that is not the cost
 *
 * The strategies look for a small cost.  From the best that they found by the
 * objective, local search goes on by the goal itself:
 *	busiest	moves that lower the pressure on the links (links.h), those
 *		first that take ranks away from below the busiest one
 *	step	the same first, then moves that the step itself, predicted
 *		anew for each, tells to be better; few, since each takes long
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_PURSUIT_H
#define WEFT_PLACEMENT_RANKS_PURSUIT_H

#include "placement/mapping/effort.h"
#include "placement/objective/comparison.h"

/* s has a judge; where[] is a valid placement of its job, of which *best is the
 * ranking.  Replaces both by a better one if it finds it; then *better is true.
 * Whole nodes and single ranks change places or move to free GPUs, within the
 * limits of the job; with a weight on fragmentation they only change places. */
int pursuit_run(const struct capacity *s, struct effort *effort,
		uint32_t *where, struct comparison *best, bool *better,
		struct weft_error *err);

/* Default limit of its work on a job. */
uint64_t pursuit_work(const struct weft_judge *judge);

#endif
