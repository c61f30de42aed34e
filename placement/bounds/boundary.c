/* SPDX-License-Identifier: GPL-3.0-or-later */
/* boundary.c - the least that a set of so many vertices sends to the others
 *
 * The vertices are swept in an order that keeps few of them open: taken up,
 * with neighbours that are not.  For each choice of sides for the open ones and
 * each number of vertices in the set so far, the least weight between the sides
 * is kept; taking a vertex up doubles the table, closing one halves it.
 */
#include "placement/bounds/boundary.h"

#include "base/compare.h"
#include "topology/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Open vertices: two tables of 2^17 rows of n + 1 numbers, 136 MB for 64. */
#define MAX_OPEN  16
#define MAX_CELLS (UINT64_C(1) << 24)

struct sweep {
	const struct graph *g;
	const struct effort *effort;
	uint32_t *order, *left; /* [n] left: neighbours not taken up */
	bool *taken;		/* [n] */
	uint32_t open[MAX_OPEN + 1], n_open;
	double *now, *next; /* [2^n_open][n + 1] */
};

/* What a vertex would leave open, besides those that are. */
static int grows(const struct sweep *w, uint32_t v)
{
	const struct graph *g = w->g;
	int n = w->left[v] > 0;

	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		if (w->taken[g->peer[e]] && w->left[g->peer[e]] == 1)
			n--;
	return n;
}

static void take_up(struct sweep *w, uint32_t v)
{
	const struct graph *g = w->g;

	w->taken[v] = true;
	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		w->left[g->peer[e]]--;
}

static uint32_t open_neighbours(const struct sweep *w, uint32_t v)
{
	const struct graph *g = w->g;
	uint32_t n = 0;

	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		n += w->taken[g->peer[e]];
	return n;
}

/* Always the vertex that opens least, of these the one with most neighbours
 * open.  Returns the most that were open at a time. */
static uint32_t set_order(struct sweep *w, uint32_t start)
{
	const struct graph *g = w->g;
	int open = 0, most = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		w->taken[v] = false;
		w->left[v] = g->row[v + 1] - g->row[v];
	}
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t best = i ? WEFT_NONE : start;
		int least = 0;

		for (uint32_t v = 0; v < g->n && i; v++) {
			int n = w->taken[v] ? 0 : grows(w, v);

			if (w->taken[v] ||
			    (best != WEFT_NONE &&
			     (n > least || (n == least &&
					    open_neighbours(w, v) <=
						    open_neighbours(w, best)))))
				continue;
			best = v;
			least = n;
		}
		if (open + 1 > most)
			most = open + 1;
		open += grows(w, best);
		take_up(w, best);
		w->order[i] = best;
	}
	return (uint32_t)most;
}

/* Both sides for the vertex that comes next. */
static void branch(struct sweep *w, uint32_t v, uint32_t n_before)
{
	const struct graph *g = w->g;
	size_t row = (size_t)g->n + 1;
	double weight[MAX_OPEN + 1] = {0};
	double all = 0;

	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		for (uint32_t k = 0; k < w->n_open; k++)
			if (w->open[k] == g->peer[e])
				all += weight[k] = g->weight[e];
	for (uint32_t m = 0; m < 1u << w->n_open; m++) {
		const double *from = w->now + m * row;
		double *out = w->next + m * row;
		double *in = w->next + (m | 1u << w->n_open) * row;
		double inside = 0;

		for (uint32_t k = 0; k < w->n_open; k++)
			inside += m >> k & 1 ? weight[k] : 0;
		in[0] = out[n_before + 1] = INFINITY;
		for (uint32_t s = 0; s <= n_before; s++) {
			out[s] = from[s] + inside;
			in[s + 1] = from[s] + all - inside;
		}
	}
	w->open[w->n_open++] = v;
}

static void close_one(struct sweep *w, uint32_t k, uint32_t n_done)
{
	size_t row = (size_t)w->g->n + 1;
	uint32_t low = (1u << k) - 1;

	for (uint32_t m = 0; m < 1u << (w->n_open - 1); m++) {
		uint32_t wide = (m & low) | (m & ~low) << 1;
		const double *a = w->now + wide * row;
		const double *b = w->now + (wide | 1u << k) * row;
		double *to = w->next + m * row;

		for (uint32_t s = 0; s <= n_done; s++)
			to[s] = fmin(a[s], b[s]);
	}
	memmove(w->open + k, w->open + k + 1,
		(w->n_open - k - 1) * sizeof(*w->open));
	w->n_open--;
}

static void turn(struct sweep *w)
{
	double *table = w->now;

	w->now = w->next;
	w->next = table;
}

static bool is_late(const struct sweep *w)
{
	struct effort e;

	if (!w->effort)
		return false;
	e = *w->effort;
	e.work = 1;
	return effort_spent(&e);
}

/* False when time is up. */
static bool sweep(struct sweep *w)
{
	const struct graph *g = w->g;

	for (uint32_t v = 0; v < g->n; v++)
		w->left[v] = g->row[v + 1] - g->row[v];
	w->now[0] = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		if (is_late(w))
			return false;
		branch(w, w->order[i], i);
		turn(w);
		take_up(w, w->order[i]);
		for (uint32_t k = w->n_open; k-- > 0;) {
			if (w->left[w->open[k]])
				continue;
			close_one(w, k, i + 1);
			turn(w);
		}
	}
	return true;
}

/* The order of the best of a few starts; the most open at a time. */
static uint32_t find_order(struct sweep *w)
{
	uint32_t n = w->g->n, best = 0, least = UINT32_MAX;

	for (uint32_t k = 0; k < n && k < 8; k++) {
		uint32_t start = k * n / (n < 8 ? n : 8);
		uint32_t open = set_order(w, start);

		if (open >= least)
			continue;
		least = open;
		best = start;
	}
	return set_order(w, best);
}

/* Each of s vertices has at most s - 1 peers in the set, its heaviest at best.
 */
static int bound_by_degrees(const struct graph *g, double *least,
			    struct weft_error *err)
{
	double *heavy = weft_calloc(g->n_edges, sizeof(*heavy), err);
	double *out = weft_calloc(g->n, sizeof(*out), err);
	int rc = heavy && out ? 0 : -1;

	if (rc == 0)
		graph_heaviest(g, heavy);
	for (uint32_t s = 1; rc == 0 && s < g->n; s++) {
		for (uint32_t v = 0; v < g->n; v++) {
			out[v] = 0;
			for (uint32_t e = g->row[v] + s - 1; e < g->row[v + 1];
			     e++)
				out[v] += heavy[e];
		}
		qsort(out, g->n, sizeof(*out), weft_compare_reals_down);
		for (uint32_t k = 0; k < s; k++)
			least[s] += out[g->n - 1 - k];
	}
	free(heavy);
	free(out);
	return rc;
}

static int sweep_all(struct sweep *w, double *least, bool *exact,
		     struct weft_error *err)
{
	size_t n = w->g->n, cells;
	uint32_t open = find_order(w);

	cells = ((size_t)1 << (open < 32 ? open : 32)) * (n + 1);
	if (open > MAX_OPEN + 1 || cells > MAX_CELLS)
		return 0;
	w->now = weft_calloc(cells, sizeof(*w->now), err);
	w->next = weft_calloc(cells, sizeof(*w->next), err);
	if (!w->now || !w->next)
		return -1;
	for (uint32_t v = 0; v < n; v++)
		w->taken[v] = false;
	*exact = sweep(w);
	if (*exact)
		memcpy(least, w->now, (n + 1) * sizeof(*least));
	return 0;
}

int boundary_least(const struct graph *g, const struct effort *effort,
		   double *least, bool *exact, struct weft_error *err)
{
	struct sweep w = {.g = g, .effort = effort};
	int rc = -1;

	*exact = false;
	memset(least, 0, ((size_t)g->n + 1) * sizeof(*least));
	w.order = weft_calloc(2 * (size_t)g->n, sizeof(*w.order), err);
	w.taken = weft_calloc(g->n, sizeof(*w.taken), err);
	if (!w.order || !w.taken)
		goto out;
	w.left = w.order + g->n;
	if (sweep_all(&w, least, exact, err) ||
	    (!*exact && bound_by_degrees(g, least, err)))
		goto out;
	/* leaving a set is leaving what is not in it */
	for (uint32_t s = 0; s <= g->n / 2; s++)
		least[s] = least[g->n - s] = fmax(least[s], least[g->n - s]);
	rc = 0;
out:
	free(w.order);
	free(w.taken);
	free(w.now);
	free(w.next);
	return rc;
}

/* Minimum cut phases of Stoer and Wagner (J. ACM 44(4), 1997). */
static double cut_phase(uint32_t n, double *w, bool *gone, double *tie,
			uint32_t n_left)
{
	uint32_t last = 0, before = 0;
	double cut = 0;
	bool *in = gone + n;

	memset(in, 0, n * sizeof(*in));
	memset(tie, 0, n * sizeof(*tie));
	for (uint32_t i = 0; i < n_left; i++) {
		uint32_t k = WEFT_NONE;

		for (uint32_t v = 0; v < n; v++)
			if (!gone[v] && !in[v] &&
			    (k == WEFT_NONE || tie[v] > tie[k]))
				k = v;
		in[k] = true;
		before = last;
		last = k;
		cut = tie[k];
		for (uint32_t v = 0; v < n; v++)
			tie[v] += w[(size_t)k * n + v];
	}
	for (uint32_t v = 0; v < n; v++) {
		w[(size_t)before * n + v] += w[(size_t)last * n + v];
		w[(size_t)v * n + before] = w[(size_t)before * n + v];
	}
	w[(size_t)before * n + before] = 0;
	gone[last] = true;
	return cut;
}

int boundary_cut(const struct graph *g, const uint32_t *vertex, uint32_t n,
		 double *cut, struct weft_error *err)
{
	double *w = weft_calloc((size_t)n * n + n, sizeof(*w), err);
	bool *gone = weft_calloc(2 * (size_t)n, sizeof(*gone), err);
	uint32_t *place = weft_calloc(g->n, sizeof(*place), err);
	int rc = w && gone && place ? 0 : -1;

	*cut = INFINITY;
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		place[vertex[i]] = i + 1;
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		for (uint32_t e = g->row[vertex[i]]; e < g->row[vertex[i] + 1];
		     e++)
			if (place[g->peer[e]])
				w[(size_t)i * n + place[g->peer[e]] - 1] =
					g->weight[e];
	for (uint32_t left = n; rc == 0 && left > 1; left--)
		*cut = fmin(*cut,
			    cut_phase(n, w, gone, w + (size_t)n * n, left));
	free(w);
	free(gone);
	free(place);
	return rc;
}
