/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.h - how long the calls of a step take on a placement
 *
 * All groups that make a call do so at the same time and share links flow by
 * flow, so the slowest of equal flows ends when the fullest link that it uses
 * has carried all its bytes.  Where the stages of a pipeline send different
 * amounts over one link this is the time of those that send most, and an upper
 * bound for the others.
 */
#ifndef WEFT_COSTMODEL_SPAN_H
#define WEFT_COSTMODEL_SPAN_H

#include "costmodel/flows.h"
#include "costmodel/load.h"

/* Of the slowest group in a pipeline stage. */
struct weft_span {
	double s_per_byte;	 /* that one rank sends */
	double s_per_byte_lost;	 /* more, because routes are hashed */
	double s_per_byte_alone; /* in one ring, through one NIC a host */
	struct weft_flow_hops hops;
};

/* The directed link that needs longest for its share of the step, NICs and
 * links above domains; on equal terms the outermost, then the lowest. */
struct weft_fullest {
	uint32_t link; /* of weft_flows_end; WEFT_NONE: nothing leaves a host */
	double bytes, time_s;
};

/* Spans for all calls of a schedule on a placement. */
struct weft_spans {
	struct weft_flows flows;
	struct weft_span *span; /* [flows.n_kinds][flows.n_stages] */
	struct weft_fullest fullest;
	double congestion_s; /* of all kinds together in a step, what links
			      * above hosts and other jobs add to the time of
			      * NICs and NVLink ports; no change of domains
			      * saves more */
	double lost_gpu_s; /* GPU-seconds that the jobs of the load lose in one
			    * step of this one */
};

/* Measures every kind of call: ranks of the dense grid run on where[rank],
 * distinct and connected GPUs of f, on links that they share with the jobs of
 * `load` (NULL: alone).  Keeps f, schedule and where.  Free with
 * weft_spans_free in either case.  O(kinds * ranks * depth). */
int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     const struct weft_load *load, struct weft_spans *spans,
		     struct weft_error *err);
void weft_spans_free(struct weft_spans *spans);

/* Seconds of one call, number `call` of the schedule, in a stage. */
struct weft_call_time {
	double transfer_s; /* its bytes on links that give what they are rated
			    */
	double loss_s;	   /* hashed routes (routing.h) and sizes that do not
			    * reach the rate (weft_fabric_rate_share) */
	double latency_s;  /* messages that wait for one another (scaling.h) */
};
struct weft_call_time weft_spans_call(const struct weft_spans *spans,
				      uint32_t call, uint32_t stage);
double weft_spans_call_s(const struct weft_spans *spans, uint32_t call,
			 uint32_t stage); /* the sum */

/* The same where a collective is one ring: it leaves a host through one NIC,
 * however many ranks it has there. */
double weft_spans_one_ring_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage);

/* The load of a job that makes these calls in steps of step_s > 0 seconds on
 * n_gpus GPUs, on links that are otherwise idle.  parts: empty, freed by the
 * caller in either case. */
int weft_spans_load(struct weft_spans *spans, double step_s, uint32_t n_gpus,
		    struct weft_load_parts *parts, struct weft_error *err);

#endif
