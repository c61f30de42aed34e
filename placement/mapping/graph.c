/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.c - traffic as an undirected graph */
#include "placement/mapping/graph.h"

#include "base/clock.h"
#include "base/compare.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for `room` entries in the rows of g. */
static int rows_resize(struct graph *g, size_t room, struct weft_error *err)
{
	uint32_t *peer = weft_realloc(g->peer, room, sizeof(*peer), err);
	double *weight;

	if (!peer)
		return -1;
	g->peer = peer;
	weight = weft_realloc(g->weight, room, sizeof(*weight), err);
	if (!weight)
		return -1;
	g->weight = weight;
	return 0;
}

int graph_start(struct graph *g, uint32_t n, size_t room,
		struct weft_error *err)
{
	memset(g, 0, sizeof(*g));
	g->n = n;
	g->row = weft_calloc((size_t)n + 1, sizeof(*g->row), err);
	return g->row ? rows_resize(g, room, err) : -1;
}

void graph_add(struct graph *g, uint32_t peer, double weight)
{
	g->peer[g->n_edges] = peer;
	g->weight[g->n_edges++] = weight;
}

static int count_rows(const struct weft_traffic *t, struct graph *g,
		      struct weft_error *err)
{
	for (uint32_t v = 0; v < t->n_ranks; v++) {
		if (weft_deadline_check_turn(v, err))
			return -1;
		g->row[v + 1] += t->row[v + 1] - t->row[v];
		for (uint32_t k = t->row[v]; k < t->row[v + 1]; k++)
			g->row[t->peer[k] + 1]++;
	}
	return 0;
}

static void put(struct graph *g, uint32_t *end, uint32_t a, uint32_t b,
		double weight)
{
	g->peer[end[a]] = b;
	g->weight[end[a]++] = weight;
}

/* Each directed entry goes to the rows of both its ends. */
static int scatter(const struct weft_traffic *t, struct graph *g, uint32_t *end,
		   struct weft_error *err)
{
	for (uint32_t v = 0; v < t->n_ranks; v++) {
		if (weft_deadline_check_turn(v, err))
			return -1;
		for (uint32_t k = t->row[v]; k < t->row[v + 1]; k++) {
			put(g, end, v, t->peer[k], t->bytes[k]);
			put(g, end, t->peer[k], v, t->bytes[k]);
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

static int collect(const struct weft_traffic *t, struct graph *g,
		   struct weft_error *err)
{
	uint32_t n = t->n_ranks, out = 0, total = 0;
	uint32_t *end = weft_calloc((size_t)n + 1, sizeof(*end), err);
	int rc = -1;

	g->n = n;
	g->row = weft_calloc((size_t)n + 1, sizeof(*g->row), err);
	if (!end || !g->row || count_rows(t, g, err))
		goto out;
	for (uint32_t v = 0; v < n; v++) {
		end[v] = total;
		total += g->row[v + 1];
	}
	if (rows_resize(g, total, err) || scatter(t, g, end, err))
		goto out;
	/* end[] becomes the table of merge_row; entries are checked there, so
	 * they need not be cleared */
	for (uint32_t v = 0, begin = 0; v < n; v++) {
		uint32_t size = g->row[v + 1];

		if (weft_deadline_check_turn(v, err))
			goto out;
		g->row[v] = out;
		out = merge_row(g, begin, begin + size, out, end);
		begin += size;
	}
	g->row[n] = g->n_edges = out;
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
	struct weft_traffic rows = {0};
	const struct weft_traffic *pairs = &rows;
	int rc = -1;

	memset(g, 0, sizeof(*g));
	/* traffic with switches has rows */
	if (!t->n_switches)
		pairs = weft_traffic_whole(t, &rows, err);
	else if (unswitch(t, &rows, err))
		pairs = NULL;
	if (pairs)
		rc = collect(pairs, g, err);
	weft_traffic_free(&rows);
	return rc;
}

/* A graph's vertices by their groups. */
static int members_list(const uint32_t *group, uint32_t n, uint32_t n_groups,
			struct graph_members *m, struct weft_error *err)
{
	m->memory = weft_calloc(2 * (size_t)n_groups + n + 2,
				sizeof(*m->memory), err);
	if (!m->memory)
		return -1;
	m->first = m->memory;
	m->vertex = m->first + n_groups + 2;
	m->seen = m->vertex + n;
	for (uint32_t v = 0; v < n; v++)
		m->first[group[v] + 2]++;
	for (uint32_t a = 0; a < n_groups; a++)
		m->first[a + 2] += m->first[a + 1];
	for (uint32_t v = 0; v < n; v++)
		m->vertex[m->first[group[v] + 1]++] = v;
	return 0;
}

/* Row a: the rows of its vertices, those of one group summed. */
static void row_contract(const struct graph_rows *rows, const uint32_t *group,
			 const struct graph_members *m, uint32_t a,
			 struct graph *out)
{
	uint32_t begin = out->n_edges, end = begin, *seen = m->seen;
	uint32_t *peer = out->peer;
	double *sum = out->weight, inside = 0;

	for (uint32_t i = m->first[a]; i < m->first[a + 1]; i++) {
		struct graph_row row;

		rows->of(rows->data, m->vertex[i], &row);
		for (uint32_t k = 0; k < row.n; k++) {
			uint32_t b = group[row.peer[k]];
			double weight = row.weight[k];

			if (a == b) {
				inside += weight;
			} else if (seen[b] > begin) {
				sum[seen[b] - 1] += weight;
			} else {
				peer[end] = b;
				sum[end] = weight;
				seen[b] = ++end;
			}
		}
	}
	out->inside += inside / 2;
	out->n_edges = end;
}

/* Whether each group is one vertex. */
static bool are_single(const struct graph_members *m, uint32_t n,
		       uint32_t n_groups)
{
	if (n != n_groups)
		return false;
	for (uint32_t a = 0; a < n; a++)
		if (m->first[a + 1] - m->first[a] != 1)
			return false;
	return true;
}

/* Row a where all groups are of one vertex: it has no loops or parallels. */
static void row_rename(const struct graph_rows *rows, const uint32_t *group,
		       const struct graph_members *m, uint32_t a,
		       struct graph *out)
{
	uint32_t *peer = out->peer + out->n_edges;
	struct graph_row row;

	rows->of(rows->data, m->vertex[m->first[a]], &row);
	for (uint32_t k = 0; k < row.n; k++)
		peer[k] = group[row.peer[k]];
	memcpy(out->weight + out->n_edges, row.weight,
	       row.n * sizeof(*row.weight));
	out->n_edges += row.n;
}

int graph_contract_rows(const struct graph_rows *rows, const uint32_t *group,
			uint32_t n_groups, struct graph *out,
			struct weft_error *err)
{
	struct graph_members m;
	bool single;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	/* as much as there can be, of which most is never touched */
	if (members_list(group, rows->n, n_groups, &m, err) ||
	    graph_start(out, n_groups, rows->n_edges, err))
		goto out;
	single = are_single(&m, rows->n, n_groups);
	for (uint32_t a = 0; a < n_groups; a++) {
		if (weft_deadline_check_turn(a, err))
			goto out;
		if (single)
			row_rename(rows, group, &m, a, out);
		else
			row_contract(rows, group, &m, a, out);
		out->row[a + 1] = out->n_edges;
	}
	rc = rows_resize(out, out->n_edges, err);
out:
	free(m.memory);
	return rc;
}

int graph_lazy_build(const struct graph_rows *rows, const uint32_t *group,
		     uint32_t n_groups, struct graph_lazy *lazy,
		     struct weft_error *err)
{
	lazy->rows = rows;
	lazy->group = group;
	lazy->row = weft_calloc(n_groups, sizeof(*lazy->row), err);
	/* as much as there can be, of which most is never touched */
	return lazy->row && members_list(group, rows->n, n_groups,
					 &lazy->members, err) == 0
		       ? graph_start(&lazy->made, n_groups, rows->n_edges, err)
		       : -1;
}

struct graph_row graph_lazy_row(struct graph_lazy *lazy, uint32_t v)
{
	struct graph *made = &lazy->made;
	struct graph_row *row = &lazy->row[v];
	uint32_t first = made->n_edges;

	if (!row->peer) {
		row_contract(lazy->rows, lazy->group, &lazy->members, v, made);
		*row = (struct graph_row){made->n_edges - first,
					  made->peer + first,
					  made->weight + first};
	}
	return *row;
}

void graph_lazy_free(struct graph_lazy *lazy)
{
	free(lazy->members.memory);
	free(lazy->row);
	graph_free(&lazy->made);
	memset(lazy, 0, sizeof(*lazy));
}

static void row_of(void *data, uint32_t v, struct graph_row *row)
{
	const struct graph *g = data;

	*row = (struct graph_row){g->row[v + 1] - g->row[v],
				  g->peer + g->row[v], g->weight + g->row[v]};
}

struct graph_rows graph_rows_of(struct graph *g)
{
	return (struct graph_rows){g->n, g->n_edges, row_of, g};
}

int graph_contract(const struct graph *g, const uint32_t *group,
		   uint32_t n_groups, struct graph *out, struct weft_error *err)
{
	struct graph whole = *g;
	const struct graph_rows rows = graph_rows_of(&whole);
	int rc = graph_contract_rows(&rows, group, n_groups, out, err);

	out->inside += g->inside;
	return rc;
}

int graph_halve(struct graph *g, struct weft_error *err)
{
	uint32_t end = 0;

	for (uint32_t v = 0, e = 0; v < g->n; v++) {
		if (weft_deadline_check_turn(v, err))
			return -1;
		for (; e < g->row[v + 1]; e++) {
			g->peer[end] = g->peer[e];
			g->weight[end] = g->weight[e];
			end += g->peer[e] > v;
		}
		g->row[v + 1] = end;
	}
	g->n_edges = end;
	return rows_resize(g, end, err);
}

int graph_rename_half(const struct graph *g, const uint32_t *name,
		      struct graph *out, struct weft_error *err)
{
	uint32_t *at = weft_calloc(g->n, sizeof(*at), err), end = 0;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	/* an entry that is not kept is written, too */
	if (!at || graph_start(out, g->n, (size_t)g->n_edges / 2 + 1, err))
		goto out;
	for (uint32_t v = 0; v < g->n; v++)
		at[name[v]] = v;
	for (uint32_t a = 0; a < g->n; a++) {
		uint32_t v = at[a];

		if (weft_deadline_check_turn(a, err))
			goto out;
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			uint32_t b = name[g->peer[e]];

			out->peer[end] = b;
			out->weight[end] = g->weight[e];
			end += b > a;
		}
		out->row[a + 1] = end;
	}
	out->n_edges = end;
	out->inside = g->inside;
	rc = 0;
out:
	free(at);
	return rc;
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
static bool weights_add(struct weights *w, double weight, uint32_t times)
{
	uint32_t at = 0;

	while (at < w->n && w->weight[at] > weight)
		at++;
	if (at < w->n && w->weight[at] == weight) {
		w->times[at] += times;
		return true;
	}
	if (w->n == FEW_WEIGHTS)
		return false;
	for (uint32_t i = w->n++; i > at; i--) {
		w->weight[i] = w->weight[i - 1];
		w->times[i] = w->times[i - 1];
	}
	w->weight[at] = weight;
	w->times[at] = times;
	return true;
}

static void sort_row(const double *from, uint32_t n, double *to)
{
	struct weights w = {.n = 0};

	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && from[end] == from[i];)
			end++;
		if (weights_add(&w, from[i], end - i))
			continue;
		memcpy(to, from, n * sizeof(*to));
		qsort(to, n, sizeof(*to), weft_compare_reals_down);
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

double graph_beyond(const double *weight, uint32_t n, double alike,
		    uint32_t n_alike, uint32_t most, double *scratch)
{
	uint32_t heavier = 0, kept;
	double sum = 0;

	if (n + n_alike <= most)
		return 0;
	sort_row(weight, n, scratch);
	while (heavier < n && scratch[heavier] >= alike)
		heavier++;
	for (uint32_t i = most; i < heavier; i++)
		sum += scratch[i];
	kept = most > heavier ? most - heavier : 0;
	if (kept < n_alike)
		sum += alike * (n_alike - kept);
	kept = kept > n_alike ? kept - n_alike : 0;
	for (uint32_t i = heavier + kept; i < n; i++)
		sum += scratch[i];
	return sum;
}
