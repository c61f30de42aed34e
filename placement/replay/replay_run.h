/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_run.h - one policy's run over a stream: who runs, who waits
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_REPLAY_REPLAY_RUN_H
#define WEFT_PLACEMENT_REPLAY_REPLAY_RUN_H

#include "placement/replay/ledger.h"
#include "placement/replay/pricing.h"
#include "placement/replay/replay.h"

struct stint {
	double end_s;
	uint32_t job, order; /* order: of its start; decides between equals */
	uint32_t *where;     /* the job's GPUs; owned */
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
	double now_s;
	/* a heap, the next to end first */
	struct stint *running; /* [n_running], room for all jobs */
	uint32_t n_running, n_started, n_ended;
	/* jobs that wait, in the order of their arrival */
	uint32_t *next, *previous; /* [stream->n] */
	uint32_t first, last, n_waiting;
	struct reservation reserved;
	double decisions_s;
};

static inline const struct weft_replay_kind *run_kind(const struct run *run,
						      uint32_t job)
{
	return &run->r->kinds[run->r->kind_of[job]];
}

/* There is room for all jobs. */
void running_add(struct run *run, const struct stint *job);
/* Takes out the one that ends next; its where is the caller's. */
struct stint running_next(struct run *run);

/* Whether the job could start with what is free in l. */
int run_fits(const struct run *run, uint32_t job, const struct ledger *l,
	     bool *yes, struct weft_error *err);

/* Starts the job now if it fits and, where there is a reservation, does not
 * delay it. */
int run_try(struct run *run, uint32_t job, bool *started,
	    struct weft_error *err);

/* Finds out when `job`, the first of the queue, will be able to start: when as
 * many of those that run have ended as it takes. */
int reservation_make(struct run *run, uint32_t job, struct weft_error *err);

#endif
