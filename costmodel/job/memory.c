/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c - weights, states, activations and buffers of one GPU */
#include "costmodel/job/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ADAM_BYTES   8.0 /* two fp32 moments */
#define MASTER_BYTES 4.0 /* fp32 weights beside narrower ones */
/* The loss is computed in fp32: the logits, their exponentials, which become
 * the gradient; operation by operation also 16-bit logits, the softmax and the
 * gradient of each, for the whole vocabulary. */
#define LOGIT_BYTES	  8.0
#define EAGER_LOGIT_BYTES 16.0
/* What RMS norm, rotary positions and gates keep operation by operation, per
 * element: the input and the quotient in fp32; both products and the turned
 * halves; the activated half. */
#define EAGER_NORM_KEPT	  8.0
#define EAGER_ROTARY_KEPT 6.0
#define EAGER_GATE_KEPT	  2.0
/* CUDA's context and the libraries' workspaces; channels and buffers of each
 * communicator that NCCL makes; and what an allocator of blocks cannot use of
 * what comes and goes. */
#define CONTEXT_BYTES	   1.5e9
#define COMMUNICATOR_BYTES 0.4e9
#define GAPS		   0.06
#define MASK_BYTES	   1.0 /* dropout */
#define PROBABILITY_BYTES  4.0 /* of an expert, by the router */

const char *const weft_memory_part_names[WEFT_N_MEMORY_PARTS] = {
	"weights", "gradients", "optimizer", "activations",
	"logits",  "context",	"gathered",  "framework"};

/* Symbols as in arXiv:2205.05198, and what is the same for all layers. */
struct shape {
	const struct weft_spec *spec;
	const struct weft_model *model;
	bool stored_attention, dropout, eager_norms, eager;
	double tokens; /* of one rank's micro-batch: b*s/c */
	double s;      /* tokens of a sequence, all context ranks */
	double h, t;
	double split; /* t where sequence parallel, else 1 */
	double e;     /* bytes of a matrix product's input */
	double wide;  /* of other activations: norms and such need 16 bits */
	double q, kv; /* widths of all queries, of all keys (or values) */
};

static struct shape shape_of(const struct weft_spec *spec,
			     const struct weft_model *model,
			     const struct weft_memory_options *options)
{
	uint32_t seq = spec->seq ? spec->seq : model->seq;
	struct shape s = {
		.spec = spec,
		.model = model,
		.stored_attention = options && options->stored_attention,
		.eager_norms =
			options && options->eager_norms && model->gated_mlp,
		.eager = options && options->eager,
		/* The GPT family was trained with dropout, the later ones
		 * without. */
		.dropout = model->learned_positions,
		.tokens = (double)spec->mbs * seq / spec->cp,
		.s = seq,
		.h = model->hidden,
		.t = spec->tp,
		.split = spec->sequence_parallel ? spec->tp : 1,
		.e = weft_dtype_bytes(spec->dtype),
	};

	s.wide = fmax(s.e, 2);
	s.q = model->head_width ? (double)model->heads * model->head_width
				: s.h;
	s.kv = weft_model_kv_width(model, 1);
	if (model->mla_kv_rank)
		s.q += (double)model->heads * model->mla_rope;
	return s;
}

/* ---- activations, bytes per token of the rank's share ---- */

/* 11sbh + 5as^2b of equation 1: input of the projection to q, k and v; these
 * three; the output, which is the next projection's input; dropout. */
static double attention_bytes(const struct shape *s)
{
	const struct weft_model *model = s->model;
	double latent = (double)model->mla_q_rank + model->mla_kv_rank +
			model->mla_rope;
	double scores = 0;

	if (s->stored_attention &&
	    s->spec->recompute != WEFT_RECOMPUTE_SELECTIVE) {
		double each = s->wide; /* output of the softmax */

		if (s->dropout)
			each += MASK_BYTES + s->wide;
		scores = model->heads * s->s * each;
	}
	return s->e * (s->h + latent) / s->split +
	       (s->wide * (s->q + 2 * s->kv) + s->e * s->q + scores) / s->t +
	       (s->dropout ? MASK_BYTES * s->h / s->split : 0);
}

/* Inputs of the activation function (two, where gated) and of the product that
 * follows, for a feed-forward network of that width. */
static double middle_bytes(const struct shape *s, double ffn)
{
	return ((s->model->gated_mlp ? 2 : 1) * s->wide + s->e) * ffn;
}

/* 19sbh of equation 1. */
static double dense_bytes(const struct shape *s)
{
	return s->e * s->h / s->split + middle_bytes(s, s->model->ffn) / s->t +
	       (s->dropout ? MASK_BYTES * s->h / s->split : 0);
}

/* top_k copies of each token, on the fullest rank or padded to the capacity:
 * what the experts take and give, and their insides.  Tokens are split over the
 * tensor ranks and gathered by the etp ranks of an expert. */
static double expert_bytes(const struct shape *s)
{
	const struct weft_model *model = s->model;
	double etp = s->spec->ep > 1 ? s->spec->etp : s->t;
	double copies = model->top_k *
			fmax(s->spec->capacity, weft_spec_fullest(s->spec));
	double taken = weft_model_expert_width(model);

	return (PROBABILITY_BYTES * model->experts + s->e * s->h) / s->split +
	       copies *
		       (2 * s->e * taken * etp +
			middle_bytes(s, model->expert_ffn)) /
		       s->t +
	       middle_bytes(s, weft_model_shared_ffn(model)) / s->t;
}

/* Inputs of the two projections, what the convolution takes and gives, and the
 * gated norm's input; the recurrence keeps a state a chunk. */
static double ssm_bytes(const struct shape *s)
{
	const struct weft_model *model = s->model;

	return s->e * s->h / s->split +
	       (2 * s->wide * weft_model_ssm_input(model) +
		(s->e + s->wide) * model->ssm_inner) /
		       s->t;
}

/* What unfused kernels keep beside. */
static double eager_bytes(const struct shape *s)
{
	double norms = s->eager_norms ? 2 * EAGER_NORM_KEPT : 0;
	bool rest = s->eager && s->model->gated_mlp;

	return norms * s->h / s->split +
	       (rest ? EAGER_ROTARY_KEPT * (s->q + s->kv) +
				EAGER_GATE_KEPT * s->model->ffn
		     : 0) /
		       s->t;
}

/* All that a layer's backward pass needs of one micro-batch. */
static double whole_layer(const struct shape *s, uint32_t layer)
{
	const struct weft_model *model = s->model;
	double norms = 2 * s->wide * s->h / s->split + eager_bytes(s);
	double mixers = weft_model_attention_share(model) * attention_bytes(s) +
			weft_model_ssm_share(model) * ssm_bytes(s);

	return s->tokens *
	       (norms + mixers +
		(weft_model_has_experts(model, layer) ? expert_bytes(s)
						      : dense_bytes(s)));
}

/* What is kept of it: with full recomputation only the layer's input. */
static double kept_layer(const struct shape *s, uint32_t layer)
{
	if (s->spec->recompute == WEFT_RECOMPUTE_FULL)
		return s->tokens * s->wide * s->h / s->split;
	return whole_layer(s, layer);
}

double weft_memory_layer(const struct weft_spec *spec,
			 const struct weft_model *model,
			 const struct weft_memory_options *options,
			 uint32_t layer)
{
	struct shape s = shape_of(spec, model, options);

	return kept_layer(&s, layer);
}

/* ---- a stage ---- */

/* What one rank of a stage holds, in parameters and bytes. */
struct stage {
	double dense, expert;	   /* parameters */
	double largest;		   /* parameters of its largest part */
	double kept, largest_kept; /* of one micro-batch */
	double working;		   /* of a recomputed layer */
	uint32_t layers;
};

static void stage_add_layer(const struct shape *s, uint32_t layer,
			    struct stage *stage)
{
	const struct weft_model *model = s->model;
	const struct weft_spec *spec = s->spec;
	double all = weft_model_layer_parameters(model, layer), routed = 0;
	double ranks = spec->ep > 1 ? (double)spec->ep * spec->etp : s->t;
	double kept = kept_layer(s, layer);

	if (weft_model_has_experts(model, layer))
		routed = weft_model_routed_parameters(model);
	stage->dense += (all - routed) / s->t;
	stage->expert += routed / ranks;
	stage->largest =
		fmax(stage->largest, (all - routed) / s->t + routed / ranks);
	stage->kept += kept;
	stage->largest_kept = fmax(stage->largest_kept, kept);
	if (spec->recompute == WEFT_RECOMPUTE_FULL)
		stage->working = fmax(stage->working, whole_layer(s, layer));
	stage->layers++;
}

/* Layers that predict tokens further on, with what joins them. */
static void stage_add_further(const struct shape *s, struct stage *stage)
{
	const struct weft_model *model = s->model;

	for (uint32_t i = 0; i < model->mtp_layers; i++)
		stage_add_layer(s, model->layers - 1, stage);
	stage->dense += 2 * s->h * s->h * model->mtp_layers / s->t;
	stage->layers -= model->mtp_layers;
}

static void stage_add_embedding(const struct shape *s, uint32_t p,
				struct stage *stage)
{
	const struct weft_model *model = s->model;
	uint32_t last = s->spec->pp - 1;
	double output = (double)model->vocab * model->hidden / s->t;
	double input = weft_model_embedding_parameters(model) / s->t -
		       (model->tied_embedding ? 0 : output);

	if (p == 0)
		stage->dense += input;
	/* A tied one in a pipeline is held twice. */
	if (p == last && (!model->tied_embedding || last > 0))
		stage->dense += output;
	if (p == 0 || p == last)
		stage->largest = fmax(stage->largest, output);
}

static struct stage stage_of(const struct shape *s, uint32_t p)
{
	uint32_t chunks = s->spec->pp * s->spec->vpp;
	struct stage stage = {0};

	for (uint32_t k = p; k < chunks; k += s->spec->pp) {
		struct weft_chunk chunk =
			weft_spec_chunk(s->spec, s->model->layers, k);

		for (uint32_t i = 0; i < chunk.n; i++)
			stage_add_layer(s, chunk.first + i, &stage);
	}
	if (p == s->spec->pp - 1 && s->model->mtp_layers)
		stage_add_further(s, &stage);
	stage_add_embedding(s, p, &stage);
	return stage;
}

/* Micro-batches whose activations stage p keeps at most.  1F1B: as many as the
 * stages from here on.  Interleaved, counted in chunks: those of the warm-up
 * (Megatron-LM, schedules.py) and the one that is computed, which is 1 +
 * (pp-1)/(pp*vpp) times pp on the first stage. */
static double in_flight(const struct weft_spec *spec, uint32_t p)
{
	double micro_batches = weft_spec_micro_batches(spec);
	double behind = spec->pp - 1.0 - p, chunks;

	if (spec->vpp == 1)
		return fmin(micro_batches, behind + 1);
	chunks = 2 * behind + (spec->vpp - 1.0) * spec->pp + 1;
	return fmin(micro_batches, chunks / spec->vpp);
}

/* How many ranks each stage of ZeRO shards over; experts have fewer replicas,
 * so smaller groups. */
static double sharded(const struct weft_spec *spec, uint32_t zero,
		      const struct stage *stage)
{
	double dense = spec->shard, expert = spec->shard;

	if (spec->ep > 1)
		expert = fmax(1, (double)spec->shard * spec->tp /
					 ((double)spec->etp * spec->ep));
	if (spec->zero < zero)
		return stage->dense + stage->expert;
	return stage->dense / dense + stage->expert / expert;
}

/* arXiv:1910.02054 sections 3 and 5. */
static void states_fill(const struct shape *s,
			const struct weft_memory_options *options,
			const struct stage *stage, double *part)
{
	const struct weft_spec *spec = s->spec;
	double gradient = weft_dtype_bytes(spec->gradient_dtype);
	double parameter = weft_dtype_bytes(spec->parameter_dtype);
	double optimizer = options ? options->optimizer_bytes : 0;

	if (!(optimizer > 0))
		optimizer = ADAM_BYTES + (parameter < 4 ? MASTER_BYTES : 0);
	part[WEFT_MEMORY_WEIGHTS] = parameter * sharded(spec, 3, stage);
	part[WEFT_MEMORY_GRADIENTS] = gradient * sharded(spec, 2, stage);
	part[WEFT_MEMORY_OPTIMIZER] = optimizer * sharded(spec, 1, stage);
	if (spec->shard < 2)
		return;
	/* A layer's gradients are whole until they are reduced; its weights,
	 * and those of the next one, while they are used. */
	if (spec->zero > 1)
		part[WEFT_MEMORY_GATHERED] += gradient * stage->largest;
	if (spec->zero > 2)
		part[WEFT_MEMORY_GATHERED] += 2 * parameter * stage->largest;
}

/* Keys and values that are not this rank's own, and their gradients.  A ring
 * has one block in use and one arriving; gathered, all are there; exchanged for
 * heads, the tokens of all for the rank's heads, which are as many. */
static double context_bytes(const struct shape *s)
{
	static const double blocks[WEFT_N_CP_COMMS] = {
		[WEFT_CP_P2P] = 2,
		[WEFT_CP_ALL_GATHER] = 0,
		[WEFT_CP_ALL_TO_ALL] = 1,
	};
	const struct weft_spec *spec = s->spec;
	double n = spec->cp_comm == WEFT_CP_ALL_GATHER ? spec->cp
						       : blocks[spec->cp_comm];

	if (spec->cp < 2)
		return 0;
	return n * 4 * s->tokens * s->wide *
	       weft_model_kv_width(s->model, spec->tp);
}

/* Equation 6: the output layer's input, its norm's, and the logits, which are
 * split by vocabulary. */
static double logit_bytes(const struct shape *s)
{
	return (1.0 + s->model->mtp_layers) * s->tokens *
	       ((s->e + s->wide) * s->h / s->split +
		(s->eager ? EAGER_LOGIT_BYTES * s->model->vocab
			  : LOGIT_BYTES * s->model->vocab / s->t));
}

/* Communicators: of all ranks, and of each axis. */
static double framework_bytes(const struct weft_spec *spec, const double *part)
{
	double n = 1.0 + (spec->tp > 1) + (spec->cp > 1) + (spec->pp > 1) +
		   (spec->ep > 1) + (spec->dp > 1);

	return CONTEXT_BYTES + n * COMMUNICATOR_BYTES +
	       GAPS * (part[WEFT_MEMORY_ACTIVATIONS] +
		       part[WEFT_MEMORY_LOGITS] + part[WEFT_MEMORY_GATHERED]);
}

static int check(const struct weft_spec *spec, const struct weft_model *model,
		 uint32_t p, struct weft_error *err)
{
	if (weft_spec_deal_check(spec, model, err))
		return -1;
	if (p >= spec->pp)
		return weft_fail(err, WEFT_EINVAL,
				 "stage %u of a pipeline of %u", p, spec->pp);
	return 0;
}

int weft_memory_stage(const struct weft_spec *spec,
		      const struct weft_model *model,
		      const struct weft_memory_options *options, uint32_t p,
		      struct weft_memory *memory, struct weft_error *err)
{
	struct shape s = shape_of(spec, model, options);
	double *part = memory->part_bytes;
	struct stage stage;

	memset(memory, 0, sizeof(*memory));
	if (check(spec, model, p, err))
		return -1;
	stage = stage_of(&s, p);
	memory->stage = p;
	memory->layers = stage.layers;
	memory->parameters = stage.dense + stage.expert;
	memory->in_flight = in_flight(spec, p);
	memory->layer_bytes = stage.largest_kept;
	memory->working_bytes = stage.working;
	states_fill(&s, options, &stage, part);
	part[WEFT_MEMORY_ACTIVATIONS] =
		memory->in_flight * stage.kept * (1 - spec->offload) +
		stage.working;
	/* One layer's leave, or come, while the next one's are used. */
	if (spec->offload > 0)
		part[WEFT_MEMORY_ACTIVATIONS] +=
			2 * spec->offload * stage.largest_kept;
	if (p == 0 && s.dropout)
		part[WEFT_MEMORY_ACTIVATIONS] += memory->in_flight * s.tokens *
						 MASK_BYTES * s.h / s.split;
	if (p == spec->pp - 1)
		part[WEFT_MEMORY_LOGITS] = logit_bytes(&s);
	part[WEFT_MEMORY_CONTEXT] = context_bytes(&s);
	part[WEFT_MEMORY_FRAMEWORK] = framework_bytes(spec, part);
	for (int k = 0; k < WEFT_N_MEMORY_PARTS; k++)
		memory->total_bytes += part[k];
	return 0;
}

int weft_memory_worst(const struct weft_spec *spec,
		      const struct weft_model *model,
		      const struct weft_memory_options *options,
		      struct weft_memory *memory, struct weft_error *err)
{
	struct weft_memory stage;

	if (weft_memory_stage(spec, model, options, 0, memory, err))
		return -1;
	for (uint32_t p = 1; p < spec->pp; p++) {
		if (weft_memory_stage(spec, model, options, p, &stage, err))
			return -1;
		if (stage.total_bytes > memory->total_bytes)
			*memory = stage;
	}
	return 0;
}

bool weft_memory_fits(const struct weft_memory *memory, double gpu_bytes)
{
	return memory->total_bytes <= gpu_bytes;
}

bool weft_memory_warning(const struct weft_memory *memory, double gpu_bytes,
			 const char *gpu, char *text, size_t size)
{
	int largest = 0;

	*text = '\0';
	if (!(gpu_bytes > 0) || weft_memory_fits(memory, gpu_bytes))
		return false;
	for (int k = 1; k < WEFT_N_MEMORY_PARTS; k++) {
		if (memory->part_bytes[k] > memory->part_bytes[largest])
			largest = k;
	}
	snprintf(text, size,
		 "does not fit by estimate: a GPU of stage %u needs %.1f GB "
		 "(%.1f GB of them %s), %s gives a process %.0f GB",
		 memory->stage, memory->total_bytes / 1e9,
		 memory->part_bytes[largest] / 1e9,
		 weft_memory_part_names[largest], gpu && *gpu ? gpu : "it",
		 gpu_bytes / 1e9);
	return true;
}
