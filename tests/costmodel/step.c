/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c - the time of a training step: that it adds up, and how it moves */
#include "costmodel/time/step.h"

#include "costmodel/time/span.h"
#include "tests/lib/fabric.h"
#include "topology/synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

/* Allocations that still succeed; negative: all do. */
static int left = -1;

void *__wrap_calloc(size_t n, size_t size)
{
	if (left == 0)
		return NULL;
	if (left > 0)
		left--;
	return __real_calloc(n, size);
}

struct job {
	struct weft_fabric *f;
	struct weft_spec spec;
	struct weft_model model;
	struct weft_schedule schedule;
	uint32_t *where;
};

static struct job job_open_on(const char *profile, const char *spec,
			      const char *fabric_spec)
{
	const struct weft_synth_options options = {.profile = profile};
	struct weft_error err = {0};
	struct job job = {.f = test_synth(fabric_spec, &options)};

	weft_spec_parse(spec, &job.spec, &err);
	weft_spec_resolve(&job.spec, 0, &err);
	assert_no_error(&err);
	weft_model_find(job.spec.model, &job.model, &err);
	weft_schedule_build(&job.spec, &job.model, &job.schedule, &err);
	assert_no_error(&err);
	job.where = calloc(job.spec.gpus, sizeof(*job.where));
	assert_non_null(job.where);
	for (uint32_t r = 0; r < job.spec.gpus; r++)
		job.where[r] = r;
	return job;
}

static struct job job_open(const char *spec, const char *fabric_spec)
{
	return job_open_on("dgx-h100-superpod", spec, fabric_spec);
}

static void job_close(struct job *job)
{
	weft_schedule_free(&job->schedule);
	weft_fabric_free(job->f);
	free(job->where);
}

static struct weft_step_job placed(const struct job *job)
{
	return (struct weft_step_job){
		.fabric = job->f,
		.spec = &job->spec,
		.model = &job->model,
		.where = job->where,
		.schedule = &job->schedule,
	};
}

static struct weft_step job_step(const struct job *job,
				 const struct weft_step_options *options)
{
	const struct weft_step_job on = placed(job);
	struct weft_step_options mine = *options;
	struct weft_error err = {0};
	struct weft_step step;

	if (!mine.gpu)
		mine.gpu = weft_gpu_find("H100", &err);
	weft_step(&on, &mine, &step, &err);
	assert_no_error(&err);
	return step;
}

static struct weft_step step_of(const char *spec)
{
	const struct weft_step_options none = {0};
	struct job job = job_open(spec, "spine:1 leaf:8 node:32 gpu:8");
	struct weft_step step = job_step(&job, &none);

	job_close(&job);
	return step;
}

/* Experts of the fullest rank compute what it is given, and its links carry it;
 * where a limit drops tokens, no more than that is computed. */
static void the_fullest_experts_are_waited_for(void **state)
{
#define EXPERTS "gpus=256,pp=4,ep=64,gbs=1024,model=deepseek-v3,zero=1"
	struct weft_step even = step_of(EXPERTS);
	struct weft_step full = step_of(EXPERTS ",imbalance=1.5");
	struct weft_step limited = step_of(EXPERTS ",imbalance=1.5,capacity=1");
	struct weft_step one = step_of(EXPERTS ",imbalance=1");
	double most = 1.5 * (even.step_s - even.bubble_s);

	(void)state;
	assert_close(one.step_s, even.step_s, 1e-12);
	assert_true(full.products_s > 1.05 * even.products_s);
	assert_true(full.products_s < 1.5 * even.products_s);
	assert_true(full.exposed_s[WEFT_AXIS_EP] >
		    1.4 * even.exposed_s[WEFT_AXIS_EP]);
	assert_true(full.step_s - full.bubble_s < most);
	assert_close(full.model_flops, even.model_flops, 1e-12);
	assert_close(limited.products_s, even.products_s, 1e-12);
	/* all tokens at one rank of two */
	assert_close(
		step_of("gpus=16,tp=8,ep=2,etp=8,gbs=16,model=mixtral-8x7B,"
			"imbalance=9")
			.products_s,
		step_of("gpus=16,tp=8,ep=2,etp=8,gbs=16,model=mixtral-8x7B,"
			"imbalance=2")
			.products_s,
		1e-12);
#undef EXPERTS
}

/* Hops of rings are waited for, though all that they carry hides. */
static void longer_rings_are_waited_for(void **state)
{
#define SHARDED "zero=3,mbs=6,model=llama3-8B,software=fsdp,"
	struct weft_step few = step_of(SHARDED "gpus=64,gbs=384");
	struct weft_step many = step_of(SHARDED "gpus=512,gbs=3072");
	double hops =
		many.latency_s[WEFT_AXIS_DP] - few.latency_s[WEFT_AXIS_DP];
	double more =
		many.exposed_s[WEFT_AXIS_DP] - few.exposed_s[WEFT_AXIS_DP];

	(void)state;
	assert_true(hops > 0.01 * few.step_s);
	assert_close(more, hops, 0.3);
	assert_true(many.exposed_s[WEFT_AXIS_DP] >
		    many.latency_s[WEFT_AXIS_DP]);
#undef SHARDED
}

#define PIPE "gpus=64,tp=8,pp=4,gbs=32,model=llama3-70B"

/* arXiv:2401.10241, table 2: (p-1)(F+B-W) instead of (p-1)(F+B+W). */
static void a_zero_bubble_pipeline_idles_less(void **state)
{
	struct weft_step usual = step_of(PIPE);
	struct weft_step filled = step_of(PIPE ",pipeline=zero-bubble");
	double m = 32 / 2.0;

	(void)state;
	/* a micro-batch's backward products are two thirds of its products */
	assert_close(usual.bubble_s - filled.bubble_s,
		     3 * usual.products_s / m * 2 / 3, 0.02);
	assert_true(filled.bubble_of_ideal < usual.bubble_of_ideal);
	assert_close(usual.step_s - filled.step_s,
		     usual.bubble_s - filled.bubble_s, 1e-9);
}

/* The stage that was given more takes longer, and all wait for it; a stage with
 * fewer layers makes up for the output layer. */
static void stages_have_the_layers_they_are_given(void **state)
{
	struct weft_step even = step_of(PIPE);
	struct weft_step same = step_of(PIPE ",stages=20x4");
	struct weft_step skewed = step_of(PIPE ",stages=26+18x3");
	struct weft_step fair = step_of(PIPE ",stages=20+21+20+19");

	(void)state;
	assert_close(same.step_s, even.step_s, 1e-12);
	assert_int_equal(skewed.slowest_stage, 0);
	assert_close(skewed.products_s, even.products_s * 26 / 20, 1e-9);
	assert_int_equal(even.slowest_stage, 3);
	assert_true(fair.step_s < even.step_s);
}

static void what_is_offloaded_is_waited_for_when_links_are_slow(void **state)
{
	struct weft_step kept = step_of(PIPE);
	struct weft_step half = step_of(PIPE ",offload=0.3");
	struct weft_step all = step_of(PIPE ",offload=1");

	(void)state;
	assert_close(half.step_s, kept.step_s, 1e-12);
	assert_true(all.host_s > 0);
	assert_close(all.products_s, kept.products_s, 1e-12);
}

/* The clock is as the cube root of the power; memory keeps its own. */
static void a_power_cap_slows_products(void **state)
{
	struct weft_step free = step_of(PIPE);
	struct weft_step capped = step_of(PIPE ",power_cap=350");
	struct weft_step above = step_of(PIPE ",power_cap=700");

	(void)state;
	assert_close(capped.products_s, free.products_s * cbrt(2), 1e-9);
	assert_close(capped.attention_s, free.attention_s * cbrt(2), 0.05);
	assert_close(capped.memory_s, free.memory_s, 1e-12);
	assert_close(above.step_s, free.step_s, 1e-12);
}

static void eager_attention_moves_scores_more_often(void **state)
{
	struct weft_step plain = step_of(PIPE ",attention=plain");
	struct weft_step eager = step_of(PIPE ",attention=eager");
	/* bytes of forward and backward passes, over the memory's rate */
	double scores = 80.0 / 4 * 64 / 8 * 8192.0 * 8192 * 16;
	double more_s = 30 * scores / (3350e9 * 0.8);

	(void)state;
	assert_close(eager.attention_s - plain.attention_s, more_s, 0.03);
}

static void parts_add_up_to_the_step(void **state)
{
	static const char *const specs[] = {
		"gpus=8,tp=8,gbs=8,mbs=1",
		"gpus=64,tp=8,pp=4,dp=2,gbs=64,model=llama3-70B",
		"gpus=256,tp=4,cp=2,pp=4,vpp=5,gbs=512,model=llama3-70B",
		"gpus=64,tp=1,zero=3,gbs=128,mbs=2,model=llama2-70B",
		"gpus=64,tp=8,pp=2,recompute=full,gbs=64,model=gpt-76.1B",
		"gpus=64,tp=8,pp=2,recompute=selective,gbs=64",
		"gpus=128,tp=2,pp=2,ep=8,etp=1,gbs=64,model=grok1-314B",
		"gpus=256,pp=4,ep=64,gbs=1024,model=deepseek-v3,zero=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct weft_step step = step_of(specs[i]);

		assert_close(weft_step_parts(&step), step.step_s, 1e-12);
		assert_true(step.step_s > 0 && isfinite(step.step_s));
		assert_true(step.mfu > 0 && step.mfu < 1);
		assert_true(step.hfu >= step.mfu * (1 - 1e-12));
		for (int a = 0; a < WEFT_N_AXES; a++) {
			assert_true(step.exposed_s[a] >= 0);
			assert_true((step.communication_s[a] > 0) ||
				    step.exposed_s[a] == 0);
		}
	}
}

static void only_what_is_repeated_is_called_recomputation(void **state)
{
	struct weft_step none = step_of("gpus=8,tp=8,gbs=8,model=gpt-7.5B");
	struct weft_step full =
		step_of("gpus=8,tp=8,gbs=8,model=gpt-7.5B,recompute=full");

	(void)state;
	assert_close(none.recompute_s, 0, 0);
	assert_close(none.hfu, none.mfu, 1e-12);
	assert_true(full.recompute_s > 0.2 * full.products_s);
	assert_close(full.products_s, none.products_s, 1e-12);
	assert_close(full.hardware_flops / full.model_flops, 1.33, 0.02);
}

static void the_bubble_falls_with_micro_batches_and_interleaving(void **state)
{
	static const char *const specs[] = {
		"gpus=64,tp=8,pp=8,gbs=8,model=llama3-70B",
		"gpus=64,tp=8,pp=8,gbs=16,model=llama3-70B",
		"gpus=64,tp=8,pp=8,gbs=64,model=llama3-70B",
		"gpus=64,tp=8,pp=8,gbs=256,model=llama3-70B",
	};
	double last = 1, last_mfu = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct weft_step step = step_of(specs[i]);

		assert_true(step.bubble_of_total < last);
		assert_true(step.mfu > last_mfu);
		last = step.bubble_of_total;
		last_mfu = step.mfu;
	}
	assert_close(step_of(specs[0]).bubble_of_ideal, 7.0 / 8, 1e-12);
	assert_close(step_of("gpus=64,tp=8,pp=8,vpp=5,gbs=64,model=llama3-70B")
			     .bubble_of_ideal,
		     7.0 / (5 * 64), 1e-12);
	assert_close(
		step_of("gpus=64,tp=8,pp=1,gbs=64,model=llama3-70B").bubble_s,
		0, 0);
}

static void rates_scale(struct weft_fabric *f, double by, double latency)
{
	for (uint32_t l = 0; l < f->n_levels; l++) {
		f->levels[l].link.rate_bytes_per_s *= by;
		f->levels[l].link.latency_s *= latency;
	}
}

/* Without latencies and overlap a communication's time is bytes over rate. */
static void twice_the_bandwidth_halves_communication(void **state)
{
	const struct weft_step_options never = {.overlap = WEFT_NEVER};
	struct job job =
		job_open("gpus=128,tp=4,cp=2,pp=4,gbs=64,cp_comm=allgather,"
			 "model=llama3-70B",
			 "spine:1 leaf:4 node:4 gpu:8");
	struct weft_step slow, fast;

	(void)state;
	rates_scale(job.f, 1, 0);
	slow = job_step(&job, &never);
	rates_scale(job.f, 2, 0);
	fast = job_step(&job, &never);
	for (int a = 0; a < WEFT_N_AXES; a++) {
		assert_close(fast.communication_s[a],
			     slow.communication_s[a] / 2, 1e-12);
		/* of the stage that computes longest, but for one gather
		 * that always overlaps */
		assert_true(fast.exposed_s[a] <= slow.exposed_s[a]);
		assert_true(fast.exposed_s[a] <= fast.communication_s[a] +
							 fast.latency_s[a] +
							 1e-12);
	}
	assert_close(fast.exposed_s[WEFT_AXIS_DP],
		     fast.communication_s[WEFT_AXIS_DP] +
			     fast.latency_s[WEFT_AXIS_DP],
		     1e-12);
	assert_close(fast.products_s, slow.products_s, 1e-12);
	job_close(&job);
}

static void overlap_never_makes_a_dense_step_slower(void **state)
{
	static const char *const specs[] = {
		"gpus=64,tp=8,pp=2,gbs=64", "gpus=64,tp=2,gbs=256,zero=1",
		"gpus=64,tp=4,pp=4,vpp=5,gbs=64",
		"gpus=64,zero=3,gbs=64,model=llama3-8B"};
	const struct weft_step_options with = {.overlap = WEFT_ALWAYS};
	const struct weft_step_options without = {.overlap = WEFT_NEVER};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct job job = job_open(specs[i], "leaf:2 node:4 gpu:8");

		assert_true(job_step(&job, &with).step_s <=
			    job_step(&job, &without).step_s);
		job_close(&job);
	}
}

static double step_with(const char *keys)
{
	char spec[160];

	snprintf(spec, sizeof(spec),
		 "gpus=64,zero=3,seq=8192,gbs=64,model=llama3-8B,%s", keys);
	return step_of(spec).step_s;
}

static void later_kernels_of_attention_are_faster(void **state)
{
	(void)state;
	assert_true(step_with("attention=flash3") <
		    step_with("attention=flash2"));
	assert_true(step_with("attention=flash2") <
		    step_with("attention=flash1"));
}

static void what_is_not_fused_takes_longer(void **state)
{
	double fused = step_with("software=fsdp,fused=on");
	double eager = step_with("software=fsdp");

	(void)state;
	assert_close(eager, step_with("software=fsdp,fused=off"), 0);
	assert_true(eager > 1.02 * fused && eager < 1.5 * fused);
}

/* What a framework does is its attention, its overlap and what it fuses. */
static void a_framework_is_what_its_keys_say(void **state)
{
	(void)state;
	assert_close(step_with("software=torchtitan"),
		     step_with("software=fsdp,fused=on"), 0);
	assert_close(step_with("software=nemo"), step_with("software=usual"),
		     0);
	assert_true(step_with("software=megatron-2021") >
		    step_with("software=nemo"));
}

static void a_scattered_placement_takes_longer(void **state)
{
	const struct weft_step_options none = {0};
	struct job job = job_open("gpus=32,tp=8,dp=4,gbs=32,mbs=1",
				  "leaf:2 node:2 gpu:8");
	double together = job_step(&job, &none).step_s;

	(void)state;
	/* The ranks of a tensor group on all four nodes. */
	for (uint32_t r = 0; r < 32; r++)
		job.where[r] = r % 4 * 8 + r / 4;
	assert_true(job_step(&job, &none).step_s > 1.2 * together);
	job_close(&job);
}

static void stragglers_and_efficiency_are_factors(void **state)
{
	const struct weft_step_options none = {0};
	const struct weft_step_options late = {.straggler = 1.1};
	const struct weft_step_options half = {.efficiency = 0.5};
	struct job job =
		job_open("gpus=32,tp=8,pp=2,gbs=32", "leaf:2 node:2 gpu:8");
	struct weft_step plain = job_step(&job, &none);
	struct weft_step waits = job_step(&job, &late);
	struct weft_step slow = job_step(&job, &half);

	(void)state;
	assert_close(slow.step_s, 2 * plain.step_s, 1e-12);
	assert_close(waits.step_s - plain.step_s, waits.straggler_s, 1e-9);
	assert_close(waits.straggler_s,
		     0.1 * (plain.products_s + plain.attention_s +
			    plain.memory_s + plain.logits_s + plain.bubble_s),
		     1e-9);
	job_close(&job);
}

static void eight_bits_speed_up_products_alone(void **state)
{
	const struct weft_step_options none = {0};
	const struct weft_step_options narrow = {.products_at = true,
						 .precision = WEFT_BITS_8};
	struct job job =
		job_open("gpus=32,tp=8,pp=2,gbs=32", "leaf:2 node:2 gpu:8");
	struct weft_step wide = job_step(&job, &none);
	struct weft_step fp8 = job_step(&job, &narrow);

	(void)state;
	assert_true(fp8.products_s < 0.7 * wide.products_s);
	assert_close(fp8.attention_s, wide.attention_s, 1e-12);
	assert_true(fp8.memory_s > wide.memory_s);
	assert_close(fp8.peak_flops_per_s, 1979e12, 1e-12);
	job_close(&job);
}

/* Each pass through a chunk ends in a small reduction over the nodes of a
 * stage: more of them with more nodes and more chunks, none in one node. */
static void eight_bits_wait_for_their_scales(void **state)
{
	static const struct {
		const char *spec;
		double log2_nodes;
	} cases[] = {{"gpus=8,tp=8,gbs=32,dtype=fp8", 0},
		     {"gpus=32,tp=8,gbs=32,dtype=fp8", 2},
		     {"gpus=32,tp=8,pp=2,vpp=4,gbs=32,dtype=fp8", 1}};
	const struct weft_step_options none = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct job job = job_open(cases[i].spec, "leaf:2 node:2 gpu:8");
		double passes =
			2 * weft_spec_micro_batches(&job.spec) * job.spec.vpp;
		struct weft_step fp8 = job_step(&job, &none);
		double narrow = fp8.latency_s[WEFT_AXIS_DP];

		job.spec.dtype = WEFT_BF16;
		fp8 = job_step(&job, &none);
		assert_close(narrow - fp8.latency_s[WEFT_AXIS_DP],
			     125e-6 * passes * cases[i].log2_nodes, 1e-6);
		job_close(&job);
	}
}

/* The busier the network, the less of ZeRO-3's traffic is hidden. */
static void a_busy_network_hides_less(void **state)
{
	static const char *const specs[] = {
		"gpus=32,zero=3,gbs=128,mbs=4,model=llama3-8B",
		"gpus=32,zero=3,gbs=64,mbs=2,model=llama3-8B",
		"gpus=32,zero=3,gbs=32,mbs=1,model=llama3-8B"};
	const struct weft_step_options none = {0};
	double before = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct job job = job_open(specs[i], "leaf:2 node:2 gpu:8");
		struct weft_step step = job_step(&job, &none);
		double seen = step.exposed_s[WEFT_AXIS_DP] /
			      (step.communication_s[WEFT_AXIS_DP] +
			       step.latency_s[WEFT_AXIS_DP]);

		assert_true(seen > before && seen <= 1);
		before = seen;
		job_close(&job);
	}
}

static void a_gpu_without_the_unit_is_an_error(void **state)
{
	struct weft_error err = {0};
	const struct weft_step_options fp8 = {
		.gpu = weft_gpu_find("A100", &err),
		.products_at = true,
		.precision = WEFT_BITS_8,
	};
	struct job job = job_open_on("selene-a100", "gpus=8,tp=8",
				     "leaf:1 node:1 gpu:8");
	struct weft_step_job on = placed(&job);
	struct weft_step step;

	(void)state;
	assert_int_equal(weft_step(&on, &fp8, &step, &err), -1);
	assert_error_says(&err, "A100 has no matrix unit for 8-bit");
	job_close(&job);
}

static uint32_t call_of(const struct weft_schedule *s, enum weft_axis axis,
			enum weft_collective collective)
{
	for (uint32_t i = 0; i < s->n_calls; i++) {
		if (s->calls[i].axis == axis &&
		    s->calls[i].collective == collective)
			return i;
	}
	fail_msg("no such call");
	return 0;
}

/* Seconds that a byte of the first such call takes, without latencies. */
static double byte_s(struct job *job, enum weft_axis axis,
		     enum weft_collective collective)
{
	uint32_t i = call_of(&job->schedule, axis, collective);
	struct weft_error err = {0};
	struct weft_spans spans;
	double time_s;

	rates_scale(job->f, 1, 0);
	weft_spans_build(job->f, &job->schedule, job->where,
			 job->spec.algorithm, NULL, &spans, &err);
	assert_no_error(&err);
	time_s = weft_spans_call(&spans, i, 0).transfer_s;
	weft_spans_free(&spans);
	return time_s / job->schedule.calls[i].size_bytes;
}

/* One group of four GPUs on four nodes with one NIC each. */
static void a_ring_between_nodes_takes_its_bytes_over_a_nic(void **state)
{
	struct job job =
		job_open("gpus=32,tp=8,dp=4,zero=1", "leaf:1 node:4 gpu:8");

	(void)state;
	assert_close(byte_s(&job, WEFT_AXIS_DP, WEFT_REDUCE_SCATTER),
		     0.75 / job.f->levels[1].link.rate_bytes_per_s, 1e-12);
	/* tensor groups stay in their node */
	assert_close(byte_s(&job, WEFT_AXIS_TP, WEFT_ALL_GATHER),
		     7.0 / 8 / job.f->levels[0].link.rate_bytes_per_s, 1e-12);
	job_close(&job);
}

/* 32 ranks on four nodes: eight NICs a node carry what one rank sends, and each
 * port seven eighths of it, since every eighth channel leaves the node there.
 */
static void a_ring_uses_all_the_nics_of_its_node(void **state)
{
	struct job job = job_open("gpus=32,dp=32,zero=1,model=llama3-8B",
				  "leaf:1 node:4 gpu:8");
	double nvlink = job.f->levels[0].link.rate_bytes_per_s;
	double nics = 8 * job.f->levels[1].link.rate_bytes_per_s;

	(void)state;
	assert_close(byte_s(&job, WEFT_AXIS_DP, WEFT_REDUCE_SCATTER),
		     31.0 / 32 / fmin(8.0 / 7 * nvlink, nics), 1e-12);
	job_close(&job);
}

static void the_algorithm_asked_for_is_priced(void **state)
{
	static const char *const names[] = {"ring", "tree", "halving-doubling",
					    "in-network", "auto"};
	double by[sizeof(names) / sizeof(names[0])];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct weft_step_options never = {.overlap = WEFT_NEVER};
		struct job job;
		char spec[128];

		snprintf(spec, sizeof(spec),
			 "gpus=32,dp=32,model=llama3-8B,gbs=32,bucket=1MiB,"
			 "algorithm=%s",
			 names[i]);
		job = job_open(spec, "leaf:2 node:2 gpu:8");
		by[i] = job_step(&job, &never).exposed_s[WEFT_AXIS_DP];
		assert_true(isfinite(by[i]) && by[i] > 0);
		job_close(&job);
	}
	/* of one MiB, latency is what counts: 62 hops around a ring */
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(by[i] < by[0]);
}

static void ranks_that_no_link_joins_are_an_error(void **state)
{
	static const char text[] = "weft: fabric/1\n"
				   "profile: dgx-h100-superpod\n"
				   "disjoint: true\n"
				   "nodes:\n"
				   "  n[0-1]: 8\n";
	struct job job = job_open("gpus=16,tp=8,dp=2", "leaf:1 node:2 gpu:8");
	struct weft_error err = {0};
	const struct weft_step_options options = {
		.gpu = weft_gpu_find("H100", &err)};
	struct weft_step_job on = placed(&job);
	struct weft_step step;

	(void)state;
	weft_fabric_free(job.f);
	job.f = test_fabric(text);
	on.fabric = job.f;
	assert_false(job.f->connected);
	assert_int_equal(weft_step(&on, &options, &step, &err), -1);
	assert_error_says(&err, "no link joins");
	job_close(&job);
}

static void each_failed_allocation_is_reported(void **state)
{
	struct job job = job_open("gpus=16,tp=4,pp=2", "leaf:1 node:2 gpu:8");
	struct weft_error err = {0};
	const struct weft_step_options options = {
		.gpu = weft_gpu_find("H100", &err)};
	struct weft_step_job on = placed(&job);
	struct weft_step step;
	int n = 0, rc = -1;

	(void)state;
	on.schedule = NULL; /* built by the step */
	while (rc && n < 100) {
		memset(&err, 0, sizeof(err));
		left = n++;
		rc = weft_step(&on, &options, &step, &err);
		left = -1;
		assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
	}
	assert_true(n > 4 && n < 100);
	job_close(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_to_the_step),
		cmocka_unit_test(the_fullest_experts_are_waited_for),
		cmocka_unit_test(longer_rings_are_waited_for),
		cmocka_unit_test(a_zero_bubble_pipeline_idles_less),
		cmocka_unit_test(stages_have_the_layers_they_are_given),
		cmocka_unit_test(
			what_is_offloaded_is_waited_for_when_links_are_slow),
		cmocka_unit_test(a_power_cap_slows_products),
		cmocka_unit_test(eager_attention_moves_scores_more_often),
		cmocka_unit_test(only_what_is_repeated_is_called_recomputation),
		cmocka_unit_test(
			the_bubble_falls_with_micro_batches_and_interleaving),
		cmocka_unit_test(twice_the_bandwidth_halves_communication),
		cmocka_unit_test(overlap_never_makes_a_dense_step_slower),
		cmocka_unit_test(a_scattered_placement_takes_longer),
		cmocka_unit_test(stragglers_and_efficiency_are_factors),
		cmocka_unit_test(eight_bits_speed_up_products_alone),
		cmocka_unit_test(eight_bits_wait_for_their_scales),
		cmocka_unit_test(a_busy_network_hides_less),
		cmocka_unit_test(a_gpu_without_the_unit_is_an_error),
		cmocka_unit_test(
			a_ring_between_nodes_takes_its_bytes_over_a_nic),
		cmocka_unit_test(later_kernels_of_attention_are_faster),
		cmocka_unit_test(what_is_not_fused_takes_longer),
		cmocka_unit_test(a_framework_is_what_its_keys_say),
		cmocka_unit_test(a_ring_uses_all_the_nics_of_its_node),
		cmocka_unit_test(the_algorithm_asked_for_is_priced),
		cmocka_unit_test(ranks_that_no_link_joins_are_an_error),
		cmocka_unit_test(each_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
