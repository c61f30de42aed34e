/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - reference tables of the tests */
#ifndef WEFT_TESTS_COSTMODEL_TABLE_H
#define WEFT_TESTS_COSTMODEL_TABLE_H

#include "base/csv.h"
#include "tests/lib/check.h"

#include <stdlib.h>

/* A table of the reference data; skips the test where it is absent.  Free with
 * csv_free. */
static inline struct csv table_open(const char *name)
{
	const char *path = test_shared(name);
	struct weft_error err = {0};
	struct csv csv;

	if (!path) {
		print_message("skipped: %s is absent\n", name);
		skip();
	}
	csv_load(path, &csv, &err);
	assert_no_error(&err);
	return csv;
}

/* Fails where the table has no such column. */
static inline const char *table_cell(const struct csv *csv, uint32_t row,
				     const char *column)
{
	if (csv_column(csv, column) == csv->n_columns)
		fail_msg("the table has no column %s", column);
	return csv_cell(csv, row, column);
}

static inline double table_number(const struct csv *csv, uint32_t row,
				  const char *column)
{
	return strtod(table_cell(csv, row, column), NULL);
}

#endif
