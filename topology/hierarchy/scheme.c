/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scheme.c - chooses what the levels of a inventory are made from */
#include "topology/hierarchy/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of the levels where no source gives others, innermost first. */
static const char *const level_names[] = {"leaf", "spine",  "pod",
					  "zone", "region", "site"};
#define N_LEVEL_NAMES (sizeof(level_names) / sizeof(level_names[0]))

void weft_scheme_free(struct weft_scheme *scheme)
{
	if (!scheme)
		return;
	free(scheme->domains);
	free(scheme->host_domain);
	free(scheme->host_order);
	free(scheme->switch_domain);
	free(scheme->rail_switch);
	weft_arena_free(&scheme->arena);
	free(scheme);
}

uint32_t weft_scheme_add_domain(struct weft_scheme *scheme, const char *name,
				uint32_t level, struct weft_error *err)
{
	struct weft_scheme_domain *domain;

	if (scheme->n_domains == scheme->domains_room) {
		uint32_t room =
			scheme->domains_room ? 2 * scheme->domains_room : 64;

		domain = weft_realloc(scheme->domains, room, sizeof(*domain),
				      err);
		if (!domain)
			return WEFT_NONE;
		scheme->domains = domain;
		scheme->domains_room = room;
	}
	domain = &scheme->domains[scheme->n_domains];
	*domain = (struct weft_scheme_domain){
		.name = weft_arena_text(&scheme->arena, name, strlen(name),
					err),
		.level = level,
		.parent = WEFT_NONE,
	};
	return domain->name ? scheme->n_domains++ : WEFT_NONE;
}

static uint32_t *nones(uint32_t n, struct weft_error *err)
{
	uint32_t *array = weft_calloc(n, sizeof(*array), err);

	for (uint32_t i = 0; array && i < n; i++)
		array[i] = WEFT_NONE;
	return array;
}

static bool has_host_cables(const struct weft_inventory *s)
{
	for (uint32_t i = 0; i < s->n_cables; i++)
		if (s->cables[i].a.kind != s->cables[i].b.kind)
			return true;
	return false;
}

/* Cables are what is there; a tree is what someone says; blocks only order. */
static int scheme_fill(struct weft_inventory *s, struct weft_scheme *scheme,
		       struct weft_error *err)
{
	if (has_host_cables(s))
		return weft_scheme_from_cables(s, scheme, err);
	if (s->n_edges)
		return weft_scheme_from_edges(s, scheme, err);
	if (s->n_groups)
		return weft_scheme_from_groups(s, scheme, err);
	return 0;
}

/* Levels that the way of making them left unnamed; `text` is the caller's
 * "leaf,spine", whose names go to the innermost levels. */
static int levels_name(struct weft_scheme *scheme, const char *text,
		       struct weft_error *err)
{
	uint32_t unnamed = 0;

	for (uint32_t l = 0; l < scheme->n_levels; l++) {
		struct weft_scheme_level *level = &scheme->levels[l];
		size_t size = text ? strcspn(text, ",") : 0;

		if (size >= sizeof(level->name))
			return weft_fail(err, WEFT_EINVAL,
					 "a level's name is longer than %zu",
					 sizeof(level->name) - 1);
		if (size)
			snprintf(level->name, sizeof(level->name), "%.*s",
				 (int)size, text);
		else if (!level->name[0] && unnamed < N_LEVEL_NAMES)
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

struct weft_scheme *weft_scheme_build(struct weft_inventory *s,
				      const struct weft_scheme_options *options,
				      struct weft_error *err)
{
	struct weft_scheme *scheme = weft_calloc(1, sizeof(*scheme), err);
	uint32_t roots = 0;

	if (!scheme)
		return NULL;
	scheme->n_rails = 1;
	scheme->host_domain = nones(s->n_hosts, err);
	scheme->switch_domain = nones(s->n_switches, err);
	if (!scheme->host_domain || !scheme->switch_domain ||
	    scheme_fill(s, scheme, err) ||
	    weft_scheme_fit(s, scheme, options, err) ||
	    levels_name(scheme, options->level_names, err)) {
		weft_scheme_free(scheme);
		return NULL;
	}
	for (uint32_t d = 0; d < scheme->n_domains; d++)
		roots += scheme->domains[d].parent == WEFT_NONE;
	scheme->disjoint = scheme->disjoint || (roots > 1 && !scheme->joined);
	return scheme;
}
