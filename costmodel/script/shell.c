/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.c - statements of a script: what runs, what may, and what is set */
#include "costmodel/script/shell_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 6

/* ---- commands ---- */

static void here_done(struct reading *r)
{
	marked_free(&r->here.end);
	marked_free(&r->here.body);
	memset(&r->here, 0, sizeof(r->here));
}

/* cat > FILE << END, read -d '' NAME << END, and bash << END. */
static void here_take(struct reading *r, enum shell_mode mode)
{
	const struct marked_list *words = &r->words;

	if (r->target.n &&
	    (shell_is(words, 0, "cat") || shell_is(words, 0, "tee")))
		shell_file_keep(r->shell, &r->target, &r->here.body);
	else if (shell_is(words, 0, "bash") || shell_is(words, 0, "sh") ||
		 shell_is(words, 0, "sbatch"))
		shell_read(r->shell, &r->here.body);
	else if (shell_is(words, 0, "read") && words->n > 2)
		shell_assign(r->shell, marked_text(&words->of[words->n - 1]),
			     &r->here.body, false, mode);
}

static void run(struct reading *r, enum shell_mode mode)
{
	struct marked_list *words = &r->words;
	size_t n = words->n;

	r->last = SHELL_OPEN;
	if (!n || mode == SHELL_DEAD)
		return;
	if (shell_is(words, 0, "[[") || shell_is(words, 0, "["))
		r->last = shell_test(words->of + 1, n - (n > 1 ? 2 : 1));
	else if (shell_is(words, 0, "test"))
		r->last = shell_test(words->of + 1, n - 1);
	else if (shell_is(words, 0, "true") || shell_is(words, 0, ":"))
		r->last = SHELL_TRUE;
	else if (shell_is(words, 0, "exit") && mode == SHELL_LIVE &&
		 r->shell->depth == 1)
		r->shell->ended = true;
	else if (r->here.there)
		here_take(r, mode);
	else
		r->shell->command(r->shell, words, mode);
}

static void command_end(struct reading *r)
{
	bool negated = shell_is(&r->words, 0, "!");
	enum shell_mode mode = shell_worse(shell_mode_of(r->shell), r->chain);

	if (negated) {
		marked_free(&r->words.of[0]);
		memmove(r->words.of, r->words.of + 1,
			--r->words.n * sizeof(*r->words.of));
	}
	if (r->words.n)
		run(r, mode);
	if (negated)
		r->last = shell_not(r->last);
	marked_list_free(&r->words);
	marked_free(&r->target);
	here_done(r);
}

/* ---- assignments ---- */

/* "NAME=", "NAME+=" or "NAME[i]=" at the place: its length, else 0. */
static size_t assignment_at(const struct shell_source *source, char name[64],
			    bool *append)
{
	size_t n = 0, i;

	while (isalnum((unsigned char)shell_peek(source, n)) ||
	       shell_peek(source, n) == '_')
		n++;
	if (!n || n > 63 || isdigit((unsigned char)shell_peek(source, 0)))
		return 0;
	memcpy(name, source->text->s + source->at, n);
	name[n] = '\0';
	i = n;
	*append = shell_peek(source, i) == '+';
	i += *append;
	return shell_peek(source, i) == '=' ? i + 1 : 0;
}

/* NAME=( ... ): its words. */
static void array_read(struct reading *r, struct marked *value)
{
	struct marked_list list = {0};
	struct budget *budget = &r->shell->budget;

	r->source.at++;
	for (;;) {
		size_t at;

		shell_blanks_skip(r, true);
		at = r->source.at;
		if (!shell_peek(&r->source, 0) ||
		    shell_peek(&r->source, 0) == ')' || budget->failed)
			break;
		shell_word(r->shell, &r->source, false, &list);
		r->source.at += r->source.at == at;
	}
	r->source.at += shell_peek(&r->source, 0) == ')';
	for (size_t i = 0; i < list.n; i++) {
		if (i)
			marked_add(value, MARK_PART, 0, budget);
		marked_add_all(value, &list.of[i], budget);
	}
	marked_list_free(&list);
}

/* Reads one if there is one.  Before a command it is of its environment, which
 * is as good. */
static bool assignment_read(struct reading *r)
{
	struct marked value = {0};
	struct marked_list list = {0};
	struct shell *shell = r->shell;
	char name[64];
	bool append, array;
	size_t n = assignment_at(&r->source, name, &append);

	if (!n)
		return false;
	r->source.at += n;
	array = shell_peek(&r->source, 0) == '(';
	if (array) {
		if (append && shell_get(shell, name) &&
		    shell_get(shell, name)->n)
			marked_add(&value, MARK_PART, 0, &shell->budget);
		array_read(r, &value);
	} else {
		shell_word(shell, &r->source, true, &list);
		if (list.n)
			marked_add_all(&value, &list.of[0], &shell->budget);
	}
	shell_assign(shell, name, &value, append,
		     shell_worse(shell_mode_of(shell), r->chain));
	marked_list_free(&list);
	marked_free(&value);
	return true;
}

/* ---- redirections and here-documents ---- */

/* "<YOUR PATH>", as examples have it, in place of what is not known. */
static size_t placeholder_at(const struct shell_source *s)
{
	size_t n = 1;

	if (shell_peek(s, 0) != '<' ||
	    !isalpha((unsigned char)shell_peek(s, 1)))
		return 0;
	while (shell_peek(s, n) && !strchr("\n<>", shell_peek(s, n)))
		n++;
	return shell_peek(s, n) == '>' && shell_peek(s, n - 1) != ' ' ? n + 1
								      : 0;
}

static void redirection_read(struct reading *r)
{
	struct shell_source *s = &r->source;
	bool in = shell_peek(s, 0) == '<', here, string;
	struct marked_list list = {0};

	s->at++;
	here = in && shell_peek(s, 0) == '<';
	s->at += here;
	string = here && shell_peek(s, 0) == '<';
	s->at += string;
	if (here && !string && shell_peek(s, 0) == '-') {
		r->here.tabs = true;
		s->at++;
	}
	while (!here && (shell_peek(s, 0) == '>' || shell_peek(s, 0) == '&' ||
			 shell_peek(s, 0) == '|'))
		s->at++;
	shell_blanks_skip(r, false);
	if (in && shell_peek(s, 0) == '(') /* <( ) */
		return;
	r->here.raw = shell_peek(s, 0) == '\'' || shell_peek(s, 0) == '"';
	shell_word(r->shell, s, true, &list);
	if (list.n && here && !string) {
		r->here.there = true;
		marked_add_all(&r->here.end, &list.of[0], &r->shell->budget);
	} else if (list.n && !in) {
		marked_cut(&r->target);
		marked_add_all(&r->target, &list.of[0], &r->shell->budget);
	}
	marked_list_free(&list);
}

/* Reads the body, from the line that begins here. */
static void here_read(struct reading *r)
{
	struct shell_source *s = &r->source;
	struct budget *budget = &r->shell->budget;
	const char *end = marked_text(&r->here.end);
	size_t length = strlen(end);
	struct marked body = {0};

	while (shell_peek(s, 0) && !budget->failed) {
		size_t n = 0;

		while (r->here.tabs && shell_peek(s, 0) == '\t')
			s->at++;
		while (shell_peek(s, n) && shell_peek(s, n) != '\n')
			n++;
		if (n == length && !memcmp(s->text->s + s->at, end, n)) {
			s->at += n + (shell_peek(s, n) == '\n');
			break;
		}
		for (size_t i = 0; i <= n && shell_peek(s, 0); i++, s->at++)
			marked_add(&body, shell_peek(s, 0), shell_line(s),
				   budget);
	}
	if (r->here.raw)
		marked_add_all(&r->here.body, &body, budget);
	else
		shell_expand(r->shell, &body, &r->here.body);
	marked_free(&body);
}

/* ---- a list of commands ---- */

/* "((" ... "))" as a command. */
static void sum_command(struct reading *r)
{
	char text[256];
	size_t n = 0;
	long long value;
	bool assumed;

	r->source.at += 2;
	while (shell_peek(&r->source, 0) &&
	       !(shell_peek(&r->source, 0) == ')' &&
		 shell_peek(&r->source, 1) == ')')) {
		if (n + 1 < sizeof(text))
			text[n++] = shell_peek(&r->source, 0);
		r->source.at++;
	}
	r->source.at += shell_peek(&r->source, 0) ? 2 : 0;
	text[n] = '\0';
	r->last = SHELL_OPEN;
	if (shell_arithmetic(r->shell, text, &value, &assumed))
		r->last = value ? SHELL_TRUE : SHELL_FALSE;
}

/* [[ ... ]]: operators are words in it. */
static void bracket_read(struct reading *r)
{
	struct budget *budget = &r->shell->budget;

	while (shell_peek(&r->source, 0) && !budget->failed) {
		size_t at = r->source.at, n = r->words.n;
		struct marked *word;

		shell_blanks_skip(r, true);
		at = r->source.at;
		shell_word(r->shell, &r->source, true, &r->words);
		if (r->words.n == n) /* no memory */
			return;
		if (r->source.at == at && shell_peek(&r->source, 0)) {
			word = &r->words.of[n];
			do
				marked_add(word,
					   r->source.text->s[r->source.at++], 0,
					   budget);
			while (shell_peek(&r->source, 0) &&
			       strchr("&|", shell_peek(&r->source, 0)));
		}
		if (shell_is(&r->words, n, "]]"))
			return;
	}
}

/* export A=b and its kind assign too. */
static bool declares(const struct reading *r)
{
	static const char *const words[] = {"export",	"local",   "declare",
					    "readonly", "typeset", "env"};

	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++)
		if (shell_is(&r->words, 0, words[w]))
			return true;
	return false;
}

static void operator_read(struct reading *r)
{
	char c = shell_peek(&r->source, 0), next = shell_peek(&r->source, 1);
	struct shell_frame *frame = shell_top(r);

	if (c == '\n' && r->here.there) {
		r->source.at++;
		here_read(r);
		command_end(r);
		r->chain = SHELL_LIVE;
		return;
	}
	if (!r->here.there)
		command_end(r);
	r->source.at++;
	if ((c == '&' || c == '|') && next == c) {
		r->source.at++;
		r->chain = shell_worse(
			r->chain,
			shell_mode_if(c == '&' ? r->last : shell_not(r->last)));
		return;
	}
	if (c != '|')
		r->chain = SHELL_LIVE;
	if (c == ';' && next == ';') {
		r->source.at++;
		if (frame && frame->kind == FRAME_CASE)
			frame->patterns = true;
	}
}

/* What begins a command; true: something was taken. */
static bool command_begin(struct reading *r)
{
	struct shell_frame *frame = shell_top(r);
	char c = shell_peek(&r->source, 0);

	if (frame && frame->patterns &&
	    !(c == 'e' && shell_peek(&r->source, 1) == 's' &&
	      shell_peek(&r->source, 2) == 'a')) {
		shell_pattern(r, frame);
		return true;
	}
	if (c == '(' && shell_peek(&r->source, 1) == '(') {
		sum_command(r);
		return true;
	}
	if (c == '(' || c == ')') {
		r->source.at++;
		return true;
	}
	return shell_keyword(r) || shell_function(r) || assignment_read(r);
}

static void step(struct reading *r)
{
	size_t at, n;
	char c;

	shell_blanks_skip(r, false);
	c = shell_peek(&r->source, 0);
	at = r->source.at;
	if (!c)
		return;
	if (c == '\n' || c == ';' || c == '|' ||
	    (c == '&' && shell_peek(&r->source, 1) != '>')) {
		operator_read(r);
		return;
	}
	if (!r->words.n && command_begin(r))
		return;
	if (declares(r) && assignment_read(r))
		return;
	n = r->words.n;
	if (placeholder_at(&r->source)) {
		struct marked *word =
			marked_list_add(&r->words, &r->shell->budget);

		if (word)
			marked_add(word, MARK_UNKNOWN, shell_line(&r->source),
				   &r->shell->budget);
		r->source.at += placeholder_at(&r->source);
		while (shell_peek(&r->source, 0) &&
		       !strchr(" \t\n;\\", shell_peek(&r->source, 0)))
			r->source.at++;
		return;
	}
	if (c == '<' || c == '>' || c == '&') {
		r->source.at += c == '&';
		redirection_read(r);
		return;
	}
	shell_word(r->shell, &r->source, false, &r->words);
	c = shell_peek(&r->source, 0);
	/* the 2 of 2>&1 */
	if (r->words.n == n + 1 && (c == '<' || c == '>') &&
	    r->source.at == at + 1 &&
	    isdigit((unsigned char)r->source.text->s[at]))
		shell_words_drop(r, n);
	if (n == 0 && shell_is(&r->words, 0, "[["))
		bracket_read(r);
	if (r->source.at == at)
		r->source.at++;
}

int shell_read(struct shell *shell, const struct marked *text)
{
	struct reading r = {.shell = shell,
			    .source = {text, 0},
			    .base = shell->n_frames,
			    .last = SHELL_OPEN};

	if (shell->depth == MAX_DEPTH)
		return shell->budget.failed ? -1 : 0;
	shell->depth++;
	while (shell_peek(&r.source, 0) && !shell->budget.failed) {
		step(&r);
		budget_time_check(&shell->budget);
	}
	command_end(&r);
	while (shell->n_frames > r.base)
		shell_pop(&r);
	shell->depth--;
	return shell->budget.failed ? -1 : 0;
}
