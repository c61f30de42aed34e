/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_given.c - GPUs that somebody else chose: their price, and the best
 * order of ranks on them
 */
#include "placement/objective/comparison.h"
#include "placement/place.h"
#include "placement/place_parts.h"
#include "placement/ranks/arrange.h"
#include "placement/reason.h"

#include <stdlib.h>
#include <string.h>

/* An allocation made elsewhere need not keep to the job's limits on nodes; its
 * bound must not rest on them. */
static struct weft_job without_limits(const struct weft_job *job)
{
	struct weft_job free_job = *job;

	free_job.gpus_per_node = free_job.min_nodes = free_job.max_nodes = 0;
	free_job.within_level = WEFT_NONE;
	return free_job;
}

/* What of o (NULL: all) is usable, and gpus[] besides. */
static int these_besides(const struct weft_fabric *f,
			 const struct weft_occupancy *o, const uint32_t *gpus,
			 uint32_t n, struct weft_occupancy *sum,
			 struct weft_error *err)
{
	if (weft_occupancy_build(f, sum, err))
		return -1;
	if (!o)
		return 0;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		sum->free[i] = o->free[i];
		sum->usable[i] = weft_occupancy_give(o, i);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = f->gpu_node[gpus[i]];

		sum->free[node] |= UINT64_C(1)
				   << (gpus[i] - f->nodes[node].first_gpu);
		sum->usable[node] = f->nodes[node].n_gpus;
	}
	return 0;
}

int weft_place_score(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o, const uint32_t *where,
		     struct weft_placement *p, struct weft_error *err)
{
	const struct weft_job unlimited = without_limits(job);
	struct weft_occupancy usable = {0};
	struct capacity s = {0};
	int rc = -1;

	place_start(job, p);
	p->where = weft_calloc(job->n_gpus, sizeof(*p->where), err);
	/* pricing also checks where[] */
	if (!p->where ||
	    weft_cost(f, &job->traffic, where, NULL, &p->cost, err) ||
	    these_besides(f, o, where, job->n_gpus, &usable, err) ||
	    capacity_build(f, &unlimited, &usable, 1, 0, &s, err) ||
	    place_set_bound(&s, p, err))
		goto out;
	memcpy(p->where, where, job->n_gpus * sizeof(*where));
	p->placed = true;
	p->method = "given";
	if (place_finish(f, p, err))
		goto out;
	reason_given(&s, p);
	rc = 0;
out:
	capacity_free(&s);
	weft_occupancy_free(&usable);
	return rc;
}

/* An occupancy in which exactly gpus[] are free. */
static int only_these(const struct weft_fabric *f, const uint32_t *gpus,
		      uint32_t n, struct weft_occupancy *o,
		      struct weft_error *err)
{
	if (weft_occupancy_build(f, o, err))
		return -1;
	memset(o->free, 0, f->n_nodes * sizeof(*o->free));
	memset(o->usable, 0, f->n_nodes * sizeof(*o->usable));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = f->gpu_node[gpus[i]];

		o->free[node] |= UINT64_C(1)
				 << (gpus[i] - f->nodes[node].first_gpu);
		o->usable[node]++;
	}
	return 0;
}

/* The better one of p's order and the best found on the same GPUs. */
static int order_ranks(struct capacity *s,
		       const struct weft_place_options *options,
		       struct weft_placement *p, struct weft_error *err)
{
	double deadline_s = place_deadline(options);
	uint32_t n = s->job->n_gpus;
	uint32_t *where = weft_calloc(n, sizeof(*where), err);
	struct comparison given, found;
	int rc = -1;

	if (!where || comparison_measure(s, p->where, &given, err) ||
	    arrange_ranks(s, options, sites_blend(s->f, p->metric, p->bounds),
			  where, err) ||
	    comparison_measure(s, where, &found, err))
		goto out;
	if (comparison_compare(&found, &given) < 0) {
		memcpy(p->where, where, n * sizeof(*where));
		given = found;
		p->method = "pack";
	}
	rc = place_pursue(s, options, deadline_s, p, &given, err);
	p->cost = given.measure.cost;
out:
	free(where);
	return rc;
}

int weft_place_ranks(const struct weft_fabric *f, const struct weft_job *job,
		     const uint32_t *gpus,
		     const struct weft_place_options *options,
		     struct weft_placement *p, struct weft_error *err)
{
	static const struct weft_place_options defaults = {0};
	struct weft_job own, unlimited;
	struct weft_occupancy these = {0};
	struct weft_objective objective;
	struct weft_judge judge = {0};
	struct capacity s = {0};
	int rc = -1;

	if (!options)
		options = &defaults;
	objective = place_objective(job, options, &own);
	unlimited = without_limits(&own);
	place_start(&own, p);
	if (place_check_traffic(job, err))
		return -1;
	p->where = weft_calloc(job->n_gpus, sizeof(*p->where), err);
	/* the given order is a candidate; pricing it checks gpus[], too */
	if (!p->where ||
	    weft_cost(f, &job->traffic, gpus, NULL, &p->cost, err) ||
	    only_these(f, gpus, job->n_gpus, &these, err) ||
	    capacity_build(f, &unlimited, &these, 1, 0, &s, err) ||
	    weft_judge_build(f, &unlimited, NULL, &objective, &judge, err))
		goto out;
	s.judge = &judge;
	if (place_set_bound(&s, p, err))
		goto out;
	memcpy(p->where, gpus, job->n_gpus * sizeof(*gpus));
	p->placed = true;
	p->method = "given";
	if (order_ranks(&s, options, p, err) == 0)
		rc = place_finish(f, p, err);
out:
	weft_judge_free(&judge);
	capacity_free(&s);
	weft_occupancy_free(&these);
	return rc;
}

int weft_place_first_ranks(const struct weft_fabric *f,
			   const struct weft_job *job, const uint32_t *gpus,
			   struct weft_placement *p, struct weft_error *err)
{
	const struct weft_job unlimited = without_limits(job);
	struct weft_occupancy these = {0};
	int rc = -1;

	place_start(job, p);
	if (only_these(f, gpus, job->n_gpus, &these, err) == 0)
		rc = weft_place_first(f, &unlimited, &these, p, err);
	weft_occupancy_free(&these);
	return rc;
}
