/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - elapsed time */
#ifndef WEFT_CLI_CLOCK_H
#define WEFT_CLI_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary start, never going back. */
static inline double clock_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
