/* SPDX-License-Identifier: GPL-3.0-or-later */
/* links.h - cables that a source may tell from either end, or from both */
#ifndef WEFT_TOPOLOGY_IMPORT_LINKS_H
#define WEFT_TOPOLOGY_IMPORT_LINKS_H

#include "topology/inventory/inventory.h"

/* Zero-initialise; free links. */
struct weft_told_links {
	struct weft_inventory_cable *links;
	uint32_t n, room;
};

/* The number that ends a port's name: "swp7", "Ethernet1/7", "Blade 3_Port
 * 1/7", "19"; 0 where none does. */
uint32_t weft_port_number(const char *name);

/* An end named by a device and its port, both added to s where they are new: a
 * switch, or else a host with that adapter.  0, or -1 with err. */
int weft_told_end(struct weft_inventory *s, const char *device,
		  const char *port, bool is_switch, struct weft_place where,
		  struct weft_end *end, struct weft_error *err);

/* A copy of the cable, its host's end first. */
int weft_told_links_keep(struct weft_told_links *told,
			 const struct weft_inventory_cable *cable,
			 struct weft_error *err);

/* Adds them to the inventory: those with the same ends are one cable. */
int weft_told_links_add(struct weft_told_links *told, struct weft_inventory *s,
			struct weft_error *err);

#endif
