/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_job.h - one job as scontrol shows it */
#ifndef WEFT_CLI_SLURM_SLURM_JOB_H
#define WEFT_CLI_SLURM_SLURM_JOB_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SLURM_JOB_TEXT 1100 /* a comment that weft reads, and some */

/* Texts are "" where Slurm says nothing. */
struct slurm_job {
	char id[32], state[32];
	char reason[SLURM_JOB_TEXT]; /* underscores of ours as blanks */
	char spec[SLURM_JOB_TEXT];   /* of Comment or SystemComment */
	bool has_spec;
	char said[SLURM_JOB_TEXT];  /* weft's part of SystemComment */
	char nodes[SLURM_JOB_TEXT]; /* hostlist */
	char submitted[32], started[32];
	uint32_t min_nodes, max_nodes;
	uint32_t n_gpus, gpus_per_node; /* 0: not said */
	bool waits, runs;
};

/* Reads a one-line record of "scontrol --oneliner --details show job". */
void slurm_job_parse(const char *record, struct slurm_job *job);

/* Asks scontrol for a job; of an array or a heterogeneous job the first.  -1
 * with err: no such job, or no Slurm. */
int slurm_job_read(const char *id, struct slurm_job *job,
		   struct weft_error *err);

#endif
