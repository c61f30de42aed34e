/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.h - text line by line, and the words of a line, without copying */
#ifndef WEFT_BASE_LINES_H
#define WEFT_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Part of a text; not ended by a NUL. */
struct weft_span {
	const char *at;
	size_t size;
};

struct weft_lines {
	const char *next, *end;
	int number; /* of the line last given, from 1 */
};

struct weft_lines weft_lines_start(const char *text, size_t size);

/* The next line without its "\n" or "\r\n"; false at the end. */
bool weft_lines_next(struct weft_lines *lines, struct weft_span *line);

/* Takes the next word, separated by any byte of `separators`, off the front of
 * *rest.  Neighbouring separators count as one; false when none is left. */
bool weft_span_word(struct weft_span *rest, const char *separators,
		    struct weft_span *word);

/* Takes the next field off *rest: up to `separator`, empty ones count; false
 * when *rest was used up (at == NULL). */
bool weft_span_field(struct weft_span *rest, char separator,
		     struct weft_span *field);

/* The same of CSV: without blanks around, and without quotes, between which the
 * separator may stand. */
bool weft_span_csv(struct weft_span *rest, char separator,
		   struct weft_span *field);

/* Behind its last byte; an empty span may be at NULL, from which C forbids to
 * count, not even by 0. */
static inline const char *weft_span_end(struct weft_span span)
{
	return span.size ? span.at + span.size : span.at;
}

/* Without blanks and tabs at either end. */
struct weft_span weft_span_trim(struct weft_span span);

bool weft_span_is(struct weft_span span, const char *text);
bool weft_span_starts(struct weft_span span, const char *text);

/* Byte by byte, a beginning before what it begins: as strcmp. */
int weft_span_compare(struct weft_span a, struct weft_span b);

/* Where `text` begins in the span, or NULL. */
const char *weft_span_find(struct weft_span span, const char *text);

/* A decimal number that fills the span, at most max. */
bool weft_span_uint(struct weft_span span, unsigned long max,
		    unsigned long *value);

/* Copies into buffer, cut where it is too long; returns buffer. */
char *weft_span_copy(struct weft_span span, char *buffer, size_t size);

#endif
