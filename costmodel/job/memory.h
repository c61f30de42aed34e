/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h - what a training job keeps in the memory of one GPU
 *
 * Sums of what has to be there at the worst moment of a step, with what the
 * framework, NCCL and an allocator that leaves gaps need beside it.
 */
#ifndef WEFT_COSTMODEL_JOB_MEMORY_H
#define WEFT_COSTMODEL_JOB_MEMORY_H

#include "base/error.h"
#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"

#include <stdbool.h>
#include <stdint.h>

enum weft_memory_part {
	WEFT_MEMORY_WEIGHTS,
	WEFT_MEMORY_GRADIENTS,
	WEFT_MEMORY_OPTIMIZER,	 /* Adam's moments and fp32 weights */
	WEFT_MEMORY_ACTIVATIONS, /* kept for the backward passes in flight */
	WEFT_MEMORY_LOGITS,	 /* of the last stage, with their inputs */
	WEFT_MEMORY_CONTEXT,	 /* keys and values of other ranks */
	WEFT_MEMORY_GATHERED,	 /* parts of sharded layers while in use */
	WEFT_MEMORY_FRAMEWORK,	 /* contexts, NCCL's buffers, gaps */
	WEFT_N_MEMORY_PARTS
};
extern const char *const weft_memory_part_names[WEFT_N_MEMORY_PARTS];

struct weft_memory_options {
	/* Attention keeps its matrix of tokens by tokens, as it did before
	 * fused kernels; recompute=selective computes it anew. */
	bool stored_attention;
	/* Norms, or all else between products and the loss, run operation by
	 * operation and keep what each of them takes. */
	bool eager_norms, eager;
	/* Optimizer's bytes per parameter; 0: Adam's 8, and 4 for fp32 weights
	 * where the parameters are narrower. */
	double optimizer_bytes;
};

struct weft_memory {
	double total_bytes;
	double part_bytes[WEFT_N_MEMORY_PARTS];
	uint32_t stage;	      /* pipeline stage it is for */
	uint32_t layers;      /* of the stage */
	double parameters;    /* of one rank of the stage, before sharding */
	double in_flight;     /* micro-batches whose activations are kept, in
			       * units of the whole stage */
	double layer_bytes;   /* kept per micro-batch by the stage's largest
			       * layer */
	double working_bytes; /* of that layer while it is recomputed; part of
			       * the activations */
};

/* Memory of a GPU of pipeline stage `stage` of a resolved spec.
 * options may be NULL for all defaults.  -1 when the model has fewer layers
 * than the pipeline has parts. */
int weft_memory_stage(const struct weft_spec *spec,
		      const struct weft_model *model,
		      const struct weft_memory_options *options, uint32_t stage,
		      struct weft_memory *memory, struct weft_error *err);

/* The same for the stage that needs most, the first of equal ones. */
int weft_memory_worst(const struct weft_spec *spec,
		      const struct weft_model *model,
		      const struct weft_memory_options *options,
		      struct weft_memory *memory, struct weft_error *err);

/* Bytes that a layer keeps of one micro-batch under the spec's recomputation
 * (arXiv:2205.05198 equations 1 to 6, for any shape). */
double weft_memory_layer(const struct weft_spec *spec,
			 const struct weft_model *model,
			 const struct weft_memory_options *options,
			 uint32_t layer);

/* Whether it fits in a GPU of gpu_bytes. */
bool weft_memory_fits(const struct weft_memory *memory, double gpu_bytes);

/* A sentence for people when `memory` is more than a GPU has; false, and text
 * is "", when it fits or gpu_bytes is 0 (not known).  gpu: "an H100" or "". */
bool weft_memory_warning(const struct weft_memory *memory, double gpu_bytes,
			 const char *gpu, char *text, size_t size);

#endif
