/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - texts as people keep them, made plain */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

#define ESC '\033'
#define BEL '\007'
/* A tag is never longer: "[prterun-host-1234@1,1023]". */
#define TAG_MAX 80

/* ---- marks at the beginning ---- */

/* One character of 16 bits as UTF-8 is at most three bytes; those of pairs of
 * surrogates, which no such file has in a name, become "?". */
static size_t utf8_put(unsigned code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code >= 0xd800 && code < 0xe000) {
		out[0] = '?';
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	/* three bytes for two would outgrow the text in place */
	out[0] = '?';
	return 1;
}

/* Reads two bytes where it writes at most two. */
static size_t utf16_decode(char *text, size_t size, bool big)
{
	size_t n = 0;

	for (size_t i = 2; i + 1 < size; i += 2) {
		unsigned a = (unsigned char)text[i];
		unsigned b = (unsigned char)text[i + 1];

		n += utf8_put(big ? a << 8 | b : b << 8 | a, text + n);
	}
	return n;
}

static bool has_mark(const char *text, size_t size, const char *mark)
{
	size_t n = strlen(mark);

	return size >= n && memcmp(text, mark, n) == 0;
}

static size_t marks_drop(char *text, size_t size)
{
	if (has_mark(text, size, "\xff\xfe"))
		return utf16_decode(text, size, false);
	if (has_mark(text, size, "\xfe\xff"))
		return utf16_decode(text, size, true);
	if (!has_mark(text, size, "\xef\xbb\xbf"))
		return size;
	memmove(text, text + 3, size - 3);
	return size - 3;
}

/* ---- inside of lines ---- */

/* Bytes of a terminal's control sequence at `at`, which ends in the line. */
static size_t sequence_size(const char *at, const char *end)
{
	const char *from = at + 1;
	bool title;

	if (from >= end || *from == '\n')
		return 1;
	title = *from == ']';
	if (*from != '[' && !title)
		return 2; /* ESC ( and the like; one more byte is no harm */
	for (from++; from < end && *from != '\n'; from++) {
		if (title ? *from == BEL : *from >= '@' && *from <= '~')
			return (size_t)(from - at) + 1;
		if (title && *from == ESC)
			return (size_t)(from - at);
	}
	return (size_t)(from - at);
}

/* Bytes of "[1,0]<stdout>:" at `at`; 0: it is none. */
static size_t tag_bytes(const char *at, const char *end)
{
	static const char *const streams[] = {
		"<stdout>:", "<stderr>:", "<stddiag>:"};
	const char *bracket = at + 1;

	while (bracket < end && bracket<at + TAG_MAX && * bracket> ' ' &&
	       *bracket != ']' && *bracket != '[')
		bracket++;
	if (bracket >= end || *bracket != ']' || bracket == at + 1)
		return 0;
	bracket++;
	for (size_t i = 0; i < WEFT_N_OF(streams); i++)
		if (has_mark(bracket, (size_t)(end - bracket), streams[i]))
			return (size_t)(bracket - at) + strlen(streams[i]);
	return 0;
}

/* Whether each tag at the beginning of a line has a blank behind it, as newer
 * releases of mpirun write: then that is the tag's, too. */
static bool tags_are_wide(const char *text, const char *end)
{
	bool any = false;

	for (const char *line = text; line && line < end;) {
		size_t n = *line == '[' ? tag_bytes(line, end) : 0;

		if (n && line + n < end && !strchr("\r\n", line[n])) {
			if (line[n] != ' ')
				return false;
			any = true;
		}
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	return any;
}

static size_t tag_size(const char *at, const char *end, bool wide)
{
	size_t n = tag_bytes(at, end);

	return n && wide && at + n < end && at[n] == ' ' ? n + 1 : n;
}

/* Bytes at `at` that mean nothing.  *kept: up to where carriage returns are
 * known to stay, so that each is looked at once. */
static size_t noise_size(const char *at, const char *end, bool wide,
			 const char **kept)
{
	const char *next = at;

	switch (*at) {
	case ESC:
		return sequence_size(at, end);
	case '[':
		return tag_size(at, end, wide);
	case '\r':
		if (at < *kept)
			return 0;
		while (next < end && *next == '\r')
			next++;
		if (next < end && *next == '\n')
			return (size_t)(next - at);
		*kept = next;
		return 0;
	default:
		return 0;
	}
}

size_t weft_text_clean(char *text, size_t size)
{
	const char *end, *kept = text;
	size_t n = 0;
	bool wide;

	size = marks_drop(text, size);
	end = text + size;
	wide = tags_are_wide(text, end);
	for (const char *at = text; at < end;) {
		size_t noise = noise_size(at, end, wide, &kept);

		if (noise)
			at += noise;
		else
			text[n++] = *at++;
	}
	text[n] = '\0';
	return n;
}

static bool is_plain(const char *text, size_t size)
{
	const char *end = text + size, *kept = text;

	if (has_mark(text, size, "\xff\xfe") ||
	    has_mark(text, size, "\xfe\xff") ||
	    has_mark(text, size, "\xef\xbb\xbf"))
		return false;
	for (const char *at = text; at < end; at++)
		if (noise_size(at, end, false, &kept))
			return false;
	return true;
}

int weft_text_plain(const char *text, size_t size, char **plain,
		    size_t *plain_size, struct weft_error *err)
{
	*plain = NULL;
	*plain_size = size;
	if (!size || is_plain(text, size))
		return 0;
	*plain = weft_calloc(size + 1, 1, err);
	if (!*plain)
		return -1;
	memcpy(*plain, text, size);
	*plain_size = weft_text_clean(*plain, size);
	return 0;
}
