/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assignment.c - which item sits on which slot of a tree */
#include "placement/mapping/assignment.h"

#include <stdlib.h>
#include <string.h>

int assignment_build(const struct graph *g, const struct tree *t,
		     struct assignment *s, struct weft_error *err)
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
	assignment_reseat(s);
	return 0;
}

void assignment_free(struct assignment *s)
{
	free(s->slot_of);
	free(s->item_at);
	free(s->bin_of);
	memset(s, 0, sizeof(*s));
}

double assignment_cost(const struct assignment *s)
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

void assignment_reseat(struct assignment *s)
{
	for (uint32_t i = 0; i < s->g->n; i++)
		assignment_put(s, s->item_at[i], i);
	s->cost = assignment_cost(s);
}

void assignment_copy(const struct assignment *from, struct assignment *to)
{
	size_t size = from->g->n * sizeof(*from->slot_of);

	memcpy(to->slot_of, from->slot_of, size);
	memcpy(to->item_at, from->item_at, size);
	memcpy(to->bin_of, from->bin_of, size);
	to->cost = from->cost;
}
