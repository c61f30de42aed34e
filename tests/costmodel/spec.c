/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.c - the job spec grammar: what it reads, fills in, refuses and says */
#include "costmodel/job/spec.h"

#include "tests/lib/check.h"
#include "topology/fabric.h"

#include <stdio.h>
#include <string.h>

static void parse(const char *text, struct weft_spec *spec)
{
	struct weft_error err = {0};

	weft_spec_parse(text, spec, &err);
	assert_no_error(&err);
}

static void resolve(const char *text, uint32_t gpus, struct weft_spec *spec)
{
	struct weft_error err = {0};

	parse(text, spec);
	weft_spec_resolve(spec, gpus, &err);
	assert_no_error(&err);
}

static void every_key_is_read(void **state)
{
	struct weft_spec s;

	(void)state;
	parse("gpus=64,nodes=8,gpus_per_node=8,tp=8,cp=2,ep=4,etp=1,pp=2,vpp=5,"
	      "dp=2,order=pp/dp/cp/tp,zero=3,mbs=2,gbs=128,seq=8192,dtype=fp8,"
	      "model=llama3-8B,traffic=a b.csv,metric=hops,within=pod,"
	      "prefer=leaf,segment=4,split=8x2+1,spread=balance,wait=1h30m,"
	      "sp=off,scatter=on,recompute=selective,cp_comm=allgather,shard=4,"
	      "capacity=1.25,imbalance=1.5,route_nodes=4,bucket=40MB,compress="
	      "2.5,"
	      "sync_every=8,algorithm=halving-doubling,grad_dtype=bf16,"
	      "param_dtype=fp16,dispatch_dtype=fp8,channels=4,ranks=leave,"
	      "env=torch,software=deepspeed,attention=flash2,fused=on,"
	      "zero_by=tensors,expert_kernels=fused,pipeline=zero-bubble,"
	      "stages=38+42,offload=0.5,power_cap=500,layers=80,"
	      "hidden=8192,ffn=28672,heads=64,"
	      "kv_heads=8,vocab=32000,gated_mlp=on,experts=8,top_k=2,"
	      "expert_ffn=14336,from=script",
	      &s);
	assert_int_equal(s.gpus, 64);
	assert_int_equal(s.nodes, 8);
	assert_int_equal(s.gpus_per_node, 8);
	assert_int_equal(s.tp, 8);
	assert_int_equal(s.cp, 2);
	assert_int_equal(s.ep, 4);
	assert_int_equal(s.etp, 1);
	assert_int_equal(s.pp, 2);
	assert_int_equal(s.vpp, 5);
	assert_int_equal(s.dp, 2);
	assert_string_equal(s.order, "pp/dp/cp/tp");
	assert_int_equal(s.zero, 3);
	assert_int_equal(s.mbs, 2);
	assert_int_equal(s.gbs, 128);
	assert_int_equal(s.seq, 8192);
	assert_int_equal(s.dtype, WEFT_FP8);
	assert_string_equal(s.model, "llama3-8B");
	assert_string_equal(s.traffic, "a b.csv");
	assert_int_equal(s.metric, WEFT_HOPS);
	assert_string_equal(s.within, "pod");
	assert_string_equal(s.prefer, "leaf");
	assert_int_equal(s.segment, 4);
	assert_int_equal(s.spread, WEFT_BALANCE);
	assert_close(s.wait_s, 5400, 0);
	assert_false(s.sequence_parallel);
	assert_true(s.scatter);
	assert_int_equal(s.recompute, WEFT_RECOMPUTE_SELECTIVE);
	assert_int_equal(s.cp_comm, WEFT_CP_ALL_GATHER);
	assert_int_equal(s.shard, 4);
	assert_close(s.capacity, 1.25, 0);
	assert_close(s.imbalance, 1.5, 0);
	assert_int_equal(s.route_nodes, 4);
	assert_close(s.bucket_bytes, 40e6, 0);
	assert_close(s.compress, 2.5, 0);
	assert_int_equal(s.sync_every, 8);
	assert_int_equal(s.algorithm, WEFT_BY_HALVING_DOUBLING);
	assert_int_equal(s.channels, 4);
	assert_int_equal(s.gradient_dtype, WEFT_BF16);
	assert_int_equal(s.parameter_dtype, WEFT_FP16);
	assert_int_equal(s.dispatch_dtype, WEFT_FP8);
	assert_int_equal(s.ranks, WEFT_RANKS_LEAVE);
	assert_int_equal(s.env, WEFT_ENV_TORCH);
	assert_int_equal(s.software, WEFT_DEEPSPEED);
	assert_int_equal(s.attention, WEFT_ATTENTION_FLASH2);
	assert_true(s.fused);
	assert_int_equal(s.zero_by, WEFT_ZERO_BY_TENSORS);
	assert_int_equal(s.expert_kernels, WEFT_EXPERTS_FUSED);
	assert_int_equal(s.pipeline, WEFT_ZERO_BUBBLE);
	assert_int_equal(s.n_stages, 2);
	assert_int_equal(s.stages[1], 42);
	assert_close(s.offload, 0.5, 0);
	assert_close(s.power_cap_w, 500, 0);
	assert_int_equal(s.given, (UINT64_C(1) << 63) - 1);
	assert_true(weft_spec_given(&s, "wait"));
	assert_false(weft_spec_given(&s, "nonsense"));
}

static void frameworks_words_are_keys(void **state)
{
	static const char *const same[][2] = {
		{"tensor-model-parallel-size=8", "tp=8"},
		{"--tp=8,--pp=2", "tp=8,pp=2"},
		{"TP=8", "tp=8"},
		{"world_size=64,micro_batch_size=2,global_batch_size=128",
		 "gpus=64,mbs=2,gbs=128"},
		{"expert-model-parallel-size=4,context_parallel=2",
		 "ep=4,cp=2"},
		{"fsdp=full", "zero=3"},
		{"fsdp=1", "zero=3"},
		{"deepspeed_stage=2", "zero=2"},
		{"zero=stage1", "zero=1"},
		{"pp=2,vp=2", "pp=2,vpp=2"},
		{"fsdp_sharding_strategy=FULL_SHARD", "zero=3"},
		{"precision=bf16-mixed", "dtype=bf16"},
		{"sequence_parallel=true", "sp=on"},
		{"pipeline_parallel_schedule=ZBVZeroBubble",
		 "pipeline=zero-bubble"},
		{"num_layers=8,hidden_size=64,num_attention_heads=4",
		 "layers=8,hidden=64,heads=4"},
		{"nnodes=4,nproc_per_node=8", "nodes=4,gpus_per_node=8"},
	};
	struct weft_spec a, b;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		parse(same[i][0], &a);
		parse(same[i][1], &b);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

static void a_spec_has_a_shape_of_its_own(void **state)
{
	struct weft_model model = {.layers = 80,
				   .hidden = 8192,
				   .heads = 64,
				   .kv_heads = 8,
				   .vocab = 128256};
	struct weft_error err = {0};
	struct weft_spec s;

	(void)state;
	resolve("layers=24,hidden=1024,heads=16,seq=512", 8, &s);
	assert_true(weft_spec_names_model(&s));
	assert_int_equal(weft_spec_shape(&s, &model, &err), 0);
	assert_int_equal(model.layers, 24);
	assert_int_equal(model.ffn, 4096);
	assert_int_equal(model.kv_heads, 16);
	assert_int_equal(model.seq, 512);
	parse("model=llama3-70B,vocab=32000", &s);
	model.vocab = 128256;
	assert_int_equal(weft_spec_shape(&s, &model, &err), 0);
	assert_int_equal(model.vocab, 32000);
	assert_int_equal(model.layers, 24);
	parse("tp=8", &s);
	assert_false(weft_spec_names_model(&s));
	parse("layers=24,hidden=1024,heads=7", &s);
	assert_int_equal(weft_spec_resolve(&s, 8, &err), -1);
	assert_error_says(&err, "heads must divide hidden");
}

static void blanks_do_not_matter(void **state)
{
	struct weft_spec s;

	(void)state;
	parse("  tp = 8 ,  model =  llama3-8B ", &s);
	assert_int_equal(s.tp, 8);
	assert_string_equal(s.model, "llama3-8B");
	assert_true(weft_spec_given(&s, "tp"));
	assert_false(weft_spec_given(&s, "pp"));
	parse("", &s);
	assert_int_equal(s.given, 0);
	parse("   ", &s);
	assert_int_equal(s.given, 0);
	assert_int_equal(s.metric, WEFT_TIME);
}

static void durations_have_units(void **state)
{
	static const struct {
		const char *text;
		double time_s;
	} cases[] = {
		{"wait=0", 0},	      {"wait=90", 90},
		{"wait=30s", 30},     {"wait=5m", 300},
		{"wait=1h30m", 5400}, {"wait=2d", 172800},
		{"wait=1d1s", 86401}, {"wait=366d", 31622400},
	};
	static const char *const wrong[] = {
		"wait=-1",
		"wait=1x",
		"wait=m",
		"wait=30m1h",
		"wait=1m1m",
		"wait=1h30",
		"wait=367d",
		"wait=1.5h",
		"wait=99999999999999999999999999999999"};
	struct weft_spec s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse(cases[i].text, &s);
		assert_close(s.wait_s, cases[i].time_s, 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(weft_spec_parse(wrong[i], &s, &err), -1);
		assert_error_says(&err, "is not a time such as 30s");
		assert_int_equal(err.column, 6);
	}
}

static void sizes_have_units(void **state)
{
	static const struct {
		const char *text;
		double bytes;
	} cases[] = {
		{"bucket=1", 1},
		{"bucket=4096B", 4096},
		{"bucket=25MiB", 26214400},
		{"bucket=1.5 KiB", 1536},
		{"bucket=0.5kB", 500},
		{"bucket=2GB", 2e9},
		{"bucket=1024GiB", 1099511627776},
		{"bucket=25mib", 26214400},
		{"bucket=40mb", 40e6},
		{"bucket=40M", 40e6},
		{"bucket=1Gi", 1073741824},
		{"bucket=1e6", 1e6},
	};
	static const char *const wrong[] = {"bucket=0",
					    "bucket=-1",
					    "bucket=MiB",
					    "bucket=1.2.3MiB",
					    "bucket=1Mib",
					    "bucket=25Mb",
					    "bucket=0.5",
					    "bucket=1025GiB",
					    "bucket=0x10",
					    "bucket=1 2MB",
					    "bucket=1234567890123456"};
	struct weft_spec s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		parse(cases[i].text, &s);
		assert_close(s.bucket_bytes, cases[i].bytes, 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(weft_spec_parse(wrong[i], &s, &err), -1);
		assert_error_says(&err, "is not a size such as 25MiB");
		assert_int_equal(err.column, 8);
	}
}

static void mistakes_are_named_with_their_column(void **state)
{
	static const struct {
		const char *text, *says;
		int column;
	} cases[] = {
		{"tq=8", "unknown key \"tq\"; did you mean \"tp\"?", 1},
		{"tp=8,gpu=4", "unknown key \"gpu\"; did you mean \"gpus\"?",
		 6},
		{"wibble=8", "keys are gpus, nodes, tp", 1},
		{"lr=1e-4", "no key \"lr\": it does not change what", 1},
		{"tp=8,--tensor-model-parallel-size=4", "tp is given twice", 6},
		{"tp=8, tp=4", "tp is given twice", 7},
		{"tp", "expected key=value, found \"tp\"", 1},
		{"tp=8,", "expected key=value", 6},
		{",tp=8", "expected key=value", 1},
		{"tp=8,,pp=2", "expected key=value", 6},
		{"=8", "expected key=value", 1},
		{"tp=", "tp has no value", 1},
		{"pp=2,tp=  ,dp=3", "tp has no value", 6},
		{"tp=0", "tp: \"0\" is not a whole number from 1 to 1048576",
		 4},
		{"tp= -1", "\"-1\" is not a whole number", 5},
		{"tp=8x", "\"8x\" is not a whole number", 4},
		{"tp=8.0", "is not a whole number", 4},
		{"tp=4294967297", "is not a whole number", 4},
		{"tp=18446744073709551617", "is not a whole number", 4},
		{"zero=4", "from 0 to 3", 6},
		{"gpus_per_node=65", "from 1 to 64", 15},
		{"dtype=int8", "is not one of bf16, fp16, fp32, fp8", 7},
		{"metric=speed", "is not one of hops, latency, time", 8},
		{"sp=maybe", "sp: \"maybe\" is not on or off", 4},
		{"stages=8+x", "stages: \"8+x\" is not numbers such as", 8},
		{"offload=1.5", "is not a number from 0 to 1", 9},
		{"lora=16", "adapters", 1},
		{"recompute=all", "is not one of none, selective, full", 11},
		{"cp_comm=rings", "is not one of p2p, allgather, a2a", 9},
		{"algorithm=nccl", "is not one of auto, ring, tree", 11},
		{"compress=0.5", "is not a number from 1 to 1048576", 10},
		{"compress=x", "is not a number from 1 to", 10},
		{"capacity=1.5x", "is not a number from 1 to 1024", 10},
		{"spread=wide", "one of pack, balance, failure-domain", 8},
		{"tp=8\n", "byte \\x0a: expected printable ASCII", 5},
		{"tp=\xc3\xa9", "byte \\xc3", 4},
		{"tp=8\x1b[31m", "byte \\x1b", 5},
		{"within=a_level_name_of_more_than_32_bytes", "longer than 31",
		 8},
	};
	struct weft_spec s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(weft_spec_parse(cases[i].text, &s, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.column, cases[i].column);
		assert_int_equal(err.code, WEFT_EINVAL);
		assert_string_equal(err.source, "job spec");
	}
}

static void a_text_too_long_is_refused(void **state)
{
	char text[WEFT_SPEC_MAX_BYTES + 2];
	struct weft_error err = {0};
	struct weft_spec s;

	(void)state;
	memset(text, ' ', sizeof(text));
	memcpy(text, "tp=8", 4);
	text[WEFT_SPEC_MAX_BYTES] = '\0';
	parse(text, &s);
	text[WEFT_SPEC_MAX_BYTES] = ' ';
	text[WEFT_SPEC_MAX_BYTES + 1] = '\0';
	assert_int_equal(weft_spec_parse(text, &s, &err), -1);
	assert_error_says(&err, "longer than 1024 bytes");
}

static void defaults_are_filled_in(void **state)
{
	struct weft_spec s;

	(void)state;
	resolve("tp=8,pp=2,model=gpt3-175B", 64, &s);
	assert_int_equal(s.gpus, 64);
	assert_int_equal(s.cp, 1);
	assert_int_equal(s.dp, 4);
	assert_int_equal(s.vpp, 1);
	assert_int_equal(s.mbs, 1);
	assert_int_equal(s.gbs, 1 * 4 * 4 * 2);
	assert_int_equal(weft_spec_micro_batches(&s), 8);
	assert_int_equal(s.seq, 2048);
	assert_int_equal(s.nodes, 0);
	assert_int_equal(s.gpus_per_node, 0);
	assert_string_equal(s.order, WEFT_ORDER_DEFAULT);
	assert_int_equal(s.dtype, WEFT_BF16);
	assert_int_equal(s.metric, WEFT_TIME);
	assert_true(s.sequence_parallel);
	assert_true(s.scatter);
	assert_int_equal(s.recompute, WEFT_RECOMPUTE_NONE);
	assert_int_equal(s.cp_comm, WEFT_CP_P2P);
	assert_int_equal(s.shard, 1);
	assert_close(s.bucket_bytes, 25 * 1048576, 0);
	assert_close(s.compress, 1, 0);
	assert_int_equal(s.sync_every, 1);
	assert_int_equal(s.algorithm, WEFT_BY_SIZE);
	assert_int_equal(s.channels, 1);
	assert_int_equal(s.gradient_dtype, WEFT_FP32);
	assert_int_equal(s.parameter_dtype, WEFT_BF16);
	assert_int_equal(s.dispatch_dtype, WEFT_BF16);

	resolve("tp=1,sp=on", 8, &s);
	assert_false(s.sequence_parallel);
	resolve("tp=2,sp=off", 8, &s);
	assert_false(s.sequence_parallel);
	resolve("zero=1,cp=2", 8, &s);
	assert_int_equal(s.shard, 8);
	resolve("shard=4,cp=2", 8, &s);
	assert_int_equal(s.zero, 3);
	assert_int_equal(s.shard, 4);
	resolve("dtype=fp8", 8, &s);
	assert_int_equal(s.parameter_dtype, WEFT_BF16);
	assert_int_equal(s.dispatch_dtype, WEFT_FP8);
	resolve("dtype=fp32", 8, &s);
	assert_int_equal(s.parameter_dtype, WEFT_FP32);

	resolve("", 0, &s);
	assert_int_equal(s.gpus, 1);
	assert_string_equal(s.model, "llama3-70B");
	resolve("", 12, &s);
	assert_int_equal(s.dp, 12);
	resolve("tp=4,dp=3", 0, &s);
	assert_int_equal(s.gpus, 12);
	resolve("nodes=4,gpus_per_node=8,tp=8", 0, &s);
	assert_int_equal(s.gpus, 32);
	assert_int_equal(s.dp, 4);
	resolve("gpus=32,gpus_per_node=8", 32, &s);
	assert_int_equal(s.nodes, 4);
	resolve("model=my.yaml", 0, &s);
	assert_int_equal(s.seq, 0);
}

static void a_resolved_spec_resolves_to_itself(void **state)
{
	struct weft_error err = {0};
	struct weft_spec once, twice;

	(void)state;
	resolve("tp=8,pp=4,vpp=2,zero=1,nodes=8,gpus_per_node=8", 64, &once);
	twice = once;
	assert_int_equal(weft_spec_resolve(&twice, 64, &err), 0);
	assert_memory_equal(&once, &twice, sizeof(once));
	resolve("sp=on,shard=4,dtype=fp8,grad_dtype=bf16", 64, &once);
	twice = once;
	assert_int_equal(weft_spec_resolve(&twice, 64, &err), 0);
	assert_memory_equal(&once, &twice, sizeof(once));
}

static void contradictions_state_the_arithmetic(void **state)
{
	static const struct {
		const char *text;
		uint32_t gpus;
		const char *says;
	} cases[] = {
		{"gpus=64,tp=8,pp=2,dp=3", 0,
		 "tp*cp*pp*dp = 8*1*2*3 = 48, but gpus = 64; dp = 4 fits"},
		{"gpus=60,tp=8,dp=3", 0, "but gpus = 60; gpus = 24 fits"},
		{"tp=8,pp=2,dp=3", 64,
		 "tp*cp*pp*dp = 8*1*2*3 = 48, but gpus = 64"},
		{"gpus=60,tp=8", 0,
		 "gpus = 60 is not a multiple of tp*cp*pp = 8*1*1 = 8; the "
		 "nearest is 64"},
		{"gpus=1,tp=3", 0, "the nearest is 3"},
		{"gpus=64", 32, "gpus = 64, but the job gets 32 GPUs"},
		{"nodes=2,gpus_per_node=8", 64,
		 "nodes*gpus_per_node = 2*8 = 16, but the job gets 64 GPUs"},
		{"gpus=64,nodes=2,gpus_per_node=8", 0,
		 "nodes*gpus_per_node = 2*8 = 16, but gpus = 64"},
		{"gpus=20,gpus_per_node=8", 0,
		 "gpus = 20 is not a multiple of gpus_per_node = 8"},
		{"gpus=4,nodes=8", 0, "nodes = 8, but gpus = 4"},
		{"tp=1048576,cp=1048576,pp=1048576", 0,
		 "more than the 4194304"},
		{"tp=1048576,dp=1048576", 0, "more than the 4194304"},
		{"nodes=4194304,gpus_per_node=64", 0, "more than the 4194304"},
		{"dp=8,gbs=100", 0,
		 "gbs = 100 is not a multiple of mbs*dp = 1*8 = 8"},
		{"dp=1048576,mbs=1048576", 0, "give gbs"},
		{"dp=1048576,mbs=1048576,gbs=1", 0,
		 "gbs = 1 is not a multiple"},
		{"vpp=2", 0, "vpp = 2, but pp = 1"},
		{"pp=4,stages=10+20", 0, "stages has 2 parts, but pp = 4"},
		{"pp=2,vpp=4,stages=3+5", 0,
		 "stage 0 has 3 layers, but vpp = 4 chunks"},
		{"pipeline=zero-bubble", 0, "but pp = 1"},
		{"etp=2", 0, "etp = 2, but ep = 1"},
		{"dp=8,ep=3", 0, "etp*ep*pp = 1*3*1 = 3 does not divide"},
		{"dp=8,shard=3", 0, "shard = 3 does not divide dp*cp = 8*1"},
		{"dp=8,zero=0,shard=2", 0, "shard = 2, but zero = 0"},
		{"dp=6,cp=2,shard=3", 0,
		 "expected a multiple or a divisor of the faster of dp and cp, "
		 "which is 2"},
		{"dp=8,zero=1,sync_every=2", 0, "but zero > 0"},
		{"dp=8,zero=1,compress=33", 0, "need zero = 0"},
		{"tp=2,dp=4,ep=2,sp=off", 0, "tokens that are split over tp"},
		{"dp=8,ep=4,shard=2", 0, "holds whole sets of experts"},
		{"dp=8,ep=4,order=dp-pp", 0, "does not say where ep=4 goes"},
		{"tp=2,dp=4,pp=2,ep=2,order=tp-pp-ep-dp", 0,
		 "pp must vary slowest"},
		{"tp=8,order=cp-dp-pp", 0, "does not say where tp=8 goes"},
		{"tp=8,order=tpp-dp", 0, "unknown axis \"tpp\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_spec s;

		parse(cases[i].text, &s);
		assert_int_equal(weft_spec_resolve(&s, cases[i].gpus, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.code, WEFT_EINVAL);
	}
}

static void keys_that_ask_for_nothing_are_no_conflict(void **state)
{
	struct weft_spec s;

	(void)state;
	resolve("ep=1,etp=1,segment=1,wait=0,spread=pack,cp=2,pp=2,vpp=2,zero="
		"3",
		0, &s);
	resolve("tp=8,wait=1h30m", 0, &s);
	assert_close(s.wait_s, 5400, 1e-9);
}

static void nodes_are_a_number_or_a_range(void **state)
{
	static const struct {
		const char *text;
		uint32_t gpus, nodes, nodes_max;
	} cases[] = {
		{"nodes=8", 64, 8, 8},
		{"nodes=4-16", 64, 4, 16},
		{"nodes=7-7", 64, 7, 7},
		{"nodes=4-16,gpus_per_node=8", 64, 8, 8},
		{"split=8+8+4", 80, 20, 20},
		{"split=8x2+4", 160, 20, 20},
		{"nodes=8-32,split=4x4", 128, 16, 16},
		{"split=2,gpus_per_node=8", 0, 2, 2},
		{"gpus_per_node=4", 64, 16, 16},
	};
	struct weft_spec s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		resolve(cases[i].text, cases[i].gpus, &s);
		assert_int_equal(s.nodes, cases[i].nodes);
		assert_int_equal(s.nodes_max, cases[i].nodes_max);
	}
	parse("split=8x2+4", &s);
	assert_int_equal(s.n_split, 3);
	assert_int_equal(s.split[0], 8);
	assert_int_equal(s.split[1], 8);
	assert_int_equal(s.split[2], 4);
	parse("split=1x256", &s);
	assert_int_equal(s.n_split, WEFT_MAX_PARTS);
}

static void groups_of_nodes_that_disagree_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} parsed[] =
		{
			{"split=8+", "numbers such as"},
			{"split=x4", "numbers such as"},
			{"split=0+4", "numbers such as"},
			{"split=4x", "numbers such as"},
			{"split=1x257", "at most 256 parts"},
			{"split=4 4", "numbers such as"},
			{"nodes=4-", "such as 4-16"},
			{"nodes=16-4", "such as 4-16"},
			{"nodes=-4", "such as 4-16"},
			{"nodes=0", "a whole number from 1"},
		},
	  resolved[] = {
		  {"split=8+8,nodes=12", "split has 16 nodes, but nodes = 12"},
		  {"split=2+2,nodes=8-9", "nodes = 8 at least"},
		  {"split=8+8,segment=8", "split and segment"},
		  {"split=8+8,spread=failure-domain",
		   "split and spread=failure-domain"},
		  {"segment=8,spread=failure-domain",
		   "segment and spread=failure-domain"},
		  {"gpus=64,gpus_per_node=8,nodes=9-16",
		   "gpus/gpus_per_node = 64/8 = 8, but nodes = 9-16"},
		  {"split=4x2,gpus_per_node=8,gpus=48",
		   "nodes*gpus_per_node = 8*8 = 64, but gpus = 48"},
	  };
	struct weft_spec s;

	(void)state;
	for (size_t i = 0; i < sizeof(parsed) / sizeof(parsed[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(weft_spec_parse(parsed[i].text, &s, &err), -1);
		assert_error_says(&err, parsed[i].says);
	}
	for (size_t i = 0; i < sizeof(resolved) / sizeof(resolved[0]); i++) {
		struct weft_error err = {0};

		parse(resolved[i].text, &s);
		assert_int_equal(weft_spec_resolve(&s, 0, &err), -1);
		assert_error_says(&err, resolved[i].says);
	}
}

/* Texts made of the grammar's own pieces: never a crash, and what resolves
 * keeps its promises. */
static void random_specs_hold_the_invariants(void **state)
{
	static const char *const keys[] = {
		"gpus", "nodes", "gpus_per_node", "tp",	 "cp",	 "pp",
		"vpp",	"dp",	 "mbs",		  "gbs", "zero", "ep"};
	uint64_t seed = test_seed();
	uint32_t resolved = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		struct weft_error err = {0};
		struct weft_spec s;
		char text[256] = "";
		size_t used = 0;

		for (uint32_t k = test_random_below(&seed, 5); k > 0; k--)
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%s%s=%u",
				used ? "," : "",
				keys[test_random_below(&seed, 12)],
				1u << test_random_below(&seed, 23));
		if (weft_spec_parse(text, &s, &err) ||
		    weft_spec_resolve(&s, 0, &err)) {
			assert_true(err.code != 0 && err.text[0] != '\0');
			continue;
		}
		resolved++;
		assert_true(s.gpus <= WEFT_MAX_GPUS);
		assert_int_equal((uint64_t)s.tp * s.cp * s.pp * s.dp, s.gpus);
		assert_int_equal((uint64_t)weft_spec_micro_batches(&s) * s.mbs *
					 s.dp,
				 s.gbs);
		if (s.gpus_per_node)
			assert_int_equal(s.nodes * s.gpus_per_node, s.gpus);
	}
	assert_true(resolved > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(frameworks_words_are_keys),
		cmocka_unit_test(a_spec_has_a_shape_of_its_own),
		cmocka_unit_test(blanks_do_not_matter),
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(mistakes_are_named_with_their_column),
		cmocka_unit_test(a_text_too_long_is_refused),
		cmocka_unit_test(defaults_are_filled_in),
		cmocka_unit_test(nodes_are_a_number_or_a_range),
		cmocka_unit_test(groups_of_nodes_that_disagree_are_refused),
		cmocka_unit_test(a_resolved_spec_resolves_to_itself),
		cmocka_unit_test(contradictions_state_the_arithmetic),
		cmocka_unit_test(keys_that_ask_for_nothing_are_no_conflict),
		cmocka_unit_test(random_specs_hold_the_invariants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
