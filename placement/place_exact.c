/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_exact.c - the strategy that proves how good its answer is
 *
 * 1. pack answers; where that reaches the bound, it is proven.
 * 2. Few ranks: every placement is looked at or ruled out (enumeration.c).
 */
#include "placement/place_exact.h"

#include "placement/bound.h"
#include "placement/enumeration.h"
#include "placement/limits.h"
#include "placement/place_pack.h"
#include "placement/program.h"
#include "placement/ranking.h"
#include "placement/sites.h"
#include "topology/bitset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of enumeration without a work limit: seconds. */
#define DEFAULT_WORK UINT64_C(20000000)
/* What proofs may lose to rounding, as a share of the cost. */
#define TOLERANCE 1e-9

struct exact {
	struct supply s;     /* of single GPUs */
	struct weft_job job; /* as asked, or kept within prefer= */
	bool narrowed;	     /* then bounds are not those of the job */
	struct effort effort;
	struct weft_placement *p;
	struct ranking best;
	uint32_t *where; /* [n_gpus] scratch */
	struct weft_error *err;
};

static double cost_known(const struct exact *x)
{
	return x->p->placed ? x->best.cost : (double)INFINITY;
}

static bool is_proven(const struct exact *x)
{
	return x->p->placed && x->p->bound >= x->best.cost * (1 - TOLERANCE);
}

/* No placement costs less than `bound`. */
static void raise_bound(struct exact *x, double bound)
{
	if (!x->narrowed && isfinite(bound) && bound > x->p->bound)
		x->p->bound = fmin(bound, cost_known(x));
}

/* True when where[] keeps to what the job asks of its nodes. */
static int keeps_limits(const struct exact *x, bool *keeps)
{
	const struct weft_fabric *f = x->s.f;
	const struct weft_job *job = x->s.job;
	uint32_t *n = weft_calloc(f->n_nodes, sizeof(*n), x->err), used = 0;
	uint32_t level = job->within_level;

	*keeps = true;
	if (!n)
		return -1;
	for (uint32_t r = 0; r < job->n_gpus; r++) {
		n[f->gpu_node[x->where[r]]]++;
		if (level != WEFT_NONE &&
		    f->gpu_domain[level][x->where[r]] !=
			    f->gpu_domain[level][x->where[0]])
			*keeps = false;
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		used += n[i] > 0;
		if (n[i] > x->s.give[i] ||
		    (n[i] && job->gpus_per_node && n[i] != job->gpus_per_node))
			*keeps = false;
		if (!n[i] && x->s.o->required &&
		    weft_bitset_has(x->s.o->required, i))
			*keeps = false;
	}
	if (used < job->min_nodes || (job->max_nodes && used > job->max_nodes))
		*keeps = false;
	free(n);
	return 0;
}

/* Keeps x->where when it ranks before the best so far. */
static int consider(struct exact *x)
{
	struct ranking ranking;
	bool keeps;

	int grouped;

	if (keeps_limits(x, &keeps))
		return -1;
	if (!keeps)
		return 0;
	grouped = limits_keep(&x->s, x->where, x->err);
	if (grouped <= 0)
		return grouped;
	if (ranking_measure(&x->s, x->where, &ranking, x->err))
		return -1;
	if (x->p->placed && ranking_compare(&ranking, &x->best) >= 0)
		return 0;
	x->best = ranking;
	x->p->placed = true;
	x->p->method = weft_exact.name;
	memcpy(x->p->where, x->where, x->job.n_gpus * sizeof(*x->where));
	return 0;
}

/* Every rank on its own.  Blocks of one rank are exact but for switches, where
 * what is found is only a bound. */
static int enumerate_ranks(struct exact *x)
{
	uint32_t n = x->job.n_gpus;
	uint32_t *one = weft_calloc(3 * (size_t)n, sizeof(*one), x->err);
	struct enumeration result = {0};
	struct blocks b = {0};
	int rc = -1;

	if (!one)
		return -1;
	for (uint32_t r = 0; r < n; r++)
		one[r] = r;
	if (blocks_build(&x->s, one, n, &b, x->err))
		goto out;
	if (enumeration_run(
		    &b, cost_known(x),
		    x->p->placed && blocks_gather(&b, x->p->where, one + n)
			    ? one + n
			    : NULL,
		    &x->effort, one + 2 * (size_t)n, &result, x->err))
		goto out;
	if (result.found) {
		blocks_spread(&b, one + 2 * (size_t)n, x->where);
		if (consider(x))
			goto out;
	}
	if (result.complete)
		raise_bound(x, result.found ? result.cost : cost_known(x));
	rc = 0;
out:
	blocks_free(&b);
	free(one);
	return rc;
}

/* Bounds rest on rings in the place of switches, which cost no more only where
 * what is further out is further away. */
static bool is_bounded(const struct exact *x)
{
	const struct weft_fabric *f = x->s.f;
	enum weft_metric metric = x->job.spec.metric;

	if (!x->job.traffic.n_switches)
		return true;
	for (uint32_t l = 0; l + 1 < f->n_levels; l++)
		for (uint32_t cross = 0; cross < 2; cross++)
			if (sites_metric(&f->distance[l][cross], metric) >
			    sites_metric(&f->distance[l + 1][0], metric))
				return false;
	return true;
}

static int prove(struct exact *x)
{
	if (is_proven(x) || !is_bounded(x))
		return 0;
	if (x->job.n_gpus <= ENUMERATION_MAX_BLOCKS && enumerate_ranks(x))
		return -1;
	return 0;
}

/* A copy of the job kept within the level that it prefers, when pack found that
 * there is room. */
static void narrow(struct exact *x)
{
	uint32_t level = x->job.prefer_level;

	if (level == WEFT_NONE || !x->p->placed || !x->best.prefers ||
	    level >= x->job.within_level)
		return;
	x->job.within_level = level;
	x->narrowed = true;
}

static int start(struct exact *x, const struct weft_place_options *options)
{
	x->effort.random = options->seed;
	x->effort.stop = options->stop;
	x->effort.work =
		options->work_limit ? options->work_limit : DEFAULT_WORK;
	if (options->budget_s > 0)
		x->effort.deadline_s = effort_clock_s() + options->budget_s;
	else if (!options->work_limit)
		x->effort.deadline_s = effort_clock_s() + WEFT_EXACT_BUDGET_S;
	if (place_pack(&x->s, options, x->p, x->err))
		return -1;
	x->p->method = weft_exact.name;
	x->where = weft_calloc(x->job.n_gpus, sizeof(*x->where), x->err);
	if (!x->where)
		return -1;
	if (!x->p->placed)
		return 0;
	return ranking_measure(&x->s, x->p->where, &x->best, x->err);
}

static int place_exact(struct supply *s,
		       const struct weft_place_options *options,
		       struct weft_placement *p, struct weft_error *err)
{
	struct exact x = {.s = *s, .job = *s->job, .p = p, .err = err};
	int rc = -1;

	if (!program_is_solvable())
		return weft_fail(err, WEFT_ENOSYS,
				 "the method exact needs GLPK, which this weft "
				 "was built without");
	x.s.job = &x.job;
	if (start(&x, options) == 0) {
		narrow(&x);
		rc = prove(&x);
	}
	free(x.where);
	return rc;
}

const struct weft_strategy weft_exact = {
	"exact", "the optimum, or how far from it at most; small jobs, seconds",
	place_exact};

bool weft_exact_is_built(void)
{
	return program_is_solvable();
}
