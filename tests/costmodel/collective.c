/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - pair traffic of collectives against their volumes */
#include "costmodel/traffic/collective.h"

#include "tests/lib/check.h"

#include <math.h>
#include <string.h>

enum { MAX_RANKS = 512 };

struct matrix {
	double share[MAX_RANKS][MAX_RANKS];
};

static void add_flow(void *data, uint32_t from, uint32_t to, double share)
{
	struct matrix *m = data;

	assert_true(from < MAX_RANKS && to < MAX_RANKS);
	assert_true(from != to);
	assert_true(share > 0);
	m->share[from][to] += share;
}

static struct matrix *flows(enum weft_collective c, enum weft_algorithm a,
			    struct weft_group group)
{
	static struct matrix m;

	assert_true(weft_collective_applies(c, a, &group));
	memset(&m, 0, sizeof(m));
	weft_collective_flows(c, a, &group, add_flow, &m);
	return &m;
}

/* What the busiest rank sends: an inner vertex of a tree more than its part. */
static double most_of(enum weft_collective c, enum weft_algorithm a,
		      struct weft_group group)
{
	static const double few[] = {0, 0, 1, 1.5};
	double chain = group.local, k = group.n_nodes;

	if (a == WEFT_DOUBLE_TREE)
		return (2 * (chain - 1) + (k < 4 ? few[group.n_nodes] : 2)) /
		       chain;
	return weft_collective_bus_factor(c, group.local * group.n_nodes);
}

static void check_flows(enum weft_collective c, enum weft_algorithm a,
			struct weft_group group)
{
	uint32_t n = group.local * group.n_nodes;
	struct matrix *m = flows(c, a, group);
	double total = 0, most = 0;

	for (uint32_t r = 0; r < n; r++) {
		double out = 0;

		for (uint32_t to = 0; to < n; to++)
			out += m->share[r][to];
		total += out;
		most = fmax(most, out);
	}
	assert_close(total, n * weft_collective_bus_factor(c, n), 1e-9);
	assert_close(most, most_of(c, a, group), 1e-9);
}

static void bytes_are_conserved_whatever_the_algorithm(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int k = 0; k < 400; k++) {
		struct weft_group group = {
			.local = 1 + test_random_below(&seed, 9),
			.n_nodes = 1 + test_random_below(&seed, 50),
		};

		if (test_random_below(&seed, 2))
			group.local = 1u << test_random_below(&seed, 4);
		if (test_random_below(&seed, 2))
			group.n_nodes = 1u << test_random_below(&seed, 5);
		group.n_channels = 1 + test_random_below(&seed, group.local);
		for (int c = 0; c < WEFT_N_COLLECTIVES; c++)
			for (int a = 0; a <= WEFT_SHARP; a++)
				if (weft_collective_applies(
					    (enum weft_collective)c,
					    (enum weft_algorithm)a, &group))
					check_flows((enum weft_collective)c,
						    (enum weft_algorithm)a,
						    group);
	}
	for (uint32_t n = 1; n < 200; n++)
		check_flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE,
			    (struct weft_group){1, n, 1});
}

static void pairs_are_those_of_the_table(void **state)
{
	const struct weft_group group = {1, 8, 1};
	struct matrix *m;

	(void)state;
	m = flows(WEFT_ALL_REDUCE, WEFT_RING, group);
	assert_close(m->share[7][0], 2 * 7.0 / 8, 1e-12);
	assert_true(m->share[0][7] == 0);
	m = flows(WEFT_ALL_REDUCE, WEFT_HALVING_DOUBLING, group);
	assert_close(m->share[5][4], 2.0 / 2, 1e-12);
	assert_close(m->share[5][7], 2.0 / 4, 1e-12);
	assert_close(m->share[5][1], 2.0 / 8, 1e-12);
	/* First tree: 0 - 4 - (2 - (1, 3), 6 - (5, 7)); second: mirrored. */
	m = flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, group);
	assert_close(m->share[0][4], 0.5, 1e-12);
	assert_close(m->share[6][7], 0.5, 1e-12);
	assert_close(m->share[4][2], 0.5, 1e-12);
	assert_close(m->share[3][7], 0.5, 1e-12);
	assert_close(m->share[1][0], 0.5, 1e-12);
}

static void hierarchical_rings_stay_on_their_rail(void **state)
{
	struct matrix *m = flows(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL,
				 (struct weft_group){8, 4, 8});

	(void)state;
	assert_close(m->share[2][3], 2 * 7.0 / 8, 1e-12);
	assert_close(m->share[7][0], 2 * 7.0 / 8, 1e-12);
	assert_close(m->share[2][10], 2 * 3.0 / 4 / 8, 1e-12);
	assert_close(m->share[26][2], 2 * 3.0 / 4 / 8, 1e-12);
	assert_true(m->share[7][8] == 0);
}

/* What leaves one node of eight. */
static double egress(const struct matrix *m, uint32_t n)
{
	double share = 0;

	for (uint32_t from = 0; from < 8; from++)
		for (uint32_t to = 8; to < n; to++)
			share += m->share[from][to];
	return share;
}

static void node_egress_depends_on_the_algorithm(void **state)
{
	const struct weft_group two = {8, 2, 8}, four = {8, 4, 8};
	struct matrix *m;

	(void)state;
	m = flows(WEFT_ALL_REDUCE, WEFT_RING, two);
	assert_close(egress(m, 16), 2 * 15.0 / 16, 1e-12);
	/* Each channel leaves from a NIC of its own. */
	assert_close(m->share[7][8], 2 * 15.0 / 16 / 8, 1e-12);
	assert_close(m->share[0][9], 2 * 15.0 / 16 / 8, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, two);
	assert_close(egress(m, 16), 1, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, two);
	assert_close(egress(m, 16), 1, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, four);
	assert_close(egress(m, 32), 1.5, 1e-12);
}

static void some_groups_and_collectives_do_not_suit(void **state)
{
	const struct weft_group three = {1, 3, 1};

	(void)state;
	assert_false(weft_collective_applies(WEFT_ALL_REDUCE,
					     WEFT_HALVING_DOUBLING, &three));
	assert_false(weft_collective_applies(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL,
					     &three));
	assert_false(weft_collective_applies(WEFT_ALL_GATHER, WEFT_DOUBLE_TREE,
					     &three));
	assert_false(
		weft_collective_applies(WEFT_ALL_TO_ALL, WEFT_RING, &three));
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
	assert_true(weft_volume_all_reduce(1, 1e9) == 0);
	for (int c = 0; c < WEFT_N_COLLECTIVES; c++)
		assert_true(weft_volume_collective((enum weft_collective)c, 1,
						   1e9) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_conserved_whatever_the_algorithm),
		cmocka_unit_test(pairs_are_those_of_the_table),
		cmocka_unit_test(hierarchical_rings_stay_on_their_rail),
		cmocka_unit_test(node_egress_depends_on_the_algorithm),
		cmocka_unit_test(some_groups_and_collectives_do_not_suit),
		cmocka_unit_test(bus_bandwidth_factors_are_those_of_nccl_tests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
