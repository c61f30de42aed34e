/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arch.h - places to map a graph onto, as a tree with distances
 *
 * A text of lines; # begins a comment.
 *   dist D0 D1 ... Dk   distance of two slots by the lowest domain that holds
 *                       both, innermost first; no less than the one before
 *   rail R              added when the two are in different nodes and have a
 *                       different index in theirs (default: 0)
 *   node P ... L GPUS   one per node, after dist: k - 1 numbers of the domains
 *                       that it is in, outermost first, and its slots
 * Slots are numbered node by node.  "slots" and "ranks" followed by a number
 * are checked; lines that begin with any other word are remarks.
 */
#ifndef WEFT_LAB_MAP_ARCH_H
#define WEFT_LAB_MAP_ARCH_H

#include "lab/map/scan.h"
#include "placement/mapping/sites.h"

/* Sites are in tree order, slots as they were listed. */
struct arch {
	struct sites sites;
	uint32_t n_nodes;
	uint32_t *slot; /* [sites.n] of each site */
	uint32_t *site; /* [sites.n] of each slot */
	uint32_t ranks; /* as the file says; 0: it does not */
};

/* Free with arch_free in either case. */
int arch_read(struct scan *s, struct arch *a);
void arch_free(struct arch *a);

#endif
