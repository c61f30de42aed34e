/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gradsync.h - what synchronising gradients costs a data-parallel step */
#ifndef WEFT_LAB_CALCULATORS_GRADSYNC_H
#define WEFT_LAB_CALCULATORS_GRADSYNC_H

#include "base/error.h"
#include "lab/calculators/convention.h"

#include <stdbool.h>
#include <stdint.h>

enum weft_gradsync_algorithm {
	WEFT_GRADSYNC_FASTEST, /* of those below that apply */
	WEFT_GRADSYNC_RING,
	WEFT_GRADSYNC_TREE,	    /* pipelined double binary tree */
	WEFT_GRADSYNC_HALVING,	    /* recursive halving and doubling */
	WEFT_GRADSYNC_HIERARCHICAL, /* inside nodes, then between them */
	WEFT_GRADSYNC_STAR,	    /* all send to one GPU, which answers all */
	WEFT_N_GRADSYNC_ALGORITHMS
};
extern const char
	*const weft_gradsync_algorithm_names[WEFT_N_GRADSYNC_ALGORITHMS];

/* 0 means the default that is named; the first four are required. */
struct weft_gradsync_job {
	double parameters;
	double parameter_bytes; /* of one gradient element */
	double link_bytes_per_s;
	uint32_t n_gpus;
	double latency_s;	  /* of one message (0) */
	uint32_t gpus_per_node;	  /* 0: hierarchical does not apply; else
				   * it divides n_gpus */
	double intra_bytes_per_s; /* inside a node, one direction */
	double compute_s;	  /* of one micro-batch; 0: parameters times
				   * the next */
	double compute_s_per_parameter; /* WEFT_GRADSYNC_COMPUTE */
	double overlap;	       /* share of the shorter of computation and
				* communication that is hidden (0) */
	double compression;    /* factor of volume (1) */
	uint32_t accumulation; /* micro-batches per sync (1) */
	enum weft_gradsync_algorithm algorithm;
	double wall; /* overhead that is one (WEFT_GRADSYNC_WALL) */
};

/* Half a millisecond per billion parameters: the seeds' hidden constant,
 * inferred from their one example.  Not an estimate of anything: give
 * compute_s, e.g. 6 * parameters * tokens / FLOP/s. */
#define WEFT_GRADSYNC_COMPUTE 5e-13
#define WEFT_GRADSYNC_WALL    0.5

/* Algorithms that do not apply have time INFINITY. */
struct weft_gradsync {
	double gradient_bytes; /* S, before compression */
	double wire_bytes;     /* that each GPU sends, after it, by a ring */
	double time_s[WEFT_N_GRADSYNC_ALGORITHMS];
	double ring_steps;	   /* messages one after another: 2(n-1) */
	double tree_steps;	   /* up and down: 2 ceil(log2 n) */
	double compute_s;	   /* of all accumulated micro-batches */
	double exposed_s;	   /* communication that is not hidden */
	double step_s;		   /* compute_s + exposed_s */
	double overhead;	   /* exposed_s / step_s */
	double efficiency;	   /* compute_s / step_s */
	double ratio;		   /* communication / computation; above 1 the
				    * step is bound by communication */
	double bus_bytes_per_s;	   /* nccl-tests' busbw of the algorithm used */
	double hiding_bytes_per_s; /* link at which communication takes as
				    * long as computation */
	double recommended_bytes_per_s;		/* links that suffice for it */
	bool wall;				/* overhead > job's wall */
	enum weft_gradsync_algorithm algorithm; /* the one used */
};

/* -1 names the member of job that is impossible. */
int weft_gradsync(const struct weft_gradsync_job *job,
		  enum weft_convention convention, struct weft_gradsync *sync,
		  struct weft_error *err);

#endif
