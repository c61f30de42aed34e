/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice.h - what would shorten the traced time, by how much at most, and from
 * what that figure comes
 *
 * Every gain is computed from the trace's own times: what is not recorded gives
 * no advice, and no gain is larger than the exposed or idle time it removes.
 */
#ifndef WEFT_LAB_TRACE_ADVICE_H
#define WEFT_LAB_TRACE_ADVICE_H

#include "lab/trace/overlap.h"
#include "lab/trace/waits.h"

enum weft_advice_kind {
	WEFT_ADVICE_STRAGGLERS,
	WEFT_ADVICE_STREAM_PRIORITY,
	WEFT_ADVICE_BUCKET_SIZE,
	WEFT_ADVICE_ACCUMULATION,
	WEFT_ADVICE_COMPRESSION,
	WEFT_ADVICE_ALGORITHM,
	WEFT_ADVICE_LAUNCH_GAPS,
	WEFT_N_ADVICES
};
extern const char *const weft_advice_names[WEFT_N_ADVICES];

struct weft_advice {
	enum weft_advice_kind kind;
	bool has_basis; /* false: basis says what is missing, gain is 0 */
	double gain_s;	/* of the traced time, mean over the ranks */
	char what[200], basis[400];
};

/* Distinct sizes that a fit needs. */
#define WEFT_TRACE_FIT_SIZES 3

/* Time of one kind of collective over n ranks as a straight line through what
 * was measured: alpha_s + size / rate_bytes_per_s.  Median of slopes over the
 * fastest call of each size, since waiting only ever adds. */
struct weft_trace_fit {
	double alpha_s, rate_bytes_per_s;
	double error;	  /* median of |fit - measured| / measured */
	uint32_t n_sizes; /* distinct ones */
	uint32_t n_ranks;
	bool is_supported; /* at least 3 sizes, alpha >= 0, error under a
			    * fifth, and rising by more than twice what it
			    * misses */
};

/* What the advice rests on: traces joined, their overlaps, and their waits
 * (NULL for a single trace). */
struct weft_advice_input {
	const struct weft_trace *traces;
	const struct weft_overlap *overlaps;
	const struct weft_waits *waits;
	uint32_t n_traces;
	uint32_t n_steps;
};

/* advice[WEFT_N_ADVICES], by descending gain, those without basis last. */
int weft_advice_build(const struct weft_advice_input *in,
		      struct weft_advice *advice, struct weft_error *err);

/* Whether the call may synchronise gradients: an all-reduce or reduce-scatter
 * of a group that is not said to be of another axis than data. */
bool weft_advice_is_gradient(const struct weft_trace *t,
			     const struct weft_trace_collective *c);

/* Fits those gradient calls of one kind and group size. */
int weft_trace_fit(const struct weft_advice_input *in, enum weft_trace_op op,
		   uint32_t n_ranks, struct weft_trace_fit *fit,
		   struct weft_error *err);

/* Time of call i of trace a without waiting for others, as far as known. */
double weft_advice_transfer_s(const struct weft_advice_input *in, uint32_t a,
			      uint32_t i);

#endif
