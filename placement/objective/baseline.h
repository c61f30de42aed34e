/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline.h - where else a job could have gone: what a placement is compared
 * with
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_BASELINE_H
#define WEFT_PLACEMENT_OBJECTIVE_BASELINE_H

#include "placement/capacity/occupancy.h"
#include "placement/job.h"

/* GPU of each rank; NULL: there is no such placement.
 *
 * stock: that of Slurm's select/cons_tres with topology/tree (slurm_tree.c), on
 * the switches that the levels of the fabric are; the lowest
 * free GPUs of each node, ranks in the order of the nodes' names.  It knows no
 * limits of the spec (within=, segment=, split=, prefer=).
 *
 * spread: the worst choice within reason.  As many nodes, taken in turn from
 * the domains of the outermost level, in each of them in turn from those of the
 * next level, and so on; ranks in that order, so that neighbours are far apart.
 *
 * A job that leaves it open on how many nodes it runs gets the fewest equal
 * shares that fit; the last node may have less. */
struct weft_baselines {
	uint32_t *stock, *spread; /* [job->n_gpus] */
};

/* For the job on the usable GPUs of o.  Free with weft_baselines_free in either
 * case.  -1 with err when out of memory.  O(nodes * depth), sorts nothing
 * unless o has weights. */
int weft_baselines_build(const struct weft_fabric *f,
			 const struct weft_job *job,
			 const struct weft_occupancy *o,
			 struct weft_baselines *b, struct weft_error *err);
void weft_baselines_free(struct weft_baselines *b);

#endif
