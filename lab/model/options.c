/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - rows of options as argp wants them */
#include "lab/model/options.h"
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "costmodel/job/model.h"
#include "lab/model/quantity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 31

/* argp's key of a row without a letter: this and its index. */
#define FIRST_KEY 256

struct call {
	const struct calculator *asked;
	void *question;
};

static enum quantity_kind quantity_of(enum value_kind kind)
{
	static const enum quantity_kind of[] = {
		[VALUE_COUNT] = QUANTITY_COUNT,
		[VALUE_BYTES] = QUANTITY_BYTES,
		[VALUE_RATE] = QUANTITY_RATE,
		[VALUE_TIME] = QUANTITY_TIME,
		[VALUE_DURATION] = QUANTITY_DURATION,
		[VALUE_FLOPS] = QUANTITY_FLOPS,
	};

	return of[kind];
}

static uint32_t whole_read(const struct argp_state *state,
			   const struct value_option *option, const char *text)
{
	uint32_t max = (uint32_t)option->max;

	return option->min > 0 ? quantity_whole(state, text, max)
			       : (uint32_t)option_uint(state, text, max);
}

static void value_read(const struct argp_state *state,
		       const struct value_option *option, char *text,
		       void *question)
{
	void *at = (char *)question + option->offset;

	switch (option->kind) {
	case VALUE_NUMBER:
		*(double *)at =
			option_number(state, text, option->min, option->max);
		break;
	case VALUE_WHOLE:
		*(uint32_t *)at = whole_read(state, option, text);
		break;
	case VALUE_TEXT:
		*(const char **)at = text;
		break;
	case VALUE_FLAG:
		*(bool *)at = true;
		break;
	case VALUE_ALIAS:
		break;
	case VALUE_READ:
		option->read(state, text, question);
		break;
	default:
		*(double *)at =
			quantity_parse(state, quantity_of(option->kind), text);
	}
}

static int option_key(const struct calculator *asked, size_t i)
{
	const struct value_option *option = &asked->options[i];

	if (option->kind == VALUE_ALIAS)
		return 0;
	return option->letter ? option->letter : FIRST_KEY + (int)i;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct call *call = state->input;
	const struct calculator *asked = call->asked;

	if (key == ARGP_KEY_INIT) {
		state->child_inputs[0] = call->question;
		return 0;
	}
	if (asked->argument &&
	    (key == ARGP_KEY_ARG || key == ARGP_KEY_NO_ARGS)) {
		asked->argument(state, text, call->question);
		return 0;
	}
	if (key == ARGP_KEY_END && asked->check) {
		asked->check(state, call->question);
		return 0;
	}
	for (size_t i = 0; i < asked->n_options; i++) {
		if (key > 0 && key == option_key(asked, i)) {
			value_read(state, &asked->options[i], text,
				   call->question);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

static void command_line_read(const struct calculator *asked, int argc,
			      char **argv, void *question)
{
	static const struct argp_child children[] = {
		{.argp = &model_argp},
		{0},
	};
	struct argp_option options[MAX_OPTIONS + 1] = {0};
	struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = asked->arguments,
		.children = children,
		.doc = asked->doc,
	};
	struct call call = {.asked = asked, .question = question};

	assert(asked->n_options <= MAX_OPTIONS);
	for (size_t i = 0; i < asked->n_options; i++) {
		const struct value_option *option = &asked->options[i];

		options[i] = (struct argp_option){
			.name = option->name,
			.key = option_key(asked, i),
			.arg = option->argument,
			.flags = option->kind == VALUE_ALIAS ? OPTION_ALIAS : 0,
			.doc = option->help,
			.group = option->group,
		};
	}
	argp_parse(&argp, argc, argv, 0, NULL, &call);
}

int calculator_run(const struct calculator *calculator, int argc, char **argv)
{
	struct weft_error err = {0};
	void *question = weft_calloc(1, calculator->question_size, &err);
	int code = -1;

	if (question) {
		if (calculator->question)
			memcpy(question, calculator->question,
			       calculator->question_size);
		command_line_read(calculator, argc, argv, question);
		code = calculator->answer(question, &err);
	}
	free(question);
	return code < 0 ? cmd_fail(&err) : code;
}

int model_word(const struct argp_state *state, const char *what,
	       const char *name, const char *const *names, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return (int)i;
	}
	argp_error(state, "\"%s\" is not %s; did you mean \"%s\"?", name, what,
		   weft_suggest(name, names, n));
	return 0;
}

struct weft_model model_named(const struct argp_state *state, const char *name)
{
	struct weft_model model = {0};
	struct weft_error err = {0};

	if (weft_model_find(name, &model, &err))
		argp_error(state, "--model: %s", err.text);
	return model;
}
