/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_spec.c - weft spec: a job spec out of a launch script, a command or a
 * framework's configuration */
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/report.h"
#include "costmodel/script/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES (4u << 20)
#define MAX_SET	   64

struct question {
	const char *words[MAX_SET + 1]; /* the script and its arguments */
	const char *set[MAX_SET + 1];
	int n_words, n_set;
	bool json;
	struct weft_script_options options;
};

static void set_read(const struct argp_state *state, char *text, void *input)
{
	struct question *q = input;

	if (!strchr(text, '=') || q->n_set == MAX_SET)
		argp_error(state, "--set: \"%s\" is not NAME=VALUE", text);
	q->set[q->n_set++] = text;
}

static void word_read(const struct argp_state *state, char *text, void *input)
{
	struct question *q = input;

	(void)state;
	if (text && q->n_words < MAX_SET)
		q->words[q->n_words++] = text;
}

static void words_check(const struct argp_state *state, void *input)
{
	const struct question *q = input;

	if (!q->n_words)
		argp_error(state, "which script? Give a file, \"-\" for stdin, "
				  "or a command");
}

static void readers_list(void)
{
	for (const struct weft_script_reader *r = weft_script_readers; r->name;
	     r++)
		printf("%-12s%s\n", r->name, r->help);
}

#define QUESTION struct question

static const struct option_row options[] = {
	{"set", 0, "NAME=VALUE",
	 "a variable that the caller of the script sets", 0, READ(set_read)},
	{"readers", 0, NULL, "list the frameworks that are read", 0,
	 LIST(readers_list)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

/* ---- files ---- */

/* A file that the script names: as it is, or beside the script. */
static char *file_load(void *self, const char *path, size_t *size)
{
	const struct question *q = self;
	const char *slash = strrchr(q->words[0], '/');
	const char *base = strrchr(path, '/');
	int folder = slash ? (int)(slash + 1 - q->words[0]) : 0;
	char beside[3][4096], *text;

	snprintf(beside[0], sizeof(beside[0]), "%s", path);
	snprintf(beside[1], sizeof(beside[1]), "%.*s%s", folder, q->words[0],
		 path);
	snprintf(beside[2], sizeof(beside[2]), "%.*s%s", folder, q->words[0],
		 base ? base + 1 : path);
	for (int i = 0; i < 3; i++)
		if (access(beside[i], R_OK) == 0 &&
		    weft_text_load(beside[i], MOST_BYTES, &text, size, NULL) ==
			    0)
			return text;
	return NULL;
}

static bool looks_like_file(const char *word)
{
	static const char *const tails[] = {".sh",   ".slurm", ".sbatch",
					    ".yaml", ".yml",   ".json",
					    ".toml", ".bash",  ".job"};
	size_t n = strlen(word);

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t m = strlen(tails[i]);

		if (n > m && strcmp(word + n - m, tails[i]) == 0)
			return true;
	}
	return strcmp(word, "-") == 0 || strncmp(word, "./", 2) == 0;
}

/* Words as one line of a shell; those with blanks stay whole. */
static char *command_join(const struct question *q, size_t *size,
			  struct weft_error *err)
{
	size_t room = 1, used = 0;
	char *text;

	for (int i = 0; i < q->n_words; i++)
		room += 4 * strlen(q->words[i]) + 3;
	text = weft_calloc(room, 1, err);
	if (!text)
		return NULL;
	for (int i = 0; i < q->n_words; i++) {
		bool bare = q->n_words == 1 ||
			    !strpbrk(q->words[i], " \t\n'\"();&|<>#\\");

		text[used++] = ' ';
		if (!bare)
			text[used++] = '\'';
		for (const char *c = q->words[i]; *c; c++) {
			if (!bare && *c == '\'')
				used += (size_t)sprintf(text + used, "'\\''");
			else
				text[used++] = *c;
		}
		if (!bare)
			text[used++] = '\'';
	}
	*size = used;
	return text;
}

/* ---- the answer ---- */

static json_t *texts_json(const char texts[][WEFT_SCRIPT_TEXT], uint32_t n)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, report_string(texts[i]));
	return list;
}

static int answer_json(const struct weft_script *s, struct weft_error *err)
{
	json_t *keys = json_array(), *object;

	for (uint32_t i = 0; i < s->n_keys; i++) {
		const struct weft_script_key *k = &s->keys[i];

		json_array_append_new(
			keys,
			json_pack(
				"{s:s, s:o, s:o, s:o}", "key", k->key, "value",
				report_string(k->value), "file",
				k->line ? report_string(k->file) : json_null(),
				"line",
				k->line ? json_integer(k->line) : json_null()));
	}
	object = json_pack("{s:s, s:o, s:s?, s:o, s:o, s:o}", "schema",
			   "weft.spec/1", "spec",
			   s->n_missing ? json_null() : report_string(s->spec),
			   "reader", s->reader, "keys", keys, "assumed",
			   texts_json(s->assumed, s->n_assumed), "missing",
			   texts_json(s->missing, s->n_missing));
	return report_print(object, err);
}

static void answer_text(const struct weft_script *s)
{
	if (s->n_missing)
		printf("no spec: what is missing\n");
	for (uint32_t i = 0; i < s->n_missing; i++)
		printf("  %s\n", s->missing[i]);
	if (s->n_missing && s->n_keys)
		printf("found\n");
	else if (!s->n_missing)
		printf("%s\n", s->spec);
	for (uint32_t i = 0; i < s->n_keys; i++) {
		const struct weft_script_key *k = &s->keys[i];
		int width = 28 - (int)strlen(k->key) - 1;

		printf("  %s=%-*s ", k->key, width > 0 ? width : 0, k->value);
		if (k->line)
			printf("%s:%u\n", k->file, k->line);
		else
			printf("follows from the framework\n");
	}
	if (s->n_assumed)
		printf("assumed\n");
	for (uint32_t i = 0; i < s->n_assumed; i++)
		printf("  %s\n", s->assumed[i]);
}

static int script_find(struct question *q, struct weft_script *script,
		       struct weft_error *err)
{
	const char *name = q->words[0];
	bool file = strcmp(name, "-") == 0 || access(name, F_OK) == 0 ||
		    (q->n_words == 1 && looks_like_file(name));
	char *text = NULL;
	size_t size = 0;
	int rc = -1;

	if (file && weft_text_load(name, MOST_BYTES, &text, &size, err))
		return -1;
	if (!file)
		text = command_join(q, &size, err);
	q->options.load = file_load;
	q->options.self = q;
	q->options.set = q->set;
	q->options.arguments = file ? q->words + 1 : NULL;
	if (text)
		rc = weft_script_read(text, size, file ? name : "command",
				      &q->options, script, err);
	free(text);
	return rc;
}

int cmd_spec(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = word_read,
		.check = words_check,
		.in_order = true,
		.rest = true,
		.arguments = "SCRIPT [ARGUMENT...]\nCONFIG\nCOMMAND...",
		.doc = "A job spec out of a launch script, a framework's "
		       "configuration or a command, with the line of each "
		       "key.  Nothing is run.",
	};
	struct question q = {0};
	struct weft_script *script;
	struct weft_error err = {0};
	int code = EXIT_YES;

	command_line_read(&line, argc, argv, &q);
	script = weft_calloc(1, sizeof(*script), &err);
	if (!script || script_find(&q, script, &err) ||
	    (q.json && answer_json(script, &err)))
		code = cmd_fail(&err);
	else if (!q.json)
		answer_text(script);
	if (code == EXIT_YES && script->n_missing)
		code = EXIT_NEGATIVE;
	free(script);
	return code;
}
