/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy.c - chooses what the levels of a inventory are made from */
#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of the levels where no source gives others, innermost first. */
static const char *const level_names[] = {"leaf", "spine",  "pod",
					  "zone", "region", "site"};

void weft_hierarchy_free(struct weft_hierarchy *hierarchy)
{
	if (!hierarchy)
		return;
	free(hierarchy->domains);
	free(hierarchy->host_domain);
	free(hierarchy->host_order);
	free(hierarchy->switch_domain);
	free(hierarchy->rail_switch);
	weft_arena_free(&hierarchy->arena);
	free(hierarchy);
}

uint32_t weft_hierarchy_add_domain(struct weft_hierarchy *hierarchy,
				   const char *name, uint32_t level,
				   struct weft_error *err)
{
	struct weft_hierarchy_domain *domain;

	if (WEFT_GROW(hierarchy->domains, hierarchy->n_domains,
		      hierarchy->domains_room, err))
		return WEFT_NONE;
	domain = &hierarchy->domains[hierarchy->n_domains];
	*domain = (struct weft_hierarchy_domain){
		.name = weft_arena_copy(&hierarchy->arena, name, err),
		.level = level,
		.parent = WEFT_NONE,
	};
	return domain->name ? hierarchy->n_domains++ : WEFT_NONE;
}

static bool has_host_cables(const struct weft_inventory *s)
{
	for (uint32_t i = 0; i < s->n_cables; i++)
		if (s->cables[i].a.kind != s->cables[i].b.kind)
			return true;
	return false;
}

/* Cables are what is there; a tree is what someone says; blocks only order. */
static int hierarchy_fill(struct weft_inventory *s,
			  struct weft_hierarchy *hierarchy,
			  struct weft_error *err)
{
	if (has_host_cables(s))
		return weft_hierarchy_from_cables(s, hierarchy, err);
	if (s->n_edges)
		return weft_hierarchy_from_edges(s, hierarchy, err);
	if (s->n_groups)
		return weft_hierarchy_from_groups(s, hierarchy, err);
	return 0;
}

/* Levels that the way of making them left unnamed; `text` is the caller's
 * "leaf,spine", whose names go to the innermost levels. */
static int levels_name(struct weft_hierarchy *hierarchy, const char *text,
		       struct weft_error *err)
{
	uint32_t unnamed = 0;

	for (uint32_t l = 0; l < hierarchy->n_levels; l++) {
		struct weft_hierarchy_level *level = &hierarchy->levels[l];
		size_t size = text ? strcspn(text, ",") : 0;

		if (size >= sizeof(level->name))
			return weft_fail(err, WEFT_EINVAL,
					 "a level's name is longer than %zu",
					 sizeof(level->name) - 1);
		if (size)
			snprintf(level->name, sizeof(level->name), "%.*s",
				 (int)size, text);
		else if (!level->name[0] && unnamed < WEFT_N_OF(level_names))
			snprintf(level->name, sizeof(level->name), "%s",
				 level_names[unnamed++]);
		else if (!level->name[0])
			snprintf(level->name, sizeof(level->name), "level%u",
				 l + 1);
		if (text)
			text += size + (text[size] == ',');
	}
	return 0;
}

struct weft_hierarchy *
weft_hierarchy_build(struct weft_inventory *s,
		     const struct weft_hierarchy_options *options,
		     struct weft_error *err)
{
	struct weft_hierarchy *hierarchy =
		weft_calloc(1, sizeof(*hierarchy), err);
	uint32_t roots = 0;

	if (!hierarchy)
		return NULL;
	hierarchy->n_rails = 1;
	hierarchy->host_domain = weft_calloc_none(s->n_hosts, err);
	hierarchy->switch_domain = weft_calloc_none(s->n_switches, err);
	if (!hierarchy->host_domain || !hierarchy->switch_domain ||
	    hierarchy_fill(s, hierarchy, err) ||
	    weft_hierarchy_fit(s, hierarchy, options, err) ||
	    levels_name(hierarchy, options->level_names, err)) {
		weft_hierarchy_free(hierarchy);
		return NULL;
	}
	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		roots += hierarchy->domains[d].parent == WEFT_NONE;
	hierarchy->disjoint =
		hierarchy->disjoint || (roots > 1 && !hierarchy->joined);
	return hierarchy;
}
