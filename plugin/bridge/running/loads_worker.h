/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loads_worker.h - what running jobs send, found by a thread: no Slurm types
 *
 * For a job of 65,536 GPUs that takes some 30 ms of a processor, and for all
 * that run after a restart seconds: too long for Slurm's locks.
 */
#ifndef WEFT_PLUGIN_BRIDGE_RUNNING_LOADS_WORKER_H
#define WEFT_PLUGIN_BRIDGE_RUNNING_LOADS_WORKER_H

#include "costmodel/time/load.h"
#include "plugin/bridge/files/settings.h"

/* Loads of jobs of so many GPUs at most are found in half a millisecond, at
 * once. */
#define WEFT_LOADS_AT_ONCE 1600

/* A job that runs its spec (NULL, or one that cannot be used: one data-parallel
 * group) on where[n_gpus], in rank order; WEFT_NONE: a GPU that the fabric does
 * not know. */
struct weft_loads_job {
	uint32_t job_id, n_gpus;
	char *spec;
	uint32_t *where;
	/* found by the thread */
	bool known;
	struct weft_load_parts parts;
};
struct weft_loads_jobs {
	uint32_t n;
	struct weft_loads_job *jobs; /* [n] */
};

/* With room for n jobs, filled by weft_loads_jobs_add, which copies.  Both
 * return -1 with err when out of memory. */
int weft_loads_jobs_build(uint32_t n, struct weft_loads_jobs *jobs,
			  struct weft_error *err);
int weft_loads_jobs_add(struct weft_loads_jobs *jobs, uint32_t job_id,
			const char *spec, const uint32_t *where,
			uint32_t n_gpus, struct weft_error *err);
void weft_loads_jobs_free(struct weft_loads_jobs *jobs);

struct weft_loads_worker;

/* Takes over the jobs, also on failure, and keeps the settings.  NULL with
 * err. */
struct weft_loads_worker *
weft_loads_worker_start(struct weft_settings *settings,
			struct weft_loads_jobs *jobs, struct weft_error *err);

/* Waits limit_s at most; true: *jobs are the caller's now, and the worker is
 * gone. */
bool weft_loads_worker_take(struct weft_loads_worker *worker, double limit_s,
			    struct weft_loads_jobs *jobs);

/* What it finds is of no use any more.  NULL is none. */
void weft_loads_worker_leave(struct weft_loads_worker *worker);

#endif
