/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_table.h - predicting each run of a table, and how far off */
#ifndef WEFT_LAB_STEP_STEP_TABLE_H
#define WEFT_LAB_STEP_STEP_TABLE_H

#include "base/error.h"
#include "costmodel/time/range.h"
#include "lab/step/step_row.h"

#include <math.h>
#include <stdbool.h>

#define STEP_MAX_CONSTANTS 32

/* One factor per GPU: its steps take 1/efficiency of what is predicted. */
struct step_constants {
	uint32_t n;
	struct {
		const struct weft_gpu *gpu;
		double efficiency;
		uint32_t n_rows; /* that it was found from; 0: given */
	} of[STEP_MAX_CONSTANTS];
};

/* 1 where there is none. */
double step_constant(const struct step_constants *constants,
		     const struct weft_gpu *gpu);
int step_constant_set(struct step_constants *constants,
		      const struct weft_gpu *gpu, double efficiency,
		      uint32_t n_rows, struct weft_error *err);

struct step_answer {
	struct step_row row;
	struct weft_step step;
	struct weft_seen run;
	bool predicted;	     /* else row.why */
	double memory_bytes; /* of the fullest GPU */
	bool fits;	     /* in the GPU's memory */
	double err;	     /* predicted over measured, less 1; NAN */
};

/* Predicted, and measured. */
static inline bool step_is_judged(const struct step_answer *a)
{
	return !isnan(a->err);
}

/* Rows of one group, or of all groups of a GPU and kind of model. */
struct step_group {
	char name[96];
	uint32_t n;
	double mape, bias, max_abs; /* shares, not percent */
	/* Of a publisher left out: likewise; the mean with a constant of its
	 * own; the share of rows in the range that others' errors say. */
	double median_abs, own, inside;
};

struct step_table {
	struct csv csv;
	uint32_t n, n_groups;
	struct step_answer *answers; /* [n] */
	struct step_group *groups;   /* [n_groups] by name, sums first */
};

/* Reads a table and predicts its rows; options->gpu is that of rows which
 * name none, precision is the rows'.  Free with step_table_free in either case.
 */
int step_table_load(const char *path, const struct weft_step_options *options,
		    const struct step_constants *constants,
		    struct step_table *table, struct weft_error *err);
void step_table_free(struct step_table *table);

/* The constant of each GPU in the table: the median of predicted over measured,
 * of dense models where there are any; else of three or more with experts. */
int step_table_constants(const struct step_table *table,
			 struct step_constants *constants,
			 struct weft_error *err);

/* Of runs that ran out of memory, and of those that did not: how many, and the
 * shares for which the estimate says the opposite. */
struct step_memory {
	uint32_t n_out, n_ran;
	double called_fitting, false_alarms;
};
struct step_memory step_table_memory(const struct step_table *table);

/* Of one job's runs with other layouts: pairs whose steps differ by more than
 * 5 %, and the share of them that are predicted in their order; how much longer
 * the run takes that is predicted to be the fastest, in the mean of sweeps. */
struct step_sweeps {
	uint32_t n_pairs, n_sweeps;
	double right, loss;
};
int step_table_sweeps(const struct step_table *table, struct step_sweeps *sum,
		      struct weft_error *err);

/* Prints how far off each publisher's rows are with the constants of all
 * others' rows, which they did not choose; as text or as JSON "publishers". */
int step_table_print_left_out(const struct step_table *table, bool json,
			      struct weft_error *err);

/* `others` has the errors of other models, as
 * baseline,subset,rows,mape_pct,bias_pct,max_abs_pct; or no rows. */
int step_table_json(const struct step_table *table,
		    const struct step_constants *constants,
		    const struct csv *others, struct weft_error *err);
void step_table_text(const struct step_table *table,
		     const struct step_constants *constants,
		     const struct csv *others);

#endif
