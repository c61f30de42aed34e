/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.c - planning a question of Slurm's */
#include "plugin/query.h"

#include "plugin/bridge/hard.h"
#include "plugin/engine.h"

/* Nodes that could take part, before the number of nodes is settled; only
 * where it is open. */
static uint32_t count_able(const struct weft_query *query)
{
	const struct weft_request *request = &query->request;
	/* Tasks are spread over the number that is tried first. */
	const uint32_t n_nodes = request->want_nodes > request->min_nodes
					 ? request->want_nodes
					 : request->min_nodes;
	const struct weft_shape shape = {
		.gpus_per_node = request->gpus_per_node,
		.min_nodes = n_nodes,
		.max_nodes = n_nodes,
	};

	if (!request->gpus_per_node || query->frame.gpus ||
	    request->min_nodes == request->max_nodes)
		return UINT32_MAX;
	weft_nodes_offer(&weft_engine.nodes, query->test, request, &shape,
			 false);
	return weft_hard_able(&weft_engine.nodes.occupancy, &query->frame);
}

uint32_t weft_query_shapes(const struct weft_query *query,
			   struct weft_shape shapes[WEFT_MAX_SHAPES],
			   struct weft_error *err)
{
	return weft_request_shapes(&query->request, &query->frame,
				   count_able(query), shapes, err);
}

enum weft_cause weft_query_place(const struct weft_query *query,
				 const struct weft_shape *shape, bool only_idle,
				 double budget_s, struct weft_placement *p,
				 struct weft_error *err)
{
	struct weft_nodes *nodes = &weft_engine.nodes;

	/* A job that holds out for its limits must have limits that exist:
	 * else it would be found out only where there is room. */
	if (query->frame.hard &&
	    !weft_bridge_job(&weft_engine.bridge, query->request.spec,
			     shape->n_gpus, err))
		return err->code == WEFT_ENOMEM ? WEFT_CAUSE_NO_MEMORY
						: WEFT_CAUSE_SPEC;
	if (weft_nodes_offer(nodes, query->test, &query->request, shape,
			     only_idle) < shape->min_nodes ||
	    weft_occupancy_usable(&nodes->occupancy) < shape->n_gpus)
		return WEFT_CAUSE_NO_ROOM;
	if (weft_bridge_place(&weft_engine.bridge, &query->request, shape,
			      &nodes->occupancy, budget_s, p, err) < 0)
		return err->code == WEFT_ENOMEM ? WEFT_CAUSE_NO_MEMORY
						: WEFT_CAUSE_SPEC;
	return p->placed ? WEFT_CAUSE_NARROWED : WEFT_CAUSE_NO_PLAN;
}

enum weft_cause weft_query_plan(const struct weft_query *query, double budget_s,
				struct weft_placement *p,
				struct weft_error *err)
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	enum weft_cause cause = WEFT_CAUSE_NO_ROOM;
	uint32_t n_shapes = weft_query_shapes(query, shapes, err);

	if (!n_shapes && err->code)
		return err->code == WEFT_ENOSYS ? WEFT_CAUSE_UNCLEAR
						: WEFT_CAUSE_SPEC;
	for (uint32_t s = 0; s < n_shapes; s++) {
		weft_placement_free(p);
		*p = (struct weft_placement){0};
		*err = (struct weft_error){0};
		cause = weft_query_place(query, &shapes[s], false, budget_s, p,
					 err);
		if (cause == WEFT_CAUSE_NARROWED)
			break;
	}
	return cause;
}
