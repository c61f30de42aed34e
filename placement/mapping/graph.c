/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c - traffic as an undirected graph */
#include "placement/mapping/graph.h"

#include "base/clock.h"

#include <stdbool.h>
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

static int count_rows(const struct edges *e, uint32_t n, struct graph *g,
		      struct weft_error *err)
{
	for (uint32_t v = 0; v < n; v++) {
		uint32_t a = group_of(e, v);

		if (weft_deadline_check_turn(v, err))
			return -1;
		for (uint32_t k = e->row[v]; k < e->row[v + 1]; k++) {
			uint32_t b = group_of(e, e->peer[k]);

			if (a == b)
				continue;
			g->row[a + 1]++;
			if (!e->both_ways)
				g->row[b + 1]++;
		}
	}
	return 0;
}

static void put(struct graph *g, uint32_t *end, uint32_t a, uint32_t b,
		double weight)
{
	g->peer[end[a]] = b;
	g->weight[end[a]++] = weight;
}

static int scatter(const struct edges *e, uint32_t n, struct graph *g,
		   uint32_t *end, struct weft_error *err)
{
	for (uint32_t v = 0; v < n; v++) {
		uint32_t a = group_of(e, v);

		if (weft_deadline_check_turn(v, err))
			return -1;
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
	return 0;
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
	if (!end || !g->row || count_rows(e, n, g, err))
		goto out;
	for (uint32_t v = 0; v < n_groups; v++) {
		end[v] = total;
		total += g->row[v + 1];
	}
	g->peer = weft_calloc(total, sizeof(*g->peer), err);
	g->weight = weft_calloc(total, sizeof(*g->weight), err);
	if (!g->peer || !g->weight || scatter(e, n, g, end, err))
		goto out;
	/* end[] becomes the table of merge_row; entries are checked there, so
	 * they need not be cleared */
	for (uint32_t v = 0, begin = 0; v < n_groups; v++) {
		uint32_t size = g->row[v + 1];

		if (weft_deadline_check_turn(v, err))
			goto out;
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

/* The traffic with each switch replaced by a ring of its members.  A ring's
 * bytes go to a neighbour instead of as far as the members lie apart, so what
 * holds of it as a lower bound holds of the switch. */
static int unswitch(const struct weft_traffic *t, struct weft_traffic *rings,
		    struct weft_error *err)
{
	uint32_t n = t->n_edges, at = 0;
	struct weft_flow *flows;
	int rc;

	for (uint32_t k = 0; k < t->n_switches; k++)
		n += t->switches[k].n_members;
	flows = weft_calloc(n, sizeof(*flows), err);
	if (!flows)
		return -1;
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++)
			flows[at++] = (struct weft_flow){
				r, t->peer[k], (enum weft_axis)t->axis[k],
				t->bytes[k]};
	}
	for (uint32_t k = 0; k < t->n_switches; k++) {
		const struct weft_switch *s = &t->switches[k];
		const uint32_t *member = t->member + s->first_member;

		for (uint32_t i = 0; i < s->n_members; i++)
			flows[at++] = (struct weft_flow){
				member[i], member[(i + 1) % s->n_members],
				s->axis, s->bytes};
	}
	rc = weft_traffic_from_flows(t->n_ranks, flows, n, rings, err);
	free(flows);
	return rc;
}

int graph_build(const struct weft_traffic *t, struct graph *g,
		struct weft_error *err)
{
	struct weft_traffic rings = {0};
	int rc = -1;

	memset(g, 0, sizeof(*g));
	if (!t->n_switches || unswitch(t, &rings, err) == 0) {
		const struct weft_traffic *u = t->n_switches ? &rings : t;
		const struct edges e = {u->row, u->peer, u->bytes, NULL, false};

		rc = collect(&e, u->n_ranks, u->n_ranks, g, err);
	}
	weft_traffic_free(&rings);
	return rc;
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

/* Most rows have a few weights, many times each. */
#define FEW_WEIGHTS 12

/* A row's different weights, heaviest first, and how often each is there. */
struct weights {
	uint32_t n, times[FEW_WEIGHTS];
	double weight[FEW_WEIGHTS];
};

/* False: there are too many. */
static bool weights_add(struct weights *w, double weight)
{
	uint32_t at = 0;

	while (at < w->n && w->weight[at] > weight)
		at++;
	if (at < w->n && w->weight[at] == weight) {
		w->times[at]++;
		return true;
	}
	if (w->n == FEW_WEIGHTS)
		return false;
	for (uint32_t i = w->n++; i > at; i--) {
		w->weight[i] = w->weight[i - 1];
		w->times[i] = w->times[i - 1];
	}
	w->weight[at] = weight;
	w->times[at] = 1;
	return true;
}

static int compare_down(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a < b) - (a > b);
}

static void sort_row(const double *from, uint32_t n, double *to)
{
	struct weights w = {.n = 0};

	for (uint32_t i = 0; i < n; i++) {
		if (weights_add(&w, from[i]))
			continue;
		memcpy(to, from, n * sizeof(*to));
		qsort(to, n, sizeof(*to), compare_down);
		return;
	}
	for (uint32_t i = 0; i < w.n; i++)
		for (uint32_t k = 0; k < w.times[i]; k++)
			*to++ = w.weight[i];
}

void graph_heaviest(const struct graph *g, double *weight)
{
	for (uint32_t v = 0; v < g->n; v++)
		sort_row(g->weight + g->row[v], g->row[v + 1] - g->row[v],
			 weight + g->row[v]);
}
