/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filled.h - cliques that fill the lines of a lattice
 *
 * Private to lattice.c.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_FILLED_H
#define WEFT_PLACEMENT_BOUNDS_FILLED_H

#include "placement/bounds/lattice.h"

/* Cliques that are lines along one axis.  Pairs of an axis that have no loose
 * edge on any line are alike, so that the cliques alone tell of them; edges of
 * all others are in a graph, each at its lower end, what the clique adds to it
 * among them. */
struct filled {
	const struct cliques *t; /* NULL: there are none */
	uint32_t axis, size;
	bool first_line;	   /* is one */
	bool *loose;		   /* [size][size] a < b: pairs that have one */
	uint32_t n_loose;	   /* such pairs */
	uint32_t *first, *partner; /* their other ends, by coordinate */
	uint32_t *at;		   /* [n] coordinates along the axis */
	uint32_t *member;	   /* [t->n][size] of each, by coordinate */
	double least, sum; /* of a pair's weight, over all of the cliques */
	double most;
	struct graph rest;
};

/* Of a lattice whose coordinates are known; f->t is NULL where not all cliques
 * are lines of one axis.  Free with filled_free in either case. */
int filled_build(const struct lattice *l, const struct cliques *t,
		 struct filled *f, struct weft_error *err);
void filled_free(struct filled *f);

/* Of each pair in a clique, without loose edges. */
static inline double filled_weight(const struct filled *f, uint32_t clique)
{
	return 2 * f->t->t.cliques[clique].bytes;
}

/* Whether pairs of coordinates a < b have no loose edge on any line. */
static inline bool filled_alike(const struct filled *f, uint32_t a, uint32_t b)
{
	return !f->loose[a * f->size + b];
}

/* Appends such pairs to the edges of the first line along axis i; returns how
 * many.  cover: NULL, to count them. */
uint32_t filled_take(const struct filled *f, uint32_t i,
		     struct line_edge *cover);

#endif
