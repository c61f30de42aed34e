/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_dragonfly.c - switches that no tier joins and that are linked side
 * by side: the routers and groups of a dragonfly
 *
 * In a group each router is linked to each other one, and so shares with it
 * most of its neighbours; with a router of another group it shares few.  In a
 * group of three that lacks a cable two share none: the other groups show that
 * it is one.  Groups are joined each to each, by at least one cable.  Where
 * rows and columns of switches are joined alike, names tell which are the
 * groups.  Roots that are trees already (leafs and spines) may be the groups as
 * well: a dragonfly+.
 */
#include "base/compare.h"
#include "base/lines.h"
#include "base/sets.h"
#include "topology/hierarchy/cable_index.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LEAST_ROUTERS 3	   /* of a group: of fewer none can be told */
#define LEAST_LINKED  0.75 /* of all pairs: the others are faults */
#define MOST_STEPS    (1u << 28)
#define LOCAL_HOPS    3 /* host, router, router, host */
#define GLOBAL_HOPS   5 /* a router more on either side */

/* Roots and the links between them. */
struct side {
	uint32_t a, b; /* vertices; listed either way */
};
struct sides {
	struct index *w;
	uint32_t *root;	  /* [vertex] domain */
	uint32_t *vertex; /* [domain] or WEFT_NONE */
	uint32_t n;
	struct side *links; /* by a, then b; each pair once either way */
	uint32_t n_links;
	uint32_t *first;  /* [n + 1] of links */
	uint32_t *group;  /* [vertex] its group's first vertex */
	uint32_t *number; /* [vertex] number of that group */
	uint32_t n_groups;
};

WEFT_COMPARATOR(compare_sides, struct side, WEFT_UP(a) WEFT_UP(b));

static uint32_t root_of(const struct sides *s, uint32_t sw)
{
	return index_root(s->w->hierarchy, s->w->hierarchy->switch_domain[sw]);
}

/* Roots that are linked to others, as domains, either way. */
static void links_list(struct sides *s)
{
	const struct index *w = s->w;

	for (uint32_t sw = 0; sw < w->s->n_switches; sw++) {
		uint32_t a = root_of(s, sw);

		for (uint32_t p = w->first_peer[sw];
		     a != WEFT_NONE && p < w->first_peer[sw + 1]; p++) {
			uint32_t b = root_of(s, w->peers[p].sw);

			if (b != WEFT_NONE && b != a)
				s->links[s->n_links++] = (struct side){a, b};
		}
	}
}

/* Domains become vertices, and each link is kept once either way. */
static void links_number(struct sides *s)
{
	uint32_t kept = 0;

	WEFT_SORT(s->links, s->n_links, compare_sides);
	for (uint32_t i = 0; i < s->n_links; i++) {
		if (kept &&
		    compare_sides(&s->links[kept - 1], &s->links[i]) == 0)
			continue;
		s->links[kept++] = s->links[i];
		if (s->vertex[s->links[i].a] == WEFT_NONE) {
			s->root[s->n] = s->links[i].a;
			s->vertex[s->links[i].a] = s->n++;
		}
	}
	s->n_links = kept;
	for (uint32_t i = 0; i < kept; i++) {
		s->links[i].a = s->vertex[s->links[i].a];
		s->links[i].b = s->vertex[s->links[i].b];
		s->first[s->links[i].a + 1] = i + 1;
	}
}

static int sides_build(struct sides *s)
{
	struct index *w = s->w;
	uint32_t n = w->hierarchy->n_domains;

	if (INDEX_ARRAY(w, s->root, n) || INDEX_ARRAY(w, s->vertex, n) ||
	    INDEX_ARRAY(w, s->links, w->n_peers) ||
	    INDEX_ARRAY(w, s->first, (size_t)n + 1) ||
	    INDEX_ARRAY(w, s->group, n) || INDEX_ARRAY(w, s->number, n))
		return -1;
	weft_fill_none(s->vertex, n);
	links_list(s);
	links_number(s);
	return 0;
}

/* ---- groups ---- */

static uint32_t degree(const struct sides *s, uint32_t v)
{
	return s->first[v + 1] - s->first[v];
}

/* Neighbours that both ends of a link have, themselves among them. */
static uint32_t shared(const struct sides *s, const struct side *link)
{
	uint32_t i = s->first[link->a], j = s->first[link->b], n = 2;

	while (i < s->first[link->a + 1] && j < s->first[link->b + 1]) {
		uint32_t x = s->links[i].b, y = s->links[j].b;

		n += x == y;
		i += x <= y;
		j += y <= x;
	}
	return n;
}

/* Numbers the groups that s->group says, by their first vertex. */
static void groups_number(struct sides *s)
{
	s->n_groups = 0;
	for (uint32_t v = 0; v < s->n; v++) {
		s->group[v] = weft_sets_find(s->group, v);
		s->number[v] = s->group[v] == v ? s->n_groups++
						: s->number[s->group[v]];
	}
}

/* Links of which both ends share nearly as much as with anyone, or more than
 * half of their neighbours, are those inside of groups.  In a small group that
 * lacks a cable three of four is as near as it comes: `loose`. */
static void groups_join(struct sides *s, const uint32_t *common,
			const uint32_t *most, bool loose)
{
	weft_sets_start(s->group, s->n);
	for (uint32_t i = 0; i < s->n_links; i++) {
		uint32_t a = s->links[i].a, b = s->links[i].b;
		uint32_t top = most[a] > most[b] ? most[a] : most[b];
		uint32_t least = degree(s, a) < degree(s, b) ? degree(s, a)
							     : degree(s, b);

		if (common[i] < LEAST_ROUTERS ||
		    (4 * common[i] + loose <= 3 * top &&
		     2 * common[i] <= least + 1))
			continue;
		weft_sets_join(s->group, a, b);
	}
	groups_number(s);
}

/* Three routers that lack a cable share no neighbours: those that are in no
 * group and linked to one another are one. */
static void groups_fill(struct sides *s)
{
	for (uint32_t v = 0; v < s->n; v++)
		s->number[v] = 0;
	for (uint32_t v = 0; v < s->n; v++)
		s->number[s->group[v]]++;
	for (uint32_t i = 0; i < s->n_links; i++) {
		uint32_t a = s->links[i].a, b = s->links[i].b;

		if (s->number[a] != 1 || s->number[b] != 1)
			continue;
		weft_sets_join(s->group, a, b);
	}
	groups_number(s);
}

/* The vertex's switch without the last number of its name: "row3-sw". */
struct stem {
	struct weft_span name;
	uint32_t vertex;
};

WEFT_COMPARATOR(compare_stems, struct stem,
		WEFT_KEY(weft_span_compare(a->name, b->name)) WEFT_UP(vertex));

static int groups_name(struct sides *s)
{
	struct stem *stems;
	uint32_t first = 0;

	if (INDEX_ARRAY(s->w, stems, s->n))
		return -1;
	for (uint32_t v = 0; v < s->n; v++) {
		const char *name = s->w->hierarchy->domains[s->root[v]].name;
		size_t n = strlen(name);

		while (n && !isdigit((unsigned char)name[n - 1]))
			n--;
		while (n && isdigit((unsigned char)name[n - 1]))
			n--;
		stems[v] = (struct stem){{name, n}, v};
	}
	WEFT_SORT(stems, s->n, compare_stems);
	for (uint32_t i = 0; i < s->n; i++) {
		if (weft_span_compare(stems[i].name, stems[first].name) != 0)
			first = i;
		s->group[stems[i].vertex] = stems[first].vertex;
	}
	groups_number(s);
	return 0;
}

static void links_compare(const struct sides *s, uint32_t *common,
			  uint32_t *most)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i < s->n_links; i++)
		steps += degree(s, s->links[i].a) + degree(s, s->links[i].b);
	for (uint32_t i = 0; steps < MOST_STEPS && i < s->n_links; i++) {
		uint32_t *top = &most[s->links[i].a];

		common[i] = shared(s, &s->links[i]);
		*top = common[i] > *top ? common[i] : *top;
	}
}

/* ---- is it one ---- */

static double pairs(uint32_t n)
{
	return (double)n * (n - 1) / 2;
}

/* All vertices are linked each to each. */
static bool is_mesh(const struct sides *s)
{
	return s->n >= LEAST_ROUTERS &&
	       s->n_links / 2.0 >= LEAST_LINKED * pairs(s->n);
}

/* Each group in itself, by `local`, links inside of it, and `size`.  Of three
 * pairs one is more than a fault's share: it is one where most groups lack
 * none. */
static bool groups_are_whole(const struct sides *s, const uint32_t *size,
			     const uint32_t *local)
{
	uint32_t whole = 0, lack_one = 0;

	for (uint32_t g = 0; g < s->n_groups; g++) {
		double lacks = pairs(size[g]) - local[g] / 2.0;

		if (size[g] < LEAST_ROUTERS)
			return false;
		whole += lacks == 0;
		if (lacks <= (1 - LEAST_LINKED) * pairs(size[g]))
			continue;
		if (lacks > 1)
			return false;
		lack_one++;
	}
	return s->n_groups > 1 && (!lack_one || 2 * whole > s->n_groups);
}

/* Pairs of groups that some link joins: links renumbered to groups, sorted. */
static double groups_linked(const struct sides *s, struct side *list)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < s->n_links; i++) {
		uint32_t a = s->number[s->links[i].a];
		uint32_t b = s->number[s->links[i].b];

		if (a < b)
			list[n++] = (struct side){a, b};
	}
	WEFT_SORT(list, n, compare_sides);
	for (uint32_t i = 0; i < n; i++)
		kept += !i || compare_sides(&list[i - 1], &list[i]) != 0;
	return kept;
}

static bool is_level(const struct sides *s)
{
	const struct weft_hierarchy *hierarchy = s->w->hierarchy;

	for (uint32_t v = 0; v < s->n; v++)
		if (hierarchy->domains[s->root[v]].level !=
		    hierarchy->domains[s->root[0]].level)
			return false;
	return s->n > 0;
}

static int check_groups(const struct sides *s, bool *is)
{
	uint32_t *size, *local;
	struct side *list;

	if (INDEX_ARRAY(s->w, size, s->n_groups) ||
	    INDEX_ARRAY(s->w, local, s->n_groups) ||
	    INDEX_ARRAY(s->w, list, s->n_links))
		return -1;
	for (uint32_t v = 0; v < s->n; v++)
		size[s->number[v]]++;
	for (uint32_t i = 0; i < s->n_links; i++)
		if (s->number[s->links[i].a] == s->number[s->links[i].b])
			local[s->number[s->links[i].a]]++;
	*is = groups_are_whole(s, size, local) &&
	      groups_linked(s, list) >= LEAST_LINKED * pairs(s->n_groups);
	return 0;
}

/* The groups of a dragonfly, by what routers share, then by their names. */
static int groups_find(struct sides *s, bool *is)
{
	uint32_t *common, *most;

	*is = false;
	if (INDEX_ARRAY(s->w, common, s->n_links) ||
	    INDEX_ARRAY(s->w, most, s->n))
		return -1;
	links_compare(s, common, most);
	for (int loose = 0; !*is && loose < 3; loose++) {
		groups_join(s, common, most, loose > 0);
		if (loose == 2)
			groups_fill(s);
		if (check_groups(s, is))
			return -1;
	}
	return !*is && (groups_name(s) || check_groups(s, is)) ? -1 : 0;
}

/* ---- the levels ---- */

static void level_set(struct weft_hierarchy *hierarchy, uint32_t level,
		      const char *name, uint32_t hops)
{
	struct weft_hierarchy_level *to = &hierarchy->levels[level];

	snprintf(to->name, sizeof(to->name), "%s", name);
	to->hops = hops;
	to->shape = WEFT_HIERARCHY_GROUPS;
}

/* The switches of all vertices of a group, by rank; their number. */
static uint32_t group_ranks(const struct sides *s, uint32_t group,
			    uint32_t *ranks)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < s->w->s->n_switches; sw++) {
		uint32_t root = root_of(s, sw);
		uint32_t v = root == WEFT_NONE ? WEFT_NONE : s->vertex[root];

		if (v != WEFT_NONE && s->number[v] == group)
			ranks[n++] = s->w->order[sw];
	}
	return n;
}

/* A domain for each group. */
static int groups_add(const struct sides *s)
{
	struct index *w = s->w;
	struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t level = hierarchy->n_levels++;
	uint32_t *ranks, *domain;

	if (INDEX_ARRAY(w, ranks, w->s->n_switches) ||
	    INDEX_ARRAY(w, domain, s->n_groups))
		return -1;
	for (uint32_t g = 0; g < s->n_groups; g++) {
		domain[g] =
			index_domain(w, level, ranks, group_ranks(s, g, ranks));
		if (domain[g] == WEFT_NONE)
			return -1;
	}
	for (uint32_t v = 0; v < s->n; v++)
		hierarchy->domains[s->root[v]].parent = domain[s->number[v]];
	level_set(hierarchy, level, "group", LOCAL_HOPS);
	return 0;
}

/* What joins all vertices, or their groups. */
static int top_add(const struct sides *s, const char *name, uint32_t hops)
{
	struct weft_hierarchy *hierarchy = s->w->hierarchy;
	uint32_t level = hierarchy->n_levels++;
	uint32_t top = index_domain(s->w, level, NULL, 0);

	if (top == WEFT_NONE)
		return -1;
	for (uint32_t v = 0; v < s->n; v++)
		hierarchy->domains[index_root(hierarchy, s->root[v])].parent =
			index_root(hierarchy, s->root[v]) == top ? WEFT_NONE
								 : top;
	level_set(hierarchy, level, name, hops);
	return 0;
}

static int told(const struct sides *s, const char *what)
{
	return weft_inventory_note(s->w->s, WEFT_FINDING_WAYS_ALIKE, NULL,
				   (struct weft_place){WEFT_NONE, 0}, s->w->err,
				   "%s; all ways between them count as equal",
				   what);
}

static int dragonfly_take(const struct sides *s)
{
	char text[120];

	snprintf(text, sizeof(text),
		 "a dragonfly: %u groups, joined each to each, of %u switches",
		 s->n_groups, s->n);
	return groups_add(s) || top_add(s, "dragonfly", GLOBAL_HOPS) ||
			       told(s, text)
		       ? -1
		       : 0;
}

/* Leafs alone are one group; trees are groups of a dragonfly+. */
static int mesh_take(const struct sides *s)
{
	struct weft_hierarchy *hierarchy = s->w->hierarchy;
	uint32_t level = hierarchy->domains[s->root[0]].level;
	char text[120];

	if (level > 0)
		snprintf(hierarchy->levels[level].name,
			 sizeof(hierarchy->levels[level].name), "group");
	snprintf(text, sizeof(text), "%u %s, joined each to each", s->n,
		 level ? "groups of a dragonfly+" : "switches");
	return top_add(s, level ? "dragonfly" : "group",
		       level ? 2 * level + LOCAL_HOPS : LOCAL_HOPS) ||
			       told(s, text)
		       ? -1
		       : 0;
}

int index_dragonfly(struct index *w)
{
	struct sides s = {.w = w};
	bool is;

	if (sides_build(&s))
		return -1;
	if (!is_level(&s))
		return 0;
	if (is_mesh(&s))
		return mesh_take(&s);
	if (groups_find(&s, &is))
		return -1;
	if (is)
		return dragonfly_take(&s);
	return s.n > 2 ? told(&s, "switches are linked side by side, in no "
				  "pattern that a fabric file has")
		       : 0;
}
