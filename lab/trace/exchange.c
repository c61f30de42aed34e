/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c - each call's bytes laid onto the pairs of its group */
#include "lab/trace/exchange.h"

#include "base/compare.h"
#include "lab/trace/overlap.h"

#include <stdlib.h>

/* More pairs than this are no longer a list to be read. */
#define MAX_PAIRS ((size_t)1 << 24)

struct work {
	const struct weft_trace *traces;
	uint32_t n_traces;
	struct weft_exchange *out;
	uint32_t room;
	double *rows;	 /* [N_AXES + 1][n_ranks] what one rank sends */
	uint8_t *traced; /* [n_ranks] */
	struct weft_error *err;
};

static int pair_add(struct work *w, uint32_t from, uint32_t to,
		    enum weft_axis axis, double bytes)
{
	struct weft_exchange *x = w->out;

	if (from == to || !(bytes > 0))
		return 0;
	if (x->n_pairs == MAX_PAIRS)
		return weft_fail(w->err, WEFT_EINVAL,
				 "more than %zu pairs of ranks exchange bytes",
				 MAX_PAIRS);
	if (WEFT_GROW(x->pairs, x->n_pairs, w->room, w->err))
		return -1;
	x->pairs[x->n_pairs++] =
		(struct weft_exchange_pair){from, to, axis, bytes};
	return 0;
}

static enum weft_axis axis_of(const struct weft_trace *t,
			      const struct weft_trace_collective *c)
{
	return c->group == WEFT_TRACE_NONE ? WEFT_N_AXES
					   : t->groups[c->group].axis;
}

/* Index of rank in the group; n_ranks when it is no member. */
static uint32_t position(const struct weft_trace_group *g, uint32_t rank)
{
	uint32_t i = 0;

	while (i < g->n_ranks && g->ranks[i] != rank)
		i++;
	return i;
}

static bool is_rooted(enum weft_trace_op op)
{
	return op == WEFT_OP_BROADCAST || op == WEFT_OP_REDUCE;
}

/* What one rank sends to the next of the ring. */
static double ring_bytes(const struct weft_trace_collective *c, uint32_t n)
{
	double share = weft_overlap_ring_share(c->op, n);

	if (is_rooted(c->op)) /* n - 1 of the ring's n links carry it */
		share *= (double)(n - 1) / n;
	return share * c->size_bytes;
}

static bool is_ring(enum weft_trace_op op)
{
	return op == WEFT_OP_ALL_REDUCE || op == WEFT_OP_ALL_GATHER ||
	       op == WEFT_OP_REDUCE_SCATTER || is_rooted(op);
}

/* Adds an all-to-all of this rank to the row. */
static void all_to_all_add(struct work *w, const struct weft_trace *t,
			   const struct weft_trace_collective *c,
			   const struct weft_trace_group *g)
{
	double *row = w->rows + (size_t)axis_of(t, c) * w->out->n_ranks;
	const double *split = t->splits + c->first_split;
	bool recorded = c->n_splits == g->n_ranks;
	double sum = 0;

	for (uint32_t j = 0; recorded && j < g->n_ranks; j++)
		sum += split[j];
	for (uint32_t j = 0; j < g->n_ranks; j++)
		row[g->ranks[j]] += c->size_bytes *
				    (recorded && sum > 0 ? split[j] / sum
							 : 1.0 / g->n_ranks);
}

static const struct weft_trace_group *
group_of(const struct weft_trace *t, const struct weft_trace_collective *c)
{
	const struct weft_trace_group *g =
		c->group == WEFT_TRACE_NONE ? NULL : &t->groups[c->group];

	return g && g->ranks ? g : NULL;
}

/* Adds one call of a rank to its row; false when it cannot be placed. */
static bool call_add(struct work *w, const struct weft_trace *t,
		     const struct weft_trace_collective *c, uint32_t rank)
{
	const struct weft_trace_group *g = group_of(t, c);
	double *row = w->rows + (size_t)axis_of(t, c) * w->out->n_ranks;
	uint32_t at;

	if (c->op == WEFT_OP_BARRIER || c->op == WEFT_OP_RECV)
		return true; /* the sender's record has the bytes */
	if (!(c->size_bytes > 0))
		return false;
	if (c->op == WEFT_OP_SEND && c->peer < w->out->n_ranks) {
		row[c->peer] += c->size_bytes;
		return true;
	}
	if (!g)
		return false;
	at = position(g, rank);
	if (at == g->n_ranks)
		return false;
	if (c->op == WEFT_OP_ALL_TO_ALL)
		all_to_all_add(w, t, c, g);
	else if (is_ring(c->op))
		row[g->ranks[(at + 1) % g->n_ranks]] +=
			ring_bytes(c, g->n_ranks);
	else
		return false;
	return true;
}

static int rows_flush(struct work *w, uint32_t from)
{
	uint32_t n = w->out->n_ranks;

	for (size_t i = 0; i < (WEFT_N_AXES + 1) * (size_t)n; i++) {
		if (w->rows[i] > 0 &&
		    pair_add(w, from, (uint32_t)(i % n),
			     (enum weft_axis)(i / n), w->rows[i]))
			return -1;
		w->rows[i] = 0;
	}
	return 0;
}

static int trace_add(struct work *w, const struct weft_trace *t)
{
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];

		if (call_add(w, t, c, t->rank))
			continue;
		w->out->n_unplaced++;
		w->out->unplaced_bytes += c->size_bytes;
	}
	return rows_flush(w, t->rank);
}

/* Sends of ranks without a trace, as their receivers recorded them. */
static int receives_add(struct work *w, const struct weft_trace *t)
{
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];

		if (c->op == WEFT_OP_RECV && c->peer < w->out->n_ranks &&
		    !w->traced[c->peer] &&
		    pair_add(w, c->peer, t->rank, axis_of(t, c), c->size_bytes))
			return -1;
	}
	return 0;
}

/* The lowest traced rank of the group is this trace's. */
static bool speaks_for(const struct work *w, const struct weft_trace *t,
		       const struct weft_trace_group *g)
{
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		if (g->ranks[i] < t->rank && w->traced[g->ranks[i]])
			return false;
	}
	return position(g, t->rank) < g->n_ranks;
}

/* The group's calls once more, for its members that have no trace. */
static int absent_add(struct work *w, const struct weft_trace *t,
		      uint32_t group)
{
	const struct weft_trace_group *g = &t->groups[group];
	double ring = 0, each = 0;

	if (!g->ranks || !speaks_for(w, t, g))
		return 0;
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];

		if (c->group != group)
			continue;
		if (is_ring(c->op))
			ring += ring_bytes(c, g->n_ranks);
		else if (c->op == WEFT_OP_ALL_TO_ALL)
			each += c->size_bytes / g->n_ranks;
	}
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		uint32_t from = g->ranks[i];
		uint32_t next = g->ranks[(i + 1) % g->n_ranks];

		if (w->traced[from])
			continue;
		if (pair_add(w, from, next, g->axis, ring))
			return -1;
		for (uint32_t j = 0; each > 0 && j < g->n_ranks; j++) {
			if (pair_add(w, from, g->ranks[j], g->axis, each))
				return -1;
		}
	}
	return 0;
}

WEFT_COMPARATOR(by_pair, struct weft_exchange_pair,
		WEFT_UP(from) WEFT_UP(to) WEFT_UP(axis));

/* Sorts, sums equal pairs and divides by the steps. */
static void pairs_finish(struct weft_exchange *x, uint32_t n_steps)
{
	size_t n = 0;

	if (x->n_pairs)
		qsort(x->pairs, x->n_pairs, sizeof(*x->pairs), by_pair);
	for (size_t i = 0; i < x->n_pairs; i++) {
		if (n && by_pair(&x->pairs[n - 1], &x->pairs[i]) == 0)
			x->pairs[n - 1].bytes += x->pairs[i].bytes;
		else
			x->pairs[n++] = x->pairs[i];
	}
	x->n_pairs = n;
	for (size_t i = 0; i < n; i++) {
		x->pairs[i].bytes /= n_steps;
		x->placed_bytes += x->pairs[i].bytes;
		x->axis_bytes[x->pairs[i].axis] += x->pairs[i].bytes;
	}
}

/* The highest rank that any trace or group names, and one more. */
static uint32_t ranks_count(const struct work *w)
{
	uint32_t most = 0;

	for (uint32_t a = 0; a < w->n_traces; a++) {
		const struct weft_trace *t = &w->traces[a];

		if (t->world_size > most)
			most = t->world_size;
		if (t->rank >= most)
			most = t->rank + 1;
		for (uint32_t g = 0; g < t->n_groups; g++) {
			const uint32_t *ranks = t->groups[g].ranks;

			for (uint32_t i = 0; ranks && i < t->groups[g].n_ranks;
			     i++) {
				if (ranks[i] >= most)
					most = ranks[i] + 1;
			}
		}
	}
	return most;
}

static int work_run(struct work *w)
{
	uint32_t n = w->out->n_ranks = ranks_count(w);

	w->rows = weft_calloc((WEFT_N_AXES + 1) * (size_t)n, sizeof(*w->rows),
			      w->err);
	w->traced = weft_calloc(n, sizeof(*w->traced), w->err);
	if (!w->rows || !w->traced)
		return -1;
	for (uint32_t a = 0; a < w->n_traces; a++)
		w->traced[w->traces[a].rank] = 1;
	for (uint32_t a = 0; a < w->n_traces; a++) {
		const struct weft_trace *t = &w->traces[a];

		if (trace_add(w, t) || receives_add(w, t))
			return -1;
		for (uint32_t g = 0; g < t->n_groups; g++) {
			if (absent_add(w, t, g))
				return -1;
		}
	}
	return 0;
}

int weft_exchange_build(const struct weft_trace *traces, uint32_t n_traces,
			uint32_t n_steps, struct weft_exchange *exchange,
			struct weft_error *err)
{
	struct work w = {.traces = traces,
			 .n_traces = n_traces,
			 .out = exchange,
			 .err = err};
	int code;

	*exchange = (struct weft_exchange){0};
	code = work_run(&w);
	if (!code)
		pairs_finish(exchange, n_steps);
	free(w.rows);
	free(w.traced);
	if (code)
		weft_exchange_free(exchange);
	return code;
}

void weft_exchange_free(struct weft_exchange *exchange)
{
	if (!exchange)
		return;
	free(exchange->pairs);
	*exchange = (struct weft_exchange){0};
}
