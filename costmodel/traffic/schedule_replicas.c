/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_replicas.c - calls among ranks that hold the same parameters */
#include "costmodel/traffic/schedule_parts.h"

#include <math.h>

/* What is sent of each parameter: its gradient, or itself. */
enum content { GRADIENT, PARAMETER };

/* One collective of a ZeRO stage (arXiv:1910.02054 section 7).  `often` rows
 * are made in each micro-batch, for each layer; the others once a step, for
 * each bucket. */
struct exchange {
	struct row row;
	enum content content;
	bool often;
};

#define EXCHANGE(WHAT, COLLECTIVE, PHASE, OVERLAP, CONTENT, OFTEN)             \
	{                                                                      \
		{WHAT, WEFT_##COLLECTIVE, WEFT_##PHASE, WEFT_##OVERLAP, 1},    \
			CONTENT, OFTEN                                         \
	}

static const struct exchange stages[4][4] = {
	{EXCHANGE("dp all-reduce of gradients", ALL_REDUCE, STEP_END,
		  BEHIND_BACKWARD, GRADIENT, false)},
	{EXCHANGE("dp reduce-scatter of gradients", REDUCE_SCATTER, STEP_END,
		  BEHIND_BACKWARD, GRADIENT, false),
	 EXCHANGE("dp all-gather of parameters", ALL_GATHER, STEP_BEGIN,
		  BEHIND_FORWARD, PARAMETER, false)},
	/* Gradients are reduced as they are produced. */
	{EXCHANGE("dp reduce-scatter of gradients, each micro-batch",
		  REDUCE_SCATTER, BACKWARD, BEHIND_MATMUL, GRADIENT, true),
	 EXCHANGE("dp all-gather of parameters", ALL_GATHER, STEP_BEGIN,
		  BEHIND_FORWARD, PARAMETER, false)},
	/* Parameters are gathered for each pass, and dropped. */
	{EXCHANGE("dp all-gather of parameters, forward", ALL_GATHER, FORWARD,
		  BEHIND_MATMUL, PARAMETER, true),
	 EXCHANGE("dp all-gather of parameters, backward", ALL_GATHER, BACKWARD,
		  BEHIND_MATMUL, PARAMETER, true),
	 EXCHANGE("dp reduce-scatter of gradients, each micro-batch",
		  REDUCE_SCATTER, BACKWARD, BEHIND_MATMUL, GRADIENT, true)},
};

/* ZeRO stage 1 by whole tensors (PyTorch's ZeroRedundancyOptimizer, fairscale's
 * OSS, InternLM): gradients go everywhere, and the rank that has updated a
 * tensor sends it around. */
static const struct exchange broadcast =
	EXCHANGE("dp broadcasts of parameters", BROADCAST, STEP_BEGIN,
		 BEHIND_FORWARD, PARAMETER, false);

/* Shards are reduced across their groups. */
static const struct exchange across_groups =
	EXCHANGE("dp all-reduce of gradients across shard groups", ALL_REDUCE,
		 STEP_END, BEHIND_BACKWARD, GRADIENT, false);
/* Indices of what each rank kept differ, so it cannot be added up on the way
 * (arXiv:1712.01887). */
static const struct exchange sparse =
	EXCHANGE("dp all-gather of sparse gradients", ALL_GATHER, STEP_END,
		 BEHIND_BACKWARD, GRADIENT, false);
/* arXiv:1805.09767: replicas take their own steps in between. */
static const struct exchange averaging =
	EXCHANGE("dp all-reduce of parameters", ALL_REDUCE, STEP_END, EXPOSED,
		 PARAMETER, false);

/* Parameters of one rank, and the group that exchanges them. */
struct replica {
	const struct run *run;
	const struct group *group;
	double parameters; /* elements */
	double tensors;	   /* that they are in */
};

/* Adds one exchange of all of a replica's parameters, in pieces: layers where
 * it is made in each micro-batch, else buckets. */
static void exchange_add(struct builder *b, const struct replica *replica,
			 const struct exchange *exchange, double times)
{
	const struct weft_spec *spec = b->spec;
	const struct row rows[] = {exchange->row, {0}};
	double gradients =
		replica->parameters * weft_dtype_bytes(spec->gradient_dtype);
	double bytes =
		replica->parameters * weft_dtype_bytes(spec->parameter_dtype);
	double pieces = ceil(gradients / spec->bucket_bytes);
	struct batch batch = {
		.axis = WEFT_AXIS_DP,
		.group = replica->group,
		.first_stage = replica->run->first,
		.n_stages = replica->run->n,
	};

	if (exchange == &broadcast)
		pieces = replica->tensors;
	if (exchange->content == GRADIENT)
		bytes = gradients / spec->compress;
	if (exchange->often) {
		pieces = replica->run->layers;
		times *= b->m;
	}
	batch.times = times * pieces;
	batch.size_bytes = bytes / pieces;
	if (exchange == &sparse)
		batch.size_bytes *= replica->group->n;
	schedule_add(b, &batch, rows);
}

/* Replicas that share a step only now and then: those of one sequence still
 * reduce their gradients in each. */
static void local_steps(struct builder *b, struct replica replica)
{
	replica.group = &b->groups.cp;
	exchange_add(b, &replica, &stages[0][0], 1);
	replica.group = &b->groups.dp;
	exchange_add(b, &replica, &averaging, 1.0 / b->spec->sync_every);
}

/* all: of the groups among which and across which shards are. */
static void replicas_add(struct builder *b, struct replica replica,
			 const struct group *across, const struct group *all)
{
	const struct weft_spec *spec = b->spec;
	double bits = 8 * weft_dtype_bytes(spec->gradient_dtype);
	const struct exchange *exchange = stages[spec->zero];

	if (spec->compress > bits) {
		exchange_add(b, &replica, &sparse, 1);
		return;
	}
	if (spec->zero_by == WEFT_ZERO_BY_TENSORS) {
		exchange_add(b, &replica, &broadcast, 1);
		replica.group = all;
		exchange_add(b, &replica, &stages[0][0], 1);
		return;
	}
	for (uint32_t i = 0; i < 4 && exchange[i].row.what; i++)
		exchange_add(b, &replica, &exchange[i], 1);
	replica.parameters /= replica.group->n;
	replica.group = across;
	exchange_add(b, &replica, &across_groups, 1);
}

void schedule_replicas(struct builder *b, const struct run *run)
{
	const struct schedule_groups *g = &b->groups;
	struct replica replica = {
		.run = run,
		.group = &g->shard,
		.parameters = run->parameters,
		.tensors = run->tensors,
	};

	if (b->spec->sync_every > 1) {
		local_steps(b, replica);
		return;
	}
	replicas_add(b, replica, &g->across, &g->replicas);
	if (b->spec->ep == 1)
		return;
	replica.group = &g->expert_shard;
	replica.parameters = run->expert_parameters;
	replica.tensors = run->expert_tensors;
	replicas_add(b, replica, &g->expert_across, &g->expert_replicas);
}
