/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fragmentation.h - whose end would free whole domains
 *
 * capacity (cli/) says what fits now; this says what would make room for the
 * largest jobs of each level: the domain whose running jobs have the fewest
 * GPUs in all, and these jobs.
 */
#ifndef WEFT_PLACEMENT_CAPACITY_FRAGMENTATION_H
#define WEFT_PLACEMENT_CAPACITY_FRAGMENTATION_H

#include "placement/capacity/running.h"

/* Of one level. */
struct weft_fragment {
	uint32_t n_domains, n_whole; /* all; free as a whole now */
	/* The domain that is cheapest to free, WEFT_NONE: none is to be freed
	 * by the end of jobs alone. */
	uint32_t domain;
	uint32_t n_jobs;
	uint32_t *job;	    /* [n_jobs] index into the list, largest first */
	uint32_t n_gpus;    /* GPUs of these jobs, also elsewhere */
	double remaining_s; /* until the last ends; INFINITY: not known */
};

struct weft_fragmentation {
	const struct weft_fabric *fabric;
	struct weft_fragment level[WEFT_MAX_LEVELS]; /* from node_level on */
};

/* o is with the running jobs in it.  A domain with nodes that are closed, or
 * with GPUs that are taken by no job of the list, cannot be freed.  Free with
 * weft_fragmentation_free in either case.  O(GPUs * depth). */
int weft_fragmentation_find(const struct weft_occupancy *o,
			    const struct weft_running_list *running,
			    struct weft_fragmentation *fragmentation,
			    struct weft_error *err);
void weft_fragmentation_free(struct weft_fragmentation *fragmentation);

#endif
