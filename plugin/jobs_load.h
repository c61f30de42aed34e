/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs_load.h - following what running jobs send over shared links */
#ifndef WEFT_PLUGIN_JOBS_LOAD_H
#define WEFT_PLUGIN_JOBS_LOAD_H

#include "plugin/slurm/stock.h"

/* The job runs its spec (NULL, or one that cannot be used: one data-parallel
 * group) on where[n_gpus], in rank order. */
void weft_jobs_load_started(const job_record_t *job, const char *spec,
			    const uint32_t *where, uint32_t n_gpus);

/* The job has ended, or is not what it was. */
void weft_jobs_load_ended(const job_record_t *job);

/* After a restart: looks at all jobs that run.  What threads find of these, and
 * of large jobs that have started, counts from the next weft_jobs_load_go_on
 * on. */
void weft_jobs_load_rebuild(void);
void weft_jobs_load_go_on(void);
void weft_jobs_load_forget(void);

#endif
