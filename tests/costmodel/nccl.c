/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl.c - rules of the selector, worked by hand, and its invariants */
#include "lab/nccl/nccl.h"
#include "base/suggest.h"

#include "tests/costmodel/nccl_choice.h"

#include <math.h>

#define GB 1e9
#define US 1e-6

/* Eight Hoppers behind NVSwitch, as NCCL sees them on one node. */
static const struct weft_nccl_graph hopper = {
	.n_nodes = 1,
	.n_ranks = 8,
	.compute_capability = 90,
	.ring = {12, 30 * GB, 30 * GB},
	.tree = {12, 30 * GB, 30 * GB},
	.nvls = {8, 40 * GB, 60 * GB},
};

static struct weft_nccl_graph hoppers(uint32_t n_nodes)
{
	struct weft_nccl_graph graph = hopper;

	graph.n_nodes = n_nodes;
	graph.n_ranks = 8 * n_nodes;
	graph.ring = graph.tree =
		(struct weft_nccl_channels){8, 48 * GB, 48 * GB};
	graph.nvls = (struct weft_nccl_channels){8, 40 * GB, 48 * GB};
	return graph;
}

/* Worked by hand from the changes between releases. */
static const struct {
	const char *version;
	uint32_t n_nodes, compute_capability;
	enum weft_collective collective;
	enum weft_nccl_algorithm algorithm;
	enum weft_nccl_protocol protocol;
	double latency_us, rate_gb;
} releases[] = {
#define AR WEFT_ALL_REDUCE
#define AG WEFT_ALL_GATHER
	/* 2 * 7 hops of 4 us, then of 28, then 4 and a start of 8.4 */
	{"2.18.3", 1, 90, AR, WEFT_NCCL_TREE, WEFT_NCCL_SIMPLE, 56, 165.6},
	{"2.21.5", 1, 90, AR, WEFT_NCCL_TREE, WEFT_NCCL_SIMPLE, 392, 165.6},
	{"2.23.4", 1, 90, AR, WEFT_NCCL_TREE, WEFT_NCCL_SIMPLE, 64.4, 165.6},
	/* a quarter of 360 over the limit of 87.7; half over 141 */
	{"2.20.3", 1, 90, AR, WEFT_NCCL_RING, WEFT_NCCL_LL, 15, 87.7 * 8 / 14},
	{"2.21.5", 1, 90, AR, WEFT_NCCL_RING, WEFT_NCCL_LL, 15, 141.0 * 8 / 14},
	/* min(40, 60) * 8 * 5/6; from 2.28 40 * 0.85 * 7/8 * 2 * 8 */
	{"2.18.3", 1, 90, AR, WEFT_NCCL_NVLS, WEFT_NCCL_SIMPLE, 23,
	 320 * 5.0 / 6},
	{"2.19.4", 1, 90, AR, WEFT_NCCL_NVLS, WEFT_NCCL_SIMPLE, 23,
	 320 * 5.0 / 6},
	{"2.27.7", 1, 90, AR, WEFT_NCCL_NVLS, WEFT_NCCL_SIMPLE, 25,
	 320 * 5.0 / 6},
	{"2.28.3", 1, 90, AR, WEFT_NCCL_NVLS, WEFT_NCCL_SIMPLE, 25, 272},
	/* no NVLS all-gather in 2.18; (n-1)/n of 40 in 2.27 */
	{"2.18.3", 1, 90, AG, WEFT_NCCL_NVLS, WEFT_NCCL_SIMPLE, 0, 0},
	{"2.27.7", 1, 90, AG, WEFT_NCCL_NVLS, WEFT_NCCL_SIMPLE, 25, 280},
	/* four nodes: 25 + 2 log2(4) * 14, later 20.9; halves of 48 */
	{"2.27.7", 4, 90, AR, WEFT_NCCL_NVLS_TREE, WEFT_NCCL_SIMPLE, 81,
	 24 * 8 * 5.0 / 6},
	{"2.28.3", 4, 90, AR, WEFT_NCCL_NVLS_TREE, WEFT_NCCL_SIMPLE, 108.6,
	 45.5 * 8 * 32 / 62},
	/* 23 + 2 * 3 * 19; 0.7 * 4 / 6 of 48 * 8 */
	{"2.18.3", 4, 90, AR, WEFT_NCCL_NVLS_TREE, WEFT_NCCL_SIMPLE, 137,
	 48 * 8 * 0.7 * 4 / 6},
	/* eight of 62 steps over the net, six from 2.23 */
	{"2.22.3", 4, 90, AR, WEFT_NCCL_RING, WEFT_NCCL_LL, 82.2,
	 20.4 * 32 / 62},
	{"2.23.4", 4, 90, AR, WEFT_NCCL_RING, WEFT_NCCL_LL, 78.8,
	 20.4 * 32 / 62},
	/* Blackwell: unknown, a faster Hopper, measured */
	{"2.24.3", 1, 100, AR, WEFT_NCCL_TREE, WEFT_NCCL_LL128, 0, 0},
	{"2.25.1", 4, 100, AR, WEFT_NCCL_TREE, WEFT_NCCL_SIMPLE, 120.4,
	 353.28 / 2},
	{"2.28.3", 4, 100, AR, WEFT_NCCL_TREE, WEFT_NCCL_SIMPLE, 120.4,
	 24 * 8 / 2.0},
	{"2.29.2", 4, 100, AR, WEFT_NCCL_NVLS_TREE, WEFT_NCCL_SIMPLE, 108.6,
	 43.8 * 8 * 32 / 62},
	{"2.30.7", 4, 100, AR, WEFT_NCCL_NVLS_TREE, WEFT_NCCL_SIMPLE, 108.6,
	 48 * 8 * 32 / 62.0},
#undef AR
#undef AG
};

static void releases_differ_as_documented(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(releases) / sizeof(releases[0]); k++) {
		struct weft_nccl_graph graph =
			releases[k].n_nodes > 1 ? hoppers(releases[k].n_nodes)
						: hopper;
		struct weft_nccl_tuning tuning;
		const struct weft_nccl_line *line;

		graph.version = weft_nccl_version(releases[k].version, NULL);
		graph.compute_capability = releases[k].compute_capability;
		tuning = tune(&graph);
		line = &tuning.line[releases[k].collective]
				   [releases[k].algorithm]
				   [releases[k].protocol];
		if (fabs(line->latency_s / US - releases[k].latency_us) >
			    0.001 ||
		    fabs(line->rate_bytes_per_s / GB - releases[k].rate_gb) >
			    0.01)
			fail_msg("case %zu, %s: %.3f us, %.3f GB/s", k,
				 releases[k].version, line->latency_s / US,
				 line->rate_bytes_per_s / GB);
	}
}

static void nvls_between_nodes_needs_in_network_reduction(void **state)
{
	struct weft_nccl_graph graph = hoppers(4);
	struct weft_nccl_tuning tuning = tune(&graph);

	(void)state;
	assert_true(
		isinf(weft_nccl_time(&tuning, WEFT_ALL_REDUCE, WEFT_NCCL_NVLS,
				     WEFT_NCCL_SIMPLE, 1 << 20)));
}

static void ll128_is_kept_off_paths_that_tear_stores(void **state)
{
	const struct {
		uint32_t compute_capability;
		bool torn, usable;
	} cases[] = {{90, false, true},
		     {80, false, true},
		     {90, true, false},
		     {60, false, false}};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct weft_nccl_graph graph = hopper;
		struct weft_nccl_tuning tuning;

		graph.compute_capability = cases[k].compute_capability;
		graph.torn_stores = cases[k].torn;
		tuning = tune(&graph);
		assert_int_equal(
			isfinite(weft_nccl_time(&tuning, WEFT_ALL_REDUCE,
						WEFT_NCCL_RING, WEFT_NCCL_LL128,
						1 << 20)) != 0,
			cases[k].usable);
	}
}

static void rooted_collectives_run_as_rings(void **state)
{
	struct weft_nccl_graph graph = hopper;
	struct weft_nccl_choice choice;
	struct weft_nccl_tuning tuning;

	(void)state;
	for (int c = WEFT_BROADCAST; c <= WEFT_REDUCE; c++) {
		choice = choose(&graph, (enum weft_collective)c, 1 << 30);
		assert_int_equal(choice.algorithm, WEFT_NCCL_RING);
		assert_int_equal(choice.protocol, WEFT_NCCL_SIMPLE);
		tuning = tune(&graph);
		/* one hop of 3.4 us; each byte passes each link once */
		assert_close(tuning.line[c][WEFT_NCCL_RING][WEFT_NCCL_SIMPLE]
				     .latency_s,
			     11.8e-6, 1e-6);
		assert_close(tuning.line[c][WEFT_NCCL_RING][WEFT_NCCL_SIMPLE]
				     .rate_bytes_per_s,
			     360 * GB, 1e-6);
	}
}

static void one_rank_takes_no_time(void **state)
{
	struct weft_nccl_graph graph = hopper;
	struct weft_nccl_choice choice;

	(void)state;
	graph.n_ranks = 1;
	choice = choose(&graph, WEFT_ALL_REDUCE, 1 << 20);
	assert_true(choice.time_s == 0);
	assert_int_equal(choice.algorithm, WEFT_NCCL_RING);
}

static void the_choice_is_the_cheapest_pair(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int n = 0; n < 300; n++) {
		struct weft_nccl_graph graph =
			hoppers(1 + test_random_below(&seed, 64));
		enum weft_collective c =
			(enum weft_collective)test_random_below(
				&seed, WEFT_N_NCCL_COLLECTIVES);
		uint64_t size = 1 + test_random_below(&seed, 1u << 30);
		struct weft_nccl_choice choice, twice;
		struct weft_nccl_tuning tuning;

		graph.version =
			WEFT_NCCL_VERSION(2, 18 + test_random_below(&seed, 13));
		graph.cpu = (enum weft_nccl_cpu)test_random_below(&seed, 4);
		graph.compute_capability = (const uint32_t[]){
			70, 80, 90, 100}[test_random_below(&seed, 4)];
		tuning = tune(&graph);
		choice = choose(&graph, c, size);
		for (int a = 0; a < WEFT_N_NCCL_ALGORITHMS; a++)
			for (int p = 0; p < WEFT_N_NCCL_PROTOCOLS; p++)
				assert_true(choice.time_s <=
					    weft_nccl_time(
						    &tuning, c,
						    (enum weft_nccl_algorithm)a,
						    (enum weft_nccl_protocol)p,
						    size));
		/* Four times over: the tree's correction may halve between
		 * neighbouring sizes. */
		twice = choose(&graph, c, 4 * size);
		assert_true(twice.time_s > choice.time_s * 0.999);
	}
}

static void faster_links_are_never_slower(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int n = 0; n < 300; n++) {
		struct weft_nccl_graph slow =
			hoppers(1 + test_random_below(&seed, 64));
		struct weft_nccl_graph fast = slow;
		uint64_t size = 1 + test_random_below(&seed, 1u << 30);

		fast.ring.intra_bytes_per_s *= 2;
		fast.ring.inter_bytes_per_s *= 2;
		fast.tree.intra_bytes_per_s *= 2;
		fast.tree.inter_bytes_per_s *= 2;
		fast.nvls.intra_bytes_per_s *= 2;
		fast.nvls.inter_bytes_per_s *= 2;
		assert_true(choose(&fast, WEFT_ALL_REDUCE, size).time_s <=
			    choose(&slow, WEFT_ALL_REDUCE, size).time_s);
	}
}

static void small_messages_use_few_channels_and_threads(void **state)
{
	struct weft_nccl_graph graph = hopper;
	struct weft_nccl_choice choice;

	(void)state;
	/* LL on a ring of 8: 64 bytes a thread; 1 KiB is 16 of them. */
	choice = choose(&graph, WEFT_ALL_REDUCE, 1024);
	assert_int_equal(choice.n_channels, 1);
	assert_int_equal(choice.n_threads, 64);
	choice = choose(&graph, WEFT_ALL_REDUCE, 1 << 18);
	assert_int_equal(choice.n_channels, 8);
	assert_int_equal(choice.n_threads, 512);
}

static void versions_are_read_as_people_write_them(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(weft_nccl_version("2.30.7", &err), 23007);
	assert_int_equal(weft_nccl_version("2.18", &err), 21800);
	assert_no_error(&err);
	assert_int_equal(weft_nccl_version("2.17.1", &err), 0);
	assert_error_says(&err, "older than 2.18");
	for (size_t k = 0; k < 8; k++) {
		static const char *const wrong[] = {
			"",    "2",	  "2.",	      "2.30.",
			"x.2", "2.300.1", "2.30.7.1", "2.30 "};

		err = (struct weft_error){0};
		assert_int_equal(weft_nccl_version(wrong[k], &err), 0);
		assert_error_says(&err, "not an NCCL version");
	}
}

static void inputs_out_of_range_are_named(void **state)
{
	struct weft_nccl_graph wrong[7];
	static const char *const says[] = {
		"0 ranks on 1",	     "compute capability", "ring.n_channels",
		"tree: the rates",   "nvls.n_channels",	   "net_latency_s",
		"NCCL version code",
	};
	struct weft_nccl_tuning tuning;
	struct weft_nccl_choice choice;
	struct weft_error err = {0};

	(void)state;
	for (int k = 0; k < 7; k++)
		wrong[k] = hopper;
	wrong[0].n_ranks = 0;
	wrong[1].compute_capability = 0;
	wrong[2].ring.n_channels = 0;
	wrong[3].tree.intra_bytes_per_s = (double)NAN;
	wrong[4].nvls.n_channels = 65;
	wrong[5].net_latency_s = -1;
	wrong[6].version = 20304;
	for (int k = 0; k < 7; k++) {
		err = (struct weft_error){0};
		assert_int_equal(weft_nccl_tune(&wrong[k], &tuning, &err), -1);
		assert_error_says(&err, says[k]);
	}
	err = (struct weft_error){0};
	tuning = tune(&hopper);
	assert_int_equal(
		weft_nccl_choose(&tuning, WEFT_ALL_TO_ALL, 1024, &choice, &err),
		-1);
	assert_error_says(&err, "all_to_all");
}

static void machines_refuse_what_is_not_known_of_them(void **state)
{
	const struct weft_nccl_machine *b200 =
		WEFT_ROW("dgx-b200", weft_nccl_machines, weft_n_nccl_machines);
	struct weft_nccl_graph graph;
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(weft_nccl_machine_graph(b200, 1, 8, &graph, &err), 0);
	assert_no_error(&err);
	assert_int_equal(weft_nccl_machine_graph(b200, 2, 8, &graph, &err), -1);
	assert_error_says(&err, "are not known");
	err = (struct weft_error){0};
	assert_int_equal(weft_nccl_machine_graph(b200, 1, 9, &graph, &err), -1);
	assert_error_says(&err, "9 ranks on each of 1 nodes");
	for (uint32_t k = 0; k < weft_n_nccl_machines; k++) {
		err = (struct weft_error){0};
		weft_nccl_machine_graph(&weft_nccl_machines[k], 1,
					weft_nccl_machines[k].gpus_per_node,
					&graph, &err);
		assert_no_error(&err);
		assert_true(choose(&graph, WEFT_ALL_REDUCE, 1 << 20).time_s >
			    0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases_differ_as_documented),
		cmocka_unit_test(nvls_between_nodes_needs_in_network_reduction),
		cmocka_unit_test(ll128_is_kept_off_paths_that_tear_stores),
		cmocka_unit_test(rooted_collectives_run_as_rings),
		cmocka_unit_test(one_rank_takes_no_time),
		cmocka_unit_test(the_choice_is_the_cheapest_pair),
		cmocka_unit_test(faster_links_are_never_slower),
		cmocka_unit_test(small_messages_use_few_channels_and_threads),
		cmocka_unit_test(versions_are_read_as_people_write_them),
		cmocka_unit_test(inputs_out_of_range_are_named),
		cmocka_unit_test(machines_refuse_what_is_not_known_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
