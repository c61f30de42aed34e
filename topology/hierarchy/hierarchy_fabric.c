/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_fabric.c - the levels that a fabric file itself says, as a
 * hierarchy of the inventory made from it
 */
#include "base/hostlist.h"
#include "topology/cabling.h"
#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The level of the hierarchy that level l of the fabric is; network levels
 * only.
 */
static uint32_t level_of(const struct weft_fabric *f, uint32_t l)
{
	return l - f->node_level - 1;
}

static void level_fill(const struct weft_fabric *f, uint32_t l,
		       struct weft_hierarchy_level *to)
{
	static const enum weft_shape_kind shapes[] = {
		[WEFT_SHAPE_SWITCHED] = WEFT_HIERARCHY_PLAIN,
		[WEFT_SHAPE_RING] = WEFT_HIERARCHY_RING,
		[WEFT_SHAPE_TORUS] = WEFT_HIERARCHY_TORUS,
		[WEFT_SHAPE_GROUPS] = WEFT_HIERARCHY_GROUPS,
	};
	const struct weft_level *level = &f->levels[l];

	snprintf(to->name, sizeof(to->name), "%s", level->name);
	to->rate_bytes_per_s = level->link.rate_bytes_per_s;
	to->oversubscription = level->link.oversubscription;
	to->latency_s = level->link.latency_s;
	if (level->hops != 2 * (level_of(f, l) + 1))
		to->hops = level->hops;
	to->shape = shapes[level->shape];
	for (int k = 0; k < 3; k++)
		to->dims[k] = level->dims[k];
	to->n_shares = level->n_shares;
	memcpy(to->shares, level->shares, sizeof(to->shares));
}

/* The number of the domain, or of the first around it that is one. */
static uint32_t number_around(const struct weft_fabric *f,
			      const uint32_t *number, uint32_t d)
{
	while (d != WEFT_NONE && number[d] == WEFT_NONE)
		d = f->domains[d].parent;
	return d == WEFT_NONE ? WEFT_NONE : number[d];
}

static int domains_add(const struct weft_fabric *f,
		       struct weft_hierarchy *hierarchy, uint32_t *number,
		       struct weft_error *err)
{
	for (uint32_t l = f->node_level + 1; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];

		level_fill(f, l, &hierarchy->levels[hierarchy->n_levels++]);
		for (uint32_t i = 0; i < level->n_domains; i++) {
			uint32_t d = level->first_domain + i;

			if (weft_inventory_passes(f, d))
				continue;
			number[d] = weft_hierarchy_add_domain(
				hierarchy, f->domains[d].name, level_of(f, l),
				err);
			if (number[d] == WEFT_NONE)
				return -1;
		}
	}
	for (uint32_t d = 0; d < f->n_domains; d++)
		if (number[d] != WEFT_NONE)
			hierarchy->domains[number[d]].parent =
				number_around(f, number, f->domains[d].parent);
	return 0;
}

/* On rings and tori the order of children means something. */
static int hosts_fill(const struct weft_fabric *f,
		      const struct weft_inventory *s,
		      struct weft_hierarchy *hierarchy, const uint32_t *number,
		      struct weft_error *err)
{
	uint32_t level = f->node_level + 1;

	hierarchy->ordered = f->has_steps;
	if (hierarchy->ordered) {
		hierarchy->host_order =
			weft_calloc(s->n_hosts, sizeof(uint32_t), err);
		if (!hierarchy->host_order)
			return -1;
	}
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		uint32_t node = weft_fabric_node(f, s->hosts[h].name);
		uint32_t d = WEFT_NONE;

		if (node != WEFT_NONE && level < f->n_levels)
			d = f->gpu_domain[level][f->nodes[node].first_gpu];
		hierarchy->host_domain[h] = number_around(f, number, d);
		if (hierarchy->ordered && node != WEFT_NONE)
			hierarchy->host_order[h] = node;
	}
	return 0;
}

/* Switch `at` of the inventory is of domain d, on that rail of its bundle. */
static void switch_put(const struct weft_fabric *f,
		       struct weft_hierarchy *hierarchy, uint32_t at,
		       uint32_t number, uint32_t rail)
{
	hierarchy->switch_domain[at] = number;
	if (hierarchy->rail_switch && rail < f->n_rails)
		hierarchy->rail_switch[(size_t)number * f->n_rails + rail] = at;
}

static void switches_known(const struct weft_fabric *f,
			   const struct weft_inventory *s,
			   struct weft_hierarchy *hierarchy,
			   const uint32_t *number)
{
	const struct weft_cabling *c = f->cabling;

	for (uint32_t k = 0; k < c->n_switches; k++) {
		const struct weft_cabling_switch *sw = &c->switches[k];
		uint32_t at = weft_inventory_find_switch(s, sw->name);

		if (at == WEFT_NONE || sw->domain == WEFT_NONE ||
		    number[sw->domain] == WEFT_NONE)
			continue;
		switch_put(f, hierarchy, at, number[sw->domain],
			   sw->rail == WEFT_NO_RAIL ? WEFT_NONE : sw->rail);
	}
}

/* Without cabling a domain is one switch of its name, or the leafs of a bundle,
 * whose names it joins. */
static int switches_named(const struct weft_fabric *f,
			  const struct weft_inventory *s,
			  struct weft_hierarchy *hierarchy,
			  const uint32_t *number, struct weft_error *err)
{
	for (uint32_t d = 0; d < f->n_domains; d++) {
		struct weft_hostlist list;

		if (number[d] == WEFT_NONE)
			continue;
		if (weft_hostlist_decode(f->domains[d].name,
					 WEFT_MAX_GPUS_PER_NODE, &list, err))
			return -1;
		for (uint32_t i = 0; i < list.n; i++) {
			uint32_t at =
				weft_inventory_find_switch(s, list.names[i]);

			if (at != WEFT_NONE)
				switch_put(f, hierarchy, at, number[d],
					   list.n > 1 ? i : WEFT_NONE);
		}
		weft_hostlist_free(&list);
	}
	return 0;
}

static int switches_fill(const struct weft_fabric *f,
			 const struct weft_inventory *s,
			 struct weft_hierarchy *hierarchy,
			 const uint32_t *number, struct weft_error *err)
{
	size_t room = (size_t)hierarchy->n_domains * f->n_rails;

	hierarchy->n_rails = f->n_rails;
	hierarchy->rail_switch = weft_calloc_none(room, err);
	if (!hierarchy->rail_switch)
		return -1;
	if (!f->cabling)
		return switches_named(f, s, hierarchy, number, err);
	switches_known(f, s, hierarchy, number);
	return 0;
}

struct weft_hierarchy *
weft_hierarchy_from_fabric(const struct weft_fabric *f,
			   const struct weft_inventory *s,
			   struct weft_error *err)
{
	struct weft_hierarchy *hierarchy =
		weft_calloc(1, sizeof(*hierarchy), err);
	uint32_t *number = weft_calloc_none(f->n_domains, err);
	int rc = -1;

	if (!hierarchy || !number)
		goto out;
	hierarchy->n_rails = 1;
	hierarchy->routing = f->routing;
	hierarchy->n_flows = f->n_flows;
	hierarchy->disjoint = !f->connected;
	hierarchy->host_domain = weft_calloc_none(s->n_hosts, err);
	hierarchy->switch_domain = weft_calloc_none(s->n_switches, err);
	if (hierarchy->host_domain && hierarchy->switch_domain &&
	    domains_add(f, hierarchy, number, err) == 0 &&
	    hosts_fill(f, s, hierarchy, number, err) == 0)
		rc = switches_fill(f, s, hierarchy, number, err);
out:
	free(number);
	if (rc) {
		weft_hierarchy_free(hierarchy);
		return NULL;
	}
	return hierarchy;
}
