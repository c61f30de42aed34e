/* SPDX-License-Identifier: GPL-3.0-or-later */
/* snapshot.h - the file of what the plugin knows, weft-status-file(5), read */
#ifndef WEFT_CLI_SLURM_SNAPSHOT_H
#define WEFT_CLI_SLURM_SNAPSHOT_H

#include "placement/capacity/occupancy.h"

#include <jansson.h>

/* The parts that others look at; NULL where the file lacks one. */
struct snapshot {
	json_t *root;
	json_t *decisions, *planning, *nodes, *jobs, *waiting, *troubles;
	const char *version, *fabric;
	double written_s;
	uint64_t generation;
};

/* -1 with err: no such file, or not of that format.  Free with snapshot_free in
 * either case. */
int snapshot_load(const char *path, struct snapshot *snapshot,
		  struct weft_error *err);
void snapshot_free(struct snapshot *snapshot);

/* Time that the decision on a job took; NAN: not known. */
double snapshot_decision_s(const struct snapshot *snapshot, const char *id);

/* What its nodes bring a job, as compared when it started, weft-plan(1); of the
 * snapshot.  NULL: not known. */
json_t *snapshot_gain(const struct snapshot *snapshot, const char *id);

/* The spec of a job that runs or waits, as the plugin read it; of the snapshot.
 * NULL: not known. */
const char *snapshot_spec(const struct snapshot *snapshot, const char *id);

#endif
