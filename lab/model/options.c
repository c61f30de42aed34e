/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c - from a calculator's command line to its answer */
#include "lab/model/options.h"
#include "cli/cmd.h"
#include "costmodel/job/model.h"

#include <stdlib.h>
#include <string.h>

int calculator_run(const struct calculator *calculator, int argc, char **argv)
{
	struct weft_error err = {0};
	struct command_line line = calculator->line;
	void *question = weft_calloc(1, calculator->question_size, &err);
	int code = -1;

	if (question) {
		if (calculator->question)
			memcpy(question, calculator->question,
			       calculator->question_size);
		line.shared = &model_line;
		command_line_read(&line, argc, argv, question);
		code = calculator->answer(question, &err);
	}
	free(question);
	return code < 0 ? cmd_fail(&err) : code;
}

struct weft_model model_named(const struct argp_state *state, const char *name)
{
	struct weft_model model = {0};
	struct weft_error err = {0};

	if (weft_model_find(name, &model, &err))
		argp_error(state, "--model: %s", err.text);
	return model;
}
