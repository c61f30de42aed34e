/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - closed forms of the time of collectives, and the choice */
#include "costmodel/traffic/collective.h"

#include "tests/costmodel/groups.h"
#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <math.h>
#include <string.h>

static struct weft_collective_price
choose(enum weft_collective c, const struct weft_group *group, double size)
{
	struct weft_collective_price p = {0};
	struct weft_error err = {0};

	weft_collective_choose(c, group, size, &p, &err);
	assert_no_error(&err);
	return p;
}

/* What a formula is evaluated for. */
struct point {
	double n, log_n, s, alpha, b; /* ranks, bytes, seconds, bytes/s */
};

struct expected {
	double n_steps, sent_bytes, time_s;
};

/* ---- the reference formulas, row by row ---- */

static struct expected ring_all_reduce(struct point p)
{
	double bytes = 2 * (p.n - 1) / p.n * p.s;

	return (struct expected){2 * (p.n - 1), bytes,
				 2 * (p.n - 1) * p.alpha + bytes / p.b};
}

static struct expected rabenseifner(struct point p)
{
	double bytes = 2 * (p.n - 1) / p.n * p.s;

	return (struct expected){2 * p.log_n, bytes,
				 2 * p.log_n * p.alpha + bytes / p.b};
}

static struct expected recursive_doubling(struct point p)
{
	return (struct expected){p.log_n, p.log_n * p.s,
				 p.log_n * (p.alpha + p.s / p.b)};
}

static struct expected double_tree(struct point p)
{
	return (struct expected){2 * p.log_n, 2 * p.s,
				 2 * p.log_n * p.alpha + 2 * p.s / p.b};
}

static struct expected sharp(struct point p)
{
	return (struct expected){4, p.s, 4 * p.alpha + p.s / p.b};
}

static struct expected nvls(struct point p)
{
	return (struct expected){2, p.s * (1 + 1 / p.n),
				 2 * p.alpha + p.s / (p.b * 0.75)};
}

static struct expected ring_shards(struct point p)
{
	double bytes = (p.n - 1) / p.n * p.s;

	return (struct expected){p.n - 1, bytes,
				 (p.n - 1) * p.alpha + bytes / p.b};
}

static struct expected pat(struct point p)
{
	double bytes = (p.n - 1) / p.n * p.s;

	return (struct expected){p.log_n, bytes,
				 p.log_n * p.alpha + bytes / p.b};
}

static struct expected ring_rooted(struct point p)
{
	return (struct expected){p.n - 1, p.s, (p.n - 1) * p.alpha + p.s / p.b};
}

static struct expected send_recv(struct point p)
{
	return (struct expected){1, p.s, p.alpha + p.s / p.b};
}

static const struct {
	const char *collective, *algorithm;
	enum weft_collective c;
	enum weft_algorithm a;
	struct expected (*formula)(struct point p); /* NULL: has a case of its
						     * own */
} rows[] = {
	{"all_reduce", "ring", WEFT_ALL_REDUCE, WEFT_RING, ring_all_reduce},
	{"all_reduce", "recursive halving-doubling (Rabenseifner)",
	 WEFT_ALL_REDUCE, WEFT_HALVING_DOUBLING, rabenseifner},
	{"all_reduce", "recursive doubling", WEFT_ALL_REDUCE,
	 WEFT_RECURSIVE_DOUBLING, recursive_doubling},
	{"all_reduce", "pipelined double binary tree", WEFT_ALL_REDUCE,
	 WEFT_DOUBLE_TREE, double_tree},
	/* 2S/B without latency: a convention of lab/calculators/gradsync.h */
	{"all_reduce", "seed_tree", WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, NULL},
	{"all_reduce", "hierarchical (g per node, k nodes)", WEFT_ALL_REDUCE,
	 WEFT_HIERARCHICAL, NULL},
	{"all_reduce", "SHARP / CollNet", WEFT_ALL_REDUCE, WEFT_SHARP, sharp},
	{"all_reduce", "NVLS (NVSwitch multicast + reduce)", WEFT_ALL_REDUCE,
	 WEFT_NVLS, nvls},
	{"all_gather", "ring", WEFT_ALL_GATHER, WEFT_RING, ring_shards},
	{"reduce_scatter", "ring", WEFT_REDUCE_SCATTER, WEFT_RING, ring_shards},
	{"all_gather/reduce_scatter", "PAT (Bruck-like)", WEFT_ALL_GATHER,
	 WEFT_PAT, pat},
	{"all_gather/reduce_scatter", "PAT (Bruck-like)", WEFT_REDUCE_SCATTER,
	 WEFT_PAT, pat},
	{"all_to_all", "pairwise direct", WEFT_ALL_TO_ALL, WEFT_DIRECT,
	 ring_shards},
	{"broadcast", "ring pipelined", WEFT_BROADCAST, WEFT_RING, ring_rooted},
	{"broadcast", "binomial tree", WEFT_BROADCAST, WEFT_BINOMIAL,
	 recursive_doubling},
	{"reduce", "ring pipelined", WEFT_REDUCE, WEFT_RING, ring_rooted},
	{"send_recv", "direct", WEFT_SEND_RECV, WEFT_DIRECT, send_recv},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void the_table_and_the_cases_name_the_same_rows(void **state)
{
	struct csv csv = table_open("data/costmodel/collective_formulas.csv");

	(void)state;
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		size_t k = 0;

		while (k < N_ROWS &&
		       (strcmp(rows[k].collective,
			       table_cell(&csv, row, "collective")) ||
			strcmp(rows[k].algorithm,
			       table_cell(&csv, row, "algorithm"))))
			k++;
		if (k == N_ROWS)
			fail_msg("no case for %s, %s",
				 table_cell(&csv, row, "collective"),
				 table_cell(&csv, row, "algorithm"));
	}
	csv_free(&csv);
}

static void every_formula_comes_out_on_one_level(void **state)
{
	static const double sizes[] = {1, 1 << 20, 14e9};

	(void)state;
	for (size_t k = 0; k < N_ROWS; k++) {
		for (uint32_t log_n = 1; log_n <= 8; log_n++) {
			for (size_t i = 0; i < 3; i++) {
				struct point at = {(double)(1u << log_n), log_n,
						   sizes[i], 3e-6, 50e9};
				struct weft_group group = weft_group_flat(
					1u << log_n, at.alpha, at.b);
				struct weft_collective_price p;
				struct expected e;

				group.sharp_tiers = 2;
				group.multicast_efficiency = 0.75;
				if (!rows[k].formula ||
				    !weft_collective_applies(rows[k].c,
							     rows[k].a, &group))
					continue;
				/* Two vertices have no inner one: below. */
				if (rows[k].a == WEFT_DOUBLE_TREE && log_n < 2)
					continue;
				p = price(rows[k].c, rows[k].a, &group, at.s);
				e = rows[k].formula(at);
				assert_close(p.n_steps, e.n_steps, 1e-12);
				assert_close(p.sent_bytes, e.sent_bytes, 1e-12);
				assert_close(p.time_s, e.time_s, 1e-12);
			}
		}
	}
}

static void hierarchical_is_the_sum_of_its_levels(void **state)
{
	const double s = 14e9, g = 8, k = 4;
	struct weft_group group = hopper_nodes(4);
	struct weft_collective_price p =
		price(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, &group, s);

	(void)state;
	assert_int_equal(p.n_steps, 2 * 7 + 2 * 3);
	assert_close(p.transfer_s,
		     2 * (g - 1) / g * s / 366e9 +
			     2 * (k - 1) / k * (s / g) / 46.5e9,
		     1e-12);
	assert_close(p.latency_s, 14 * 0.8e-6 + 6 * 2.8e-6, 1e-12);
	/* Within two sends per byte however deep. */
	assert_close(p.sent_bytes, 2 * 31.0 / 32 * s, 1e-12);
	group = weft_group_flat(32, 1e-6, 1e9);
	assert_true(isinf(
		price(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, &group, s).time_s));
}

static void few_tree_vertices_send_less(void **state)
{
	struct weft_group group = weft_group_flat(2, 0, 1e9);

	(void)state;
	assert_close(
		price(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group, 1e9).time_s, 1,
		1e-12);
	group.level[0].n = 3;
	assert_close(
		price(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group, 1e9).time_s,
		1.5, 1e-12);
}

static void rings_over_nodes_use_the_nics_of_their_channels(void **state)
{
	struct weft_group group = hopper_nodes(16);
	const double bytes = 2 * 127.0 / 128 * 1e9;

	(void)state;
	/* Eight of 46.5 carry more than NVLink's 366. */
	assert_close(price(WEFT_ALL_REDUCE, WEFT_RING, &group, 1e9).transfer_s,
		     bytes / 366e9, 1e-12);
	group.n_channels = 1;
	assert_close(price(WEFT_ALL_REDUCE, WEFT_RING, &group, 1e9).transfer_s,
		     bytes / 46.5e9, 1e-12);
	group.n_channels = 4;
	assert_close(price(WEFT_ALL_REDUCE, WEFT_RING, &group, 1e9).transfer_s,
		     bytes / (4 * 46.5e9), 1e-12);
	/* 16 * 7 hops inside nodes, 15 between them, twice. */
	assert_close(price(WEFT_ALL_REDUCE, WEFT_RING, &group, 1e9).latency_s,
		     2 * (112 * 0.8e-6 + 15 * 2.8e-6), 1e-12);
}

static void trees_over_nodes_chain_inside_them(void **state)
{
	struct weft_group group = hopper_nodes(16);
	struct weft_collective_price p =
		price(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group, 1e9);

	(void)state;
	assert_int_equal(p.n_steps, 2 * (7 + 4));
	assert_close(p.latency_s, 2 * (7 * 0.8e-6 + 4 * 2.8e-6), 1e-12);
	assert_close(p.transfer_s, 2e9 / (8 * 46.5e9), 1e-12);
	/* On two nodes what the NICs carry: S, not 2S. */
	group = hopper_nodes(2);
	p = price(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group, 1e9);
	assert_close(p.transfer_s, fmax(1e9 / (8 * 46.5e9), 1.75e9 / 366e9),
		     1e-12);
}

/* ---- choice and limits ---- */

static void the_choice_is_the_least_of_all(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int k = 0; k < 400; k++) {
		struct weft_group group = random_group(&seed);
		enum weft_collective c =
			(enum weft_collective)test_random_below(&seed,
								WEFT_SEND_RECV);
		double s = test_random_below(&seed, 1u << 30);
		struct weft_collective_price best = choose(c, &group, s), twice;

		for (int a = 0; a < WEFT_N_ALGORITHMS; a++)
			assert_true(best.time_s <=
				    price(c, (enum weft_algorithm)a, &group, s)
					    .time_s);
		assert_close(best.time_s, best.latency_s + best.transfer_s,
			     1e-12);
		/* Twice the rate: half the transfer of the same algorithm. */
		for (uint32_t l = 0; l < group.n_levels; l++)
			group.level[l].rate_bytes_per_s *= 2;
		twice = price(c, best.algorithm, &group, s);
		assert_close(twice.transfer_s, best.transfer_s / 2, 1e-12);
		assert_close(twice.latency_s, best.latency_s, 1e-12);
	}
}

static void size_and_topology_decide(void **state)
{
	struct weft_group flat = weft_group_flat(64, 3e-6, 50e9);
	struct weft_group nodes = hopper_nodes(64);
	struct weft_group nvswitch = weft_group_flat(8, 0.8e-6, 366e9);

	(void)state;
	assert_int_equal(choose(WEFT_ALL_REDUCE, &flat, 64).algorithm,
			 WEFT_RECURSIVE_DOUBLING);
	assert_int_equal(choose(WEFT_ALL_REDUCE, &flat, 1e10).algorithm,
			 WEFT_HALVING_DOUBLING);
	flat.level[0].n = 63;
	assert_int_equal(choose(WEFT_ALL_REDUCE, &flat, 1e4).algorithm,
			 WEFT_DOUBLE_TREE);
	assert_int_equal(choose(WEFT_ALL_REDUCE, &flat, 1e10).algorithm,
			 WEFT_RING);
	assert_int_equal(choose(WEFT_ALL_GATHER, &flat, 1e4).algorithm,
			 WEFT_PAT);
	assert_int_equal(choose(WEFT_BROADCAST, &flat, 64).algorithm,
			 WEFT_BINOMIAL);
	assert_int_equal(choose(WEFT_BROADCAST, &flat, 1e10).algorithm,
			 WEFT_RING);
	assert_int_equal(choose(WEFT_ALL_TO_ALL, &flat, 1e6).algorithm,
			 WEFT_DIRECT);
	nodes.level[1].n = 63;
	assert_int_equal(choose(WEFT_ALL_REDUCE, &nodes, 1e7).algorithm,
			 WEFT_DOUBLE_TREE);
	nodes.sharp_tiers = 2;
	assert_int_equal(choose(WEFT_ALL_REDUCE, &nodes, 1e6).algorithm,
			 WEFT_SHARP);
	nvswitch.multicast_efficiency = 0.75;
	assert_int_equal(choose(WEFT_ALL_REDUCE, &nvswitch, 1e9).algorithm,
			 WEFT_NVLS);
}

static void one_rank_has_nothing_to_do(void **state)
{
	struct weft_group group = weft_group_flat(1, 0, 0);

	(void)state;
	for (int c = 0; c < WEFT_N_COLLECTIVES; c++) {
		struct weft_collective_price p =
			choose((enum weft_collective)c, &group, 1e9);

		assert_true(p.time_s == 0 && p.sent_bytes == 0);
		assert_int_equal(p.n_steps, 0);
	}
}

static void bus_bandwidth_factors_are_those_of_nccl_tests(void **state)
{
	(void)state;
	assert_close(weft_collective_bus_factor(WEFT_ALL_REDUCE, 8), 1.75, 0);
	assert_close(weft_collective_bus_factor(WEFT_ALL_GATHER, 8), 0.875, 0);
	assert_close(weft_collective_bus_factor(WEFT_REDUCE_SCATTER, 4), 0.75,
		     0);
	assert_close(weft_collective_bus_factor(WEFT_ALL_TO_ALL, 2), 0.5, 0);
	assert_close(weft_collective_bus_factor(WEFT_BROADCAST, 8), 1, 0);
	assert_close(weft_collective_bus_factor(WEFT_REDUCE, 8), 1, 0);
	assert_close(weft_collective_bus_factor(WEFT_SEND_RECV, 2), 1, 0);
}

static void malformed_groups_are_named(void **state)
{
	struct weft_group good = weft_group_flat(3, 1e-6, 1e9);
	struct weft_collective_price p;
	struct weft_error err;
	const struct {
		struct weft_group group;
		double size;
		const char *says;
	} cases[] = {
		{{.n_levels = 0}, 1, "0 levels"},
		{{.n_levels = 1}, 1, "joins 0 domains"},
		{weft_group_flat(WEFT_MAX_GPUS + 1, 0, 1), 1, "at most"},
		{weft_group_flat(4, 0, 0), 1, "0 bytes per second"},
		{weft_group_flat(4, -1, 1), 1, "-1 seconds"},
		{good, -1, "-1 bytes"},
		{good, (double)INFINITY, "inf bytes"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		err = (struct weft_error){0};
		assert_int_equal(
			weft_collective_choose(WEFT_ALL_REDUCE, &cases[k].group,
					       cases[k].size, &p, &err),
			-1);
		assert_error_says(&err, cases[k].says);
	}
	err = (struct weft_error){0};
	assert_int_equal(
		weft_collective_choose(WEFT_SEND_RECV, &good, 1, &p, &err), -1);
	assert_error_says(&err, "send_recv among 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_and_the_cases_name_the_same_rows),
		cmocka_unit_test(every_formula_comes_out_on_one_level),
		cmocka_unit_test(hierarchical_is_the_sum_of_its_levels),
		cmocka_unit_test(few_tree_vertices_send_less),
		cmocka_unit_test(
			rings_over_nodes_use_the_nics_of_their_channels),
		cmocka_unit_test(trees_over_nodes_chain_inside_them),
		cmocka_unit_test(the_choice_is_the_least_of_all),
		cmocka_unit_test(size_and_topology_decide),
		cmocka_unit_test(one_rank_has_nothing_to_do),
		cmocka_unit_test(bus_bandwidth_factors_are_those_of_nccl_tests),
		cmocka_unit_test(malformed_groups_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
