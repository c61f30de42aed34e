/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.h - ranks that stay together, and the tree of boxes they can go into
 *
 * What the exact side works on: n blocks of `unit` ranks each, and every place
 * of the capacity that can take one.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_BLOCKS_H
#define WEFT_PLACEMENT_EXACT_BLOCKS_H

#include "placement/capacity/capacity.h"
#include "placement/mapping/graph.h"

/* GPU, NVLink domain inside a node, node, and the levels outside nodes. */
#define BLOCKS_MAX_LAYERS (3 + WEFT_MAX_LEVELS)

/* A part of the fabric that can take blocks. */
struct box {
	uint32_t parent;     /* box one layer up; WEFT_NONE at the top */
	uint32_t cap;	     /* blocks */
	uint32_t gpu;	     /* its first usable GPU */
	uint32_t n_required; /* nodes inside that must be used */
	uint32_t twin;	     /* the sibling before that differs in nothing
			      * but its name, or WEFT_NONE */
	uint64_t mask;	     /* bins: GPUs of the node */
	uint64_t shape;	     /* equal for boxes that are alike inside */
};

/* Boxes of one layer; its siblings are consecutive. */
struct layer {
	uint32_t first, n;
	uint32_t level;	 /* of the fabric; 0 for GPUs and NVLink domains */
	double distance; /* of blocks that meet in one of these boxes and not
			  * further in; the least there is */
};

struct blocks {
	const struct capacity *s;
	uint32_t n, unit;
	uint32_t *rank; /* [n * unit], a block's in ascending order */
	struct graph g; /* bytes between blocks */
	uint32_t n_boxes, n_layers;
	struct box *box;		       /* layer by layer */
	struct layer layer[BLOCKS_MAX_LAYERS]; /* bins first */
	uint32_t node_layer;   /* WEFT_NONE: NVLink domains of several nodes are
				* the bins, whatever their nodes give */
	uint32_t within_layer; /* all blocks in one box of it; WEFT_NONE */
	double base;	       /* cost of the bytes inside blocks, at least */
	/* Where GPUs differ by rail and blocks have several ranks, or where a
	 * switch reduces, true costs may be higher than those here. */
	bool exact;
};

/* group[r] < n is the block of rank r; all have as many ranks.  s: the capacity
 * of single GPUs.  Free with blocks_free in either case. */
int blocks_build(const struct capacity *s, const uint32_t *group, uint32_t n,
		 struct blocks *b, struct weft_error *err);
void blocks_free(struct blocks *b);

/* Bins are the boxes 0 .. n_bins - 1. */
static inline uint32_t blocks_bins(const struct blocks *b)
{
	return b->layer[0].n;
}

/* Distance of blocks in two bins, which may be the same one. */
double blocks_distance(const struct blocks *b, uint32_t bin, uint32_t other);

/* The box of a layer that a bin is in. */
uint32_t blocks_around(const struct blocks *b, uint32_t bin, uint32_t layer);

/* Writes where[] from the bin of each block. */
int blocks_spread(const struct blocks *b, const uint32_t *bin, uint32_t *where,
		  struct weft_error *err);

/* The bin of each block of a placement; false when a block is not in one. */
bool blocks_gather(const struct blocks *b, const uint32_t *where,
		   uint32_t *bin);

#endif
