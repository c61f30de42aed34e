/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.h - sets of nodes improved by what they are worth
 *
 * candidates.c proposes sets of nodes for their cost, in the tightest domains.
 * Here the goal itself decides: shares of the job for each leaf or NVLink
 * domain, even ones, whole groups of ranks, equal shares of nodes; the best of
 * them exchange GPUs domain by domain as long as that gains.  Private to
 * placement/.
 */
#ifndef WEFT_PLACEMENT_REFINE_REFINE_H
#define WEFT_PLACEMENT_REFINE_REFINE_H

#include "placement/objective/comparison.h"
#include "placement/ranks/arrange.h"

/* where[] is a valid placement of the job, of which *best is the ranking, and
 * the arranger's capacity has a judge.  Replaces both by a better one if it
 * finds it.  start: the set from which it looks for one; NULL: that of where[].
 * Draws on the arranger's effort. */
int refine_run(struct arranger *a, const struct node_set *start,
	       uint32_t *where, struct comparison *best,
	       struct weft_error *err);

/* Whether where[] has a tensor group on more than one NVLink domain. */
bool refine_breaks(const struct weft_fabric *f, const struct weft_job *job,
		   const uint32_t *where);

#endif
