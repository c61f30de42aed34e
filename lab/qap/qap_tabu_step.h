/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_tabu_step.h - what every swap would change, kept up to date
 *
 * A part of qap_tabu_cell.h: on numbers of type `cell`.
 *
 * gain[i][k] is what piece i would cost at spot k with all others as they are;
 * a swap of u and v adds alpha[i] * beta[k] to it, a product of two differences
 * of rows.  delta[i][j], what the swap of i and j changes, is made of four
 * gains, so it changes by (alpha[i] - alpha[j]) * (beta[i] - beta[j]) with beta
 * taken where the pieces are; only the rows of u and v are formed anew.
 */
#ifndef WEFT_LAB_QAP_QAP_TABU_STEP_H
#define WEFT_LAB_QAP_QAP_TABU_STEP_H

#include "lab/qap/qap_tabu.h"

#include <string.h>

#define LANES  16 /* cells that rows are padded to */
#define N_ROWS 4  /* whose updates are made together */
#define ALIGN  64 /* bytes of a vector register */
/* Updates of gain made in one go: its table is larger than the first cache. */
#define N_STEPS 4

/* A pair that may never be swapped: it changes nothing. */
#define NEVER INT32_MAX

/* Differences of the rows of the two that are swapped. */
struct step {
	cell *alpha; /* by piece */
	cell *beta;  /* by piece, at its spot */
	cell *spot;  /* the same by spot */
};

struct tabu {
	const struct qap_form *f;
	void *block; /* all arrays below */
	uint32_t n, stride;
	uint64_t n_pairs;
	cell *s, *t, *x, *y;   /* x == NULL: symmetric */
	cell *gain, *delta;    /* delta: both triangles where written */
	int32_t *gate;	       /* pair is tabu until then */
	int32_t *until;	       /* piece may not be at spot before */
	int32_t *left;	       /* the same, spot by piece */
	cell *row, *sum, *far; /* collected for renew_row */
	int32_t *mine;
	bool has_alike;
	/* Swaps that gain has not seen yet; even (of s and t) and odd (of x and
	 * y) are those of the last swap. */
	struct step step[N_STEPS];
	const struct step *even, *odd;
	uint32_t n_due;
	cell *own;     /* gain of a piece where it is */
	cell *least;   /* admissible in each column of delta */
	uint32_t *end; /* columns of each row */
	uint32_t *at;
};

static inline __attribute__((always_inline)) void raise_gains(struct tabu *b)
{
	const cell *restrict s0 = b->step[0].spot;
	const cell *restrict s1 = b->step[1].spot;
	const cell *restrict s2 = b->step[2].spot;
	const cell *restrict s3 = b->step[3].spot;

	for (uint32_t i = 0; i < b->n; i++) {
		cell *restrict row = b->gain + (size_t)i * b->stride;
		cell a0 = b->step[0].alpha[i], a1 = b->step[1].alpha[i];
		cell a2 = b->step[2].alpha[i], a3 = b->step[3].alpha[i];

		if ((a0 | a1 | a2 | a3) == 0)
			continue;
#pragma omp simd aligned(row, s0, s1, s2, s3 : ALIGN)
		for (uint32_t k = 0; k < b->stride; k++)
			row[k] += a0 * s0[k] + a1 * s1[k] + a2 * s2[k] +
				  a3 * s3[k];
	}
	b->n_due = 0;
}

/* A swap of two that are alike changes nothing. */
static void close_alike(struct tabu *b, uint32_t i)
{
	const uint32_t *pc = b->f->piece_class, *sc = b->f->spot_class;
	int32_t *gate = b->gate + (size_t)i * b->stride;

	for (uint32_t j = 0; j < b->n; j++)
		if (pc[j] == pc[i] || sc[b->at[j]] == sc[b->at[i]])
			gate[j] = NEVER;
}

/* Raises the entries of one row in column j, and gives the lower of it and
 * `best` if it is admissible: not tabu, or below `wish`. */
static inline __attribute__((always_inline)) cell
raise_entry(const struct tabu *b, uint32_t i, uint32_t j, cell best,
	    int32_t now, cell wish, bool has_odd)
{
	const cell *a = b->even->alpha, *c = b->even->beta;
	const cell *oa = b->odd->alpha, *oc = b->odd->beta;
	size_t ij = (size_t)i * b->stride + j;
	cell d = b->delta[ij] - (a[i] - a[j]) * (c[i] - c[j]);
	cell open;

	if (has_odd)
		d -= (oa[i] - oa[j]) * (oc[i] - oc[j]);
	b->delta[ij] = d;
	open = b->gate[ij] > now && d >= wish ? CELL_MAX : d;
	return open < best ? open : best;
}

/* Brings delta up to date and notes each column's least admissible entry.
 * Rows go four at a time, which end at the same column: the notes are loaded
 * and stored less often. */
static inline __attribute__((always_inline)) void
raise_deltas(struct tabu *given, int32_t now, cell wish, bool has_odd)
{
	struct tabu b = *given; /* so that no store seems to change it */
	cell *restrict least = b.least;
	uint32_t i = 0;

	for (uint32_t j = 0; j < b.stride; j++)
		least[j] = CELL_MAX;
	for (; i < b.n % N_ROWS; i++) {
#pragma omp simd
		for (uint32_t j = 0; j < b.end[i]; j++)
			least[j] = raise_entry(&b, i, j, least[j], now, wish,
					       has_odd);
	}
	for (; i < b.n; i += N_ROWS) {
#pragma omp simd
		for (uint32_t j = 0; j < b.end[i]; j++) {
			cell l = least[j];

			l = raise_entry(&b, i, j, l, now, wish, has_odd);
			l = raise_entry(&b, i + 1, j, l, now, wish, has_odd);
			l = raise_entry(&b, i + 2, j, l, now, wish, has_odd);
			l = raise_entry(&b, i + 3, j, l, now, wish, has_odd);
			least[j] = l;
		}
	}
}

/* What renew_row needs of other rows and columns, side by side. */
static inline __attribute__((always_inline)) void collect(struct tabu *b,
							  uint32_t i)
{
	const uint32_t *restrict at = b->at;
	uint32_t w = b->stride, k = at[i];
	const cell *restrict gain = b->gain + (size_t)i * w;
	const cell *restrict gain_k = b->gain + k;
	const cell *restrict t = b->t + (size_t)k * w;
	const int32_t *restrict until = b->until + (size_t)i * w;
	cell *restrict sum = b->sum, *restrict far = b->far;
	cell *restrict row = b->row;
	int32_t *restrict mine = b->mine;

	memcpy(row, gain, w * sizeof(*row));
	for (uint32_t j = 0; j < b->n; j++, gain_k += w)
		sum[j] = *gain_k;
	for (uint32_t e = 0; e < b->n_due; e++) {
		const cell *restrict alpha = b->step[e].alpha;
		const cell *restrict spot = b->step[e].spot;
		cell alpha_i = alpha[i], spot_k = spot[k];

#pragma omp simd aligned(row, sum, alpha, spot : ALIGN)
		for (uint32_t j = 0; j < w; j++) {
			row[j] += alpha_i * spot[j];
			sum[j] += alpha[j] * spot_k;
		}
	}
	for (uint32_t j = 0; j < b->n; j++) {
		uint32_t l = at[j];

		sum[j] += row[l];
		far[j] = t[l];
		mine[j] = until[l];
	}
}

/* The row of piece i from its gains, less what raise_deltas is about to add. */
static inline __attribute__((always_inline)) void
renew_row(struct tabu *b, uint32_t i, bool either, bool has_odd)
{
	size_t w = b->stride, k = b->at[i];
	const cell *restrict a = b->even->alpha, *restrict c = b->even->beta;
	const cell *restrict oa = b->odd->alpha, *restrict oc = b->odd->beta;
	const cell *restrict s = b->s + i * w, *restrict own = b->own;
	const cell *restrict sum = b->sum, *restrict far = b->far;
	const int32_t *restrict mine = b->mine;
	const int32_t *restrict other = b->left + k * w;
	cell *restrict row = b->delta + i * w;
	int32_t *restrict gate = b->gate + i * w;
	cell ai = a[i], ci = c[i], own_i = own[i];
	cell oai = has_odd ? oa[i] : 0, oci = has_odd ? oc[i] : 0;
	int32_t mask = either ? -1 : 0;

	collect(b, i);
#pragma omp simd aligned(row, gate, a, c, oa, oc, s, own, sum, far, mine,      \
			 other                                                 \
			 : ALIGN)
	for (uint32_t j = 0; j < b->n; j++) {
		int32_t low = mine[j] < other[j] ? mine[j] : other[j];
		int32_t high = mine[j] < other[j] ? other[j] : mine[j];
		cell d = sum[j] - own_i - own[j] + 2 * s[j] * far[j];

		d += (ai - a[j]) * (ci - c[j]);
		if (has_odd)
			d += (oai - oa[j]) * (oci - oc[j]);
		row[j] = d;
		gate[j] = low ^ ((low ^ high) & mask);
	}
	row[i] = 0;
	gate[i] = NEVER;
	if (b->has_alike)
		close_alike(b, i);
}

static void copy_to_column(struct tabu *b, uint32_t i)
{
	const cell *row = b->delta + (size_t)i * b->stride;
	const int32_t *gate = b->gate + (size_t)i * b->stride;

	for (uint32_t j = 0; j < b->n; j++) {
		b->delta[(size_t)j * b->stride + i] = row[j];
		b->gate[(size_t)j * b->stride + i] = gate[j];
	}
}

static inline __attribute__((always_inline)) const struct step *
add_step(struct tabu *b, const cell *m, const cell *w, const uint32_t pair[2])
{
	const struct step *step = &b->step[b->n_due++];
	const cell *restrict mu = m + (size_t)pair[0] * b->stride;
	const cell *restrict mv = m + (size_t)pair[1] * b->stride;
	const cell *restrict wu = w + (size_t)b->at[pair[0]] * b->stride;
	const cell *restrict wv = w + (size_t)b->at[pair[1]] * b->stride;
	cell *restrict alpha = step->alpha, *restrict spot = step->spot;

#pragma omp simd aligned(mu, mv, wu, wv, alpha, spot : ALIGN)
	for (uint32_t i = 0; i < b->stride; i++) {
		alpha[i] = mu[i] - mv[i];
		spot[i] = wv[i] - wu[i];
	}
	return step;
}

/* beta where the pieces are now, and the gains of those that stayed. */
static inline __attribute__((always_inline)) void
follow(struct tabu *b, const struct step *step)
{
	const cell *restrict alpha = step->alpha, *restrict spot = step->spot;
	cell *restrict own = b->own, *restrict beta = step->beta;

	for (uint32_t i = 0; i < b->n; i++) {
		beta[i] = spot[b->at[i]];
		own[i] += alpha[i] * beta[i];
	}
}

/* The gain of piece i where it is. */
static cell own_gain(const struct tabu *b, size_t i)
{
	uint32_t k = b->at[i];
	cell gain = b->gain[i * b->stride + k];

	for (uint32_t e = 0; e < b->n_due; e++)
		gain += b->step[e].alpha[i] * b->step[e].spot[k];
	return gain;
}

static inline __attribute__((always_inline)) void
swap(struct tabu *b, const uint32_t pair[2], bool either, bool has_odd)
{
	uint32_t spot = b->at[pair[0]];

	if (b->n_due == N_STEPS)
		raise_gains(b);
	b->even = add_step(b, b->s, b->t, pair);
	if (has_odd)
		b->odd = add_step(b, b->x, b->y, pair);
	b->at[pair[0]] = b->at[pair[1]];
	b->at[pair[1]] = spot;
	follow(b, b->even);
	if (has_odd)
		follow(b, b->odd);
	for (int e = 0; e < 2; e++)
		b->own[pair[e]] = own_gain(b, pair[e]);
	for (int e = 0; e < 2; e++) {
		renew_row(b, pair[e], either, has_odd);
		copy_to_column(b, pair[e]);
	}
}

/* gain[i] for all pieces where they are. */
static inline __attribute__((always_inline)) void sum_gains(struct tabu *b)
{
	const int64_t *linear = b->f->linear;
	size_t n = b->n, w = b->stride;

	for (size_t i = 0; i < n; i++) {
		cell *restrict row = b->gain + i * w;

		for (size_t k = 0; k < n; k++)
			row[k] = linear ? (cell)linear[i * n + k] : 0;
		for (size_t j = 0; j < n; j++) {
			const cell *restrict t = b->t + b->at[j] * w;
			cell s = b->s[i * w + j];

#pragma omp simd aligned(row, t : ALIGN)
			for (size_t k = 0; k < (s != 0 ? w : 0); k++)
				row[k] += s * t[k];
			if (!b->x)
				continue;
			s = b->x[i * w + j];
			t = b->y + b->at[j] * w;
#pragma omp simd aligned(row, t : ALIGN)
			for (size_t k = 0; k < w; k++)
				row[k] -= s * t[k];
		}
	}
}

/* All of it once for each kind of vector unit, chosen when the program runs:
 * distributions build for the oldest. */
struct unit {
	void (*sum)(struct tabu *b);
	void (*swap)(struct tabu *b, const uint32_t pair[2], bool either);
	void (*raise)(struct tabu *b, int32_t now, cell wish);
};

#define UNIT(NAME, TARGET)                                                     \
	TARGET static void NAME##_sum(struct tabu *b)                          \
	{                                                                      \
		sum_gains(b);                                                  \
	}                                                                      \
	TARGET static void NAME##_swap(struct tabu *b, const uint32_t pair[2], \
				       bool either)                            \
	{                                                                      \
		if (b->x)                                                      \
			swap(b, pair, either, true);                           \
		else                                                           \
			swap(b, pair, either, false);                          \
	}                                                                      \
	TARGET static void NAME##_raise(struct tabu *b, int32_t now,           \
					cell wish)                             \
	{                                                                      \
		if (b->x)                                                      \
			raise_deltas(b, now, wish, true);                      \
		else                                                           \
			raise_deltas(b, now, wish, false);                     \
	}                                                                      \
	static const struct unit NAME = {NAME##_sum, NAME##_swap, NAME##_raise};

UNIT(oldest, )
#ifdef __x86_64__
UNIT(avx2, __attribute__((target("arch=x86-64-v3"))))
UNIT(avx512, __attribute__((target("arch=x86-64-v4"))))
#endif

static const struct unit *unit_here(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw"))
		return &avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	    __builtin_cpu_supports("bmi2"))
		return &avx2;
#endif
	return &oldest;
}

#endif
