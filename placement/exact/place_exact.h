/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_exact.h - the strategy that proves how good its answer is
 *
 * Needs a solver of integer programs, and is a library of its own for it:
 * slurmctld loads neither.
 */
#ifndef WEFT_PLACEMENT_EXACT_PLACE_EXACT_H
#define WEFT_PLACEMENT_EXACT_PLACE_EXACT_H

#include "placement/place.h"

#define WEFT_EXACT_BUDGET_S 30.0 /* where none is given */

/* For weft_place_options.strategy.  Starts from pack's answer; returns the
 * optimum of the sum of d * M, or the best found with its bound raised as far
 * as could be proven.  Under a work limit and without a budget it only
 * enumerates, which is the same everywhere. */
extern const struct weft_strategy weft_exact;

/* False where weft was built without a solver: then weft_exact fails. */
bool weft_exact_is_built(void);

#endif
