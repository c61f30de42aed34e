/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_shapes.c - the table of built-in shapes of models */
#include "costmodel/job/model.h"

/* What papers list of a shape, in their order, then what else it has. */
#define SHAPE(NAME, LAYERS, HIDDEN, FFN, HEADS, KV_HEADS, VOCAB, SEQ, ...)     \
	{                                                                      \
		.name = NAME, .layers = LAYERS, .hidden = HIDDEN, .ffn = FFN,  \
		.heads = HEADS, .kv_heads = KV_HEADS, .vocab = VOCAB,          \
		.seq = SEQ, __VA_ARGS__                                        \
	}

/* The GPT family of Megatron: feed-forward width 4h, every head its own keys
 * and values, 2,048 learned positions. */
#define GPT(NAME, LAYERS, HIDDEN, HEADS, VOCAB)                                \
	SHAPE(NAME, LAYERS, HIDDEN, 4 * HIDDEN, HEADS, HEADS, VOCAB, 2048,     \
	      .tied_embedding = true, .learned_positions = true)

#define LLAMA2(NAME, LAYERS, HIDDEN, FFN, HEADS)                               \
	SHAPE(NAME, LAYERS, HIDDEN, FFN, HEADS, HEADS, 32000, 4096,            \
	      .gated_mlp = true)

#define NEMOTRON(NAME, LAYERS, HIDDEN, HEADS, KV_HEADS)                        \
	SHAPE(NAME, LAYERS, HIDDEN, 4 * HIDDEN, HEADS, KV_HEADS, 256000, 4096, \
	      .gated_mlp = false)

/* arXiv:2104.04473 table 1 and 2, arXiv:2205.05198 table 3, arXiv:2402.15627
 * table 1; arXiv:2407.21783 table 3; published configurations of Nemotron-4,
 * Grok-1 and DeepSeek-V3 (arXiv:2412.19437). */
const struct weft_model weft_models[] = {
	GPT("gpt-1.7B", 24, 2304, 24, 51200),
	GPT("gpt-3.6B", 30, 3072, 32, 51200),
	GPT("gpt-7.5B", 36, 4096, 32, 51200),
	GPT("gpt-18.4B", 40, 6144, 48, 51200),
	GPT("gpt-39.1B", 48, 8192, 64, 51200),
	GPT("gpt-76.1B", 60, 10240, 80, 51200),
	GPT("gpt-145.6B", 80, 12288, 96, 51200),
	GPT("gpt-310.1B", 96, 16384, 128, 51200),
	GPT("gpt-529.6B", 105, 20480, 128, 51200),
	GPT("gpt-1008B", 128, 25600, 160, 51200),
	GPT("gpt3-175B", 96, 12288, 96, 51200),
	GPT("megatron-22B", 48, 6144, 64, 51200),
	GPT("turing-530B", 105, 20480, 128, 51200),
	GPT("megascale-175B", 96, 12288, 128, 64000),
	SHAPE("llama3-8B", 32, 4096, 14336, 32, 8, 128256, 8192,
	      .gated_mlp = true),
	SHAPE("llama3-70B", 80, 8192, 28672, 64, 8, 128256, 8192,
	      .gated_mlp = true),
	SHAPE("llama3-405B", 126, 16384, 53248, 128, 8, 128256, 8192,
	      .gated_mlp = true),
	SHAPE("llama2-70B", 80, 8192, 28672, 64, 8, 32000, 4096,
	      .gated_mlp = true),
	NEMOTRON("nemotron4-15B", 32, 6144, 48, 8),
	NEMOTRON("nemotron4-340B", 96, 18432, 96, 8),
	SHAPE("deepseek-v3", 61, 7168, 18432, 128, 128, 129280, 4096,
	      .gated_mlp = true, .experts = 256, .top_k = 8, .expert_ffn = 2048,
	      .shared_experts = 1, .dense_layers = 3, .expert_groups = 8,
	      .token_groups = 4, .head_width = 128, .mla_q_rank = 1536,
	      .mla_kv_rank = 512, .mla_rope = 64),
	SHAPE("grok1-314B", 64, 6144, 32768, 48, 8, 131072, 8192,
	      .gated_mlp = true, .tied_embedding = true, .experts = 8,
	      .top_k = 2, .expert_ffn = 32768),
	/* Configurations that their makers publish with the weights or the
	 * recipes; those with a vocabulary as trained, padded. */
	GPT("gpt3-5B", 24, 4096, 32, 51200),
	GPT("gpt3-20B", 44, 6144, 48, 51200),
	LLAMA2("llama2-7B", 32, 4096, 11008, 32),
	LLAMA2("llama2-13B", 40, 5120, 13824, 40),
	NEMOTRON("nemotron-8B", 32, 4096, 32, 32),
	NEMOTRON("nemotron-22B", 40, 6144, 48, 48),
	SHAPE("mixtral-8x7B", 32, 4096, 14336, 32, 8, 32000, 4096,
	      .gated_mlp = true, .experts = 8, .top_k = 2, .expert_ffn = 14336),
	SHAPE("mixtral-8x22B", 56, 6144, 16384, 48, 8, 32768, 4096,
	      .gated_mlp = true, .experts = 8, .top_k = 2, .expert_ffn = 16384),
	SHAPE("qwen3-30B-a3B", 48, 2048, 6144, 32, 4, 151936, 4096,
	      .head_width = 128, .gated_mlp = true, .experts = 128, .top_k = 8,
	      .expert_ffn = 768),
	SHAPE("qwen3-235B-a22B", 94, 4096, 12288, 64, 4, 151936, 4096,
	      .head_width = 128, .gated_mlp = true, .experts = 128, .top_k = 8,
	      .expert_ffn = 1536),
	SHAPE("gpt-oss-120B", 36, 2880, 2880, 64, 8, 201088, 4096,
	      .head_width = 64, .gated_mlp = true, .experts = 128, .top_k = 4,
	      .expert_ffn = 2880, .clamped_gate = true, .window = 128,
	      .window_layers = 18),
	SHAPE("kimi-k2", 61, 7168, 18432, 64, 64, 163840, 4096,
	      .head_width = 128, .gated_mlp = true, .experts = 384, .top_k = 8,
	      .expert_ffn = 2048, .shared_experts = 1, .dense_layers = 1,
	      .mla_q_rank = 1536, .mla_kv_rank = 512, .mla_rope = 64),
	/* Of the blocks of Nemotron 3, each a mixer or experts, those with
	 * experts count as layers. */
	SHAPE("nemotron3-nano-30B", 23, 2688, 1856, 32, 2, 131072, 8192,
	      .head_width = 128, .experts = 128, .top_k = 6, .expert_ffn = 1856,
	      .shared_experts = 1, .shared_ffn = 3712, .attention_layers = 6,
	      .ssm_layers = 23, .ssm_inner = 4096, .ssm_state = 128,
	      .ssm_groups = 8, .ssm_heads = 64),
	SHAPE("nemotron3-super-120B", 40, 4096, 2688, 32, 2, 131072, 8192,
	      .head_width = 128, .experts = 512, .top_k = 22,
	      .expert_ffn = 2688, .expert_width = 1024, .shared_experts = 1,
	      .shared_ffn = 5376, .mtp_layers = 1, .attention_layers = 8,
	      .ssm_layers = 40, .ssm_inner = 8192, .ssm_state = 128,
	      .ssm_groups = 8, .ssm_heads = 128),
	SHAPE("llama4-scout", 48, 5120, 16384, 40, 8, 202048, 8192,
	      .head_width = 128, .gated_mlp = true, .experts = 16, .top_k = 1,
	      .expert_ffn = 8192, .shared_experts = 1, .window = 4096,
	      .window_layers = 36),
	SHAPE("llama4-maverick", 48, 5120, 16384, 40, 8, 202048, 8192,
	      .head_width = 128, .gated_mlp = true, .experts = 128, .top_k = 1,
	      .expert_ffn = 8192, .shared_experts = 1, .expert_every = 2,
	      .window = 4096, .window_layers = 36),
};
const uint32_t weft_n_models = sizeof(weft_models) / sizeof(weft_models[0]);
