/* SPDX-License-Identifier: GPL-3.0-or-later */
/* constraints.h - what within=, segment= and split= leave of a fabric: no Slurm
 * types
 */
#ifndef WEFT_PLUGIN_BRIDGE_CONSTRAINTS_H
#define WEFT_PLUGIN_BRIDGE_CONSTRAINTS_H

#include "placement/capacity/occupancy.h"
#include "plugin/bridge/request.h"

/* Usable nodes of that domain which has most of them, where the frame says
 * within=; else, or where the fabric has no such level, all usable nodes. */
uint32_t weft_constraints_able(const struct weft_occupancy *o,
			       const struct weft_frame *frame);

/* The level of which one domain must hold the whole job: that of within=, or
 * the last of a fabric that is not connected; WEFT_NONE: any nodes will do. */
uint32_t weft_constraints_level(const struct weft_fabric *f,
				const struct weft_frame *frame);

/* Whether these nodes, by number, keep to within=, segment= and split= of the
 * spec. */
bool weft_constraints_holds(const struct weft_fabric *f, const char *spec,
			    const uint32_t *nodes, uint32_t n);

/* The level of which one domain may hold the whole job: whatever nodes of it
 * keep to segment=, or are a split of one part.  WEFT_NONE: the spec asks for
 * neither. */
uint32_t weft_constraints_whole(const struct weft_fabric *f, const char *spec);

/* Keeps of nodes[n], in the order of the fabric, so many of each domain that a
 * choice of them is likely to hold: whole segments, or the parts of a split.
 * Returns how many. */
uint32_t weft_constraints_trim(const struct weft_fabric *f, const char *spec,
			       uint32_t *nodes, uint32_t n);

#endif
