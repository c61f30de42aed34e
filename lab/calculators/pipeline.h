/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.h - what splitting layers into pipeline stages costs: bubble,
 * activations in flight, bytes between stages
 */
#ifndef WEFT_LAB_CALCULATORS_PIPELINE_H
#define WEFT_LAB_CALCULATORS_PIPELINE_H

#include "base/error.h"
#include "lab/calculators/convention.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 means the default that is named. */
struct weft_pipeline_job {
	uint32_t stages, micro_batches; /* required */
	uint32_t interleave;		/* chunks of layers per stage (1) */
	uint32_t layers_per_stage;	/* WEFT_PIPELINE_LAYERS */
	double sequences;		/* per micro-batch (1) */
	double tokens;			/* per sequence (4096) */
	double hidden;			/* width (8192) */
	double element_bytes;		/* of an activation (2) */
	uint32_t tensor;		/* ways that split the boundary (1) */
	/* Of one stage for one micro-batch, forward and backward; both or
	 * neither.  0: one third and two thirds of compute_s / micro_batches.
	 */
	double forward_s, backward_s;
	double compute_s;    /* of one stage for the step; 0: as the seeds,
			      * layers * tokens * WEFT_PIPELINE_LAYER_TOKEN_S */
	double sync_s;	     /* after the pipeline: gradients (0) */
	double layer_bytes;  /* that one layer keeps of a micro-batch for its
			      * backward pass (0: not known; memory.h) */
	double memory_bytes; /* of a GPU (WEFT_PIPELINE_MEMORY) */
	double threshold; /* efficiency asked for (WEFT_PIPELINE_EFFICIENCY) */
};

#define WEFT_PIPELINE_LAYERS 20
/* The seeds' hidden constant, inferred from their one example: a microsecond
 * per layer and token. */
#define WEFT_PIPELINE_LAYER_TOKEN_S 1e-6
#define WEFT_PIPELINE_EFFICIENCY    0.8
#define WEFT_PIPELINE_MEMORY	    80e9 /* A100 and H100 */

struct weft_pipeline {
	double operations; /* stages times micro-batches */
	double layers;
	/* (P-1)/(V M), of the time without bubble (arXiv:2104.04473 2.2.1), and
	 * the same of the time with it: (P-1)/(V M + P-1) (GPipe,
	 * arXiv:1811.06965). */
	double bubble_of_ideal, bubble_of_total;
	double efficiency;	 /* 1 - bubble_of_total */
	double activation_bytes; /* crossing a boundary, one micro-batch and
				  * direction */
	double in_flight;	 /* of them that stage 0 holds at most */
	double peak_activation_bytes;
	/* What all layers of stage 0 keep for their backward passes, and its
	 * share of a GPU's memory; NAN without layer_bytes. */
	double kept_bytes, kept_share;
	double boundary_bytes; /* over one boundary per step, both directions */
	double transfer_bytes; /* over all boundaries */
	double compute_s;
	double step_s;
	double min_link_bytes_per_s; /* boundary_bytes in compute_s */
	bool inefficient;	     /* below the threshold */
	/* Enough for the threshold when the other stays; 0: cannot be. */
	double advised_micro_batches, advised_stages;
};

/* -1 names the member of job that is impossible. */
int weft_pipeline(const struct weft_pipeline_job *job,
		  enum weft_convention convention,
		  struct weft_pipeline *pipeline, struct weft_error *err);

#endif
