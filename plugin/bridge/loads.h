/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loads.h - what running jobs send over shared links, job by job, and what ill
 * links leave of themselves: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LOADS_H
#define WEFT_PLUGIN_BRIDGE_LOADS_H

#include "costmodel/health.h"
#include "costmodel/load.h"

struct weft_job_load;

/* total: of all jobs, and ill links as if jobs that never end took what is
 * missing of them. */
struct weft_loads {
	struct weft_load total;
	double *up, *down; /* [n_domains] of the jobs alone */
	uint32_t *n_jobs;  /* [n_domains] */
	const double *ill; /* [n_domains] as weft_health.link, or NULL */
	double *work[2];   /* [n_domains] all zeros between calls */
	uint32_t n, room;  /* jobs */
	uint32_t *ids;	   /* [n] job_id */
	struct weft_job_load **jobs; /* [n] */
};

/* Of no job.  Free with weft_loads_free in either case. */
int weft_loads_build(const struct weft_fabric *f, struct weft_loads *loads,
		     struct weft_error *err);
void weft_loads_free(struct weft_loads *loads);

/* The job makes a step of traffic t in step_s > 0 seconds, rank r on where[r];
 * instead of what was known of it. */
int weft_loads_put(struct weft_loads *loads, uint32_t job_id,
		   const struct weft_traffic *t, const uint32_t *where,
		   double step_s, struct weft_error *err);
void weft_loads_drop(struct weft_loads *loads, uint32_t job_id);

/* From now on these links are ill: the health outlives the loads, or the next
 * call; NULL: none. */
void weft_loads_ill(struct weft_loads *loads, const struct weft_health *health);

/* What placing has to heed; NULL: nothing. */
const struct weft_load *weft_loads_total(const struct weft_loads *loads);

#endif
