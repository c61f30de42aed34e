/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallelism.h - the grid of ranks: which coordinates rank r has on each axis
 *
 * A rank order names the axes.  Megatron's form "tp-cp-ep-dp-pp" has the FIRST
 * axis varying fastest; the row-major form of DeepSpeed, torchtitan and
 * DeviceMesh, written "pp/dp/cp/tp" here, has the LAST varying fastest.
 */
#ifndef WEFT_COSTMODEL_JOB_PARALLELISM_H
#define WEFT_COSTMODEL_JOB_PARALLELISM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_MAX_AXES	    8
#define WEFT_AXIS_NAME_SIZE 16

struct weft_axis_size {
	const char *name;
	uint32_t size; /* >= 1 */
};

/* Axes in the order written.  rank = sum of coordinate[a] * stride[a]. */
struct weft_grid {
	uint32_t n_axes, n_ranks;
	char name[WEFT_MAX_AXES][WEFT_AXIS_NAME_SIZE];
	uint32_t size[WEFT_MAX_AXES];
	uint32_t stride[WEFT_MAX_AXES];
};

/* Every axis of `order` must be among sizes[n]; a size > 1 that `order` does
 * not name is an error, a size of 1 may be left out.  Axis names are free
 * words, so that other systems' meshes can be written. */
int weft_grid_build(const char *order, const struct weft_axis_size *sizes,
		    uint32_t n, struct weft_grid *grid, struct weft_error *err);

/* Index of the axis, or WEFT_MAX_AXES when the grid does not have it. */
uint32_t weft_grid_axis(const struct weft_grid *grid, const char *name);

/* n / size, and what is left: most sizes are powers of two, and to divide takes
 * long. */
static inline uint32_t weft_grid_divide(uint32_t n, uint32_t size,
					uint32_t *left)
{
	if (size & (size - 1)) {
		*left = n % size;
		return n / size;
	}
	*left = n & (size - 1);
	return n >> __builtin_ctz(size);
}

static inline uint32_t weft_grid_coordinate(const struct weft_grid *grid,
					    uint32_t rank, uint32_t axis)
{
	uint32_t left;

	rank = weft_grid_divide(rank, grid->stride[axis], &left);
	weft_grid_divide(rank, grid->size[axis], &left);
	return left;
}

/* The axes of a token as below, for many groups of it. */
struct weft_grid_groups {
	bool in[WEFT_MAX_AXES];
	uint32_t n; /* ranks of a group */
};
int weft_grid_groups(const struct weft_grid *grid, const char *token,
		     struct weft_grid_groups *groups, struct weft_error *err);

/* The lowest rank of group number `index` < n_ranks / groups->n. */
uint32_t weft_grid_lowest(const struct weft_grid *grid,
			  const struct weft_grid_groups *groups,
			  uint32_t index);

/* All ranks of that group, ascending, into ranks[groups->n]. */
void weft_grid_members(const struct weft_grid *grid,
		       const struct weft_grid_groups *groups, uint32_t index,
		       uint32_t *ranks);

/* The ranks that share every coordinate but those of the axes in `token`
 * ("dp", or "tp-pp" for the product), ascending.  Groups are numbered by their
 * lowest rank.  ranks has room for the product of the token's sizes, which is
 * returned; 0 with err when the token or index is wrong. */
uint32_t weft_grid_group(const struct weft_grid *grid, const char *token,
			 uint32_t index, uint32_t *ranks,
			 struct weft_error *err);

#endif
