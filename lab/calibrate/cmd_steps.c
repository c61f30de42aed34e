/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_steps.c - weft calibrate --steps: a job's own steps against its model
 *
 * The site's correction is a table of runs, as weft model step --calibrate
 * reads it; each log adds a row, and the interval is that of the rows.
 */
#include "base/csv.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/option.h"
#include "cli/report.h"
#include "lab/calibrate/calibration.h"
#include "lab/calibrate/steps.h"
#include "lab/step/step_run.h"
#include "lab/step/step_table.h"
#include "placement/job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_LOG_BYTES (256u << 20)

struct asked {
	const char *log, *job, *into;
	const struct weft_gpu *gpu;
	bool json;
};

#define QUESTION struct asked

static const struct option_row options[] = {
	{"steps", 0, "LOG", "what the job, or NCCL's Inspector, logged", 0,
	 TEXT(log)},
	{"job", 'j', "SPEC", "its spec, weft-spec(7)", 0, TEXT(job)},
	{"gpu", 0, "NAME", "its kind of GPU (default: H100)", 0, GPU(gpu)},
	{"into", 0, "CSV", "add the run to this table of the site's runs", 0,
	 TEXT(into)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

static void asked_check(const struct argp_state *state, void *input)
{
	const struct asked *a = input;

	if (!a->job)
		argp_error(state, "of which job? Give --job SPEC");
}

struct reading {
	struct steps *steps;
	struct steps_job job;
};

static int log_take(void *context, const char *name, const char *text,
		    size_t size, struct weft_error *err)
{
	struct reading *reading = context;

	(void)name;
	return steps_read(text, size, &reading->job, reading->steps, err);
}

static const char *const columns[] = {"row_id", "gpu", "job", "step_s"};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* A cell in quotes, in which a quote is two. */
static void quoted_write(FILE *out, const char *cell)
{
	fputc('"', out);
	for (; *cell; cell++) {
		if (*cell == '"')
			fputc('"', out);
		fputc(*cell == '\n' || *cell == '\r' ? ' ' : *cell, out);
	}
	fputc('"', out);
}

static void row_write(FILE *out, const struct asked *a, double step_s,
		      const struct csv *table)
{
	for (uint32_t c = 0; c < table->n_columns; c++) {
		const char *name = table->name[c];

		if (c)
			fputc(',', out);
		if (strcasecmp(name, "row_id") == 0)
			quoted_write(out, a->log);
		else if (strcasecmp(name, "gpu") == 0)
			fputs(a->gpu->name, out);
		else if (strcasecmp(name, "job") == 0)
			quoted_write(out, a->job);
		else if (strcasecmp(name, "step_s") == 0)
			fprintf(out, "%.6g", step_s);
	}
	fputc('\n', out);
}

/* Loads the site's table after adding the header where it has none. */
static int header_write(FILE *out, const char *path, struct csv *table,
			struct weft_error *err)
{
	if (ftell(out) == 0) {
		for (size_t i = 0; i < N_COLUMNS; i++)
			fprintf(out, "%s%s", i ? "," : "", columns[i]);
		fputc('\n', out);
		fflush(out);
	}
	if (csv_load(path, table, err))
		return -1;
	for (size_t i = 0; i < N_COLUMNS; i++) {
		if (csv_column(table, columns[i]) == table->n_columns)
			return weft_fail_at(err, WEFT_EINVAL, path, 1, 0,
					    "the table has no column \"%s\" "
					    "for the run: add it to the header",
					    columns[i]);
	}
	return 0;
}

/* The site's table with this run; a temporary one where none is named.  *size:
 * what it had before. */
static int table_write(const struct asked *a, double step_s, const char *path,
		       long *size, struct weft_error *err)
{
	FILE *out = fopen(path, "a+");
	struct csv table = {0};
	int rc = -1;

	if (!out)
		return weft_fail(err, WEFT_EIO, "%s: %s", path,
				 strerror(errno));
	fseek(out, 0, SEEK_END);
	*size = ftell(out);
	if (header_write(out, path, &table, err))
		goto out;
	/* Editors leave a last line without its end. */
	if (*size > 0 && fseek(out, -1, SEEK_END) == 0 && fgetc(out) != '\n') {
		fseek(out, 0, SEEK_END);
		fputc('\n', out);
	}
	fseek(out, 0, SEEK_END);
	row_write(out, a, step_s, &table);
	rc = ferror(out) ? -1 : 0;
out:
	csv_free(&table);
	if (fclose(out) || (rc && err && !err->code))
		return weft_fail(err, WEFT_EIO, "%s: %s", path,
				 strerror(errno));
	return rc;
}

/* Between which factors of the corrected prediction the site's runs lie: those
 * of its rows, or of the steps of the only one. */
static void interval_find(const struct step_table *t, const struct asked *a,
			  double efficiency, const struct steps *steps,
			  double interval[2])
{
	uint32_t n = 0;

	interval[0] = steps->low_s / steps->median_s;
	interval[1] = steps->high_s / steps->median_s;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct step_answer *row = &t->answers[i];
		double factor;

		if (!step_is_judged(row) || row->row.gpu != a->gpu)
			continue;
		factor = efficiency / (1 + row->err);
		interval[0] = fmin(interval[0], factor);
		interval[1] = fmax(interval[1], factor);
		n++;
	}
}

struct found {
	struct steps steps;
	double efficiency, interval[2], predicted_s;
	uint32_t n_runs;
};

static int correction_find(const struct asked *a, const char *path,
			   struct found *found, struct weft_error *err)
{
	const struct weft_step_options none = {.gpu = a->gpu};
	struct step_constants without = {0}, constants = {0};
	struct step_table table = {0};
	const struct step_answer *last;
	int rc = -1;

	if (step_table_load(path, &none, &without, &table, err) ||
	    step_table_constants(&table, &constants, err))
		goto out;
	last = &table.answers[table.n - 1];
	if (!last->predicted) {
		weft_fail(err, WEFT_EINVAL, "%.150s", last->row.why);
		goto out;
	}
	found->predicted_s = last->step.step_s;
	found->efficiency = step_constant(&constants, a->gpu);
	for (uint32_t i = 0; i < table.n; i++)
		found->n_runs += table.answers[i].predicted &&
				 table.answers[i].row.gpu == a->gpu;
	interval_find(&table, a, found->efficiency, &found->steps,
		      found->interval);
	rc = 0;
out:
	step_table_free(&table);
	return rc;
}

static int print(const struct asked *a, const struct found *f,
		 struct weft_error *err)
{
	if (a->json)
		return report_print(
			json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:f, "
				  "s:f, s:f, s:I}",
				  "schema", "weft.calibrate/1", "gpu",
				  a->gpu->name, "steps", (json_int_t)f->steps.n,
				  "step_s", f->steps.median_s, "step_low_s",
				  f->steps.low_s, "step_high_s",
				  f->steps.high_s, "predicted_s",
				  f->predicted_s, "efficiency", f->efficiency,
				  "low", f->interval[0], "high", f->interval[1],
				  "runs", (json_int_t)f->n_runs),
			err);
	printf("%u steps: %s in the median, %s to %s\n", f->steps.n,
	       IN_UNIT(f->steps.median_s, "s"), IN_UNIT(f->steps.low_s, "s"),
	       IN_UNIT(f->steps.high_s, "s"));
	printf("predicted: %s\n", IN_UNIT(f->predicted_s, "s"));
	printf("correction of %u run%s: --efficiency %s=%.4f, runs at %.2f to "
	       "%.2f of it\n",
	       f->n_runs, f->n_runs == 1 ? "" : "s", a->gpu->name,
	       f->efficiency, f->interval[0], f->interval[1]);
	if (a->into)
		printf("weft model step --calibrate %s uses it\n", a->into);
	return 0;
}

/* What is known of the job before its log is read. */
static int job_find(const struct asked *a, struct steps_job *known,
		    struct weft_error *err)
{
	const struct weft_step_options none = {.gpu = a->gpu};
	struct weft_fabric *fabric = NULL;
	struct weft_job job = {0};
	struct weft_step step;
	int rc = weft_job_build(a->job, 0, true, NULL, &job, err);

	if (rc == 0) {
		fabric = step_fabric(a->gpu, job.spec.gpus, 0, "", "", err);
		rc = fabric ? step_run(fabric, &job.spec, &job.model, &none,
				       &step, err)
			    : -1;
	}
	if (rc == 0)
		*known = (struct steps_job){
			.tokens =
				(double)job.spec.gbs *
				(job.spec.seq ? job.spec.seq : job.model.seq) /
				job.spec.gpus,
			.predicted_s = step.step_s,
			.micro_batches = weft_spec_micro_batches(&job.spec),
		};
	weft_fabric_free(fabric);
	weft_job_free(&job);
	return rc;
}

static int answer(const struct asked *a, struct weft_error *err)
{
	char path[] = "/tmp/weft-steps-XXXXXX";
	struct found found = {.efficiency = 1};
	struct reading reading = {.steps = &found.steps};
	long size = -1;
	int rc = -1, fd = -1;

	if (job_find(a, &reading.job, err) ||
	    weft_text_each(a->log, MAX_LOG_BYTES, log_take, &reading, err) ||
	    steps_sum(&found.steps, err))
		goto out;
	if (!a->into)
		fd = mkstemp(path);
	if (!a->into && fd < 0) {
		weft_fail(err, WEFT_EIO, "%s: %s", path, strerror(errno));
		goto out;
	}
	rc = table_write(a, found.steps.median_s, a->into ? a->into : path,
			 &size, err);
	if (rc == 0)
		rc = correction_find(a, a->into ? a->into : path, &found, err);
	/* A run that does not count leaves the site's table as it was. */
	if (rc && a->into && size >= 0 && truncate(a->into, size))
		fprintf(stderr, "weft: %s: %s\n", a->into, strerror(errno));
	if (rc == 0)
		rc = print(a, &found, err);
out:
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	steps_free(&found.steps);
	return rc;
}

int calibrate_steps(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.check = asked_check,
		.doc = "What the steps of a job say of the predicted one.",
	};
	struct asked asked = {.log = NULL};
	struct weft_error err = {0};

	command_line_read(&line, argc, argv, &asked);
	if (!asked.gpu)
		asked.gpu = weft_gpu_find("H100", &err);
	return answer(&asked, &err) ? cmd_fail(&err) : EXIT_YES;
}
