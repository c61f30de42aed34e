/* SPDX-License-Identifier: GPL-3.0-or-later */
/* occupancy_parts.h - texts and state files, shared by occupancy and running
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_CAPACITY_OCCUPANCY_PARTS_H
#define WEFT_PLACEMENT_CAPACITY_OCCUPANCY_PARTS_H

#include "base/yaml.h"
#include "placement/capacity/occupancy.h"

/* Gets a node and numbers of its GPUs, as they are named; not 0 with err ends
 * it. */
struct occupancy_visitor {
	int (*visit)(void *context, uint32_t node, uint64_t mask,
		     struct weft_error *err);
	void *context;
};

/* Visits what `text` names, in that order; grammar and errors of
 * weft_occupancy_busy. */
int occupancy_visit(const struct weft_fabric *f, const char *text,
		    const struct occupancy_visitor *visitor,
		    struct weft_error *err);

/* Checks that doc is a state file and marks busy: and down: of it. */
int occupancy_read(struct weft_occupancy *o, const struct weft_yaml *doc,
		   struct weft_error *err);

#endif
