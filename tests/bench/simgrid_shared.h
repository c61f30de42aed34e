/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_shared.h - two and three jobs on the same links
 *
 * Private to tests/bench/simgrid*.c.
 */
#ifndef WEFT_TESTS_BENCH_SIMGRID_SHARED_H
#define WEFT_TESTS_BENCH_SIMGRID_SHARED_H

#include "tests/bench/simgrid_cases.h"

/* Compares the slow-down that the load of other jobs predicts with that of
 * flows, in n random cases, and prints how often they are close.  The scene has
 * its program, folder and random numbers. */
int shared_run(struct scene *s, uint32_t n, bool verbose);

#endif
