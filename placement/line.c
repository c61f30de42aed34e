/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.c - how cheaply a line of a lattice can be cut */
#include "placement/line.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SUBSETS 12	 /* vertices of which every subset is looked at */
#define MAX_EXACT   2048 /* of a chain that is cut optimally */
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

static int compare_weights(const void *pa, const void *pb)
{
	const struct line_edge *a = pa, *b = pb;

	if (a->weight != b->weight)
		return (a->weight < b->weight) - (a->weight > b->weight);
	if (a->a != b->a)
		return (a->a > b->a) - (a->a < b->a);
	return (a->b > b->b) - (a->b < b->b);
}

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
	qsort(r->edge, r->n_edges, sizeof(*r->edge), compare_weights);
	return 0;
}

static uint32_t root_of(const struct rest *r, uint32_t v)
{
	while (r->parent[v] != v)
		v = r->parent[v] = r->parent[r->parent[v]];
	return v;
}

/* Drops the edges that are not of one chain through all vertices, of which the
 * heaviest come first; false where that finds none. */
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

/* Least cuts of a chain: best[c][s], with c of the vertices up to here in the
 * set, s telling whether the last one is. */
static int cut_chain(const double *step, uint32_t n, double *cut,
		     struct weft_error *err)
{
	double(*best)[2] = weft_calloc((size_t)n + 1, sizeof(*best), err);

	if (!best)
		return -1;
	for (uint32_t first = 0; first < 2; first++) {
		for (uint32_t c = 0; c <= n; c++)
			best[c][0] = best[c][1] = INFINITY;
		best[first][first] = 0;
		for (uint32_t i = 1; i < n; i++) {
			double w = step[i - 1];

			for (uint32_t c = i + 1; c > 0; c--) {
				best[c][0] = fmin(best[c][0], best[c][1] + w);
				best[c][1] = fmin(best[c - 1][1],
						  best[c - 1][0] + w);
			}
			best[0][1] = INFINITY;
		}
		for (uint32_t c = 0; c <= n; c++) {
			best[c][!first] += step[n - 1];
			cut[c] = fmin(cut[c], fmin(best[c][0], best[c][1]));
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

/* A chain too long for that: one cut of a path, two of a ring. */
static void cut_chain_roughly(const double *step, uint32_t n, double *cut)
{
	double least, next;

	two_least(step, n, &least, &next);
	cut[0] = cut[n] = 0;
	for (uint32_t c = 1; c < n; c++)
		cut[c] = least + next;
}

static void cut_subsets(const struct rest *r, double *cut)
{
	for (uint32_t set = 0; set < 1u << r->size; set++) {
		uint32_t n = (uint32_t)__builtin_popcount(set);
		double sum = 0;

		for (uint32_t i = 0; i < r->n_edges; i++)
			if ((set >> r->edge[i].a ^ set >> r->edge[i].b) & 1)
				sum += r->edge[i].weight;
		cut[n] = fmin(cut[n], sum);
	}
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

static int cut_rest(struct line *line, struct rest *r, struct weft_error *err)
{
	uint32_t n = line->size;

	for (uint32_t c = 0; c <= n; c++)
		line->cut[c] = INFINITY;
	if (n <= MAX_SUBSETS)
		cut_subsets(r, line->cut);
	if (rest_keep_chain(r)) {
		rest_walk(r);
		name_chain(line, r->step);
		if (n > MAX_EXACT)
			cut_chain_roughly(r->step, n, line->cut);
		else if (n > MAX_SUBSETS)
			return cut_chain(r->step, n, line->cut, err);
	} else if (n > MAX_SUBSETS) {
		memset(line->cut, 0, (n + (size_t)1) * sizeof(*line->cut));
	}
	return 0;
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
	if (n_edges == (uint64_t)size * (size - 1) / 2 && size > 2) {
		line->clique = edge[0].weight;
		for (uint32_t i = 1; i < n_edges; i++)
			line->clique = fmin(line->clique, edge[i].weight);
	}
	if (!line->cut || find_degree(line, edge, n_edges, err) ||
	    rest_build(line, edge, n_edges, &r, err) || cut_rest(line, &r, err))
		goto out;
	line->least = INFINITY;
	for (uint32_t c = 1; c < size; c++) {
		line->cut[c] += line->clique * c * (size - c);
		line->least = fmin(line->least, line->cut[c]);
	}
	line->other = line->clique * (size - 1) + 2 * line->ring;
	if (line->path == 0)
		line->other = line->least;
	rc = 0;
out:
	free(r.memory);
	return rc;
}

void line_free(struct line *line)
{
	free(line->cut);
	line->cut = NULL;
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
