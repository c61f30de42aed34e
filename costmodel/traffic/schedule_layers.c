/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule_layers.c - calls inside layers and between stages: activations */
#include "costmodel/traffic/schedule_parts.h"

#include <math.h>

/* Losses are computed in fp32 whatever the model's type. */
#define LOSS_BYTES 4

/* Counts of the tables with "layer" in their name are per layer. */

/* arXiv:2104.04473 section 2.3: attention and feed-forward each end in an
 * all-reduce; backward they begin with one, behind the products that give the
 * gradients of weights. */
static const struct row tensor_layer[] = {
	{"tp all-reduce of activations", WEFT_ALL_REDUCE, WEFT_FORWARD,
	 WEFT_EXPOSED, 2},
	{"tp all-reduce of activation gradients", WEFT_ALL_REDUCE,
	 WEFT_BACKWARD, WEFT_BEHIND_MATMUL, 2},
	{"tp all-reduce of recomputed activations", WEFT_ALL_REDUCE,
	 WEFT_RECOMPUTE, WEFT_EXPOSED, 2},
	{0},
};

/* arXiv:2205.05198 section 4.2.2: an all-reduce is cut into its halves, with
 * split activations between them.  Inputs of products are kept split too, and
 * gathered once more for the gradients of weights. */
static const struct row sequence_layer[] = {
	{"tp all-gather of activations", WEFT_ALL_GATHER, WEFT_FORWARD,
	 WEFT_EXPOSED, 2},
	{"tp reduce-scatter of activations", WEFT_REDUCE_SCATTER, WEFT_FORWARD,
	 WEFT_EXPOSED, 2},
	{"tp all-gather of activation gradients", WEFT_ALL_GATHER,
	 WEFT_BACKWARD, WEFT_EXPOSED, 2},
	{"tp reduce-scatter of activation gradients", WEFT_REDUCE_SCATTER,
	 WEFT_BACKWARD, WEFT_EXPOSED, 2},
	{"tp all-gather of inputs kept split", WEFT_ALL_GATHER, WEFT_BACKWARD,
	 WEFT_BEHIND_MATMUL, 2},
	{"tp all-gather of recomputed activations", WEFT_ALL_GATHER,
	 WEFT_RECOMPUTE, WEFT_EXPOSED, 2},
	{"tp reduce-scatter of recomputed activations", WEFT_REDUCE_SCATTER,
	 WEFT_RECOMPUTE, WEFT_EXPOSED, 2},
	{0},
};

/* The two ends of the model, per micro-batch (Megatron-LM, layers.py): rows of
 * the embedding and columns of the output matrix are split over tp. */
static const struct row tensor_embedding[] = {
	{"tp all-reduce of embeddings", WEFT_ALL_REDUCE, WEFT_FORWARD,
	 WEFT_EXPOSED, 1},
	{0},
};
static const struct row sequence_embedding[] = {
	{"tp reduce-scatter of embeddings", WEFT_REDUCE_SCATTER, WEFT_FORWARD,
	 WEFT_EXPOSED, 1},
	{"tp all-gather of embedding gradients", WEFT_ALL_GATHER, WEFT_BACKWARD,
	 WEFT_EXPOSED, 1},
	{0},
};
static const struct row tensor_output[] = {
	{"tp all-reduce of output gradients", WEFT_ALL_REDUCE, WEFT_BACKWARD,
	 WEFT_BEHIND_MATMUL, 1},
	{0},
};
static const struct row sequence_output[] = {
	{"tp all-gather of outputs", WEFT_ALL_GATHER, WEFT_FORWARD,
	 WEFT_EXPOSED, 1},
	{"tp reduce-scatter of output gradients", WEFT_REDUCE_SCATTER,
	 WEFT_BACKWARD, WEFT_EXPOSED, 1},
	{"tp all-gather of outputs kept split", WEFT_ALL_GATHER, WEFT_BACKWARD,
	 WEFT_BEHIND_MATMUL, 1},
	{0},
};
/* Maximum, sum and the target's own logit of each token (Megatron-LM,
 * cross_entropy.py). */
static const struct row tensor_loss[] = {
	{"tp all-reduce of cross entropy", WEFT_ALL_REDUCE, WEFT_FORWARD,
	 WEFT_EXPOSED, 3},
	{0},
};
/* Norms are whole on each tensor rank, but each sees part of the tokens
 * (Megatron-LM, finalize_model_grads.py). */
static const struct row tensor_norms[] = {
	{"tp all-reduce of norm gradients", WEFT_ALL_REDUCE, WEFT_STEP_END,
	 WEFT_EXPOSED, 1},
	{0},
};

void schedule_tensor(struct builder *b, const struct run *run)
{
	const struct weft_spec *spec = b->spec;
	bool sp = spec->sequence_parallel;
	/* Tokens of expert layers go to the experts as they are split: only
	 * attention is tensor-parallel then, and shared experts. */
	double split = spec->ep > 1 && !b->model->shared_experts ? 0.5 : 0;
	struct batch batch = {
		.axis = WEFT_AXIS_TP,
		.group = &b->groups.tp,
		.first_stage = run->first,
		.n_stages = run->n,
		.times = b->m * (run->layers - split * run->expert_layers),
		.size_bytes = b->b * b->s * b->h * b->e,
	};

	schedule_add(b, &batch, sp ? sequence_layer : tensor_layer);
	batch.times = b->m;
	if (run->first_stage)
		schedule_add(b, &batch,
			     sp ? sequence_embedding : tensor_embedding);
	if (run->last_stage) {
		schedule_add(b, &batch, sp ? sequence_output : tensor_output);
		batch.size_bytes = b->b * b->s * LOSS_BYTES;
		schedule_add(b, &batch, tensor_loss);
	}
	if (!sp)
		return;
	/* Two norms a layer; the GPT family's have a shift. */
	batch.times = 1;
	batch.size_bytes = (b->model->learned_positions ? 4 : 2) * b->h *
			   run->layers * weft_dtype_bytes(spec->gradient_dtype);
	schedule_add(b, &batch, tensor_norms);
}

static const struct row context_ring_layer[] = {
	{"cp send of keys and values", WEFT_SEND_RECV, WEFT_FORWARD,
	 WEFT_BEHIND_ATTENTION, 1},
	/* keys and values once more, and their gradients */
	{"cp send of keys, values and gradients", WEFT_SEND_RECV, WEFT_BACKWARD,
	 WEFT_BEHIND_ATTENTION, 2},
	{"cp send of keys and values, recomputed", WEFT_SEND_RECV,
	 WEFT_RECOMPUTE, WEFT_BEHIND_ATTENTION, 1},
	{0},
};
static const struct row context_gather_layer[] = {
	{"cp all-gather of keys and values", WEFT_ALL_GATHER, WEFT_FORWARD,
	 WEFT_EXPOSED, 1},
	{"cp reduce-scatter of their gradients", WEFT_REDUCE_SCATTER,
	 WEFT_BACKWARD, WEFT_EXPOSED, 1},
	{"cp all-gather of keys and values, recomputed", WEFT_ALL_GATHER,
	 WEFT_RECOMPUTE, WEFT_EXPOSED, 1},
	{0},
};
static const struct row context_heads_layer[] = {
	{"cp all-to-all of queries, keys and values", WEFT_ALL_TO_ALL,
	 WEFT_FORWARD, WEFT_EXPOSED, 1},
	{"cp all-to-all of their gradients", WEFT_ALL_TO_ALL, WEFT_BACKWARD,
	 WEFT_EXPOSED, 1},
	{"cp all-to-all of queries, keys and values, recomputed",
	 WEFT_ALL_TO_ALL, WEFT_RECOMPUTE, WEFT_EXPOSED, 1},
	{0},
};
static const struct row context_outputs_layer[] = {
	{"cp all-to-all of attention outputs", WEFT_ALL_TO_ALL, WEFT_FORWARD,
	 WEFT_EXPOSED, 1},
	{"cp all-to-all of their gradients", WEFT_ALL_TO_ALL, WEFT_BACKWARD,
	 WEFT_EXPOSED, 1},
	{"cp all-to-all of attention outputs, recomputed", WEFT_ALL_TO_ALL,
	 WEFT_RECOMPUTE, WEFT_EXPOSED, 1},
	{0},
};

void schedule_context(struct builder *b, const struct run *run)
{
	const struct weft_model *model = b->model;
	uint32_t c = b->spec->cp;
	double head =
		model->head_width ? model->head_width : b->h / model->heads;
	double heads = (double)model->heads / b->spec->tp;
	double kv = 2 * weft_model_kv_width(model, b->spec->tp);
	/* size: elements of a token of this rank.  A ring has c - 1 hops; the
	 * size of a gather is what it gathers; queries go where keys do
	 * (arXiv:2309.14509 section 3.2). */
	const struct {
		const struct row *rows;
		double times, size;
	} ways[WEFT_N_CP_COMMS][2] = {
		[WEFT_CP_P2P] = {{context_ring_layer, c - 1.0, kv}},
		[WEFT_CP_ALL_GATHER] = {{context_gather_layer, 1, c * kv}},
		[WEFT_CP_ALL_TO_ALL] = {{context_heads_layer, 1,
					 heads * (head + model->mla_rope) + kv},
					{context_outputs_layer, 1,
					 heads * head}},
	};
	uint32_t kind = b->spec->cp_comm;
	struct batch batch = {
		.axis = WEFT_AXIS_CP,
		.group = &b->groups.cp,
		.first_stage = run->first,
		.n_stages = run->n,
	};

	for (uint32_t i = 0; i < 2 && ways[kind][i].rows; i++) {
		batch.times = b->m * run->layers * ways[kind][i].times;
		batch.size_bytes = b->b * b->s * ways[kind][i].size * b->e;
		schedule_add(b, &batch, ways[kind][i].rows);
	}
}

/* arXiv:2006.16668; Megatron-LM, token_dispatcher.py.  Backward, a combine is
 * a dispatch of gradients, and the reverse. */
static const struct row dispatch_layer[] = {
	{"ep all-to-all, dispatch", WEFT_ALL_TO_ALL, WEFT_FORWARD, WEFT_EXPOSED,
	 1},
	{"ep all-to-all, dispatch recomputed", WEFT_ALL_TO_ALL, WEFT_RECOMPUTE,
	 WEFT_EXPOSED, 1},
	{0},
};
static const struct row combine_layer[] = {
	{"ep all-to-all, combine", WEFT_ALL_TO_ALL, WEFT_FORWARD, WEFT_EXPOSED,
	 1},
	{"ep all-to-all, gradients of combine and dispatch", WEFT_ALL_TO_ALL,
	 WEFT_BACKWARD, WEFT_EXPOSED, 2},
	{"ep all-to-all, combine recomputed", WEFT_ALL_TO_ALL, WEFT_RECOMPUTE,
	 WEFT_EXPOSED, 1},
	{0},
};
/* Tensor ranks of an expert each get what any of them was sent. */
static const struct row expert_gather_layer[] = {
	{"etp all-gather of dispatched tokens", WEFT_ALL_GATHER, WEFT_FORWARD,
	 WEFT_EXPOSED, 1},
	{"etp all-gather of dispatched tokens, recomputed", WEFT_ALL_GATHER,
	 WEFT_RECOMPUTE, WEFT_EXPOSED, 1},
	{0},
};
static const struct row expert_scatter_layer[] = {
	{"etp reduce-scatter of expert outputs", WEFT_REDUCE_SCATTER,
	 WEFT_FORWARD, WEFT_EXPOSED, 1},
	{"etp all-gather of output gradients", WEFT_ALL_GATHER, WEFT_BACKWARD,
	 WEFT_EXPOSED, 1},
	{"etp reduce-scatter of token gradients", WEFT_REDUCE_SCATTER,
	 WEFT_BACKWARD, WEFT_EXPOSED, 1},
	{"etp reduce-scatter of expert outputs, recomputed",
	 WEFT_REDUCE_SCATTER, WEFT_RECOMPUTE, WEFT_EXPOSED, 1},
	{0},
};

/* Elements that a rank sends to the experts of one layer: top_k copies of its
 * tokens, or the slots of all experts where their number is limited. */
static double dispatched(const struct builder *b)
{
	const struct weft_model *model = b->model;
	double tokens = b->b * b->s / b->spec->tp;
	double copies = tokens * model->top_k;

	if (b->spec->capacity > 0)
		copies = model->experts *
			 ceil(b->spec->capacity * copies / model->experts);
	return copies * weft_model_expert_width(model);
}

void schedule_experts(struct builder *b, const struct run *run)
{
	const struct weft_spec *spec = b->spec;
	const struct schedule_groups *g = &b->groups;
	double e_dispatch = weft_dtype_bytes(spec->dispatch_dtype);
	double elements = dispatched(b), limit = spec->route_nodes;
	struct batch batch = {
		.axis = WEFT_AXIS_EP,
		.group = &g->ep,
		.first_stage = run->first,
		.n_stages = run->n,
		.times = b->m * run->expert_layers,
	};

	if (spec->ep == 1)
		return;
	if (spec->route_nodes) {
		/* A node is sent one copy of a token, however many of its
		 * experts the token visits, and passes it on inside
		 * (arXiv:2412.19437 section 3.2.2). */
		batch.group = &g->ep_node;
		batch.size_bytes = elements * e_dispatch;
		schedule_add(b, &batch, dispatch_layer);
		batch.size_bytes = elements * b->e;
		schedule_add(b, &batch, combine_layer);
		batch.group = &g->ep_net;
		elements *= fmin(1, limit / b->model->top_k);
	}
	batch.size_bytes = elements * e_dispatch;
	schedule_add(b, &batch, dispatch_layer);
	batch.size_bytes = elements * b->e;
	schedule_add(b, &batch, combine_layer);
	elements = dispatched(b) * spec->etp;
	batch.group = &g->etp;
	batch.size_bytes = elements * e_dispatch;
	schedule_add(b, &batch, expert_gather_layer);
	batch.size_bytes = elements * b->e;
	schedule_add(b, &batch, expert_scatter_layer);
}

/* Sends of one direction; the wrap-around of interleaving is one chunk less. */
static void pipeline_way(struct builder *b, const struct row *send,
			 const struct row *gather, uint32_t end)
{
	const struct weft_spec *spec = b->spec;
	bool split = spec->sequence_parallel || spec->scatter;
	uint32_t others = end == 0 ? 1 : 0, last = spec->pp - 1;
	struct batch batch = {
		.axis = WEFT_AXIS_PP,
		.group = &b->groups.pp,
		.first_stage = others,
		.n_stages = last,
		.times = b->m * spec->vpp,
		.size_bytes =
			b->b * b->s * b->h * b->e / (split ? spec->tp : 1),
	};

	schedule_add(b, &batch, send);
	batch.first_stage = end;
	batch.n_stages = 1;
	batch.times = b->m * (spec->vpp - 1);
	schedule_add(b, &batch, send);
	if (spec->sequence_parallel || !spec->scatter)
		return;
	/* The receivers gather what came in parts (arXiv:2104.04473 4.1). */
	batch.axis = WEFT_AXIS_TP;
	batch.group = &b->groups.tp;
	batch.size_bytes *= spec->tp;
	batch.first_stage = last - end;
	schedule_add(b, &batch, gather);
	batch.first_stage = 1 - others;
	batch.n_stages = last;
	batch.times = b->m * spec->vpp;
	schedule_add(b, &batch, gather);
}

void schedule_pipeline(struct builder *b)
{
	const struct weft_spec *spec = b->spec;
	enum weft_behind overlap =
		spec->vpp > 1 ? WEFT_BEHIND_PIPELINE : WEFT_EXPOSED;
	const struct row forward[] = {{"pp send of activations", WEFT_SEND_RECV,
				       WEFT_FORWARD, overlap, 1},
				      {0}};
	const struct row backward[] = {{"pp send of activation gradients",
					WEFT_SEND_RECV, WEFT_BACKWARD, overlap,
					1},
				       {0}};
	static const struct row gather_forward[] = {
		{"tp all-gather of a stage's input", WEFT_ALL_GATHER,
		 WEFT_FORWARD, WEFT_EXPOSED, 1},
		{0}};
	static const struct row gather_backward[] = {
		{"tp all-gather of a stage's gradients", WEFT_ALL_GATHER,
		 WEFT_BACKWARD, WEFT_EXPOSED, 1},
		{0}};
	static const struct row tied[] = {
		{"pp all-reduce of the tied embedding", WEFT_ALL_REDUCE,
		 WEFT_STEP_END, WEFT_EXPOSED, 1},
		{0}};
	struct group ends = b->groups.pp;
	struct batch batch = {
		.axis = WEFT_AXIS_PP,
		.group = &ends,
		.n_stages = 1,
		.times = 1,
		.size_bytes = b->model->vocab * b->h / spec->tp *
			      weft_dtype_bytes(spec->gradient_dtype),
	};

	if (spec->pp == 1)
		return;
	pipeline_way(b, forward, gather_forward, spec->pp - 1);
	pipeline_way(b, backward, gather_backward, 0);
	if (!b->model->tied_embedding)
		return;
	ends.n = 2;
	schedule_add(b, &batch, tied);
	batch.first_stage = spec->pp - 1;
	schedule_add(b, &batch, tied);
}
