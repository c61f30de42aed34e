/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell_word.c - words of a script: quotes, and where a word ends */
#include "costmodel/script/shell.h"

#include <string.h>

char shell_peek(const struct shell_source *source, size_t ahead)
{
	size_t at = source->at + ahead;

	return at < source->text->n ? source->text->s[at] : '\0';
}

uint32_t shell_line(const struct shell_source *source)
{
	const struct marked *text = source->text;

	if (!text->n)
		return 0;
	return text->line[source->at < text->n ? source->at : text->n - 1];
}

/* A word in the making: the text that is open, at the end of a list. */
struct making {
	struct shell *shell;
	struct marked_list *list;
	bool whole, open;
};

static void put(struct making *m, char c, uint32_t line)
{
	if (!m->open) {
		if (!marked_list_add(m->list, &m->shell->budget))
			return;
		m->open = true;
	}
	marked_add(&m->list->of[m->list->n - 1], c, line, &m->shell->budget);
}

/* An empty pair of quotes is a word too. */
static void put_nothing(struct making *m)
{
	if (!m->open && marked_list_add(m->list, &m->shell->budget))
		m->open = true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void put_value(struct making *m, const struct marked *value, bool quoted,
		      bool parts)
{
	for (size_t i = 0; i < value->n; i++) {
		char c = value->s[i];
		bool ends = c == MARK_PART ? parts || !quoted
					   : !quoted && is_blank(c);

		if (!ends || m->whole)
			put(m, c == MARK_PART ? ' ' : c, value->line[i]);
		else
			m->open = false;
	}
}

static void dollar_put(struct making *m, struct shell_source *source,
		       bool quoted)
{
	struct marked value = {0};
	bool parts = false;

	shell_dollar(m->shell, source, &value, &parts);
	put_value(m, &value, quoted, parts);
	marked_free(&value);
}

/* One byte, or one substitution, of what double quotes hold. */
static void quoted_step(struct making *m, struct shell_source *source)
{
	char c = shell_peek(source, 0), next = shell_peek(source, 1);

	if (c == '$' || c == '`') {
		dollar_put(m, source, true);
		return;
	}
	if (c == '\\' && next == '\n') {
		source->at += 2;
		return;
	}
	if (c == '\\' && next && strchr("$`\"\\", next))
		source->at++;
	put(m, shell_peek(source, 0), shell_line(source));
	source->at++;
}

static void double_quoted(struct making *m, struct shell_source *source)
{
	put_nothing(m);
	while (shell_peek(source, 0) && shell_peek(source, 0) != '"' &&
	       !m->shell->budget.failed)
		quoted_step(m, source);
	source->at += shell_peek(source, 0) == '"';
}

static void single_quoted(struct making *m, struct shell_source *source)
{
	char c;

	put_nothing(m);
	while ((c = shell_peek(source, 0)) && c != '\'') {
		put(m, c, shell_line(source));
		source->at++;
	}
	source->at += c == '\'';
}

void shell_word(struct shell *shell, struct shell_source *source, bool whole,
		struct marked_list *list)
{
	struct making m = {shell, list, whole, false};
	char c;

	while ((c = shell_peek(source, 0)) && !strchr(" \t\r\n;|&<>()", c) &&
	       !shell->budget.failed) {
		if (c == '$' || c == '`') {
			dollar_put(&m, source, whole);
			continue;
		}
		source->at++;
		if (c == '"') {
			double_quoted(&m, source);
		} else if (c == '\'') {
			single_quoted(&m, source);
		} else if (c == '\\' && shell_peek(source, 0) == '\n') {
			source->at++;
			break;
		} else {
			if (c == '\\' && shell_peek(source, 0))
				c = source->text->s[source->at++];
			source->at--;
			put(&m, c, shell_line(source));
			source->at++;
		}
	}
	if (whole)
		put_nothing(&m);
}

void shell_expand(struct shell *shell, const struct marked *text,
		  struct marked *out)
{
	struct shell_source source = {text, 0};
	struct marked_list list = {0};
	struct making m = {shell, &list, true, false};

	while (shell_peek(&source, 0) && !shell->budget.failed)
		quoted_step(&m, &source);
	for (size_t i = 0; i < list.n; i++)
		marked_add_all(out, &list.of[i], &shell->budget);
	marked_list_free(&list);
}
