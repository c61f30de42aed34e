/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aggregate.h - how many blocks in each box, as an integer program
 *
 * Bytes between blocks that a layer parts cost that layer's price, so
 *
 *	cost = offset + sum over layers of price * bytes between its boxes.
 *
 * A box with s blocks sends at least boundary_least's bytes, half of which are
 * on its account.  The least sum over all sizes of all boxes, each box's size
 * the sum of its parts', is a lower bound of the cost; boxes of the innermost
 * layer that are alike count together.  Where it distinguishes blocks, too,
 *from one layer outwards, the bytes between its boxes are the true ones, and
 *the boundaries help to prove it.  Or every block belongs to one of all the
 *pieces that hang together and fit a box of the innermost layer, whose
 *boundaries are then true ones.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_AGGREGATE_H
#define WEFT_PLACEMENT_EXACT_AGGREGATE_H

#include "placement/exact/blocks.h"
#include "placement/exact/program.h"
#include "placement/mapping/graph.h"

#include <stdbool.h>

/* ---- sets of vertices that hang together ---- */

#define PIECES_MAX_SIZE 8

struct piece {
	uint32_t n;
	uint32_t vertex[PIECES_MAX_SIZE];
	double leaving; /* weight to the others */
};

struct pieces {
	uint32_t n, room;
	struct piece *piece;
};

/* All connected sets of up to `size` vertices, at most `limit`; *complete:
 * there are no more.  Free with pieces_free in either case. */
int pieces_list(const struct graph *g, uint32_t size, uint32_t limit,
		struct pieces *p, bool *complete, struct weft_error *err);
void pieces_free(struct pieces *p);

enum aggregate_detail {
	AGGREGATE_SIZES,  /* how many blocks in each box */
	AGGREGATE_PIECES, /* and in which pieces */
	AGGREGATE_TOLD	  /* and which block is in which of the outer boxes */
};

struct aggregate {
	const struct blocks *b;
	const double *least; /* boundary_least of b->g */
	/* cost >= offset + scale * value of the program */
	double offset, scale;
	double bytes;		/* one unit of its bytes */
	struct program program; /* without columns: offset is all */
	double price[BLOCKS_MAX_LAYERS];
	uint32_t n_kept, kept[BLOCKS_MAX_LAYERS]; /* layers with columns */
	uint32_t told;	   /* index into kept: told apart from there on; n_kept:
			    * nowhere */
	uint32_t *size_at; /* [n_boxes] column of size 0, or WEFT_NONE */
	uint32_t *like;	   /* [n_boxes] how many it stands for; 0: another
			    * stands for it */
	uint32_t *block_at; /* [n_boxes] column of block 0, or WEFT_NONE */
	enum aggregate_detail detail;
	struct pieces pieces;
	uint32_t piece_at; /* column of piece 0 */
};

/* *too_large: it was not built, because it has too many columns or nothing that
 * the detail adds.  -1 with err; free with aggregate_free in either case. */
int aggregate_build(const struct blocks *b, const double *least,
		    enum aggregate_detail detail, struct aggregate *a,
		    bool *too_large, struct weft_error *err);
void aggregate_free(struct aggregate *a);

/* Where it distinguishes blocks: the box of each block, in the innermost layer
 * where they are.  With pieces: the piece of each block. */
void aggregate_read(const struct aggregate *a, const double *x, uint32_t *of);

#endif
