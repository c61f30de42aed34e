/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.h - the communication of one training step: which collective, among
 * which ranks, how large, how often, and what can hide it
 *
 * Everything else follows from it: M(i,j) is the schedule with each collective
 * turned into pairs (traffic.h), and the step time is the schedule with each
 * collective timed on a placement (step.h).
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_SCHEDULE_H
#define WEFT_COSTMODEL_TRAFFIC_SCHEDULE_H

#include "base/error.h"
#include "costmodel/job/model.h"
#include "costmodel/job/parallelism.h"
#include "costmodel/job/spec.h"
#include "costmodel/traffic/collective.h"
#include "costmodel/traffic/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/* When in the step a call is made. */
enum weft_phase {
	WEFT_FORWARD,	 /* in each micro-batch's forward pass */
	WEFT_BACKWARD,	 /* in each micro-batch's backward pass */
	WEFT_RECOMPUTE,	 /* in the forward pass that is repeated before backward
			  */
	WEFT_STEP_END,	 /* after the last micro-batch: gradients, embeddings */
	WEFT_STEP_BEGIN, /* before or in the next forward: gathered parameters
			  */
	WEFT_N_PHASES
};
/* "forward", ..., "step-end", "step-begin". */
extern const char *const weft_phase_names[WEFT_N_PHASES];

/* What a call may run behind. */
enum weft_behind {
	WEFT_EXPOSED,	       /* on the critical path */
	WEFT_BEHIND_MATMUL,    /* the matrix product that it feeds or follows */
	WEFT_BEHIND_ATTENTION, /* the attention of the current block */
	WEFT_BEHIND_BACKWARD,  /* the backward pass of the last micro-batch, in
				* buckets as gradients become ready */
	WEFT_BEHIND_FORWARD,   /* the forward pass of the first micro-batch */
	WEFT_BEHIND_PIPELINE,  /* the next micro-batch's computation */
	WEFT_N_OVERLAPS
};

/* One kind of call.  Every rank of the stages first_stage ... first_stage +
 * n_stages - 1 makes it `count` times a step, within its own group.  A
 * send-recv goes to the next rank of the group and around, but backward in a
 * pipeline to the one before.  A group "pp" with n = 2 of a longer pipeline is
 * its first and last rank; there is a call for each.
 * Calls of neighbouring stages that differ in nothing else are one. */
struct weft_call {
	enum weft_axis axis;
	enum weft_collective collective;
	enum weft_phase phase;
	enum weft_behind overlap;
	char group[24];	  /* token of weft_grid_group: "tp", "dp-cp" */
	bool expert_grid; /* of the expert grid, not the dense one */
	uint32_t n;	  /* ranks of one group; > 1 */
	uint32_t first_stage, n_stages;
	double size_bytes; /* of one call; see collective.h */
	double count;	   /* calls per step and rank; may be a fraction when
			    * made every K steps */
	const char *what;  /* "tp all-gather of activations"; static text */
};

/* The grids are those of weft_spec_grid and weft_spec_expert_grid, where an
 * axis that some group has a part of is two: "dp_shard" and "dp_rep" (or of
 * cp) when shard groups are smaller than dp*cp, "ep_node" and "ep_net" when
 * tokens are routed to a limited number of nodes. */
struct weft_schedule {
	uint32_t n_calls;
	struct weft_call *calls;	/* [n_calls] by axis, then phase */
	struct weft_grid dense, expert; /* expert.n_ranks 0: no experts */
};

/* Whether the axis is one of the words of the call's group. */
bool weft_call_has(const struct weft_call *call, const char *axis);

/* The calls of a resolved spec.  Fails where spec and model do not fit: more
 * parts than layers, experts or heads that cannot be dealt out.  A pipeline
 * stage has its layers as evenly as possible, the first ones get one more.
 * Left out are scalars (losses, norms of gradients): their time is latency
 * alone.  Free with weft_schedule_free in either case. */
int weft_schedule_build(const struct weft_spec *spec,
			const struct weft_model *model,
			struct weft_schedule *schedule, struct weft_error *err);
void weft_schedule_free(struct weft_schedule *schedule);

#endif
