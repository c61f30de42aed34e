/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seating.h - which item sits on which slot of a tree, and its cost
 *
 * Items without traffic stand for slots that stay empty, so that there are as
 * many items as slots.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_SEATING_H
#define WEFT_PLACEMENT_MAPPING_SEATING_H

#include "placement/mapping/graph.h"
#include "placement/mapping/tree.h"

struct seating {
	const struct graph *g; /* g->n is t->n_slots */
	const struct tree *t;
	uint32_t *slot_of; /* [n] */
	uint32_t *item_at; /* [n] */
	uint32_t *bin_of;  /* [n] of each item */
	double cost;
};

/* Item i on slot i.  Free with seating_free in either case. */
int seating_build(const struct graph *g, const struct tree *t,
		  struct seating *s, struct weft_error *err);
void seating_free(struct seating *s);

/* Sum of weight * distance over all edges. */
double seating_cost(const struct seating *s);

/* item_at was rewritten: brings the rest into line. */
void seating_reseat(struct seating *s);
void seating_copy(const struct seating *from, struct seating *to);

static inline void seating_put(struct seating *s, uint32_t item, uint32_t slot)
{
	s->item_at[slot] = item;
	s->slot_of[item] = slot;
	s->bin_of[item] = s->t->bin[slot];
}

#endif
