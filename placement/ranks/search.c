/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search.c - improving who sits where by swaps and moves
 *
 * Descent over a queue of items whose surroundings changed; each goes to the
 * best of its candidate sites, swapping with the item there.  In a local
 * optimum a few random swaps (a kick) start the next descent, which is undone
 * when it ends higher.  Cost differences look at the edges of two items only.
 */
#include "placement/ranks/search.h"

#include <math.h>
#include <stdlib.h>

/* Up to this many sites every one is a candidate; beyond, those around each
 * peer and a few random ones. */
#define ALL_SITES     96
#define AROUND_PEER   4
#define PEERS_LOOKED  8
#define RANDOM_SITES  4
#define CLOCK_PERIOD  16
#define IDLE_KICKS    4000 /* plus IDLE_PER_ITEM per item */
#define IDLE_PER_ITEM 4
#define LOG_MAX	      65536

/* Changes below this part of the total are rounding. */
#define SIGNIFICANT 1e-12
/* This near to the target is there. */
#define REACHED 1e-9

struct swap {
	uint32_t a, b; /* sites */
};

struct run {
	struct search *q;
	struct effort *effort;
	uint32_t *queue; /* [g->n] ring */
	uint32_t head, n_queued;
	bool *queued;
	struct swap *log; /* since the cost last fell */
	uint32_t n_log, room;
	uint32_t *cells; /* [levels][sites] domain; NULL: more tells */
	double epsilon, tolerance;
	uint32_t ticks;
	bool out_of_memory, late;
};

double search_cost(const struct search *q)
{
	const struct graph *g = q->g;
	double sum = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				sum += g->weight[e] *
				       sites_distance(q->s, q->site_of[v],
						      q->site_of[g->peer[e]]);
	return sum;
}

static struct graph_row row_of(const struct search *q, uint32_t item)
{
	const struct graph *g = q->g;

	if (q->lazy)
		return graph_lazy_row(q->lazy, item);
	return (struct graph_row){g->row[item + 1] - g->row[item],
				  g->peer + g->row[item],
				  g->weight + g->row[item]};
}

/* Numbers the domains of each level; without memory the run goes without. */
static void number_cells(struct run *run)
{
	const struct sites *s = run->q->s;
	uint32_t top = 0;

	for (uint32_t i = 0; i + 1 < s->n; i++)
		top = s->meet[0][i] > top ? s->meet[0][i] : top;
	if (s->plain && top > 0)
		run->cells = weft_calloc(s->n, top * sizeof(*run->cells), NULL);
	for (uint32_t l = 0; run->cells && l < top; l++) {
		uint32_t *cell = run->cells + (size_t)l * s->n;

		for (uint32_t i = 1; i < s->n; i++)
			cell[i] = cell[i - 1] + (s->meet[0][i - 1] > l);
	}
}

/* The same as shift where the level tells the distance.  Two sites that meet at
 * level `meet` are as far as each other from all that is in neither one's
 * domain of the level inside it. */
static double shift_in_cells(const struct run *run, struct graph_row row,
			     uint32_t from, uint32_t to, uint32_t other)
{
	const struct search *q = run->q;
	const struct sites *s = q->s;
	uint32_t meet = sites_meet(s, from, to);
	const uint32_t *cell;
	double far = s->distance[meet][0], sum = 0;

	if (meet == 0)
		return 0;
	cell = run->cells + (size_t)(meet - 1) * s->n;
	for (uint32_t e = 0; e < row.n; e++) {
		uint32_t at = q->site_of[row.peer[e]];

		if (row.peer[e] == other)
			continue;
		if (cell[at] == cell[from])
			sum += row.weight[e] *
			       (far - s->distance[sites_meet(s, from, at)][0]);
		else if (cell[at] == cell[to])
			sum += row.weight[e] *
			       (s->distance[sites_meet(s, to, at)][0] - far);
	}
	return sum;
}

/* Cost difference when `item` goes from site `from` to `to`, whence `other`
 * (or none) leaves; the edge between the two keeps its length. */
static double shift(struct run *run, uint32_t item, uint32_t from, uint32_t to,
		    uint32_t other)
{
	const struct search *q = run->q;
	const struct graph_row row = row_of(q, item);
	double sum = 0;

	effort_spend(run->effort, row.n + 1);
	if (run->cells)
		return shift_in_cells(run, row, from, to, other);
	for (uint32_t e = 0; e < row.n; e++) {
		uint32_t peer = row.peer[e], at = q->site_of[peer];

		if (peer != other)
			sum += row.weight[e] * (sites_distance(q->s, to, at) -
						sites_distance(q->s, from, at));
	}
	return sum;
}

/* May the item on site `from` go to the spare site `to`? */
static bool may_move(const struct search *q, uint32_t from, uint32_t to)
{
	const struct host *a = &q->hosts[q->host_of[from]];
	const struct host *b = &q->hosts[q->host_of[to]];
	uint32_t n_used = q->n_used;

	if (a == b)
		return true;
	if (q->fixed)
		return a->used == q->unit && b->used == 0 &&
		       b->most == q->unit && !a->required;
	if (b->used + q->unit > b->most)
		return false;
	if (a->used == q->unit) {
		if (a->required)
			return false;
		n_used--;
	}
	n_used += b->used == 0;
	return n_used >= q->min_used && (!q->max_used || n_used <= q->max_used);
}

/* Cost difference of exchanging the contents of two sites; INFINITY where that
 * is not allowed. */
static double difference(struct run *run, uint32_t s, uint32_t t)
{
	const struct search *q = run->q;
	uint32_t a = q->item_at[s], b = q->item_at[t];
	double sum = 0;

	if (a == WEFT_NONE && b == WEFT_NONE)
		return INFINITY;
	if (q->fence && q->fence[q->host_of[s]] != q->fence[q->host_of[t]])
		return INFINITY;
	if ((a == WEFT_NONE && !may_move(q, t, s)) ||
	    (b == WEFT_NONE && !may_move(q, s, t)))
		return INFINITY;
	if (a != WEFT_NONE)
		sum += shift(run, a, s, t, b);
	if (b != WEFT_NONE)
		sum += shift(run, b, t, s, a);
	return sum;
}

static void account(struct search *q, uint32_t from, uint32_t to)
{
	struct host *a = &q->hosts[q->host_of[from]];
	struct host *b = &q->hosts[q->host_of[to]];

	a->used -= q->unit;
	q->n_used -= a->used == 0;
	q->n_used += b->used == 0;
	b->used += q->unit;
}

static void exchange(struct search *q, uint32_t s, uint32_t t)
{
	uint32_t a = q->item_at[s], b = q->item_at[t];

	if (a == WEFT_NONE)
		account(q, t, s);
	else if (b == WEFT_NONE)
		account(q, s, t);
	q->item_at[s] = b;
	q->item_at[t] = a;
	if (a != WEFT_NONE)
		q->site_of[a] = t;
	if (b != WEFT_NONE)
		q->site_of[b] = s;
}

static void enqueue(struct run *run, uint32_t item)
{
	uint32_t n = run->q->g->n;

	if (item == WEFT_NONE || run->queued[item])
		return;
	run->queued[item] = true;
	run->queue[(run->head + run->n_queued++) % n] = item;
}

static void enqueue_around(struct run *run, uint32_t item)
{
	struct graph_row row;

	if (item == WEFT_NONE)
		return;
	enqueue(run, item);
	row = row_of(run->q, item);
	for (uint32_t e = 0; e < row.n; e++)
		enqueue(run, row.peer[e]);
}

/* Exchanges and remembers it, so that it can be undone. */
static void apply(struct run *run, uint32_t s, uint32_t t)
{
	if (run->n_log == run->room) {
		uint32_t room = run->room * 2 + 64;
		struct swap *log =
			weft_realloc(run->log, room, sizeof(*log), NULL);

		if (!log) {
			run->out_of_memory = true;
			return;
		}
		run->log = log;
		run->room = room;
	}
	run->log[run->n_log++] = (struct swap){s, t};
	exchange(run->q, s, t);
	enqueue_around(run, run->q->item_at[s]);
	enqueue_around(run, run->q->item_at[t]);
}

static void undo(struct run *run, uint32_t n_kept)
{
	while (run->n_log > n_kept) {
		const struct swap *last = &run->log[--run->n_log];

		exchange(run->q, last->a, last->b);
	}
}

/* The best exchange found so far for one item. */
struct best {
	uint32_t from, to;
	double gain; /* negative differences only */
};

static void look(struct run *run, struct best *best, uint32_t t)
{
	const struct sites *s = run->q->s;
	double d;

	/* places in one NVLink domain are the same but for their rails */
	if (t == best->from || (sites_meet(s, t, best->from) == 0 &&
				s->rail[t] == s->rail[best->from] &&
				run->q->item_at[t] != WEFT_NONE))
		return;
	d = difference(run, best->from, t);
	if (d < best->gain) {
		best->gain = d;
		best->to = t;
	}
}

/* Sites that bring the item nearer to one of its peers, and random ones. */
static void look_around(struct run *run, struct best *best, uint32_t item)
{
	const struct search *q = run->q;
	const struct graph_row row = row_of(q, item);
	uint32_t n = q->s->n;

	for (uint32_t e = 0; e < row.n && e < PEERS_LOOKED; e++) {
		uint32_t at = q->site_of[row.peer[e]], level, low, high;

		level = sites_meet(q->s, at, best->from);
		low = at > AROUND_PEER ? at - AROUND_PEER : 0;
		high = at + AROUND_PEER < n ? at + AROUND_PEER : n - 1;
		for (uint32_t t = low; t <= high; t++)
			if (t != at && sites_meet(q->s, t, at) < level)
				look(run, best, t);
	}
	for (uint32_t k = 0; k < RANDOM_SITES; k++)
		look(run, best, effort_below(run->effort, n));
}

static bool tick(struct run *run)
{
	if (run->effort->work == 0 || run->out_of_memory || run->late)
		return false;
	run->late =
		++run->ticks % CLOCK_PERIOD == 0 && effort_spent(run->effort);
	return !run->late;
}

/* Empties the queue; returns the change of the cost. */
static double descend(struct run *run)
{
	const struct search *q = run->q;
	double change = 0;

	while (run->n_queued) {
		uint32_t item = run->queue[run->head];
		struct best best = {q->site_of[item], 0, -run->epsilon};

		run->head = (run->head + 1) % q->g->n;
		run->n_queued--;
		run->queued[item] = false;
		if (!tick(run))
			continue;
		if (q->s->n <= ALL_SITES)
			for (uint32_t t = 0; t < q->s->n; t++) {
				if (t % CLOCK_PERIOD == CLOCK_PERIOD - 1 &&
				    effort_late(run->effort))
					break;
				look(run, &best, t);
			}
		else
			look_around(run, &best, item);
		if (best.gain < -run->epsilon) {
			change += best.gain;
			apply(run, best.from, best.to);
		}
	}
	return change;
}

/* Exchanges two random runs of sites, or a few single ones. */
static double kick(struct run *run)
{
	uint32_t n = run->q->s->n, length = 1, times = 1;
	double change = 0;

	/* short runs are more likely than long ones */
	if (effort_below(run->effort, 2))
		length = 1 + effort_below(run->effort,
					  1 + effort_below(run->effort, n / 2));
	else
		times = 2 + effort_below(run->effort, 2);
	while (times--) {
		uint32_t s = effort_below(run->effort, n - length + 1);
		uint32_t t = effort_below(run->effort, n - length + 1);

		if ((s < t ? t - s : s - t) < length)
			continue;
		for (uint32_t i = 0; i < length; i++) {
			double d = difference(run, s + i, t + i);

			if (!isfinite(d))
				continue;
			change += d;
			apply(run, s + i, t + i);
		}
	}
	return change;
}

static void watch(const struct run *run, double cost)
{
	if (run->q->watch)
		run->q->watch(run->q, cost);
}

/* Kicks that leave the cost as it is are accepted, to get around, but undone in
 * the end: of equal arrangements the first is kept, which was chosen for
 * reasons that are not in the cost. */
static void iterate(struct run *run, double cost, double target)
{
	uint32_t n = run->q->g->n, idle = 0, mark = 0;
	uint32_t patience = IDLE_KICKS + IDLE_PER_ITEM * n;
	double change;

	for (uint32_t i = 0; i < n; i++)
		enqueue(run, i);
	cost += descend(run);
	watch(run, cost);
	run->n_log = 0;
	while (idle++ < patience && cost > target + run->tolerance &&
	       tick(run)) {
		change = kick(run);
		change += descend(run);
		if (change > run->epsilon || run->n_log > LOG_MAX) {
			undo(run, mark);
			continue;
		}
		cost += change;
		watch(run, cost);
		if (change < -run->epsilon)
			idle = run->n_log = 0;
		mark = run->n_log;
	}
	undo(run, 0);
}

int search_run(struct search *q, struct effort *effort, double target,
	       struct weft_error *err)
{
	struct run run = {.q = q, .effort = effort};
	double cost = q->lazy ? q->cost : search_cost(q);
	int rc = -1;

	if (q->g->n < 2 || q->s->n < 2 || !isfinite(cost))
		return 0;
	run.epsilon = SIGNIFICANT * cost;
	run.tolerance = REACHED * fabs(target);
	run.queue = weft_calloc(q->g->n, sizeof(*run.queue), err);
	run.queued = weft_calloc(q->g->n, sizeof(*run.queued), err);
	if (!run.queue || !run.queued)
		goto out;
	number_cells(&run);
	iterate(&run, cost, target);
	rc = run.out_of_memory ? weft_fail(err, WEFT_ENOMEM, "out of memory")
			       : 0;
out:
	free(run.queue);
	free(run.queued);
	free(run.log);
	free(run.cells);
	return rc;
}
