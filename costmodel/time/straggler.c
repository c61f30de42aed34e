/* SPDX-License-Identifier: GPL-3.0-or-later */
/* straggler.c - expected maxima, and pipelines with a slow stage */
#include "costmodel/time/straggler.h"

#include <math.h>

const char *const weft_jitter_names[WEFT_N_JITTERS] = {"normal", "lognormal"};

/* Where the quadrature samples the standard normal: the maximum of up to 2^32
 * is below 12 but for less than 1e-20, and what a log-normal moves upwards is
 * within 3 of that. */
#define LOWEST	-9.0
#define HIGHEST 16.0
#define STEP	(1.0 / 64)

/* Density of the maximum of n standard normals, in logarithms because the power
 * underflows and 1 - F(z) is lost in F(z) for large z. */
static double maximum_density(double z, double n)
{
	const double log_sqrt_2pi = 0.91893853320467274178;
	double above = erfc(z * sqrt(0.5)) / 2;

	return exp(log(n) + (n - 1) * log1p(-above) - z * z / 2 - log_sqrt_2pi);
}

/* E max = integral of t(z) n F(z)^(n-1) f(z), with t the time of a rank whose
 * draw is z; t grows, so the largest z has the largest time.  The integrand is
 * analytic and vanishes at both ends, where the trapezoidal rule converges
 * faster than any power of its step. */
double weft_straggler_expected_max(uint32_t n, double sigma,
				   enum weft_jitter jitter)
{
	/* Log-normal with mean 1 and deviation sigma. */
	double s = sqrt(log1p(sigma * sigma));
	double sum = 0, weight = 0;

	if (n < 2 || !(sigma > 0))
		return 1;
	for (double z = LOWEST; z <= HIGHEST; z += STEP) {
		double density = maximum_density(z, n);
		double time = jitter == WEFT_JITTER_LOGNORMAL
				      ? exp(s * z - s * s / 2)
				      : 1 + sigma * z;

		sum += density * time;
		weight += density;
	}
	return sum / weight;
}

double weft_straggler_pipeline(const double *factor, uint32_t n_stages,
			       uint32_t micro_batches, uint32_t vpp)
{
	double sum = 0, slowest = 0, filling;

	for (uint32_t p = 0; p < n_stages; p++) {
		sum += factor[p];
		slowest = fmax(slowest, factor[p]);
	}
	filling = (sum - slowest) / vpp;
	return (micro_batches * slowest + filling) /
	       (micro_batches + (n_stages - 1.0) / vpp);
}
