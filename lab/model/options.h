/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - calculators as constants, and what they read */
#ifndef WEFT_LAB_MODEL_OPTIONS_H
#define WEFT_LAB_MODEL_OPTIONS_H

#include "cli/option.h"
#include "costmodel/job/model.h"
#include "lab/model/model.h"
#include "lab/model/quantity.h"

/* A calculator: a file model_NAME.c, a line below, and one in cmd_model.c.  Its
 * question begins with a struct model_options. */
struct calculator {
	const char *name, *help;
	struct command_line line; /* shares model_line */
	size_t question_size;
	const void *question; /* before options are read; NULL: zeros */
	/* Prints the answer.  Returns an exit code of cmd.h, or -1. */
	int (*answer)(void *question, struct weft_error *err);
};

/* The members line.rows and line.n_rows. */
#define LINE_ROWS(table)                                                       \
	.line.rows = (table), .line.n_rows = sizeof(table) / sizeof((table)[0])

extern const struct calculator model_allreduce, model_chunks, model_conventions,
	model_facts, model_memory, model_nccl, model_overlap, model_parallelism,
	model_pipeline, model_sequence, model_step, model_straggler,
	model_traffic, model_whatif;

/* Reads a command line, answers, and returns an exit code. */
int calculator_run(const struct calculator *calculator, int argc, char **argv);

/* A built-in model or a file; else the program ends through argp_error. */
struct weft_model model_named(const struct argp_state *state, const char *name);

#endif
