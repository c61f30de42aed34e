/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.c - srun, torchrun and their like, and the program that they start */
#include "costmodel/script/launch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LAUNCHES 64

/* Where the words of a command have got to. */
enum part { PART_NONE, PART_STEP, PART_LAUNCHER, PART_PROGRAM };

struct taking {
	struct launches *all;
	struct launch launch;
	enum part part;
	const struct marked_list *words;
	size_t at, options_end; /* behind the options of the last step */
};

/* A word without marks of no width. */
static const char *word_at(const struct taking *t, size_t i)
{
	const char *text = i < t->words->n ? marked_text(&t->words->of[i]) : "";

	while (*text == MARK_ASSUMED)
		text++;
	return text;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n > m && strcmp(text + n - m, tail) == 0;
}

static bool one_of(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* The value of an option is the next word, unless that is an option, too. */
static bool is_value(const char *word)
{
	return word[0] && (word[0] != '-' || isdigit((unsigned char)word[1]) ||
			   word[1] == '\0');
}

/* Options without a value, of torchrun, deepspeed and accelerate. */
static const char *const flags[] = {
	"--standalone",	     "--no_python",	"--no-python",
	"--use_env",	     "--use-env",	"--multi_gpu",
	"--use_fsdp",	     "--use_deepspeed", "--no_local_rank",
	"--force_multi",     "--no_ssh",	"--multi-gpu",
	"--use_megatron_lm", "--run_path",	"--run-path",
	"--debug",	     "--use-fsdp",	"--use-deepspeed",
};
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A fact of "--name=value", or of "--name" and the word behind it, which is
 * then taken too. */
static void option_take(struct taking *t, enum fact_scope scope)
{
	const struct marked *word = &t->words->of[t->at];
	const char *text = word_at(t, t->at), *equals = strchr(text, '=');
	const char *next = word_at(t, t->at + 1);
	struct budget budget = {.left = 65536, .err = t->all->err};
	struct marked value = {0};
	char name[160];
	size_t skip = (size_t)(text - marked_text(word));
	bool flag = scope == FACT_LAUNCHER && one_of(text, flags, N_OF(flags));

	snprintf(name, sizeof(name), "%.*s",
		 (int)(equals ? equals - text : (long)strlen(text)), text);
	if (equals) {
		for (size_t i = skip + (size_t)(equals - text) + 1; i < word->n;
		     i++)
			marked_add(&value, word->s[i], word->line[i], &budget);
	} else if (!flag && is_value(next) &&
		   !(scope == FACT_LAUNCHER && ends_with(next, ".py"))) {
		marked_add_all(&value, &t->words->of[++t->at], &budget);
	} else {
		marked_add_text(&value, "true", marked_line(word), &budget);
	}
	facts_add(&t->launch.facts, scope, name, &value, t->all->file);
	if (t->launch.facts.n)
		t->launch.facts.of[t->launch.facts.n - 1].line =
			marked_line(&value) ? marked_line(&value)
					    : marked_line(word);
	marked_free(&value);
}

void launch_slurm_options(struct facts *facts, enum fact_scope scope,
			  struct marked *words, size_t n, const char *file)
{
	static const struct {
		char letter;
		const char *name;
	} letters[] = {{'N', "nodes"},
		       {'n', "ntasks"},
		       {'G', "gpus"},
		       {'c', "cpus_per_task"}};
	struct marked_list list = {.of = words, .n = n};
	struct launches all = {.file = file, .err = facts->err};
	struct taking t = {.all = &all, .words = &list};

	t.launch.facts = *facts;
	for (; t.at < n; t.at++) {
		const char *text = word_at(&t, t.at);
		const char *value = text[0] == '-' && text[1] ? text + 2 : "";

		if (text[0] != '-')
			continue;
		if (text[1] == '-') {
			option_take(&t, scope);
			continue;
		}
		if (strcmp(text, "-np") == 0) /* mpirun's */
			value = "";
		for (size_t l = 0; l < N_OF(letters); l++) {
			if (text[1] != letters[l].letter)
				continue;
			if (!*value)
				value = word_at(&t, ++t.at);
			facts_add_text(
				&t.launch.facts, scope, letters[l].name, value,
				file,
				marked_line(&words[t.at < n ? t.at : n - 1]));
			break;
		}
	}
	*facts = t.launch.facts;
}

/* ---- a command ---- */

static void program_set(struct taking *t, const char *name)
{
	name += *name == MARK_UNKNOWN;
	snprintf(t->launch.program, sizeof(t->launch.program), "%s", name);
	t->launch.line = marked_line(&t->words->of[t->at]);
	t->part = PART_PROGRAM;
}

static bool is_python(const char *base)
{
	return strncmp(base, "python", 6) == 0;
}

static bool is_torch(const char *module)
{
	return !strcmp(module, "torch.distributed.launch") ||
	       !strcmp(module, "torch.distributed.run");
}

/* The word starts another part of the command. */
static bool part_begin(struct taking *t, const char *base)
{
	static const char *const mpi[] = {"mpirun", "mpiexec", "mpiexec.hydra",
					  "prun"};
	struct launch *l = &t->launch;

	if (t->part >= PART_LAUNCHER)
		return false;
	if (strcmp(base, "srun") == 0 || one_of(base, mpi, N_OF(mpi))) {
		size_t from = t->at + 1, n = 0;

		/* Those that stand among an earlier step's are taken. */
		if (from < t->options_end)
			from = t->options_end;
		t->part = PART_STEP;
		l->step = true;
		if (base[0] != 's')
			l->launcher = LAUNCHER_MPI;
		while (from + n < t->words->n &&
		       (word_at(t, from + n)[0] == '-' ||
			(n && word_at(t, from + n - 1)[0] == '-' &&
			 !strchr(word_at(t, from + n - 1), '='))))
			n++;
		launch_slurm_options(&l->facts, FACT_STEP, t->words->of + from,
				     n, t->all->file);
		t->options_end = from + n;
	} else if (!strcmp(base, "torchrun") || is_torch(base)) {
		t->part = PART_LAUNCHER;
		l->launcher = LAUNCHER_TORCHRUN;
	} else if (strcmp(base, "deepspeed") == 0) {
		t->part = PART_LAUNCHER;
		l->launcher = LAUNCHER_DEEPSPEED;
	} else if (strcmp(base, "accelerate") == 0) {
		t->part = PART_LAUNCHER;
		l->launcher = LAUNCHER_ACCELERATE;
		t->at += strcmp(word_at(t, t->at + 1), "launch") == 0;
	} else {
		return false;
	}
	return true;
}

/* python [-u] -m MODULE, python FILE. */
static void python_take(struct taking *t)
{
	while (word_at(t, t->at + 1)[0] == '-' &&
	       strcmp(word_at(t, t->at + 1), "-m") != 0 &&
	       strcmp(word_at(t, t->at + 1), "-c") != 0)
		t->at++;
	t->at++;
	if (strcmp(word_at(t, t->at), "-m") != 0) {
		if (ends_with(word_at(t, t->at), ".py"))
			program_set(t, word_at(t, t->at));
		return;
	}
	t->at++;
	if (is_torch(word_at(t, t->at)))
		part_begin(t, word_at(t, t->at));
	else if (t->at < t->words->n)
		program_set(t, word_at(t, t->at));
}

/* A word between the launcher and its program. */
static void launcher_word(struct taking *t, const char *text)
{
	if (strcmp(text, "-m") == 0 || strcmp(text, "--module") == 0) {
		t->at++;
		if (t->at < t->words->n)
			program_set(t, word_at(t, t->at));
	} else if (is_python(base_of(text))) {
		python_take(t);
	} else if (text[0] == '-') {
		option_take(t, FACT_LAUNCHER);
	} else if (*text && (*text != MARK_UNKNOWN || ends_with(text, ".py"))) {
		program_set(t, text);
	} else if (*text) {
		t->launch.open_line = marked_line(&t->words->of[t->at]);
	}
}

/* A word of the program: "--name value", "name=value", or a file. */
static void program_word(struct taking *t, const char *text)
{
	const struct marked *word = &t->words->of[t->at];

	if (text[0] == MARK_UNKNOWN && !text[1]) {
		t->launch.open_line = marked_line(word);
	} else if (text[0] == '-' || strchr(text, '=')) {
		option_take(t, FACT_PROGRAM);
	} else if (ends_with(text, ".yml") || ends_with(text, ".yaml") ||
		   ends_with(text, ".toml") || ends_with(text, ".json")) {
		facts_add(&t->launch.facts, FACT_PROGRAM, "config", word,
			  t->all->file);
	}
}

/* A text that another shell gets: bash -c "...". */
static bool is_nested(const struct taking *t)
{
	const char *before = t->at ? word_at(t, t->at - 1) : "";

	return t->part != PART_PROGRAM && strchr(word_at(t, t->at), ' ') &&
	       (!strcmp(before, "-c") || !strcmp(before, "-lc") ||
		!strcmp(before, "-ic") || !strcmp(before, "-xc"));
}

static void launch_keep(struct taking *t)
{
	struct launches *all = t->all;
	struct launch *of;

	if (t->part < PART_PROGRAM || all->n == MAX_LAUNCHES) {
		facts_free(&t->launch.facts);
		return;
	}
	of = weft_realloc(all->of, all->n + 1, sizeof(*of), all->err);
	if (!of) {
		facts_free(&t->launch.facts);
		return;
	}
	all->of = of;
	all->of[all->n++] = t->launch;
}

/* eval WORDS: the words are a script. */
static void eval_take(struct shell *shell, const struct marked_list *words)
{
	struct marked text = {0};

	for (size_t i = 1; i < words->n; i++) {
		marked_add_all(&text, &words->of[i], &shell->budget);
		marked_add(&text, ' ', marked_line(&words->of[i]),
			   &shell->budget);
	}
	shell_read(shell, &text);
	marked_free(&text);
}

/* What srun gave to a shell that runs a text holds for the text. */
static void nested_take(struct taking *t, struct shell *shell)
{
	size_t first = t->all->n;

	shell_read(shell, &t->words->of[t->at]);
	for (size_t l = first; l < t->all->n && !shell->budget.failed; l++) {
		struct launch *launch = &t->all->of[l];

		budget_time_check(&shell->budget);
		launch->step = launch->step || t->launch.step;
		for (size_t i = 0; i < t->launch.facts.n; i++) {
			const struct fact *f = &t->launch.facts.of[i];

			facts_add_text(&launch->facts, f->scope, f->name,
				       f->value, f->file, f->line);
			if (launch->facts.failed)
				break;
			launch->facts.of[launch->facts.n - 1].unknown =
				f->unknown;
		}
	}
}

/* Commands that start the processes of their ranks by a way of their own. */
static void hidden_note(struct launches *launches,
			const struct marked_list *words)
{
	static const char *const commands[] = {
		"axolotl", "colossalai", "composer", "flagscale",
		"litgpt",  "ray",	 "swift",    "megatron",
		"tune",	   "torchx",	 "modal",    "llamafactory-cli"};
	static const char *const orders[] = {
		"train", "sft",	     "pt",	 "rlhf", "run",
		"job",	 "pretrain", "finetune", "cpt",	 "launch"};

	for (size_t w = 0; w + 1 < words->n && !launches->hidden[0]; w++) {
		const char *base = base_of(marked_text(&words->of[w]));
		const char *order = marked_text(&words->of[w + 1]);

		if (!one_of(base, commands, N_OF(commands)) ||
		    (!one_of(order, orders, N_OF(orders)) && order[0] != '-' &&
		     !ends_with(order, ".py")))
			continue;
		snprintf(launches->hidden, sizeof(launches->hidden), "%s",
			 base);
		launches->hidden_line = marked_line(&words->of[w]);
	}
}

void launch_take(struct launches *launches, struct shell *shell,
		 struct marked_list *words, enum shell_mode mode)
{
	struct taking t = {.all = launches, .words = words};

	t.launch.mode = mode;
	t.launch.facts.err = launches->err;
	if (strcmp(marked_text(&words->of[0]), "eval") == 0) {
		eval_take(shell, words);
		return;
	}
	if (strcmp(marked_text(&words->of[0]), "echo") == 0)
		return;
	hidden_note(launches, words);
	for (; t.at < words->n; t.at++) {
		const char *text = word_at(&t, t.at), *base = base_of(text);

		if (is_nested(&t)) {
			nested_take(&t, shell);
			break;
		}
		if (t.part == PART_PROGRAM)
			program_word(&t, text);
		else if (part_begin(&t, base))
			continue;
		else if (t.part == PART_LAUNCHER)
			launcher_word(&t, text);
		else if (is_python(base))
			python_take(&t);
		else if (ends_with(base, ".py"))
			program_set(&t, text);
	}
	launch_keep(&t);
}

void launches_free(struct launches *launches)
{
	for (size_t l = 0; l < launches->n; l++)
		facts_free(&launches->of[l].facts);
	free(launches->of);
	memset(launches, 0, sizeof(*launches));
}
