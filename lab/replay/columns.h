/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h - what the columns of a foreign table mean, and in which unit
 *
 * "submit=timestamp,duration=end-start:ms,gpus=workers*8,job=name"
 */
#ifndef WEFT_LAB_REPLAY_COLUMNS_H
#define WEFT_LAB_REPLAY_COLUMNS_H

#include "base/csv.h"

#include <stdbool.h>

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
	const struct csv *csv;
	const char *path; /* of the table, for messages */
	struct column_sum role[N_COLUMN_ROLES];
	bool has_job;
};

/* Finds the columns that `text`, the value of --columns, names in the table;
 * roles that it leaves out have the columns submit_s, duration_s, gpus and,
 * where there is one, job.  NULL leaves out all.  Keeps csv and path. */
int columns_find(const char *text, const struct csv *csv, const char *path,
		 struct columns *columns, struct weft_error *err);

/* What programs write where there is nothing: "", "nan", "None", "-". */
bool columns_empty(const char *cell);

/* A number of a row.  Returns 1; 0 where a cell is empty; -1 with err, which
 * has path, line and column. */
int columns_number(const struct columns *columns, enum column_role role,
		   uint32_t row, double *value, struct weft_error *err);

/* Name of a row's job, or "". */
const char *columns_job(const struct columns *columns, uint32_t row);

#endif
