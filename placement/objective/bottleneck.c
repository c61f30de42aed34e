/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bottleneck.c - how long the busiest link needs at least
 *
 * With X(l) a lower bound of the bytes between domains of level l:
 *	links	those above the domains of the level together carry as much up;
 *		a job of n ranks uses at most n of them, at best the fastest, so
 *		the busiest needs X(l) over their capacity
 *	NICs	n of them, one a rank, receive what enters nodes: the busiest
 *		needs X(node) / n over the rate of one, or of as many as a
 *node's GPUs share on a rail
 *
 * X(l) of measured traffic is that of bound.c.  That of a schedule follows from
 * its flows, costmodel/time/flows.h, in which a library orders ranks by their
 *hosts: a set of ranks that has some of a group, not all, sends to the others
 *at least what a rank does in a ring, however the ring is ordered.  Sets that
 *have few groups in part do not exist (perimeter.c).
 */
#include "placement/objective/bottleneck.h"

#include "base/compare.h"
#include "costmodel/traffic/collective.h"
#include "placement/bounds/perimeter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums of the same bytes in another order differ by this much at most. */
#define ROUNDING 1e-9

/* Capacity of the links that the job can use at most. */
static int level_rate(const struct capacity *s, uint32_t l, double *sum,
		      struct weft_error *err)
{
	const struct weft_level *level = &s->f->levels[l];
	double *rate = weft_calloc(level->n_domains, sizeof(*rate), err);
	uint32_t n = 0;

	*sum = 0;
	if (!rate)
		return -1;
	for (uint32_t i = 0; i < level->n_domains; i++) {
		uint32_t d = level->first_domain + i;

		if (s->cap[d])
			rate[n++] = weft_cost_uplink_rate(s->f, d);
	}
	qsort(rate, n, sizeof(*rate), weft_compare_reals_down);
	for (uint32_t i = 0; i < n && i < s->job->n_gpus; i++)
		*sum += rate[i];
	free(rate);
	return 0;
}

/* ---- what crosses a level ---- */

/* Bytes that a set of ranks which has some of a group, not all, sends to the
 * others in a step for one call, at least: along a ring one rank's, along two
 * trees over two hosts or more all that is reduced. */
static double call_leaves(const struct weft_call *call,
			  enum weft_choice_of_algorithm algorithm)
{
	double n = call->n;
	double sent =
		call->count * weft_volume_collective(call->collective, call->n,
						     call->size_bytes);

	if (call->collective == WEFT_SEND_RECV ||
	    call->collective == WEFT_ALL_TO_ALL)
		return sent;
	/* between m hosts a rank sends (m - 1) / m of what n reduced */
	if (algorithm == WEFT_BY_HIERARCHY)
		return sent * n / (n - 1) / 2;
	if (call->collective == WEFT_ALL_REDUCE && algorithm != WEFT_BY_RING)
		return fmin(sent, call->count * call->size_bytes);
	return sent;
}

/* The first axis of the call's groups that is longer than 1. */
static uint32_t call_axis(const struct weft_grid *grid,
			  const struct weft_call *call)
{
	for (uint32_t a = 0; a < grid->n_axes; a++)
		if (grid->size[a] > 1 && weft_call_has(call, grid->name[a]))
			return a;
	return WEFT_MAX_AXES;
}

/* Adds a call to bytes[axis][stage]: of a line along the axis in that stage, if
 * only some of it is in a set, those that leave the set.  A group of two axes
 * has several lines along the first; they share its bytes.  Along "pp" it is
 * what stage p sends to the next one and gets from it. */
static void call_add(const struct weft_grid *grid, uint32_t pp,
		     enum weft_choice_of_algorithm algorithm,
		     const struct weft_call *call, uint32_t n_stages,
		     double *bytes)
{
	uint32_t axis = call_axis(grid, call);
	double leaves = call_leaves(call, algorithm);
	bool sends = call->collective == WEFT_SEND_RECV;

	if (axis == WEFT_MAX_AXES || (axis == pp && !sends) ||
	    (axis != pp && weft_call_has(call, "pp")))
		return;
	for (uint32_t i = 0; i < call->n_stages; i++) {
		uint32_t p = call->first_stage + i;

		if (axis == pp && call->phase == WEFT_BACKWARD)
			p = (p + n_stages - 1) % n_stages;
		bytes[axis * n_stages + p] +=
			axis == pp ? leaves
				   : leaves * grid->size[axis] / call->n;
	}
}

static double least_of(const double *bytes, uint32_t n)
{
	double least = bytes[0];

	for (uint32_t i = 1; i < n; i++)
		least = fmin(least, bytes[i]);
	return least;
}

/* One axis as perimeter.h has it: bytes between neighbours, both directions. */
static struct chain chain_of(uint32_t size, bool is_pipeline,
			     const double *bytes, uint32_t n_stages)
{
	struct chain c = {.size = size};

	if (!is_pipeline) {
		c.path = least_of(bytes, n_stages) * (size > 2 ? 1 : 2);
		c.ring = size > 2 ? c.path : 0;
		return c;
	}
	c.path = least_of(bytes, n_stages - 1);
	if (size > 2)
		c.ring = fmin(c.path, bytes[n_stages - 1]);
	else
		c.path += bytes[n_stages - 1];
	return c;
}

/* The calls on one of the schedule's grids; none: an empty product. */
static int product_build(const struct weft_job *job, bool expert,
			 struct product *product, struct weft_error *err)
{
	const struct weft_schedule *s = &job->schedule;
	const struct weft_grid *grid = expert ? &s->expert : &s->dense;
	uint32_t pp = weft_grid_axis(grid, "pp");
	uint32_t n_stages = pp == WEFT_MAX_AXES ? 1 : grid->size[pp];
	double *bytes;

	memset(product, 0, sizeof(*product));
	if (grid->n_ranks != job->n_gpus)
		return 0;
	product->n_ranks = grid->n_ranks;
	bytes = weft_calloc((size_t)grid->n_axes * n_stages + 1, sizeof(*bytes),
			    err);
	if (!bytes)
		return -1;
	for (uint32_t i = 0; i < s->n_calls; i++)
		if (s->calls[i].expert_grid == expert)
			call_add(grid, pp, job->spec.algorithm, &s->calls[i],
				 n_stages, bytes);
	for (uint32_t a = 0; a < grid->n_axes; a++)
		if (grid->size[a] > 1)
			product->chain[product->n++] = chain_of(
				grid->size[a], a == pp,
				bytes + (size_t)a * n_stages, n_stages);
	free(bytes);
	return 0;
}

/* Sizes of the parts when domains of the level are filled from the largest.
 * size: [n_domains]. */
static uint32_t level_parts(const struct capacity *s, uint32_t l,
			    uint32_t *size)
{
	const struct weft_level *level = &s->f->levels[l];
	uint32_t left = s->job->n_gpus, n = 0;

	memcpy(size, s->cap + level->first_domain,
	       level->n_domains * sizeof(*size));
	qsort(size, level->n_domains, sizeof(*size), weft_compare_numbers_down);
	while (n < level->n_domains && left && size[n]) {
		size[n] = size[n] < left ? size[n] : left;
		left -= size[n++];
	}
	return left ? 0 : n;
}

/* Of the job's flows. */
static int flows_cross(const struct capacity *s,
		       double crossing[WEFT_MAX_LEVELS], struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	uint32_t step = s->job->gpus_per_node ? s->job->gpus_per_node : 1;
	uint32_t *size = weft_calloc(f->n_domains, sizeof(*size), err);
	int rc = size ? 0 : -1;

	for (uint32_t l = f->node_level; rc == 0 && l < f->n_levels; l++) {
		uint32_t n = level_parts(s, l, size);

		crossing[l] = 0;
		for (int e = 0; rc == 0 && n > 1 && e < 2; e++) {
			struct product product;
			double cut = 0;

			rc = product_build(s->job, e, &product, err);
			if (rc == 0)
				rc = perimeter_cut(&product, step, size, n,
						   &cut, err);
			crossing[l] += fmax(cut, 0);
		}
	}
	free(size);
	return rc;
}

/* ---- what that takes ---- */

/* Rate of the fastest NIC, which on a rail all GPUs of a host share. */
static double nic_rate(const struct capacity *s)
{
	const struct weft_fabric *f = s->f;
	const struct weft_level *hosts = &f->levels[f->node_level];
	uint32_t most = 1;

	for (uint32_t i = 0; f->n_rails > 1 && i < hosts->n_domains; i++) {
		const struct weft_domain *d =
			&f->domains[hosts->first_domain + i];

		if ((d->n_gpus + f->n_rails - 1) / f->n_rails > most)
			most = (d->n_gpus + f->n_rails - 1) / f->n_rails;
		if (d->n_nodes > most)
			most = d->n_nodes;
	}
	return most * f->levels[f->node_level + 1].link.rate_bytes_per_s;
}

int bottleneck_bound(const struct capacity *s,
		     const double crossing[WEFT_MAX_LEVELS], double *time_s,
		     struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	double own[WEFT_MAX_LEVELS], rate;
	uint32_t l = f->node_level;

	*time_s = 0;
	if (l + 1 >= f->n_levels)
		return 0;
	if (!s->job->spec.traffic[0]) {
		if (flows_cross(s, own, err))
			return -1;
		crossing = own;
	}
	*time_s = crossing[l] / s->job->n_gpus / nic_rate(s);
	for (; l + 1 < f->n_levels; l++) {
		if (level_rate(s, l, &rate, err))
			return -1;
		if (rate > 0)
			*time_s = fmax(*time_s, crossing[l] / rate);
	}
	*time_s *= 1 - ROUNDING;
	return 0;
}
