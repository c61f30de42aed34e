/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.h - what other jobs send over each link, and what that does to a call
 *
 * Links are shared flow by flow (max-min fairness): n flows of a call and m of
 * another job on a link of capacity C get C n / (n + m), or what the others
 * leave of it if that is more, since flows held up elsewhere do not take their
 * share.  Other jobs send only a share d of their time, their duty.  A call
 * that makes one s times as slow makes its step L = 1 + d (s - 1) times as
 * long, so that it is quiet for q = (1 - d) / L of the time that the call
 * takes.  The sums on a link tell of an average other job, and of how many, N:
 * all are quiet for q^N of that time, and in the rest N (1 - q) / (1 - q^N) of
 * them send. Beside one job of equal flows a call takes 1 + d times as long.
 */
#ifndef WEFT_COSTMODEL_TIME_LOAD_H
#define WEFT_COSTMODEL_TIME_LOAD_H

#include "base/error.h"
#include "topology/fabric.h"

/* Sums over the calls of other jobs on one direction of a domain's link; d is
 * the share of time that a call takes of its job's step. */
struct weft_load_link {
	double duty;		 /* sum of d */
	double duty_squared;	 /* sum of d * d; of a part, not looked at */
	double flows;		 /* sum of d * flows */
	double rate_bytes_per_s; /* sum of d * bytes per second while it sends:
				  * the mean load */
	double gpus;		 /* sum of d * GPUs of the job */
};

/* Part of a job's load: one of its kinds of calls on one link. */
struct weft_load_part {
	uint32_t link; /* 2 * domain, + 1: towards the bottom */
	struct weft_load_link add;
};
struct weft_load_parts {
	uint32_t n, room;
	struct weft_load_part *part; /* [n] */
};
int weft_load_parts_add(struct weft_load_parts *parts,
			const struct weft_load_part *part,
			struct weft_error *err);
void weft_load_parts_free(struct weft_load_parts *parts);

/* Read-only once all jobs are added. */
struct weft_load {
	const struct weft_fabric *fabric;
	struct weft_load_link *link; /* [2 * n_domains] */
	uint32_t *n_parts;	     /* [2 * n_domains] */
	const double *slowness; /* [n_domains] times as slow as it should be,
				 * >= 1; NULL: none is.  Not owned. */
	uint32_t n;		/* jobs in all */
};

/* Of no job.  Free with weft_load_free in either case. */
int weft_load_build(const struct weft_fabric *f, struct weft_load *load,
		    struct weft_error *err);
void weft_load_free(struct weft_load *load);

/* Adds one job's parts, or takes them off again. */
void weft_load_add(struct weft_load *load, const struct weft_load_parts *parts);
void weft_load_subtract(struct weft_load *load,
			const struct weft_load_parts *parts);

/* Bytes per second and direction of the link above a domain, were it the job's
 * alone; INFINITY at the top level. */
double weft_load_capacity(const struct weft_load *load, uint32_t domain);

/* Bytes per second that one more job can expect of it: what the mean load of
 * the others leaves, or an equal share with them if that is more. */
double weft_load_rate(const struct weft_load *load, uint32_t domain, bool up);

/* A call that puts bytes > 0 on a directed link, as n_flows flows, and would
 * take alone_s > 0 on idle links (its slowest one, which need not be this). */
struct weft_load_call {
	uint32_t link; /* as in weft_load_part */
	double bytes, n_flows, alone_s;
};
/* Expected seconds of the call, as far as this link goes.
 * *lost_gpu_s: GPU-seconds that it costs the other jobs meanwhile. */
double weft_load_call_s(const struct weft_load *load,
			const struct weft_load_call *call, double *lost_gpu_s);

#endif
