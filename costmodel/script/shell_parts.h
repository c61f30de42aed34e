/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell_parts.h - a script that is being read: between the files of its reader
 */
#ifndef WEFT_COSTMODEL_SCRIPT_SHELL_PARTS_H
#define WEFT_COSTMODEL_SCRIPT_SHELL_PARTS_H

#include "costmodel/script/shell.h"

enum frame_kind { FRAME_IF, FRAME_CASE, FRAME_LOOP, FRAME_GROUP };

/* A compound statement that is open. */
struct shell_frame {
	enum frame_kind kind;
	enum shell_mode mode, outer; /* of what it holds; around it */
	enum shell_truth taken;	     /* a branch before this one */
	bool asks;		     /* between if and then */
	bool patterns;		     /* of a case: the next word is one */
	struct marked subject;
};

/* A text that is being read. */
struct reading {
	struct shell *shell;
	struct shell_source source;
	size_t base;		  /* frames of who called */
	enum shell_mode chain;	  /* by && and || */
	enum shell_truth last;	  /* what the last command says */
	struct marked_list words; /* of the command */
	struct marked target;	  /* of its output */
	/* here-documents whose bodies follow the line */
	struct {
		struct marked end, body;
		bool raw, tabs, there;
	} here;
};

/* ---- shell_state.c: variables, files and open statements ---- */

/* Where it is not sure that the assignment is made, one that changes what is
 * known leaves it unknown; one that only a run can know leaves the default. */
void shell_assign(struct shell *shell, const char *name,
		  const struct marked *value, bool append,
		  enum shell_mode mode);
void shell_file_keep(struct shell *shell, const struct marked *name,
		     const struct marked *body);

/* The innermost statement of this text; NULL: none. */
struct shell_frame *shell_top(struct reading *r);
struct shell_frame *shell_push(struct reading *r, enum frame_kind kind);
void shell_pop(struct reading *r);
enum shell_mode shell_mode_of(const struct shell *shell);
enum shell_mode shell_worse(enum shell_mode a, enum shell_mode b);
enum shell_mode shell_mode_if(enum shell_truth t);
enum shell_truth shell_not(enum shell_truth t);
/* A branch that is taken where `says` holds and none before it was. */
void shell_branch(struct shell_frame *frame, enum shell_truth says);

bool shell_is(const struct marked_list *words, size_t i, const char *text);
void shell_words_drop(struct reading *r, size_t keep);
/* Moves past blanks and comments, with `lines` past line ends too. */
void shell_blanks_skip(struct reading *r, bool lines);

/* ---- shell_keyword.c ---- */

/* Each takes what is at the place, if it is one. */
bool shell_keyword(struct reading *r);
bool shell_function(struct reading *r);
/* A pattern of a case, up to its ')'. */
void shell_pattern(struct reading *r, struct shell_frame *frame);

#endif
