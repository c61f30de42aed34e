/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_tree.c - levels from declared trees
 *
 * The height of a switch is the longest way down to a host.  Switches of one
 * height that share a child are one domain with several switches: Slurm writes
 * the spines of a fat tree as parents that all have the same children.  Where
 * the parents of a switch differ in height, it is attached to the lowest, and
 * that one is taken to be attached to the others.  So the parents of a domain
 * are always one domain, whatever the file says.  A root that is lower than
 * others gets a domain of the top level around it alone, as the file wants it.
 */
#include "base/sets.h"
#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>

struct link {
	uint32_t child, parent, next; /* next of the same height of child */
	struct weft_place where;
};

struct tree {
	struct weft_inventory *s;
	struct weft_hierarchy *hierarchy;
	struct weft_error *err;
	uint32_t *height;   /* [switch] */
	uint32_t *same;	    /* [switch] union-find; the root has lowest index */
	uint32_t *above;    /* [root] some switch of the domain above */
	bool *alive;	    /* [switch] has a host below */
	struct link *links; /* between live switches, and lifted ones */
	uint32_t n_links, links_room;
	uint32_t of_height[WEFT_MAX_LEVELS]; /* first link, or WEFT_NONE */
	uint32_t n_heights;
	struct weft_arena memory; /* of what is of a known size */
};

static bool is_switch_edge(const struct weft_inventory_edge *e)
{
	return e->child_kind == WEFT_END_SWITCH;
}

/* ---- heights ---- */

/* One round of longest ways: true where a height grew. */
static bool heights_grow(struct tree *t)
{
	bool grown = false;

	for (uint32_t i = 0; i < t->s->n_edges; i++) {
		const struct weft_inventory_edge *e = &t->s->edges[i];

		if (!is_switch_edge(e) || !t->alive[e->child])
			continue;
		if (!t->alive[e->parent] ||
		    t->height[e->parent] <= t->height[e->child]) {
			t->alive[e->parent] = true;
			t->height[e->parent] = t->height[e->child] + 1;
			grown = true;
		}
	}
	return grown;
}

/* A file has nine levels at most; more rounds than that are a loop, which one
 * source alone does not say but two together may. */
static int heights_find(struct tree *t)
{
	uint32_t rounds = 0;

	for (uint32_t i = 0; i < t->s->n_edges; i++)
		if (!is_switch_edge(&t->s->edges[i]))
			t->alive[t->s->edges[i].parent] = true;
	while (heights_grow(t))
		if (++rounds > WEFT_FILE_LEVELS)
			return weft_fail(t->err, WEFT_EINVAL,
					 "more than %u levels of switches, or "
					 "switches that are below themselves",
					 WEFT_FILE_LEVELS);
	for (uint32_t i = 0; i < t->s->n_switches; i++)
		if (t->alive[i] && t->height[i] >= t->n_heights)
			t->n_heights = t->height[i] + 1;
	if (t->n_heights > WEFT_FILE_LEVELS)
		return weft_fail(t->err, WEFT_EINVAL,
				 "%u levels of switches; a fabric file has at "
				 "most %u",
				 t->n_heights, WEFT_FILE_LEVELS);
	return 0;
}

/* ---- one parent for each ---- */

static int link_add(struct tree *t, uint32_t child, uint32_t parent,
		    struct weft_place where)
{
	uint32_t *first = &t->of_height[t->height[child]];

	if (WEFT_GROW(t->links, t->n_links, t->links_room, t->err))
		return -1;
	t->links[t->n_links] = (struct link){child, parent, *first, where};
	*first = t->n_links++;
	return 0;
}

/* Backwards, since the list of a height gives the last first. */
static int links_collect(struct tree *t)
{
	weft_fill_none(t->of_height, WEFT_MAX_LEVELS);
	for (uint32_t i = t->s->n_edges; i-- > 0;) {
		const struct weft_inventory_edge *e = &t->s->edges[i];

		if (is_switch_edge(e) && t->alive[e->child] &&
		    link_add(t, e->child, e->parent, e->where))
			return -1;
	}
	return 0;
}

/* The lowest parents of each domain of height h become one. */
static void parents_join(struct tree *t, uint32_t h)
{
	for (uint32_t k = t->of_height[h]; k != WEFT_NONE;
	     k = t->links[k].next) {
		uint32_t child = weft_sets_find(t->same, t->links[k].child);
		uint32_t parent = t->links[k].parent;

		if (t->above[child] == WEFT_NONE ||
		    t->height[parent] < t->height[t->above[child]])
			t->above[child] = parent;
	}
	for (uint32_t k = t->of_height[h]; k != WEFT_NONE;
	     k = t->links[k].next) {
		uint32_t child = weft_sets_find(t->same, t->links[k].child);
		uint32_t parent = t->links[k].parent;

		if (t->height[parent] == t->height[t->above[child]])
			weft_sets_join(t->same, parent, t->above[child]);
	}
}

/* The others are parents of the lowest. */
static int parents_lift(struct tree *t, uint32_t h)
{
	const struct weft_inventory_switch *sw = t->s->switches;

	for (uint32_t k = t->of_height[h]; k != WEFT_NONE;
	     k = t->links[k].next) {
		struct link link = t->links[k];
		uint32_t lowest = t->above[weft_sets_find(t->same, link.child)];

		if (t->height[link.parent] == t->height[lowest])
			continue;
		if (link_add(t, lowest, link.parent, link.where) ||
		    weft_inventory_note(
			    t->s, WEFT_FINDING_TREE_SKEWED, sw[link.child].name,
			    link.where, t->err,
			    "is attached to %s and to %s, which is a level "
			    "further "
			    "up; taken to be attached to %s, and that on %s",
			    sw[lowest].name, sw[link.parent].name,
			    sw[lowest].name, sw[link.parent].name))
			return -1;
	}
	return 0;
}

/* ---- domains ---- */

/* "s4-s7" of several switches, the name of one. */
static int domain_name(const struct tree *t, uint32_t first, uint32_t last,
		       char *name, size_t size)
{
	const struct weft_inventory_switch *sw = t->s->switches;

	if (first == last)
		return snprintf(name, size, "%s", sw[first].name);
	return snprintf(name, size, "%s-%s", sw[first].name, sw[last].name);
}

static int domains_add(struct tree *t, const uint32_t *last, uint32_t level)
{
	for (uint32_t i = 0; i < t->s->n_switches; i++) {
		char name[2 * 256];

		if (!t->alive[i] || t->same[i] != i || t->height[i] != level)
			continue;
		domain_name(t, i, last[i], name, sizeof(name));
		t->hierarchy->switch_domain[i] = weft_hierarchy_add_domain(
			t->hierarchy, name, level, t->err);
		if (t->hierarchy->switch_domain[i] == WEFT_NONE)
			return -1;
	}
	return 0;
}

/* Levels, their domains, and the one above each. */
static int domains_build(struct tree *t)
{
	struct weft_hierarchy *hierarchy = t->hierarchy;
	uint32_t n = t->s->n_switches;
	uint32_t *last;

	if (WEFT_ARRAY(last, n, &t->memory, t->err))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		last[weft_sets_find(t->same, i)] = i;
	for (uint32_t i = 0; i < n; i++)
		t->same[i] = weft_sets_find(t->same, i);
	hierarchy->n_levels = t->n_heights;
	for (uint32_t level = 0; level < t->n_heights; level++)
		if (domains_add(t, last, level))
			return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t up = t->above[t->same[i]];

		if (!t->alive[i])
			continue;
		hierarchy->switch_domain[i] =
			hierarchy->switch_domain[t->same[i]];
		if (up != WEFT_NONE)
			hierarchy->domains[hierarchy->switch_domain[i]].parent =
				hierarchy->switch_domain[t->same[up]];
	}
	return 0;
}

/* The domain around a root that is lower than others. */
static int roots_raise(struct tree *t)
{
	struct weft_hierarchy *hierarchy = t->hierarchy;
	uint32_t top = t->n_heights - 1, n = hierarchy->n_domains;

	for (uint32_t d = 0; d < n; d++) {
		char name[2 * 256];
		uint32_t around;

		if (hierarchy->domains[d].parent != WEFT_NONE ||
		    hierarchy->domains[d].level == top)
			continue;
		snprintf(name, sizeof(name), "%s%s", hierarchy->domains[d].name,
			 WEFT_ROOT_SUFFIX);
		around =
			weft_hierarchy_add_domain(hierarchy, name, top, t->err);
		if (around == WEFT_NONE)
			return -1;
		hierarchy->domains[d].parent = around;
	}
	return 0;
}

/* The first line that names a host counts. */
static int hosts_place(struct tree *t)
{
	struct weft_inventory *s = t->s;
	uint32_t *first;

	if (WEFT_ARRAY(first, s->n_hosts, &t->memory, t->err))
		return -1;
	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct weft_inventory_edge *e = &s->edges[i];
		uint32_t *on = &t->hierarchy->host_domain[e->child];
		const struct weft_inventory_edge *before;

		if (is_switch_edge(e))
			continue;
		if (*on == WEFT_NONE) {
			*on = t->hierarchy->switch_domain[e->parent];
			first[e->child] = i;
			continue;
		}
		before = &s->edges[first[e->child]];
		if (before->where.source != e->where.source &&
		    before->parent == e->parent)
			continue;
		if (weft_inventory_note(
			    s, WEFT_FINDING_NODE_TWICE, s->hosts[e->child].name,
			    e->where, t->err,
			    "under switch %s as well as %s (line %d); taken to "
			    "be under %s",
			    s->switches[e->parent].name,
			    s->switches[before->parent].name,
			    before->where.line,
			    s->switches[before->parent].name))
			return -1;
	}
	return 0;
}

/* ---- what is odd ---- */

static int odd_note(struct tree *t)
{
	struct weft_inventory *s = t->s;
	uint32_t roots = 0;

	for (uint32_t i = 0; i < s->n_switches; i++) {
		if (!t->alive[i] &&
		    weft_inventory_note(s, WEFT_FINDING_SWITCH_EMPTY,
					s->switches[i].name,
					s->switches[i].where, t->err,
					"no node below this switch"))
			return -1;
		roots += t->alive[i] && t->same[i] == i &&
			 t->above[i] == WEFT_NONE;
	}
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (t->hierarchy->host_domain[h] == WEFT_NONE &&
		    !s->hosts[h].no_gpus &&
		    weft_inventory_note(
			    s, WEFT_FINDING_NODE_UNPLACED, s->hosts[h].name,
			    s->hosts[h].where, t->err,
			    "under no switch; left out of the fabric"))
			return -1;
	t->hierarchy->disjoint = roots > 1;
	if (roots < 2)
		return 0;
	return weft_inventory_note(
		s, WEFT_FINDING_TREE_UNCONNECTED, NULL,
		(struct weft_place){WEFT_NONE, 0}, t->err,
		"%u switches have nothing above them: no job "
		"spans them",
		roots);
}

static int tree_alloc(struct tree *t)
{
	uint32_t n = t->s->n_switches;

	if (WEFT_ARRAY(t->height, n, &t->memory, t->err) ||
	    WEFT_ARRAY(t->same, n, &t->memory, t->err) ||
	    WEFT_ARRAY(t->above, n, &t->memory, t->err) ||
	    WEFT_ARRAY(t->alive, n, &t->memory, t->err))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		t->same[i] = i;
		t->above[i] = WEFT_NONE;
	}
	return 0;
}

static int tree_build(struct tree *t)
{
	if (tree_alloc(t) || heights_find(t) || links_collect(t))
		return -1;
	if (t->n_heights == 0)
		return weft_fail(t->err, WEFT_EINVAL,
				 "no node under any of %u switches",
				 t->s->n_switches);
	for (uint32_t h = 0; h < t->n_heights; h++) {
		parents_join(t, h);
		if (parents_lift(t, h))
			return -1;
	}
	return domains_build(t) || roots_raise(t) || hosts_place(t) ||
			       odd_note(t)
		       ? -1
		       : 0;
}

int weft_hierarchy_from_edges(struct weft_inventory *s,
			      struct weft_hierarchy *hierarchy,
			      struct weft_error *err)
{
	struct tree t = {.s = s, .hierarchy = hierarchy, .err = err};
	int rc = tree_build(&t);

	if (rc == 0 && s->n_groups)
		rc = weft_hierarchy_add_blocks(s, hierarchy, err);
	weft_arena_free(&t.memory);
	free(t.links);
	return rc;
}
