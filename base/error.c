/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.c - recording the first error, and allocation that reports itself */
#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 6, 0))) static void
error_set(struct weft_error *err, int code, const char *source, int line,
	  int column, const char *format, va_list args)
{
	if (!err || err->code)
		return;
	err->code = code;
	err->line = line;
	err->column = column;
	snprintf(err->source, sizeof(err->source), "%s", source);
	vsnprintf(err->text, sizeof(err->text), format, args);
	/* it may quote a foreign file, and is read on terminals */
	for (char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
}

int weft_fail(struct weft_error *err, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_set(err, code, "", 0, 0, format, args);
	va_end(args);
	return -1;
}

int weft_fail_at(struct weft_error *err, int code, const char *source, int line,
		 int column, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	error_set(err, code, source, line, column, format, args);
	va_end(args);
	return -1;
}

const char *weft_error_text(const struct weft_error *err, char *buffer,
			    size_t size)
{
	char place[sizeof(err->source) + 32] = "";

	if (err->line && err->column)
		snprintf(place, sizeof(place), "%s:%d:%d: ", err->source,
			 err->line, err->column);
	else if (err->line)
		snprintf(place, sizeof(place), "%s:%d: ", err->source,
			 err->line);
	else if (err->column)
		snprintf(place, sizeof(place), "%s%scolumn %d: ", err->source,
			 err->source[0] ? ": " : "", err->column);
	else if (err->source[0])
		snprintf(place, sizeof(place), "%s: ", err->source);
	snprintf(buffer, size, "%s%s", place, err->text);
	return buffer;
}

void *weft_calloc(size_t n, size_t size, struct weft_error *err)
{
	void *block = calloc(n ? n : 1, size ? size : 1);

	if (!block)
		weft_fail(err, WEFT_ENOMEM, "out of memory (%zu x %zu bytes)",
			  n, size);
	return block;
}

uint32_t *weft_calloc_none(size_t n, struct weft_error *err)
{
	uint32_t *array = weft_calloc(n, sizeof(*array), err);

	if (array)
		weft_fill_none(array, n);
	return array;
}

void *weft_realloc(void *old, size_t n, size_t size, struct weft_error *err)
{
	void *block = NULL;

	if (!n)
		n = 1;
	if (!size || n <= SIZE_MAX / size)
		block = realloc(old, n * (size ? size : 1));
	if (!block)
		weft_fail(err, WEFT_ENOMEM, "out of memory (%zu x %zu bytes)",
			  n, size);
	return block;
}

int weft_grow(void *array, size_t n, uint32_t *room, size_t size,
	      struct weft_error *err)
{
	size_t larger = *room ? 2 * (size_t)*room : 64;
	void *block;

	if (n < *room)
		return 0;
	if (larger > UINT32_MAX)
		return weft_fail(err, WEFT_ENOMEM, "too many elements");
	/* array points to a pointer of any type */
	memcpy(&block, array, sizeof(block));
	block = weft_realloc(block, larger, size, err);
	if (!block)
		return -1;
	memcpy(array, &block, sizeof(block));
	*room = (uint32_t)larger;
	return 0;
}

char *weft_strdup(const char *text, struct weft_error *err)
{
	size_t size = strlen(text) + 1;
	char *copy = weft_calloc(size, 1, err);

	if (copy)
		memcpy(copy, text, size);
	return copy;
}
