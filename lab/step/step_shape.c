/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_shape.c - shapes of models that tables of runs only name */
#include "lab/step/step_shape.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define GPT(NAME, LAYERS, HIDDEN, HEADS)                                       \
	{                                                                      \
		.name = NAME, .layers = LAYERS, .hidden = HIDDEN,              \
		.ffn = 4 * HIDDEN, .heads = HEADS, .kv_heads = HEADS,          \
		.vocab = 51200, .seq = 2048, .tied_embedding = true,           \
		.learned_positions = true,                                     \
	}
#define LLAMA2(NAME, LAYERS, HIDDEN, FFN, HEADS)                               \
	{                                                                      \
		.name = NAME, .layers = LAYERS, .hidden = HIDDEN, .ffn = FFN,  \
		.heads = HEADS, .kv_heads = HEADS, .vocab = 32000,             \
		.seq = 4096, .gated_mlp = true,                                \
	}
#define NEMOTRON(NAME, LAYERS, HIDDEN, HEADS)                                  \
	{                                                                      \
		.name = NAME, .layers = LAYERS, .hidden = HIDDEN,              \
		.ffn = 4 * HIDDEN, .heads = HEADS, .kv_heads = HEADS,          \
		.vocab = 256000, .seq = 4096,                                  \
	}

/* Configurations that their makers publish with the weights or the recipes;
 * those with a vocabulary as trained, padded. */
static const struct weft_model shapes[] = {
	GPT("gpt3-5B", 24, 4096, 32),
	GPT("gpt3-20B", 44, 6144, 48),
	LLAMA2("llama2-7B", 32, 4096, 11008, 32),
	LLAMA2("llama2-13B", 40, 5120, 13824, 40),
	NEMOTRON("nemotron-8B", 32, 4096, 32),
	NEMOTRON("nemotron-22B", 40, 6144, 48),
	{.name = "mixtral-8x7B",
	 .layers = 32,
	 .hidden = 4096,
	 .ffn = 14336,
	 .heads = 32,
	 .kv_heads = 8,
	 .vocab = 32000,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 8,
	 .top_k = 2,
	 .expert_ffn = 14336},
	{.name = "mixtral-8x22B",
	 .layers = 56,
	 .hidden = 6144,
	 .ffn = 16384,
	 .heads = 48,
	 .kv_heads = 8,
	 .vocab = 32768,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 8,
	 .top_k = 2,
	 .expert_ffn = 16384},
	{.name = "qwen3-30B-a3B",
	 .layers = 48,
	 .hidden = 2048,
	 .ffn = 6144,
	 .heads = 32,
	 .kv_heads = 4,
	 .head_width = 128,
	 .vocab = 151936,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 128,
	 .top_k = 8,
	 .expert_ffn = 768},
	{.name = "qwen3-235B-a22B",
	 .layers = 94,
	 .hidden = 4096,
	 .ffn = 12288,
	 .heads = 64,
	 .kv_heads = 4,
	 .head_width = 128,
	 .vocab = 151936,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 128,
	 .top_k = 8,
	 .expert_ffn = 1536},
	{.name = "gpt-oss-120B",
	 .layers = 36,
	 .hidden = 2880,
	 .ffn = 2880,
	 .heads = 64,
	 .kv_heads = 8,
	 .head_width = 64,
	 .vocab = 201088,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 128,
	 .top_k = 4,
	 .expert_ffn = 2880},
	{.name = "kimi-k2",
	 .layers = 61,
	 .hidden = 7168,
	 .ffn = 18432,
	 .heads = 64,
	 .kv_heads = 64,
	 .head_width = 128,
	 .vocab = 163840,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 384,
	 .top_k = 8,
	 .expert_ffn = 2048,
	 .shared_experts = 1,
	 .dense_layers = 1,
	 .mla_q_rank = 1536,
	 .mla_kv_rank = 512,
	 .mla_rope = 64},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Other names of a shape, as plain_name has them: what comes first in a name,
 * and what it stands for. */
static const struct {
	const char *prefix, *meant;
} aliases[] = {
	{"metallama", "llama"},
	{"llama3.1", "llama3"},
	{"llama3.3", "llama3"},
	{"gpt22b", "megatron22b"},
	{"gpt145b", "gpt145.6b"},
	{"gpt175b", "gpt3175b"},
	{"opt175b", "gpt3175b"},
	{"gpt310b", "gpt310.1b"},
	{"gpt530b", "turing530b"},
	{"mtnlg530b", "turing530b"},
	{"gpt1t", "gpt1008b"},
	{"grok1", "grok1314b"},
	{"deepseekv3671b", "deepseekv3"},
	{"deepseekr1", "deepseekv3"},
};

/* Letters, digits and the points between digits, lower case: "DeepSeekV3" is
 * "deepseek-v3", but "gpt-17B" not "gpt-1.7B". */
static void plain_name(const char *name, char *plain, size_t size)
{
	size_t used = 0;

	for (; *name && used + 1 < size; name++) {
		bool point = *name == '.' && used &&
			     isdigit((unsigned char)plain[used - 1]) &&
			     isdigit((unsigned char)name[1]);

		if (point || isalnum((unsigned char)*name))
			plain[used++] = (char)tolower((unsigned char)*name);
	}
	plain[used] = '\0';
}

/* A name that goes on is of the same shape, as in "(MoE)" or "-chat", unless
 * another number or size follows. */
static bool begins(const char *plain, const char *with)
{
	size_t length = strlen(with);

	return strncmp(plain, with, length) == 0 && plain[length] != '.' &&
	       !isdigit((unsigned char)plain[length]);
}

/* The longest name that `plain` begins with: "qwen3-30B-a3B" is not to be
 * taken for one that ends before. */
static const struct weft_model *named(const struct weft_model *models, size_t n,
				      const char *plain)
{
	const struct weft_model *best = NULL;
	size_t longest = 0;
	char known[64];

	for (size_t i = 0; i < n; i++) {
		plain_name(models[i].name, known, sizeof(known));
		if (strlen(known) > longest && begins(plain, known)) {
			longest = strlen(known);
			best = &models[i];
		}
	}
	return best;
}

static const struct weft_model *known_by(const char *plain)
{
	const struct weft_model *found =
		named(weft_models, weft_n_models, plain);

	return found ? found : named(shapes, N_SHAPES, plain);
}

const struct weft_model *step_shape_named(const char *name)
{
	const struct weft_model *found;
	char plain[64], meant[80];

	plain_name(name, plain, sizeof(plain));
	found = known_by(plain);
	for (size_t i = 0; !found && i < sizeof(aliases) / sizeof(*aliases);
	     i++) {
		const char *prefix = aliases[i].prefix;

		if (strncmp(plain, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(meant, sizeof(meant), "%s%s", aliases[i].meant,
			 plain + strlen(prefix));
		memcpy(plain, meant, sizeof(plain) - 1);
		plain[sizeof(plain) - 1] = '\0';
		found = known_by(plain);
	}
	return found;
}

static bool same(uint32_t known, uint32_t said)
{
	return said == 0 || known == said;
}

const struct weft_model *step_shape_of(uint32_t hidden, uint32_t ffn,
				       uint32_t heads, uint32_t kv_heads)
{
	if (!hidden || (!ffn && !heads))
		return NULL;
	for (uint32_t i = 0; i < weft_n_models; i++) {
		const struct weft_model *m = &weft_models[i];

		if (m->hidden == hidden && same(m->ffn, ffn) &&
		    same(m->heads, heads) && same(m->kv_heads, kv_heads))
			return m;
	}
	return NULL;
}
