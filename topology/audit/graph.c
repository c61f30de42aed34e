/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c - cables by end, and tiers by distance from the hosts */
#include "topology/audit/graph.h"

#include <stdio.h>
#include <string.h>

/* A switch with less than one host in so many cables is no leaf for them:
 * management hosts are attached to spines, too. */
#define LEAST_SHARE 8

void audit_graph_free(struct audit_graph *g)
{
	weft_arena_free(&g->memory);
	*g = (struct audit_graph){0};
}

static const struct weft_end *cable_end(const struct weft_inventory_cable *c,
					int which)
{
	return which ? &c->b : &c->a;
}

/* Counting sort of the cables' ends. */
static int ends_index(struct audit_graph *g, struct weft_error *err)
{
	const struct weft_inventory *s = g->s;
	uint32_t n[2] = {s->n_hosts, s->n_switches};

	for (int kind = 0; kind < 2; kind++)
		if (WEFT_ARRAY(g->first[kind], (size_t)n[kind] + 2, &g->memory,
			       err) ||
		    WEFT_ARRAY(g->cable[kind], 2 * (size_t)s->n_cables,
			       &g->memory, err))
			return -1;
	for (uint32_t i = 0; i < 2 * s->n_cables; i++) {
		const struct weft_end *e = cable_end(&s->cables[i / 2], i & 1);

		g->first[e->kind][e->index + 2]++;
	}
	for (int kind = 0; kind < 2; kind++)
		for (uint32_t i = 1; i < n[kind] + 2; i++)
			g->first[kind][i] += g->first[kind][i - 1];
	for (uint32_t i = 0; i < 2 * s->n_cables; i++) {
		const struct weft_end *e = cable_end(&s->cables[i / 2], i & 1);

		g->cable[e->kind][g->first[e->kind][e->index + 1]++] = i / 2;
	}
	return 0;
}

static uint32_t network_find(struct audit_graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->n_networks; i++)
		if (strcmp(g->networks[i], name) == 0)
			return i;
	if (g->n_networks == AUDIT_MAX_NETWORKS)
		return AUDIT_MAX_NETWORKS - 1;
	g->networks[g->n_networks] = name;
	return g->n_networks++;
}

static void networks_name(struct audit_graph *g)
{
	const struct weft_inventory *s = g->s;

	network_find(g, "compute");
	for (uint32_t i = 0; i < s->n_switches; i++)
		g->network[i] =
			s->switches[i].network
				? network_find(g, s->switches[i].network)
				: 0;
}

/* ---- tiers ---- */

/* What the hierarchy says of it: the level of its domain. */
static void tiers_of_hierarchy(struct audit_graph *g,
			       const struct weft_hierarchy *hierarchy)
{
	for (uint32_t i = 0; i < g->s->n_switches; i++) {
		uint32_t d = hierarchy->switch_domain[i];

		if (d != WEFT_NONE)
			g->tier[i] = hierarchy->domains[d].level + 1;
	}
	if (!hierarchy->rail_switch)
		return;
	for (uint32_t d = 0; d < hierarchy->n_domains; d++) {
		if (hierarchy->domains[d].level != 0)
			break;
		for (uint32_t r = 0; r < hierarchy->n_rails; r++) {
			uint32_t k =
				hierarchy->rail_switch[d * hierarchy->n_rails +
						       r];

			if (k != WEFT_NONE)
				g->tier[k] = 1;
		}
	}
}

static bool has_hosts(const struct audit_graph *g, uint32_t sw, uint32_t share)
{
	uint32_t n, hosts = 0;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);

	for (uint32_t i = 0; i < n; i++)
		hosts += g->s->cables[cable[i]].a.kind == WEFT_END_HOST;
	return hosts > 0 && hosts * share >= n;
}

/* One step outwards: switches without a tier beside one of `tier`. */
static bool tier_spread(struct audit_graph *g, uint32_t tier)
{
	bool grown = false;

	for (uint32_t i = 0; i < g->s->n_cables; i++) {
		const struct weft_inventory_cable *c = &g->s->cables[i];

		if (c->a.kind != WEFT_END_SWITCH ||
		    c->b.kind != WEFT_END_SWITCH)
			continue;
		if (g->tier[c->a.index] == tier && !g->tier[c->b.index]) {
			g->tier[c->b.index] = tier + 1;
			grown = true;
		}
		if (g->tier[c->b.index] == tier && !g->tier[c->a.index]) {
			g->tier[c->a.index] = tier + 1;
			grown = true;
		}
	}
	return grown;
}

static void tiers_find(struct audit_graph *g,
		       const struct weft_hierarchy *hierarchy)
{
	const struct weft_inventory *s = g->s;

	if (hierarchy)
		tiers_of_hierarchy(g, hierarchy);
	for (uint32_t i = 0; i < s->n_switches; i++) {
		/* a leaf of storage has no domain of its own */
		if (!g->tier[i] || s->switches[i].tier == 1)
			g->tier[i] = s->switches[i].tier;
		if (!g->tier[i] && has_hosts(g, i, LEAST_SHARE))
			g->tier[i] = 1;
	}
	for (uint32_t tier = 1; tier < WEFT_MAX_LEVELS; tier++)
		if (!tier_spread(g, tier) && tier > 4)
			break;
	for (uint32_t i = 0; i < s->n_switches; i++)
		if (!g->tier[i] && has_hosts(g, i, UINT32_MAX))
			g->tier[i] = 1;
}

/* ---- switches that serve no GPU node ---- */

bool audit_graph_is_service(const struct audit_graph *g, uint32_t host)
{
	const struct weft_inventory_host *h = &g->s->hosts[host];

	return h->no_gpus && strncmp(h->name, "0x", 2) != 0;
}

/* Cables to switches, by whether these lead to GPU nodes. */
static void cables_count(const struct audit_graph *g, uint32_t sw,
			 uint32_t *useful, uint32_t *service)
{
	uint32_t n;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);

	*useful = *service = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c = &g->s->cables[cable[i]];
		const struct weft_end *peer = audit_graph_peer(c, sw);

		if (peer->kind == WEFT_END_SWITCH)
			*(g->service[peer->index] ? service : useful) += c->n;
	}
}

static bool has_gpu_hosts(const struct audit_graph *g, uint32_t sw)
{
	uint32_t n;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_end *e = &g->s->cables[cable[i]].a;

		if (e->kind == WEFT_END_HOST &&
		    !audit_graph_is_service(g, e->index))
			return true;
	}
	return false;
}

/* Leafs first; then what leads to those for a good half, in as many steps as
 * there can be tiers. */
static void services_find(struct audit_graph *g)
{
	uint32_t n = g->s->n_switches, leafs = 0, serving = 0;

	for (uint32_t k = 0; k < n; k++) {
		if (g->tier[k] != 1 && !has_hosts(g, k, UINT32_MAX))
			continue;
		g->service[k] = !has_gpu_hosts(g, k);
		leafs += g->service[k];
		serving += !g->service[k];
	}
	if (leafs >= serving) { /* no hosts are known, or it is for them */
		memset(g->service, 0, n * sizeof(*g->service));
		return;
	}
	for (int step = 0; leafs && step < WEFT_MAX_LEVELS; step++)
		for (uint32_t k = 0; k < n; k++) {
			uint32_t useful, service;

			if (g->service[k] || has_hosts(g, k, UINT32_MAX))
				continue;
			cables_count(g, k, &useful, &service);
			g->service[k] = service && service >= useful;
		}
}

int audit_graph_build(const struct weft_inventory *s,
		      const struct weft_hierarchy *hierarchy,
		      struct audit_graph *g, struct weft_error *err)
{
	*g = (struct audit_graph){.s = s};
	if (WEFT_ARRAY(g->tier, s->n_switches, &g->memory, err) ||
	    WEFT_ARRAY(g->network, s->n_switches, &g->memory, err) ||
	    WEFT_ARRAY(g->service, s->n_switches, &g->memory, err) ||
	    ends_index(g, err))
		return -1;
	networks_name(g);
	tiers_find(g, hierarchy);
	services_find(g);
	return 0;
}

int audit_graph_direction(const struct audit_graph *g,
			  const struct weft_inventory_cable *cable, uint32_t sw)
{
	const struct weft_end *peer = audit_graph_peer(cable, sw);
	uint32_t mine = g->tier[sw], other;

	if (peer->kind == WEFT_END_HOST)
		return -1;
	other = g->tier[peer->index];
	return other > mine ? 1 : other < mine ? -1 : 0;
}

const char *audit_graph_place(const struct audit_graph *g,
			      const struct weft_inventory_cable *c,
			      char *buffer, size_t size)
{
	const struct weft_inventory *s = g->s;
	uint32_t low = c->a.index, high = c->b.index;

	if (c->a.kind == WEFT_END_HOST) {
		snprintf(buffer, size, "%s%s%s", s->hosts[c->a.index].name,
			 c->a.hca == WEFT_NONE ? "" : ":",
			 c->a.hca == WEFT_NONE ? "" : s->hcas[c->a.hca].name);
		return buffer;
	}
	if (g->tier[low] > g->tier[high]) {
		low = c->b.index;
		high = c->a.index;
	}
	snprintf(buffer, size, "%s--%s", s->switches[low].name,
		 s->switches[high].name);
	return buffer;
}
