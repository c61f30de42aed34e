/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.h - a inventory's cables by their ends, and the tiers of its switches
 *
 * Private to the audit.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_GRAPH_H
#define WEFT_TOPOLOGY_AUDIT_GRAPH_H

#include "topology/audit/audit.h"

#define AUDIT_MAX_NETWORKS 16

struct audit_graph {
	const struct weft_inventory *s;
	/* by enum weft_end_kind: the cables of end i are
	 * cable[kind][first[kind][i]] up to that of i + 1 */
	uint32_t *first[2], *cable[2];
	uint32_t *tier;	   /* [n_switches] 1: leaf; 0: joined to nothing */
	uint32_t *network; /* [n_switches] index into networks */
	bool *service;	   /* [n_switches] GPU nodes are not below it, but
			    * storage, login or management: it is no sibling */
	const char *networks[AUDIT_MAX_NETWORKS]; /* 0: the compute network */
	uint32_t n_networks;
	struct weft_arena memory; /* owns the arrays */
};

/* hierarchy may be NULL.  Free with audit_graph_free in either case. */
int audit_graph_build(const struct weft_inventory *s,
		      const struct weft_hierarchy *hierarchy,
		      struct audit_graph *g, struct weft_error *err);
void audit_graph_free(struct audit_graph *g);

/* The cables of an end: indices into the inventory's; *n: how many. */
static inline const uint32_t *audit_graph_cables(const struct audit_graph *g,
						 enum weft_end_kind kind,
						 uint32_t i, uint32_t *n)
{
	*n = g->first[kind][i + 1] - g->first[kind][i];
	return g->cable[kind] + g->first[kind][i];
}

/* The other end of a cable of switch `sw`. */
static inline const struct weft_end *
audit_graph_peer(const struct weft_inventory_cable *cable, uint32_t sw)
{
	bool is_b = cable->b.kind == WEFT_END_SWITCH && cable->b.index == sw;

	return is_b ? &cable->a : &cable->b;
}

/* A host without GPUs; one without a name may have some. */
bool audit_graph_is_service(const struct audit_graph *g, uint32_t host);

/* Where a cable's end at switch `sw` leads: -1 down, 1 up, 0 aside. */
int audit_graph_direction(const struct audit_graph *g,
			  const struct weft_inventory_cable *cable,
			  uint32_t sw);

/* "n07:mlx5_3" of a host's cable, "leaf3--spine1" of others, lower end first.
 */
const char *audit_graph_place(const struct audit_graph *g,
			      const struct weft_inventory_cable *cable,
			      char *buffer, size_t size);

#endif
