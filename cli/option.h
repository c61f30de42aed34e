/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.h - options of a command line, as rows of a table: name, help, kind of
 * value, and the member of the command's question that the value goes to; and
 * readers of single values.  A wrong value is a usage error.
 *
 * The macros below are the last columns of a row, for members of QUESTION,
 * which the file defines.
 */
#ifndef WEFT_CLI_OPTION_H
#define WEFT_CLI_OPTION_H

#include "costmodel/job/gpu.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
	OPTION_TEXT,   /* a const char *, which points into argv */
	OPTION_FLAG,   /* a bool, true when the option is given */
	OPTION_NUMBER, /* a double from min to max */
	OPTION_WHOLE,  /* a uint32_t from min (0 or 1) to max */
	OPTION_LONG,   /* a uint64_t from 0 to max_whole */
	OPTION_GPU,    /* a const struct weft_gpu * */
	OPTION_WORD,   /* an enum, the index of one of words */
	OPTION_NAME, /* the same of many words: a wrong one gets the nearest */
	OPTION_CONVERT, /* a double, by a function for its unit */
	OPTION_READ,	/* by a function of the command */
	OPTION_MAYBE,	/* likewise; NULL for an option without its value */
	OPTION_LIST,	/* prints, and ends the program */
	OPTION_OTHER,	/* another name of the row before */
	OPTION_IGNORE,	/* taken for old scripts, and not in --help */
};

typedef void option_reader(const struct argp_state *state, char *text,
			   void *question);
typedef double option_converter(const struct argp_state *state,
				const char *text);

struct option_row {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* in --help; NULL: none */
	const char *help;
	int group; /* groups are listed in this order */
	enum option_kind kind;
	size_t offset; /* in the question */
	double min, max;
	uint64_t max_whole;
	const char *const *words;
	uint32_t n_words;
	const char *noun; /* "an algorithm", of names */
	option_converter *convert;
	option_reader *read;
	void (*list)(void);
};

#define OPTION_AT(k, member) .kind = k, .offset = offsetof(QUESTION, member)
#define TEXT(member)	     OPTION_AT(OPTION_TEXT, member)
#define FLAG(member)	     OPTION_AT(OPTION_FLAG, member)
#define GPU(member)	     OPTION_AT(OPTION_GPU, member)
#define NUMBER(member, low, high)                                              \
	OPTION_AT(OPTION_NUMBER, member), .min = low, .max = high
#define WHOLE(member, low, high)                                               \
	OPTION_AT(OPTION_WHOLE, member), .min = low, .max = high
#define LONG(member, high) OPTION_AT(OPTION_LONG, member), .max_whole = high
#define WORD(member, names, n)                                                 \
	OPTION_AT(OPTION_WORD, member), .words = names, .n_words = n
#define NAME(member, names, n, a_noun)                                         \
	OPTION_AT(OPTION_NAME, member), .words = names, .n_words = n,          \
					.noun = a_noun
#define CONVERT(member, f) OPTION_AT(OPTION_CONVERT, member), .convert = f
#define READ(f)		   .kind = OPTION_READ, .read = f
#define MAYBE(f)	   .kind = OPTION_MAYBE, .read = f
#define LIST(f)		   .kind = OPTION_LIST, .list = f
#define ALIAS		   .kind = OPTION_OTHER
#define IGNORE		   .kind = OPTION_IGNORE

struct command_line {
	const char *arguments, *doc; /* as argp has them */
	const struct option_row *rows;
	size_t n_rows;
	/* Reads one of the arguments; ends the program by argp_error for NULL,
	 * which stands for no argument at all.  NULL: it takes none. */
	option_reader *argument;
	/* Options and arguments in the order of the command line; else options
	 * first. */
	bool in_order;
	bool rest; /* all words behind the first argument are arguments too */
	/* Ends the program by argp_error where the options do not go together;
	 * may fill in what follows from them.  May be NULL. */
	void (*check)(const struct argp_state *state, void *question);
	/* More options, whose question begins this one; they take the arguments
	 * if this takes none.  May be NULL. */
	const struct command_line *shared;
};

/* The members rows and n_rows. */
#define ROWS(table)                                                            \
	.rows = (table), .n_rows = sizeof(table) / sizeof((table)[0])

/* Reads a command line into question, or ends the program as argp does. */
void command_line_read(const struct command_line *line, int argc, char **argv,
		       void *question);

/* Ends the program through argp_error: --OPTION: "text" is not EXPECTED. */
void option_wrong(const struct argp_state *state, const char *text,
		  const char *expected);

/* A whole number 0..max, or ends the program likewise. */
uint64_t option_uint(const struct argp_state *state, const char *text,
		     uint64_t max);

/* A whole number 1..max, likewise. */
uint32_t option_count(const struct argp_state *state, const char *text,
		      uint32_t max);

/* A number min..max, likewise. */
double option_number(const struct argp_state *state, const char *text,
		     double min, double max);

/* The index of one of n names, likewise: "text" is not A NOUN; did you mean ...
 */
uint32_t option_name(const struct argp_state *state, const char *text,
		     const char *noun, const char *const *names, uint32_t n);
/* *path where it is given, else $WEFT_FABRIC; without either argp_error with
 * `question`. */
void option_fabric(const struct argp_state *state, const char **path,
		   const char *question);
/* A kind of GPU by name, or ends the program likewise. */
const struct weft_gpu *option_gpu(const struct argp_state *state,
				  const char *text);

#endif
