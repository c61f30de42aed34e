/* SPDX-License-Identifier: GPL-3.0-or-later */
/* local_search.c - a assignment improved, from one local optimum to the next */
#include "placement/mapping/local_search.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Changes below this part of the total are rounding. */
#define SIGNIFICANT 1e-12
/* Up to so many slots, some starts are random. */
#define FEW 32
/* Bins dealt out anew at a time. */
#define MIN_REGION 3
#define MAX_REGION 6
#define LOOKS	   8 /* tries to find a neighbour outside of the region */
/* Share of the changes that are of a region, of 256. */
#define REGIONS 128
/* Share of those that are two whole domains, of 256. */
#define WHOLE 128
/* One pair in so many is of any bins. */
#define ANYWHERE 16
/* Losses accepted at first, in terms of what an item costs, and when in the
 * course of the search none is any more. */
#define HEAT 0.1
#define COLD 0.9

int local_search_build(const struct graph *g, const struct tree *t,
		       struct effort *effort, struct local_search *c,
		       struct weft_error *err)
{
	memset(c, 0, sizeof(*c));
	c->g = g;
	c->t = t;
	if (bisector_build(g->n, g->n_edges, &c->bisector, err) ||
	    assignment_build(g, t, &c->now, err) ||
	    assignment_build(g, t, &c->best, err) ||
	    assignment_build(g, t, &c->earlier, err) ||
	    exchange_build(&c->now, &c->bisector, &c->exchange, err) ||
	    bisection_build(&c->now, &c->bisector, &c->bisection, err))
		return -1;
	c->region = weft_calloc(t->n_bins, sizeof(*c->region), err);
	c->inside = weft_calloc(t->n_bins, sizeof(*c->inside), err);
	if (!c->region || !c->inside)
		return -1;
	for (uint32_t e = 0; e < g->n_edges; e++)
		c->floor += g->weight[e] / 2 * t->distance[0];
	for (uint32_t b = 0; b < t->n_bins && t->height > 2; b++)
		c->n_domains += t->domain[(size_t)b * t->height + 1] == b;
	c->bisector.effort = effort;
	c->bisector.epsilon = c->now.cost * SIGNIFICANT;
	return 0;
}

void local_search_free(struct local_search *c)
{
	bisector_free(&c->bisector);
	assignment_free(&c->now);
	assignment_free(&c->best);
	assignment_free(&c->earlier);
	exchange_free(&c->exchange);
	bisection_free(&c->bisection);
	free(c->region);
	free(c->inside);
	memset(c, 0, sizeof(*c));
}

/* Every item anywhere. */
static void scatter(struct local_search *c)
{
	struct assignment *now = &c->now;

	for (uint32_t i = 1; i < c->t->n_slots; i++) {
		uint32_t j = effort_below(c->bisector.effort, i + 1);
		uint32_t item = now->item_at[i];

		now->item_at[i] = now->item_at[j];
		now->item_at[j] = item;
	}
	assignment_reseat(now);
}

bool local_search_restart(struct local_search *c)
{
	/* few items are cut the same way every time */
	if (c->t->n_slots <= FEW && effort_below(c->bisector.effort, 2)) {
		scatter(c);
		return true;
	}
	return bisection_all(&c->bisection);
}

void local_search_settle(struct local_search *c)
{
	for (uint32_t b = 0; b < c->t->n_bins; b++)
		exchange_queue(&c->exchange, b);
	exchange_settle(&c->exchange);
	exchange_forget(&c->exchange);
}

/* A random edge, by its ends.  False: both are in one bin. */
static bool find_edge(struct local_search *c, uint32_t *item, uint32_t *peer)
{
	struct effort *effort = c->bisector.effort;
	const struct graph *g = c->g;
	uint32_t v = g->peer[effort_below(effort, g->n_edges)];

	*item = v;
	*peer = g->peer[g->row[v] +
			effort_below(effort, g->row[v + 1] - g->row[v])];
	return c->now.bin_of[v] != c->now.bin_of[*peer];
}

/* Random bins, each with edges to one before it. */
static uint32_t choose_region(struct local_search *c)
{
	struct effort *effort = c->bisector.effort;
	const uint32_t *bin_of = c->now.bin_of;
	uint32_t size =
		MIN_REGION + effort_below(effort, MAX_REGION - MIN_REGION + 1);
	uint32_t n = 0, item, peer, looks = LOOKS * size;

	memset(c->inside, 0, c->t->n_bins * sizeof(*c->inside));
	while (n < size && looks-- > 0) {
		if (!find_edge(c, &item, &peer))
			continue;
		if (n == 0) {
			c->region[n++] = bin_of[item];
			c->inside[bin_of[item]] = true;
		}
		if (c->inside[bin_of[item]] && !c->inside[bin_of[peer]]) {
			c->region[n++] = bin_of[peer];
			c->inside[bin_of[peer]] = true;
		}
	}
	return n;
}

/* All bins of two domains of the level above, with an edge between them. */
static uint32_t choose_domains(struct local_search *c)
{
	const struct tree *t = c->t;
	const uint32_t *domain = t->domain + 1;
	uint32_t n = 0, item, peer, one, other;

	if (!find_edge(c, &item, &peer))
		return 0;
	one = domain[(size_t)c->now.bin_of[item] * t->height];
	other = domain[(size_t)c->now.bin_of[peer] * t->height];
	for (uint32_t b = 0; b < t->n_bins; b++) {
		uint32_t own = domain[(size_t)b * t->height];

		if (own == one || own == other)
			c->region[n++] = b;
	}
	return n;
}

/* Deals the items of a few neighbouring bins out anew, or those of two whole
 * domains, where there are more. */
static void shake_region(struct local_search *c, double tolerance)
{
	bool whole = c->n_domains > 2 &&
		     effort_below(c->bisector.effort, 256) < WHOLE;
	uint32_t n = whole ? choose_domains(c) : choose_region(c);
	double limit = c->now.cost + tolerance + c->bisector.epsilon;
	bool done = false;

	if (n < 2)
		return;
	assignment_copy(&c->now, &c->earlier);
	if (bisection_some(&c->bisection, c->region, n)) {
		c->now.cost = assignment_cost(&c->now);
		for (uint32_t i = 0; i < n; i++)
			exchange_queue(&c->exchange, c->region[i]);
		done = exchange_settle(&c->exchange);
		exchange_forget(&c->exchange);
		effort_spend(c->bisector.effort, c->g->n_edges / 2);
	}
	if (c->now.cost > limit || !done)
		assignment_copy(&c->earlier, &c->now);
}

/* Splits the items of two bins anew: mostly of two with an edge between them,
 * else of any, as empty slots have no edges. */
static void shake_pair(struct local_search *c, double tolerance)
{
	struct effort *effort = c->bisector.effort;
	uint32_t item, peer, a, b;
	bool found = find_edge(c, &item, &peer);

	a = c->now.bin_of[item];
	b = c->now.bin_of[peer];
	if (effort_below(effort, ANYWHERE) == 0) {
		b = effort_below(effort, c->t->n_bins);
		found = a != b;
	}
	if (!found)
		return;
	exchange_pair(&c->exchange, a, b, c->t->kind[c->now.slot_of[item]],
		      effort_below(effort, 4) ? EXCHANGE_PERTURB
					      : EXCHANGE_REGROW,
		      tolerance);
	exchange_forget(&c->exchange);
}

/* How much of a piece of work is done, or of the time. */
struct course {
	uint64_t from, work;
	double from_s;
};

static double how_far(const struct course *course, const struct effort *e)
{
	double far = (double)(course->from - e->work) / (double)course->work;

	if (e->deadline_s > 0) {
		double part = (weft_budget_clock_s() - course->from_s) /
			      (e->deadline_s - course->from_s);

		far = part > far ? part : far;
	}
	return far;
}

/* Simulated annealing over local optima. */
static void anneal(struct local_search *c, uint64_t work)
{
	struct effort *effort = c->bisector.effort;
	struct course course = {effort->work, work, weft_budget_clock_s()};
	uint64_t looked = effort->work;
	double far = 0, hot = HEAT * (c->now.cost - c->floor) / c->g->n;

	if (c->g->n_edges == 0 || c->t->n_bins < 2)
		return;
	assignment_copy(&c->now, &c->best);
	while (far < 1) {
		double heat = far < COLD ? hot * (1 - far / COLD) : 0;
		double chance =
			(1 + effort_below(effort, 1 << 24)) / (double)(1 << 24);
		double tolerance = -heat * log(chance);

		if (c->t->n_kinds == 1 && effort_below(effort, 256) < REGIONS)
			shake_region(c, tolerance);
		else
			shake_pair(c, tolerance);
		effort_spend(effort, 1);
		if (bisect_due(effort, &looked))
			far = effort_spent(effort) ? 1
						   : how_far(&course, effort);
		if (c->now.cost < c->best.cost - c->bisector.epsilon)
			assignment_copy(&c->now, &c->best);
	}
	assignment_copy(&c->best, &c->now);
	local_search_settle(c);
}

/* The content of bin b was moved, as up tells, to bins of the same shape. */
static int follow(struct local_search *c, const struct assignment *up,
		  struct weft_error *err)
{
	const struct tree *t = c->t;
	uint32_t *old = weft_calloc(t->n_slots, sizeof(*old), err);

	if (!old)
		return -1;
	memcpy(old, c->now.item_at, t->n_slots * sizeof(*old));
	for (uint32_t b = 0; b < t->n_bins; b++) {
		uint32_t from = t->first[b], to = t->first[up->slot_of[b]];

		for (uint32_t i = 0; i < t->first[b + 1] - from; i++)
			c->now.item_at[to + i] = old[from + i];
	}
	free(old);
	assignment_reseat(&c->now);
	return 0;
}

/* The contents of bins as items of the tree above. */
static int lift(struct local_search *c, uint64_t work, struct weft_error *err)
{
	struct graph g = {0};
	struct tree t = {0};
	struct local_search *up = weft_calloc(1, sizeof(*up), err);
	int rc = -1;

	if (!up || tree_raise(c->t, &t, err) ||
	    graph_contract(c->g, c->now.bin_of, t.n_slots, &g, err) ||
	    local_search_build(&g, &t, c->bisector.effort, up, err))
		goto out;
	local_search_settle(up);
	if (local_search_round(up, work, err) == 0)
		rc = follow(c, &up->now, err);
out:
	if (up)
		local_search_free(up);
	free(up);
	graph_free(&g);
	tree_free(&t);
	return rc;
}

static bool bins_alike(const struct tree *t)
{
	for (uint32_t b = 1; b < t->n_bins; b++)
		if (t->first[b + 1] - t->first[b] != t->first[1])
			return false;
	return t->n_kinds == 1;
}

int local_search_round(struct local_search *c, uint64_t work,
		       struct weft_error *err)
{
	uint64_t above = 0;

	/* where bins are alike, most is gained by exchanging whole ones */
	if (c->t->height > 1)
		above = bins_alike(c->t) ? work / 3 * 2 : work / 16;
	if (work > above)
		anneal(c, work - above);
	if (c->t->height < 2 || effort_spent(c->bisector.effort))
		return 0;
	if (lift(c, above, err))
		return -1;
	local_search_settle(c);
	return 0;
}
