/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lab/calibrate/calibrate.h"
#include "tests/costmodel/calibration.h"
#include "tests/lib/failing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZES 40

/* A curve and the noise with which it is measured. */
struct truth {
	double latency_s, fill_s, rate_bytes_per_s, noise;
};

static double truth_time(const struct truth *truth, double size)
{
	double transfer = size / truth->rate_bytes_per_s;

	return truth->latency_s + 2 * sqrt(truth->fill_s * transfer) + transfer;
}

static double uniform(uint64_t *random)
{
	return (double)(test_random(random) >> 11) * 0x1p-53;
}

/* 8 B .. 4 GiB by powers of two, each a little off. */
static size_t measure(const struct truth *truth, uint64_t *random,
		      struct weft_curve_point *points)
{
	size_t n = 0;

	for (double size = 8; size <= 0x1p32; size *= 2) {
		double off = truth->noise * (2 * uniform(random) - 1);

		points[n].size_bytes = size;
		points[n++].time_s = truth_time(truth, size) * exp(off);
	}
	return n;
}

static void fit(const struct weft_curve_point *points, size_t n,
		struct weft_curve *curve)
{
	struct weft_error err = {0};
	char refusal[160];

	weft_curve_fit(points, n, curve, refusal, sizeof(refusal), &err);
	assert_no_error(&err);
	assert_string_equal(refusal, "");
}

static void refused(const struct weft_curve_point *points, size_t n,
		    const char *part)
{
	struct weft_error err = {0};
	struct weft_curve curve;
	char refusal[160];

	weft_curve_fit(points, n, &curve, refusal, sizeof(refusal), &err);
	assert_no_error(&err);
	if (!strstr(refusal, part))
		fail_msg("\"%s\" does not say \"%s\"", refusal, part);
}

static const struct truth truths[] = {
	{15e-6, 0, 250e9, 0},	     {15e-6, 8e-6, 250e9, 0},
	{160e-6, 400e-6, 45e9, 0},   {15e-6, 8e-6, 250e9, 0.03},
	{160e-6, 100e-6, 45e9, .03}, {5e-6, 2e-6, 800e9, 0.05},
};

/* Without noise to 1e-6; with noise of +-x, latency and rate within 3x. */
static void known_parameters_are_found_again(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		const struct truth *truth = &truths[i];
		double bound = truth->noise > 0 ? 3 * truth->noise : 1e-6;
		struct weft_curve_point points[MAX_SIZES];
		struct weft_curve curve;

		fit(points, measure(truth, &random, points), &curve);
		assert_close(curve.latency_s, truth->latency_s, bound);
		assert_close(curve.rate_bytes_per_s, truth->rate_bytes_per_s,
			     bound);
		assert_true(curve.latency_seen);
		assert_true(curve.rate_reached);
		assert_true(curve.mape_pct <= 100 * (bound + 1e-9));
		assert_int_equal(curve.n_outliers, 0);
	}
}

static void outliers_change_little(void **state)
{
	const struct truth truth = {15e-6, 8e-6, 250e9, 0.02};
	struct weft_curve_point points[MAX_SIZES];
	uint64_t random = test_seed();
	struct weft_curve curve;
	size_t n;

	(void)state;
	n = measure(&truth, &random, points);
	points[2].time_s *= 5;
	points[13].time_s *= 3;
	points[24].time_s *= 4;
	fit(points, n, &curve);
	assert_close(curve.latency_s, truth.latency_s, 0.1);
	assert_close(curve.rate_bytes_per_s, truth.rate_bytes_per_s, 0.1);
	assert_int_equal(curve.n_outliers, 3);
	/* Neither do predictions follow them. */
	for (size_t i = 0; i < n; i++)
		assert_close(weft_curve_time(&curve, points[i].size_bytes),
			     truth_time(&truth, points[i].size_bytes), 0.15);
}

static void predictions_follow_a_change_of_protocol(void **state)
{
	const struct truth low = {15e-6, 0, 20e9, 0},
			   high = {60e-6, 0, 250e9, 0};
	struct weft_curve_point points[MAX_SIZES];
	struct weft_curve curve;
	size_t n = 0;

	(void)state;
	for (double size = 8; size <= 0x1p32; size *= 4) {
		points[n].size_bytes = size;
		points[n++].time_s =
			fmin(truth_time(&low, size), truth_time(&high, size));
	}
	fit(points, n, &curve);
	for (size_t i = 0; i < n; i++)
		assert_close(weft_curve_time(&curve, points[i].size_bytes),
			     points[i].time_s, 1e-6);
}

static void scaling_times_scales_the_curve(void **state)
{
	const struct truth truth = {15e-6, 8e-6, 250e9, 0.1};
	struct weft_curve_point points[MAX_SIZES];
	uint64_t random = test_seed();
	struct weft_curve once, twice;
	size_t n = measure(&truth, &random, points);

	(void)state;
	fit(points, n, &once);
	for (size_t i = 0; i < n; i++)
		points[i].time_s *= 2;
	fit(points, n, &twice);
	assert_close(twice.latency_s, 2 * once.latency_s, 1e-6);
	assert_close(twice.rate_bytes_per_s, once.rate_bytes_per_s / 2, 1e-6);
	assert_close(twice.mape_pct, once.mape_pct, 1e-6);
}

static void data_that_support_no_fit_are_refused(void **state)
{
	const struct truth truth = {15e-6, 8e-6, 250e9, 0};
	struct weft_curve_point points[MAX_SIZES];
	uint64_t random = 1;
	size_t n = measure(&truth, &random, points);

	(void)state;
	refused(points, 0, "no usable row");
	refused(points, 2, "2 sizes, at least 3");
	refused(points, 8, "hardly grow");
	for (size_t i = 0; i < 5; i++) {
		points[i].size_bytes = 1e9 + 1e8 * (double)i;
		points[i].time_s = truth_time(&truth, points[i].size_bytes);
	}
	refused(points, 5, "times the smallest");
	n = measure(&truth, &random, points);
	for (size_t i = 0; i < n; i++)
		points[i].time_s = i % 2 ? 1e-3 : 1e-5;
	refused(points, n, "go down almost as much");
}

static void times_that_are_no_times_are_errors(void **state)
{
	const struct weft_curve_point points[] = {{8, 1e-5}, {16, 0}};
	struct weft_error err = {0};
	struct weft_curve curve;
	char refusal[160];

	(void)state;
	assert_int_equal(weft_curve_fit(points, 2, &curve, refusal,
					sizeof(refusal), &err),
			 -1);
	assert_error_says(&err, "above zero");
}

static void large_sizes_alone_tell_no_latency(void **state)
{
	const struct truth truth = {15e-6, 0, 250e9, 0.01};
	struct weft_curve_point points[MAX_SIZES];
	uint64_t random = test_seed();
	struct weft_curve curve;
	size_t n = measure(&truth, &random, points);

	(void)state;
	fit(points + n - 6, 6, &curve);
	assert_false(curve.latency_seen);
	assert_close(curve.rate_bytes_per_s, truth.rate_bytes_per_s, 0.05);
}

static void three_sizes_give_two_figures(void **state)
{
	const struct weft_curve_point points[] = {
		{1024, 15.1e-6}, {0x1p20, 20e-6}, {0x1p30, 4e-3}};
	struct weft_curve curve;

	(void)state;
	fit(points, 3, &curve);
	assert_true(curve.fill_s == 0);
	assert_close(curve.latency_s, 15.1e-6, 0.05);
	assert_close(curve.rate_bytes_per_s, 0x1p30 / 4e-3, 0.05);
}

static void small_sizes_alone_do_not_reach_the_rate(void **state)
{
	const struct truth truth = {15e-6, 0, 250e9, 0.01};
	struct weft_curve_point points[MAX_SIZES];
	uint64_t random = test_seed();
	struct weft_curve curve;

	(void)state;
	measure(&truth, &random, points);
	fit(points, 20, &curve); /* up to 4 MiB */
	assert_true(curve.latency_seen);
	assert_true(curve.rate_bytes_per_s < truth.rate_bytes_per_s);
}

/* nccl-tests' output for a truth, appended. */
static void print_run(FILE *out, const char *program, uint32_t nodes,
		      uint32_t per_node, const struct truth *truth)
{
	uint64_t random = 3;
	struct weft_curve_point points[MAX_SIZES];
	size_t n = measure(truth, &random, points);

	fprintf(out, "# Collective test starting: %s\n# Using devices\n",
		program);
	for (uint32_t r = 0; r < nodes * per_node; r++)
		fprintf(out,
			"#  Rank %2u Group  0 Pid %u on n%u device %2u [%02x] "
			"GPU\n",
			r, 100 + r, r / per_node, r % per_node, r);
	fprintf(out, "#  size count type redop root time algbw busbw #wrong\n");
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%.0f %.0f float sum -1 %.4f 0.0 0.0 0\n",
			points[i].size_bytes, points[i].size_bytes / 4,
			points[i].time_s * 1e6);
	fprintf(out, "# Out of bounds values : 0 OK\n");
}

struct run {
	const char *program;
	uint32_t nodes, per_node;
	struct truth truth;
};

static char *print_runs(const struct run *runs, size_t n, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert_non_null(out);
	for (size_t i = 0; i < n; i++)
		print_run(out, runs[i].program, runs[i].nodes, runs[i].per_node,
			  &runs[i].truth);
	fclose(out);
	return text;
}

static struct weft_calibration calibrate(const struct run *runs, size_t n)
{
	const struct weft_calibrate_options options = {
		.collective = WEFT_N_COLLECTIVES};
	size_t size = 0;
	char *text = print_runs(runs, n, &size);
	struct weft_calibration calibration =
		calibration_of(text, size, &options);

	free(text);
	return calibration;
}

static void runs_of_one_kind_are_fitted_together(void **state)
{
	const struct run runs[] = {
		{"all_reduce_perf", 1, 8, {15e-6, 8e-6, 250e9, 0.02}},
		{"all_gather_perf", 1, 8, {13e-6, 8e-6, 350e9, 0.02}},
		{"all_reduce_perf", 1, 8, {15e-6, 8e-6, 250e9, 0.02}},
		{"gather_perf", 1, 8, {15e-6, 8e-6, 250e9, 0.02}},
	};
	struct weft_calibration c = calibrate(runs, 4);

	(void)state;
	assert_int_equal(c.n_entries, 3);
	assert_int_equal(c.n_fitted, 2);
	assert_int_equal(c.entries[0].collective, WEFT_ALL_REDUCE);
	assert_int_equal(c.entries[0].n_runs, 2);
	assert_int_equal(c.entries[0].n_rows, 60);
	assert_int_equal(c.entries[0].curve.n_sizes, 30);
	assert_close(c.entries[0].bus_factor, 1.75, 1e-12);
	assert_true(c.entries[0].holdout_large_pct < 4);
	assert_true(c.entries[0].holdout_small_pct < 4);
	assert_true(c.mape_pct < 4);
	assert_false(c.entries[2].fitted);
	assert_string_equal(c.entries[2].refusal,
			    "gather_perf is no collective that weft knows");
	weft_calibration_free(&c);
}

static void links_come_from_both_levels(void **state)
{
	const struct run runs[] = {
		{"all_reduce_perf", 1, 8, {15e-6, 0, 270e9, 0}},
		{"all_gather_perf", 1, 8, {13e-6, 0, 400e9, 0}},
		{"all_reduce_perf", 2, 8, {24e-6, 0, 200e9, 0}},
		{"all_reduce_perf", 8, 8, {36e-6, 0, 180e9, 0}},
		{"alltoall_perf", 8, 8, {50e-6, 0, 52e9, 0}},
	};
	struct weft_calibration c = calibrate(runs, 5);

	(void)state;
	assert_int_equal(c.n_links, 2);
	/* The all-gather counts, not the all-reduce that a switch adds up:
	 * 7/8 of 400 GB/s. */
	assert_int_equal(c.links[0].level, WEFT_CALIBRATION_NVLINK);
	assert_close(c.links[0].rate_bytes_per_s, 350e9, 0.01);
	assert_true(isnan(c.links[0].latency_s));
	/* 56 of 64 ranks are on other nodes. */
	assert_int_equal(c.links[1].level, WEFT_CALIBRATION_NET);
	assert_close(c.links[1].rate_bytes_per_s, 52e9 * 56 / 64, 0.01);
	assert_false(c.links[1].rate_is_bound);
	/* Two doublings, up and down: (36 - 24) / 4. */
	assert_close(c.links[1].latency_s, 3e-6, 1e-3);
	weft_calibration_free(&c);
}

/* A fabric with shares that weft calibrate found. */
static void fabric_fill(struct weft_fabric *f, const struct weft_calibration *c,
			uint32_t link)
{
	f->levels[link].n_shares = weft_calibration_shares(
		c, &c->links[link], f->levels[link].shares);
}

/* Over sizes that were measured and sizes between. */
static void shares_bring_the_times_back(void **state)
{
	const struct run runs[] = {
		{"all_gather_perf", 1, 8, {15e-6, 8e-6, 250e9, 0}},
		{"alltoall_perf", 4, 8, {160e-6, 100e-6, 45e9, 0.02}},
	};
	struct weft_calibration c = calibrate(runs, 2);
	struct weft_fabric f = {.n_levels = 2};

	(void)state;
	assert_int_equal(c.n_links, 2);
	for (uint32_t l = 0; l < 2; l++) {
		const struct weft_curve *curve =
			&c.entries[c.links[l].rate_entry].curve;
		const struct weft_rate_share *share = f.levels[l].shares;
		uint32_t n;

		fabric_fill(&f, &c, l);
		n = f.levels[l].n_shares;
		assert_true(n > 8 && n <= WEFT_MAX_SHARES);
		assert_true(share[0].size_bytes > 0x1p10);
		assert_true(share[0].share < 0.3);
		assert_close(share[n - 1].size_bytes, 0x1p32, 0);
		assert_true(share[n - 1].share > 0.95);
		for (double size = share[0].size_bytes; size <= 0x1p32;
		     size *= 1.25) {
			double part = weft_fabric_rate_share(&f, l, size);
			double got = curve->latency_s +
				     size / curve->peak_bytes_per_s / part;

			assert_close(got, truth_time(&runs[l].truth, size),
				     l ? 0.06 : 0.02);
		}
	}
	weft_calibration_free(&c);
}

static void contradicting_runs_are_counted(void **state)
{
	const struct run runs[] = {
		{"all_reduce_perf", 2, 8, {20e-6, 0, 200e9, 0}},
		{"all_reduce_perf", 2, 8, {90e-6, 0, 20e9, 0}},
	};
	struct weft_calibration c = calibrate(runs, 2);

	(void)state;
	assert_int_equal(c.entries[0].curve.n_scattered, 30);
	weft_calibration_free(&c);
}

static void systems_share_no_links(void **state)
{
	static const char text[] =
		"system,bytes,time_us,collective,ranks,nodes\n"
		"a,1024,12,all_gather,8,1\n"
		"a,1048576,20,all_gather,8,1\n"
		"a,1073741824,3100,all_gather,8,1\n"
		"b,1024,12,all_gather,8,2\n";
	const struct weft_calibrate_options options = {
		.collective = WEFT_N_COLLECTIVES};
	struct weft_calibration c =
		calibration_of(text, strlen(text), &options);

	(void)state;
	assert_int_equal(c.n_fitted, 1);
	assert_int_equal(c.n_links, 0);
	weft_calibration_free(&c);
}

static void times_are_had_for_other_numbers_of_nodes(void **state)
{
	const struct run runs[] = {
		{"all_reduce_perf", 2, 8, {20e-6, 0, 200e9, 0}},
		{"all_reduce_perf", 8, 8, {40e-6, 0, 200e9, 0}},
	};
	struct weft_calibration c = calibrate(runs, 2);
	const double large = 0x1p32;

	(void)state;
	assert_close(weft_calibration_time(&c, NULL, WEFT_ALL_REDUCE, 2, 8),
		     20e-6, 1e-3);
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 4, 8),
		     30e-6, 1e-3);
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 16, 8),
		     50e-6, 1e-3);
	/* Bus bandwidth stays: 2 * 127/128 over 2 * 63/64. */
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 16, large),
		     50e-6 + large / 200e9 * 127 / 126, 1e-3);
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 1, 8),
		     10e-6, 1e-3);
	assert_true(
		isnan(weft_calibration_time(&c, "", WEFT_ALL_GATHER, 2, 8)));
	assert_true(
		isnan(weft_calibration_time(&c, "x", WEFT_ALL_REDUCE, 2, 8)));
	weft_calibration_free(&c);
}

/* True once no allocation failed. */
static bool try_with(int n, const char *text, size_t size)
{
	const struct weft_calibrate_options options = {
		.collective = WEFT_N_COLLECTIVES};
	struct weft_calibration calibration = {0};
	struct weft_nccl_log log = {0};
	struct weft_error err = {0};
	int rc;

	left = n;
	rc = weft_nccl_log_parse(text, size, "log", &log, &err);
	if (!rc)
		rc = weft_calibrate(&log, 1, &options, &calibration, &err);
	left = -1;
	assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
	weft_calibration_free(&calibration);
	weft_nccl_log_free(&log);
	return rc == 0;
}

static void each_failed_allocation_is_reported(void **state)
{
	const struct run runs[] = {
		{"all_reduce_perf", 2, 2, {20e-6, 0, 200e9, 0}},
		{"all_gather_perf", 2, 2, {40e-6, 0, 200e9, 0}},
	};
	size_t size = 0;
	char *text = print_runs(runs, 2, &size);
	int n = 0;

	(void)state;
	while (!try_with(n, text, size))
		n++;
	assert_true(n >= 20);
	free(text);
}

static void wrong_results_are_a_reason_to_refuse(void **state)
{
	static const char text[] =
		"# size count type redop root time algbw busbw #wrong\n"
		"1024 1 float sum -1 12 1 1 3\n"
		"2048 1 float sum -1 13 1 1 3\n"
		"4096 1 float sum -1 14 1 1 0\n"
		"# Out of bounds values : 2 FAILED\n";
	const struct weft_calibrate_options options = {
		.collective = WEFT_ALL_REDUCE, .n_ranks = 8, .n_nodes = 1};
	struct weft_calibration c =
		calibration_of(text, strlen(text), &options);

	(void)state;
	assert_int_equal(c.n_fitted, 0);
	assert_string_equal(c.entries[0].refusal,
			    "2 of 3 rows have wrong results");
	weft_calibration_free(&c);
}

static void domains_that_span_nodes_are_one_node(void **state)
{
	static const char text[] =
		"bytes,time_us,collective,ranks,nodes\n"
		"1024,12,all_reduce,72,18\n1048576,20,all_reduce,72,18\n"
		"1073741824,3100,all_reduce,72,18\n"
		"2147483648,5600,all_reduce,72,18\n"
		"8589934592,20300,all_reduce,72,18\n";
	const struct weft_calibrate_options options = {
		.collective = WEFT_N_COLLECTIVES, .domain_gpus = 72};
	struct weft_calibration c =
		calibration_of(text, strlen(text), &options);

	(void)state;
	assert_int_equal(c.n_links, 1);
	assert_int_equal(c.links[0].level, WEFT_CALIBRATION_NVLINK);
	assert_close(c.links[0].rate_bytes_per_s,
		     8589934592 / 20300e-6 * 2 * 71 / 72, 1e-6);
	weft_calibration_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_parameters_are_found_again),
		cmocka_unit_test(outliers_change_little),
		cmocka_unit_test(predictions_follow_a_change_of_protocol),
		cmocka_unit_test(scaling_times_scales_the_curve),
		cmocka_unit_test(data_that_support_no_fit_are_refused),
		cmocka_unit_test(times_that_are_no_times_are_errors),
		cmocka_unit_test(large_sizes_alone_tell_no_latency),
		cmocka_unit_test(three_sizes_give_two_figures),
		cmocka_unit_test(small_sizes_alone_do_not_reach_the_rate),
		cmocka_unit_test(runs_of_one_kind_are_fitted_together),
		cmocka_unit_test(links_come_from_both_levels),
		cmocka_unit_test(shares_bring_the_times_back),
		cmocka_unit_test(contradicting_runs_are_counted),
		cmocka_unit_test(systems_share_no_links),
		cmocka_unit_test(times_are_had_for_other_numbers_of_nodes),
		cmocka_unit_test(each_failed_allocation_is_reported),
		cmocka_unit_test(wrong_results_are_a_reason_to_refuse),
		cmocka_unit_test(domains_that_span_nodes_are_one_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
