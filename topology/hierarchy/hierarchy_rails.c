/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_rails.c - which adapter is attached to which leaf of a bundle, and
 * the ones that do not
 *
 * The home of an adapter (mlx5_3, say) in a bundle is the leaf on which most of
 * the bundle's hosts have theirs.  Leafs that are homes are the bundle's rails,
 * in the order of the adapters.
 */
#include "base/compare.h"
#include "topology/hierarchy/cable_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many hosts of a bundle have this adapter on that switch. */
struct home {
	uint32_t bundle, key, sw, n;
	uint32_t all; /* with this adapter on any switch */
	uint32_t up;  /* one of them */
};

struct rails {
	struct index *w;
	struct home *homes; /* by bundle and key; one each */
	uint32_t n_homes;
	uint32_t *first;   /* [bundle + 1] homes */
	uint32_t *n_hosts; /* [bundle] that count */
	uint32_t model;	   /* bundle after whose adapters rails are counted */
	uint32_t n_bundles;
};

/* Hosts that say how a bundle is wired. */
static bool is_witness(const struct index *w, uint32_t host)
{
	return w->bundle[host] != WEFT_NONE && !w->s->hosts[host].no_gpus &&
	       !index_unnamed(w, host);
}

/* Cables of a host to the network that jobs use. */
static uint32_t adapters_count(const struct index *w, uint32_t host)
{
	uint32_t n = 0;

	for (uint32_t i = w->first_up[host]; i < w->first_up[host + 1]; i++)
		n += w->compute[w->ups[i].sw];
	return n;
}

/* ---- homes ---- */

WEFT_COMPARATOR(compare_homes, struct home,
		WEFT_UP(bundle) WEFT_UP(key) WEFT_UP(sw));

static uint32_t homes_gather(const struct index *w, struct home *homes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_ups; i++)
		if (is_witness(w, w->ups[i].host) && w->compute[w->ups[i].sw])
			homes[n++] = (struct home){
				.bundle = w->bundle[w->ups[i].host],
				.key = w->ups[i].key,
				.sw = w->order[w->ups[i].sw],
				.n = 1,
				.up = i,
			};
	return n;
}

/* Of each bundle and adapter the switch with most, if that is most of all. */
static uint32_t homes_choose(const struct index *w, struct home *homes,
			     uint32_t n)
{
	uint32_t kept = 0, merged = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (merged && compare_homes(&homes[merged - 1], &homes[i]) == 0)
			homes[merged - 1].n++;
		else
			homes[merged++] = homes[i];
	}
	for (uint32_t i = 0, end; i < merged; i = end) {
		struct home best = homes[i];

		best.all = 0;
		for (end = i;
		     end < merged && homes[end].bundle == homes[i].bundle &&
		     homes[end].key == homes[i].key;
		     end++) {
			uint32_t all = best.all + homes[end].n;

			if (homes[end].n > best.n)
				best = homes[end];
			best.all = all;
		}
		best.sw = w->by_rank[best.sw];
		if (5 * (uint64_t)best.n >= 3 * (uint64_t)best.all)
			homes[kept++] = best;
	}
	return kept;
}

static int homes_find(struct rails *r)
{
	struct index *w = r->w;

	while (r->n_bundles < w->hierarchy->n_domains &&
	       w->hierarchy->domains[r->n_bundles].level == 0)
		r->n_bundles++;
	if (INDEX_ARRAY(w, r->homes, w->n_ups) ||
	    INDEX_ARRAY(w, r->first, (size_t)r->n_bundles + 1) ||
	    INDEX_ARRAY(w, r->n_hosts, r->n_bundles))
		return -1;
	r->n_homes = homes_gather(w, r->homes);
	WEFT_SORT(r->homes, r->n_homes, compare_homes);
	r->n_homes = homes_choose(w, r->homes, r->n_homes);
	for (uint32_t i = 0; i < r->n_homes; i++)
		r->first[r->homes[i].bundle + 1]++;
	for (uint32_t b = 0; b < r->n_bundles; b++)
		r->first[b + 1] += r->first[b];
	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		if (is_witness(w, h))
			r->n_hosts[w->bundle[h]]++;
	return 0;
}

static const struct home *home_of(const struct rails *r, uint32_t bundle,
				  uint32_t key)
{
	for (uint32_t i = r->first[bundle]; i < r->first[bundle + 1]; i++)
		if (r->homes[i].key == key)
			return &r->homes[i];
	return NULL;
}

/* ---- rails ---- */

/* Leafs of a bundle that are homes, in the order of their first adapters:
 * indices into homes.  At most `most`; their number. */
static uint32_t leafs_list(const struct rails *r, uint32_t bundle,
			   uint32_t *list, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t i = r->first[bundle]; i < r->first[bundle + 1]; i++) {
		uint32_t k = 0;

		if (r->w->hierarchy->switch_domain[r->homes[i].sw] != bundle)
			continue;
		while (k < n && r->homes[list[k]].sw != r->homes[i].sw)
			k++;
		if (k == n && n < most)
			list[n++] = i;
	}
	return n;
}

/* The number of rails that most hosts have, or 1. */
static uint32_t rails_count(const struct rails *r, uint32_t *list,
			    uint32_t *model)
{
	uint32_t hosts[WEFT_MAX_GPUS_PER_NODE + 1] = {0}, all = 0, best = 0;
	uint32_t largest = 0;

	for (uint32_t b = 0; b < r->n_bundles; b++) {
		hosts[leafs_list(r, b, list, WEFT_MAX_GPUS_PER_NODE)] +=
			r->n_hosts[b];
		all += r->n_hosts[b];
	}
	for (uint32_t n = 1; n <= WEFT_MAX_GPUS_PER_NODE; n++)
		if (hosts[n] > hosts[best] || best == 0)
			best = n;
	if (best < 2 || 2 * hosts[best] <= all)
		return 1;
	for (uint32_t b = 0; b < r->n_bundles; b++)
		if (leafs_list(r, b, list, WEFT_MAX_GPUS_PER_NODE) == best &&
		    r->n_hosts[b] > largest) {
			largest = r->n_hosts[b];
			*model = b;
		}
	return best;
}

/* A leaf takes the rail that its first adapter has in the bundle that is the
 * model, and where the names differ, the next that is free. */
static void bundle_rails(const struct rails *r, uint32_t bundle,
			 const uint32_t *model, uint32_t n_rails,
			 uint32_t *rail_switch)
{
	uint32_t list[WEFT_MAX_GPUS_PER_NODE], next = 0;
	bool placed[WEFT_MAX_GPUS_PER_NODE] = {false};
	uint32_t n = leafs_list(r, bundle, list, n_rails);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n_rails && !placed[i]; k++)
			if (r->homes[model[k]].key == r->homes[list[i]].key &&
			    rail_switch[k] == WEFT_NONE) {
				rail_switch[k] = r->homes[list[i]].sw;
				placed[i] = true;
			}
	for (uint32_t i = 0; i < n; i++) {
		if (placed[i])
			continue;
		while (rail_switch[next] != WEFT_NONE)
			next++;
		rail_switch[next] = r->homes[list[i]].sw;
	}
}

/* "HCA-1" is what the driver calls "mlx5_0". */
static bool same_adapter(const char *hca, const char *nic)
{
	char name[32];
	char *rest;
	unsigned long n;

	if (strcmp(hca, nic) == 0)
		return true;
	if (strncmp(hca, "HCA-", 4) != 0)
		return false;
	n = strtoul(hca + 4, &rest, 10);
	snprintf(name, sizeof(name), "mlx5_%lu", n ? n - 1 : 0);
	return !*rest && strcmp(name, nic) == 0;
}

/* The rail of the GPUs that an adapter is next to on the node's PCI buses, as a
 * source of the inside says; WEFT_NONE: none does. */
static uint32_t rail_inside(const struct index *w, const struct wire_up *up)
{
	uint32_t index = w->s->hosts[up->host].inside;
	const struct weft_inventory_inside *in;

	if (index == WEFT_NONE || up->hca == WEFT_NONE)
		return WEFT_NONE;
	in = &w->s->insides[index];
	for (uint32_t i = 0; i < in->n_nics; i++)
		if (same_adapter(w->s->hcas[up->hca].name, in->nics[i].name))
			return in->nics[i].rail;
	return WEFT_NONE;
}

/* Puts the model's leafs in the order of the GPUs that they serve, where the
 * sources say that of all. */
static void rails_order(const struct rails *r, uint32_t *list, uint32_t n)
{
	uint32_t ordered[WEFT_MAX_GPUS_PER_NODE];

	weft_fill_none(ordered, n);
	for (uint32_t k = 0; k < n; k++) {
		const struct home *home = &r->homes[list[k]];
		uint32_t rail = rail_inside(r->w, &r->w->ups[home->up]);

		if (rail >= n || ordered[rail] != WEFT_NONE)
			return;
		ordered[rail] = list[k];
	}
	memcpy(list, ordered, n * sizeof(*list));
}

static int rails_choose(struct rails *r)
{
	struct weft_hierarchy *hierarchy = r->w->hierarchy;
	uint32_t list[WEFT_MAX_GPUS_PER_NODE];
	size_t n;

	hierarchy->n_rails = rails_count(r, list, &r->model);
	if (hierarchy->n_rails == 1)
		return 0;
	n = (size_t)hierarchy->n_domains * hierarchy->n_rails;
	hierarchy->rail_switch = weft_calloc_none(n, r->w->err);
	if (!hierarchy->rail_switch)
		return -1;
	rails_order(r, list, leafs_list(r, r->model, list, hierarchy->n_rails));
	for (uint32_t b = 0; b < r->n_bundles; b++)
		bundle_rails(r, b, list, hierarchy->n_rails,
			     hierarchy->rail_switch +
				     (size_t)b * hierarchy->n_rails);
	return 0;
}

/* The rail of each adapter: that of its home, else of where it hangs. */
static void adapters_mark(const struct rails *r)
{
	const struct index *w = r->w;
	uint32_t n_rails = w->hierarchy->n_rails;

	for (uint32_t i = 0; n_rails > 1 && i < w->n_ups; i++) {
		const struct wire_up *up = &w->ups[i];
		uint32_t bundle = w->bundle[up->host], sw = up->sw;
		const struct home *home;

		if (bundle == WEFT_NONE || up->hca == WEFT_NONE ||
		    !w->compute[sw] || w->s->hcas[up->hca].rail != WEFT_NONE)
			continue;
		home = is_witness(w, up->host) ? home_of(r, bundle, up->key)
					       : NULL;
		sw = home ? home->sw : sw;
		for (uint32_t k = 0; k < n_rails; k++)
			if (w->hierarchy->rail_switch[bundle * n_rails + k] ==
			    sw)
				w->s->hcas[up->hca].rail = k;
	}
}

/* ---- hosts of another kind ---- */

/* Most hosts of the bundle have this adapter. */
static bool is_usual(const struct rails *r, const struct home *home)
{
	uint32_t n = r->n_hosts[home->bundle];

	return home->all >= WEFT_LEAST_MAJORITY &&
	       3 * (uint64_t)home->all >= 2 * (uint64_t)n;
}

/* One that has fewer adapters than its siblings, and none where theirs are, is
 * not one of them that was cabled wrongly. */
static bool is_other(const struct rails *r, uint32_t host)
{
	const struct index *w = r->w;
	uint32_t bundle = w->bundle[host], at_home = 0, usual = 0;
	uint32_t n = adapters_count(w, host);

	for (uint32_t i = r->first[bundle]; i < r->first[bundle + 1]; i++)
		usual += is_usual(r, &r->homes[i]);
	for (uint32_t i = w->first_up[host]; i < w->first_up[host + 1]; i++) {
		const struct home *home = home_of(r, bundle, w->ups[i].key);

		at_home += home && home->sw == w->ups[i].sw;
	}
	return n < usual && !at_home;
}

static int others_note(const struct rails *r)
{
	struct index *w = r->w;

	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		struct index_at at = {
			.name = w->s->hosts[h].name,
			.where = w->s->hosts[h].where,
		};

		if (is_witness(w, h) && is_other(r, h) &&
		    index_note(w, WEFT_FINDING_HOST_OTHER, at,
			       "%u adapters, none of them where those of the "
			       "hosts beside it are",
			       adapters_count(w, h)))
			return -1;
	}
	return 0;
}

/* ---- what is elsewhere ---- */

static const char *up_name(const struct index *w, const struct wire_up *up)
{
	return up->hca == WEFT_NONE ? "?" : w->s->hcas[up->hca].name;
}

/* Another adapter of the host that hangs where this one belongs, and belongs
 * where this one hangs. */
static const struct wire_up *exchanged(const struct rails *r,
				       const struct wire_up *up,
				       const struct home *home)
{
	const struct index *w = r->w;

	for (uint32_t i = w->first_up[up->host]; i < w->first_up[up->host + 1];
	     i++) {
		const struct wire_up *other = &w->ups[i];
		const struct home *theirs =
			home_of(r, w->bundle[up->host], other->key);

		if (other->sw == home->sw && theirs && theirs->sw == up->sw &&
		    theirs != home)
			return other;
	}
	return NULL;
}

static int up_note(const struct rails *r, const struct wire_up *up,
		   const struct home *home)
{
	struct index *w = r->w;
	const struct weft_inventory_switch *switches = w->s->switches;
	const struct wire_up *other = exchanged(r, up, home);
	const char *host = w->s->hosts[up->host].name;
	struct index_at at = {
		.name = host,
		.part = up_name(w, up),
		.where = w->s->cables[up->cable].where,
		.weight = home->n,
	};

	if (other && other < up)
		return 0; /* reported with the other */
	if (other)
		return index_note(w, WEFT_FINDING_RAIL_SWAPPED, at,
				  "%s is attached to %s and %s to %s; %u of %u "
				  "hosts beside it have them the other way "
				  "round",
				  up_name(w, up), switches[up->sw].name,
				  up_name(w, other), switches[other->sw].name,
				  home->n, home->all);
	return index_note(w, WEFT_FINDING_CABLE_MOVED, at,
			  "%s is attached to %s; %u of %u hosts beside it have "
			  "it on %s",
			  up_name(w, up), switches[up->sw].name, home->n,
			  home->all, switches[home->sw].name);
}

static int strays_find(const struct rails *r)
{
	const struct index *w = r->w;

	for (uint32_t i = 0; i < w->n_ups; i++) {
		const struct wire_up *up = &w->ups[i];
		const struct home *home;

		if (!is_witness(w, up->host) || !w->compute[up->sw] ||
		    is_other(r, up->host))
			continue;
		home = home_of(r, w->bundle[up->host], up->key);
		if (home && home->n >= WEFT_LEAST_MAJORITY &&
		    home->sw != up->sw && up_note(r, up, home))
			return -1;
	}
	return 0;
}

/* ---- what is not there ---- */

static bool has_key(const struct index *w, uint32_t host, uint32_t key)
{
	for (uint32_t i = w->first_up[host]; i < w->first_up[host + 1]; i++)
		if (w->ups[i].key == key)
			return true;
	return false;
}

static int host_missing(const struct rails *r, uint32_t host)
{
	struct index *w = r->w;
	uint32_t bundle = w->bundle[host], usual = 0;

	for (uint32_t i = r->first[bundle]; i < r->first[bundle + 1]; i++)
		usual += is_usual(r, &r->homes[i]);
	/* One with as many has other names for them. */
	if (adapters_count(w, host) >= usual)
		return 0;
	for (uint32_t i = r->first[bundle]; i < r->first[bundle + 1]; i++) {
		const struct home *home = &r->homes[i];
		struct index_at at = {
			.name = w->s->hosts[host].name,
			.part = up_name(w, &w->ups[home->up]),
			.where = w->s->hosts[host].where,
			.weight = home->n,
		};

		if (is_usual(r, home) && !has_key(w, host, home->key) &&
		    index_note(w, WEFT_FINDING_RAIL_MISSING, at,
			       "no cable to %s, which %u of the %u hosts "
			       "there have",
			       w->s->switches[home->sw].name, home->n,
			       r->n_hosts[bundle]))
			return -1;
	}
	return 0;
}

/* Its hosts have adapters that the model's have, too. */
static bool is_like_model(const struct rails *r, uint32_t bundle)
{
	for (uint32_t i = r->first[bundle]; i < r->first[bundle + 1]; i++)
		if (!home_of(r, r->model, r->homes[i].key))
			return false;
	return r->n_hosts[bundle] > 1;
}

/* A leaf that all of a bundle's hosts lack is one finding. */
static int bundle_missing(const struct rails *r, uint32_t bundle)
{
	struct index *w = r->w;
	const struct weft_hierarchy *hierarchy = w->hierarchy;

	for (uint32_t k = 0; k < hierarchy->n_rails; k++) {
		struct index_at at = {
			.name = hierarchy->domains[bundle].name,
			.where = {WEFT_NONE, 0},
			.weight = r->n_hosts[bundle],
		};

		if (hierarchy->rail_switch[bundle * hierarchy->n_rails + k] ==
			    WEFT_NONE &&
		    index_note(w, WEFT_FINDING_RAIL_MISSING, at,
			       "no leaf for rail %u, which its %u hosts all "
			       "lack",
			       k, r->n_hosts[bundle]))
			return -1;
	}
	return 0;
}

static int missing_find(const struct rails *r)
{
	for (uint32_t h = 0; h < r->w->s->n_hosts; h++)
		if (is_witness(r->w, h) && !is_other(r, h) &&
		    host_missing(r, h))
			return -1;
	for (uint32_t b = 0; r->w->hierarchy->n_rails > 1 && b < r->n_bundles;
	     b++)
		if (is_like_model(r, b) && bundle_missing(r, b))
			return -1;
	return 0;
}

int index_rails(struct index *w)
{
	struct rails r = {.w = w};

	if (homes_find(&r) || rails_choose(&r))
		return -1;
	adapters_mark(&r);
	return others_note(&r) || strays_find(&r) || missing_find(&r) ? -1 : 0;
}
