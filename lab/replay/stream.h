/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.h - jobs as they arrive at a cluster: when, for how long, how large */
#ifndef WEFT_LAB_REPLAY_STREAM_H
#define WEFT_LAB_REPLAY_STREAM_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

struct weft_stream_job {
	double submit_s;
	double duration_s;
	uint32_t gpus;
	const char *name; /* "" where it has none */
	const char *axes; /* of its spec, "tp=8,pp=2"; "" where it is unknown */
};

/* Zero-initialise; names and axes live in `texts`. */
struct weft_stream {
	uint32_t n, room;
	struct weft_stream_job *jobs; /* [n] */
	struct weft_arena texts;
};

/* Appends a copy of a job.  Free with weft_stream_free in either case. */
int weft_stream_add(struct weft_stream *s, const struct weft_stream_job *job,
		    struct weft_error *err);
void weft_stream_free(struct weft_stream *s);

/* Puts the jobs into the order of their submission, equal ones as they were
 * added, and the first at time 0.  Keeps only the first `limit` (0: all). */
int weft_stream_sort(struct weft_stream *s, uint32_t limit,
		     struct weft_error *err);

/* Multiplies the times between arrivals. */
void weft_stream_scale(struct weft_stream *s, double factor);

#endif
