/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_jobs.h - the jobs that the running Slurm says are running */
#ifndef WEFT_CLI_SLURM_SLURM_JOBS_H
#define WEFT_CLI_SLURM_SLURM_JOBS_H

#include "placement/capacity/running.h"

#include <stdio.h>
#include <time.h>

/* Runs "scontrol --oneliner --details show job" and lists the running jobs that
 * have GPUs of the fabric, with what their comment says of them
 * ("weft:SPEC", or the plugin's own).  Free with weft_running_free in either
 * case. */
int slurm_jobs_read(struct weft_occupancy *o, struct weft_running_list *list,
		    struct weft_error *err);

/* The same from a stream in that command's format; for tests.  now: what
 * remains of a job counts from then. */
int slurm_jobs_parse(struct weft_occupancy *o, FILE *in, const char *source,
		     time_t now, struct weft_running_list *list,
		     struct weft_error *err);

#endif
