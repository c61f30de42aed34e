/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups_split.c - which domain takes which part of a split
 *
 * An assignment problem of parts and domains, solved exactly by shortest
 * augmenting paths (Jonker and Volgenant, Computing 38, 1987), one part after
 * the other.
 */
#include "placement/nodes/groups.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* Costs: what cannot be, and what must be. */
#define NEVER	 (INT64_C(1) << 50)
#define REQUIRED (INT64_C(1) << 40)
#define GPU	 (INT64_C(1) << 16)

/* Pairs of a part and a group whose best assignment takes a millisecond. */
#define HASTY_PAIRS 4096

struct assignment {
	const struct groups *g;
	const uint32_t *part;
	uint32_t *order; /* [groups] by shape, so that names do not matter */
	int64_t *row_price, *column_price; /* [parts + 1], [groups + 1] */
	int64_t *reach;			   /* [groups + 1] */
	uint32_t *row_of;		   /* [groups + 1] 0: none */
	uint32_t *from;			   /* [groups + 1] */
	bool *done;			   /* [groups + 1] */
};

/* Rows and columns count from 1; 0 stands for "none". */
static int64_t cost_of(const struct assignment *a, uint32_t row,
		       uint32_t column)
{
	uint32_t i = a->order[column - 1];
	const struct group *group = &a->g->group[i];
	uint32_t n = a->part[row - 1], left;
	int64_t cost;

	if (group->n_nodes < n || group->n_must > n)
		return NEVER;
	left = group->n_nodes - n;
	cost = left < GPU ? left : GPU - 1;
	if (!a->g->share)
		cost -= GPU * (int64_t)groups_sum(a->g, i, n);
	return group->n_must ? cost - REQUIRED : cost;
}

/* The column with the shortest way to it, after looking from `column`. */
static uint32_t look(struct assignment *a, uint32_t column)
{
	uint32_t row = a->row_of[column], next = 0;
	int64_t least = INT64_MAX;

	a->done[column] = true;
	for (uint32_t k = 1; k <= a->g->n; k++) {
		int64_t way;

		if (a->done[k])
			continue;
		way = cost_of(a, row, k) - a->row_price[row] -
		      a->column_price[k];
		if (way < a->reach[k]) {
			a->reach[k] = way;
			a->from[k] = column;
		}
		if (a->reach[k] < least) {
			least = a->reach[k];
			next = k;
		}
	}
	for (uint32_t k = 0; k <= a->g->n; k++) {
		if (a->done[k]) {
			a->row_price[a->row_of[k]] += least;
			a->column_price[k] -= least;
		} else {
			a->reach[k] -= least;
		}
	}
	return next;
}

static void assign_row(struct assignment *a, uint32_t row)
{
	uint32_t column = 0;

	for (uint32_t k = 0; k <= a->g->n; k++) {
		a->reach[k] = INT64_MAX / 2;
		a->done[k] = false;
	}
	a->row_of[0] = row;
	do
		column = look(a, column);
	while (a->row_of[column]);
	for (; column; column = a->from[column])
		a->row_of[column] = a->row_of[a->from[column]];
}

static void sort_groups(struct assignment *a)
{
	const uint64_t *shape = a->g->s->shape;
	const struct group *group = a->g->group;

	for (uint32_t i = 0; i < a->g->n; i++) {
		uint32_t at = i;

		for (; at > 0 && shape[group[a->order[at - 1]].domain] >
					 shape[group[i].domain];
		     at--)
			a->order[at] = a->order[at - 1];
		a->order[at] = i;
	}
}

/* Whether parts may go to any group that has room: equal shares, and no node
 * that must be taken. */
static bool is_even(const struct groups *g)
{
	bool even = g->share > 0;

	for (uint32_t i = 0; even && i < g->n; i++)
		even = g->group[i].n_must == 0;
	return even;
}

/* The largest part left. */
static uint32_t largest_left(const uint32_t *part, uint32_t n_parts,
			     const bool *done)
{
	uint32_t best = n_parts;

	for (uint32_t i = 0; i < n_parts; i++)
		if (!done[i] && (best == n_parts || part[i] > part[best]))
			best = i;
	return best;
}

/* Largest part first, each to the tightest group: finds an assignment whenever
 * there is one, since what has room for a part has room for all smaller ones.
 */
static int split_evenly(struct groups *g, const uint32_t *part,
			uint32_t n_parts, struct weft_error *err)
{
	bool *done = weft_calloc(n_parts, sizeof(*done), err);
	int rc = done ? 1 : -1;

	memset(g->take, 0, g->n * sizeof(*g->take));
	for (uint32_t k = 0; rc == 1 && k < n_parts; k++) {
		uint32_t i = largest_left(part, n_parts, done), best = g->n;

		for (uint32_t to = 0; to < g->n; to++)
			if (!g->take[to] && g->group[to].n_nodes >= part[i] &&
			    (best == g->n ||
			     g->group[to].n_nodes < g->group[best].n_nodes))
				best = to;
		done[i] = true;
		if (best == g->n)
			rc = 0;
		else
			g->take[best] = part[i];
	}
	free(done);
	return rc;
}

int groups_split(struct groups *g, const uint32_t *part, uint32_t n_parts,
		 struct weft_error *err)
{
	struct assignment a = {.g = g, .part = part};
	size_t rows = (size_t)n_parts + 1, columns = (size_t)g->n + 1;
	int rc = -1;

	if (g->n < n_parts)
		return 0;
	if (weft_deadline() > 0 && (uint64_t)g->n * n_parts > HASTY_PAIRS &&
	    is_even(g))
		return split_evenly(g, part, n_parts, err);
	a.order = weft_calloc(columns, sizeof(*a.order), err);
	a.row_price = weft_calloc(rows, sizeof(*a.row_price), err);
	a.column_price = weft_calloc(columns, sizeof(*a.column_price), err);
	a.reach = weft_calloc(columns, sizeof(*a.reach), err);
	a.row_of = weft_calloc(columns, sizeof(*a.row_of), err);
	a.from = weft_calloc(columns, sizeof(*a.from), err);
	a.done = weft_calloc(columns, sizeof(*a.done), err);
	if (!a.order || !a.row_price || !a.column_price || !a.reach ||
	    !a.row_of || !a.from || !a.done)
		goto out;
	sort_groups(&a);
	for (uint32_t row = 1; row <= n_parts; row++) {
		if (weft_deadline_check(err))
			goto out;
		assign_row(&a, row);
	}
	memset(g->take, 0, g->n * sizeof(*g->take));
	rc = 1;
	for (uint32_t k = 1; k <= g->n; k++) {
		if (!a.row_of[k])
			continue;
		if (cost_of(&a, a.row_of[k], k) == NEVER)
			rc = 0;
		g->take[a.order[k - 1]] = part[a.row_of[k] - 1];
	}
out:
	free(a.order);
	free(a.row_price);
	free(a.column_price);
	free(a.reach);
	free(a.row_of);
	free(a.from);
	free(a.done);
	return rc;
}
