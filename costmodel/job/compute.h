/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compute.h - how long one GPU computes: layers, logits, optimizer */
#ifndef WEFT_COSTMODEL_JOB_COMPUTE_H
#define WEFT_COSTMODEL_JOB_COMPUTE_H

#include "costmodel/job/gpu.h"
#include "costmodel/job/model.h"
#include "costmodel/job/software.h"
#include "costmodel/job/spec.h"

/* What is computed on what.  The spec is resolved. */
struct weft_compute {
	const struct weft_gpu *gpu;
	const struct weft_model *model;
	const struct weft_spec *spec;
	enum weft_precision precision; /* of the layers' products */
	struct weft_software software;
	double clock; /* of the usual one, under a power cap */
};

/* One micro-batch through one layer, on one GPU.  products_s: of weights,
 * attention_s: scores, softmax and values, memory_s: what streams through
 * memory: norms, residuals, activation functions, conversions to 8 bits. */
struct weft_pass {
	double products_s, attention_s, memory_s;
};
struct weft_layer_time {
	struct weft_pass forward, backward;
};

/* `gpu` computes in its best way at the spec's dtype.  -1 when it has no unit
 * for it. */
int weft_compute_start(const struct weft_gpu *gpu,
		       const struct weft_model *model,
		       const struct weft_spec *spec,
		       struct weft_compute *compute, struct weft_error *err);

/* Of the products of layers that train in that type. */
enum weft_precision weft_compute_precision(enum weft_dtype dtype);

/* Precision other than the dtype's, e.g. 8-bit products in a job whose
 * activations are bf16.  -1 when the GPU has no unit for it. */
int weft_compute_set_precision(struct weft_compute *compute,
			       enum weft_precision precision,
			       struct weft_error *err);

/* Layer `layer` (from 0) of the model. */
void weft_compute_layer(const struct weft_compute *compute, uint32_t layer,
			struct weft_layer_time *time);

/* Output layer and loss of one micro-batch: forward and backward. */
double weft_compute_logits_forward_s(const struct weft_compute *compute);
double weft_compute_logits_backward_s(const struct weft_compute *compute);

/* One step of Adam over the parameters whose states this GPU holds. */
double weft_compute_optimizer_s(const struct weft_compute *compute,
				double parameters);

/* Bytes that one layer keeps from the forward pass of a micro-batch to its
 * backward pass, when nothing is recomputed but what costs no product; and when
 * the whole layer is: its input. */
double weft_compute_kept_bytes(const struct weft_compute *compute,
			       uint32_t layer);
double weft_compute_checkpoint_bytes(const struct weft_compute *compute);

static inline double weft_pass_s(const struct weft_pass *pass)
{
	return pass->products_s + pass->attention_s + pass->memory_s;
}

#endif
