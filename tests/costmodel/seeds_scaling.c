/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds_scaling.c - rows of the article about scaling limits and of the talk */
#include "tests/costmodel/seeds.h"

#include "lab/calculators/interconnect.h"
#include "lab/calculators/tensor.h"
#include "lab/calculators/whatif.h"
#include "tests/lib/check.h"

#define GBPS (1e9 / 8)
#define MS   1e-3

enum { RING = WEFT_GRADSYNC_RING, TREE = WEFT_GRADSYNC_TREE };

static double rate(const char *name, enum weft_convention convention)
{
	return weft_interconnect_rate(weft_interconnect_find(name), convention);
}

/* The ring tends to 2 S/B from below. */
static bool the_limit_is_twice(void)
{
	double few = seeds_sync(10e9, 64, 50e9, WEFT_RIGHT).time_s[RING];
	double many = seeds_sync(10e9, 65536, 50e9, WEFT_RIGHT).time_s[RING];

	return few < many && many < 0.8 && 0.8 - many < 0.0001;
}

static void ten_billion(struct seeds *seeds)
{
	struct weft_gradsync two = seeds_sync(10e9, 2, 50e9, WEFT_RIGHT);
	struct weft_gradsync many = seeds_sync(10e9, 65536, 50e9, WEFT_RIGHT);

	seeds_add(seeds, "SE-113",
		  seeds_gpu("A100")->flops_per_s[WEFT_BITS_16] / 1e12,
		  seeds_gpu("A100")->flops_per_s[WEFT_BITS_16] / 1e12, true);
	seeds_add(
		seeds, "SE-114",
		seeds_gpu("A100")->memory_bytes_per_s / rate("NDR", WEFT_RIGHT),
		seeds_gpu("A100")->memory_bytes_per_s / rate("NDR", WEFT_RIGHT),
		true);
	seeds_add(seeds, "SE-115", two.gradient_bytes / 1e9,
		  two.gradient_bytes / 1e9, true);
	/* S/B is what two GPUs take. */
	seeds_add(seeds, "SE-116", two.time_s[RING] / MS,
		  many.time_s[RING] / MS, true);
	seeds_add(seeds, "SE-117", NONE, NONE, the_limit_is_twice());
}

static struct weft_tensor tensor(double rate_bytes_per_s, bool full,
				 enum weft_convention convention)
{
	/* An activation of 200 MB, of GPT-3's 96 layers. */
	struct weft_tensor_job job = {.ways = 8,
				      .tokens = 8192,
				      .hidden = 200e6 / 2 / 8192,
				      .layers = 96,
				      .link_bytes_per_s = rate_bytes_per_s,
				      .full_recompute = full};
	struct weft_tensor t;

	assert_int_equal(weft_tensor(&job, convention, &t, NULL), 0);
	return t;
}

/* At rates that make one all-reduce take 1 and 2 ms. */
static bool a_step_has_thousands(void)
{
	double fast = 2 * 7.0 / 8 * 200e6 / (1 * MS), slow = fast / 2;

	return seeds_same(tensor(fast, false, WEFT_SEED).step_s, 192 * MS) &&
	       seeds_same(tensor(slow, false, WEFT_SEED).step_s, 384 * MS) &&
	       seeds_same(tensor(fast, false, WEFT_RIGHT).step_s, 384 * MS) &&
	       seeds_same(tensor(slow, false, WEFT_RIGHT).step_s, 768 * MS) &&
	       seeds_same(tensor(fast, true, WEFT_RIGHT).step_s, 576 * MS) &&
	       seeds_same(tensor(slow, true, WEFT_RIGHT).step_s, 1152 * MS);
}

/* Four sequences of 2,048 tokens of GPT-3. */
static bool activations_are_some_hundred_megabytes(void)
{
	struct weft_tensor_job job = {.ways = 8,
				      .tokens = 4 * 2048,
				      .hidden = 12288,
				      .link_bytes_per_s = 300e9};
	struct weft_tensor t;

	assert_int_equal(weft_tensor(&job, WEFT_RIGHT, &t, NULL), 0);
	return t.all_reduce_bytes > 100e6 && t.all_reduce_bytes < 500e6 &&
	       fabs(t.all_reduce_bytes - 201e6) < 1e6;
}

static void tensors(struct seeds *seeds)
{
	double busbw = seeds_value("nccl.a100_busbw");
	double full = rate("NVLink3", WEFT_RIGHT);

	seeds_add(seeds, "SE-118",
		  tensor(full, false, WEFT_RIGHT).all_reduce_s / MS,
		  tensor(busbw, false, WEFT_RIGHT).all_reduce_s / MS,
		  tensor(full, false, WEFT_RIGHT).all_reduce_s > 1 * MS &&
			  tensor(busbw, false, WEFT_RIGHT).all_reduce_s <
				  2 * MS);
	seeds_add(seeds, "SE-119", NONE, NONE, a_step_has_thousands());
	seeds_add(seeds, "SE-130", NONE, NONE,
		  activations_are_some_hundred_megabytes());
}

/* Below half iff computation is shorter than the exposed sync. */
static bool half_is_where_both_are_equal(double sync_s)
{
	struct weft_gradsync_job job = {.parameters = 10e9,
					.parameter_bytes = 2,
					.n_gpus = 512,
					.link_bytes_per_s = 200 * GBPS};
	struct weft_gradsync shorter, longer;

	job.compute_s = 0.99 * sync_s;
	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &shorter, NULL), 0);
	job.compute_s = 1.01 * sync_s;
	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &longer, NULL), 0);
	return shorter.efficiency < 0.5 && longer.efficiency > 0.5;
}

static bool off_is(const char *name, double off, double low, double high)
{
	const struct weft_whatif_term *term = weft_whatif_find(name);

	return term && *term->source == '\0' && term->seed_low == low &&
	       term->seed_high == high &&
	       *(const double *)(const void *)((const char *)&weft_whatif_off +
					       term->offset) == off;
}

/* The slowest of n ranks reaches the quantile 1 - 1/n of one rank's step time
 * on average, not a fixed 0.99. */
static bool the_quantile_depends_on_n(void)
{
	return fabs(1 - 1.0 / 512 - 0.998) < 1e-4 &&
	       off_is("straggler", 0, 0.1, 0.2);
}

/* Probability that one of n ranks at least is slow, each with probability p:
 * 1 - (1-p)^n without loss for small p. */
static double any_slow(double p, uint32_t n)
{
	return -expm1(n * log1p(-p));
}

static void at_512(struct seeds *seeds)
{
	double sync_s =
		seeds_sync(10e9, 512, 200 * GBPS, WEFT_RIGHT).time_s[RING];

	seeds_add(seeds, "SE-120", sync_s, sync_s,
		  half_is_where_both_are_equal(sync_s));
	seeds_add(seeds, "SE-121", any_slow(0.01, 512), any_slow(0.01, 512),
		  fabs(any_slow(0.001, 512) - 0.401) < 0.0005);
	seeds_add(seeds, "SE-122", NONE, NONE, the_quantile_depends_on_n());
	seeds_add(seeds, "SE-123",
		  seeds_fact("nccl.a100_busbw")->seed /
			  rate("NVLink3", WEFT_RIGHT) * 100,
		  seeds_value("nccl.a100_busbw") / 1e9, true);
	/* 30 to 40 GB/s of 50. */
	seeds_add(seeds, "SE-124", NONE, NONE,
		  off_is("link-share", 1, 0.6, 0.8));
}

static void machines(struct seeds *seeds)
{
	double share = seeds_value("opt175b.flops") /
		       seeds_gpu("A100")->flops_per_s[WEFT_BITS_16] * 100;
	double gpus = seeds_value("selene.nodes") * seeds_value("dgx.gpus");
	double injection =
		seeds_value("dgx.gpus") * rate("HDR", WEFT_RIGHT) * 8;

	seeds_add(seeds, "SE-125", share, share, true);
	seeds_add(seeds, "SE-126", gpus, gpus, true);
	seeds_add(seeds, "SE-127", injection / 1e12, injection / 1e12, true);
	seeds_add(seeds, "SE-128", seeds_value("tpu-v4.pod"),
		  seeds_value("tpu-v4.pod"), true);
}

static bool local_sgd_divides(void)
{
	struct weft_whatif_job job = {
		.compute_s = 1, .comm_s = 1, .terms = weft_whatif_off};
	struct weft_whatif w;

	job.terms.sync_every = 16;
	assert_int_equal(weft_whatif(&job, WEFT_RIGHT, &w, NULL), 0);
	return seeds_same(w.comm_s, 1.0 / 16);
}

static struct weft_gradsync_job with_latency(double parameters, uint32_t n)
{
	return (struct weft_gradsync_job){.parameters = parameters,
					  .parameter_bytes = 2,
					  .n_gpus = n,
					  .link_bytes_per_s = 50e9,
					  .latency_s = 3e-6};
}

/* Small ones by tree, large ones by ring. */
static bool trees_are_for_small_messages(void)
{
	struct weft_gradsync_job small = with_latency(1e6, 48);
	struct weft_gradsync_job large = with_latency(1e9, 48);
	struct weft_gradsync s, l;

	assert_int_equal(weft_gradsync(&small, WEFT_RIGHT, &s, NULL), 0);
	assert_int_equal(weft_gradsync(&large, WEFT_RIGHT, &l, NULL), 0);
	return s.time_s[TREE] < s.time_s[RING] &&
	       l.time_s[RING] < l.time_s[TREE];
}

/* Ring's bytes in log n steps. */
static bool halving_is_the_formula(void)
{
	struct weft_gradsync_job job = with_latency(1e9, 256);
	struct weft_gradsync sync;

	assert_int_equal(weft_gradsync(&job, WEFT_RIGHT, &sync, NULL), 0);
	return seeds_same(sync.time_s[WEFT_GRADSYNC_HALVING],
			  2 * 8 * 3e-6 + 2 * 255.0 / 256 * 2e9 / 50e9);
}

/* The same ranks and bytes on other GPUs take another time: the same sync over
 * NVLink and over the network. */
static bool the_path_decides(void)
{
	double near =
		seeds_sync(1e9, 8, rate("NVLink4", WEFT_RIGHT), WEFT_RIGHT)
			.exposed_s;
	double far = seeds_sync(1e9, 8, rate("NDR", WEFT_RIGHT), WEFT_RIGHT)
			     .exposed_s;

	return seeds_same(far, 9 * near);
}

/* Eight GPUs, 50 GB. */
static void talk(struct seeds *seeds)
{
	struct weft_gradsync sync = seeds_sync(25e9, 8, 50e9, WEFT_RIGHT);
	double h100 = seeds_value("nccl.h100_sharp_busbw") /
		      seeds_value("nccl.h100_ring_busbw");
	double nvl72 = seeds_value("nccl.nvl72_sharp_busbw") /
		       seeds_value("nccl.nvl72_ring_busbw");

	seeds_add(seeds, "SE-131", 8 * sync.gradient_bytes / 1e9,
		  8 * sync.wire_bytes / 1e9, true);
	seeds_add(seeds, "SE-132", NONE, NONE, sync.ring_steps == 14);
	seeds_add(seeds, "SE-133", seeds_gpu("H100")->memory_bytes / 1e9,
		  seeds_gpu("H100")->memory_bytes / 1e9,
		  seeds_sync(70e9, 8, 50e9, WEFT_RIGHT).gradient_bytes >
			  seeds_gpu("H100")->memory_bytes);
	seeds_add(seeds, "SE-134", rate("NVLink4", WEFT_SEED) / 1e9,
		  rate("NVLink4", WEFT_RIGHT) / 1e9, true);
	seeds_add(seeds, "SE-135", rate("NDR", WEFT_SEED) / 1e9,
		  rate("NDR", WEFT_RIGHT) / 1e9, true);
	seeds_add(seeds, "SE-136",
		  weft_whatif_find("small-messages")->seed_high, NONE,
		  off_is("small-messages", 1, 1, 9));
	seeds_add(seeds, "SE-137", h100, nvl72, h100 < 2 && nvl72 < 2);
	seeds_add(seeds, "SE-138", NONE, NONE, trees_are_for_small_messages());
	seeds_add(seeds, "SE-139", NONE, NONE, the_path_decides());
}

void seeds_of_scaling(struct seeds *seeds)
{
	ten_billion(seeds);
	tensors(seeds);
	at_512(seeds);
	machines(seeds);
	seeds_add(seeds, "SE-129", NONE, NONE, local_sgd_divides());
	talk(seeds);
	seeds_add(seeds, "SE-142", NONE, NONE, halving_is_the_formula());
}
