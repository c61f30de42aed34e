/* SPDX-License-Identifier: GPL-3.0-or-later */
/* abi_answers.c - placements and steps behind handles */
#include "base/bitset.h"
#include "costmodel/time/step.h"
#include "placement/abi/abi.h"
#include "placement/objective/evaluation.h"
#include "placement/place.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- placements ---- */

struct weft_placement *weft_abi_plan(const struct weft_fabric *f,
				     const struct weft_job *job,
				     const struct weft_occupancy *o,
				     const char *method, uint64_t seed,
				     double budget_s, struct weft_error *err)
{
	const struct weft_place_options options = {
		.method = method,
		.seed = seed,
		.budget_s = budget_s,
		.search_on = budget_s > 0,
	};
	struct weft_placement *p = weft_calloc(1, sizeof(*p), err);

	if (p && weft_place(f, job, o, &options, p, err) == 0)
		return p;
	weft_abi_placement_free(p);
	return NULL;
}

/* Each rank on a GPU of its own. */
static int where_check(const struct weft_fabric *f, const struct weft_job *job,
		       const uint32_t *where, uint32_t n,
		       struct weft_error *err)
{
	uint64_t *taken;
	int rc = 0;

	if (n != job->n_gpus)
		return weft_fail(err, WEFT_EINVAL,
				 "%u GPUs are named, but the job has %u ranks",
				 n, job->n_gpus);
	taken = weft_calloc(weft_bitset_words(f->n_gpus), sizeof(*taken), err);
	if (!taken)
		return -1;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		if (where[i] >= f->n_gpus)
			rc = weft_fail(err, WEFT_EINVAL,
				       "rank %u: the fabric has GPUs 0 to %u",
				       i, f->n_gpus - 1);
		else if (weft_bitset_has(taken, where[i]))
			rc = weft_fail(err, WEFT_EINVAL, "two ranks on GPU %u",
				       where[i]);
		else
			weft_bitset_add(taken, where[i]);
	}
	free(taken);
	return rc;
}

struct weft_placement *weft_abi_score(const struct weft_fabric *f,
				      const struct weft_job *job,
				      const struct weft_occupancy *o,
				      const uint32_t *where, uint32_t n,
				      struct weft_error *err)
{
	struct weft_placement *p = weft_calloc(1, sizeof(*p), err);

	if (p && where_check(f, job, where, n, err) == 0 &&
	    weft_place_score(f, job, o, where, p, err) == 0)
		return p;
	weft_abi_placement_free(p);
	return NULL;
}

void weft_abi_placement_free(struct weft_placement *p)
{
	if (p)
		weft_placement_free(p);
	free(p);
}

bool weft_abi_placement_placed(const struct weft_placement *p)
{
	return p->placed;
}

uint32_t weft_abi_placement_ranks(const struct weft_placement *p)
{
	return p->placed ? p->n_ranks : 0;
}

uint32_t weft_abi_placement_gpu(const struct weft_placement *p, uint32_t rank)
{
	return p->placed && rank < p->n_ranks ? p->where[rank] : 0;
}

const char *weft_abi_placement_method(const struct weft_placement *p)
{
	return p->method;
}

const char *weft_abi_placement_metric(const struct weft_placement *p)
{
	return weft_metric_names[p->metric];
}

double weft_abi_placement_cost(const struct weft_placement *p)
{
	return p->placed ? p->cost.total[p->metric] : (double)NAN;
}

double weft_abi_placement_bound(const struct weft_placement *p)
{
	return p->placed ? p->bound : (double)NAN;
}

double weft_abi_placement_gap(const struct weft_placement *p)
{
	return p->placed ? p->gap : (double)NAN;
}

const char *weft_abi_placement_why(const struct weft_placement *p, uint32_t i)
{
	return i < p->n_why ? p->why[i] : NULL;
}

/* ---- steps ---- */

/* The values of a step by name, doubles all. */
#define VALUE(name)                                                            \
	{                                                                      \
#name, offsetof(struct weft_step, name), 0,                    \
	}
#define OF_AXIS(what, axis, number)                                            \
	{                                                                      \
#what "_" axis "_s", offsetof(struct weft_step, what##_s),     \
			number,                                                \
	}
#define OF_AXES(what)                                                          \
	OF_AXIS(what, "tp", 0), OF_AXIS(what, "cp", 1),                        \
		OF_AXIS(what, "ep", 2), OF_AXIS(what, "pp", 3),                \
		OF_AXIS(what, "dp", 4)
_Static_assert(WEFT_N_AXES == 5, "OF_AXES names the axes");

static const struct step_value {
	const char *name;
	size_t offset;
	uint32_t index;
} step_values[] = {
	VALUE(step_s),	     VALUE(products_s),	 VALUE(attention_s),
	VALUE(memory_s),     VALUE(recompute_s), VALUE(logits_s),
	VALUE(bubble_s),     OF_AXES(exposed),	 VALUE(optimizer_s),
	VALUE(straggler_s),  VALUE(host_s),	 OF_AXES(communication),
	VALUE(congestion_s), VALUE(model_flops), VALUE(flops_per_s),
	VALUE(mfu),	     VALUE(hfu),
};
#define N_STEP_VALUES (sizeof(step_values) / sizeof(step_values[0]))

struct weft_step *weft_abi_step(const struct weft_fabric *f,
				const struct weft_job *job,
				const struct weft_placement *p, const char *gpu,
				struct weft_error *err)
{
	const struct weft_gpu *named = gpu ? weft_gpu_find(gpu, err) : NULL;
	const struct weft_step_job placed = {
		.fabric = f,
		.spec = &job->spec,
		.model = &job->model,
		.where = p->where,
		.schedule = &job->schedule,
		.exact_sharing = true,
	};
	struct weft_step_options options = {0};
	struct weft_step *step;

	if (gpu && !named)
		return NULL;
	if (!p->placed) {
		weft_fail(err, WEFT_EINVAL, "the job is not placed");
		return NULL;
	}
	options.gpu = weft_evaluation_gpu(f, job, named, err);
	step = options.gpu ? weft_calloc(1, sizeof(*step), err) : NULL;
	if (step && weft_step(&placed, &options, step, err) == 0)
		return step;
	free(step);
	return NULL;
}

void weft_abi_step_free(struct weft_step *step)
{
	free(step);
}

const char *weft_abi_step_name(uint32_t i)
{
	return i < N_STEP_VALUES ? step_values[i].name : NULL;
}

double weft_abi_step_value(const struct weft_step *step, uint32_t i)
{
	const char *at;

	if (i >= N_STEP_VALUES)
		return (double)NAN;
	at = (const char *)step + step_values[i].offset;
	return ((const double *)(const void *)at)[step_values[i].index];
}
