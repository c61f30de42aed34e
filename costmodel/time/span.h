/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.h - how long the calls of a step take on a placement
 *
 * All groups that make a call do so at the same time and share links flow by
 * flow, so the slowest of equal flows ends when the fullest link that it uses
 * has carried all its bytes.  Where the stages of a pipeline send different
 * amounts over one link this is the time of those that send most, and an upper
 * bound for the others.  Flows that are not alike may wait for each other at
 * several links and take longer: weft_spans_share.
 */
#ifndef WEFT_COSTMODEL_TIME_SPAN_H
#define WEFT_COSTMODEL_TIME_SPAN_H

#include "costmodel/time/flows.h"
#include "costmodel/time/load.h"
#include "costmodel/time/routing.h"

/* Of the slowest group in a pipeline stage. */
struct weft_span {
	double s_per_byte;	 /* that one rank sends */
	double s_per_byte_lost;	 /* more, because routes are hashed */
	double s_per_byte_alone; /* in one ring, through one NIC a host */
	double unlike; /* s_per_byte over that of flows that are alike; 0: the
			* same, or not looked at */
	struct weft_flow_hops hops;
	bool has_hops; /* of a group, even if none; false in a bound */
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
	bool hops_differ;  /* between groups of a kind in a stage */
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

/* Lower bounds of the same without other jobs, in a small part of the time:
 * looks at one group of each kind in a stage, at none of the kinds that have
 * few, and waits for no hops.  A link carries no less when all groups use it.
 */
int weft_spans_bound(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     struct weft_spans *spans, struct weft_error *err);

/* Refines the spans where flows over a link are not alike and some wait
 * elsewhere, as span_parts.h says; mostly for ranks in no order, with hosts of
 * one rank of a group beside hosts of three.  Other jobs and hashed routes are
 * taken to make as much of a difference, as a share, as to flows that are
 * alike. Kinds of more than 60,000 flows stay as they are, and those that are
 * left after some 0.3 s.  load: as they were built with. */
int weft_spans_share(struct weft_spans *spans, const struct weft_load *load,
		     struct weft_error *err);

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

/* Takes all hops between hosts for those of a level, the nearest that there can
 * be or the farthest.  hops_differ: of which group they then are is not known.
 */
void weft_spans_hop(struct weft_spans *spans, uint32_t level, bool nearest);

/* The same where a collective is one ring: it leaves a host through one NIC,
 * however many ranks it has there. */
double weft_spans_one_ring_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage);

/* The load of a job that makes these calls in steps of step_s > 0 seconds on
 * n_gpus GPUs.  Appends to parts, freed by the caller in either case. */
int weft_spans_load(struct weft_spans *spans, double step_s, uint32_t n_gpus,
		    struct weft_load_parts *parts, struct weft_error *err);

/* ---- the same again beside other jobs, in span_meet.c ---- */

/* What one kind of call puts on a link above a domain, for other jobs to meet.
 */
struct weft_span_link {
	uint32_t kind, link; /* link: as in weft_load_part */
	uint64_t stages;     /* bit p % 64: of stage p */
	double bytes, n_flows;
	double unit;   /* bytes of a flow for one that its rank sends */
	double weight; /* of such a flow, in (0, 1]; 1: it always sends */
};

/* All of them; zero-initialise. */
struct weft_span_links {
	uint32_t n, room;
	struct weft_span_link *link; /* [n] kind by kind */
	double *alone_s; /* [n_kinds + 1][n_stages] seconds of a step that the
			  * kind sends without other jobs; a row of scratch */
	double *own_s;	 /* [n_kinds] the same through NICs and ports alone, of
			  * the slowest stage */
	struct weft_hashed_link *hashed; /* scratch */
};

/* Notes them by another walk over all flows.  Free with weft_span_links_free
 * in either case. */
int weft_spans_links(struct weft_spans *spans, struct weft_span_links *links,
		     struct weft_error *err);
void weft_span_links_free(struct weft_span_links *links);

/* One kind of call beside other jobs. */
struct weft_span_meeting {
	const struct weft_load *load; /* NULL: alone */
	uint32_t kind;
	const struct weft_span_link *links; /* [n_links] of the kind */
	uint32_t n_links;
	const double *alone_s;		 /* [n_stages] without other jobs */
	double own_s;			 /* of the slowest NIC or port */
	double *met_s;			 /* [n_stages] filled in */
	struct weft_hashed_link *hashed; /* [n_links] scratch */
};

/* Fills in the kind's times beside the jobs of the load, and what its spans
 * lose to hashed routes, on which others' flows are hashed as well.  Returns
 * the GPU-seconds that these jobs lose: who crosses a link also crosses another
 * one, up or down, and half of the loss is that of each. */
double weft_spans_kind_meet(struct weft_spans *spans,
			    const struct weft_span_meeting *meeting);

/* Times the calls anew beside the jobs of `load` (NULL: alone; no slowness), as
 * if the spans were built with it, but for fullest and congestion_s, which
 * stay.  O(kinds * links). */
void weft_spans_meet(struct weft_spans *spans,
		     const struct weft_span_links *links,
		     const struct weft_load *load);

/* As weft_spans_load, without a walk, of calls that take as long as they do
 * beside the jobs met last. */
int weft_span_links_load(const struct weft_spans *spans,
			 const struct weft_span_links *links, double step_s,
			 uint32_t n_gpus, struct weft_load_parts *parts,
			 struct weft_error *err);

/* The next stage from p on of a mask as in weft_span_link; n: none below n. */
static inline uint32_t weft_stage_next(uint64_t stages, uint32_t p, uint32_t n)
{
	uint32_t by = p % 64, skip;
	uint64_t rest = stages >> by | (by ? stages << (64 - by) : 0);

	if (rest == 0 || p >= n)
		return n;
	skip = (uint32_t)__builtin_ctzll(rest);
	return skip < n - p ? p + skip : n;
}

#endif
