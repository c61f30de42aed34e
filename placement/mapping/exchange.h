/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.h - items of two bins exchanged for the better
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_EXCHANGE_H
#define WEFT_PLACEMENT_MAPPING_EXCHANGE_H

#include "placement/mapping/assignment.h"
#include "placement/mapping/bisect.h"

struct exchange {
	struct assignment *assignment;
	struct bisector *bisector;
	uint32_t *slots; /* [n] of the two bins, that may be exchanged */
	uint32_t *local; /* [n] index of each item in the piece */
	uint32_t *queue; /* [n_bins] ring: bins with new items */
	bool *queued;	 /* [n_bins] */
	uint32_t *seen;	 /* [n_bins] bins met around one, by stamp */
	uint32_t *around;
	uint32_t head, n_queued, stamp;
};

enum exchange_mode {
	EXCHANGE_REFINE,  /* from the present arrangement */
	EXCHANGE_PERTURB, /* after a few random swaps */
	EXCHANGE_REGROW,  /* from a random item */
};

/* Free with exchange_free in either case. */
int exchange_build(struct assignment *assignment, struct bisector *bisector,
		   struct exchange *x, struct weft_error *err);
void exchange_free(struct exchange *x);

/* Splits the items on slots of a kind in bins a and b anew; keeps the result
 * if the cost grows by no more than `tolerance`.  True if the cost fell.
 * Changed bins are queued. */
bool exchange_pair(struct exchange *x, uint32_t a, uint32_t b, uint32_t kind,
		   enum exchange_mode mode, double tolerance);

void exchange_queue(struct exchange *x, uint32_t bin);
/* Refines every pair with a queued bin and edges between them until none gains.
 * False: the effort ran out. */
bool exchange_settle(struct exchange *x);
/* Takes all out of the queue. */
void exchange_forget(struct exchange *x);

#endif
