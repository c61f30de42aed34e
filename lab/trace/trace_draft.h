/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_draft.h - a trace while it is read: growing arrays, words to numbers */
#ifndef WEFT_LAB_TRACE_TRACE_DRAFT_H
#define WEFT_LAB_TRACE_TRACE_DRAFT_H

#include "lab/trace/json_stream.h"
#include "lab/trace/trace.h"

/* The arrays of `trace` with the room they have. */
struct weft_trace_draft {
	struct weft_trace *trace;
	struct weft_error *err;
	uint32_t room_events, room_collectives, room_groups, room_splits;
};

/* What a record says about one communication call. */
struct weft_trace_call {
	const char *name;  /* "allreduce", "nccl:all_reduce", a kernel's name */
	const char *dtype; /* NULL: not recorded */
	double in_elements, out_elements;
	double in_bytes, out_bytes; /* used where there are no elements */
	uint32_t n_ranks;
	const char *group_name;	 /* NULL: not recorded */
	const char *group_about; /* its description, or NULL */
	const json_t *group_ranks;
	double rank_start, rank_stride; /* -1: not recorded */
	const json_t *in_split, *out_split;
	double sequence, peer; /* -1: not recorded */
	bool group_is_local, group_is_world;
};
#define WEFT_TRACE_CALL_INIT                                                   \
	{                                                                      \
		.rank_start = -1, .rank_stride = -1, .sequence = -1,           \
		.peer = -1                                                     \
	}

/* Index of a new one, zeroed; NONE with the draft's error. */
uint32_t weft_trace_add_event(struct weft_trace_draft *d);
uint32_t weft_trace_add_collective(struct weft_trace_draft *d);
/* The group of this name, new or known; NONE with the draft's error.  ranks
 * may be NULL or anything: only a list of n_ranks ranks is taken. */
uint32_t weft_trace_add_group(struct weft_trace_draft *d, const char *name,
			      const json_t *ranks, uint32_t n_ranks);
/* Fills collective c from the call; -1 with the draft's error. */
int weft_trace_describe(struct weft_trace_draft *d, uint32_t c,
			const struct weft_trace_call *call);

/* The operation that a call's or kernel's name means; WEFT_OP_OTHER. */
enum weft_trace_op weft_trace_op_of(const char *name);
/* A kernel of a communication library. */
bool weft_trace_is_comm(const char *kernel);
/* "RING_LL" out of a kernel's name into how[size]; "" when it has none. */
void weft_trace_how(const char *kernel, char *how, size_t size);
/* Bytes of "Float", "c10::BFloat16", "long int", ...; 0 when unknown. */
uint32_t weft_trace_dtype_bytes(const char *dtype, bool *is_float);

/* The axis of parallelism that a group's name or description (may be NULL)
 * tells: "TENSOR_MODEL_PARALLEL_GROUP", "mesh_dp_shard", ...; WEFT_N_AXES. */
enum weft_axis weft_trace_axis_of(const char *about);
void weft_trace_group_about(struct weft_trace_group *g, const char *about);

/* A list, or a text that holds one ("[0, 1]"), as a new reference; NULL when
 * it is neither. */
json_t *weft_trace_list(const json_t *value);
/* A number, or a text that holds one; `otherwise` when it is neither. */
double weft_trace_number(const json_t *value, double otherwise);

/* How a reader takes part in trace.c: one per member of the outermost object
 * that says something, called with the stream before the member's value. */
struct weft_trace_kineto;
struct weft_trace_reader {
	const char *path;
	struct weft_json_stream stream;
	struct weft_trace_draft draft;
	struct weft_trace_kineto *kineto; /* what waits to be joined */
	bool is_kineto, is_graph;	  /* "traceEvents", "nodes" was there */
	bool is_chakra;
};

int weft_trace_kineto_events(struct weft_trace_reader *r);
int weft_trace_kineto_job(struct weft_trace_reader *r);
int weft_trace_kineto_base(struct weft_trace_reader *r);
/* After the last event: joins kernels to the calls that launched them. */
int weft_trace_kineto_finish(struct weft_trace_reader *r);
void weft_trace_kineto_free(struct weft_trace_reader *r);

int weft_trace_graph_nodes(struct weft_trace_reader *r);

/* A Chakra graph is no JSON: told by its name and first bytes, read whole. */
int weft_trace_chakra_told(struct weft_trace_reader *r, bool *is_chakra);
int weft_trace_chakra_read(struct weft_trace_reader *r);

/* ---- what of a Kineto trace waits until all of it is read ---- */

/* What an event says besides its times; same index as the event. */
struct weft_trace_link {
	int64_t correlation, external;
	uint32_t own;	/* its collective, from the kernel's record alone */
	bool described; /* that record has the size */
};

struct weft_trace_launch {
	int64_t correlation, thread, at_ns;
};

struct weft_trace_site {
	int64_t external, thread, start_ns, end_ns;
	uint32_t collective;
};

struct weft_trace_kineto {
	struct weft_trace_link *links;
	struct weft_trace_launch *launches;
	struct weft_trace_site
		*operators; /* by thread and start, when finishing */
	struct weft_trace_site *by_external;
	size_t n_launches, n_operators;
	uint32_t room_links, room_launches, room_operators;
	int64_t base_ns;
	uint64_t devices; /* bitset of the first 64 */
};

#endif
