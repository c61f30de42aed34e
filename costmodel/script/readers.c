/* SPDX-License-Identifier: GPL-3.0-or-later */
/* readers.c - the frameworks: how each is known, and what is its own */
#include "costmodel/script/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The number of a fact; 0: it is not there, or says nothing. */
static uint32_t number(const struct weft_draft *draft, const char *name)
{
	return fact_number(facts_find(draft->facts, name));
}

/* A factor of an axis that may be unknown. */
static void factor(struct weft_draft *draft, const char *name, uint32_t *value)
{
	const struct fact *fact = facts_find(draft->facts, name);

	if (fact && fact->unknown)
		draft_miss(draft, "%s: %s:%u leaves it to a run", name,
			   fact->file, fact->line);
	if (fact_number(fact))
		*value *= fact_number(fact);
}

/* mbs and the steps between updates make the batch of all replicas. */
static void accumulate(struct weft_draft *draft, const char *steps)
{
	const struct fact *fact = facts_find(draft->facts, steps);
	uint64_t replicas = draft_replicas(draft), batch;

	if (draft_given(draft, "gbs") || !replicas)
		return;
	batch = replicas * draft_number(draft, "mbs");
	if (!batch || batch > WEFT_MAX_GBS || !fact_number(fact) ||
	    fact_number(fact) > WEFT_MAX_GBS / batch)
		return;
	draft_set_number(draft, "gbs", (uint32_t)batch * fact_number(fact),
			 fact);
}

/* ---- DeepSpeed ---- */

static bool deepspeed_suits(const struct weft_draft *draft)
{
	const struct fact *stage = facts_find(draft->facts, "zero_stage");
	const struct fact *type = facts_find(draft->facts, "distributed_type");

	return draft_launched_by(draft, LAUNCHER_DEEPSPEED) ||
	       draft_has(draft, "zero_optimization.stage") ||
	       draft_has(draft, "train_micro_batch_size_per_gpu") ||
	       draft_has(draft, "deepspeed") ||
	       draft_has(draft, "deepspeed_config") ||
	       (stage && stage->scope != FACT_PROGRAM) ||
	       (type && strcasecmp(type->value, "DEEPSPEED") == 0);
}

static void deepspeed_take(struct weft_draft *draft)
{
	const struct fact *batch = facts_find(draft->facts, "train.batch_size");

	draft_take_ulysses(draft);
	if (number(draft, "autotp_size") > 1)
		draft_set_number(draft, "tp", number(draft, "autotp_size"),
				 facts_find(draft->facts, "autotp_size"));
	if (!draft_given(draft, "zero"))
		draft_miss(draft, "zero: no configuration of DeepSpeed says "
				  "its stage");
	if (draft_program_has(draft, "openrlhf") && fact_number(batch))
		draft_set_number(draft, "gbs", fact_number(batch), batch);
	accumulate(draft, "gradient_accumulation_steps");
	draft_take_model(draft, "model_name_or_path");
	draft_set(draft, "software", "deepspeed", NULL);
}

/* ---- torchtitan ---- */

static bool torchtitan_suits(const struct weft_draft *draft)
{
	return draft_program_has(draft, "torchtitan") ||
	       draft_has(draft, "data_parallel_shard_degree") ||
	       draft_has(draft, "tensor_parallel_degree");
}

static void torchtitan_model(struct weft_draft *draft)
{
	const struct fact *name = facts_find(draft->facts, "model.name");
	const struct fact *flavor = facts_find(draft->facts, "model.flavor");
	struct weft_model model;
	char text[128];

	if (!name || !flavor)
		return;
	snprintf(text, sizeof(text), "%.60s-%.60s", name->value, flavor->value);
	if (weft_model_find(text, &model, NULL) == 0)
		draft_set(draft, "model", model.name, flavor);
}

/* Parameters are sharded unless the degree of it is 1. */
static void torchtitan_shards(struct weft_draft *draft)
{
	const struct fact *shard =
		facts_find(draft->facts, "data_parallel_shard_degree");
	uint32_t replicas = number(draft, "data_parallel_replicate_degree");

	if (fact_number(shard) == 1) {
		draft_set(draft, "zero", "0", shard);
		draft_drop(draft, "shard");
		return;
	}
	draft_set(draft, "zero", "3", shard);
	if (replicas > 1 && !draft_given(draft, "shard"))
		draft_miss(draft,
			   "shard: data_parallel_replicate_degree is %u, and "
			   "data_parallel_shard_degree is not given",
			   replicas);
	if (replicas <= 1)
		draft_drop(draft, "shard");
}

static void torchtitan_take(struct weft_draft *draft)
{
	const struct fact *batch =
		facts_find(draft->facts, "training.batch_size");
	const struct fact *remat =
		facts_find(draft->facts, "activation_checkpoint.mode");

	if (!draft_has(draft, "tensor_parallel_degree") &&
	    !draft_has(draft, "data_parallel_shard_degree") &&
	    !draft_has(draft, "seq_len"))
		draft_miss(draft, "tp, pp, cp: the sizes are in a "
				  "configuration that is not here");
	torchtitan_model(draft);
	torchtitan_shards(draft);
	if (fact_number(batch) && !draft_given(draft, "mbs"))
		draft_set_number(draft, "mbs", fact_number(batch), batch);
	if (draft_number(draft, "pp") > 1)
		draft_assume(draft,
			     "mbs: the batch of a rank as one micro-batch");
	if (remat && (strcmp(remat->value, "full") == 0 ||
		      strcmp(remat->value, "selective") == 0))
		draft_set(draft, "recompute", remat->value, remat);
	if (!draft_given(draft, "dtype"))
		draft_set(draft, "dtype", "bf16", NULL);
	draft_set(draft, "order", "pp/dp/cp/tp", NULL);
	draft_set(draft, "software", "torchtitan", NULL);
}

/* ---- MaxText ---- */

/* MaxDiffusion has the same mesh and words, and trains no language model. */
static bool maxtext_suits(const struct weft_draft *draft)
{
	const struct fact *framework = facts_find(draft->facts, "framework");

	if (draft_has(draft, "num_inference_steps") ||
	    (framework && strstr(framework->value, "diffusion")))
		return false;
	return draft_program_has(draft, "maxtext") ||
	       draft_program_has(draft, "MaxText") ||
	       draft_has(draft, "ici_fsdp_parallelism") ||
	       draft_has(draft, "dcn_data_parallelism") ||
	       draft_has(draft, "ici_tensor_parallelism");
}

static uint32_t mesh(struct weft_draft *draft, const char *axis)
{
	char ici[64], dcn[64];
	uint32_t n = 1;

	snprintf(ici, sizeof(ici), "ici_%s_parallelism", axis);
	snprintf(dcn, sizeof(dcn), "dcn_%s_parallelism", axis);
	factor(draft, ici, &n);
	factor(draft, dcn, &n);
	return n;
}

/* Axes of the mesh; the one that is -1 takes what is left. */
static void maxtext_mesh(struct weft_draft *draft)
{
	static const struct {
		const char *axis, *key;
	} axes[] = {{"tensor", "tp"},
		    {"context", "cp"},
		    {"expert", "ep"},
		    {"pipeline", "pp"}};
	uint32_t gpus = draft_number(draft, "nodes") *
			draft_number(draft, "gpus_per_node");
	const struct fact *fill =
		facts_find(draft->facts, "ici_fsdp_parallelism");
	uint32_t dp = mesh(draft, "fsdp") * mesh(draft, "data"), all = dp;

	for (size_t i = 0; i < 4; i++) {
		uint32_t n = mesh(draft, axes[i].axis);

		all *= n;
		if (n > 1)
			draft_set_number(draft, axes[i].key, n, NULL);
	}
	if (!fill)
		draft_assume(draft, "ici_fsdp_parallelism=-1, MaxText's "
				    "default: all that is left");
	if (!gpus && fact_number(fill)) {
		draft_set_number(draft, "gpus", all, fill);
		draft->script->n_missing = 0;
		gpus = all;
	} else if (gpus && fact_number(fill) && gpus != all) {
		draft_miss(draft, "gpus: the mesh has %u, the job %u", all,
			   gpus);
	}
	draft_set(draft, "zero", mesh(draft, "data") > 1 && dp == 1 ? "0" : "3",
		  fill);
}

static void maxtext_take(struct weft_draft *draft)
{
	const struct fact *hardware = facts_find(draft->facts, "hardware");
	const struct fact *batch =
		facts_find(draft->facts, "per_device_batch_size");
	const struct fact *remat = facts_find(draft->facts, "remat_policy");
	uint32_t tp;

	maxtext_mesh(draft);
	if (!hardware || strncmp(hardware->value, "gpu", 3) != 0)
		draft_miss(draft, "hardware=gpu: MaxText runs on TPUs unless "
				  "it says so");
	draft_take_model(draft, "model_name");
	tp = draft_number(draft, "tp");
	if (fact_number(batch))
		draft_set_number(draft, "mbs",
				 fact_number(batch) * (tp ? tp : 1), batch);
	if (remat)
		draft_set(draft, "recompute",
			  strcmp(remat->value, "full") == 0 ? "full"
							    : "selective",
			  remat);
	if (!draft_given(draft, "dtype"))
		draft_set(draft, "dtype", "bf16", NULL);
	draft_set(draft, "software", "maxtext", NULL);
}

/* ---- FSDP and Accelerate ---- */

static bool fsdp_suits(const struct weft_draft *draft)
{
	return draft_has(draft, "distributed_type") ||
	       draft_has(draft, "fsdp") ||
	       draft_has(draft, "fsdp_sharding_strategy") ||
	       draft_has(draft, "sharding_strategy");
}

static const char *fsdp_stage(const char *value)
{
	static const struct {
		const char *name, *zero;
	} strategies[] = {
		{"1", "3"},    {"FULL_SHARD", "3"},
		{"2", "2"},    {"SHARD_GRAD_OP", "2"},
		{"3", "0"},    {"NO_SHARD", "0"},
		{"true", "3"}, {"false", "2"},
		{"full", "3"},
	};

	for (size_t i = 0; i < 9; i++)
		if (strcasecmp(strategies[i].name, value) == 0)
			return strategies[i].zero;
	return NULL;
}

static void fsdp_strategy(struct weft_draft *draft)
{
	static const char *const names[] = {"fsdp_reshard_after_forward",
					    "fsdp_sharding_strategy",
					    "sharding_strategy", "fsdp"};
	const struct fact *fact = NULL;
	char value[32];

	for (size_t i = 0; i < 4 && !fact; i++)
		fact = facts_find(draft->facts, names[i]);
	if (!fact) {
		draft_set(draft, "zero", "3", NULL);
		draft_assume(draft, "zero=3: FSDP shards all unless told "
				    "otherwise");
		return;
	}
	snprintf(value, sizeof(value), "%.*s",
		 (int)(strcspn(fact->value, " ,") > 30
			       ? 30
			       : strcspn(fact->value, " ,")),
		 fact->value);
	if (fsdp_stage(value))
		draft_set(draft, "zero", fsdp_stage(value), fact);
	else if (!draft_given(draft, "shard"))
		draft_miss(draft,
			   "zero, shard: %s:%u: \"%s\" shards over some of "
			   "the ranks; give shard=",
			   fact->file, fact->line, fact->value);
}

static void fsdp_take(struct weft_draft *draft)
{
	const struct fact *type = facts_find(draft->facts, "distributed_type");

	draft_drop(draft, "zero");
	if (draft_has(draft, "train_batch_size")) {
		draft_drop(draft, "gbs");
		draft_miss(draft, "mbs: train_batch_size is a rank's in some "
				  "programs, and all ranks' in others");
	}
	if (type && strncmp(type->value, "MULTI_", 6) == 0)
		draft_set(draft, "zero", "0", type);
	else if (type && strcmp(type->value, "FSDP") != 0)
		draft_miss(draft, "zero: distributed_type is %s", type->value);
	else
		fsdp_strategy(draft);
	accumulate(draft, "gradient_accumulation_steps");
	draft_take_model(draft, "model_name_or_path");
	draft_set(draft, "software", "fsdp", NULL);
}

/* ---- nanotron ---- */

static bool nanotron_suits(const struct weft_draft *draft)
{
	return draft_has(draft, "parallelism.tp") &&
	       draft_has(draft, "parallelism.pp") &&
	       draft_has(draft, "tokens.micro_batch_size");
}

/* Its ranks must be as many as the launcher starts. */
static void nanotron_ranks(struct weft_draft *draft)
{
	const struct fact *dp = facts_find(draft->facts, "parallelism.dp");
	uint32_t replicas = draft_replicas(draft);

	if (!fact_number(dp))
		return;
	if (replicas && replicas != fact_number(dp))
		draft_miss(draft, "dp: %s:%u says %s, and the GPUs make %u",
			   dp->file, dp->line, dp->value, replicas);
	else
		draft_set_number(draft, "dp", fact_number(dp), dp);
}

static void nanotron_take(struct weft_draft *draft)
{
	const struct fact *mode = facts_find(draft->facts, "tp_mode");
	const struct fact *gate = facts_find(draft->facts, "hidden_act");

	nanotron_ranks(draft);
	if (draft_number(draft, "tp") > 1)
		draft_set(draft, "sp",
			  mode && strcasecmp(mode->value, "REDUCE_SCATTER") == 0
				  ? "on"
				  : "off",
			  mode);
	if (gate && strcmp(gate->value, "silu") == 0)
		draft_set(draft, "gated_mlp", "on", gate);
	accumulate(draft, "batch_accumulation_per_replica");
	if (draft_on(draft, "recompute_layer"))
		draft_set(draft, "recompute", "full",
			  facts_find(draft->facts, "recompute_layer"));
}

/* The first that suits is taken. */
const struct weft_script_reader weft_script_readers[] = {
	{"verl", "verl's Hydra arguments: the update of the actor", verl_suits,
	 verl_about, verl_take},
	{"nanotron", "nanotron's YAML", nanotron_suits, NULL, nanotron_take},
	{"maxtext", "MaxText's key=value arguments and YAML", maxtext_suits,
	 NULL, maxtext_take},
	{"torchtitan", "torchtitan's TOML and --section.key arguments",
	 torchtitan_suits, NULL, torchtitan_take},
	{"nemo", "NeMo, NeMo-RL and Megatron-Bridge: YAML and Hydra arguments",
	 nemo_suits, NULL, nemo_take},
	{"megatron", "Megatron-LM's arguments, also under DeepSpeed",
	 megatron_suits, NULL, megatron_take},
	{"deepspeed", "DeepSpeed's JSON, deepspeed and Accelerate with it",
	 deepspeed_suits, NULL, deepspeed_take},
	{"fsdp", "Accelerate's YAML, FSDP arguments of Transformers",
	 fsdp_suits, NULL, fsdp_take},
	{NULL, NULL, NULL, NULL, NULL},
};
