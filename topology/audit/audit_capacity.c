/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_capacity.c - what switches have below them over what they have above
 *
 * Only cables that are there and up count, not free ports: the ratio is that of
 * the traffic that can come from below to what can leave upwards.
 */
#include "base/compare.h"
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#include <stdlib.h>

/* What counts as blocking, and as worse than the siblings. */
#define BLOCKING 1.01
#define WORSE	 1.1

struct ratio {
	uint32_t sw, network, tier;
	double value;
};

WEFT_COMPARATOR(compare_ratios, struct ratio,
		WEFT_UP(network) WEFT_UP(tier) WEFT_UP(value) WEFT_UP(sw));

/* Whether every cable that is up says its rate. */
static bool rates_known(const struct weft_inventory *s)
{
	for (uint32_t i = 0; i < s->n_cables; i++)
		if (!s->cables[i].down && s->cables[i].rate_bytes_per_s <= 0)
			return false;
	return true;
}

/* Storage, login and management send little beside GPU nodes. */
static bool is_service(const struct audit_graph *g, const struct weft_end *end)
{
	return end->kind == WEFT_END_HOST
		       ? audit_graph_is_service(g, end->index)
		       : g->service[end->index];
}

/* 0: nothing below or nothing above; alike: without what serves no GPU node, as
 * siblings are compared. */
static double switch_ratio(const struct audit_graph *g, uint32_t sw,
			   bool by_rate, bool alike)
{
	double flow[3] = {0}; /* below, aside, above */
	uint32_t n;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c = &g->s->cables[cable[i]];

		if (!c->down &&
		    !(alike && is_service(g, audit_graph_peer(c, sw))))
			flow[1 + audit_graph_direction(g, c, sw)] +=
				c->n * (by_rate ? c->rate_bytes_per_s : 1);
	}
	return flow[0] > 0 && flow[2] > 0 ? flow[0] / flow[2] : 0;
}

static uint32_t ratios_fill(const struct audit_graph *g, bool by_rate,
			    bool alike, struct ratio *r)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < g->s->n_switches; k++) {
		double value =
			g->service[k] ? 0 : switch_ratio(g, k, by_rate, alike);

		if (value > 0)
			r[n++] = (struct ratio){k, g->network[k], g->tier[k],
						value};
	}
	WEFT_SORT(r, n, compare_ratios);
	return n;
}

static void tier_add(const struct audit_graph *g, const struct ratio *r,
		     uint32_t n, bool by_rate, struct weft_tiers *tiers)
{
	struct weft_tier *t = &tiers->item[tiers->n];

	if (tiers->n == WEFT_MAX_TIERS)
		return;
	*t = (struct weft_tier){
		.network = g->networks[r->network],
		.tier = r->tier,
		.n_switches = n,
		.least = r[0].value,
		.median = r[n / 2].value,
		.most = r[n - 1].value,
		.by_rate = by_rate,
	};
	for (uint32_t i = 0; i < n; i++)
		t->n_blocking += r[i].value > BLOCKING;
	if (r->network == 0) {
		tiers->known = true;
		tiers->non_blocking = tiers->non_blocking && !t->n_blocking;
	}
	tiers->n++;
}

/* Calls for each run of one network and tier. */
static uint32_t run_end(const struct ratio *r, uint32_t i, uint32_t n)
{
	uint32_t end = i + 1;

	while (end < n && r[end].network == r[i].network &&
	       r[end].tier == r[i].tier)
		end++;
	return end;
}

int weft_audit_tiers(const struct weft_inventory *inventory,
		     const struct weft_hierarchy *hierarchy,
		     struct weft_tiers *tiers, struct weft_error *err)
{
	bool by_rate = rates_known(inventory);
	struct audit_graph g;
	struct ratio *r = weft_calloc(inventory->n_switches, sizeof(*r), err);
	int rc = -1;

	*tiers = (struct weft_tiers){.non_blocking = true};
	if (audit_graph_build(inventory, hierarchy, &g, err) == 0 && r) {
		uint32_t n = ratios_fill(&g, by_rate, false, r);

		for (uint32_t i = 0, end; i < n; i = end) {
			end = run_end(r, i, n);
			tier_add(&g, r + i, end - i, by_rate, tiers);
		}
		tiers->non_blocking = tiers->known && tiers->non_blocking;
		rc = 0;
	}
	audit_graph_free(&g);
	free(r);
	return rc;
}

static int tier_note(const struct weft_audit *a, const struct ratio *r,
		     uint32_t n)
{
	const struct weft_inventory_switch *sw = a->inventory->switches;
	double median = r[n / 2].value;

	for (uint32_t i = 0; i < n; i++)
		if (n > WEFT_LEAST_MAJORITY && r[i].value > WORSE * median &&
		    r[i].value > BLOCKING &&
		    audit_note(a, WEFT_FINDING_OVERSUBSCRIBED, sw[r[i].sw].name,
			       sw[r[i].sw].where, WEFT_WEIGHT_OUTCOME,
			       "has %.2f:1 below over above; its siblings have "
			       "%.2f:1",
			       r[i].value, median))
			return -1;
	return 0;
}

int audit_capacity(const struct weft_audit *a)
{
	bool by_rate = rates_known(a->inventory);
	struct ratio *r;
	uint32_t n;

	if (WEFT_ARRAY(r, a->inventory->n_switches, a->memory, a->err))
		return -1;
	n = ratios_fill(a->graph, by_rate, true, r);
	for (uint32_t i = 0, end; i < n; i = end) {
		end = run_end(r, i, n);
		if (tier_note(a, r + i, end - i))
			return -1;
	}
	return 0;
}
