/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.h - what a placement brings: the predicted step there, on the nodes that
 * stock Slurm would have given, and at best
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_GAIN_H
#define WEFT_PLACEMENT_OBJECTIVE_GAIN_H

#include "placement/objective/baseline.h"

#include "costmodel/job/gpu.h"
#include "costmodel/time/load.h"
#include "costmodel/time/step.h"

/* What seconds are compared. */
enum weft_gain_basis {
	WEFT_GAIN_STEP,		 /* predicted steps */
	WEFT_GAIN_COMMUNICATION, /* what the job sends takes in a step, over
				  * all axes: the model or the kind of GPU is
				  * not known */
	WEFT_GAIN_LINK,		 /* busiest links: the traffic was measured */
	WEFT_N_GAIN_BASES
};
extern const char *const weft_gain_bases[WEFT_N_GAIN_BASES];

/* A placement and what it is compared with.  Zeroes: not known, no limit. */
struct weft_gain_question {
	const struct weft_fabric *fabric;
	const struct weft_job *job;
	const uint32_t *where;			/* the placement */
	const struct weft_baselines *baselines; /* of the same state */
	const uint32_t *found;	      /* what a search found on it; or NULL */
	const struct weft_gpu *gpu;   /* NULL: of the fabric's profile */
	const struct weft_load *load; /* of other jobs; or NULL */
	bool exact_sharing;	      /* as in weft_step_job, and of `here` */
	double bound_s;		      /* no placement takes less, if > 0 */
	const struct weft_step
		*here;	 /* of `where`, predicted before; or NULL */
	double took_s;	 /* that this took */
	double budget_s; /* nothing is begun that would end after so long; 0:
			  * no limit */
};

/* Seconds by basis; NAN: not known. */
struct weft_gain {
	enum weft_gain_basis basis;
	double here_s, stock_s, spread_s;
	double best_s;	  /* the least of all placements looked at */
	double nominal_s; /* the least of them, were the links above hosts idle
			   * and as fast as the hosts' own: other domains, for
			   * the same ranks on each host, take no less */
	double bound_s; /* no placement takes less.  Of steps: computation alone
			 * where nothing better is known */
	bool best_is_bound; /* proven: best_s is the bound */
	bool late;	    /* no time was left for some of it */
	/* share of stock's step that is saved; negative: lost.  Where steps
	 * are not predicted, at most: communication is taken for
	 * WEFT_ASSUMED_SHARE of it */
	double gain;
	/* Of ten runs, one step is shorter than low_s and one longer than
	 * high_s, costmodel/time/range.h; NAN where steps are not predicted.
	 * Two placements of one job have most of that error in common. */
	double low_s, high_s;
	bool matters; /* false: stock and spread are within WEFT_SAME_STEP of
		       * the step here */
};

/* -1 with err: out of memory, or ranks that exchange bytes are not connected.
 */
int weft_gain(const struct weft_gain_question *q, struct weft_gain *gain,
	      struct weft_error *err);

#endif
