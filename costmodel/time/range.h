/* SPDX-License-Identifier: GPL-3.0-or-later */
/* range.h - between which factors of its prediction a measured step lies */
#ifndef WEFT_COSTMODEL_TIME_RANGE_H
#define WEFT_COSTMODEL_TIME_RANGE_H

#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"

/* Kinds of runs whose errors are alike. */
enum weft_run {
	WEFT_RUN_DENSE,
	WEFT_RUN_LONG, /* dense, sequences of more than 16,384 tokens */
	WEFT_RUN_EXPERTS,
	WEFT_N_RUNS
};
extern const char *const weft_run_names[WEFT_N_RUNS];

/* Of ten runs of a publisher whose runs chose no constant, one measured step is
 * below low times the predicted one, and one above high times it. */
struct weft_range {
	double low, high;
};
extern const struct weft_range weft_ranges[WEFT_N_RUNS];

/* The spec is resolved; its seq 0 is the model's. */
enum weft_run weft_run_kind(const struct weft_spec *spec,
			    const struct weft_model *model);

#endif
