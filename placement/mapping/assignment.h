/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assignment.h - which item sits on which slot of a tree, and its cost
 *
 * Items without traffic stand for slots that stay empty, so that there are as
 * many items as slots.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_ASSIGNMENT_H
#define WEFT_PLACEMENT_MAPPING_ASSIGNMENT_H

#include "placement/mapping/graph.h"
#include "placement/mapping/tree.h"

struct assignment {
	const struct graph *g; /* g->n is t->n_slots */
	const struct tree *t;
	uint32_t *slot_of; /* [n] */
	uint32_t *item_at; /* [n] */
	uint32_t *bin_of;  /* [n] of each item */
	double cost;
};

/* Item i on slot i.  Free with assignment_free in either case. */
int assignment_build(const struct graph *g, const struct tree *t,
		     struct assignment *s, struct weft_error *err);
void assignment_free(struct assignment *s);

/* Sum of weight * distance over all edges. */
double assignment_cost(const struct assignment *s);

/* item_at was rewritten: brings the rest into line. */
void assignment_reseat(struct assignment *s);
void assignment_copy(const struct assignment *from, struct assignment *to);

static inline void assignment_put(struct assignment *s, uint32_t item,
				  uint32_t slot)
{
	s->item_at[slot] = item;
	s->slot_of[item] = slot;
	s->bin_of[item] = s->t->bin[slot];
}

#endif
