/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_first.c - a place by structure alone
 *
 * The innermost domain that holds the job most tightly, groups whole, ranks in
 * the order of axes that keeps most bytes close.  No pair of ranks is looked
 * at, so that the time goes by the number of nodes and ranks, whatever the job
 * sends.
 */
#include "placement/place.h"

#include "base/clock.h"
#include "placement/nodes/candidates.h"
#include "placement/nodes/layouts.h"
#include "placement/nodes/limits.h"
#include "placement/ranks/nest.h"
#include "placement/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Any layout will do: the time for more is over. */
#define AT_ONCE 1e-9

/* As node_set_fill. */
static int choose_tight(struct capacity *s, struct node_set *c,
			struct weft_error *err)
{
	uint32_t domain[CANDIDATES_PICKS], chunk = s->job->spec.tp;

	for (uint32_t l = s->f->node_level; l < s->f->n_levels; l++) {
		uint32_t n = candidates_pick(s, l, domain);

		for (uint32_t i = 0; i < n; i++) {
			int rc = node_set_fill(s, domain[i], DEAL_COMPACT,
					       chunk ? chunk : 1, c, err);

			if (rc || weft_deadline_check(err))
				return rc ? rc : -1;
			node_set_free(c);
		}
	}
	return 0;
}

/* The same; finds a choice whenever there is one. */
static int choose_any(struct capacity *s, struct node_set *c,
		      struct weft_error *err)
{
	uint32_t within = s->job->within_level;
	const struct weft_level *l =
		&s->f->levels[within == WEFT_NONE ? s->f->n_levels - 1
						  : within];

	for (uint32_t i = 0; i < l->n_domains; i++) {
		int rc = 0;

		if (capacity_holds(s, l->first_domain + i))
			rc = node_set_flat(s, l->first_domain + i, c, err);
		if (rc || weft_deadline_check(err))
			return rc ? rc : -1;
		node_set_free(c);
	}
	return 0;
}

/* Those of jobs that fit into a node are few and small. */
static int choose_inside(struct capacity *s, struct node_set *c,
			 struct weft_error *err)
{
	struct candidates *all = weft_calloc(1, sizeof(*all), err);
	int rc = all ? candidates_build(s, all, err) : -1;

	if (rc == 0 && all->n) {
		*c = all->node_set[0];
		memset(&all->node_set[0], 0, sizeof(all->node_set[0]));
		rc = 1;
	}
	if (all)
		candidates_free(all);
	free(all);
	return rc;
}

static int choose_groups(struct capacity *s, struct node_set *c,
			 struct weft_error *err)
{
	struct layouts *all = weft_calloc(1, sizeof(*all), err);
	struct effort one = {.work = UINT64_MAX, .deadline_s = AT_ONCE};
	int rc = all ? layouts_build(s, &one, all, err) : -1;

	/* ranks of segments go through them in order, too */
	if (rc == 0 && all->n) {
		*c = all->layout[0].node_set;
		memset(&all->layout[0].node_set, 0, sizeof(*c));
		rc = 1;
	}
	if (all)
		layouts_free(all);
	free(all);
	return rc;
}

static int choose(struct capacity *s, struct node_set *c,
		  struct weft_error *err)
{
	int rc;

	if (layouts_are_binding(s))
		return choose_groups(s, c, err);
	if (s->job->within_level < s->f->node_level)
		return choose_inside(s, c, err);
	rc = choose_tight(s, c, err);
	return rc ? rc : choose_any(s, c, err);
}

/* How many ranks, on the average, are in one domain of each level, innermost
 * first; returns how many levels. */
static uint32_t measure_runs(const struct capacity *s, const uint32_t *gpus,
			     struct nest_run run[WEFT_MAX_LEVELS])
{
	uint32_t n = s->job->n_gpus, l = 0;

	for (; l + 1 < s->f->n_levels; l++) {
		const uint32_t *domain = s->f->gpu_domain[l];
		uint32_t n_domains = 1;

		for (uint32_t i = 1; i < n; i++)
			n_domains += domain[gpus[i]] != domain[gpus[i - 1]];
		run[l].n_ranks = (double)n / n_domains;
		run[l].farther = nest_farther(s->f, s->job->spec.metric, l);
	}
	return l;
}

/* Ranks on the GPUs: in the order of their axes that keeps most of what they
 * send close, unless limits go by their numbers. */
static int order_ranks(struct capacity *s, const uint32_t *gpus,
		       uint32_t *where, struct weft_error *err)
{
	const struct weft_job *job = s->job;
	struct nest_run run[WEFT_MAX_LEVELS];
	uint32_t n_runs =
		limits_segment(s->f, job) ? 0 : measure_runs(s, gpus, run);
	struct nest nest = nest_choose(job, run, n_runs);
	uint32_t *rank = weft_calloc(job->n_gpus, sizeof(*rank), err);

	if (!rank)
		return -1;
	nest_enumerate(&nest, job->n_gpus, rank);
	for (uint32_t i = 0; i < job->n_gpus; i++)
		where[rank[i]] = gpus[i];
	free(rank);
	return 0;
}

/* Takes over the nodes of the choice. */
static int take_over(struct capacity *s, struct node_set *c,
		     struct weft_placement *p, struct weft_error *err)
{
	uint32_t *gpus = weft_calloc(p->n_ranks, sizeof(*gpus), err);
	int rc = -1;

	p->where = weft_calloc(p->n_ranks, sizeof(*p->where), err);
	if (gpus && p->where) {
		node_set_expand(c, s->o, gpus);
		rc = order_ranks(s, gpus, p->where, err);
	}
	free(gpus);
	if (rc)
		return -1;
	p->placed = true;
	p->nodes = c->node;
	p->n_nodes = c->n_nodes;
	c->node = NULL;
	return 0;
}

int weft_place_first(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o, struct weft_placement *p,
		     struct weft_error *err)
{
	struct capacity s = {0};
	struct node_set c = {0};
	int rc = -1;

	memset(p, 0, sizeof(*p));
	p->n_ranks = job->n_gpus;
	p->metric = job->spec.metric;
	p->method = "first";
	p->bound = (double)NAN;
	for (int m = 0; m < WEFT_N_METRICS; m++)
		p->cost.total[m] = (double)NAN;
	if (capacity_build(f, job, o, 1, 0, &s, err))
		goto out;
	rc = reason_impossible(&s, p) ? 0 : choose(&s, &c, err);
	if (rc > 0)
		rc = take_over(&s, &c, p, err);
out:
	node_set_free(&c);
	capacity_free(&s);
	return rc;
}
