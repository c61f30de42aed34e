/* SPDX-License-Identifier: GPL-3.0-or-later */
/* enumeration.h - the best bin for every block, by looking at all that could be
 *
 * Exhaustive search with pruning, for problems of a dozen blocks or two.
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_ENUMERATION_H
#define WEFT_PLACEMENT_EXACT_ENUMERATION_H

#include "placement/exact/blocks.h"
#include "placement/mapping/effort.h"

/* Larger problems are refused: complete is false at once. */
#define ENUMERATION_MAX_BLOCKS 40
#define ENUMERATION_MAX_BINS   512

struct enumeration {
	double limit; /* look only for what costs less; INFINITY: for all */
	const uint32_t *start; /* bins of an assignment known before, which
				* need not keep to limits; NULL: none */
	bool complete; /* every possibility was looked at or ruled out */
	bool found;    /* bin[] holds one that costs less than the limit */
	double cost;   /* of it, as b sees costs, base included */
	uint64_t n_steps;
};

/* Fills bin[] with the best assignment below the limit that keeps to the job's
 * limits; when complete and not found there is none.  Spends one of e->work for
 * each block put into a bin. */
int enumeration_run(const struct blocks *b, struct effort *e, uint32_t *bin,
		    struct enumeration *result, struct weft_error *err);

#endif
