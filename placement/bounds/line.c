/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.c - how cheaply a line of a lattice can be cut */
#include "placement/bounds/lattice.h"

#include "base/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SUBSETS 12	/* vertices of which every subset is looked at */
#define MAX_EXACT   512 /* of a chain that is cut optimally */
#define ROUNDING    1e-12

/* What is left of a line without its clique. */
struct rest {
	uint32_t size, n_edges;
	struct line_edge *edge;
	uint32_t *degree; /* [size] */
	uint32_t *first;  /* [size] some edge of the vertex */
	uint32_t *second; /* [size] another */
	uint32_t *parent; /* [size] pieces of the chain, as a forest */
	double *step;	  /* [size] weights along the chain; the last closes
			   * the ring */
	void *memory;
};

WEFT_COMPARATOR(compare_weights, struct line_edge,
		WEFT_DOWN(weight) WEFT_UP(a) WEFT_UP(b));

static int rest_build(const struct line *line, const struct line_edge *edge,
		      uint32_t n_edges, struct rest *r, struct weft_error *err)
{
	char *p = weft_calloc(
		n_edges + (size_t)line->size,
		sizeof(*r->edge) + sizeof(double) + 4 * sizeof(uint32_t), err);

	memset(r, 0, sizeof(*r));
	r->memory = p;
	if (!p)
		return -1;
	r->size = line->size;
	r->edge = (struct line_edge *)(void *)p;
	r->step = (double *)(r->edge + n_edges);
	r->degree = (uint32_t *)(r->step + line->size);
	r->first = r->degree + line->size;
	r->second = r->first + line->size;
	r->parent = r->second + line->size;
	for (uint32_t i = 0; i < n_edges; i++) {
		struct line_edge e = edge[i];

		e.weight -= line->clique;
		if (e.weight > edge[i].weight * ROUNDING)
			r->edge[r->n_edges++] = e;
	}
	WEFT_SORT(r->edge, r->n_edges, compare_weights);
	return 0;
}

static uint32_t root_of(const struct rest *r, uint32_t v)
{
	while (r->parent[v] != v)
		v = r->parent[v] = r->parent[r->parent[v]];
	return v;
}

/* Puts the edges of one chain through all vertices first, taking the heaviest
 * that fit, and the others behind them; false where that finds none. */
static bool rest_keep_chain(struct rest *r)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < r->size; v++)
		r->parent[v] = v;
	for (uint32_t i = 0; i < r->n_edges; i++) {
		struct line_edge e = r->edge[i];
		uint32_t a = root_of(r, e.a), b = root_of(r, e.b);

		/* the edge that closes the ring is the last */
		if (r->degree[e.a] == 2 || r->degree[e.b] == 2 ||
		    (a == b && n + 1 < r->size))
			continue;
		r->parent[a] = b;
		for (int end = 0; end < 2; end++) {
			uint32_t v = end ? e.b : e.a;

			r->second[v] = r->first[v];
			r->first[v] = n;
			r->degree[v]++;
		}
		r->edge[i] = r->edge[n];
		r->edge[n++] = e;
	}
	r->n_edges = n;
	return n + 1 >= r->size;
}

/* Fills step[] from one end of the chain, or all around, to the other. */
static void rest_walk(struct rest *r)
{
	uint32_t at = 0, last = UINT32_MAX;

	for (uint32_t v = 0; v < r->size; v++)
		if (r->degree[v] == 1)
			at = v;
	for (uint32_t n = 0; n < r->n_edges; n++) {
		uint32_t e = r->first[at];

		if (e == last)
			e = r->second[at];
		r->step[n] = r->edge[e].weight;
		at = r->edge[e].a == at ? r->edge[e].b : r->edge[e].a;
		last = e;
	}
}

/* fmin is a call, for the sake of NaN. */
static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

/* Least cost of c vertices of a chain: what each step costs with none, one and
 * both of its ends among them.  best[c][s]: with c of the vertices up to here,
 * s telling whether the last one is among them. */
static int sum_chain(const double *step, uint32_t n, const double price[3],
		     double *cost, struct weft_error *err)
{
	double(*best)[2] = weft_calloc((size_t)n + 1, sizeof(*best), err);

	if (!best)
		return -1;
	for (uint32_t first = 0; first < 2; first++) {
		for (uint32_t c = 0; c <= n; c++)
			best[c][0] = best[c][1] = INFINITY;
		best[first][first] = 0;
		for (uint32_t i = 1; i < n; i++) {
			double none = step[i - 1] * price[0];
			double one = step[i - 1] * price[1];
			double both = step[i - 1] * price[2];

			for (uint32_t c = i + 1; c > 0; c--) {
				best[c][0] = lesser(best[c][0] + none,
						    best[c][1] + one);
				best[c][1] = lesser(best[c - 1][1] + both,
						    best[c - 1][0] + one);
			}
			best[0][0] += none;
			best[0][1] = INFINITY;
		}
		for (uint32_t c = 0; c <= n; c++) {
			best[c][0] += step[n - 1] * price[first];
			best[c][1] += step[n - 1] * price[first + 1];
			cost[c] = fmin(cost[c], fmin(best[c][0], best[c][1]));
		}
	}
	free(best);
	return 0;
}

static void two_least(const double *step, uint32_t n, double *least,
		      double *next)
{
	*least = *next = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		if (step[i] < *least) {
			*next = *least;
			*least = step[i];
		} else {
			*next = fmin(*next, step[i]);
		}
	}
}

/* True when all steps weigh the same, but for one that closes the ring. */
static bool is_even(const double *step, uint32_t n)
{
	double least, next, most = 0;

	two_least(step, n, &least, &next);
	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, step[i]);
	return most <= next * (1 + ROUNDING);
}

/* Such a chain, or one too long for anything else: one cut of a path, two of a
 * ring; and steps that weigh the most inside. */
static void sum_even(const double *step, uint32_t n, double *cut, double *most)
{
	double least, next, heaviest = 0, sum = 0;

	two_least(step, n, &least, &next);
	for (uint32_t i = 0; i < n; i++) {
		heaviest = fmax(heaviest, step[i]);
		sum += step[i];
	}
	cut[0] = cut[n] = 0;
	for (uint32_t c = 1; c < n; c++) {
		cut[c] = least + next;
		most[c] = fmin(heaviest * (c - 1), sum);
	}
	most[n] = sum;
}

static void look_at_subsets(const struct rest *r, struct line *line)
{
	for (uint32_t set = 0; set < 1u << r->size; set++) {
		uint32_t n = (uint32_t)__builtin_popcount(set);
		double cut = 0, inside = 0;

		for (uint32_t i = 0; i < r->n_edges; i++) {
			uint32_t a = set >> r->edge[i].a & 1;
			uint32_t b = set >> r->edge[i].b & 1;

			cut += a ^ b ? r->edge[i].weight : 0;
			inside += a & b ? r->edge[i].weight : 0;
		}
		line->cut[n] = fmin(line->cut[n], cut);
		line->most[n] = fmax(line->most[n], inside);
	}
}

/* Raises most[] by what any so many vertices hold of edges from ... to - 1: no
 * more than half of what the heaviest of them are joined by. */
static int hold_by_degree(const struct rest *r, uint32_t from, uint32_t to,
			  double *most, struct weft_error *err)
{
	double *sum = weft_calloc(r->size, sizeof(*sum), err), held = 0;

	if (!sum)
		return -1;
	for (uint32_t i = from; i < to; i++) {
		sum[r->edge[i].a] += r->edge[i].weight / 2;
		sum[r->edge[i].b] += r->edge[i].weight / 2;
	}
	WEFT_SORT(sum, r->size, weft_compare_reals_down);
	for (uint32_t c = 1; c <= r->size; c++) {
		held += sum[c - 1];
		most[c] += c > 1 ? held : 0;
	}
	free(sum);
	return 0;
}

/* The lightest edge closes the ring, the others are the path. */
static void name_chain(struct line *line, const double *step)
{
	uint32_t n = line->size;
	double least, next;

	two_least(step, n, &least, &next);
	line->ring = n > 2 ? least : 0;
	line->path = (n > 2 ? next : step[0]) - line->ring;
}

/* A long line, of which one chain is r's first n_edges; the others are cut for
 * nothing. */
static int sum_long(struct line *line, const struct rest *r, uint32_t others,
		    struct weft_error *err)
{
	static const double cut[] = {0, 1, 0}, inside[] = {0, 0, -1};
	uint32_t n = line->size;

	if (n > MAX_EXACT || is_even(r->step, n)) {
		sum_even(r->step, n, line->cut, line->most);
	} else if (sum_chain(r->step, n, cut, line->cut, err) ||
		   sum_chain(r->step, n, inside, line->most, err)) {
		return -1;
	} else {
		for (uint32_t c = 0; c <= n; c++)
			line->most[c] = -line->most[c];
	}
	return hold_by_degree(r, r->n_edges, r->n_edges + others, line->most,
			      err);
}

static int look_at_rest(struct line *line, struct rest *r,
			struct weft_error *err)
{
	uint32_t n = line->size, n_edges = r->n_edges;
	bool chain;

	for (uint32_t c = 0; c <= n; c++)
		line->cut[c] = INFINITY;
	if (n <= MAX_SUBSETS)
		look_at_subsets(r, line);
	chain = rest_keep_chain(r);
	if (chain) {
		rest_walk(r);
		name_chain(line, r->step);
	}
	if (n <= MAX_SUBSETS)
		return 0;
	if (chain)
		return sum_long(line, r, n_edges - r->n_edges, err);
	memset(line->cut, 0, (n + (size_t)1) * sizeof(*line->cut));
	return hold_by_degree(r, 0, n_edges, line->most, err);
}

/* What a clique adds, and what follows from cut[] and most[]. */
static void conclude(struct line *line)
{
	uint32_t n = line->size;

	line->least = INFINITY;
	line->step = n == 2 ? line->most[2] : 0;
	for (uint32_t c = 1; c <= n; c++) {
		line->most[c] += line->clique * c * (c - 1.0) / 2;
		if (c == n)
			break;
		line->cut[c] += line->clique * c * (n - c);
		line->least = fmin(line->least, line->cut[c]);
		if (c > 1)
			line->step = fmax(line->step, line->most[c] / (c - 1));
	}
	line->last = fmax(0, line->most[n] - line->step * (n - 1));
	if (line->last > line->step)
		line->last = line->step = line->most[n] / n;
	line->other = line->clique * (n - 1) + 2 * line->ring;
	if (line->path == 0)
		line->other = line->least;
}

static int find_degree(struct line *line, const struct line_edge *edge,
		       uint32_t n_edges, struct weft_error *err)
{
	double *sum = weft_calloc(line->size, sizeof(*sum), err);

	if (!sum)
		return -1;
	for (uint32_t i = 0; i < n_edges; i++) {
		sum[edge[i].a] += edge[i].weight;
		sum[edge[i].b] += edge[i].weight;
	}
	for (uint32_t v = 0; v < line->size; v++)
		line->degree = fmax(line->degree, sum[v]);
	free(sum);
	return 0;
}

int line_build(uint32_t size, const struct line_edge *edge, uint32_t n_edges,
	       struct line *line, struct weft_error *err)
{
	struct rest r = {0};
	int rc = -1;

	memset(line, 0, sizeof(*line));
	line->size = size;
	line->cut = weft_calloc((size_t)size + 1, sizeof(*line->cut), err);
	line->most = weft_calloc((size_t)size + 1, sizeof(*line->most), err);
	if (n_edges == (uint64_t)size * (size - 1) / 2 && size > 2) {
		line->clique = edge[0].weight;
		for (uint32_t i = 1; i < n_edges; i++)
			line->clique = fmin(line->clique, edge[i].weight);
	}
	if (!line->cut || !line->most ||
	    find_degree(line, edge, n_edges, err) ||
	    rest_build(line, edge, n_edges, &r, err) ||
	    look_at_rest(line, &r, err))
		goto out;
	conclude(line);
	rc = 0;
out:
	free(r.memory);
	return rc;
}

void line_free(struct line *line)
{
	free(line->cut);
	free(line->most);
	line->cut = line->most = NULL;
}

void line_values(const struct line *line, double *value)
{
	uint32_t n = line->size;

	for (uint32_t k = 0; k < n; k++) {
		double ring_k = (k + 1) / 2; /* 0, 1, 1, 2, 2, ... */
		double ring = 2 - 2 * cos(2 * M_PI * ring_k / n);
		double path = 2 - 2 * cos(M_PI * k / n);

		/* of ring + path, the two may not be added: their eigenvectors
		 * differ; but a ring contains a path */
		value[k] = (k ? line->clique * n : 0) +
			   fmax(line->ring * ring,
				(line->ring + line->path) * path);
	}
}
