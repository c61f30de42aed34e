/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.h - boxes in boxes: where each domain, node and GPU is drawn
 *
 * As fine as fits: GPUs where they are large enough to be seen, otherwise
 * nodes, otherwise the innermost domains that are.
 */
#ifndef WEFT_TOPOLOGY_DRAW_LAYOUT_H
#define WEFT_TOPOLOGY_DRAW_LAYOUT_H

#include "topology/fabric.h"

#include <stddef.h>

enum weft_box_kind {
	WEFT_BOX_FABRIC, /* the outermost, one */
	WEFT_BOX_DOMAIN, /* index: of fabric.domains */
	WEFT_BOX_NODE,	 /* of fabric.nodes */
	WEFT_BOX_GPU,
};

struct weft_box {
	enum weft_box_kind kind;
	uint32_t index;
	uint32_t parent; /* box around it; WEFT_NONE of the outermost */
	uint32_t end; /* the boxes inside it are those behind it up to this */
	uint32_t first_gpu, n_gpus;
	bool whole;	   /* what is inside it is not drawn apart */
	double x, y, w, h; /* px, from the top left corner of the picture */
	double head;	   /* height kept for its name at the top; 0: none */
	bool is_short;	   /* there is room for the short name only */
};

struct weft_layout {
	struct weft_box *boxes; /* [n] each in front of what is inside it */
	uint32_t n;
	double width, height;
	enum weft_box_kind finest; /* kind of the innermost boxes */
	uint32_t finest_level;	   /* where that is WEFT_BOX_DOMAIN */
	double gap;		   /* between boxes */
};

/* Lays a fabric out `width` px wide and, where it can, at most `height` high.
 * Free with weft_layout_free in either case. */
int weft_layout_build(const struct weft_fabric *f, double width, double height,
		      struct weft_layout *layout, struct weft_error *err);
void weft_layout_free(struct weft_layout *layout);

/* Letters of a name before what the leafs of a bundle differ in: 4 of
 * "leaf-rail[0-7]". */
size_t weft_short_name(const char *name);

/* What is directly inside a domain, a node or the fabric: index first and the
 * following n - 1.  Levels that group nothing (an NVLink domain that is one
 * node, one that is one GPU) are passed over. */
struct weft_inside {
	enum weft_box_kind kind;
	uint32_t first, n;
};
struct weft_inside weft_inside_of(const struct weft_fabric *f,
				  enum weft_box_kind kind, uint32_t index);

#endif
