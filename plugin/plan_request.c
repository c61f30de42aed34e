/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_request.c - planning a question of Slurm's */
#include "plugin/plan_request.h"

#include <math.h>

#include "base/clock.h"
#include "plugin/bridge/constraints.h"
#include "plugin/engine.h"

/* Stock has a job share cores only where it finds no place for it without. */
static bool stays_apart(const struct weft_plan_request *query)
{
	return !weft_engine.nodes.emptied &&
	       weft_nodes_shares(query->test->job);
}

/* Nodes that could take part, before the number of nodes is settled; only
 * where it is open. */
static uint32_t count_able(const struct weft_plan_request *query)
{
	const struct weft_request *request = &query->request;
	struct weft_nodes *nodes = &weft_engine.nodes;
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
	nodes->heaviest = WEFT_ANY_WEIGHT;
	nodes->apart = stays_apart(query);
	if (weft_nodes_offer(nodes, query->test, request, &shape, false) <
		    request->min_nodes &&
	    nodes->apart) {
		nodes->apart = false;
		weft_nodes_offer(nodes, query->test, request, &shape, false);
	}
	return weft_constraints_able(&nodes->occupancy, &query->frame);
}

uint32_t weft_plan_request_shapes(const struct weft_plan_request *query,
				  struct weft_shape shapes[WEFT_MAX_SHAPES],
				  struct weft_error *err)
{
	return weft_request_shapes(&query->request, &query->frame,
				   count_able(query), shapes, err);
}

static enum weft_cause cause_of(const struct weft_error *err)
{
	if (err->code == WEFT_ENOMEM)
		return WEFT_CAUSE_NO_MEMORY;
	return err->code == WEFT_ELATE ? WEFT_CAUSE_LATE : WEFT_CAUSE_SPEC;
}

/* On what is offered, whatever it weighs. */
static enum weft_cause place_offered(const struct weft_plan_request *query,
				     const struct weft_shape *shape,
				     bool only_idle, double budget_s,
				     struct weft_placement *p,
				     struct weft_error *err)
{
	struct weft_nodes *nodes = &weft_engine.nodes;

	if (weft_deadline_check(err))
		return WEFT_CAUSE_LATE;
	if (weft_nodes_offer(nodes, query->test, &query->request, shape,
			     only_idle) < shape->min_nodes ||
	    weft_occupancy_usable(&nodes->occupancy) < shape->n_gpus)
		return WEFT_CAUSE_NO_ROOM;
	if (weft_bridge_place(&weft_engine.bridge, &query->request, shape,
			      &nodes->occupancy, budget_s, p, err) < 0)
		return cause_of(err);
	return p->placed ? WEFT_CAUSE_NARROWED : WEFT_CAUSE_NO_PLAN;
}

/* Weights beyond those that suffice which are tried one by one. */
#define MAX_HEAVIER 3

/* The lightest nodes that suffice, as stock would take them; where these do not
 * keep the job's limits, heavier and heavier ones. */
static enum weft_cause place_lightest(const struct weft_plan_request *query,
				      const struct weft_shape *shape,
				      bool only_idle, double budget_s,
				      struct weft_placement *p,
				      struct weft_error *err)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	double end_s = weft_worked_s() + budget_s;
	enum weft_cause cause;

	nodes->lightest = true;
	for (uint32_t i = 0;; i++) {
		bool forced;

		cause = place_offered(
			query, shape, only_idle,
			fmax(end_s - weft_worked_s(), budget_s / 10), p, err);
		forced = nodes->lightest;
		nodes->lightest = false;
		if ((cause != WEFT_CAUSE_NO_PLAN &&
		     cause != WEFT_CAUSE_NO_ROOM) ||
		    nodes->heaviest == WEFT_ANY_WEIGHT)
			return cause;
		/* first of the same nodes, but not all of the lighter ones */
		if (!forced)
			nodes->heaviest = i < MAX_HEAVIER && nodes->next_weight
						  ? nodes->next_weight
						  : WEFT_ANY_WEIGHT;
		weft_placement_free(p);
		*p = (struct weft_placement){0};
	}
}

/* A place on any nodes, when it costs less than p by more than the site's
 * share. */
static void place_heavier(const struct weft_plan_request *query,
			  const struct weft_shape *shape, bool only_idle,
			  double budget_s, struct weft_placement *p)
{
	const double factor = 1 + weft_engine.settings->heavier;
	uint32_t heaviest = weft_engine.nodes.heaviest;
	struct weft_placement any = {0};
	struct weft_error err = {0};

	weft_engine.nodes.heaviest = WEFT_ANY_WEIGHT;
	if (place_offered(query, shape, only_idle, budget_s, &any, &err) ==
		    WEFT_CAUSE_NARROWED &&
	    weft_plan_request_cost(&any) * factor < weft_plan_request_cost(p)) {
		struct weft_placement worse = *p;

		*p = any;
		any = worse;
	} else {
		weft_engine.nodes.heaviest = heaviest;
	}
	weft_placement_free(&any);
}

/* On cores that are shared or not. */
static enum weft_cause place_weighed(const struct weft_plan_request *query,
				     const struct weft_shape *shape,
				     bool only_idle, double budget_s,
				     struct weft_placement *p,
				     struct weft_error *err)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	double heavier = weft_engine.settings->heavier;
	enum weft_cause cause;

	nodes->heaviest = WEFT_ANY_WEIGHT;
	nodes->lightest = false;
	if (nodes->emptied || heavier == 0)
		return place_offered(query, shape, only_idle, budget_s, p, err);
	cause = place_lightest(query, shape, only_idle,
			       isfinite(heavier) ? budget_s / 2 : budget_s, p,
			       err);
	if (cause == WEFT_CAUSE_NARROWED && isfinite(heavier) &&
	    nodes->heaviest != WEFT_ANY_WEIGHT)
		place_heavier(query, shape, only_idle, budget_s / 2, p);
	return cause;
}

enum weft_cause weft_plan_request_place(const struct weft_plan_request *query,
					const struct weft_shape *shape,
					bool only_idle, double budget_s,
					struct weft_placement *p,
					struct weft_error *err)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	double end_s = weft_worked_s() + budget_s;
	enum weft_cause cause;

	/* A job that holds out for its limits must have limits that exist:
	 * else it would be found out only where there is room. */
	if (query->frame.hard &&
	    !weft_bridge_job(&weft_engine.bridge, query->request.spec,
			     shape->n_gpus, err))
		return cause_of(err);
	nodes->apart = stays_apart(query);
	cause = place_weighed(query, shape, only_idle, budget_s, p, err);
	if (!nodes->apart ||
	    (cause != WEFT_CAUSE_NO_PLAN && cause != WEFT_CAUSE_NO_ROOM))
		return cause;
	nodes->apart = false;
	weft_placement_free(p);
	*p = (struct weft_placement){0};
	return place_weighed(query, shape, only_idle,
			     fmax(end_s - weft_worked_s(), budget_s / 10), p,
			     err);
}

enum weft_cause weft_plan_request_plan(const struct weft_plan_request *query,
				       double budget_s,
				       struct weft_placement *p,
				       struct weft_error *err)
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	enum weft_cause cause = WEFT_CAUSE_NO_ROOM;
	uint32_t n_shapes = weft_plan_request_shapes(query, shapes, err);

	if (!n_shapes && err->code)
		return err->code == WEFT_ENOSYS ? WEFT_CAUSE_UNCLEAR
						: WEFT_CAUSE_SPEC;
	for (uint32_t s = 0; s < n_shapes; s++) {
		weft_placement_free(p);
		*p = (struct weft_placement){0};
		*err = (struct weft_error){0};
		cause = weft_plan_request_place(query, &shapes[s], false,
						budget_s, p, err);
		if (cause == WEFT_CAUSE_NARROWED)
			break;
	}
	return cause;
}
