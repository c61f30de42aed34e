/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lab/calibrate/calibrate.h"
#include "tests/costmodel/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE	 0x1p34
#define MAX_RUNS 4
#define END                                                                    \
	{                                                                      \
		WEFT_N_COLLECTIVES, 0, 0, 0, 0                                 \
	}

/* A collective on so many nodes, that takes latency + size / rate. */
struct run {
	enum weft_collective collective;
	uint32_t n_nodes, gpus;
	double latency_s, rate_bytes_per_s;
};

static struct weft_calibration calibrate(const struct run *runs, double network)
{
	const struct weft_calibrate_options options = {
		.collective = WEFT_N_COLLECTIVES,
		.network_bytes_per_s = network,
	};
	struct weft_calibration calibration;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "collective,nodes,ranks,bytes,time_us\n");
	for (const struct run *r = runs; r->n_nodes; r++) {
		for (double s = 8; s <= LARGE; s *= 2)
			fprintf(out, "%s,%u,%u,%.0f,%.6f\n",
				weft_collective_names[r->collective],
				r->n_nodes, r->n_nodes * r->gpus, s,
				1e6 * (r->latency_s + s / r->rate_bytes_per_s));
	}
	fclose(out);
	calibration = calibration_of(text, size, &options);
	free(text);
	return calibration;
}

static const struct {
	const char *desc;
	struct run runs[MAX_RUNS];
	uint32_t n_nodes;
	double size_bytes, time_s;
} cases[] = {
	/* Of eight ranks bus bandwidth is 7/4 of size over time, of 16 15/8,
	 * of 32 31/16, of 64 63/32. */
	{"rings inside nodes limit those over three nodes and more",
	 {{WEFT_ALL_REDUCE, 1, 8, 20e-6, 480e9 * 4 / 7},
	  {WEFT_ALL_REDUCE, 2, 8, 20e-6, 480e9 * 8 / 15},
	  END},
	 4,
	 LARGE,
	 LARGE / (480e9 / 1.25) * 31 / 16},
	{"without switches that add up, rings keep their bus bandwidth",
	 {{WEFT_ALL_REDUCE, 1, 8, 20e-6, 366e9 * 4 / 7},
	  {WEFT_ALL_REDUCE, 2, 8, 20e-6, 366e9 * 8 / 15},
	  END},
	 4,
	 LARGE,
	 LARGE / 366e9 * 31 / 16},
	{"two nodes show what a slow network gives to more",
	 {{WEFT_ALL_REDUCE, 1, 8, 20e-6, 235e9 * 4 / 7},
	  {WEFT_ALL_REDUCE, 2, 8, 20e-6, 48e9},
	  END},
	 8,
	 LARGE,
	 LARGE / 48e9 * 63 / 32},
	{"many nodes show what a slow network gives to two",
	 {{WEFT_ALL_REDUCE, 1, 8, 20e-6, 366e9 * 4 / 7},
	  {WEFT_ALL_REDUCE, 8, 8, 20e-6, 96e9 * 32 / 63},
	  END},
	 2,
	 LARGE,
	 LARGE / 96e9},
	{"a fast network leaves two nodes to the links inside them",
	 {{WEFT_ALL_REDUCE, 1, 8, 20e-6, 366e9 * 4 / 7},
	  {WEFT_ALL_REDUCE, 4, 8, 20e-6, 366e9 * 16 / 31},
	  END},
	 2,
	 LARGE,
	 LARGE / 366e9 * 15 / 8},
	{"one node is no slower than rings over several",
	 {{WEFT_ALL_REDUCE, 2, 8, 20e-6, 190e9},
	  {WEFT_ALL_REDUCE, 4, 8, 20e-6, 366e9 * 16 / 31},
	  END},
	 1,
	 LARGE,
	 LARGE / 366e9 * 7 / 4},
	{"trees carry half, where rings have too many steps",
	 {{WEFT_ALL_REDUCE, 1, 72, 20e-6, 400e9},
	  {WEFT_ALL_REDUCE, 2, 72, 20e-6, 400e9},
	  END},
	 32,
	 0x1p30,
	 20e-6 + 0x1p30 / 200e9},
	{"latency grows by the same for each doubling",
	 {{WEFT_ALL_REDUCE, 2, 8, 20e-6, 200e9},
	  {WEFT_ALL_REDUCE, 8, 8, 40e-6, 200e9},
	  END},
	 64,
	 8,
	 70e-6},
	{"a node alone keeps half of the latency at least",
	 {{WEFT_ALL_REDUCE, 2, 8, 20e-6, 200e9},
	  {WEFT_ALL_REDUCE, 4, 8, 40e-6, 200e9},
	  END},
	 1,
	 8,
	 10e-6},
	{"of one number of nodes, a message's usual latency is added",
	 {{WEFT_ALL_REDUCE, 1, 8, 20e-6, 200e9}, END},
	 4,
	 8,
	 20e-6 + 4 * 14e-6},
	{"one node has a node's usual latency at most",
	 {{WEFT_ALL_REDUCE, 4, 8, 160e-6, 200e9}, END},
	 1,
	 8,
	 15e-6},
	{"of an all-to-all, what leaves the node takes the time",
	 {{WEFT_ALL_TO_ALL, 1, 8, 20e-6, 300e9},
	  {WEFT_ALL_TO_ALL, 2, 8, 20e-6, 48e9 * 2},
	  END},
	 8,
	 LARGE,
	 LARGE / 48e9 * 7 / 8},
	{"one node says nothing of the network between two",
	 {{WEFT_ALL_GATHER, 1, 8, 20e-6, 366e9 * 8 / 7},
	  {WEFT_ALL_GATHER, 4, 8, 20e-6, 192e9 * 32 / 31},
	  END},
	 2,
	 LARGE,
	 LARGE / 192e9 * 15 / 16},
};

static void times_follow_from_what_limits_the_algorithm(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_calibration c = calibrate(cases[i].runs, 0);
		double time_s = weft_calibration_time(
			&c, NULL, cases[i].runs[0].collective, cases[i].n_nodes,
			cases[i].size_bytes);

		if (!(fabs(time_s / cases[i].time_s - 1) < 5e-3))
			fail_msg("%s: %g s, expected %g s", cases[i].desc,
				 time_s, cases[i].time_s);
		weft_calibration_free(&c);
	}
}

/* A network of 96 GB/s from node to node, 12 for each of 8 ranks. */
static void a_given_network_limits_what_one_node_lets_expect(void **state)
{
	static const struct run runs[] = {
		{WEFT_ALL_REDUCE, 1, 8, 20e-6, 366e9 * 4 / 7},
		{WEFT_ALL_GATHER, 1, 8, 20e-6, 366e9 * 8 / 7},
		{WEFT_ALL_TO_ALL, 1, 8, 20e-6, 366e9 * 8 / 7},
		END};
	struct weft_calibration c = calibrate(runs, 96e9);

	(void)state;
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 2, LARGE),
		     LARGE / 96e9, 5e-3);
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 4, LARGE),
		     LARGE / 96e9 * 31 / 16, 5e-3);
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_GATHER, 4, LARGE),
		     LARGE / 96e9 * 31 / 32, 5e-3);
	assert_close(weft_calibration_time(&c, "", WEFT_ALL_TO_ALL, 4, LARGE),
		     LARGE / 12e9 * 3 / 4, 5e-3);
	weft_calibration_free(&c);
}

static void a_prediction_tells_on_what_it_rests(void **state)
{
	static const struct run runs[] = {{WEFT_ALL_REDUCE, 2, 8, 20e-6, 200e9},
					  {WEFT_ALL_REDUCE, 8, 8, 40e-6, 200e9},
					  {WEFT_ALL_GATHER, 2, 8, 40e-6, 200e9},
					  END};
	static const struct {
		enum weft_collective collective;
		uint32_t n_nodes;
		const char *name;
	} expected[] = {
		{WEFT_ALL_REDUCE, 0, "nothing"},
		{WEFT_ALL_REDUCE, 1, "beyond"},
		{WEFT_ALL_REDUCE, 2, "measured"},
		{WEFT_ALL_REDUCE, 3, "between"},
		{WEFT_ALL_REDUCE, 8, "measured"},
		{WEFT_ALL_REDUCE, 9, "beyond"},
		{WEFT_ALL_GATHER, 4, "single"},
		{WEFT_BROADCAST, 2, "nothing"},
	};
	struct weft_calibration c = calibrate(runs, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(
			weft_calibration_basis_names[weft_calibration_basis(
				&c, NULL, expected[i].collective,
				expected[i].n_nodes)],
			expected[i].name);
	weft_calibration_free(&c);
}

static double uniform(uint64_t *random, double low, double high)
{
	return low +
	       (high - low) * (double)(test_random(random) >> 11) * 0x1p-53;
}

/* Some system's all-reduces on one node, two, or both. */
static void random_runs(uint64_t *random, struct run runs[MAX_RUNS])
{
	uint32_t which = 1 + (uint32_t)(test_random(random) % 3), n = 0;

	for (uint32_t nodes = 1; nodes <= 2; nodes++) {
		if (which & nodes)
			runs[n++] = (struct run){WEFT_ALL_REDUCE, nodes, 8,
						 uniform(random, 5e-6, 1e-4),
						 uniform(random, 1e9, 5e11)};
	}
	runs[n] = (struct run)END;
}

static void more_nodes_are_never_faster(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct run runs[MAX_RUNS];
		struct weft_calibration c;

		random_runs(&random, runs);
		c = calibrate(runs, 0);
		for (double size = 8; size <= LARGE; size *= 64) {
			double last = 0;

			for (uint32_t n = 3; n <= 1u << 20; n = n * 3 / 2 + 1) {
				double time_s = weft_calibration_time(
					&c, NULL, WEFT_ALL_REDUCE, n, size);

				assert_true(isfinite(time_s));
				assert_true(time_s >= last * (1 - 1e-12));
				last = time_s;
			}
		}
		weft_calibration_free(&c);
	}
}

/* Numbers of nodes that were measured are answered by their curves, whatever
 * stands beside them, and systems apart. */
static void what_was_measured_stays(void **state)
{
	static const struct run runs[] = {
		{WEFT_ALL_REDUCE, 1, 8, 20e-6, 270e9},
		{WEFT_ALL_REDUCE, 2, 8, 40e-6, 240e9},
		{WEFT_ALL_REDUCE, 16, 8, 90e-6, 100e9},
		END};
	struct weft_calibration c = calibrate(runs, 0);

	(void)state;
	for (const struct run *r = runs; r->n_nodes; r++)
		assert_close(weft_calibration_time(&c, "", r->collective,
						   r->n_nodes, 0x1p26),
			     r->latency_s + 0x1p26 / r->rate_bytes_per_s, 1e-3);
	assert_true(isnan(weft_calibration_time(&c, "", WEFT_REDUCE, 2, 8)));
	assert_true(
		isnan(weft_calibration_time(&c, "x", WEFT_ALL_REDUCE, 2, 8)));
	assert_true(
		isnan(weft_calibration_time(&c, "", WEFT_ALL_REDUCE, 0, 8)));
	weft_calibration_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_follow_from_what_limits_the_algorithm),
		cmocka_unit_test(
			a_given_network_limits_what_one_node_lets_expect),
		cmocka_unit_test(a_prediction_tells_on_what_it_rests),
		cmocka_unit_test(more_nodes_are_never_faster),
		cmocka_unit_test(what_was_measured_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
