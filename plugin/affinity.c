/* SPDX-License-Identifier: GPL-3.0-or-later */
/* affinity.c - a job that comes back, or joins others */
#include "plugin/affinity.h"

#include <stdlib.h>

#include "base/bitset.h"
#include "plugin/engine.h"

void weft_affinity_remember(const job_record_t *job)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	const struct weft_holder *holder;
	uint32_t *known, n = 0;

	if (!weft_engine_on())
		return;
	holder = weft_holdings_find(&nodes->held, job->job_id);
	known = holder ? weft_calloc(holder->n, sizeof(*known), NULL) : NULL;
	if (!known)
		return;
	for (uint32_t k = 0; k < holder->n; k++)
		if (holder->of[k].gpus &&
		    nodes->fabric_node[holder->of[k].node] != WEFT_NONE)
			known[n++] = nodes->fabric_node[holder->of[k].node];
	weft_previous_nodes_keep(&weft_engine.previous, job->job_id, known, n);
	free(known);
}

void weft_affinity_plan(const job_record_t *job, const struct weft_placement *p)
{
	if (job->het_job_id)
		weft_previous_nodes_keep(&weft_engine.previous, job->job_id,
					 p->nodes, p->n_nodes);
}

void weft_affinity_planned(uint32_t job_id, bitstr_t *bitmap)
{
	const struct weft_previous_nodes_job *planned =
		weft_previous_nodes_find(&weft_engine.previous, job_id);
	const struct weft_nodes *nodes = &weft_engine.nodes;

	for (uint32_t k = 0; planned && k < planned->n_nodes; k++)
		if (nodes->slurm_node[planned->nodes[k]] != WEFT_NONE)
			bit_set(bitmap, nodes->slurm_node[planned->nodes[k]]);
}

/* What is close: a place must have these nodes, or lie in this domain. */
struct close {
	uint64_t *nodes;		  /* bitset, or NULL */
	const struct weft_domain *domain; /* or NULL */
};

/* Offers the nodes again, and of them what is close. */
static bool offer_close(const struct weft_plan_request *query,
			const struct weft_shape *shape,
			const struct close *close)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	struct weft_occupancy *o = &nodes->occupancy;

	weft_nodes_offer(nodes, query->test, &query->request, shape, false);
	for (uint32_t i = 0; close->domain && i < nodes->fabric->n_nodes; i++)
		if (i - close->domain->first_node >= close->domain->n_nodes)
			o->free[i] = o->usable[i] = 0;
	return weft_occupancy_usable(o) >= shape->n_gpus;
}

/* A place that is close, when it costs about as much as p at most. */
static bool place_close(const struct weft_plan_request *query,
			const struct weft_shape *shape,
			const struct close *close, double budget_s,
			struct weft_placement *p)
{
	const double alike = 1 + weft_engine.settings->rules.wait_tolerance;
	struct weft_occupancy *o = &weft_engine.nodes.occupancy;
	uint64_t *required = o->required;
	struct weft_placement closer = {0};
	struct weft_error err = {0};
	bool taken = offer_close(query, shape, close);

	if (close->nodes)
		o->required = close->nodes;
	taken = taken &&
		weft_bridge_place(&weft_engine.bridge, &query->request, shape,
				  o, budget_s, &closer, &err) == 0 &&
		closer.placed &&
		weft_plan_request_cost(&closer) <=
			weft_plan_request_cost(p) * alike;
	o->required = required;
	if (taken) {
		struct weft_placement worse = *p;

		*p = closer;
		closer = worse;
	}
	weft_placement_free(&closer);
	return taken;
}

/* ---- back to where it was ---- */

/* Those of the job's nodes that are on offer, with those that the user names.
 * NULL: none, or more than the job takes now. */
static uint64_t *nodes_before(const struct weft_previous_nodes_job *before,
			      const struct weft_shape *shape)
{
	const struct weft_occupancy *o = &weft_engine.nodes.occupancy;
	size_t n_words = weft_bitset_words(o->fabric->n_nodes);
	uint64_t *set = weft_calloc(n_words, sizeof(*set), NULL);
	uint32_t n = 0;

	for (uint32_t k = 0; set && k < before->n_nodes; k++) {
		uint32_t node = before->nodes[k];

		if (weft_occupancy_give(o, node) < shape->gpus_per_node ||
		    !weft_occupancy_give(o, node))
			continue;
		weft_bitset_add(set, node);
		n++;
	}
	for (size_t w = 0; set && o->required && w < n_words; w++)
		set[w] |= o->required[w];
	if (!n || n > shape->max_nodes) {
		free(set);
		return NULL;
	}
	return set;
}

static bool prefer_previous(const struct weft_plan_request *query,
			    const struct weft_shape *shape, double budget_s,
			    struct weft_placement *p)
{
	const struct weft_previous_nodes_job *before = weft_previous_nodes_find(
		&weft_engine.previous, query->request.job_id);
	uint64_t *set = before ? nodes_before(before, shape) : NULL;
	const struct close close = {.nodes = set};
	bool taken;

	if (!set)
		return false;
	taken = place_close(query, shape, &close, budget_s, p);
	free(set);
	return taken;
}

/* ---- close to others ---- */

/* A node that a job which has not begun was to have. */
static uint32_t node_planned(uint32_t job_id)
{
	const struct weft_previous_nodes_job *planned =
		weft_previous_nodes_find(&weft_engine.previous, job_id);

	return planned ? planned->nodes[0] : WEFT_NONE;
}

/* A node of the job that this one is a part of, or enlarges. */
static uint32_t node_of_other(const job_record_t *job)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	const job_record_t *other = NULL;
	int64_t first;

	if (job->het_job_id && job->het_job_id != job->job_id)
		other = find_job_record(job->het_job_id);
	else if (job->details->expanding_jobid)
		other = find_job_record(job->details->expanding_jobid);
	if (!other)
		return WEFT_NONE;
	if (!other->node_bitmap)
		return node_planned(other->job_id);
	first = bit_ffs(other->node_bitmap);
	return first < 0 || first >= nodes->n ? WEFT_NONE
					      : nodes->fabric_node[first];
}

/* The smallest domain around the node that has as good a place. */
static bool prefer_around(const struct weft_plan_request *query,
			  const struct weft_shape *shape, uint32_t node,
			  double budget_s, struct weft_placement *p)
{
	const struct weft_fabric *f = weft_engine.nodes.fabric;
	uint32_t gpu = f->nodes[node].first_gpu;

	for (uint32_t level = f->node_level + 1; level < f->n_levels; level++) {
		const struct weft_domain *domain =
			&f->domains[f->gpu_domain[level][gpu]];
		const struct close close = {.domain = domain};

		if (domain->n_nodes < f->n_nodes &&
		    place_close(query, shape, &close, budget_s, p))
			return true;
	}
	return false;
}

void weft_affinity_prefer(const struct weft_plan_request *query,
			  const struct weft_shape *shape, double budget_s,
			  struct weft_placement *p)
{
	uint32_t node = node_of_other(query->test->job);
	bool known = weft_previous_nodes_find(&weft_engine.previous,
					      query->request.job_id);

	if (!known && node == WEFT_NONE)
		return;
	if ((known && prefer_previous(query, shape, budget_s, p)) ||
	    (node != WEFT_NONE &&
	     prefer_around(query, shape, node, budget_s, p)))
		return;
	weft_nodes_offer(&weft_engine.nodes, query->test, &query->request,
			 shape, false);
}
