/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parting.c - what a placement costs at least that does not keep a block whole
 *
 * Let an NVLink domain hold a whole blocks and p pieces of others, r ranks of
 * these, of g ranks a block.  What leaves it is at least
 *
 *	a beta + p c + sum over those ranks v of (out(v) - k T(v, a + p - 1)),
 *
 * beta: the least that leaves a set of whole blocks, per block of it;
 * c: the least cut of a block; out(v): bytes of v to other blocks; T(v, q):
 * those to the q blocks that it sends most to; k = 2, because bytes to a whole
 * block are saved on both sides, or 1 where a = 0.  Less (r / g) beta, as if
 * the parted blocks had been whole ones elsewhere, the rest is an excess. Where
 * its minimum over all a, p and r is not negative, the bytes that leave NVLink
 * domains are n beta / 2 plus, as a parted block lies in two domains at least,
 * that minimum.
 */
#include "placement/exact/proof.h"

#include "base/bitset.h"
#include "base/compare.h"
#include "placement/bounds/boundary.h"
#include "placement/exact/excess.h"
#include "placement/mapping/sites.h"
#include "placement/objective/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Domains of up to so many GPUs have all their sets looked at, so many sets. */
#define MOST_LOOKED_AT 16
#define SETS_LOOKED_AT 4000000

struct parting {
	const struct blocks *b;
	struct graph ranks;
	uint32_t *block; /* [n_gpus] of each rank */
	double *to;	 /* [n] bytes of one rank to each block */
	double *saved;	 /* [n + 1] least of out(v) - 2 T(v, q), per q */
	double *alone;	 /* [n + 1] the same with T once */
	double cut, beta;
	uint32_t most; /* GPUs of the largest NVLink domain */
};

static void measure_rank(struct parting *x, uint32_t r)
{
	uint32_t n = x->b->n;
	double out = 0, top = 0;

	memset(x->to, 0, n * sizeof(*x->to));
	for (uint32_t e = x->ranks.row[r]; e < x->ranks.row[r + 1]; e++)
		if (x->block[x->ranks.peer[e]] != x->block[r])
			x->to[x->block[x->ranks.peer[e]]] += x->ranks.weight[e];
	qsort(x->to, n, sizeof(*x->to), weft_compare_reals_down);
	for (uint32_t k = 0; k < n; k++)
		out += x->to[k];
	for (uint32_t q = 0; q <= n; q++) {
		x->saved[q] = fmin(x->saved[q], out - 2 * top);
		x->alone[q] = fmin(x->alone[q], out - top);
		top += q < n ? x->to[q] : 0;
	}
}

/* The least cut of any block. */
static int measure_cut(struct parting *x, struct weft_error *err)
{
	const struct blocks *b = x->b;
	double cut;

	x->cut = INFINITY;
	for (uint32_t k = 0; k < b->n; k++) {
		if (boundary_cut(&x->ranks, b->rank + (size_t)k * b->unit,
				 b->unit, &cut, err))
			return -1;
		x->cut = fmin(x->cut, cut);
	}
	return 0;
}

static void measure_domains(struct parting *x)
{
	const struct blocks *b = x->b;
	const struct weft_fabric *f = b->s->f;
	const struct weft_level *l = &f->levels[0];

	for (uint32_t i = 0; i < l->n_domains; i++) {
		const struct weft_domain *d = &f->domains[l->first_domain + i];
		uint32_t node = f->gpu_node[d->first_gpu], n;
		uint64_t mask = weft_mask_first(d->n_gpus)
				<< (d->first_gpu - f->nodes[node].first_gpu);

		if (f->node_level == 0)
			n = b->s->cap[l->first_domain + i];
		else
			n = weft_mask_count(b->s->o->free[node] & mask);
		x->most = n > x->most ? n : x->most;
	}
}

/* The least excess; see above. */
static double least_excess(const struct parting *x)
{
	uint32_t g = x->b->unit, n = x->b->n;
	double least = INFINITY;

	for (uint32_t a = 0; a * g < x->most && a < n; a++) {
		uint32_t room = x->most - a * g;

		for (uint32_t p = 1; p <= room && a + p <= n; p++) {
			double per = (a ? x->saved : x->alone)[a + p - 1] -
				     x->beta / g;
			uint32_t most = p * (g - 1);

			/* linear in r, from p to most */
			most = most < room ? most : room;
			least = fmin(least, p * x->cut + p * per);
			least = fmin(least, p * x->cut + most * per);
		}
	}
	return least;
}

static int build(struct parting *x, const double *least, struct weft_error *err)
{
	const struct blocks *b = x->b;
	uint32_t n = b->n;

	x->block = weft_calloc((size_t)n * b->unit, sizeof(*x->block), err);
	x->to = weft_calloc(3 * (size_t)n + 2, sizeof(*x->to), err);
	if (!x->block || !x->to ||
	    graph_build(&b->s->job->traffic, &x->ranks, err))
		return -1;
	x->saved = x->to + n;
	x->alone = x->saved + n + 1;
	for (uint32_t q = 0; q <= n; q++)
		x->saved[q] = x->alone[q] = INFINITY;
	for (uint32_t i = 0; i < n * b->unit; i++)
		x->block[b->rank[i]] = i / b->unit;
	for (uint32_t r = 0; r < n * b->unit; r++)
		measure_rank(x, r);
	measure_domains(x);
	x->beta = INFINITY;
	for (uint32_t s = 1; s <= n && s * b->unit <= x->most; s++)
		x->beta = fmin(x->beta, least[s] / s);
	/* no domain has room for a block: whole ones would be alone */
	if (!isfinite(x->beta))
		x->beta = least[1];
	return measure_cut(x, err);
}

/* Least distance of GPUs of different NVLink domains; INFINITY: there are none.
 */
static double least_outside(const struct weft_fabric *f,
			    enum weft_metric metric)
{
	double least = INFINITY;

	for (uint32_t l = 1; l < f->n_levels; l++)
		for (uint32_t c = 0; c < (f->n_rails > 1 ? 2 : 1); c++)
			least = fmin(least,
				     sites_metric(&f->distance[l][c], metric));
	return least;
}

/* What crosses levels from the second on costs at least: the bound on a fabric
 * where leaving an NVLink domain is free. */
static int bound_outside(const struct blocks *b, double bytes, double *outside,
			 struct weft_error *err)
{
	enum weft_metric metric = b->s->job->spec.metric;
	struct weft_fabric f = *b->s->f;
	struct capacity s = *b->s;
	double bound[WEFT_N_METRICS], least = least_outside(&f, metric);

	for (uint32_t l = 1; l < f.n_levels; l++)
		for (uint32_t c = 0; c < (f.n_rails > 1 ? 2 : 1); c++)
			if (sites_metric(&f.distance[l][c], metric) <= least)
				f.distance[0][0] = f.distance[0][1] =
					f.distance[l][c];
	s.f = &f;
	if (bound_measure(&s, bound, NULL, err))
		return -1;
	*outside = fmax(0, bound[metric] - least * bytes);
	return 0;
}

/* The least excess by looking at all sets of ranks, where the bound above says
 * too little: up to `enough`, within an effort of seconds. */
static int look_at_sets(const struct parting *x, double enough,
			const struct effort *effort, double *excess,
			struct weft_error *err)
{
	const struct excess question = {
		.g = &x->ranks,
		.block = x->block,
		.unit = x->b->unit,
		.most = x->most,
		.price = x->beta / x->b->unit,
		.enough = enough,
	};
	struct effort part = *effort;
	bool complete;
	double least;

	if (x->most > MOST_LOOKED_AT || !isfinite(enough))
		return 0;
	part.work = SETS_LOOKED_AT;
	if (excess_least(&question, &part, &least, &complete, err))
		return -1;
	if (complete)
		*excess = fmax(*excess, least);
	return 0;
}

int parting_bound(const struct blocks *b, const double *least, double known,
		  const struct effort *effort, double *bound,
		  struct weft_error *err)
{
	const struct weft_fabric *f = b->s->f;
	enum weft_metric metric = b->s->job->spec.metric;
	double inside = sites_metric(&f->distance[0][0], metric), d, bytes = 0;
	struct parting x = {.b = b};
	double excess, outside, base;
	int rc = -1;

	*bound = b->unit > 1 ? 0 : (double)INFINITY;
	d = least_outside(f, metric);
	if (b->unit == 1 || !isfinite(d) || d <= inside)
		return 0;
	if (build(&x, least, err))
		goto out;
	for (uint32_t e = 0; e < x.ranks.n_edges; e++)
		bytes += x.ranks.weight[e] / 2;
	if (bound_outside(b, bytes, &outside, err))
		goto out;
	base = inside * bytes + (d - inside) * b->n * x.beta / 2 + outside;
	excess = least_excess(&x);
	if (base + (d - inside) * excess < known &&
	    look_at_sets(&x, fmax(0, known * (1 + 1e-6) - base) / (d - inside),
			 effort, &excess, err))
		goto out;
	if (excess >= 0)
		*bound = base + (d - inside) * excess;
	rc = 0;
out:
	graph_free(&x.ranks);
	free(x.block);
	free(x.to);
	return rc;
}
