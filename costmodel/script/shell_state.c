/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell_state.c - what a script has set, and the statements that are open */
#include "costmodel/script/shell_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FRAMES    64
#define MAX_VARIABLES 4096
#define MAX_FILES     16

/* ---- variables and files ---- */

static struct shell_variable *find(const struct shell *shell, const char *name)
{
	for (size_t i = 0; i < shell->n_variables; i++)
		if (strcmp(shell->variables[i].name, name) == 0)
			return &shell->variables[i];
	return NULL;
}

const struct marked *shell_get(const struct shell *shell, const char *name)
{
	const struct shell_variable *v = find(shell, name);

	return v ? &v->value : NULL;
}

static struct shell_variable *variable(struct shell *shell, const char *name)
{
	struct shell_variable *v = find(shell, name);

	if (v)
		return v;
	if (shell->n_variables == shell->room) {
		size_t room = shell->room ? 2 * shell->room : 64;

		v = room > MAX_VARIABLES
			    ? NULL
			    : weft_realloc(shell->variables, room, sizeof(*v),
					   shell->budget.err);
		if (!v) {
			weft_fail(shell->budget.err, WEFT_EINVAL,
				  "the script has too many variables");
			shell->budget.failed = true;
			return NULL;
		}
		shell->variables = v;
		shell->room = room;
	}
	v = &shell->variables[shell->n_variables++];
	memset(v, 0, sizeof(*v));
	snprintf(v->name, sizeof(v->name), "%s", name);
	return v;
}

void shell_set(struct shell *shell, const char *name, const char *value,
	       uint32_t line)
{
	struct shell_variable *v = variable(shell, name);

	if (!v)
		return;
	marked_cut(&v->value);
	marked_add_text(&v->value, value, line, &shell->budget);
}

static bool same_text(const struct marked *a, const struct marked *b)
{
	return strcmp(marked_text(a), marked_text(b)) == 0;
}

void shell_assign(struct shell *shell, const char *name,
		  const struct marked *value, bool append, enum shell_mode mode)
{
	const struct shell_variable *old = find(shell, name);
	struct shell_variable *v;
	bool had = old && old->value.n, unknown;

	if (mode == SHELL_DEAD || (mode == SHELL_MAYBE && had && !append &&
				   same_text(&old->value, value)))
		return;
	v = variable(shell, name);
	if (!v)
		return;
	unknown = marked_has(value, MARK_UNKNOWN);
	if (mode == SHELL_MAYBE && had && unknown && !append) {
		marked_add(&v->value, MARK_ASSUMED, v->value.line[0],
			   &shell->budget);
		return;
	}
	if (!append)
		marked_cut(&v->value);
	if (mode == SHELL_MAYBE)
		marked_add(&v->value,
			   had && !append ? MARK_UNKNOWN : MARK_ASSUMED,
			   marked_line(value), &shell->budget);
	if (mode != SHELL_MAYBE || !had || append)
		marked_add_all(&v->value, value, &shell->budget);
}

/* The same but for marks. */
static bool same_name(const char *a, const char *b)
{
	for (;;) {
		while (*a > 0 && *a <= MARK_PART)
			a++;
		while (*b > 0 && *b <= MARK_PART)
			b++;
		if (*a != *b || !*a)
			return *a == *b;
		a++;
		b++;
	}
}

const struct marked *shell_file(const struct shell *shell, const char *name)
{
	for (size_t i = 0; i < shell->n_files; i++)
		if (same_name(marked_text(&shell->files[i].name), name))
			return &shell->files[i].body;
	return NULL;
}

void shell_file_keep(struct shell *shell, const struct marked *name,
		     const struct marked *body)
{
	struct shell_file *files;

	if (shell->n_files == MAX_FILES)
		return;
	files = weft_realloc(shell->files, shell->n_files + 1, sizeof(*files),
			     shell->budget.err);
	if (!files) {
		shell->budget.failed = true;
		return;
	}
	shell->files = files;
	files += shell->n_files++;
	memset(files, 0, sizeof(*files));
	marked_add_all(&files->name, name, &shell->budget);
	marked_add_all(&files->body, body, &shell->budget);
}

/* ---- frames ---- */

struct shell_frame *shell_top(struct reading *r)
{
	struct shell *shell = r->shell;

	return shell->n_frames > r->base ? &shell->frames[shell->n_frames - 1]
					 : NULL;
}

enum shell_mode shell_mode_of(const struct shell *shell)
{
	if (shell->ended)
		return SHELL_DEAD;
	return shell->n_frames ? shell->frames[shell->n_frames - 1].mode
			       : SHELL_LIVE;
}

enum shell_mode shell_worse(enum shell_mode a, enum shell_mode b)
{
	return a > b ? a : b;
}

struct shell_frame *shell_push(struct reading *r, enum frame_kind kind)
{
	struct shell *shell = r->shell;
	struct shell_frame *frame;

	if (shell->n_frames == MAX_FRAMES) {
		weft_fail(shell->budget.err, WEFT_EINVAL,
			  "statements are nested too deeply");
		shell->budget.failed = true;
		return NULL;
	}
	if (!shell->frames)
		shell->frames = weft_calloc(MAX_FRAMES, sizeof(*frame),
					    shell->budget.err);
	if (!shell->frames) {
		shell->budget.failed = true;
		return NULL;
	}
	frame = &shell->frames[shell->n_frames];
	memset(frame, 0, sizeof(*frame));
	frame->kind = kind;
	frame->mode = frame->outer =
		shell_worse(shell_mode_of(shell), r->chain);
	shell->n_frames++;
	return frame;
}

void shell_pop(struct reading *r)
{
	struct shell_frame *frame = shell_top(r);

	if (!frame)
		return;
	marked_free(&frame->subject);
	r->shell->n_frames--;
}

enum shell_mode shell_mode_if(enum shell_truth t)
{
	return t == SHELL_TRUE	  ? SHELL_LIVE
	       : t == SHELL_FALSE ? SHELL_DEAD
				  : SHELL_MAYBE;
}

enum shell_truth shell_not(enum shell_truth t)
{
	return t == SHELL_OPEN ? t
			       : (t == SHELL_TRUE ? SHELL_FALSE : SHELL_TRUE);
}

void shell_branch(struct shell_frame *frame, enum shell_truth says)
{
	frame->mode = shell_worse(
		frame->outer,
		shell_worse(shell_mode_if(says),
			    shell_mode_if(shell_not(frame->taken))));
	if (says == SHELL_TRUE && frame->taken != SHELL_TRUE)
		frame->taken = SHELL_TRUE;
	else if (says == SHELL_OPEN && frame->taken == SHELL_FALSE)
		frame->taken = SHELL_OPEN;
}

bool shell_is(const struct marked_list *words, size_t i, const char *text)
{
	return i < words->n && strcmp(marked_text(&words->of[i]), text) == 0;
}

void shell_words_drop(struct reading *r, size_t keep)
{
	while (r->words.n > keep)
		marked_free(&r->words.of[--r->words.n]);
}

void shell_blanks_skip(struct reading *r, bool lines)
{
	struct shell_source *source = &r->source;
	char c;

	while ((c = shell_peek(source, 0))) {
		if (c == '\\' && shell_peek(source, 1) == '\n')
			source->at += 2;
		else if (c == ' ' || c == '\t' || c == '\r' ||
			 (lines && c == '\n'))
			source->at++;
		else if (c == '#')
			while (shell_peek(source, 0) &&
			       shell_peek(source, 0) != '\n')
				source->at++;
		else
			return;
	}
}

void shell_free(struct shell *shell)
{
	for (size_t i = 0; i < shell->n_variables; i++)
		marked_free(&shell->variables[i].value);
	for (size_t i = 0; i < shell->n_files; i++) {
		marked_free(&shell->files[i].name);
		marked_free(&shell->files[i].body);
	}
	free(shell->variables);
	free(shell->files);
	free(shell->frames);
}
