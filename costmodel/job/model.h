/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.h - shapes of neural networks: layers, widths, parameters */
#ifndef WEFT_COSTMODEL_JOB_MODEL_H
#define WEFT_COSTMODEL_JOB_MODEL_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 means "none"; head_width 0 is hidden / heads. */
struct weft_model {
	char name[32];
	uint32_t layers, hidden, ffn, heads, kv_heads, head_width, vocab, seq;
	bool gated_mlp;		/* three matrices instead of two */
	bool clamped_gate;	/* a gate with limits and biases, in fp32 */
	bool tied_embedding;	/* input and output embedding are one matrix */
	bool learned_positions; /* GPT: a row per position, and biases */
	uint32_t experts, top_k, expert_ffn, shared_experts;
	uint32_t shared_ffn;   /* width of the shared experts together; 0:
				* shared_experts * expert_ffn */
	uint32_t expert_width; /* of the tokens that experts take and give; 0:
				* hidden */
	uint32_t dense_layers; /* layers without experts, the first ones */
	uint32_t expert_every; /* of the others each n-th layer has experts;
				* 0: all */
	/* Experts lie in so many groups, and those of a token in so many of
	 * them; 0: in any. */
	uint32_t expert_groups, token_groups;
	/* Layers beyond the last one that predict tokens further on, each with
	 * a loss of its own. */
	uint32_t mtp_layers;
	/* Of the layers those with attention (0: all), and of these those that
	 * see `window` tokens only. */
	uint32_t attention_layers, window, window_layers;
	/* Layers with a state-space mixer, of this inner width, with a state
	 * per group and head (arXiv:2405.21060). */
	uint32_t ssm_layers, ssm_inner, ssm_state, ssm_groups, ssm_heads;
	/* Latent attention: widths that queries, and keys with values, are
	 * compressed to, and the rotary width added to each query and key. */
	uint32_t mla_q_rank, mla_kv_rank, mla_rope;
};

extern const struct weft_model weft_models[];
extern const uint32_t weft_n_models;

/* The model used when a spec names none. */
#define WEFT_MODEL_DEFAULT "llama3-70B"

/* Fills *model with the built-in of that name (case ignored).  -1 names the
 * nearest ones, and that a file may be given. */
int weft_model_find(const char *name, struct weft_model *model,
		    struct weft_error *err);

/* Reads a shape from YAML (a map) whose keys are the members above.  layers,
 * hidden, ffn, heads, vocab and seq are required; kv_heads defaults to heads,
 * name to the file's, the rest to 0 and false.  Or from the config.json of a
 * model on Hugging Face, which is known by its keys. */
int weft_model_load(const char *path, struct weft_model *model,
		    struct weft_error *err);

/* Member k of a model file that is a number, NULL: there are no more; and gives
 * that member a value. */
const char *weft_model_key(uint32_t k);
void weft_model_set(struct weft_model *model, uint32_t k, uint32_t value);

/* Whether layer `layer` (from 0) has experts; how many of n from `first` on do;
 * and how many layers there are of each kind in the whole model. */
bool weft_model_has_experts(const struct weft_model *model, uint32_t layer);
uint32_t weft_model_expert_layers(const struct weft_model *model,
				  uint32_t first, uint32_t n);
/* The first layer with experts, which the model must have. */
uint32_t weft_model_first_expert(const struct weft_model *model);

/* Mixers of tokens in a layer, in the mean over all layers: of attention and of
 * a state-space model. */
double weft_model_attention_share(const struct weft_model *model);
double weft_model_ssm_share(const struct weft_model *model);

/* Tokens whose keys a query meets in the mean of all attention layers, where a
 * layer without window meets all `seq`. */
double weft_model_span(const struct weft_model *model, double seq);

/* Widths: of what experts take, of all shared experts; what the input and the
 * output projection of a state-space mixer have per token. */
double weft_model_expert_width(const struct weft_model *model);
double weft_model_shared_ffn(const struct weft_model *model);
double weft_model_ssm_input(const struct weft_model *model);

/* Parameters of the routed experts of one layer, all of them. */
double weft_model_routed_parameters(const struct weft_model *model);

/* Parameters, in elements: of transformer layer `layer` (from 0), of n layers
 * from `first` on, of the embedding(s), of the layers that predict further on,
 * and of the whole model. */
double weft_model_layer_parameters(const struct weft_model *model,
				   uint32_t layer);
double weft_model_layers_parameters(const struct weft_model *model,
				    uint32_t first, uint32_t n);
double weft_model_embedding_parameters(const struct weft_model *model);
double weft_model_mtp_parameters(const struct weft_model *model);
double weft_model_parameters(const struct weft_model *model);

/* Elements of one token's keys (or values) on one of tp tensor ranks.  More
 * ranks than key-value heads: each holds a copy of one. */
double weft_model_kv_width(const struct weft_model *model, uint32_t tp);

#endif
