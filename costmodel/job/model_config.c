/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_config.c - the shape in a config.json of Hugging Face
 *
 * JSON is YAML, so one reader does for both.  Families name the same width in
 * different ways, and leave out what is their default; what the keys below do
 * not say follows from the model_type.
 */
#include "costmodel/job/model_config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A config says how many positions a model may have, not how many it is trained
 * with: most is trained with at most this many. */
#define TRAINED_TOKENS 8192
#define MAX_LAYERS     65536
/* Where a recurrent block is given by its expansion of the hidden width. */
#define SSM_EXPAND 2

/* The map that has the language model's keys. */
struct config {
	const struct weft_yaml *doc;
	const struct weft_yaml_node *map;
	const char *type;
	struct weft_error *err;
};

struct field {
	size_t offset;
	uint32_t max;
	const char *names[9]; /* up to NULL, the first one found wins */
};
#define FIELD(MEMBER, MAX, ...)                                                \
	{                                                                      \
		.offset = offsetof(struct weft_model, MEMBER), .max = MAX,     \
		.names = {                                                     \
			__VA_ARGS__                                            \
		}                                                              \
	}

static const struct field required[] = {
	FIELD(layers, MAX_LAYERS, "num_hidden_layers", "n_layer", "n_layers",
	      "num_layers"),
	FIELD(hidden, 1u << 24, "hidden_size", "n_embd", "d_model"),
	FIELD(heads, 1u << 16, "num_attention_heads", "n_head", "n_heads"),
	FIELD(vocab, 1u << 28, "vocab_size"),
};
static const struct field optional[] = {
	FIELD(ffn, 1u << 26, "intermediate_size_mlp", "intermediate_size",
	      "ffn_hidden_size", "n_inner", "ffn_dim"),
	FIELD(kv_heads, 1u << 16, "num_key_value_heads", "num_kv_heads",
	      "n_head_kv"),
	FIELD(head_width, 1u << 20, "qk_nope_head_dim", "head_dim",
	      "attention_head_dim"),
	FIELD(seq, 1u << 27, "max_position_embeddings", "n_positions",
	      "max_seq_len", "seq_length"),
	FIELD(experts, 1u << 16, "n_routed_experts", "num_local_experts",
	      "num_experts", "moe_num_experts"),
	FIELD(top_k, 1u << 16, "num_experts_per_tok", "num_experts_per_token",
	      "experts_per_token", "moe_topk", "moe_k"),
	FIELD(expert_ffn, 1u << 26, "moe_intermediate_size"),
	FIELD(shared_experts, 1u << 16, "n_shared_experts",
	      "num_shared_experts"),
	FIELD(shared_ffn, 1u << 26, "moe_shared_expert_intermediate_size",
	      "shared_expert_intermediate_size", "shared_intermediate_size"),
	FIELD(expert_width, 1u << 24, "moe_latent_size"),
	FIELD(dense_layers, MAX_LAYERS, "first_k_dense_replace"),
	FIELD(expert_every, MAX_LAYERS, "interleave_moe_layer_step",
	      "decoder_sparse_step", "expert_layer_period"),
	FIELD(expert_groups, 1u << 16, "n_group"),
	FIELD(token_groups, 1u << 16, "topk_group"),
	FIELD(mla_q_rank, 1u << 20, "q_lora_rank"),
	FIELD(mla_kv_rank, 1u << 20, "kv_lora_rank"),
	FIELD(mla_rope, 1u << 20, "qk_rope_head_dim"),
	FIELD(mtp_layers, 64, "num_nextn_predict_layers", "mtp_num_layers"),
	FIELD(window, 1u << 27, "sliding_window", "attention_chunk_size"),
	FIELD(ssm_state, 1u << 16, "ssm_state_size", "mamba_d_state",
	      "state_size", "linear_key_head_dim"),
	FIELD(ssm_groups, 1u << 16, "n_groups", "mamba_n_groups",
	      "linear_num_key_heads"),
	FIELD(ssm_heads, 1u << 16, "mamba_num_heads", "mamba_n_heads",
	      "linear_num_value_heads"),
};

/* The value of the first of several keys that is there and not null. */
static const struct weft_yaml_node *find(const struct config *c,
					 const char *const *names)
{
	for (; *names; names++) {
		const struct weft_yaml_node *node =
			weft_yaml_find(c->map, *names);

		if (node && node->kind == WEFT_YAML_SCALAR &&
		    strcmp(node->text, "null") != 0)
			return node;
	}
	return NULL;
}

static const struct weft_yaml_node *list(const struct config *c,
					 const char *name)
{
	const struct weft_yaml_node *node = weft_yaml_find(c->map, name);

	return node && node->kind == WEFT_YAML_LIST ? node : NULL;
}

/* 0 where it is not there; `rc` turns -1 where it is no such number. */
static uint32_t number(const struct config *c, const char *name, uint32_t max,
		       int *rc)
{
	const char *const names[] = {name, NULL};
	const struct weft_yaml_node *node = find(c, names);
	uint64_t value = 0;

	if (node && weft_yaml_uint(c->doc, node, 0, max, &value, c->err))
		*rc = -1;
	return (uint32_t)value;
}

static bool is(const struct config *c, const char *name, const char *text)
{
	const char *const names[] = {name, NULL};
	const struct weft_yaml_node *node = find(c, names);

	return node && strcmp(node->text, text) == 0;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static int field_read(const struct config *c, const struct field *field,
		      bool must, struct weft_model *model)
{
	const struct weft_yaml_node *node = find(c, field->names);
	uint64_t value;
	uint32_t narrow;

	if (!node && must)
		return weft_yaml_fail(c->doc, c->map, c->err,
				      "the config has no \"%s\"",
				      field->names[0]);
	if (!node)
		return 0;
	if (weft_yaml_uint(c->doc, node, must, field->max, &value, c->err))
		return -1;
	narrow = (uint32_t)value;
	memcpy((char *)model + field->offset, &narrow, sizeof(narrow));
	return 0;
}

static int fields_read(const struct config *c, struct weft_model *model)
{
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		if (field_read(c, &required[i], true, model))
			return -1;
	}
	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
		if (field_read(c, &optional[i], false, model))
			return -1;
	}
	return 0;
}

/* ---- what the keys leave to the family ---- */

/* Activations without a gate; Gemma's GELU has one. */
static bool has_gate(const struct config *c)
{
	static const char *const keys[] = {"mlp_hidden_act", "hidden_act",
					   "hidden_activation",
					   "activation_function", NULL};
	static const char *const plain[] = {"relu", "relu2", "gelu", "gelu_new",
					    "gelu_fast"};
	const struct weft_yaml_node *node = find(c, keys);

	if (begins(c->type, "gemma"))
		return true;
	if (begins(c->type, "gpt2") || begins(c->type, "gpt_neo") ||
	    begins(c->type, "opt") || begins(c->type, "mpt"))
		return false;
	for (size_t i = 0; node && i < sizeof(plain) / sizeof(*plain); i++) {
		if (strcmp(node->text, plain[i]) == 0)
			return false;
	}
	return true;
}

static void family_apply(const struct config *c, struct weft_model *model)
{
	bool gpt = begins(c->type, "gpt2") || begins(c->type, "opt");
	bool tied = gpt || begins(c->type, "gemma") || begins(c->type, "mpt");

	model->gated_mlp = has_gate(c);
	model->clamped_gate = begins(c->type, "gpt_oss") ||
			      weft_yaml_find(c->map, "swiglu_limit");
	model->learned_positions = gpt;
	model->tied_embedding =
		is(c, "tie_word_embeddings", "true") ||
		(tied && !is(c, "tie_word_embeddings", "false"));
	if (!model->ffn)
		model->ffn = model->expert_ffn ? model->expert_ffn
					       : 4 * model->hidden;
	if (!model->kv_heads)
		model->kv_heads =
			is(c, "multi_query", "true") ? 1 : model->heads;
	if (model->kv_heads > model->heads)
		model->kv_heads = model->heads;
	if (!model->seq || model->seq > TRAINED_TOKENS)
		model->seq = TRAINED_TOKENS;
}

static void experts_apply(const struct config *c, struct weft_model *model)
{
	const char *const width[] = {"intermediate_size", NULL};
	const struct weft_yaml_node *node = find(c, width);
	uint64_t value = 0;

	if (model->experts < 2 || !model->top_k) {
		model->experts = model->top_k = model->expert_ffn = 0;
		model->shared_experts = model->shared_ffn = 0;
		model->dense_layers = model->expert_every = 0;
		model->expert_width = 0;
		model->expert_groups = model->token_groups = 0;
		return;
	}
	/* Mixtral's, Llama 4's and GPT-OSS's key of experts. */
	if (!model->expert_ffn && node &&
	    weft_yaml_uint(c->doc, node, 1, 1u << 26, &value, NULL) == 0)
		model->expert_ffn = (uint32_t)value;
	if (begins(c->type, "llama4"))
		model->shared_experts = 1;
	if (model->shared_ffn && !model->shared_experts)
		model->shared_experts = 1;
	if (model->expert_every == 1)
		model->expert_every = 0;
	if (model->expert_groups < 2)
		model->expert_groups = model->token_groups = 0;
}

/* ---- kinds of layers ---- */

struct kinds {
	uint32_t n, window, ssm, attention, dense, expert;
};

static void kind_add(struct kinds *kinds, const char *word)
{
	kinds->n++;
	if (strstr(word, "mamba") || strstr(word, "linear") ||
	    strstr(word, "recurrent"))
		kinds->ssm++;
	else if (strstr(word, "sliding") || strstr(word, "chunked"))
		kinds->window++;
}

/* "MEM*-": Mamba, experts, attention, MLP. */
static void pattern_read(const char *text, struct kinds *kinds)
{
	for (; *text; text++) {
		kinds->ssm += *text == 'M';
		kinds->expert += *text == 'E';
		kinds->dense += *text == '-';
		kinds->attention += *text == '*';
	}
}

/* Blocks that are a mixer or an MLP each: those of the latter kind count as
 * layers. */
static int blocks_apply(const struct config *c, const struct kinds *kinds,
			struct weft_model *model)
{
	const struct weft_yaml_node *node =
		weft_yaml_find(c->map, "hybrid_override_pattern");

	if (!(kinds->dense + kinds->expert) ||
	    (kinds->dense && kinds->expert &&
	     kinds->dense + kinds->expert > MAX_LAYERS))
		return weft_yaml_fail(
			c->doc, node, c->err,
			"hybrid_override_pattern: expected blocks "
			"of experts (E) or MLPs (-) among M and "
			"*");
	model->layers = kinds->dense + kinds->expert;
	model->dense_layers = kinds->expert ? kinds->dense : 0;
	model->ssm_layers = kinds->ssm;
	model->attention_layers = kinds->attention;
	return 0;
}

/* Every n-th layer has full attention, the others a window or a state. */
static uint32_t others_of(uint32_t layers, uint32_t period)
{
	return period > 1 ? layers - layers / period : 0;
}

static int kinds_count(const struct config *c, const struct weft_model *model,
		       struct kinds *kinds)
{
	const struct weft_yaml_node *types = list(c, "layer_types");
	uint32_t period;
	int rc = 0;

	if (!types)
		types = list(c, "layers_block_type");
	for (const struct weft_yaml_node *t = types ? types->child : NULL; t;
	     t = t->next) {
		if (weft_yaml_expect(c->doc, t, WEFT_YAML_SCALAR,
				     "a type of layer", c->err))
			return -1;
		kind_add(kinds, t->text);
	}
	if (types)
		return 0;
	period = number(c, "attn_layer_period", MAX_LAYERS, &rc);
	kinds->ssm = others_of(model->layers, period);
	period = number(c, "full_attention_interval", MAX_LAYERS, &rc);
	if (period)
		kinds->ssm = others_of(model->layers, period);
	if (!model->window || is(c, "use_sliding_window", "false"))
		return rc;
	period = number(c, "sliding_window_pattern", MAX_LAYERS, &rc);
	if (begins(c->type, "llama4"))
		period = 4; /* its default no_rope_layer_interval */
	else if (begins(c->type, "gpt_oss") || begins(c->type, "gemma2"))
		period = 2;
	kinds->window =
		period ? others_of(model->layers, period) : model->layers;
	return rc;
}

static void ssm_apply(const struct config *c, struct weft_model *model, int *rc)
{
	static const char *const widths[] = {"mamba_head_dim", "mamba_d_head",
					     "linear_value_head_dim"};
	uint32_t width = 0, expand;

	for (size_t i = 0; !width && i < sizeof(widths) / sizeof(*widths); i++)
		width = number(c, widths[i], 1u << 16, rc);
	expand = number(c, "mamba_expand", 64, rc);
	model->ssm_inner =
		model->ssm_heads && width
			? model->ssm_heads * width
			: (expand ? expand : SSM_EXPAND) * model->hidden;
	if (!model->ssm_state)
		model->ssm_state = 16; /* Mamba's of the first kind */
	if (!model->ssm_groups)
		model->ssm_groups = 1;
}

static int layers_apply(const struct config *c, struct weft_model *model)
{
	const char *const pattern[] = {"hybrid_override_pattern", NULL};
	const struct weft_yaml_node *blocks = find(c, pattern);
	struct kinds kinds = {0};
	int rc = 0;

	if (blocks) {
		pattern_read(blocks->text, &kinds);
		rc = blocks_apply(c, &kinds, model);
	} else {
		rc = kinds_count(c, model, &kinds);
		if (kinds.n && kinds.n != model->layers)
			return weft_yaml_fail(c->doc, c->map, c->err,
					      "%u types of layers, but %u "
					      "layers",
					      kinds.n, model->layers);
		model->ssm_layers = kinds.ssm;
		if (kinds.ssm)
			model->attention_layers = model->layers - kinds.ssm;
		model->window_layers = kinds.window;
	}
	/* A chunk is seen from its start: half of it in the mean. */
	if (begins(c->type, "llama4"))
		model->window = (model->window + 1) / 2;
	if (!model->window_layers)
		model->window = 0;
	if (model->ssm_layers)
		ssm_apply(c, model, &rc);
	else
		model->ssm_state = model->ssm_groups = model->ssm_heads = 0;
	return rc;
}

/* ---- the document ---- */

/* What no layer of this model is like. */
static int refuse(const struct config *c)
{
	static const struct {
		const char *key, *text;
	} keys[] = {
		{"peft_type", "an adapter (LoRA or alike) beside a frozen "
			      "model: weft predicts training of all weights"},
		{"lora_alpha", "an adapter (LoRA or alike) beside a frozen "
			       "model: weft predicts training of all weights"},
		{"block_configs", "layers that all differ: give their mean as "
				  "a model file, weft-spec(7)"},
		{"vision_layers", "an encoder of images alone"},
	};

	if (is(c, "is_encoder_decoder", "true"))
		return weft_yaml_fail(
			c->doc, c->map, c->err,
			"the config is of an encoder with a "
			"decoder, which weft has no schedule for");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct weft_yaml_node *node =
			weft_yaml_find(c->map, keys[i].key);

		if (node)
			return weft_yaml_fail_key(c->doc, node, c->err,
						  "the config is of %s",
						  keys[i].text);
	}
	return 0;
}

/* The language model of one that sees and hears, too. */
static const struct weft_yaml_node *
language_map(const struct weft_yaml_node *root)
{
	static const char *const names[] = {"text_config", "llm_config",
					    "language_config"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct weft_yaml_node *node =
			weft_yaml_find(root, names[i]);

		if (node && node->kind == WEFT_YAML_MAP)
			return node;
	}
	return root;
}

bool weft_model_is_config(const struct weft_yaml *doc)
{
	static const char *const keys[] = {"model_type", "architectures",
					   "hidden_size", "peft_type"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (doc->root->kind == WEFT_YAML_MAP &&
		    weft_yaml_find(doc->root, keys[i]))
			return true;
	}
	return false;
}

/* The folder of a config.json names the model better than the file does. */
static void name_fill(const struct config *c, struct weft_model *model)
{
	const char *end = strrchr(c->doc->source, '/'), *start = end;

	while (start && start > c->doc->source && start[-1] != '/')
		start--;
	if (!start || start == end || *start == '.')
		start = c->type, end = c->type + strlen(c->type);
	snprintf(model->name, sizeof(model->name), "%.*s", (int)(end - start),
		 start);
}

int weft_model_config(const struct weft_yaml *doc, struct weft_model *model,
		      struct weft_error *err)
{
	const struct weft_yaml_node *type;
	struct config c = {doc, language_map(doc->root), "", err};

	type = weft_yaml_find(c.map, "model_type");
	if (!type)
		type = weft_yaml_find(doc->root, "model_type");
	if (type && type->kind == WEFT_YAML_SCALAR)
		c.type = type->text;
	if (refuse(&c) || fields_read(&c, model))
		return -1;
	family_apply(&c, model);
	experts_apply(&c, model);
	if (layers_apply(&c, model))
		return -1;
	name_fill(&c, model);
	return weft_model_check(doc, c.map, model, err);
}
