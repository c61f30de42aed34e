/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_run.h - one policy's run over a stream: who runs, who waits
 *
 * Private to lab/replay/.
 */
#ifndef WEFT_LAB_REPLAY_REPLAY_RUN_H
#define WEFT_LAB_REPLAY_REPLAY_RUN_H

#include "lab/replay/contention.h"
#include "lab/replay/ledger.h"
#include "lab/replay/pricing.h"
#include "lab/replay/replay.h"

/* A job that runs.  Its work is its duration in the trace: seconds of steps as
 * short as the ideal one. */
struct stint {
	double end_s;	     /* if its steps stay as they are */
	double left_s;	     /* work left at since_s */
	double since_s;	     /* when its pace changed last */
	double pace;	     /* work done in a second */
	uint32_t job, order; /* order: of its start; decides between equals */
	uint32_t *where;     /* the job's GPUs; owned */
};

/* A job at a place that it may get. */
struct offer {
	uint32_t *where;	     /* owned until the job starts */
	struct weft_step_kept *kept; /* NULL: no other job slows it down; owned
				      * until the job starts */
	double pace;
	struct weft_replay_job fate; /* as far as it is known */
};

/* When the first of the queue can start at the latest, and what is free then
 * unless someone is let in front of it. */
struct reservation {
	uint32_t job; /* WEFT_NONE: there is none */
	double start_s;
	struct ledger then;
};

struct run {
	const struct weft_replay *r;
	const struct weft_policy *policy;
	struct weft_place_options place;
	struct weft_replay_outcome *outcome;
	struct ledger now;
	struct pricing pricing;
	struct contention contention;
	double now_s;
	double parted_s; /* integral over time of the share of parted nodes */
	/* a heap, the next to end first */
	struct stint *running; /* [n_running], room for all jobs */
	uint32_t *at;	       /* [stream->n] of jobs that run: in the heap */
	uint32_t n_running, n_started, n_ended;
	/* jobs that wait, in the order of their arrival */
	uint32_t *next, *previous; /* [stream->n] */
	uint32_t first, last, n_waiting;
	struct reservation reserved;
	bool moved; /* ends of running jobs have, since it was made */
	double decisions_s;
};

static inline const struct weft_replay_kind *run_kind(const struct run *run,
						      uint32_t job)
{
	return &run->r->kinds[run->r->kind_of[job]];
}

/* Puts a job that starts at its pace among those that run; there is room. */
void running_add(struct run *run, struct stint job);
/* Takes out the one that ends next; its where is the caller's. */
struct stint running_next(struct run *run);
/* Gives the jobs whose steps have changed their new ends. */
int running_settle(struct run *run, struct weft_error *err);

/* Starts the job now if it fits and, where there is a reservation, does not
 * delay it. */
int run_try(struct run *run, uint32_t job, bool *started,
	    struct weft_error *err);

/* Finds out when `job`, the first of the queue, will be able to start: when as
 * many of those that run have ended as it takes. */
int reservation_make(struct run *run, uint32_t job, struct weft_error *err);

#endif
