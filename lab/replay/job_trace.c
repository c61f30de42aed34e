/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_trace.c - job traces of others, read into a stream of jobs */
#include "lab/replay/job_trace.h"

#include "base/text.h"
#include "lab/replay/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds in thirty thousand years. */
#define MAX_S	      1e12
#define SWF_MAX_BYTES (64u << 20)

/* Columns that are keys of a spec.  The last means a model only beside one of
 * the others: in many traces it is the GPU's. */
static const char *const axes[] = {"tp", "cp",	 "ep",	"etp", "pp",  "vpp",
				   "dp", "zero", "mbs", "gbs", "seq", "model"};
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
	if (fabs(value[COLUMN_SUBMIT]) > MAX_S ||
	    value[COLUMN_DURATION] > MAX_S)
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

/* Fields of a line of the format, from 1. */
enum swf_field {
	SWF_JOB = 1,
	SWF_SUBMIT = 2,
	SWF_RUN = 4,
	SWF_PROCESSORS = 5,
	SWF_REQUESTED = 8,
	SWF_FIELDS = 18
};

/* One line of text, cut at its end; the reading position behind it. */
static int swf_line(const char *path, int line, const char *text,
		    double field[SWF_FIELDS + 1], struct weft_error *err)
{
	const char *p = text;
	char *end;

	for (int i = 1; i <= SWF_FIELDS; i++, p = end) {
		field[i] = strtod(p, &end);
		if (end == p || !(fabs(field[i]) <= MAX_S))
			return weft_fail_at(err, WEFT_EINVAL, path, line,
					    (int)(p + strspn(p, " \t") - text) +
						    1,
					    "expected %u numbers; number %d is "
					    "missing or beyond 1e12",
					    SWF_FIELDS, i);
	}
	return 0;
}

static int swf_job(const double field[SWF_FIELDS + 1],
		   struct weft_stream *stream,
		   struct job_trace_skipped *skipped, struct weft_error *err)
{
	double gpus = field[SWF_PROCESSORS];
	struct weft_stream_job job = {
		.submit_s = field[SWF_SUBMIT],
		.duration_s = field[SWF_RUN],
	};
	char name[32];

	if (gpus <= 0)
		gpus = field[SWF_REQUESTED];
	if (job.duration_s <= 0) {
		skipped->no_duration++;
		return 0;
	}
	if (gpus <= 0 || gpus > JOB_TRACE_MAX_GPUS) {
		skipped->no_gpus++;
		return 0;
	}
	job.gpus = (uint32_t)gpus;
	snprintf(name, sizeof(name), "%.0f", field[SWF_JOB]);
	job.name = name;
	return weft_stream_add(stream, &job, err);
}

int job_trace_swf(const char *path, struct weft_stream *stream,
		  struct job_trace_skipped *skipped, struct weft_error *err)
{
	double field[SWF_FIELDS + 1];
	char *text, *next;
	size_t size;
	int line = 1,
	    rc = weft_text_load(path, SWF_MAX_BYTES, &text, &size, err);

	next = text;

	for (; rc == 0 && *next; line++) {
		char *start = next + strspn(next, " \t\r");
		size_t length = strcspn(start, "\n");

		next = start + length + (start[length] == '\n');
		start[length] = '\0';
		if (*start == ';' || *start == '\0')
			continue;
		rc = swf_line(path, line, start, field, err);
		if (rc == 0)
			rc = swf_job(field, stream, skipped, err);
	}
	free(text);
	return rc;
}

static bool name_ends(const char *path, const char *end)
{
	size_t n = strlen(path), length = strlen(end);

	return n >= length && strcmp(path + n - length, end) == 0;
}

int job_trace_load(const char *path, const char *columns,
		   struct weft_stream *stream,
		   struct job_trace_skipped *skipped, struct weft_error *err)
{
	bool swf = name_ends(path, ".swf") || name_ends(path, ".swf.gz");

	if (!swf && (columns || !job_trace_sacct_looks(path)))
		return job_trace_csv(path, columns, stream, skipped, err);
	if (columns)
		return weft_fail_at(err, WEFT_EINVAL, "--columns", 0, 0,
				    "the Standard Workload Format has its own");
	return swf ? job_trace_swf(path, stream, skipped, err)
		   : job_trace_sacct(path, stream, skipped, err);
}
