/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.c - built-in shapes by name, shapes from YAML, and what follows from
 * a shape: kinds of layers, widths, parameters
 */
#include "costmodel/job/model.h"

#include "base/suggest.h"
#include "costmodel/job/model_config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* More than are built in. */
#define MAX_MODELS 128

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

#define MORE ", ..."

/* "llama3-8B/70B/405B, deepseek-v3": the names, of each family once; those for
 * which there is room. */
static void names_list(char *text, size_t size)
{
	size_t used = 0, family = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < weft_n_models; i++) {
		const char *name = weft_models[i].name;
		const char *dash = strrchr(name, '-');
		bool same = i && family &&
			    strncmp(name, weft_models[i - 1].name, family) == 0;

		if (used + strlen(name) + 2 * sizeof(MORE) > size) {
			snprintf(text + used, size - used, MORE);
			return;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 same ? "/"
					 : i  ? ", "
					      : "",
					 same ? name + family : name);
		family = dash ? (size_t)(dash - name) + 1 : 0;
	}
}

/* "7b": the models of that size; NULL: name is no size alone, or none has it.
 */
static const char *names_of_size(const char *name, char *text, size_t size)
{
	size_t length = strlen(name), used = 0;

	if (length < 2 || strspn(name, "0123456789.") != length - 1 ||
	    !strchr("bBtT", name[length - 1]))
		return NULL;
	for (uint32_t i = 0; i < weft_n_models; i++) {
		const char *known = weft_models[i].name;
		const char *dash = strrchr(known, '-');

		if (!dash || strcasecmp(dash + 1, name) != 0 ||
		    used + strlen(known) + 3 > size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 used ? ", " : "", known);
	}
	return used ? text : NULL;
}

int weft_model_find(const char *name, struct weft_model *model,
		    struct weft_error *err)
{
	const struct weft_model *found = model_named(name);
	uint32_t n = weft_n_models < MAX_MODELS ? weft_n_models : MAX_MODELS;
	const char *known[MAX_MODELS], *near;
	char list[230]; /* the message has 400 bytes */

	if (found) {
		*model = *found;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		known[i] = weft_models[i].name;
	if (names_of_size(name, list, sizeof(list)))
		return weft_fail(err, WEFT_EINVAL,
				 "unknown model \"%.40s\", a size alone; of "
				 "that size are %s. Or give its shape: a file, "
				 "or layers=, hidden=, heads= in the spec",
				 name, list);
	near = weft_suggest_near(name, known, n);
	names_list(list, sizeof(list));
	if (near)
		return weft_fail(err, WEFT_EINVAL,
				 "unknown model \"%.60s\"; did you mean "
				 "\"%s\"? Or give its shape: a file, or "
				 "layers=, hidden=, heads= in the spec",
				 name, near);
	return weft_fail(err, WEFT_EINVAL,
			 "unknown model \"%.40s\": give a file, or layers=, "
			 "hidden=, heads= in the spec; known are %s (all: weft "
			 "model step --models)",
			 name, list);
}

/* ---- layers ---- */

/* Layers with experts among the first n, dense ones included in n. */
static uint32_t experts_before(const struct weft_model *model, uint32_t n)
{
	uint32_t every = model->expert_every ? model->expert_every : 1;

	if (!model->experts || n <= model->dense_layers)
		return 0;
	return (n - model->dense_layers) / every;
}

uint32_t weft_model_expert_layers(const struct weft_model *model,
				  uint32_t first, uint32_t n)
{
	return experts_before(model, first + n) - experts_before(model, first);
}

bool weft_model_has_experts(const struct weft_model *model, uint32_t layer)
{
	return weft_model_expert_layers(model, layer, 1) > 0;
}

uint32_t weft_model_first_expert(const struct weft_model *model)
{
	uint32_t every = model->expert_every ? model->expert_every : 1;

	return model->dense_layers + every - 1;
}

double weft_model_attention_share(const struct weft_model *model)
{
	return model->attention_layers
		       ? (double)model->attention_layers / model->layers
		       : 1;
}

double weft_model_ssm_share(const struct weft_model *model)
{
	return (double)model->ssm_layers / model->layers;
}

/* Of s tokens the first w of a window w meet those before them only: 2w - w^2/s
 * in the mean, where a causal mask of all leaves s. */
double weft_model_span(const struct weft_model *model, double seq)
{
	double all = model->attention_layers ? model->attention_layers
					     : model->layers;
	double share = model->window_layers / all;
	double w = model->window;

	if (!model->window_layers || w >= seq)
		return seq;
	return (1 - share) * seq + share * (2 * w - w * w / seq);
}

/* ---- widths ---- */

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

double weft_model_expert_width(const struct weft_model *model)
{
	return model->expert_width ? model->expert_width : model->hidden;
}

double weft_model_shared_ffn(const struct weft_model *model)
{
	return model->shared_ffn
		       ? model->shared_ffn
		       : (double)model->shared_experts * model->expert_ffn;
}

/* arXiv:2405.21060 figure 6: the gate, the input, the matrices B and C of each
 * group, and a step width per head. */
double weft_model_ssm_input(const struct weft_model *model)
{
	return 2.0 * model->ssm_inner +
	       2.0 * model->ssm_groups * model->ssm_state + model->ssm_heads;
}

/* ---- parameters ---- */

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

/* A layer's mixers, in the mean over all layers. */
static double mixer_parameters(const struct weft_model *model)
{
	double ssm = model->hidden *
		     (weft_model_ssm_input(model) + (double)model->ssm_inner);

	return weft_model_attention_share(model) * attention_parameters(model) +
	       weft_model_ssm_share(model) * ssm;
}

double weft_model_routed_parameters(const struct weft_model *model)
{
	return (model->gated_mlp ? 3.0 : 2.0) * weft_model_expert_width(model) *
	       model->expert_ffn * model->experts;
}

/* Into the narrower width of experts, and back. */
static double narrowing_parameters(const struct weft_model *model)
{
	return 2.0 * model->hidden * model->expert_width;
}

double weft_model_layer_parameters(const struct weft_model *model,
				   uint32_t layer)
{
	double h = model->hidden, matrices = model->gated_mlp ? 3 : 2;
	double mixer = mixer_parameters(model);
	double norms = 2 * h;

	/* The GPT family has layer norms with a shift, and a bias at each of
	 * its six matrices: 13h in arXiv:2104.04473 equation 2. */
	if (model->learned_positions)
		norms = 4 * h + 3 * h + h + model->ffn + h;
	if (!weft_model_has_experts(model, layer))
		return mixer + matrices * h * model->ffn + norms;
	return mixer + weft_model_routed_parameters(model) +
	       narrowing_parameters(model) +
	       matrices * h * weft_model_shared_ffn(model) +
	       h * model->experts + norms;
}

double weft_model_layers_parameters(const struct weft_model *model,
				    uint32_t first, uint32_t n)
{
	uint32_t experts = weft_model_expert_layers(model, first, n);
	double sum = 0;

	if (n > experts) {
		struct weft_model dense = *model;

		dense.experts = 0;
		sum += (n - experts) * weft_model_layer_parameters(&dense, 0);
	}
	if (experts)
		sum += experts * weft_model_layer_parameters(
					 model, weft_model_first_expert(model));
	return sum;
}

/* A module joins the layers' output with the next token's embedding: 2h to h
 * (arXiv:2412.19437 section 2.2); embedding and output layer are the model's.
 */
double weft_model_mtp_parameters(const struct weft_model *model)
{
	double h = model->hidden;

	return model->mtp_layers *
	       (weft_model_layers_parameters(model, model->layers - 1, 1) +
		2 * h * h);
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
	       weft_model_layers_parameters(model, 0, model->layers) +
	       weft_model_mtp_parameters(model);
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
	NUMBER(experts, 1u << 16, false),
	NUMBER(top_k, 1u << 16, false),
	NUMBER(expert_ffn, 1u << 26, false),
	NUMBER(shared_experts, 1u << 16, false),
	NUMBER(shared_ffn, 1u << 26, false),
	NUMBER(expert_width, 1u << 24, false),
	NUMBER(expert_every, 1u << 16, false),
	NUMBER(expert_groups, 1u << 16, false),
	NUMBER(token_groups, 1u << 16, false),
	NUMBER(dense_layers, 1u << 16, false),
	NUMBER(mla_q_rank, 1u << 20, false),
	NUMBER(mla_kv_rank, 1u << 20, false),
	NUMBER(mla_rope, 1u << 20, false),
	NUMBER(mtp_layers, 64, false),
	NUMBER(attention_layers, 1u << 16, false),
	NUMBER(window, 1u << 27, false),
	NUMBER(window_layers, 1u << 16, false),
	NUMBER(ssm_layers, 1u << 16, false),
	NUMBER(ssm_inner, 1u << 24, false),
	NUMBER(ssm_state, 1u << 16, false),
	NUMBER(ssm_groups, 1u << 16, false),
	NUMBER(ssm_heads, 1u << 16, false),
	FLAG(gated_mlp),
	FLAG(clamped_gate),
	FLAG(tied_embedding),
	FLAG(learned_positions),
};
#define N_MEMBERS (sizeof(members) / sizeof(members[0]))

/* Numbers come first. */
const char *weft_model_key(uint32_t k)
{
	return k < N_MEMBERS && !members[k].is_bool ? members[k].key : NULL;
}

void weft_model_set(struct weft_model *model, uint32_t k, uint32_t value)
{
	memcpy((char *)model + members[k].offset, &value, sizeof(value));
}

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

int weft_model_check(const struct weft_yaml *doc,
		     const struct weft_yaml_node *map,
		     const struct weft_model *model, struct weft_error *err)
{
	uint32_t attention = model->attention_layers ? model->attention_layers
						     : model->layers;
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
		{model->expert_every > model->layers - model->dense_layers,
		 "expert_every", "must leave a layer with experts"},
		{model->token_groups > model->expert_groups, "token_groups",
		 "must be at most expert_groups"},
		{model->window_layers && !model->window, "window_layers",
		 "needs window, the tokens that they see"},
		{model->window_layers > attention, "window_layers",
		 "must be at most the layers with attention"},
		{model->ssm_layers && (!model->ssm_inner || !model->ssm_state),
		 "ssm_layers", "needs ssm_inner and ssm_state, its widths"},
		{model->mla_q_rank && !model->mla_kv_rank, "mla_q_rank",
		 "needs mla_kv_rank"},
		{model->mla_rope && !model->mla_kv_rank, "mla_rope",
		 "needs mla_kv_rank"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct weft_yaml_node *node =
			weft_yaml_find(map, rules[i].key);

		if (!rules[i].wrong)
			continue;
		/* A config.json has other keys for it. */
		return node ? weft_yaml_fail_key(doc, node, err, "%s %s",
						 rules[i].key, rules[i].text)
			    : weft_yaml_fail(doc, map, err, "%s %s",
					     rules[i].key, rules[i].text);
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
	return weft_model_check(doc, doc->root, model, err);
}

int weft_model_load(const char *path, struct weft_model *model,
		    struct weft_error *err)
{
	struct weft_yaml doc;
	int rc;

	memset(model, 0, sizeof(*model));
	if (weft_yaml_load(path, &doc, err))
		return -1;
	rc = weft_model_is_config(&doc) ? weft_model_config(&doc, model, err)
					: model_read(&doc, model, err);
	weft_yaml_free(&doc);
	return rc;
}
