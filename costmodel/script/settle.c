/* SPDX-License-Identifier: GPL-3.0-or-later */
/* settle.c - what no framework says: defaults, doubts and what is left open */
#include "costmodel/script/draft.h"

#include <string.h>

/* Stages of the layers that are given; those of a model by name are its own. */
static void layers_settle(struct weft_draft *draft)
{
	uint32_t pp = draft_number(draft, "pp"),
		 layers = draft_number(draft, "layers");

	if (!layers && !draft_given(draft, "model") &&
	    draft_given(draft, "stages")) {
		draft_assume(draft,
			     "stages=%s is left out: the shape has no layers",
			     draft_slot(draft, "stages")->value);
		draft_drop(draft, "stages");
	} else if (layers && pp > 1 && layers % pp &&
		   !draft_given(draft, "stages"))
		draft_assume(draft,
			     "%u layers on %u stages: as evenly as they can be "
			     "shared; stages= says otherwise",
			     layers, pp);
}

/* A shape that lacks members is none; a whole one needs no name. */
static void shape_settle(struct weft_draft *draft)
{
	static const char *const members[] = {
		"layers", "hidden",    "heads",	  "ffn",   "kv_heads",
		"vocab",  "gated_mlp", "experts", "top_k", "expert_ffn"};
	bool whole = draft_given(draft, "layers") &&
		     draft_given(draft, "hidden") &&
		     draft_given(draft, "heads");

	for (size_t i = 0; i < 10 && !whole; i++)
		draft_drop(draft, members[i]);
	if (whole)
		draft_drop(draft, "model");
	layers_settle(draft);
	if (whole && !draft_given(draft, "vocab"))
		draft_assume(draft,
			     "vocab=128256: the vocabulary is not given");
	if (!whole && !draft_given(draft, "model"))
		draft_assume(draft,
			     "no model: traffic is that of %s; give "
			     "model= for a step time",
			     WEFT_MODEL_DEFAULT);
}

/* Keys that are not known must be; or the spec would be another job's. */
static void unknown_report(struct weft_draft *draft)
{
	for (uint32_t i = 0; i < draft->n_slots; i++) {
		struct slot *slot = &draft->slots[i];

		if (!slot->given && slot->unknown)
			draft_miss(draft,
				   "%s: %s:%u: %s is not known before the "
				   "script runs",
				   slot->key, slot->from->file,
				   slot->from->line, slot->from->name);
		else if (slot->given && slot->from && slot->from->assumed)
			draft_assume(draft,
				     "%s=%s: the script's default, %s:%u",
				     slot->key, slot->value, slot->from->file,
				     slot->from->line);
	}
}

/* The words of adapters beside a frozen model, on or off. */
static bool adapts(const struct fact *fact)
{
	static const char *const sizes[] = {"lora_rank", "lora_r",
					    "lora_alpha"};
	static const char *const kinds[] = {
		"finetuning_type", "train_type",  "tuner_type", "sft_type",
		"peft_type",	   "peft_scheme", "adapter"};
	const char *leaf = fact_leaf(fact);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (strcmp(leaf, sizes[i]) == 0)
			return fact_number(fact) > 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(leaf, kinds[i]) == 0)
			return strstr(fact->value, "lora");
	return strcmp(leaf, "use_peft") == 0 && fact_is_on(fact);
}

static void adapter_report(struct weft_draft *draft)
{
	for (size_t i = 0; i < draft->facts->n; i++) {
		const struct fact *fact = &draft->facts->of[i];

		if (!adapts(fact))
			continue;
		draft_assume(draft,
			     "an adapter (%s, %s:%u) is not modelled: the step "
			     "is that of full training",
			     fact_leaf(fact), fact->file, fact->line);
		return;
	}
}

/* Programs whose name says that they do something else. */
static void program_doubt(struct weft_draft *draft)
{
	static const char *const others[] = {"generat", "inference", "infer_",
					     "convert", "evaluat",   "eval",
					     "server",	"preprocess"};
	const struct launch *launch = draft->launch;

	for (size_t i = 0; launch && i < sizeof(others) / sizeof(others[0]);
	     i++)
		if (strstr(launch->program, others[i]) &&
		    !strstr(launch->program, "train")) {
			draft_miss(draft,
				   "training: line %u starts %.80s, which by "
				   "its name does not train",
				   launch->line, launch->program);
			return;
		}
}

/* All frameworks make one micro-batch of a step where nothing says more. */
static void batch_settle(struct weft_draft *draft)
{
	uint64_t batch =
		(uint64_t)draft_replicas(draft) * draft_number(draft, "mbs");

	if (draft_given(draft, "gbs") || !batch || batch > WEFT_MAX_GBS)
		return;
	draft_set_number(draft, "gbs", (uint32_t)batch, NULL);
	draft_assume(draft,
		     "gbs=%u: one micro-batch a step, as nothing says "
		     "more",
		     (uint32_t)batch);
}

void draft_settle(struct weft_draft *draft)
{
	program_doubt(draft);
	adapter_report(draft);
	batch_settle(draft);
	shape_settle(draft);
	unknown_report(draft);
}
