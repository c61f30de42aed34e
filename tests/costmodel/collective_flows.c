/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_flows.c - pair traffic of collectives against their volumes */
#include "costmodel/traffic/collective.h"

#include "tests/costmodel/groups.h"
#include "tests/lib/check.h"

#include <math.h>
#include <string.h>

struct matrix {
	double bytes[MAX_RANKS + 1][MAX_RANKS + 1];
};

static void add_flow(void *data, uint32_t from, uint32_t to, double bytes)
{
	struct matrix *m = data;

	assert_true(from <= MAX_RANKS && to <= MAX_RANKS);
	assert_true(from != to);
	assert_true(bytes > 0);
	m->bytes[from][to] += bytes;
}

static struct matrix *flows(enum weft_collective c, enum weft_algorithm a,
			    const struct weft_group *group, double size)
{
	static struct matrix m;
	struct weft_error err = {0};

	memset(&m, 0, sizeof(m));
	weft_collective_flows(c, a, group, size, add_flow, &m, &err);
	assert_no_error(&err);
	return &m;
}

/* Bytes that all ranks and switches send together. */
static double total_of(enum weft_collective c, enum weft_algorithm a,
		       const struct weft_group *group, double n, double s)
{
	const double local = group->n_levels > 1 ? group->level[0].n : 1;

	switch (a) {
	case WEFT_RECURSIVE_DOUBLING:
		return n * log2(n) * s;
	case WEFT_SHARP:
		return 2 * n / local * s + n / local * 2 * (local - 1) * s;
	case WEFT_NVLS:
		return 2 * (n + 1) * s;
	default:
		break;
	}
	if (c == WEFT_SEND_RECV)
		return s;
	return (c == WEFT_ALL_REDUCE ? 2 : 1) * (n - 1) * s;
}

static void check_flows(enum weft_collective c, enum weft_algorithm a,
			const struct weft_group *group, double s)
{
	struct weft_collective_price p = price(c, a, group, s);
	struct matrix *m = flows(c, a, group, s);
	const uint32_t n = weft_group_ranks(group, NULL);
	double total = 0, most = 0;

	if (n < 2)
		return;
	for (uint32_t r = 0; r <= n; r++) {
		double out = 0;

		for (uint32_t to = 0; to <= n; to++)
			out += m->bytes[r][to];
		total += out;
		if (r < n)
			most = fmax(most, out);
	}
	if (fabs(total / total_of(c, a, group, n, s) - 1) > 1e-9 ||
	    fabs(most / p.sent_bytes - 1) > 1e-9)
		fail_msg("%s by %s, %u ranks on %u levels: %g bytes in all, "
			 "%g by one rank; expected %g and %g",
			 weft_collective_names[c], weft_algorithm_names[a], n,
			 group->n_levels, total, most,
			 total_of(c, a, group, n, s), p.sent_bytes);
}

static void bytes_are_conserved_whatever_the_algorithm(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int k = 0; k < 400; k++) {
		struct weft_group group = random_group(&seed);
		double s = 1 + test_random_below(&seed, 1u << 30);

		for (int c = 0; c < WEFT_N_COLLECTIVES; c++)
			for (int a = 0; a < WEFT_N_ALGORITHMS; a++)
				if (weft_collective_applies(
					    (enum weft_collective)c,
					    (enum weft_algorithm)a, &group))
					check_flows((enum weft_collective)c,
						    (enum weft_algorithm)a,
						    &group, s);
	}
	for (uint32_t n = 2; n < 200; n++) {
		struct weft_group group = weft_group_flat(n, 0, 1e9);

		check_flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group, 1e6);
		check_flows(WEFT_ALL_GATHER, WEFT_PAT, &group, 1e6);
		check_flows(WEFT_BROADCAST, WEFT_BINOMIAL, &group, 1e6);
	}
}

static void pairs_are_those_of_the_table(void **state)
{
	const double s = 64e6;
	struct weft_group group = weft_group_flat(8, 0, 1e9);
	struct matrix *m;

	(void)state;
	m = flows(WEFT_ALL_REDUCE, WEFT_RING, &group, s);
	assert_close(m->bytes[7][0], 2 * 7.0 / 8 * s, 1e-12);
	assert_true(m->bytes[0][7] == 0);
	m = flows(WEFT_ALL_REDUCE, WEFT_HALVING_DOUBLING, &group, s);
	assert_close(m->bytes[5][4], 2 * s / 2, 1e-12);
	assert_close(m->bytes[5][7], 2 * s / 4, 1e-12);
	assert_close(m->bytes[5][1], 2 * s / 8, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_RECURSIVE_DOUBLING, &group, s);
	assert_close(m->bytes[6][2], s, 1e-12);
	/* First tree: 0 - 4 - (2 - (1, 3), 6 - (5, 7)); second: mirrored. */
	m = flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group, s);
	assert_close(m->bytes[0][4], s / 2, 1e-12);
	assert_close(m->bytes[6][7], s / 2, 1e-12);
	assert_close(m->bytes[4][2], s / 2, 1e-12);
	assert_close(m->bytes[3][7], s / 2, 1e-12);
	assert_close(m->bytes[1][0], s / 2, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_SHARP,
		  &(struct weft_group){.n_levels = 1,
				       .level = {{8, 0, 0}},
				       .sharp_tiers = 1},
		  s);
	assert_close(m->bytes[3][8], s, 1e-12);
	assert_close(m->bytes[8][3], s, 1e-12);
	m = flows(WEFT_ALL_GATHER, WEFT_PAT, &group, s);
	assert_close(m->bytes[6][2], 4 * s / 8, 1e-12);
	m = flows(WEFT_ALL_TO_ALL, WEFT_DIRECT, &group, s);
	assert_close(m->bytes[2][7], s / 8, 1e-12);
	m = flows(WEFT_BROADCAST, WEFT_RING, &group, s);
	assert_true(m->bytes[7][0] == 0);
	assert_close(m->bytes[6][7], s, 1e-12);
	m = flows(WEFT_REDUCE, WEFT_RING, &group, s);
	assert_close(m->bytes[7][6], s, 1e-12);
}

static void hierarchical_rings_stay_on_their_rail(void **state)
{
	struct weft_group group = hopper_nodes(4);
	struct matrix *m = flows(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, &group, 8);

	(void)state;
	assert_close(m->bytes[2][3], 2 * 7.0 / 8 * 8, 1e-12);
	assert_close(m->bytes[7][0], 2 * 7.0 / 8 * 8, 1e-12);
	assert_close(m->bytes[2][10], 2 * 3.0 / 4, 1e-12);
	assert_close(m->bytes[26][2], 2 * 3.0 / 4, 1e-12);
	assert_true(m->bytes[7][8] == 0);
}

/* What leaves one node of eight. */
static double egress(const struct matrix *m, uint32_t n)
{
	double bytes = 0;

	for (uint32_t from = 0; from < 8; from++)
		for (uint32_t to = 8; to < n; to++)
			bytes += m->bytes[from][to];
	return bytes;
}

static void node_egress_depends_on_the_algorithm(void **state)
{
	struct weft_group two = hopper_nodes(2), four = hopper_nodes(4);
	struct matrix *m;

	(void)state;
	m = flows(WEFT_ALL_REDUCE, WEFT_RING, &two, 1);
	assert_close(egress(m, 16), 2 * 15.0 / 16, 1e-12);
	/* Each channel leaves from a NIC of its own. */
	assert_close(m->bytes[7][8], 2 * 15.0 / 16 / 8, 1e-12);
	assert_close(m->bytes[0][9], 2 * 15.0 / 16 / 8, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, &two, 1);
	assert_close(egress(m, 16), 1, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &two, 1);
	assert_close(egress(m, 16), 1, 1e-12);
	m = flows(WEFT_ALL_REDUCE, WEFT_HIERARCHICAL, &four, 1);
	assert_close(egress(m, 32), 1.5, 1e-12);
}

static void a_ring_follows_the_order_given(void **state)
{
	static const uint32_t order[] = {0, 2, 4, 1, 3, 4, 3, 2, 1, 0};
	struct weft_group group = weft_group_flat(5, 0, 0);
	struct matrix *m;

	(void)state;
	group.order = order;
	group.n_channels = 2;
	m = flows(WEFT_ALL_GATHER, WEFT_RING, &group, 10);
	assert_close(m->bytes[4][1], 4, 1e-12);
	assert_close(m->bytes[3][0], 4, 1e-12);
	assert_close(m->bytes[0][4], 4, 1e-12);
	assert_true(m->bytes[1][2] == 0);
	check_flows(WEFT_BROADCAST, WEFT_RING,
		    &(struct weft_group){.n_levels = 1,
					 .level = {{5, 0, 1}},
					 .n_channels = 2,
					 .order = order},
		    10);
}

static void wrong_orders_and_algorithms_are_named(void **state)
{
	static const uint32_t twice[] = {0, 1, 1}, beyond[] = {0, 1, 3};
	struct weft_group good = weft_group_flat(3, 1e-6, 1e9);
	struct weft_error err;

	(void)state;
	for (int k = 0; k < 3; k++) {
		static struct matrix m;

		err = (struct weft_error){0};
		good.order = k == 0 ? twice : beyond;
		good.n_channels = k < 2 ? 1 : 0;
		assert_int_equal(weft_collective_flows(WEFT_ALL_REDUCE,
						       WEFT_RING, &good, 1,
						       add_flow, &m, &err),
				 -1);
		assert_error_says(&err, "ring order");
	}
	err = (struct weft_error){0};
	assert_int_equal(weft_collective_flows(WEFT_ALL_REDUCE,
					       WEFT_HALVING_DOUBLING, &good, 1,
					       add_flow, NULL, &err),
			 -1);
	assert_error_says(&err, "halving-doubling among 3 ranks");
}

static void check_nothing(enum weft_collective c, enum weft_algorithm a,
			  const struct weft_group *group)
{
	struct matrix *m = flows(c, a, group, 1e9);

	for (uint32_t from = 0; from <= 1; from++)
		for (uint32_t to = 0; to <= 1; to++)
			assert_true(m->bytes[from][to] == 0);
}

static void one_rank_sends_nothing(void **state)
{
	struct weft_group group = weft_group_flat(1, 0, 0);

	(void)state;
	for (int c = 0; c < WEFT_N_COLLECTIVES; c++)
		for (int a = 0; a < WEFT_N_ALGORITHMS; a++)
			if (weft_collective_applies((enum weft_collective)c,
						    (enum weft_algorithm)a,
						    &group))
				check_nothing((enum weft_collective)c,
					      (enum weft_algorithm)a, &group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_conserved_whatever_the_algorithm),
		cmocka_unit_test(pairs_are_those_of_the_table),
		cmocka_unit_test(hierarchical_rings_stay_on_their_rail),
		cmocka_unit_test(node_egress_depends_on_the_algorithm),
		cmocka_unit_test(a_ring_follows_the_order_given),
		cmocka_unit_test(wrong_orders_and_algorithms_are_named),
		cmocka_unit_test(one_rank_sends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
