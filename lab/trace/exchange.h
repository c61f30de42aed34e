/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.h - bytes from rank to rank, out of recorded collectives: a measured
 * M(i,j)
 */
#ifndef WEFT_LAB_TRACE_EXCHANGE_H
#define WEFT_LAB_TRACE_EXCHANGE_H

#include "lab/trace/trace.h"

struct weft_exchange_pair {
	uint32_t from, to;
	enum weft_axis axis; /* WEFT_N_AXES: its group does not say */
	double bytes;
};

struct weft_exchange {
	uint32_t n_ranks;
	/* ascending from, to, axis; bytes > 0, per step */
	struct weft_exchange_pair *pairs;
	size_t n_pairs;
	double placed_bytes;		    /* sum of the pairs */
	double axis_bytes[WEFT_N_AXES + 1]; /* of these, by axis */
	/* Calls whose group or size is not recorded, or whose root is not. */
	uint32_t n_unplaced;
	double unplaced_bytes; /* sum of their sizes, of all steps */
};

/* Of traces joined by weft_trace_set_join; sums are divided by n_steps (> 0).
 *
 * Rings send along the group's order; broadcasts and reduces, whose root is not
 * recorded, put the same total on every link of the ring; an all-to-all sends
 * its recorded splits, or the same to all.  A rank without a trace is taken to
 * send what the lowest traced rank of its group does.  Free with
 * weft_exchange_free in either case. */
int weft_exchange_build(const struct weft_trace *traces, uint32_t n_traces,
			uint32_t n_steps, struct weft_exchange *exchange,
			struct weft_error *err);
void weft_exchange_free(struct weft_exchange *exchange);

#endif
