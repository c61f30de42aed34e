/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - time that only goes forward, and by when a thread must be done
 *
 * A deadline holds for all that the thread calls until it is taken back:
 * whoever builds, prices or searches asks on the way whether it has passed.
 * Searches then answer with what they have; what cannot be answered half fails
 * with WEFT_ELATE.  Freeing never does.
 */
#ifndef WEFT_BASE_CLOCK_H
#define WEFT_BASE_CLOCK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC.  Measurements on a machine with other work set it to
 * CLOCK_THREAD_CPUTIME_ID before anything else: then budgets are of that. */
extern clockid_t weft_clock_id;

/* Seconds of that clock; some 20 ns. */
static inline double weft_clock_s(void)
{
	struct timespec now;

	clock_gettime(weft_clock_id, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds that the calling thread has had the processor; some 300 ns. */
double weft_worked_s(void);

/* The deadline of the calling thread, by weft_worked_s, so that it does not
 * count what others do on a busy machine; 0: none. */
double weft_deadline(void);

/* Sets it; returns the former one, for who nests and puts that back. */
double weft_deadline_set(double at_s);

/* Brings it forward to at_s (0: leaves it); returns the former one. */
double weft_deadline_narrow(double at_s);

/* What budgets of searches are counted by: weft_worked_s where there is a
 * deadline, else weft_clock_s. */
double weft_budget_clock_s(void);

/* Whether that has reached at_s; most often some 30 ns. */
bool weft_budget_passed(double at_s);

/* Seconds until the deadline that there is. */
double weft_deadline_left(void);

/* Whether it has passed. */
bool weft_deadline_passed(void);

/* 0, or -1 with WEFT_ELATE when it has passed. */
int weft_deadline_check(struct weft_error *err);

/* The same, asked in turn i of a loop: reads the clock every 64th time. */
static inline int weft_deadline_check_turn(uint64_t i, struct weft_error *err)
{
	return i % 64 ? 0 : weft_deadline_check(err);
}

#endif
