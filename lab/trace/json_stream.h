/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_stream.h - a JSON file of any size, value by value in bounded memory
 *
 * A profiler's trace is one array of a million small objects.  Only the value
 * at hand is held; what is between the values (brackets, commas, keys) is read
 * by the caller through the functions below.  The file may be gzip'ed.
 */
#ifndef WEFT_LAB_TRACE_JSON_STREAM_H
#define WEFT_LAB_TRACE_JSON_STREAM_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Longest single value that weft_json_stream_value takes. */
#define WEFT_JSON_MAX_VALUE (64u << 20)

struct weft_json_stream {
	void *file; /* gzFile */
	char *buffer;
	size_t room, start, end; /* unread: buffer[start..end-1] */
	bool at_end;
	int line, column; /* of buffer[start], from 1 */
	char source[120];
	/* Called now and then with the part of the file that is read, 0 to 1;
	 * NULL: never. */
	void (*progress)(void *context, double part);
	void *context;
	double file_bytes;
	uint64_t used_bytes; /* unpacked and consumed, so far */
};

/* 0, or -1 with WEFT_EIO.  Close in either case. */
int weft_json_stream_open(const char *path, struct weft_json_stream *s,
			  struct weft_error *err);
void weft_json_stream_close(struct weft_json_stream *s);

/* The next character that is no blank, not consumed; 0 at the end of the file;
 * -1 with *err when the file cannot be read. */
int weft_json_stream_peek(struct weft_json_stream *s, struct weft_error *err);
/* Consumes the next such character, which must be `expected`. */
int weft_json_stream_take(struct weft_json_stream *s, char expected,
			  struct weft_error *err);

/* The next value, a new reference; NULL with *err.  Numbers that are none in
 * JSON but that profilers write (NaN, Infinity) are read as 0. */
json_t *weft_json_stream_value(struct weft_json_stream *s,
			       struct weft_error *err);
/* The same, but only a value whose text has one of n words; 1 when it has (and
 * *value is a new reference), 0 when it is skipped, its inside unchecked (then
 * *value is NULL), or -1.  Most of a trace is of no interest, and looking is
 * ten times as fast as parsing. */
int weft_json_stream_value_with(struct weft_json_stream *s,
				const char *const *words, size_t n,
				json_t **value, struct weft_error *err);
/* Consumes the next value without keeping it: any size, its inside unchecked.
 */
int weft_json_stream_skip(struct weft_json_stream *s, struct weft_error *err);

/* For walking over the members of an object or array whose bracket is taken:
 * 1 when another one follows (its comma is taken), 0 when `close` was taken.
 * first: true before the first, then kept by the function. */
int weft_json_stream_more(struct weft_json_stream *s, char close, bool *first,
			  struct weft_error *err);
/* A member's key with its colon; free() it.  NULL with *err. */
char *weft_json_stream_key(struct weft_json_stream *s, struct weft_error *err);

/* For formats that are not JSON: the next n bytes, not consumed, valid until
 * the next call.  1, 0 when the file ends before (then *left of them are
 * there), or -1. */
int weft_json_stream_bytes(struct weft_json_stream *s, size_t n,
			   const unsigned char **bytes, size_t *left,
			   struct weft_error *err);
/* Consumes n bytes, counting lines; the function above gave them. */
void weft_json_stream_advance(struct weft_json_stream *s, size_t n);

/* Records an error at the place reached and returns -1. */
int weft_json_stream_fail(const struct weft_json_stream *s,
			  struct weft_error *err, const char *what);

#endif
