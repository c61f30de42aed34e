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
	bool tied_embedding;	/* input and output embedding are one matrix */
	bool learned_positions; /* GPT: a row per position, and biases */
	uint32_t experts, top_k, expert_ffn, shared_experts;
	uint32_t dense_layers; /* layers without experts, the first ones */
	/* Latent attention: widths that queries, and keys with values, are
	 * compressed to, and the rotary width added to each query and key. */
	uint32_t mla_q_rank, mla_kv_rank, mla_rope;
};

extern const struct weft_model weft_models[];
extern const uint32_t weft_n_models;

/* The model used when a spec names none. */
#define WEFT_MODEL_DEFAULT "llama3-70B"

/* Fills *model with the built-in of that name (case ignored).  -1 names the
 * nearest one. */
int weft_model_find(const char *name, struct weft_model *model,
		    struct weft_error *err);

/* Reads a shape from YAML (a map) whose keys are the members above.  layers,
 * hidden, ffn, heads, vocab and seq are required; kv_heads defaults to heads,
 * name to the file's, the rest to 0 and false. */
int weft_model_load(const char *path, struct weft_model *model,
		    struct weft_error *err);

/* Parameters, in elements: of transformer layer `layer` (from 0), of n layers
 * from `first` on, of the embedding(s), and of the whole model. */
double weft_model_layer_parameters(const struct weft_model *model,
				   uint32_t layer);
double weft_model_layers_parameters(const struct weft_model *model,
				    uint32_t first, uint32_t n);
double weft_model_embedding_parameters(const struct weft_model *model);
double weft_model_parameters(const struct weft_model *model);

/* Elements of one token's keys (or values) on one of tp tensor ranks.  More
 * ranks than key-value heads: each holds a copy of one. */
double weft_model_kv_width(const struct weft_model *model, uint32_t tp);

#endif
