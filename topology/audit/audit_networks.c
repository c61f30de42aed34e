/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_networks.c - adapters that are attached to another network than those
 * of the same name in sibling hosts
 */
#include "base/compare.h"
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#include <stdlib.h>
#include <string.h>

struct port {
	char stem[64]; /* of the host */
	const char *name;
	uint32_t network, cable;
};

WEFT_COMPARATOR(compare_ports, struct port,
		WEFT_TEXT(stem) WEFT_TEXT(name) WEFT_UP(cable));

static bool same_port(const struct port *a, const struct port *b)
{
	return strcmp(a->stem, b->stem) == 0 && strcmp(a->name, b->name) == 0;
}

static int class_look(const struct weft_audit *a, const struct port *p,
		      uint32_t n)
{
	uint32_t count[AUDIT_MAX_NETWORKS] = {0}, best = 0;

	for (uint32_t i = 0; i < n; i++)
		count[p[i].network]++;
	for (uint32_t i = 1; i < AUDIT_MAX_NETWORKS; i++)
		if (count[i] > count[best])
			best = i;
	if (count[best] == n || count[best] < WEFT_LEAST_MAJORITY ||
	    !audit_is_few(n - count[best], n))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c =
			&a->inventory->cables[p[i].cable];
		char place[160];

		if (p[i].network == best)
			continue;
		audit_graph_place(a->graph, c, place, sizeof(place));
		if (audit_note(
			    a, WEFT_FINDING_NETWORK_MIXED, place, c->where,
			    WEFT_WEIGHT_CABLE,
			    "is attached to %s of the %s network; its siblings "
			    "are on the %s network",
			    a->inventory->switches[c->b.index].name,
			    a->graph->networks[p[i].network],
			    a->graph->networks[best]))
			return -1;
	}
	return 0;
}

int audit_networks(const struct weft_audit *a)
{
	const struct weft_inventory *s = a->inventory;
	struct port *p;
	uint32_t n = 0;

	if (a->graph->n_networks < 2)
		return 0;
	if (WEFT_ARRAY(p, s->n_cables, a->memory, a->err))
		return -1;
	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];

		if (c->a.kind != WEFT_END_HOST || c->a.hca == WEFT_NONE)
			continue;
		p[n] = (struct port){
			.name = s->hcas[c->a.hca].name,
			.network = a->graph->network[c->b.index],
			.cable = i,
		};
		audit_stem(s->hosts[c->a.index].name, p[n].stem,
			   sizeof(p[n].stem));
		n++;
	}
	WEFT_SORT(p, n, compare_ports);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && same_port(p + i, p + end);)
			end++;
		if (class_look(a, p + i, end - i))
			return -1;
	}
	return 0;
}
