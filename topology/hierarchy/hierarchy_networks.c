/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_networks.c - which switches are one network, and which network is
 * the one that jobs use
 *
 * Components of switches that serve the same hosts with as many adapters each
 * are planes or rails of one network.  A component that serves some of the
 * hosts of another with fewer adapters, and hosts of its own besides, is for
 * storage or management.
 */
#include "base/compare.h"
#include "base/sets.h"
#include "topology/hierarchy/cable_index.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Components of a host that are looked at, which bounds hostile input. */
#define PARTS_OF_A_HOST 32

struct part {
	uint32_t n_hosts, n_ups, n_switches;
	uint32_t n_own; /* hosts that are attached to no other component */
	double rate_bytes_per_s;
	bool hinted;	  /* its switches are named after storage */
	bool storage;	  /* not what jobs use */
	uint32_t network; /* component that stands for its network */
};

/* Two components that share so many hosts. */
struct shared {
	uint32_t a, b, n;
};

struct networks {
	struct index *w;
	struct part *parts;
	uint32_t n_parts;
	struct shared *shared;
	uint32_t n_shared, shared_room;
};

/* ---- components ---- */

/* Fills w->part with numbers from 0. */
static int components(struct networks *n)
{
	struct index *w = n->w;
	uint32_t n_switches = w->s->n_switches;
	uint32_t *parent;

	if (INDEX_ARRAY(w, parent, n_switches))
		return -1;
	weft_sets_start(parent, n_switches);
	for (uint32_t i = 0; i < n_switches; i++)
		for (uint32_t p = w->first_peer[i]; p < w->first_peer[i + 1];
		     p++)
			weft_sets_join(parent, i, w->peers[p].sw);
	for (uint32_t i = 0; i < n_switches; i++)
		w->part[i] = weft_sets_find(parent, i) == i
				     ? n->n_parts++
				     : w->part[parent[i]];
	return INDEX_ARRAY(w, n->parts, n->n_parts);
}

/* ---- what is attached to them ---- */

static bool name_hints(const char *name)
{
	static const char *const hints[] = {"stor",   "stg",  "sleaf",
					    "sspine", "mgmt", "oob"};
	char lower[WEFT_NAME_SIZE];
	size_t n = 0;

	for (; name[n] && n < sizeof(lower) - 1; n++)
		lower[n] = (char)tolower((unsigned char)name[n]);
	lower[n] = '\0';
	for (size_t i = 0; i < WEFT_N_OF(hints); i++)
		if (strstr(lower, hints[i]))
			return true;
	return false;
}

static int shared_add(struct networks *n, uint32_t a, uint32_t b)
{
	if (WEFT_GROW(n->shared, n->n_shared, n->shared_room, n->w->err))
		return -1;
	n->shared[n->n_shared++] = (struct shared){a, b, 1};
	return 0;
}

static int host_count(struct networks *n, uint32_t host)
{
	const struct index *w = n->w;
	uint32_t list[PARTS_OF_A_HOST], k = 0, kept = 0;

	for (uint32_t i = w->first_up[host]; i < w->first_up[host + 1]; i++) {
		const struct wire_up *up = &w->ups[i];
		struct part *part = &n->parts[w->part[up->sw]];

		part->n_ups++;
		part->rate_bytes_per_s +=
			w->s->cables[up->cable].rate_bytes_per_s;
		if (k < PARTS_OF_A_HOST)
			list[k++] = w->part[up->sw];
	}
	WEFT_SORT(list, k, weft_compare_numbers);
	for (uint32_t i = 0; i < k; i++)
		if (!i || list[i] != list[kept - 1])
			list[kept++] = list[i];
	for (uint32_t i = 0; i < kept; i++) {
		n->parts[list[i]].n_hosts++;
		n->parts[list[i]].n_own += kept == 1;
		for (uint32_t j = i + 1; j < kept; j++)
			if (shared_add(n, list[i], list[j]))
				return -1;
	}
	return 0;
}

WEFT_COMPARATOR(compare_shared, struct shared, WEFT_UP(a) WEFT_UP(b));

static int parts_count(struct networks *n)
{
	const struct index *w = n->w;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->n_parts; i++) {
		n->parts[i].network = i;
		n->parts[i].hinted = true;
	}
	for (uint32_t i = 0; i < w->s->n_switches; i++) {
		struct part *part = &n->parts[w->part[i]];

		part->n_switches++;
		part->hinted =
			part->hinted && name_hints(w->s->switches[i].name);
	}
	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		if (host_count(n, h))
			return -1;
	WEFT_SORT(n->shared, n->n_shared, compare_shared);
	for (uint32_t i = 0; i < n->n_shared; i++) {
		if (kept &&
		    compare_shared(&n->shared[kept - 1], &n->shared[i]) == 0)
			n->shared[kept - 1].n++;
		else
			n->shared[kept++] = n->shared[i];
	}
	n->n_shared = kept;
	return 0;
}

/* ---- one network, or two ---- */

/* Within a quarter of each other. */
static bool alike(double a, double b)
{
	return a <= 1.25 * b && b <= 1.25 * a;
}

static bool are_planes(const struct part *a, const struct part *b)
{
	return a->hinted == b->hinted &&
	       alike((double)a->n_ups / a->n_hosts,
		     (double)b->n_ups / b->n_hosts) &&
	       alike(a->rate_bytes_per_s / a->n_ups,
		     b->rate_bytes_per_s / b->n_ups) &&
	       20 * a->n_own <= a->n_hosts && 20 * b->n_own <= b->n_hosts;
}

/* A leaf that has lost its uplinks is a component of its own, too: one switch
 * with no host that is not the other's. */
static bool is_cut_off(const struct part *leaf, const struct part *rest)
{
	return leaf->n_switches == 1 && rest->n_switches > 1 &&
	       leaf->n_own == 0 && leaf->hinted == rest->hinted &&
	       alike(leaf->rate_bytes_per_s / leaf->n_ups,
		     rest->rate_bytes_per_s / rest->n_ups);
}

static uint32_t network_of(const struct networks *n, uint32_t part)
{
	while (n->parts[part].network != part)
		part = n->parts[part].network;
	return part;
}

static void planes_join(struct networks *n)
{
	for (uint32_t i = 0; i < n->n_shared; i++) {
		const struct shared *s = &n->shared[i];
		const struct part *a = &n->parts[s->a], *b = &n->parts[s->b];
		uint32_t least =
			a->n_hosts < b->n_hosts ? a->n_hosts : b->n_hosts;
		uint32_t x = network_of(n, s->a), y = network_of(n, s->b);

		if (2 * s->n > least &&
		    (are_planes(a, b) || is_cut_off(a, b) || is_cut_off(b, a)))
			n->parts[x < y ? y : x].network = x < y ? x : y;
	}
}

/* Of two that share hosts: is a the one that jobs use? */
static bool is_better(const struct part *a, const struct part *b)
{
	double rate_a = a->rate_bytes_per_s / a->n_hosts;
	double rate_b = b->rate_bytes_per_s / b->n_hosts;

	if (a->hinted != b->hinted)
		return b->hinted;
	if (!alike((double)a->n_ups / a->n_hosts,
		   (double)b->n_ups / b->n_hosts))
		return a->n_ups * (uint64_t)b->n_hosts >
		       b->n_ups * (uint64_t)a->n_hosts;
	if (rate_a != rate_b)
		return rate_a > rate_b;
	return a->n_own < b->n_own;
}

/* Figures of each network, at the component that stands for it. */
static void networks_sum(struct networks *n)
{
	for (uint32_t i = 0; i < n->n_parts; i++) {
		struct part *part = &n->parts[i];
		struct part *sum = &n->parts[network_of(n, i)];

		if (part == sum)
			continue;
		sum->n_ups += part->n_ups;
		sum->rate_bytes_per_s += part->rate_bytes_per_s;
	}
}

static void storage_find(struct networks *n)
{
	networks_sum(n);
	for (uint32_t i = 0; i < n->n_shared; i++) {
		struct part *a = &n->parts[network_of(n, n->shared[i].a)];
		struct part *b = &n->parts[network_of(n, n->shared[i].b)];
		uint32_t least =
			a->n_hosts < b->n_hosts ? a->n_hosts : b->n_hosts;

		/* One cable in the wrong place shares a host, too. */
		if (a == b || 4 * n->shared[i].n < least)
			continue;
		if (is_better(a, b))
			b->storage = true;
		else
			a->storage = true;
	}
}

static int networks_note(struct networks *n)
{
	struct index *w = n->w;

	for (uint32_t i = 0; i < n->n_parts; i++) {
		const struct part *part = &n->parts[i];
		uint32_t first = 0;

		if (!part->storage || part->network != i)
			continue;
		while (w->part[first] != i)
			first++;
		if (weft_inventory_note(
			    w->s, WEFT_FINDING_NETWORK_SEPARATE,
			    w->s->switches[first].name,
			    w->s->switches[first].where, w->err,
			    "%u switch%s a network of %s own beside the one "
			    "that jobs use: storage, or management",
			    part->n_switches,
			    part->n_switches == 1 ? " is" : "es are",
			    part->n_switches == 1 ? "its" : "their"))
			return -1;
	}
	return 0;
}

static void switches_mark(struct networks *n)
{
	struct index *w = n->w;

	for (uint32_t i = 0; i < w->s->n_switches; i++) {
		struct weft_inventory_switch *sw = &w->s->switches[i];
		const struct part *part = &n->parts[network_of(n, w->part[i])];

		if (part->storage && !sw->network)
			sw->network = "storage";
		w->compute[i] = !sw->network;
	}
}

int index_networks(struct index *w)
{
	struct networks n = {.w = w};
	int rc = components(&n);

	if (rc == 0)
		rc = parts_count(&n);
	if (rc == 0) {
		planes_join(&n);
		storage_find(&n);
		switches_mark(&n);
		rc = networks_note(&n);
	}
	free(n.shared);
	return rc;
}
