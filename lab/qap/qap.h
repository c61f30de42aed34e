/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap.h - the quadratic assignment problem with any two matrices
 *
 * For problems without a tree: anyone's, from QAPLIB files, and small pieces
 * whose distances follow no hierarchy.  Private to lab/qap/ and to the
 * command line's map.
 */
#ifndef WEFT_LAB_QAP_QAP_H
#define WEFT_LAB_QAP_QAP_H

#include "base/error.h"
#include "placement/mapping/effort.h"

/* Facilities 0..n-1 go to locations 0..n-1; cost of location p[i] for each
 * facility i: sum over i, j of a[i][j] * b[p[i]][p[j]], the diagonals too.
 * Entries may be asymmetric; |sums| stay below 2^63. */
struct qap {
	uint32_t n;
	int64_t *a, *b; /* [n * n] row by row */
};

void qap_free(struct qap *q);

int64_t qap_cost(const struct qap *q, const uint32_t *location);

/* Fills location[n] with the best assignment found and *cost.  target: a cost
 * that cannot be improved on, INT64_MIN if unknown.  Deterministic under a work
 * limit, a unit of which is a swap looked at.  Never worse than location[i] =
 * i; returns before the effort is spent when the target is reached or when new
 * searches keep ending in the same best.  WEFT_EINVAL where costs might not fit
 * in 64 bits. */
int qap_solve(const struct qap *q, int64_t target, struct effort *effort,
	      uint32_t *location, int64_t *cost, struct weft_error *err);

/* No assignment costs less than *bound: Gilmore and Lawler's, up to n = 256
 * whatever the effort, and where it allows and the problem is small a dual
 * ascent's. */
int qap_bound(const struct qap *q, struct effort *effort, int64_t *bound,
	      struct weft_error *err);

#endif
