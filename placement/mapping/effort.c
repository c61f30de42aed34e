/* SPDX-License-Identifier: GPL-3.0-or-later */
/* effort.c - how much may still be spent on an answer */
#include "placement/mapping/effort.h"

#include <time.h>

double effort_clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool effort_late(const struct effort *e)
{
	return (e->stop && *e->stop) ||
	       (e->deadline_s > 0 && effort_clock_s() >= e->deadline_s);
}

bool effort_spent(struct effort *e)
{
	return e->work == 0 || effort_late(e);
}
