/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - a table of comma-separated values with a header line */
#ifndef WEFT_BASE_CSV_H
#define WEFT_BASE_CSV_H

#include "base/error.h"

#include <stdint.h>

struct csv {
	uint32_t n_columns, n_rows; /* without the header */
	char **name;		    /* [n_columns] */
	char **cell;		    /* [n_rows * n_columns] */
	int *line;		    /* [n_rows] in the file, from 1 */
	char **start;		    /* [n_rows] private: of the row in text */
	char *text;		    /* private */
};

/* Reads a file, gzip'ed or not, as RFC 4180 has it: quotes around a cell,
 * doubled inside it; LF or CRLF; blanks around a cell are no part of it.  Where
 * the header has no comma, semicolons or tabs part the cells.  A row with more
 * cells than the header is an error, missing ones are
 * "".  Free with csv_free in either case. */
int csv_load(const char *path, struct csv *csv, struct weft_error *err);
void csv_free(struct csv *csv);

/* The cell of a row by the name of its column, whatever the case; "" where the
 * table has no such column. */
const char *csv_cell(const struct csv *csv, uint32_t row, const char *column);

/* Index of a column, whatever the case of its name; n_columns where there is
 * none. */
uint32_t csv_column(const struct csv *csv, const char *name);

/* Where in its line a cell starts, from 1; 0 where its row lacks it. */
int csv_place(const struct csv *csv, uint32_t row, uint32_t column);

#endif
