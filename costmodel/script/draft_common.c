/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draft_common.c - what all frameworks say alike: words, types, sizes */
#include "costmodel/script/draft.h"

#include "costmodel/job/spec_words.h"
#include "topology/fabric.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A value that says "as usual". */
static bool says_nothing(const char *value)
{
	static const char *const nothing[] = {"",  "null", "none", "auto", "-1",
					      "~", "0",	   "???",  "false"};

	for (size_t i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (strcasecmp(value, nothing[i]) == 0)
			return true;
	return false;
}

/* The key that a fact is about; NULL: none of this reader's. */
static const char *key_of(const struct fact *fact)
{
	static const char *const short_names[] = {"tp",	 "cp",	"pp",  "ep",
						  "etp", "vpp", "mbs", "gbs"};
	static const char *const elsewhere[] = {
		"gpus", "nodes", "gpus_per_node", "software", "model", "dtype"};
	const char *leaf = fact_leaf(fact), *key = weft_spec_word_key(leaf);
	size_t n = strlen(fact->name);

	for (size_t i = 0; i < 8; i++)
		if (strcmp(leaf, short_names[i]) == 0)
			key = short_names[i];
	if (n >= 23 && !strcmp(fact->name + n - 23, "zero_optimization.stage"))
		key = "zero";
	for (size_t i = 0; key && i < 6; i++)
		if (strcmp(key, elsewhere[i]) == 0)
			key = NULL;
	return key;
}

static bool value_fits(const char *key, const char *value)
{
	struct weft_error err = {0};
	struct weft_spec spec;
	char text[256];

	snprintf(text, sizeof(text), "%s=%s", key, value);
	return !strchr(value, ',') && weft_spec_parse(text, &spec, &err) == 0;
}

/* Words of more than one part say the first: "full_shard auto_wrap". */
static void value_of(const struct fact *fact, char value[128])
{
	size_t n = strcspn(fact->value, " ,");

	snprintf(value, 128, "%.*s", (int)(n > 100 ? 100 : n), fact->value);
	n = strlen(value);
	if (n > 2 && strcmp(value + n - 2, ".0") == 0)
		value[n - 2] = '\0';
}

static void word_take(struct weft_draft *draft, const char *key,
		      const struct fact *fact)
{
	struct slot *slot = draft_slot(draft, key);
	char value[128];

	value_of(fact, value);
	if (!fact->unknown && says_nothing(value) && strcmp(key, "sp") != 0 &&
	    strcmp(key, "zero") != 0)
		return;
	if (slot->from && slot->from->scope > fact->scope)
		return;
	/* "${model.seq_length}" repeats what another line says. */
	if (fact->unknown && fact->scope == FACT_FILE && slot->given)
		return;
	if (fact->unknown) {
		slot->from = fact;
		slot->unknown = true;
		slot->given = false;
		return;
	}
	if (!value_fits(key, value)) {
		if (isdigit((unsigned char)value[0]))
			draft_miss(draft, "%s: %s:%u says \"%s\"", key,
				   fact->file, fact->line, value);
		return;
	}
	if (slot->given && slot->from && slot->from->scope == FACT_FILE &&
	    fact->scope == FACT_FILE && strcmp(slot->value, value) != 0) {
		draft_miss(draft, "%s: %s:%u says %s, %s:%u says %s", key,
			   slot->from->file, slot->from->line, slot->value,
			   fact->file, fact->line, value);
		return;
	}
	draft_set(draft, key, value, fact);
}

void draft_take_words(struct weft_draft *draft)
{
	for (size_t i = 0; i < draft->facts->n; i++) {
		const struct fact *fact = &draft->facts->of[i];
		const char *key =
			fact->scope == FACT_FILE || fact->scope == FACT_PROGRAM
				? key_of(fact)
				: NULL;

		if (key)
			word_take(draft, key, fact);
	}
}

void draft_take_dtype(struct weft_draft *draft)
{
	static const char *const names[] = {"precision", "mixed_precision",
					    "dtype", "torch_dtype",
					    "ds.param_dtype"};
	const struct fact *fact;

	for (size_t i = 0; i < 5; i++) {
		fact = facts_find(draft->facts, names[i]);
		if (fact && !fact->unknown &&
		    value_fits("dtype", fact->value)) {
			struct weft_spec spec;
			char text[80];

			snprintf(text, sizeof(text), "dtype=%.60s",
				 fact->value);
			if (weft_spec_parse(text, &spec, NULL) == 0)
				draft_set(draft, "dtype",
					  spec.dtype == WEFT_BF16   ? "bf16"
					  : spec.dtype == WEFT_FP16 ? "fp16"
					  : spec.dtype == WEFT_FP32 ? "fp32"
								    : "bf16",
					  fact);
		}
	}
	if (draft_on(draft, "fp16.enabled") || draft_on(draft, "fp16"))
		draft_set(draft, "dtype", "fp16",
			  facts_find(draft->facts, draft_on(draft, "fp16")
							   ? "fp16"
							   : "fp16.enabled"));
	if (draft_on(draft, "bf16.enabled") || draft_on(draft, "bf16"))
		draft_set(draft, "dtype", "bf16",
			  facts_find(draft->facts, draft_on(draft, "bf16")
							   ? "bf16"
							   : "bf16.enabled"));
}

void draft_take_model(struct weft_draft *draft, const char *name)
{
	const struct fact *fact = facts_find(draft->facts, name);
	struct weft_model model;

	if (fact && !fact->unknown && !draft_given(draft, "model") &&
	    weft_model_find(fact->value, &model, NULL) == 0)
		draft_set(draft, "model", model.name, fact);
}

/* DeepSpeed-Ulysses: heads are exchanged, by whichever word. */
void draft_take_ulysses(struct weft_draft *draft)
{
	static const char *const words[] = {"sequence_parallel_size",
					    "ds_sequence_parallel_size",
					    "ulysses_sequence_parallel_size"};

	for (size_t i = 0; i < 3; i++) {
		const struct fact *fact = facts_find(draft->facts, words[i]);

		if (fact && fact->unknown)
			draft_miss(draft, "cp: %s:%u leaves it to a run",
				   fact->file, fact->line);
		if (fact_number(fact) < 2)
			continue;
		draft_set_number(draft, "cp", fact_number(fact), fact);
		draft_set(draft, "cp_comm", "a2a", NULL);
	}
}

/* ---- sizes ---- */

/* "gpu:h100:8" or "8" or "h100:8": 8. */
static uint32_t gpus_read(const struct fact *fact)
{
	const char *text = fact && !fact->unknown ? fact->value : "";
	const char *gpu = strstr(text, "gpu"), *colon;
	size_t n;
	char one[64];

	if (fact && strcmp(fact_leaf(fact), "gres") == 0 && !gpu)
		return 0;
	text = gpu ? gpu : text;
	n = strcspn(text, ",(");
	snprintf(one, sizeof(one), "%.*s", (int)(n > 60 ? 60 : n), text);
	colon = strrchr(one, ':');
	if (strcmp(one, "gpu") == 0)
		return 1;
	return (uint32_t)strtoul(colon ? colon + 1 : one, NULL, 10);
}

/* A size: how many, and who says so. */
struct size {
	uint32_t n;
	const struct fact *from;
	bool unknown;
};

static void size_take(struct size *size, const struct fact *fact)
{
	if (!fact || size->n || size->unknown)
		return;
	size->n = fact_number(fact);
	size->from = fact;
	size->unknown = fact->unknown;
}

/* What Slurm gives: --nodes, --gpus-per-node or --gres, --ntasks... */
struct grant {
	struct size nodes, gpus, tasks, tasks_per_node;
};

static void grant_read(const struct weft_draft *draft, enum fact_scope scope,
		       struct grant *g)
{
	static const char *const per_node[] = {"gpus_per_node", "gres"};

	size_take(&g->nodes, facts_find_in(draft->facts, scope, "nodes"));
	size_take(&g->tasks, facts_find_in(draft->facts, scope, "ntasks"));
	size_take(&g->tasks_per_node,
		  facts_find_in(draft->facts, scope, "ntasks_per_node"));
	for (size_t i = 0; i < 2 && !g->gpus.n; i++) {
		const struct fact *fact =
			facts_find_in(draft->facts, scope, per_node[i]);

		g->gpus.n = gpus_read(fact);
		g->gpus.from = g->gpus.n ? fact : NULL;
	}
}

/* A launcher's own counts; by `of` it starts one process a GPU. */
static void launcher_sizes(const struct weft_draft *draft, struct size *nodes,
			   struct size *per_node, struct size *all)
{
	static const char *const node_words[] = {"nnodes",
						 "num_nodes",
						 "num_machines",
						 "trainer.num_nodes",
						 "cluster.num_nodes",
						 "actor_num_nodes"};
	static const char *const gpu_words[] = {
		"nproc_per_node",	  "num_gpus",
		"trainer.devices",	  "cluster.gpus_per_node",
		"trainer.gpus",		  "trainer.n_gpus_per_node",
		"actor_num_gpus_per_node"};
	const struct facts *facts = draft->facts;

	for (enum fact_scope scope = FACT_PROGRAM; scope >= FACT_FILE;
	     scope--) {
		for (size_t i = 0; i < 6; i++)
			size_take(nodes,
				  facts_find_in(facts, scope, node_words[i]));
		for (size_t i = 0; i < 7; i++)
			size_take(per_node,
				  facts_find_in(facts, scope, gpu_words[i]));
		size_take(all, facts_find_in(facts, scope, "num_processes"));
	}
}

/* What the launcher leaves to Slurm. */
static void sizes_from_grant(struct weft_draft *draft, const struct grant *g,
			     struct size *nodes, struct size *per_node,
			     struct size *all)
{
	enum launcher launcher =
		draft->launch ? draft->launch->launcher : LAUNCHER_NONE;
	bool own = launcher == LAUNCHER_TORCHRUN;

	if (!nodes->n && !nodes->unknown) {
		if (own && g->nodes.n > 1)
			draft_miss(draft,
				   "nodes: torchrun is not told --nnodes, and "
				   "the job has %u",
				   g->nodes.n);
		else if (own || (launcher == LAUNCHER_DEEPSPEED && per_node->n))
			*nodes = (struct size){.n = 1};
		else
			*nodes = g->nodes;
	}
	if (!per_node->n && !per_node->unknown) {
		*per_node = g->gpus;
		if (!per_node->n && launcher == LAUNCHER_NONE)
			*per_node = g->tasks_per_node;
	}
	if (!all->n &&
	    (launcher == LAUNCHER_MPI ||
	     (launcher == LAUNCHER_NONE && draft->launch &&
	      draft->launch->step)) &&
	    g->tasks.n > g->nodes.n)
		*all = g->tasks;
}

static void size_check(struct weft_draft *draft, const char *key,
		       const struct size *size, const char *words)
{
	if (size->n)
		return;
	if (size->from)
		draft_miss(draft,
			   "%s: %s:%u: %s is \"%s\", which is "
			   "known only when it runs",
			   key, size->from->file, size->from->line,
			   size->from->name, size->from->value);
	else
		draft_miss(draft, "%s: nothing says it; %s", key, words);
}

void draft_take_sizes(struct weft_draft *draft)
{
	struct grant g = {0};
	struct size nodes = {0}, per_node = {0}, all = {0};

	if (draft->options->slurm_decides) {
		const struct weft_script_options *o = draft->options;

		if (o->nodes && o->gpus_per_node) {
			draft_set_number(draft, "nodes", o->nodes, NULL);
			draft_set_number(draft, "gpus_per_node",
					 o->gpus_per_node, NULL);
		}
		return;
	}
	grant_read(draft, FACT_STEP, &g);
	grant_read(draft, FACT_BATCH, &g);
	launcher_sizes(draft, &nodes, &per_node, &all);
	/* "gpu", "auto": all of the node. */
	if (per_node.from && !per_node.n && !per_node.unknown)
		per_node = g.gpus;
	sizes_from_grant(draft, &g, &nodes, &per_node, &all);
	if (all.n &&
	    !(nodes.n && per_node.n && nodes.n * per_node.n == all.n)) {
		draft_set_number(draft, "gpus", all.n, all.from);
		if (nodes.n && all.n % nodes.n == 0)
			draft_set_number(draft, "nodes", nodes.n, nodes.from);
		return;
	}
	size_check(draft, "nodes", &nodes, "give --nnodes, or #SBATCH --nodes");
	size_check(draft, "gpus_per_node", &per_node,
		   "give --nproc-per-node, or #SBATCH --gpus-per-node");
	if (nodes.n && per_node.n) {
		draft_set_number(draft, "nodes", nodes.n, nodes.from);
		draft_set_number(draft, "gpus_per_node", per_node.n,
				 per_node.from);
	}
}

uint32_t draft_replicas(struct weft_draft *draft)
{
	static const char *const axes[] = {"tp", "cp", "pp"};
	uint64_t gpus = draft_number(draft, "gpus"), model = 1;

	if (!gpus)
		gpus = (uint64_t)draft_number(draft, "nodes") *
		       draft_number(draft, "gpus_per_node");
	/* Programs' arguments have any number: no product of three fits. */
	for (size_t i = 0; i < 3 && model <= WEFT_MAX_GPUS; i++)
		if (draft_number(draft, axes[i]))
			model *= draft_number(draft, axes[i]);
	return gpus > WEFT_MAX_GPUS || model > WEFT_MAX_GPUS || gpus % model
		       ? 0
		       : (uint32_t)(gpus / model);
}
