/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_load.h - what running jobs send over shared links, job by job, and what
 * ill links leave of themselves: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_RUNNING_LINK_LOAD_H
#define WEFT_PLUGIN_BRIDGE_RUNNING_LINK_LOAD_H

#include "costmodel/time/health.h"
#include "costmodel/time/load.h"

struct weft_link_load {
	struct weft_load total; /* of all jobs, on links as ill as they are */
	uint32_t n, room;	/* jobs */
	uint32_t *ids;		/* [n] job_id */
	struct weft_load_parts *jobs; /* [n] */
};

/* Of no job.  Free with weft_link_load_free in either case. */
int weft_link_load_build(const struct weft_fabric *f,
			 struct weft_link_load *loads, struct weft_error *err);
void weft_link_load_free(struct weft_link_load *loads);

/* The job sends `parts` now, instead of what was known of it.  Takes over what
 * parts point at, also on failure. */
int weft_link_load_put(struct weft_link_load *loads, uint32_t job_id,
		       struct weft_load_parts *parts, struct weft_error *err);
void weft_link_load_drop(struct weft_link_load *loads, uint32_t job_id);

/* From now on these links are ill: the health outlives the loads, or the next
 * call; NULL: none. */
void weft_link_load_ill(struct weft_link_load *loads,
			const struct weft_health *health);

/* What placing has to heed; NULL: nothing. */
const struct weft_load *
weft_link_load_total(const struct weft_link_load *loads);

#endif
