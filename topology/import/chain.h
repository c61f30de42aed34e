/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chain.h - the switches above a host, as clouds name them */
#ifndef WEFT_TOPOLOGY_IMPORT_CHAIN_H
#define WEFT_TOPOLOGY_IMPORT_CHAIN_H

#include "topology/inventory/inventory.h"

/* Adds the edges of a chain of switches, the top first, and of the host that
 * is attached to the last.  -1 with err, also where a switch follows itself. */
int weft_chain_add(struct weft_inventory *s, const char *const *names, size_t n,
		   uint32_t host, struct weft_place where,
		   struct weft_error *err);

/* Where a table or a label says that a host is.  Texts NULL or "": not said. */
struct weft_located {
	const char *host;
	/* The domains it is in, innermost first, and what each kind is called;
	 * numbers count within the domain around, others are names. */
	const char *level[WEFT_MAX_LEVELS], *label[WEFT_MAX_LEVELS];
	size_t n;
	const char *nvlink, *rack, *gpu_kind;
	bool gpus_told;
	uint32_t gpus;
};

/* Adds the host with all that is said of it. */
int weft_located_add(struct weft_inventory *s, const struct weft_located *l,
		     struct weft_place where, struct weft_error *err);

#endif
