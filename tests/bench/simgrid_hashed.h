/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simgrid_hashed.h - flows that each take one of several uplinks
 *
 * Private to tests/bench/simgrid*.c.
 */
#ifndef WEFT_TESTS_BENCH_SIMGRID_HASHED_H
#define WEFT_TESTS_BENCH_SIMGRID_HASHED_H

#include "tests/bench/simgrid_cases.h"

/* Prints how much longer phases take when switches hash flows, by weft and by
 * flows (the mean of 20 draws).  The scene has its program and folder. */
int hashed_run(struct scene *s);

#endif
