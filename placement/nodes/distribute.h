/* SPDX-License-Identifier: GPL-3.0-or-later */
/* distribute.h - dealing a demand to the parts of a domain
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_DISTRIBUTE_H
#define WEFT_PLACEMENT_NODES_DISTRIBUTE_H

#include <stdint.h>

/* The parts of one domain while its demand is dealt out, those that can take
 * most first.  What they take counts in anything: GPUs, segments. */
struct hand {
	uint32_t n;
	const uint32_t *part; /* [n] node or domain indices */
	const uint32_t *cap;  /* by index */
	const uint32_t *must; /* by index; NULL: the parts are nodes */
	uint32_t *share;      /* [n] by position; 0: not dealt to yet */
};

static inline uint32_t hand_cap(const struct hand *h, uint32_t i)
{
	return h->cap[h->part[i]];
}

/* Each returns what of the demand is left over. */

/* Largest-first with the remainder on the part that it fills best. */
uint32_t distribute_compact(struct hand *h, uint32_t need);

/* Equal shares, multiples of `unit`, over as few parts as distribute_compact
 * would use. */
uint32_t distribute_even(struct hand *h, uint32_t need, uint32_t unit);

/* Whole chunks first; what is left over goes where room is left. */
uint32_t distribute_aligned(struct hand *h, uint32_t need, uint32_t chunk);

#endif
