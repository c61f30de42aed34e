/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_pool.h - a few good and different solutions, and what two have in common
 *
 * Private to lab/qap/.
 */
#ifndef WEFT_LAB_QAP_QAP_POOL_H
#define WEFT_LAB_QAP_QAP_POOL_H

#include "lab/qap/qap_form.h"

struct pool {
	const struct qap_form *f;
	uint32_t size, n_members;
	uint32_t *at; /* [size][n] */
	int64_t *cost;
	uint32_t *scratch; /* [4 * n] */
};

int pool_make(struct pool *p, const struct qap_form *f, uint32_t size,
	      struct weft_error *err);
void pool_free(struct pool *p);

/* True when the solution came in: it is better than the worst, or there is
 * room, and no member is as good and closer than `apart` pieces.  A member
 * that is closer and worse gives way. */
bool pool_add(struct pool *p, const uint32_t *at, int64_t cost, uint32_t apart);

/* A child of two members drawn at random: what they agree on, and for the rest
 * either's or anything. */
void pool_cross(struct pool *p, struct effort *effort, uint32_t *child);

/* Any solution. */
void pool_random(const struct qap_form *f, struct effort *effort, uint32_t *at);

#endif
