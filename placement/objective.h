/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objective.h - what makes one placement better than another, as one number */
#ifndef WEFT_PLACEMENT_OBJECTIVE_H
#define WEFT_PLACEMENT_OBJECTIVE_H

#include "costmodel/spec.h"

enum weft_goal {
	WEFT_GOAL_COST,	   /* sum of d * M, in a metric */
	WEFT_GOAL_BUSIEST, /* seconds of the busiest link's share of a step */
	WEFT_GOAL_STEP,	   /* predicted seconds of a step */
	WEFT_N_GOALS
};
extern const char *const weft_goal_names[WEFT_N_GOALS];

struct weft_load; /* load.h: what other jobs send over each link */

/* value = goal * (1 + fragmentation * share lost), smaller is better.  The
 * share lost is how much of the value of the free slots the placement destroys
 * beyond what any placement of that size must: 0 to 1, see
 * weft_objective_slots. */
struct weft_objective {
	enum weft_goal goal;
	enum weft_metric metric;      /* of WEFT_GOAL_COST */
	double fragmentation;	      /* >= 0; 0: only between equals */
	const struct weft_load *load; /* NULL: no other job's traffic */
};

#endif
