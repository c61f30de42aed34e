/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory.h - versions, settings and error counts of hosts and ports, and
 * which of them stand out: weft-inventory(5)
 *
 *	struct weft_inventory inventory = {0};
 *	weft_inventory_load(&inventory, "inventory.csv", &findings, &err);
 *	weft_inventory_audit(&inventory, f, &findings, &err);
 *	weft_inventory_free(&inventory);
 */
#ifndef WEFT_TOPOLOGY_AUDIT_INVENTORY_H
#define WEFT_TOPOLOGY_AUDIT_INVENTORY_H

#include "base/arena.h"
#include "topology/fabric.h"
#include "topology/inventory/finding.h"

#define WEFT_INVENTORY_MAX_BYTES (256u << 20)
#define WEFT_INVENTORY_MAX_FACTS (1u << 22)

struct weft_inventory_fact {
	const char *place; /* "n012" or "n012:mlx5_3" */
	const char *key, *value;
	uint32_t source;
	int line;
	uint32_t order; /* later ones replace earlier ones */
};

struct weft_inventory {
	struct weft_inventory_fact *facts;
	const char **sources;
	uint32_t n_facts, n_sources;

	/* private */
	uint32_t facts_room, sources_room;
	struct weft_arena arena;
};

/* Adds the lines PLACE,KEY,VALUE of a file; "-" is standard input.  Lines that
 * are none become findings; -1 when the file cannot be read or has no such
 * line. */
int weft_inventory_load(struct weft_inventory *inventory, const char *path,
			struct weft_findings *findings, struct weft_error *err);
/* The same from memory. */
int weft_inventory_parse(struct weft_inventory *inventory, const char *text,
			 size_t size, const char *source,
			 struct weft_findings *findings,
			 struct weft_error *err);
void weft_inventory_free(struct weft_inventory *inventory);

/* Adds findings about what stands out among hosts of a kind, and counts over
 * their limits.  f may be NULL: it tells which hosts should be there and, where
 * the inventory has no key "kind", which are alike.  Sorts the facts. */
int weft_inventory_audit(struct weft_inventory *inventory,
			 const struct weft_fabric *f,
			 struct weft_findings *findings,
			 struct weft_error *err);

#endif
