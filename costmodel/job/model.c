/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.c - built-in shapes, shapes from YAML, and their parameter counts */
#include "costmodel/job/model.h"

#include "base/suggest.h"
#include "base/yaml.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The GPT family of Megatron: feed-forward width 4h, every head its own keys
 * and values, 2,048 learned positions. */
#define GPT(NAME, LAYERS, HIDDEN, HEADS, VOCAB)                                \
	{                                                                      \
		.name = NAME, .layers = LAYERS, .hidden = HIDDEN,              \
		.ffn = 4 * HIDDEN, .heads = HEADS, .kv_heads = HEADS,          \
		.vocab = VOCAB, .seq = 2048, .tied_embedding = true,           \
		.learned_positions = true,                                     \
	}

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
	{.name = "llama3-8B",
	 .layers = 32,
	 .hidden = 4096,
	 .ffn = 14336,
	 .heads = 32,
	 .kv_heads = 8,
	 .vocab = 128256,
	 .seq = 8192,
	 .gated_mlp = true},
	{.name = "llama3-70B",
	 .layers = 80,
	 .hidden = 8192,
	 .ffn = 28672,
	 .heads = 64,
	 .kv_heads = 8,
	 .vocab = 128256,
	 .seq = 8192,
	 .gated_mlp = true},
	{.name = "llama3-405B",
	 .layers = 126,
	 .hidden = 16384,
	 .ffn = 53248,
	 .heads = 128,
	 .kv_heads = 8,
	 .vocab = 128256,
	 .seq = 8192,
	 .gated_mlp = true},
	{.name = "llama2-70B",
	 .layers = 80,
	 .hidden = 8192,
	 .ffn = 28672,
	 .heads = 64,
	 .kv_heads = 8,
	 .vocab = 32000,
	 .seq = 4096,
	 .gated_mlp = true},
	{.name = "nemotron4-15B",
	 .layers = 32,
	 .hidden = 6144,
	 .ffn = 24576,
	 .heads = 48,
	 .kv_heads = 8,
	 .vocab = 256000,
	 .seq = 4096},
	{.name = "nemotron4-340B",
	 .layers = 96,
	 .hidden = 18432,
	 .ffn = 73728,
	 .heads = 96,
	 .kv_heads = 8,
	 .vocab = 256000,
	 .seq = 4096},
	{.name = "deepseek-v3",
	 .layers = 61,
	 .hidden = 7168,
	 .ffn = 18432,
	 .heads = 128,
	 .kv_heads = 128,
	 .vocab = 129280,
	 .seq = 4096,
	 .gated_mlp = true,
	 .experts = 256,
	 .top_k = 8,
	 .expert_ffn = 2048,
	 .shared_experts = 1,
	 .dense_layers = 3,
	 .head_width = 128,
	 .mla_q_rank = 1536,
	 .mla_kv_rank = 512,
	 .mla_rope = 64},
	{.name = "grok1-314B",
	 .layers = 64,
	 .hidden = 6144,
	 .ffn = 32768,
	 .heads = 48,
	 .kv_heads = 8,
	 .vocab = 131072,
	 .seq = 8192,
	 .gated_mlp = true,
	 .tied_embedding = true,
	 .experts = 8,
	 .top_k = 2,
	 .expert_ffn = 32768},
};
const uint32_t weft_n_models = sizeof(weft_models) / sizeof(weft_models[0]);

/* Room for a name without its ornaments. */
#define FOLDED 48

/* "meta-llama/Llama-3.1-70B-Instruct" is "llama3170b": the last part of a path
 * that a hub has, in lower case, without what joins words and without what does
 * not change the shape. */
static void name_fold(const char *name, char folded[FOLDED])
{
	static const char *const tails[] = {"instruct", "chat", "hf", "base",
					    "fp8"};
	const char *slash = strrchr(name, '/');
	size_t n = 0;

	if (slash && strchr(name, '/') == slash && name[0] != '.')
		name = slash + 1;
	if (strncasecmp(name, "meta-", 5) == 0)
		name += 5;
	for (; *name && n < FOLDED - 1; name++)
		if (!strchr("-_. :", *name))
			folded[n++] = (char)tolower((unsigned char)*name);
	folded[n] = '\0';
	for (size_t t = 0; t < sizeof(tails) / sizeof(tails[0]); t++) {
		size_t length = strlen(tails[t]);

		if (n > length && !strcmp(folded + n - length, tails[t]))
			folded[n -= length] = '\0';
	}
}

/* Names of the same shape, folded. */
static const char *name_alias(const char *folded)
{
	static const struct {
		const char *folded, *name;
	} aliases[] = {
		{"llama318b", "llama3-8B"},
		{"llama3170b", "llama3-70B"},
		{"llama3370b", "llama3-70B"},
		{"llama31405b", "llama3-405B"},
		{"gpt175b", "gpt3-175B"},
		{"gpt3", "gpt3-175B"},
		{"deepseekv3671b", "deepseek-v3"},
		{"deepseekr1", "deepseek-v3"},
		{"deepseek3671b", "deepseek-v3"},
		{"grok1", "grok1-314B"},
	};

	for (size_t a = 0; a < sizeof(aliases) / sizeof(aliases[0]); a++)
		if (strcmp(aliases[a].folded, folded) == 0)
			return aliases[a].name;
	return NULL;
}

static const struct weft_model *model_named(const char *name)
{
	char wanted[FOLDED], known[FOLDED];
	const char *alias;

	name_fold(name, wanted);
	alias = name_alias(wanted);
	if (alias)
		name_fold(alias, wanted);
	for (uint32_t i = 0; i < weft_n_models; i++) {
		name_fold(weft_models[i].name, known);
		if (strcmp(known, wanted) == 0)
			return &weft_models[i];
	}
	return NULL;
}

/* "llama3-8B/70B/405B, deepseek-v3": the names, of each family once. */
static void names_list(char *text, size_t size)
{
	size_t used = 0, family = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < weft_n_models && used < size; i++) {
		const char *name = weft_models[i].name;
		const char *dash = strrchr(name, '-');
		bool same = i && family &&
			    strncmp(name, weft_models[i - 1].name, family) == 0;

		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 same ? "/"
					 : i  ? ", "
					      : "",
					 same ? name + family : name);
		family = dash ? (size_t)(dash - name) + 1 : 0;
	}
}

int weft_model_find(const char *name, struct weft_model *model,
		    struct weft_error *err)
{
	const struct weft_model *found = model_named(name);
	const char *known[sizeof(weft_models) / sizeof(weft_models[0])], *near;
	char list[400];

	if (found) {
		*model = *found;
		return 0;
	}
	for (uint32_t i = 0; i < weft_n_models; i++)
		known[i] = weft_models[i].name;
	near = weft_suggest_near(name, known, weft_n_models);
	names_list(list, sizeof(list));
	if (near)
		return weft_fail(err, WEFT_EINVAL,
				 "unknown model \"%.60s\"; did you mean "
				 "\"%s\"? Or give its shape: a file, or "
				 "layers=, hidden=, heads= in the spec",
				 name, near);
	return weft_fail(err, WEFT_EINVAL,
			 "unknown model \"%.40s\": give a file, or layers=, "
			 "hidden=, heads= in the spec; known are %s",
			 name, list);
}

static double head_width(const struct weft_model *model)
{
	if (model->head_width)
		return model->head_width;
	return (double)model->hidden / model->heads;
}

double weft_model_kv_width(const struct weft_model *model, uint32_t tp)
{
	double heads = (double)model->kv_heads / tp;
	double width = head_width(model);

	/* Latent attention exchanges keys and values as its heads use them; a
	 * key has the rotary part more than a value. */
	if (model->mla_kv_rank)
		width += model->mla_rope / 2.0;
	return (heads < 1 ? 1 : heads) * width;
}

/* Weight matrices of attention.  Latent attention (arXiv:2412.19437 section
 * 2.1.1): queries go through q_rank, keys and values through kv_rank, and the
 * rotary part of the key is shared by all heads. */
static double attention_parameters(const struct weft_model *model)
{
	double h = model->hidden, width = head_width(model);
	double q = model->heads * width;
	double kv = model->kv_heads * width;
	double rope = model->mla_rope, q_rank = model->mla_q_rank;
	double kv_rank = model->mla_kv_rank, q_full;

	if (!model->mla_kv_rank)
		return h * (q + 2 * kv) + q * h;
	q_full = q + model->heads * rope;
	return (model->mla_q_rank ? h * q_rank + q_rank * q_full : h * q_full) +
	       h * (kv_rank + rope) + kv_rank * 2 * kv + q * h;
}

double weft_model_layer_parameters(const struct weft_model *model,
				   uint32_t layer)
{
	double h = model->hidden, matrices = model->gated_mlp ? 3 : 2;
	double attention = attention_parameters(model);
	double experts = (double)model->experts + model->shared_experts;
	double norms = 2 * h;

	/* The GPT family has layer norms with a shift, and a bias at each of
	 * its six matrices: 13h in arXiv:2104.04473 equation 2. */
	if (model->learned_positions)
		norms = 4 * h + 3 * h + h + model->ffn + h;
	if (!model->experts || layer < model->dense_layers)
		return attention + matrices * h * model->ffn + norms;
	return attention + matrices * h * model->expert_ffn * experts +
	       h * model->experts + norms;
}

double weft_model_layers_parameters(const struct weft_model *model,
				    uint32_t first, uint32_t n)
{
	uint32_t dense = 0;

	if (first < model->dense_layers)
		dense = model->dense_layers - first;
	if (dense > n)
		dense = n;
	return dense * weft_model_layer_parameters(model, 0) +
	       (n - dense) * weft_model_layer_parameters(model, UINT32_MAX);
}

double weft_model_embedding_parameters(const struct weft_model *model)
{
	double rows = (model->tied_embedding ? 1.0 : 2.0) * model->vocab;

	if (model->learned_positions)
		rows += model->seq;
	return rows * model->hidden;
}

double weft_model_parameters(const struct weft_model *model)
{
	return weft_model_embedding_parameters(model) +
	       weft_model_layers_parameters(model, 0, model->layers);
}

/* Keys of a model file. */
struct member {
	const char *key;
	size_t offset;
	uint32_t max;
	bool is_bool, required;
};
#define NUMBER(KEY, MAX, REQUIRED)                                             \
	{                                                                      \
#KEY, offsetof(struct weft_model, KEY), MAX, false, REQUIRED   \
	}
#define FLAG(KEY)                                                              \
	{                                                                      \
#KEY, offsetof(struct weft_model, KEY), 1, true, false         \
	}
static const struct member members[] = {
	NUMBER(layers, 1u << 16, true),
	NUMBER(hidden, 1u << 24, true),
	NUMBER(ffn, 1u << 26, true),
	NUMBER(heads, 1u << 16, true),
	NUMBER(kv_heads, 1u << 16, false),
	NUMBER(head_width, 1u << 20, false),
	NUMBER(vocab, 1u << 28, true),
	NUMBER(seq, 1u << 27, true),
	FLAG(gated_mlp),
	FLAG(tied_embedding),
	FLAG(learned_positions),
	NUMBER(experts, 1u << 16, false),
	NUMBER(top_k, 1u << 16, false),
	NUMBER(expert_ffn, 1u << 26, false),
	NUMBER(shared_experts, 1u << 16, false),
	NUMBER(dense_layers, 1u << 16, false),
	NUMBER(mla_q_rank, 1u << 20, false),
	NUMBER(mla_kv_rank, 1u << 20, false),
	NUMBER(mla_rope, 1u << 20, false),
};
#define N_MEMBERS (sizeof(members) / sizeof(members[0]))

static int member_read(const struct weft_yaml *doc, const struct member *m,
		       struct weft_model *model, struct weft_error *err)
{
	const struct weft_yaml_node *node = weft_yaml_find(doc->root, m->key);
	char *field = (char *)model + m->offset;
	uint64_t value;
	uint32_t number;

	if (!node && m->required)
		return weft_yaml_fail(doc, doc->root, err,
				      "the model has no \"%s\"", m->key);
	if (!node)
		return 0;
	if (m->is_bool)
		return weft_yaml_bool(doc, node, (bool *)(void *)field, err);
	if (weft_yaml_uint(doc, node, m->required, m->max, &value, err))
		return -1;
	number = (uint32_t)value;
	memcpy(field, &number, sizeof(number));
	return 0;
}

/* What the numbers of a shape must have to do with each other. */
static int model_check(const struct weft_yaml *doc,
		       const struct weft_model *model, struct weft_error *err)
{
	const struct {
		bool wrong;
		const char *key, *text;
	} rules[] = {
		{model->heads % model->kv_heads, "kv_heads",
		 "must divide heads"},
		{!model->head_width && model->hidden % model->heads, "heads",
		 "must divide hidden (or head_width be given)"},
		{model->experts && !model->top_k, "experts",
		 "needs top_k, the experts that each token visits"},
		{model->experts && !model->expert_ffn, "experts",
		 "needs expert_ffn, the width of one expert"},
		{model->top_k > model->experts, "top_k",
		 "must be at most experts"},
		{model->shared_experts && !model->experts, "shared_experts",
		 "needs experts"},
		{model->dense_layers > model->layers, "dense_layers",
		 "must be at most layers"},
		{model->mla_q_rank && !model->mla_kv_rank, "mla_q_rank",
		 "needs mla_kv_rank"},
		{model->mla_rope && !model->mla_kv_rank, "mla_rope",
		 "needs mla_kv_rank"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].wrong)
			return weft_yaml_fail_key(
				doc, weft_yaml_find(doc->root, rules[i].key),
				err, "%s %s", rules[i].key, rules[i].text);
	}
	return 0;
}

static int model_read(const struct weft_yaml *doc, struct weft_model *model,
		      struct weft_error *err)
{
	const char *known[N_MEMBERS + 1] = {"name"};
	const struct weft_yaml_node *name = weft_yaml_find(doc->root, "name");
	const char *slash = strrchr(doc->source, '/');

	for (size_t i = 0; i < N_MEMBERS; i++)
		known[i + 1] = members[i].key;
	if (weft_yaml_expect(doc, doc->root, WEFT_YAML_MAP, "the model file",
			     err) ||
	    weft_yaml_known_keys(doc, doc->root, known, N_MEMBERS + 1,
				 "the model file", err))
		return -1;
	if (name && weft_yaml_expect(doc, name, WEFT_YAML_SCALAR, "name", err))
		return -1;
	snprintf(model->name, sizeof(model->name), "%.*s",
		 (int)sizeof(model->name) - 1,
		 name	 ? name->text
		 : slash ? slash + 1
			 : doc->source);
	for (size_t i = 0; i < N_MEMBERS; i++) {
		if (member_read(doc, &members[i], model, err))
			return -1;
	}
	if (!model->kv_heads)
		model->kv_heads = model->heads;
	return model_check(doc, model, err);
}

int weft_model_load(const char *path, struct weft_model *model,
		    struct weft_error *err)
{
	struct weft_yaml doc;
	int rc;

	memset(model, 0, sizeof(*model));
	if (weft_yaml_load(path, &doc, err))
		return -1;
	rc = model_read(&doc, model, err);
	weft_yaml_free(&doc);
	return rc;
}
