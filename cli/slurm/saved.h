/* SPDX-License-Identifier: GPL-3.0-or-later */
/* saved.h - what the plugin decided on jobs that started, of its file of
 * records, weft-status-file(5): the report that an admin decides by
 */
#ifndef WEFT_CLI_SLURM_SAVED_H
#define WEFT_CLI_SLURM_SAVED_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

struct saved {
	char *path;
	/* Records of jobs in the order of their starts, with "end_s" once they
	 * have ended. */
	json_t *jobs;
	uint32_t n_broken; /* lines that are no record */
};

/* Reads PATH.1, where there is one, and the file at path (NULL: where Slurm's
 * StateSaveLocation has it).  Free with saved_free in either case. */
int saved_load(const char *path, struct saved *saved, struct weft_error *err);
void saved_free(struct saved *saved);

/* Sums over jobs; times are of those that have ended. */
struct saved_sum {
	uint32_t n_jobs, n_compared;
	double gpu_s, compared_gpu_s;
	/* What weft's nodes save against stock's; of jobs whose step was not
	 * predicted, at most. */
	double saved_gpu_s, at_most_gpu_s;
};

/* What is only observed, and what weft acted on. */
enum saved_mode { SAVED_OBSERVE, SAVED_PLACE, SAVED_N_MODES };
extern const char *const saved_mode_names[SAVED_N_MODES];

/* Share of stock's step that weft's choice saves; NAN: not compared. */
double saved_gain(json_t *job);

/* Over the jobs that started in [from_s, to_s). */
void saved_sum(const struct saved *saved, enum saved_mode mode, double from_s,
	       double to_s, struct saved_sum *sum);

void saved_text(const struct saved *saved);
/* The weeks as a table of a page. */
void saved_html(const struct saved *saved);
/* {"schema": "weft.saved/1", ...} */
int saved_json(const struct saved *saved, struct weft_error *err);

#endif
