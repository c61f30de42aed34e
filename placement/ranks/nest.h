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

/* Axes of which both the dense and the expert grid are made, so that a tile may
 * hold a whole group of either.  The natural nest where there are no such, as
 * when axes of 4 and of 6 begin at one stride. */
struct nest nest_common(const struct weft_job *job);

/* Counts through the nest like an odometer, its first axis fastest: rank[i] is
 * the i-th. */
void nest_enumerate(const struct nest *nest, uint32_t *rank);

/* The axes in which runs of n ranks lie, by stride and those that follow on
 * each other as one: orders with the same have the same runs.  False: some runs
 * begin elsewhere on an axis than others. */
bool nest_runs(const struct nest *nest, uint32_t n, struct nest *runs);

void nest_swap(struct nest *nest, uint32_t a, uint32_t b);

/* The next permutation in lexicographic order of strides; false after the last.
 */
bool nest_next(struct nest *nest);

/* Visits the ways to make a tile of `size` ranks from parts of the axes, at
 * most 64: the tile's parts first, each in natural order. */
void nest_tilings(const struct nest *natural, uint32_t size,
		  void (*visit)(void *data, const struct nest *nest),
		  void *data);

/* The domains of a level that ranks lie in, in order. */
struct nest_level {
	uint32_t n;
	uint32_t each;	     /* ranks of each; 0: as end[] says */
	const uint32_t *end; /* [n] ascending, or NULL: number of the first rank
			      * that is no longer in it */
	double farther; /* what a byte that leaves a domain costs more than one
			 * that does not: nest_farther */
};

/* As sites have it, of a level that is not the outermost. */
double nest_farther(const struct weft_fabric *f, enum weft_metric metric,
		    uint32_t level);

/* Domains of the level that hold `each` of the job's ranks. */
struct nest_level nest_level_even(const struct weft_fabric *f,
				  const struct weft_job *job, uint32_t level,
				  uint32_t each);

/* The nest or tiling for which the bytes of the job's schedule cost least on
 * these levels, innermost first, and that cost; of equal ones the ranks' own
 * order.  Goes by the volume of each call and the share of it that crosses from
 * domain to domain, without pairs of ranks: the time does not depend on their
 * number.  -1 with err: out of memory. */
int nest_choose(const struct weft_job *job, const struct nest_level *level,
		uint32_t n_levels, struct nest *best, double *cost,
		struct weft_error *err);

#endif
