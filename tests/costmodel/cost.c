/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - sum of d*M and the busiest link, against dense recomputation */
#include "costmodel/time/cost.h"

#include "tests/costmodel/random.h"
#include "tests/lib/fabric.h"
#include "tests/lib/traffic.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eight nodes of four GPUs: two leafs under two pods each, uplinks of leafs
 * three times, of pods six times too thin. */
static const char small_pods[] = "weft: fabric/1\n"
				 "profile: dgx-h100-superpod\n"
				 "nodes:\n"
				 "  n[0-7]: 4\n"
				 "levels:\n"
				 "  leaf:\n"
				 "    L[0-3]: n[0-7]\n"
				 "  pod:\n"
				 "    P[0-1]: L[0-3]\n"
				 "  top:\n"
				 "    T0: P[0-1]\n"
				 "links:\n"
				 "  pod: {oversubscription: 3}\n"
				 "  top: {oversubscription: 6}\n";

static void flows_random(uint64_t *seed, uint32_t n_ranks,
			 struct weft_flow *flows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = test_random_below(seed, n_ranks);
		uint32_t to = test_random_below(seed, n_ranks - 1);

		flows[i].from = from;
		flows[i].to = to + (to >= from);
		flows[i].axis =
			(enum weft_axis)test_random_below(seed, WEFT_N_AXES);
		flows[i].bytes = 1 + test_random_below(seed, 1000000);
	}
}

/* Bytes that cross the boundary of [first, first + n) of GPUs, upwards or
 * downwards. */
static double crossing(const struct weft_traffic *t, const uint32_t *where,
		       uint32_t first, uint32_t n, bool up)
{
	double sum = 0;

	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++) {
			bool from = where[r] - first < n;
			bool to = where[t->peer[k]] - first < n;

			if (up ? from && !to : to && !from)
				sum += t->bytes[k];
		}
	}
	return sum;
}

/* What rank r's NIC carries: traffic that leaves the node or, where it spans
 * nodes, the NVLink domain. */
static double nic(const struct weft_fabric *f, const struct weft_traffic *t,
		  const uint32_t *where, uint32_t r, bool up)
{
	const uint32_t *network = f->gpu_domain[f->node_level];
	double sum = 0;

	for (uint32_t i = 0; i < t->n_ranks; i++) {
		for (uint32_t k = t->row[i]; k < t->row[i + 1]; k++) {
			if ((up ? i : t->peer[k]) == r &&
			    network[where[i]] != network[where[t->peer[k]]])
				sum += t->bytes[k];
		}
	}
	return sum;
}

static double busiest_time(const struct weft_fabric *f,
			   const struct weft_traffic *t, const uint32_t *where)
{
	double time_s = 0;

	for (uint32_t d = 0; d < f->n_domains; d++) {
		const struct weft_domain *domain = &f->domains[d];
		double rate;

		if (domain->level + 1 == f->n_levels)
			continue;
		rate = domain->n_gpus *
		       f->levels[domain->level + 1].link.rate_bytes_per_s /
		       f->levels[domain->level + 1].link.oversubscription;
		assert_close(weft_cost_uplink_rate(f, d), rate, 1e-12);
		for (int up = 0; up < 2; up++)
			time_s = fmax(time_s,
				      crossing(t, where, domain->first_gpu,
					       domain->n_gpus, up) /
					      rate);
	}
	for (uint32_t r = 0; f->node_level + 1 < f->n_levels && r < t->n_ranks;
	     r++) {
		double rate =
			f->levels[f->node_level + 1].link.rate_bytes_per_s;

		time_s = fmax(time_s, nic(f, t, where, r, true) / rate);
		time_s = fmax(time_s, nic(f, t, where, r, false) / rate);
	}
	return time_s;
}

/* The busiest link that was reported carries what was reported. */
static void check_busiest(const struct weft_fabric *f,
			  const struct weft_traffic *t, const uint32_t *where,
			  const struct weft_cost *cost)
{
	uint32_t d = cost->busiest.domain;
	double bytes = 0;

	assert_close(cost->busiest.time_s, busiest_time(f, t, where), 1e-9);
	if (d == WEFT_NONE) {
		assert_true(cost->busiest.time_s == 0);
		return;
	}
	assert_int_equal(f->domains[d].level, cost->busiest.level);
	if (cost->busiest.gpu == WEFT_NONE)
		bytes = crossing(t, where, f->domains[d].first_gpu,
				 f->domains[d].n_gpus, cost->busiest.up);
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		if (where[r] == cost->busiest.gpu)
			bytes = nic(f, t, where, r, cost->busiest.up);
	}
	assert_close(cost->busiest.bytes, bytes, 1e-9);
}

static void check_sums(const struct weft_fabric *f,
		       const struct weft_cost *cost)
{
	for (int m = 0; m < WEFT_N_METRICS; m++) {
		double by_axis = 0, by_level = 0;

		for (int axis = 0; axis < WEFT_N_AXES; axis++)
			by_axis += cost->by_axis[axis][m];
		for (int level = 0; level < WEFT_MAX_LEVELS; level++)
			by_level += cost->by_level[level][m];
		assert_close(by_axis, cost->total[m], 1e-12);
		assert_close(by_level, cost->total[m], 1e-12);
	}
	for (uint32_t level = f->n_levels; level < WEFT_MAX_LEVELS; level++)
		assert_true(cost->bytes_by_level[level] == 0);
}

/* Recomputes the cost from weft_fabric_distance pair by pair. */
static void check_dense(const struct weft_fabric *f,
			const struct weft_traffic *t, const uint32_t *where,
			const struct weft_cost *cost)
{
	double total[WEFT_N_METRICS] = {0};
	double by_axis[WEFT_N_AXES] = {0}, by_level[WEFT_MAX_LEVELS] = {0};
	double bytes = 0;

	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++) {
			uint32_t a = where[r], b = where[t->peer[k]];
			struct weft_distance d = weft_fabric_distance(f, a, b);
			double time_s = t->bytes[k] * d.time_s_per_byte;

			total[WEFT_HOPS] += t->bytes[k] * d.hops;
			total[WEFT_LATENCY] += t->bytes[k] * d.latency_s;
			total[WEFT_TIME] += time_s;
			by_axis[t->axis[k]] += time_s;
			by_level[weft_fabric_meet(f, a, b)] += time_s;
		}
	}
	for (int m = 0; m < WEFT_N_METRICS; m++)
		assert_close(cost->total[m], total[m], 1e-9);
	for (int axis = 0; axis < WEFT_N_AXES; axis++)
		assert_close(cost->by_axis[axis][WEFT_TIME], by_axis[axis],
			     1e-9);
	for (int level = 0; level < WEFT_MAX_LEVELS; level++) {
		assert_close(cost->by_level[level][WEFT_TIME], by_level[level],
			     1e-9);
		bytes += cost->bytes_by_level[level];
	}
	assert_close(bytes, weft_traffic_bytes(t), 1e-9);
}

static void check_random_traffic(const struct weft_fabric *f, uint64_t *seed,
				 struct weft_cost_scratch *scratch)
{
	uint32_t n_max = f->n_gpus < 40 ? f->n_gpus : 40;
	uint32_t n_ranks = 2 + test_random_below(seed, n_max - 1);
	uint32_t n_flows = test_random_below(seed, 200);
	struct weft_error err = {0};
	struct weft_flow flows[200];
	struct weft_traffic t;
	struct weft_cost cost;
	uint32_t where[40];

	flows_random(seed, n_ranks, flows, n_flows);
	where_random(seed, f, where, n_ranks);
	weft_traffic_from_flows(n_ranks, flows, n_flows, &t, &err);
	assert_no_error(&err);
	weft_cost(f, &t, where, test_random_below(seed, 2) ? scratch : NULL,
		  &cost, &err);
	assert_no_error(&err);
	check_dense(f, &t, where, &cost);
	check_sums(f, &cost);
	check_busiest(f, &t, where, &cost);
	weft_traffic_free(&t);
}

/* Several shapes share one scratch on purpose. */
static void cost_equals_a_dense_recomputation(void **state)
{
	static const struct {
		const char *spec;
		struct weft_synth_options options;
	} shapes[] = {
		{"node:3 gpu:8", {0}},
		{"leaf:2 node:3 gpu:4", {0}},
		{"pod:2 leaf:2 node:2 gpu:4", {.damage = 0.2, .seed = 5}},
		{"pod:3 spine:2 leaf:2 node:2 gpu:2", {0}},
		{"pod:2 leaf:2 node:4 gpu:8", {.rails = 8}},
		{"pod:2 leaf:2 node:3 gpu:8", {.rails = 4}},
		{"leaf:3 nvlink:2 node:2 gpu:4", {0}},
	};
	struct weft_cost_scratch scratch = {0};
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct weft_fabric *f =
			test_synth(shapes[i].spec, &shapes[i].options);

		for (uint32_t k = 0; k < 60; k++)
			check_random_traffic(f, &seed, &scratch);
		weft_fabric_free(f);
	}
	weft_cost_scratch_free(&scratch);
	weft_cost_scratch_free(NULL);
}

/* Experts exchange all to all in groups of 8 or 16. */
static void experts_traffic(uint64_t *seed, struct weft_traffic *t)
{
	static const char *const texts[] = {
		"tp=1,pp=2,dp=16,ep=8,model=mixtral-8x7b,gbs=64",
		"tp=2,pp=1,dp=16,ep=8,model=mixtral-8x7b,gbs=64,sp=on",
		"tp=1,pp=2,dp=16,ep=16,model=deepseek-v3,gbs=64",
		"tp=1,pp=1,dp=32,cp=1,ep=8,model=mixtral-8x7b,gbs=64",
	};
	const char *text = texts[test_random_below(seed, 4)];
	struct weft_error err = {0};
	struct weft_spec spec;
	struct weft_model model;
	struct weft_grid grid;

	weft_spec_parse(text, &spec, &err);
	weft_spec_resolve(&spec, 0, &err);
	assert_no_error(&err);
	weft_model_find(spec.model, &model, &err);
	weft_spec_grid(&spec, &grid, &err);
	traffic_of_spec(&spec, &model, t, &err);
	assert_no_error(&err);
	assert_true(t->n_cliques > 0 && t->loose->n_edges < t->n_edges);
}

/* Groups in which each sends to each are priced by how many of them domains
 * have, as if edge by edge; where neighbours are nearer edge by edge, whether
 * there are rows of them or not. */
static void cliques_cost_what_their_pairs_do(void **state)
{
	static const char torus[] =
		"weft: fabric/1\nnodes:\n  n[0-8]: 4\nlevels:\n"
		"  t:\n    T: n[0-8]\nshapes:\n  t: [3, 3]\n";
	static const struct {
		const char *spec;
		struct weft_synth_options options;
	} shapes[] = {
		{"pod:2 leaf:3 node:3 gpu:8", {0}},
		{"pod:2 leaf:2 node:4 gpu:8", {.rails = 8}},
		{"pod:2 leaf:2 node:3 gpu:8", {.rails = 4}},
		{"leaf:3 nvlink:2 node:4 gpu:4", {0}},
		{"leaf:3 nvlink:2 node:4 gpu:4", {.rails = 4}},
	};
	struct weft_cost_scratch scratch = {0};
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t k = 0; k < 120; k++) {
		size_t i = test_random_below(&seed, 6);
		struct weft_fabric *f =
			i == 5 ? test_fabric(torus)
			       : test_synth(shapes[i].spec, &shapes[i].options);
		struct weft_error err = {0};
		struct weft_cost cost, sums, again;
		struct weft_traffic t;
		uint32_t where[32];

		experts_traffic(&seed, &t);
		where_random(&seed, f, where, t.n_ranks);
		weft_cost(f, &t, where, &scratch, &cost, &err);
		weft_cost_sums(f, &t, where, &scratch, &sums, &err);
		assert_no_error(&err);
		assert_null(t.row);
		weft_traffic_expand(&t, &err);
		assert_int_equal(t.row[t.n_ranks], t.n_edges);
		weft_cost(f, &t, where, &scratch, &again, &err);
		assert_no_error(&err);
		assert_memory_equal(again.total, cost.total,
				    sizeof(cost.total));
		check_dense(f, &t, where, &cost);
		check_sums(f, &cost);
		check_busiest(f, &t, where, &cost);
		assert_int_equal(sums.busiest.domain, WEFT_NONE);
		assert_memory_equal(sums.total, cost.total, sizeof(sums.total));
		weft_traffic_free(&t);
		weft_fabric_free(f);
	}
	weft_cost_scratch_free(&scratch);
}

/* Two NVLink pairs in each node: their traffic leaves the pair, not the node.
 */
static void pairs_in_a_node_do_not_load_its_network_cards(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "profile: dgx-h100-superpod\n"
					    "nodes:\n"
					    "  n[0-3]: 4\n"
					    "nvlink: 2\n"
					    "levels:\n"
					    "  leaf:\n"
					    "    L0: n[0-3]\n");
	struct weft_flow flow = {0, 1, WEFT_AXIS_TP, 1e6};
	const uint32_t where[] = {0, 2};
	struct weft_error err = {0};
	uint64_t seed = test_seed();
	struct weft_traffic t;
	struct weft_cost cost;

	(void)state;
	assert_int_equal(f->node_level, 1);
	for (uint32_t k = 0; k < 60; k++)
		check_random_traffic(f, &seed, NULL);
	weft_traffic_from_flows(2, &flow, 1, &t, &err);
	weft_cost(f, &t, where, NULL, &cost, &err);
	assert_no_error(&err);
	assert_int_equal(cost.busiest.gpu, WEFT_NONE);
	assert_int_equal(cost.busiest.level, 0);
	assert_close(cost.bytes_by_level[1], 1e6, 0);
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

static void oversubscribed_levels_are_computed_too(void **state)
{
	struct weft_cost_scratch scratch = {0};
	struct weft_fabric *f = test_fabric(small_pods);
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t k = 0; k < 100; k++)
		check_random_traffic(f, &seed, &scratch);
	weft_cost_scratch_free(&scratch);
	weft_fabric_free(f);
}

/* One flow, whose cost can be done by hand. */
static void one_flow_costs_bytes_times_distance(void **state)
{
	struct weft_fabric *f = test_fabric(small_pods);
	struct weft_flow flow = {0, 1, WEFT_AXIS_PP, 1e9};
	const uint32_t where[] = {0, 31}; /* across the top */
	struct weft_error err = {0};
	const struct weft_distance d = weft_fabric_distance(f, 0, 31);
	struct weft_traffic t;
	struct weft_cost cost;

	(void)state;
	weft_traffic_from_flows(2, &flow, 1, &t, &err);
	weft_cost(f, &t, where, NULL, &cost, &err);
	assert_no_error(&err);
	assert_close(cost.total[WEFT_HOPS], 1e9 * d.hops, 0);
	assert_close(cost.total[WEFT_TIME], 1e9 * d.time_s_per_byte, 0);
	assert_close(cost.total[WEFT_LATENCY], 1e9 * d.latency_s, 0);
	assert_close(cost.by_axis[WEFT_AXIS_PP][WEFT_TIME],
		     cost.total[WEFT_TIME], 0);
	assert_close(cost.bytes_by_level[3], 1e9, 0);
	/* A pod's 16 GPUs share an uplink a sixth as wide: still wider than
	 * one NIC. */
	assert_int_equal(cost.busiest.gpu, 0);
	assert_true(cost.busiest.up);
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

/* All-to-all of 16 ranks over two NVLink domains: the sum prefers 15:1, whose
 * lone rank sends to all others through one NIC. */
static void an_even_split_has_the_less_busy_link(void **state)
{
	struct weft_fabric *f = test_synth("node:2 gpu:16", NULL);
	struct weft_error err = {0};
	struct weft_flow flows[240];
	uint32_t even[16], uneven[16], n = 0;
	struct weft_traffic t;
	struct weft_cost a, b;

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		even[i] = i < 8 ? i : i + 8;
		uneven[i] = i < 15 ? i : 16;
		for (uint32_t j = 0; j < 16; j++) {
			if (i != j)
				flows[n++] = (struct weft_flow){
					i, j, WEFT_AXIS_EP, 1e6};
		}
	}
	weft_traffic_from_flows(16, flows, n, &t, &err);
	weft_cost(f, &t, even, NULL, &a, &err);
	weft_cost(f, &t, uneven, NULL, &b, &err);
	assert_no_error(&err);
	assert_true(a.total[WEFT_TIME] > b.total[WEFT_TIME]);
	assert_close(a.busiest.bytes, 8e6, 1e-12);
	assert_close(b.busiest.bytes, 15e6, 1e-12);
	assert_int_equal(b.busiest.gpu, 16);
	assert_true(a.busiest.time_s < b.busiest.time_s);
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

static void renaming_ranks_changes_nothing(void **state)
{
	struct weft_fabric *f = test_fabric(small_pods);
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct weft_flow flows[100], renamed[100];
		uint32_t where[20], where_renamed[20], name[20];
		struct weft_error err = {0};
		struct weft_traffic a, b;
		struct weft_cost x, y;

		flows_random(&seed, 20, flows, 100);
		where_random(&seed, f, where, 20);
		for (uint32_t r = 0; r < 20; r++)
			name[r] = (r * 7 + i) % 20;
		for (uint32_t r = 0; r < 20; r++)
			where_renamed[name[r]] = where[r];
		memcpy(renamed, flows, sizeof(flows));
		for (uint32_t k = 0; k < 100; k++) {
			renamed[k].from = name[flows[k].from];
			renamed[k].to = name[flows[k].to];
		}
		weft_traffic_from_flows(20, flows, 100, &a, &err);
		weft_traffic_from_flows(20, renamed, 100, &b, &err);
		weft_cost(f, &a, where, NULL, &x, &err);
		weft_cost(f, &b, where_renamed, NULL, &y, &err);
		assert_no_error(&err);
		for (int m = 0; m < WEFT_N_METRICS; m++)
			assert_close(x.total[m], y.total[m], 1e-12);
		assert_close(x.busiest.time_s, y.busiest.time_s, 1e-12);
		weft_traffic_free(&a);
		weft_traffic_free(&b);
	}
	weft_fabric_free(f);
}

static void doubling_all_rates_halves_the_time(void **state)
{
	struct weft_fabric *f = test_fabric(small_pods), fast = *f;
	uint64_t seed = test_seed();
	struct weft_error err = {0};
	struct weft_flow flows[100];
	struct weft_traffic t;
	struct weft_cost x, y;
	uint32_t where[20];

	(void)state;
	for (uint32_t level = 0; level < f->n_levels; level++) {
		fast.levels[level].link.rate_bytes_per_s *= 2;
		fast.distance[level][0].time_s_per_byte /= 2;
		fast.distance[level][1].time_s_per_byte /= 2;
	}
	flows_random(&seed, 20, flows, 100);
	where_random(&seed, f, where, 20);
	weft_traffic_from_flows(20, flows, 100, &t, &err);
	weft_cost(f, &t, where, NULL, &x, &err);
	weft_cost(&fast, &t, where, NULL, &y, &err);
	assert_no_error(&err);
	assert_close(y.total[WEFT_TIME] * 2, x.total[WEFT_TIME], 1e-12);
	assert_close(y.busiest.time_s * 2, x.busiest.time_s, 1e-12);
	assert_close(y.total[WEFT_HOPS], x.total[WEFT_HOPS], 0);
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

static void cost_is_zero_when_nothing_moves(void **state)
{
	struct weft_fabric *f = test_fabric(small_pods);
	const uint32_t where[] = {3, 9, 27};
	struct weft_error err = {0};
	struct weft_traffic t;
	struct weft_cost cost;

	(void)state;
	weft_traffic_from_flows(3, NULL, 0, &t, &err);
	weft_cost(f, &t, where, NULL, &cost, &err);
	assert_no_error(&err);
	assert_true(cost.total[WEFT_TIME] == 0);
	assert_int_equal(cost.busiest.domain, WEFT_NONE);
	assert_int_equal(cost.busiest.gpu, WEFT_NONE);
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

/* After an error the scratch must be as clean as before. */
static void impossible_placements_are_errors(void **state)
{
	static const struct {
		uint32_t where[3];
		const char *says;
	} cases[] = {
		{{0, 4, 32}, "rank 2 runs on GPU 32, but the fabric has 32"},
		{{5, 4, 5}, "rank 2 runs on GPU 5, as another rank does"},
	};
	const uint32_t good[] = {0, 4, 20};
	struct weft_fabric *f = test_fabric(small_pods);
	struct weft_cost_scratch scratch = {0};
	struct weft_flow flows[] = {{0, 1, WEFT_AXIS_TP, 1},
				    {1, 2, WEFT_AXIS_TP, 1}};
	struct weft_error err = {0};
	struct weft_cost cost, again;
	struct weft_traffic t;

	(void)state;
	weft_traffic_from_flows(3, flows, 2, &t, &err);
	weft_cost(f, &t, good, &scratch, &cost, &err);
	assert_no_error(&err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(weft_cost(f, &t, cases[i].where, &scratch,
					   &again, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
	}
	memset(&err, 0, sizeof(err));
	weft_cost(f, &t, good, &scratch, &again, &err);
	assert_no_error(&err);
	assert_memory_equal(&again, &cost, sizeof(cost));
	weft_cost_scratch_free(&scratch);
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

static void unconnected_gpus_cannot_exchange_bytes(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "profile: dgx-h100-superpod\n"
					    "disjoint: true\n"
					    "nodes:\n"
					    "  n[0-3]: 8\n"
					    "levels:\n"
					    "  leaf:\n"
					    "    L[0-1]: n[0-3]\n");
	struct weft_flow flow = {0, 1, WEFT_AXIS_DP, 1};
	const uint32_t together[] = {0, 8, 31}, apart[] = {0, 31, 8};
	struct weft_error err = {0};
	struct weft_traffic t;
	struct weft_cost cost;

	(void)state;
	assert_false(f->connected);
	weft_traffic_from_flows(3, &flow, 1, &t, &err);
	/* Rank 2 is elsewhere, but talks to nobody. */
	weft_cost(f, &t, together, NULL, &cost, &err);
	assert_no_error(&err);
	assert_int_equal(weft_cost(f, &t, apart, NULL, &cost, &err), -1);
	assert_error_says(&err, "ranks 0 and 1 exchange bytes, but no link "
				"joins their nodes n0 and n3");
	weft_traffic_free(&t);
	weft_fabric_free(f);
}

/* Ranks on the GPUs 0, 1, 4, 5: two on each node of a leaf. */
static void switches_reduce_on_the_way(void **state)
{
	static const uint32_t near[] = {0, 1, 4, 5}, far[] = {0, 1, 16, 17};
	struct weft_fabric *f = test_fabric(small_pods);
	uint32_t member[] = {0, 1, 2, 3}, row[5] = {0};
	struct weft_switch one = {0, 4, WEFT_AXIS_DP, 1e9};
	const struct weft_traffic t = {
		.n_ranks = 4,
		.row = row,
		.n_switches = 1,
		.switches = &one,
		.member = member,
	};
	struct weft_cost_scratch scratch = {0};
	struct weft_error err = {0};
	struct weft_cost cost, again;
	uint32_t leaf = weft_fabric_level(f, "leaf");

	(void)state;
	weft_cost(f, &t, near, &scratch, &cost, &err);
	assert_no_error(&err);
	assert_close(cost.total[WEFT_HOPS], 4e9 * f->distance[leaf][0].hops,
		     1e-12);
	assert_close(cost.by_axis[WEFT_AXIS_DP][WEFT_TIME],
		     4e9 * f->distance[leaf][0].time_s_per_byte, 1e-12);
	assert_close(cost.bytes_by_level[leaf], 4e9, 0);
	/* a node's link carries one sum of two, so a card is the busiest */
	assert_close(cost.busiest.bytes, 1e9, 0);
	assert_int_equal(cost.busiest.gpu, 0);
	/* over thin links of pods as well: all of two nodes' sums are one */
	weft_cost(f, &t, far, &scratch, &cost, &err);
	weft_cost(f, &t, far, NULL, &again, &err);
	assert_no_error(&err);
	assert_memory_equal(&cost, &again, sizeof(cost));
	assert_close(cost.busiest.bytes, 1e9, 0);
	for (uint32_t d = 0; d < f->n_domains; d++)
		assert_int_equal(scratch.seen[d], 0);
	weft_cost_scratch_free(&scratch);
	weft_fabric_free(f);
}

/* Whoever changes rails does so on the way to the outermost switch as well. */
static void a_switch_is_no_nearer_for_being_further_out(void **state)
{
	/* rank 1 on another rail of rank 0's leaf, rank 2 on its rail */
	static const uint32_t leaf[] = {0, 9, 16}, pods[] = {0, 9, 32};
	const struct weft_synth_options rails = {.rails = 8};
	struct weft_fabric *f = test_synth("pod:2 leaf:2 node:2 gpu:8", &rails);
	uint32_t member[] = {0, 1, 2}, row[4] = {0};
	struct weft_switch one = {0, 3, WEFT_AXIS_DP, 1e9};
	const struct weft_traffic t = {
		.n_ranks = 3,
		.row = row,
		.n_switches = 1,
		.switches = &one,
		.member = member,
	};
	struct weft_error err = {0};
	struct weft_cost near, far;
	uint32_t top = f->n_levels - 1;

	(void)state;
	weft_cost(f, &t, leaf, NULL, &near, &err);
	weft_cost(f, &t, pods, NULL, &far, &err);
	assert_no_error(&err);
	assert_close(far.total[WEFT_HOPS], 3e9 * f->distance[top][1].hops,
		     1e-12);
	for (int m = 0; m < WEFT_N_METRICS; m++)
		assert_true(near.total[m] <= far.total[m]);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_is_no_nearer_for_being_further_out),
		cmocka_unit_test(switches_reduce_on_the_way),
		cmocka_unit_test(cost_equals_a_dense_recomputation),
		cmocka_unit_test(cliques_cost_what_their_pairs_do),
		cmocka_unit_test(pairs_in_a_node_do_not_load_its_network_cards),
		cmocka_unit_test(oversubscribed_levels_are_computed_too),
		cmocka_unit_test(one_flow_costs_bytes_times_distance),
		cmocka_unit_test(an_even_split_has_the_less_busy_link),
		cmocka_unit_test(renaming_ranks_changes_nothing),
		cmocka_unit_test(doubling_all_rates_halves_the_time),
		cmocka_unit_test(cost_is_zero_when_nothing_moves),
		cmocka_unit_test(impossible_placements_are_errors),
		cmocka_unit_test(unconnected_gpus_cannot_exchange_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
