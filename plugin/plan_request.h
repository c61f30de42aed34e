/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_request.h - one question of Slurm's, planned on whatever the nodes
 * offer: what is free now, after the end of jobs, or on an empty cluster
 */
#ifndef WEFT_PLUGIN_PLAN_REQUEST_H
#define WEFT_PLUGIN_PLAN_REQUEST_H

#include "plugin/bridge/decision.h"
#include "plugin/slurm/stock.h"

struct weft_plan_request {
	const struct weft_job_test *test;
	struct weft_request request;
	struct weft_frame frame;
};

/* The shapes worth trying on what is on offer, as weft_request_shapes. */
uint32_t weft_plan_request_shapes(const struct weft_plan_request *query,
				  struct weft_shape shapes[WEFT_MAX_SHAPES],
				  struct weft_error *err);

/* Plans one shape.  WEFT_CAUSE_NARROWED: p is placed; else why not.  Free p
 * with weft_placement_free in either case. */
enum weft_cause weft_plan_request_place(const struct weft_plan_request *query,
					const struct weft_shape *shape,
					bool only_idle, double budget_s,
					struct weft_placement *p,
					struct weft_error *err);

/* Plans the first shape that has a place; as weft_plan_request_place. */
enum weft_cause weft_plan_request_plan(const struct weft_plan_request *query,
				       double budget_s,
				       struct weft_placement *p,
				       struct weft_error *err);

/* Cost that the plan is chosen by. */
static inline double weft_plan_request_cost(const struct weft_placement *p)
{
	return p->cost.total[p->metric];
}

#endif
