/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_topology.c - switches, blocks and rings, checked as Slurm does */
#include "topology/import/slurm/slurm_topology.h"
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/import/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
	[WEFT_SLURM_SWITCH] = "switch",
	[WEFT_SLURM_BLOCK] = "block",
	[WEFT_SLURM_RING] = "ring",
};

int weft_slurm_fail(struct weft_slurm_at at, struct weft_error *err,
		    const char *format, ...)
{
	char text[320];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return weft_fail_at(err, WEFT_EINVAL, at.path, at.line, at.column, "%s",
			    text);
}

static struct weft_place place_of(struct weft_slurm_at at)
{
	return (struct weft_place){at.source, at.line};
}

/* ---- collecting ---- */

void weft_slurm_topology_free(struct weft_slurm_topology *t)
{
	free(t->units);
	weft_arena_free(&t->arena);
	*t = (struct weft_slurm_topology){0};
}

static int text_keep(struct weft_slurm_topology *t, const char **text,
		     struct weft_error *err)
{
	if (!*text)
		return 0;
	*text = weft_arena_copy(&t->arena, *text, err);
	return *text ? 0 : -1;
}

int weft_slurm_topology_add(struct weft_slurm_topology *t,
			    const struct weft_slurm_unit *unit,
			    struct weft_error *err)
{
	struct weft_slurm_unit *copy;

	if (t->n_units >= WEFT_INVENTORY_MAX_HOSTS)
		return weft_slurm_fail(unit->at, err, "more than %u lines",
				       WEFT_INVENTORY_MAX_HOSTS);
	if (WEFT_GROW(t->units, t->n_units, t->room, err))
		return -1;
	copy = &t->units[t->n_units];
	*copy = *unit;
	if (text_keep(t, &copy->name, err) ||
	    text_keep(t, &copy->original, err) ||
	    text_keep(t, &copy->nodes, err) ||
	    text_keep(t, &copy->switches, err))
		return -1;
	t->n_units++;
	return 0;
}

/* Slurm: each size is the first one times a power of two up to 2^15. */
int weft_slurm_topology_size(struct weft_slurm_topology *t, unsigned long size,
			     struct weft_slurm_at at, struct weft_error *err)
{
	unsigned long base = t->n_sizes ? t->sizes[0] : size;
	unsigned long times = base ? size / base : 0;

	if (size == 0 || size > INT32_MAX)
		return weft_slurm_fail(at, err,
				       "a block size is a number of nodes "
				       "from 1");
	if (size % base || (times & (times - 1)) || times > 1u << 15)
		return weft_slurm_fail(at, err,
				       "block size %lu: Slurm wants the first "
				       "one, %lu, times a power of two",
				       size, base);
	for (uint32_t i = 0; i < t->n_sizes; i++)
		if (t->sizes[i] == size)
			return 0;
	t->sizes[t->n_sizes++] = (uint32_t)size;
	return 0;
}

/* ---- names ---- */

int weft_slurm_hosts(const char *text, struct weft_slurm_at at,
		     struct weft_hostlist *list, struct weft_error *err)
{
	struct weft_error why = {0};

	if (weft_hostlist_decode(text, WEFT_INVENTORY_MAX_HOSTS, list, &why) ==
	    0)
		return 0;
	if (why.code != WEFT_EINVAL)
		return weft_fail(err, why.code, "%s", why.text);
	if (at.column && why.column)
		at.column += why.column - 1;
	return weft_slurm_fail(at, err, "\"%.80s\": %s", text, why.text);
}

static int unit_check(const struct weft_slurm_unit *u, struct weft_error *err)
{
	if (!u->name || !*u->name)
		return weft_slurm_fail(u->at, err, "a %s without a name",
				       kind_names[u->kind]);
	if (strlen(u->name) > WEFT_SLURM_NAME_MAX)
		return weft_slurm_fail(u->at, err,
				       "%s \"%.20s...\": the name is longer "
				       "than %u characters",
				       kind_names[u->kind], u->name,
				       WEFT_SLURM_NAME_MAX);
	if (u->nodes && u->switches)
		return weft_slurm_fail(u->switches_at, err,
				       "switch %s has child switches and "
				       "nodes; Slurm takes one of them",
				       u->name);
	return 0;
}

static int compare_units(const void *pa, const void *pb)
{
	const struct weft_slurm_unit *a =
		*(const struct weft_slurm_unit *const *)pa;
	const struct weft_slurm_unit *b =
		*(const struct weft_slurm_unit *const *)pb;
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	order = order ? order : strcmp(a->name, b->name);
	return order ? order : (a > b) - (a < b);
}

/* The second of two with one name, or NULL.  by_name[] gets them sorted. */
static int twins_find(const struct weft_slurm_unit **by_name, uint32_t n,
		      struct weft_error *err)
{
	WEFT_SORT(by_name, n, compare_units);
	for (uint32_t i = 1; i < n; i++) {
		const struct weft_slurm_unit *a = by_name[i - 1];
		const struct weft_slurm_unit *b = by_name[i];

		if (a->kind == b->kind && strcmp(a->name, b->name) == 0)
			return weft_slurm_fail(b->at, err,
					       "%s %s is already defined in "
					       "line %d",
					       kind_names[b->kind], b->name,
					       a->at.line);
	}
	return 0;
}

static int names_check(const struct weft_slurm_topology *t,
		       struct weft_error *err)
{
	const struct weft_slurm_unit **by_name =
		weft_calloc(t->n_units, sizeof(*by_name), err);
	int rc = by_name ? 0 : -1;

	for (uint32_t i = 0; rc == 0 && i < t->n_units; i++) {
		by_name[i] = &t->units[i];
		rc = unit_check(&t->units[i], err);
	}
	if (rc == 0 && t->n_units)
		rc = twins_find(by_name, t->n_units, err);
	free(by_name);
	return rc;
}

/* ---- the tree of switches ---- */

/* Units, and the switches of the inventory that they are. */
struct tree {
	struct weft_inventory *s;
	const struct weft_slurm_topology *t;
	struct weft_names names;
	struct weft_error *err;
	uint32_t *of_unit; /* [n_units] switch, or WEFT_NONE */
	uint32_t *unit_of; /* [n_switches] unit, or WEFT_NONE */
	struct link {
		uint32_t parent, child; /* units */
	} * links;
	uint32_t n_links, links_room;
	struct weft_arena memory; /* of what is of a known size */
};

static int switches_add(struct tree *tree)
{
	const struct weft_slurm_topology *t = tree->t;
	struct weft_inventory *s = tree->s;

	for (uint32_t u = 0; u < t->n_units; u++) {
		uint32_t i;

		tree->of_unit[u] = WEFT_NONE;
		if (t->units[u].kind != WEFT_SLURM_SWITCH)
			continue;
		i = weft_inventory_switch(s, t->units[u].name,
					  place_of(t->units[u].at), tree->err);
		if (i == WEFT_NONE)
			return -1;
		tree->of_unit[u] = i;
		if (t->units[u].original && !s->switches[i].original)
			s->switches[i].original = weft_arena_copy(
				&s->arena, t->units[u].original, tree->err);
	}
	if (WEFT_ARRAY(tree->unit_of, s->n_switches, &tree->memory, tree->err))
		return -1;
	weft_fill_none(tree->unit_of, s->n_switches);
	for (uint32_t u = 0; u < t->n_units; u++)
		if (tree->of_unit[u] != WEFT_NONE)
			tree->unit_of[tree->of_unit[u]] = u;
	return 0;
}

static int link_add(struct tree *tree, uint32_t parent, uint32_t child)
{
	if (WEFT_GROW(tree->links, tree->n_links, tree->links_room, tree->err))
		return -1;
	tree->links[tree->n_links++] = (struct link){parent, child};
	return weft_inventory_add_edge(tree->s, tree->of_unit[parent],
				       WEFT_END_SWITCH, tree->of_unit[child],
				       place_of(tree->t->units[parent].at),
				       tree->err) == WEFT_NONE
		       ? -1
		       : 0;
}

static int child_fail(const struct tree *tree, uint32_t unit,
		      const struct weft_hostlist *list, uint32_t k,
		      const char *why)
{
	const struct weft_slurm_unit *u = &tree->t->units[unit];
	struct weft_slurm_at at = u->switches_at;

	if (at.column)
		at.column += weft_hostlist_column(u->switches, k) - 1;
	return weft_slurm_fail(at, tree->err, "switch %s: its child %s %s",
			       u->name, list->names[k], why);
}

/* The child switches of one unit. */
static int children_link(struct tree *tree, uint32_t unit)
{
	const struct weft_slurm_unit *u = &tree->t->units[unit];
	struct weft_hostlist list = {0};
	int rc;

	if (!u->switches)
		return 0;
	rc = weft_slurm_hosts(u->switches, u->switches_at, &list, tree->err);
	for (uint32_t k = 0; rc == 0 && k < list.n; k++) {
		uint32_t i = weft_inventory_find_switch(tree->s, list.names[k]);
		uint32_t child = i == WEFT_NONE ? WEFT_NONE : tree->unit_of[i];

		if (child == WEFT_NONE)
			rc = child_fail(tree, unit, &list, k,
					"is not a switch of this file");
		else if (child == unit)
			rc = child_fail(tree, unit, &list, k, "is itself");
		else
			rc = link_add(tree, unit, child);
	}
	weft_hostlist_free(&list);
	return rc;
}

/* Some open child of each open switch. */
static void next_find(const struct tree *tree, const uint32_t *open,
		      uint32_t *next)
{
	for (uint32_t k = 0; k < tree->n_links; k++)
		if (open[tree->links[k].child])
			next[tree->links[k].parent] = tree->links[k].child;
}

/* A walk down from an open switch to open ones must return to where it has
 * been: that is the loop to show. */
static int loop_fail(struct tree *tree, const uint32_t *open, uint32_t start)
{
	const struct weft_slurm_unit *units = tree->t->units;
	uint32_t *next, at;
	char text[200];
	size_t size;

	if (WEFT_ARRAY(next, tree->t->n_units, &tree->memory, tree->err))
		return -1;
	next_find(tree, open, next);
	for (uint32_t steps = 0; steps < tree->t->n_units; steps++)
		start = next[start];
	at = start;
	size = (size_t)snprintf(text, sizeof(text), "%s", units[at].name);
	do {
		at = next[at];
		if (size + WEFT_SLURM_NAME_MAX + 4 >= sizeof(text))
			at = start;
		else
			size += (size_t)snprintf(text + size,
						 sizeof(text) - size, " > %s",
						 units[at].name);
	} while (at != start);
	return weft_slurm_fail(units[start].switches_at, tree->err,
			       "switches form a loop: %s", text);
}

/* One round: what has no open child is done.  Returns how many stay open. */
static uint32_t open_shrink(const struct tree *tree, uint32_t *open)
{
	uint32_t left = 0;

	for (uint32_t k = 0; k < tree->n_links; k++)
		if (open[tree->links[k].child] && open[tree->links[k].parent])
			open[tree->links[k].parent] = 2;
	for (uint32_t u = 0; u < tree->t->n_units; u++) {
		open[u] = open[u] == 2;
		left += open[u];
	}
	return left;
}

/* Takes away switches all of whose children are gone, until none is left. */
static int loops_check(struct tree *tree)
{
	uint32_t n = tree->t->n_units, left = n, before = n + 1, depth = 0;
	uint32_t *open;

	if (WEFT_ARRAY(open, n, &tree->memory, tree->err))
		return -1;
	for (uint32_t u = 0; u < n; u++)
		open[u] = 1;
	for (; left && left < before && depth <= WEFT_SLURM_DEPTH_MAX;
	     depth++) {
		before = left;
		left = open_shrink(tree, open);
	}
	for (uint32_t u = 0; left && u < n; u++)
		if (open[u])
			return left < before ? weft_slurm_fail(
						       tree->t->units[u].at,
						       tree->err,
						       "more than %u levels of "
						       "switches",
						       WEFT_SLURM_DEPTH_MAX)
					     : loop_fail(tree, open, u);
	return 0;
}

/* ---- hosts ---- */

/* The host of that name, or of what options->names says it is called. */
static uint32_t host_find(struct tree *tree, const char *name,
			  struct weft_slurm_at at)
{
	const char *known = weft_names_find(&tree->names, name);

	return weft_inventory_host(tree->s, known ? known : name, place_of(at),
				   tree->err);
}

static int nodes_link(struct tree *tree, uint32_t unit)
{
	const struct weft_slurm_unit *u = &tree->t->units[unit];
	struct weft_hostlist list = {0};
	int rc = weft_slurm_hosts(u->nodes, u->nodes_at, &list, tree->err);

	for (uint32_t k = 0; rc == 0 && k < list.n; k++) {
		uint32_t host = host_find(tree, list.names[k], u->nodes_at);

		if (host == WEFT_NONE ||
		    weft_inventory_add_edge(
			    tree->s, tree->of_unit[unit], WEFT_END_HOST, host,
			    place_of(u->nodes_at), tree->err) == WEFT_NONE)
			rc = -1;
	}
	weft_hostlist_free(&list);
	return rc;
}

static int group_fill(struct tree *tree, const struct weft_slurm_unit *u,
		      uint32_t group)
{
	struct weft_hostlist list = {0};
	int rc = 0;

	if (u->nodes)
		rc = weft_slurm_hosts(u->nodes, u->nodes_at, &list, tree->err);
	if (rc == 0 && u->kind == WEFT_SLURM_RING &&
	    list.n > WEFT_SLURM_RING_MAX)
		rc = weft_slurm_fail(
			u->nodes_at, tree->err,
			"ring %s has %u nodes; Slurm takes at most "
			"%u",
			u->name, list.n, WEFT_SLURM_RING_MAX);
	for (uint32_t k = 0; rc == 0 && k < list.n; k++) {
		uint32_t host = host_find(tree, list.names[k], u->nodes_at);

		rc = host == WEFT_NONE
			     ? -1
			     : weft_inventory_group_host(tree->s, group, host,
							 tree->err);
	}
	weft_hostlist_free(&list);
	return rc;
}

static int group_link(struct tree *tree, uint32_t unit)
{
	const struct weft_slurm_unit *u = &tree->t->units[unit];
	uint32_t group = weft_inventory_add_group(
		tree->s,
		u->kind == WEFT_SLURM_RING ? WEFT_GROUP_RING : WEFT_GROUP_BLOCK,
		u->name, place_of(u->at), tree->err);

	if (group == WEFT_NONE)
		return -1;
	if (u->original)
		tree->s->groups[group].original = weft_arena_copy(
			&tree->s->arena, u->original, tree->err);
	return group_fill(tree, u, group);
}

/* ---- BlockSizes ---- */

static int sizes_apply(struct weft_inventory *s,
		       const struct weft_slurm_topology *t,
		       struct weft_error *err)
{
	if (!t->n_sizes || s->n_block_sizes)
		return 0;
	s->block_sizes = weft_calloc(t->n_sizes, sizeof(*s->block_sizes), err);
	if (!s->block_sizes)
		return -1;
	memcpy(s->block_sizes, t->sizes, t->n_sizes * sizeof(*t->sizes));
	s->n_block_sizes = t->n_sizes;
	WEFT_SORT(s->block_sizes, s->n_block_sizes, weft_compare_numbers);
	return 0;
}

/* Fewer nodes than the base size: Slurm up to 24.11 does not start. */
static int blocks_short(struct weft_inventory *s,
			const struct weft_slurm_topology *t, uint32_t first,
			struct weft_error *err)
{
	for (uint32_t g = first; t->n_sizes && g < s->n_groups; g++) {
		const struct weft_inventory_group *group = &s->groups[g];

		if (group->kind == WEFT_GROUP_BLOCK &&
		    group->n_hosts < t->sizes[0] &&
		    weft_inventory_note(s, WEFT_FINDING_BLOCK_SHORT,
					group->name, group->where, err,
					"%u nodes in a block where BlockSizes "
					"begins with %u; Slurm up to 24.11 "
					"refuses that",
					group->n_hosts, t->sizes[0]))
			return -1;
	}
	return 0;
}

static int units_apply(struct tree *tree)
{
	const struct weft_slurm_topology *t = tree->t;

	if (switches_add(tree))
		return -1;
	for (uint32_t u = 0; u < t->n_units; u++)
		if (children_link(tree, u))
			return -1;
	if (tree->n_links && loops_check(tree))
		return -1;
	for (uint32_t u = 0; u < t->n_units; u++) {
		if (t->units[u].kind != WEFT_SLURM_SWITCH) {
			if (group_link(tree, u))
				return -1;
		} else if (t->units[u].nodes && nodes_link(tree, u)) {
			return -1;
		}
	}
	return 0;
}

int weft_slurm_topology_apply(struct weft_inventory *s,
			      const struct weft_slurm_topology *t,
			      const struct weft_import_options *options,
			      struct weft_error *err)
{
	struct tree tree = {.s = s, .t = t, .err = err};
	uint32_t first_group = s->n_groups;
	int rc = -1;

	if (WEFT_ARRAY(tree.of_unit, t->n_units, &tree.memory, err) == 0 &&
	    names_check(t, err) == 0 &&
	    weft_names_read(&tree.names, options->names, err) == 0)
		rc = units_apply(&tree);
	if (rc == 0)
		rc = sizes_apply(s, t, err) ||
				     blocks_short(s, t, first_group, err)
			     ? -1
			     : 0;
	weft_arena_free(&tree.memory);
	free(tree.links);
	weft_names_free(&tree.names);
	return rc;
}
