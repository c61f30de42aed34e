/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift_match.c - which host and switch of one inventory is which of the other
 *
 * By name; by GUID; and what is left by its place: a host by the switches and
 * ports that it is attached to, or its leaf; a switch by whom it joins.
 */
#include "base/compare.h"
#include "base/hash.h"
#include "topology/audit/drift/drift.h"

#include <stdlib.h>
#include <string.h>

static void hosts_pair(struct drift *d, uint32_t h0, uint32_t h1)
{
	d->host[0][h0] = h1;
	d->host[1][h1] = h0;
}

static void switches_pair(struct drift *d, uint32_t k0, uint32_t k1)
{
	d->sw[0][k0] = k1;
	d->sw[1][k1] = k0;
}

/* "n07.site.org" and "n07" are one host. */
static void hosts_by_short_name(struct drift *d)
{
	for (int side = 0; side < 2; side++) {
		for (uint32_t h = 0; h < d->s[side]->n_hosts; h++) {
			const char *name = d->s[side]->hosts[h].name;
			size_t size = strcspn(name, ".");
			char text[256];
			uint32_t other;

			if (d->host[side][h] != WEFT_NONE || !name[size] ||
			    size >= sizeof(text))
				continue;
			memcpy(text, name, size);
			text[size] = '\0';
			other = weft_inventory_find_host(d->s[!side], text);
			if (other != WEFT_NONE &&
			    d->host[!side][other] == WEFT_NONE)
				hosts_pair(d, side ? other : h,
					   side ? h : other);
		}
	}
}

int drift_match_names(struct drift *d)
{
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++) {
		uint32_t other = weft_inventory_find_host(
			d->s[1], d->s[0]->hosts[h].name);

		if (other != WEFT_NONE)
			hosts_pair(d, h, other);
	}
	hosts_by_short_name(d);
	for (uint32_t k = 0; k < d->s[0]->n_switches; k++) {
		uint32_t other = weft_inventory_find_switch(
			d->s[1], d->s[0]->switches[k].name);

		if (other != WEFT_NONE)
			switches_pair(d, k, other);
	}
	return 0;
}

/* ---- equal keys on both sides ---- */

struct key {
	uint64_t value;
	const char *name;
	uint32_t index;
};

WEFT_COMPARATOR(compare_keys, struct key, WEFT_UP(value) WEFT_NAME(name));

static uint32_t run_end(const struct key *key, uint32_t i, uint32_t n)
{
	uint32_t end = i;

	while (end < n && key[end].value == key[i].value)
		end++;
	return end;
}

typedef void (*pair_function)(struct drift *d, uint32_t a, uint32_t b);

/* Pairs, in the order of their names, those that as many on either side have
 * the key of; at most `most` of a key. */
static void keys_pair(struct drift *d, struct key *key[2], const uint32_t n[2],
		      uint32_t most, pair_function pair)
{
	uint32_t i[2] = {0, 0};

	for (int side = 0; side < 2; side++)
		WEFT_SORT(key[side], n[side], compare_keys);
	while (i[0] < n[0] && i[1] < n[1]) {
		uint64_t a = key[0][i[0]].value, b = key[1][i[1]].value;
		uint32_t end[2] = {run_end(key[0], i[0], n[0]),
				   run_end(key[1], i[1], n[1])};

		if (a == b && end[0] - i[0] == end[1] - i[1] &&
		    end[0] - i[0] <= most)
			for (uint32_t k = 0; k < end[0] - i[0]; k++)
				pair(d, key[0][i[0] + k].index,
				     key[1][i[1] + k].index);
		if (a <= b)
			i[0] = end[0];
		if (b <= a)
			i[1] = end[1];
	}
}

/* ---- switches ---- */

static uint64_t switch_guid_key(const struct drift *d, int side, uint32_t k)
{
	const char *guid = d->s[side]->switches[k].guid;

	return guid ? weft_hash_text(guid) : 0;
}

/* The sum over its cables: independent of their order.  Only ends that are
 * matched count, by their number on side 0. */
static uint64_t switch_place_key(const struct drift *d, int side, uint32_t k)
{
	uint32_t n;
	const uint32_t *cable =
		audit_graph_cables(&d->g[side], WEFT_END_SWITCH, k, &n);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_end *peer =
			audit_graph_peer(&d->s[side]->cables[cable[i]], k);
		const uint32_t *match = peer->kind == WEFT_END_HOST
						? d->host[side]
						: d->sw[side];
		uint32_t id[2] = {(uint32_t)peer->kind, match[peer->index]};

		if (id[1] == WEFT_NONE)
			continue;
		if (side == 0)
			id[1] = peer->index;
		sum += weft_hash_bytes(WEFT_HASH_START, id, sizeof(id));
	}
	return sum;
}

typedef uint64_t (*key_function)(const struct drift *d, int side, uint32_t k);

static int match_by(struct drift *d, bool hosts, key_function key_of,
		    uint32_t most)
{
	struct key *key[2];
	uint32_t n[2] = {0, 0};

	for (int side = 0; side < 2; side++) {
		const struct weft_inventory *s = d->s[side];
		uint32_t all = hosts ? s->n_hosts : s->n_switches;
		const uint32_t *match = hosts ? d->host[side] : d->sw[side];

		if (WEFT_ARRAY(key[side], all, &d->memory, d->err))
			return -1;
		for (uint32_t k = 0; k < all; k++) {
			uint64_t value;

			if (match[k] != WEFT_NONE)
				continue;
			value = key_of(d, side, k);
			if (value)
				key[side][n[side]++] = (struct key){
					value,
					hosts ? s->hosts[k].name
					      : s->switches[k].name,
					k};
		}
	}
	keys_pair(d, key, n, most, hosts ? hosts_pair : switches_pair);
	return 0;
}

/* Leafs first: switches above are known by them. */
int drift_match_switches(struct drift *d)
{
	if (match_by(d, false, switch_guid_key, 1))
		return -1;
	for (int round = 0; round < 3; round++)
		if (match_by(d, false, switch_place_key, 64))
			return -1;
	return 0;
}

/* ---- hosts ---- */

static uint64_t host_guid_key(const struct drift *d, int side, uint32_t h)
{
	const struct weft_inventory *s = d->s[side];
	uint64_t least = 0;

	for (uint32_t i = s->hosts[h].first_hca; i != WEFT_NONE;
	     i = s->hcas[i].next) {
		uint64_t key =
			s->hcas[i].guid ? weft_hash_text(s->hcas[i].guid) : 0;

		if (key && (!least || key < least))
			least = key;
	}
	return least;
}

static uint64_t host_cables_key(const struct drift *d, int side, uint32_t h,
				bool ports)
{
	uint32_t n;
	const uint32_t *cable =
		audit_graph_cables(&d->g[side], WEFT_END_HOST, h, &n);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_end *end = &d->s[side]->cables[cable[i]].b;
		uint32_t id[2] = {end->index, ports ? end->port : 0};

		if (side == 1)
			id[0] = d->sw[1][end->index];
		if (id[0] == WEFT_NONE || (ports && !end->port))
			return 0;
		sum += weft_hash_bytes(WEFT_HASH_START, id, sizeof(id));
	}
	return sum;
}

static uint64_t host_port_key(const struct drift *d, int side, uint32_t h)
{
	return host_cables_key(d, side, h, true);
}

static uint64_t host_switch_key(const struct drift *d, int side, uint32_t h)
{
	return host_cables_key(d, side, h, false);
}

/* Two hosts that may be one, as far as their GPUs tell. */
static bool same_gpus(const struct drift *d, uint32_t h0, uint32_t h1)
{
	double a = d->s[0]->hosts[h0].gpus.value;
	double b = d->s[1]->hosts[h1].gpus.value;

	return a <= 0 || b <= 0 || (a >= b && a <= b);
}

static uint32_t hosts_left(const struct drift *d, int side, uint32_t *last)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < d->s[side]->n_hosts; h++) {
		if (d->host[side][h] != WEFT_NONE ||
		    d->s[side]->hosts[h].no_gpus)
			continue;
		*last = h;
		n++;
	}
	return n;
}

static int hosts_by_leaf(struct drift *d)
{
	struct drift_partition p;
	struct key *key[2];
	uint32_t n[2] = {0, 0}, *meant;

	if (drift_partition_build(d, &p))
		return -1;
	if (!drift_label_domains(d, &p, 0, 0))
		return 0;
	if (WEFT_ARRAY(meant, d->side[0]->hierarchy->n_domains, &d->memory,
		       d->err) ||
	    drift_partition_compare(&p, d->err))
		return -1;
	for (uint32_t i = 0; i < p.n; i++)
		meant[p.label[0][i]] = p.meant[i] + 1;
	for (int side = 0; side < 2; side++) {
		const uint32_t *leaf = d->side[side]->hierarchy->host_domain;

		if (WEFT_ARRAY(key[side], d->s[side]->n_hosts, &d->memory,
			       d->err))
			return -1;
		for (uint32_t h = 0; h < d->s[side]->n_hosts; h++) {
			uint32_t at = leaf[h];

			if (d->host[side][h] != WEFT_NONE || at == WEFT_NONE)
				continue;
			at = side == 0 ? meant[at] : at + 1;
			if (at)
				key[side][n[side]++] = (struct key){
					at, d->s[side]->hosts[h].name, h};
		}
	}
	keys_pair(d, key, n, 64, hosts_pair);
	return 0;
}

int drift_match_hosts(struct drift *d)
{
	uint32_t last[2] = {0, 0};

	if (match_by(d, true, host_guid_key, 1) ||
	    match_by(d, true, host_port_key, 1) ||
	    match_by(d, true, host_switch_key, 64))
		return -1;
	if (d->trees && hosts_by_leaf(d))
		return -1;
	if (!d->host_cables && !d->trees && hosts_left(d, 0, &last[0]) == 1 &&
	    hosts_left(d, 1, &last[1]) == 1 && same_gpus(d, last[0], last[1]))
		hosts_pair(d, last[0], last[1]);
	return 0;
}
