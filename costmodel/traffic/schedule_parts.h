/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_parts.h - what the sources of the schedule share
 *
 * Private to costmodel/traffic/schedule*.c.
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_SCHEDULE_PARTS_H
#define WEFT_COSTMODEL_TRAFFIC_SCHEDULE_PARTS_H

#include "costmodel/traffic/schedule.h"

/* Neighbouring pipeline stages that hold the same. */
struct run {
	uint32_t first, n;
	uint32_t layers, expert_layers; /* the latter are among the former */
	double parameters;		/* of one rank, without the next */
	double expert_parameters;	/* of one rank, when ep > 1 */
	double tensors, expert_tensors; /* that these are in */
	bool first_stage, last_stage;
};

/* Token, grid and size of the groups that a call runs in. */
struct group {
	char token[24];
	bool expert;
	uint32_t n; /* ranks; below 2: nothing is exchanged */
};

struct schedule_groups {
	struct group tp, cp, pp;
	struct group shard, across; /* of the ranks with equal parameters */
	struct group replicas;	    /* all of these */
	struct group dp;	    /* those that see other sequences */
	struct group ep, ep_node, ep_net, etp;
	struct group expert_shard, expert_across, expert_replicas;
};

struct builder {
	const struct weft_spec *spec;
	const struct weft_model *model;
	struct weft_schedule *schedule;
	struct schedule_groups groups;
	struct run *runs;
	uint32_t n_runs;
	double b, s, h, e, m; /* sequences of a micro-batch, tokens of a cp
			       * rank, hidden width, bytes of an element,
			       * micro-batches */
	struct weft_error *err;
	bool failed; /* out of memory; err says so */
};

/* One row of a table of calls; a table ends with a row of no name. */
struct row {
	const char *what;
	enum weft_collective collective;
	enum weft_phase phase;
	enum weft_behind overlap;
	double count;
};

/* Where and how often the rows of a table are made. */
struct batch {
	enum weft_axis axis;
	const struct group *group;
	uint32_t first_stage, n_stages;
	double times, size_bytes;
};

/* Adds a call for each row, `times` its count; none where nothing moves. */
void schedule_add(struct builder *b, const struct batch *batch,
		  const struct row *rows);

/* The runs of stages; free builder.runs in either case. */
int schedule_runs(struct builder *b);
/* The grids of the schedule and the groups in them. */
int schedule_group(struct builder *b);

/* The calls of one axis. */
void schedule_tensor(struct builder *b, const struct run *run);
void schedule_context(struct builder *b, const struct run *run);
void schedule_experts(struct builder *b, const struct run *run);
void schedule_pipeline(struct builder *b);
void schedule_replicas(struct builder *b, const struct run *run);

#endif
