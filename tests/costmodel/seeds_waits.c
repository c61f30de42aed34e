/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds_waits.c - rows of the article about waiting: launch gaps, contention,
 * placement
 */
#include "tests/costmodel/seeds.h"

#include "costmodel/time/cost.h"
#include "costmodel/traffic/collective.h"
#include "lab/calculators/chunks.h"
#include "lab/calculators/whatif.h"
#include "placement/place.h"
#include "tests/lib/fabric.h"

#include <string.h>

#define US 1e-6
#define MS 1e-3

/* Latency saved when a stream's share of issue slots grows, if latency goes as
 * 1/share. */
static double priority_saves(double share_before, double share_after)
{
	return 1 - share_before / share_after;
}

static struct weft_whatif whatif(struct weft_whatif_job job,
				 enum weft_convention convention)
{
	struct weft_error err = {0};
	struct weft_whatif w;

	assert_int_equal(weft_whatif(&job, convention, &w, &err), 0);
	assert_no_error(&err);
	return w;
}

static struct weft_whatif_job job_of(double compute_s, double comm_s)
{
	return (struct weft_whatif_job){.compute_s = compute_s,
					.comm_s = comm_s,
					.terms = weft_whatif_off};
}

/* T_comp + T_comm - T_overlap with T_overlap = eta min(T_comp, T_comm). */
static bool step_is(double overlap, double compute_s, double comm_s,
		    double expected_s)
{
	struct weft_whatif_job job = job_of(compute_s, comm_s);

	job.overlap = overlap;
	return seeds_same(whatif(job, WEFT_RIGHT).step_s, expected_s);
}

static void unions(struct seeds *seeds)
{
	struct weft_whatif_job job = job_of(2, 3);

	job.terms.accumulation = 8;
	seeds_add(seeds, "SE-077", NONE, NONE,
		  step_is(0.5, 2, 3, 4) && step_is(0.25, 4, 1, 4.75));
	seeds_add(seeds, "SE-078", NONE, NONE,
		  step_is(1, 2, 3, 3) && step_is(1, 3, 2, 3));
	seeds_add(seeds, "SE-079", NONE, NONE, step_is(0, 2, 3, 5));
	seeds_add(seeds, "SE-080", NONE, NONE,
		  whatif(job_of(2, 1), WEFT_RIGHT).ratio < 1 &&
			  whatif(job_of(2, 3), WEFT_RIGHT).ratio > 1);
	seeds_add(seeds, "SE-087", NONE, NONE,
		  seeds_same(whatif(job, WEFT_RIGHT).ratio, 1.5 / 8));
}

/* 1,024 GPUs that wait 10 ms in each of a million steps. */
static double lost_gpu_hours(void)
{
	struct weft_whatif_job job = job_of(1, 0.5);

	job.n_gpus = 1024;
	job.steps = 1e6;
	job.terms.skew_s = 10 * MS;
	return whatif(job, WEFT_RIGHT).lost_gpu_s / 3600;
}

/* A tree of one rank per vertex whose flows are both halves of the gradient:
 * who sends most, in gradients. */
struct sent {
	double share[64];
};

static void sent_add(void *data, uint32_t from, uint32_t to, double share)
{
	struct sent *sent = data;

	(void)to;
	sent->share[from] += share;
}

/* In one binary tree a rank with two children sends them the whole gradient
 * each, and its parent its own; of the two trees each rank is inside one, and
 * each has half. */
static bool double_trees_have_no_top(void)
{
	const struct weft_group group = {1, 64, 1};
	struct sent sent = {{0}};
	double most = 0;

	weft_collective_flows(WEFT_ALL_REDUCE, WEFT_DOUBLE_TREE, &group,
			      sent_add, &sent);
	for (int i = 0; i < 64; i++)
		most = fmax(most, sent.share[i]);
	return most <= 2 + 1e-9;
}

static void algorithms(struct seeds *seeds)
{
	struct weft_gradsync large = seeds_sync(70e9, 8000, 50e9, WEFT_RIGHT);

	seeds_add(seeds, "SE-076", lost_gpu_hours(), lost_gpu_hours(), true);
	seeds_add(seeds, "SE-081", large.gradient_bytes / 1e9,
		  large.gradient_bytes / 1e9, true);
	seeds_add(seeds, "SE-082", large.ring_steps, large.ring_steps, true);
	seeds_add(seeds, "SE-083", large.tree_steps, large.tree_steps, true);
	seeds_add(seeds, "SE-084", NONE, NONE, double_trees_have_no_top());
	seeds_add(seeds, "SE-085",
		  seeds_gpu("GB200")->flops_per_s[WEFT_BITS_16] /
			  seeds_gpu("H100")->flops_per_s[WEFT_BITS_16],
		  seeds_gpu("GB200")->flops_per_s[WEFT_BITS_16] /
			  seeds_gpu("H100")->flops_per_s[WEFT_BITS_16],
		  true);
}

/* A claim without a source: a parameter that is off by default. */
static bool is_off(const char *name, double off)
{
	const struct weft_whatif_term *term = weft_whatif_find(name);
	double value;

	if (!term)
		return false;
	value = *(const double *)(const void *)((const char *)&weft_whatif_off +
						term->offset);
	return value == off && *term->source == '\0';
}

static void claims(struct seeds *seeds)
{
	const struct weft_fact *llama = seeds_fact("llama3.gpus");
	const struct weft_fact *proxy = seeds_fact("nccl.proxy_threads");
	struct weft_whatif_job job = job_of(1, 1);

	job.terms.compression = 100;
	seeds_add(seeds, "SE-086", weft_whatif_find("rdma")->seed_high * 100,
		  NONE, is_off("rdma", 0));
	seeds_add(seeds, "SE-088", llama->value, NONE,
		  llama->seed >= 1e5 && *llama->source);
	seeds_add(seeds, "SE-091", NONE, seeds_value("nccl.all_reduce_kernels"),
		  true);
	seeds_add(seeds, "SE-092", NONE, NONE,
		  proxy && strstr(proxy->text, "network") && *proxy->source);
	seeds_add(seeds, "SE-094", NONE, NONE,
		  is_off("compression", 1) &&
			  seeds_same(whatif(job, WEFT_RIGHT).comm_s, 0.01));
}

static void warps(struct seeds *seeds)
{
	/* Warps of the SM over its partitions, each with one scheduler. */
	double threads = seeds_value("h100.warps_per_sm") *
			 seeds_value("h100.threads_per_warp") /
			 seeds_value("h100.partitions_per_sm");
	const struct weft_fact *cycles = seeds_fact("h100.issue_cycles");
	double clock = seeds_value("h100.clock");
	double right_ns = cycles->value / clock * 1e9;
	double shared = seeds_value("h100.shared_per_sm") / 1e3;

	seeds_add(seeds, "SE-093", seeds_value("h100.concurrent_kernels"),
		  seeds_value("h100.concurrent_kernels"), true);
	seeds_add(seeds, "SE-095", seeds_gpu("H100")->n_sms,
		  seeds_gpu("H100")->n_sms, true);
	seeds_add(seeds, "SE-096",
		  threads * seeds_value("h100.partitions_per_sm"),
		  threads * seeds_value("h100.partitions_per_sm"), true);
	seeds_add(seeds, "SE-097", threads, threads,
		  seeds_same(seeds_value("h100.registers_per_sm") /
				     seeds_value("h100.partitions_per_sm"),
			     16384));
	seeds_add(seeds, "SE-098", cycles->seed / clock * 1e9, right_ns, true);
	seeds_add(seeds, "SE-102", 0.75 * shared, NONE,
		  fabs(0.75 * shared - 96) > 1);
	seeds_add(seeds, "SE-103",
		  0.25 * seeds_fact("h100.l1_per_sm")->seed / 1e3, NONE, true);
	seeds_add(seeds, "SE-104", right_ns, right_ns, true);
	/* 3.2 ns alone are 9.6 with a third of the unit. */
	seeds_add(seeds, "SE-105", 1 / (1 - priority_saves(3.2, 9.6)), NONE,
		  true);
}

static struct weft_whatif gap(enum weft_convention convention)
{
	struct weft_whatif_job job = job_of(0.5, 0.5);

	job.n_gpus = 4000;
	job.terms.launch_gap_s = 5 * US;
	return whatif(job, convention);
}

static bool gaps_are_wall_time_once(void)
{
	struct weft_whatif w = gap(WEFT_RIGHT);

	return fabs(w.lost_gpu_s - 20 * MS) < 1e-9 &&
	       fabs(w.step_s - w.base_s - 5 * US) < 1e-12;
}

/* A barrier gains the difference of two intervals, which is no gain of the
 * step, since every rank waits for the slowest anyway.  The seeds subtract end
 * from end. */
static bool a_barrier_is_an_interval(void)
{
	const double skew_s[2] = {5 * US, 10 * US};
	const double barrier_s[2] = {2 * US, 4 * US};
	struct weft_whatif_job job = job_of(1, 1);
	double waiting_s;

	job.terms.skew_s = 10 * US;
	waiting_s = whatif(job, WEFT_RIGHT).step_s;
	job.terms.barrier_s = 2 * US;
	return seeds_same(skew_s[0] - barrier_s[0], 3 * US) &&
	       seeds_same(skew_s[1] - barrier_s[1], 6 * US) &&
	       seeds_same(skew_s[0] - barrier_s[1], 1 * US) &&
	       seeds_same(skew_s[1] - barrier_s[0], 8 * US) &&
	       whatif(job, WEFT_RIGHT).step_s > waiting_s &&
	       is_off("barrier", 0) && is_off("skew", 0);
}

/* 128 MB in chunks of 12.8 MB, each 5 to 10 us late. */
static bool contention_is_per_chunk(void)
{
	struct weft_chunks_job split = {.gradient_bytes = 128e6,
					.link_bytes_per_s = 50e9,
					.n_chunks = 10};
	struct weft_whatif_job job = job_of(1, 1);
	const struct weft_whatif_term *term = weft_whatif_find("contention");
	struct weft_chunks c;
	double low_s;

	assert_int_equal(weft_chunks(&split, WEFT_RIGHT, &c, NULL), 0);
	job.chunks = (uint32_t)c.n_chunks;
	job.terms.contention_s = term->seed_low;
	low_s = whatif(job, WEFT_RIGHT).comm_s - 1;
	job.terms.contention_s = term->seed_high;
	return seeds_same(c.chunk_bytes, 12.8e6) &&
	       fabs(low_s - 50 * US) < 1e-12 &&
	       fabs(whatif(job, WEFT_RIGHT).comm_s - 1 - 100 * US) < 1e-12 &&
	       is_off("contention", 0);
}

static void gaps(struct seeds *seeds)
{
	struct weft_whatif s = gap(WEFT_SEED), r = gap(WEFT_RIGHT);
	double saved = priority_saves(0.30, 0.55) * 100;

	seeds_add(seeds, "SE-099", s.launch_gap_s / MS, r.launch_gap_s / MS,
		  gaps_are_wall_time_once());
	seeds_add(seeds, "SE-100", s.launch_gap_s / s.base_s * 100,
		  r.launch_gap_s / r.base_s * 100, is_off("launch-gap", 0));
	seeds_add(seeds, "SE-101", NONE, NONE, a_barrier_is_an_interval());
	seeds_add(seeds, "SE-106", NONE, NONE, contention_is_per_chunk());
	seeds_add(seeds, "SE-107",
		  seeds_sync(13e9, 8, 50e9, WEFT_RIGHT).gradient_bytes / 1e6,
		  seeds_sync(13e9, 8, 50e9, WEFT_RIGHT).gradient_bytes / 1e6,
		  true);
	seeds_add(seeds, "SE-108", saved, saved,
		  is_off("priority", 0) &&
			  weft_whatif_find("priority")->seed_low == 0.25);
}

/* ---- placement ---- */

/* Cost of a ring of 8 on the first GPU of every step-th node. */
static double ring_cost(const struct weft_fabric *f, uint32_t step)
{
	struct weft_flow flow[8];
	struct weft_traffic traffic = {0};
	struct weft_error err = {0};
	struct weft_cost cost;
	uint32_t where[8];
	double sum = 0;

	for (uint32_t r = 0; r < 8; r++) {
		flow[r] = (struct weft_flow){r, (r + 1) % 8, WEFT_AXIS_DP, 1e9};
		where[r] = f->nodes[r * step].first_gpu;
	}
	assert_int_equal(weft_traffic_from_flows(8, flow, 8, &traffic, &err),
			 0);
	assert_int_equal(weft_cost(f, &traffic, where, NULL, &cost, &err), 0);
	assert_no_error(&err);
	/* The definition, d times M over ordered pairs. */
	for (uint32_t r = 0; r < 8; r++) {
		uint32_t to = where[(r + 1) % 8];
		uint32_t level = weft_fabric_meet(f, where[r], to);

		sum += 1e9 * f->levels[level].hops;
	}
	assert_true(seeds_same(sum, cost.total[WEFT_HOPS]));
	weft_traffic_free(&traffic);
	return cost.total[WEFT_HOPS];
}

/* A ring among equals belongs into as few domains as hold it. */
static bool equal_ranks_are_packed(void)
{
	struct weft_fabric *f = test_synth("spine:1 leaf:4 node:4 gpu:8", NULL);
	struct weft_placement p = {0};
	struct weft_occupancy o = {0};
	struct weft_error err = {0};
	struct weft_job job = {0};
	uint32_t leaf = weft_fabric_level(f, "leaf");
	bool packed = true;

	assert_int_equal(
		weft_job_build("gpus=32,dp=32", 0, false, f, &job, &err), 0);
	assert_int_equal(weft_occupancy_build(f, &o, &err), 0);
	/* Two nodes of the first leaf are taken, so that first-fit would cross
	 * leafs. */
	assert_int_equal(weft_occupancy_busy(&o, "n[00-01]", &err), 0);
	assert_int_equal(weft_place(f, &job, &o, NULL, &p, &err), 0);
	assert_no_error(&err);
	for (uint32_t r = 1; r < p.n_ranks; r++)
		packed &= f->gpu_domain[leaf][p.where[r]] ==
			  f->gpu_domain[leaf][p.where[0]];
	packed &= p.placed && p.gap < 1e-9;
	weft_placement_free(&p);
	weft_occupancy_free(&o);
	weft_job_free(&job);
	weft_fabric_free(f);
	return packed;
}

static bool coordinates_are_known(const struct weft_fabric *f)
{
	return weft_fabric_level(f, "leaf") != WEFT_NONE &&
	       weft_fabric_level(f, "spine") != WEFT_NONE;
}

static void placed(struct seeds *seeds)
{
	struct weft_fabric *f = test_synth("spine:1 leaf:8 node:8 gpu:8", NULL);
	double apart = ring_cost(f, 8), together = ring_cost(f, 1);

	seeds_add(seeds, "SE-089", NONE, NONE, together > 0);
	seeds_add(seeds, "SE-090", apart / together, apart / together, true);
	seeds_add(seeds, "SE-111", NONE, NONE, coordinates_are_known(f));
	seeds_add(seeds, "SE-143", NONE, NONE, equal_ranks_are_packed());
	weft_fabric_free(f);
}

/* ---- checklists and knobs ---- */

static bool has_checks(void)
{
	static const char *const names[] = {
		"trace", "algorithm", "firmware", "stragglers",
		"mtu",	 "pairs",     "memory"};
	size_t found = 0;

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		for (uint32_t i = 0; i < weft_n_checks; i++)
			found += strcmp(weft_checks[i].name, names[k]) == 0;
	}
	return found == sizeof(names) / sizeof(names[0]);
}

/* Bucket size, compression and asynchrony all reach the step. */
static bool knobs_reach_the_step(void)
{
	struct weft_whatif_job job = job_of(1, 1);
	double base_s = whatif(job, WEFT_RIGHT).step_s;
	double compressed_s, overlapped_s;

	job.terms.compression = 4;
	compressed_s = whatif(job, WEFT_RIGHT).step_s;
	job.overlap = 1;
	overlapped_s = whatif(job, WEFT_RIGHT).step_s;
	return compressed_s < base_s && overlapped_s < compressed_s &&
	       weft_bucket_count(1e9) > 1;
}

void seeds_of_waits(struct seeds *seeds)
{
	unions(seeds);
	algorithms(seeds);
	claims(seeds);
	warps(seeds);
	gaps(seeds);
	placed(seeds);
	seeds_add(seeds, "SE-109", seeds_value("ethernet.jumbo"), NONE, true);
	seeds_add(seeds, "SE-110", NONE, NONE, has_checks());
	seeds_add(seeds, "SE-112", NONE, NONE, knobs_reach_the_step());
}
