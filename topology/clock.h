/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - time that only goes forward */
#ifndef WEFT_TOPOLOGY_CLOCK_H
#define WEFT_TOPOLOGY_CLOCK_H

#include <time.h>

/* Seconds of CLOCK_MONOTONIC; some 20 ns. */
static inline double weft_clock_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
