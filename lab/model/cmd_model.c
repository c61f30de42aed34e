/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_model.c - weft model: the calculators, by name */
#include "base/suggest.h"
#include "cli/cmd.h"
#include "lab/lab.h"
#include "lab/model/options.h"

#include <stdio.h>
#include <string.h>

static const struct calculator *const calculators[] = {
	&model_allreduce, &model_pipeline, &model_parallelism,
	&model_sequence,  &model_chunks,   &model_whatif,
	&model_step,	  &model_overlap,  &model_conventions,
	&model_straggler, &model_facts,	   &model_traffic,
	&model_nccl,	  &model_memory,
};
#define N_CALCULATORS (sizeof(calculators) / sizeof(calculators[0]))

/* The list of --help, made from the table above. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&list, &size);
	if (!out)
		return NULL;
	fprintf(out, "Calculators:\n");
	for (size_t i = 0; i < N_CALCULATORS; i++)
		fprintf(out, "  %-12s %s\n", calculators[i]->name,
			calculators[i]->help);
	fprintf(out,
		"\nweft model NAME --help explains one, weft-model(1) all.");
	fclose(out);
	return list;
}

static int name_run(const struct argp_state *state, const char *name)
{
	const char *words[N_CALCULATORS];
	char hint[WEFT_SUGGEST_TEXT];
	char title[64];
	char **argv = state->argv + state->next - 1;

	for (size_t i = 0; i < N_CALCULATORS; i++) {
		words[i] = calculators[i]->name;
		if (strcmp(name, words[i]) != 0)
			continue;
		snprintf(title, sizeof(title), "weft model %s", name);
		argv[0] = title;
		return calculator_run(calculators[i],
				      state->argc - state->next + 1, argv);
	}
	argp_error(state, "there is no calculator \"%s\"; %s", name,
		   weft_suggest_text(name, words, N_CALCULATORS, hint));
	return EXIT_USAGE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	int *code = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		*code = name_run(state, arg);
		state->next = state->argc; /* the calculator took the rest */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which calculator?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_model(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "NAME [OPTION...]",
		.doc = "Calculators of single questions: what does a gradient "
		       "sync cost, how large is the bubble.\n\v",
		.help_filter = help_filter,
	};
	int code = EXIT_USAGE;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &code);
	return code;
}
