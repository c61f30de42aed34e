/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.h - what plan and score share: a fabric, its state, a job */
#ifndef WEFT_CLI_PLAN_REQUEST_H
#define WEFT_CLI_PLAN_REQUEST_H

#include "cli/option.h"
#include "costmodel/job/gpu.h"
#include "placement/capacity/occupancy.h"
#include "placement/capacity/running.h"
#include "placement/job.h"
#include "placement/objective/objective.h"

#include <stdbool.h>

struct request {
	/* options */
	const char *fabric_path, *job_text, *busy, *state;
	const char *require, *exclude;
	const struct weft_gpu *gpu; /* NULL: the fabric's */
	bool json;
	bool all_ranks; /* in the text: a line for each node */
	int goal;	/* enum weft_goal + 1; 0: the spec's */
	double fragmentation;
	bool alone; /* other jobs' traffic does not count */
	/* made from them by request_open */
	struct weft_fabric *fabric;
	struct weft_occupancy occupancy;
	struct weft_running_list running; /* what the state says */
	struct weft_job job;
	struct weft_objective objective;
	/* made by request_contend */
	struct weft_load load;
	uint32_t n_silent; /* running jobs that the load does not have */
};

/* --fabric, --job, --busy, --state, --nodelist, --exclude, --gpu, --objective,
 * --fragmentation, --contention, --json, and an argument, which is the fabric;
 * shared by commands whose question begins with a struct request. */
extern const struct command_line request_line;

/* Builds the job of --job, with the files that it names; an error of the text
 * is named after the option.  f may be NULL. */
int request_job_build(const char *text, const struct weft_fabric *f,
		      struct weft_job *job, struct weft_error *err);

/* Loads and builds all of it, without a job where job_text is NULL.  -1 with
 * err; request_close in either case. */
int request_open(struct request *request, struct weft_error *err);

/* Gives the objective the load of the running jobs, unless there are none or
 * they shall not count; not of those on one of the GPUs where[n], which cannot
 * run beside the job.  The request must not move from then on. */
int request_contend(struct request *request, const uint32_t *where, uint32_t n,
		    struct weft_error *err);
void request_close(struct request *request);

#endif
