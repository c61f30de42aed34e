/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - opens a trace, hands its parts to the readers, joins several */
#include "config.h" /* first: strcasestr is GNU */

#include "lab/trace/trace.h"

#include "base/compare.h"
#include "lab/trace/trace_draft.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_trace_op_names[WEFT_N_OPS] = {
	[WEFT_OP_ALL_REDUCE] = "all_reduce",
	[WEFT_OP_ALL_GATHER] = "all_gather",
	[WEFT_OP_REDUCE_SCATTER] = "reduce_scatter",
	[WEFT_OP_ALL_TO_ALL] = "all_to_all",
	[WEFT_OP_BROADCAST] = "broadcast",
	[WEFT_OP_REDUCE] = "reduce",
	[WEFT_OP_GATHER] = "gather",
	[WEFT_OP_SCATTER] = "scatter",
	[WEFT_OP_SEND] = "send",
	[WEFT_OP_RECV] = "recv",
	[WEFT_OP_SEND_RECV] = "send_recv",
	[WEFT_OP_BARRIER] = "barrier",
	[WEFT_OP_OTHER] = "other",
};

/* Members of the outermost object; all others are skipped. */
static const struct {
	const char *key;
	int (*read)(struct weft_trace_reader *r);
} members[] = {
	{"traceEvents", weft_trace_kineto_events},
	{"distributedInfo", weft_trace_kineto_job},
	{"baseTimeNanoseconds", weft_trace_kineto_base},
	{"nodes", weft_trace_graph_nodes},
};

static int member_read(struct weft_trace_reader *r, const char *key)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (strcmp(members[i].key, key) == 0)
			return members[i].read(r);
	}
	return weft_json_stream_skip(&r->stream, r->draft.err);
}

static int object_read(struct weft_trace_reader *r)
{
	struct weft_error *err = r->draft.err;
	bool first = true;
	int more;

	if (weft_json_stream_take(&r->stream, '{', err))
		return -1;
	while ((more = weft_json_stream_more(&r->stream, '}', &first, err)) >
	       0) {
		char *key = weft_json_stream_key(&r->stream, err);
		int code = key ? member_read(r, key) : -1;

		free(key);
		if (code)
			return -1;
	}
	return more;
}

static int document_read(struct weft_trace_reader *r)
{
	struct weft_error *err = r->draft.err;
	int c;

	if (weft_trace_chakra_told(r, &r->is_chakra))
		return -1;
	if (r->is_chakra)
		return weft_trace_chakra_read(r);
	c = weft_json_stream_peek(&r->stream, err);
	if (c < 0)
		return -1;
	/* Chrome's trace format may also be just the array of its events. */
	if (c == '[')
		return weft_trace_kineto_events(r);
	if (c == '{')
		return object_read(r);
	if (c == 0)
		return weft_json_stream_fail(&r->stream, err, "is empty");
	return weft_json_stream_fail(&r->stream, err,
				     "is not a trace: expected JSON (Kineto, "
				     "execution trace) or a Chakra graph");
}

/* "rank-12.json", "trace_rank3.json.gz": the number behind the last "rank" of
 * the file's name. */
static uint32_t rank_named(const char *path)
{
	const char *at = strrchr(path, '/');
	uint32_t rank = WEFT_TRACE_NONE;

	for (at = at ? at + 1 : path; (at = strcasestr(at, "rank")); at += 4) {
		const char *digits = at + 4 + (at[4] && strchr("-_.", at[4]));
		char *end;
		unsigned long value = strtoul(digits, &end, 10);

		if (isdigit((unsigned char)*digits) && end - digits < 8 &&
		    value < WEFT_TRACE_MAX_RANKS)
			rank = (uint32_t)value;
	}
	return rank;
}

static int document_end(struct weft_trace_reader *r)
{
	struct weft_error *err = r->draft.err;
	struct weft_trace *t = r->draft.trace;
	int c = r->is_chakra ? 0 : weft_json_stream_peek(&r->stream, err);

	if (c < 0)
		return -1;
	if (c > 0)
		return weft_json_stream_fail(&r->stream, err,
					     "text behind the end of the JSON");
	if (!r->is_chakra && r->is_kineto == r->is_graph)
		return weft_fail_at(
			err, WEFT_EINVAL, t->source, 0, 0,
			r->is_kineto ? "has both \"traceEvents\" and \"nodes\""
				     : "is not a trace: expected a member "
				       "\"traceEvents\" (Kineto) or \"nodes\" "
				       "(execution trace)");
	t->format = r->is_chakra   ? "chakra"
		    : r->is_kineto ? "kineto"
				   : "execution trace";
	if (weft_trace_kineto_finish(r))
		return -1;
	if (!t->n_events && !t->n_collectives)
		return weft_fail_at(
			err, WEFT_EINVAL, t->source, 0, 0,
			"has no GPU kernel and no collective (%u records "
			"without time and duration)",
			t->n_skipped);
	if (t->rank == WEFT_TRACE_NONE)
		t->rank = rank_named(r->path);
	return 0;
}

int weft_trace_load(const char *path, const struct weft_trace_options *options,
		    struct weft_trace *trace, struct weft_error *err)
{
	struct weft_error own = {0};
	struct weft_trace_reader r = {
		.path = path,
		.draft = {.trace = trace, .err = err ? err : &own}};
	int code;

	*trace = (struct weft_trace){.rank = WEFT_TRACE_NONE, .format = ""};
	snprintf(trace->source, sizeof(trace->source), "%s", path);
	code = weft_json_stream_open(path, &r.stream, r.draft.err);
	if (options) {
		r.stream.progress = options->progress;
		r.stream.context = options->context;
	}
	if (!code)
		code = document_read(&r);
	if (!code)
		code = document_end(&r);
	weft_trace_kineto_free(&r);
	weft_json_stream_close(&r.stream);
	if (code)
		weft_trace_free(trace);
	return code;
}

void weft_trace_free(struct weft_trace *trace)
{
	if (!trace)
		return;
	for (uint32_t i = 0; i < trace->n_groups; i++) {
		free(trace->groups[i].name);
		free(trace->groups[i].ranks);
	}
	free(trace->groups);
	free(trace->events);
	free(trace->collectives);
	free(trace->splits);
	trace->groups = NULL;
	trace->events = NULL;
	trace->collectives = NULL;
	trace->splits = NULL;
	trace->n_groups = trace->n_events = 0;
	trace->n_collectives = trace->n_splits = 0;
}

void weft_trace_drop_events(struct weft_trace *trace)
{
	free(trace->events);
	trace->events = NULL;
	trace->n_events = 0;
}

double weft_trace_collective_s(const struct weft_trace_collective *c)
{
	if (c->start_ns == WEFT_TRACE_NO_TIME)
		return 0;
	return 1e-9 * (double)(c->end_ns - c->start_ns);
}

WEFT_COMPARATOR(by_rank, struct weft_trace, WEFT_UP(rank));

static bool rank_taken(const struct weft_trace *traces, uint32_t n_traces,
		       uint32_t rank)
{
	for (uint32_t i = 0; i < n_traces; i++) {
		if (traces[i].rank == rank)
			return true;
	}
	return false;
}

/* Ranks for the traces that do not know theirs: the lowest not taken, in the
 * order of the files. */
static void ranks_number(struct weft_trace *traces, uint32_t n_traces)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < n_traces; i++) {
		if (traces[i].rank != WEFT_TRACE_NONE)
			continue;
		while (rank_taken(traces, n_traces, next))
			next++;
		traces[i].rank = next;
	}
}

/* A group as large as the job holds every rank. */
static int group_complete(struct weft_trace_group *g, uint32_t world,
			  struct weft_error *err)
{
	if (g->is_world && !g->n_ranks && world > 1)
		g->n_ranks = world;
	if (g->ranks || g->n_ranks != world || !world)
		return 0;
	g->ranks = weft_calloc(world, sizeof(*g->ranks), err);
	if (!g->ranks)
		return -1;
	for (uint32_t r = 0; r < world; r++)
		g->ranks[r] = r;
	return 0;
}

/* Size and group of a call where only another call of its group has it. */
static void collective_complete(const struct weft_trace *t,
				struct weft_trace_collective *c)
{
	if (!c->n_ranks && c->group != WEFT_TRACE_NONE)
		c->n_ranks = t->groups[c->group].n_ranks;
	if (!(c->size_bytes > 0))
		c->size_bytes = c->part_bytes * c->n_ranks;
}

int weft_trace_set_join(struct weft_trace *traces, uint32_t n_traces,
			struct weft_error *err)
{
	uint32_t world = 0;

	ranks_number(traces, n_traces);
	if (n_traces)
		qsort(traces, n_traces, sizeof(*traces), by_rank);
	for (uint32_t i = 0; i < n_traces; i++) {
		const struct weft_trace *t = &traces[i];

		if (i && t->rank == traces[i - 1].rank)
			return weft_fail_at(err, WEFT_EINVAL, t->source, 0, 0,
					    "is of rank %u, as is %s", t->rank,
					    traces[i - 1].source);
		if (t->world_size > world)
			world = t->world_size;
		if (t->rank >= world)
			world = t->rank + 1;
	}
	for (uint32_t i = 0; i < n_traces; i++) {
		struct weft_trace *t = &traces[i];

		t->world_size = world;
		for (uint32_t g = 0; g < t->n_groups; g++) {
			if (group_complete(&t->groups[g], world, err))
				return -1;
		}
		for (uint32_t c = 0; c < t->n_collectives; c++)
			collective_complete(t, &t->collectives[c]);
	}
	return 0;
}
