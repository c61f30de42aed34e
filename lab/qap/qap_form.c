/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_form.c - a quadratic assignment problem in the shape that is searched */
#include "lab/qap/qap_form.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One of the two matrices, taken apart. */
struct side {
	int64_t *even, *odd; /* m + m', m - m' without the diagonal */
	int64_t *diagonal;
	uint32_t *class;
	uint32_t n_classes, n_zeros;
	bool has_odd, has_diagonal; /* the latter: not all the same */
};

/* The value that stands most often off the diagonal.  scratch: n * n. */
static int64_t commonest(const int64_t *m, uint32_t n, int64_t *scratch)
{
	size_t count = 0, best = 0, run = 0;
	int64_t value = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (i != j)
				scratch[count++] = m[(size_t)i * n + j];
	qsort(scratch, count, sizeof(*scratch), weft_compare_integers);
	for (size_t i = 0; i < count; i++) {
		run = i > 0 && scratch[i] == scratch[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			value = scratch[i];
		}
	}
	return value;
}

/* A constant off the diagonal costs the same wherever the pieces are: without
 * the commonest value most entries are 0, and rows become alike. */
static void shift(struct side *m, uint32_t n, int64_t *scratch)
{
	int64_t value = commonest(m->even, n, scratch);

	m->n_zeros = 0;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			int64_t *e = &m->even[(size_t)i * n + j];

			*e = i == j ? 0 : *e - value;
			m->n_zeros += *e == 0;
		}
	}
}

static int64_t divisor(const int64_t *m, size_t count)
{
	int64_t g = 0;

	for (size_t i = 0; i < count && g != 1; i++) {
		int64_t a = llabs(m[i]);

		while (a) {
			int64_t rest = g % a;

			g = a;
			a = rest;
		}
	}
	return g > 1 ? g : 1;
}

static void divide(int64_t *m, size_t count)
{
	int64_t g = divisor(m, count);

	for (size_t i = 0; i < count && g > 1; i++)
		m[i] /= g;
}

static bool alike(const struct side *m, uint32_t n, uint32_t i, uint32_t j)
{
	const int64_t *ei = m->even + (size_t)i * n;
	const int64_t *ej = m->even + (size_t)j * n;
	const int64_t *oi = m->odd + (size_t)i * n;
	const int64_t *oj = m->odd + (size_t)j * n;

	if (oi[j] != 0 || m->diagonal[i] != m->diagonal[j])
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (k != i && k != j && (ei[k] != ej[k] || oi[k] != oj[k]))
			return false;
	return true;
}

static void classify(struct side *m, uint32_t n)
{
	m->n_classes = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = 0;

		while (c < i && (m->class[c] != c || !alike(m, n, c, i)))
			c++;
		m->class[i] = c;
		m->n_classes += c == i;
	}
}

static void side_free(struct side *m)
{
	free(m->even);
	free(m->odd);
	free(m->diagonal);
	free(m->class);
}

static int side_make(struct side *m, const int64_t *matrix, uint32_t n,
		     struct weft_error *err)
{
	size_t cells = (size_t)n * n;
	int64_t *scratch = weft_calloc(cells, sizeof(*scratch), err);

	*m = (struct side){
		.even = weft_calloc(cells, sizeof(*m->even), err),
		.odd = weft_calloc(cells, sizeof(*m->odd), err),
		.diagonal = weft_calloc(n, sizeof(*m->diagonal), err),
		.class = weft_calloc(n, sizeof(*m->class), err),
	};
	if (!scratch || !m->even || !m->odd || !m->diagonal || !m->class) {
		free(scratch);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		m->diagonal[i] = matrix[(size_t)i * n + i];
		m->has_diagonal |= m->diagonal[i] != m->diagonal[0];
		for (uint32_t j = 0; j < n; j++) {
			int64_t ij = matrix[(size_t)i * n + j];
			int64_t ji = matrix[(size_t)j * n + i];

			m->even[(size_t)i * n + j] = ij + ji;
			m->odd[(size_t)i * n + j] = ij - ji;
			m->has_odd |= ij != ji;
		}
	}
	shift(m, n, scratch);
	free(scratch);
	return 0;
}

/* Largest sum of absolute values over a row, and largest value. */
static void measure(const int64_t *m, uint32_t n, double *row, double *value)
{
	*row = *value = 0;
	for (uint32_t i = 0; m && i < n; i++) {
		double sum = 0;

		for (uint32_t j = 0; j < n; j++) {
			double v = fabs((double)m[(size_t)i * n + j]);

			sum += v;
			*value = fmax(*value, v);
		}
		*row = fmax(*row, sum);
	}
}

/* What a swap changes is four sums of a row of one matrix times a row of the
 * other; the update of such a change has at most 18 products of entries. */
static double reach_of(const int64_t *a, const int64_t *b, uint32_t n)
{
	double row_a, row_b, value_a, value_b;

	measure(a, n, &row_a, &value_a);
	measure(b, n, &row_b, &value_b);
	return 4 * fmin(row_a * value_b, row_b * value_a) +
	       18 * value_a * value_b;
}

int qap_check_size(const struct qap *q, struct weft_error *err)
{
	double row_a, row_b, value_a, value_b;

	measure(q->a, q->n, &row_a, &value_a);
	measure(q->b, q->n, &row_b, &value_b);
	if (fmax(value_a, value_b) < 0x1p59 &&
	    q->n * (fmin(row_a * value_b, row_b * value_a)) < 0x1p57)
		return 0;
	return weft_fail(err, WEFT_EINVAL,
			 "the entries are too large: costs would not fit in "
			 "64 bits");
}

/* Pieces in the order of their classes, the largest class first: rows of the
 * search's tables end where the own class begins, and few long rows cost less
 * than many short ones. */
static void order_pieces(struct qap_form *f, const struct side *pieces)
{
	uint32_t n = f->n, placed = 0;
	uint32_t *members = f->spot_class; /* filled only later */

	for (uint32_t i = 0; i < n; i++)
		members[pieces->class[i]]++;
	for (uint32_t size = n; size > 0; size--) {
		for (uint32_t c = 0; c < n; c++) {
			uint32_t first = placed;

			for (uint32_t i = c; i < n && members[c] == size; i++) {
				if (pieces->class[i] != c)
					continue;
				f->piece_class[placed] = first;
				f->label[placed++] = i;
			}
		}
	}
}

static void copy_ordered(int64_t *to, const int64_t *from,
			 const struct qap_form *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t j = 0; j < f->n; j++)
			to[(size_t)i * f->n + j] =
				from[(size_t)f->label[i] * f->n + f->label[j]];
}

static int fill(struct qap_form *f, const struct side *pieces,
		const struct side *spots, struct weft_error *err)
{
	uint32_t n = f->n;
	size_t cells = (size_t)n * n;

	f->s = weft_calloc(cells, sizeof(*f->s), err);
	f->t = weft_calloc(cells, sizeof(*f->t), err);
	f->piece_class = weft_calloc(n, sizeof(*f->piece_class), err);
	f->spot_class = weft_calloc(n, sizeof(*f->spot_class), err);
	f->label = weft_calloc(n, sizeof(*f->label), err);
	if (!f->s || !f->t || !f->piece_class || !f->spot_class || !f->label)
		return -1;
	f->n_piece_classes = pieces->n_classes;
	order_pieces(f, pieces);
	memcpy(f->spot_class, spots->class, n * sizeof(*f->spot_class));
	copy_ordered(f->s, pieces->even, f);
	memcpy(f->t, spots->even, cells * sizeof(*f->t));
	if (pieces->has_odd && spots->has_odd) {
		f->x = weft_calloc(cells, sizeof(*f->x), err);
		f->y = weft_calloc(cells, sizeof(*f->y), err);
		if (!f->x || !f->y)
			return -1;
		copy_ordered(f->x, pieces->odd, f);
		memcpy(f->y, spots->odd, cells * sizeof(*f->y));
	}
	if (pieces->has_diagonal && spots->has_diagonal) {
		f->linear = weft_calloc(cells, sizeof(*f->linear), err);
		if (!f->linear)
			return -1;
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n; k++)
				f->linear[i * n + k] =
					2 * pieces->diagonal[f->label[i]] *
					spots->diagonal[k];
	}
	if (!f->x && !f->linear) {
		divide(f->s, cells);
		divide(f->t, cells);
	}
	return 0;
}

int qap_form_make(struct qap_form *f, const struct qap *q,
		  struct weft_error *err)
{
	struct side a = {0}, b = {0};
	double row, value;
	int rc = -1;

	*f = (struct qap_form){.n = q->n};
	if (qap_check_size(q, err) != 0)
		return -1;
	if (side_make(&a, q->a, q->n, err) != 0 ||
	    side_make(&b, q->b, q->n, err) != 0)
		goto out;
	classify(&a, q->n);
	classify(&b, q->n);
	/* fewer classes, fewer moves; more zeros, cheaper updates */
	f->inverse = b.n_classes != a.n_classes ? b.n_classes < a.n_classes
						: b.n_zeros > a.n_zeros;
	if (fill(f, f->inverse ? &b : &a, f->inverse ? &a : &b, err) != 0)
		goto out;
	measure(f->linear, q->n, &row, &value);
	f->reach = reach_of(f->s, f->t, q->n) + 4 * value;
	f->reach += f->x ? reach_of(f->x, f->y, q->n) : 0;
	rc = 0;
out:
	side_free(&a);
	side_free(&b);
	if (rc != 0)
		qap_form_free(f);
	return rc;
}

void qap_form_free(struct qap_form *f)
{
	free(f->s);
	free(f->t);
	free(f->x);
	free(f->y);
	free(f->linear);
	free(f->piece_class);
	free(f->spot_class);
	free(f->label);
	*f = (struct qap_form){0};
}

void qap_form_location(const struct qap_form *f, const uint32_t *at,
		       uint32_t *location)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->inverse)
			location[at[i]] = f->label[i];
		else
			location[f->label[i]] = at[i];
	}
}

int64_t qap_form_cost(const struct qap_form *f, const uint32_t *at)
{
	size_t n = f->n;
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		const int64_t *s = f->s + i * n, *t = f->t + at[i] * n;

		for (size_t j = 0; j < i; j++)
			sum += s[j] * t[at[j]];
		if (f->linear)
			sum += f->linear[i * n + at[i]];
		if (!f->x)
			continue;
		for (size_t j = 0; j < i; j++)
			sum += f->x[i * n + j] * f->y[at[i] * n + at[j]];
	}
	return sum;
}
