/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_tabu_cell.h - the tabu search itself, on numbers of type `cell`
 *
 * Included once by each qap_tabu_<width>.c, after cell, CELL_MAX and TABU_KIND.
 */
#ifndef WEFT_LAB_QAP_QAP_TABU_CELL_H
#define WEFT_LAB_QAP_QAP_TABU_CELL_H

#include "lab/qap/qap_tabu_step.h"

#include <stdlib.h>

/* What a swap must change at least to give a new best.  Costs may be further
 * apart than a cell holds; no swap changes as much. */
static cell wish_of(int64_t best, int64_t cost)
{
	return best - cost > -CELL_MAX ? (cell)(best - cost) : -CELL_MAX;
}

static void start(struct tabu *b, const struct unit *unit,
		  const struct tabu_run *run, cell wish)
{
	uint32_t n = b->n;

	memcpy(b->at, run->at, n * sizeof(*b->at));
	memset(b->until, 0, (size_t)n * b->stride * sizeof(*b->until));
	memset(b->left, 0, (size_t)n * b->stride * sizeof(*b->left));
	for (uint32_t e = 0; e < N_STEPS; e++)
		memset(b->step[e].alpha, 0, b->stride * sizeof(cell));
	b->even = &b->step[0];
	b->odd = &b->step[1];
	b->n_due = 0;
	unit->sum(b);
	for (size_t i = 0; i < n; i++)
		b->own[i] = b->gain[i * b->stride + b->at[i]];
	for (uint32_t i = 0; i < n; i++)
		renew_row(b, i, run->either, b->x != NULL);
	unit->raise(b, 0, wish);
}

/* A pair with the least entry; columns and rows are looked through from a
 * random one on, since ties are common.  False: everything is tabu. */
static bool choose(const struct tabu *b, int32_t now, cell wish,
		   struct effort *effort, uint32_t pair[2])
{
	uint64_t random = effort_random(effort);
	uint32_t n = b->n, i = (uint32_t)((random & UINT32_MAX) * n >> 32);
	uint32_t j = (uint32_t)((random >> 32) * n >> 32);
	cell least = CELL_MAX;

#pragma omp simd reduction(min : least)
	for (uint32_t r = 0; r < n; r++)
		least = b->least[r] < least ? b->least[r] : least;
	if (least == CELL_MAX)
		return false;
	while (b->least[j] != least)
		j = j + 1 < n ? j + 1 : 0;
	for (;;) {
		size_t ij = (size_t)i * b->stride + j;

		if (b->delta[ij] == least && j < b->end[i] &&
		    (b->gate[ij] <= now || least < wish))
			break;
		i = i + 1 < n ? i + 1 : 0;
	}
	pair[0] = i;
	pair[1] = j;
	return true;
}

static void forbid(struct tabu *b, const struct tabu_run *run,
		   const uint32_t pair[2], int32_t now, struct effort *effort)
{
	const uint32_t *class = b->f->piece_class;
	uint32_t span = run->longest - run->shortest + 1;

	for (int e = 0; e < 2; e++) {
		uint32_t i = pair[e], k = b->at[i];
		uint32_t wait = run->shortest + effort_below(effort, span);

		/* all that are alike are neighbours */
		for (uint32_t j = class[i]; j < b->n && class[j] == class[i];
		     j++) {
			b->until[(size_t)j * b->stride + k] =
				now + (int32_t)wait;
			b->left[(size_t)k * b->stride + j] =
				now + (int32_t)wait;
		}
	}
}

static void tabu_search(struct tabu *b, struct tabu_run *run,
			struct effort *effort)
{
	const struct unit *unit = unit_here();
	uint64_t check = 1 + 20000 / b->n_pairs, patience = run->patience;
	int64_t cost;

	run->cost = cost = qap_form_cost(b->f, run->at);
	start(b, unit, run, 0);
	for (int32_t now = 1; now < INT32_MAX / 2 && patience > 0; now++) {
		uint32_t pair[2];

		effort_spend(effort, b->n_pairs);
		if ((uint64_t)now % check == 0 && effort_spent(effort))
			break;
		if (!choose(b, now - 1, wish_of(run->cost, cost), effort, pair))
			break;
		cost += b->delta[(size_t)pair[0] * b->stride + pair[1]];
		forbid(b, run, pair, now, effort);
		unit->swap(b, pair, run->either);
		patience--;
		if (cost < run->cost) {
			run->cost = cost;
			memcpy(run->at, b->at, b->n * sizeof(*b->at));
			patience = run->patience;
		}
		unit->raise(b, now, wish_of(run->cost, cost));
	}
}

static void *carve(char **from, size_t count, size_t size)
{
	void *p = *from;

	*from += (count * size + ALIGN - 1) / ALIGN * ALIGN;
	return p;
}

static void carve_step(struct tabu *b, char **from, struct step *step)
{
	step->alpha = carve(from, b->stride, sizeof(cell));
	step->beta = carve(from, b->stride, sizeof(cell));
	step->spot = carve(from, b->stride, sizeof(cell));
}

static void carve_all(struct tabu *b, bool has_odd)
{
	size_t cells = (size_t)b->n * b->stride;
	char *from = (char *)b->block;

	from += (ALIGN - (uintptr_t)from % ALIGN) % ALIGN;
	b->s = carve(&from, cells, sizeof(cell));
	b->t = carve(&from, cells, sizeof(cell));
	b->gain = carve(&from, cells, sizeof(cell));
	b->delta = carve(&from, cells, sizeof(cell));
	b->gate = carve(&from, cells, sizeof(*b->gate));
	b->until = carve(&from, cells, sizeof(*b->until));
	b->left = carve(&from, cells, sizeof(*b->left));
	for (uint32_t e = 0; e < N_STEPS; e++)
		carve_step(b, &from, &b->step[e]);
	b->own = carve(&from, b->stride, sizeof(cell));
	b->sum = carve(&from, b->stride, sizeof(cell));
	b->row = carve(&from, b->stride, sizeof(cell));
	b->far = carve(&from, b->stride, sizeof(cell));
	b->mine = carve(&from, b->stride, sizeof(*b->mine));
	b->least = carve(&from, b->stride, sizeof(cell));
	b->end = carve(&from, b->stride, sizeof(*b->end));
	b->at = carve(&from, b->stride, sizeof(*b->at));
	if (!has_odd)
		return;
	b->x = carve(&from, cells, sizeof(cell));
	b->y = carve(&from, cells, sizeof(cell));
}

static void copy_cells(const struct tabu *b, cell *to, const int64_t *from)
{
	for (size_t i = 0; i < b->n; i++)
		for (size_t j = 0; j < b->n; j++)
			to[i * b->stride + j] = (cell)from[i * b->n + j];
}

static void tabu_free(struct tabu *b)
{
	if (!b)
		return;
	free(b->block);
	free(b);
}

/* Rows end below the own class, or where whole vectors and the row's group of
 * N_ROWS reach: entries beyond the diagonal are copies. */
static void set_ends(struct tabu *b)
{
	const uint32_t *class = b->f->piece_class;

	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t single = b->n % N_ROWS;
		uint32_t last =
			i < single ? i
				   : i + (N_ROWS - 1 - (i - single) % N_ROWS);
		uint32_t end = (class[last] + LANES - 1) / LANES * LANES;

		b->end[i] = end < b->n ? end : b->n;
		b->n_pairs += class[i];
	}
}

static struct tabu *tabu_make(const struct qap_form *f, struct weft_error *err)
{
	struct tabu *b = weft_calloc(1, sizeof(*b), err);
	size_t arrays = f->x ? 9 : 7, rows;

	if (!b)
		return NULL;
	b->f = f;
	b->n = f->n;
	b->stride = (f->n + LANES - 1) / LANES * LANES;
	rows = arrays * f->n + 8 + 3 * N_STEPS; /* vectors: one row each */
	b->block = weft_calloc(rows * b->stride + ALIGN, sizeof(cell), err);
	if (!b->block) {
		tabu_free(b);
		return NULL;
	}
	carve_all(b, f->x != NULL);
	copy_cells(b, b->s, f->s);
	copy_cells(b, b->t, f->t);
	if (f->x) {
		copy_cells(b, b->x, f->x);
		copy_cells(b, b->y, f->y);
	}
	set_ends(b);
	b->n_pairs += b->n_pairs == 0;
	for (uint32_t i = 0; i < b->n; i++)
		b->has_alike |= f->piece_class[i] != i || f->spot_class[i] != i;
	return b;
}

const struct tabu_kind TABU_KIND = {
	.reach = sizeof(cell) == sizeof(int32_t) ? 0x1p30 : 0x1p61,
	.make = tabu_make,
	.free = tabu_free,
	.run = tabu_search,
};

#endif
