/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.h - the commands that a shell script would run, without running any
 *
 * Reads what launch scripts are made of: variables, arrays, quotes, line
 * continuations, arithmetic, defaults, here-documents, if, case, loops and
 * functions.  A condition that only a run would decide makes what stands under
 * it possible instead of sure; a variable that comes from the caller, or from a
 * command, is unknown.  No process is started and no file is opened.
 */
#ifndef WEFT_COSTMODEL_SCRIPT_SHELL_H
#define WEFT_COSTMODEL_SCRIPT_SHELL_H

#include "costmodel/script/marked.h"

/* How sure it is that a command runs. */
enum shell_mode { SHELL_LIVE, SHELL_MAYBE, SHELL_DEAD };

/* Of a test. */
enum shell_truth { SHELL_FALSE, SHELL_TRUE, SHELL_OPEN };

struct shell_variable {
	char name[64];
	struct marked value;
};

/* A file that the script writes with "cat > NAME << END". */
struct shell_file {
	struct marked name, body;
};

struct shell_frame;

struct shell {
	struct budget budget;
	/* called for each simple command, words[0] its name */
	void (*command)(struct shell *shell, struct marked_list *words,
			enum shell_mode mode);
	void *self;
	/* A script that this one sources is not here: arrays may be its. */
	bool lacks_source;
	/* private */
	struct shell_variable *variables;
	size_t n_variables, room;
	struct shell_file *files;
	size_t n_files;
	struct shell_frame *frames;
	size_t n_frames;
	uint32_t depth; /* of texts that are scripts themselves */
	bool ended;	/* by exit */
};

/* Reads a script; may be called again from `command` for a text that a command
 * gets as a script.  -1 with budget.err. */
int shell_read(struct shell *shell, const struct marked *text);
void shell_free(struct shell *shell);

/* What the variable holds; NULL: never set. */
const struct marked *shell_get(const struct shell *shell, const char *name);
void shell_set(struct shell *shell, const char *name, const char *value,
	       uint32_t line);

/* The body of a file that the script writes, or NULL. */
const struct marked *shell_file(const struct shell *shell, const char *name);

/* ---- between the files of the reader ---- */

/* A place in a text. */
struct shell_source {
	const struct marked *text;
	size_t at;
};

char shell_peek(const struct shell_source *source, size_t ahead);
uint32_t shell_line(const struct shell_source *source);

/* shell_word.c: reads one word with its substitutions, as none, one or many
 * words at the end of list.  whole: as one word, as in an assignment. */
void shell_word(struct shell *shell, struct shell_source *source, bool whole,
		struct marked_list *list);
/* The same of all of a text between double quotes. */
void shell_expand(struct shell *shell, const struct marked *text,
		  struct marked *out);

/* shell_dollar.c: what stands at a '$' or '`'.  *parts: it is all elements of
 * an array, each a word also between quotes. */
void shell_dollar(struct shell *shell, struct shell_source *source,
		  struct marked *out, bool *parts);

/* shell_test.c */
enum shell_truth shell_test(const struct marked *words, size_t n);
/* The value of an arithmetic expression, substitutions done; false: unknown.
 * *assumed: something in it is. */
bool shell_arithmetic(const struct shell *shell, const char *text,
		      long long *value, bool *assumed);

#endif
