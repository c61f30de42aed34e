/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_bound.c - what no assignment can cost less than
 *
 * Gilmore (1962) and Lawler (1963): with facility i at location k, its row of a
 * meets the row of k at no less than the scalar product of one ascending with
 * the other descending; the least assignment of these is a bound.  A dual
 * ascent goes on from there where the problem is small; where it is large, and
 * there is no time, all entries meet in one order.
 */
#include "lab/qap/lap.h"
#include "lab/qap/qap_ascent.h"
#include "lab/qap/qap_form.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Up to here Gilmore and Lawler's bound takes a tenth of a second: it is made
 * whatever the effort. */
#define ALWAYS 256

struct bound {
	uint32_t n;
	int64_t *a, *b;	      /* as qap, or both transposed, or symmetrised */
	int64_t *rows_a;      /* [n][n - 1] off the diagonal, ascending */
	int64_t *rows_b;      /* descending */
	int64_t *least;	      /* [n][n] of facility by location */
	int64_t *price;	      /* [2 * n] */
	uint32_t *assignment; /* [n] */
	void *scratch;
};

static int ascending(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

static int descending(const void *pa, const void *pb)
{
	return ascending(pb, pa);
}

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

	sort_rows(b->a, b->n, b->rows_a, ascending);
	sort_rows(b->b, b->n, b->rows_b, descending);
	qsort(b->rows_a, off, sizeof(*b->rows_a), ascending);
	qsort(b->rows_b, off, sizeof(*b->rows_b), descending);
	for (size_t i = 0; i < n; i++) {
		on_a[i] = b->a[i * n + i];
		on_b[i] = b->b[i * n + i];
	}
	qsort(on_a, n, sizeof(*on_a), ascending);
	qsort(on_b, n, sizeof(*on_b), descending);
	return product(b->rows_a, b->rows_b, off) + product(on_a, on_b, n);
}

/* INT64_MIN: a large problem and no effort left for it. */
static int64_t gilmore_lawler(struct bound *b, struct effort *effort)
{
	size_t n = b->n;

	sort_rows(b->a, b->n, b->rows_a, ascending);
	sort_rows(b->b, b->n, b->rows_b, descending);
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

static int64_t divide_up(int64_t a, int64_t by)
{
	return a / by + (a % by > 0);
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
