/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curve.c - the fit: robust least squares of relative errors */
#include "lab/calibrate/curve.h"

#include "base/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_TERMS	     3 /* 1, sqrt(x), x with x = size / largest size */
#define N_ROUNDS     30
#define MIN_SCALE    0.02 /* errors below are noise, never outliers */
#define HUBER_TUNING 2.0
/* The rate lies between the best that was measured and this much more. */
#define RATE_MARGIN 1.25
/* One size's slowest over its fastest time, from which on they contradict. */
#define SCATTER 2.0
/* A knot further from its neighbours than this (log), and than this many
 * median distances, is an outlier. */
#define KNOT_JUMP	 0.3
#define KNOT_JUMP_SPREAD 4.0
#define MAX_OUTLIERS	 64
/* Refusals: the least growth of time over the sizes, the most descent against
 * the ascent, the most median error. */
#define MIN_GROWTH  1.5
#define MAX_DESCENT 0.6
#define MAX_MEDIAN  50.0

/* One per size, ascending. */
struct sample {
	double size, time, x, weight;
	double log_size, log_factor; /* time over the line's */
};

struct fit {
	struct sample *samples;
	double *scratch;
	uint32_t n, n_scattered;
	double term[N_TERMS];
	double largest;
	bool with_latency, with_fill;
};

WEFT_COMPARATOR(compare_points, struct weft_curve_point,
		WEFT_UP(size_bytes) WEFT_UP(time_s));

/* The lower median of each size. */
static void samples_fill(struct fit *fit, struct weft_curve_point *sorted,
			 size_t n)
{
	for (size_t i = 0, j; i < n; i = j) {
		struct sample *s = &fit->samples[fit->n++];

		for (j = i;
		     j < n && sorted[j].size_bytes == sorted[i].size_bytes;)
			j++;
		s->size = sorted[i].size_bytes;
		s->time = sorted[i + (j - i - 1) / 2].time_s;
		s->log_size = log(s->size);
		fit->n_scattered +=
			sorted[j - 1].time_s > SCATTER * sorted[i].time_s;
	}
	fit->largest = fit->samples[fit->n - 1].size;
	for (uint32_t i = 0; i < fit->n; i++)
		fit->samples[i].x = fit->samples[i].size / fit->largest;
}

static void terms_of(const struct sample *s, double out[N_TERMS])
{
	out[0] = 1;
	out[1] = sqrt(s->x);
	out[2] = s->x;
}

static double line_at(const struct fit *fit, const struct sample *s)
{
	double t[N_TERMS];

	terms_of(s, t);
	return fit->term[0] * t[0] + fit->term[1] * t[1] + fit->term[2] * t[2];
}

/* Solves the normal equations for the terms of `mask`; false where they are
 * singular or an answer is negative. */
static bool solve(double a[N_TERMS][N_TERMS], const double b[N_TERMS],
		  uint32_t mask, double out[N_TERMS])
{
	double m[N_TERMS][N_TERMS + 1];
	uint32_t at[N_TERMS], n = 0;

	for (uint32_t i = 0; i < N_TERMS; i++) {
		out[i] = 0;
		if (mask & 1u << i)
			at[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++)
			m[i][j] = a[at[i]][at[j]];
		m[i][n] = b[at[i]];
	}
	/* Positive definite, so that no row need be exchanged. */
	for (uint32_t k = 0; k < n; k++) {
		if (!(m[k][k] > 1e-12 * a[at[k]][at[k]]))
			return false;
		for (uint32_t i = 0; i < n; i++) {
			double f = i == k ? 0 : m[i][k] / m[k][k];

			for (uint32_t j = k; f != 0 && j <= n; j++)
				m[i][j] -= f * m[k][j];
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		out[at[k]] = m[k][n] / m[k][k];
		if (!(out[at[k]] >= 0))
			return false;
	}
	return true;
}

/* Weighted sum of squares of what terms leave. */
static double leftover(const struct fit *fit, const double term[N_TERMS])
{
	double sum = 0;

	for (uint32_t i = 0; i < fit->n; i++) {
		const struct sample *s = &fit->samples[i];
		double t[N_TERMS], rest;

		terms_of(s, t);
		rest = s->time - term[0] * t[0] - term[1] * t[1] -
		       term[2] * t[2];
		sum += s->weight * rest * rest;
	}
	return sum;
}

/* Least squares with no term negative, by trying every set of terms; `rate`
 * > 0 fixes the last term. */
static void solve_positive(struct fit *fit, double rate_term)
{
	double a[N_TERMS][N_TERMS] = {{0}}, b[N_TERMS] = {0}, best = HUGE_VAL;
	uint32_t free_terms = rate_term > 0 ? 3 : 7;

	if (!fit->with_latency)
		free_terms &= ~1u;
	if (!fit->with_fill)
		free_terms &= ~2u;
	for (uint32_t k = 0; k < fit->n; k++) {
		const struct sample *s = &fit->samples[k];
		double t[N_TERMS];

		terms_of(s, t);
		for (uint32_t i = 0; i < N_TERMS; i++) {
			b[i] += s->weight * t[i] * (s->time - rate_term * s->x);
			for (uint32_t j = 0; j < N_TERMS; j++)
				a[i][j] += s->weight * t[i] * t[j];
		}
	}
	for (uint32_t mask = 0; mask <= free_terms; mask++) {
		double term[N_TERMS], rest;

		if ((mask & ~free_terms) || !solve(a, b, mask, term))
			continue;
		term[2] += rate_term;
		rest = leftover(fit, term);
		if (rest < best) {
			best = rest;
			memcpy(fit->term, term, sizeof(term));
		}
	}
}

/* Huber's weights over relative errors, against their median. */
static void reweigh(struct fit *fit)
{
	double scale;

	for (uint32_t i = 0; i < fit->n; i++) {
		struct sample *s = &fit->samples[i];

		s->log_factor = log(s->time / fmax(line_at(fit, s), 1e-300));
		fit->scratch[i] = fabs(s->log_factor);
	}
	scale = fmax(1.4826 * weft_median(fit->scratch, fit->n), MIN_SCALE);
	for (uint32_t i = 0; i < fit->n; i++) {
		struct sample *s = &fit->samples[i];
		double u = fabs(s->log_factor) / (HUBER_TUNING * scale);

		s->weight = (u > 1 ? 1 / u : 1) /
			    (fmax(line_at(fit, s), 1e-300) * s->time);
	}
}

static double peak_rate(const struct fit *fit)
{
	double peak = 0;

	for (uint32_t i = 0; i < fit->n; i++)
		peak = fmax(peak, fit->samples[i].size / fit->samples[i].time);
	return peak;
}

static void iterate(struct fit *fit)
{
	double shortest = fit->largest / peak_rate(fit);

	for (uint32_t i = 0; i < fit->n; i++) {
		struct sample *s = &fit->samples[i];

		s->weight = 1 / (s->time * s->time);
	}
	for (uint32_t round = 0; round < N_ROUNDS; round++) {
		double term;

		solve_positive(fit, 0);
		term = fmin(fmax(fit->term[2], shortest / RATE_MARGIN),
			    shortest);
		if (term != fit->term[2])
			solve_positive(fit, term);
		reweigh(fit);
	}
}

/* How far a sample is from what its kept neighbours let expect. */
static double neighbour_distance(const struct fit *fit, uint32_t i)
{
	const struct sample *s = &fit->samples[i], *low = NULL, *high = NULL;
	double expected;

	for (uint32_t k = i; k-- > 0 && !low;)
		low = fit->samples[k].weight > 0 ? &fit->samples[k] : NULL;
	for (uint32_t k = i + 1; k < fit->n && !high; k++)
		high = fit->samples[k].weight > 0 ? &fit->samples[k] : NULL;
	if (!low && !high)
		return 0;
	if (!low || !high)
		expected = low ? low->log_factor : high->log_factor;
	else
		expected = low->log_factor +
			   (high->log_factor - low->log_factor) *
				   (s->log_size - low->log_size) /
				   (high->log_size - low->log_size);
	return fabs(s->log_factor - expected);
}

/* The sample furthest from its neighbours; its distance in *distance. */
static uint32_t furthest(const struct fit *fit, double *distance)
{
	uint32_t worst = 0;

	*distance = 0;
	for (uint32_t i = 0; i < fit->n; i++) {
		double d = fit->samples[i].weight > 0
				   ? neighbour_distance(fit, i)
				   : 0;

		if (d > *distance) {
			*distance = d;
			worst = i;
		}
	}
	return worst;
}

/* Sets the weight of outliers to 0 and counts them.  One at a time, the worst
 * first: an outlier makes its neighbours look like some, too. */
static uint32_t outliers_drop(struct fit *fit)
{
	uint32_t most = fit->n / 4, dropped = 0, worst;
	double bound, distance;

	for (uint32_t i = 0; i < fit->n; i++)
		fit->samples[i].weight = 1;
	for (uint32_t i = 0; i < fit->n; i++)
		fit->scratch[i] = neighbour_distance(fit, i);
	bound = fmax(KNOT_JUMP_SPREAD * 1.4826 *
			     weft_median(fit->scratch, fit->n),
		     KNOT_JUMP);
	for (; dropped < most && dropped < MAX_OUTLIERS; dropped++) {
		worst = furthest(fit, &distance);
		if (distance <= bound)
			break;
		fit->samples[worst].weight = 0;
	}
	return dropped;
}

/* Several sizes share a knot where there are more sizes than knots. */
static void knots_fill(const struct fit *fit, struct weft_curve *curve)
{
	uint32_t kept = fit->n - curve->n_outliers, per, seen = 0;
	double size = 0, factor = 0;

	per = (kept + WEFT_CURVE_MAX_KNOTS - 1) / WEFT_CURVE_MAX_KNOTS;
	for (uint32_t i = 0, left = kept; i < fit->n; i++) {
		const struct sample *s = &fit->samples[i];

		if (s->weight <= 0)
			continue;
		size += s->log_size;
		factor += s->log_factor;
		left--;
		if (++seen < per && left)
			continue;
		curve->knots[curve->n_knots].log_size = size / seen;
		curve->knots[curve->n_knots++].log_factor = factor / seen;
		size = factor = 0;
		seen = 0;
	}
}

static void figures_fill(struct fit *fit, struct weft_curve *curve)
{
	const struct sample *first = &fit->samples[0];
	const struct sample *last = &fit->samples[fit->n - 1];
	double sum = 0;

	curve->latency_s = fit->term[0];
	curve->rate_bytes_per_s = fit->largest / fit->term[2];
	/* 2 sqrt(fill * S / rate) = term sqrt(S / largest) */
	curve->fill_s = fit->term[1] * fit->term[1] / 4 / fit->term[2];
	curve->latency_seen = fit->with_latency;
	curve->rate_reached =
		last->size / last->time > 0.75 * curve->rate_bytes_per_s;
	curve->n_sizes = fit->n;
	curve->n_scattered = fit->n_scattered;
	curve->smallest_bytes = first->size;
	curve->largest_bytes = last->size;
	for (uint32_t i = 0; i < fit->n; i++) {
		const struct sample *s = &fit->samples[i];
		double e = 100 * fabs(line_at(fit, s) / s->time - 1);

		fit->scratch[i] = e;
		sum += e;
		curve->worst_pct = fmax(curve->worst_pct, e);
	}
	curve->mape_pct = sum / fit->n;
	curve->median_pct = weft_median(fit->scratch, fit->n);
	curve->n_outliers = outliers_drop(fit);
	for (uint32_t i = 0; i < fit->n; i++) {
		const struct sample *s = &fit->samples[i];

		if (s->weight > 0)
			curve->peak_bytes_per_s = fmax(curve->peak_bytes_per_s,
						       s->size / s->time);
	}
	knots_fill(fit, curve);
}

/* Why the sizes and times cannot be fitted at all; false: they can. */
static bool refuse_data(const struct fit *fit, char *refusal, size_t size)
{
	const struct sample *s = fit->samples;
	double up = 0, down = 0, fastest = HUGE_VAL, slowest = 0;

	for (uint32_t i = 0; i < fit->n; i++) {
		double step = i ? log(s[i].time / s[i - 1].time) : 0;

		up += fmax(step, 0);
		down += fmax(-step, 0);
		fastest = fmin(fastest, s[i].time);
		slowest = fmax(slowest, s[i].time);
	}
	if (fit->n < WEFT_CURVE_MIN_SIZES)
		snprintf(refusal, size, "%u size%s, at least %d are needed",
			 fit->n, fit->n == 1 ? "" : "s", WEFT_CURVE_MIN_SIZES);
	else if (fit->largest < WEFT_CURVE_MIN_SPAN * s[0].size)
		snprintf(refusal, size,
			 "the largest size is %.1f times the smallest, at "
			 "least %d times is needed",
			 fit->largest / s[0].size, WEFT_CURVE_MIN_SPAN);
	else if (slowest < MIN_GROWTH * fastest)
		snprintf(refusal, size,
			 "the times hardly grow with the size: all is latency, "
			 "measure larger sizes");
	else if (down > MAX_DESCENT * up)
		snprintf(refusal, size,
			 "the times go down almost as much as up: measure "
			 "without other load");
	else
		return false;
	return true;
}

/* Where even the smallest size runs near the peak, latency cannot be told from
 * its noise. */
static bool latency_shows(const struct fit *fit)
{
	const struct sample *first = &fit->samples[0];

	return first->size / first->time < 0.5 * peak_rate(fit);
}

static int points_check(const struct weft_curve_point *points, size_t n,
			struct weft_error *err)
{
	for (size_t i = 0; i < n; i++) {
		if (!(points[i].size_bytes > 0 && points[i].time_s > 0) ||
		    !isfinite(points[i].size_bytes) ||
		    !isfinite(points[i].time_s))
			return weft_fail(err, WEFT_EINVAL,
					 "a curve needs sizes and times above "
					 "zero, got %g bytes in %g s",
					 points[i].size_bytes,
					 points[i].time_s);
	}
	return 0;
}

static void curve_fill(struct fit *fit, struct weft_curve *curve, char *refusal,
		       size_t refusal_size)
{
	if (refuse_data(fit, refusal, refusal_size)) {
		curve->n_sizes = fit->n;
		return;
	}
	fit->with_latency = latency_shows(fit);
	/* As many figures as sizes would fit anything. */
	fit->with_fill = !fit->with_latency || fit->n > N_TERMS;
	iterate(fit);
	figures_fill(fit, curve);
	if (curve->median_pct > MAX_MEDIAN)
		snprintf(refusal, refusal_size,
			 "half of the times are more than %.0f %% away from "
			 "any curve",
			 curve->median_pct);
}

int weft_curve_fit(const struct weft_curve_point *points, size_t n,
		   struct weft_curve *curve, char *refusal, size_t refusal_size,
		   struct weft_error *err)
{
	struct weft_curve_point *sorted;
	struct fit fit = {0};
	int rc = -1;

	*curve = (struct weft_curve){0};
	refusal[0] = '\0';
	if (points_check(points, n, err))
		return -1;
	if (n == 0) {
		snprintf(refusal, refusal_size, "no usable row");
		return 0;
	}
	sorted = weft_calloc(n, sizeof(*sorted), err);
	fit.samples = weft_calloc(n, sizeof(*fit.samples), err);
	fit.scratch = weft_calloc(n, sizeof(*fit.scratch), err);
	if (sorted && fit.samples && fit.scratch) {
		memcpy(sorted, points, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), compare_points);
		samples_fill(&fit, sorted, n);
		curve_fill(&fit, curve, refusal, refusal_size);
		rc = 0;
	}
	free(sorted);
	free(fit.samples);
	free(fit.scratch);
	return rc;
}

/* Seconds by the three figures alone. */
static double line_time(const struct weft_curve *curve, double size_bytes)
{
	double transfer_s = size_bytes / curve->rate_bytes_per_s;

	return curve->latency_s + 2 * sqrt(curve->fill_s * transfer_s) +
	       transfer_s;
}

double weft_curve_time(const struct weft_curve *curve, double size_bytes)
{
	double at = log(size_bytes), factor;
	uint32_t i = 0, n = curve->n_knots;

	if (!(size_bytes > 0) || n == 0)
		return line_time(curve, fmax(size_bytes, 0));
	while (i < n && curve->knots[i].log_size <= at)
		i++;
	if (i == 0 || i == n) {
		factor = curve->knots[i ? n - 1 : 0].log_factor;
	} else {
		double a = curve->knots[i - 1].log_size;
		double b = curve->knots[i].log_size;
		double low = curve->knots[i - 1].log_factor;

		factor = low + (curve->knots[i].log_factor - low) * (at - a) /
				       (b - a);
	}
	return line_time(curve, size_bytes) * exp(factor);
}

double weft_curve_error_pct(const struct weft_curve *curve,
			    const struct weft_curve_point *point)
{
	return 100 *
	       fabs(weft_curve_time(curve, point->size_bytes) / point->time_s -
		    1);
}
