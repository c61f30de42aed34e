/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_tiers.c - how far each switch is from the hosts: 1 is a leaf
 *
 * A leaf has hosts; but subnet managers and storage are attached to spines as
 * well, so that a switch with few hosts is judged by its neighbours.
 */
#include "topology/hierarchy/cable_index.h"

#define ROUNDS 16 /* of raising; also a bound of the number of tiers */

/* Tiers by fewest cables from the leafs; 0: no way there. */
static int tiers_walk(struct index *w, const bool *leaf, uint32_t *tier)
{
	uint32_t n = w->s->n_switches, head = 0, tail = 0;
	uint32_t *queue;

	if (INDEX_ARRAY(w, queue, n))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		tier[i] = leaf[i];
		if (leaf[i])
			queue[tail++] = i;
	}
	while (head < tail) {
		uint32_t i = queue[head++];

		for (uint32_t p = w->first_peer[i]; p < w->first_peer[i + 1];
		     p++) {
			uint32_t peer = w->peers[p].sw;

			if (tier[peer])
				continue;
			tier[peer] = tier[i] + 1;
			queue[tail++] = peer;
		}
	}
	return 0;
}

/* ---- switches with few hosts ---- */

/* Neighbours that a and b share; both lists ascend. */
static uint32_t peers_shared(const struct index *w, uint32_t a, uint32_t b)
{
	uint32_t i = w->first_peer[a], j = w->first_peer[b], n = 0;

	while (i < w->first_peer[a + 1] && j < w->first_peer[b + 1]) {
		uint32_t x = w->peers[i].sw, y = w->peers[j].sw;

		n += x == y;
		i += x <= y;
		j += y <= x;
	}
	return n;
}

/* Looks like a leaf that is nearly empty, not like a spine with a guest: it is
 * linked to what leafs are linked to. */
static bool is_sparse_leaf(const struct index *w, const bool *leaf,
			   const uint32_t *tier, uint32_t sw)
{
	uint32_t first = w->first_peer[sw], end = w->first_peer[sw + 1];
	uint32_t n = end - first, leafs = 0;
	uint32_t as_leaf = 0, as_other = 0, looked = 0;

	for (uint32_t p = first; p < end; p++)
		leafs += leaf[w->peers[p].sw];
	if (2 * leafs > n)
		return false;
	for (uint32_t p = first; p < end && looked < 4096; p++) {
		uint32_t peer = w->peers[p].sw;

		for (uint32_t q = w->first_peer[peer];
		     q < w->first_peer[peer + 1] && looked < 4096;
		     q++, looked++) {
			uint32_t other = w->peers[q].sw, k;

			if (other == sw || (!leaf[other] && w->n_down[other]))
				continue;
			k = peers_shared(w, sw, other);
			if (leaf[other] && k > as_leaf)
				as_leaf = k;
			else if (tier[other] > 2 && k > as_other)
				as_other = k;
		}
	}
	return 2 * as_leaf >= n || 2 * as_other < n;
}

/* Leafs beyond doubt: those with a good share of the hosts, not all of them
 * there to serve others. */
static int leafs_sure(struct index *w, bool *leaf)
{
	uint32_t *counts, usual;
	bool any = false;

	if (INDEX_ARRAY(w, counts, w->s->n_switches))
		return -1;
	for (uint32_t i = 0; i < w->s->n_switches; i++)
		counts[i] = w->n_down[i];
	usual = index_half(counts, w->s->n_switches);
	for (uint32_t i = 0; i < w->n_ups; i++)
		if (!w->s->hosts[w->ups[i].host].no_gpus &&
		    4 * (uint64_t)w->n_down[w->ups[i].sw] > usual)
			any = leaf[w->ups[i].sw] = true;
	for (uint32_t i = 0; i < w->s->n_switches && !any; i++)
		leaf[i] = w->n_down[i] > 0;
	return 0;
}

static int leafs_choose(struct index *w, bool *leaf, uint32_t *tier)
{
	if (leafs_sure(w, leaf))
		return -1;
	if (tiers_walk(w, leaf, tier))
		return -1;
	for (uint32_t i = 0; i < w->s->n_switches; i++)
		if (w->n_down[i] && !leaf[i] &&
		    is_sparse_leaf(w, leaf, tier, i))
			tier[i] = WEFT_NONE; /* decided when all are seen */
	for (uint32_t i = 0; i < w->s->n_switches; i++)
		leaf[i] = leaf[i] || tier[i] == WEFT_NONE;
	return 0;
}

/* ---- uneven depth ---- */

/* Share of a switch's cables that lead further down, of those that do not lead
 * up. */
static double share_down(const struct index *w, const uint32_t *tier,
			 uint32_t sw)
{
	uint64_t down = w->n_down[sw], same = 0;

	for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1]; p++) {
		const struct wire_peer *peer = &w->peers[p];

		if (tier[peer->sw] < tier[sw])
			down += peer->n;
		else if (tier[peer->sw] == tier[sw])
			same += peer->n;
	}
	return down ? (double)down / (double)(down + same) : 0;
}

/* A core that has one leaf hanging directly on it is as near to hosts as a
 * spine, but most of its cables lead to spines: one tier up. */
static bool is_above_siblings(const struct index *w, const uint32_t *tier,
			      const double *share, uint32_t sw)
{
	double sum = 0;
	uint32_t n = 0;

	if (tier[sw] < 2 || share[sw] >= 0.5)
		return false;
	for (uint32_t p = w->first_peer[sw]; p < w->first_peer[sw + 1]; p++)
		if (tier[w->peers[p].sw] == tier[sw]) {
			sum += share[w->peers[p].sw];
			n++;
		}
	return n && share[sw] < 0.75 * sum / n;
}

static int tiers_raise(struct index *w, uint32_t *tier)
{
	uint32_t n = w->s->n_switches;
	double *share;
	bool *raise, any = true;

	if (INDEX_ARRAY(w, share, n) || INDEX_ARRAY(w, raise, n))
		return -1;
	for (int round = 0; any && round < ROUNDS; round++) {
		any = false;
		for (uint32_t i = 0; i < n; i++)
			share[i] = share_down(w, tier, i);
		for (uint32_t i = 0; i < n; i++)
			raise[i] = is_above_siblings(w, tier, share, i);
		for (uint32_t i = 0; i < n; i++) {
			tier[i] += raise[i];
			any = any || raise[i];
		}
	}
	return 0;
}

/* ---- leafs without hosts ---- */

/* Linked to all that some leaf is linked to, and to nothing else. */
static bool is_empty_leaf(const struct index *w, const uint32_t *tier,
			  uint32_t sw)
{
	uint32_t first = w->first_peer[sw], end = w->first_peer[sw + 1];

	if (tier[sw] != 3 || w->n_down[sw])
		return false;
	for (uint32_t q = w->first_peer[w->peers[first].sw];
	     q < w->first_peer[w->peers[first].sw + 1]; q++) {
		uint32_t other = w->peers[q].sw;
		uint32_t n = w->first_peer[other + 1] - w->first_peer[other];

		if (tier[other] == 1 && n == end - first &&
		    peers_shared(w, sw, other) == n)
			return true;
	}
	return false;
}

/* They look like cores; but cores are linked otherwise than leafs, and where
 * many switches look like both nothing can be told. */
static int empties_find(struct index *w, uint32_t *tier)
{
	uint32_t n = w->s->n_switches, n_empty = 0, leafs = 0;
	bool *empty;

	if (INDEX_ARRAY(w, empty, n))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		empty[i] = is_empty_leaf(w, tier, i);
		n_empty += empty[i];
		leafs += tier[i] == 1;
	}
	for (uint32_t i = 0; 4 * n_empty <= leafs && i < n; i++)
		if (empty[i])
			tier[i] = 1;
	return 0;
}

static int tiers_note(struct index *w)
{
	for (uint32_t i = 0; i < w->s->n_switches; i++) {
		struct weft_inventory_switch *sw = &w->s->switches[i];

		if (!sw->tier)
			sw->tier = w->tier[i];
		if (w->compute[i] && w->tier[i] > w->n_tiers)
			w->n_tiers = w->tier[i];
		if (w->first_peer[i] == w->first_peer[i + 1] && !w->n_down[i] &&
		    weft_inventory_note(w->s, WEFT_FINDING_SWITCH_ALONE,
					sw->name, sw->where, w->err,
					"the switch has no cable to anything"))
			return -1;
	}
	return 0;
}

int index_tiers(struct index *w)
{
	bool *leaf;

	if (INDEX_ARRAY(w, leaf, w->s->n_switches) ||
	    leafs_choose(w, leaf, w->tier) || tiers_walk(w, leaf, w->tier) ||
	    tiers_raise(w, w->tier) || empties_find(w, w->tier))
		return -1;
	return tiers_note(w);
}
