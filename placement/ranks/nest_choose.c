/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nest_choose.c - the order of axes that keeps most bytes close */
#include "placement/mapping/sites.h"
#include "placement/ranks/nest.h"

#include <math.h>
#include <string.h>

#define MAX_LANES 32   /* kinds of groups that are told apart */
#define MAX_TRIED 64   /* nests of one grid */
#define SAME	  1e-9 /* sums of the same terms in another order */

/* What all calls among the same groups send alike: over rings, or to all. */
struct lane {
	const struct weft_call *first;
	bool to_all;
	double n_ranks; /* of a group */
	bool ends;	/* the two ends of a pipeline, which n_ranks has */
	double bytes;	/* of a rank and step */
	uint32_t
		n_parts; /* ranks of a group differ by parts of their number: */
	double low[WEFT_MAX_AXES], high[WEFT_MAX_AXES];
};

struct choice {
	const struct nest_run *run;
	uint32_t n_runs, n_lanes;
	struct lane lane[MAX_LANES];
	double least;
	struct nest best;
};

static bool is_of(const struct lane *lane, const struct weft_call *call)
{
	const struct weft_call *first = lane->first;

	return lane->to_all == (call->collective == WEFT_ALL_TO_ALL) &&
	       first->expert_grid == call->expert_grid && first->n == call->n &&
	       strcmp(first->group, call->group) == 0;
}

static void lane_open(const struct weft_schedule *s,
		      const struct weft_call *call, struct lane *lane)
{
	const struct weft_grid *grid =
		call->expert_grid ? &s->expert : &s->dense;

	*lane = (struct lane){
		.first = call,
		.to_all = call->collective == WEFT_ALL_TO_ALL,
		.n_ranks = 1,
	};
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		if (grid->size[a] == 1 || !weft_call_has(call, grid->name[a]))
			continue;
		lane->low[lane->n_parts] = grid->stride[a];
		lane->high[lane->n_parts++] =
			(double)grid->stride[a] * grid->size[a];
		lane->n_ranks *= grid->size[a];
	}
	lane->ends = lane->n_ranks > call->n;
}

/* Calls of further kinds than there is room for are left out. */
static void lanes_fill(struct choice *c, const struct weft_schedule *s)
{
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];
		uint32_t k = 0;

		while (k < c->n_lanes && !is_of(&c->lane[k], call))
			k++;
		if (k == MAX_LANES)
			continue;
		if (k == c->n_lanes)
			lane_open(s, call, &c->lane[c->n_lanes++]);
		c->lane[k].bytes +=
			call->count * call->n_stages *
			weft_volume_collective(call->collective, call->n,
					       call->size_bytes);
	}
}

/* How many ranks of a group lie in one run of `run` ranks, at most. */
static double members_in_run(const struct lane *lane, const struct nest *nest,
			     double run)
{
	double members = 1, apart = 1;

	for (uint32_t i = 0; i < nest->n; apart *= nest->size[i++]) {
		double first = nest->stride[i];
		double end = first * nest->size[i];

		for (uint32_t a = 0; a < lane->n_parts; a++) {
			double low = fmax(first, lane->low[a]);
			double high = fmin(end, lane->high[a]);

			if (high > low)
				members *= fmin(
					fmax(run * first / (apart * low), 1),
					high / low);
		}
	}
	return members;
}

/* Share of the lane's bytes that leaves its run: of a ring, what the last
 * member in each run sends. */
static double share_leaving(const struct lane *lane, const struct nest *nest,
			    double run)
{
	double members = members_in_run(lane, nest, run);
	double n = lane->n_ranks;

	if (members >= n * (1 - SAME))
		return 0;
	if (lane->ends)
		return 1;
	return lane->to_all ? (n - members) / (n - 1) : 1 / members;
}

static double cost_of(const struct choice *c, const struct nest *nest)
{
	double cost = 0;

	for (uint32_t k = 0; k < c->n_lanes; k++)
		for (uint32_t l = 0; l < c->n_runs; l++)
			if (c->run[l].farther > 0)
				cost += c->lane[k].bytes * c->run[l].farther *
					share_leaving(&c->lane[k], nest,
						      c->run[l].n_ranks);
	return cost;
}

static void consider(void *data, const struct nest *nest)
{
	struct choice *c = data;
	double cost = cost_of(c, nest);

	if (cost >= c->least * (1 - SAME))
		return;
	c->least = cost;
	c->best = *nest;
}

static void consider_grid(struct choice *c, const struct weft_grid *grid,
			  uint32_t n_ranks)
{
	struct nest nest = nest_natural(grid, n_ranks);
	uint32_t n_left = MAX_TRIED;

	do
		consider(c, &nest);
	while (--n_left > 0 && nest_next(&nest));
}

/* Tiles that fill the innermost runs. */
static void consider_tilings(struct choice *c, const struct weft_job *job)
{
	const struct nest natural = nest_common(job);

	for (uint32_t l = 0; l < c->n_runs; l++) {
		double size = c->run[l].n_ranks;

		if (!(c->run[l].farther > 0))
			continue;
		if (size > 1 && size < job->n_gpus && fmod(size, 1) == 0 &&
		    job->n_gpus % (uint32_t)size == 0)
			nest_tilings(&natural, (uint32_t)size, consider, c);
		return;
	}
}

static double distance_at(const struct weft_fabric *f, enum weft_metric metric,
			  uint32_t level)
{
	double by_metric[WEFT_N_METRICS];

	for (int m = 0; m < WEFT_N_METRICS; m++)
		by_metric[m] = sites_metric(&f->distance[level][0], m);
	return sites_blend(f, metric, by_metric);
}

double nest_farther(const struct weft_fabric *f, enum weft_metric metric,
		    uint32_t level)
{
	return distance_at(f, metric, level + 1) -
	       distance_at(f, metric, level);
}

struct nest nest_choose(const struct weft_job *job, const struct nest_run *run,
			uint32_t n_runs)
{
	const struct weft_schedule *s = &job->schedule;
	struct choice c = {.run = run, .n_runs = n_runs};

	c.best = nest_natural(&job->grid, job->n_gpus);
	if (!n_runs || s->dense.n_ranks != job->n_gpus)
		return c.best;
	lanes_fill(&c, s);
	c.least = cost_of(&c, &c.best);
	consider_grid(&c, &s->dense, job->n_gpus);
	if (s->expert.n_ranks == job->n_gpus)
		consider_grid(&c, &s->expert, job->n_gpus);
	consider_tilings(&c, job);
	return c.best;
}
