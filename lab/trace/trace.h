/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.h - what one rank's GPU did, as its profiler recorded it
 *
 * Read from Kineto traces (the PyTorch profiler's Chrome JSON), which have
 * times, and from PyTorch execution traces and Chakra graphs, which have
 * collectives and their groups but no times.
 */
#ifndef WEFT_LAB_TRACE_TRACE_H
#define WEFT_LAB_TRACE_TRACE_H

#include "base/error.h"
#include "costmodel/traffic/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/* "none" for indices and ranks. */
#define WEFT_TRACE_NONE	   UINT32_MAX
#define WEFT_TRACE_NO_TIME INT64_MIN
/* More ranks than any group has. */
#define WEFT_TRACE_MAX_RANKS (1u << 20)

enum weft_trace_op {
	WEFT_OP_ALL_REDUCE,
	WEFT_OP_ALL_GATHER,
	WEFT_OP_REDUCE_SCATTER,
	WEFT_OP_ALL_TO_ALL,
	WEFT_OP_BROADCAST,
	WEFT_OP_REDUCE,
	WEFT_OP_GATHER,
	WEFT_OP_SCATTER,
	WEFT_OP_SEND,
	WEFT_OP_RECV,
	WEFT_OP_SEND_RECV, /* a kernel that does both, nothing more known */
	WEFT_OP_BARRIER,
	WEFT_OP_OTHER,
	WEFT_N_OPS
};
extern const char *const weft_trace_op_names[WEFT_N_OPS];

/* What a GPU stream was busy with. */
enum weft_trace_work {
	WEFT_WORK_COMPUTE,
	WEFT_WORK_COPY, /* memcpy, memset */
	WEFT_WORK_COMM,
};

/* One kernel or copy, end_ns >= start_ns. */
struct weft_trace_event {
	int64_t start_ns, end_ns;
	int64_t launch_ns; /* when the CPU asked for it; or NO_TIME */
	uint32_t stream;
	uint32_t collective; /* index, for WEFT_WORK_COMM */
	enum weft_trace_work work;
};

/* One communication call; its kernels are events. */
struct weft_trace_collective {
	int64_t start_ns, end_ns; /* NO_TIME: not recorded */
	int64_t sequence;	  /* number within its group; -1: none */
	double size_bytes;	  /* 0: not recorded.  The whole of it: what
				   * each rank has after an all-gather, before
				   * a reduce-scatter; of an all-to-all what
				   * this rank sends */
	double part_bytes;	  /* what this rank puts into an all-gather or
				   * gets of a reduce-scatter, where the
				   * whole is not known */
	uint32_t element_bytes;	  /* 0: not recorded */
	bool is_float;		  /* and may thus be rounded */
	uint32_t n_ranks;	  /* of its group; 0: not recorded */
	uint32_t group;		  /* index of groups; NONE: not recorded */
	uint32_t peer;		  /* send, recv: the other's global rank */
	uint32_t first_split, n_splits; /* all-to-all: shares per member */
	enum weft_trace_op op;
	char how[24]; /* algorithm and protocol ("RING_LL"), or "" */
};

struct weft_trace_group {
	char *name;	     /* as recorded, or "#k" */
	uint32_t n_ranks;    /* 0: not recorded */
	uint32_t *ranks;     /* [n_ranks] in the group's order, or NULL */
	enum weft_axis axis; /* as its description says; WEFT_N_AXES: it
			      * does not */
	bool name_is_local;  /* the name says nothing to other ranks */
	bool is_world;	     /* of all ranks, however many */
};

struct weft_trace {
	char source[120];
	uint32_t file;	     /* the caller's number for it; 0 after loading */
	const char *format;  /* "kineto", "execution trace", "chakra" */
	uint32_t rank;	     /* NONE: not recorded */
	uint32_t world_size; /* 0: not recorded */
	uint32_t n_steps;    /* profiler's steps; 0: not recorded */
	uint32_t n_devices;  /* GPUs that have events */
	uint32_t n_skipped;  /* records left out: no time, or no duration */
	/* by start_ns */
	struct weft_trace_event *events;
	uint32_t n_events;
	/* by start_ns; without times in the order recorded */
	struct weft_trace_collective *collectives;
	uint32_t n_collectives;
	struct weft_trace_group *groups;
	uint32_t n_groups;
	double *splits;
	uint32_t n_splits;
};

struct weft_trace_options {
	/* as in json_stream.h */
	void (*progress)(void *context, double part);
	void *context;
};

/* Reads one file, plain or gzip'ed, of any format; options may be NULL.  A
 * trace without any event or collective is an error.  Free with
 * weft_trace_free in either case. */
int weft_trace_load(const char *path, const struct weft_trace_options *options,
		    struct weft_trace *trace, struct weft_error *err);
void weft_trace_free(struct weft_trace *trace);
/* Frees the events, by far the largest part, once they are measured. */
void weft_trace_drop_events(struct weft_trace *trace);

/* Makes several files one job: sorts them by rank, numbers those whose rank is
 * not recorded by their order, and completes groups that are as large as the
 * job.  Fails when two files are of the same rank. */
int weft_trace_set_join(struct weft_trace *traces, uint32_t n_traces,
			struct weft_error *err);

/* Seconds from start to end; 0 without times. */
double weft_trace_collective_s(const struct weft_trace_collective *c);

#endif
