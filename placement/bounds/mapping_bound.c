/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_bound.c - what an arrangement on a tree of sites costs at least
 *
 * With d(l) the least distance of sites that meet at level l or further out,
 * and X(l) a lower bound of the weight between different domains of level l,
 *
 *	cost >= d(0) * all weight + sum over l of (d(l+1) - d(l)) * X(l).
 *
 * X(l) follows from the sizes of the domains: by degree, by spectrum, and by
 * the contours of the lattice that the graph contains (cut.h).  Rails make
 * sites of different nodes farther apart by R at least; what that costs is not
 * independent of X(0) and X(1), so for these the sum may be replaced by a
 * common bound with all of d(1) - d(0) and R and a share of d(2) - d(1)
 * (rails.h), the rest of which is left to X(1).
 */
#include "placement/bounds/cut.h"
#include "placement/bounds/rails.h"
#include "placement/mapping/mapping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RAIL_SHARES 8 /* shares of d(2) - d(1) tried beside rails */

struct bounding {
	const struct graph *g;
	const struct sites *s;
	struct effort *effort;
	double total;	  /* weight of all edges */
	double *heaviest; /* [g->n_edges] each row descending */
	double *lambda;	  /* [g->n] of the lattice, ascending */
	struct lattice lattice;
	struct contour_lines lines;
	struct parts parts; /* of the level at hand */
	uint32_t n_levels;
	double nearest;			   /* d(0) */
	double step[WEFT_MAX_LEVELS + 1];  /* d(l+1) - d(l) */
	double cross[WEFT_MAX_LEVELS + 1]; /* X(l) */
	double rail;			   /* R */
};

static int compare_up(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static int compare_sizes(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a < b) - (a > b);
}

static int sort_rows(struct bounding *b, struct weft_error *err)
{
	const struct graph *g = b->g;

	b->heaviest = weft_calloc(g->n_edges, sizeof(*b->heaviest), err);
	if (!b->heaviest)
		return -1;
	graph_heaviest(g, b->heaviest);
	for (uint32_t e = 0; e < g->n_edges; e++)
		b->total += g->weight[e] / 2;
	return 0;
}

/* Eigenvalues of a product are the sums of its factors'. */
static int find_spectrum(struct bounding *b, struct weft_error *err)
{
	double *value = weft_calloc(b->g->n, sizeof(*value), err);
	uint32_t n = 1;

	b->lambda = weft_calloc(b->g->n, sizeof(*b->lambda), err);
	for (uint32_t i = 0; value && b->lambda && i < b->lines.n; i++) {
		uint32_t size = b->lines.line[i].size;

		line_values(&b->lines.line[i], value);
		for (uint32_t k = size; k-- > 0;)
			for (uint32_t j = 0; j < n; j++)
				b->lambda[k * n + j] = b->lambda[j] + value[k];
		n *= size;
	}
	if (b->lambda)
		qsort(b->lambda, n, sizeof(*b->lambda), compare_up);
	free(value);
	return value && b->lambda ? 0 : -1;
}

/* Distances by level; those of levels at which no two sites meet do not
 * matter. */
static void measure_levels(struct bounding *b)
{
	const struct sites *s = b->s;
	bool occurs[WEFT_MAX_LEVELS + 1] = {false};
	double far[WEFT_MAX_LEVELS + 1] = {0}, least = INFINITY;

	b->rail = INFINITY;
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		occurs[s->meet[0][i]] = true;
		if (s->meet[0][i] >= b->n_levels)
			b->n_levels = s->meet[0][i] + 1u;
	}
	for (uint32_t l = b->n_levels; l-- > 0;) {
		const double *d = s->distance[l];

		if (occurs[l]) {
			least = fmin(least, fmin(d[0], d[1]));
			if (l && isfinite(d[0]))
				b->rail = fmin(b->rail, d[1] - d[0]);
		}
		far[l] = least;
	}
	for (uint32_t l = 0; l + 1 < b->n_levels && isfinite(far[l + 1]); l++)
		b->step[l] = far[l + 1] - far[l];
	b->nearest = least;
	if (!isfinite(b->rail) || b->rail < 0)
		b->rail = 0;
}

static void fill_parts(struct bounding *b, uint32_t level)
{
	struct parts *p = &b->parts;
	const struct sites *s = b->s;

	p->n = 0;
	p->n_sites = 0;
	p->n_vertices = b->g->n;
	p->size[0] = 1;
	for (uint32_t i = 1; i < s->n; i++) {
		if (s->meet[0][i - 1] > level)
			p->size[++p->n] = 0;
		p->size[p->n]++;
	}
	p->n++;
	qsort(p->size, p->n, sizeof(*p->size), compare_sizes);
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->size[i] > b->g->n)
			p->size[i] = b->g->n;
		p->n_sites += p->size[i];
	}
}

/* Raises *weight to what the lattice's parts cut, priced as told. */
static int try_contour(struct bounding *b, const struct contour_terms *terms,
		       double *weight, bool *exact, struct weft_error *err)
{
	struct contour c = {0};
	double cut = 0;
	int rc = contour_build(&b->lattice, &b->lines, terms, b->parts.size[0],
			       b->effort, &c, err);

	if (rc == 0 && c.complete)
		rc = cut_by_contour(&c, &b->parts, &cut, err);
	*exact = c.exact;
	*weight = fmax(*weight, cut);
	contour_free(&c);
	return rc;
}

/* Quickly, then again without haste where that gives more: as long as the
 * effort lasts. */
static int try_contours(struct bounding *b, double *weight,
			struct weft_error *err)
{
	uint32_t layer = b->g->n / b->lattice.axis[b->lattice.n_axes - 1].size;
	const struct contour_terms all[] = {
		{1, b->parts.size[0], false, true},
		{1, b->parts.size[0], true, true},
		{1, 0, false, true},
		{1, layer / 2, false, true},
		{0, 0, false, true},
	};
	bool exact[sizeof(all) / sizeof(all[0])];

	for (uint32_t k = 0; k < 2 * sizeof(all) / sizeof(all[0]); k++) {
		uint32_t i = k % (sizeof(all) / sizeof(all[0]));
		struct contour_terms terms = all[i];

		if (effort_spent(b->effort))
			break;
		terms.quick = k == i;
		if ((terms.quick || !exact[i]) &&
		    try_contour(b, &terms, weight, &exact[i], err))
			return -1;
	}
	return 0;
}

static int find_crossing(struct bounding *b, uint32_t level,
			 struct weft_error *err)
{
	double *x = &b->cross[level];

	fill_parts(b, level);
	if (b->parts.n < 2)
		return 0;
	*x = fmax(cut_by_degree(b->g, b->heaviest, &b->parts),
		  cut_by_spectrum(b->lambda, &b->parts));
	return b->lattice.n_axes ? try_contours(b, x, err) : 0;
}

/* Raises *cost to what rows, blocks and rails cost together, and the outer
 * levels. */
static int try_rails(struct bounding *b, const struct rails *r, double share,
		     double *cost, struct weft_error *err)
{
	const struct rail_prices p = {b->step[0], share * b->step[1], b->rail};
	double sum = rails_by_degree(r, b->g, b->heaviest, &p), clique = 0;

	if (b->lines.n && b->lines.line[0].clique > 0 &&
	    rails_by_clique(r, b->g, &b->lattice, b->lines.line[0].clique, &p,
			    &clique, err))
		return -1;
	sum = fmax(sum, clique) + (1 - share) * b->step[1] * b->cross[1];
	for (uint32_t l = 2; l < b->n_levels; l++)
		sum += b->step[l] * b->cross[l];
	*cost = fmax(*cost, sum);
	return 0;
}

/* What is paid beyond the least distance. */
static int sum_up(struct bounding *b, double *sum, struct weft_error *err)
{
	struct rails r;

	*sum = 0;
	for (uint32_t l = 0; l < b->n_levels; l++)
		*sum += b->step[l] * b->cross[l];
	if (!(b->rail > 0) || b->n_levels < 2 || !rails_measure(b->s, &r))
		return 0;
	for (uint32_t k = 0; k <= RAIL_SHARES && !effort_spent(b->effort); k++)
		if (try_rails(b, &r, (double)k / RAIL_SHARES, sum, err))
			return -1;
	return 0;
}

int mapping_bound(const struct graph *g, const struct sites *s,
		  struct effort *effort, double *bound, struct weft_error *err)
{
	struct bounding b = {.g = g, .s = s, .effort = effort};
	double sum;
	int rc = -1;

	*bound = 0;
	b.parts.size = weft_calloc(s->n, sizeof(*b.parts.size), err);
	if (!b.parts.size || sort_rows(&b, err))
		goto out;
	rc = 0;
	if (b.total == 0 || s->n < 2)
		goto out;
	measure_levels(&b);
	rc = -1;
	if (lattice_find(g, effort, &b.lattice, err) ||
	    contour_lines_build(&b.lattice, &b.lines, err) ||
	    find_spectrum(&b, err))
		goto out;
	for (uint32_t l = b.n_levels; l-- > 0;) {
		if (find_crossing(&b, l, err))
			goto out;
		/* what crosses a domain also crosses those inside it */
		if (l + 1 < b.n_levels)
			b.cross[l] = fmax(b.cross[l], b.cross[l + 1]);
	}
	if (sum_up(&b, &sum, err))
		goto out;
	*bound = b.nearest * b.total + sum;
	rc = 0;
out:
	contour_lines_free(&b.lines);
	lattice_free(&b.lattice);
	free(b.heaviest);
	free(b.lambda);
	free(b.parts.size);
	return rc;
}
