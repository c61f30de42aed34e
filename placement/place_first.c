/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_first.c - a place by structure alone
 *
 * The innermost domain that holds the job most tightly; in it a few sets of
 * nodes that keep groups whole, compared by the order of axes that keeps most
 * bytes close on each.  No pair of ranks is looked at, so that the time goes by
 * the number of nodes and ranks, whatever the job sends.
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

/* Nodes of all sets that are compared. */
#define MAX_NODES 16384

/* Groups of so many sizes for each level of domains are kept whole in turn,
 * MAX_PARTS of them parts of the job whatever its axes. */
#define MAX_PARTS  2
#define MAX_CHUNKS 5

/* Levels looked at beyond the innermost one that has room, where racks may be
 * emptier. */
#define LEVELS_BEYOND 1

#define SAME 1e-9

/* The cheapest set of nodes so far, and the order of axes on it. */
struct first {
	struct capacity *s;
	struct node_set node_set; /* n_nodes 0: none yet */
	struct nest nest;
	double cost;
	uint32_t n_nodes; /* of all sets that were looked at */
	struct weft_error *err;
};

/* ---- what a set costs ---- */

/* The domains of the level that hold the set's ranks; ends: [n_nodes]. */
static struct nest_level level_of(const struct first *x,
				  const struct node_set *c, uint32_t l,
				  uint32_t *ends)
{
	const struct weft_fabric *f = x->s->f;
	struct nest_level level = {
		.end = ends,
		.farther = nest_farther(f, x->s->job->spec.metric, l),
	};
	uint32_t before = WEFT_NONE, rank = 0;
	bool alike = true;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		uint32_t gpu = f->nodes[c->node[i]].first_gpu;

		level.n += f->gpu_domain[l][gpu] != before;
		before = f->gpu_domain[l][gpu];
		rank += c->count[i];
		ends[level.n - 1] = rank;
	}
	for (uint32_t i = 1; i < level.n; i++)
		alike = alike && ends[i] == (i + 1) * ends[0];
	level.each = alike ? ends[0] : 0;
	return level;
}

/* The best order of axes on the set, and its cost; the ranks' own where limits
 * go by their numbers. */
static int price(struct first *x, const struct node_set *c, struct nest *nest,
		 double *cost)
{
	const struct weft_fabric *f = x->s->f;
	uint32_t n_levels = limits_segment(f, x->s->job) ? 0 : f->n_levels - 1;
	struct nest_level level[WEFT_MAX_LEVELS];
	uint32_t *ends = weft_calloc((size_t)f->n_levels * c->n_nodes,
				     sizeof(*ends), x->err);
	int rc = -1;

	if (!ends)
		return -1;
	for (uint32_t l = 0; l < n_levels; l++) {
		/* NVLink domains inside of nodes: as if the job filled them */
		if (l < f->node_level)
			level[l] = nest_level_even(
				f, x->s->job, l,
				f->n_gpus / f->levels[l].n_domains);
		else
			level[l] = level_of(x, c, l,
					    ends + (size_t)l * c->n_nodes);
	}
	rc = nest_choose(x->s->job, level, n_levels, nest, cost, x->err);
	free(ends);
	return rc;
}

/* Takes over a set that is cheaper than the best so far, or frees it. */
static int consider(struct first *x, struct node_set *c)
{
	struct nest nest;
	double cost;
	int rc = price(x, c, &nest, &cost);

	x->n_nodes += c->n_nodes;
	if (rc || (x->node_set.n_nodes && cost >= x->cost * (1 - SAME))) {
		node_set_free(c);
		return rc;
	}
	node_set_free(&x->node_set);
	x->node_set = *c;
	memset(c, 0, sizeof(*c));
	x->nest = nest;
	x->cost = cost;
	return 0;
}

/* ---- sets ---- */

/* -1 with err. */
static int try_fill(struct first *x, uint32_t domain,
		    enum distribution distribution, uint32_t chunk)
{
	struct node_set c = {0};
	int rc;

	/* however late it is, one set is looked for */
	if (x->node_set.n_nodes && weft_deadline_passed())
		return 0;
	rc = node_set_fill(x->s, domain, distribution, chunk, &c, x->err);
	if (rc > 0 && c.hash != x->node_set.hash)
		return consider(x, &c);
	node_set_free(&c);
	return rc < 0 || (!x->node_set.n_nodes && weft_deadline_check(x->err))
		       ? -1
		       : 0;
}

static uint32_t add_chunk(const struct first *x, uint64_t size, uint32_t l,
			  uint32_t *chunk, uint32_t n)
{
	if (size <= x->s->give_most || size > x->s->cap_most[l] ||
	    size >= x->s->job->n_gpus)
		return n;
	for (uint32_t i = 0; i < n; i++)
		if (chunk[i] == size)
			return n;
	chunk[n] = (uint32_t)size;
	return n + 1;
}

/* Sizes of groups that are kept whole in the domains of level l: the largest
 * that the job divides into, what the largest domain has, those of tensor ranks
 * and of experts. */
static uint32_t find_chunks(const struct first *x, uint32_t l,
			    uint32_t chunk[MAX_CHUNKS])
{
	const struct weft_job *job = x->s->job;
	uint64_t most = x->s->cap_most[l];
	uint32_t tp = job->spec.tp ? job->spec.tp : 1, n = 0;

	if (most >= job->n_gpus)
		most = job->n_gpus - 1;
	for (uint32_t size = (uint32_t)most;
	     size > x->s->give_most && n < MAX_PARTS; size--)
		if (job->n_gpus % size == 0 && size % tp == 0)
			chunk[n++] = size;
	n = add_chunk(x, most - most % tp, l, chunk, n);
	n = add_chunk(x, tp, l, chunk, n);
	return add_chunk(
		x, (uint64_t)job->spec.ep * (job->spec.etp ? job->spec.etp : 1),
		l, chunk, n);
}

/* The same share of each NVLink domain that spans nodes. */
static int try_equal(struct first *x, uint32_t level, const uint32_t *chunk,
		     uint32_t n_chunks)
{
	uint32_t share = x->s->job->gpus_per_node;
	struct candidates *all = weft_calloc(1, sizeof(*all), x->err);
	int rc = -1;

	if (all)
		rc = candidates_equal(x->s, chunk, n_chunks,
				      share ? share : x->s->give_most, level,
				      true, all, x->err);
	for (uint32_t i = 0; rc == 0 && i < all->n; i++)
		rc = consider(x, &all->node_set[i]);
	if (all)
		candidates_free(all);
	free(all);
	return rc;
}

static int try_domain(struct first *x, uint32_t domain)
{
	uint32_t tp = x->s->job->spec.tp,
		 outer = x->s->f->domains[domain].level;

	if (try_fill(x, domain, DEAL_COMPACT, tp ? tp : 1))
		return -1;
	for (uint32_t l = x->s->f->node_level; l < outer; l++) {
		uint32_t chunk[MAX_CHUNKS], n = find_chunks(x, l, chunk);

		if (l == 0 && try_equal(x, outer, chunk, n))
			return -1;
		for (uint32_t i = 0; i < n; i++)
			if (x->n_nodes <= MAX_NODES &&
			    try_fill(x, domain, DEAL_ALIGNED, chunk[i]))
				return -1;
	}
	return x->n_nodes > MAX_NODES ? 0 : try_fill(x, domain, DEAL_EVEN, 0);
}

/* There is a set; that there was no time for another is no error. */
static int settle(struct first *x, int rc)
{
	if (rc == 0)
		return 1;
	if (!weft_deadline_passed())
		return -1;
	if (x->err)
		*x->err = (struct weft_error){0};
	return 1;
}

/* 1 when there is a set, 0 when not, -1 with err. */
static int choose_tight(struct first *x)
{
	uint32_t domain[CANDIDATES_PICKS], beyond = 0;

	for (uint32_t l = x->s->f->node_level; l < x->s->f->n_levels; l++) {
		uint32_t n = candidates_pick(x->s, l, domain);
		bool found = false;

		for (uint32_t i = 0; i < n && !found; i++) {
			int rc = try_domain(x, domain[i]);

			if (rc)
				return x->node_set.n_nodes ? settle(x, rc) : -1;
			found = x->node_set.n_nodes;
		}
		if (found &&
		    (beyond++ == LEVELS_BEYOND ||
		     l == x->s->job->prefer_level || x->n_nodes > MAX_NODES))
			break;
	}
	return x->node_set.n_nodes > 0;
}

/* As node_set_fill; finds a choice whenever there is one. */
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

static int choose(struct first *x)
{
	struct node_set c = {0};
	int rc;

	if (layouts_are_binding(x->s)) {
		rc = choose_groups(x->s, &c, x->err);
	} else if (x->s->job->within_level < x->s->f->node_level) {
		rc = choose_inside(x->s, &c, x->err);
	} else {
		rc = choose_tight(x);
		if (rc)
			return rc;
		rc = choose_any(x->s, &c, x->err);
	}
	if (rc > 0)
		return consider(x, &c) ? -1 : 1;
	node_set_free(&c);
	return rc;
}

/* Takes over the nodes of the choice. */
static int take_over(struct first *x, struct weft_placement *p)
{
	uint32_t n = p->n_ranks;
	uint32_t *rank = weft_calloc(n, sizeof(*rank), x->err);
	uint32_t *gpus = weft_calloc(n, sizeof(*gpus), x->err);
	int rc = -1;

	p->where = weft_calloc(n, sizeof(*p->where), x->err);
	if (!rank || !gpus || !p->where)
		goto out;
	node_set_expand(&x->node_set, x->s->o, gpus);
	nest_enumerate(&x->nest, rank);
	for (uint32_t i = 0; i < n; i++)
		p->where[rank[i]] = gpus[i];
	p->placed = true;
	p->nodes = x->node_set.node;
	p->n_nodes = x->node_set.n_nodes;
	x->node_set.node = NULL;
	rc = 0;
out:
	free(rank);
	free(gpus);
	return rc;
}

int weft_place_first(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o, struct weft_placement *p,
		     struct weft_error *err)
{
	struct capacity s = {0};
	struct first x = {.s = &s, .err = err};
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
	rc = reason_impossible(&s, p) ? 0 : choose(&x);
	if (rc > 0)
		rc = take_over(&x, p);
out:
	node_set_free(&x.node_set);
	capacity_free(&s);
	return rc;
}
