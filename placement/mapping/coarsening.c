/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coarsening.c - ranks that belong together, as groups of one size */
#include "placement/mapping/mapping_parts.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* Groups are taken for granted if most of them are held together by this many
 * times more than they share with any other. */
#define CLEARLY 1.5
#define MOST	0.9

struct edge {
	double weight;
	uint32_t a, b;
};

WEFT_COMPARATOR(by_weight, struct edge,
		WEFT_DOWN(weight) WEFT_UP(a) WEFT_UP(b));

static struct edge *list_edges(const struct graph *g, uint32_t *n,
			       struct weft_error *err)
{
	struct edge *edges =
		weft_calloc(g->n_edges / 2 + 1, sizeof(*edges), err);

	*n = 0;
	for (uint32_t v = 0; edges && v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				edges[(*n)++] = (struct edge){g->weight[e], v,
							      g->peer[e]};
	if (edges)
		qsort(edges, *n, sizeof(*edges), by_weight);
	return edges;
}

/* Heaviest edges first; who is left over pairs up with whoever else is. */
static int pair(const struct graph *g, uint32_t *mate, double *inside,
		struct weft_error *err)
{
	uint32_t n, left = NONE;
	struct edge *edges = list_edges(g, &n, err);

	if (!edges)
		return -1;
	memset(mate, 0xff, g->n * sizeof(*mate));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = edges[i].a, b = edges[i].b;

		if (mate[a] != NONE || mate[b] != NONE)
			continue;
		mate[a] = b;
		mate[b] = a;
		inside[a] = inside[b] = edges[i].weight;
	}
	for (uint32_t v = 0; v < g->n; v++) {
		if (mate[v] != NONE)
			continue;
		if (left == NONE) {
			left = v;
			continue;
		}
		mate[v] = left;
		mate[left] = v;
		left = NONE;
	}
	free(edges);
	return 0;
}

/* Share of the groups whose halves belong to each other clearly more than to
 * any other group. */
static double share_dominant(const struct graph *fine, const uint32_t *name,
			     const double *inside, const struct graph *coarse)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < fine->n; v++) {
		uint32_t own = name[v];
		double most = 0;

		for (uint32_t e = coarse->row[own]; e < coarse->row[own + 1];
		     e++)
			most = coarse->weight[e] > most ? coarse->weight[e]
							: most;
		n += inside[v] > 0 && inside[v] >= CLEARLY * most;
	}
	return (double)n / fine->n;
}

static int next_level(const struct graph *g, const struct graph *fine,
		      const struct coarsening *from, struct coarsening *to,
		      struct graph *coarse, struct weft_error *err)
{
	uint32_t *mate = weft_calloc(fine->n, sizeof(*mate), err);
	uint32_t *name = weft_calloc(fine->n, sizeof(*name), err);
	double *inside = weft_calloc(fine->n, sizeof(*inside), err);
	int rc = -1;

	to->of = weft_calloc(g->n, sizeof(*to->of), err);
	if (!mate || !name || !inside || !to->of ||
	    pair(fine, mate, inside, err))
		goto out;
	to->size = 2 * from->size;
	to->n_groups = 0;
	for (uint32_t v = 0; v < fine->n; v++)
		name[v] = mate[v] < v ? name[mate[v]] : to->n_groups++;
	for (uint32_t v = 0; v < g->n; v++)
		to->of[v] = name[from->of[v]];
	rc = graph_contract(fine, name, to->n_groups, coarse, err);
	if (rc == 0)
		to->dominant =
			share_dominant(fine, name, inside, coarse) >= MOST;
out:
	free(mate);
	free(name);
	free(inside);
	return rc;
}

int coarsening_build(const struct graph *g, uint32_t divisor,
		     struct coarsening *levels, struct weft_error *err)
{
	struct graph fine = *g, coarse = {0};
	int n = 1;

	memset(levels, 0, COLLAPSE_MAX * sizeof(*levels));
	levels[0] = (struct coarsening){.size = 1, .n_groups = g->n};
	levels[0].of = weft_calloc(g->n, sizeof(*levels[0].of), err);
	if (!levels[0].of)
		return -1;
	for (uint32_t v = 0; v < g->n; v++)
		levels[0].of[v] = v;
	for (; n < COLLAPSE_MAX; n++) {
		uint32_t size = 2 * levels[n - 1].size;

		if (divisor % size || g->n % size)
			break;
		if (next_level(g, &fine, levels + n - 1, levels + n, &coarse,
			       err)) {
			coarsening_free(levels, n + 1);
			n = -1;
			break;
		}
		if (n > 1)
			graph_free(&fine);
		fine = coarse;
	}
	if (fine.row != g->row)
		graph_free(&fine);
	return n;
}

void coarsening_free(struct coarsening *levels, int n)
{
	for (int i = 0; i < n; i++)
		free(levels[i].of);
}

/* Vertices joined so far: the first one of each is at[root] == root. */
struct joined {
	uint32_t *at, *size; /* [g->n] */
	uint32_t n, largest;
};

static uint32_t find_root(struct joined *j, uint32_t v)
{
	while (j->at[v] != v) {
		j->at[v] = j->at[j->at[v]];
		v = j->at[v];
	}
	return v;
}

static void join(struct joined *j, uint32_t a, uint32_t b)
{
	uint32_t low, high;

	a = find_root(j, a);
	b = find_root(j, b);
	if (a == b)
		return;
	low = a < b ? a : b;
	high = a < b ? b : a;
	j->at[high] = low;
	j->size[low] += j->size[high];
	if (j->size[low] > j->largest)
		j->largest = j->size[low];
	j->n--;
}

static bool has_room(const uint32_t *first, uint32_t n_bins, uint32_t size,
		     uint32_t n_groups)
{
	uint64_t room = 0;

	for (uint32_t b = 0; b < n_bins; b++)
		room += (first[b + 1] - first[b]) / size;
	return room >= n_groups;
}

/* Numbers the groups in the order of their first vertices. */
static void name_groups(struct joined *j, uint32_t n, struct coarsening *groups)
{
	groups->size = j->largest;
	groups->n_groups = 0;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t root = find_root(j, v);

		groups->of[v] =
			root == v ? groups->n_groups++ : groups->of[root];
	}
}

int coarsening_whole(const struct graph *g, const uint32_t *first,
		     uint32_t n_bins, struct coarsening *groups,
		     struct weft_error *err)
{
	uint32_t n, most = 0;
	struct edge *edges = list_edges(g, &n, err);
	struct joined j = {.n = g->n, .largest = 1};
	int rc = -1;

	*groups = (struct coarsening){.size = 1, .n_groups = g->n};
	groups->of = weft_calloc(g->n, sizeof(*groups->of), err);
	j.at = weft_calloc(g->n, sizeof(*j.at), err);
	j.size = weft_calloc(g->n, sizeof(*j.size), err);
	if (!edges || !groups->of || !j.at || !j.size)
		goto out;
	for (uint32_t b = 0; b < n_bins; b++)
		if (first[b + 1] - first[b] > most)
			most = first[b + 1] - first[b];
	for (uint32_t v = 0; v < g->n; v++) {
		j.at[v] = groups->of[v] = v;
		j.size[v] = 1;
	}
	for (uint32_t i = 0; i < n && j.largest <= most; i++) {
		join(&j, edges[i].a, edges[i].b);
		if ((i + 1 == n || edges[i + 1].weight < edges[i].weight) &&
		    j.largest > groups->size && j.largest <= most &&
		    (uint64_t)j.largest * j.n == g->n &&
		    has_room(first, n_bins, j.largest, j.n))
			name_groups(&j, g->n, groups);
	}
	rc = 0;
out:
	free(edges);
	free(j.at);
	free(j.size);
	return rc;
}
