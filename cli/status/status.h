/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.h - the running Slurm as weft status sees it */
#ifndef WEFT_CLI_STATUS_STATUS_H
#define WEFT_CLI_STATUS_STATUS_H

#include "cli/slurm/promises.h"
#include "cli/slurm/saved.h"
#include "cli/slurm/site.h"
#include "cli/slurm/slurm_job.h"
#include "cli/slurm/snapshot.h"
#include "cli/status/room.h"
#include "placement/capacity/running.h"

struct status {
	struct site site;
	struct weft_fabric *fabric;
	struct weft_occupancy occupancy;
	struct weft_running_list running;
	uint32_t n_closed;	 /* nodes that take no jobs */
	uint32_t n_powered_down; /* that take jobs, once they are up */
	struct room room;
	uint32_t n_waiting;
	struct slurm_job *waiting; /* those that ask for GPUs */
	struct snapshot snapshot;  /* root NULL: none */
	char no_snapshot[200];	   /* why */
	struct promises promises;
};

void status_text(const struct status *status);
/* {"schema": "weft.status/1", ...} */
int status_json(const struct status *status, struct weft_error *err);

/* prometheus.c: the status and the last week's records (NULL: not known), as a
 * text file for Prometheus' node_exporter, into path in one step, "-": standard
 * output. */
int prometheus_write(const struct status *status, const struct saved *saved,
		     const char *path, struct weft_error *err);

#endif
