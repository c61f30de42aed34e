/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h - which columns of somebody's table mean what, and in which unit
 *
 * "submit=timestamp,duration=end-start:ms,gpus=workers*8,job=name"
 */
#ifndef WEFT_CLI_COLUMNS_H
#define WEFT_CLI_COLUMNS_H

#include "cli/csv.h"

#include <stdbool.h>
#include <stddef.h>

enum column_role {
	COLUMN_SUBMIT,	 /* when: seconds, or a date and time */
	COLUMN_DURATION, /* how long */
	COLUMN_GPUS,	 /* how many */
	COLUMN_JOB,	 /* its name */
	N_COLUMN_ROLES
};

#define COLUMN_FACTORS 4

/* Column or constant. */
struct column_factor {
	uint32_t column; /* index in the table; its n_columns: `constant` */
	double constant;
};

/* (the product of the first part less that of the second) * unit */
struct column_sum {
	uint32_t n[2];
	struct column_factor part[2][COLUMN_FACTORS];
	double unit;
};

struct columns {
	struct column_sum role[N_COLUMN_ROLES];
	bool has_job;
};

/* Finds the columns of `text` in the table; roles that it leaves out have the
 * columns submit_s, duration_s, gpus and, where there is one, job.  option:
 * what errors in text are named after. */
int columns_find(const char *text, const struct csv *csv, const char *option,
		 struct columns *columns, struct weft_error *err);

/* A number of a row.  Returns 1; 0 where a cell is empty or says that there is
 * none ("nan", "None", "-"); -1 with err, which has path, line and column. */
int columns_number(const struct columns *columns, enum column_role role,
		   const struct csv *csv, uint32_t row, const char *path,
		   double *value, struct weft_error *err);

/* Name of a row's job, or "". */
const char *columns_job(const struct columns *columns, const struct csv *csv,
			uint32_t row);

#endif
