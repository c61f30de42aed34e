/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watchdog.c - lowering and raising the effort */
#include "plugin/bridge/watchdog.h"

#include <math.h>

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

/* ---- shares of the time ---- */

double weft_owed_s(const struct weft_owed *owed, double share, double now_s)
{
	double even_s = share * (now_s - owed->at_s);

	return owed->owed_s > even_s ? owed->owed_s - even_s : 0;
}

void weft_owed_charge(struct weft_owed *owed, double share, double spent_s,
		      double now_s)
{
	owed->owed_s = weft_owed_s(owed, share, now_s) + spent_s;
	owed->at_s = now_s;
}

/* ---- long questions ---- */

struct weft_owed weft_longs;

double weft_longs_part(const struct weft_owed *longs, double now_s)
{
	return weft_owed_s(longs, WEFT_LONG_SHARE, now_s) <= WEFT_LONG_S
		       ? 1
		       : WEFT_FIRST_PART;
}

void weft_longs_charge(struct weft_owed *longs, double budget_s, double spent_s,
		       double now_s)
{
	double more_s = spent_s - WEFT_FIRST_PART * budget_s;

	if (more_s > 0)
		weft_owed_charge(longs, WEFT_LONG_SHARE, more_s, now_s);
}

/* ---- users ---- */

struct weft_rations weft_rations;

static struct weft_ration *ration_of(struct weft_rations *rations, uint32_t uid)
{
	return &rations->of[uid % WEFT_N_RATIONS];
}

static double owed_s(const struct weft_ration *ration, double now_s)
{
	double even_s = WEFT_RATION_SHARE * (now_s - ration->at_s);

	return ration->owed_s > even_s ? ration->owed_s - even_s : 0;
}

double weft_rations_part(struct weft_rations *rations, uint32_t uid,
			 double now_s)
{
	const struct weft_ration *ration = ration_of(rations, uid);

	if (ration->uid != uid || owed_s(ration, now_s) <= WEFT_RATION_S)
		return 1;
	rations->n_cut++;
	return WEFT_RATION_PART;
}

bool weft_rations_charge(struct weft_rations *rations, uint32_t uid,
			 double spent_s, double now_s)
{
	struct weft_ration *ration = ration_of(rations, uid);
	double owed = owed_s(ration, now_s);
	bool tell;

	if (ration->uid != uid && owed > spent_s)
		return false;
	if (ration->uid != uid)
		*ration = (struct weft_ration){.uid = uid};
	else
		spent_s += owed;
	ration->owed_s = spent_s;
	ration->at_s = now_s;
	tell = ration->owed_s > WEFT_RATION_S &&
	       (!ration->told_s || now_s >= ration->told_s + LOWERED_S);
	if (tell)
		ration->told_s = now_s;
	return tell;
}

/* ---- both ---- */

double weft_grant_s(double budget_s, uint32_t uid, double now_s)
{
	return budget_s * fmin(weft_longs_part(&weft_longs, now_s),
			       weft_rations_part(&weft_rations, uid, now_s));
}

bool weft_grant_charge(double budget_s, double granted_s, uint32_t uid,
		       double spent_s, double now_s)
{
	if (granted_s >= budget_s)
		weft_longs_charge(&weft_longs, granted_s, spent_s, now_s);
	return weft_rations_charge(&weft_rations, uid, spent_s, now_s);
}

double weft_start_grant_s(double budget_s, double granted_s, double now_s)
{
	return fmin(granted_s, budget_s * weft_longs_part(&weft_longs, now_s));
}

bool weft_start_charge(double budget_s, uint32_t uid, double spent_s,
		       double now_s)
{
	weft_longs_charge(&weft_longs, budget_s, spent_s, now_s);
	return weft_rations_charge(&weft_rations, uid, spent_s, now_s);
}
