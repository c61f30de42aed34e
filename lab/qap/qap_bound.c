/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_bound.c - what no assignment can cost less than
 *
 * Gilmore (1962) and Lawler (1963): with facility i at location k, its row of a
 * meets the row of k at no less than the scalar product of one
 * weft_compare_integers with the other weft_compare_integers_down; the least
 * assignment of these is a bound.  A dual ascent goes on from there where the
 * problem is small; where it is large, and there is no time, all entries meet
 * in one order.
 */
#include "base/compare.h"
#include "lab/qap/lap.h"
#include "lab/qap/qap.h"
#include "lab/qap/qap_form.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Larger problems would need over 50 MB. */
#define QAP_ASCENT_MAX 50

/* ---- a dual ascent that raises the bound of small problems ---- */

/* Hahn and Grant 1998, a dual of the level-1 linearisation.  There is a cost
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

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return llabs(a);
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

/* Raises *bound where it can, until a round gains next to nothing or the
 * effort is spent.  Entries are within qap_check_size. */
static int qap_ascent(const struct qap *q, struct effort *effort,
		      int64_t *bound, struct weft_error *err)
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

/* ---- Gilmore and Lawler, and which bound to use ---- */

/* Up to here Gilmore and Lawler's bound takes a tenth of a second: it is made
 * whatever the effort. */
#define ALWAYS 256

struct bound {
	uint32_t n;
	int64_t *a, *b; /* as qap, or both transposed, or symmetrised */
	int64_t *
		rows_a; /* [n][n - 1] off the diagonal, weft_compare_integers */
	int64_t *rows_b;      /* weft_compare_integers_down */
	int64_t *least;	      /* [n][n] of facility by location */
	int64_t *price;	      /* [2 * n] */
	uint32_t *assignment; /* [n] */
	void *scratch;
};

static void sort_rows(const int64_t *m, uint32_t n, int64_t *rows,
		      int (*order)(const void *, const void *))
{
	for (size_t i = 0; i < n; i++) {
		int64_t *row = rows + i * (n - 1);
		size_t count = 0;

		for (size_t j = 0; j < n; j++)
			if (j != i)
				row[count++] = m[i * n + j];
		qsort(row, count, sizeof(*row), order);
	}
}

static int64_t product(const int64_t *a, const int64_t *b, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* All entries off the diagonal as one row, and the diagonals as another: worse
 * than Gilmore and Lawler's, but as good as at once. */
static int64_t meet_in_order(struct bound *b)
{
	size_t n = b->n, off = n * (n - 1);
	int64_t *on_a = b->price, *on_b = b->price + n;

	sort_rows(b->a, b->n, b->rows_a, weft_compare_integers);
	sort_rows(b->b, b->n, b->rows_b, weft_compare_integers_down);
	qsort(b->rows_a, off, sizeof(*b->rows_a), weft_compare_integers);
	qsort(b->rows_b, off, sizeof(*b->rows_b), weft_compare_integers_down);
	for (size_t i = 0; i < n; i++) {
		on_a[i] = b->a[i * n + i];
		on_b[i] = b->b[i * n + i];
	}
	qsort(on_a, n, sizeof(*on_a), weft_compare_integers);
	qsort(on_b, n, sizeof(*on_b), weft_compare_integers_down);
	return product(b->rows_a, b->rows_b, off) + product(on_a, on_b, n);
}

/* INT64_MIN: a large problem and no effort left for it. */
static int64_t gilmore_lawler(struct bound *b, struct effort *effort)
{
	size_t n = b->n;

	sort_rows(b->a, b->n, b->rows_a, weft_compare_integers);
	sort_rows(b->b, b->n, b->rows_b, weft_compare_integers_down);
	for (size_t i = 0; i < n; i++) {
		if (n > ALWAYS && effort_spent(effort))
			return INT64_MIN;
		effort_spend(effort, n * n);
		for (size_t k = 0; k < n; k++)
			b->least[i * n + k] =
				b->a[i * n + i] * b->b[k * n + k] +
				product(b->rows_a + i * (n - 1),
					b->rows_b + k * (n - 1), n - 1);
	}
	return lap_solve(b->n, b->least, b->n, b->assignment, b->price,
			 b->price + n, b->scratch);
}

static bool is_symmetric(const int64_t *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (m[i * n + j] != m[j * n + i])
				return false;
	return true;
}

/* m + its transpose. */
static void fold(int64_t *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			int64_t sum = m[i * n + j] + m[j * n + i];

			m[i * n + j] = m[j * n + i] = sum;
		}
	}
}

static void transpose(int64_t *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			int64_t x = m[i * n + j];

			m[i * n + j] = m[j * n + i];
			m[j * n + i] = x;
		}
	}
}

/* Greatest number that divides all entries on the diagonal, or all off it. */
static int64_t divisor(const int64_t *m, size_t n, bool diagonal)
{
	int64_t g = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			if ((i == j) == diagonal)
				g = common_divisor(g, m[i * n + j]);
	return g;
}

/* Every cost is a multiple of this, 0 if every cost is 0. */
static int64_t grain(const struct qap *q, bool symmetric)
{
	int64_t off = divisor(q->a, q->n, false) * divisor(q->b, q->n, false);
	int64_t on = divisor(q->a, q->n, true) * divisor(q->b, q->n, true);

	return common_divisor(symmetric ? 2 * off : off, on);
}

static void bound_free(struct bound *b)
{
	free(b->a);
	free(b->b);
	free(b->rows_a);
	free(b->rows_b);
	free(b->least);
	free(b->price);
	free(b->assignment);
	free(b->scratch);
}

static int bound_make(struct bound *b, const struct qap *q,
		      struct weft_error *err)
{
	size_t n = q->n, bytes = n * n * sizeof(int64_t);

	*b = (struct bound){
		.n = q->n,
		.a = weft_calloc(n * n, sizeof(int64_t), err),
		.b = weft_calloc(n * n, sizeof(int64_t), err),
		.rows_a = weft_calloc(n * n, sizeof(int64_t), err),
		.rows_b = weft_calloc(n * n, sizeof(int64_t), err),
		.least = weft_calloc(n * n, sizeof(int64_t), err),
		.price = weft_calloc(n, 2 * sizeof(int64_t), err),
		.assignment = weft_calloc(n, sizeof(*b->assignment), err),
		.scratch = weft_calloc(lap_scratch_size(q->n), 1, err),
	};
	if (!b->a || !b->b || !b->rows_a || !b->rows_b || !b->least ||
	    !b->price || !b->assignment || !b->scratch)
		return -1;
	memcpy(b->a, q->a, bytes);
	memcpy(b->b, q->b, bytes);
	return 0;
}

static int64_t max_number(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int qap_bound(const struct qap *q, struct effort *effort, int64_t *bound,
	      struct weft_error *err)
{
	size_t n = q->n;
	bool a_symmetric = is_symmetric(q->a, n);
	bool b_symmetric = is_symmetric(q->b, n);
	int64_t unit;
	struct bound b;
	int rc = -1;

	if (qap_check_size(q, err) != 0)
		return -1;
	if (bound_make(&b, q, err) != 0)
		goto out;
	*bound = n == 0 ? 0 : n > ALWAYS ? meet_in_order(&b) : INT64_MIN;
	if (n > 0)
		*bound = max_number(*bound, gilmore_lawler(&b, effort));
	if (!a_symmetric && !b_symmetric && !effort_spent(effort)) {
		transpose(b.a, n);
		transpose(b.b, n);
		*bound = max_number(*bound, gilmore_lawler(&b, effort));
	} else if (a_symmetric != b_symmetric && !effort_spent(effort)) {
		/* one side's direction does not matter: nor the other's */
		fold(b.a, n);
		fold(b.b, n);
		*bound = max_number(*bound,
				    divide_up(gilmore_lawler(&b, effort), 4));
	}
	if (qap_ascent(q, effort, bound, err) != 0)
		goto out;
	unit = grain(q, a_symmetric && b_symmetric);
	if (unit > 1)
		*bound = divide_up(*bound, unit) * unit;
	rc = 0;
out:
	bound_free(&b);
	return rc;
}
