/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_wiring.h - the switches and cables of a fabric file while it is read
 *
 * Private to the loader: fabric_switches.c numbers the switches,
 * fabric_cables.c reads the cables, fabric_rails.c tells their rails.
 */
#ifndef WEFT_TOPOLOGY_FABRIC_WIRING_H
#define WEFT_TOPOLOGY_FABRIC_WIRING_H

#include "topology/cabling.h"
#include "topology/fabric_draft.h"

struct weft_wiring {
	struct weft_draft *d;
	const struct weft_fabric *f;
	struct weft_cabling *c;
	/* Leaf domains are switches 0.. in the order of the file, each of a
	 * bundle one.  The first switch of each thing, or WEFT_NONE. */
	uint32_t *switch_of;
	const struct weft_yaml_node **said; /* [room] the line of its facts */
	uint32_t switches_room, cables_room;
	struct weft_draft_names names; /* of switches that are no domain */
	uint16_t *port_order;	       /* ports sorted by strcmp */
	uint32_t ports_room;
};

/* Fills c->switches.  section: `switches`, or NULL. */
int weft_wiring_switches(struct weft_wiring *w,
			 const struct weft_yaml_node *section);

/* The end of that name; WEFT_NONE where it is none.  *is_domain tells a domain
 * that is not a switch. */
uint32_t weft_wiring_end(struct weft_wiring *w, const char *name,
			 bool *is_domain);

/* Fails: the name at column `column` of node's value (or of its key) is
 * unknown.  The message has the nearest known one. */
int weft_wiring_unknown(struct weft_wiring *w,
			const struct weft_yaml_node *node, int column,
			const char *name);

/* Tells the rail of each node's port where the file does not. */
int weft_wiring_rails(struct weft_wiring *w);

#endif
