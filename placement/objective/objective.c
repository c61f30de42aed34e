/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objective.c - what makes one placement better than another */
#include "placement/objective/objective.h"

#include <math.h>

const char *const weft_goal_names[WEFT_N_GOALS] = {
	[WEFT_GOAL_COST] = "cost",
	[WEFT_GOAL_BUSIEST] = "busiest",
	[WEFT_GOAL_STEP] = "step",
};

struct weft_objective weft_objective_of_spec(const struct weft_spec *spec)
{
	struct weft_objective objective = {
		.goal = WEFT_GOAL_STEP,
		.metric = spec->metric,
	};

	if (spec->spread == WEFT_BALANCE)
		objective.goal = WEFT_GOAL_BUSIEST;
	else if (weft_spec_given(spec, "metric"))
		objective.goal = WEFT_GOAL_COST;
	return objective;
}

bool weft_objective_is_cost(const struct weft_objective *objective)
{
	return objective->goal == WEFT_GOAL_COST &&
	       !(objective->fragmentation > 0);
}

int weft_objective_check(const struct weft_objective *objective,
			 struct weft_error *err)
{
	if ((unsigned)objective->goal >= WEFT_N_GOALS ||
	    (unsigned)objective->metric >= WEFT_N_METRICS)
		return weft_fail(err, WEFT_EINVAL,
				 "the objective has no such goal or metric");
	if (!(objective->fragmentation >= 0) ||
	    !isfinite(objective->fragmentation))
		return weft_fail(err, WEFT_EINVAL,
				 "fragmentation is a number of at least 0");
	return 0;
}
