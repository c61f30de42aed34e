/* SPDX-License-Identifier: GPL-3.0-or-later */
/* excess.c - what sets of ranks send out beyond a price per rank
 *
 * Connected sets are enough: what leaves a set in several parts, and its price,
 * are sums over the parts, and one of them does not consist of whole blocks.
 * Each connected set is met once, from its lowest vertex (Wernicke, IEEE/ACM
 * TCBB 3(4), 2006), unless nothing that grows out of it can be low enough.
 */
#include "placement/exact/excess.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_PERIOD 4096

struct growth {
	const struct excess *x;
	struct effort *e;
	uint32_t *peer; /* [n_edges] of each row, heaviest first */
	double *weight; /* [n_edges] */
	double *out;	/* [n] bytes of a vertex to those outside the set */
	uint32_t *seen; /* [n] how often it is in or next to the set */
	bool *in;	/* [n] */
	uint32_t *set;	/* [most] */
	uint32_t n;	/* in the set */
	uint32_t *next; /* [most + 1][n] candidates at each depth */
	double least, leaving;
	uint64_t n_steps;
	bool stopped;
};

struct arc {
	uint32_t peer;
	double weight;
};

WEFT_COMPARATOR(compare_arcs, struct arc, WEFT_DOWN(weight) WEFT_UP(peer));

static int sort_rows(struct growth *w, struct weft_error *err)
{
	const struct graph *g = w->x->g;
	struct arc *arc = weft_calloc(g->n_edges, sizeof(*arc), err);

	if (!arc)
		return -1;
	for (uint32_t e = 0; e < g->n_edges; e++)
		arc[e] = (struct arc){g->peer[e], g->weight[e]};
	for (uint32_t v = 0; v < g->n; v++)
		qsort(arc + g->row[v], g->row[v + 1] - g->row[v], sizeof(*arc),
		      compare_arcs);
	for (uint32_t e = 0; e < g->n_edges; e++) {
		w->peer[e] = arc[e].peer;
		w->weight[e] = arc[e].weight;
	}
	free(arc);
	return 0;
}

/* A set is all of the blocks that it has a vertex of. */
static bool is_whole(const struct growth *w)
{
	const uint32_t *block = w->x->block;

	if (w->n % w->x->unit)
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < w->n; k++)
			n += block[w->set[k]] == block[w->set[i]];
		if (n != w->x->unit)
			return false;
	}
	return true;
}

/* What leaves the set at least after it has grown by up to the vertices that
 * there is room for, less the price: each new one takes in at most one edge of
 * each there is, the heaviest at best. */
static double least_after(const struct growth *w)
{
	const struct graph *g = w->x->g;
	double sum = 0, taken[64] = {0}, least;
	uint32_t room = w->x->most - w->n;

	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t v = w->set[i], k = 0;

		sum += w->out[v];
		for (uint32_t e = g->row[v]; e < g->row[v + 1] && k < room; e++)
			if (!w->in[w->peer[e]])
				taken[k++] += w->weight[e];
	}
	least = sum - w->n * w->x->price;
	for (uint32_t k = 0; k < room; k++) {
		sum -= taken[k];
		least = fmin(least, sum - (w->n + k + 1) * w->x->price);
	}
	return least;
}

static void add(struct growth *w, uint32_t v)
{
	const struct graph *g = w->x->g;

	w->in[v] = true;
	w->set[w->n++] = v;
	w->leaving += w->out[v];
	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
		w->seen[w->peer[e]]++;
		w->out[w->peer[e]] -= w->weight[e];
		if (w->in[w->peer[e]])
			w->leaving -= w->weight[e];
	}
	w->seen[v]++;
}

static void take_away(struct growth *w, uint32_t v)
{
	const struct graph *g = w->x->g;

	w->seen[v]--;
	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
		w->seen[w->peer[e]]--;
		w->out[w->peer[e]] += w->weight[e];
		if (w->in[w->peer[e]])
			w->leaving += w->weight[e];
	}
	w->leaving -= w->out[v];
	w->n--;
	w->in[v] = false;
}

static void count_step(struct growth *w)
{
	effort_spend(w->e, 1);
	if (w->e->work == 0 ||
	    (++w->n_steps % CLOCK_PERIOD == 0 && effort_spent(w->e)))
		w->stopped = true;
}

/* The set stands; next[] of its depth are n_next candidates, all above the
 * root.  As deep as sets are large. */
static void grow(struct growth *w, uint32_t root, uint32_t n_next)
{
	const struct graph *g = w->x->g;
	uint32_t *next = w->next + (size_t)w->n * g->n;
	uint32_t *deeper = next + g->n;

	count_step(w);
	if (w->leaving - w->n * w->x->price < w->least && !is_whole(w))
		w->least = w->leaving - w->n * w->x->price;
	if (w->n == w->x->most || w->stopped || least_after(w) >= w->least)
		return;
	while (n_next && !w->stopped) {
		uint32_t v = next[--n_next], n = n_next;

		memcpy(deeper, next, n * sizeof(*deeper));
		/* those that only v brings; v itself has been seen */
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (!w->seen[w->peer[e]] && w->peer[e] > root)
				deeper[n++] = w->peer[e];
		add(w, v);
		grow(w, root, n);
		take_away(w, v);
	}
}

static void start(struct growth *w, uint32_t root)
{
	const struct graph *g = w->x->g;
	uint32_t *next = w->next + g->n, n = 0;

	w->leaving = 0;
	add(w, root);
	for (uint32_t e = g->row[root]; e < g->row[root + 1]; e++)
		if (w->peer[e] > root)
			next[n++] = w->peer[e];
	grow(w, root, n);
	take_away(w, root);
}

static int allocate(struct growth *w, struct weft_error *err)
{
	const struct graph *g = w->x->g;
	size_t n = g->n, depth = (size_t)w->x->most + 2;

	w->peer = weft_calloc(g->n_edges, sizeof(*w->peer), err);
	w->weight = weft_calloc(g->n_edges, sizeof(*w->weight), err);
	w->out = weft_calloc(n, sizeof(*w->out), err);
	w->seen = weft_calloc(n + depth, sizeof(*w->seen), err);
	w->in = weft_calloc(n, sizeof(*w->in), err);
	w->next = weft_calloc(depth * n, sizeof(*w->next), err);
	if (!w->peer || !w->weight || !w->out || !w->seen || !w->in || !w->next)
		return -1;
	w->set = w->seen + n;
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			w->out[v] += g->weight[e];
	return sort_rows(w, err);
}

int excess_least(const struct excess *x, struct effort *e, double *least,
		 bool *complete, struct weft_error *err)
{
	struct growth w = {.x = x, .e = e, .least = x->enough};
	int rc = -1;

	*complete = false;
	if (x->most > 64)
		return 0;
	if (allocate(&w, err))
		goto out;
	for (uint32_t v = 0; v < x->g->n && !w.stopped; v++)
		start(&w, v);
	*least = w.least;
	*complete = !w.stopped;
	rc = 0;
out:
	free(w.peer);
	free(w.weight);
	free(w.out);
	free(w.seen);
	free(w.in);
	free(w.next);
	return rc;
}
