/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uplinks.c - costs where domains of a level are not alike: cables and uplinks
 * that say what each carries, rings and tori */
#include "costmodel/time/cost.h"
#include "costmodel/time/load.h"
#include "tests/lib/fabric.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>

#define MAX_RANKS 24
#define MAX_FLOWS 100

/* Random flows between ranks on distinct GPUs. */
static void traffic_random(const struct weft_fabric *f, uint64_t *seed,
			   struct weft_traffic *t, uint32_t *where)
{
	uint32_t n = f->n_gpus < MAX_RANKS ? f->n_gpus : MAX_RANKS;
	struct weft_flow flows[MAX_FLOWS];

	for (uint32_t r = 0; r < n; r++) {
		bool taken = true;

		while (taken) {
			where[r] = test_random_below(seed, f->n_gpus);
			taken = false;
			for (uint32_t k = 0; k < r; k++)
				taken = taken || where[k] == where[r];
		}
	}
	for (uint32_t k = 0; k < MAX_FLOWS; k++) {
		uint32_t from = test_random_below(seed, n);

		flows[k] = (struct weft_flow){
			from, (from + 1 + test_random_below(seed, n - 1)) % n,
			WEFT_AXIS_DP, 1 + test_random_below(seed, 1000)};
	}
	assert_int_equal(weft_traffic_from_flows(n, flows, MAX_FLOWS, t, NULL),
			 0);
}

static struct weft_cost cost_of(const struct weft_fabric *f,
				const struct weft_traffic *t,
				const uint32_t *where)
{
	struct weft_error err = {0};
	struct weft_cost cost;

	weft_cost(f, t, where, NULL, &cost, &err);
	assert_no_error(&err);
	return cost;
}

static void costs_on_rings_and_tori_are_those_of_all_pairs(void **state)
{
	static const char *const shaped[] = {
		"weft: fabric/1\nnodes: {\"n[0-11]\": 2}\n"
		"levels: {leaf: {\"L[0-5]\": \"n[0-11]\"}}\n"
		"shapes: {core: ring}\n",
		"weft: fabric/1\nrails: 2\nnodes: {\"n[0-7]\": 4}\n"
		"levels: {leaf: {\"L[0-15]\": \"n[0-7]\"}}\n"
		"shapes: {core: [2, 2, 2]}\n",
		"weft: fabric/1\nnodes: {\"n[0-23]\": 1}\n"
		"levels: {ring: {\"r[0-3]\": \"n[0-23]\"}}\n"
		"shapes: {ring: ring, core: [2, 2]}\n",
	};
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < 60; i++) {
		struct weft_fabric *f = test_fabric(
			shaped[i % (sizeof(shaped) / sizeof(*shaped))]);
		double total[WEFT_N_METRICS] = {0};
		uint32_t where[MAX_RANKS];
		struct weft_traffic t;
		struct weft_cost cost;

		traffic_random(f, &seed, &t, where);
		cost = cost_of(f, &t, where);
		for (uint32_t r = 0; r < t.n_ranks; r++)
			for (uint32_t e = t.row[r]; e < t.row[r + 1]; e++) {
				struct weft_distance d = weft_fabric_distance(
					f, where[r], where[t.peer[e]]);

				total[WEFT_HOPS] += t.bytes[e] * d.hops;
				total[WEFT_LATENCY] += t.bytes[e] * d.latency_s;
				total[WEFT_TIME] +=
					t.bytes[e] * d.time_s_per_byte;
			}
		for (int m = 0; m < WEFT_N_METRICS; m++)
			assert_close(cost.total[m], total[m], 1e-12);
		weft_traffic_free(&t);
		weft_fabric_free(f);
	}
}

static void cables_that_are_as_the_links_say_change_nothing(void **state)
{
	const struct weft_synth_options bare = {.rails = 8};
	const struct weft_synth_options cabled = {.rails = 8, .cables = true};
	const char *spec = "pod:2 leaf:3 node:4 gpu:8";
	char *without = weft_synth(spec, &bare, NULL);
	char *with = weft_synth(spec, &cabled, NULL);
	struct weft_fabric *f = test_fabric(without), *g = test_fabric(with);
	uint64_t seed = test_seed();

	(void)state;
	assert_null(f->uplink_rate_bytes_per_s);
	assert_non_null(g->uplink_rate_bytes_per_s);
	for (int i = 0; i < 40; i++) {
		uint32_t where[MAX_RANKS];
		struct weft_traffic t;
		struct weft_cost a, b;

		traffic_random(f, &seed, &t, where);
		a = cost_of(f, &t, where);
		b = cost_of(g, &t, where);
		for (int m = 0; m < WEFT_N_METRICS; m++)
			assert_close(a.total[m], b.total[m], 1e-12);
		assert_close(a.busiest.time_s, b.busiest.time_s, 1e-9);
		weft_traffic_free(&t);
	}
	free(without);
	free(with);
	weft_fabric_free(f);
	weft_fabric_free(g);
}

/* Rank 0 in leaf `from` sends to rank 1 in another leaf. */
static double busiest_s(const struct weft_fabric *f, uint32_t from, uint32_t to)
{
	struct weft_flow flow = {0, 1, WEFT_AXIS_DP, 1e9};
	const uint32_t where[] = {from, to};
	struct weft_traffic t;
	struct weft_cost cost;

	assert_int_equal(weft_traffic_from_flows(2, &flow, 1, &t, NULL), 0);
	cost = cost_of(f, &t, where);
	weft_traffic_free(&t);
	return cost.busiest.time_s;
}

static void a_degraded_uplink_is_the_busiest_link(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "nodes: {\"n[0-5]\": 8}\n"
					    "levels: {leaf: {\"L[0-2]\": "
					    "\"n[0-5]\"}}\n"
					    "uplinks: {L1: 10 GB/s}\n");

	(void)state;
	assert_close(busiest_s(f, 0, 32), 1 / 46.5, 1e-9);
	assert_close(busiest_s(f, 0, 16), 0.1, 1e-9);
	assert_close(busiest_s(f, 16, 0), 0.1, 1e-9);
	weft_fabric_free(f);
}

static void other_jobs_leave_what_the_uplink_really_has(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "nodes: {\"n[0-5]\": 8}\n"
					    "levels: {leaf: {\"L[0-2]\": "
					    "\"n[0-5]\"}}\n"
					    "uplinks: {L1: 10 GB/s}\n");
	uint32_t leaf = f->gpu_domain[1][16];
	struct weft_load_part part = {
		.link = 2 * leaf,
		.add = {.duty = 1,
			.flows = 1,
			.rate_bytes_per_s = 4e9,
			.gpus = 2},
	};
	const struct weft_load_parts parts = {.n = 1, .part = &part};
	struct weft_load load;

	(void)state;
	assert_int_equal(weft_load_build(f, &load, NULL), 0);
	weft_load_add(&load, &parts);
	assert_close(weft_load_rate(&load, leaf, true), 6e9, 1e-9);
	assert_close(weft_load_rate(&load, leaf, false), 10e9, 1e-9);
	weft_load_free(&load);
	weft_fabric_free(f);
}

/* Islands of different depth share no root, whatever is cabled. */
static void islands_cannot_reach_each_other(void **state)
{
	struct weft_fabric *f = test_fabric(
		"weft: fabric/1\ndisjoint: yes\n"
		"nodes: {\"n[0-5]\": 4}\n"
		"levels:\n"
		"  leaf: {\"L[0-1]\": \"n[0-3]\"}\n"
		"  pod: {A: \"L[0-1]\", B: \"n[4-5]\"}\n"
		"shapes: {pod: ring}\n"
		"cables: [{from: \"n[0-1]\", to: L0, rate: 50 GB/s}, "
		"{from: L1, to: L0, rate: 50 GB/s}]\n");
	struct weft_flow flow = {0, 1, WEFT_AXIS_DP, 1};
	const uint32_t where[] = {0, 20};
	struct weft_error err = {0};
	struct weft_traffic t;
	struct weft_cost cost;

	(void)state;
	assert_false(f->connected);
	assert_int_equal(weft_fabric_distance(f, 0, 20).hops, UINT32_MAX);
	assert_true(isinf(weft_fabric_distance(f, 15, 16).latency_s));
	assert_int_equal(weft_fabric_distance(f, 0, 12).hops, 4);
	assert_int_equal(weft_fabric_distance(f, 16, 20).hops, 4);
	assert_int_equal(weft_traffic_from_flows(2, &flow, 1, &t, NULL), 0);
	assert_int_equal(weft_cost(f, &t, where, NULL, &cost, &err), -1);
	assert_error_says(&err, "no link joins their nodes n0 and n5");
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			costs_on_rings_and_tori_are_those_of_all_pairs),
		cmocka_unit_test(
			cables_that_are_as_the_links_say_change_nothing),
		cmocka_unit_test(a_degraded_uplink_is_the_busiest_link),
		cmocka_unit_test(other_jobs_leave_what_the_uplink_really_has),
		cmocka_unit_test(islands_cannot_reach_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
