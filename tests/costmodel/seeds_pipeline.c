/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds_pipeline.c - rows of the parallelism calculator and its article */
#include "tests/costmodel/seeds.h"
#include "tests/lib/traffic.h"

#include "costmodel/job/memory.h"
#include "costmodel/traffic/collective.h"
#include "lab/calculators/interconnect.h"
#include "lab/calculators/pipeline.h"
#include "lab/calculators/tensor.h"
#include "lab/calculators/whatif.h"
#include "tests/lib/check.h"

static struct weft_pipeline pipeline(uint32_t stages, uint32_t micro_batches,
				     enum weft_convention convention)
{
	struct weft_pipeline_job job = {.stages = stages,
					.micro_batches = micro_batches};
	struct weft_pipeline p;

	assert_int_equal(weft_pipeline(&job, convention, &p, NULL), 0);
	return p;
}

/* The screen of the calculator: 4 stages of 20 layers, 8 micro-batches. */
static void screen(struct seeds *seeds)
{
	struct weft_pipeline s = pipeline(4, 8, WEFT_SEED);
	struct weft_pipeline r = pipeline(4, 8, WEFT_RIGHT);
	double more = pipeline(4, 16, WEFT_RIGHT).efficiency * 100;
	double fewer = pipeline(3, 8, WEFT_RIGHT).efficiency * 100;

	seeds_add(seeds, "SE-027", s.operations, r.operations, true);
	seeds_add(seeds, "SE-028", s.layers, r.layers, true);
	seeds_add(seeds, "SE-029", s.activation_bytes / 1e6,
		  r.activation_bytes / 1e6, true);
	seeds_add(seeds, "SE-030", s.peak_activation_bytes / 1e6,
		  r.peak_activation_bytes / 1048576, r.in_flight == 4);
	seeds_add(seeds, "SE-031", s.bubble_of_total * 100,
		  r.bubble_of_total * 100, true);
	seeds_add(seeds, "SE-032", s.efficiency * 100, r.efficiency * 100,
		  true);
	seeds_add(seeds, "SE-033", s.transfer_bytes / 1e9,
		  r.transfer_bytes / 1073741824, true);
	seeds_add(seeds, "SE-034", s.compute_s * 1e3, NONE,
		  seeds_same(s.compute_s, 32 * 2.56e-3));
	seeds_add(seeds, "SE-035", s.min_link_bytes_per_s * 8 / 1e9,
		  r.min_link_bytes_per_s * 8 / 1e9, true);
	seeds_add(seeds, "SE-036", WEFT_PIPELINE_EFFICIENCY * 100, NONE,
		  s.inefficient && s.advised_micro_batches == 16 &&
			  s.advised_stages == 3);
	seeds_add(seeds, "SE-037", more, more,
		  !pipeline(4, 16, WEFT_RIGHT).inefficient);
	seeds_add(seeds, "SE-038", fewer, fewer,
		  !pipeline(3, 8, WEFT_RIGHT).inefficient);
}

/* Constant for the same batch; grows when the micro-batches stay as large. */
static bool only_a_larger_batch_sends_more(void)
{
	struct weft_pipeline_job job = {
		.stages = 4, .micro_batches = 8, .sequences = 2};
	struct weft_pipeline few, many, larger;

	assert_int_equal(weft_pipeline(&job, WEFT_RIGHT, &few, NULL), 0);
	job.micro_batches = 16;
	assert_int_equal(weft_pipeline(&job, WEFT_RIGHT, &larger, NULL), 0);
	job.sequences = 1;
	assert_int_equal(weft_pipeline(&job, WEFT_RIGHT, &many, NULL), 0);
	return seeds_same(few.transfer_bytes, many.transfer_bytes) &&
	       seeds_same(2 * few.transfer_bytes, larger.transfer_bytes);
}

static double step_s(enum weft_convention convention)
{
	struct weft_pipeline_job job = {.stages = 4,
					.micro_batches = 4,
					.forward_s = 1,
					.backward_s = 2};
	struct weft_pipeline p;

	assert_int_equal(weft_pipeline(&job, convention, &p, NULL), 0);
	return p.step_s;
}

/* 96 layers of 4 MB, 32 micro-batches. */
static struct weft_pipeline kept(void)
{
	struct weft_pipeline_job job = {.stages = 1,
					.micro_batches = 32,
					.layers_per_stage = 96,
					.layer_bytes = 4e6};
	struct weft_pipeline p;

	job.memory_bytes = seeds_gpu("A100")->memory_bytes;
	assert_int_equal(weft_pipeline(&job, WEFT_SEED, &p, NULL), 0);
	return p;
}

static void bubbles(struct seeds *seeds)
{
	double share = kept().kept_share * 100;

	seeds_add(seeds, "SE-039", NONE, NONE,
		  only_a_larger_batch_sends_more());
	seeds_add(seeds, "SE-045", pipeline(4, 8, WEFT_SEED).bubble_of_ideal,
		  pipeline(4, 8, WEFT_RIGHT).bubble_of_ideal, true);
	seeds_add(seeds, "SE-055", step_s(WEFT_SEED), step_s(WEFT_RIGHT), true);
	seeds_add(seeds, "SE-056",
		  pipeline(4, 4, WEFT_SEED).bubble_of_ideal * 100,
		  pipeline(4, 4, WEFT_RIGHT).bubble_of_ideal * 100, true);
	seeds_add(seeds, "SE-057",
		  pipeline(4, 4, WEFT_SEED).bubble_of_total * 100,
		  pipeline(4, 4, WEFT_RIGHT).bubble_of_total * 100, true);
	/* The seed's 31/32 are 32 stages; four have 3/32, or 3/35. */
	seeds_add(seeds, "SE-058",
		  pipeline(32, 32, WEFT_SEED).bubble_of_ideal * 100,
		  pipeline(4, 32, WEFT_RIGHT).bubble_of_ideal * 100,
		  seeds_same(pipeline(4, 32, WEFT_RIGHT).bubble_of_total,
			     3.0 / 35));
	seeds_add(seeds, "SE-059", kept().kept_bytes / 1e9,
		  kept().kept_bytes / 1e9, true);
	seeds_add(seeds, "SE-060", share, share,
		  fabs(kept().kept_bytes / seeds_gpu("V100")->memory_bytes -
		       0.384) < 1e-9);
}

static struct weft_tensor gpt3_layer(enum weft_convention convention,
				     const char *gpu, double link_bytes_per_s,
				     bool full_recompute)
{
	struct weft_tensor_job job = {.ways = 8,
				      .tokens = 2048,
				      .hidden = 12288,
				      .link_bytes_per_s = link_bytes_per_s,
				      .full_recompute = full_recompute};
	struct weft_tensor t;

	job.flops = seeds_gpu(gpu)->flops_per_s[WEFT_BITS_16] / 2;
	assert_int_equal(weft_tensor(&job, convention, &t, NULL), 0);
	return t;
}

static bool fewer_ranks_send_more_by_the_seed(void)
{
	struct weft_tensor_job job = {.ways = 4,
				      .tokens = 2048,
				      .hidden = 12288,
				      .link_bytes_per_s = 50e9};
	struct weft_tensor seed, right;

	assert_int_equal(weft_tensor(&job, WEFT_SEED, &seed, NULL), 0);
	assert_int_equal(weft_tensor(&job, WEFT_RIGHT, &right, NULL), 0);
	return seed.layer_bytes >
		       gpt3_layer(WEFT_SEED, "A100", 50e9, false).layer_bytes &&
	       right.layer_bytes <
		       gpt3_layer(WEFT_RIGHT, "A100", 50e9, false).layer_bytes;
}

static void tensor(struct seeds *seeds)
{
	struct weft_tensor s = gpt3_layer(WEFT_SEED, "A100", 50e9, false);
	struct weft_tensor r = gpt3_layer(WEFT_RIGHT, "A100", 50e9, false);
	struct weft_tensor full = gpt3_layer(WEFT_RIGHT, "A100", 50e9, true);
	/* Half of the H100's 989 TFLOP/s. */
	struct weft_tensor h100 = gpt3_layer(WEFT_RIGHT, "H100", 50e9, false);

	seeds_add(seeds, "SE-042", s.layer_bytes / 1e6, r.layer_bytes / 1e6,
		  fewer_ranks_send_more_by_the_seed() &&
			  seeds_same(full.layer_bytes, 1.5 * r.layer_bytes));
	seeds_add(seeds, "SE-043", s.all_reduces, r.all_reduces,
		  full.all_reduces == 6);
	seeds_add(seeds, "SE-044", r.ratio, r.ratio,
		  fabs(h100.ratio - 1.83) < 0.005);
}

static void state_bytes(struct seeds *seeds)
{
	struct weft_error err = {0};
	struct weft_memory adam, master;
	struct weft_memory_options options = {.stored_attention = true};
	struct weft_model gpt3;
	struct weft_spec spec = {0};
	double layer, per_parameter;

	assert_int_equal(weft_model_find("gpt3-175B", &gpt3, &err), 0);
	assert_int_equal(weft_spec_parse("gpus=1,mbs=1,gbs=1,seq=2048,"
					 "model=gpt3-175B,grad_dtype=bf16",
					 &spec, &err),
			 0);
	assert_int_equal(weft_spec_resolve(&spec, 1, &err), 0);
	layer = weft_memory_layer(&spec, &gpt3, &options, 0);
	assert_int_equal(
		weft_memory_stage(&spec, &gpt3, &options, 0, &master, &err), 0);
	options.optimizer_bytes = 8;
	assert_int_equal(
		weft_memory_stage(&spec, &gpt3, &options, 0, &adam, &err), 0);
	assert_no_error(&err);
	/* The table takes 175 billion parameters; the shape has nearly so. */
	per_parameter = 175e9 / master.parameters;
	seeds_add(seeds, "SE-040",
		  master.part_bytes[WEFT_MEMORY_WEIGHTS] * per_parameter / 1e9,
		  master.part_bytes[WEFT_MEMORY_WEIGHTS] * per_parameter / 1e9,
		  fabs(per_parameter - 1) < 0.01);
	seeds_add(seeds, "SE-041",
		  (master.part_bytes[WEFT_MEMORY_WEIGHTS] +
		   master.part_bytes[WEFT_MEMORY_GRADIENTS] +
		   master.part_bytes[WEFT_MEMORY_OPTIMIZER]) *
			  per_parameter / 1e12,
		  (master.part_bytes[WEFT_MEMORY_WEIGHTS] +
		   master.part_bytes[WEFT_MEMORY_GRADIENTS] +
		   master.part_bytes[WEFT_MEMORY_OPTIMIZER]) *
			  per_parameter / 1e12,
		  true);
	seeds_add(seeds, "SE-061", layer / 1e6, layer / 1e6, true);
	seeds_add(seeds, "SE-062",
		  adam.part_bytes[WEFT_MEMORY_OPTIMIZER] * per_parameter / 1e9,
		  adam.part_bytes[WEFT_MEMORY_OPTIMIZER] * per_parameter / 1e9,
		  seeds_same(master.part_bytes[WEFT_MEMORY_OPTIMIZER],
			     1.5 * adam.part_bytes[WEFT_MEMORY_OPTIMIZER]));
}

/* 1.5 times plain data parallelism: two all-gathers and a reduce-scatter. */
static bool zero3_sends_half_more(void)
{
	return seeds_same(dp_step_bytes(64, 1, 3, 1, 2, 2),
			  1.5 * dp_step_bytes(64, 1, 0, 1, 2, 2)) &&
	       seeds_same(dp_step_bytes(64, 1, 3, 1, 2, 2), 3 * 63.0 / 64 * 2);
}

static void oversubscription(struct seeds *seeds)
{
	struct weft_whatif_job job = {
		.compute_s = 1, .comm_s = 1, .terms = weft_whatif_off};
	struct weft_whatif open, hidden;

	job.terms.oversubscription = 3;
	assert_int_equal(weft_whatif(&job, WEFT_RIGHT, &open, NULL), 0);
	job.comm_s = 0.3;
	job.overlap = 1;
	assert_int_equal(weft_whatif(&job, WEFT_RIGHT, &hidden, NULL), 0);
	seeds_add(seeds, "SE-047", open.drop * 100, open.drop * 100,
		  fabs(hidden.drop) < 1e-12);
}

void seeds_of_pipeline(struct seeds *seeds)
{
	double halved =
		weft_dtype_bytes(WEFT_FP8) / weft_dtype_bytes(WEFT_BF16);

	screen(seeds);
	bubbles(seeds);
	tensor(seeds);
	state_bytes(seeds);
	seeds_add(seeds, "SE-046", NONE, NONE, zero3_sends_half_more());
	oversubscription(seeds);
	seeds_add(seeds, "SE-048", halved, halved, true);
	seeds_add(seeds, "SE-049", NONE, NONE,
		  seeds_same(weft_interconnect_rate(
				     weft_interconnect_find("NDR"), WEFT_SEED),
			     400e9 / 8) &&
			  seeds_same(weft_interconnect_rate(
					     weft_interconnect_find("XDR"),
					     WEFT_SEED),
				     800e9 / 8));
}
