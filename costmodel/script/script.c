/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c - from a text to a spec, with the line of each key */
#include "costmodel/script/script.h"

#include "base/clock.h"
#include "costmodel/script/draft.h"
#include "costmodel/script/facts.h"
#include "costmodel/script/launch.h"
#include "costmodel/script/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (16u << 20)
/* Configuration files that one script is followed to. */
#define MAX_FILES 8

struct reading {
	const struct weft_script_options *options;
	const char *name;
	struct shell shell;
	struct launches launches;
	struct facts batch; /* #SBATCH lines */
	struct weft_error *err;
};

/* ---- the text ---- */

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n >= m && strcmp(text + n - m, tail) == 0;
}

static void text_mark(const char *text, size_t size, struct marked *marked,
		      struct budget *budget)
{
	uint32_t line = 1;

	for (size_t i = 0; i < size && !budget->failed; i++) {
		/* Marks in a script are no text. */
		if (text[i] > MARK_PART || text[i] < 0)
			marked_add(marked, text[i], line, budget);
		line += text[i] == '\n';
	}
}

/* "#SBATCH --nodes=4 --gres=gpu:8" */
static void batch_line(struct reading *r, const char *text, size_t length,
		       uint32_t line)
{
	struct budget budget = {.left = 8192, .err = r->err};
	struct marked_list words = {0};
	struct marked *word = NULL;

	for (size_t i = 0; i < length && text[i] != '#'; i++) {
		if (strchr(" \t\r", text[i])) {
			word = NULL;
			continue;
		}
		if (!word)
			word = marked_list_add(&words, &budget);
		if (word && !strchr("\"'", text[i]))
			marked_add(word, text[i], line, &budget);
	}
	launch_slurm_options(&r->batch, FACT_BATCH, words.of, words.n, r->name);
	marked_list_free(&words);
}

static void batch_read(struct reading *r, const char *text, size_t size)
{
	const char *end = text + size;

	for (uint32_t line = 1; text < end; line++) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((feed ? feed : end) - text);

		if (n > 8 && strncmp(text, "#SBATCH", 7) == 0)
			batch_line(r, text + 7, n - 7, line);
		text += n + 1;
	}
}

/* What Slurm knows itself goes before the script's lines. */
static void batch_complete(struct reading *r)
{
	const struct weft_script_options *o = r->options;
	const struct {
		const char *name;
		uint32_t value;
	} known[] = {{"nodes", o->nodes},
		     {"gpus_per_node", o->gpus_per_node},
		     {"ntasks", o->tasks},
		     {"ntasks_per_node", o->tasks_per_node}};
	char text[16];

	for (size_t i = 0; i < 4; i++) {
		if (!known[i].value)
			continue;
		snprintf(text, sizeof(text), "%u", known[i].value);
		facts_add_text(&r->batch, FACT_BATCH, known[i].name, text,
			       "the job", 0);
	}
}

static void variable_give(struct reading *r, const char *const *names,
			  uint32_t value, uint32_t line)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	for (; value && *names; names++)
		shell_set(&r->shell, *names, text, line);
}

/* The variables that Slurm sets follow from what the job asks for. */
static void variables_give(struct reading *r)
{
	static const char *const nodes_are[] = {"SLURM_NNODES",
						"SLURM_JOB_NUM_NODES", NULL};
	static const char *const gpus_are[] = {"SLURM_GPUS_ON_NODE",
					       "SLURM_GPUS_PER_NODE", NULL};
	static const char *const tasks_are[] = {"SLURM_NTASKS", "SLURM_NPROCS",
						NULL};
	static const char *const per_node_are[] = {"SLURM_NTASKS_PER_NODE",
						   NULL};
	const struct fact *nodes = facts_find(&r->batch, "nodes");
	const struct fact *tasks = facts_find(&r->batch, "ntasks");
	const struct fact *each = facts_find(&r->batch, "ntasks_per_node");
	const struct fact *gpus = facts_find(&r->batch, "gpus_per_node");
	const char *colon;

	if (!gpus)
		gpus = facts_find(&r->batch, "gres");
	colon = gpus ? strrchr(gpus->value, ':') : NULL;
	variable_give(r, nodes_are, fact_number(nodes),
		      nodes ? nodes->line : 0);
	variable_give(r, tasks_are, fact_number(tasks),
		      tasks ? tasks->line : 0);
	variable_give(r, per_node_are, fact_number(each),
		      each ? each->line : 0);
	if (gpus)
		variable_give(r, gpus_are,
			      (uint32_t)strtoul(colon ? colon + 1 : gpus->value,
						NULL, 10),
			      gpus->line);
	if (!tasks && fact_number(nodes) && fact_number(each))
		variable_give(r, tasks_are,
			      fact_number(nodes) * fact_number(each),
			      each->line);
}

/* What the caller of the script gives it. */
static void caller_give(struct reading *r)
{
	const char *const *set = r->options->set;
	const char *const *arguments = r->options->arguments;
	char name[64];

	for (; set && *set; set++) {
		size_t n = strcspn(*set, "=");

		snprintf(name, sizeof(name), "%.*s", (int)n, *set);
		if ((*set)[n])
			shell_set(&r->shell, name, *set + n + 1, 0);
	}
	for (uint32_t i = 1; arguments && *arguments; i++, arguments++) {
		snprintf(name, sizeof(name), "%u", i);
		shell_set(&r->shell, name, *arguments, 0);
	}
}

/* . FILE: what it sets is set; one that is not here sets what is not known. */
static void source_take(struct reading *r, const struct marked *name)
{
	struct marked marked = {0};
	size_t size = 0, n = 0;
	char path[512], *text;

	for (size_t i = 0; i < name->n && n + 1 < sizeof(path); i++)
		if (name->s[i] > MARK_PART || name->s[i] < 0)
			path[n++] = name->s[i];
	path[n] = '\0';
	text = r->options->load && ends_with(path, ".sh")
		       ? r->options->load(r->options->self, path, &size)
		       : NULL;
	r->shell.lacks_source = r->shell.lacks_source || !text;
	if (!text)
		return;
	text_mark(text, size, &marked, &r->shell.budget);
	shell_read(&r->shell, &marked);
	marked_free(&marked);
	free(text);
}

static void command_take(struct shell *shell, struct marked_list *words,
			 enum shell_mode mode)
{
	struct reading *r = shell->self;

	if (words->n > 1 && (!strcmp(marked_text(&words->of[0]), "source") ||
			     !strcmp(marked_text(&words->of[0]), "."))) {
		source_take(r, &words->of[1]);
		return;
	}
	launch_take(&r->launches, shell, words, mode);
}

/* ---- configuration files ---- */

static int config_add(struct facts *facts, const char *text, size_t size,
		      const char *path, struct weft_error *err)
{
	if (ends_with(path, ".toml"))
		return facts_read_toml(facts, text, size, path, err);
	return facts_read_tree(facts, text, size, path, err);
}

/* Arguments whose value is a configuration file. */
static bool names_config(const struct fact *fact)
{
	static const char *const names[] = {
		"config",	    "config_file",	"job.config_file",
		"deepspeed",	    "deepspeed_config", "ds_config",
		"yaml_cfg",	    "config_path",	"fsdp_config",
		"job.config_files", "ds_config_file"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(fact->name, names[i]) == 0)
			return true;
	return false;
}

static bool is_config(const char *path)
{
	return ends_with(path, ".yaml") || ends_with(path, ".yml") ||
	       ends_with(path, ".json") || ends_with(path, ".toml");
}

/* Text of a file, made by the script or there; malloc'ed.  A name that only a
 * run would tell may be empty. */
static char *config_load(struct reading *r, const char *path, size_t *size)
{
	const struct marked *made = shell_file(&r->shell, path);
	char *text;

	if (!made)
		return r->options->load && *path
			       ? r->options->load(r->options->self, path, size)
			       : NULL;
	text = weft_strdup(marked_text(made), r->err);
	*size = made->n;
	for (char *c = text; c && *c; c++)
		if (*c > 0 && *c <= MARK_PART)
			*c = ' ';
	return text;
}

/* A file that decides how ranks are arranged must be there; MaxText's and
 * those of programs that are not known are no loss. */
static void config_miss(struct weft_draft *draft, const struct fact *fact)
{
	bool needed = strstr(fact->name, "deepspeed") ||
		      strcmp(fact->name, "ds_config") == 0 ||
		      strstr(fact->name, "config_file") ||
		      ends_with(fact->value, ".toml");

	if (needed)
		draft_miss(draft,
			   "%s:%u: the configuration \"%.100s\" is not here",
			   fact->file, fact->line, fact->value);
	else
		draft_assume(draft,
			     "%.100s is not here: what it says is left "
			     "out",
			     fact->value);
}

static int configs_follow(struct reading *r, struct weft_draft *draft)
{
	struct facts *facts = draft->facts;
	size_t n = facts->n, followed = 0;

	for (size_t i = 0; i < n && followed < MAX_FILES; i++) {
		struct weft_error why = {0};
		struct fact fact = facts->of[i];
		size_t size = 0;
		char *text;

		if (fact.scope < FACT_LAUNCHER || !names_config(&fact) ||
		    (!is_config(fact.value) && !fact.unknown))
			continue;
		followed++;
		if (weft_deadline_check(r->err))
			return -1;
		text = config_load(r, fact.value, &size);
		if (!text)
			config_miss(draft, &fact);
		else if (config_add(facts, text, size, fact.value, &why))
			draft_miss(draft, "%s:%d: %.180s", why.source, why.line,
				   why.text);
		free(text);
	}
	return facts->failed ? -1 : 0;
}

/* ---- the spec ---- */

static const char *const key_order[] = {
	"gpus",	    "nodes",	  "gpus_per_node",
	"tp",	    "cp",	  "ep",
	"etp",	    "pp",	  "vpp",
	"stages",   "dp",	  "zero",
	"shard",    "order",	  "mbs",
	"gbs",	    "seq",	  "sp",
	"cp_comm",  "recompute",  "dtype",
	"model",    "layers",	  "hidden",
	"ffn",	    "heads",	  "kv_heads",
	"vocab",    "gated_mlp",  "experts",
	"top_k",    "expert_ffn", "capacity",
	"software",
};
/* gpus, nodes and gpus_per_node, which are first. */
#define N_SIZES 3
#define N_ORDER (sizeof(key_order) / sizeof(key_order[0]))

static void spec_write(struct weft_draft *draft)
{
	struct weft_script *script = draft->script;
	size_t used = 0;

	for (size_t k = 0; k < N_ORDER; k++) {
		struct weft_script_key *key = &script->keys[script->n_keys];
		struct slot *slot;

		if (!draft_given(draft, key_order[k]) ||
		    (draft->options->slurm_decides && k < N_SIZES))
			continue;
		slot = draft_slot(draft, key_order[k]);
		key->key = key_order[k];
		snprintf(key->value, sizeof(key->value), "%s", slot->value);
		if (slot->from) {
			snprintf(key->file, sizeof(key->file), "%s",
				 slot->from->file);
			key->line = slot->from->line;
		}
		script->n_keys++;
		used += (size_t)snprintf(script->spec + used,
					 sizeof(script->spec) - used, "%s%s=%s",
					 used ? "," : "", key->key, key->value);
		if (used >= sizeof(script->spec))
			used = sizeof(script->spec) - 1;
	}
}

/* What the grammar itself has to say of it. */
static void spec_verify(struct weft_draft *draft)
{
	struct weft_spec spec;
	struct weft_error err = {0};

	if (draft->script->n_missing)
		return;
	if (weft_spec_parse(draft->script->spec, &spec, &err) ||
	    (!draft->options->slurm_decides &&
	     weft_spec_resolve(&spec, 0, &err)))
		draft_miss(draft, "%.200s", err.text);
}

static void reader_apply(struct weft_draft *draft)
{
	const struct weft_script_reader *reader = weft_script_readers;

	while (reader->name && !reader->suits(draft))
		reader++;
	if (reader->about)
		facts_keep(draft->facts, reader->about);
	draft_take_words(draft);
	draft_take_dtype(draft);
	draft_take_sizes(draft);
	if (reader->name) {
		draft->script->reader = reader->name;
		reader->take(draft);
	} else {
		draft_miss(draft, "tp, pp, dp: no framework that is known "
				  "says how ranks are arranged");
	}
}

static int derive(struct reading *r, struct launch *launch, struct facts *facts,
		  struct weft_script *script)
{
	struct weft_draft draft = {.launch = launch,
				   .facts = facts,
				   .options = r->options,
				   .script = script};

	memset(script, 0, sizeof(*script));
	if (weft_deadline_check(r->err))
		return -1;
	for (size_t i = 0; i < r->batch.n; i++) {
		const struct fact *f = &r->batch.of[i];

		facts_add_text(facts, f->scope, f->name, f->value, f->file,
			       f->line);
	}
	if (configs_follow(r, &draft) || facts->failed)
		return -1;
	reader_apply(&draft);
	draft_settle(&draft);
	if (launch && launch->open_line)
		draft_assume(&draft,
			     "%s:%u: arguments that the caller%s gives are "
			     "left out",
			     r->name, launch->open_line,
			     r->shell.lacks_source
				     ? ", or a file that is not here,"
				     : "");
	spec_write(&draft);
	spec_verify(&draft);
	return 0;
}

/* ---- which of several commands ---- */

/* How much a command looks like a training: keys that were found. */
static uint32_t weight(const struct weft_script *script)
{
	return (script->reader ? 100 : 0) + script->n_keys;
}

/* Commands that start different trainings: which one is meant is asked. */
static void others_report(struct reading *r, const struct weft_script *each,
			  size_t best, struct weft_script *script)
{
	struct weft_draft draft = {.script = script};

	for (size_t l = 0; l < r->launches.n; l++) {
		if (l == best || !each[l].reader ||
		    strcmp(each[l].spec, each[best].spec) == 0 ||
		    2 * each[l].n_keys < each[best].n_keys)
			continue;
		draft_miss(&draft,
			   "which command: line %u starts %.60s, line %u "
			   "%.60s, with other sizes",
			   r->launches.of[best].line,
			   r->launches.of[best].program, r->launches.of[l].line,
			   r->launches.of[l].program);
	}
}

static int launches_judge(struct reading *r, struct weft_script *script)
{
	size_t n = r->launches.n, best = 0;
	struct weft_script *each;

	if (!n && r->launches.hidden[0])
		return weft_fail_at(r->err, WEFT_EINVAL, r->name,
				    (int)r->launches.hidden_line, 0,
				    "%s starts the ranks itself, and weft does "
				    "not know how: write the spec, "
				    "weft-spec(7), or give the torchrun "
				    "command that it runs",
				    r->launches.hidden);
	if (!n)
		return weft_fail_at(r->err, WEFT_EINVAL, r->name, 0, 0,
				    "no command starts a training here: "
				    "expected torchrun, deepspeed, accelerate, "
				    "srun or python with a program");
	each = weft_calloc(n, sizeof(*each), r->err);
	if (!each)
		return -1;
	for (size_t l = 0; l < n; l++) {
		struct launch *launch = &r->launches.of[l];

		if (derive(r, launch, &launch->facts, &each[l])) {
			free(each);
			return -1;
		}
		if (weight(&each[l]) > weight(&each[best]))
			best = l;
	}
	*script = each[best];
	others_report(r, each, best, script);
	free(each);
	return 0;
}

static int shell_judge(struct reading *r, const char *text, size_t size,
		       struct weft_script *script)
{
	struct marked marked = {0};
	int rc = -1;

	batch_read(r, text, size);
	batch_complete(r);
	variables_give(r);
	caller_give(r);
	text_mark(text, size, &marked, &r->shell.budget);
	if (shell_read(&r->shell, &marked) == 0 && !r->batch.failed)
		rc = launches_judge(r, script);
	marked_free(&marked);
	return rc;
}

static int config_judge(struct reading *r, const char *text, size_t size,
			struct weft_script *script)
{
	struct facts facts = {.err = r->err};
	int rc = -1;

	batch_complete(r);
	if (config_add(&facts, text, size, r->name, r->err) == 0)
		rc = derive(r, NULL, &facts, script);
	facts_free(&facts);
	return rc;
}

int weft_script_read(const char *text, size_t size, const char *name,
		     const struct weft_script_options *options,
		     struct weft_script *script, struct weft_error *err)
{
	struct weft_error own = {0};
	struct reading r = {.options = options, .name = name, .err = &own};
	int rc;

	memset(script, 0, sizeof(*script));
	r.shell.budget = (struct budget){
		.left = options->most_bytes ? options->most_bytes : MOST_BYTES,
		.err = &own};
	r.shell.command = command_take;
	r.shell.self = &r;
	r.launches.file = name;
	r.launches.err = r.batch.err = &own;
	rc = is_config(name) ? config_judge(&r, text, size, script)
			     : shell_judge(&r, text, size, script);
	launches_free(&r.launches);
	facts_free(&r.batch);
	shell_free(&r.shell);
	if (rc)
		weft_fail_at(err, own.code ? own.code : WEFT_EINVAL, own.source,
			     own.line, own.column, "%s",
			     own.code ? own.text : "cannot be read");
	return rc;
}
