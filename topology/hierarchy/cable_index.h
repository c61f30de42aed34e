/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cable_index.h - the cables of a inventory as a graph, and what is read from
 * it
 *
 * Private to hierarchy_cables.c and the files named below.  Everything here is
 * decided by majorities: one cable that was put elsewhere is a finding, and the
 * structure is that of its siblings.
 */
#ifndef WEFT_TOPOLOGY_HIERARCHY_CABLE_INDEX_H
#define WEFT_TOPOLOGY_HIERARCHY_CABLE_INDEX_H

#include "topology/hierarchy/hierarchy.h"

/* A host's port that leads to a switch. */
struct wire_up {
	uint32_t host;
	uint32_t hca; /* or WEFT_NONE */
	uint32_t sw;
	uint32_t key;	/* which of the host's adapters: the same number means
			 * the same place in another host; ascending in each */
	uint32_t cable; /* of the inventory */
};

/* All cables from one switch to another. */
struct wire_peer {
	uint32_t sw;
	uint32_t n;
	double rate_bytes_per_s; /* together; 0: not known */
	uint32_t cable;		 /* the first of them */
};

struct index {
	struct weft_inventory *s;
	struct weft_hierarchy *hierarchy;
	struct weft_error *err;
	struct weft_arena
		memory; /* owns the arrays, and scratch of all steps */

	struct wire_up *ups; /* by host, then key */
	uint32_t n_ups, n_keys;
	uint32_t *first_up;	 /* [n_hosts + 1] */
	struct wire_peer *peers; /* by switch, then peer; either way */
	uint32_t n_peers;
	uint32_t *first_peer; /* [n_switches + 1] */
	uint32_t *n_down;     /* [switch] cables to hosts */
	uint32_t *order;      /* [switch] its rank by name */
	uint32_t *by_rank;    /* the other way round */

	uint32_t *part;	  /* [switch] connected component */
	bool *compute;	  /* [switch] of the compute network */
	uint32_t *tier;	  /* [switch] 1: leaf; 0: none can be told */
	uint32_t n_tiers; /* the highest */
	uint32_t *bundle; /* [host] group of leafs that it is attached to, or
			     NONE */
};

/* Sets `array`, a pointer of any type, to n zeroed elements that live as long
 * as the index.  0, or -1 with w->err. */
#define INDEX_ARRAY(w, array, n) WEFT_ARRAY(array, n, &(w)->memory, (w)->err)

/* cable_index.c */
int index_build(struct index *w);
/* Half of the sum of n counts is made by counts of at most that much; sorts
 * them. */
uint32_t index_half(uint32_t *counts, uint32_t n);
/* Half of all hosts' cables are of hosts with at most that many. */
int index_cables_usual(struct index *w, uint32_t *usual);

/* hierarchy_services.c: hosts that have no GPUs, by all that cables and names
 * say.
 */
int index_services(struct index *w);

/* hierarchy_networks.c: components, and which of them jobs use. */
int index_networks(struct index *w);

/* hierarchy_tiers.c: distance from the hosts. */
int index_tiers(struct index *w);

/* hierarchy_rails.c: findings about hosts' cables, and the rails; when level 0
 * of the hierarchy is there. */
int index_rails(struct index *w);

/* hierarchy_domains.c: the domains of all levels. */
int index_domains(struct index *w);

/* hierarchy_dragonfly.c: roots that are the routers or groups of a dragonfly.
 */
int index_dragonfly(struct index *w);

/* hierarchy_roots.c: what no tier has joined. */
int index_roots(struct index *w);

/* hierarchy_rates.c: figures of the levels. */
int index_rates(struct index *w);

/* The domain around a switch that nothing contains, or WEFT_NONE. */
uint32_t index_root(const struct weft_hierarchy *hierarchy, uint32_t domain);

/* hierarchy_domain_name.c: a new domain of that level named after the switches
 * of these ranks; WEFT_NONE with err. */
uint32_t index_domain(struct index *w, uint32_t level, const uint32_t *ranks,
		      uint32_t n);

/* Where a finding is: NAME or NAME:PART. */
struct index_at {
	const char *name, *part;
	struct weft_place where;
	double weight; /* siblings that speak for it */
};
int index_note(struct index *w, enum weft_finding_id id, struct index_at at,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Whether a host has no name but that of its adapter. */
bool index_unnamed(const struct index *w, uint32_t host);

/* ---- grouping.c: things that hang together ---- */

/* One item is attached to one key, by so many cables. */
struct grouping_tie {
	uint32_t item, key, n;
};

/* Items that are attached to the same keys form a group with these keys.  An
 * item whose keys are in several groups belongs to that with most of its
 * cables; it joins two groups only where about half of their items do so. */
struct grouping {
	struct grouping_tie *ties; /* put in order of item and key */
	uint32_t n_ties, n_items, n_keys;
	const bool *weak;	   /* [item] counts last; NULL: none does */
	uint32_t *item_group;	   /* results, [n_items] ... */
	uint32_t *key_group;	   /* ... and [n_keys]; WEFT_NONE: no tie */
	uint32_t n_groups;	   /* numbered by their smallest key */
	struct weft_arena *memory; /* of the results and of scratch */
	struct weft_error *err;
};
int grouping_run(struct grouping *g);

#endif
