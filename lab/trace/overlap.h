/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap.h - how much of one rank's communication its computing hides
 *
 *   tau_comp, tau_comm   time in which any kernel of that sort runs
 *   tau_overlap          time in which both do
 *   eta_overlap          tau_overlap / tau_comm: the hidden share
 *   exposed              tau_comm - tau_overlap: what the step pays
 *
 * so that busy = tau_comp + tau_comm - tau_overlap.  Times are of unions: two
 * kernels at once count once.
 */
#ifndef WEFT_LAB_TRACE_OVERLAP_H
#define WEFT_LAB_TRACE_OVERLAP_H

#include "lab/trace/trace.h"

/* All collectives of one kind. */
struct weft_overlap_kind {
	uint32_t n;
	double bytes;	  /* sum of sizes, where recorded */
	double time_s;	  /* sum of the kernels' times */
	double exposed_s; /* of these, not hidden by computing */
};

struct weft_overlap {
	int64_t first_ns; /* first start of any GPU work */
	double span_s;	  /* first start to last end of any GPU work */
	double compute_s; /* tau_comp */
	double comm_s;	  /* tau_comm */
	double overlap_s; /* tau_overlap */
	double exposed_s; /* comm_s - overlap_s */
	double copy_s;	  /* copies while neither computing nor communicating */
	double idle_s;	  /* span_s without any work */
	double unlaunched_s; /* of this, while the next work was not launched
			      * yet: the GPU waits for the CPU; -1: launches
			      * not recorded */
	double eta_overlap;  /* 0 when nothing was communicated */
	struct weft_overlap_kind kinds[WEFT_N_OPS];
	uint32_t n_collectives;
	/* [n_collectives], index as in the trace */
	double *time_each_s;	/* of its kernels */
	double *exposed_each_s; /* of these, not hidden by computing */
	/* Time that it could have run and did not: from when it was launched,
	 * its stream was free and the kernels launched before it were done, to
	 * when it started.  -1: launches not recorded. */
	double *delay_each_s;
};

/* Of a trace with times; without, all is 0 but n and bytes of kinds.  Free with
 * weft_overlap_free in either case. */
int weft_overlap_build(const struct weft_trace *trace, struct weft_overlap *o,
		       struct weft_error *err);
void weft_overlap_free(struct weft_overlap *o);

/* Closed form of a ring (all-to-all: pairwise) over n ranks, S bytes, links of
 * B bytes per second and latency a: steps * a + share * S / B; with
 *   all-reduce           2(n-1) steps   2(n-1)/n of S
 *   all-gather, reduce-scatter, all-to-all   n-1   (n-1)/n
 *   broadcast, reduce    n-1            1 (pipelined)
 *   gather, scatter      n-1            (n-1)/n at the root
 *   send, receive        1              1
 *   barrier              2(n-1)         0
 * WEFT_OP_OTHER, and n < 2 where n matters: 0. */
double weft_overlap_ring_s(enum weft_trace_op op, uint32_t n, double size_bytes,
			   double rate_bytes_per_s, double latency_s);
/* The two parts of it. */
double weft_overlap_ring_share(enum weft_trace_op op, uint32_t n);
double weft_overlap_ring_steps(enum weft_trace_op op, uint32_t n);

#endif
