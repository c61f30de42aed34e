/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.h - which rank the others waited for, from the traces of several
 *
 * A collective ends on all its ranks at about the same time, whenever each of
 * them began.  So the last one to begin is the straggler, the time from one's
 * own begin to that is waiting, and only the rest is transfer.  The ranks'
 * clocks are set against each other by the same rule: ends are aligned.
 */
#ifndef WEFT_LAB_TRACE_WAITS_H
#define WEFT_LAB_TRACE_WAITS_H

#include "lab/trace/trace.h"

struct weft_wait_rank {
	uint32_t rank;
	uint32_t n_matched; /* collectives found on another rank, too */
	uint32_t n_last;    /* of these, those it was the last to begin */
	double waited_s;    /* for others */
	double caused_s;    /* sum of what others waited for it */
	double clock_s;	    /* its clock ahead of the first trace's; NAN: no
			     * collective ties it to that */
};

/* What one rank waited for one other, over all collectives. */
struct weft_wait_pair {
	uint32_t waiter, last; /* traces */
	uint32_t n;	       /* collectives */
	double wait_s;
};

struct weft_waits {
	uint32_t n_traces;
	struct weft_wait_rank *ranks; /* [n_traces] as the traces */
	/* [n_traces][n_collectives]; -1: not found on another rank */
	double **wait_s, **transfer_s;
	uint32_t n_matches;
	/* Those who waited and for whom, longest first. */
	struct weft_wait_pair *pairs;
	size_t n_pairs;
};

/* Of traces joined by weft_trace_set_join.  Sends and receives are left out:
 * these wait by design.  Free with weft_waits_free in either case. */
int weft_waits_build(const struct weft_trace *traces, uint32_t n_traces,
		     struct weft_waits *waits, struct weft_error *err);
void weft_waits_free(struct weft_waits *waits);

#endif
