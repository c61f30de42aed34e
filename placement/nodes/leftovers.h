/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leftovers.h - a choice of nodes that leaves the most room for others
 *
 * candidates.c looks for a small cost and stays in the tightest domains; where
 * room for other jobs counts, the GPUs that are left over anywhere are worth
 * looking at, too.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_LEFTOVERS_H
#define WEFT_PLACEMENT_NODES_LEFTOVERS_H

#include "placement/nodes/node_set.h"

/* Takes the whole job from `domain`, a multiple of `unit` GPUs from each node:
 * first from domains that are in use already, outermost level first, of those
 * from the ones that have least left; scattered: from all nodes that are in use
 * already before any other.  Returns 1 when done, 0 when this way
 * leads to no valid choice, -1 with err.  Free with node_set_free in any case.
 */
int leftovers_fill(const struct capacity *s, uint32_t domain, uint32_t unit,
		   bool scattered, struct node_set *c, struct weft_error *err);

#endif
