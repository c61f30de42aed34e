/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lattice.h - the grid of lines that a graph contains, whatever its numbering
 *
 * Training traffic is a Cartesian product: rings of data-parallel groups,
 * cliques of tensor-parallel ones, paths of stages.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_LATTICE_H
#define WEFT_PLACEMENT_BOUNDS_LATTICE_H

#include "placement/bounds/line.h"
#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"

#define LATTICE_MAX_AXES 6

struct lattice_tally;

/* The lines along one axis, seen from below and from above. */
struct lattice_axis {
	uint32_t size;
	uint32_t *at; /* [n] coordinate of each vertex */
	/* Edges that every line has, with the least weight on any; those that
	 * the first line has, with the greatest weight on any. */
	uint32_t n_edges, n_cover;
	struct line_edge *edge, *cover;
	double heaviest; /* of edge[] */
	double weight;	 /* of all edges on lines that cover[] names */
	/* [size of the last axis] lines in that layer are at least and at most
	 * so many times as heavy as edge[] and cover[] */
	double *scale, *cover_scale;
	struct lattice_tally *tally; /* scratch of lattice.c */
};

/* Vertices with pairwise different coordinates; vertices that agree in all but
 * one lie on one line.  Heaviest axis first. */
struct lattice {
	uint32_t n, n_axes; /* n_axes == 0: none was found */
	struct lattice_axis axis[LATTICE_MAX_AXES];
	double weight; /* of edges that every line has */
};

/* Looks for as long as the effort lasts.  Free with lattice_free in either
 * case. */
int lattice_find(const struct graph *g, struct effort *effort,
		 struct lattice *l, struct weft_error *err);

/* Digits of a vertex' number, the faster one first, that make up an axis: the
 * coordinate counts through both; size[1] may be 1. */
struct lattice_walk {
	uint32_t size[2], stride[2];
};

/* The lattice of axes that are known: all digits of the numbers, each once.
 * Free with lattice_free in either case. */
int lattice_along(const struct graph *g, const struct lattice_walk *walk,
		  uint32_t n_walks, struct lattice *l, struct weft_error *err);
void lattice_free(struct lattice *l);

#endif
