/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - reading comma-separated values */
#include "base/csv.h"

#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_COLUMNS 256
#define MAX_BYTES   (64u << 20)

/* What a cell holds that its row lacks. */
static char nothing[] = "";

struct reader {
	const char *path;
	char *next; /* the text that is left; cells are cut in place */
	int line;
	char comma; /* or what stands for it */
	struct weft_error *err;
};

/* Cuts a quoted cell at its closing quote; reads on behind it. */
static int cell_unquote(struct reader *r, char **cell)
{
	char *from = r->next + 1, *to = r->next;
	int first_line = r->line;

	*cell = to;
	for (;; from++) {
		if (*from == '\0')
			return weft_fail_at(r->err, WEFT_EINVAL, r->path,
					    first_line, 0,
					    "a quoted cell has no end");
		if (*from == '\n')
			r->line++;
		if (*from == '"' && *++from != '"')
			break;
		*to++ = *from;
	}
	r->next = from;
	*to = '\0';
	return 0;
}

/* The cell without blanks around it. */
static char *cell_trim(char *cell)
{
	size_t length;

	while (isblank((unsigned char)*cell))
		cell++;
	length = strlen(cell);
	while (length && isblank((unsigned char)cell[length - 1]))
		cell[--length] = '\0';
	return cell;
}

/* The next cell of a row; *last says that it is its last one. */
static int cell_next(struct reader *r, char **cell, bool *last)
{
	const char ends[] = {r->comma, '\r', '\n', '\0'};
	char *quote = r->next + strspn(r->next, " ");
	char end;

	if (*quote == '"') {
		r->next = quote;
		if (cell_unquote(r, cell))
			return -1;
		r->next += strspn(r->next, " ");
	} else {
		*cell = r->next;
		r->next += strcspn(r->next, ends);
	}
	end = *r->next;
	if (end && end != r->comma && end != '\n' && end != '\r')
		return weft_fail_at(r->err, WEFT_EINVAL, r->path, r->line, 0,
				    "expected a comma or the end of the line "
				    "after a quoted cell");
	*last = end != r->comma;
	if (end)
		*r->next++ = '\0';
	if (end == '\r' && *r->next == '\n')
		r->next++;
	if (end == '\r' || end == '\n')
		r->line++;
	*cell = cell_trim(*cell);
	return 0;
}

/* Some programs write ";" or tabs: what a header without a comma has. */
static char comma_find(const char *header)
{
	size_t length = strcspn(header, "\r\n");

	for (const char *comma = ",;\t"; *comma; comma++) {
		if (memchr(header, *comma, length))
			return *comma;
	}
	return ',';
}

static int header_read(struct reader *r, struct csv *csv)
{
	bool last = false;
	char *cell;

	if (strncmp(r->next, "\xef\xbb\xbf", 3) == 0)
		r->next += 3;
	if (*r->next == '\0')
		return weft_fail_at(r->err, WEFT_EINVAL, r->path, 1, 0,
				    "the file is empty; expected a header line "
				    "with the names of columns");
	r->comma = comma_find(r->next);
	csv->name = weft_calloc(MAX_COLUMNS, sizeof(*csv->name), r->err);
	if (!csv->name)
		return -1;
	while (!last) {
		if (csv->n_columns == MAX_COLUMNS)
			return weft_fail_at(r->err, WEFT_EINVAL, r->path, 1, 0,
					    "more than %u columns",
					    MAX_COLUMNS);
		if (cell_next(r, &cell, &last))
			return -1;
		csv->name[csv->n_columns++] = cell;
	}
	return 0;
}

static int row_read(struct reader *r, struct csv *csv)
{
	size_t first = (size_t)csv->n_rows * csv->n_columns;
	int line = r->line;
	bool last = false;
	char *cell;

	csv->start[csv->n_rows] = r->next;
	for (uint32_t c = 0; c < csv->n_columns; c++)
		csv->cell[first + c] = nothing;
	for (uint32_t c = 0; !last; c++) {
		if (cell_next(r, &cell, &last))
			return -1;
		if (c == csv->n_columns)
			return weft_fail_at(r->err, WEFT_EINVAL, r->path, line,
					    0,
					    "more cells than the header's %u "
					    "columns",
					    csv->n_columns);
		csv->cell[first + c] = cell;
	}
	csv->line[csv->n_rows++] = line;
	return 0;
}

int csv_load(const char *path, struct csv *csv, struct weft_error *err)
{
	struct reader r = {.path = path, .line = 1, .err = err};
	size_t n_lines = 1, size;

	memset(csv, 0, sizeof(*csv));
	if (weft_text_load(path, MAX_BYTES, &csv->text, &size, err))
		return -1;
	r.next = csv->text;
	for (const char *c = csv->text; *c; c++)
		n_lines += *c == '\n' || *c == '\r';
	if (header_read(&r, csv))
		return -1;
	csv->cell =
		weft_calloc(n_lines * csv->n_columns, sizeof(*csv->cell), err);
	csv->line = weft_calloc(n_lines, sizeof(*csv->line), err);
	csv->start = weft_calloc(n_lines, sizeof(*csv->start), err);
	if (!csv->cell || !csv->line || !csv->start)
		return -1;
	while (*r.next) {
		if (*r.next == '\n' || *r.next == '\r') {
			r.line += *r.next++ == '\n';
			continue;
		}
		if (row_read(&r, csv))
			return -1;
	}
	return 0;
}

void csv_free(struct csv *csv)
{
	free(csv->name);
	free(csv->cell);
	free(csv->line);
	free(csv->start);
	free(csv->text);
	memset(csv, 0, sizeof(*csv));
}

const char *csv_cell(const struct csv *csv, uint32_t row, const char *column)
{
	uint32_t c = csv_column(csv, column);

	return c < csv->n_columns ? csv->cell[(size_t)row * csv->n_columns + c]
				  : "";
}

uint32_t csv_column(const struct csv *csv, const char *name)
{
	uint32_t c = 0;

	while (c < csv->n_columns && strcasecmp(csv->name[c], name) != 0)
		c++;
	return c;
}

int csv_place(const struct csv *csv, uint32_t row, uint32_t column)
{
	const char *cell = csv->cell[(size_t)row * csv->n_columns + column];

	return cell == nothing ? 0 : (int)(cell - csv->start[row]) + 1;
}
