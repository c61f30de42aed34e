/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.h - what the user says of a job: "tp=8,pp=2,dp=4,model=llama3-70B"
 *
 * One grammar everywhere: --job, sbatch --weft=, --comment=weft:...
 * Documented in weft-spec(7).
 */
#ifndef WEFT_COSTMODEL_JOB_SPEC_H
#define WEFT_COSTMODEL_JOB_SPEC_H

#include "base/error.h"
#include "costmodel/job/model.h"
#include "costmodel/job/parallelism.h"
#include "topology/rank_map.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_SPEC_MAX_BYTES 1024
#define WEFT_MAX_PARTS	    256
#define WEFT_MAX_GBS	    (1u << 30)

#define WEFT_ORDER_DEFAULT "tp-cp-ep-dp-pp"

enum weft_metric { WEFT_HOPS, WEFT_LATENCY, WEFT_TIME, WEFT_N_METRICS };
extern const char *const weft_metric_names[WEFT_N_METRICS];

enum weft_dtype {
	WEFT_BF16,
	WEFT_FP16,
	WEFT_FP32,
	WEFT_FP8,   /* a scale for each tensor */
	WEFT_MXFP8, /* a scale of 8 bits for 32 elements */
	WEFT_NVFP4, /* a scale of 8 bits for 16 elements */
	WEFT_N_DTYPES
};
enum weft_spread {
	WEFT_PACK,
	WEFT_BALANCE,
	WEFT_FAILURE_DOMAIN,
	WEFT_N_SPREADS
};

/* Who lays the ranks on the GPUs once a job has them. */
enum weft_ranks_by { WEFT_RANKS_ORDER, WEFT_RANKS_LEAVE, WEFT_N_RANKS_BY };

/* Who wrote the spec. */
enum weft_spec_from { WEFT_FROM_USER, WEFT_FROM_SCRIPT, WEFT_N_FROMS };

/* What the forward pass is repeated for before the backward pass. */
enum weft_recompute {
	WEFT_RECOMPUTE_NONE,
	WEFT_RECOMPUTE_SELECTIVE, /* the core of attention */
	WEFT_RECOMPUTE_FULL,	  /* each layer */
	WEFT_N_RECOMPUTES
};

/* The framework that trains, software.h. */
enum weft_framework {
	WEFT_FRAMEWORK_USUAL, /* of jobs like it on the GPU */
	WEFT_MEGATRON_2021,
	WEFT_MEGATRON_CORE,
	WEFT_NEMO,
	WEFT_FSDP,
	WEFT_DEEPSPEED,
	WEFT_TORCHTITAN,
	WEFT_MAXTEXT,
	WEFT_N_FRAMEWORKS
};
extern const char *const weft_framework_names[WEFT_N_FRAMEWORKS];

/* Kernels of attention: scores in memory with one kernel for the softmax, or
 * the generations of FlashAttention (cuDNN's since 9.0 count as the third), or
 * scores in memory with a kernel for each operation on them, as Hugging Face's
 * attn_implementation="eager" has it. */
enum weft_attention {
	WEFT_ATTENTION_PLAIN,
	WEFT_ATTENTION_FLASH1,
	WEFT_ATTENTION_FLASH2,
	WEFT_ATTENTION_FLASH3,
	WEFT_ATTENTION_EAGER,
	WEFT_N_ATTENTIONS
};

/* Kernels of experts, and what sends tokens to them. */
enum weft_expert_kernels {
	/* One product for all experts of a rank; what sorts, quantizes and
	 * activates are kernels of their own, which the host launches. */
	WEFT_EXPERTS_GROUPED,
	/* Products that activate and quantize in one kernel, tokens sorted as
	 * they are sent, in chunks behind the products; CUDA graphs. */
	WEFT_EXPERTS_FUSED,
	WEFT_N_EXPERT_KERNELS
};

/* What stages of a pipeline do in which order. */
enum weft_pipeline_order {
	WEFT_1F1B,
	/* Gradients of weights fill what 1F1B leaves idle (arXiv:2401.10241,
	 * ZB-H1). */
	WEFT_ZERO_BUBBLE,
	WEFT_N_PIPELINES
};

/* What ZeRO stage 1 deals out to ranks. */
enum weft_zero_by {
	WEFT_ZERO_BY_SLICES,  /* equal parts of all parameters together */
	WEFT_ZERO_BY_TENSORS, /* whole tensors, which their ranks broadcast */
	WEFT_N_ZERO_BYS
};

/* How the ranks of a context-parallel group exchange keys and values. */
enum weft_cp_comm {
	WEFT_CP_P2P,	    /* around a ring, behind attention */
	WEFT_CP_ALL_GATHER, /* gathered before attention */
	WEFT_CP_ALL_TO_ALL, /* heads for tokens, queries and outputs too */
	WEFT_N_CP_COMMS
};

/* The algorithm of collectives that have a choice of it. */
enum weft_choice_of_algorithm {
	WEFT_BY_SIZE, /* tree for small messages, ring for large ones */
	WEFT_BY_RING,
	WEFT_BY_TREE,
	WEFT_BY_HIERARCHY,
	WEFT_BY_HALVING_DOUBLING,
	WEFT_BY_SWITCH, /* reduced in the network */
	WEFT_N_CHOICES_OF_ALGORITHM
};

/* 0 or "" means "not given" until weft_spec_resolve has filled it in. */
struct weft_spec {
	uint32_t gpus, gpus_per_node;
	uint32_t nodes, nodes_max; /* the least and the most, mostly equal */
	uint32_t tp, cp, ep, etp, pp, vpp, dp;
	uint32_t zero;		/* ZeRO stage 0..3 */
	uint32_t mbs;		/* sequences per micro-batch */
	uint32_t gbs;		/* sequences per step, over all dp */
	uint32_t seq;		/* tokens per sequence */
	bool sequence_parallel; /* activations split over tp everywhere */
	bool scatter; /* pipeline messages split over tp; sp does it already */
	enum weft_recompute recompute;
	enum weft_framework software;
	enum weft_attention attention; /* unless given, the software's */
	bool fused;		       /* likewise */
	enum weft_pipeline_order pipeline;
	uint32_t stages[WEFT_MAX_PARTS], n_stages; /* layers of each stage */
	double offload;	    /* share of kept activations in the host's memory */
	double power_cap_w; /* of a GPU; 0: none */
	enum weft_expert_kernels expert_kernels;
	enum weft_cp_comm cp_comm;
	uint32_t shard; /* ranks of dp*cp that `zero` shards over */
	enum weft_zero_by zero_by;
	double capacity;  /* of an expert, over an even share; 0: no limit */
	double imbalance; /* weft_spec_fullest; 0: 1 */
	uint32_t route_nodes; /* nodes that a token's experts lie on; 0: any */
	double bucket_bytes;  /* gradients of one collective */
	double compress;      /* bytes of a gradient over those sent, >= 1 */
	uint32_t sync_every;  /* steps between exchanges of replicas */
	enum weft_choice_of_algorithm algorithm;
	uint32_t channels;     /* rings of one collective */
	enum weft_dtype dtype; /* of activations */
	enum weft_dtype gradient_dtype, parameter_dtype;
	enum weft_dtype dispatch_dtype; /* of tokens on the way to experts */
	enum weft_metric metric;
	enum weft_spread spread;
	uint32_t segment;			 /* nodes that stay together */
	uint32_t split[WEFT_MAX_PARTS], n_split; /* nodes of each part */
	double wait_s;
	enum weft_ranks_by ranks;
	enum weft_env env;
	enum weft_spec_from from;
	char order[64];	   /* default "tp-cp-ep-dp-pp" */
	char model[128];   /* built-in name or, on the command line, a file */
	char traffic[128]; /* measured matrix; command line only */
	struct weft_model shape;     /* members that the spec gives itself */
	char within[32], prefer[32]; /* level names */
	uint64_t given; /* bit k: key k of the grammar was written */
};

/* Parses text, in which keys and values may be the frameworks' words
 * (spec_words.h): syntax, types, ranges, unknown and repeated keys (with the
 * nearest known one).  err->column is the offset in text from 1.  text longer
 * than WEFT_SPEC_MAX_BYTES is refused, as is anything but printable ASCII, so
 * that what messages quote is safe to show.  An empty text is a valid spec.
 * Does not look at other keys' values. */
int weft_spec_parse(const char *text, struct weft_spec *spec,
		    struct weft_error *err);

/* Fills in defaults and dp, and verifies that everything agrees:
 * tp*cp*pp*dp == gpus (and etp*ep*pp divides it), nodes*gpus_per_node == gpus,
 * shard dividing dp*cp, gbs divisible by mbs*dp, order names every axis.  seq
 * stays 0 when the model is not built in: then it is the model's.  etp stays 0
 * unless ep > 1.  nodes and gpus_per_node stay 0 ("any") unless written or
 * implied: by each other, or nodes by split.  gpus: how many GPUs the job gets
 * when the spec does not say (0: unknown, then it is the product of the axes).
 * gpus given and different from spec->gpus is an error.  Keys whose engine is
 * not there yet fail with WEFT_ENOSYS where they would change the answer. */
int weft_spec_resolve(struct weft_spec *spec, uint32_t gpus,
		      struct weft_error *err);

/* The grid of a resolved spec's ranks, as the dense layers see it. */
int weft_spec_grid(const struct weft_spec *spec, struct weft_grid *grid,
		   struct weft_error *err);

/* The grid of the same ranks as expert layers see it, in the same order: "tp"
 * has etp ranks, "ep" ep, "dp" (replicas of an expert) what is left, "cp" one.
 * Only where ep > 1. */
int weft_spec_expert_grid(const struct weft_spec *spec, struct weft_grid *grid,
			  struct weft_error *err);

/* Micro-batches per step of a resolved spec: gbs / (mbs*dp). */
uint32_t weft_spec_micro_batches(const struct weft_spec *spec);

/* Tokens that the experts of the fullest expert-parallel rank compute, over the
 * mean of all ranks: `imbalance`, no more than a capacity leaves, nor than all
 * tokens.  Of a resolved spec. */
double weft_spec_fullest(const struct weft_spec *spec);

/* The layers first ... first + n - 1, which chunk k of the pp*vpp has.  Chunk k
 * is on stage k % pp.  All get as many, the first ones one more; with stages=
 * that holds for the chunks of each stage.  Of a spec and a number of layers
 * that weft_spec_deal_check has seen. */
struct weft_chunk {
	uint32_t first, n;
};
struct weft_chunk weft_spec_chunk(const struct weft_spec *spec, uint32_t layers,
				  uint32_t k);
/* -1 where the chunks cannot have the model's layers. */
int weft_spec_deal_check(const struct weft_spec *spec,
			 const struct weft_model *model,
			 struct weft_error *err);

/* true when the spec says what is trained: a model, a shape of its own, or
 * measured traffic. */
bool weft_spec_names_model(const struct weft_spec *spec);

/* true when the spec has a whole shape, and so needs no named model. */
bool weft_spec_has_shape(const struct weft_spec *spec);

/* Lays the shape that the spec gives over *model; where that is the whole
 * shape, over nothing, with what is left out as weft-spec(7) says. */
int weft_spec_shape(const struct weft_spec *spec, struct weft_model *model,
		    struct weft_error *err);

/* true when `key` was written in the text. */
bool weft_spec_given(const struct weft_spec *spec, const char *key);

/* The name of key k of the grammar; NULL: there are no more. */
const char *weft_spec_key(uint32_t k);

/* Bytes of one element, its share of a scale included. */
double weft_dtype_bytes(enum weft_dtype dtype);

#endif
