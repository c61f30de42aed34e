/* SPDX-License-Identifier: GPL-3.0-or-later */
/* defrag.h - which running jobs to move, and where, to make room for a job
 *
 * Advice only: weft moves nothing.  Whoever does so checkpoints a job, starts
 * it again on the GPUs named, and loses what that takes; hence fewer GPUs moved
 * is the cheaper plan.
 */
#ifndef WEFT_PLACEMENT_DEFRAG_H
#define WEFT_PLACEMENT_DEFRAG_H

#include "placement/capacity/running.h"
#include "placement/place.h"

struct weft_move {
	uint32_t job;	 /* index into the list */
	uint32_t *where; /* [n_gpus of that job] */
	/* in the metric of the job to be placed; of ranks in the order of the
	 * list where what the job computes is not known: then only the GPUs
	 * count */
	double cost_before, cost_after;
};

/* One way, and what it costs and brings. */
struct weft_defrag_plan {
	uint32_t domain; /* of the fabric, in which it makes room */
	uint32_t n_gpus_moved;
	uint32_t n_moves;
	struct weft_move *moves; /* to be made in this order: largest first */
	struct weft_placement placement; /* of the job to be placed */
};

struct weft_defrag_request {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o; /* with the running jobs in it */
	const struct weft_running_list *running;
	const struct weft_place_options *options;
	const struct weft_placement *now; /* the job's place without moves */
	/* A moved job may not cost more than this many times what it does
	 * now; 0: 1.05 */
	double most_cost_ratio;
	double budget_s; /* wall clock; 0: none */
};

/* Fewest GPUs moved first; each next one costs the job less. */
struct weft_defrag {
	uint32_t n_plans;
	struct weft_defrag_plan *plans;
	uint32_t n_domains; /* in which room was looked for */
};

/* n_plans == 0: no moves help.  Free with weft_defrag_free in either case. */
int weft_defrag(const struct weft_defrag_request *request,
		struct weft_defrag *defrag, struct weft_error *err);
void weft_defrag_free(struct weft_defrag *defrag);

#endif
