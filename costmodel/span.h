/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.h - what the groups of a call cross on a placement, and the time of it
 *
 * Alpha and beta of a collective, measured on the placement rather than
 * assumed: the groups that make a call do so at the same time, so what leaves a
 * domain of the fabric shares the links above it.
 */
#ifndef WEFT_COSTMODEL_SPAN_H
#define WEFT_COSTMODEL_SPAN_H

#include "costmodel/load.h"
#include "costmodel/schedule.h"
#include "topology/fabric.h"

/* Of the slowest group in a pipeline stage. */
struct weft_span {
	double s_per_byte;	 /* that one rank sends */
	double s_per_byte_alone; /* in one ring, through one NIC a node */
	double round_s;		 /* latencies once around the group's ring */
	double hop_s;		 /* the largest of them */
};

/* Spans for all calls of a schedule on a placement. */
struct weft_spans {
	const struct weft_fabric *fabric;
	const struct weft_schedule *schedule;
	const uint32_t *where;
	enum weft_choice_of_algorithm algorithm; /* of collectives; WEFT_BY_SIZE
						  * after weft_spans_build */
	uint32_t n_stages, n_kinds;
	uint32_t *kind;		/* [n_calls] row of span */
	struct weft_span *span; /* [n_kinds][n_stages] */
};

/* Measures every kind of group that the schedule has: ranks of the dense grid
 * run on where[rank], distinct and connected GPUs of f, on links that they
 * share with the jobs of `load` (NULL: alone).  Keeps f, schedule and where.
 * Free with weft_spans_free in either case. O(kinds of group * ranks * depth).
 */
int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where, const struct weft_load *load,
		     struct weft_spans *spans, struct weft_error *err);
void weft_spans_free(struct weft_spans *spans);

/* Seconds of one call, number `call` of the schedule, in a stage.  By size, an
 * all-reduce is a ring or a double binary tree, whichever is faster.  Rings
 * leave a domain through the links of all their ranks in it, so what a
 * hierarchical algorithm sends over them is the same. */
double weft_spans_call_s(const struct weft_spans *spans, uint32_t call,
			 uint32_t stage);

/* The same where a collective is one ring: it leaves a domain through one of
 * its ranks' links, however many there are. */
double weft_spans_one_ring_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage);

#endif
