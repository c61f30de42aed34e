/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates.h - sets of nodes worth pricing for a job
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_CANDIDATES_H
#define WEFT_PLACEMENT_CANDIDATES_H

#include "placement/choice.h"

#define CANDIDATES_MAX 64

/* Distinct choices that keep to every hard limit of the job. */
struct candidates {
	uint32_t n;
	struct choice choice[CANDIDATES_MAX];
	/* filled by the caller: ranks per block, cost with the best nesting of
	 * the axes, that nesting, and the indices by cost of those priced */
	uint32_t n_priced;
	uint32_t block[CANDIDATES_MAX];
	double cost[CANDIDATES_MAX];
	uint32_t nesting[CANDIDATES_MAX];
	uint32_t order[CANDIDATES_MAX];
};

/* From the innermost level outwards: the domains that hold the job best, and
 * the ways to deal the job to their parts.  single: the supply of single GPUs.
 * n == 0: there is no choice.  Free with candidates_free in either case. */
int candidates_build(struct supply *single, struct candidates *c,
		     struct weft_error *err);
void candidates_free(struct candidates *c);

#endif
