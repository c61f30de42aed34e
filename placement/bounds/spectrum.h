/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.h - what of a job's traffic is known to be a grid of rings
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_SPECTRUM_H
#define WEFT_PLACEMENT_BOUNDS_SPECTRUM_H

#include "costmodel/job/parallelism.h"
#include "placement/mapping/cliques.h"

/* One ring or path of ranks, repeated for every value of the other axes.
 * Weights are the smallest found on any of the repetitions, so that a graph of
 * these edges alone lies below the real one. */
struct chain {
	uint32_t size;
	double path; /* between neighbours, 0 where one pair lacks */
	double ring; /* the same with the edge that closes the ring; size > 2 */
};

#define SPECTRUM_MAX_CHAINS (WEFT_MAX_AXES + 1)

/* The graph contains the Cartesian product of these chains. */
struct product {
	uint32_t n, n_ranks;
	struct chain chain[SPECTRUM_MAX_CHAINS];
};

/* Products contained in the traffic: the axes one by one, and, for each two
 * axes whose product forms one ring in rank order (dp over cp), those two as
 * one.  Returns how many were written, at most `max`; 0 when the grid does not
 * number the ranks. */
uint32_t spectrum_products(const struct weft_grid *grid,
			   const struct cliques *t, struct product *out,
			   uint32_t max);

/* Raises lambda[i] to at least the i-th smallest eigenvalue of the product's
 * Laplacian, i < n_ranks.  lambda: [n_ranks], ascending, zeros at first. */
int spectrum_raise(const struct product *p, double *lambda,
		   struct weft_error *err);

/* Bytes that cross domains of these sizes, largest first, because chains do not
 * fit into one: a ring in m pieces is cut m times, a path m - 1 times. */
double spectrum_split(const struct product *p, const uint32_t *size,
		      uint32_t n_sizes);

#endif
