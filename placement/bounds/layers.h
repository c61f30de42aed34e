/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.h - what a set costs at least that is spread over layers
 *
 * Private to contour.c.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_LAYERS_H
#define WEFT_PLACEMENT_BOUNDS_LAYERS_H

#include "base/error.h"
#include "placement/mapping/effort.h"

/* Cost of a vertices, a = 0 ... n; cost[0] is 0. */
struct layer {
	uint32_t n;
	double *cost;
};

/* With room for min(vertices, max) of them.  Free with free(cost). */
int layer_start(struct layer *c, uint64_t vertices, uint32_t max,
		struct weft_error *err);

struct layers {
	const struct layer *const *layer; /* [n] all of one size */
	uint32_t n;
	double piece; /* of each line across the layers that is met */
	double part;  /* of each that is filled in part */
	/* do not take long: what would is replaced by something lower */
	bool quick;
};

/* Fills *out, which was started: for all its a, the least sum of layers with a
 * vertices in all.  *exact: false where it is lower than that. */
int layers_sum(const struct layers *s, struct effort *effort, struct layer *out,
	       bool *exact, struct weft_error *err);

#endif
