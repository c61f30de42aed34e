/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coarse_level.c - a mapping problem with its ranks in groups of one size */
#include "placement/mapping/coarse_level.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static int index_members(struct coarse_level *st, struct weft_error *err)
{
	const struct coarsening *c = st->groups;
	uint32_t *at;

	st->first_member = weft_calloc(c->n_groups + 2, sizeof(*at), err);
	st->member = weft_calloc(st->g->n, sizeof(*at), err);
	if (!st->first_member || !st->member)
		return -1;
	at = st->first_member + 1;
	for (uint32_t v = 0; v < st->g->n; v++)
		at[c->of[v] + 1]++;
	for (uint32_t i = 1; i <= c->n_groups; i++)
		at[i] += at[i - 1];
	/* each entry ends where its group does, which is where the next one
	 * begins: so the table is right one place earlier */
	for (uint32_t v = 0; v < st->g->n; v++)
		st->member[at[c->of[v]]++] = v;
	return 0;
}

static uint32_t site_of_slot(const struct coarse_level *st, uint32_t slot)
{
	slot = st->tree.site[slot];
	return st->raised ? st->below.site[slot] : slot;
}

/* Slots of single groups in bins of one slot each say nothing: then the bins
 * above are the lowest. */
static int build_tree(struct coarse_level *st, struct weft_error *err)
{
	uint32_t slot = 0;

	st->slot_at = weft_calloc(st->s->n, sizeof(*st->slot_at), err);
	if (!st->slot_at || tree_build(st->s, st->groups->size, &st->tree, err))
		return -1;
	if (st->tree.n_bins == st->tree.n_slots && st->tree.height > 1) {
		st->below = st->tree;
		st->raised = true;
		if (tree_raise(&st->below, &st->tree, err))
			return -1;
	}
	for (uint32_t site = 0; site < st->s->n; site++) {
		while (slot + 1 < st->tree.n_slots &&
		       site_of_slot(st, slot + 1) <= site)
			slot++;
		st->slot_at[site] = slot;
	}
	return 0;
}

int coarse_level_build(const struct graph *g, const struct sites *s,
		       const struct coarsening *groups, struct effort *effort,
		       struct coarse_level *st, struct weft_error *err)
{
	memset(st, 0, sizeof(*st));
	st->g = g;
	st->s = s;
	st->groups = groups;
	if (index_members(st, err) || build_tree(st, err) ||
	    graph_contract(g, groups->of, st->tree.n_slots, &st->items, err))
		return -1;
	return local_search_build(&st->items, &st->tree, effort,
				  &st->local_search, err);
}

void coarse_level_free(struct coarse_level *st)
{
	local_search_free(&st->local_search);
	graph_free(&st->items);
	tree_free(&st->tree);
	tree_free(&st->below);
	free(st->first_member);
	free(st->member);
	free(st->slot_at);
	memset(st, 0, sizeof(*st));
}

void coarse_level_read(struct coarse_level *st, const uint32_t *site_of)
{
	struct assignment *now = &st->local_search.now;
	const struct tree *t = &st->tree;
	uint32_t next = 0;

	memset(now->item_at, 0xff, t->n_slots * sizeof(*now->item_at));
	memset(now->slot_of, 0xff, t->n_slots * sizeof(*now->slot_of));
	for (uint32_t i = 0; i < st->groups->n_groups; i++) {
		uint32_t rank = st->member[st->first_member[i]];
		uint32_t bin = t->bin[st->slot_at[site_of[rank]]];

		for (uint32_t k = t->first[bin]; k < t->first[bin + 1]; k++) {
			if (now->item_at[k] != NONE)
				continue;
			assignment_put(now, i, k);
			break;
		}
	}
	for (uint32_t i = 0; i < t->n_slots; i++) {
		if (now->slot_of[i] != NONE)
			continue;
		while (now->item_at[next] != NONE)
			next++;
		assignment_put(now, i, next);
	}
	now->cost = assignment_cost(now);
}

double coarse_level_cost(const struct coarse_level *st)
{
	const struct tree *lowest = st->raised ? &st->below : &st->tree;

	return st->local_search.now.cost +
	       st->items.inside * lowest->distance[0];
}

void coarse_level_write(const struct coarse_level *st,
			const struct assignment *from, uint32_t *site_of)
{
	for (uint32_t i = 0; i < st->groups->n_groups; i++) {
		uint32_t site = site_of_slot(st, from->slot_of[i]);

		for (uint32_t k = st->first_member[i];
		     k < st->first_member[i + 1]; k++)
			site_of[st->member[k]] = site++;
	}
}
