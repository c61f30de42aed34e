/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell_test.c - what "[ ... ]" says, and arithmetic */
#include "costmodel/script/shell.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static enum shell_truth truth(bool yes)
{
	return yes ? SHELL_TRUE : SHELL_FALSE;
}

/* The text without marks of no width. */
static void plain(const struct marked *m, char *text, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n && n + 1 < size; i++)
		if (m->s[i] != MARK_ASSUMED)
			text[n++] = m->s[i];
	text[n] = '\0';
}

static enum shell_truth compare(const char *a, const char *op, const char *b)
{
	static const char *const numeric[] = {"-eq", "-ne", "-lt",
					      "-le", "-gt", "-ge"};
	long long x = strtoll(a, NULL, 10), y = strtoll(b, NULL, 10);
	const bool says[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};

	for (size_t i = 0; i < 6; i++)
		if (strcmp(op, numeric[i]) == 0)
			return truth(says[i]);
	if (strcmp(op, "=") == 0 || strcmp(op, "==") == 0)
		return truth(fnmatch(b, a, 0) == 0);
	if (strcmp(op, "!=") == 0)
		return truth(fnmatch(b, a, 0) != 0);
	return SHELL_OPEN;
}

/* One test without && and ||, and without "!". */
static enum shell_truth plain_test(const struct marked *w, size_t n)
{
	char a[256], op[32], b[256];

	for (size_t i = 0; i < n; i++)
		if (marked_has(&w[i], MARK_UNKNOWN))
			return SHELL_OPEN;
	if (n == 1)
		return truth(marked_text(&w[0])[0] != '\0');
	if (n == 2 && (strcmp(marked_text(&w[0]), "-z") == 0 ||
		       strcmp(marked_text(&w[0]), "-n") == 0)) {
		plain(&w[1], a, sizeof(a));
		return truth(!a[0] == (w[0].s[1] == 'z'));
	}
	if (n != 3)
		return SHELL_OPEN;
	plain(&w[0], a, sizeof(a));
	plain(&w[1], op, sizeof(op));
	plain(&w[2], b, sizeof(b));
	return compare(a, op, b);
}

/* A loop, since a script may have any number of "!". */
static enum shell_truth one_test(const struct marked *w, size_t n)
{
	enum shell_truth result;
	bool negated = false;

	for (; n && strcmp(marked_text(&w[0]), "!") == 0; w++, n--)
		negated = !negated;
	result = plain_test(w, n);
	return result == SHELL_OPEN || !negated ? result
						: truth(result == SHELL_FALSE);
}

static enum shell_truth both(enum shell_truth a, enum shell_truth b)
{
	if (a == SHELL_FALSE || b == SHELL_FALSE)
		return SHELL_FALSE;
	return a == SHELL_OPEN || b == SHELL_OPEN ? SHELL_OPEN : SHELL_TRUE;
}

static enum shell_truth either(enum shell_truth a, enum shell_truth b)
{
	if (a == SHELL_TRUE || b == SHELL_TRUE)
		return SHELL_TRUE;
	return a == SHELL_OPEN || b == SHELL_OPEN ? SHELL_OPEN : SHELL_FALSE;
}

static bool word_is(const struct marked *w, const char *a, const char *b)
{
	return strcmp(marked_text(w), a) == 0 || strcmp(marked_text(w), b) == 0;
}

enum shell_truth shell_test(const struct marked *w, size_t n)
{
	enum shell_truth any = SHELL_FALSE, all = SHELL_TRUE;
	size_t begin = 0;

	for (size_t i = 0; i <= n; i++) {
		bool or = i < n && word_is(&w[i], "||", "-o");

		if (i < n && ! or &&!word_is(&w[i], "&&", "-a"))
			continue;
		all = both(all, one_test(w + begin, i - begin));
		begin = i + 1;
		if (or || i == n) {
			any = either(any, all);
			all = SHELL_TRUE;
		}
	}
	return any;
}

/* ---- arithmetic ---- */

struct sum {
	const struct shell *shell;
	const char *at;
	uint32_t depth;
	bool bad, assumed;
};

static const struct {
	const char *text;
	int binds;
} operators[] = {
	{"**", 7}, {"<=", 3}, {">=", 3}, {"==", 2}, {"!=", 2},
	{"&&", 1}, {"||", 0}, {"*", 6},	 {"/", 6},  {"%", 6},
	{"+", 5},  {"-", 5},  {"<", 3},	 {">", 3},
};
#define N_OPERATORS (sizeof(operators) / sizeof(operators[0]))

static void blanks_skip(struct sum *s)
{
	while (*s->at && (isspace((unsigned char)*s->at) ||
			  *s->at == MARK_ASSUMED || *s->at == '$')) {
		s->assumed = s->assumed || *s->at == MARK_ASSUMED;
		s->at++;
	}
}

static long long sum_read(struct sum *s, int binds);

static long long name_read(struct sum *s)
{
	char name[64];
	size_t n = strspn(s->at, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
	const struct marked *value;
	char text[32], *end = text;
	long long number = 0;

	if (n && n < sizeof(name)) {
		memcpy(name, s->at, n);
		name[n] = '\0';
		s->at += n;
		value = shell_get(s->shell, name);
		if (value) {
			plain(value, text, sizeof(text));
			number = strtoll(text, &end, 10);
			s->assumed =
				s->assumed || marked_has(value, MARK_ASSUMED);
		}
	}
	s->bad = s->bad || end == text || *end;
	return number;
}

static long long atom_read(struct sum *s)
{
	long long value;
	char *end;

	blanks_skip(s);
	if (*s->at == '(' && s->depth < 32) {
		s->at++;
		s->depth++;
		value = sum_read(s, 0);
		s->depth--;
		blanks_skip(s);
		s->bad = s->bad || *s->at != ')';
		s->at += *s->at == ')';
		return value;
	}
	if (!isdigit((unsigned char)*s->at))
		return name_read(s);
	value = strtoll(s->at, &end, 10);
	s->at = end;
	return value;
}

/* Of llabs the least number of all has no result. */
static bool is_large(long long value, long long most)
{
	return value > most || value < -most;
}

static long long apply(struct sum *s, const char *op, long long a, long long b)
{
	long long result = 1;

	if (is_large(a, 1LL << 40) || is_large(b, 1LL << 40) ||
	    ((*op == '/' || *op == '%') && !b) || strcmp(op, "**") == 0) {
		s->bad = true;
		return 0;
	}
	switch (op[0] + (op[1] ? 256 : 0)) {
	case '*':
		return is_large(a, 1 << 20) && is_large(b, 1 << 20)
			       ? (s->bad = true)
			       : a * b;
	case '/':
		return a / b;
	case '%':
		return a % b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '<':
		return a < b;
	case '>':
		return a > b;
	case '<' + 256:
		return a <= b;
	case '>' + 256:
		return a >= b;
	case '=' + 256:
		return a == b;
	case '!' + 256:
		return a != b;
	case '&' + 256:
		return a && b;
	default:
		result = a || b;
	}
	return result;
}

static long long sum_read(struct sum *s, int binds)
{
	long long value = atom_read(s);

	while (!s->bad) {
		size_t o = 0;

		blanks_skip(s);
		while (o < N_OPERATORS &&
		       strncmp(s->at, operators[o].text,
			       strlen(operators[o].text)) != 0)
			o++;
		if (o == N_OPERATORS || operators[o].binds < binds)
			break;
		s->at += strlen(operators[o].text);
		value = apply(s, operators[o].text, value,
			      sum_read(s, operators[o].binds + 1));
	}
	return value;
}

bool shell_arithmetic(const struct shell *shell, const char *text,
		      long long *value, bool *assumed)
{
	struct sum s = {.shell = shell, .at = text};

	*value = sum_read(&s, 0);
	blanks_skip(&s);
	*assumed = s.assumed;
	return !s.bad && !*s.at;
}
