/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_parts.h - the stages of a step while it is timed
 *
 * Private to costmodel/time/.
 */
#ifndef WEFT_COSTMODEL_TIME_STEP_PARTS_H
#define WEFT_COSTMODEL_TIME_STEP_PARTS_H

#include "costmodel/time/step.h"

/* What one micro-batch costs a stage, seconds. */
struct step_stage {
	uint32_t layers, expert_layers;
	struct weft_pass forward, backward;
	double recompute, logits_forward, logits_backward;
	double exposed[WEFT_N_AXES];
	double host; /* that kernels wait for */
	/* once a step */
	double end[WEFT_N_AXES], optimizer;
	double parameters; /* of one rank */
};

struct step_build {
	const struct weft_spec *spec;
	const struct weft_model *model;
	const struct weft_schedule *schedule;
	const struct weft_step_options *options;
	struct weft_compute compute;
	struct weft_spans spans;
	bool is_bound;		   /* spans are weft_spans_bound's */
	struct step_stage *stages; /* [pp] */
	struct weft_layer_time dense, expert;
	double micro_batches, recomputed;
	bool overlaps_tp, overlaps_replicas; /* as in weft_software */
};

/* All calls of one kind in a stage, in one micro-batch or at the step's end:
 * seconds, how many, and the size of their groups. */
struct step_traffic {
	double time_s, count;
	double latency_s; /* of time_s */
	uint32_t n;
};

/* Calls of a stage, by what may hide them. */
struct step_calls {
	struct step_traffic
		chunked[WEFT_N_PHASES]; /* tp, in chunks behind products
					 */
	struct step_traffic behind[WEFT_N_PHASES]; /* tp, behind one product */
	struct step_traffic attention[WEFT_N_PHASES];
	struct step_traffic gathered[WEFT_N_PHASES]; /* ZeRO-3, behind layers */
	struct step_traffic
		experts[WEFT_N_PHASES]; /* in chunks behind experts */
	struct step_traffic send;
	struct step_traffic buckets[WEFT_N_PHASES]; /* dp, behind a pass */
};

/* ---- computation: step_compute.c ---- */

/* Seconds of one micro-batch: computation, what hides none of it, and both. */
double stage_forward_s(const struct step_stage *s);
double stage_backward_s(const struct step_stage *s);
double stage_s(const struct step_stage *s);
/* Fills what stage p computes; after stage_compute_prepare. */
void stage_compute(const struct step_build *b, uint32_t p,
		   struct step_stage *s);
/* The time of a layer of each kind.  -1 with err: an unknown GPU or type. */
int stage_compute_prepare(struct step_build *b, struct weft_error *err);

/* ---- communication: step_exposed.c ---- */

/* Seconds that kernels wait for the host. */
double stage_host_s(const struct step_build *b, const struct step_stage *s);
/* The calls of stage p, by what may hide them. */
void stage_calls(const struct step_build *b, uint32_t p, struct step_stage *s,
		 struct step_calls *calls);
/* Seconds of a micro-batch to agree on 8-bit scales. */
double stage_scales_s(const struct step_build *b);
/* Fills what is exposed in each micro-batch, and once a step. */
void stage_exposed(const struct step_build *b, const struct step_calls *c,
		   struct step_stage *s);
void stage_end(const struct step_build *b, const struct step_calls *c,
	       struct step_stage *s);

#endif
