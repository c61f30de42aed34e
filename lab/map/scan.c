/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scan.c - numbers and words out of a text that lies in memory as a whole */
#include "lab/map/scan.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets into a text are 32 bit wherever they are kept. */
#define MAX_BYTES UINT32_MAX
/* How much of a wrong word a message quotes. */
#define QUOTED 40
/* Sums of any that fit into memory stay finite. */
#define MAX_NUMBER 1e30

int scan_text(struct scan *s, const char *name, const char *text, size_t size,
	      struct weft_error *err)
{
	memset(s, 0, sizeof(*s));
	s->name = name;
	s->at = s->line_start = text;
	s->end = text + size;
	s->line = 1;
	s->err = err;
	if (size > MAX_BYTES)
		return weft_fail_at(err, WEFT_EINVAL, name, 0, 0,
				    "expected a text of at most %u bytes",
				    MAX_BYTES);
	if (memchr(text, '\0', size))
		return weft_fail_at(err, WEFT_EINVAL, name, 0, 0,
				    "expected a text, found a NUL in it");
	return 0;
}

int scan_load(struct scan *s, const char *path, struct weft_error *err)
{
	size_t size;
	char *text;

	memset(s, 0, sizeof(*s));
	if (weft_text_load(path, MAX_BYTES, &text, &size, err) ||
	    scan_text(s, path, text, size, err))
		return -1;
	s->text = text;
	return 0;
}

void scan_free(struct scan *s)
{
	free(s->text);
	memset(s, 0, sizeof(*s));
}

void scan_blanks(struct scan *s)
{
	while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')
		s->at++;
}

void scan_line(struct scan *s)
{
	const char *feed = memchr(s->at, '\n', (size_t)(s->end - s->at));

	s->at = feed ? feed + 1 : s->end;
	if (feed) {
		s->line_start = s->at;
		s->line++;
	}
}

void scan_space(struct scan *s)
{
	scan_blanks(s);
	while (*s->at == '\n') {
		scan_line(s);
		scan_blanks(s);
	}
}

static int column_of(const struct scan *s)
{
	return (int)(s->at - s->line_start) + 1;
}

int scan_fail(const struct scan *s, const char *format, ...)
{
	char text[sizeof(s->err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return weft_fail_at(s->err, WEFT_EINVAL, s->name, s->line, column_of(s),
			    "%s", text);
}

int scan_fail_at(const struct scan *s, const char *begin, size_t offset,
		 const char *format, ...)
{
	char text[sizeof(s->err->text)];
	struct scan place = *s;
	va_list args;

	place.at = place.line_start = begin;
	place.line = 1;
	for (const char *c = begin; c < begin + offset; c++) {
		if (*c == '\n') {
			place.line++;
			place.line_start = c + 1;
		}
	}
	place.at = begin + offset;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return scan_fail(&place, "%s", text);
}

static bool word_ends(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0' ||
	       c == ',';
}

static int word_wrong(const struct scan *s, const char *what)
{
	size_t length = 0;

	if (s->at == s->end)
		return scan_fail(s, "expected %s, found the end of the file",
				 what);
	if (*s->at == '\n')
		return scan_fail(s, "expected %s, found the end of the line",
				 what);
	while (length < QUOTED && s->at + length < s->end &&
	       !word_ends(s->at[length]))
		length++;
	return scan_fail(s, "expected %s, found \"%.*s\"", what,
			 (int)(length ? length : 1), s->at);
}

/* Reads digits up to `limit`; returns behind them, or NULL when there are none,
 * something follows them, or the value is above. */
static const char *digits_read(const char *at, uint64_t limit, uint64_t *value)
{
	const char *c = at;
	uint64_t v = 0;

	for (; *c >= '0' && *c <= '9'; c++) {
		uint64_t digit = (uint64_t)(*c - '0');

		if (v > (limit - digit) / 10 || digit > limit)
			return NULL;
		v = 10 * v + digit;
	}
	if (c == at || !word_ends(*c))
		return NULL;
	*value = v;
	return c;
}

int scan_count(struct scan *s, uint64_t min, uint64_t max, const char *what,
	       uint64_t *value)
{
	const char *behind = digits_read(s->at, max, value);

	if (!behind || *value < min)
		return word_wrong(s, what);
	s->at = behind;
	return 0;
}

int scan_integer(struct scan *s, const char *what, int64_t *value)
{
	bool negative = *s->at == '-';
	const char *behind;
	uint64_t size = 0;

	behind = digits_read(s->at + negative, INT64_MAX, &size);
	if (!behind)
		return word_wrong(s, what);
	*value = negative ? -(int64_t)size : (int64_t)size;
	s->at = behind;
	return 0;
}

int scan_number(struct scan *s, const char *what, double *value)
{
	const uint64_t exact = UINT64_C(1) << 53;
	uint64_t whole = 0;
	const char *behind = digits_read(s->at, exact, &whole);
	char *end;

	if (behind) {
		s->at = behind;
		*value = (double)whole;
		return 0;
	}
	/* strtod also takes blanks, signs, hexadecimals and names of no number
	 */
	if (strspn(s->at, "0123456789.eE+-") == 0 || *s->at == '-')
		return word_wrong(s, what);
	*value = strtod(s->at, &end);
	if (end == s->at || !word_ends(*end) || !(*value <= MAX_NUMBER) ||
	    memchr(s->at, 'x', (size_t)(end - s->at)) ||
	    memchr(s->at, 'X', (size_t)(end - s->at)))
		return word_wrong(s, what);
	s->at = end;
	return 0;
}

void scan_word(struct scan *s, char *word, size_t size)
{
	size_t length = 0;

	while (!word_ends(*s->at)) {
		if (length + 1 < size)
			word[length++] = *s->at;
		s->at++;
	}
	word[length] = '\0';
}
