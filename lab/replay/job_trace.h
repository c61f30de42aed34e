/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_trace.h - job traces of others, read into a stream of jobs */
#ifndef WEFT_LAB_REPLAY_JOB_TRACE_H
#define WEFT_LAB_REPLAY_JOB_TRACE_H

#include "lab/replay/stream.h"

#include <stdbool.h>

/* Rows that are no job to replay. */
struct job_trace_skipped {
	uint32_t no_submit, no_duration, no_gpus;
};

/* No cluster has more; beyond, a number means something else. */
#define JOB_TRACE_MAX_GPUS 4194304
#define JOB_TRACE_MAX_S	   1e12 /* thirty thousand years */

/* Reads a trace, gzip'ed or not: one whose name ends in .swf or .swf.gz in the
 * Standard Workload Format, a processor counting as a GPU; one that begins as
 * "sacct --parsable2" prints it; any other as CSV with the columns that
 * `columns` names (--columns; NULL: the usual ones). Rows without a time, a
 * duration or a GPU are counted and left out.  Of the CSV's other columns, tp,
 * cp, ep, etp, pp, vpp, dp, zero, mbs, gbs, seq and recompute, and model beside
 * one of them, say how a job is split.  Free the stream in either case. */
int job_trace_load(const char *path, const char *columns,
		   struct weft_stream *stream,
		   struct job_trace_skipped *skipped, struct weft_error *err);

/* The three formats. */
int job_trace_csv(const char *path, const char *columns,
		  struct weft_stream *stream, struct job_trace_skipped *skipped,
		  struct weft_error *err);
int job_trace_swf(const char *path, struct weft_stream *stream,
		  struct job_trace_skipped *skipped, struct weft_error *err);
int job_trace_sacct(const char *path, struct weft_stream *stream,
		    struct job_trace_skipped *skipped, struct weft_error *err);
bool job_trace_sacct_looks(const char *path);

/* Whether a spec has nothing but how a job is split: what a trace may say of
 * it. */
bool job_trace_axes(const char *spec);

#endif
