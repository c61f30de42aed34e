/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.c - text line by line, and the words of a line, without copying */
#include "config.h" /* first: memmem is GNU */

#include "base/lines.h"

#include <string.h>

struct weft_lines weft_lines_start(const char *text, size_t size)
{
	const struct weft_span all = {text, size};

	return (struct weft_lines){text, weft_span_end(all), 0};
}

bool weft_lines_next(struct weft_lines *lines, struct weft_span *line)
{
	size_t left = (size_t)(lines->end - lines->next);
	const char *end;

	if (left == 0)
		return false;
	end = memchr(lines->next, '\n', left);
	line->at = lines->next;
	line->size = end ? (size_t)(end - lines->next) : left;
	lines->next += line->size + (end != NULL);
	lines->number++;
	if (line->size && line->at[line->size - 1] == '\r')
		line->size--;
	return true;
}

bool weft_span_word(struct weft_span *rest, const char *separators,
		    struct weft_span *word)
{
	while (rest->size && strchr(separators, *rest->at) && *rest->at) {
		rest->at++;
		rest->size--;
	}
	*word = (struct weft_span){rest->at, 0};
	while (rest->size && (!*rest->at || !strchr(separators, *rest->at))) {
		rest->at++;
		rest->size--;
		word->size++;
	}
	return word->size > 0;
}

bool weft_span_field(struct weft_span *rest, char separator,
		     struct weft_span *field)
{
	const char *end;

	if (!rest->at)
		return false;
	end = memchr(rest->at, separator, rest->size);
	*field = *rest;
	if (!end) {
		*rest = (struct weft_span){0};
		return true;
	}
	field->size = (size_t)(end - rest->at);
	rest->size -= field->size + 1;
	rest->at = end + 1;
	return true;
}

bool weft_span_csv(struct weft_span *rest, char separator,
		   struct weft_span *field)
{
	struct weft_span behind;

	if (!rest->at)
		return false;
	while (rest->size && *rest->at == ' ') {
		rest->at++;
		rest->size--;
	}
	if (rest->size == 0 || *rest->at != '"') {
		(void)weft_span_field(rest, separator, field);
		*field = weft_span_trim(*field);
		return true;
	}
	rest->at++;
	rest->size--;
	(void)weft_span_field(rest, '"', field);
	(void)weft_span_field(rest, separator, &behind);
	return true;
}

struct weft_span weft_span_trim(struct weft_span span)
{
	while (span.size && (*span.at == ' ' || *span.at == '\t')) {
		span.at++;
		span.size--;
	}
	while (span.size && (span.at[span.size - 1] == ' ' ||
			     span.at[span.size - 1] == '\t'))
		span.size--;
	return span;
}

bool weft_span_is(struct weft_span span, const char *text)
{
	return strlen(text) == span.size &&
	       memcmp(span.at, text, span.size) == 0;
}

bool weft_span_starts(struct weft_span span, const char *text)
{
	size_t size = strlen(text);

	return size <= span.size && memcmp(span.at, text, size) == 0;
}

int weft_span_compare(struct weft_span a, struct weft_span b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size ? memcmp(a.at, b.at, size) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

const char *weft_span_find(struct weft_span span, const char *text)
{
	return span.size ? memmem(span.at, span.size, text, strlen(text))
			 : NULL;
}

bool weft_span_uint(struct weft_span span, unsigned long max,
		    unsigned long *value)
{
	unsigned long n = 0;

	if (span.size == 0)
		return false;
	for (size_t i = 0; i < span.size; i++) {
		unsigned long digit = (unsigned long)(span.at[i] - '0');

		if (span.at[i] < '0' || span.at[i] > '9' || digit > max ||
		    n > (max - digit) / 10)
			return false;
		n = 10 * n + digit;
	}
	*value = n;
	return true;
}

char *weft_span_copy(struct weft_span span, char *buffer, size_t size)
{
	size_t n = span.size < size ? span.size : size - 1;

	if (n)
		memcpy(buffer, span.at, n);
	buffer[n] = '\0';
	return buffer;
}
