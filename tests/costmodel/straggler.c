/* SPDX-License-Identifier: GPL-3.0-or-later */
/* straggler.c - expected maxima and slow stages, against exact values */
#include "costmodel/time/straggler.h"

#include "tests/lib/check.h"

#include <math.h>

static double normal(uint32_t n, double sigma)
{
	return weft_straggler_expected_max(n, sigma, WEFT_JITTER_NORMAL);
}

static double lognormal(uint32_t n, double sigma)
{
	return weft_straggler_expected_max(n, sigma, WEFT_JITTER_LOGNORMAL);
}

/* Expected largest of n standard normals: closed forms up to 5, beyond that
 * tables of order statistics (H. L. Harter, Biometrika 48, 1961). */
static void the_largest_of_normals_is_as_tabulated(void **state)
{
	const double pi = acos(-1);
	const struct {
		uint32_t n;
		double largest, rel;
	} rows[] = {
		{1, 0, 0},
		{2, 1 / sqrt(pi), 1e-12},
		{3, 1.5 / sqrt(pi), 1e-12},
		{4, 3 / sqrt(pi) * (0.5 + asin(1.0 / 3) / pi), 1e-12},
		{5, 2.5 / sqrt(pi) * (0.5 + 3 * asin(1.0 / 3) / pi), 1e-12},
		{10, 1.53875, 1e-5},
		{100, 2.50759, 1e-5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_close((normal(rows[i].n, 0.5) - 1) / 0.5,
			     rows[i].largest, rows[i].rel);
}

/* E max = m - integral of F^n below m + integral of 1 - F^n above it, for any
 * m: another integrand, summed by Simpson's rule from the median outwards. */
static double other_integral(uint32_t n, double sigma)
{
	const double h = 1.0 / 512;
	double sum = 0;

	for (int k = 0; k < 512 * 16; k += 2) {
		double part[3];

		for (int i = 0; i < 3; i++) {
			double z = (k + i) * h, tail = erfc(z * sqrt(0.5)) / 2;

			part[i] = -expm1(n * log1p(-tail)) - exp(n * log(tail));
		}
		sum += h / 3 * (part[0] + 4 * part[1] + part[2]);
	}
	return 1 + sigma * sum;
}

static void another_integral_gives_the_same(void **state)
{
	(void)state;
	for (uint32_t n = 2; n < 1u << 22; n *= 3)
		assert_close(normal(n, 0.1), other_integral(n, 0.1), 1e-9);
}

/* Two log-normals: 2 Phi(s / sqrt 2), s the deviation of the logarithm. */
static void the_larger_of_two_lognormals_is_exact(void **state)
{
	(void)state;
	for (double sigma = 0.01; sigma < 11; sigma *= 3) {
		double s = sqrt(log1p(sigma * sigma));

		assert_close(lognormal(2, sigma), erfc(-s / 2),
			     sigma < 1 ? 1e-9 : 1e-6);
	}
}

static void more_ranks_and_more_jitter_take_longer(void **state)
{
	(void)state;
	for (uint32_t n = 1; n < 1u << 22; n *= 2) {
		assert_true(normal(2 * n, 0.05) > normal(n, 0.05));
		assert_true(lognormal(2 * n, 0.05) > lognormal(n, 0.05));
		assert_true(n < 2 || normal(n, 0.06) > normal(n, 0.05));
		/* The heavy tail shows where the maximum is far out. */
		assert_true(n < 8 || lognormal(n, 0.05) > normal(n, 0.05));
	}
}

static void one_rank_or_no_jitter_waits_for_nobody(void **state)
{
	(void)state;
	assert_true(normal(0, 0.1) == 1);
	assert_true(normal(1, 0.1) == 1);
	assert_true(normal(4096, 0) == 1);
	assert_true(lognormal(1, 5) == 1);
}

/* By hand: 4 stages, 8 micro-batches, 11 beats.  One stage at 1.5 makes 8 of
 * them 1.5 long and adds 3 for filling: 15 / 11. */
static void a_slow_stage_sets_the_beat_of_its_pipeline(void **state)
{
	const double equal[] = {1, 1, 1, 1}, slow[] = {1, 1.5, 1, 1};
	const double all_slow[] = {1.5, 1.5, 1.5, 1.5};

	(void)state;
	assert_close(weft_straggler_pipeline(equal, 4, 8, 1), 1, 1e-12);
	assert_close(weft_straggler_pipeline(slow, 4, 8, 1), 15.0 / 11, 1e-12);
	assert_close(weft_straggler_pipeline(slow, 4, 8, 2), 13.5 / 9.5, 1e-12);
	assert_close(weft_straggler_pipeline(all_slow, 4, 8, 1), 1.5, 1e-12);
	assert_close(weft_straggler_pipeline(slow + 1, 1, 8, 1), 1.5, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_of_normals_is_as_tabulated),
		cmocka_unit_test(another_integral_gives_the_same),
		cmocka_unit_test(the_larger_of_two_lognormals_is_exact),
		cmocka_unit_test(more_ranks_and_more_jitter_take_longer),
		cmocka_unit_test(one_rank_or_no_jitter_waits_for_nobody),
		cmocka_unit_test(a_slow_stage_sets_the_beat_of_its_pipeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
