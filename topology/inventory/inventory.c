/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory.c - a inventory's tables, and the names of its hosts and switches
 */
#include "topology/inventory/inventory.h"
#include "base/hash.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void weft_inventory_free(struct weft_inventory *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_groups; i++)
		free(s->groups[i].hosts);
	free(s->sources);
	free(s->hosts);
	free(s->hcas);
	free(s->switches);
	free(s->cables);
	free(s->edges);
	free(s->groups);
	free(s->insides);
	free(s->block_sizes);
	free(s->host_names.slot);
	free(s->switch_names.slot);
	weft_findings_free(&s->findings);
	weft_arena_free(&s->arena);
	*s = (struct weft_inventory){0};
}

static int limit_check(uint32_t n, const char *what, struct weft_error *err)
{
	if (n < WEFT_INVENTORY_MAX_THINGS)
		return 0;
	return weft_fail(err, WEFT_EINVAL, "more than %u %s",
			 WEFT_INVENTORY_MAX_THINGS, what);
}

#define ROOM(s, things, what, err)                                             \
	(limit_check((s)->n_##things, what, err) ||                            \
	 WEFT_GROW((s)->things, (s)->n_##things, (s)->things##_room, err))

/* ---- names ---- */

static const char *host_name(const struct weft_inventory *s, uint32_t i)
{
	return s->hosts[i].name;
}

static const char *switch_name(const struct weft_inventory *s, uint32_t i)
{
	return s->switches[i].name;
}

typedef const char *(*name_of)(const struct weft_inventory *s, uint32_t i);

/* The slot that holds `name`, or the free one where it belongs. */
static uint32_t *names_slot(const struct weft_inventory *s,
			    const struct weft_inventory_names *names,
			    name_of of, const char *name)
{
	uint32_t mask = names->n_slots - 1;
	uint32_t k = (uint32_t)weft_hash_text(name) & mask;

	while (names->slot[k] && strcmp(of(s, names->slot[k] - 1), name) != 0)
		k = (k + 1) & mask;
	return &names->slot[k];
}

/* Keeps the table at most half full with `n` + 1 names. */
static int names_grow(const struct weft_inventory *s,
		      struct weft_inventory_names *names, name_of of,
		      uint32_t n, struct weft_error *err)
{
	struct weft_inventory_names grown = {.n_slots = 64};

	if (2 * (n + 1) <= names->n_slots)
		return 0;
	while (grown.n_slots < 4 * (n + 1))
		grown.n_slots *= 2;
	grown.slot = weft_calloc(grown.n_slots, sizeof(*grown.slot), err);
	if (!grown.slot)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		*names_slot(s, &grown, of, of(s, i)) = i + 1;
	free(names->slot);
	*names = grown;
	return 0;
}

static uint32_t names_find(const struct weft_inventory *s,
			   const struct weft_inventory_names *names, name_of of,
			   const char *name)
{
	uint32_t found;

	if (!names->n_slots)
		return WEFT_NONE;
	found = *names_slot(s, names, of, name);
	return found ? found - 1 : WEFT_NONE;
}

uint32_t weft_inventory_find_host(const struct weft_inventory *s,
				  const char *name)
{
	return names_find(s, &s->host_names, host_name, name);
}

uint32_t weft_inventory_find_switch(const struct weft_inventory *s,
				    const char *name)
{
	return names_find(s, &s->switch_names, switch_name, name);
}

/* ---- things ---- */

uint32_t weft_inventory_add_source(struct weft_inventory *s, const char *name,
				   const char *format, struct weft_error *err)
{
	struct weft_inventory_source *source;

	if (ROOM(s, sources, "sources", err))
		return WEFT_NONE;
	source = &s->sources[s->n_sources];
	source->name = weft_arena_copy(&s->arena, name, err);
	source->format = weft_arena_copy(&s->arena, format, err);
	return source->name && source->format ? s->n_sources++ : WEFT_NONE;
}

uint32_t weft_inventory_host(struct weft_inventory *s, const char *name,
			     struct weft_place where, struct weft_error *err)
{
	uint32_t index = weft_inventory_find_host(s, name);
	struct weft_inventory_host *host;

	if (index != WEFT_NONE)
		return index;
	if (s->n_hosts >= WEFT_INVENTORY_MAX_HOSTS) {
		weft_fail(err, WEFT_EINVAL, "more than %u hosts",
			  WEFT_INVENTORY_MAX_HOSTS);
		return WEFT_NONE;
	}
	if (ROOM(s, hosts, "hosts", err) ||
	    names_grow(s, &s->host_names, host_name, s->n_hosts, err))
		return WEFT_NONE;
	host = &s->hosts[s->n_hosts];
	*host = (struct weft_inventory_host){
		.name = weft_arena_copy(&s->arena, name, err),
		.where = where,
		.inside = WEFT_NONE,
		.first_hca = WEFT_NONE,
	};
	if (!host->name)
		return WEFT_NONE;
	*names_slot(s, &s->host_names, host_name, name) = s->n_hosts + 1;
	return s->n_hosts++;
}

uint32_t weft_inventory_switch(struct weft_inventory *s, const char *name,
			       struct weft_place where, struct weft_error *err)
{
	uint32_t index = weft_inventory_find_switch(s, name);
	struct weft_inventory_switch *sw;

	if (index != WEFT_NONE)
		return index;
	if (ROOM(s, switches, "switches", err) ||
	    names_grow(s, &s->switch_names, switch_name, s->n_switches, err))
		return WEFT_NONE;
	sw = &s->switches[s->n_switches];
	*sw = (struct weft_inventory_switch){
		.name = weft_arena_copy(&s->arena, name, err),
		.where = where,
	};
	if (!sw->name)
		return WEFT_NONE;
	*names_slot(s, &s->switch_names, switch_name, name) = s->n_switches + 1;
	return s->n_switches++;
}

uint32_t weft_inventory_hca(struct weft_inventory *s, uint32_t host,
			    const char *name, const char *guid,
			    struct weft_place where, struct weft_error *err)
{
	uint32_t *link = &s->hosts[host].first_hca;
	struct weft_inventory_hca *hca;

	while (*link != WEFT_NONE) {
		if (strcmp(s->hcas[*link].name, name) == 0)
			return *link;
		link = &s->hcas[*link].next;
	}
	if (ROOM(s, hcas, "adapters", err))
		return WEFT_NONE;
	hca = &s->hcas[s->n_hcas];
	*hca = (struct weft_inventory_hca){
		.host = host,
		.name = weft_arena_copy(&s->arena, name, err),
		.guid = guid ? weft_arena_copy(&s->arena, guid, err) : NULL,
		.rail = WEFT_NONE,
		.next = WEFT_NONE,
		.where = where,
	};
	if (!hca->name || (guid && !hca->guid))
		return WEFT_NONE;
	/* `link` may point into the old block of s->hcas. */
	link = &s->hosts[host].first_hca;
	while (*link != WEFT_NONE)
		link = &s->hcas[*link].next;
	*link = s->n_hcas;
	s->hosts[host].n_hcas++;
	return s->n_hcas++;
}

static bool end_valid(const struct weft_inventory *s,
		      const struct weft_end *end)
{
	if (end->kind == WEFT_END_SWITCH)
		return end->index < s->n_switches;
	return end->index < s->n_hosts &&
	       (end->hca == WEFT_NONE || end->hca < s->n_hcas);
}

static bool is_loop(const struct weft_inventory_cable *cable)
{
	return cable->a.kind == cable->b.kind &&
	       cable->a.index == cable->b.index;
}

static int loop_note(struct weft_inventory *s,
		     const struct weft_inventory_cable *cable,
		     struct weft_error *err)
{
	const char *name = cable->a.kind == WEFT_END_SWITCH
				   ? s->switches[cable->a.index].name
				   : s->hosts[cable->a.index].name;

	return weft_inventory_note(s, WEFT_FINDING_LINK_LOOP, name,
				   cable->where, err,
				   "a cable joins two ports of it");
}

int weft_inventory_add_cable(struct weft_inventory *s,
			     const struct weft_inventory_cable *cable,
			     struct weft_error *err)
{
	if (!end_valid(s, &cable->a) || !end_valid(s, &cable->b))
		return weft_fail(err, WEFT_EINVAL,
				 "a cable's end does not exist");
	if (is_loop(cable))
		return loop_note(s, cable, err);
	if (cable->a.kind == WEFT_END_HOST && cable->b.kind == WEFT_END_HOST)
		return weft_inventory_note(
			s, WEFT_FINDING_LINE_IGNORED,
			s->hosts[cable->a.index].name, cable->where, err,
			"a cable to %s, another host, is left out; expected a "
			"switch at one end",
			s->hosts[cable->b.index].name);
	if (ROOM(s, cables, "cables", err))
		return -1;
	s->cables[s->n_cables++] = *cable;
	return 0;
}

uint32_t weft_inventory_add_edge(struct weft_inventory *s, uint32_t parent,
				 enum weft_end_kind child_kind, uint32_t child,
				 struct weft_place where,
				 struct weft_error *err)
{
	if (ROOM(s, edges, "lines of trees", err))
		return WEFT_NONE;
	s->edges[s->n_edges] = (struct weft_inventory_edge){
		.parent = parent,
		.child_kind = child_kind,
		.child = child,
		.where = where,
	};
	return s->n_edges++;
}

uint32_t weft_inventory_add_group(struct weft_inventory *s,
				  enum weft_group_kind kind, const char *name,
				  struct weft_place where,
				  struct weft_error *err)
{
	struct weft_inventory_group *group;

	if (ROOM(s, groups, "blocks", err))
		return WEFT_NONE;
	group = &s->groups[s->n_groups];
	*group = (struct weft_inventory_group){
		.kind = kind,
		.name = weft_arena_copy(&s->arena, name, err),
		.where = where,
	};
	return group->name ? s->n_groups++ : WEFT_NONE;
}

int weft_inventory_group_host(struct weft_inventory *s, uint32_t group,
			      uint32_t host, struct weft_error *err)
{
	struct weft_inventory_group *g = &s->groups[group];

	if (limit_check(g->n_hosts, "hosts in a group", err) ||
	    WEFT_GROW(g->hosts, g->n_hosts, g->room, err))
		return -1;
	g->hosts[g->n_hosts++] = host;
	return 0;
}

uint32_t weft_inventory_add_inside(struct weft_inventory *s,
				   const struct weft_inventory_inside *inside,
				   struct weft_error *err)
{
	struct weft_inventory_inside *copy;

	if (ROOM(s, insides, "descriptions of nodes", err))
		return WEFT_NONE;
	copy = &s->insides[s->n_insides];
	*copy = *inside;
	if (inside->hosts) {
		copy->hosts = weft_arena_copy(&s->arena, inside->hosts, err);
		if (!copy->hosts)
			return WEFT_NONE;
	}
	return s->n_insides++;
}

/* ---- what is odd ---- */

struct weft_finding_at weft_inventory_at(const struct weft_inventory *s,
					 const char *place,
					 struct weft_place where, double weight)
{
	return (struct weft_finding_at){
		.place = place,
		.source = where.source < s->n_sources
				  ? s->sources[where.source].name
				  : NULL,
		.line = where.line,
		.weight = weight,
	};
}

int weft_inventory_note(struct weft_inventory *s, enum weft_finding_id id,
			const char *place, struct weft_place where,
			struct weft_error *err, const char *format, ...)
{
	struct weft_finding_at at = weft_inventory_at(s, place, where, 0);
	va_list args;
	int rc;

	va_start(args, format);
	rc = weft_findings_vadd(&s->findings, id, at, err, format, args);
	va_end(args);
	return rc;
}

const char *weft_inventory_place(const struct weft_inventory *s,
				 struct weft_place where, char *buffer,
				 size_t size)
{
	const char *name = where.source < s->n_sources
				   ? s->sources[where.source].name
				   : "";

	if (where.line > 0)
		snprintf(buffer, size, "%s:%d", name, where.line);
	else
		snprintf(buffer, size, "%s", name);
	return buffer;
}
