/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c - traffic as an undirected graph */
#include "placement/graph.h"

#include <stdlib.h>
#include <string.h>

/* Directed entries in, both directions counted per vertex, then scattered: two
 * passes over the same edge source, which is either traffic or a graph. */
struct edges {
	const uint32_t *row, *peer;
	const double *weight;
	const uint32_t *group; /* NULL: every vertex is its own group */
	bool both_ways;	       /* each edge already occurs in both rows */
};

static uint32_t group_of(const struct edges *e, uint32_t v)
{
	return e->group ? e->group[v] : v;
}

static void count_rows(const struct edges *e, uint32_t n, struct graph *g)
{
	for (uint32_t v = 0; v < n; v++) {
		uint32_t a = group_of(e, v);

		for (uint32_t k = e->row[v]; k < e->row[v + 1]; k++) {
			uint32_t b = group_of(e, e->peer[k]);

			if (a == b)
				continue;
			g->row[a + 1]++;
			if (!e->both_ways)
				g->row[b + 1]++;
		}
	}
}

static void put(struct graph *g, uint32_t *end, uint32_t a, uint32_t b,
		double weight)
{
	g->peer[end[a]] = b;
	g->weight[end[a]++] = weight;
}

static void scatter(const struct edges *e, uint32_t n, struct graph *g,
		    uint32_t *end)
{
	for (uint32_t v = 0; v < n; v++) {
		uint32_t a = group_of(e, v);

		for (uint32_t k = e->row[v]; k < e->row[v + 1]; k++) {
			uint32_t b = group_of(e, e->peer[k]);

			if (a == b) {
				g->inside += e->both_ways ? e->weight[k] / 2
							  : e->weight[k];
				continue;
			}
			put(g, end, a, b, e->weight[k]);
			if (!e->both_ways)
				put(g, end, b, a, e->weight[k]);
		}
	}
}

/* Sums entries of the row begin..end-1 that name the same peer, through a table
 * of where each peer was first seen; returns the new end. */
static uint32_t merge_row(struct graph *g, uint32_t begin, uint32_t end,
			  uint32_t out, uint32_t *seen)
{
	uint32_t first = out;

	for (uint32_t k = begin; k < end; k++) {
		uint32_t peer = g->peer[k], at = seen[peer];

		if (at >= first && at < out && g->peer[at] == peer) {
			g->weight[at] += g->weight[k];
			continue;
		}
		seen[peer] = out;
		g->peer[out] = peer;
		g->weight[out++] = g->weight[k];
	}
	return out;
}

static int collect(const struct edges *e, uint32_t n, uint32_t n_groups,
		   struct graph *g, struct weft_error *err)
{
	uint32_t *end = weft_calloc((size_t)n_groups + 1, sizeof(*end), err);
	uint32_t out = 0, total = 0;
	int rc = -1;

	memset(g, 0, sizeof(*g));
	g->n = n_groups;
	g->row = weft_calloc((size_t)n_groups + 1, sizeof(*g->row), err);
	if (!end || !g->row)
		goto out;
	count_rows(e, n, g);
	for (uint32_t v = 0; v < n_groups; v++) {
		end[v] = total;
		total += g->row[v + 1];
	}
	g->peer = weft_calloc(total, sizeof(*g->peer), err);
	g->weight = weft_calloc(total, sizeof(*g->weight), err);
	if (!g->peer || !g->weight)
		goto out;
	scatter(e, n, g, end);
	/* end[] becomes the table of merge_row; entries are checked there, so
	 * they need not be cleared */
	for (uint32_t v = 0, begin = 0; v < n_groups; v++) {
		uint32_t size = g->row[v + 1];

		g->row[v] = out;
		out = merge_row(g, begin, begin + size, out, end);
		begin += size;
	}
	g->row[n_groups] = g->n_edges = out;
	rc = 0;
out:
	free(end);
	return rc;
}

int graph_build(const struct weft_traffic *t, struct graph *g,
		struct weft_error *err)
{
	const struct edges e = {t->row, t->peer, t->bytes, NULL, false};

	return collect(&e, t->n_ranks, t->n_ranks, g, err);
}

int graph_contract(const struct graph *g, const uint32_t *group,
		   uint32_t n_groups, struct graph *out, struct weft_error *err)
{
	const struct edges e = {g->row, g->peer, g->weight, group, true};

	if (collect(&e, g->n, n_groups, out, err))
		return -1;
	out->inside += g->inside;
	return 0;
}

void graph_free(struct graph *g)
{
	free(g->row);
	free(g->peer);
	free(g->weight);
	memset(g, 0, sizeof(*g));
}
