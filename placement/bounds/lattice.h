/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lattice.h - the grid of lines that a graph contains, whatever its numbering
 *
 * Training traffic is a Cartesian product: rings of data-parallel groups,
 * cliques of tensor-parallel ones, paths of stages.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_LATTICE_H
#define WEFT_PLACEMENT_BOUNDS_LATTICE_H

#include "base/error.h"
#include "placement/mapping/cliques.h"
#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"

#include <stdint.h>

/* ---- how cheaply a line of a lattice can be cut ---- */

/* A line is a small graph that a larger one contains many times over: the ring
 * of a data-parallel group, the clique of an expert group, the path of a
 * pipeline. */
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

#define LATTICE_MAX_AXES 6

struct lattice_tally;

/* The lines along one axis, seen from below and from above. */
struct lattice_axis {
	uint32_t size;
	uint32_t *at;  /* [n] coordinate of each vertex */
	uint64_t bits; /* that are the coordinate's in code[] */
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
	double weight;	     /* of edges that every line has */
	uint64_t *code;	     /* [n] all coordinates of a vertex, side by side */
	uint8_t axis_of[64]; /* that a bit of code[] is of */
};

/* The axis along which two vertices, which are not the same, differ; n_axes
 * when there are several. */
static inline uint32_t lattice_axis_between(const struct lattice *l, uint32_t a,
					    uint32_t b)
{
	uint64_t differ = l->code[a] ^ l->code[b];
	uint32_t i = l->axis_of[__builtin_ctzll(differ)];

	return differ & ~l->axis[i].bits ? l->n_axes : i;
}

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
int lattice_along(struct cliques *t, const struct lattice_walk *walk,
		  uint32_t n_walks, struct lattice *l, struct weft_error *err);
void lattice_free(struct lattice *l);

#endif
