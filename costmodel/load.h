/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.h - what other jobs send over each link, and what they leave of it */
#ifndef WEFT_COSTMODEL_LOAD_H
#define WEFT_COSTMODEL_LOAD_H

#include "costmodel/traffic.h"
#include "topology/fabric.h"

/* Averages over the jobs' steps; read-only once all jobs are added. */
struct weft_load {
	const struct weft_fabric *fabric;
	double *up, *down; /* [n_domains] bytes per second through the link
			    * above the domain */
	uint32_t *n_jobs;  /* [n_domains] that use it */
	uint32_t n;	   /* jobs in all */
};

/* Of no job.  Free with weft_load_free in either case. */
int weft_load_build(const struct weft_fabric *f, struct weft_load *load,
		    struct weft_error *err);
void weft_load_free(struct weft_load *load);

/* Adds a job that makes a step of traffic t in step_s > 0 seconds, with rank r
 * on GPU where[r]. */
int weft_load_add(struct weft_load *load, const struct weft_traffic *t,
		  const uint32_t *where, double step_s, struct weft_error *err);

/* Bytes per second that one more job can have of the link above a domain:
 *	max(capacity - load, capacity / (jobs + 1))
 * What is left of it, or, where the others would leave less than that, an equal
 * share: all of them slow down when they meet, as flows that share a link do
 * (max-min fairness).  INFINITY at the top level. */
double weft_load_rate(const struct weft_load *load, uint32_t domain, bool up);

#endif
