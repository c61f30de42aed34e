/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_kineto.c - the PyTorch profiler's Chrome JSON
 *
 * One array of events in any order: kernels and copies on GPU streams, the
 * runtime calls that launched them (same "correlation"), and the operators that
 * made those calls (enclosing them on the same thread, or of the same "External
 * id").  Only newer releases repeat a collective's size and group at its
 * kernel; for others these are taken from the operator.
 */
#include "lab/trace/trace_draft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Year 2096 and three years: sums of these do not overflow nanoseconds. */
#define MAX_TIME_US	4e15
#define MAX_DURATION_US 1e14
#define MAX_BASE_NS	INT64_C(4000000000000000000)
/* An event while it is looked at. */
struct record {
	const json_t *all, *args;
	const char *name;
	int64_t start_ns, end_ns;
};

static bool time_read(const json_t *value, double max_us, int64_t *ns)
{
	double us = weft_trace_number(value, NAN);

	if (!(us > -max_us && us < max_us))
		return false;
	*ns = json_is_integer(value) ? 1000 * json_integer_value(value)
				     : llround(us * 1e3);
	return true;
}

static int64_t whole_number(const json_t *value, int64_t otherwise)
{
	double number;

	if (json_is_integer(value))
		return json_integer_value(value);
	number = weft_trace_number(value, NAN);
	return fabs(number) < 9e15 ? (int64_t)number : otherwise;
}

static const json_t *arg(const struct record *r, const char *key)
{
	return json_object_get(r->args, key);
}

/* Old releases write it in lower case. */
static int64_t external_id(const struct record *r)
{
	const json_t *id = arg(r, "External id");

	return whole_number(id ? id : arg(r, "external id"), -1);
}

/* Elements of "Input Dims": dimensions multiply, tensors add up. */
static double elements_of(const json_t *dims)
{
	double product = 1, sum = 0;
	bool nested = false;
	size_t i;
	json_t *item;

	json_array_foreach((json_t *)(uintptr_t)dims, i, item)
	{
		if (json_is_array(item)) {
			nested = true;
			sum += elements_of(item);
		} else {
			product *= weft_trace_number(item, 0);
		}
	}
	return nested ? sum : json_array_size(dims) ? product : 0;
}

/* Element type and count as the operator's inputs show them. */
static void call_inputs(const struct record *r, struct weft_trace_call *call)
{
	json_t *types =
		(json_t *)(uintptr_t)json_object_get(r->args, "Input type");
	const json_t *dims = arg(r, "Input Dims");
	json_t *type;
	bool is_float;
	double ratio;
	size_t i;

	call->in_elements = elements_of(dims);
	/* c10d's own operators have (output, input): sizes of both sides, and
	 * from these the ranks. */
	if (strncmp(r->name, "c10d::", 6) == 0) {
		call->out_elements = elements_of(json_array_get(dims, 0));
		call->in_elements = elements_of(json_array_get(dims, 1));
		ratio = call->out_elements > call->in_elements
				? call->out_elements / call->in_elements
				: call->in_elements / call->out_elements;
		if (weft_trace_op_of(r->name) != WEFT_OP_ALL_TO_ALL &&
		    ratio >= 1 && ratio <= WEFT_TRACE_MAX_RANKS &&
		    ratio == floor(ratio))
			call->n_ranks = (uint32_t)ratio;
	}
	json_array_foreach(types, i, type)
	{
		if (weft_trace_dtype_bytes(json_string_value(type),
					   &is_float)) {
			call->dtype = json_string_value(type);
			return;
		}
	}
}

/* The call of an operator or kernel; false when it says no more than its name.
 */
static bool call_read(const struct record *r, struct weft_trace_call *call)
{
	const json_t *name = arg(r, "Collective name");
	double n_ranks = weft_trace_number(arg(r, "Group size"), 0);
	const json_t *peer = arg(r, "Dst Rank");

	call->name = json_is_string(name) ? json_string_value(name) : r->name;
	if (!json_is_string(name)) {
		call_inputs(r, call);
		return call->in_elements > 0 && call->dtype;
	}
	call->dtype = json_string_value(arg(r, "dtype"));
	call->in_elements = weft_trace_number(arg(r, "In msg nelems"), 0);
	call->out_elements = weft_trace_number(arg(r, "Out msg nelems"), 0);
	if (n_ranks >= 1 && n_ranks <= WEFT_TRACE_MAX_RANKS)
		call->n_ranks = (uint32_t)n_ranks;
	call->group_name = json_string_value(arg(r, "Process Group Name"));
	call->group_about =
		json_string_value(arg(r, "Process Group Description"));
	call->group_ranks = arg(r, "Process Group Ranks");
	call->rank_start = weft_trace_number(arg(r, "Global rank start"), -1);
	call->rank_stride = weft_trace_number(arg(r, "Global rank stride"), -1);
	call->in_split = arg(r, "In split size");
	call->out_split = arg(r, "Out split size");
	call->sequence = weft_trace_number(arg(r, "Seq"), -1);
	call->peer = weft_trace_number(peer ? peer : arg(r, "Src Rank"), -1);
	return true;
}

static int kernel_collective(struct weft_trace_reader *r,
			     const struct record *record, uint32_t event,
			     struct weft_trace_link *link)
{
	struct weft_trace_draft *d = &r->draft;
	struct weft_trace_call call = WEFT_TRACE_CALL_INIT;
	uint32_t c = weft_trace_add_collective(d);

	if (c == WEFT_TRACE_NONE)
		return -1;
	link->own = c;
	link->described = call_read(record, &call);
	d->trace->events[event].work = WEFT_WORK_COMM;
	d->trace->events[event].collective = c;
	weft_trace_how(record->name, d->trace->collectives[c].how,
		       sizeof(d->trace->collectives[c].how));
	return weft_trace_describe(d, c, &call);
}

static int gpu_event(struct weft_trace_reader *r, const struct record *record,
		     enum weft_trace_work work)
{
	struct weft_trace_kineto *k = r->kineto;
	struct weft_trace_draft *d = &r->draft;
	uint32_t i = weft_trace_add_event(d);
	int64_t device = whole_number(arg(record, "device"), 0);
	struct weft_trace_event *event;
	struct weft_trace_link *link;

	if (i == WEFT_TRACE_NONE ||
	    WEFT_GROW(k->links, i, k->room_links, d->err))
		return -1;
	link = &k->links[i];
	*link = (struct weft_trace_link){
		.correlation = whole_number(arg(record, "correlation"), -1),
		.external = external_id(record),
		.own = WEFT_TRACE_NONE,
	};
	event = &d->trace->events[i];
	event->start_ns = record->start_ns;
	event->end_ns = record->end_ns;
	event->work = work;
	event->stream = (uint32_t)whole_number(arg(record, "stream"), 0);
	if (device >= 0 && device < 64)
		k->devices |= UINT64_C(1) << device;
	if (work == WEFT_WORK_COMPUTE && weft_trace_is_comm(record->name))
		return kernel_collective(r, record, i, link);
	return 0;
}

static int kernel_read(struct weft_trace_reader *r, const struct record *record)
{
	return gpu_event(r, record, WEFT_WORK_COMPUTE);
}

static int copy_read(struct weft_trace_reader *r, const struct record *record)
{
	return gpu_event(r, record, WEFT_WORK_COPY);
}

static int launch_read(struct weft_trace_reader *r, const struct record *record)
{
	struct weft_trace_kineto *k = r->kineto;
	int64_t correlation = whole_number(arg(record, "correlation"), 0);

	/* 0 is what calls without a launch have. */
	if (correlation <= 0)
		return 0;
	if (WEFT_GROW(k->launches, k->n_launches, k->room_launches,
		      r->draft.err))
		return -1;
	k->launches[k->n_launches++] = (struct weft_trace_launch){
		.correlation = correlation,
		.thread = whole_number(json_object_get(record->all, "tid"), -1),
		.at_ns = record->start_ns,
	};
	return 0;
}

/* Operators that stand for a communication call. */
static bool is_call(const char *name)
{
	return strcmp(name, "record_param_comms") == 0 ||
	       strncmp(name, "nccl:", 5) == 0 ||
	       strcmp(name, "c10d::_allgather_base_") == 0 ||
	       strcmp(name, "c10d::_reduce_scatter_base_") == 0 ||
	       strcmp(name, "c10d::alltoall_base_") == 0;
}

static int operator_read(struct weft_trace_reader *r,
			 const struct record *record)
{
	struct weft_trace_kineto *k = r->kineto;
	struct weft_trace_call call = WEFT_TRACE_CALL_INIT;
	uint32_t c;

	if (strncmp(record->name, "ProfilerStep", 12) == 0)
		r->draft.trace->n_steps++;
	if (!is_call(record->name))
		return 0;
	if (!call_read(record, &call))
		return 0;
	c = weft_trace_add_collective(&r->draft);
	if (c == WEFT_TRACE_NONE || weft_trace_describe(&r->draft, c, &call) ||
	    WEFT_GROW(k->operators, k->n_operators, k->room_operators,
		      r->draft.err))
		return -1;
	k->operators[k->n_operators++] = (struct weft_trace_site){
		.external = external_id(record),
		.thread = whole_number(json_object_get(record->all, "tid"), -1),
		.start_ns = record->start_ns,
		.end_ns = record->end_ns,
		.collective = c,
	};
	return 0;
}

/* Categories by their names in new and old releases. */
static const struct {
	const char *name;
	int (*read)(struct weft_trace_reader *r, const struct record *record);
} categories[] = {
	{"kernel", kernel_read},      {"gpu_memcpy", copy_read},
	{"gpu_memset", copy_read},    {"memcpy", copy_read},
	{"memset", copy_read},	      {"cuda_runtime", launch_read},
	{"cuda_driver", launch_read}, {"hip_runtime", launch_read},
	{"runtime", launch_read},     {"cpu_op", operator_read},
	{"operator", operator_read},  {"user_annotation", operator_read},
};

static int event_read(struct weft_trace_reader *r, const json_t *all)
{
	const char *category = json_string_value(json_object_get(all, "cat"));
	const char *phase = json_string_value(json_object_get(all, "ph"));
	struct record record = {
		.all = all,
		.args = json_object_get(all, "args"),
		.name = json_string_value(json_object_get(all, "name")),
	};
	int64_t duration = 0;
	size_t i, n = sizeof(categories) / sizeof(categories[0]);

	if (!category || !record.name || !phase || strcmp(phase, "X") != 0)
		return 0;
	for (i = 0; i < n; i++) {
		if (strcasecmp(categories[i].name, category) == 0)
			break;
	}
	if (i == n)
		return 0;
	if (!time_read(json_object_get(all, "ts"), MAX_TIME_US,
		       &record.start_ns) ||
	    !time_read(json_object_get(all, "dur"), MAX_DURATION_US,
		       &duration) ||
	    duration < 0) {
		r->draft.trace->n_skipped++;
		return 0;
	}
	record.end_ns = record.start_ns + duration;
	return categories[i].read(r, &record);
}

static int kineto_begin(struct weft_trace_reader *r)
{
	if (!r->kineto)
		r->kineto = weft_calloc(1, sizeof(*r->kineto), r->draft.err);
	return r->kineto ? 0 : -1;
}

/* Every event that event_read makes something of has one of these. */
static const char *const event_words[] = {
	"ernel\"",    "emcpy\"",     "emset\"",	   "untime\"",
	"_driver\"",  "nccl:",	     "record_par", "c10d::_all",
	"c10d::_red", "c10d::allto", "ProfilerS",
};

int weft_trace_kineto_events(struct weft_trace_reader *r)
{
	struct weft_error *err = r->draft.err;
	bool first = true;
	int more;

	r->is_kineto = true;
	if (kineto_begin(r) || weft_json_stream_take(&r->stream, '[', err))
		return -1;
	while ((more = weft_json_stream_more(&r->stream, ']', &first, err)) >
	       0) {
		json_t *event;
		int code = weft_json_stream_value_with(
			&r->stream, event_words,
			sizeof(event_words) / sizeof(char *), &event, err);

		if (code > 0)
			code = event_read(r, event);
		json_decref(event);
		if (code)
			return -1;
	}
	return more;
}

/* Process groups with the ranks that the profiler cut short elsewhere. */
static int groups_read(struct weft_trace_reader *r, const json_t *config)
{
	uint32_t index;
	json_t *group;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)config, i, group)
	{
		const json_t *name = json_object_get(group, "pg_name");
		const json_t *ranks = json_object_get(group, "ranks");
		double n = weft_trace_number(json_object_get(group, "pg_size"),
					     (double)json_array_size(ranks));

		if (!json_is_string(name) ||
		    !(n >= 1 && n <= WEFT_TRACE_MAX_RANKS))
			continue;
		index = weft_trace_add_group(&r->draft, json_string_value(name),
					     ranks, (uint32_t)n);
		if (index == WEFT_TRACE_NONE)
			return -1;
		weft_trace_group_about(
			&r->draft.trace->groups[index],
			json_string_value(json_object_get(group, "pg_desc")));
	}
	return 0;
}

int weft_trace_kineto_job(struct weft_trace_reader *r)
{
	struct weft_trace *t = r->draft.trace;
	json_t *info = weft_json_stream_value(&r->stream, r->draft.err);
	double rank, world;
	int code;

	if (!info)
		return -1;
	rank = weft_trace_number(json_object_get(info, "rank"), -1);
	world = weft_trace_number(json_object_get(info, "world_size"), 0);
	if (rank >= 0 && rank < WEFT_TRACE_MAX_RANKS)
		t->rank = (uint32_t)rank;
	if (world >= 1 && world <= WEFT_TRACE_MAX_RANKS)
		t->world_size = (uint32_t)world;
	code = groups_read(r, json_object_get(info, "pg_config"));
	json_decref(info);
	return code;
}

int weft_trace_kineto_base(struct weft_trace_reader *r)
{
	json_t *base = weft_json_stream_value(&r->stream, r->draft.err);
	int64_t ns;

	if (!base || kineto_begin(r)) {
		json_decref(base);
		return -1;
	}
	ns = whole_number(base, 0);
	if (ns >= 0 && ns < MAX_BASE_NS)
		r->kineto->base_ns = ns;
	json_decref(base);
	return 0;
}

void weft_trace_kineto_free(struct weft_trace_reader *r)
{
	if (!r->kineto)
		return;
	free(r->kineto->links);
	free(r->kineto->launches);
	free(r->kineto->operators);
	free(r->kineto->by_external);
	free(r->kineto);
	r->kineto = NULL;
}
