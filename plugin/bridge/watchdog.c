/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watchdog.c - lowering and raising the effort */
#include "plugin/bridge/watchdog.h"

#define FACTOR	  5
#define LEAST_S	  0.05 /* what a slow moment of the machine may take */
#define IN_ROW	  3
#define LOWERED_S 600

const char *const weft_effort_names[] = {
	[WEFT_EFFORT_FULL] = "full",
	[WEFT_EFFORT_FIRST_FIT] = "first-fit",
	[WEFT_EFFORT_NONE] = "none",
};

struct weft_watchdog weft_watchdog;

enum weft_effort weft_watchdog_effort(struct weft_watchdog *watchdog,
				      double now_s)
{
	if (watchdog->effort != WEFT_EFFORT_FULL &&
	    now_s >= watchdog->until_s) {
		watchdog->effort = WEFT_EFFORT_FULL;
		watchdog->n_in_row = 0;
	}
	return (enum weft_effort)watchdog->effort;
}

double weft_watchdog_limit_s(double budget_s)
{
	return FACTOR * budget_s > LEAST_S ? FACTOR * budget_s : LEAST_S;
}

bool weft_watchdog_note(struct weft_watchdog *watchdog, double planning_s,
			double budget_s, double now_s)
{
	if (planning_s <= weft_watchdog_limit_s(budget_s)) {
		watchdog->n_in_row = 0;
		return false;
	}
	if (++watchdog->n_in_row < IN_ROW ||
	    watchdog->effort == WEFT_EFFORT_NONE)
		return false;
	watchdog->n_in_row = 0;
	watchdog->effort++;
	watchdog->until_s = now_s + LOWERED_S;
	return true;
}
