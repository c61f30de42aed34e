/* SPDX-License-Identifier: GPL-3.0-or-later */
/* portfolio.h - one search several times at once, each with its own luck
 *
 * Private to placement/ and to the command line's map.
 */
#ifndef WEFT_LAB_MAP_PORTFOLIO_H
#define WEFT_LAB_MAP_PORTFOLIO_H

#include "base/error.h"
#include "placement/mapping/effort.h"

#define PORTFOLIO_MAX 64

/* Fills answer[n] and *cost.  Called by several threads at once, hence problem
 * is const; each has its own effort and answer. */
typedef int (*portfolio_search)(const void *problem, struct effort *effort,
				uint32_t *answer, double *cost,
				struct weft_error *err);

/* Searches n_threads times (0 is 1, PORTFOLIO_MAX at most), each with all of
 * the effort and random numbers of its own, the first with those of `effort`.
 * Keeps the best answer, of equals the first's: so what a work limit makes
 * repeatable stays so.  A thread that cannot be started is left out. */
int portfolio_run(uint32_t n_threads, portfolio_search search,
		  const void *problem, uint32_t n, struct effort *effort,
		  uint32_t *answer, double *cost, struct weft_error *err);

#endif
