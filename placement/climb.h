/* SPDX-License-Identifier: GPL-3.0-or-later */
/* climb.h - a seating improved, from one local optimum to the next
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_CLIMB_H
#define WEFT_PLACEMENT_CLIMB_H

#include "placement/exchange.h"
#include "placement/multisection.h"

/* One granularity of the problem, with all that its search needs. */
struct climb {
	const struct graph *g; /* g->n is t->n_slots */
	const struct tree *t;
	struct seating now, best;
	struct splitter splitter;
	struct exchange exchange;
	struct multisection multisection;
	uint32_t *region; /* [n_bins] */
	bool *inside;	  /* [n_bins] */
};

/* Free with climb_free in either case.  Keeps pointers to itself: never move
 * it. */
int climb_build(const struct graph *g, const struct tree *t, uint32_t n_items,
		struct effort *effort, struct climb *c, struct weft_error *err);
void climb_free(struct climb *c);

/* From nothing.  False: the effort ran out, and c->now means nothing. */
bool climb_restart(struct climb *c);
/* To a local optimum of exchanges between two bins, then by random ones until
 * `patience` in a row found nothing.  All of c->now only ever falls. */
void climb_descend(struct climb *c, uint32_t patience);
/* Deals the items of some neighbouring bins out anew; keeps what is not worse.
 * True if the cost fell. */
bool climb_shake(struct climb *c);
/* Whole domains exchanged, from the lowest to the highest.  True if the cost
 * fell; -1 for lack of memory. */
int climb_raise(struct climb *c, uint32_t patience, struct weft_error *err);

#endif
