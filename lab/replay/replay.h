/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.h - a stream of jobs over a fabric, under one policy after the other
 *
 * Event by event: jobs arrive, wait, start and end; no GPU ever has two jobs,
 * but links have.  The duration of the stream is that of a job whose steps take
 * the ideal time; a place and neighbours that make them longer make it last as
 * much longer.  Reservations go by the ends expected at the present pace.
 */
#ifndef WEFT_LAB_REPLAY_REPLAY_H
#define WEFT_LAB_REPLAY_REPLAY_H

#include "costmodel/job/gpu.h"
#include "costmodel/traffic/schedule.h"
#include "lab/replay/policy.h"
#include "lab/replay/stream.h"

/* Who may start while the first of the queue has to wait. */
enum weft_queue {
	WEFT_QUEUE_BACKFILL, /* who does not delay it (EASY) */
	WEFT_QUEUE_FIFO,     /* none */
	WEFT_N_QUEUES
};
extern const char *const weft_queue_names[WEFT_N_QUEUES];

/* Zeroes mean the defaults. */
struct weft_replay_options {
	enum weft_queue queue;
	uint32_t depth;		    /* jobs behind the first that are tried;
				     * 0: WEFT_REPLAY_DEPTH */
	uint64_t seed;		    /* of what jobs train, and of dice */
	bool as_recorded;	    /* jobs take their durations wherever they
				     * run */
	uint64_t work_limit;	    /* of one decision of weft's; 0: default */
	const struct weft_gpu *gpu; /* NULL: of the fabric's profile */
	/* Told after each end how many of the stream's jobs have ended; not 0:
	 * give up.  NULL: no one. */
	int (*progress)(void *context, uint32_t done, uint32_t n);
	/* Told of each start: what a job of the stream got.  NULL: no one. */
	int (*started)(void *context, uint32_t job, const uint32_t *where,
		       uint32_t n);
	void *context;
};
#define WEFT_REPLAY_DEPTH 100

/* Jobs that differ in nothing but their times. */
struct weft_replay_kind {
	const char *spec; /* text */
	uint32_t n_nodes, per_node;
	struct weft_job job;
	struct weft_schedule schedule;
	bool timed;  /* its step can be predicted */
	bool placed; /* on the empty fabric, by some policy */
	/* The least that any policy reaches there, one by one. */
	double ideal_cost, ideal_step_s;
};

/* What all policies share.  Keeps fabric, stream and options. */
struct weft_replay {
	const struct weft_fabric *fabric;
	const struct weft_stream *stream;
	const struct weft_replay_options *options;
	const struct weft_gpu *gpu; /* NULL: steps are not timed */
	uint32_t n_kinds;
	struct weft_replay_kind *kinds;
	uint32_t *kind_of; /* [stream->n]; WEFT_NONE: larger than the
			    * fabric, left out */
	uint32_t n_left_out;
	struct weft_arena texts;
};

/* Builds every kind of job and its ideal.  Fails on a fabric that is not
 * connected, and on axes of the trace that do not suit the job.  Free with
 * weft_replay_free in either case. */
int weft_replay_build(const struct weft_fabric *f,
		      const struct weft_stream *stream,
		      const struct weft_replay_options *options,
		      struct weft_replay *r, struct weft_error *err);
void weft_replay_free(struct weft_replay *r);

/* One job under one policy; a job left out has start_s < 0. */
struct weft_replay_job {
	double start_s, end_s; /* since the stream's first submission */
	double cost;
	double step_s;	     /* mean while it ran; 0: not timed */
	double alone_step_s; /* the same without the other jobs */
	uint32_t domains[WEFT_MAX_LEVELS];
};

/* Jobs of a stream that count together, each once; ratios are to the ideal. */
struct weft_replay_means {
	uint32_t n, n_timed;
	double cost_ratio, step_ratio, step_s, ideal_step_s;
	double alone_step_ratio; /* had no other job run */
	double domains[WEFT_MAX_LEVELS];
};

/* Of the jobs together: mean, and what so many per cent do not exceed. */
struct weft_replay_spread {
	double mean, p50, p90, p95, p99, max;
};

/* In the words of Kant (arXiv:2510.01256): GAR, SOR, GFR, JWTD and JTTED. */
struct weft_replay_outcome {
	const struct weft_policy *policy;
	struct weft_replay_job *jobs;	     /* [stream->n] */
	struct weft_replay_means all, multi; /* multi: of several nodes */
	/* Shares of the GPUs that jobs had and of the nodes that they had
	 * parts of, means over the time until the last submission. */
	double gar, gfr;
	double sor;	   /* share of GPU-seconds that jobs had, until the last
			    * end */
	double goodput;	   /* sor without what place and neighbours added */
	double makespan_s; /* from the first submission to the last end */
	struct weft_replay_spread wait_s;
	struct weft_replay_spread train_s, train_ratio; /* of jobs of several
							 * nodes */
	double parted_s; /* GFR before it is divided by the time */
	uint32_t n_decisions;
	double decision_s, worst_decision_s; /* mean, greatest; wall clock */
};

/* Runs the whole stream.  Free with weft_replay_outcome_free in either case. */
int weft_replay_run(const struct weft_replay *r,
		    const struct weft_policy *policy,
		    struct weft_replay_outcome *outcome,
		    struct weft_error *err);
void weft_replay_outcome_free(struct weft_replay_outcome *outcome);

#endif
