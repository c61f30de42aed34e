/* SPDX-License-Identifier: GPL-3.0-or-later */
/* release_times.h - which running jobs end when, and what they give back then
 */
#ifndef WEFT_PLUGIN_LIMITS_RELEASE_TIMES_H
#define WEFT_PLUGIN_LIMITS_RELEASE_TIMES_H

#include "plugin/slurm/nodes.h"

/* Running jobs looked at, those that end first. */
#define WEFT_MAX_ENDS 4096

struct weft_end {
	const job_record_t *job; /* only while Slurm's lock is held */
	time_t end;
};

/* Jobs by their end, soonest first, and what the first n_back of them give
 * back. */
struct weft_release_times {
	uint32_t n_ends, n_back;
	struct weft_end *ends;
	struct weft_returned *returned; /* [nodes->n] */
};

/* A number for what is free, and which nodes are candidates: what was found out
 * for one number holds for as long as it is the same.  generation: that of the
 * nodes, or 0 where it does not matter what is free. */
uint64_t weft_release_times_signature(const struct weft_nodes *nodes,
				      uint64_t generation,
				      bitstr_t *candidates);

/* The running jobs on any of these candidates; `jobs` NULL: all of Slurm's,
 * else those of this list alone.  -1 when out of memory.  Free with
 * weft_release_times_free in either case. */
int weft_release_times_build(const struct weft_nodes *nodes,
			     bitstr_t *candidates, list_t *jobs,
			     struct weft_release_times *ends);
void weft_release_times_free(struct weft_release_times *ends);

/* Lets the nodes offer what is free once the first k jobs have ended, until
 * weft_release_times_leave. */
void weft_release_times_enter(struct weft_release_times *ends,
			      struct weft_nodes *nodes, uint32_t k);
void weft_release_times_leave(struct weft_nodes *nodes);

/* How many of the jobs end by then. */
uint32_t weft_release_times_ended(const struct weft_release_times *ends,
				  time_t by);

#endif
