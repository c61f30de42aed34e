/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lattice_runs.c - which weights of edges may make an axis of a lattice */
#include "placement/bounds/lattice_runs.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TRIES 20000 /* sets of runs looked at */

/* The lowest weight of each class, of weights within `ratio` of the next. */
static uint32_t class_floors(const double *weight, uint32_t n, double ratio,
			     double floor[LATTICE_MAX_CLASSES])
{
	uint32_t classes = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n && weight[i + 1] >= weight[i] * ratio)
			continue;
		if (classes == LATTICE_MAX_CLASSES)
			return UINT32_MAX;
		floor[classes++] = weight[i];
	}
	return classes;
}

static uint32_t class_of(const struct lattice_runs *r, const double *floor,
			 double weight)
{
	uint32_t c = 0;

	while (c + 1 < r->n_classes && weight < floor[c])
		c++;
	return c;
}

/* Classes as fine as their number allows. */
static int classify(const struct graph *g, struct lattice_runs *r,
		    struct weft_error *err)
{
	static const double ratios[] = {1 - 1e-9, 0.999, 0.99, 0.97, 0.95,
					0.9,	  0.8,	 0.7,  0.5,  0};
	double *weight = weft_calloc(g->n_edges, sizeof(*weight), err);
	double floor[LATTICE_MAX_CLASSES];
	uint32_t at[LATTICE_MAX_CLASSES] = {0};

	if (!weight)
		return -1;
	memcpy(weight, g->weight, g->n_edges * sizeof(*weight));
	qsort(weight, g->n_edges, sizeof(*weight), weft_compare_reals_down);
	r->n_classes = UINT32_MAX;
	for (uint32_t i = 0; r->n_classes == UINT32_MAX; i++)
		r->n_classes =
			class_floors(weight, g->n_edges, ratios[i], floor);
	free(weight);
	for (uint32_t e = 0; e < g->n_edges; e++)
		r->first_edge[class_of(r, floor, g->weight[e]) + 1]++;
	for (uint32_t c = 0; c < r->n_classes; c++) {
		r->first_edge[c + 1] /= 2; /* edges are in two rows */
		r->first_edge[c + 1] += r->first_edge[c];
		at[c] = r->first_edge[c];
	}
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			uint32_t c;

			if (g->peer[e] < v)
				continue;
			c = class_of(r, floor, g->weight[e]);
			r->from[at[c]] = v;
			r->to[at[c]++] = g->peer[e];
		}
	}
	return 0;
}

void lattice_runs_start(struct lattice_runs *r)
{
	for (uint32_t v = 0; v < r->n; v++) {
		r->parent[v] = v;
		r->size[v] = 1;
	}
}

static uint32_t root_of(const struct lattice_runs *r, uint32_t v)
{
	while (r->parent[v] != v) {
		r->parent[v] = r->parent[r->parent[v]];
		v = r->parent[v];
	}
	return v;
}

static void join_class(struct lattice_runs *r, uint32_t class)
{
	for (uint32_t e = r->first_edge[class]; e < r->first_edge[class + 1];
	     e++) {
		uint32_t a = root_of(r, r->from[e]), b = root_of(r, r->to[e]);

		if (a == b)
			continue;
		if (r->size[a] < r->size[b]) {
			uint32_t c = a;

			a = b;
			b = c;
		}
		r->parent[b] = a;
		r->size[a] += r->size[b];
	}
}

void lattice_runs_join(struct lattice_runs *r, uint32_t run)
{
	for (uint32_t c = r->run[run].first; c <= r->run[run].last; c++)
		join_class(r, c);
}

/* The common size of all pieces; 0: they differ. */
static uint32_t common_size(const struct lattice_runs *r)
{
	uint32_t size = r->size[root_of(r, 0)];

	for (uint32_t v = 1; v < r->n; v++)
		if (r->size[root_of(r, v)] != size)
			return 0;
	return size;
}

uint32_t lattice_runs_label(struct lattice_runs *r, uint32_t *label)
{
	uint32_t size = common_size(r), n = 0;

	for (uint32_t v = 0; v < r->n && size; v++) {
		if (r->parent[v] == v)
			label[v] = n++;
	}
	for (uint32_t v = 0; v < r->n && size; v++)
		label[v] = label[root_of(r, v)];
	return size;
}

static void find_runs(struct lattice_runs *r)
{
	for (uint32_t first = 0; first < r->n_classes; first++) {
		uint32_t size = 0;

		lattice_runs_start(r);
		for (uint32_t last = first; last < r->n_classes && size < r->n;
		     last++) {
			join_class(r, last);
			size = common_size(r);
			if (size > 1)
				r->run[r->n_runs++] =
					(struct lattice_run){first, last, size};
		}
	}
}

struct search {
	struct lattice_runs *r;
	struct lattice_set set;
	uint32_t n_axes; /* wanted */
	uint32_t tries;
};

/* Adds to the sets all those of the runs from `class` on that make up the
 * rest. */
static void find_sets(struct search *s, uint32_t class, uint32_t rest)
{
	struct lattice_runs *r = s->r;

	if (s->tries++ >= MAX_TRIES || r->n_sets == LATTICE_MAX_SETS)
		return;
	if (s->set.n == s->n_axes) {
		if (rest == 1)
			r->set[r->n_sets++] = s->set;
		return;
	}
	for (uint32_t i = 0; i < r->n_runs; i++) {
		if (r->run[i].first < class || rest % r->run[i].size)
			continue;
		s->set.run[s->set.n++] = i;
		find_sets(s, r->run[i].last + 1, rest / r->run[i].size);
		s->set.n--;
	}
}

int lattice_runs_build(const struct graph *g, struct lattice_runs *r,
		       struct weft_error *err)
{
	uint32_t edges = g->n_edges / 2;
	struct search s = {.r = r};
	uint32_t *p;

	memset(r, 0, sizeof(*r));
	r->n = g->n;
	r->n_edges = edges;
	p = weft_calloc((size_t)edges * 2 + (size_t)g->n * 3, sizeof(*p), err);
	r->memory = p;
	if (!p)
		return -1;
	r->from = p;
	r->to = p + edges;
	r->parent = r->to + edges;
	r->size = r->parent + g->n;
	r->seen = (uint8_t *)(r->size + g->n);
	if (!edges)
		return 0;
	if (classify(g, r, err))
		return -1;
	find_runs(r);
	for (s.n_axes = LATTICE_MAX_AXES; s.n_axes > 0; s.n_axes--)
		find_sets(&s, 0, g->n);
	return 0;
}

void lattice_runs_free(struct lattice_runs *r)
{
	free(r->memory);
	memset(r, 0, sizeof(*r));
}
