/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grouping.c - items that are attached to the same keys form a group
 *
 * Hosts and leafs, leafs and spines, pods and cores: each the same question.  A
 * union of everything that is linked would let one cable in the wrong port make
 * two groups one; so sets of keys that many items share found the groups, and
 * items with other sets join the group that they have most cables to.
 */
#include "base/compare.h"
#include "base/sets.h"
#include "topology/hierarchy/cable_index.h"

#include <stdlib.h>

/* Items with the same keys. */
struct set {
	const struct grouping_tie *tie;
	uint32_t n_ties, count;
	uint64_t cables;
	bool weak;
	uint32_t group; /* that with most of its cables, or WEFT_NONE */
};

/* Sets of keys in two groups at once: together they weigh so much. */
struct straddle {
	uint32_t a, b;
	double weight;
};

struct work {
	struct grouping *g;
	uint32_t *first; /* [n_items + 1] ties */
	struct set *sets;
	uint32_t n_sets;
	uint32_t *parent;   /* [group] union-find */
	uint32_t *faithful; /* [group] items wholly inside */
	uint64_t *overlap;  /* [group] scratch: cables of the set at hand */
	uint32_t *touched;  /* scratch: groups with some */
	uint32_t n_groups;
	struct straddle *straddles;
	uint32_t n_straddles, straddles_room;
};

WEFT_COMPARATOR(compare_ties, struct grouping_tie, WEFT_UP(item) WEFT_UP(key));

static void ties_merge(struct grouping *g)
{
	uint32_t kept = 0;

	WEFT_SORT(g->ties, g->n_ties, compare_ties);
	for (uint32_t i = 0; i < g->n_ties; i++) {
		if (kept && compare_ties(&g->ties[kept - 1], &g->ties[i]) == 0)
			g->ties[kept - 1].n += g->ties[i].n;
		else
			g->ties[kept++] = g->ties[i];
	}
	g->n_ties = kept;
}

/* ---- sets of keys ---- */

static int compare_keys(const struct set *a, const struct set *b)
{
	for (uint32_t i = 0; i < a->n_ties && i < b->n_ties; i++)
		if (a->tie[i].key != b->tie[i].key)
			return a->tie[i].key < b->tie[i].key ? -1 : 1;
	return (a->n_ties > b->n_ties) - (a->n_ties < b->n_ties);
}

WEFT_COMPARATOR(compare_sets_keys, struct set,
		WEFT_BY(compare_keys) WEFT_UP(weak));

/* What most cables speak for comes first. */
WEFT_COMPARATOR(compare_sets_weight, struct set,
		WEFT_UP(weak) WEFT_DOWN(cables) WEFT_DOWN(n_ties)
			WEFT_BY(compare_keys));

static void sets_list(struct work *w)
{
	const struct grouping *g = w->g;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->n_items; i++) {
		struct set set = {
			.tie = g->ties + w->first[i],
			.n_ties = w->first[i + 1] - w->first[i],
			.count = 1,
			.weak = g->weak && g->weak[i],
			.group = WEFT_NONE,
		};

		for (uint32_t k = 0; k < set.n_ties; k++)
			set.cables += set.tie[k].n;
		if (set.n_ties)
			w->sets[w->n_sets++] = set;
	}
	WEFT_SORT(w->sets, w->n_sets, compare_sets_keys);
	for (uint32_t i = 0; i < w->n_sets; i++) {
		if (kept &&
		    compare_sets_keys(&w->sets[kept - 1], &w->sets[i]) == 0) {
			w->sets[kept - 1].count++;
			w->sets[kept - 1].cables += w->sets[i].cables;
		} else {
			w->sets[kept++] = w->sets[i];
		}
	}
	w->n_sets = kept;
	WEFT_SORT(w->sets, kept, compare_sets_weight);
}

/* ---- groups ---- */

static bool is_free(const struct work *w, const struct set *set)
{
	for (uint32_t k = 0; k < set->n_ties; k++)
		if (w->g->key_group[set->tie[k].key] != WEFT_NONE)
			return false;
	return true;
}

static void set_found(struct work *w, struct set *set)
{
	set->group = w->n_groups;
	w->parent[w->n_groups] = w->n_groups;
	for (uint32_t k = 0; k < set->n_ties; k++)
		w->g->key_group[set->tie[k].key] = w->n_groups;
	w->n_groups++;
}

/* Cables of a set by group, into overlap; the groups into touched, the one with
 * most cables first.  Their number. */
static uint32_t overlaps(struct work *w, const struct set *set)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < set->n_ties; k++) {
		uint32_t group = w->g->key_group[set->tie[k].key];

		if (group == WEFT_NONE)
			continue;
		group = weft_sets_find(w->parent, group);
		if (!w->overlap[group])
			w->touched[n++] = group;
		w->overlap[group] += set->tie[k].n;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t group = w->touched[i], best = w->touched[0];

		if (w->overlap[group] > w->overlap[best] ||
		    (w->overlap[group] == w->overlap[best] && group < best)) {
			w->touched[0] = group;
			w->touched[i] = best;
		}
	}
	return n;
}

static int straddle_add(struct work *w, uint32_t a, uint32_t b, double weight)
{
	if (WEFT_GROW(w->straddles, w->n_straddles, w->straddles_room,
		      w->g->err))
		return -1;
	w->straddles[w->n_straddles++] = (struct straddle){
		.a = a < b ? a : b,
		.b = a < b ? b : a,
		.weight = weight,
	};
	return 0;
}

/* A set that shares keys with groups: to the best of them, with those of its
 * keys that no host has.  The others are straddled: by half of its cables or
 * more weighs a whole item, less in proportion. */
static int set_join(struct work *w, struct set *set)
{
	uint32_t n = overlaps(w, set);
	uint64_t all = 0;
	int rc = 0;

	set->group = w->touched[0];
	for (uint32_t i = 0; i < n; i++)
		all += w->overlap[w->touched[i]];
	if (n == 1)
		w->faithful[set->group] += set->count;
	for (uint32_t i = 1; rc == 0 && i < n; i++) {
		double share =
			2.0 * (double)w->overlap[w->touched[i]] / (double)all;

		rc = straddle_add(w, set->group, w->touched[i],
				  set->count * (share < 1 ? share : 1));
	}
	for (uint32_t k = 0; k < set->n_ties; k++)
		if (w->g->key_group[set->tie[k].key] == WEFT_NONE)
			w->g->key_group[set->tie[k].key] = set->group;
	for (uint32_t i = 0; i < n; i++)
		w->overlap[w->touched[i]] = 0;
	return rc;
}

WEFT_COMPARATOR(compare_straddles, struct straddle, WEFT_UP(a) WEFT_UP(b));

/* Groups that about half of the items of the smaller straddle are one. */
static void straddles_merge(struct work *w)
{
	uint32_t end;

	WEFT_SORT(w->straddles, w->n_straddles, compare_straddles);
	for (uint32_t i = 0; i < w->n_straddles; i = end) {
		const struct straddle *s = &w->straddles[i];
		uint32_t least = w->faithful[s->a] < w->faithful[s->b]
					 ? w->faithful[s->a]
					 : w->faithful[s->b];
		double weight = 0;

		for (end = i; end < w->n_straddles &&
			      compare_straddles(s, &w->straddles[end]) == 0;
		     end++)
			weight += w->straddles[end].weight;
		if (weight > 0.5 * least + 0.5)
			weft_sets_join(w->parent, s->a, s->b);
	}
}

/* ---- results ---- */

static void groups_number(struct work *w)
{
	struct grouping *g = w->g;
	uint32_t *number = w->touched; /* [n_groups], no longer needed */

	weft_fill_none(number, w->n_groups);
	for (uint32_t k = 0; k < g->n_keys; k++) {
		uint32_t root;

		if (g->key_group[k] == WEFT_NONE)
			continue;
		root = weft_sets_find(w->parent, g->key_group[k]);
		if (number[root] == WEFT_NONE)
			number[root] = g->n_groups++;
		g->key_group[k] = number[root];
	}
}

/* Each item to the group with most of its cables. */
static void items_assign(struct work *w)
{
	struct grouping *g = w->g;

	for (uint32_t i = 0; i < g->n_items; i++) {
		uint64_t best = 0;

		g->item_group[i] = WEFT_NONE;
		for (uint32_t t = w->first[i]; t < w->first[i + 1]; t++)
			w->overlap[g->key_group[g->ties[t].key]] +=
				g->ties[t].n;
		for (uint32_t t = w->first[i]; t < w->first[i + 1]; t++) {
			uint32_t group = g->key_group[g->ties[t].key];

			if (w->overlap[group] > best ||
			    (w->overlap[group] == best &&
			     group < g->item_group[i])) {
				best = w->overlap[group];
				g->item_group[i] = group;
			}
		}
		for (uint32_t t = w->first[i]; t < w->first[i + 1]; t++)
			w->overlap[g->key_group[g->ties[t].key]] = 0;
	}
}

static int work_alloc(struct work *w)
{
	struct grouping *g = w->g;
	/* Each group has a key of its own. */
	uint32_t n = g->n_keys;

	if (WEFT_ARRAY(w->first, (size_t)g->n_items + 1, g->memory, g->err) ||
	    WEFT_ARRAY(w->sets, g->n_items, g->memory, g->err) ||
	    WEFT_ARRAY(w->parent, n, g->memory, g->err) ||
	    WEFT_ARRAY(w->faithful, n, g->memory, g->err) ||
	    WEFT_ARRAY(w->overlap, n, g->memory, g->err) ||
	    WEFT_ARRAY(w->touched, n, g->memory, g->err) ||
	    WEFT_ARRAY(g->item_group, g->n_items, g->memory, g->err) ||
	    WEFT_ARRAY(g->key_group, n, g->memory, g->err))
		return -1;
	weft_fill_none(g->key_group, g->n_keys);
	return 0;
}

static int sets_group(struct work *w)
{
	for (uint32_t i = 0; i < w->n_sets; i++) {
		struct set *set = &w->sets[i];

		if (set->weak || !is_free(w, set))
			continue;
		set_found(w, set);
		w->faithful[set->group] = set->count;
	}
	for (uint32_t i = 0; i < w->n_sets; i++) {
		struct set *set = &w->sets[i];

		if (set->group != WEFT_NONE)
			continue;
		if (is_free(w, set)) {
			set_found(w, set);
			w->faithful[set->group] = set->count;
		} else if (set_join(w, set)) {
			return -1;
		}
	}
	straddles_merge(w);
	return 0;
}

int grouping_run(struct grouping *g)
{
	struct work w = {.g = g};
	int rc;

	if (work_alloc(&w))
		return -1;
	ties_merge(g);
	for (uint32_t t = 0; t < g->n_ties; t++)
		w.first[g->ties[t].item + 1]++;
	for (uint32_t i = 0; i < g->n_items; i++)
		w.first[i + 1] += w.first[i];
	sets_list(&w);
	rc = sets_group(&w);
	free(w.straddles);
	if (rc)
		return -1;
	groups_number(&w);
	items_assign(&w);
	return 0;
}
