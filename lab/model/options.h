/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - the options of a calculator as rows: name, help, kind of value,
 * and the member of its `struct question` that the value goes to
 *
 * The macros below are the last columns of a row, for members of QUESTION, a
 * struct question where the file defines no other.  A question begins with its
 * struct model_options.
 */
#ifndef WEFT_LAB_MODEL_OPTIONS_H
#define WEFT_LAB_MODEL_OPTIONS_H

#include "costmodel/job/model.h"
#include "lab/model/model.h"

#include <argp.h>
#include <stddef.h>

enum value_kind {
	VALUE_COUNT,	/* to VALUE_FLOPS: a double, as quantity.h reads it */
	VALUE_BYTES,	/* bytes */
	VALUE_RATE,	/* bytes per second */
	VALUE_TIME,	/* seconds */
	VALUE_DURATION, /* seconds, above 0 */
	VALUE_FLOPS,	/* FLOP per second */
	VALUE_NUMBER,	/* a double from min to max */
	VALUE_WHOLE,	/* a uint32_t from min (0 or 1) to max */
	VALUE_TEXT,	/* a const char *, which points into argv */
	VALUE_FLAG,	/* a bool, true when the option is given */
	VALUE_ALIAS,	/* another name of the row before */
	VALUE_READ,	/* by a function of the calculator */
};

typedef void value_reader(const struct argp_state *state, char *text,
			  void *question);

struct value_option {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* in --help; NULL: none */
	const char *help;
	int group; /* groups are listed in this order */
	enum value_kind kind;
	size_t offset; /* in the question */
	double min, max;
	value_reader *read;
};

#ifndef QUESTION
#define QUESTION struct question
#endif

#define VALUE_AT(kind, member) kind, offsetof(QUESTION, member), 0, 0, NULL
#define COUNT(member)	       VALUE_AT(VALUE_COUNT, member)
#define BYTES(member)	       VALUE_AT(VALUE_BYTES, member)
#define RATE(member)	       VALUE_AT(VALUE_RATE, member)
#define TIME(member)	       VALUE_AT(VALUE_TIME, member)
#define DURATION(member)       VALUE_AT(VALUE_DURATION, member)
#define FLOPS(member)	       VALUE_AT(VALUE_FLOPS, member)
#define TEXT(member)	       VALUE_AT(VALUE_TEXT, member)
#define FLAG(member)	       VALUE_AT(VALUE_FLAG, member)
#define NUMBER(member, min, max)                                               \
	VALUE_NUMBER, offsetof(QUESTION, member), min, max, NULL
#define WHOLE(member, min, max)                                                \
	VALUE_WHOLE, offsetof(QUESTION, member), min, max, NULL
#define ALIAS	       VALUE_ALIAS, 0, 0, 0, NULL
#define READ(function) VALUE_READ, 0, 0, 0, function

/* A calculator: a file model_NAME.c, a line below, and one in cmd_model.c. */
struct calculator {
	const char *name, *help;
	const char *arguments, *doc; /* as argp has them */
	const struct value_option *options;
	size_t n_options;
	/* Reads one of the arguments; ends the program by argp_error for NULL,
	 * which stands for no argument at all.  NULL: it takes none. */
	value_reader *argument;
	/* Ends the program by argp_error where the options do not go together;
	 * may fill in what follows from them.  May be NULL. */
	void (*check)(const struct argp_state *state, void *question);
	size_t question_size;
	const void *question; /* before options are read; NULL: zeros */
	/* Prints the answer.  Returns an exit code of cmd.h, or -1. */
	int (*answer)(void *question, struct weft_error *err);
};

/* The members options and n_options. */
#define OPTIONS(rows)                                                          \
	.options = (rows), .n_options = sizeof(rows) / sizeof((rows)[0])

extern const struct calculator model_allreduce, model_chunks, model_conventions,
	model_facts, model_memory, model_nccl, model_overlap, model_parallelism,
	model_pipeline, model_sequence, model_step, model_straggler,
	model_traffic, model_whatif;

/* Reads a command line, answers, and returns an exit code. */
int calculator_run(const struct calculator *calculator, int argc, char **argv);

/* The index of name among n names, or ends the program through argp_error. */
int model_word(const struct argp_state *state, const char *what,
	       const char *name, const char *const *names, uint32_t n);

/* A built-in model or a file, likewise. */
struct weft_model model_named(const struct argp_state *state, const char *name);

#endif
