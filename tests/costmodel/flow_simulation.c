/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flow_simulation.c - cost.h and collective.h against simulated flows */
#include "costmodel/traffic/collective.h"
#include "tests/costmodel/random.h"
#include "tests/costmodel/simulation.h"
#include "tests/lib/fabric.h"
#include "tests/lib/traffic.h"

#include <math.h>

/* Seconds for all of t's bytes, sent at once; *load_s, if asked for, the time
 * that the wire with most to do needs, and *path_s the most that the wires of
 * one path need together. */
static double traffic_run(const struct weft_fabric *f,
			  const struct weft_traffic *t, const uint32_t *where,
			  double *load_s, double *path_s)
{
	struct simulation s;
	double time_s, load = 0, path = 0;

	simulation_open(&s, f, t->n_edges);
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++)
			simulation_add(&s, f, where[r], where[t->peer[k]],
				       t->bytes[k]);
	}
	for (uint32_t i = 0; i < s.n_flows; i++) {
		double sum = 0;

		for (uint32_t k = 0; k < s.flows[i].n_path; k++) {
			const struct wire *wire = &s.wires[s.flows[i].path[k]];

			sum += wire->load / wire->rate;
			load = fmax(load, wire->load / wire->rate);
		}
		path = fmax(path, sum);
	}
	time_s = simulation_run(&s, NULL);
	simulation_close(&s);
	if (load_s)
		*load_s = load;
	if (path_s)
		*path_s = path;
	return time_s;
}

/* A chain of two wires, 1 and 3 bytes/s: flow 0 takes both, 1 and 2 one each.
 * By hand: shares 0.5, 0.5, 2.5.  Flow 2 (5 bytes) ends at 2; flow 1 (1.5) at
 * 3, when flow 0 has 2.5 of 4 left, at full rate now: 5.5. */
static void the_simulation_shares_a_chain_as_by_hand(void **state)
{
	struct wire wires[] = {{.rate = 1}, {.rate = 3}};
	struct flow flows[] = {
		{.path = {0, 1}, .n_path = 2, .left = 4},
		{.path = {0}, .n_path = 1, .left = 1.5},
		{.path = {1}, .n_path = 1, .left = 5},
	};
	struct simulation s = {
		.wires = wires, .n_wires = 2, .flows = flows, .n_flows = 3};
	double ends[3];

	(void)state;
	assert_close(simulation_run(&s, ends), 5.5, 1e-9);
	assert_close(ends[0], 5.5, 1e-9);
	assert_close(ends[1], 3, 1e-9);
	assert_close(ends[2], 2, 1e-9);
}

/* No schedule can beat the busiest link.  And because max-min fairness always
 * has a full wire on the path of every flow, the last flow cannot take longer
 * than the wires of its path need together. */
static void the_busiest_link_bounds_the_simulation(void **state)
{
	uint64_t seed = test_seed();
	double worst = 1;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		struct plan plan = plan_random(&seed);
		struct weft_fabric *f = plan_fabric(&plan);
		uint32_t most =
			f->n_gpus < PLAN_MAX_RANKS ? f->n_gpus : PLAN_MAX_RANKS;
		uint32_t n_ranks = 2 + test_random_below(&seed, most - 1);
		struct weft_traffic t = traffic_random(&seed, n_ranks);
		uint32_t where[PLAN_MAX_RANKS];
		struct weft_error err = {0};
		struct weft_cost cost;
		double time_s, load_s, path_s;

		where_random(&seed, f, where, n_ranks);
		weft_cost(f, &t, where, NULL, &cost, &err);
		assert_no_error(&err);
		time_s = traffic_run(f, &t, where, &load_s, &path_s);
		assert_true(cost.busiest.time_s <= load_s * (1 + 1e-9));
		assert_true(load_s <= time_s * (1 + 1e-9));
		assert_true(time_s <= path_s * (1 + 1e-9));
		/* The sum of d*M is what one byte after the other takes, each
		 * at its share of the links: never less than all at once. */
		assert_true(time_s <= cost.total[WEFT_TIME] * (1 + 1e-9));
		worst = fmax(worst, time_s / load_s);
		weft_traffic_free(&t);
		weft_fabric_free(f);
	}
	print_message("largest simulated time over the busiest wire's: %.2f\n",
		      worst);
}

/* Alone, a flow needs no longer than d says, which has it share
 * oversubscribed links; and exactly that where none is. */
static void a_lone_flow_takes_its_distance(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		struct plan plan = plan_random(&seed);
		bool fat = i % 2;
		struct weft_fabric *f;
		uint32_t where[2];
		struct simulation s;
		double time_s, distance_s;

		for (uint32_t l = PLAN_POD; fat && l < PLAN_LINKS; l++)
			plan.link[l] = plan.link[PLAN_LEAF];
		f = plan_fabric(&plan);
		where_random(&seed, f, where, 2);
		simulation_open(&s, f, 1);
		simulation_add(&s, f, where[0], where[1], 1e9);
		time_s = simulation_run(&s, NULL);
		distance_s = 1e9 * weft_fabric_distance(f, where[0], where[1])
					   .time_s_per_byte;
		if (fat)
			assert_close(time_s, distance_s, 1e-9);
		else
			assert_true(time_s <= distance_s * (1 + 1e-9));
		simulation_close(&s);
		weft_fabric_free(f);
	}
}

/* Two pods of two leafs of two nodes of four GPUs, uplinks too thin. */
static const char thin[] = "weft: fabric/1\n"
			   "nodes:\n"
			   "  n[0-7]: 4\n"
			   "levels:\n"
			   "  leaf:\n"
			   "    L[0-3]: n[0-7]\n"
			   "  pod:\n"
			   "    P[0-1]: L[0-3]\n"
			   "  top:\n"
			   "    T: P[0-1]\n"
			   "links:\n"
			   "  pod: {oversubscription: 3}\n"
			   "  top: {oversubscription: 6}\n";

/* When every GPU sends to its counterpart across a level, links are shared as
 * evenly as d assumes, oversubscription included; and the busiest link says the
 * same, unless it is the GPU's own port, which it leaves out. */
static void an_even_shift_takes_the_distance_and_the_busiest_link(void **state)
{
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(thin);
	uint32_t where[32];

	(void)state;
	for (uint32_t r = 0; r < 32; r++)
		where[r] = r;
	for (uint32_t shift = 1; shift < 32; shift *= 2) {
		double distance_s =
			1e9 * weft_fabric_distance(f, 0, shift).time_s_per_byte;
		struct weft_flow flows[32];
		struct weft_traffic t;
		struct weft_cost cost;
		double time_s;

		for (uint32_t r = 0; r < 32; r++)
			flows[r] = (struct weft_flow){r, r ^ shift,
						      WEFT_AXIS_DP, 1e9};
		weft_traffic_from_flows(32, flows, 32, &t, &err);
		weft_cost(f, &t, where, NULL, &cost, &err);
		assert_no_error(&err);
		time_s = traffic_run(f, &t, where, NULL, NULL);
		assert_close(time_s, distance_s, 1e-9);
		if (weft_fabric_meet(f, 0, shift) > 0)
			assert_close(time_s, cost.busiest.time_s, 1e-9);
		else
			assert_true(cost.busiest.time_s == 0);
		weft_traffic_free(&t);
	}
	weft_fabric_free(f);
}

/* Rounds of a ring collective, one after the other: rank r sends to the next.
 */
static double ring_run(const struct weft_fabric *f, const uint32_t *where,
		       uint32_t n, uint32_t n_rounds, double round_bytes)
{
	double time_s = 0;

	for (uint32_t round = 0; round < n_rounds; round++) {
		struct simulation s;

		simulation_open(&s, f, n);
		for (uint32_t r = 0; r < n; r++)
			simulation_add(&s, f, where[r], where[(r + 1) % n],
				       round_bytes);
		time_s += simulation_run(&s, NULL);
		simulation_close(&s);
	}
	return time_s;
}

/* Slowest hop of the ring, seconds per byte. */
static double ring_hop(const struct weft_fabric *f, const uint32_t *where,
		       uint32_t n)
{
	double slowest = 0;

	for (uint32_t r = 0; r < n; r++)
		slowest = fmax(slowest, weft_fabric_distance(f, where[r],
							     where[(r + 1) % n])
						.time_s_per_byte);
	return slowest;
}

/* The closed form of a ring, bytes sent over the slowest hop's rate: exact for
 * a ring that has the fabric for itself, whatever its order. */
static void a_ring_takes_its_volume_at_the_slowest_hop(void **state)
{
	struct weft_fabric *f = test_synth("pod:2 leaf:2 node:2 gpu:4", NULL);
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t n = 2 + test_random_below(&seed, 15);
		double size = 1e6 * (1 + test_random_below(&seed, 1000));
		uint32_t where[16];
		double hop;

		where_random(&seed, f, where, n);
		hop = ring_hop(f, where, n);
		assert_close(ring_run(f, where, n, 2 * (n - 1), size / n),
			     weft_volume_all_reduce(n, size) * hop, 1e-9);
		assert_close(ring_run(f, where, n, n - 1, size / n),
			     gather_bytes(n, size) * hop, 1e-9);
	}
	weft_fabric_free(f);
}

/* Where links are oversubscribed, d charges a ring as if all others used them
 * too: the closed form is then an upper bound, and the busiest link the lower.
 */
static void a_ring_over_thin_links_is_bounded_from_both_sides(void **state)
{
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(thin);
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t n = 2 + test_random_below(&seed, 31);
		double sent = weft_volume_all_reduce(n, 1e9), time_s;
		struct weft_flow flows[32];
		uint32_t where[32];
		struct weft_traffic t;
		struct weft_cost cost;

		where_random(&seed, f, where, n);
		for (uint32_t r = 0; r < n; r++)
			flows[r] = (struct weft_flow){r, (r + 1) % n,
						      WEFT_AXIS_DP, sent};
		weft_traffic_from_flows(n, flows, n, &t, &err);
		weft_cost(f, &t, where, NULL, &cost, &err);
		assert_no_error(&err);
		time_s = ring_run(f, where, n, 2 * (n - 1), 1e9 / n);
		assert_true(cost.busiest.time_s <= time_s * (1 + 1e-9));
		assert_true(time_s <=
			    sent * ring_hop(f, where, n) * (1 + 1e-9));
		weft_traffic_free(&t);
	}
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_simulation_shares_a_chain_as_by_hand),
		cmocka_unit_test(the_busiest_link_bounds_the_simulation),
		cmocka_unit_test(a_lone_flow_takes_its_distance),
		cmocka_unit_test(
			an_even_shift_takes_the_distance_and_the_busiest_link),
		cmocka_unit_test(a_ring_takes_its_volume_at_the_slowest_hop),
		cmocka_unit_test(
			a_ring_over_thin_links_is_bounded_from_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
