/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.h - how cheaply a line of a lattice can be cut
 *
 * A line is a small graph that a larger one contains many times over: the ring
 * of a data-parallel group, the clique of an expert group, the path of a
 * pipeline.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_LINE_H
#define WEFT_PLACEMENT_BOUNDS_LINE_H

#include "base/error.h"

#include <stdint.h>

struct line_edge {
	uint32_t a, b; /* a < b */
	double weight;
};

/* The line contains, edge by edge, a clique, a ring, a path, and more. */
struct line {
	uint32_t size;
	double clique; /* weight between any two */
	double ring;   /* besides, around all vertices; 0 for size < 3 */
	double path;   /* besides, through all of them */
	double *cut;   /* [size + 1] least weight between so many of its
			* vertices and the others */
	double least;  /* of cut[1] ... cut[size - 1] */
	double *most;  /* [size + 1] most weight inside of so many vertices */
	double step;   /* so that most[n] <= step * (n - 1) for 0 < n < size, */
	double last;   /* and most[size] <= step * (size - 1) + last; <= step */
	double degree; /* most that the edges of a vertex weigh */
	double other;  /* the least such cut of the line without the path */
};

/* edge: each pair at most once.  Free with line_free in either case. */
int line_build(uint32_t size, const struct line_edge *edge, uint32_t n_edges,
	       struct line *line, struct weft_error *err);
void line_free(struct line *line);

/* Ascending lower bounds of the eigenvalues of the line's Laplacian. */
void line_values(const struct line *line, double *value);

#endif
