/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seating.c - which item sits on which slot of a tree */
#include "placement/mapping/seating.h"

#include <stdlib.h>
#include <string.h>

int seating_build(const struct graph *g, const struct tree *t,
		  struct seating *s, struct weft_error *err)
{
	memset(s, 0, sizeof(*s));
	s->g = g;
	s->t = t;
	s->slot_of = weft_calloc(g->n, sizeof(*s->slot_of), err);
	s->item_at = weft_calloc(g->n, sizeof(*s->item_at), err);
	s->bin_of = weft_calloc(g->n, sizeof(*s->bin_of), err);
	if (!s->slot_of || !s->item_at || !s->bin_of)
		return -1;
	for (uint32_t i = 0; i < g->n; i++)
		s->item_at[i] = i;
	seating_reseat(s);
	return 0;
}

void seating_free(struct seating *s)
{
	free(s->slot_of);
	free(s->item_at);
	free(s->bin_of);
	memset(s, 0, sizeof(*s));
}

double seating_cost(const struct seating *s)
{
	const struct graph *g = s->g;
	double sum = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				sum += g->weight[e] *
				       s->t->distance[tree_meet(
					       s->t, s->bin_of[v],
					       s->bin_of[g->peer[e]])];
	return sum;
}

void seating_reseat(struct seating *s)
{
	for (uint32_t i = 0; i < s->g->n; i++)
		seating_put(s, s->item_at[i], i);
	s->cost = seating_cost(s);
}

void seating_copy(const struct seating *from, struct seating *to)
{
	size_t size = from->g->n * sizeof(*from->slot_of);

	memcpy(to->slot_of, from->slot_of, size);
	memcpy(to->item_at, from->item_at, size);
	memcpy(to->bin_of, from->bin_of, size);
	to->cost = from->cost;
}
