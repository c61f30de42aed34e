/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_steps.c - weft calibrate --steps: a job's own steps against its model
 *
 * The site's correction is a table of runs, as weft model step --calibrate
 * reads it; each log adds a row, and the interval is that of the rows.
 */
#include "base/csv.h"
#include "base/error.h"
#include "base/size.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/report.h"
#include "lab/calibrate/calibration.h"
#include "lab/lab.h"
#include "lab/step/step_table.h"
#include "placement/job.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct steps {
	double *step_s; /* [n] in the order logged, later sorted */
	uint32_t n;
	double median_s, low_s, high_s; /* tenth and ninetieth percentile */
};

/* ---- how long a job's steps took, from the lines that it logs ---- */

#define MIN_STEPS   5
#define MIN_WARM_UP 3

static const struct mark {
	const char *text;
	double unit_s; /* 0: tokens per second */
} marks[] = {
	{"elapsed time per iteration (ms):", 1e-3},
	{"train_step_timing in s:", 1},
	{"train_step_timing in s=", 1},
	{" tps:", 0},
};

/* The number at the begin of a text, which may have commas between thousands
 * and colours of a terminal before it; 0: none. */
static double number_read(const char *text, const char *end)
{
	char plain[32];
	size_t n = 0;

	while (text < end && (*text == ' ' || *text == '\033')) {
		if (*text == '\033')
			while (text < end && *text != 'm')
				text++;
		text++;
	}
	for (; text < end && n + 1 < sizeof(plain); text++) {
		if (*text == ',')
			continue;
		if (!isdigit((unsigned char)*text) && *text != '.' &&
		    *text != 'e' && *text != '+' && *text != '-')
			break;
		plain[n++] = *text;
	}
	plain[n] = '\0';
	return strtod(plain, NULL);
}

static int step_add(struct steps *steps, double step_s, struct weft_error *err)
{
	double *more;

	if (!(step_s > 0) || step_s > 1e6)
		return 0;
	more = realloc(steps->step_s, (steps->n + (size_t)1) * sizeof(*more));
	if (!more)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	steps->step_s = more;
	more[steps->n++] = step_s;
	return 0;
}

static const char *find(const char *line, const char *end, const char *text)
{
	size_t length = strlen(text);

	for (; line + length <= end; line++) {
		if (memcmp(line, text, length) == 0)
			return line + length;
	}
	return NULL;
}

/* Appends the steps of a log of Megatron-LM ("elapsed time per iteration
 * (ms): 1234.5"), NeMo ("train_step_timing in s: 5.3") or torchtitan ("tps:
 * 5,123", tokens per second and GPU, of tokens a step and GPU). */
static int steps_read(const char *text, size_t size, double tokens,
		      struct steps *steps, struct weft_error *err)
{
	const char *end = text + size;

	while (text < end) {
		const char *next = memchr(text, '\n', (size_t)(end - text));

		next = next ? next : end;
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
			const char *at = find(text, next, marks[i].text);
			double value = at ? number_read(at, next) : 0;

			if (!(value > 0))
				continue;
			value = marks[i].unit_s > 0 ? value * marks[i].unit_s
						    : tokens / value;
			if (step_add(steps, value, err))
				return -1;
			break;
		}
		text = next + 1;
	}
	return 0;
}

static int double_compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Leaves out the first tenth, three steps at least, in which kernels are chosen
 * and caches filled, and fills the rest in.  -1 where fewer than five are left.
 */
static int steps_sum(struct steps *steps, struct weft_error *err)
{
	uint32_t warm_up =
		steps->n / 10 > MIN_WARM_UP ? steps->n / 10 : MIN_WARM_UP;
	uint32_t n = steps->n > warm_up ? steps->n - warm_up : 0;

	if (n < MIN_STEPS)
		return weft_fail(err, WEFT_EINVAL,
				 "%u steps in the log, of which the first %u "
				 "are warm-up: expected %d more; lines of "
				 "Megatron-LM, NeMo and torchtitan are known",
				 steps->n, warm_up, MIN_STEPS);
	memmove(steps->step_s, steps->step_s + warm_up,
		n * sizeof(*steps->step_s));
	steps->n = n;
	qsort(steps->step_s, n, sizeof(*steps->step_s), double_compare);
	steps->median_s =
		(steps->step_s[(n - 1) / 2] + steps->step_s[n / 2]) / 2;
	steps->low_s = steps->step_s[n / 10];
	steps->high_s = steps->step_s[n - 1 - n / 10];
	return 0;
}

static void steps_free(struct steps *steps)
{
	free(steps->step_s);
	*steps = (struct steps){0};
}

/* ---- the steps against the model ---- */

#define MAX_LOG_BYTES (256u << 20)

enum { KEY_STEPS = 256, KEY_GPU, KEY_INTO, KEY_JSON };

static const struct argp_option options[] = {
	{"steps", KEY_STEPS, "LOG", 0,
	 "what the job logged: Megatron-LM, NeMo or torchtitan", 0},
	{"job", 'j', "SPEC", 0, "its spec, weft-spec(7)", 0},
	{"gpu", KEY_GPU, "NAME", 0, "its kind of GPU (default: H100)", 0},
	{"into", KEY_INTO, "CSV", 0,
	 "add the run to this table of the site's runs", 0},
	{"json", KEY_JSON, NULL, 0, "answer in JSON", 0},
	{0},
};

struct asked {
	const char *log, *job, *into;
	const struct weft_gpu *gpu;
	bool json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct asked *a = state->input;

	switch (key) {
	case KEY_STEPS:
		a->log = arg;
		return 0;
	case 'j':
		a->job = arg;
		return 0;
	case KEY_GPU:
		a->gpu = option_gpu(state, arg);
		return 0;
	case KEY_INTO:
		a->into = arg;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\" is not an option", arg);
		return 0;
	case ARGP_KEY_END:
		if (!a->job)
			argp_error(state, "of which job? Give --job SPEC");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct reading {
	struct steps *steps;
	double tokens;
};

static int log_take(void *context, const char *name, const char *text,
		    size_t size, struct weft_error *err)
{
	struct reading *reading = context;

	(void)name;
	return steps_read(text, size, reading->tokens, reading->steps, err);
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

		if (!row->predicted || isnan(row->err) ||
		    row->row.gpu != a->gpu)
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
	char text[32], low[32], high[32];

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
	       weft_quantity_text(f->steps.median_s, "s", text, sizeof(text)),
	       weft_quantity_text(f->steps.low_s, "s", low, sizeof(low)),
	       weft_quantity_text(f->steps.high_s, "s", high, sizeof(high)));
	printf("predicted: %s\n",
	       weft_quantity_text(f->predicted_s, "s", text, sizeof(text)));
	printf("correction of %u run%s: --efficiency %s=%.4f, runs at %.2f to "
	       "%.2f of it\n",
	       f->n_runs, f->n_runs == 1 ? "" : "s", a->gpu->name,
	       f->efficiency, f->interval[0], f->interval[1]);
	if (a->into)
		printf("weft model step --calibrate %s uses it\n", a->into);
	return 0;
}

/* Tokens of a step that each GPU has. */
static int tokens_find(const char *text, double *tokens, struct weft_error *err)
{
	struct weft_job job = {0};
	int rc = weft_job_build(text, 0, true, NULL, &job, err);

	if (rc == 0)
		*tokens = (double)job.spec.gbs *
			  (job.spec.seq ? job.spec.seq : job.model.seq) /
			  job.spec.gpus;
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

	if (tokens_find(a->job, &reading.tokens, err) ||
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
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "What the steps of a job say of the predicted one.",
	};
	struct asked asked = {.log = NULL};
	struct weft_error err = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &asked);
	if (!asked.gpu)
		asked.gpu = weft_gpu_find("H100", &err);
	return answer(&asked, &err) ? cmd_fail(&err) : EXIT_YES;
}
