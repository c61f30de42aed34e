/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds_sync.c - rows of the gradient sync calculator and its article */
#include "tests/costmodel/seeds.h"
#include "tests/lib/traffic.h"

#include "costmodel/traffic/collective.h"
#include "lab/calculators/chunks.h"
#include "lab/calculators/fact.h"
#include "lab/calculators/interconnect.h"
#include "lab/calculators/whatif.h"
#include "tests/lib/check.h"

#include <string.h>

#define GBPS (1e9 / 8)

static double rate(const char *name, enum weft_convention convention)
{
	const struct weft_interconnect *i = weft_interconnect_find(name);

	assert_non_null(i);
	return weft_interconnect_rate(i, convention);
}

/* The screen of the calculator: 7B parameters, 8 GPUs, 400 Gbps. */
static void screen(struct seeds *seeds)
{
	struct weft_gradsync s = seeds_sync(7e9, 8, 400 * GBPS, WEFT_SEED);
	struct weft_gradsync r = seeds_sync(7e9, 8, 400 * GBPS, WEFT_RIGHT);
	const enum weft_gradsync_algorithm ring = WEFT_GRADSYNC_RING;
	const enum weft_gradsync_algorithm tree = WEFT_GRADSYNC_TREE;

	seeds_add(seeds, "SE-001", s.gradient_bytes / 1e9,
		  r.gradient_bytes / 1e9, true);
	seeds_add(seeds, "SE-002", s.time_s[ring] * 1e3, r.time_s[ring] * 1e3,
		  true);
	seeds_add(seeds, "SE-003", s.time_s[tree] * 1e3, r.time_s[tree] * 1e3,
		  true);
	seeds_add(seeds, "SE-004", s.compute_s * 1e3, NONE, true);
	seeds_add(seeds, "SE-005", s.step_s * 1e3, NONE,
		  seeds_same(s.step_s, s.compute_s + s.time_s[ring]));
	seeds_add(seeds, "SE-006", s.overhead * 100, NONE, true);
	seeds_add(seeds, "SE-007", s.efficiency * 100, NONE, true);
	seeds_add(seeds, "SE-008", s.hiding_bytes_per_s / GBPS,
		  r.hiding_bytes_per_s / GBPS, true);
	seeds_add(seeds, "SE-009", s.recommended_bytes_per_s / GBPS, NONE,
		  true);
	seeds_add(seeds, "SE-026", NONE, NONE,
		  s.wall && s.algorithm == ring && s.gradient_bytes > 0);
}

/* Communication just above and just below half of the step. */
static bool the_wall_is_at_half(void)
{
	struct weft_gradsync_job job = {.parameters = 7e9,
					.parameter_bytes = 2,
					.n_gpus = 8,
					.link_bytes_per_s = 400 * GBPS,
					.compute_s = 0.491};
	struct weft_gradsync below, above;

	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &below, NULL), 0);
	job.compute_s = 0.489;
	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &above, NULL), 0);
	return above.wall && !below.wall;
}

/* 70B over one link each takes seconds; over eight links a node, after syncing
 * inside the nodes, less than one. */
static bool only_hierarchical_is_subsecond(void)
{
	struct weft_gradsync_job job = {.parameters = 70e9,
					.parameter_bytes = 2,
					.n_gpus = 16,
					.link_bytes_per_s = 400 * GBPS,
					.gpus_per_node = 8,
					.intra_bytes_per_s = 1e15};
	const int hierarchical = WEFT_GRADSYNC_HIERARCHICAL;
	struct weft_gradsync two, many;

	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &two, NULL), 0);
	job.n_gpus = 80000;
	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &many, NULL), 0);
	return fabs(two.time_s[hierarchical] - 0.35) < 0.001 &&
	       fabs(many.time_s[hierarchical] - 0.70) < 0.001 &&
	       two.time_s[WEFT_GRADSYNC_RING] > 1;
}

static bool the_ring_is_the_formula(void)
{
	for (uint32_t n = 2; n <= 4096; n *= 3) {
		struct weft_gradsync_job job = {.parameters = 1e9,
						.parameter_bytes = 4,
						.n_gpus = n,
						.link_bytes_per_s = 25e9,
						.latency_s = 3e-6};
		struct weft_gradsync sync;

		assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &sync, NULL),
				 0);
		if (!seeds_same(sync.time_s[WEFT_GRADSYNC_RING],
				2 * (n - 1.0) / n * 4e9 / 25e9 +
					2 * (n - 1.0) * 3e-6))
			return false;
	}
	return true;
}

/* Twice the workers, twice the time: linear, not quadratic. */
static bool a_star_is_linear(void)
{
	const int star = WEFT_GRADSYNC_STAR;
	double few = seeds_sync(1e9, 1001, 50e9, WEFT_RIGHT).time_s[star];
	double many = seeds_sync(1e9, 2001, 50e9, WEFT_RIGHT).time_s[star];

	return seeds_same(many, 2 * few);
}

static bool buckets_are_bytes(void)
{
	return seeds_same(WEFT_BUCKET_BYTES, 25 * 1048576.0) &&
	       fabs(WEFT_BUCKET_BYTES / 2 / 13.1e6 - 1) < 0.001 &&
	       fabs(WEFT_BUCKET_BYTES / 4 / 6.55e6 - 1) < 0.001 &&
	       seeds_same(WEFT_BUCKET_FIRST_BYTES, 1048576) &&
	       weft_bucket_count(WEFT_BUCKET_FIRST_BYTES) == 1 &&
	       weft_bucket_count(WEFT_BUCKET_FIRST_BYTES + WEFT_BUCKET_BYTES) ==
		       2;
}

/* Off unless asked for; then the sync is divided by it. */
static bool compression_divides(void)
{
	const struct weft_whatif_term *term = weft_whatif_find("compression");
	struct weft_gradsync_job job = {.parameters = 7e9,
					.parameter_bytes = 2,
					.n_gpus = 8,
					.link_bytes_per_s = 50e9};
	struct weft_gradsync plain, small;

	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &plain, NULL), 0);
	for (double c = 2; c <= 10; c++) {
		job.compression = c;
		assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &small, NULL),
				 0);
		if (!seeds_same(small.exposed_s * c, plain.exposed_s))
			return false;
	}
	return term && weft_whatif_off.compression == 1 && term->seed_low == 2;
}

static bool bus_bandwidth_is_nccl_tests(void)
{
	struct weft_gradsync sync = seeds_sync(7e9, 8, 50e9, WEFT_RIGHT);

	return seeds_same(sync.bus_bytes_per_s,
			  sync.gradient_bytes /
				  sync.time_s[WEFT_GRADSYNC_RING] * 2 * 7 /
				  8) &&
	       seeds_same(gather_bytes(8, 1), 7.0 / 8);
}

static void article(struct seeds *seeds)
{
	struct weft_gradsync gpt3 = seeds_sync(175e9, 128, 50e9, WEFT_RIGHT);
	struct weft_gradsync large = seeds_sync(175e9, 16384, 50e9, WEFT_RIGHT);

	seeds_add(seeds, "SE-010", WEFT_GRADSYNC_WALL * 100, NONE,
		  the_wall_is_at_half());
	seeds_add(seeds, "SE-011",
		  seeds_sync(70e9, 8, 400 * GBPS, WEFT_RIGHT)
			  .time_s[WEFT_GRADSYNC_RING],
		  seeds_sync(70e9, 8, 400 * GBPS, WEFT_RIGHT)
			  .time_s[WEFT_GRADSYNC_RING],
		  only_hierarchical_is_subsecond());
	seeds_add(seeds, "SE-012", gpt3.gradient_bytes / 1e9,
		  gpt3.gradient_bytes / 1e9,
		  gpt3.wire_bytes < 700e9 && gpt3.wire_bytes > 690e9);
	seeds_add(seeds, "SE-013", NONE, NONE, the_ring_is_the_formula());
	seeds_add(seeds, "SE-014", gpt3.wire_bytes / gpt3.gradient_bytes,
		  gpt3.wire_bytes / gpt3.gradient_bytes, true);
	seeds_add(seeds, "SE-015", large.wire_bytes / large.gradient_bytes,
		  large.wire_bytes / large.gradient_bytes, true);
	seeds_add(seeds, "SE-016", NONE, NONE, a_star_is_linear());
	seeds_add(seeds, "SE-017", NONE, NONE, buckets_are_bytes());
	seeds_add(seeds, "SE-018", NONE, NONE, compression_divides());
	seeds_add(seeds, "SE-019", rate("NDR", WEFT_SEED) / 1e9,
		  rate("NDR", WEFT_RIGHT) / 1e9, true);
	seeds_add(seeds, "SE-020", rate("100GbE", WEFT_SEED) / 1e9,
		  rate("100GbE", WEFT_RIGHT) / 1e9, true);
	seeds_add(seeds, "SE-021", rate("NVLink4", WEFT_SEED) / 1e9,
		  rate("NVLink4", WEFT_RIGHT) / 1e9,
		  seeds_same(rate("NVLink4", WEFT_RIGHT),
			     9 * rate("NDR", WEFT_RIGHT)));
	seeds_add(seeds, "SE-025", NONE, NONE, bus_bandwidth_is_nccl_tests());
}

/* 16,384 GPUs, 400B parameters: 0.4 s of work in a step of 2.2 s, 12 % overhead
 * after leaving TCP. */
static void case_study(struct seeds *seeds)
{
	struct weft_whatif_job job = {
		.compute_s = 0.4, .comm_s = 1.8, .terms = weft_whatif_off};
	struct weft_gradsync sync = seeds_sync(400e9, 16384, 50e9, WEFT_RIGHT);
	struct weft_whatif before, after;
	double rate_needed;

	assert_int_equal(weft_whatif(&job, WEFT_RIGHT, &before, NULL), 0);
	seeds_add(seeds, "SE-022", before.overhead * 100, before.overhead * 100,
		  true);
	job.terms.rdma = 1 - 0.12 / (1 - 0.12) * 0.4 / 1.8;
	assert_int_equal(weft_whatif(&job, WEFT_RIGHT, &after, NULL), 0);
	seeds_add(seeds, "SE-023", after.speedup, after.speedup,
		  seeds_same(after.overhead, 0.12));
	rate_needed = sync.gradient_bytes / before.base_s;
	seeds_add(seeds, "SE-024", rate_needed / 1e9, NONE,
		  rate_needed > rate("400GbE", WEFT_RIGHT) &&
			  rate_needed < 8 * rate("400GbE", WEFT_RIGHT));
}

/* 8 B200 in each of 4 nodes, 4 GiB: a measured 10.15 ms inside a node. */
static bool hierarchical_is_the_formula(void)
{
	const double size = 4294967296.0;
	struct weft_gradsync_job job = {.parameters = size / 2,
					.parameter_bytes = 2,
					.n_gpus = 32,
					.link_bytes_per_s = 50e9,
					.gpus_per_node = 8,
					.intra_bytes_per_s =
						2 * 7.0 / 8 * size / 10.15e-3};
	struct weft_gradsync sync;

	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &sync, NULL), 0);
	return fabs(sync.time_s[WEFT_GRADSYNC_HIERARCHICAL] - 26.3e-3) < 5e-5;
}

static bool has_check(const char *name, const char *word)
{
	for (uint32_t i = 0; i < weft_n_checks; i++) {
		if (strcmp(weft_checks[i].name, name) == 0)
			return strstr(weft_checks[i].how, word) != NULL;
	}
	return false;
}

void seeds_of_sync(struct seeds *seeds)
{
	screen(seeds);
	article(seeds);
	case_study(seeds);
	seeds_add(seeds, "SE-140", NONE, NONE, hierarchical_is_the_formula());
	seeds_add(seeds, "SE-141", NONE, NONE,
		  has_check("counters", "port_xmit_wait") &&
			  has_check("counters", "rx_prioN_pause") &&
			  has_check("algorithm", "NCCL_ALGO"));
}
