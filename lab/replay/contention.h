/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.h - running jobs on links that they share, and their steps
 *
 * How long a job's step takes depends on what the others send meanwhile, and
 * what it sends in a second on how long its step takes: a fixed point, found
 * again whenever a job starts or ends, job by job, for those alone whose links
 * carry something else than before.  Private to lab/replay/.
 */
#ifndef WEFT_LAB_REPLAY_CONTENTION_H
#define WEFT_LAB_REPLAY_CONTENTION_H

#include "costmodel/time/load.h"
#include "costmodel/time/step.h"

/* Steps are known to this share of themselves. */
#define CONTENTION_SAME 1e-4

struct contention {
	struct weft_load load;	 /* of all jobs that run */
	struct contender *jobs;	 /* private: [n_jobs] */
	struct sharers *sharers; /* private: [2 * n_domains] */
	uint32_t *queue;	 /* private: [n_jobs] ring of those to time */
	uint32_t n_jobs, n_queued, first;
	uint32_t *timed; /* [n_timed] by the last settlement, each
			  * once; steps of others are as before */
	uint32_t n_timed, n_settled;
	uint64_t n_visits; /* steps timed in all */
};

/* For jobs 0..n_jobs-1, none of which runs.  Free with contention_free in
 * either case. */
int contention_build(const struct weft_fabric *f, uint32_t n_jobs,
		     struct contention *c, struct weft_error *err);
void contention_free(struct contention *c);

/* A job starts; takes over kept, also when it fails. */
int contention_add(struct contention *c, uint32_t job,
		   struct weft_step_kept *kept, struct weft_error *err);
/* A job ends; nothing happens where it was never added. */
void contention_remove(struct contention *c, uint32_t job);
/* Times the steps of all whose links have changed since, until no step changes
 * by more than CONTENTION_SAME, or all have been timed often enough. */
int contention_settle(struct contention *c, struct weft_error *err);

/* Of a job that was added; until the next settlement as if it ran alone. */
double contention_step_s(const struct contention *c, uint32_t job);

#endif
