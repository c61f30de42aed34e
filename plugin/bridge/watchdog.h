/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watchdog.h - what weft does when its decisions take far longer than they may:
 * no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_WATCHDOG_H
#define WEFT_PLUGIN_BRIDGE_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

enum weft_effort {
	WEFT_EFFORT_FULL,
	WEFT_EFFORT_FIRST_FIT, /* the quickest method alone */
	WEFT_EFFORT_NONE,      /* no opinion */
};

extern const char *const weft_effort_names[WEFT_EFFORT_NONE + 1];

/* Zero-initialise. */
struct weft_watchdog {
	_Atomic uint32_t effort; /* enum weft_effort; any thread may read */
	uint32_t n_in_row;	 /* decisions far beyond the budget */
	double until_s;		 /* when the effort goes back to full */
};

extern struct weft_watchdog weft_watchdog;

/* The effort allowed at now_s (any clock that never goes back). */
enum weft_effort weft_watchdog_effort(struct weft_watchdog *watchdog,
				      double now_s);

/* Time that a decision may take: well beyond the budget, which the first answer
 * for thousands of GPUs may exceed by design. */
double weft_watchdog_limit_s(double budget_s);

/* A decision took `planning_s` of processor time of weft's own.  After three in
 * a row beyond the limit the effort is lowered by a step for ten minutes: true
 * then. */
bool weft_watchdog_note(struct weft_watchdog *watchdog, double planning_s,
			double budget_s, double now_s);

#endif
