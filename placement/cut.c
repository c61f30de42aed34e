/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut.c - the least weight between the domains of one level */
#include "placement/cut.h"

#include <math.h>
#include <stdlib.h>

#define MAX_CHOICES 2e7 /* sizes looked at for an exact sum */
#define N_PRICES    48	/* halvings in search of the price of a vertex */

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
					     best[w - t] + c->least[size - t]);
			best[w] = least;
		}
	}
	*sum = best[empty];
	free(best);
	return 0;
}

/* Least sum when each vertex earns `price` in any part and costs it once. */
static double sum_at_price(const struct contour *c, const struct parts *parts,
			   double price, uint32_t *vertices)
{
	double sum = price * parts->n_vertices, least = 0;
	uint32_t at = 0, from = 0;

	*vertices = 0;
	/* from the smallest domain to the largest, the least so far */
	for (uint32_t i = parts->n; i-- > 0;) {
		for (; from <= parts->size[i]; from++) {
			double value = c->least[from] - price * from;

			if (value < least) {
				least = value;
				at = from;
			}
		}
		sum += least;
		*vertices += at;
	}
	return sum;
}

/* Every price gives a bound; the best is where the parts want as many vertices
 * as there are. */
static double sum_by_price(const struct contour *c, const struct parts *parts)
{
	double low = 0, high = 0, best = -INFINITY;

	for (uint32_t s = 1; s <= c->max; s++) {
		low = fmin(low, c->least[s] / s);
		high = fmax(high, 2 * fabs(c->least[s]));
	}
	for (uint32_t k = 0; k < N_PRICES; k++) {
		double middle = k ? (low + high) / 2 : 0;
		uint32_t vertices;

		best = fmax(best, sum_at_price(c, parts, middle, &vertices));
		if (vertices < parts->n_vertices)
			low = middle;
		else
			high = middle;
	}
	return best;
}

int cut_by_contour(const struct contour *c, const struct parts *parts,
		   double *weight, struct weft_error *err)
{
	uint32_t empty = parts->n_sites - parts->n_vertices;
	uint32_t most = empty < parts->size[0] ? empty : parts->size[0];

	if ((double)parts->n * empty * most > MAX_CHOICES)
		*weight = sum_by_price(c, parts);
	else if (sum_exactly(c, parts, empty, weight, err))
		return -1;
	*weight -= c->back;
	return 0;
}
