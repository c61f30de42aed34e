/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_rates.c - what a host gets, and what is left of it at each level,
 * from the cables that are there
 */
#include "base/compare.h"
#include "topology/hierarchy/cable_index.h"

#include <stdlib.h>

static double median(double *values, uint32_t n)
{
	if (!n)
		return 0;
	WEFT_SORT(values, n, weft_compare_reals);
	return values[n / 2];
}

/* The usual sum of a host's cables to the network that jobs use. */
static int host_rate(struct index *w)
{
	const struct weft_inventory *s = w->s;
	double *rates;
	uint32_t n = 0;

	if (INDEX_ARRAY(w, rates, s->n_hosts))
		return -1;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		if (s->hosts[h].no_gpus || w->bundle[h] == WEFT_NONE)
			continue;
		for (uint32_t i = w->first_up[h]; i < w->first_up[h + 1]; i++) {
			const struct weft_inventory_cable *c =
				&s->cables[w->ups[i].cable];

			if (w->compute[w->ups[i].sw] && !c->down)
				rates[n] += c->n * c->rate_bytes_per_s;
		}
		n += rates[n] > 0;
	}
	w->hierarchy->host_rate_bytes_per_s = median(rates, n);
	return 0;
}

/* Bandwidth of a switch below and above; cables count where some rate is not
 * known. */
struct sums {
	double down, up;
	uint32_t n_down, n_up;
	bool unknown;
};

/* Joined side by side, as a dragonfly's routers: what leads out of the group is
 * of the level above. */
static bool leaves_group(const struct weft_hierarchy *hierarchy,
			 uint32_t domain, uint32_t other)
{
	uint32_t parent = hierarchy->domains[domain].parent;

	return parent != WEFT_NONE &&
	       hierarchy->levels[hierarchy->domains[parent].level].shape ==
		       WEFT_HIERARCHY_GROUPS &&
	       hierarchy->domains[other].parent != parent;
}

static void switch_sum(const struct index *w, uint32_t sw,
		       const double *host_rates, struct sums *sums)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t domain = hierarchy->switch_domain[sw];

	*sums = (struct sums){.down = host_rates[sw], .n_down = w->n_down[sw]};
	sums->unknown = sums->n_down && sums->down <= 0;
	for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1]; p++) {
		const struct wire_peer *peer = &w->peers[p];
		uint32_t other = hierarchy->switch_domain[peer->sw];

		if (other == WEFT_NONE || other == domain ||
		    leaves_group(hierarchy, domain, other))
			continue;
		sums->unknown = sums->unknown || peer->rate_bytes_per_s <= 0;
		if (hierarchy->domains[other].level <
		    hierarchy->domains[domain].level) {
			sums->down += peer->rate_bytes_per_s;
			sums->n_down += peer->n;
		} else {
			sums->up += peer->rate_bytes_per_s;
			sums->n_up += peer->n;
		}
	}
}

/* The domain above `domain`, or itself, that a domain of the level contains;
 * WEFT_NONE: there is none. */
static uint32_t child_of_level(const struct weft_hierarchy *hierarchy,
			       uint32_t domain, uint32_t level)
{
	while (domain != WEFT_NONE) {
		uint32_t parent = hierarchy->domains[domain].parent;

		if (parent != WEFT_NONE &&
		    hierarchy->domains[parent].level == level)
			return domain;
		domain = parent;
	}
	return WEFT_NONE;
}

/* Of groups without a switch of their own: what the hosts below them have over
 * the links of all their switches to other groups. */
static double groups_ratio(const struct index *w, uint32_t level,
			   const double *host_rates, double *ratios)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t n = 0, n_domains = hierarchy->n_domains;
	double *down = weft_calloc(n_domains, sizeof(*down), NULL);
	double *up = weft_calloc(n_domains, sizeof(*up), NULL);

	for (uint32_t sw = 0; down && up && sw < w->s->n_switches; sw++) {
		uint32_t group = child_of_level(
			hierarchy, hierarchy->switch_domain[sw], level);

		if (group == WEFT_NONE)
			continue;
		down[group] += host_rates[sw];
		for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1];
		     p++) {
			uint32_t other =
				hierarchy->switch_domain[w->peers[p].sw];

			if (child_of_level(hierarchy, other, level) != group)
				up[group] += w->peers[p].rate_bytes_per_s;
		}
	}
	for (uint32_t d = 0;
	     down && up && d < n_domains && n < w->s->n_switches; d++)
		if (down[d] > 0 && up[d] > 0)
			ratios[n++] = down[d] / up[d];
	free(down);
	free(up);
	return median(ratios, n);
}

/* Usual ratio of the switches whose uplinks lead to that level. */
static double level_ratio(const struct index *w, uint32_t level,
			  const double *host_rates, double *ratios)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	uint32_t n = 0;
	double ratio;

	for (uint32_t sw = 0; sw < w->s->n_switches; sw++) {
		uint32_t domain = hierarchy->switch_domain[sw], parent;
		struct sums sums;

		parent = domain == WEFT_NONE
				 ? WEFT_NONE
				 : hierarchy->domains[domain].parent;
		if (parent == WEFT_NONE ||
		    hierarchy->domains[parent].level != level)
			continue;
		switch_sum(w, sw, host_rates, &sums);
		if (sums.n_up && sums.n_down)
			ratios[n++] = sums.unknown || sums.up <= 0
					      ? (double)sums.n_down / sums.n_up
					      : sums.down / sums.up;
	}
	ratio = n ? median(ratios, n)
		  : groups_ratio(w, level, host_rates, ratios);
	return ratio < 1 ? 1 : ratio;
}

int index_rates(struct index *w)
{
	uint32_t n = w->s->n_switches;
	double *host_rates, *ratios;

	if (INDEX_ARRAY(w, host_rates, n) || INDEX_ARRAY(w, ratios, n) ||
	    host_rate(w))
		return -1;
	for (uint32_t i = 0; i < w->n_ups; i++) {
		const struct weft_inventory_cable *c =
			&w->s->cables[w->ups[i].cable];

		if (!c->down)
			host_rates[w->ups[i].sw] += c->n * c->rate_bytes_per_s;
	}
	for (uint32_t l = 0; l < w->hierarchy->n_levels; l++)
		w->hierarchy->levels[l].oversubscription =
			l ? level_ratio(w, l, host_rates, ratios) : 1;
	return 0;
}
