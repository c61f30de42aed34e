/* SPDX-License-Identifier: GPL-3.0-or-later */
/* readers_megatron.c - Megatron-LM, and what is built on it: NeMo and
 * Megatron-Bridge */
#include "costmodel/script/draft.h"

#include <stdio.h>
#include <string.h>

/* ---- Megatron-LM ---- */

bool megatron_suits(const struct weft_draft *draft)
{
	static const char *const words[] = {"tensor_model_parallel_size",
					    "pipeline_model_parallel_size",
					    "model_parallel_size"};
	bool batch = draft_has(draft, "micro_batch_size") ||
		     draft_has(draft, "batch_size");

	for (size_t i = 0; i < 3; i++)
		if (facts_find_in(draft->facts, FACT_PROGRAM, words[i]))
			return true;
	return batch && draft_has(draft, "num_layers") &&
	       draft_program_has(draft, "pretrain_");
}

static void megatron_shards(struct weft_draft *draft)
{
	static const struct {
		const char *name, *zero;
	} ways[] = {{"use_distributed_optimizer", "1"},
		    {"use_torch_fsdp2", "3"}};
	const struct fact *strategy =
		facts_find(draft->facts, "data_parallel_sharding_strategy");

	if (!strategy)
		for (size_t i = 0; i < 2 && !draft_given(draft, "zero"); i++)
			if (draft_on(draft, ways[i].name))
				draft_set(
					draft, "zero", ways[i].zero,
					facts_find(draft->facts, ways[i].name));
	if (draft_on(draft, "use_megatron_fsdp") && !strategy)
		draft_miss(draft, "zero: --use-megatron-fsdp without "
				  "--data-parallel-sharding-strategy");
}

/* Layers of the first or the last stage, where they are given; 0: as others. */
static uint32_t end_layers(struct weft_draft *draft, const char *end,
			   const struct fact **from)
{
	const struct fact *fact;
	char name[64];

	snprintf(name, sizeof(name), "decoder_%s_pipeline_num_layers", end);
	fact = facts_find(draft->facts, name);
	snprintf(name, sizeof(name), "num_layers_in_%s_pipeline_stage", end);
	if (!fact)
		fact = facts_find(draft->facts, name);
	if (fact && fact->unknown)
		draft_miss(draft,
			   "stages: %s:%u leaves the layers of the %s stage "
			   "to a run",
			   fact->file, fact->line, end);
	if (fact_number(fact))
		*from = fact;
	return fact_number(fact);
}

/* The embedding or the output counts as a layer of its stage: that stage has
 * one fewer.  *from: who says so, if so. */
static uint32_t end_counts(struct weft_draft *draft, const char *part,
			   const struct fact **from)
{
	char name[64];

	snprintf(name, sizeof(name), "account_for_%s_in_pipeline_split", part);
	if (!draft_on(draft, name))
		return 0;
	*from = facts_find(draft->facts, name);
	return 1;
}

/* Those of the shape, else of the model. */
static uint32_t all_layers(struct weft_draft *draft)
{
	uint32_t layers = draft_number(draft, "layers");
	struct weft_model model;

	if (!layers && draft_given(draft, "model") &&
	    weft_model_find(draft_slot(draft, "model")->value, &model, NULL) ==
		    0)
		layers = model.layers;
	return layers;
}

static void stages_write(struct weft_draft *draft, uint32_t first,
			 uint32_t last, const struct fact *from)
{
	uint32_t layers = all_layers(draft);
	uint32_t between = draft_number(draft, "pp") - (first > 0) - (last > 0);
	int64_t left = (int64_t)layers - first - last;
	char text[64];
	int n = 0;

	if (left < 0 || (between ? left % between : left)) {
		draft_miss(draft,
			   "stages: %s:%u: %u stages cannot share what the "
			   "ends leave of %u layers",
			   from->file, from->line, between, layers);
		return;
	}
	if (first)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%u+", first);
	if (between)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%ux%u+",
			      (uint32_t)left / between, between);
	if (last)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%u+", last);
	text[n - 1] = '\0';
	draft_set(draft, "stages", text, from);
}

/* Pipelines whose ends have fewer layers than the stages between. */
void draft_take_stages(struct weft_draft *draft)
{
	const struct fact *layout =
		facts_find(draft->facts, "pipeline_model_parallel_layout");
	const struct fact *from = NULL;
	uint32_t first = end_layers(draft, "first", &from),
		 last = end_layers(draft, "last", &from),
		 pp = draft_number(draft, "pp"), layers = all_layers(draft);

	if (pp < 2)
		return;
	if (layout && strchr(layout->value, '|'))
		draft_miss(draft,
			   "stages: %s:%u deals out the layers by a pattern; "
			   "give stages=",
			   layout->file, layout->line);
	if (!from) {
		uint32_t start = end_counts(draft, "embedding", &from),
			 end = end_counts(draft, "loss", &from);
		uint32_t each = (layers + start + end) / pp;

		first = start ? each - 1 : 0;
		last = end ? each - 1 : 0;
	}
	if (from && !layers)
		draft_miss(draft,
			   "stages: %s:%u makes stages unlike, and nothing "
			   "says how many layers there are",
			   from->file, from->line);
	else if (from)
		stages_write(draft, first, last, from);
}

static void megatron_stages(struct weft_draft *draft)
{
	const struct fact *fact = facts_find(
		draft->facts, "num_layers_per_virtual_pipeline_stage");
	uint32_t pp = draft_number(draft, "pp"),
		 layers = draft_number(draft, "layers"), k = fact_number(fact);

	if (!fact || pp < 2)
		return;
	if (!k || !layers || layers % ((uint64_t)pp * k)) {
		draft_miss(draft,
			   "vpp: %s:%u: layers are not a multiple of pp times "
			   "\"%s\"",
			   fact->file, fact->line, fact->value);
		return;
	}
	draft_set_number(draft, "vpp", layers / pp / k, fact);
}

static void megatron_shape(struct weft_draft *draft)
{
	const struct fact *groups =
		facts_find(draft->facts, "num_query_groups");

	if (groups && draft_has(draft, "num_attention_heads") &&
	    groups->scope == FACT_PROGRAM &&
	    !draft_on(draft, "group_query_attention"))
		draft_drop(draft, "kv_heads");
	if (draft_on(draft, "multi_latent_attention"))
		draft_assume(draft,
			     "latent attention is counted as plain attention");
	if (draft_number(draft, "experts") == 1)
		draft_drop(draft, "experts");
	if (draft_given(draft, "experts") && !draft_given(draft, "top_k")) {
		draft_set(draft, "top_k", "2", NULL);
		draft_assume(draft, "top_k=2, Megatron-LM's default");
	}
	/* Megatron-LM keeps the parameters of the feed-forward with gates. */
	if (draft_given(draft, "gated_mlp") && !draft_given(draft, "ffn") &&
	    draft_number(draft, "hidden"))
		draft_set_number(draft, "ffn",
				 draft_number(draft, "hidden") * 8 / 3 / 64 *
					 64,
				 facts_find(draft->facts, "swiglu"));
}

static void megatron_dtype(struct weft_draft *draft)
{
	if (draft_given(draft, "dtype"))
		return;
	if (draft->launch && draft->launch->open_line) {
		draft_miss(draft, "dtype: neither --bf16 nor --fp16 is among "
				  "the arguments that are known");
		return;
	}
	/* slime trains in it unless told otherwise. */
	if (draft_has(draft, "actor_num_nodes")) {
		draft_set(draft, "dtype", "bf16", NULL);
		return;
	}
	draft_set(draft, "dtype", "fp32", NULL);
	draft_assume(draft, "dtype=fp32: neither --bf16 nor --fp16");
}

void megatron_take(struct weft_draft *draft)
{
	const struct fact *old = facts_find(draft->facts, "batch_size");
	const char *sp = draft_on(draft, "sequence_parallel") ? "on" : "off";

	if (old && !draft_given(draft, "mbs") && fact_number(old))
		draft_set_number(draft, "mbs", fact_number(old), old);
	megatron_shards(draft);
	draft_take_ulysses(draft);
	megatron_stages(draft);
	draft_take_stages(draft);
	megatron_shape(draft);
	if (draft_number(draft, "tp") > 1)
		draft_set(draft, "sp", sp,
			  facts_find(draft->facts, "sequence_parallel"));
	else
		draft_drop(draft, "sp");
	if (draft_on(draft, "recompute_activations"))
		draft_set(draft, "recompute", "selective",
			  facts_find(draft->facts, "recompute_activations"));
	if (draft_on(draft, "checkpoint_activations"))
		draft_set(draft, "recompute", "full",
			  facts_find(draft->facts, "checkpoint_activations"));
	if (draft_on(draft, "no_pipeline_parallel"))
		draft_set(draft, "pp", "1",
			  facts_find(draft->facts, "no_pipeline_parallel"));
	if (draft_on(draft, "use_tp_pp_dp_mapping"))
		draft_set(draft, "order", "tp-cp-ep-pp-dp",
			  facts_find(draft->facts, "use_tp_pp_dp_mapping"));
	megatron_dtype(draft);
	if (draft_has(draft, "decoder_seq_length"))
		draft_miss(draft,
			   "model: encoder and decoder have sequences of "
			   "their own, which a spec does not have");
	if (draft_has(draft, "actor_num_nodes"))
		draft_assume(draft, "the update of the actor alone: what "
				    "generates is left out");
	if (draft_has(draft, "rampup_batch_size"))
		draft_assume(draft, "gbs is that behind the ramp-up");
	draft_set(draft, "software",
		  draft_launched_by(draft, LAUNCHER_DEEPSPEED) ||
				  draft_on(draft, "deepspeed")
			  ? "deepspeed"
			  : "megatron-core",
		  NULL);
}

/* ---- NeMo and Megatron-Bridge ---- */

bool nemo_suits(const struct weft_draft *draft)
{
	return draft_has(draft, "model.tensor_model_parallel_size") ||
	       draft_has(draft, "trainer.num_nodes") ||
	       draft_has(draft, "megatron_cfg.tensor_model_parallel_size");
}

/* Words of FSDP stand there also where it is off. */
static void nemo_shards(struct weft_draft *draft)
{
	const struct fact *optimizer = facts_find(draft->facts, "optim.name");

	if (!draft_on(draft, "fsdp") && !draft_on(draft, "use_megatron_fsdp"))
		draft_drop(draft, "zero");
	if (draft_given(draft, "zero"))
		return;
	if (draft_on(draft, "use_distributed_optimizer"))
		draft_set(
			draft, "zero", "1",
			facts_find(draft->facts, "use_distributed_optimizer"));
	else if (optimizer && strstr(optimizer->value, "distributed"))
		draft_set(draft, "zero", "1", optimizer);
}

void nemo_take(struct weft_draft *draft)
{
	const struct fact *gate = facts_find(draft->facts, "activation");

	nemo_shards(draft);
	draft_take_stages(draft);
	if (gate && strstr(gate->value, "swiglu"))
		draft_set(draft, "gated_mlp", "on", gate);
	if (draft_number(draft, "tp") > 1)
		draft_set(draft, "sp",
			  draft_on(draft, "sequence_parallel") ? "on" : "off",
			  facts_find(draft->facts, "sequence_parallel"));
	else
		draft_drop(draft, "sp");
	draft_set(draft, "software", "nemo", NULL);
}
