/* SPDX-License-Identifier: GPL-3.0-or-later */
/* excess.h - what sets of ranks send out beyond a price per rank
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_EXCESS_H
#define WEFT_PLACEMENT_EXACT_EXCESS_H

#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"

struct excess {
	const struct graph *g;
	const uint32_t *block; /* [g->n] the block of each vertex */
	uint32_t unit;	       /* vertices of a block */
	uint32_t most;	       /* vertices of a set */
	double price;	       /* per vertex */
	double enough;	       /* no need to know it beyond this */
};

/* The least of bytes that leave a set less its price, over the sets of at most
 * `most` vertices that do not consist of whole blocks, or `enough` where it is
 * more.  Holds for the price at which no set of whole blocks has less than
 * nothing.  Spends e->work of one for each set looked at; *complete: all were
 * looked at or ruled out. */
int excess_least(const struct excess *x, struct effort *e, double *least,
		 bool *complete, struct weft_error *err);

#endif
