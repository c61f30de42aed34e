/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nest.h - orders of ranks that nest the axes of a job's grid
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_NEST_H
#define WEFT_PLACEMENT_RANKS_NEST_H

#include "placement/job.h"

/* Axes with more than one coordinate, fastest first; a tiling has two parts of
 * an axis, inside and outside of the tile. */
#define NEST_MAX (2 * WEFT_MAX_AXES)

struct nest {
	uint32_t n;
	uint32_t size[NEST_MAX], stride[NEST_MAX];
};

/* The axes as the grid has them.  A grid that does not number the ranks is
 * taken as one axis. */
struct nest nest_natural(const struct weft_grid *grid, uint32_t n_ranks);

/* Counts through the nest like an odometer, its first axis fastest: rank[i] is
 * the i-th. */
void nest_enumerate(const struct nest *nest, uint32_t n_ranks, uint32_t *rank);

void nest_swap(struct nest *nest, uint32_t a, uint32_t b);

/* The next permutation in lexicographic order of strides; false after the last.
 */
bool nest_next(struct nest *nest);

#endif
