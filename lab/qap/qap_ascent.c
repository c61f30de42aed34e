/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_ascent.c - a dual ascent that raises the bound of small problems
 *
 * Hahn and Grant 1998, a dual of the level-1 linearisation.  There is a cost
 * for every pair of decisions, "i at j and k at l", and one for every single
 * decision.  All of them may be moved about as long as every assignment costs
 * the same:
 *  - a pair is the same pair seen from its other decision;
 *  - what the pairs of "i at j" cost at least, by a linear assignment, "i at j"
 *    costs itself;
 *  - the single decisions cost at least their linear assignment: that is the
 *    bound; what is left of each goes back to its pairs.
 * What stays behind is never negative after the first round, so the bound holds
 * whenever one stops.  Integers all through, scaled up so that the shares given
 * back do not get lost in rounding.
 */
#include "lab/qap/qap_ascent.h"
#include "lab/qap/lap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 1000

struct ascent {
	uint32_t n;
	int64_t *pair;	      /* [n * n][n * n] of decisions i * n + j */
	int64_t *single;      /* [n * n] */
	int64_t *square;      /* scratch: one linear assignment */
	int64_t *price;	      /* [2 * n] */
	uint32_t *assignment; /* [n] */
	void *scratch;
	int64_t gained, scale;
};

static void ascent_free(struct ascent *a)
{
	free(a->pair);
	free(a->single);
	free(a->square);
	free(a->price);
	free(a->assignment);
	free(a->scratch);
}

/* Up to 2^10, as long as no cost leaves 2^60. */
static int64_t scale_of(const struct qap *q)
{
	int64_t scale = 1 << 10;
	double a = 1, b = 1;

	for (size_t i = 0; i < (size_t)q->n * q->n; i++) {
		double va = (double)llabs(q->a[i]), vb = (double)llabs(q->b[i]);

		a = va > a ? va : a;
		b = vb > b ? vb : b;
	}
	while (scale > 1 && a * b * q->n * q->n * (double)scale > 0x1p60)
		scale /= 2;
	return scale;
}

static int ascent_make(struct ascent *a, const struct qap *q,
		       struct weft_error *err)
{
	size_t n = q->n, n2 = n * n;

	*a = (struct ascent){
		.n = q->n,
		.scale = scale_of(q),
		.pair = weft_calloc(n2, n2 * sizeof(*a->pair), err),
		.single = weft_calloc(n2, sizeof(*a->single), err),
		.square = weft_calloc(n2, sizeof(*a->square), err),
		.price = weft_calloc(n, 2 * sizeof(*a->price), err),
		.assignment = weft_calloc(n, sizeof(*a->assignment), err),
		.scratch = weft_calloc(lap_scratch_size(q->n), 1, err),
	};
	if (!a->pair || !a->single || !a->square || !a->price ||
	    !a->assignment || !a->scratch)
		return -1;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			int64_t *row = a->pair + (i * n + j) * n2;

			a->single[i * n + j] =
				a->scale * q->a[i * n + i] * q->b[j * n + j];
			for (size_t k = 0; k < n; k++)
				for (size_t l = 0; l < n; l++)
					row[k * n + l] = a->scale *
							 q->a[i * n + k] *
							 q->b[j * n + l];
		}
	}
	return 0;
}

/* Gives what is left of "i at j" to its pairs: each of the n - 1 others pays a
 * part, wherever it is. */
static void share_out(struct ascent *a, size_t i, size_t j)
{
	size_t n = a->n, ij = i * n + j;
	int64_t others = (int64_t)n - 1, share = a->single[ij] / others;
	int64_t rest = a->single[ij] % others;

	if (rest < 0) {
		share--;
		rest += others;
	}
	a->single[ij] = 0;
	for (size_t k = 0; k < n; k++) {
		int64_t part = share + (rest > 0);

		if (k == i)
			continue;
		for (size_t l = 0; l < n; l++)
			a->pair[ij * n * n + k * n + l] += part;
		rest--;
	}
}

/* What the pairs of "i at j" cost; `all`: what the other side still has too. */
static void collect(struct ascent *a, size_t i, size_t j, bool all)
{
	size_t n = a->n, n2 = n * n, ij = i * n + j;
	int64_t *to = a->square;

	for (size_t k = 0; k < n; k++) {
		for (size_t l = 0; l < n; l++) {
			int64_t *back = &a->pair[(k * n + l) * n2 + ij];

			if (k == i || l == j)
				continue;
			*to = a->pair[ij * n2 + k * n + l];
			if (all) {
				*to += *back;
				*back = 0;
			}
			to++;
		}
	}
}

/* Puts back what the linear assignment of the collected costs left. */
static void put_back(struct ascent *a, size_t i, size_t j)
{
	size_t n = a->n, ij = i * n + j;
	const int64_t *from = a->square, *row = a->price, *column = row + n;

	for (size_t k = 0, r = 0; k < n; k++) {
		if (k == i)
			continue;
		for (size_t l = 0, c = 0; l < n; l++)
			if (l != j)
				a->pair[ij * n * n + k * n + l] =
					*from++ - row[r] - column[c++];
		r++;
	}
}

/* The bound is what the single decisions cost at least. */
static void gain(struct ascent *a)
{
	size_t n = a->n;

	a->gained += lap_solve(a->n, a->single, a->n, a->assignment, a->price,
			       a->price + n, a->scratch);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			a->single[i * n + j] -= a->price[i] + a->price[n + j];
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Every decision once, in an order that differs from round to round: those that
 * come early take most.  The first round leaves each pair both its halves,
 * which gives the bound of Gilmore and Lawler.  False: interrupted; in the
 * first round some costs may be negative then. */
static bool run_round(struct ascent *a, bool first, struct effort *effort)
{
	uint32_t m = a->n - 1, count = a->n * a->n, step;
	uint64_t at = effort_below(effort, count);

	do
		step = 1 + effort_below(effort, count - 1);
	while (common_divisor(step, count) != 1);
	for (uint32_t ij = 0; ij < count; ij++)
		share_out(a, ij / a->n, ij % a->n);
	for (uint32_t e = 0; e < count; e++, at = (at + step) % count) {
		size_t i = at / a->n, j = at % a->n;

		if (effort_spent(effort))
			return false;
		effort_spend(effort, 4 * (uint64_t)count);
		collect(a, i, j, !first);
		a->single[at] =
			lap_solve(m, a->square, m, a->assignment, a->price,
				  a->price + a->n, a->scratch);
		put_back(a, i, j);
	}
	return true;
}

static int64_t divide_up(int64_t a, int64_t by)
{
	return a / by + (a % by > 0);
}

int qap_ascent(const struct qap *q, struct effort *effort, int64_t *bound,
	       struct weft_error *err)
{
	struct ascent a = {0};
	int rc = -1;

	if (q->n < 3 || q->n > QAP_ASCENT_MAX || effort_spent(effort))
		return 0;
	if (ascent_make(&a, q, err) != 0)
		goto out;
	rc = 0;
	for (int round = 0; round < MAX_ROUNDS; round++) {
		int64_t before = a.gained, least = llabs(before) / 20000;
		bool whole = run_round(&a, round == 0, effort);

		if (!whole && round == 0)
			goto out;
		gain(&a);
		/* the first rounds are uneven */
		if (!whole || (round > 20 && a.gained - before <= least))
			break;
	}
	if (divide_up(a.gained, a.scale) > *bound)
		*bound = divide_up(a.gained, a.scale);
out:
	ascent_free(&a);
	return rc;
}
