/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - memory of a GPU, against published formulas and real jobs */
#include "costmodel/job/memory.h"

#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_memory_options stored = {.stored_attention = true};

static void job_read(const char *text, struct weft_spec *spec,
		     struct weft_model *model)
{
	struct weft_error err = {0};

	weft_spec_parse(text, spec, &err);
	weft_spec_resolve(spec, 0, &err);
	assert_no_error(&err);
	weft_model_find(spec->model, model, &err);
	assert_no_error(&err);
}

static double layer(const char *text, const struct weft_memory_options *options)
{
	struct weft_model model;
	struct weft_spec spec;

	job_read(text, &spec, &model);
	return weft_memory_layer(&spec, &model, options, 0);
}

static struct weft_memory memory(const char *text, uint32_t stage)
{
	struct weft_error err = {0};
	struct weft_memory memory;
	struct weft_model model;
	struct weft_spec spec;

	job_read(text, &spec, &model);
	weft_memory_stage(&spec, &model, NULL, stage, &memory, &err);
	assert_no_error(&err);
	return memory;
}

/* arXiv:2205.05198, table 2; the figures are SE-061's. */
static void activations_are_as_korthikanti_has_them(void **state)
{
	const double sbh = 2048.0 * 12288, scores = 5 * 96 * 2048.0 / 12288;
	const struct {
		const char *job;
		double bytes, megabytes;
	} rows[] = {
		{"model=gpt3-175B", sbh * (34 + scores), 2868.9},
		{"model=gpt3-175B,tp=8,sp=off",
		 sbh * (10 + 24 / 8.0 + scores / 8), 578.8},
		{"model=gpt3-175B,tp=8", sbh * (34 + scores) / 8, 358.6},
		{"model=gpt3-175B,tp=8,recompute=selective", sbh * 34 / 8,
		 106.95},
		{"model=gpt3-175B,tp=8,sp=off,recompute=selective",
		 sbh * (10 + 24 / 8.0), 327.2},
		{"model=gpt3-175B,tp=8,sp=off,recompute=full", 2 * sbh, 50.33},
		{"model=gpt3-175B,mbs=4", 4 * sbh * (34 + scores), 11475.6},
		{"model=gpt3-175B,cp=2", sbh * (34 + scores) / 2, 1434.45},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_close(layer(rows[i].job, &stored), rows[i].bytes, 1e-12);
		assert_close(layer(rows[i].job, &stored) / 1e6,
			     rows[i].megabytes, 1e-3);
	}
	/* A fused kernel keeps what selective recomputation keeps. */
	assert_close(layer("model=gpt3-175B,tp=8", NULL), sbh * 34 / 8, 1e-12);
}

/* Grouped queries and a gated network: norms 4h, inputs 4h, q and output 4h, k
 * and v h/2 each with 8 heads of 64, three times the network's width. */
static void other_shapes_have_their_own_terms(void **state)
{
	const double h = 8192, f = 28672, s = 8192;

	(void)state;
	assert_close(layer("model=llama3-70B", NULL),
		     s * (4 * h + 4 * h + 4 * h + 2 * 2 * h / 8 + 6 * f),
		     1e-12);
	assert_close(layer("model=llama3-70B,dtype=fp32", NULL),
		     2 * layer("model=llama3-70B", NULL), 1e-12);
	/* In fp8 the inputs of the five products shrink, nothing else. */
	assert_close(layer("model=llama3-70B,dtype=fp8", NULL),
		     layer("model=llama3-70B", NULL) - s * (3 * h + f), 1e-12);
}

/* arXiv:1910.02054, figure 1: 120, 31.4, 16.6 and 1.9 GB for 7.5e9 parameters
 * and 64 ranks, with 16-bit gradients. */
static void states_shard_as_zero_says(void **state)
{
	const double gigabytes[] = {120, 31.4, 16.6, 1.9};

	(void)state;
	for (uint32_t zero = 0; zero < 4; zero++) {
		struct weft_memory m;
		char job[96];
		double sum = 0;

		snprintf(job, sizeof(job),
			 "model=gpt-7.5B,dp=64,grad_dtype=fp16,dtype=fp16,"
			 "zero=%u",
			 zero);
		m = memory(job, 0);
		for (int k = WEFT_MEMORY_WEIGHTS; k <= WEFT_MEMORY_OPTIMIZER;
		     k++)
			sum += m.part_bytes[k];
		assert_close(sum / m.parameters * 7.5, gigabytes[zero], 0.02);
	}
}

/* The table of Megatron-LM's distributed optimizer: 18 bytes a parameter, or
 * 6 + 12/d, with bf16 parameters and fp32 gradients. */
static void a_distributed_optimizer_needs_6_and_12_over_d(void **state)
{
	struct weft_memory plain = memory("model=llama3-8B,dp=16,zero=0", 0);
	struct weft_memory shared = memory("model=llama3-8B,dp=16,zero=1", 0);
	struct weft_memory parts =
		memory("model=llama3-8B,dp=16,zero=1,shard=4", 0);
	double base = plain.part_bytes[WEFT_MEMORY_WEIGHTS] +
		      plain.part_bytes[WEFT_MEMORY_GRADIENTS];

	(void)state;
	assert_close(base, 6 * plain.parameters, 1e-12);
	assert_close(plain.part_bytes[WEFT_MEMORY_OPTIMIZER],
		     12 * plain.parameters, 1e-12);
	assert_close(plain.total_bytes - shared.total_bytes,
		     12 * plain.parameters * 15 / 16, 1e-12);
	assert_close(parts.part_bytes[WEFT_MEMORY_OPTIMIZER],
		     3 * plain.parameters, 1e-12);
}

/* SE-062: both moments of 175e9 parameters are 1,400 GB, with fp32 weights
 * 2,100 GB. */
static void adam_has_8_or_12_bytes_a_parameter(void **state)
{
	struct weft_memory wide = memory("model=gpt3-175B,param_dtype=fp32", 0);
	struct weft_memory mixed = memory("model=gpt3-175B", 0);

	(void)state;
	assert_close(wide.part_bytes[WEFT_MEMORY_OPTIMIZER], 1400e9, 0.003);
	assert_close(mixed.part_bytes[WEFT_MEMORY_OPTIMIZER], 2100e9, 0.003);
}

/* 1F1B keeps min(M, P - p); interleaving 1 + (P-1)/(P V) times P on the first
 * stage (arXiv:2205.05198, section 4.2.3). */
static void a_pipeline_keeps_what_is_in_flight(void **state)
{
	static const char job[] = "model=gpt3-175B,pp=8,gbs=32";

	(void)state;
	for (uint32_t p = 0; p < 8; p++)
		assert_close(memory(job, p).in_flight, 8 - p, 1e-12);
	assert_close(memory("model=gpt3-175B,pp=8,gbs=3", 0).in_flight, 3,
		     1e-12);
	assert_close(memory("model=gpt3-175B,pp=8,vpp=3,gbs=32", 0).in_flight,
		     8 * (1 + 7 / 24.0), 1e-12);
	assert_close(memory(job, 2).part_bytes[WEFT_MEMORY_ACTIVATIONS],
		     6 * 12 * layer(job, NULL), 1e-12);
	assert_close(memory("model=gpt3-175B,gbs=32", 0).in_flight, 1, 1e-12);
}

static void what_is_offloaded_is_elsewhere(void **state)
{
	struct weft_memory kept = memory("gpus=64,tp=8,pp=4,gbs=64", 0);
	struct weft_memory half =
		memory("gpus=64,tp=8,pp=4,gbs=64,offload=0.5", 0);
	double own = kept.part_bytes[WEFT_MEMORY_ACTIVATIONS];

	(void)state;
	/* and as much of two layers on the way */
	assert_close(half.part_bytes[WEFT_MEMORY_ACTIVATIONS],
		     own / 2 + kept.layer_bytes, 1e-9);
}

static void stages_hold_the_layers_they_are_given(void **state)
{
#define DEALT                                                                  \
	"gpus=64,tp=8,pp=4,vpp=2,gbs=64,model=llama3-70B,stages=18+22+21+19"
	static const uint32_t layers[] = {18, 22, 21, 19};

	(void)state;
	for (uint32_t p = 0; p < 4; p++)
		assert_int_equal(memory(DEALT, p).layers, layers[p]);
#undef DEALT
}

static void full_recomputation_keeps_inputs_and_one_layer(void **state)
{
	static const char job[] = "model=llama3-8B,tp=2,recompute=full";
	struct weft_memory m = memory(job, 0);

	(void)state;
	assert_close(m.layer_bytes, 8192.0 * 4096 * 2 / 2, 1e-12);
	assert_close(m.working_bytes, layer("model=llama3-8B,tp=2", NULL),
		     1e-12);
	assert_close(m.part_bytes[WEFT_MEMORY_ACTIVATIONS],
		     32 * m.layer_bytes + m.working_bytes, 1e-12);
}

static void the_last_stage_has_the_logits(void **state)
{
	static const char job[] = "model=llama3-70B,tp=8,pp=4";

	(void)state;
	assert_true(memory(job, 0).part_bytes[WEFT_MEMORY_LOGITS] == 0);
	assert_close(memory(job, 3).part_bytes[WEFT_MEMORY_LOGITS],
		     8192.0 * (4 * 8192 + 8.0 * 128256) / 8, 1e-12);
}

static void context_ranks_hold_blocks_of_others(void **state)
{
	/* K and V of 1024 tokens, 8 heads of 128 in 2 bytes, and gradients. */
	const double block = 4 * 1024.0 * 1024 * 2;
	const struct {
		const char *job;
		double blocks;
	} rows[] = {
		{"model=llama3-8B", 0},
		{"model=llama3-8B,cp=8", 2},
		{"model=llama3-8B,cp=8,cp_comm=allgather", 8},
		{"model=llama3-8B,cp=8,cp_comm=a2a", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_close(
			memory(rows[i].job, 0).part_bytes[WEFT_MEMORY_CONTEXT],
			rows[i].blocks * block, 1e-12);
}

static void experts_are_dealt_to_their_own_ranks(void **state)
{
	struct weft_memory all = memory("model=grok1-314B,tp=8,dp=8", 0);
	struct weft_memory dealt =
		memory("model=grok1-314B,tp=8,dp=8,ep=8,etp=1", 0);
	struct weft_memory spread =
		memory("model=grok1-314B,tp=8,dp=8,ep=8,etp=8", 0);

	(void)state;
	/* One expert of eight, or an eighth of all of them. */
	assert_close(all.parameters, dealt.parameters, 1e-12);
	assert_true(spread.parameters < 0.2 * all.parameters);
	assert_true(spread.part_bytes[WEFT_MEMORY_ACTIVATIONS] >
		    dealt.part_bytes[WEFT_MEMORY_ACTIVATIONS]);
}

static void parts_of_sharded_layers_are_gathered(void **state)
{
	struct weft_memory none = memory("model=llama3-70B,dp=64,zero=1", 0);
	struct weft_memory fsdp = memory("model=llama3-70B,dp=64,zero=3", 0);
	struct weft_memory alone = memory("model=llama3-70B,dp=1,zero=3", 0);

	(void)state;
	assert_true(none.part_bytes[WEFT_MEMORY_GATHERED] == 0);
	assert_true(alone.part_bytes[WEFT_MEMORY_GATHERED] == 0);
	/* The embedding is larger than a layer: bf16 twice, fp32 once. */
	assert_close(fsdp.part_bytes[WEFT_MEMORY_GATHERED], 8 * 128256.0 * 8192,
		     1e-12);
	assert_close(fsdp.part_bytes[WEFT_MEMORY_WEIGHTS],
		     2 * fsdp.parameters / 64, 1e-12);
}

static void the_worst_stage_is_found_and_warned_of(void **state)
{
	struct weft_error err = {0};
	struct weft_memory worst, stage;
	struct weft_model model;
	struct weft_spec spec;
	char text[200];

	(void)state;
	job_read("model=gpt3-175B,tp=8,pp=8,gbs=64", &spec, &model);
	weft_memory_worst(&spec, &model, NULL, &worst, &err);
	assert_no_error(&err);
	for (uint32_t p = 0; p < 8; p++) {
		double sum = 0;

		weft_memory_stage(&spec, &model, NULL, p, &stage, &err);
		for (int k = 0; k < WEFT_N_MEMORY_PARTS; k++)
			sum += stage.part_bytes[k];
		assert_close(sum, stage.total_bytes, 1e-12);
		assert_true(stage.total_bytes <= worst.total_bytes);
	}
	assert_int_equal(worst.stage, 0);
	assert_false(weft_memory_warning(&worst, 80e9, "an H100", text,
					 sizeof(text)));
	assert_string_equal(text, "");
	assert_false(weft_memory_warning(&worst, 0, "", text, sizeof(text)));
	assert_true(weft_memory_warning(&worst, 40e9, "an A100-40GB", text,
					sizeof(text)));
	assert_non_null(strstr(text, "does not fit"));
	assert_non_null(strstr(text, "an A100-40GB gives a process 40 GB"));
}

static void impossible_pipelines_are_errors(void **state)
{
	struct weft_error err = {0};
	struct weft_memory m;
	struct weft_model model;
	struct weft_spec spec;

	(void)state;
	job_read("model=llama3-8B,pp=64", &spec, &model);
	assert_int_equal(weft_memory_worst(&spec, &model, NULL, &m, &err), -1);
	assert_error_says(&err, "only 32 layers");
	memset(&err, 0, sizeof(err));
	job_read("model=llama3-8B,pp=4", &spec, &model);
	assert_int_equal(weft_memory_stage(&spec, &model, NULL, 4, &m, &err),
			 -1);
	assert_error_says(&err, "stage 4");
}

/* Megatron's runs whose recomputation is known ran on 80 GB; with ZeRO-3 they
 * used DeepSpeed, which gathers single matrices, not layers. */
static void published_runs_fit_the_gpus_that_they_ran_on(void **state)
{
	struct csv csv = table_open("data/costmodel/published_training.csv");
	uint32_t n_rows = 0;

	(void)state;
	for (uint32_t r = 0; r < csv.n_rows; r++) {
		const char *recompute = table_cell(&csv, r, "recompute");
		bool full = strcmp(recompute, "full") == 0;
		struct weft_error err = {0};
		struct weft_model model;
		struct weft_spec spec;
		struct weft_memory m;
		char job[256];

		if ((!full && strcmp(recompute, "selective+SP") != 0) ||
		    !strstr(table_cell(&csv, r, "gpu"), "A100-80G") ||
		    strcmp(table_cell(&csv, r, "dp_kind"), "zero3") == 0 ||
		    table_number(&csv, r, "vocab") != 51200)
			continue;
		snprintf(job, sizeof(job),
			 "tp=%s,pp=%s,vpp=%.0f,mbs=%s,gbs=%s,gpus=%s,dtype=%s,"
			 "sp=%s,recompute=%s,model=gpt-1008B",
			 table_cell(&csv, r, "tp"), table_cell(&csv, r, "pp"),
			 fmax(table_number(&csv, r, "vpp"), 1),
			 table_cell(&csv, r, "mbs"), table_cell(&csv, r, "gbs"),
			 table_cell(&csv, r, "gpus"),
			 table_cell(&csv, r, "precision"), full ? "off" : "on",
			 full ? "full" : "selective");
		job_read(job, &spec, &model);
		model.layers = (uint32_t)table_number(&csv, r, "layers");
		model.hidden = (uint32_t)table_number(&csv, r, "hidden");
		model.ffn = 4 * model.hidden;
		model.heads = (uint32_t)table_number(&csv, r, "heads");
		model.kv_heads = model.heads;
		weft_memory_worst(&spec, &model, &stored, &m, &err);
		assert_no_error(&err);
		print_message("%s: %.1f GB of 80\n",
			      table_cell(&csv, r, "row_id"),
			      m.total_bytes / 1e9);
		assert_true(m.total_bytes < 80e9);
		assert_true(m.total_bytes > 10e9);
		n_rows++;
	}
	assert_true(n_rows >= 8);
	csv_free(&csv);
}

/* arXiv:2407.21783 section 3.3.2: 405B at 8K tokens trains on 80 GB without
 * recomputing anything, with gradients and optimizer sharded; nobody would have
 * left it out were there much room. */
static void llama_3_just_fits_without_recomputation(void **state)
{
	struct weft_error err = {0};
	struct weft_memory worst;
	struct weft_model model;
	struct weft_spec spec;

	(void)state;
	job_read("model=llama3-405B,tp=8,pp=16,dp=128,gbs=2048,zero=2", &spec,
		 &model);
	weft_memory_worst(&spec, &model, NULL, &worst, &err);
	assert_no_error(&err);
	assert_true(worst.total_bytes < 80 * 1073741824.0);
	assert_true(worst.total_bytes > 64e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(activations_are_as_korthikanti_has_them),
		cmocka_unit_test(other_shapes_have_their_own_terms),
		cmocka_unit_test(states_shard_as_zero_says),
		cmocka_unit_test(a_distributed_optimizer_needs_6_and_12_over_d),
		cmocka_unit_test(adam_has_8_or_12_bytes_a_parameter),
		cmocka_unit_test(a_pipeline_keeps_what_is_in_flight),
		cmocka_unit_test(full_recomputation_keeps_inputs_and_one_layer),
		cmocka_unit_test(what_is_offloaded_is_elsewhere),
		cmocka_unit_test(stages_hold_the_layers_they_are_given),
		cmocka_unit_test(the_last_stage_has_the_logits),
		cmocka_unit_test(context_ranks_hold_blocks_of_others),
		cmocka_unit_test(experts_are_dealt_to_their_own_ranks),
		cmocka_unit_test(parts_of_sharded_layers_are_gathered),
		cmocka_unit_test(the_worst_stage_is_found_and_warned_of),
		cmocka_unit_test(impossible_pipelines_are_errors),
		cmocka_unit_test(llama_3_just_fits_without_recomputation),
		cmocka_unit_test(published_runs_fit_the_gpus_that_they_ran_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
