/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut.c - the least weight between the domains of one level */
#include "placement/bounds/cut.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_CHOICES   2e5 /* sizes looked at for an exact sum */
#define N_PRICES      28  /* halvings in search of the price of a vertex */
#define N_PART_PRICES 10  /* of the interval in which that of a part lies */

double cut_by_degree(const struct graph *g, const double *heaviest,
		     const struct parts *parts)
{
	uint32_t peers = parts->size[0] - 1;
	double sum = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v] + peers; e < g->row[v + 1]; e++)
			sum += heaviest[e];
	return sum / 2;
}

double cut_by_spectrum(const double *lambda, const struct parts *parts)
{
	uint32_t left = parts->n_vertices;
	double sum = 0;

	/* filled from the largest: the least even sizes there are */
	for (uint32_t i = 0; i < parts->n && left; i++) {
		uint32_t size = parts->size[i] < left ? parts->size[i] : left;

		sum += size * lambda[i] / 2;
		left -= size;
	}
	return sum;
}

/* What a part of so many vertices pays; INFINITY: no part has so many. */
static double pays(const struct contour *c, const struct parts *parts,
		   uint32_t size)
{
	return parts->step > 1 && size % parts->step ? (double)INFINITY
						     : c->least[size];
}

/* Least sum when `empty` sites in all hold no vertex.  best[w]: with w of them
 * in the domains so far. */
static int sum_exactly(const struct contour *c, const struct parts *parts,
		       uint32_t empty, double *sum, struct weft_error *err)
{
	double *best = weft_calloc((size_t)empty + 1, sizeof(*best), err);

	if (!best)
		return -1;
	for (uint32_t w = 1; w <= empty; w++)
		best[w] = INFINITY;
	for (uint32_t i = 0; i < parts->n; i++) {
		uint32_t size = parts->size[i];

		for (uint32_t w = empty + 1; w-- > 0;) {
			double least = INFINITY;

			for (uint32_t t = 0; t <= w && t <= size; t++)
				least = fmin(least,
					     best[w - t] +
						     pays(c, parts, size - t));
			best[w] = least;
		}
	}
	*sum = best[empty];
	free(best);
	return 0;
}

/* What a vertex earns in any part, and what a part costs that holds some. */
struct prices {
	double vertex, part;
};

/* Parts of equal size; nodes come in few sizes. */
struct run {
	uint32_t size, n;
};

struct runs {
	uint32_t n;
	struct run *run; /* [n] the smallest first */
};

static int runs_build(const struct parts *parts, struct runs *r,
		      struct weft_error *err)
{
	r->n = 0;
	r->run = weft_calloc(parts->n, sizeof(*r->run), err);
	if (!r->run)
		return -1;
	for (uint32_t i = parts->n; i-- > 0;) {
		if (!r->n || r->run[r->n - 1].size != parts->size[i])
			r->run[r->n++].size = parts->size[i];
		r->run[r->n - 1].n++;
	}
	return 0;
}

/* What a part of so many vertices pays. */
struct offer {
	uint32_t size;
	double cost;
};

/* Those that some price makes the best of a run, the smallest first. */
struct offers {
	uint32_t n;
	struct offer *offer; /* [n] */
};

/* Whether b costs no less than a and c do on average, in between. */
static bool is_above(const struct offer *a, const struct offer *b,
		     const struct offer *c)
{
	return (b->cost - a->cost) * (c->size - b->size) >=
	       (c->cost - b->cost) * (b->size - a->size);
}

/* The lower hull of all sizes of each run.  A run has those of the smaller
 * ones, and most of the costs are above it. */
static int offers_build(const struct contour *c, const struct parts *parts,
			const struct runs *runs, struct offers *o,
			struct weft_error *err)
{
	uint32_t n = 0, from = 1, kept = 0;
	struct offer *hull =
		weft_calloc((size_t)c->max + 1, sizeof(*hull), err);
	bool *keep = weft_calloc((size_t)c->max + 1, sizeof(*keep), err);

	o->n = 0;
	o->offer = hull;
	for (uint32_t i = 0; hull && keep && i < runs->n; i++) {
		for (; from <= runs->run[i].size; from++) {
			struct offer last = {from, pays(c, parts, from)};

			if (isinf(last.cost))
				continue;
			while (n > 1 &&
			       is_above(&hull[n - 2], &hull[n - 1], &last))
				n--;
			hull[n++] = last;
		}
		for (uint32_t k = 0; k < n; k++)
			keep[hull[k].size] = true;
	}
	for (uint32_t s = 1; hull && keep && s <= c->max; s++)
		if (keep[s])
			hull[kept++] = (struct offer){s, c->least[s]};
	o->n = kept;
	free(keep);
	return hull && keep ? 0 : -1;
}

/* Least sum at these prices, given back for all vertices and for as many parts
 * as must, or may, be used. */
static double sum_at(const struct offers *o, const struct parts *parts,
		     const struct runs *runs, struct prices p,
		     uint32_t *vertices)
{
	double sum = p.vertex * parts->n_vertices, least = 0;
	uint32_t at = 0, k = 0;

	sum -= p.part * (p.part < 0 ? parts->min_used : parts->max_used);
	*vertices = 0;
	/* from the smallest domain to the largest, the least so far */
	for (uint32_t i = 0; i < runs->n; i++) {
		for (; k < o->n && o->offer[k].size <= runs->run[i].size; k++) {
			const struct offer *offer = &o->offer[k];
			double value =
				offer->cost - p.vertex * offer->size + p.part;

			if (value < least) {
				least = value;
				at = offer->size;
			}
		}
		sum += least * runs->run[i].n;
		*vertices += at * runs->run[i].n;
	}
	return sum;
}

/* Any prices give a bound; the best of a vertex is where the parts want as many
 * as there are. */
static double best_at(const struct offers *o, const struct parts *parts,
		      const struct runs *runs, double part, double limit)
{
	double low = -limit, high = limit, best = -INFINITY;

	for (uint32_t k = 0; k < N_PRICES; k++) {
		struct prices p = {k ? (low + high) / 2 : 0, part};
		uint32_t vertices;

		best = fmax(best, sum_at(o, parts, runs, p, &vertices));
		if (vertices < parts->n_vertices)
			low = p.vertex;
		else
			high = p.vertex;
	}
	return best;
}

/* The sum is concave in the price of a part, too: thirds of an interval. */
static int sum_by_price(const struct contour *c, const struct parts *parts,
			double *sum, struct weft_error *err)
{
	double limit = 0, low, high, best;
	struct offers o = {0};
	struct runs runs;

	if (runs_build(parts, &runs, err) ||
	    offers_build(c, parts, &runs, &o, err)) {
		free(runs.run);
		free(o.offer);
		return -1;
	}
	for (uint32_t s = 1; s <= c->max; s++)
		limit = fmax(limit, 2 * fabs(c->least[s]));
	best = best_at(&o, parts, &runs, 0, limit);
	low = parts->min_used > 1 ? -limit : 0;
	high = parts->max_used ? limit : 0;
	for (uint32_t k = 0; k < N_PART_PRICES && low < high; k++) {
		double third = (high - low) / 3;
		double left = best_at(&o, parts, &runs, low + third, limit);
		double right = best_at(&o, parts, &runs, high - third, limit);

		best = fmax(best, fmax(left, right));
		if (left < right)
			low += third;
		else
			high -= third;
	}
	free(runs.run);
	free(o.offer);
	*sum = best;
	return 0;
}

/* Least sum by how many parts hold something: those are the largest, each with
 * one vertex at least.  best[v]: with v vertices in the parts so far. */
static int sum_used(const struct contour *c, const struct parts *parts,
		    double *sum, struct weft_error *err)
{
	uint32_t n = parts->n_vertices, most = parts->n < n ? parts->n : n;
	double *best = weft_calloc((size_t)n + 1, sizeof(*best), err);

	*sum = INFINITY;
	if (!best)
		return -1;
	if (parts->max_used && parts->max_used < most)
		most = parts->max_used;
	for (uint32_t v = 1; v <= n; v++)
		best[v] = INFINITY;
	for (uint32_t i = 0; i < most; i++) {
		for (uint32_t v = n + 1; v-- > 0;) {
			uint32_t size = parts->size[i] < v ? parts->size[i] : v;
			double least = INFINITY;

			for (uint32_t t = 1; t <= size; t++)
				least = fmin(least,
					     best[v - t] + pays(c, parts, t));
			best[v] = least;
		}
		if (i + 1 >= parts->min_used)
			*sum = fmin(*sum, best[n]);
	}
	free(best);
	return 0;
}

int cut_by_contour(const struct contour *c, const struct parts *parts,
		   double *weight, struct weft_error *err)
{
	uint64_t empty = parts->n_sites - parts->n_vertices;
	uint64_t most = empty < parts->size[0] ? empty : parts->size[0];
	bool limited = parts->min_used > 1 || parts->max_used;
	double n = parts->n_vertices;
	int rc = 0;

	if (limited && n * parts->n * parts->size[0] <= MAX_CHOICES)
		rc = sum_used(c, parts, weight, err);
	else if (!limited &&
		 (double)parts->n * (double)empty * (double)most <= MAX_CHOICES)
		rc = sum_exactly(c, parts, (uint32_t)empty, weight, err);
	else
		rc = sum_by_price(c, parts, weight, err);
	*weight -= c->back;
	return rc;
}
