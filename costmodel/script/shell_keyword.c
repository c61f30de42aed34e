/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell_keyword.c - if, case, loops, groups and functions */
#include "costmodel/script/shell_parts.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

/* Longer texts are not compared with patterns. */
#define MAX_SUBJECT 255

/* ---- keywords ---- */

static void on_if(struct reading *r, struct shell_frame *frame)
{
	(void)frame;
	frame = shell_push(r, FRAME_IF);
	r->chain = SHELL_LIVE;
	r->last = SHELL_OPEN;
	if (frame)
		frame->asks = true;
}

static void on_then(struct reading *r, struct shell_frame *frame)
{
	if (frame && frame->kind == FRAME_IF && frame->asks) {
		frame->asks = false;
		shell_branch(frame, r->last);
	}
	r->chain = SHELL_LIVE;
}

static void on_elif(struct reading *r, struct shell_frame *frame)
{
	r->chain = SHELL_LIVE;
	r->last = SHELL_OPEN;
	if (!frame || frame->kind != FRAME_IF)
		return;
	frame->asks = true;
	frame->mode = shell_worse(frame->outer,
				  shell_mode_if(shell_not(frame->taken)));
}

static void on_else(struct reading *r, struct shell_frame *frame)
{
	r->chain = SHELL_LIVE;
	if (frame && frame->kind == FRAME_IF)
		shell_branch(frame, SHELL_TRUE);
}

static void on_end(struct reading *r, struct shell_frame *frame)
{
	(void)frame;
	shell_pop(r);
	r->chain = SHELL_LIVE;
	r->last = SHELL_OPEN;
}

/* The body of a loop runs any number of times. */
static void on_loop(struct reading *r, struct shell_frame *frame)
{
	frame = shell_push(r, FRAME_LOOP);
	if (frame)
		frame->mode = shell_worse(frame->mode, SHELL_MAYBE);
	r->chain = SHELL_LIVE;
}

/* for NAME in WORD...: the words, of which one alone is the value. */
static void on_for(struct reading *r, struct shell_frame *frame)
{
	struct marked unknown = {0};
	size_t n;

	on_loop(r, frame);
	shell_blanks_skip(r, false);
	if (shell_peek(&r->source, 0) == '(') {
		while (shell_peek(&r->source, 0) &&
		       !strchr(";\n", shell_peek(&r->source, 0)))
			r->source.at++;
		return;
	}
	shell_words_drop(r, 0);
	for (n = 0; shell_peek(&r->source, 0) &&
		    !strchr(";\n", shell_peek(&r->source, 0)) &&
		    !r->shell->budget.failed;) {
		size_t at = r->source.at;

		shell_word(r->shell, &r->source, false, &r->words);
		r->source.at += r->source.at == at;
		shell_blanks_skip(r, false);
	}
	n = r->words.n;
	marked_add(&unknown, MARK_UNKNOWN, 0, &r->shell->budget);
	if (n >= 2)
		shell_assign(r->shell, marked_text(&r->words.of[0]),
			     n == 3 ? &r->words.of[2] : &unknown, false,
			     SHELL_LIVE);
	marked_free(&unknown);
	shell_words_drop(r, 0);
}

static void on_case(struct reading *r, struct shell_frame *frame)
{
	struct marked_list list = {0};

	frame = shell_push(r, FRAME_CASE);
	shell_blanks_skip(r, false);
	shell_word(r->shell, &r->source, true, &list);
	if (frame && list.n)
		marked_add_all(&frame->subject, &list.of[0], &r->shell->budget);
	marked_list_free(&list);
	shell_blanks_skip(r, true);
	if (shell_peek(&r->source, 0) == 'i' &&
	    shell_peek(&r->source, 1) == 'n')
		r->source.at += 2;
	if (frame)
		frame->patterns = true;
	r->chain = SHELL_LIVE;
}

static void on_group(struct reading *r, struct shell_frame *frame)
{
	(void)frame;
	shell_push(r, FRAME_GROUP);
	r->chain = SHELL_LIVE;
}

static void on_function(struct reading *r, struct shell_frame *frame)
{
	(void)frame;
	shell_blanks_skip(r, false);
	while (shell_peek(&r->source, 0) &&
	       !strchr("{\n", shell_peek(&r->source, 0)))
		r->source.at++;
}

static void on_nothing(struct reading *r, struct shell_frame *frame)
{
	(void)r;
	(void)frame;
}

static const struct {
	const char *word;
	void (*take)(struct reading *r, struct shell_frame *frame);
} keywords[] = {
	{"if", on_if},
	{"then", on_then},
	{"elif", on_elif},
	{"else", on_else},
	{"fi", on_end},
	{"for", on_for},
	{"select", on_for},
	{"while", on_loop},
	{"until", on_loop},
	{"do", on_nothing},
	{"done", on_end},
	{"case", on_case},
	{"esac", on_end},
	{"{", on_group},
	{"}", on_end},
	{"time", on_nothing},
	{"function", on_function},
};

/* Takes the keyword at the place, if there is one. */
bool shell_keyword(struct reading *r)
{
	for (size_t k = 0; k < sizeof(keywords) / sizeof(keywords[0]); k++) {
		size_t n = strlen(keywords[k].word);
		char next = shell_peek(&r->source, n);
		size_t i = 0;

		while (i < n &&
		       shell_peek(&r->source, i) == keywords[k].word[i])
			i++;
		if (i < n || (next && !strchr(" \t\r\n;&|)", next)))
			continue;
		r->source.at += n;
		keywords[k].take(r, shell_top(r));
		return true;
	}
	return false;
}

/* name(): what follows is a group that may be called. */
bool shell_function(struct reading *r)
{
	size_t n = 0, at;

	while (isalnum((unsigned char)shell_peek(&r->source, n)) ||
	       (shell_peek(&r->source, n) &&
		strchr("_-", shell_peek(&r->source, n))))
		n++;
	at = n;
	while (shell_peek(&r->source, at) == ' ')
		at++;
	if (!n || shell_peek(&r->source, at) != '(' ||
	    shell_peek(&r->source, at + 1) != ')')
		return false;
	r->source.at += at + 2;
	return true;
}

void shell_pattern(struct reading *r, struct shell_frame *frame)
{
	char pattern[128];
	enum shell_truth says = SHELL_FALSE;
	const char *subject = marked_text(&frame->subject);
	bool open = marked_has(&frame->subject, MARK_UNKNOWN) ||
		    strlen(subject) > MAX_SUBJECT;
	size_t n = 0;
	char c;

	while (*subject == MARK_ASSUMED)
		subject++;
	r->source.at += shell_peek(&r->source, 0) == '(';
	while ((c = shell_peek(&r->source, 0)) && !r->shell->budget.failed) {
		r->source.at++;
		if (c == '|' || c == ')') {
			pattern[n] = '\0';
			n = 0;
			budget_time_check(&r->shell->budget);
			if (!open && fnmatch(pattern, subject, 0) == 0)
				says = SHELL_TRUE;
			if (c == ')')
				break;
		} else if (!strchr("'\" \t\n", c) && n + 1 < sizeof(pattern)) {
			pattern[n++] = c;
		}
	}
	frame->patterns = false;
	shell_branch(frame, open ? SHELL_OPEN : says);
	r->chain = SHELL_LIVE;
}
