/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tensor.h - what splitting every layer over GPUs costs */
#ifndef WEFT_LAB_CALCULATORS_TENSOR_H
#define WEFT_LAB_CALCULATORS_TENSOR_H

#include "base/error.h"
#include "lab/calculators/convention.h"

#include <stdbool.h>
#include <stdint.h>

/* The first four are required; 0 elsewhere means the default that is named. */
struct weft_tensor_job {
	uint32_t ways;
	double tokens; /* of a micro-batch's sequences together: b s */
	double hidden;
	double link_bytes_per_s; /* of each GPU, one direction */
	double sequence;	 /* tokens of one sequence, for attention
				  * (tokens) */
	double element_bytes;	 /* (2) */
	double latency_s;	 /* of one message (0) */
	double flops;		 /* that a GPU sustains (0: not known) */
	uint32_t layers;	 /* (1) */
	uint32_t micro_batches;	 /* (1) */
	bool full_recompute;
};

struct weft_tensor {
	double all_reduces;	 /* per layer and micro-batch */
	double all_reduce_bytes; /* the activation: b s h e */
	double all_reduce_s;	 /* of one, as a ring */
	double layer_bytes; /* that a GPU sends per layer and micro-batch */
	double step_s;	    /* all of a step */
	double forward_comm_s, forward_compute_s; /* of one layer */
	double ratio; /* of the two; NAN without flops */
};

/* -1 names the member of job that is missing. */
int weft_tensor(const struct weft_tensor_job *job,
		enum weft_convention convention, struct weft_tensor *tensor,
		struct weft_error *err);

#endif
