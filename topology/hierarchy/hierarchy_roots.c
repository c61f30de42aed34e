/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_roots.c - what is left when all tiers have joined what they join:
 * groups linked side by side, leafs that are cut off, hosts on spines
 */
#include "base/sets.h"
#include "topology/hierarchy/cable_index.h"

#include <ctype.h>
#include <stdio.h>

/* ---- linked side by side ---- */

/* Classes of roots that any cable links; the number of links between different
 * roots. */
static uint32_t classes_find(const struct index *w, uint32_t *class)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t links = 0;

	weft_sets_start(class, hierarchy->n_domains);
	for (uint32_t sw = 0; sw < w->s->n_switches; sw++) {
		uint32_t a =
			index_root(hierarchy, hierarchy->switch_domain[sw]);

		if (a == WEFT_NONE)
			continue;
		for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1];
		     p++) {
			uint32_t b = index_root(
				hierarchy,
				hierarchy->switch_domain[w->peers[p].sw]);

			if (b == WEFT_NONE || a == b)
				continue;
			links++;
			weft_sets_join(class, a, b);
		}
	}
	return links;
}

/* Each class of several roots becomes a domain of one more level. */
static int classes_join(struct index *w, uint32_t *class)
{
	struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t n = hierarchy->n_domains, level = hierarchy->n_levels++;
	uint32_t *domain, *size;

	if (INDEX_ARRAY(w, domain, n) || INDEX_ARRAY(w, size, n))
		return -1;
	for (uint32_t d = 0; d < n; d++)
		if (hierarchy->domains[d].parent == WEFT_NONE)
			size[weft_sets_find(class, d)]++;
	for (uint32_t d = 0; d < n; d++) {
		domain[d] = size[d] > 1 ? index_domain(w, level, NULL, 0)
					: WEFT_NONE;
		if (size[d] > 1 && domain[d] == WEFT_NONE)
			return -1;
	}
	for (uint32_t d = 0; d < n; d++)
		if (hierarchy->domains[d].parent == WEFT_NONE)
			hierarchy->domains[d].parent =
				domain[weft_sets_find(class, d)];
	return 0;
}

static int sides_join(struct index *w)
{
	uint32_t *class;

	if (INDEX_ARRAY(w, class, w->hierarchy->n_domains))
		return -1;
	return classes_find(w, class) ? classes_join(w, class) : 0;
}

/* ---- leafs that are cut off ---- */

/* The same name but for its digits. */
static bool names_alike(const char *a, const char *b)
{
	for (;;) {
		while (isdigit((unsigned char)*a))
			a++;
		while (isdigit((unsigned char)*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
		a++;
		b++;
	}
}

struct orphans {
	struct index *w;
	uint32_t *first_host; /* [domain] of level 0 */
	uint32_t *n_hosts;    /* [domain] below it; of roots, all */
	uint32_t main;	      /* root with most hosts, or WEFT_NONE */
};

static void hosts_count(struct orphans *o)
{
	const struct weft_hierarchy *hierarchy = o->w->hierarchy;
	uint32_t most = 0;

	o->main = WEFT_NONE;
	weft_fill_none(o->first_host, hierarchy->n_domains);
	for (uint32_t h = 0; h < o->w->s->n_hosts; h++)
		for (uint32_t d = hierarchy->host_domain[h]; d != WEFT_NONE;
		     d = hierarchy->domains[d].parent) {
			o->n_hosts[d]++;
			if (o->first_host[d] == WEFT_NONE)
				o->first_host[d] = h;
		}
	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		if (hierarchy->domains[d].parent == WEFT_NONE &&
		    hierarchy->domains[d].level > 0 && o->n_hosts[d] > most) {
			most = o->n_hosts[d];
			o->main = d;
		}
}

/* Its hosts are called like some of the fabric's. */
static bool is_of_main(const struct orphans *o, uint32_t domain)
{
	const struct weft_inventory *s = o->w->s;
	const struct weft_hierarchy *hierarchy = o->w->hierarchy;
	uint32_t mine = o->first_host[domain];

	if (mine == WEFT_NONE)
		return false;
	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		if (hierarchy->domains[d].level == 0 && d != domain &&
		    o->first_host[d] != WEFT_NONE &&
		    index_root(hierarchy, d) == o->main &&
		    names_alike(s->hosts[o->first_host[d]].name,
				s->hosts[mine].name))
			return true;
	return false;
}

static int orphan_take(struct orphans *o, uint32_t sw)
{
	struct index *w = o->w;
	struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t domain = hierarchy->switch_domain[sw];
	uint32_t root = index_root(hierarchy, domain);

	if (root != o->main) {
		if (root != domain || !is_of_main(o, domain))
			return 0; /* a small fabric of its own */
		hierarchy->domains[domain].parent = o->main;
	}
	return index_note(w, WEFT_FINDING_LEAF_ORPHAN,
			  (struct index_at){
				  .name = w->s->switches[sw].name,
				  .where = w->s->switches[sw].where,
				  .weight = w->n_down[sw],
			  },
			  "%u cables to hosts, but no uplink, as its "
			  "siblings have",
			  w->n_down[sw]);
}

/* Where most leafs have uplinks, one without is cut off; it is put where its
 * siblings are. */
static int orphans_find(struct index *w)
{
	uint32_t n = w->hierarchy->n_domains, leafs = 0, linked = 0;
	struct orphans o = {.w = w};

	if (INDEX_ARRAY(w, o.first_host, n) || INDEX_ARRAY(w, o.n_hosts, n))
		return -1;
	hosts_count(&o);
	for (uint32_t i = 0; i < w->s->n_switches; i++) {
		if (!w->compute[i] || w->tier[i] != 1)
			continue;
		leafs++;
		linked += w->first_peer[i] < w->first_peer[i + 1];
	}
	if (2 * linked <= leafs || o.main == WEFT_NONE)
		return 0;
	for (uint32_t i = 0; i < w->s->n_switches; i++)
		if (w->compute[i] && w->tier[i] == 1 &&
		    w->first_peer[i] == w->first_peer[i + 1] &&
		    w->hierarchy->switch_domain[i] != WEFT_NONE &&
		    orphan_take(&o, i))
			return -1;
	return 0;
}

/* ---- hosts on spines ---- */

static void guests_place(struct index *w)
{
	struct weft_hierarchy *hierarchy = w->hierarchy;

	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		for (uint32_t i = w->first_up[h];
		     i < w->first_up[h + 1] &&
		     hierarchy->host_domain[h] == WEFT_NONE;
		     i++)
			if (w->compute[w->ups[i].sw])
				hierarchy->host_domain[h] =
					hierarchy->switch_domain[w->ups[i].sw];
}

/* Leafs without GPU nodes, and what else none hangs below: to what they are
 * linked to.  Whether any was placed. */
static bool idle_place(struct index *w)
{
	struct weft_hierarchy *hierarchy = w->hierarchy;
	bool placed = false;

	for (uint32_t sw = 0; sw < w->s->n_switches; sw++)
		for (uint32_t p = w->first_peer[sw];
		     p < w->first_peer[sw + 1] && w->compute[sw] &&
		     hierarchy->switch_domain[sw] == WEFT_NONE;
		     p++) {
			hierarchy->switch_domain[sw] =
				hierarchy->switch_domain[w->peers[p].sw];
			placed = placed ||
				 hierarchy->switch_domain[sw] != WEFT_NONE;
		}
	return placed;
}

/* A small fabric beside a deeper one gets a domain of the last level for
 * itself: in the file every root is of that level. */
static int islands_lift(struct index *w)
{
	struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t n = hierarchy->n_domains;

	for (uint32_t d = 0; d < n; d++) {
		char name[WEFT_NAME_SIZE];
		uint32_t top;

		if (hierarchy->domains[d].parent != WEFT_NONE ||
		    hierarchy->domains[d].level + 1 >= hierarchy->n_levels)
			continue;
		snprintf(name, sizeof(name), "%.56s-alone",
			 hierarchy->domains[d].name);
		top = weft_hierarchy_add_domain(
			hierarchy, name, hierarchy->n_levels - 1, w->err);
		if (top == WEFT_NONE)
			return -1;
		hierarchy->domains[d].parent = top;
	}
	return 0;
}

int index_roots(struct index *w)
{
	if (index_dragonfly(w) || sides_join(w) || orphans_find(w))
		return -1;
	while (idle_place(w))
		;
	guests_place(w);
	return islands_lift(w);
}
