/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_trace_csv.c - job traces as tables, whatever their columns are called */
#include "lab/replay/job_trace.h"

#include "base/csv.h"
#include "base/suggest.h"
#include "lab/replay/time_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* What the columns of the table mean, and in which unit:
 * "submit=timestamp,duration=end-start:ms,gpus=workers*8,job=name". */
struct columns {
	const struct csv *csv;
	const char *path; /* of the table, for messages */
	struct column_sum role[N_COLUMN_ROLES];
	bool has_job;
};

/* Longest name of a column that can be spoken of. */
#define MAX_NAME 120
/* What mistakes in the text are named after. */
#define OPTION "--columns"

static const struct {
	const char *name, *usual;
	bool optional;
} roles[N_COLUMN_ROLES] = {
	[COLUMN_SUBMIT] = {"submit", "submit_s", false},
	[COLUMN_DURATION] = {"duration", "duration_s", false},
	[COLUMN_GPUS] = {"gpus", "gpus", false},
	[COLUMN_JOB] = {"job", "job", true},
};

static const struct {
	const char *name;
	double s;
} units[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1},
	{"min", 60},  {"h", 3600},  {"d", 86400},
};
#define N_UNITS (sizeof(units) / sizeof(units[0]))

/* The text of --columns while it is read. */
struct asking {
	const char *text;
	const struct csv *csv;
	struct weft_error *err;
};

static int asking_fail(const struct asking *a, const char *at,
		       const char *expected)
{
	return weft_fail_at(a->err, WEFT_EINVAL, OPTION, 0,
			    (int)(at - a->text) + 1, "expected %s", expected);
}

static int column_unknown(const struct asking *a, const char *at,
			  const char *name)
{
	const char **known =
		weft_calloc(a->csv->n_columns, sizeof(*known), a->err);
	char hint[WEFT_SUGGEST_TEXT];

	if (!known)
		return -1;
	for (uint32_t c = 0; c < a->csv->n_columns; c++)
		known[c] = a->csv->name[c];
	weft_fail_at(a->err, WEFT_EINVAL, OPTION, 0, (int)(at - a->text) + 1,
		     "the table has no column \"%.40s\"; %s", name,
		     weft_suggest_text(name, known, a->csv->n_columns, hint));
	free(known);
	return -1;
}

/* A column of that name, a number, or neither. */
static int factor_find(const struct asking *a, const char *at, size_t length,
		       struct column_factor *factor)
{
	char name[MAX_NAME + 1], *end;

	if (length == 0 || length > MAX_NAME)
		return asking_fail(a, at, "the name of a column");
	memcpy(name, at, length);
	name[length] = '\0';
	factor->column = csv_column(a->csv, name);
	if (factor->column < a->csv->n_columns)
		return 0;
	factor->constant = strtod(name, &end);
	if (end != name && !*end && isfinite(factor->constant))
		return 0;
	return column_unknown(a, at, name);
}

static int product_find(const struct asking *a, const char *at, size_t length,
			struct column_sum *sum, uint32_t part)
{
	const char *end = at + length;

	while (at <= end) {
		size_t n = strcspn(at, "*");

		if (n > (size_t)(end - at))
			n = (size_t)(end - at);
		if (sum->n[part] == COLUMN_FACTORS)
			return asking_fail(a, at, "at most four factors");
		if (factor_find(a, at, n, &sum->part[part][sum->n[part]]))
			return -1;
		sum->n[part]++;
		at += n + 1;
	}
	return 0;
}

static int unit_find(const struct asking *a, const char *at, size_t length,
		     double *unit)
{
	for (size_t i = 0; i < N_UNITS; i++) {
		if (strlen(units[i].name) == length &&
		    strncmp(at, units[i].name, length) == 0) {
			*unit = units[i].s;
			return 0;
		}
	}
	return asking_fail(a, at, "a unit: ns, us, ms, s, min, h or d");
}

/* True when the whole text is the name of a column. */
static bool is_column(const struct asking *a, const char *at, size_t length)
{
	char name[MAX_NAME + 1];

	if (length > MAX_NAME)
		return false;
	memcpy(name, at, length);
	name[length] = '\0';
	return csv_column(a->csv, name) < a->csv->n_columns;
}

/* The minus between two products: not that of "1e-3".  NULL: there is none. */
static const char *minus_find(const char *at, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bool exponent = i > 1 && strchr("eE", at[i - 1]) &&
				strchr("0123456789.", at[i - 2]);

		if (at[i] == '-' && !exponent)
			return at + i;
	}
	return NULL;
}

/* "A*B-C:ms".  Names with ":" or "-" in them are found before they are taken
 * apart. */
static int sum_find(const struct asking *a, const char *at, size_t length,
		    struct column_sum *sum)
{
	const char *colon = memchr(at, ':', length), *minus;

	memset(sum, 0, sizeof(*sum));
	sum->unit = 1;
	if (colon && !is_column(a, at, length)) {
		if (unit_find(a, colon + 1, length - (size_t)(colon + 1 - at),
			      &sum->unit))
			return -1;
		length = (size_t)(colon - at);
	}
	minus = minus_find(at, length);
	if (!minus || is_column(a, at, length))
		return product_find(a, at, length, sum, 0);
	if (product_find(a, at, (size_t)(minus - at), sum, 0))
		return -1;
	return product_find(a, minus + 1, length - (size_t)(minus + 1 - at),
			    sum, 1);
}

static int role_find(const struct asking *a, const char *at, size_t length,
		     enum column_role *role)
{
	const char *known[N_COLUMN_ROLES];
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)length, at);
	for (int i = 0; i < N_COLUMN_ROLES; i++) {
		known[i] = roles[i].name;
		if (strcmp(name, known[i]) == 0) {
			*role = (enum column_role)i;
			return 0;
		}
	}
	return weft_fail_at(a->err, WEFT_EINVAL, OPTION, 0,
			    (int)(at - a->text) + 1,
			    "unknown \"%s\": the nearest of submit, duration, "
			    "gpus and job is \"%s\"",
			    name, weft_suggest(name, known, N_COLUMN_ROLES));
}

static int roles_read(const struct asking *a, struct columns *columns,
		      bool given[N_COLUMN_ROLES])
{
	const char *at = a->text;

	while (*at) {
		size_t length = strcspn(at, ","), name = strcspn(at, "=");
		enum column_role role = COLUMN_SUBMIT;

		if (name >= length)
			return asking_fail(a, at, "ROLE=COLUMN");
		if (role_find(a, at, name, &role))
			return -1;
		if (given[role])
			return asking_fail(a, at, "each role once");
		given[role] = true;
		if (sum_find(a, at + name + 1, length - name - 1,
			     &columns->role[role]))
			return -1;
		at += length + (at[length] == ',');
	}
	return 0;
}

/* Finds the columns that `text`, the value of --columns, names in the table;
 * roles that it leaves out have the columns submit_s, duration_s, gpus and,
 * where there is one, job.  NULL leaves out all.  Keeps csv and path. */
static int columns_find(const char *text, const struct csv *csv,
			const char *path, struct columns *columns,
			struct weft_error *err)
{
	const struct asking a = {text ? text : "", csv, err};
	bool given[N_COLUMN_ROLES] = {false};

	memset(columns, 0, sizeof(*columns));
	columns->csv = csv;
	columns->path = path;
	if (roles_read(&a, columns, given))
		return -1;
	for (int i = 0; i < N_COLUMN_ROLES; i++) {
		const char *usual = roles[i].usual;

		if (given[i])
			continue;
		if (csv_column(csv, usual) < csv->n_columns) {
			if (sum_find(&a, usual, strlen(usual),
				     &columns->role[i]))
				return -1;
			given[i] = true;
		} else if (!roles[i].optional) {
			return weft_fail_at(err, WEFT_EINVAL, OPTION, 0, 0,
					    "the table has no column \"%s\"; "
					    "say %s=COLUMN, which one it is",
					    usual, roles[i].name);
		}
	}
	columns->has_job = given[COLUMN_JOB];
	return 0;
}

/* What programs write where there is nothing. */
static bool columns_empty(const char *cell)
{
	static const char *const words[] = {"",	    "-",   "nan", "none",
					    "null", "n/a", "nat", "inf"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(cell, words[i]) == 0)
			return true;
	}
	return false;
}

static int factor_value(const struct columns *columns,
			const struct column_factor *factor, uint32_t row,
			double *value, struct weft_error *err)
{
	const struct csv *csv = columns->csv;
	const char *cell;

	*value = factor->constant;
	if (factor->column == csv->n_columns)
		return 1;
	cell = csv->cell[(size_t)row * csv->n_columns + factor->column];
	if (columns_empty(cell))
		return 0;
	if (time_text_read(cell, value) == 0)
		return 1;
	return weft_fail_at(err, WEFT_EINVAL, columns->path, csv->line[row],
			    csv_place(csv, row, factor->column),
			    "%s: \"%.40s\" is neither a number nor a date",
			    csv->name[factor->column], cell);
}

/* A number of a row.  Returns 1; 0 where a cell is empty; -1 with err, which
 * has path, line and column. */
static int columns_number(const struct columns *columns, enum column_role role,
			  uint32_t row, double *value, struct weft_error *err)
{
	const struct column_sum *sum = &columns->role[role];
	double part[2] = {0, 0}, factor;

	for (uint32_t p = 0; p < 2; p++) {
		for (uint32_t i = 0; i < sum->n[p]; i++) {
			int rc = factor_value(columns, &sum->part[p][i], row,
					      &factor, err);

			if (rc <= 0)
				return rc;
			part[p] = i ? part[p] * factor : factor;
		}
	}
	*value = (part[0] - part[1]) * sum->unit;
	if (isfinite(*value))
		return 1;
	return weft_fail_at(err, WEFT_EINVAL, columns->path,
			    columns->csv->line[row], 0,
			    "%s is beyond all numbers", roles[role].name);
}

/* Name of a row's job, or "". */
static const char *columns_job(const struct columns *columns, uint32_t row)
{
	const struct csv *csv = columns->csv;
	uint32_t column = columns->role[COLUMN_JOB].part[0][0].column;

	if (!columns->has_job || column >= csv->n_columns)
		return "";
	return csv->cell[(size_t)row * csv->n_columns + column];
}

/* ---- jobs ---- */

/* Columns that are keys of a spec.  The last means a model only beside one of
 * the others: in many traces it is the GPU's. */
static const char *const axes[] = {"tp",  "cp",	       "ep",   "etp", "pp",
				   "vpp", "dp",	       "zero", "mbs", "gbs",
				   "seq", "recompute", "model"};
#define N_AXES (sizeof(axes) / sizeof(axes[0]))

struct table {
	const char *path;
	struct csv csv;
	struct columns columns;
	uint32_t axis[N_AXES]; /* column, or csv.n_columns */
};

/* A whole number, whether or not it is written as one. */
static bool number_read(const char *cell, double *value)
{
	char *end;

	*value = strtod(cell, &end);
	return end != cell && !*end && *value >= 0 && *value <= UINT32_MAX &&
	       *value == floor(*value);
}

/* "tp=8,pp=2", of the cells that say something. */
static void axes_write(const struct table *t, uint32_t row, char *text,
		       size_t size)
{
	size_t n = 0;
	double whole;

	text[0] = '\0';
	for (size_t i = 0; i < N_AXES; i++) {
		const char *cell;

		if (t->axis[i] == t->csv.n_columns ||
		    (n == 0 && i == N_AXES - 1))
			continue;
		cell = t->csv.cell[(size_t)row * t->csv.n_columns + t->axis[i]];
		if (columns_empty(cell) || n >= size)
			continue;
		/* where a cell was empty, some programs write all as "8.0" */
		if (number_read(cell, &whole))
			n += (size_t)snprintf(text + n, size - n, "%s%s=%.0f",
					      n ? "," : "", axes[i], whole);
		else
			n += (size_t)snprintf(text + n, size - n, "%s%s=%.60s",
					      n ? "," : "", axes[i], cell);
	}
}

bool job_trace_axes(const char *spec)
{
	for (const char *at = spec; *at; at += strcspn(at, ","), at += !!*at) {
		size_t n = strcspn(at, "=,"), i = 0;

		while (i < N_AXES &&
		       (strlen(axes[i]) != n || strncmp(axes[i], at, n) != 0))
			i++;
		if (i == N_AXES || at[n] != '=')
			return false;
	}
	return true;
}

/* 1: *job is one; 0: counted as none. */
static int job_read(const struct table *t, uint32_t row,
		    struct weft_stream_job *job,
		    struct job_trace_skipped *skipped, struct weft_error *err)
{
	uint32_t *count[] = {[COLUMN_SUBMIT] = &skipped->no_submit,
			     [COLUMN_DURATION] = &skipped->no_duration,
			     [COLUMN_GPUS] = &skipped->no_gpus};
	double value[COLUMN_GPUS + 1];

	for (int i = 0; i <= COLUMN_GPUS; i++) {
		int rc = columns_number(&t->columns, (enum column_role)i, row,
					&value[i], err);

		if (rc < 0)
			return -1;
		if (rc == 0 || (i != COLUMN_SUBMIT && value[i] <= 0)) {
			++*count[i];
			return 0;
		}
	}
	if (value[COLUMN_GPUS] > JOB_TRACE_MAX_GPUS)
		return weft_fail_at(err, WEFT_EINVAL, t->path, t->csv.line[row],
				    0,
				    "a job of %.0f GPUs: expected at most %u",
				    value[COLUMN_GPUS], JOB_TRACE_MAX_GPUS);
	if (fabs(value[COLUMN_SUBMIT]) > JOB_TRACE_MAX_S ||
	    value[COLUMN_DURATION] > JOB_TRACE_MAX_S)
		return weft_fail_at(err, WEFT_EINVAL, t->path, t->csv.line[row],
				    0,
				    "more than thirty thousand years: is the "
				    "unit right? (submit=COLUMN:us)");
	job->submit_s = value[COLUMN_SUBMIT];
	job->duration_s = value[COLUMN_DURATION];
	/* a share of a GPU has one */
	job->gpus = (uint32_t)ceil(value[COLUMN_GPUS]);
	return 1;
}

static int rows_read(const struct table *t, struct weft_stream *stream,
		     struct job_trace_skipped *skipped, struct weft_error *err)
{
	struct weft_stream_job job;
	char line[32], text[N_AXES * 72];

	for (uint32_t row = 0; row < t->csv.n_rows; row++) {
		int rc = job_read(t, row, &job, skipped, err);

		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		axes_write(t, row, text, sizeof(text));
		job.axes = text;
		job.name = columns_job(&t->columns, row);
		if (!*job.name) {
			snprintf(line, sizeof(line), "line %d",
				 t->csv.line[row]);
			job.name = line;
		}
		if (weft_stream_add(stream, &job, err))
			return -1;
	}
	return 0;
}

int job_trace_csv(const char *path, const char *columns,
		  struct weft_stream *stream, struct job_trace_skipped *skipped,
		  struct weft_error *err)
{
	struct table t = {.path = path};
	int rc = -1;

	if (csv_load(path, &t.csv, err) ||
	    columns_find(columns, &t.csv, path, &t.columns, err))
		goto out;
	for (size_t i = 0; i < N_AXES; i++)
		t.axis[i] = csv_column(&t.csv, axes[i]);
	rc = rows_read(&t, stream, skipped, err);
out:
	csv_free(&t.csv);
	return rc;
}
