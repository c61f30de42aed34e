/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots.h - the room that free GPUs are for jobs of each size, and how much of
 * it a placement destroys
 *
 * A slot of size s is s free GPUs in one domain of the innermost level whose
 * largest domain has as many; a domain with f free GPUs has f / s of them,
 * rounded down.  Sizes are the powers of two from 2 up, and the levels' own.
 *
 * A placement of k GPUs loses, of each size, between
 *	least: (k - w) / s rounded up, where w GPUs are in no slot of that size,
 *	       all domains' f mod s together
 *	most:  one slot for each 1 + f mod s GPUs in a domain, smallest first,
 *	       then one for each s
 * both exactly attainable for that size alone.  The share lost is the mean over
 * the sizes of (lost - least) / (most - least), where these differ: 0 is the
 * kindest placement of so many GPUs for every size, 1 the most destructive.
 * Every doubling of the size counts the same, because job sizes spread about
 * evenly over them; taking one more GPU never gives a slot back.
 */
#ifndef WEFT_PLACEMENT_CAPACITY_SLOTS_H
#define WEFT_PLACEMENT_CAPACITY_SLOTS_H

#include "placement/capacity/occupancy.h"

/* Powers of two up to WEFT_MAX_GPUS, and one more a level. */
#define WEFT_MAX_SLOT_SIZES 34

struct weft_slot_size {
	uint32_t size;	/* GPUs */
	uint32_t level; /* whose domains they lie in */
	uint32_t n;	/* slots that are free now */
	/* that a placement of the n_gpus asked for loses */
	uint32_t least, most;
};

struct weft_slots {
	const struct weft_fabric *fabric;
	uint32_t n_gpus;
	uint32_t n_sizes;
	struct weft_slot_size sizes[WEFT_MAX_SLOT_SIZES]; /* ascending */
	uint32_t *n_free; /* [n_domains] GPUs, from node_level outwards */
	uint32_t *taken;  /* [n_domains] zeros between calls */
};

/* Slots of what is free in o, seen by a placement of n_gpus GPUs; 0 to count
 * them only.  Free with weft_slots_free in either case. */
int weft_slots_build(const struct weft_occupancy *o, uint32_t n_gpus,
		     struct weft_slots *slots, struct weft_error *err);
void weft_slots_free(struct weft_slots *slots);

/* The share lost, 0 to 1, when the n_gpus distinct GPUs where[] are taken.
 * O(GPUs * depth); one thread at a time. */
double weft_slots_lost(struct weft_slots *slots, const uint32_t *where);

/* By how much the share lost falls, in the levels from theirs outwards, when
 * all GPUs that are taken in a domain are taken in another of its level
 * instead.  used: [n_domains] those taken so far, from node_level outwards; as
 * long as they are free, and no fewer than the least of any size are lost. */
double weft_slots_gain(const struct weft_slots *slots, const uint32_t *used,
		       uint32_t from, uint32_t to);

#endif
