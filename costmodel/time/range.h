/* SPDX-License-Identifier: GPL-3.0-or-later */
/* range.h - between which factors of its prediction a measured step lies */
#ifndef WEFT_COSTMODEL_TIME_RANGE_H
#define WEFT_COSTMODEL_TIME_RANGE_H

#include "costmodel/job/gpu.h"
#include "costmodel/job/model.h"
#include "costmodel/job/spec.h"
#include "topology/fabric.h"

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

/* One run, or all alike that the ranges rest on: of a GPU, with experts or
 * dense, with parameters whole or in shards (zero=3). */
struct weft_seen {
	const char *gpu;
	bool experts, sharded;
	uint32_t n_runs, n_gpus; /* of the largest run */
	uint32_t tokens;	 /* of the longest sequence */
	uint32_t widths;	 /* of products: bits 1 << weft_precision */
	bool between; /* a group of experts leaves its NVLink domain */
};
extern const struct weft_seen weft_seen[];
extern const uint32_t weft_n_seen;

/* A run of the resolved spec on that fabric. */
struct weft_seen weft_run_of(const struct weft_gpu *gpu,
			     const struct weft_spec *spec,
			     const struct weft_model *model,
			     const struct weft_fabric *fabric);

bool weft_seen_alike(const struct weft_seen *a, const struct weft_seen *b);

#define WEFT_UNSEEN_SIZE 256

/* Says in what no published run is like this one, so that the range is not
 * known to hold; false, and text is "", where some are in all.  size:
 * WEFT_UNSEEN_SIZE holds any. */
bool weft_unseen(const struct weft_seen *run, char *text, size_t size);

#endif
