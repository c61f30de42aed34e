/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log_csv.c - reads CSV with one measurement a line
 *
 * Columns are known by their names in the first line; only a size and a time
 * are needed:
 *   bytes | size | size(B) | size_bytes      time_us | time(us) | time(ns) |
 * ... collective   ranks | gpus   nodes   system | label   busbw_GBps | ...
 */
#include "base/lines.h"
#include "costmodel/measured/nccl_log_draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_COLUMNS 64
#define MAX_CELL    256

enum column {
	COLUMN_NONE,
	COLUMN_SIZE,
	COLUMN_TIME,
	COLUMN_BUSBW,
	COLUMN_COLLECTIVE,
	COLUMN_RANKS,
	COLUMN_NODES,
	COLUMN_LABEL,
};

static const struct {
	const char *name;
	enum column column;
	double unit;
} names[] = {
	{"bytes", COLUMN_SIZE, 1},
	{"size", COLUMN_SIZE, 1},
	{"size(B)", COLUMN_SIZE, 1},
	{"size_bytes", COLUMN_SIZE, 1},
	{"time_us", COLUMN_TIME, 1e-6},
	{"time(us)", COLUMN_TIME, 1e-6},
	{"time(ns)", COLUMN_TIME, 1e-9},
	{"time_ns", COLUMN_TIME, 1e-9},
	{"time_s", COLUMN_TIME, 1},
	{"busbw_GBps", COLUMN_BUSBW, 1e9},
	{"busbw(GB/s)", COLUMN_BUSBW, 1e9},
	{"collective", COLUMN_COLLECTIVE, 0},
	{"ranks", COLUMN_RANKS, 0},
	{"gpus", COLUMN_RANKS, 0},
	{"nodes", COLUMN_NODES, 0},
	{"system", COLUMN_LABEL, 0},
	{"label", COLUMN_LABEL, 0},
};

struct table {
	struct nccl_draft *draft;
	enum column column[MAX_COLUMNS];
	double unit[MAX_COLUMNS];
	uint32_t n_columns;
};

struct cells {
	char text[MAX_COLUMNS][MAX_CELL];
	uint32_t n;
};

static void line_split(struct weft_span line, struct cells *cells)
{
	struct weft_span cell;

	cells->n = 0;
	while (cells->n < MAX_COLUMNS && weft_span_csv(&line, ',', &cell))
		weft_span_copy(cell, cells->text[cells->n++], MAX_CELL);
}

/* Of columns with the same meaning the first counts: tables repeat time and
 * bandwidth for in place. */
static void columns_read(struct table *table, const struct cells *cells)
{
	uint32_t seen = 0;

	table->n_columns = cells->n;
	for (uint32_t c = 0; c < cells->n; c++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
			if (strcasecmp(cells->text[c], names[k].name) != 0 ||
			    (seen & 1u << names[k].column))
				continue;
			table->column[c] = names[k].column;
			table->unit[c] = names[k].unit;
			seen |= 1u << names[k].column;
		}
	}
}

bool nccl_csv_looks(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct table table = {0};
	bool sizes = false, times = false;
	struct weft_span line;
	struct cells cells;

	if (!weft_lines_next(&lines, &line))
		return false;
	line_split(line, &cells);
	columns_read(&table, &cells);
	for (uint32_t c = 0; c < table.n_columns; c++) {
		sizes |= table.column[c] == COLUMN_SIZE;
		times |= table.column[c] == COLUMN_TIME;
	}
	return sizes && times;
}

/* What identifies the run of a line. */
static void cell_setting(enum column column, const char *cell,
			 struct nccl_setting *s)
{
	uint64_t n = 0;

	if (column == COLUMN_COLLECTIVE) {
		s->collective = weft_nccl_collective(cell);
		s->collective_from = "table";
		snprintf(s->program, sizeof(s->program), "%.31s", cell);
	} else if (column == COLUMN_LABEL) {
		snprintf(s->label, sizeof(s->label), "%.95s", cell);
	} else if (nccl_uint(cell, strlen(cell), &n) &&
		   n < WEFT_NCCL_MAX_ROWS) {
		if (column == COLUMN_RANKS)
			s->n_ranks = (uint32_t)n;
		else
			s->n_nodes = (uint32_t)n;
	}
}

static const char *cell_value(enum column column, double unit, const char *cell,
			      struct weft_nccl_row *row)
{
	double value = 0;

	if (column == COLUMN_SIZE)
		return nccl_uint(cell, strlen(cell), &row->size_bytes)
			       ? NULL
			       : "its size is no number";
	if (cell[0] && !nccl_number(cell, strlen(cell), &value))
		return column == COLUMN_TIME ? "its time is no number" : NULL;
	if (column == COLUMN_TIME)
		row->time_s = value * unit;
	else
		row->busbw_bytes_per_s = value * unit;
	return NULL;
}

static bool setting_same(const struct nccl_setting *a,
			 const struct nccl_setting *b)
{
	return a->collective == b->collective && a->n_ranks == b->n_ranks &&
	       a->n_nodes == b->n_nodes && strcmp(a->label, b->label) == 0;
}

static int line_read(struct table *table, const struct cells *cells,
		     uint32_t line)
{
	struct nccl_draft *draft = table->draft;
	struct nccl_setting setting = draft->setting;
	struct weft_nccl_row row = {.line = line};
	const char *why = NULL;

	setting.n_ranks = setting.n_nodes = 0;
	if (cells->n != table->n_columns)
		return nccl_draft_flaw(draft, line,
				       "it has more or fewer cells than the "
				       "first line");
	for (uint32_t c = 0; c < cells->n && !why; c++) {
		enum column column = table->column[c];

		if (column >= COLUMN_COLLECTIVE)
			cell_setting(column, cells->text[c], &setting);
		else if (column != COLUMN_NONE)
			why = cell_value(column, table->unit[c], cells->text[c],
					 &row);
	}
	if (!why && !row.size_bytes)
		why = "its size is zero";
	if (!why && row.time_s <= 0)
		why = "it has no time";
	if (why)
		return nccl_draft_flaw(draft, line, why);
	if (!draft->open || !setting_same(&draft->setting, &setting)) {
		draft->setting = setting;
		if (nccl_draft_open(draft, line))
			return -1;
		nccl_draft_close(draft, false);
	}
	return nccl_draft_row(draft, &row);
}

int nccl_csv_read(struct nccl_draft *draft, const char *text, size_t size)
{
	struct table table = {.draft = draft};
	struct cells *cells = weft_calloc(1, sizeof(*cells), draft->err);
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line;
	int rc = cells ? 0 : -1;

	while (!rc && weft_lines_next(&lines, &line)) {
		line_split(line, cells);
		if (lines.number == 1)
			columns_read(&table, cells);
		else if (line.size)
			rc = line_read(&table, cells, (uint32_t)lines.number);
	}
	draft->log->n_lines = (uint32_t)lines.number;
	free(cells);
	return rc;
}
