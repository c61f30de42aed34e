/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fold.c - answers for people, as wide as their terminal */
#include "cli/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MIN_COLUMNS 30
#define MAX_COLUMNS 1000
/* A second column of words begins before this. */
#define LABEL_END 20

static struct {
	FILE *kept; /* the real stdout; NULL: nothing is folded */
	char *text;
	size_t size;
} fold;

uint32_t fold_columns(void)
{
	const char *text = getenv("COLUMNS");
	unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		columns = size.ws_col;
	if (columns < MIN_COLUMNS)
		return 0;
	return columns < MAX_COLUMNS ? (uint32_t)columns : MAX_COLUMNS;
}

void fold_begin(void)
{
	FILE *text =
		fold_columns() ? open_memstream(&fold.text, &fold.size) : NULL;

	if (!text)
		return;
	fold.kept = stdout;
	stdout = text;
}

/* Where the text of a line begins: behind "  label   ", or two behind the
 * line's own beginning. */
static size_t indent_of(const char *line, size_t length)
{
	size_t start = 0, at;

	while (start < length && line[start] == ' ')
		start++;
	for (at = start; at + 1 < length && at < LABEL_END; at++)
		if (line[at] == ' ' && line[at + 1] == ' ') {
			while (at < length && line[at] == ' ')
				at++;
			return at < LABEL_END ? at : start + 2;
		}
	return start + 2;
}

/* Bytes of the line that go on one row: to the last blank that leaves room, or
 * to the first where no earlier one does. */
static size_t row_length(const char *line, size_t length, size_t room)
{
	size_t columns = 0, blank = 0, text = strspn(line, " ");

	for (size_t at = 0; at < length; at++) {
		if (line[at] == ' ' && at > text && line[at - 1] != ' ' &&
		    (columns <= room || !blank))
			blank = at;
		/* continuation bytes of UTF-8 have no width */
		columns += ((unsigned char)line[at] & 0xc0) != 0x80;
		if (columns > room && blank)
			return blank;
	}
	return length;
}

static void line_print(const char *line, size_t length, size_t width)
{
	size_t indent = indent_of(line, length), room = width;
	int margin = 0;

	if (indent + 20 > width)
		indent = 2;
	while (length) {
		size_t n = row_length(line, length, room);

		printf("%*s%.*s\n", margin, "", (int)n, line);
		line += n;
		length -= n;
		while (length && *line == ' ') {
			line++;
			length--;
		}
		margin = (int)indent;
		room = width - indent;
	}
}

void fold_end(void)
{
	size_t width = fold_columns();
	const char *line, *end;

	if (!fold.kept)
		return;
	fclose(stdout);
	stdout = fold.kept;
	fold.kept = NULL;
	for (line = fold.text; line && *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (end == line)
			putchar('\n');
		else
			line_print(line, (size_t)(end - line), width);
	}
	free(fold.text);
	fold.text = NULL;
}
