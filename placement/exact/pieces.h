/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pieces.h - sets of vertices that hang together
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_PIECES_H
#define WEFT_PLACEMENT_EXACT_PIECES_H

#include "placement/mapping/graph.h"

#include <stdbool.h>

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

#endif
