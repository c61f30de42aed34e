/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_rails.c - rails of a bundle that fewer hosts are attached to than on
 * the others
 */
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

static double host_cables(const struct audit_graph *g, uint32_t sw)
{
	uint32_t n;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);
	double total = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c = &g->s->cables[cable[i]];

		if (c->a.kind == WEFT_END_HOST && !c->down)
			total += c->n;
	}
	return total;
}

/* Reports rails missing on several hosts; audit_hosts reports a single host. */
static int bundle_look(const struct weft_audit *a, uint32_t domain,
		       double *scratch)
{
	const struct weft_hierarchy *s = a->hierarchy;
	const uint32_t *rail = s->rail_switch + (size_t)domain * s->n_rails;
	struct audit_majority usual;
	uint32_t n = 0;

	for (uint32_t r = 0; r < s->n_rails; r++)
		if (rail[r] != WEFT_NONE)
			scratch[n++] = host_cables(a->graph, rail[r]);
	usual = audit_majority(scratch, n);
	if (usual.n_same < WEFT_LEAST_MAJORITY || 2 * usual.n_same <= usual.n)
		return 0;
	for (uint32_t r = 0; r < s->n_rails; r++) {
		const struct weft_inventory_switch *sw;
		double mine;

		if (rail[r] == WEFT_NONE)
			continue;
		sw = &a->inventory->switches[rail[r]];
		mine = host_cables(a->graph, rail[r]);
		/* without any it is there by its name only */
		if (mine > 0 && mine + 1.5 < usual.value &&
		    audit_note(a, WEFT_FINDING_RAILS_UNEQUAL, sw->name,
			       sw->where, WEFT_WEIGHT_DOMAIN,
			       "is rail %u and has %.0f host cables; the other "
			       "rails have %.0f",
			       r, mine, usual.value))
			return -1;
	}
	return 0;
}

/* Hosts of the domain that a switch without a cable to another switch has. */
static uint32_t lonely_hosts(const struct weft_audit *a, uint32_t sw,
			     uint32_t domain)
{
	const struct weft_inventory *s = a->inventory;
	uint32_t n, hosts = 0;
	const uint32_t *cable =
		audit_graph_cables(a->graph, WEFT_END_SWITCH, sw, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_end *e = &s->cables[cable[i]].a;

		if (e->kind == WEFT_END_SWITCH)
			return 0;
		hosts += a->hierarchy->host_domain[e->index] == domain;
	}
	return 2 * hosts > n ? hosts : 0;
}

static bool lacks_rail(const struct weft_hierarchy *s, uint32_t domain)
{
	for (uint32_t r = 0; r < s->n_rails; r++)
		if (s->rail_switch[(size_t)domain * s->n_rails + r] ==
		    WEFT_NONE)
			return true;
	return false;
}

/* A leaf that lost its uplinks is a network of its own, and its bundle lacks a
 * rail: the two are one. */
static int orphan_find(const struct weft_audit *a, uint32_t domain)
{
	if (!lacks_rail(a->hierarchy, domain))
		return 0;
	for (uint32_t k = 0; k < a->inventory->n_switches; k++) {
		const struct weft_inventory_switch *sw =
			&a->inventory->switches[k];
		uint32_t hosts = lonely_hosts(a, k, domain);

		if (hosts < 2)
			continue;
		return audit_note(a, WEFT_FINDING_LEAF_ORPHAN, sw->name,
				  sw->where, WEFT_WEIGHT_SWITCH + hosts,
				  "has no uplink, and the bundle of its %u "
				  "hosts, %s, lacks a rail",
				  hosts, a->hierarchy->domains[domain].name);
	}
	return 0;
}

int audit_rails(const struct weft_audit *a)
{
	const struct weft_hierarchy *s = a->hierarchy;
	double *scratch;

	if (!s || s->n_rails < 2 || !s->rail_switch)
		return 0;
	if (WEFT_ARRAY(scratch, s->n_rails, a->memory, a->err))
		return -1;
	for (uint32_t d = 0; d < s->n_domains; d++)
		if (s->domains[d].level == 0 &&
		    (bundle_look(a, d, scratch) || orphan_find(a, d)))
			return -1;
	return 0;
}
