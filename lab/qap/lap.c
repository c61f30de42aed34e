/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lap.c - the linear assignment problem, by shortest augmenting paths
 *
 * As Jonker and Volgenant 1987: columns take their cheapest row first, which
 * settles most of them, then each row left over looks for the shortest path to
 * a free column in reduced costs.
 */
#include "lab/qap/lap.h"

#include <stdbool.h>

#define NO_ROW UINT32_MAX

struct lap {
	uint32_t n, stride;
	const int64_t *cost;
	int64_t *row, *column;
	uint32_t *column_of;
	int64_t *length; /* of the shortest path to each column */
	uint32_t *row_of, *before;
	bool *reached;
};

size_t lap_scratch_size(uint32_t n)
{
	return n * (sizeof(int64_t) + 2 * sizeof(uint32_t) + sizeof(bool));
}

static int64_t reduced(const struct lap *l, uint32_t i, uint32_t j)
{
	return l->cost[(size_t)i * l->stride + j] - l->row[i] - l->column[j];
}

/* Prices that leave no cost negative, and the zeros that do not conflict. */
static void reduce(struct lap *l)
{
	for (uint32_t j = 0; j < l->n; j++) {
		l->column[j] = l->cost[j];
		l->row_of[j] = NO_ROW;
	}
	for (uint32_t i = 1; i < l->n; i++) {
		const int64_t *cost = l->cost + (size_t)i * l->stride;

		for (uint32_t j = 0; j < l->n; j++)
			if (cost[j] < l->column[j])
				l->column[j] = cost[j];
	}
	for (uint32_t i = 0; i < l->n; i++) {
		const int64_t *cost = l->cost + (size_t)i * l->stride;
		uint32_t best = NO_ROW;

		l->row[i] = cost[0] - l->column[0];
		for (uint32_t j = 1; j < l->n; j++)
			if (cost[j] - l->column[j] < l->row[i])
				l->row[i] = cost[j] - l->column[j];
		for (uint32_t j = 0; j < l->n && best == NO_ROW; j++)
			if (l->row_of[j] == NO_ROW && reduced(l, i, j) == 0)
				best = j;
		l->column_of[i] = best;
		if (best != NO_ROW)
			l->row_of[best] = i;
	}
}

/* Settles columns by growing distance until one is free; returns it. */
static uint32_t find_free(struct lap *l, uint32_t from, int64_t *shortest)
{
	uint32_t i = from, j = NO_ROW;
	int64_t base = 0;

	for (uint32_t k = 0; k < l->n; k++) {
		l->length[k] = INT64_MAX;
		l->reached[k] = false;
	}
	for (;;) {
		uint32_t next = NO_ROW;

		for (uint32_t k = 0; k < l->n; k++) {
			if (l->reached[k])
				continue;
			if (base + reduced(l, i, k) < l->length[k]) {
				l->length[k] = base + reduced(l, i, k);
				l->before[k] = j;
			}
			if (next == NO_ROW || l->length[k] < l->length[next])
				next = k;
		}
		j = next;
		base = l->length[j];
		*shortest = base;
		if (l->row_of[j] == NO_ROW)
			return j;
		l->reached[j] = true;
		i = l->row_of[j];
	}
}

static void augment(struct lap *l, uint32_t from)
{
	int64_t shortest;
	uint32_t j = find_free(l, from, &shortest);

	l->row[from] += shortest;
	for (uint32_t k = 0; k < l->n; k++) {
		if (!l->reached[k])
			continue;
		l->row[l->row_of[k]] += shortest - l->length[k];
		l->column[k] -= shortest - l->length[k];
	}
	while (l->before[j] != NO_ROW) {
		l->row_of[j] = l->row_of[l->before[j]];
		l->column_of[l->row_of[j]] = j;
		j = l->before[j];
	}
	l->row_of[j] = from;
	l->column_of[from] = j;
}

int64_t lap_solve(uint32_t n, const int64_t *cost, uint32_t stride,
		  uint32_t *column_of, int64_t *row, int64_t *column,
		  void *scratch)
{
	int64_t *length = scratch, sum = 0;
	uint32_t *index = (uint32_t *)(length + n);
	struct lap l = {
		.n = n,
		.stride = stride,
		.cost = cost,
		.row = row,
		.column = column,
		.column_of = column_of,
		.length = length,
		.row_of = index,
		.before = index + n,
		.reached = (bool *)(index + 2 * (size_t)n),
	};

	if (n == 0)
		return 0;
	reduce(&l);
	for (uint32_t i = 0; i < n; i++)
		if (column_of[i] == NO_ROW)
			augment(&l, i);
	for (uint32_t i = 0; i < n; i++)
		sum += row[i] + column[i];
	return sum;
}
