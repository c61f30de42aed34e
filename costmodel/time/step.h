/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.h - how long one training step takes on a placement, and why
 *
 * M micro-batches through p stages of v chunks take
 *	M * slowest stage + (p - 1) / v * average stage
 * and then the exchange of gradients and parameters that no computation hides,
 * and the optimizer.
 */
#ifndef WEFT_COSTMODEL_TIME_STEP_H
#define WEFT_COSTMODEL_TIME_STEP_H

#include "costmodel/job/compute.h"
#include "costmodel/time/load.h"
#include "costmodel/time/span.h"
#include "costmodel/traffic/schedule.h"
#include "topology/fabric.h"

/* What the software does where nothing else is said. */
enum weft_habit {
	WEFT_AS_USUAL, /* as software of the GPU's time does */
	WEFT_ALWAYS,
	WEFT_NEVER
};

/* Zeroes mean the defaults; gpu is required. */
struct weft_step_options {
	const struct weft_gpu *gpu;
	bool products_at;	       /* at `precision`, not the dtype's */
	enum weft_precision precision; /* of the layers' products */
	enum weft_habit overlap;       /* collectives behind computation */
	bool fit_memory;   /* recompute as many layers as memory demands
			    * in a ZeRO-3 job that recomputes none */
	double efficiency; /* the GPU computes and communicates this many times
			    * as fast as its profile says; 0: 1 */
	double straggler;  /* computation takes this many times as long, since
			    * all wait for the slowest; 0: 1 */
	bool hop_range;	   /* fill in nearest_s and farthest_s */
};

struct weft_step {
	double step_s;
	/* Its parts, of the slowest stage; they add up to step_s. */
	double products_s;	       /* matrix products of the layers */
	double attention_s;	       /* scores, softmax, values */
	double memory_s;	       /* kernels that stream through memory */
	double recompute_s;	       /* repeated forward passes */
	double logits_s;	       /* output layer and loss */
	double bubble_s;	       /* filling and draining the pipeline */
	double exposed_s[WEFT_N_AXES]; /* communication that nothing hides */
	double optimizer_s;
	double straggler_s;
	double host_s; /* kernels wait to be launched */
	/* Not parts of it, hidden or not, in the stage where the sum takes
	 * longest: weft_call_time of all calls of an axis. */
	double communication_s[WEFT_N_AXES]; /* transfers */
	double loss_s[WEFT_N_AXES];
	double latency_s[WEFT_N_AXES];
	uint32_t communication_stage[WEFT_N_AXES];
	uint32_t exposed_stage[WEFT_N_AXES]; /* that exposed_s is of, where
					      * most of it is */
	struct weft_fullest fullest;	     /* link, with other jobs on it */
	double congestion_s; /* seconds of all communication that links above
			      * hosts and other jobs add, hidden or not */
	double lost_gpu_s;   /* GPU-seconds that other jobs lose in one step */
	/* With hop_range: the step were all hops between hosts as short, and as
	 * long, as the fabric has them; NAN: not known. */
	double nearest_s, farthest_s;
	double bubble_of_ideal;		    /* (p-1) / (v M) */
	double bubble_of_total;		    /* its share of the step */
	double model_flops, hardware_flops; /* of the step, all GPUs; every
					     * pair of tokens counts */
	double model_flops_causal;	    /* half of the pairs count */
	double flops_per_s;		    /* model_flops, one GPU */
	double peak_flops_per_s;	    /* at the products' precision */
	double mfu, hfu;		    /* shares of the peak, 0..1 */
	double recomputed;		    /* share of layers, 0..1 */
	uint32_t slowest_stage;
};

/* A job on a placement: rank r of a resolved spec runs on GPU where[r]. */
struct weft_step_job {
	const struct weft_fabric *fabric;
	const struct weft_spec *spec;
	const struct weft_model *model;
	const uint32_t *where;		      /* [spec->gpus] */
	const struct weft_schedule *schedule; /* of spec and model; NULL: it is
					       * built for this step alone */
	const struct weft_load *load; /* of other jobs on the links; or NULL */
	bool exact_sharing; /* weft_spans_share: for what is reported, not where
			     * many placements are compared */
	/* Wanted: this job's own load, of steps of step_s (0: as predicted);
	 * empty, or NULL. */
	struct weft_load_parts *parts;
	double step_s;
	double communication_share; /* see weft_step_communication */
};

/* What the job sends, where nothing is known of what it computes: fills
 * communication_s and its stages, fullest and lost_gpu_s of a zeroed step.
 * parts without step_s: of steps of which communication is that share. */
int weft_step_communication(const struct weft_step_job *job,
			    struct weft_step *step, struct weft_error *err);

int weft_step(const struct weft_step_job *job,
	      const struct weft_step_options *options, struct weft_step *step,
	      struct weft_error *err);

/* *step_s: weft_step says no less, of a job with a schedule; in a tenth of the
 * time on thousands of GPUs (weft_spans_bound).  job->load is not looked at. */
int weft_step_bound(const struct weft_step_job *job,
		    const struct weft_step_options *options, double *step_s,
		    struct weft_error *err);

/* A job's step on one placement, kept to be timed again and again as other jobs
 * come and go; one thread at a time. */
struct weft_step_kept;

/* NULL with err where weft_step fails.  Needs a schedule; job->load is not
 * looked at.  Keeps fabric, spec, model, schedule and options->gpu.  As long as
 * two weft_steps. */
struct weft_step_kept *weft_step_keep(const struct weft_step_job *job,
				      const struct weft_step_options *options,
				      struct weft_error *err);
void weft_step_kept_free(struct weft_step_kept *kept);

/* Seconds of the step beside the jobs of `load` (NULL: alone), what weft_step
 * would say.  O(kinds of calls * links + calls * stages): microseconds, and
 * tens of them where routes are hashed. */
double weft_step_again(struct weft_step_kept *kept,
		       const struct weft_load *load);

/* Appends to parts, freed by the caller in either case, the job's load in steps
 * of step_s > 0 seconds beside the jobs of the last weft_step_again. */
int weft_step_load(const struct weft_step_kept *kept, double step_s,
		   struct weft_load_parts *parts, struct weft_error *err);

/* Sum of the parts. */
double weft_step_parts(const struct weft_step *step);

#endif
