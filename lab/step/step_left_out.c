/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_left_out.c - how far off the step is for runs that chose no constant
 *
 * The efficiency of a GPU is the one figure that step times choose.  Each
 * publisher's rows are predicted with the constants of all others' rows, as a
 * stranger's run is; the range in which its step is expected is that of the
 * others' errors.
 */
#include "base/compare.h"
#include "cli/report.h"
#include "costmodel/time/range.h"
#include "lab/model/model.h"
#include "lab/step/step_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of a kind that a range may rest on. */
#define MIN_RANGE_ROWS 10
#define TAIL	       0.1

struct left_out {
	struct step_group *groups; /* [n] */
	uint32_t n;
	struct weft_range ranges[WEFT_N_RUNS];
	struct weft_seen *seen; /* [n_seen] */
	uint32_t n_seen;
};

/* The table's rows that are (not) of the publisher, their texts borrowed;
 * answers are freed by the caller. */
static int part_of(const struct step_table *table, const char *publisher,
		   bool of_it, struct step_table *part, struct weft_error *err)
{
	*part = (struct step_table){0};
	part->answers =
		weft_calloc(table->n + (size_t)1, sizeof(*part->answers), err);
	if (!part->answers)
		return -1;
	for (uint32_t i = 0; i < table->n; i++) {
		const struct step_answer *a = &table->answers[i];

		if (step_is_judged(a) &&
		    (strcmp(a->row.publisher, publisher) == 0) == of_it)
			part->answers[part->n++] = *a;
	}
	return 0;
}

/* Figures of each row of a table; those of rows that are not judged are 0. */
struct judged {
	double *errors; /* with constants of other publishers' rows */
	double *own;	/* with constants of its publisher's */
	double *inside; /* 1: in the range of other publishers' errors */
};

/* Errors that the rows of a publisher have with constants of others' rows, and
 * with its own. */
static int publisher_judge(const struct step_table *table, const char *name,
			   const struct judged *judged, struct weft_error *err)
{
	struct step_table its = {0}, others = {0};
	struct step_constants theirs = {0}, mine = {0};
	int rc = -1;

	if (part_of(table, name, true, &its, err) == 0 &&
	    part_of(table, name, false, &others, err) == 0 &&
	    step_table_constants(&others, &theirs, err) == 0 &&
	    step_table_constants(&its, &mine, err) == 0)
		rc = 0;
	for (uint32_t i = 0; rc == 0 && i < table->n; i++) {
		const struct step_answer *a = &table->answers[i];
		double ratio = 1 + a->err;

		if (!step_is_judged(a) || strcmp(a->row.publisher, name) != 0)
			continue;
		judged->errors[i] =
			ratio / step_constant(&theirs, a->row.gpu) - 1;
		judged->own[i] = ratio / step_constant(&mine, a->row.gpu) - 1;
	}
	free(its.answers);
	free(others.answers);
	return rc;
}

static enum weft_run run_of(const struct step_row *row)
{
	return weft_run_kind(&row->spec, &row->model);
}

/* Whose errors a row's is one of: its publisher's; of models with experts,
 * which nearly all have one publisher, its model's. */
static const char *origin_of(const struct step_row *row)
{
	return row->model.experts ? row->model.name : row->publisher;
}

/* Measured over predicted, and what the run counts. */
struct factor {
	double value, weight;
};

WEFT_COMPARATOR(factor_compare, struct factor, WEFT_UP(value));

static bool counts(const struct step_table *table, uint32_t i,
		   const char *without, enum weft_run run)
{
	const struct step_row *row = &table->answers[i].row;

	return step_is_judged(&table->answers[i]) && run_of(row) == run &&
	       !(without && strcmp(origin_of(row), without) == 0);
}

/* What all runs of an origin count together is 1. */
static double weight_of(const struct step_table *table, uint32_t i,
			const char *without, enum weft_run run)
{
	const char *origin = origin_of(&table->answers[i].row);
	uint32_t n = 0;

	for (uint32_t k = 0; k < table->n; k++)
		n += counts(table, k, without, run) &&
		     strcmp(origin_of(&table->answers[k].row), origin) == 0;
	return 1.0 / n;
}

/* The value below which `share` of the weight lies. */
static double quantile(const struct factor *factor, uint32_t n, double share)
{
	double all = 0, sum = 0;
	uint32_t i = 0;

	for (uint32_t k = 0; k < n; k++)
		all += factor[k].weight;
	for (sum = factor[0].weight; sum < share * all && i + 1 < n;)
		sum += factor[++i].weight;
	return factor[i].value;
}

/* Share of the runs beyond an end of the range, so that a tenth of those of one
 * more origin is: the next run is one of n + 1 origins (Hazen's plotting
 * positions). */
static double tail_of(const struct factor *factor, uint32_t n)
{
	double origins = 0;

	for (uint32_t k = 0; k < n; k++)
		origins += factor[k].weight;
	return fmax(0, (TAIL * (origins + 1) - 0.5) / origins);
}

/* Between which factors eight of ten runs of a kind lie, without those of one
 * origin (NULL: of all). */
static int range_find(const struct step_table *table, const char *without,
		      enum weft_run run, const double *errors,
		      struct weft_range *range, struct weft_error *err)
{
	struct factor *factor =
		weft_calloc(table->n + (size_t)1, sizeof(*factor), err);
	uint32_t n = 0;

	*range = weft_ranges[run];
	if (!factor)
		return -1;
	for (uint32_t i = 0; i < table->n; i++) {
		if (!counts(table, i, without, run))
			continue;
		factor[n].value = 1 / (1 + errors[i]);
		factor[n++].weight = weight_of(table, i, without, run);
	}
	qsort(factor, n, sizeof(*factor), factor_compare);
	if (n >= MIN_RANGE_ROWS) {
		double tail = tail_of(factor, n);

		range->low = quantile(factor, n, tail);
		range->high = quantile(factor, n, 1 - tail);
	}
	free(factor);
	return 0;
}

/* Whether each run of the origin lies in the range of others' runs. */
static int inside_find(const struct step_table *table, const char *origin,
		       const double *errors, double *inside,
		       struct weft_error *err)
{
	struct weft_range ranges[WEFT_N_RUNS];

	for (int run = 0; run < WEFT_N_RUNS; run++) {
		if (range_find(table, origin, (enum weft_run)run, errors,
			       &ranges[run], err))
			return -1;
	}
	for (uint32_t i = 0; i < table->n; i++) {
		const struct step_row *row = &table->answers[i].row;
		const struct weft_range *range;

		if (!step_is_judged(&table->answers[i]) ||
		    strcmp(origin_of(row), origin) != 0)
			continue;
		range = &ranges[run_of(row)];
		inside[i] = 1 / (1 + errors[i]) >= range->low &&
			    1 / (1 + errors[i]) <= range->high;
	}
	return 0;
}

/* Sums the rows of a publisher (NULL: of all) and kind of model into *g. */
static int group_sum(const struct step_table *table, const char *publisher,
		     bool experts, const struct judged *judged,
		     struct step_group *g, struct weft_error *err)
{
	double *size = weft_calloc(table->n + (size_t)1, sizeof(*size), err);

	if (!size)
		return -1;
	snprintf(g->name, sizeof(g->name), "%s, %s",
		 publisher ? publisher : "all", experts ? "experts" : "dense");
	for (uint32_t i = 0; i < table->n; i++) {
		const struct step_row *row = &table->answers[i].row;

		if (!step_is_judged(&table->answers[i]) ||
		    (row->model.experts > 0) != experts ||
		    (publisher && strcmp(row->publisher, publisher) != 0))
			continue;
		size[g->n++] = fabs(judged->errors[i]);
		g->mape += fabs(judged->errors[i]);
		g->bias += judged->errors[i];
		g->own += fabs(judged->own[i]);
		g->inside += judged->inside[i];
	}
	g->median_abs = weft_median(size, g->n);
	if (g->n) {
		g->max_abs = size[g->n - 1];
		g->mape /= g->n;
		g->bias /= g->n;
		g->own /= g->n;
		g->inside /= g->n;
	}
	free(size);
	return 0;
}

static const char *publisher_of(const struct step_row *row)
{
	return row->publisher;
}

/* Names of the publishers or origins, sorted, each once; how many. */
static uint32_t names_find(const struct step_table *table,
			   const char *(*name_of)(const struct step_row *),
			   const char **names)
{
	uint32_t n_rows = 0, n = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		if (step_is_judged(&table->answers[i]))
			names[n_rows++] = name_of(&table->answers[i].row);
	}
	qsort(names, n_rows, sizeof(*names), weft_compare_texts);
	for (uint32_t i = 0; i < n_rows; i++) {
		if (n == 0 || strcmp(names[i], names[n - 1]) != 0)
			names[n++] = names[i];
	}
	return n;
}

static int groups_fill(const struct step_table *table,
		       const struct judged *judged, const char **names,
		       struct left_out *all, struct weft_error *err)
{
	uint32_t n = names_find(table, publisher_of, names);
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = publisher_judge(table, names[i], judged, err);
	n = names_find(table, origin_of, names);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = inside_find(table, names[i], judged->errors,
				 judged->inside, err);
	n = names_find(table, publisher_of, names);
	for (uint32_t i = 0; i <= 2 * n + 1 && rc == 0; i++) {
		struct step_group *g = &all->groups[all->n];

		rc = group_sum(table, i / 2 < n ? names[i / 2] : NULL, i % 2,
			       judged, g, err);
		all->n += g->n > 0;
	}
	for (int run = 0; run < WEFT_N_RUNS && rc == 0; run++)
		rc = range_find(table, NULL, (enum weft_run)run, judged->errors,
				&all->ranges[run], err);
	return rc;
}

/* all->groups is freed by the caller in either case. */
static int leave_out(const struct step_table *table, struct left_out *all,
		     struct weft_error *err)
{
	size_t rows = table->n + (size_t)1;
	const char **names = weft_calloc(rows, sizeof(*names), err);
	struct judged judged = {
		.errors = weft_calloc(rows, sizeof(double), err),
		.own = weft_calloc(rows, sizeof(double), err),
		.inside = weft_calloc(rows, sizeof(double), err),
	};
	int rc = -1;

	all->groups = weft_calloc(2 * rows, sizeof(*all->groups), err);
	if (names && judged.errors && judged.own && judged.inside &&
	    all->groups)
		rc = groups_fill(table, &judged, names, all, err);
	free(names);
	free(judged.errors);
	free(judged.own);
	free(judged.inside);
	return rc;
}

static json_t *unread_json(const struct step_table *table)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < table->n; i++) {
		const struct step_row *row = &table->answers[i].row;

		if (!table->answers[i].predicted)
			json_array_append_new(
				list, json_pack("{s:o, s:o}", "row_id",
						report_string(row->id), "why",
						report_string(row->why)));
	}
	return list;
}

static void seen_add(struct weft_seen *all, const struct weft_seen *run)
{
	all->n_runs += run->n_runs;
	if (run->n_gpus > all->n_gpus)
		all->n_gpus = run->n_gpus;
	if (run->tokens > all->tokens)
		all->tokens = run->tokens;
	all->widths |= run->widths;
	all->between |= run->between;
}

WEFT_COMPARATOR(seen_compare, struct weft_seen,
		WEFT_TEXT(gpu) WEFT_UP(experts) WEFT_UP(sharded));

/* What the table's judged runs of each GPU and kind span, as weft_seen has it;
 * freed by the caller.  NULL with err. */
static struct weft_seen *seen_gather(const struct step_table *table,
				     uint32_t *n, struct weft_error *err)
{
	struct weft_seen *seen =
		weft_calloc(table->n + (size_t)1, sizeof(*seen), err);

	*n = 0;
	for (uint32_t i = 0; seen && i < table->n; i++) {
		const struct step_answer *a = &table->answers[i];
		uint32_t k = 0;

		if (!step_is_judged(a))
			continue;
		while (k < *n && !weft_seen_alike(&seen[k], &a->run))
			k++;
		if (k == *n)
			seen[(*n)++] = a->run;
		else
			seen_add(&seen[k], &a->run);
	}
	if (seen)
		qsort(seen, *n, sizeof(*seen), seen_compare);
	return seen;
}

/* Whether weft_seen says the same of runs like these. */
static bool is_told(const struct weft_seen *seen)
{
	for (uint32_t i = 0; i < weft_n_seen; i++) {
		const struct weft_seen *told = &weft_seen[i];

		if (weft_seen_alike(told, seen))
			return told->n_runs == seen->n_runs &&
			       told->n_gpus == seen->n_gpus &&
			       told->tokens == seen->tokens &&
			       told->widths == seen->widths &&
			       told->between == seen->between;
	}
	return false;
}

static json_t *widths_json(uint32_t widths)
{
	json_t *list = json_array();

	for (int p = 0; p < WEFT_N_PRECISIONS; p++) {
		if (widths & 1u << p)
			json_array_append_new(
				list, json_string(weft_precision_names[p]));
	}
	return list;
}

static json_t *seen_json(const struct left_out *all)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < all->n_seen; i++) {
		const struct weft_seen *s = &all->seen[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:b, s:b, s:I, s:I, s:I, s:o, s:b, "
				  "s:b}",
				  "gpu", s->gpu, "experts", s->experts,
				  "sharded", s->sharded, "rows",
				  (json_int_t)s->n_runs, "gpus",
				  (json_int_t)s->n_gpus, "tokens",
				  (json_int_t)s->tokens, "widths",
				  widths_json(s->widths), "between", s->between,
				  "told", is_told(s)));
	}
	return list;
}

static void seen_text(const struct left_out *all)
{
	puts("\nruns seen                            rows   GPUs   tokens  "
	     "products");
	for (uint32_t i = 0; i < all->n_seen; i++) {
		const struct weft_seen *s = &all->seen[i];

		printf("%-6s %-8s %-19s %5u %6u %8u ", s->gpu,
		       s->experts ? "experts," : "dense,",
		       s->sharded ? "zero=3" : "whole parameters", s->n_runs,
		       s->n_gpus, s->tokens);
		for (int p = 0; p < WEFT_N_PRECISIONS; p++) {
			if (s->widths & 1u << p)
				printf(" %s", weft_precision_names[p]);
		}
		puts(s->between ? ", experts beyond an NVLink domain" : "");
	}
}

static void rest_json(const struct step_memory *memory,
		      const struct step_sweeps *sweeps, json_t *object)
{
	JSON_PUT(object, "sweeps",
		 json_pack("{s:i, s:i, s:f, s:f}", "pairs",
			   (int)sweeps->n_pairs, "sweeps",
			   (int)sweeps->n_sweeps, "right_pct",
			   100 * sweeps->right, "pick_loss_pct",
			   100 * sweeps->loss));
	JSON_PUT(object, "memory",
		 json_pack("{s:i, s:i, s:f, s:f}", "out_of_memory",
			   (int)memory->n_out, "ran", (int)memory->n_ran,
			   "called_fitting_pct", 100 * memory->called_fitting,
			   "false_alarms_pct", 100 * memory->false_alarms));
}

static int groups_json(const struct step_table *table,
		       const struct left_out *all,
		       const struct step_sweeps *sweeps, struct weft_error *err)
{
	struct step_memory memory = step_table_memory(table);
	json_t *object = model_json("step"), *list = json_array();
	json_t *ranges = json_array();

	for (uint32_t i = 0; i < all->n; i++) {
		const struct step_group *g = &all->groups[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:f}",
				  "publisher", report_string(g->name), "rows",
				  (int)g->n, "median_abs_pct",
				  100 * g->median_abs, "mape_pct",
				  100 * g->mape, "bias_pct", 100 * g->bias,
				  "max_abs_pct", 100 * g->max_abs,
				  "own_constant_mape_pct", 100 * g->own,
				  "inside_pct", 100 * g->inside));
	}
	for (int run = 0; run < WEFT_N_RUNS; run++)
		json_array_append_new(
			ranges, json_pack("{s:s, s:f, s:f, s:f, s:f}", "runs",
					  weft_run_names[run], "low",
					  all->ranges[run].low, "high",
					  all->ranges[run].high, "told_low",
					  weft_ranges[run].low, "told_high",
					  weft_ranges[run].high));
	JSON_PUT(object, "publishers", list);
	JSON_PUT(object, "ranges", ranges);
	JSON_PUT(object, "seen", seen_json(all));
	rest_json(&memory, sweeps, object);
	JSON_PUT(object, "left_out", unread_json(table));
	return report_print(object, err);
}

static void groups_text(const struct left_out *all)
{
	puts("constants from all publishers but   rows  median   mean    bias"
	     "    max  own constant  in range");
	for (uint32_t i = 0; i < all->n; i++) {
		const struct step_group *g = &all->groups[i];

		printf("%-35s %5u %5.1f %% %5.1f %% %+5.1f %% %5.1f %%  "
		       "%11.1f %% %8.0f %%\n",
		       g->name, g->n, 100 * g->median_abs, 100 * g->mape,
		       100 * g->bias, 100 * g->max_abs, 100 * g->own,
		       100 * g->inside);
	}
	puts("\nmeasured over predicted, eight of ten runs");
	for (int run = 0; run < WEFT_N_RUNS; run++)
		printf("%-35s %.2f to %.2f, told as %.2f to %.2f\n",
		       weft_run_names[run], all->ranges[run].low,
		       all->ranges[run].high, weft_ranges[run].low,
		       weft_ranges[run].high);
}

/* Rows that no figure is of. */
static void unread_text(const struct step_table *table)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < table->n; i++) {
		const struct step_row *row = &table->answers[i].row;

		if (table->answers[i].predicted)
			continue;
		printf("%sleft out: %s, %s\n", n++ ? "" : "\n", row->id,
		       row->why);
	}
}

static void rest_text(const struct step_memory *memory,
		      const struct step_sweeps *sweeps)
{
	if (sweeps->n_pairs)
		printf("\n%u pairs in %u sweeps: %.0f %% in the right order; "
		       "the pick is %.1f %% slower than the best\n",
		       sweeps->n_pairs, sweeps->n_sweeps, 100 * sweeps->right,
		       100 * sweeps->loss);
	if (memory->n_out)
		printf("%u runs out of memory: %.0f %% called fitting; %u that "
		       "ran: %.0f %% called too large\n",
		       memory->n_out, 100 * memory->called_fitting,
		       memory->n_ran, 100 * memory->false_alarms);
}

int step_table_print_left_out(const struct step_table *table, bool json,
			      struct weft_error *err)
{
	struct left_out all = {0};
	struct step_sweeps sweeps = {0};
	int rc = leave_out(table, &all, err);

	all.seen = rc == 0 ? seen_gather(table, &all.n_seen, err) : NULL;
	rc = all.seen ? step_table_sweeps(table, &sweeps, err) : -1;
	if (rc == 0 && json)
		rc = groups_json(table, &all, &sweeps, err);
	else if (rc == 0) {
		struct step_memory memory = step_table_memory(table);

		groups_text(&all);
		seen_text(&all);
		rest_text(&memory, &sweeps);
		unread_text(table);
	}
	free(all.groups);
	free(all.seen);
	return rc;
}
