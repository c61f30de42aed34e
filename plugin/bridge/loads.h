/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loads.h - what running jobs send over shared links, job by job, and what ill
 * links leave of themselves: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LOADS_H
#define WEFT_PLUGIN_BRIDGE_LOADS_H

#include "costmodel/time/health.h"
#include "costmodel/time/load.h"

struct weft_loads {
	struct weft_load total; /* of all jobs, on links as ill as they are */
	uint32_t n, room;	/* jobs */
	uint32_t *ids;		/* [n] job_id */
	struct weft_load_parts *jobs; /* [n] */
};

/* Of no job.  Free with weft_loads_free in either case. */
int weft_loads_build(const struct weft_fabric *f, struct weft_loads *loads,
		     struct weft_error *err);
void weft_loads_free(struct weft_loads *loads);

/* The job sends `parts` now, instead of what was known of it.  Takes over what
 * parts point at, also on failure. */
int weft_loads_put(struct weft_loads *loads, uint32_t job_id,
		   struct weft_load_parts *parts, struct weft_error *err);
void weft_loads_drop(struct weft_loads *loads, uint32_t job_id);

/* From now on these links are ill: the health outlives the loads, or the next
 * call; NULL: none. */
void weft_loads_ill(struct weft_loads *loads, const struct weft_health *health);

/* What placing has to heed; NULL: nothing. */
const struct weft_load *weft_loads_total(const struct weft_loads *loads);

#endif
