/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_exact.c - the strategy that proves how good its answer is
 *
 * 1. pack answers; where that reaches the bound, it is proven.
 * 2. Few ranks: every placement is looked at or ruled out (enumeration.c).
 * 3. More ranks: blocks of them are taken together, where it can be shown that
 *    to part one would cost more than is known to be possible, or what it would
 *    cost at least; then the same for blocks, and integer programs (proof.c).
 */
#include "placement/exact/place_exact.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "placement/exact/enumeration.h"
#include "placement/exact/grouping.h"
#include "placement/exact/proof.h"
#include "placement/mapping/sites.h"
#include "placement/nodes/limits.h"
#include "placement/objective/comparison.h"
#include "placement/place_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What proofs may lose to rounding, as a share of the cost: sums, and the
 * tolerances of the solver. */
#define TOLERANCE 1e-9
#define SOLVED	  2e-7
/* Ranks that are enumerated at whatever time it takes, and those at most. */
#define FEW_RANKS   12
#define MOST_RANKS  24
#define MOST_BLOCKS 64

struct exact {
	struct capacity s;   /* of single GPUs */
	struct weft_job job; /* as asked, or kept within prefer= */
	bool narrowed;	     /* then bounds are not those of the job */
	struct effort effort;
	struct weft_placement *p;
	struct comparison best;
	uint32_t *where; /* [n_gpus] scratch */
	const struct weft_place_options *options;
	char *certificate; /* malloc'ed program that proves `certified` */
	double certified;
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
	if (x->narrowed || !isfinite(bound))
		return;
	if (bound >= cost_known(x) * (1 - SOLVED))
		bound = cost_known(x);
	x->p->bound = fmax(x->p->bound, bound);
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
	struct comparison comparison;
	bool keeps;
	int grouped;

	if (keeps_limits(x, &keeps))
		return -1;
	if (!keeps)
		return 0;
	grouped = limits_keep(&x->s, x->where, x->err);
	if (grouped <= 0)
		return grouped;
	if (comparison_measure(&x->s, x->where, &comparison, x->err))
		return -1;
	if (x->p->placed && comparison_compare(&comparison, &x->best) >= 0)
		return 0;
	x->best = comparison;
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
	struct enumeration result = {.limit = cost_known(x)};
	struct blocks b = {0};
	int rc = -1;

	if (!one)
		return -1;
	for (uint32_t r = 0; r < n; r++)
		one[r] = r;
	if (blocks_build(&x->s, one, n, &b, x->err))
		goto out;
	if (x->p->placed && blocks_gather(&b, x->p->where, one + n))
		result.start = one + n;
	if (enumeration_run(&b, &x->effort, one + 2 * (size_t)n, &result,
			    x->err))
		goto out;
	if (result.found &&
	    (blocks_spread(&b, one + 2 * (size_t)n, x->where, x->err) ||
	     consider(x)))
		goto out;
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

static bool is_finished(const struct exact *x)
{
	return is_proven(x) && (!x->options->certificate ||
				x->certified >= x->p->bound * (1 - SOLVED));
}

static uint32_t largest_domain(const struct exact *x)
{
	const struct weft_fabric *f = x->s.f;
	const struct weft_level *l = &f->levels[0];
	uint32_t most = 0;

	for (uint32_t i = 0; i < l->n_domains; i++)
		if (f->domains[l->first_domain + i].n_gpus > most)
			most = f->domains[l->first_domain + i].n_gpus;
	return most;
}

static int open_proof(const struct exact *x, const struct grouping *way,
		      struct proof *proof)
{
	uint32_t *group = weft_calloc(x->job.n_gpus, sizeof(*group), x->err);
	int rc;

	*proof = (struct proof){
		.s = &x->s,
		.effort = x->effort,
		.progress = x->options->progress,
		.listener = x->options->listener,
		.known = cost_known(x),
		.start = x->p->placed ? x->p->where : NULL,
		.wants_certificate = x->options->certificate != NULL,
		.only_enumerates = x->options->work_limit > 0 &&
				   !(x->options->budget_s > 0),
		.where = x->where,
	};
	if (!group)
		return -1;
	grouping_apply(&x->job, way, group);
	rc = proof_start(proof, group, way->n_groups, x->err);
	free(group);
	return rc;
}

/* Which way to take the ranks together: large blocks that need not be parted;
 * otherwise those that cost most to part. */
static int choose_way(const struct exact *x, const struct grouping *way,
		      uint32_t n_ways, uint32_t *best)
{
	double most = -1;

	for (uint32_t i = 0; i < n_ways; i++) {
		struct proof proof;
		double parted;
		int rc = open_proof(x, &way[i], &proof);

		parted = fmin(proof.parted, cost_known(x));
		if (rc == 0 && !blocks_bins(&proof.blocks) &&
		    parted < cost_known(x))
			parted = -1;
		proof_free(&proof);
		if (rc)
			return -1;
		if (parted > most * (1 + TOLERANCE) || most < 0) {
			most = parted;
			*best = i;
		}
	}
	return 0;
}

static int prove_with(struct exact *x, const struct grouping *way)
{
	struct proof proof;
	int rc = -1;

	if (open_proof(x, way, &proof) || proof_run(&proof, x->err) ||
	    (proof.found && consider(x)))
		goto out;
	raise_bound(x, proof.bound);
	if (proof.certificate && proof.certified > x->certified) {
		free(x->certificate);
		x->certificate = proof.certificate;
		x->certified = proof.certified;
		proof.certificate = NULL;
	}
	rc = 0;
out:
	proof_free(&proof);
	return rc;
}

/* Again, as long as better placements come of it. */
static int prove_often(struct exact *x, const struct grouping *way)
{
	double before;

	do {
		before = cost_known(x);
		if (prove_with(x, way))
			return -1;
	} while (!is_finished(x) && !effort_spent(&x->effort) &&
		 cost_known(x) < before * (1 - TOLERANCE));
	return 0;
}

static int prove_blocks(struct exact *x)
{
	struct grouping way[GROUPINGS_MAX];
	uint32_t best = 0;
	uint32_t n =
		groupings_list(&x->job, MOST_BLOCKS, largest_domain(x), way);

	if (!n)
		return 0;
	if (choose_way(x, way, n, &best) || prove_often(x, &way[best]))
		return -1;
	/* single ranks, of which nothing is assumed */
	if (!is_finished(x) && best != n - 1 &&
	    way[n - 1].n_groups == x->job.n_gpus && !effort_spent(&x->effort))
		return prove_often(x, &way[n - 1]);
	return 0;
}

static int prove(struct exact *x)
{
	struct effort whole = x->effort;

	if (is_finished(x) || !is_bounded(x))
		return 0;
	if (x->job.n_gpus > FEW_RANKS && whole.deadline_s > 0)
		x->effort.deadline_s -=
			0.8 * (whole.deadline_s - weft_budget_clock_s());
	if (x->job.n_gpus <= MOST_RANKS && !is_proven(x) && enumerate_ranks(x))
		return -1;
	x->effort.deadline_s = whole.deadline_s;
	if (is_finished(x) || effort_spent(&x->effort))
		return 0;
	return prove_blocks(x);
}

/* What the certificate is for, as comments before the program. */
static void write_certificate(const struct exact *x)
{
	FILE *file = x->options->certificate;
	double cost = cost_known(x);

	fprintf(file,
		"\\ weft plan --method exact: certificate of a lower bound\n"
		"\\ cost %.12g\n\\ bound %.12g\n",
		cost, x->p->bound);
	if (!x->certificate) {
		fprintf(file,
			"\\ no program proves it: the bound is arithmetic or "
			"by trying all placements\n"
			"Minimize\n cost: 0 nothing\nSubject To\n"
			" r0: nothing = 0\nEnd\n");
		return;
	}
	if (x->certified < x->p->bound * (1 - SOLVED))
		fprintf(file,
			"\\ this program proves %.12g; the rest is arithmetic "
			"or was proven by\n\\ trying all placements or "
			"by branching that did not end\n",
			x->certified);
	fputs(x->certificate, file);
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
	x->effort.work = options->work_limit ? options->work_limit : UINT64_MAX;
	if (options->budget_s > 0)
		x->effort.deadline_s =
			weft_budget_clock_s() + options->budget_s;
	else if (!options->work_limit)
		x->effort.deadline_s =
			weft_budget_clock_s() + WEFT_EXACT_BUDGET_S;
	if (place_pack(&x->s, options, x->p, x->err))
		return -1;
	x->p->method = weft_exact.name;
	x->where = weft_calloc(x->job.n_gpus, sizeof(*x->where), x->err);
	if (!x->where)
		return -1;
	if (!x->p->placed)
		return 0;
	return comparison_measure(&x->s, x->p->where, &x->best, x->err);
}

static int place_exact(struct capacity *s,
		       const struct weft_place_options *options,
		       struct weft_placement *p, struct weft_error *err)
{
	struct exact x = {.s = *s,
			  .job = *s->job,
			  .p = p,
			  .options = options,
			  .err = err};
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
	if (rc == 0 && options->certificate && p->placed)
		write_certificate(&x);
	free(x.certificate);
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
