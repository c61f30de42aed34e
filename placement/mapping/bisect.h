/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bisect.h - a graph cut in two parts of given sizes
 *
 * The kernel of the mapper.  Passes of moves after Fiduccia and Mattheyses
 * (1982), with exact sizes and a linear term for what lies outside; from
 * nothing by contraction of heavy edges first (Hendrickson and Leland 1995).
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_BISECT_H
#define WEFT_PLACEMENT_MAPPING_BISECT_H

#include "base/error.h"
#include "placement/mapping/effort.h"

/* Cost: the weights of edges between the sides, plus bias[v] for each v on
 * side 1. */
struct piece {
	uint32_t n, n_edges; /* entries, two per edge */
	uint32_t *row;	     /* [n + 1] */
	uint32_t *peer;
	double *weight;
	uint32_t *size;
	double *bias;
	uint8_t *side;
	uint32_t *into; /* [n] vertex of the coarser piece */
};

/* Memory for pieces up to a size, and for the passes; allocated once. */
struct bisector {
	struct effort *effort;
	uint64_t looked; /* effort->work when last compared with the clock */
	bool spent;	 /* what that said */
	double epsilon;	 /* smaller differences are rounding */
	struct piece *pieces;
	uint32_t max_vertices, max_edges;
	uint32_t vertices_used, edges_used;
	uint32_t *row, *peer, *size, *into;
	double *weight, *bias;
	uint8_t *side;
	double *gain[2];     /* of the vertices on each side, else -inf */
	uint32_t *winner[2]; /* tournament trees over gain */
	uint32_t *moved, *order, *seen;
	uint8_t *kept;
};

/* Pieces of at most n vertices and n_edges entries.  Free in either case. */
int bisector_build(uint32_t n, uint32_t n_edges, struct bisector *s,
		   struct weft_error *err);
void bisector_free(struct bisector *s);

/* Some work was done since this was last true for *looked: time to look at the
 * clock. */
bool bisect_due(const struct effort *e, uint64_t *looked);
/* effort_spent() as it was when last due. */
bool bisector_spent(struct bisector *s);

/* An empty piece to be filled: row[0] is 0, size and side are unset. */
struct piece *bisector_piece(struct bisector *s);

/* Moves vertices until none of that kind helps; side 0 ends with exactly
 * `target` vertices, all of size 1.  Returns by how much the cost fell, or
 * negative where the sides had other sizes before. */
double bisect_refine(struct bisector *s, struct piece *p, uint32_t target);

/* Assigns all sides of the last piece from nothing, as bisect_refine leaves
 * them.  False: the effort ran out first. */
bool bisect_cut(struct bisector *s, uint32_t target);

#endif
