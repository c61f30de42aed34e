/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_table.c - predicting each run of a table, and how far off */
#include "lab/step/step_table.h"

#include "base/compare.h"
#include "cli/json.h"
#include "cli/report.h"
#include "costmodel/job/memory.h"
#include "costmodel/job/software.h"
#include "lab/model/model.h"
#include "lab/step/step_columns.h"
#include "lab/step/step_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of models with experts that a GPU's constant may rest on. */
#define MIN_MOE_ROWS 3

double step_constant(const struct step_constants *constants,
		     const struct weft_gpu *gpu)
{
	for (uint32_t i = 0; i < constants->n; i++) {
		if (constants->of[i].gpu == gpu)
			return constants->of[i].efficiency;
	}
	return 1;
}

int step_constant_set(struct step_constants *constants,
		      const struct weft_gpu *gpu, double efficiency,
		      uint32_t n_rows, struct weft_error *err)
{
	uint32_t i = 0;

	while (i < constants->n && constants->of[i].gpu != gpu)
		i++;
	if (i == STEP_MAX_CONSTANTS)
		return weft_fail(err, WEFT_EINVAL,
				 "more than %d constants of GPUs",
				 STEP_MAX_CONSTANTS);
	constants->of[i].gpu = gpu;
	constants->of[i].efficiency = efficiency;
	constants->of[i].n_rows = n_rows;
	if (i == constants->n)
		constants->n++;
	return 0;
}

/* ---- predicting ---- */

static void memory_fill(struct step_answer *a)
{
	const struct step_row *row = &a->row;
	const struct weft_memory_options options =
		weft_software_memory(&row->spec, row->gpu);
	struct weft_memory memory = {0};

	if (weft_memory_worst(&row->spec, &row->model, &options, &memory, NULL))
		return;
	a->memory_bytes = memory.total_bytes;
	a->fits = weft_memory_fits(&memory, row->memory_bytes);
}

static int answer_fill(struct step_answer *a, const char *folder,
		       const struct weft_step_options *options,
		       const struct step_constants *constants)
{
	struct weft_step_options mine = *options;
	struct weft_error err = {0};
	struct weft_fabric *f =
		step_fabric(a->row.gpu, a->row.spec.gpus, a->row.node_size,
			    a->row.cluster, folder, &err);
	int rc = -1;

	mine.gpu = a->row.gpu;
	mine.products_at = true;
	mine.precision = a->row.precision;
	mine.fit_memory = !a->row.as_spec;
	if (a->row.overlap != WEFT_AS_USUAL)
		mine.overlap = a->row.overlap;
	mine.efficiency = step_constant(constants, a->row.gpu);
	if (f) {
		a->run =
			weft_run_of(a->row.gpu, &a->row.spec, &a->row.model, f);
		a->run.widths = 1u << a->row.precision;
		rc = step_run(f, &a->row.spec, &a->row.model, &mine, &a->step,
			      &err);
	}
	if (rc)
		snprintf(a->row.why, sizeof(a->row.why), "%.190s", err.text);
	weft_fabric_free(f);
	a->predicted = rc == 0;
	if (rc == 0)
		memory_fill(a);
	if (rc == 0 && a->row.measured_s > 0)
		a->err = a->step.step_s / a->row.measured_s - 1;
	return err.code == WEFT_ENOMEM ? -1 : 0;
}

struct step_memory step_table_memory(const struct step_table *table)
{
	struct step_memory sum = {0};

	for (uint32_t i = 0; i < table->n; i++) {
		const struct step_answer *a = &table->answers[i];

		if (!a->predicted || !(a->memory_bytes > 0))
			continue;
		if (a->row.out_of_memory) {
			sum.n_out++;
			sum.called_fitting += a->fits;
		} else if (step_is_judged(a)) {
			sum.n_ran++;
			sum.false_alarms += !a->fits;
		}
	}
	sum.called_fitting /= fmax(1, sum.n_out);
	sum.false_alarms /= fmax(1, sum.n_ran);
	return sum;
}

/* ---- groups ---- */

static int group_add(struct step_table *t, const char *name, double error)
{
	struct step_group *g = NULL;

	for (uint32_t i = 0; i < t->n_groups && !g; i++) {
		if (strcmp(t->groups[i].name, name) == 0)
			g = &t->groups[i];
	}
	if (!g) {
		g = &t->groups[t->n_groups++];
		snprintf(g->name, sizeof(g->name), "%s", name);
	}
	g->n++;
	g->mape += fabs(error);
	g->bias += error;
	g->max_abs = fmax(g->max_abs, fabs(error));
	return 0;
}

WEFT_COMPARATOR(group_compare, struct step_group, WEFT_TEXT(name));

/* Each row counts in its group and in that of all rows like it. */
static int groups_build(struct step_table *t, struct weft_error *err)
{
	t->groups = weft_calloc(2 * (size_t)t->n + 1, sizeof(*t->groups), err);
	if (!t->groups)
		return -1;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct step_answer *a = &t->answers[i];
		char all[sizeof(t->groups->name)];

		if (!step_is_judged(a))
			continue;
		snprintf(all, sizeof(all), "%s %s %s", a->row.gpu->name,
			 weft_precision_names[a->row.precision],
			 a->row.model.experts ? "MoE" : "dense");
		group_add(t, all, a->err);
		if (strcmp(all, a->row.group) != 0)
			group_add(t, a->row.group, a->err);
	}
	for (uint32_t i = 0; i < t->n_groups; i++) {
		t->groups[i].mape /= t->groups[i].n;
		t->groups[i].bias /= t->groups[i].n;
	}
	qsort(t->groups, t->n_groups, sizeof(*t->groups), group_compare);
	return 0;
}

int step_table_load(const char *path, const struct weft_step_options *options,
		    const struct step_constants *constants,
		    struct step_table *table, struct weft_error *err)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	memset(table, 0, sizeof(*table));
	snprintf(folder, sizeof(folder), "%.*s",
		 slash ? (int)(slash - path) + 1 : 0, path);
	if (csv_load(path, &table->csv, err) ||
	    step_columns_check(&table->csv, path, err))
		return -1;
	table->n = table->csv.n_rows;
	table->answers =
		weft_calloc(table->n + (size_t)1, sizeof(*table->answers), err);
	if (!table->answers)
		return -1;
	for (uint32_t i = 0; i < table->n; i++) {
		struct step_answer *a = &table->answers[i];

		a->err = (double)NAN;
		if (step_row_read(&table->csv, i, folder, options->gpu,
				  &a->row))
			continue;
		if (answer_fill(a, folder, options, constants))
			return weft_fail(err, WEFT_ENOMEM, "out of memory");
	}
	return groups_build(table, err);
}

void step_table_free(struct step_table *table)
{
	csv_free(&table->csv);
	free(table->answers);
	free(table->groups);
	memset(table, 0, sizeof(*table));
}

/* ---- constants ---- */

/* Predicted over measured of a GPU's rows, by kind of model; how many. */
static uint32_t ratios_find(const struct step_table *t,
			    const struct weft_gpu *gpu, bool moe, double *ratio)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct step_answer *a = &t->answers[i];

		if (step_is_judged(a) && a->row.gpu == gpu &&
		    (a->row.model.experts > 0) == moe)
			ratio[n++] = 1 + a->err;
	}
	return n;
}

int step_table_constants(const struct step_table *table,
			 struct step_constants *constants,
			 struct weft_error *err)
{
	double *ratio = weft_calloc(table->n + (size_t)1, sizeof(*ratio), err);
	int rc = 0;

	if (!ratio)
		return -1;
	for (uint32_t i = 0; i < weft_n_gpus && rc == 0; i++) {
		const struct weft_gpu *gpu = &weft_gpus[i];
		uint32_t n = ratios_find(table, gpu, false, ratio);

		/* Models with experts say less of the GPU. */
		if (n == 0) {
			n = ratios_find(table, gpu, true, ratio);
			n = n < MIN_MOE_ROWS ? 0 : n;
		}
		if (n)
			rc = step_constant_set(constants, gpu,
					       weft_median(ratio, n), n, err);
	}
	free(ratio);
	return rc;
}

/* ---- output ---- */

static json_t *json_row(const struct step_answer *a)
{
	const struct weft_step *step = &a->step;
	json_t *row = json_object();

	JSON_PUT(row, "row_id", a->row.id);
	if (!a->predicted) {
		JSON_PUT(row, "step_s", json_null());
		JSON_PUT(row, "tflops_gpu", json_null());
		JSON_PUT(row, "mfu_pct", json_null());
		JSON_PUT(row, "err_pct", json_null());
		JSON_PUT(row, "why", a->row.why);
		return row;
	}
	JSON_PUT(row, "step_s", step->step_s);
	JSON_PUT(row, "tflops_gpu", step->flops_per_s / 1e12);
	JSON_PUT(row, "mfu_pct", 100 * step->mfu);
	JSON_PUT(row, "hfu_pct", 100 * step->hfu);
	JSON_PUT(row, "err_pct", 100 * a->err);
	JSON_PUT(row, "measured_s",
		 a->row.measured_s > 0 ? json_real(a->row.measured_s)
				       : json_null());
	JSON_PUT(row, "group", a->row.group);
	JSON_PUT(row, "memory_bytes", a->memory_bytes);
	JSON_PUT(row, "fits", a->fits);
	JSON_PUT(row, "out_of_memory", a->row.out_of_memory);
	return row;
}

static json_t *json_constants(const struct step_constants *constants)
{
	json_t *object = json_object();

	for (uint32_t i = 0; i < constants->n; i++)
		JSON_PUT(object, constants->of[i].gpu->name,
			 constants->of[i].efficiency);
	return object;
}

/* Columns of a table of other models' errors. */
static const char *const other_names[] = {"baseline", "subset"};
static const char *const other_numbers[] = {"rows", "mape_pct", "bias_pct",
					    "max_abs_pct"};
#define N_OTHER_NAMES	(sizeof(other_names) / sizeof(other_names[0]))
#define N_OTHER_NUMBERS (sizeof(other_numbers) / sizeof(other_numbers[0]))

static json_t *json_others(const struct csv *others)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < others->n_rows; i++) {
		json_t *other = json_object();

		for (size_t k = 0; k < N_OTHER_NAMES; k++)
			JSON_PUT(other, other_names[k],
				 csv_cell(others, i, other_names[k]));
		for (size_t k = 0; k < N_OTHER_NUMBERS; k++) {
			const char *cell =
				csv_cell(others, i, other_numbers[k]);
			char *end;
			double value = strtod(cell, &end);

			JSON_PUT(other, other_numbers[k],
				 end == cell || *end ? (double)NAN : value);
		}
		json_array_append_new(list, other);
	}
	return list;
}

int step_table_json(const struct step_table *table,
		    const struct step_constants *constants,
		    const struct csv *others, struct weft_error *err)
{
	json_t *object = model_json("step");
	json_t *rows = json_array(), *groups = json_array();

	for (uint32_t i = 0; i < table->n; i++)
		json_array_append_new(rows, json_row(&table->answers[i]));
	for (uint32_t i = 0; i < table->n_groups; i++) {
		const struct step_group *g = &table->groups[i];

		json_array_append_new(
			groups, json_pack("{s:o, s:i, s:f, s:f, s:f}", "group",
					  report_string(g->name), "rows",
					  (int)g->n, "mape_pct", 100 * g->mape,
					  "bias_pct", 100 * g->bias,
					  "max_abs_pct", 100 * g->max_abs));
	}
	JSON_PUT(object, "rows", rows);
	JSON_PUT(object, "groups", groups);
	JSON_PUT(object, "efficiency", json_constants(constants));
	if (others->n_rows)
		JSON_PUT(object, "baselines", json_others(others));
	return report_print(object, err);
}

static void text_row(const struct step_answer *a)
{
	if (!a->predicted) {
		printf("%-8s %s\n", a->row.id, a->row.why);
		return;
	}
	printf("%-8s %10.4g s %8.1f TFLOP/s %5.1f %%", a->row.id,
	       a->step.step_s, a->step.flops_per_s / 1e12, 100 * a->step.mfu);
	if (step_is_judged(a))
		printf("  measured %10.4g s  %+6.1f %%", a->row.measured_s,
		       100 * a->err);
	printf("  %s\n", a->row.model.name);
}

static void text_others(const struct csv *others)
{
	char name[128];

	printf("\n%-60s rows   MAPE   bias    max\n", "other models");
	for (uint32_t i = 0; i < others->n_rows; i++) {
		snprintf(name, sizeof(name), "%s: %s",
			 csv_cell(others, i, "baseline"),
			 csv_cell(others, i, "subset"));
		printf("%-60s %4s %5s %% %5s %% %5s %%\n", name,
		       csv_cell(others, i, "rows"),
		       csv_cell(others, i, "mape_pct"),
		       csv_cell(others, i, "bias_pct"),
		       csv_cell(others, i, "max_abs_pct"));
	}
}

void step_table_text(const struct step_table *table,
		     const struct step_constants *constants,
		     const struct csv *others)
{
	puts("row        predicted      per GPU    MFU");
	for (uint32_t i = 0; i < table->n; i++)
		text_row(&table->answers[i]);
	for (uint32_t i = 0; i < constants->n; i++)
		printf("%s%s: efficiency %.4f\n", i ? "" : "\n",
		       constants->of[i].gpu->name, constants->of[i].efficiency);
	if (table->n_groups)
		printf("\n%-60s rows   MAPE   bias    max\n", "group");
	for (uint32_t i = 0; i < table->n_groups; i++) {
		const struct step_group *g = &table->groups[i];

		printf("%-60s %4u %5.2f %% %+5.2f %% %5.1f %%\n", g->name, g->n,
		       100 * g->mape, 100 * g->bias, 100 * g->max_abs);
	}
	if (others->n_rows)
		text_others(others);
}
