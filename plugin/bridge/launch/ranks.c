/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - the order of a started job's ranks */
#include "plugin/bridge/launch/ranks.h"

#include "base/bitset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool knows_all(const struct weft_ranks_question *q)
{
	for (uint32_t i = 0; i < q->n_gpus; i++)
		if (q->given[i] == WEFT_NONE)
			return false;
	return q->n_gpus > 0;
}

/* Where nodes are shared, Slurm may take other GPUs of a node than the plan. */
static bool given_as_planned(const struct weft_fabric *f,
			     const struct weft_ranks_question *q)
{
	uint64_t *planned;
	bool same = q->planned && q->n_planned == q->n_gpus;

	if (!same)
		return false;
	planned = weft_calloc(weft_bitset_words(f->n_gpus), sizeof(*planned),
			      NULL);
	if (!planned)
		return false;
	for (uint32_t i = 0; i < q->n_planned; i++)
		weft_bitset_add(planned, q->planned[i]);
	for (uint32_t i = 0; same && i < q->n_gpus; i++)
		same = weft_bitset_has(planned, q->given[i]);
	free(planned);
	return same;
}

static uint32_t *copy_order(const uint32_t *where, uint32_t n)
{
	uint32_t *copy = weft_calloc(n, sizeof(*copy), NULL);

	if (copy)
		memcpy(copy, where, n * sizeof(*copy));
	return copy;
}

/* The best order on the GPUs that the job got, in what is left of the time; by
 * structure where the job's pairs of ranks would take longer. */
static uint32_t *order_given(const struct weft_fabric *f,
			     const struct weft_job *job,
			     const struct weft_ranks_question *q)
{
	const struct weft_place_options options = {.budget_s = q->budget_s};
	struct weft_placement p = {0};
	uint32_t *where = NULL;
	int rc =
		job->traffic.n_ranks
			? weft_place_ranks(f, job, q->given, &options, &p, NULL)
			: weft_place_first_ranks(f, job, q->given, &p, NULL);

	if (rc == 0 && p.placed && p.n_ranks == q->n_gpus) {
		where = p.where;
		p.where = NULL;
	}
	weft_placement_free(&p);
	return where;
}

static bool is_left(const struct weft_spec *spec,
		    const struct weft_ranks_question *q)
{
	return weft_spec_given(spec, "ranks") ? spec->ranks == WEFT_RANKS_LEAVE
					      : q->leave;
}

static void ranks_order(const struct weft_fabric *f, const struct weft_job *job,
			const struct weft_ranks_question *q,
			struct weft_ranks *ranks)
{
	if (is_left(&job->spec, q)) {
		ranks->why = "left to Slurm";
		return;
	}
	if (given_as_planned(f, q))
		ranks->where = copy_order(q->planned, q->n_gpus);
	else if (q->budget_s > 0)
		ranks->where = order_given(f, job, q);
	ranks->n = ranks->where ? q->n_gpus : 0;
	if (!ranks->where)
		ranks->why = "no time to order them";
}

/* True when each block of n neighbours in a group of experts, counted from its
 * first rank, is in one NVLink domain. */
static bool blocks_hold(const struct weft_fabric *f,
			const struct weft_grid *grid, uint32_t axis,
			const uint32_t *where, uint32_t n)
{
	uint32_t stride = grid->stride[axis];

	for (uint32_t r = 0; r < grid->n_ranks; r++)
		if (weft_grid_coordinate(grid, r, axis) % n != 0 &&
		    f->gpu_domain[0][where[r]] !=
			    f->gpu_domain[0][where[r - stride]])
			return false;
	return true;
}

static uint32_t experts_together(const struct weft_fabric *f,
				 const struct weft_job *job,
				 const uint32_t *where)
{
	const struct weft_grid *grid = &job->schedule.expert;
	uint32_t axis, n;

	if (!where || grid->n_ranks != job->n_gpus)
		return 0;
	axis = weft_grid_axis(grid, "ep");
	if (axis == WEFT_MAX_AXES || grid->size[axis] < 2)
		return 0;
	n = grid->size[axis];
	while (grid->size[axis] % n != 0 ||
	       !blocks_hold(f, grid, axis, where, n))
		n--;
	return n;
}

/* What frameworks hard-code of NVLink, of a job on the GPUs given[n].
 * where[n]: GPU of each rank; NULL: their order is not known, and so no number
 * of experts. */
static struct weft_rank_nvlink nvlink_of(const struct weft_fabric *f,
					 const struct weft_job *job,
					 const uint32_t *given, uint32_t n,
					 const uint32_t *where)
{
	struct weft_rank_nvlink v = {0};

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_domain *domain =
			&f->domains[f->gpu_domain[0][given[i]]];

		if (v.n_gpus && domain->n_gpus >= v.n_gpus)
			continue;
		v.n_gpus = domain->n_gpus;
		v.n_nodes = domain->n_nodes;
	}
	v.n_experts = experts_together(f, job, where);
	return v;
}

void weft_ranks_settle(struct weft_bridge *bridge,
		       const struct weft_ranks_question *q,
		       struct weft_ranks *ranks)
{
	const struct weft_fabric *f = bridge->settings->fabric;
	const struct weft_job *job;

	memset(ranks, 0, sizeof(*ranks));
	if (!q->spec && !q->planned) {
		ranks->why = "no spec";
		return;
	}
	if (!knows_all(q)) {
		ranks->why = "some GPUs are not in the fabric";
		return;
	}
	job = weft_bridge_job(bridge, q->spec, q->n_gpus, NULL);
	if (!job || job->n_gpus != q->n_gpus) {
		ranks->why = "the spec does not suit these GPUs";
		return;
	}
	ranks_order(f, job, q, ranks);
	ranks->env = job->spec.env;
	if (ranks->env)
		ranks->nvlink =
			nvlink_of(f, job, q->given, q->n_gpus, ranks->where);
}

uint32_t *weft_ranks_of_nodes(const struct weft_fabric *f,
			      const struct weft_ranks *ranks)
{
	uint32_t *first = weft_calloc(f->n_nodes, sizeof(*first), NULL);
	uint32_t before = WEFT_NONE;
	bool whole = first != NULL;

	for (uint32_t n = 0; whole && n < f->n_nodes; n++)
		first[n] = WEFT_NONE;
	for (uint32_t r = 0; whole && r < ranks->n; r++) {
		uint32_t node = f->gpu_node[ranks->where[r]];

		whole = node == before || first[node] == WEFT_NONE;
		if (first[node] == WEFT_NONE)
			first[node] = r;
		before = node;
	}
	if (whole)
		return first;
	free(first);
	return NULL;
}

void weft_ranks_drop(struct weft_ranks *ranks, const char *why)
{
	free(ranks->where);
	ranks->where = NULL;
	ranks->n = 0;
	ranks->why = why;
}

char *weft_ranks_text(const struct weft_fabric *f, uint32_t job_id,
		      struct weft_ranks *ranks)
{
	struct weft_rank_map rank_map = {0};
	struct weft_error err = {0};
	char *text = NULL;

	if (ranks->where && weft_rank_map_build(f, ranks->where, ranks->n,
						&rank_map, &err) == 0) {
		rank_map.job_id = job_id;
		rank_map.env = ranks->env;
		rank_map.nvlink = ranks->nvlink;
		text = weft_rank_map_encode(&rank_map, &err);
	}
	weft_rank_map_free(&rank_map);
	if (ranks->where && !text)
		weft_ranks_drop(ranks, err.code == WEFT_ENOSYS
					       ? "too many to hand over"
					       : "out of memory");
	if (text || !ranks->env)
		return text;
	rank_map.job_id = job_id;
	rank_map.env = ranks->env;
	rank_map.nvlink = ranks->nvlink;
	return weft_rank_map_encode(&rank_map, NULL);
}

void weft_ranks_tell(const struct weft_ranks *ranks, char text[WEFT_TEXT_SIZE])
{
	size_t used = strlen(text);

	if (ranks->where)
		snprintf(text + used, WEFT_TEXT_SIZE - used, "; ranks=plan");
	else if (ranks->why)
		snprintf(text + used, WEFT_TEXT_SIZE - used,
			 "; ranks=slurm (%s)", ranks->why);
}
