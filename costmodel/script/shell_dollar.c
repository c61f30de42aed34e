/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell_dollar.c - substitutions: variables, defaults, arithmetic, commands */
#include "costmodel/script/shell.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The rest of a text between brackets whose opening one is behind us; moves
 * past the closing one.  Quoted brackets do not count. */
static void inside_read(struct shell *shell, struct shell_source *source,
			char opens, char closes, struct marked *inside)
{
	uint32_t depth = 1;
	char quote = '\0', c;

	while ((c = shell_peek(source, 0)) && !shell->budget.failed) {
		if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? '\0' : c;
		else if (!quote && c == opens)
			depth++;
		else if (!quote && c == closes && --depth == 0)
			break;
		marked_add(inside, c, shell_line(source), &shell->budget);
		source->at++;
		if (c == '\\' && shell_peek(source, 0)) {
			marked_add(inside, shell_peek(source, 0),
				   shell_line(source), &shell->budget);
			source->at++;
		}
	}
	source->at += c == closes;
}

static void unknown_add(struct shell *shell, uint32_t line, struct marked *out)
{
	marked_add(out, MARK_UNKNOWN, line, &shell->budget);
}

/* ---- $(( )) and $( ) ---- */

static void arithmetic(struct shell *shell, const struct marked *inside,
		       uint32_t line, struct marked *out)
{
	struct marked text = {0};
	long long value;
	char number[32];
	bool assumed;

	shell_expand(shell, inside, &text);
	if (!shell_arithmetic(shell, marked_text(&text), &value, &assumed)) {
		unknown_add(shell, line, out);
	} else {
		snprintf(number, sizeof(number), "%lld", value);
		if (assumed)
			marked_add(out, MARK_ASSUMED, line, &shell->budget);
		marked_add_text(out, number, line, &shell->budget);
	}
	marked_free(&text);
}

/* "expr A \* B" and "echo A": the operands without backslashes. */
static void operands(const struct marked *inside, size_t from,
		     struct marked *out, struct budget *budget)
{
	for (size_t i = from; i < inside->n; i++)
		if (inside->s[i] != '\\')
			marked_add(out, inside->s[i], inside->line[i], budget);
}

/* The few commands whose output follows from the script. */
static void command_output(struct shell *shell, const struct marked *inside,
			   uint32_t line, struct marked *out)
{
	const char *text = marked_text(inside);
	const struct marked *nodes = shell_get(shell, "SLURM_NNODES");
	size_t blank = strspn(text, " \t");
	struct marked rest = {0};

	if (strncmp(text + blank, "expr ", 5) == 0) {
		operands(inside, blank + 5, &rest, &shell->budget);
		arithmetic(shell, &rest, line, out);
	} else if (strncmp(text + blank, "echo ", 5) == 0 &&
		   !strpbrk(text, "|;&<>")) {
		operands(inside, blank + 5, &rest, &shell->budget);
		shell_expand(shell, &rest, out);
	} else if (strstr(text, "scontrol show hostname") &&
		   strstr(text, "wc -l") && nodes) {
		marked_add_all(out, nodes, &shell->budget);
	} else {
		unknown_add(shell, line, out);
	}
	marked_free(&rest);
}

static void parenthesis(struct shell *shell, struct shell_source *source,
			struct marked *out)
{
	uint32_t line = shell_line(source);
	bool sum = shell_peek(source, 1) == '(';
	struct marked inside = {0};

	source->at += sum ? 2 : 1;
	inside_read(shell, source, '(', ')', &inside);
	if (sum && shell_peek(source, 0) == ')') {
		source->at++;
		arithmetic(shell, &inside, line, out);
	} else if (sum) {
		unknown_add(shell, line, out);
	} else {
		command_output(shell, &inside, line, out);
	}
	marked_free(&inside);
}

/* ---- ${ } ---- */

/* What ${NAME...} says behind the name. */
struct wanted {
	char name[64];
	bool all, parts; /* [@] or [*]; [@] */
	struct marked rest;
};

static void wanted_read(struct shell *shell, const struct marked *inside,
			struct wanted *wanted)
{
	const char *text = marked_text(inside);
	size_t n = 0;

	while (in_name(text[n]) && n + 1 < sizeof(wanted->name)) {
		wanted->name[n] = text[n];
		n++;
	}
	if (!n && text[0] && strchr("@*#?", text[0]))
		wanted->name[n] = text[n], n++;
	wanted->name[n] = '\0';
	wanted->all = strncmp(text + n, "[@]", 3) == 0 ||
		      strncmp(text + n, "[*]", 3) == 0;
	wanted->parts = wanted->all && text[n + 1] == '@';
	n += wanted->all ? 3 : 0;
	for (; n < inside->n; n++)
		marked_add(&wanted->rest, inside->s[n], inside->line[n],
			   &shell->budget);
}

/* ${X:-d}, ${X-d}, ${X:=d}, ${X:?}, ${X:+a}: true where rest is one of them. */
static bool default_apply(struct shell *shell, const struct wanted *wanted,
			  const struct marked *value, uint32_t line,
			  struct marked *out)
{
	const char *rest = marked_text(&wanted->rest);
	size_t skip = rest[0] == ':' ? 2 : 1;
	bool known = value && value->n && !marked_has(value, MARK_UNKNOWN);
	struct marked word = {0}, expanded = {0};

	if (!rest[0] || !rest[skip - 1] || !strchr("-=?+", rest[skip - 1]))
		return false;
	for (size_t i = skip; i < wanted->rest.n; i++)
		marked_add(&word, wanted->rest.s[i], wanted->rest.line[i],
			   &shell->budget);
	if (rest[skip - 1] == '+' ? known : !known) {
		struct shell_source source = {&word, 0};
		struct marked_list list = {0};

		if (rest[skip - 1] != '+')
			marked_add(&expanded, MARK_ASSUMED, line,
				   &shell->budget);
		/* Quotes in a default are quotes. */
		while (shell_peek(&source, 0) && !shell->budget.failed) {
			size_t at = source.at;

			shell_word(shell, &source, true, &list);
			if (source.at == at && list.n) {
				marked_add(&list.of[list.n - 1], word.s[at],
					   word.line[at], &shell->budget);
				source.at++;
			}
		}
		for (size_t i = 0; i < list.n; i++)
			marked_add_all(&expanded, &list.of[i], &shell->budget);
		marked_list_free(&list);
	} else if (rest[skip - 1] != '+') {
		marked_add_all(&expanded, value, &shell->budget);
	}
	if (rest[skip - 1] == '?' && !known) {
		marked_cut(&expanded);
		unknown_add(shell, line, &expanded);
	}
	if (rest[skip - 1] == '=' && !known)
		shell_set(shell, wanted->name, marked_text(&expanded), line);
	marked_add_all(out, &expanded, &shell->budget);
	marked_free(&word);
	marked_free(&expanded);
	return true;
}

/* ${X,,}, ${X^^}, ${X#p}, ${X%p}; others are unknown. */
static void altered(struct shell *shell, const struct wanted *wanted,
		    const struct marked *value, uint32_t line,
		    struct marked *out)
{
	const char *rest = marked_text(&wanted->rest);
	bool lower = strcmp(rest, ",,") == 0, upper = strcmp(rest, "^^") == 0;

	if (!value || (!lower && !upper)) {
		unknown_add(shell, line, out);
		return;
	}
	for (size_t i = 0; i < value->n; i++) {
		int c = (unsigned char)value->s[i];

		marked_add(out, (char)(lower ? tolower(c) : toupper(c)),
			   value->line[i], &shell->budget);
	}
}

static void variable_add(struct shell *shell, const char *name, bool all,
			 uint32_t line, struct marked *out)
{
	const struct marked *value = shell_get(shell, name);

	if (!value) {
		/* No arguments of the script are known to be missing, and an
		 * environment has no arrays. */
		if (all ? shell->lacks_source
			: strcmp(name, "@") != 0 && strcmp(name, "*") != 0)
			unknown_add(shell, line, out);
		return;
	}
	for (size_t i = 0; i < value->n; i++) {
		if (value->s[i] == MARK_PART && !all)
			break; /* of an array, its first element */
		marked_add(out, value->s[i], value->line[i], &shell->budget);
	}
}

static void braces(struct shell *shell, struct shell_source *source,
		   struct marked *out, bool *parts)
{
	uint32_t line = shell_line(source);
	struct marked inside = {0};
	struct wanted wanted = {0};
	const struct marked *value;

	source->at++;
	inside_read(shell, source, '{', '}', &inside);
	wanted_read(shell, &inside, &wanted);
	value = shell_get(shell, wanted.name);
	*parts = wanted.parts;
	if (!wanted.name[0])
		unknown_add(shell, line, out);
	else if (!wanted.rest.n)
		variable_add(shell, wanted.name, wanted.all, line, out);
	else if (!default_apply(shell, &wanted, value, line, out))
		altered(shell, &wanted, value, line, out);
	marked_free(&inside);
	marked_free(&wanted.rest);
}

/* ---- all of them ---- */

static void plain_name(struct shell *shell, struct shell_source *source,
		       struct marked *out)
{
	uint32_t line = shell_line(source);
	char name[64];
	size_t n = 0;

	if (in_name(shell_peek(source, 0)) &&
	    !isdigit((unsigned char)shell_peek(source, 0))) {
		while (in_name(shell_peek(source, 0)) && n + 1 < sizeof(name)) {
			name[n++] = shell_peek(source, 0);
			source->at++;
		}
	} else if (shell_peek(source, 0) &&
		   strchr("0123456789@*#?!$-", shell_peek(source, 0))) {
		name[n++] = shell_peek(source, 0);
		source->at++;
	}
	name[n] = '\0';
	if (n)
		variable_add(shell, name, false, line, out);
	else
		marked_add(out, '$', line, &shell->budget);
}

void shell_dollar(struct shell *shell, struct shell_source *source,
		  struct marked *out, bool *parts)
{
	bool tick = shell_peek(source, 0) == '`';
	struct marked inside = {0};
	uint32_t line = shell_line(source);

	source->at++;
	*parts = false;
	if (tick) {
		inside_read(shell, source, '\0', '`', &inside);
		command_output(shell, &inside, line, out);
		marked_free(&inside);
	} else if (shell_peek(source, 0) == '(') {
		parenthesis(shell, source, out);
	} else if (shell_peek(source, 0) == '{') {
		braces(shell, source, out, parts);
	} else {
		plain_name(shell, source, out);
	}
}
