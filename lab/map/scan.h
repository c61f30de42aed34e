/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scan.h - numbers and words out of a text that lies in memory as a whole
 *
 * For problem files of megabytes of numbers: a pass over characters, no copies,
 * and the line and column of whatever is wrong.
 */
#ifndef WEFT_LAB_MAP_SCAN_H
#define WEFT_LAB_MAP_SCAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct scan {
	const char *name; /* what messages call the text */
	const char *at;	  /* the next character; the text ends with a NUL */
	const char *end;
	const char *line_start;
	int line;
	char *text; /* what scan_load allocated */
	struct weft_error *err;
};

/* Begins at the first character of a file.  Free with scan_free in either case.
 */
int scan_load(struct scan *s, const char *path, struct weft_error *err);
/* Begins at text[size], which must be a NUL behind `size` others. */
int scan_text(struct scan *s, const char *name, const char *text, size_t size,
	      struct weft_error *err);
void scan_free(struct scan *s);

/* To the next character that is no blank; lines end with a line feed, a
 * carriage return is a blank. */
void scan_blanks(struct scan *s);
/* The same over the ends of lines. */
void scan_space(struct scan *s);
/* To the beginning of the next line. */
void scan_line(struct scan *s);

static inline bool scan_at_end(const struct scan *s)
{
	return s->at == s->end;
}

static inline bool scan_at_line_end(const struct scan *s)
{
	return s->at == s->end || *s->at == '\n';
}

/* Each reads what begins at the next character and ends before a blank, the end
 * of a line or a comma.  Otherwise, or when the value is out of range, an error
 * "expected WHAT, found ...". */
int scan_count(struct scan *s, uint64_t min, uint64_t max, const char *what,
	       uint64_t *value);
int scan_integer(struct scan *s, const char *what, int64_t *value);
/* 0 to 1e30, decimals and powers of ten allowed. */
int scan_number(struct scan *s, const char *what, double *value);
/* Copies a word, cut to `size`. */
void scan_word(struct scan *s, char *word, size_t size);

/* Both record an error and return -1: at the next character, or at a place that
 * was passed on the same line or, by its offset in the text, anywhere. */
int scan_fail(const struct scan *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int scan_fail_at(const struct scan *s, const char *begin, size_t offset,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
