/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_form.h - a quadratic assignment problem in the shape that is searched
 *
 * Twice the cost of the problem is, up to a constant and a positive factor,
 *
 *	sum over i < j of s[i][j] t[k][l] + x[i][j] y[k][l]
 *	+ sum over i of linear[i][k],	k = at[i], l = at[j]
 *
 * with s, t symmetric and x, y antisymmetric: in the sum over both (i, j) and
 * (j, i) the mixed terms cancel.  So one symmetric matrix makes the problem a
 * symmetric one.  Private to lab/qap/.
 */
#ifndef WEFT_LAB_QAP_QAP_FORM_H
#define WEFT_LAB_QAP_QAP_FORM_H

#include "lab/qap/qap.h"

#include <stdbool.h>

/* "Piece" and "spot" are facility and location, or the other way round where
 * that side has more alike: the problem is the same for the inverse. */
struct qap_form {
	uint32_t n;
	int64_t *s, *t;	 /* [n * n] pieces, spots; diagonals 0 */
	int64_t *x, *y;	 /* [n * n]; both NULL where one is 0 */
	int64_t *linear; /* [n * n] piece by spot; NULL: constant */
	/* The lowest of those that are alike: exchanging two of them changes no
	 * cost.  Pieces are ordered so that those alike are neighbours. */
	uint32_t *piece_class, *spot_class;
	uint32_t n_piece_classes;
	uint32_t *label; /* [n] row of the caller's matrix that piece i is */
	bool inverse;	 /* pieces are the caller's locations */
	double reach;	 /* no sum that a search forms is larger */
};

/* Fails with WEFT_EINVAL where entries are so large that a sum might not fit in
 * 64 bits. */
int qap_check_size(const struct qap *q, struct weft_error *err);

/* Fails with WEFT_EINVAL as above. */
int qap_form_make(struct qap_form *f, const struct qap *q,
		  struct weft_error *err);
void qap_form_free(struct qap_form *f);

/* From the spot of each piece to the caller's location of each facility. */
void qap_form_location(const struct qap_form *f, const uint32_t *at,
		       uint32_t *location);

/* The sum above. */
int64_t qap_form_cost(const struct qap_form *f, const uint32_t *at);

#endif
