/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whatif.h - a step of computation and communication, and what single terms
 * would change about it
 *
 * Every term is off by default.  Those that no source supports stay parameters:
 * their row says so, and the range that the seeds claim.
 */
#ifndef WEFT_LAB_CALCULATORS_WHATIF_H
#define WEFT_LAB_CALCULATORS_WHATIF_H

#include "base/error.h"
#include "lab/calculators/convention.h"

#include <stddef.h>
#include <stdint.h>

/* weft_whatif_off has every term at the value that changes nothing. */
struct weft_whatif_terms {
	double compression;	 /* communication divided by it */
	double accumulation;	 /* micro-batches per sync */
	double sync_every;	 /* steps per sync: local SGD */
	double oversubscription; /* communication multiplied by it */
	double rdma;	   /* share of communication that leaving TCP saves */
	double link_share; /* of its rate that a badly tuned network gives */
	double in_network; /* bandwidth part divided by it: SHARP, NVLS */
	double small_messages; /* latency part divided by it: symmetric memory
				*/
	double priority;       /* share of communication that a high-priority
				* stream saves */
	double launch_gap_s;   /* per collective */
	double contention_s;   /* per chunk: SMs, load/store units */
	double skew_s;	       /* the slowest rank's lateness, per collective */
	double barrier_s;      /* per collective */
	double straggler; /* share of throughput lost to the slowest rank */
};
extern const struct weft_whatif_terms weft_whatif_off;
#define WEFT_WHATIF_OFF                                                        \
	{                                                                      \
		.compression = 1, .accumulation = 1, .sync_every = 1,          \
		.oversubscription = 1, .link_share = 1, .in_network = 1,       \
		.small_messages = 1,                                           \
	}

/* 0 means the default that is named. */
struct weft_whatif_job {
	double compute_s; /* required: of one micro-batch */
	double comm_s;	  /* required: of one sync */
	double latency_s; /* part of comm_s that does not shrink with bytes (0)
			   */
	double overlap;	  /* share of the shorter of both that is hidden (0) */
	uint32_t n_gpus;  /* (1) */
	uint32_t collectives; /* per sync (1) */
	uint32_t chunks;      /* per collective (1) */
	double steps;	      /* of the run, for what is lost (1) */
	struct weft_whatif_terms terms;
};

/* Per micro-batch, so that accumulation can be compared. */
struct weft_whatif {
	double base_s;	  /* the step with every term off */
	double comm_s;	  /* after the terms */
	double overlap_s; /* hidden of it */
	double exposed_s, step_s;
	double ratio;	     /* comm_s / compute_s; above 1 bound by it */
	double overhead;     /* exposed_s / step_s */
	double speedup;	     /* base_s / step_s */
	double drop;	     /* 1 - speedup: throughput lost */
	double launch_gap_s; /* of all collectives; the seeds sum GPUs, too */
	double lost_gpu_s;   /* (step_s - base_s) on all GPUs and steps */
};

/* -1 names the member of job that is impossible. */
int weft_whatif(const struct weft_whatif_job *job,
		enum weft_convention convention, struct weft_whatif *whatif,
		struct weft_error *err);

/* One row a term. */
struct weft_whatif_term {
	const char *name, *unit, *help;
	size_t offset; /* of the double in weft_whatif_terms */
	double min, max;
	double seed_low, seed_high; /* the seeds' claim; 0, 0: none */
	const char *source;	    /* "": none known, keep it off */
};
extern const struct weft_whatif_term weft_whatif_rows[];
extern const uint32_t weft_n_whatif_rows;
const struct weft_whatif_term *weft_whatif_find(const char *name);

#endif
