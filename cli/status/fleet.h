/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet.h - a cluster and its jobs as a page */
#ifndef WEFT_CLI_STATUS_FLEET_H
#define WEFT_CLI_STATUS_FLEET_H

#include "cli/slurm/saved.h"
#include "cli/status/status.h"
#include "placement/capacity/running.h"
#include "topology/fabric.h"

/* ---- how full domains were, from the plugin's records of jobs ---- */

#define HISTORY_BINS   200
#define HISTORY_LONG_S (28 * 86400.0) /* older jobs are left out */

/* At the end of each bin. */
struct history {
	const struct weft_fabric *f;
	double from_s, bin_s;
	uint32_t level;	 /* the outermost of several domains */
	uint32_t *taken; /* [n_domains][HISTORY_BINS] GPUs that jobs had */
	uint32_t free[HISTORY_BINS];	/* GPUs */
	uint32_t whole[HISTORY_BINS];	/* of these in nodes without a job */
	uint32_t largest[HISTORY_BINS]; /* GPUs of the largest job inside one
					 * domain of the level */
	uint32_t n_jobs, n_unplaced;	/* whose nodes the records lack */
};

/* Records of jobs that started in the last HISTORY_LONG_S before until_s, and
 * of those that had not ended by then.  A job without an end runs until
 * until_s; where running says what runs (NULL: not known), only if it is there.
 * No job: n_jobs is 0.  -1 with err.  Free with history_free in
 * either case. */
int history_build(const struct weft_fabric *f, const struct saved *saved,
		  double until_s, const struct weft_running_list *running,
		  struct history *h, struct weft_error *err);
void history_free(struct history *h);

struct fleet {
	const struct weft_fabric *fabric;
	const char *fabric_path;
	const struct status *now;    /* NULL: Slurm was not asked */
	const struct saved *records; /* NULL: they cannot be read */
};

/* To standard output; -1 with err. */
int fleet_html(const struct fleet *fleet, struct weft_error *err);
/* What domains held over time, as two pictures in SVG. */
void fleet_history(const struct history *h);

#endif
