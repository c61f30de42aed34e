/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objective.h - what makes one placement better than another, as one number
 *
 *	value = goal * (1 + fragmentation * share lost), smaller is better
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_OBJECTIVE_H
#define WEFT_PLACEMENT_OBJECTIVE_OBJECTIVE_H

#include "costmodel/job/gpu.h"
#include "costmodel/job/spec.h"
#include "costmodel/time/load.h"

enum weft_goal {
	WEFT_GOAL_COST,	   /* sum of d * M, in a metric */
	WEFT_GOAL_BUSIEST, /* seconds of the busiest link's share of a step */
	WEFT_GOAL_STEP,	   /* predicted seconds of a step, or of communication,
			    * and what other jobs lose meanwhile */
	WEFT_N_GOALS
};
extern const char *const weft_goal_names[WEFT_N_GOALS];

/* The share lost, 0 to 1, is how much more of the free slots the placement
 * destroys than any of that size must, slots.h.  So with fragmentation w, to
 * destroy the most instead of the least possible is as bad as a goal 1 + w
 * times as large. */
struct weft_objective {
	enum weft_goal goal;
	enum weft_metric metric;      /* of WEFT_GOAL_COST */
	double fragmentation;	      /* >= 0; 0: only between equals */
	const struct weft_load *load; /* NULL: no other job's traffic */
	/* whose step WEFT_GOAL_STEP is; NULL: of the fabric's profile */
	const struct weft_gpu *gpu;
};

/* Steps closer than this, in proportion, count as equal: the model tells no
 * finer.  Where no step can be predicted, communication is taken for no more
 * than a fifth of one, so that its seconds may differ by as much more. */
#define WEFT_SAME_STEP	   3e-3
#define WEFT_ASSUMED_SHARE 0.2

/* What a step must gain, in proportion, for each domain of the outermost
 * tapered level, where none is tapered for each NVLink domain of several nodes,
 * that a placement enters beyond those of the cheapest one, and for each that
 * it leaves partly free: each is one that a later job would have had to itself,
 * and steps of jobs that cross such a level are some 20 % longer (replays at
 * 7:1, weft-replay(1)). */
#define WEFT_PRICE_OF_DOMAIN 0.05

/* What a step of a known model must gain, in proportion, to cost twice as much
 * as the placement that was measured first, twice that to cost three times as
 * much: what predictions are off in the median.  No tensor group is torn over
 * two nodes for a few percent that the prediction may be wrong about. */
#define WEFT_PRICE_OF_COST 0.05

/* What a resolved spec asks for: the cost in the metric that it names, the
 * busiest link with spread=balance, else the step. */
struct weft_objective weft_objective_of_spec(const struct weft_spec *spec);

/* True when only the cost counts. */
bool weft_objective_is_cost(const struct weft_objective *objective);

/* -1 with err when a field is out of range. */
int weft_objective_check(const struct weft_objective *objective,
			 struct weft_error *err);

#endif
