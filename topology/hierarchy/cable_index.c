/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cable_index.c - the cables of a inventory as a graph */
#include "topology/hierarchy/cable_index.h"
#include "base/compare.h"
#include "base/hash.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t index_root(const struct weft_hierarchy *hierarchy, uint32_t domain)
{
	while (domain != WEFT_NONE &&
	       hierarchy->domains[domain].parent != WEFT_NONE)
		domain = hierarchy->domains[domain].parent;
	return domain;
}

int index_note(struct index *w, enum weft_finding_id id, struct index_at at,
	       const char *format, ...)
{
	struct weft_inventory *s = w->s;
	char place[2 * WEFT_NAME_SIZE], text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(place, sizeof(place), "%s%s%s", at.name, at.part ? ":" : "",
		 at.part ? at.part : "");
	return weft_findings_add(
		&s->findings, id,
		(struct weft_finding_at){
			.place = place,
			.source = at.where.source < s->n_sources
					  ? s->sources[at.where.source].name
					  : NULL,
			.line = at.where.line,
			.weight = at.weight,
		},
		w->err, "%s", text);
}

bool index_unnamed(const struct index *w, uint32_t host)
{
	const struct weft_inventory_host *h = &w->s->hosts[host];
	const char *guid = h->first_hca == WEFT_NONE
				   ? NULL
				   : w->s->hcas[h->first_hca].guid;

	return guid && strncmp(h->name, "0x", 2) == 0 &&
	       strcmp(h->name, guid) == 0;
}

uint32_t index_half(uint32_t *counts, uint32_t n)
{
	uint64_t all = 0, seen = 0;
	uint32_t half = 0;

	WEFT_SORT(counts, n, weft_compare_numbers);
	for (uint32_t i = 0; i < n; i++)
		all += counts[i];
	for (uint32_t i = 0; i < n && 2 * seen < all; i++) {
		seen += counts[i];
		half = counts[i];
	}
	return half;
}

int index_cables_usual(struct index *w, uint32_t *usual)
{
	uint32_t n = w->s->n_hosts;
	uint32_t *counts;

	if (INDEX_ARRAY(w, counts, n))
		return -1;
	for (uint32_t h = 0; h < n; h++)
		counts[h] = w->first_up[h + 1] - w->first_up[h];
	*usual = index_half(counts, n);
	return 0;
}

/* ---- which adapter is which ---- */

/* "HCA-1" of one host and "mlx5_0" of another are the same place: udev's and
 * the driver's names count from 1 and from 0. */
static void key_text(const struct index *w, const struct wire_up *up,
		     uint32_t rank, char *text, size_t size)
{
	const char *name = up->hca == WEFT_NONE ? "" : w->s->hcas[up->hca].name;
	char *rest;

	if (strncmp(name, "HCA-", 4) == 0 && isdigit((unsigned char)name[4])) {
		unsigned long n = strtoul(name + 4, &rest, 10);

		snprintf(text, size, "mlx5_%lu%s", n ? n - 1 : 0, rest);
	} else if (!*name || strncmp(name, "0x", 2) == 0) {
		snprintf(text, size, "%u", rank); /* a GUID tells no place */
	} else {
		snprintf(text, size, "%s", name);
	}
}

struct keyed {
	char text[WEFT_NAME_SIZE];
	uint64_t hash;
	uint32_t up;
};

WEFT_COMPARATOR(compare_keyed, struct keyed, WEFT_UP(hash) WEFT_TEXT(text));

WEFT_COMPARATOR(compare_keyed_names, struct keyed,
		WEFT_NAME(text) WEFT_TEXT(text));

/* Numbers the distinct texts in the order in which people count. */
static int keys_number(struct index *w, struct keyed *keyed)
{
	struct keyed *distinct;
	uint32_t n = 0;

	WEFT_SORT(keyed, w->n_ups, compare_keyed);
	for (uint32_t i = 0; i < w->n_ups; i++)
		n += !i || compare_keyed(&keyed[i - 1], &keyed[i]) != 0;
	if (INDEX_ARRAY(w, distinct, n))
		return -1;
	w->n_keys = 0;
	for (uint32_t i = 0; i < w->n_ups; i++)
		if (!i || compare_keyed(&keyed[i - 1], &keyed[i]) != 0)
			distinct[w->n_keys++] = keyed[i];
	WEFT_SORT(distinct, n, compare_keyed_names);
	for (uint32_t i = 0, key = 0; i < w->n_ups; i++) {
		if (!i || compare_keyed(&keyed[i - 1], &keyed[i]) != 0)
			key = (uint32_t)((struct keyed *)bsearch(
						 &keyed[i], distinct, n,
						 sizeof(*distinct),
						 compare_keyed_names) -
					 distinct);
		w->ups[keyed[i].up].key = key;
	}
	return 0;
}

static int keys_give(struct index *w)
{
	struct keyed *keyed;
	uint32_t rank = 0;

	if (INDEX_ARRAY(w, keyed, w->n_ups))
		return -1;
	for (uint32_t i = 0; i < w->n_ups; i++) {
		rank = i && w->ups[i].host == w->ups[i - 1].host ? rank + 1 : 0;
		key_text(w, &w->ups[i], rank, keyed[i].text,
			 sizeof(keyed[i].text));
		keyed[i].hash = weft_hash_text(keyed[i].text);
		keyed[i].up = i;
	}
	return keys_number(w, keyed);
}

/* ---- hosts' cables ---- */

WEFT_COMPARATOR(compare_ups, struct wire_up,
		WEFT_UP(host) WEFT_UP(key) WEFT_UP(cable));

static int ups_build(struct index *w)
{
	const struct weft_inventory *s = w->s;

	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];

		if (c->a.kind != WEFT_END_HOST || c->b.kind != WEFT_END_SWITCH)
			continue;
		w->ups[w->n_ups++] = (struct wire_up){
			.host = c->a.index,
			.hca = c->a.hca,
			.sw = c->b.index,
			.cable = i,
		};
		w->n_down[c->b.index] += c->n;
		w->first_up[c->a.index + 1]++;
	}
	for (uint32_t h = 0; h < s->n_hosts; h++)
		w->first_up[h + 1] += w->first_up[h];
	WEFT_SORT(w->ups, w->n_ups, compare_ups);
	if (keys_give(w))
		return -1;
	WEFT_SORT(w->ups, w->n_ups, compare_ups);
	return 0;
}

/* ---- switches' cables ---- */

struct pair {
	uint32_t from;
	struct wire_peer to;
};

WEFT_COMPARATOR(compare_pairs, struct pair,
		WEFT_UP(from) WEFT_UP(to.sw) WEFT_UP(to.cable));

static uint32_t pairs_list(const struct weft_inventory *s, struct pair *pairs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];
		double rate = c->down ? 0 : c->n * c->rate_bytes_per_s;

		if (c->a.kind != WEFT_END_SWITCH ||
		    c->b.kind != WEFT_END_SWITCH || c->a.index == c->b.index)
			continue;
		pairs[n++] =
			(struct pair){c->a.index, {c->b.index, c->n, rate, i}};
		pairs[n++] =
			(struct pair){c->b.index, {c->a.index, c->n, rate, i}};
	}
	return n;
}

static int peers_build(struct index *w)
{
	const struct weft_inventory *s = w->s;
	struct pair *pairs;
	uint32_t n;

	if (INDEX_ARRAY(w, pairs, 2 * (size_t)s->n_cables))
		return -1;
	n = pairs_list(s, pairs);
	if (INDEX_ARRAY(w, w->peers, n))
		return -1;
	WEFT_SORT(pairs, n, compare_pairs);
	for (uint32_t i = 0; i < n; i++) {
		if (i && pairs[i].from == pairs[i - 1].from &&
		    pairs[i].to.sw == pairs[i - 1].to.sw) {
			struct wire_peer *last = &w->peers[w->n_peers - 1];

			last->n += pairs[i].to.n;
			last->rate_bytes_per_s += pairs[i].to.rate_bytes_per_s;
			continue;
		}
		w->peers[w->n_peers++] = pairs[i].to;
		w->first_peer[pairs[i].from + 1]++;
	}
	for (uint32_t i = 0; i < s->n_switches; i++)
		w->first_peer[i + 1] += w->first_peer[i];
	return 0;
}

struct named {
	const char *name; /* first: weft_compare_names looks at nothing else */
	uint32_t index;
};

static int order_build(struct index *w)
{
	uint32_t n = w->s->n_switches;
	struct named *named;

	if (INDEX_ARRAY(w, named, n))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		named[i] = (struct named){w->s->switches[i].name, i};
	WEFT_SORT(named, n, weft_compare_names);
	for (uint32_t i = 0; i < n; i++) {
		w->order[named[i].index] = i;
		w->by_rank[i] = named[i].index;
	}
	return 0;
}

int index_build(struct index *w)
{
	const struct weft_inventory *s = w->s;

	if (INDEX_ARRAY(w, w->ups, s->n_cables) ||
	    INDEX_ARRAY(w, w->first_up, (size_t)s->n_hosts + 1) ||
	    INDEX_ARRAY(w, w->first_peer, (size_t)s->n_switches + 1) ||
	    INDEX_ARRAY(w, w->n_down, s->n_switches) ||
	    INDEX_ARRAY(w, w->order, s->n_switches) ||
	    INDEX_ARRAY(w, w->by_rank, s->n_switches) ||
	    INDEX_ARRAY(w, w->part, s->n_switches) ||
	    INDEX_ARRAY(w, w->compute, s->n_switches) ||
	    INDEX_ARRAY(w, w->tier, s->n_switches) ||
	    INDEX_ARRAY(w, w->bundle, s->n_hosts))
		return -1;
	weft_fill_none(w->bundle, s->n_hosts);
	return ups_build(w) || peers_build(w) || order_build(w) ? -1 : 0;
}
