/* SPDX-License-Identifier: GPL-3.0-or-later */
/* readers_verl.c - verl: the training of the actor, among models that generate
 * and judge */
#include "costmodel/script/draft.h"

#include <stdio.h>
#include <string.h>

#define ACTOR "actor_rollout_ref.actor."
#define MODEL "actor_rollout_ref.model."

static bool begins(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

bool verl_suits(const struct weft_draft *draft)
{
	for (size_t i = 0; i < draft->facts->n; i++)
		if (begins(draft->facts->of[i].name, "actor_rollout_ref."))
			return true;
	return false;
}

/* The other models have parallelism of their own, by the same words. */
bool verl_about(const struct fact *fact)
{
	static const char *const others[] = {"trainer.nnodes",
					     "trainer.n_gpus_per_node",
					     "data.max_prompt_length",
					     "data.max_response_length",
					     "actor_rollout_ref.rollout.n",
					     "config_name"};

	if (fact->scope != FACT_PROGRAM && fact->scope != FACT_FILE)
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(fact->name, others[i]) == 0)
			return true;
	return begins(fact->name, ACTOR) || begins(fact->name, MODEL);
}

static const struct fact *find(const struct weft_draft *draft, const char *name)
{
	return facts_find(draft->facts, name);
}

static bool is_megatron(const struct weft_draft *draft)
{
	const struct fact *strategy = find(draft, ACTOR "strategy");
	const struct fact *config = find(draft, "config_name");

	if (!strategy && config && strstr(config->value, "megatron"))
		return true;
	if (strategy)
		return strcmp(strategy->value, "megatron") == 0;
	for (size_t i = 0; i < draft->facts->n; i++)
		if (begins(draft->facts->of[i].name, ACTOR "megatron."))
			return true;
	return false;
}

static void megatron_layout(struct weft_draft *draft)
{
	const struct fact *sp = find(draft, "sequence_parallel");

	if (draft_number(draft, "tp") > 1)
		draft_set(draft, "sp", sp ? sp->value : "on", sp);
	else
		draft_drop(draft, "sp");
	draft_set(draft, "zero", "1", NULL);
	draft_drop(draft, "shard");
	draft_take_stages(draft);
	draft_set(draft, "software", "megatron-core", NULL);
}

static void fsdp_layout(struct weft_draft *draft)
{
	static const char *const model[] = {"tp",  "pp",  "ep",
					    "etp", "vpp", "sp"};
	uint32_t gpus = draft_number(draft, "nodes") *
			draft_number(draft, "gpus_per_node");

	for (size_t i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		draft_drop(draft, model[i]);
	draft_take_ulysses(draft);
	if (gpus && draft_number(draft, "shard") >= gpus)
		draft_drop(draft, "shard");
	draft_set(draft, "zero", "3", NULL);
	draft_set(draft, "software", "fsdp", NULL);
}

/* Sequences of an update: prompts of the mini-batch, each answered n times. */
static void batch_take(struct weft_draft *draft)
{
	const struct fact *mini = find(draft, ACTOR "ppo_mini_batch_size");
	const struct fact *micro =
		find(draft, ACTOR "ppo_micro_batch_size_per_gpu");
	uint32_t n = fact_number(find(draft, "actor_rollout_ref.rollout.n"));
	uint32_t replicas = draft_replicas(draft);
	uint64_t gbs = (uint64_t)fact_number(mini) * (n ? n : 1);
	bool packed =
		draft_on(draft, ACTOR "use_dynamic_bsz") || !fact_number(micro);
	uint32_t mbs = packed ? 1 : fact_number(micro);

	draft_drop(draft, "gbs");
	draft_drop(draft, "mbs");
	if (gbs && gbs <= WEFT_MAX_GBS && replicas &&
	    gbs % ((uint64_t)replicas * mbs) == 0) {
		draft_set_number(draft, "mbs", mbs, packed ? NULL : micro);
		draft_set_number(draft, "gbs", (uint32_t)gbs, mini);
	} else if (mini) {
		draft_miss(draft,
			   "gbs: %s:%u: %llu sequences are no whole number of "
			   "micro-batches of each replica",
			   mini->file, mini->line, (unsigned long long)gbs);
	}
	if (packed)
		draft_assume(draft, "mbs=1: sequences are packed by length");
}

static void sequence_take(struct weft_draft *draft)
{
	const struct fact *answer = find(draft, "data.max_response_length");
	uint32_t prompt = fact_number(find(draft, "data.max_prompt_length")),
		 length = fact_number(answer);

	draft_drop(draft, "seq");
	if (!prompt || !length || prompt > UINT32_MAX - length)
		return;
	draft_set_number(draft, "seq", prompt + length, answer);
	draft_assume(draft, "seq=%u: the longest prompt and answer",
		     prompt + length);
}

void verl_take(struct weft_draft *draft)
{
	const struct fact *strategy = find(draft, ACTOR "strategy");

	draft_take_model(draft, MODEL "path");
	if (is_megatron(draft))
		megatron_layout(draft);
	else if (!strategy && !draft->launch)
		draft_miss(draft, "tp, pp, dp: strategy is in a "
				  "configuration that is not here");
	else if (!strategy || begins(strategy->value, "fsdp"))
		fsdp_layout(draft);
	else
		draft_miss(draft, "tp, pp, dp: %s:%u: \"%s\" is not known",
			   strategy->file, strategy->line, strategy->value);
	batch_take(draft);
	sequence_take(draft);
	if (draft_on(draft, MODEL "enable_gradient_checkpointing") &&
	    !draft_given(draft, "recompute"))
		draft_set(draft, "recompute", "full",
			  find(draft, MODEL "enable_gradient_checkpointing"));
	draft_set(draft, "dtype", "bf16", NULL);
	draft_assume(draft, "the update of the actor alone: what generates, "
			    "and other models, are left out");
}
