/* SPDX-License-Identifier: GPL-3.0-or-later */
/* enumeration.c - the best bin for every block, by looking at all that could be
 *
 * Blocks are put into bins in a fixed order.  A partial assignment is given up
 * when what is settled, plus the least that each open block then pays to the
 * settled ones, plus the least that open blocks pay among themselves, is not
 * below the best known.  The last of these is exact: the same search is made
 * first for the last block alone, then for the last two, and so on (Russian
 * doll search: Verfaillie, Lemaitre and Schiex, AAAI 1996), without the job's
 * limits.  Of boxes that are alike and empty only the first is entered.
 */
#include "placement/exact/enumeration.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_PERIOD 1024
/* Sums of the same terms in another order differ by less. */
#define ROUNDING 1e-11

struct search_state {
	const struct blocks *b;
	uint32_t n, n_bins, first; /* first: of this doll */
	uint32_t order[ENUMERATION_MAX_BLOCKS];
	double weight[ENUMERATION_MAX_BLOCKS][ENUMERATION_MAX_BLOCKS];
	/* least cost among blocks i .. n-1 of the order */
	double rest[ENUMERATION_MAX_BLOCKS + 1];
	double *distance;    /* [n_bins * n_bins] */
	double *pay;	     /* [depth][block of the order][bin] to those
			      * settled */
	uint32_t *used;	     /* [n_boxes] blocks inside */
	uint32_t *at, *best; /* [n] bin of each block of the order */
	uint32_t n_nodes;    /* nodes in use */
	uint32_t n_missing;  /* required nodes not in use */
	uint32_t n_owed;     /* blocks that nodes in use still must get */
	bool limited;	     /* keep to the job's limits */
	double limit;	     /* look for less */
	double lost;	     /* what rounding may amount to */
	struct effort *e;
	uint64_t n_steps;
	bool stopped;
};

static double *pay_of(const struct search_state *s, uint32_t depth, uint32_t k)
{
	return s->pay + ((size_t)depth * s->n + k) * s->n_bins;
}

/* Blocks next to those taken come next, the heaviest traffic first: so the
 * last ones hang together, too, and their bound is worth something. */
static void set_order(struct search_state *s)
{
	const struct graph *g = &s->b->g;
	double tie[ENUMERATION_MAX_BLOCKS] = {0};
	bool taken[ENUMERATION_MAX_BLOCKS] = {false};

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t k = WEFT_NONE;

		for (uint32_t v = 0; v < s->n; v++)
			if (!taken[v] && (k == WEFT_NONE || tie[v] > tie[k]))
				k = v;
		taken[k] = true;
		s->order[i] = k;
		for (uint32_t e = g->row[k]; e < g->row[k + 1]; e++)
			tie[g->peer[e]] += g->weight[e];
	}
}

static void set_weights(struct search_state *s)
{
	const struct graph *g = &s->b->g;
	uint32_t place[ENUMERATION_MAX_BLOCKS];

	for (uint32_t i = 0; i < s->n; i++)
		place[s->order[i]] = i;
	for (uint32_t v = 0; v < s->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			s->weight[place[v]][place[g->peer[e]]] = g->weight[e];
}

static uint32_t node_of(const struct search_state *s, uint32_t bin)
{
	if (s->b->node_layer == WEFT_NONE)
		return bin;
	return blocks_around(s->b, bin, s->b->node_layer);
}

/* Blocks that a node in use must get where shares are fixed. */
static uint32_t share(const struct search_state *s)
{
	if (s->b->node_layer == WEFT_NONE)
		return 0;
	return s->b->s->job->gpus_per_node / s->b->unit;
}

static void put(struct search_state *s, uint32_t depth, uint32_t bin)
{
	uint32_t node = node_of(s, bin);

	if (!s->used[node]) {
		s->n_nodes++;
		s->n_missing -= s->b->box[node].n_required;
		s->n_owed += share(s);
	}
	s->n_owed -= share(s) > 0;
	for (uint32_t box = bin; box != WEFT_NONE; box = s->b->box[box].parent)
		s->used[box]++;
	s->at[depth] = bin;
	s->n_steps++;
	effort_spend(s->e, 1);
	if (s->e->work == 0 ||
	    (s->n_steps % CLOCK_PERIOD == 0 && effort_spent(s->e)))
		s->stopped = true;
}

static void take_back(struct search_state *s, uint32_t bin)
{
	uint32_t node = node_of(s, bin);

	for (uint32_t box = bin; box != WEFT_NONE; box = s->b->box[box].parent)
		s->used[box]--;
	s->n_owed += share(s) > 0;
	if (!s->used[node]) {
		s->n_nodes--;
		s->n_missing += s->b->box[node].n_required;
		s->n_owed -= share(s);
	}
}

/* Room, and no box around it that is like an empty one before it. */
static bool may_enter(const struct search_state *s, uint32_t bin)
{
	for (uint32_t box = bin; box != WEFT_NONE;
	     box = s->b->box[box].parent) {
		const struct box *x = &s->b->box[box];

		if (s->used[box] >= x->cap)
			return false;
		if (!s->used[box] && x->twin != WEFT_NONE && !s->used[x->twin])
			return false;
	}
	return true;
}

/* Can the blocks that are left still meet the limits on nodes? */
static bool nodes_have_hope(const struct search_state *s, uint32_t left)
{
	const struct weft_job *job = s->b->s->job;

	if (s->b->node_layer == WEFT_NONE)
		return true;
	return s->n_missing <= left && s->n_owed <= left &&
	       s->n_nodes + left >= job->min_nodes &&
	       (!job->max_nodes || s->n_nodes + s->n_missing <= job->max_nodes);
}

/* After `depth` blocks are settled: can the others still meet the limits? */
static bool has_hope(const struct search_state *s, uint32_t depth)
{
	uint32_t layer = s->b->within_layer;

	if (!s->limited)
		return true;
	if (!nodes_have_hope(s, s->n - depth))
		return false;
	return layer == WEFT_NONE || depth < 2 ||
	       blocks_around(s->b, s->at[depth - 1], layer) ==
		       blocks_around(s->b, s->at[0], layer);
}

/* What open blocks pay to the settled ones at least; fills the next depth. */
static double raise_pay(struct search_state *s, uint32_t depth, uint32_t bin)
{
	const double *d = s->distance + (size_t)bin * s->n_bins;
	double sum = 0;

	for (uint32_t k = depth + 1; k < s->n; k++) {
		const double *old = pay_of(s, depth, k);
		double *pay = pay_of(s, depth + 1, k), w = s->weight[depth][k];
		double least = INFINITY;

		for (uint32_t i = 0; i < s->n_bins; i++) {
			/* unlinked bins are of no use, whatever is sent */
			pay[i] = w > 0 || isinf(d[i])
					 ? old[i] + (w + 1e-300) * d[i]
					 : old[i];
			if (pay[i] < least && s->used[i] < s->b->box[i].cap)
				least = pay[i];
		}
		sum += least;
	}
	return sum;
}

struct way {
	double pay;
	uint32_t bin;
};

WEFT_COMPARATOR(compare_ways, struct way, WEFT_UP(pay) WEFT_UP(bin));

static uint32_t list_ways(const struct search_state *s, uint32_t depth,
			  struct way *way)
{
	const double *pay = pay_of(s, depth, depth);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_bins; i++)
		if (isfinite(pay[i]) && may_enter(s, i))
			way[n++] = (struct way){pay[i], i};
	qsort(way, n, sizeof(*way), compare_ways);
	return n;
}

/* Recursion as deep as there are blocks. */
static void extend(struct search_state *s, uint32_t depth, double cost)
{
	struct way way[ENUMERATION_MAX_BINS];
	uint32_t n;

	if (depth == s->n) {
		if (cost < s->limit - s->lost) {
			s->limit = cost;
			memcpy(s->best, s->at, s->n * sizeof(*s->at));
		}
		return;
	}
	n = list_ways(s, depth, way);
	for (uint32_t i = 0; i < n && !s->stopped; i++) {
		double now = cost + way[i].pay;

		if (now + s->rest[depth + 1] >= s->limit - s->lost)
			break;
		put(s, depth, way[i].bin);
		if (has_hope(s, depth + 1) &&
		    now + raise_pay(s, depth, way[i].bin) + s->rest[depth + 1] <
			    s->limit - s->lost)
			extend(s, depth + 1, now);
		take_back(s, way[i].bin);
	}
}

/* Starts with the blocks from `first` of the order on. */
static void run_doll(struct search_state *s, uint32_t first)
{
	memset(pay_of(s, first, first), 0,
	       (size_t)(s->n - first) * s->n_bins * sizeof(*s->pay));
	extend(s, first, 0);
}

/* What the last blocks pay among themselves in an assignment at hand. */
static double cost_from(const struct search_state *s, uint32_t first,
			const uint32_t *bin)
{
	double sum = 0;

	for (uint32_t i = first; i < s->n; i++)
		for (uint32_t k = i + 1; k < s->n; k++)
			if (s->weight[i][k] > 0)
				sum += s->weight[i][k] *
				       s->distance[(size_t)bin[s->order[i]] *
							   s->n_bins +
						   bin[s->order[k]]];
	return sum;
}

/* The least cost of the last blocks, one more of them each time.  What is known
 * to be possible need not be looked for again. */
static void run_dolls(struct search_state *s, double limit,
		      const uint32_t *start)
{
	s->limited = false;
	for (uint32_t i = s->n; i-- > 1 && !s->stopped;) {
		s->limit = start ? fmin(limit, cost_from(s, i, start)) : limit;
		run_doll(s, i);
		s->rest[i] = fmax(s->limit - s->lost, s->rest[i + 1]);
	}
}

static int allocate(struct search_state *s, struct weft_error *err)
{
	size_t n = s->n, bins = s->n_bins;

	s->distance = weft_calloc(bins * bins, sizeof(*s->distance), err);
	s->pay = weft_calloc((n + 1) * n * bins, sizeof(*s->pay), err);
	s->used = weft_calloc(s->b->n_boxes, sizeof(*s->used), err);
	s->at = weft_calloc(2 * n, sizeof(*s->at), err);
	if (!s->distance || !s->pay || !s->used || !s->at)
		return -1;
	s->best = s->at + n;
	for (uint32_t i = 0; i < bins; i++)
		for (uint32_t k = 0; k < bins; k++)
			s->distance[i * bins + k] = blocks_distance(s->b, i, k);
	return 0;
}

static void run(struct search_state *s, struct enumeration *r)
{
	double limit = r->limit - s->b->base;

	set_order(s);
	set_weights(s);
	s->lost = isfinite(limit) ? limit * ROUNDING : 0;
	run_dolls(s, limit, r->start);
	if (s->stopped)
		return;
	for (uint32_t i = 0; i < s->b->n_boxes; i++)
		if (s->b->box[i].parent == WEFT_NONE)
			s->n_missing += s->b->box[i].n_required;
	s->limited = true;
	s->limit = limit;
	run_doll(s, 0);
	r->complete = !s->stopped;
	r->found = s->limit < limit;
	r->cost = s->limit + s->b->base;
}

int enumeration_run(const struct blocks *b, struct effort *e, uint32_t *bin,
		    struct enumeration *result, struct weft_error *err)
{
	struct search_state *s;
	int rc = -1;

	result->complete = result->found = false;
	result->n_steps = 0;
	if (b->n > ENUMERATION_MAX_BLOCKS ||
	    blocks_bins(b) > ENUMERATION_MAX_BINS || !blocks_bins(b))
		return 0;
	s = weft_calloc(1, sizeof(*s), err);
	if (!s)
		return -1;
	s->b = b;
	s->n = b->n;
	s->n_bins = blocks_bins(b);
	s->e = e;
	if (allocate(s, err))
		goto out;
	run(s, result);
	result->n_steps = s->n_steps;
	for (uint32_t i = 0; result->found && i < s->n; i++)
		bin[s->order[i]] = s->best[i];
	rc = 0;
out:
	free(s->distance);
	free(s->pay);
	free(s->used);
	free(s->at);
	free(s);
	return rc;
}
