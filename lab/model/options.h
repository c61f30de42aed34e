/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h - the options of a calculator as rows: name, help, kind of value,
 * and the member of its `struct question` that the value goes to
 *
 * The macros below are the last columns of a row.  A question begins with its
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

#define VALUE_AT(kind, member)                                                 \
	kind, offsetof(struct question, member), 0, 0, NULL
#define COUNT(member)	 VALUE_AT(VALUE_COUNT, member)
#define BYTES(member)	 VALUE_AT(VALUE_BYTES, member)
#define RATE(member)	 VALUE_AT(VALUE_RATE, member)
#define TIME(member)	 VALUE_AT(VALUE_TIME, member)
#define DURATION(member) VALUE_AT(VALUE_DURATION, member)
#define FLOPS(member)	 VALUE_AT(VALUE_FLOPS, member)
#define TEXT(member)	 VALUE_AT(VALUE_TEXT, member)
#define FLAG(member)	 VALUE_AT(VALUE_FLAG, member)
#define NUMBER(member, min, max)                                               \
	VALUE_NUMBER, offsetof(struct question, member), min, max, NULL
#define WHOLE(member, min, max)                                                \
	VALUE_WHOLE, offsetof(struct question, member), min, max, NULL
#define ALIAS	       VALUE_ALIAS, 0, 0, 0, NULL
#define READ(function) VALUE_READ, 0, 0, 0, function

struct model_asked {
	const char *help;
	const struct value_option *options;
	size_t n_options;
	/* Ends the program by argp_error where the options do not go together;
	 * may fill in what follows from them.  May be NULL. */
	void (*check)(const struct argp_state *state, void *question);
};

/* Reads a command line into question, or ends the program as argp does. */
void model_parse(const struct model_asked *asked, int argc, char **argv,
		 void *question);

/* The index of name among n names, or ends the program through argp_error. */
int model_word(const struct argp_state *state, const char *what,
	       const char *name, const char *const *names, uint32_t n);

/* A built-in model or a file, likewise. */
struct weft_model model_named(const struct argp_state *state, const char *name);

#endif
