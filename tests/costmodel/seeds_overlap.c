/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds_overlap.c - rows about sequences split over GPUs and gradients split
 * into chunks
 */
#include "tests/costmodel/seeds.h"

#include "costmodel/job/spec.h"
#include "lab/calculators/chunks.h"
#include "lab/calculators/sequence.h"
#include "tests/lib/check.h"

#define MS 1e-3
#define US 1e-6

static struct weft_sequence sequence(struct weft_sequence_job job,
				     enum weft_convention convention)
{
	struct weft_error err = {0};
	struct weft_sequence q;

	assert_int_equal(weft_sequence(&job, convention, &q, &err), 0);
	assert_no_error(&err);
	return q;
}

/* A ring of 16 with computation of one block just as long as a hop, and a
 * hundredth less. */
static bool hidden_up_to_ratio_one(void)
{
	struct weft_sequence_job job = {.ways = 16,
					.tokens = 131072,
					.hidden = 1024,
					.link_bytes_per_s = 50e9,
					.sync_s = 1 * US};
	struct weft_sequence equal, short_of;

	job.compute_s = 16 * (2 * 131072 / 16 * 1024 * 2 / 50e9);
	equal = sequence(job, WEFT_RIGHT);
	job.compute_s *= 0.99;
	short_of = sequence(job, WEFT_RIGHT);
	return equal.hidden && seeds_same(equal.ratio, 1) &&
	       seeds_same(equal.overlapped_s,
			  equal.compute_s + 15 * job.sync_s) &&
	       !short_of.hidden &&
	       short_of.overlapped_s > short_of.compute_s + 15 * job.sync_s &&
	       seeds_same(short_of.block_step_s,
			  fmax(short_of.block_s, short_of.hop_s) + 1 * US);
}

/* In grouped-query attention the width is that of the keys. */
static bool a_ring_sends_blocks(void)
{
	struct weft_sequence q =
		sequence((struct weft_sequence_job){.ways = 64,
						    .tokens = 131072,
						    .hidden = 8192,
						    .link_bytes_per_s = 50e9},
			 WEFT_RIGHT);

	return seeds_same(q.hop_elements, 2 * 131072.0 / 64 * 8192) &&
	       seeds_same(q.ring_elements, 2 * 131072.0 * 8192 * 63 / 64) &&
	       seeds_same(q.ring_elements, q.hops * q.hop_elements);
}

static struct weft_sequence buffer(uint32_t ways, double tokens,
				   enum weft_convention convention)
{
	return sequence((struct weft_sequence_job){.ways = ways,
						   .tokens = tokens,
						   .hidden = 8192,
						   .element_bytes = 1,
						   .link_bytes_per_s = 50e9},
			convention);
}

static struct weft_sequence gather(double tokens, double element_bytes,
				   double compute_s,
				   enum weft_convention convention)
{
	return sequence(
		(struct weft_sequence_job){.ways = 2,
					   .tokens = tokens,
					   .hidden = 8192,
					   .element_bytes = element_bytes,
					   .compute_s = compute_s,
					   .link_bytes_per_s = 100e9},
		convention);
}

static void rings(struct seeds *seeds)
{
	struct weft_sequence small = buffer(64, 131072, WEFT_SEED);
	struct weft_sequence large = buffer(8, 1048576, WEFT_SEED);
	struct weft_sequence small_right = buffer(64, 131072, WEFT_RIGHT);
	struct weft_sequence large_right = buffer(8, 1048576, WEFT_RIGHT);

	seeds_add(seeds, "SE-050", NONE, NONE, hidden_up_to_ratio_one());
	seeds_add(seeds, "SE-051", NONE, NONE, a_ring_sends_blocks());
	seeds_add(seeds, "SE-052", NONE, NONE, hidden_up_to_ratio_one());
	seeds_add(seeds, "SE-053", small.buffer_bytes / 1e6,
		  small_right.buffer_bytes / 1e6,
		  seeds_same(small_right.double_buffer_bytes, 64 * 1048576.0));
	seeds_add(
		seeds, "SE-054", large.buffer_bytes / 1e9,
		large_right.buffer_bytes / 1e9,
		seeds_same(large_right.double_buffer_bytes, 4 * 1073741824.0));
}

/* 3 to 5 ms of attention hide neither 128K tokens in 16 bits nor 256K in 8. */
static bool nothing_is_free_to_256k(void)
{
	struct weft_sequence q = gather(262144, 1, 5 * MS, WEFT_RIGHT);

	return q.gather_ratio > 8 && q.gather_overlapped_s > 8 * q.compute_s &&
	       seeds_same(q.gather_serial_s, q.compute_s + q.gather_s);
}

static void gathers(struct seeds *seeds)
{
	struct weft_sequence few = gather(2048, 2, 3 * MS, WEFT_RIGHT);
	struct weft_sequence many = gather(131072, 2, 3 * MS, WEFT_RIGHT);
	struct weft_sequence seed = gather(131072, 2, 3 * MS, WEFT_SEED);
	struct weft_sequence half = gather(262144, 1, 3 * MS, WEFT_RIGHT);
	/* The seed goes on with "43 us". */
	double printed = round(seed.gather_s / US) * US / (3 * MS);

	seeds_add(seeds, "SE-071", few.gather_s / US, few.gather_s / US, true);
	seeds_add(seeds, "SE-072", many.gather_s / US, many.gather_s / US,
		  seeds_same(seed.gather_s * 1000, many.gather_s));
	seeds_add(seeds, "SE-073", printed * 100, many.gather_ratio * 100,
		  true);
	seeds_add(seeds, "SE-074", half.gather_s / MS, NONE,
		  nothing_is_free_to_256k());
	seeds_add(seeds, "SE-075", NONE, NONE,
		  isfinite(many.gather_serial_s) &&
			  isfinite(many.gather_overlapped_s) &&
			  many.gather_overlapped_s < many.gather_serial_s);
}

static struct weft_chunks chunks(struct weft_chunks_job job,
				 enum weft_convention convention)
{
	struct weft_error err = {0};
	struct weft_chunks c;

	assert_int_equal(weft_chunks(&job, convention, &c, &err), 0);
	assert_no_error(&err);
	return c;
}

static struct weft_chunks_job example(uint32_t n_chunks)
{
	return (struct weft_chunks_job){.gradient_bytes = 500e6,
					.link_bytes_per_s = 300e9,
					.overhead_s = 5 * US,
					.backward_s = 200 * MS,
					.n_chunks = n_chunks};
}

/* min(1, (T_b - t_first) / T_comm), and what it is good for. */
static bool eta_is_the_hidden_share(void)
{
	struct weft_chunks_job job = example(16);
	struct weft_chunks c = chunks(job, WEFT_RIGHT), slow;

	job.backward_s = 3 * MS;
	job.step_s = 10 * MS;
	slow = chunks(job, WEFT_RIGHT);
	return c.hidden_share == 1 &&
	       seeds_same(slow.hidden_share,
			  (3 * MS - 3 * MS / 16) / slow.total_s) &&
	       seeds_same(slow.achieved_s,
			  10 * MS - slow.hidden_share * slow.total_s);
}

/* The tails of 16, 26 and 32 chunks: 288, 258 and 264 us. */
static bool the_tail_is_shortest_at_26(void)
{
	return chunks(example(0), WEFT_RIGHT).n_chunks == 26 &&
	       fabs(chunks(example(16), WEFT_RIGHT).tail_s - 288 * US) < US &&
	       fabs(chunks(example(26), WEFT_RIGHT).tail_s - 258 * US) < US &&
	       fabs(chunks(example(32), WEFT_RIGHT).tail_s - 264 * US) < US;
}

/* Starting costs eight chunks half a percent; slower transfers half. Measured
 * losses are 14 % on H100. */
static double chunk_penalty(double overhead_s)
{
	struct weft_chunks_job job = {.gradient_bytes = 1e9,
				      .link_bytes_per_s = 300e9,
				      .overhead_s = overhead_s,
				      .n_chunks = 8,
				      .whole_efficiency = 0.9,
				      .chunk_efficiency = 0.6};

	return chunks(job, WEFT_RIGHT).growth;
}

static bool measured_penalty_is_a_sixth(void)
{
	struct weft_chunks_job job = {.gradient_bytes = 1073741824,
				      .link_bytes_per_s = 466e9,
				      .n_chunks = 8};

	job.link_bytes_per_s = seeds_value("nccl.h100_busbw_1gib");
	job.chunk_efficiency = seeds_value("nccl.h100_busbw_128mib") /
			       seeds_value("nccl.h100_busbw_1gib");
	return fabs(chunks(job, WEFT_RIGHT).growth - 0.165) < 0.001 &&
	       fabs(chunk_penalty(5 * US) - chunk_penalty(0) - 0.0054) < 0.0001;
}

static void chunked(struct seeds *seeds)
{
	struct weft_chunks s = chunks(example(0), WEFT_SEED);
	struct weft_chunks r = chunks(example(16), WEFT_RIGHT);
	struct weft_chunks_job step = example(16);
	struct weft_chunks achieved;

	step.step_s = 300 * MS;
	achieved = chunks(step, WEFT_RIGHT);
	seeds_add(seeds, "SE-063", s.hidden_share, NONE,
		  eta_is_the_hidden_share());
	seeds_add(seeds, "SE-064", chunk_penalty(0) * 100, NONE,
		  measured_penalty_is_a_sixth());
	seeds_add(seeds, "SE-065", r.chunk_s / MS, r.chunk_s / MS, true);
	seeds_add(seeds, "SE-066", s.total_s / MS, r.total_s / MS, true);
	seeds_add(seeds, "SE-067", s.share_of_backward * 100,
		  r.share_of_backward * 100, true);
	seeds_add(seeds, "SE-068", s.n_chunks,
		  chunks(example(0), WEFT_RIGHT).best,
		  the_tail_is_shortest_at_26());
	seeds_add(
		seeds, "SE-069", NONE, NONE,
		seeds_same(achieved.achieved_s, 300 * MS - achieved.total_s) &&
			eta_is_the_hidden_share());
}

/* T x P x S: Megatron's sequence parallelism reuses the tensor group, so this S
 * is context parallelism. */
static double gpus_of_three_axes(void)
{
	struct weft_error err = {0};
	struct weft_spec spec = {0};

	assert_int_equal(weft_spec_parse("tp=8,pp=4,cp=2", &spec, &err), 0);
	assert_int_equal(weft_spec_resolve(&spec, 0, &err), 0);
	return spec.gpus;
}

void seeds_of_overlap(struct seeds *seeds)
{
	rings(seeds);
	gathers(seeds);
	chunked(seeds);
	seeds_add(seeds, "SE-070", gpus_of_three_axes(), gpus_of_three_axes(),
		  true);
}
