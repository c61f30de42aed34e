/* SPDX-License-Identifier: GPL-3.0-or-later */
/* occupancy.h - which GPUs of a fabric a job may have */
#ifndef WEFT_PLACEMENT_CAPACITY_OCCUPANCY_H
#define WEFT_PLACEMENT_CAPACITY_OCCUPANCY_H

#include "base/bitset.h"
#include "topology/fabric.h"

/* free[node]: bit k = GPU first_gpu + k of that node is free and allowed (see
 * weft_fabric_places).
 * usable[node]: how many of the free ones a job may take (CPUs or memory may
 * run out before GPUs); free bits beyond are still free but not usable.
 * closed: bitset of nodes that take no job, whoever leaves them.
 * required: bitset of nodes that the job must use, or NULL.
 * weight[node]: the admin's preference, smaller first, or NULL. */
struct weft_occupancy {
	const struct weft_fabric *fabric;
	uint64_t *free;
	uint32_t *usable;
	uint64_t *closed;
	uint64_t *required;
	uint32_t *weight;
};

/* All GPUs free and usable.  Free with weft_occupancy_free in either case. */
int weft_occupancy_build(const struct weft_fabric *f, struct weft_occupancy *o,
			 struct weft_error *err);
void weft_occupancy_free(struct weft_occupancy *o);

/* A copy of `from`; free with weft_occupancy_free in either case. */
int weft_occupancy_copy(const struct weft_occupancy *from,
			struct weft_occupancy *to, struct weft_error *err);

/* Marks GPUs of a node busy (mask as that of free). */
void weft_occupancy_take(struct weft_occupancy *o, uint32_t node,
			 uint64_t mask);
/* Takes all GPUs of a node for good. */
void weft_occupancy_close(struct weft_occupancy *o, uint32_t node);
/* Marks GPUs free and usable again, unless the node is closed. */
void weft_occupancy_release(struct weft_occupancy *o, uint32_t node,
			    uint64_t mask);

/* Marks as busy what `text` names: a hostlist whose names may carry a GPU list:
 * "n[00-03],n07:0-3,5,n08:5".  Unknown nodes and GPUs are errors; err->column
 * counts in text from 1. */
int weft_occupancy_busy(struct weft_occupancy *o, const char *text,
			struct weft_error *err);

/* Reads a state file (weft-state(5)): busy and down nodes, GPUs in use, also
 * those of its jobs (running.h says which jobs). */
int weft_occupancy_load(struct weft_occupancy *o, const char *path,
			struct weft_error *err);

/* GPUs that one node can give: usable and free. */
static inline uint32_t weft_occupancy_give(const struct weft_occupancy *o,
					   uint32_t node)
{
	uint32_t n = weft_mask_count(o->free[node]);

	return o->usable[node] < n ? o->usable[node] : n;
}

/* Total of usable GPUs. */
uint32_t weft_occupancy_usable(const struct weft_occupancy *o);

#endif
