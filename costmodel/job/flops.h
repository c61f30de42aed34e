/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.h - floating point operations of a model's training step
 *
 * A product of m*k by k*n is 2mnk operations.  The backward pass does two
 * products for each of the forward pass.  Model FLOPs are those of forward and
 * backward, whatever is repeated; hardware FLOPs count what is recomputed, too.
 */
#ifndef WEFT_COSTMODEL_JOB_FLOPS_H
#define WEFT_COSTMODEL_JOB_FLOPS_H

#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a token and state in a state-space mixer's recurrence: update, decay and
 * read-out, as Megatron-LM counts them (training.py, mamba_layer_flops). */
#define WEFT_SSM_FLOPS 7.0

/* Forward pass of one sequence through the whole model. */
struct weft_flops {
	double products;  /* of the layers' weights; of experts those used */
	double attention; /* scores and values, every pair of tokens */
	double logits;	  /* output layer */
};

/* One layer's, per token and without attention: layer counts from 0. */
double weft_flops_layer(const struct weft_model *model, uint32_t layer);

/* One layer's attention per token, against `seq` others. */
double weft_flops_attention(const struct weft_model *model, double seq);

struct weft_flops weft_flops(const struct weft_model *model, uint32_t seq);

/* Of one step with gbs sequences, forward and backward.  causal: attention
 * counts the pairs that a causal mask leaves, half of them. */
double weft_flops_model(const struct weft_flops *flops, uint32_t gbs,
			bool causal);

/* The same with what is recomputed. */
double weft_flops_hardware(const struct weft_flops *flops, uint32_t gbs,
			   enum weft_recompute recompute);

#endif
