/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_domains.c - the domains of all levels: bundles of leafs with their
 * hosts, and above them, tier by tier, what the switches of the tier join
 */
#include "base/sets.h"
#include "topology/hierarchy/cable_index.h"

/* The file takes nine levels; one is kept for what joins the rest. */
#define TIER_LEVELS 8

/* ---- bundles ---- */

static bool is_leaf(const struct index *w, uint32_t sw)
{
	return w->compute[sw] && w->tier[sw] == 1;
}

/* A host without a name may have GPUs. */
static bool is_of_use(const struct index *w, uint32_t host)
{
	return !w->s->hosts[host].no_gpus || index_unnamed(w, host);
}

/* What each host is attached to, as ties; hosts of which few cables are known,
 * or that are there for others, found no bundle, and leafs of theirs alone are
 * none. */
static int bundles_gather(struct index *w, struct grouping *g, bool *weak,
			  bool *useful)
{
	uint32_t usual;

	g->n_items = w->s->n_hosts;
	g->n_keys = w->s->n_switches;
	g->weak = weak;
	if (INDEX_ARRAY(w, g->ties, w->n_ups) || index_cables_usual(w, &usual))
		return -1;
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		uint32_t n = w->first_up[h + 1] - w->first_up[h];

		weak[h] = 2 * n <= usual || w->s->hosts[h].no_gpus ||
			  index_unnamed(w, h);
	}
	for (uint32_t i = 0; i < w->n_ups; i++)
		useful[w->ups[i].sw] |= is_of_use(w, w->ups[i].host);
	for (uint32_t i = 0; i < w->n_ups; i++)
		if (is_leaf(w, w->ups[i].sw) && useful[w->ups[i].sw])
			g->ties[g->n_ties++] = (struct grouping_tie){
				w->ups[i].host, w->order[w->ups[i].sw], 1};
	return 0;
}

/* Domains of one level out of groups: one for each, in their order; what each
 * is goes to domain[group]. */
static int groups_add(struct index *w, const struct grouping *g, uint32_t level,
		      uint32_t *domain)
{
	uint32_t *ranks, *first;

	if (INDEX_ARRAY(w, ranks, g->n_keys) ||
	    INDEX_ARRAY(w, first, (size_t)g->n_groups + 2))
		return -1;
	/* keys sorted by group, by counting */
	for (uint32_t k = 0; k < g->n_keys; k++)
		if (g->key_group[k] != WEFT_NONE)
			first[g->key_group[k] + 2]++;
	for (uint32_t i = 0; i < g->n_groups; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t k = 0; k < g->n_keys; k++)
		if (g->key_group[k] != WEFT_NONE)
			ranks[first[g->key_group[k] + 1]++] = k;
	for (uint32_t i = 0; i < g->n_groups; i++) {
		if (first[i] == first[i + 1])
			continue; /* was joined to another */
		domain[i] = index_domain(w, level, ranks + first[i],
					 first[i + 1] - first[i]);
		if (domain[i] == WEFT_NONE)
			return -1;
	}
	for (uint32_t k = 0; k < g->n_keys; k++)
		if (g->key_group[k] != WEFT_NONE)
			w->hierarchy->switch_domain[w->by_rank[k]] =
				domain[g->key_group[k]];
	return 0;
}

static int bundles_build(struct index *w)
{
	struct grouping g = {.memory = &w->memory, .err = w->err};
	bool *weak, *useful;
	uint32_t *domain;

	if (INDEX_ARRAY(w, weak, w->s->n_hosts) ||
	    INDEX_ARRAY(w, useful, w->s->n_switches) ||
	    INDEX_ARRAY(w, domain, w->s->n_switches) ||
	    bundles_gather(w, &g, weak, useful) || grouping_run(&g) ||
	    groups_add(w, &g, 0, domain))
		return -1;
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		if (g.item_group[h] == WEFT_NONE)
			continue;
		w->bundle[h] = domain[g.item_group[h]];
		w->hierarchy->host_domain[h] = w->bundle[h];
	}
	w->hierarchy->n_levels = g.n_groups > 0;
	return 0;
}

/* ---- one tier ---- */

/* Domains that nothing contains, numbered as items. */
struct tops {
	uint32_t *item; /* [domain] of its root, or WEFT_NONE */
	uint32_t *root; /* [item] */
	uint32_t n;
};

static int tops_list(struct index *w, struct tops *tops)
{
	uint32_t n = w->hierarchy->n_domains;

	tops->n = 0;
	if (INDEX_ARRAY(w, tops->item, n) || INDEX_ARRAY(w, tops->root, n))
		return -1;
	weft_fill_none(tops->item, n);
	for (uint32_t d = 0; d < n; d++)
		if (w->hierarchy->domains[d].parent == WEFT_NONE) {
			tops->root[tops->n] = d;
			tops->item[d] = tops->n++;
		}
	for (uint32_t d = 0; d < n; d++)
		tops->item[d] = tops->item[index_root(w->hierarchy, d)];
	return 0;
}

static uint32_t top_of(const struct index *w, const struct tops *tops,
		       uint32_t sw)
{
	uint32_t domain = w->hierarchy->switch_domain[sw];

	return domain == WEFT_NONE ? WEFT_NONE : tops->item[domain];
}

/* Cables from what is there to the switches of the tier. */
static int tier_gather(struct index *w, const struct tops *tops, uint32_t tier,
		       struct grouping *g)
{
	g->n_items = tops->n;
	g->n_keys = w->s->n_switches;
	if (INDEX_ARRAY(w, g->ties, w->n_peers))
		return -1;
	for (uint32_t sw = 0; sw < w->s->n_switches; sw++) {
		if (!w->compute[sw] || w->tier[sw] != tier)
			continue;
		for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1];
		     p++) {
			uint32_t peer = w->peers[p].sw;
			uint32_t item = w->tier[peer] < tier
						? top_of(w, tops, peer)
						: WEFT_NONE;

			if (item != WEFT_NONE)
				g->ties[g->n_ties++] = (struct grouping_tie){
					item, w->order[sw], w->peers[p].n};
		}
	}
	return 0;
}

/* Whether anything further up could still join each group. */
static void groups_look_up(const struct index *w, const struct grouping *g,
			   uint32_t tier, bool *open)
{
	for (uint32_t k = 0; k < g->n_keys; k++) {
		uint32_t sw = w->by_rank[k];

		if (g->key_group[k] == WEFT_NONE)
			continue;
		for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1];
		     p++)
			if (w->tier[w->peers[p].sw] > tier)
				open[g->key_group[k]] = true;
	}
}

/* Groups that no tier above can join are one if any cable joins them; a group
 * to which no item went goes where its cables come from. */
static int groups_close(struct index *w, struct grouping *g, uint32_t tier)
{
	uint32_t *to, *items;
	bool *open;

	if (INDEX_ARRAY(w, open, g->n_groups) ||
	    INDEX_ARRAY(w, to, g->n_groups) ||
	    INDEX_ARRAY(w, items, g->n_groups))
		return -1;
	groups_look_up(w, g, tier, open);
	weft_sets_start(to, g->n_groups);
	for (uint32_t i = 0; i < g->n_items; i++)
		if (g->item_group[i] != WEFT_NONE)
			items[g->item_group[i]]++;
	for (uint32_t t = 0; t < g->n_ties; t++) {
		uint32_t a = g->item_group[g->ties[t].item];
		uint32_t b = g->key_group[g->ties[t].key];

		if (a == b || (items[b] && (open[a] || open[b])))
			continue;
		weft_sets_join(to, a, b);
	}
	for (uint32_t i = 0; i < g->n_items; i++)
		if (g->item_group[i] != WEFT_NONE)
			g->item_group[i] = weft_sets_find(to, g->item_group[i]);
	for (uint32_t k = 0; k < g->n_keys; k++)
		if (g->key_group[k] != WEFT_NONE)
			g->key_group[k] = weft_sets_find(to, g->key_group[k]);
	return 0;
}

/* ---- cables that lead elsewhere ---- */

static uint32_t cables_up(const struct index *w, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1]; p++)
		if (w->tier[w->peers[p].sw] > w->tier[sw])
			n += w->peers[p].n;
	return n;
}

/* Tells the switch that has few of its cables at one to which its siblings have
 * none. */
static int stray_note(struct index *w, uint32_t sw, uint32_t key, uint32_t n,
		      uint32_t cable)
{
	struct index_at at = {
		.name = w->s->switches[sw].name,
		.where = w->s->cables[cable].where,
		.weight = cables_up(w, sw),
	};

	return index_note(w, WEFT_FINDING_CABLE_MOVED, at,
			  "%u of its %u uplinks lead%s to %s, to which no "
			  "switch beside it has a cable",
			  n, cables_up(w, sw), n == 1 ? "s" : "",
			  w->s->switches[key].name);
}

static int strays_note(struct index *w, const struct tops *tops,
		       const struct grouping *g, uint32_t tier)
{
	for (uint32_t k = 0; k < g->n_keys; k++) {
		uint32_t sw = w->by_rank[k];

		if (g->key_group[k] == WEFT_NONE)
			continue;
		for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1];
		     p++) {
			const struct wire_peer *peer = &w->peers[p];
			uint32_t item = w->tier[peer->sw] < tier
						? top_of(w, tops, peer->sw)
						: WEFT_NONE;

			if (item == WEFT_NONE ||
			    g->item_group[item] == g->key_group[k])
				continue;
			if (stray_note(w, peer->sw, sw, peer->n, peer->cable))
				return -1;
		}
	}
	return 0;
}

/* ---- levels ---- */

/* Switches of a tier that joins nothing are more of what they are attached to.
 */
static void tier_absorb(struct index *w, const struct tops *tops,
			const struct grouping *g)
{
	for (uint32_t t = 0; t < g->n_ties; t++) {
		uint32_t sw = w->by_rank[g->ties[t].key];

		if (g->item_group[g->ties[t].item] ==
		    g->key_group[g->ties[t].key])
			w->hierarchy->switch_domain[sw] =
				tops->root[g->ties[t].item];
	}
}

static bool groups_join(const struct grouping *g, bool *seen)
{
	for (uint32_t i = 0; i < g->n_items; i++) {
		uint32_t group = g->item_group[i];

		if (group == WEFT_NONE)
			continue;
		if (seen[group])
			return true;
		seen[group] = true;
	}
	return false;
}

static int tier_level(struct index *w, const struct tops *tops,
		      const struct grouping *g)
{
	uint32_t *domain;
	bool *seen;

	if (INDEX_ARRAY(w, domain, g->n_groups) ||
	    INDEX_ARRAY(w, seen, g->n_groups))
		return -1;
	if (!groups_join(g, seen)) {
		tier_absorb(w, tops, g);
		return 0;
	}
	if (groups_add(w, g, w->hierarchy->n_levels++, domain))
		return -1;
	for (uint32_t i = 0; i < g->n_items; i++)
		if (g->item_group[i] != WEFT_NONE)
			w->hierarchy->domains[tops->root[i]].parent =
				domain[g->item_group[i]];
	return 0;
}

static int tier_build(struct index *w, uint32_t tier)
{
	struct grouping g = {.memory = &w->memory, .err = w->err};
	struct tops tops;

	if (tops_list(w, &tops) || tier_gather(w, &tops, tier, &g) ||
	    grouping_run(&g) || groups_close(w, &g, tier) ||
	    strays_note(w, &tops, &g, tier))
		return -1;
	return tier_level(w, &tops, &g);
}

int index_domains(struct index *w)
{
	if (bundles_build(w))
		return -1;
	for (uint32_t t = 2; t <= w->n_tiers; t++)
		if (w->hierarchy->n_levels < TIER_LEVELS && tier_build(w, t))
			return -1;
	return index_roots(w);
}
