/* SPDX-License-Identifier: GPL-3.0-or-later */
/* matrix.c - measured bytes between ranks, from a CSV file */
#include "costmodel/traffic/matrix.h"

#include "base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are read: each takes 24 bytes until they are summed. */
#define MAX_ROWS (1u << 25)
/* Of a pair: sums over all pairs stay finite. */
#define MAX_BYTES 1e30
/* Longest line worth reading, and how much of a cell a message quotes. */
#define MAX_LINE 1024
#define QUOTED	 "\"%.40s\""

enum column { FROM, TO, BYTES, AXIS, N_COLUMNS };
static const char *const column_names[N_COLUMNS] = {"from", "to", "bytes",
						    "axis"};

struct cell {
	char *text;
	int column; /* of the line, from 1 */
};

struct reader {
	const char *path;
	FILE *file;
	struct weft_error *err;
	int line;
	char text[MAX_LINE];
	struct cell cells[N_COLUMNS];
	uint32_t n_cells;
	uint32_t at[N_COLUMNS]; /* which cell is a column; N_COLUMNS: none */
	uint32_t n_ranks;
	struct weft_flow *flows;
	uint32_t n_flows, room;
};

#define FAIL(READER, COLUMN, ...)                                              \
	weft_fail_at((READER)->err, WEFT_EINVAL, (READER)->path,               \
		     (READER)->line, (COLUMN), __VA_ARGS__)

/* Reads the next line that says something: 1, 0 at the end, -1. */
static int line_next(struct reader *r)
{
	for (;;) {
		size_t length;

		if (!fgets(r->text, sizeof(r->text), r->file)) {
			if (!ferror(r->file))
				return 0;
			return weft_fail_at(r->err, WEFT_EIO, r->path, 0, 0,
					    "%s", strerror(errno));
		}
		r->line++;
		length = strlen(r->text);
		if ((!length || r->text[length - 1] != '\n') && !feof(r->file))
			return FAIL(r, 0,
				    "the line is longer than %d bytes, or has "
				    "a NUL in it",
				    MAX_LINE - 2);
		while (length && isspace((unsigned char)r->text[length - 1]))
			r->text[--length] = '\0';
		if (length && r->text[0] != '#')
			return 1;
	}
}

/* Cuts the line at its commas, blanks stripped. */
static int line_cut(struct reader *r)
{
	char *at = r->text;

	r->n_cells = 0;
	for (;;) {
		char *comma = strchr(at, ','), *end;

		if (r->n_cells == N_COLUMNS)
			return FAIL(r, (int)(at - r->text) + 1,
				    "expected at most %d columns", N_COLUMNS);
		end = comma ? comma : at + strlen(at);
		while (*at == ' ' || *at == '\t')
			at++;
		while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		r->cells[r->n_cells].text = at;
		r->cells[r->n_cells++].column = (int)(at - r->text) + 1;
		if (!comma)
			return 0;
		at = comma + 1;
	}
}

static int header_read(struct reader *r)
{
	int found = line_next(r);
	char hint[WEFT_SUGGEST_TEXT];

	for (uint32_t c = 0; c < N_COLUMNS; c++)
		r->at[c] = N_COLUMNS;
	if (found < 0 || (found > 0 && line_cut(r)))
		return -1;
	for (uint32_t i = 0; i < r->n_cells; i++) {
		const struct cell *cell = &r->cells[i];
		uint32_t c = 0;

		/* A byte order mark is no part of the first name. */
		if (i == 0 && !strncmp(cell->text, "\xef\xbb\xbf", 3))
			r->cells[i].text += 3;
		while (c < N_COLUMNS && strcmp(cell->text, column_names[c]))
			c++;
		if (c == N_COLUMNS)
			return FAIL(r, cell->column,
				    "unknown column " QUOTED "; %s", cell->text,
				    weft_suggest_text(cell->text, column_names,
						      N_COLUMNS, hint));
		if (r->at[c] != N_COLUMNS)
			return FAIL(r, cell->column, "column %s twice",
				    column_names[c]);
		r->at[c] = i;
	}
	for (uint32_t c = 0; c < AXIS; c++) {
		if (r->at[c] == N_COLUMNS)
			return FAIL(r, r->line ? 1 : 0,
				    "expected a first line "
				    "\"from,to,bytes[,axis]\": there is no %s",
				    column_names[c]);
	}
	return 0;
}

static int rank_read(struct reader *r, enum column column, uint32_t *rank)
{
	const struct cell *cell = &r->cells[r->at[column]];
	uint64_t value = 0;
	size_t i = 0;

	for (; isdigit((unsigned char)cell->text[i]); i++) {
		if (value <= UINT32_MAX)
			value = value * 10 + (uint64_t)(cell->text[i] - '0');
	}
	if (i == 0 || cell->text[i])
		return FAIL(r, cell->column,
			    "%s: " QUOTED " is not a rank from 0",
			    column_names[column], cell->text);
	if (value >= r->n_ranks)
		return FAIL(r, cell->column,
			    "%s: there is no rank %.20s, the job has %u",
			    column_names[column], cell->text, r->n_ranks);
	*rank = (uint32_t)value;
	return 0;
}

static int bytes_read(struct reader *r, double *bytes)
{
	const struct cell *cell = &r->cells[r->at[BYTES]];
	char *end;

	*bytes = strtod(cell->text, &end);
	/* strtod also takes words and hexadecimal numbers. */
	if (end == cell->text || *end || !(*bytes >= 0) || *bytes > MAX_BYTES ||
	    cell->text[strspn(cell->text, "+-.0123456789eE")])
		return FAIL(r, cell->column,
			    "bytes: " QUOTED " is not a number from 0 to 1e30",
			    cell->text);
	return 0;
}

static int axis_read(struct reader *r, enum weft_axis *axis)
{
	const struct cell *cell = &r->cells[r->at[AXIS]];

	for (uint32_t a = 0; a < WEFT_N_AXES; a++) {
		if (strcmp(cell->text, weft_axis_names[a]) == 0) {
			*axis = (enum weft_axis)a;
			return 0;
		}
	}
	return FAIL(r, cell->column,
		    "axis: " QUOTED " is not one of tp, cp, ep, pp, dp",
		    cell->text);
}

static int row_read(struct reader *r)
{
	struct weft_flow flow = {.axis = WEFT_AXIS_DP};
	uint32_t n = 3 + (r->at[AXIS] != N_COLUMNS);

	if (line_cut(r))
		return -1;
	if (r->n_cells != n)
		return FAIL(r, r->cells[r->n_cells - 1].column,
			    "expected %u columns, found %u", n, r->n_cells);
	if (rank_read(r, FROM, &flow.from) || rank_read(r, TO, &flow.to) ||
	    bytes_read(r, &flow.bytes) ||
	    (n == N_COLUMNS && axis_read(r, &flow.axis)))
		return -1;
	if (flow.from == flow.to)
		return FAIL(r, r->cells[r->at[TO]].column,
			    "rank %u sends to itself", flow.to);
	if (r->n_flows == MAX_ROWS)
		return FAIL(r, 0, "more than %u rows", MAX_ROWS);
	if (WEFT_GROW(r->flows, r->n_flows, r->room, r->err))
		return -1;
	r->flows[r->n_flows++] = flow;
	return 0;
}

int weft_matrix_read(FILE *file, const char *name, uint32_t n_ranks,
		     struct weft_traffic *traffic, struct weft_error *err)
{
	struct reader r = {
		.path = name, .file = file, .err = err, .n_ranks = n_ranks};
	int rc = -1, more = -1;

	memset(traffic, 0, sizeof(*traffic));
	if (header_read(&r))
		goto out;
	while ((more = line_next(&r)) > 0) {
		if (row_read(&r))
			goto out;
	}
	if (more == 0)
		rc = weft_traffic_from_flows(n_ranks, r.flows, r.n_flows,
					     traffic, err);
out:
	free(r.flows);
	return rc;
}

int weft_matrix_load(const char *path, uint32_t n_ranks,
		     struct weft_traffic *traffic, struct weft_error *err)
{
	FILE *file = fopen(path, "re");
	int rc;

	memset(traffic, 0, sizeof(*traffic));
	if (!file)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	rc = weft_matrix_read(file, path, n_ranks, traffic, err);
	fclose(file);
	return rc;
}
