/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.h - shapes of neural networks: layers, widths, parameters */
#ifndef WEFT_COSTMODEL_MODEL_H
#define WEFT_COSTMODEL_MODEL_H

#include "topology/error.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_model {
	char name[32];
	uint32_t layers, hidden, ffn, heads, kv_heads, vocab, seq;
	bool gated_mlp;	     /* three matrices instead of two */
	bool tied_embedding; /* input and output embedding are one matrix */
	uint32_t experts, top_k, expert_ffn, shared_experts, dense_layers;
};

extern const struct weft_model weft_models[];
extern const uint32_t weft_n_models;

/* The model used when a spec names none. */
#define WEFT_MODEL_DEFAULT "llama3-70B"

/* Fills *model with the built-in of that name (case ignored).  -1 names the
 * nearest one. */
int weft_model_find(const char *name, struct weft_model *model,
		    struct weft_error *err);

/* Reads a shape from YAML whose keys are the members above. */
int weft_model_load(const char *path, struct weft_model *model,
		    struct weft_error *err);

/* Parameters of one transformer layer, of the embedding(s), and of the whole
 * model, in elements. */
double weft_model_layer_parameters(const struct weft_model *model);
double weft_model_embedding_parameters(const struct weft_model *model);
double weft_model_parameters(const struct weft_model *model);

#endif
