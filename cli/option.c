/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.c - numbers on the command line, and rows of options as argp wants
 * them
 */
#include "cli/option.h"
#include "base/suggest.h"
#include "cli/cmd.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The option as it was written is the last word that argp took, "--seed=x" or
 * "-sx", or the one before it, "--seed" "x". */
void option_wrong(const struct argp_state *state, const char *text,
		  const char *expected)
{
	const char *option = "";

	for (int i = state->next - 1; i > 0 && i > state->next - 3; i--) {
		option = state->argv[i];
		if (option != text && option[0] == '-')
			break;
	}
	argp_error(state, "%.*s: \"%s\" is not %s", (int)strcspn(option, "="),
		   option, text, expected);
}

uint64_t option_uint(const struct argp_state *state, const char *text,
		     uint64_t max)
{
	unsigned long long value;
	char expected[64], *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno && value <= max)
		return value;
	snprintf(expected, sizeof(expected), "a whole number from 0 to %llu",
		 (unsigned long long)max);
	option_wrong(state, text, expected);
	return 0;
}

uint32_t option_count(const struct argp_state *state, const char *text,
		      uint32_t max)
{
	uint64_t value = option_uint(state, text, max);
	char expected[64];

	snprintf(expected, sizeof(expected), "a whole number from 1 to %u",
		 max);
	if (value == 0)
		option_wrong(state, text, expected);
	return (uint32_t)value;
}

double option_number(const struct argp_state *state, const char *text,
		     double min, double max)
{
	double value;
	char expected[64], *end;

	errno = 0;
	value = strtod(text, &end);
	if (end != text && !*end && !errno && value >= min && value <= max)
		return value;
	if (max < DBL_MAX)
		snprintf(expected, sizeof(expected), "a number from %g to %g",
			 min, max);
	else
		snprintf(expected, sizeof(expected), "a number of at least %g",
			 min);
	option_wrong(state, text, expected);
	return min;
}

const struct weft_gpu *option_gpu(const struct argp_state *state,
				  const char *text)
{
	struct weft_error err = {0};
	const struct weft_gpu *gpu = weft_gpu_find(text, &err);

	if (!gpu)
		argp_error(state, "%s", err.text);
	return gpu;
}

uint32_t option_name(const struct argp_state *state, const char *text,
		     const char *noun, const char *const *names, uint32_t n)
{
	char hint[WEFT_SUGGEST_TEXT];

	for (uint32_t i = 0; i < n; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	argp_error(state, "\"%s\" is not %s; %s", text, noun,
		   weft_suggest_text(text, names, n, hint));
	return 0;
}

void option_fabric(const struct argp_state *state, const char **path,
		   const char *question)
{
	if (!*path)
		*path = getenv("WEFT_FABRIC");
	if (!*path || !**path)
		argp_error(state, "%s", question);
}

/* The index of one of words; otherwise "a, b or c" was expected. */
static uint32_t option_word(const struct argp_state *state, const char *text,
			    const char *const *words, uint32_t n)
{
	char expected[256];
	size_t used = 0;

	for (uint32_t i = 0; i < n; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	for (uint32_t i = 0; i < n && used < sizeof(expected); i++)
		used += (size_t)snprintf(expected + used,
					 sizeof(expected) - used, "%s%s",
					 i == 0	      ? ""
					 : i == n - 1 ? " or "
						      : ", ",
					 words[i]);
	option_wrong(state, text, expected);
	return 0;
}

/* ---- rows ---- */

#define MAX_ROWS 31

/* argp's key of a row without a letter: this and its index. */
#define FIRST_KEY 256

/* A command line, as argp wants it. */
struct reading {
	const struct command_line *line;
	void *question;
	struct reading *shared;
	struct argp_option options[MAX_ROWS + 1];
	struct argp argp;
};

static void row_read(const struct argp_state *state,
		     const struct option_row *row, char *text, void *question)
{
	void *at = (char *)question + row->offset;
	uint32_t max = (uint32_t)row->max;

	switch (row->kind) {
	case OPTION_TEXT:
		*(const char **)at = text;
		break;
	case OPTION_FLAG:
		*(bool *)at = true;
		break;
	case OPTION_NUMBER:
		*(double *)at = option_number(state, text, row->min, row->max);
		break;
	case OPTION_WHOLE:
		*(uint32_t *)at =
			row->min > 0 ? option_count(state, text, max)
				     : (uint32_t)option_uint(state, text, max);
		break;
	case OPTION_LONG:
		*(uint64_t *)at = option_uint(state, text, row->max_whole);
		break;
	case OPTION_GPU:
		*(const struct weft_gpu **)at = option_gpu(state, text);
		break;
	case OPTION_WORD:
		*(unsigned *)at =
			option_word(state, text, row->words, row->n_words);
		break;
	case OPTION_NAME:
		*(unsigned *)at = option_name(state, text, row->noun,
					      row->words, row->n_words);
		break;
	case OPTION_CONVERT:
		*(double *)at = row->convert(state, text);
		break;
	case OPTION_READ:
	case OPTION_MAYBE:
		row->read(state, text, question);
		break;
	case OPTION_LIST:
		row->list();
		exit(fflush(stdout) == 0 ? EXIT_YES : EXIT_ERROR);
	case OPTION_OTHER:
	case OPTION_IGNORE:
		break;
	}
}

static int row_key(const struct command_line *line, size_t i)
{
	const struct option_row *row = &line->rows[i];

	if (row->kind == OPTION_OTHER)
		return 0;
	return row->letter ? row->letter : FIRST_KEY + (int)i;
}

static void arguments_read(struct argp_state *state, char *text,
			   const struct reading *reading)
{
	const struct command_line *line = reading->line;

	line->argument(state, text, reading->question);
	while (line->rest && state->next < state->argc)
		line->argument(state, state->argv[state->next++],
			       reading->question);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct reading *reading = state->input;
	const struct command_line *line = reading->line;

	switch (key) {
	case ARGP_KEY_INIT:
		if (reading->shared)
			state->child_inputs[0] = reading->shared;
		return 0;
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_ARG:
		if (reading->shared && !line->argument)
			return ARGP_ERR_UNKNOWN;
		if (line->argument)
			arguments_read(state, text, reading);
		else if (key == ARGP_KEY_ARG)
			argp_error(state, "\"%s\" is not an option", text);
		return 0;
	case ARGP_KEY_END:
		if (line->check)
			line->check(state, reading->question);
		return 0;
	default:
		break;
	}
	for (size_t i = 0; i < line->n_rows; i++) {
		if (key > 0 && key == row_key(line, i)) {
			row_read(state, &line->rows[i], text,
				 reading->question);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

static int row_flags(const struct option_row *row)
{
	return row->kind == OPTION_OTHER    ? OPTION_ALIAS
	       : row->kind == OPTION_IGNORE ? OPTION_HIDDEN
	       : row->kind == OPTION_MAYBE  ? OPTION_ARG_OPTIONAL
					    : 0;
}

static void reading_fill(struct reading *reading,
			 const struct command_line *line, void *question)
{
	assert(line->n_rows <= MAX_ROWS);
	reading->line = line;
	reading->question = question;
	reading->argp = (struct argp){
		.options = reading->options,
		.parser = parse,
		.args_doc = line->arguments,
		.doc = line->doc,
	};
	for (size_t i = 0; i < line->n_rows; i++) {
		const struct option_row *row = &line->rows[i];

		reading->options[i] = (struct argp_option){
			.name = row->name,
			.key = row_key(line, i),
			.arg = row->argument,
			.flags = row_flags(row),
			.doc = row->help,
			.group = row->group,
		};
	}
}

void command_line_read(const struct command_line *line, int argc, char **argv,
		       void *question)
{
	struct reading reading = {0}, shared = {0};
	const struct argp_child children[] = {{.argp = &shared.argp}, {0}};

	reading_fill(&reading, line, question);
	if (line->shared) {
		reading_fill(&shared, line->shared, question);
		reading.shared = &shared;
		reading.argp.children = children;
	}
	argp_parse(&reading.argp, argc, argv,
		   line->in_order ? ARGP_IN_ORDER : 0, NULL, &reading);
}
