/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watchdog.h - what weft does when its decisions take far longer than they may:
 * no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_WATCHDOG_H
#define WEFT_PLUGIN_BRIDGE_WATCHDOG_H

#include <stdatomic.h>
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

/* Every question has WEFT_FIRST_PART of the budget, 0.8 of 20 ms, which is
 * enough for most jobs and nearly so for a place by structure of any.  All of
 * it has who asks while such questions, of all users together, have taken no
 * more than WEFT_LONG_SHARE of the time, and WEFT_LONG_S at once: a cycle of
 * the scheduler over many large jobs does not wait for each of them. */
#define WEFT_FIRST_PART 0.04
#define WEFT_LONG_SHARE 0.01
#define WEFT_LONG_S	0.1

/* Each user's questions may take WEFT_RATION_SHARE of the time, over any long
 * while, and WEFT_RATION_S at once; after that they get a tenth of the budget,
 * which is enough for a place by structure, until it has evened out. */
#define WEFT_RATION_SHARE 0.05
#define WEFT_RATION_S	  1.0
#define WEFT_N_RATIONS	  256
#define WEFT_RATION_PART  0.1

struct weft_ration {
	uint32_t uid;
	double owed_s; /* beyond the share, at at_s */
	double at_s;
	double told_s; /* when the log was told last; 0: never */
};

/* Zero-initialise.  Of users whose numbers clash the one who owes more is kept.
 */
struct weft_rations {
	struct weft_ration of[WEFT_N_RATIONS];
	_Atomic uint64_t n_cut; /* decisions; any thread may read */
};

extern struct weft_rations weft_rations;

/* What was taken beyond a share of the time that passes; zero-initialise. */
struct weft_owed {
	double owed_s, at_s; /* as in weft_ration */
};

/* What is still owed at now_s, and what is from now on that spent_s more were
 * taken. */
double weft_owed_s(const struct weft_owed *owed, double share, double now_s);
void weft_owed_charge(struct weft_owed *owed, double share, double spent_s,
		      double now_s);

extern struct weft_owed weft_longs;

/* Share of the budget that a question at now_s has: 1 or WEFT_FIRST_PART. */
double weft_longs_part(const struct weft_owed *longs, double now_s);

/* One that had all of it has taken spent_s. */
void weft_longs_charge(struct weft_owed *longs, double budget_s, double spent_s,
		       double now_s);

/* Share of the budget that the next decision for uid has: 1 or
 * WEFT_RATION_PART, which is counted. */
double weft_rations_part(struct weft_rations *rations, uint32_t uid,
			 double now_s);

/* One has taken spent_s of weft's own time.  True when the log is to be told
 * that the user has used up his share: every ten minutes at most. */
bool weft_rations_charge(struct weft_rations *rations, uint32_t uid,
			 double spent_s, double now_s);

/* What a question of uid's has of budget_s, by weft_longs and weft_rations. */
double weft_grant_s(double budget_s, uint32_t uid, double now_s);

/* It was granted granted_s, and has taken spent_s of weft's own time.  True:
 * as weft_rations_charge. */
bool weft_grant_charge(double budget_s, double granted_s, uint32_t uid,
		       double spent_s, double now_s);

/* What a start has, whose question was granted granted_s: its part is that of
 * questions, and the time is the same. */
double weft_start_grant_s(double budget_s, double granted_s, double now_s);

/* A start of uid's job has taken spent_s.  True: as weft_rations_charge. */
bool weft_start_charge(double budget_s, uint32_t uid, double spent_s,
		       double now_s);

#endif
