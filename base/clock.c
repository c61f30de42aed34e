/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.c - by when a thread must be done */
#include "base/clock.h"

clockid_t weft_clock_id = CLOCK_MONOTONIC;

/* A plugin's threads each have their own: slurmctld's asks, the keeper's has
 * none.  The deadline cannot have passed before from_s of the monotonic clock:
 * no thread works faster than time goes by, and that clock is the cheaper one.
 */
static _Thread_local double deadline_s, from_s;

/* The same of the last budget asked about. */
static _Thread_local double budget_s, budget_from_s;

static double read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double weft_worked_s(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double weft_deadline(void)
{
	return deadline_s;
}

double weft_deadline_set(double at_s)
{
	double former_s = deadline_s;

	deadline_s = at_s;
	from_s = 0;
	return former_s;
}

double weft_deadline_narrow(double at_s)
{
	if (at_s > 0 && (deadline_s == 0 || at_s < deadline_s))
		return weft_deadline_set(at_s);
	return deadline_s;
}

double weft_deadline_left(void)
{
	return deadline_s - weft_worked_s();
}

bool weft_deadline_passed(void)
{
	double now_s, left_s;

	if (deadline_s == 0)
		return false;
	now_s = read_clock(CLOCK_MONOTONIC);
	if (now_s < from_s)
		return false;
	left_s = weft_deadline_left();
	from_s = now_s + left_s;
	return left_s <= 0;
}

double weft_budget_clock_s(void)
{
	return deadline_s > 0 ? weft_worked_s() : weft_clock_s();
}

bool weft_budget_passed(double at_s)
{
	double now_s, left_s;

	if (deadline_s == 0)
		return weft_clock_s() >= at_s;
	now_s = read_clock(CLOCK_MONOTONIC);
	if (at_s == budget_s && now_s < budget_from_s)
		return false;
	left_s = at_s - weft_worked_s();
	budget_s = at_s;
	budget_from_s = now_s + left_s;
	return left_s <= 0;
}

int weft_deadline_check(struct weft_error *err)
{
	if (!weft_deadline_passed())
		return 0;
	return weft_fail(err, WEFT_ELATE, "no time was left");
}
