/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replicas.c - which order of ranks suits a large job, told by a part of it */
#include "placement/ranks/replicas.h"

#include "costmodel/time/step.h"
#include "placement/objective/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ranks of a part at most, unless two replicas have more. */
#define MOST_RANKS 512

/* A job that is this one but for the number of its replicas. */
struct part {
	struct weft_spec spec;
	struct weft_schedule schedule;
	uint32_t replicas;     /* of the job */
	uint32_t stride, kept; /* of ranks along dp; replicas of the part */
	uint32_t *where;       /* [spec.gpus] */
};

/* The greatest part that is small enough, in which all groups of ranks but
 * those of replicas are as large as in the job; false: none. */
static bool part_size(const struct weft_job *job, struct part *part)
{
	const struct weft_spec *spec = &job->spec;
	uint32_t axis = weft_grid_axis(&job->grid, "dp"), one;
	uint32_t experts =
		(spec->ep ? spec->ep : 1) * (spec->etp ? spec->etp : 1);

	if (axis >= WEFT_MAX_AXES || job->grid.n_ranks != job->n_gpus)
		return false;
	part->replicas = job->grid.size[axis];
	part->stride = job->grid.stride[axis];
	one = job->n_gpus / part->replicas;
	for (part->kept = part->replicas / 2; part->kept > 1; part->kept--) {
		uint64_t ranks = (uint64_t)part->kept * one;

		if (part->replicas % part->kept ||
		    (ranks > MOST_RANKS && part->kept > 2))
			continue;
		if (spec->gbs % (part->replicas / part->kept) == 0 &&
		    ranks / (spec->pp ? spec->pp : 1) % experts == 0)
			return true;
	}
	return false;
}

/* The part's spec and calls.  False: it has none. */
static bool part_build(const struct weft_job *job, struct part *part)
{
	uint32_t times;

	memset(part, 0, sizeof(*part));
	if (job->spec.traffic[0] || !part_size(job, part))
		return false;
	times = part->replicas / part->kept;
	part->spec = job->spec;
	part->spec.gpus /= times;
	part->spec.dp = part->kept;
	part->spec.gbs /= times;
	if (part->spec.shard % times == 0)
		part->spec.shard /= times;
	part->where = weft_calloc(part->spec.gpus, sizeof(*part->where), NULL);
	return part->where && weft_schedule_build(&part->spec, &job->model,
						  &part->schedule, NULL) == 0;
}

static void part_free(struct part *part)
{
	weft_schedule_free(&part->schedule);
	free(part->where);
}

/* Ranks of the part in the job's order, on as many of the first GPUs. */
static void part_place(struct part *part, const uint32_t *rank,
		       const uint32_t *gpus, uint32_t n)
{
	uint32_t s = part->stride, dealt = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = rank[i], replica = r / s % part->replicas;

		if (replica < part->kept)
			part->where[r % s + replica * s +
				    r / s / part->replicas * s * part->kept] =
				gpus[dealt++];
	}
}

/* Seconds of the part's step. */
static int part_time(const struct arranger *a, const struct part *part,
		     double *time_s, struct weft_error *err)
{
	const struct weft_judge *judge = a->s->judge;
	const struct weft_step_job placed = {
		.fabric = a->f,
		.spec = &part->spec,
		.model = &a->job->model,
		.where = part->where,
		.schedule = &part->schedule,
		.load = judge->objective.load,
	};
	const struct weft_step_options options = {.gpu = judge->gpu};
	struct weft_step step;

	if (weft_step(&placed, &options, &step, err))
		return -1;
	*time_s = step.step_s + step.lost_gpu_s / part->spec.gpus;
	return 0;
}

int replicas_find_order(const struct arranger *a, const uint32_t *gpus,
			double most, uint32_t *order, struct weft_error *err)
{
	bool tried[ORDERS_MAX] = {false};
	double best = (double)INFINITY, least = 0;
	struct part part;
	int rc = 0;

	*order = WEFT_NONE;
	if (!part_build(a->job, &part))
		goto out;
	for (uint32_t k;
	     (k = arrange_next_kind(a, tried, most)) != WEFT_NONE;) {
		double value;

		tried[k] = true;
		part_place(&part, a->orders.rank[k], gpus, a->job->n_gpus);
		rc = part_time(a, &part, &value, err);
		if (rc)
			goto out;
		/* the cheapest comes first */
		if (!(least > 0))
			least = a->cost[k];
		value *= 1 + WEFT_PRICE_OF_COST * (a->cost[k] / least - 1);
		if (value < best) {
			best = value;
			*order = k;
		}
	}
out:
	part_free(&part);
	return rc;
}
