/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_stream.c - cuts values out of a stream; jansson reads each of them */
#include "config.h" /* first: memmem is GNU */

#include "lab/trace/json_stream.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define BLOCK ((size_t)256 << 10)

int weft_json_stream_open(const char *path, struct weft_json_stream *s,
			  struct weft_error *err)
{
	struct stat about;

	*s = (struct weft_json_stream){.line = 1, .column = 1};
	snprintf(s->source, sizeof(s->source), "%s", path);
	if (stat(path, &about))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	if (S_ISDIR(about.st_mode))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "is a folder, expected a trace file");
	s->file_bytes = (double)about.st_size;
	s->file = gzopen(path, "rb");
	if (!s->file)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno ? errno : ENOMEM));
	gzbuffer(s->file, (unsigned)BLOCK);
	s->buffer = weft_calloc(BLOCK, 1, err);
	if (!s->buffer)
		return -1;
	s->room = BLOCK;
	return 0;
}

void weft_json_stream_close(struct weft_json_stream *s)
{
	if (s->file)
		gzclose(s->file);
	free(s->buffer);
	s->file = NULL;
	s->buffer = NULL;
}

int weft_json_stream_fail(const struct weft_json_stream *s,
			  struct weft_error *err, const char *what)
{
	return weft_fail_at(err, WEFT_EINVAL, s->source, s->line, s->column,
			    "%s", what);
}

static int read_fail(struct weft_json_stream *s, struct weft_error *err)
{
	int code = Z_OK;
	const char *text = gzerror(s->file, &code);

	if (code == Z_ERRNO)
		return weft_fail_at(err, WEFT_EIO, s->source, 0, 0, "%s",
				    strerror(errno));
	/* zlib puts its own name for the file in front. */
	text = strrchr(text, ':') ? strrchr(text, ':') + 2 : text;
	return weft_fail_at(err, WEFT_EINVAL, s->source, s->line, s->column,
			    "the gzip'ed data are damaged or cut short (%s)",
			    text);
}

/* More bytes behind those not yet read, which move to the buffer's start; the
 * buffer grows when they fill it.  1, 0 at the end of the file, or -1. */
static int refill(struct weft_json_stream *s, struct weft_error *err)
{
	int got, code = Z_OK;

	if (s->at_end)
		return 0;
	memmove(s->buffer, s->buffer + s->start, s->end - s->start);
	s->end -= s->start;
	s->start = 0;
	if (s->room - s->end < BLOCK / 2) {
		char *larger;

		if (s->room >= WEFT_JSON_MAX_VALUE)
			return weft_json_stream_fail(
				s, err, "one value is longer than 64 MiB");
		larger = weft_realloc(s->buffer, s->room, 2, err);
		if (!larger)
			return -1;
		s->buffer = larger;
		s->room *= 2;
	}
	got = gzread(s->file, s->buffer + s->end, (unsigned)(s->room - s->end));
	/* A gzip'ed file that stops early reads short and says so here only. */
	if (got <= 0)
		gzerror(s->file, &code);
	if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
		return read_fail(s, err);
	s->at_end = got == 0;
	s->end += (size_t)got;
	if (s->progress && s->file_bytes > 0)
		s->progress(s->context,
			    (double)gzoffset(s->file) / s->file_bytes);
	return got > 0;
}

void weft_json_stream_advance(struct weft_json_stream *s, size_t n)
{
	const char *text = s->buffer + s->start;
	const char *stop = text + n;

	for (const char *at; (at = memchr(text, '\n', (size_t)(stop - text)));
	     text = at + 1) {
		s->line++;
		s->column = 1;
	}
	s->column = stop - text > INT_MAX - s->column
			    ? INT_MAX
			    : s->column + (int)(stop - text);
	s->start += n;
	s->used_bytes += n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int weft_json_stream_peek(struct weft_json_stream *s, struct weft_error *err)
{
	for (;;) {
		size_t n = 0, unread = s->end - s->start;
		int more;

		while (n < unread && is_blank(s->buffer[s->start + n]))
			n++;
		weft_json_stream_advance(s, n);
		if (s->start < s->end)
			break;
		more = refill(s, err);
		if (more <= 0)
			return more;
	}
	/* A NUL byte is no JSON either; 1 is a character that cannot occur. */
	return s->buffer[s->start] ? (unsigned char)s->buffer[s->start] : 1;
}

int weft_json_stream_take(struct weft_json_stream *s, char expected,
			  struct weft_error *err)
{
	int c = weft_json_stream_peek(s, err);
	char text[80];

	if (c == (unsigned char)expected) {
		weft_json_stream_advance(s, 1);
		return 0;
	}
	if (c == 0)
		snprintf(text, sizeof(text),
			 "the file ends where \"%c\" was expected", expected);
	else if (isprint(c))
		snprintf(text, sizeof(text), "found \"%c\", expected \"%c\"", c,
			 expected);
	else
		snprintf(text, sizeof(text),
			 "found a byte 0x%02x, expected \"%c\"", (unsigned)c,
			 expected);
	return c < 0 ? -1 : weft_json_stream_fail(s, err, text);
}

/* Where in a value the scan is. */
struct scan {
	uint32_t depth;
	bool in_text, escaped;
};

/* Length of the value's part in text[0..n-1]; *done when its end is there. */
static size_t scan_some(struct scan *scan, const char *text, size_t n,
			bool *done)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		if (scan->in_text) {
			if (scan->escaped)
				scan->escaped = false;
			else if (c == '\\')
				scan->escaped = true;
			else if (c == '"')
				scan->in_text = false;
			*done = !scan->in_text && !scan->depth;
		} else if (c == '"') {
			scan->in_text = true;
		} else if (c == '{' || c == '[') {
			scan->depth++;
		} else if (c == '}' || c == ']' || c == ',' || c == ':' ||
			   is_blank(c)) {
			if (!scan->depth) { /* the end of a number or word */
				*done = true;
				return i;
			}
			if (c == '}' || c == ']')
				*done = --scan->depth == 0;
		}
		if (*done)
			return i + 1;
	}
	return n;
}

/* Finds the end of the next value: its length in *length with all of it in the
 * buffer (keep), or consumed on the way. */
static int value_bounds(struct weft_json_stream *s, bool keep, size_t *length,
			struct weft_error *err)
{
	struct scan scan = {0};
	size_t seen = 0;
	bool done = false;

	for (;;) {
		size_t unread = s->end - s->start - seen;
		int more;

		seen += scan_some(&scan, s->buffer + s->start + seen, unread,
				  &done);
		if (!keep) {
			weft_json_stream_advance(s, seen);
			seen = 0;
		}
		if (done)
			break;
		more = refill(s, err);
		if (more < 0)
			return -1;
		if (more == 0 && (scan.depth || scan.in_text))
			return weft_json_stream_fail(
				s, err, "the file ends inside of this value");
		if (more == 0)
			break;
	}
	*length = seen;
	return 0;
}

/* NaN and Infinity, with any sign and case, become 0 of the same length. */
static void words_blank(char *text, size_t n)
{
	static const char *const words[] = {"infinity", "nan", "inf"};
	bool in_text = false;

	for (size_t i = 0; i < n; i++) {
		if (in_text && text[i] == '\\') {
			i++;
			continue;
		}
		if (text[i] == '"')
			in_text = !in_text;
		for (size_t w = 0; !in_text && w < 3; w++) {
			size_t length = strlen(words[w]);

			if (n - i < length ||
			    strncasecmp(text + i, words[w], length) != 0)
				continue;
			memset(text + i, ' ', length);
			text[i] = '0';
			break;
		}
	}
}

static json_t *value_parse(struct weft_json_stream *s, size_t length,
			   struct weft_error *err)
{
	char *text = s->buffer + s->start;
	json_error_t why;
	json_t *value = json_loadb(text, length, JSON_DECODE_ANY, &why);

	if (!value) {
		words_blank(text, length);
		value = json_loadb(text, length, JSON_DECODE_ANY, &why);
	}
	if (!value)
		weft_fail_at(err, WEFT_EINVAL, s->source,
			     s->line + (why.line > 0 ? why.line - 1 : 0),
			     why.line > 1      ? why.column
			     : why.column >= 0 ? s->column + why.column
					       : s->column,
			     "not valid JSON: %s", why.text);
	return value;
}

/* 0 when a value may begin here. */
static int value_begin(struct weft_json_stream *s, struct weft_error *err)
{
	int c = weft_json_stream_peek(s, err);

	if (c == 0)
		return weft_json_stream_fail(
			s, err, "the file ends where a value was expected");
	if (c == '}' || c == ']' || c == ',' || c == ':')
		return weft_json_stream_fail(s, err, "expected a value");
	return c < 0 ? -1 : 0;
}

json_t *weft_json_stream_value(struct weft_json_stream *s,
			       struct weft_error *err)
{
	json_t *value;
	size_t length;

	if (value_begin(s, err) || value_bounds(s, true, &length, err))
		return NULL;
	value = value_parse(s, length, err);
	weft_json_stream_advance(s, length);
	return value;
}

static bool has_word(const char *text, size_t length, const char *const *words,
		     size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (memmem(text, length, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

int weft_json_stream_value_with(struct weft_json_stream *s,
				const char *const *words, size_t n,
				json_t **value, struct weft_error *err)
{
	size_t length;
	bool wanted;

	*value = NULL;
	if (value_begin(s, err) || value_bounds(s, true, &length, err))
		return -1;
	wanted = has_word(s->buffer + s->start, length, words, n);
	if (wanted) {
		*value = value_parse(s, length, err);
		if (!*value)
			return -1;
	}
	weft_json_stream_advance(s, length);
	return wanted;
}

int weft_json_stream_skip(struct weft_json_stream *s, struct weft_error *err)
{
	size_t length;

	return value_begin(s, err) ? -1 : value_bounds(s, false, &length, err);
}

int weft_json_stream_bytes(struct weft_json_stream *s, size_t n,
			   const unsigned char **bytes, size_t *left,
			   struct weft_error *err)
{
	int more = 1;

	while (more > 0 && s->end - s->start < n)
		more = refill(s, err);
	if (more < 0)
		return -1;
	*bytes = (const unsigned char *)s->buffer + s->start;
	*left = s->end - s->start;
	return *left >= n;
}

int weft_json_stream_more(struct weft_json_stream *s, char close, bool *first,
			  struct weft_error *err)
{
	int c = weft_json_stream_peek(s, err);
	bool was_first = *first;

	if (c < 0)
		return -1;
	*first = false;
	if (c == (unsigned char)close) {
		weft_json_stream_advance(s, 1);
		return 0;
	}
	if (!was_first && weft_json_stream_take(s, ',', err))
		return -1;
	return 1;
}

char *weft_json_stream_key(struct weft_json_stream *s, struct weft_error *err)
{
	int c = weft_json_stream_peek(s, err);
	char *text;
	json_t *key;

	if (c > 0 && c != '"')
		weft_json_stream_fail(s, err, "expected a key in quotes");
	key = c >= 0 && (c == 0 || c == '"') ? weft_json_stream_value(s, err)
					     : NULL;
	if (!key)
		return NULL;
	text = weft_strdup(json_string_value(key), err);
	json_decref(key);
	if (text && weft_json_stream_take(s, ':', err)) {
		free(text);
		return NULL;
	}
	return text;
}
