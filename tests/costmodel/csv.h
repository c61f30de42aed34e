/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - reference tables of the tests: quoted cells, first row names columns
 */
#ifndef WEFT_TESTS_COSTMODEL_CSV_H
#define WEFT_TESTS_COSTMODEL_CSV_H

#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

#define CSV_MAX_COLUMNS 40
#define CSV_MAX_ROWS	2048

struct csv {
	char *text; /* every cell points into it */
	char *cell[CSV_MAX_ROWS][CSV_MAX_COLUMNS];
	size_t n_rows; /* the names included */
};

/* Cuts the cell at *text out in place and returns what ended it. */
static inline char csv_cut(char **text, char **cell)
{
	char *in = *text, *out = in;
	char end;
	int quoted = 0;

	*cell = out;
	for (; *in && (quoted || (*in != ',' && *in != '\n')); in++) {
		if (*in == '"' && in[1] == '"' && quoted)
			*out++ = *in++;
		else if (*in == '"')
			quoted = !quoted;
		else if (*in != '\r')
			*out++ = *in;
	}
	end = *in;
	*out = '\0';
	*text = end ? in + 1 : in;
	return end;
}

static inline struct csv *csv_load(const char *path)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	size_t column = 0;
	char *at;

	assert_non_null(csv);
	csv->text = test_read_file(path, NULL);
	assert_non_null(csv->text);
	at = csv->text;
	while (*at) {
		assert_true(csv->n_rows < CSV_MAX_ROWS);
		assert_true(column < CSV_MAX_COLUMNS);
		if (csv_cut(&at, &csv->cell[csv->n_rows][column++]) != ',') {
			csv->n_rows++;
			column = 0;
		}
	}
	return csv;
}

static inline void csv_free(struct csv *csv)
{
	free(csv->text);
	free(csv);
}

static inline const char *csv_cell(const struct csv *csv, size_t row,
				   const char *column)
{
	for (size_t c = 0; c < CSV_MAX_COLUMNS && csv->cell[0][c]; c++) {
		if (strcmp(csv->cell[0][c], column) == 0)
			return csv->cell[row][c] ? csv->cell[row][c] : "";
	}
	fail_msg("the table has no column %s", column);
	return NULL;
}

static inline double csv_number(const struct csv *csv, size_t row,
				const char *column)
{
	return strtod(csv_cell(csv, row, column), NULL);
}

#endif
