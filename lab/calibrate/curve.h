/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curve.h - how the time of one collective grows with its size
 *
 *   time(S) = latency + 2 sqrt(fill * S / rate) + S / rate
 *
 * A transfer cut into k chunks over a pipeline takes latency + k o + S/rate +
 * S/(k rate) * stages; the best k makes the middle terms 2 sqrt(fill * S/rate),
 * fill being the overhead of filling the pipeline.  That is the saturation of
 * measured bandwidth between a few kilobytes and some hundred megabytes; fill =
 * 0 is the plain latency-bandwidth line, and all that three sizes can tell.
 *
 * Libraries also change algorithm and protocol with the size, which no such
 * line shows: knots hold what was measured over the line's value, smoothed of
 * outliers, and predictions follow them.
 */
#ifndef WEFT_LAB_CALIBRATE_CURVE_H
#define WEFT_LAB_CALIBRATE_CURVE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_CURVE_MAX_KNOTS 64
#define WEFT_CURVE_MIN_SIZES 3 /* two figures, and one to check them */
#define WEFT_CURVE_MIN_SPAN  8 /* largest over smallest size */

struct weft_curve_point {
	double size_bytes, time_s; /* both > 0 */
};

struct weft_curve {
	double latency_s;
	double fill_s;
	double rate_bytes_per_s; /* size over time of an endless transfer */
	double peak_bytes_per_s; /* the greatest measured, outliers apart */
	bool latency_seen;	 /* the smallest size shows the latency */
	bool rate_reached;	 /* the largest size is at the rate */
	uint32_t n_sizes;	 /* different ones among them */
	uint32_t n_scattered;	 /* sizes measured twice as slow another time */
	uint32_t n_outliers;	 /* sizes that neither line nor knots follow */
	/* |line / measured - 1| over sizes, in per cent. */
	double mape_pct, median_pct, worst_pct;
	double smallest_bytes, largest_bytes;
	struct {
		double log_size, log_factor;
	} knots[WEFT_CURVE_MAX_KNOTS];
	uint32_t n_knots;
};

/* Fits a curve to n points in any order, several of one size allowed: of
 * them the lower median counts, since disturbance only adds.  Robust: figures
 * come from iteratively reweighted relative errors.  Returns 0 with *refusal
 * NULL; 0 with *refusal a reason (buffer of refusal_size bytes), where the data
 * do not support a fit; or -1 (memory, a point that is not positive). */
int weft_curve_fit(const struct weft_curve_point *points, size_t n,
		   struct weft_curve *curve, char *refusal, size_t refusal_size,
		   struct weft_error *err);

/* Seconds by figures and knots; the best prediction. */
double weft_curve_time(const struct weft_curve *curve, double size_bytes);

/* |weft_curve_time / time - 1| of a point, in per cent. */
double weft_curve_error_pct(const struct weft_curve *curve,
			    const struct weft_curve_point *point);

#endif
