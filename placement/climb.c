/* SPDX-License-Identifier: GPL-3.0-or-later */
/* climb.c - a seating improved, from one local optimum to the next */
#include "placement/climb.h"

#include <stdlib.h>
#include <string.h>

/* Changes below this part of the total are rounding. */
#define SIGNIFICANT 1e-12
/* Bins dealt out anew at a time. */
#define MIN_REGION 3
#define MAX_REGION 6
#define LOOKS	   8 /* tries to find a neighbour outside of the region */

int climb_build(const struct graph *g, const struct tree *t, uint32_t n_items,
		struct effort *effort, struct climb *c, struct weft_error *err)
{
	memset(c, 0, sizeof(*c));
	c->g = g;
	c->t = t;
	if (splitter_build(g->n, g->n_edges, &c->splitter, err) ||
	    seating_build(g, t, n_items, &c->now, err) ||
	    seating_build(g, t, n_items, &c->best, err) ||
	    exchange_build(&c->now, &c->splitter, &c->exchange, err) ||
	    multisection_build(&c->now, &c->splitter, &c->multisection, err))
		return -1;
	c->region = weft_calloc(t->n_bins, sizeof(*c->region), err);
	c->inside = weft_calloc(t->n_bins, sizeof(*c->inside), err);
	if (!c->region || !c->inside)
		return -1;
	c->splitter.effort = effort;
	c->splitter.epsilon = c->now.cost * SIGNIFICANT;
	return 0;
}

void climb_free(struct climb *c)
{
	splitter_free(&c->splitter);
	seating_free(&c->now);
	seating_free(&c->best);
	exchange_free(&c->exchange);
	multisection_free(&c->multisection);
	free(c->region);
	free(c->inside);
	memset(c, 0, sizeof(*c));
}

bool climb_restart(struct climb *c)
{
	return multisection_all(&c->multisection);
}

/* A random item with traffic, and one of its peers in another bin. */
static bool find_edge(struct climb *c, uint32_t *item, uint32_t *peer)
{
	struct effort *effort = c->splitter.effort;
	const struct graph *g = c->g;
	uint32_t v = effort_below(effort, c->now.n_items);
	uint32_t degree = g->row[v + 1] - g->row[v];

	if (degree == 0)
		return false;
	*item = v;
	*peer = g->peer[g->row[v] + effort_below(effort, degree)];
	return c->now.bin_of[v] != c->now.bin_of[*peer];
}

static uint32_t kind_of(const struct climb *c, uint32_t item)
{
	return c->t->kind[c->now.slot_of[item]];
}

void climb_descend(struct climb *c, uint32_t patience)
{
	static const enum exchange_mode modes[] = {EXCHANGE_PERTURB,
						   EXCHANGE_REGROW};
	struct effort *effort = c->splitter.effort;
	uint32_t item, peer;

	for (uint32_t b = 0; b < c->t->n_bins; b++)
		exchange_queue(&c->exchange, b);
	for (uint32_t idle = 0;; idle++) {
		if (!exchange_settle(&c->exchange) || idle >= patience ||
		    effort_spent(effort))
			break;
		if (!find_edge(c, &item, &peer))
			continue;
		if (exchange_pair(&c->exchange, c->now.bin_of[item],
				  c->now.bin_of[peer], kind_of(c, item),
				  modes[effort_below(effort, 2)], 0))
			idle = 0;
	}
	exchange_forget(&c->exchange);
}

/* A random bin and others that its items have edges to, or that those have. */
static uint32_t choose_region(struct climb *c)
{
	struct effort *effort = c->splitter.effort;
	uint32_t size =
		MIN_REGION + effort_below(effort, MAX_REGION - MIN_REGION + 1);
	uint32_t n = 0, item, peer, looks = LOOKS * size;

	memset(c->inside, 0, c->t->n_bins * sizeof(*c->inside));
	while (n < size && looks-- > 0) {
		if (!find_edge(c, &item, &peer))
			continue;
		if (n == 0) {
			c->region[n++] = c->now.bin_of[item];
			c->inside[c->now.bin_of[item]] = true;
		}
		if (c->inside[c->now.bin_of[item]] &&
		    !c->inside[c->now.bin_of[peer]]) {
			c->region[n++] = c->now.bin_of[peer];
			c->inside[c->now.bin_of[peer]] = true;
		}
	}
	return n;
}

bool climb_shake(struct climb *c)
{
	uint32_t n = choose_region(c);
	double before = c->now.cost;

	if (n < 2)
		return false;
	seating_copy(&c->now, &c->best);
	if (multisection_some(&c->multisection, c->region, n)) {
		c->now.cost = seating_cost(&c->now);
		for (uint32_t i = 0; i < n; i++)
			exchange_queue(&c->exchange, c->region[i]);
		exchange_settle(&c->exchange);
	} else {
		c->now.cost = before + 2 * c->splitter.epsilon;
	}
	exchange_forget(&c->exchange);
	if (c->now.cost > before + c->splitter.epsilon)
		seating_copy(&c->best, &c->now);
	return c->now.cost < before - c->splitter.epsilon;
}

/* The content of bin b was moved, as up tells, to bins of the same shape. */
static int follow(struct climb *c, const struct seating *up,
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
	seating_reseat(&c->now);
	return 0;
}

int climb_raise(struct climb *c, uint32_t patience, struct weft_error *err)
{
	struct graph g = {0};
	struct tree t = {0};
	struct climb *up = NULL;
	double before = c->now.cost;
	int rc = -1;

	if (c->t->height < 2)
		return 0;
	up = weft_calloc(1, sizeof(*up), err);
	if (!up || tree_raise(c->t, &t, err) ||
	    graph_contract(c->g, c->now.bin_of, t.n_slots, &g, err) ||
	    climb_build(&g, &t, t.n_slots, c->splitter.effort, up, err))
		goto out;
	climb_descend(up, patience);
	if (climb_raise(up, patience, err) < 0 || follow(c, &up->now, err))
		goto out;
	rc = c->now.cost < before - c->splitter.epsilon;
out:
	if (up)
		climb_free(up);
	free(up);
	graph_free(&g);
	tree_free(&t);
	return rc;
}
