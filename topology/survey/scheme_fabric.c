/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scheme_fabric.c - the levels that a fabric file itself says, as a scheme of
 * the survey made from it
 */
#include "topology/cabling.h"
#include "topology/survey/scheme.h"

#include <stdio.h>
#include <stdlib.h>

/* The level of the scheme that level l of the fabric is; network levels only.
 */
static uint32_t level_of(const struct weft_fabric *f, uint32_t l)
{
	return l - f->node_level - 1;
}

static int domains_add(const struct weft_fabric *f, struct weft_scheme *scheme,
		       uint32_t *number, struct weft_error *err)
{
	for (uint32_t l = f->node_level + 1; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];
		struct weft_scheme_level *to =
			&scheme->levels[scheme->n_levels++];

		snprintf(to->name, sizeof(to->name), "%s", level->name);
		to->rate_bytes_per_s = level->link.rate_bytes_per_s;
		to->oversubscription = level->link.oversubscription;
		for (uint32_t i = 0; i < level->n_domains; i++) {
			uint32_t d = level->first_domain + i;

			number[d] = weft_scheme_add_domain(scheme,
							   f->domains[d].name,
							   level_of(f, l), err);
			if (number[d] == WEFT_NONE)
				return -1;
		}
	}
	for (uint32_t d = 0; d < f->n_domains; d++) {
		const struct weft_domain *from = &f->domains[d];

		if (from->level > f->node_level && from->parent != WEFT_NONE)
			scheme->domains[number[d]].parent =
				number[from->parent];
	}
	return 0;
}

static void hosts_fill(const struct weft_fabric *f, const struct weft_survey *s,
		       struct weft_scheme *scheme, const uint32_t *number)
{
	uint32_t level = f->node_level + 1;

	for (uint32_t h = 0; h < s->n_hosts; h++) {
		uint32_t node = weft_fabric_node(f, s->hosts[h].name);
		uint32_t d = WEFT_NONE;

		if (node != WEFT_NONE && level < f->n_levels)
			d = number[f->gpu_domain[level]
						[f->nodes[node].first_gpu]];
		scheme->host_domain[h] = d;
	}
}

static int switches_fill(const struct weft_fabric *f,
			 const struct weft_survey *s,
			 struct weft_scheme *scheme, const uint32_t *number,
			 struct weft_error *err)
{
	const struct weft_cabling *c = f->cabling;
	size_t room = (size_t)scheme->n_domains * f->n_rails;

	for (uint32_t k = 0; k < s->n_switches; k++)
		scheme->switch_domain[k] = WEFT_NONE;
	if (!c)
		return 0;
	scheme->n_rails = f->n_rails;
	scheme->rail_switch =
		weft_calloc(room, sizeof(*scheme->rail_switch), err);
	if (!scheme->rail_switch)
		return -1;
	for (size_t i = 0; i < room; i++)
		scheme->rail_switch[i] = WEFT_NONE;
	for (uint32_t k = 0; k < c->n_switches; k++) {
		const struct weft_cabling_switch *sw = &c->switches[k];
		uint32_t at = weft_survey_find_switch(s, sw->name);

		if (at == WEFT_NONE || sw->domain == WEFT_NONE ||
		    f->domains[sw->domain].level <= f->node_level)
			continue;
		scheme->switch_domain[at] = number[sw->domain];
		if (sw->rail != WEFT_NO_RAIL && sw->rail < f->n_rails)
			scheme->rail_switch[(size_t)number[sw->domain] *
						    f->n_rails +
					    sw->rail] = at;
	}
	return 0;
}

struct weft_scheme *weft_scheme_from_fabric(const struct weft_fabric *f,
					    const struct weft_survey *s,
					    struct weft_error *err)
{
	struct weft_scheme *scheme = weft_calloc(1, sizeof(*scheme), err);
	uint32_t *number = weft_calloc(f->n_domains, sizeof(*number), err);
	int rc = -1;

	if (!scheme || !number)
		goto out;
	scheme->n_rails = 1;
	scheme->disjoint = !f->connected;
	scheme->host_domain = weft_calloc(s->n_hosts, sizeof(uint32_t), err);
	scheme->switch_domain =
		weft_calloc(s->n_switches, sizeof(uint32_t), err);
	if (!scheme->host_domain || !scheme->switch_domain ||
	    domains_add(f, scheme, number, err))
		goto out;
	hosts_fill(f, s, scheme, number);
	rc = switches_fill(f, s, scheme, number, err);
out:
	free(number);
	if (rc) {
		weft_scheme_free(scheme);
		return NULL;
	}
	return scheme;
}
