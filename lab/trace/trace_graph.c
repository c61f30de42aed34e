/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_graph.c - PyTorch execution traces: operators with inputs, no times
 *
 * Schema 1.0 lists a node's inputs directly, 1.1 under "inputs"."values" and
 * repeats a collective's size among "attrs".  Either way "record_param_comms"
 * is the record of a communication call; a tensor is written as [id, storage,
 * offset, elements, bytes of each, device].
 */
#include "lab/trace/trace_draft.h"

#include <string.h>

#define MAX_INPUTS 32

/* A node's inputs, whichever schema. */
static const json_t *node_values(const json_t *node, const char *member)
{
	const json_t *list = json_object_get(node, member);

	return json_is_object(list) ? json_object_get(list, "values") : list;
}

static const json_t *attribute(const json_t *node, const char *name)
{
	json_t *list = (json_t *)(uintptr_t)json_object_get(node, "attrs");
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *key =
			json_string_value(json_object_get(item, "name"));

		if (key && strcmp(key, name) == 0)
			return json_object_get(item, "value");
	}
	return NULL;
}

/* [id, storage, offset, elements, bytes of each, device] */
static bool is_tensor(const json_t *value)
{
	return json_array_size(value) == 6 &&
	       json_is_number(json_array_get(value, 0)) &&
	       json_is_string(json_array_get(value, 5));
}

/* Bytes of a tensor or of the tensors of a list; each: of its elements. */
static double tensor_bytes(const json_t *value, double *each)
{
	double sum = 0;

	if (is_tensor(value)) {
		*each = weft_trace_number(json_array_get(value, 4), 0);
		return *each * weft_trace_number(json_array_get(value, 3), 0);
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		const json_t *item = json_array_get(value, i);

		if (is_tensor(item))
			sum += tensor_bytes(item, each);
	}
	return sum;
}

/* What the positions of the call's record mean is the same in all schemas
 * counted from the collective's name: before it the rank, the group and the
 * sequence number, after it the splits and the group's first rank, step and
 * size. */
struct record {
	const json_t *inputs;
	size_t name; /* index of the collective's name; n: none */
	size_t n;
};

static const json_t *near_name(const struct record *r, int offset)
{
	long at = (long)r->name + offset;

	return at >= 0 && at < (long)r->n
		       ? json_array_get(r->inputs, (size_t)at)
		       : NULL;
}

static void record_open(const json_t *node, struct record *r)
{
	r->inputs = node_values(node, "inputs");
	r->n = json_array_size(r->inputs);
	for (r->name = 0; r->name < r->n; r->name++) {
		if (json_is_string(json_array_get(r->inputs, r->name)))
			break;
	}
}

/* Name of the record's group: ["0", "default_pg"], or a pointer, which means
 * nothing outside of its process. */
static const char *group_name(const struct record *r, const json_t *node,
			      char *buffer, size_t size, bool *is_local)
{
	const json_t *group = near_name(r, -2);
	const char *name = json_string_value(attribute(node, "pg_name"));

	*is_local = false;
	if (!name)
		name = json_string_value(json_array_get(group, 0));
	if (name || !json_is_integer(group))
		return name;
	*is_local = true;
	/* Of fixed width: room for the name that groups_rename gives. */
	snprintf(buffer, size, "0x%016llx",
		 (unsigned long long)json_integer_value(group));
	return buffer;
}

static int call_take(struct weft_trace_draft *d, const json_t *node,
		     const struct record *r, double *each)
{
	struct weft_trace_call call = WEFT_TRACE_CALL_INIT;
	double n_ranks = weft_trace_number(attribute(node, "pg_size"), 0);
	const json_t *outputs = node_values(node, "outputs");
	char group[32];
	uint32_t c;

	call.name = json_string_value(near_name(r, 0));
	call.dtype = json_string_value(attribute(node, "dtype"));
	for (size_t i = 0; i < r->name && i < MAX_INPUTS; i++)
		call.in_bytes +=
			tensor_bytes(json_array_get(r->inputs, i), each);
	for (size_t i = 0; i < json_array_size(outputs); i++)
		call.out_bytes +=
			tensor_bytes(json_array_get(outputs, i), each);
	if (!(n_ranks >= 1))
		n_ranks = weft_trace_number(near_name(r, 5), 0);
	if (n_ranks >= 1 && n_ranks <= WEFT_TRACE_MAX_RANKS)
		call.n_ranks = (uint32_t)n_ranks;
	call.group_name =
		group_name(r, node, group, sizeof(group), &call.group_is_local);
	call.group_about = json_string_value(attribute(node, "pg_desc"));
	call.sequence = weft_trace_number(near_name(r, -3), -1);
	call.in_split = near_name(r, 1);
	call.out_split = near_name(r, 2);
	call.rank_start = weft_trace_number(near_name(r, 3), -1);
	call.rank_stride = weft_trace_number(near_name(r, 4), -1);
	c = weft_trace_add_collective(d);
	return c == WEFT_TRACE_NONE ? -1 : weft_trace_describe(d, c, &call);
}

/* "wait" and the like move no bytes. */
static bool moves_bytes(const struct record *r)
{
	const char *name = json_string_value(near_name(r, 0));

	return name && weft_trace_op_of(name) != WEFT_OP_OTHER;
}

/* What stands in front of the name: this rank; of others the root or peer. */
static const bool says_own_rank[WEFT_N_OPS] = {
	[WEFT_OP_ALL_REDUCE] = true,
	[WEFT_OP_ALL_GATHER] = true,
	[WEFT_OP_REDUCE_SCATTER] = true,
	[WEFT_OP_ALL_TO_ALL] = true,
};

static int comms_read(struct weft_trace_draft *d, const json_t *node)
{
	struct weft_trace *t = d->trace;
	struct record r;
	double rank, each = 0;

	record_open(node, &r);
	if (!moves_bytes(&r))
		return 0;
	if (call_take(d, node, &r, &each))
		return -1;
	if (!t->collectives[t->n_collectives - 1].element_bytes && each >= 1 &&
	    each <= 16)
		t->collectives[t->n_collectives - 1].element_bytes =
			(uint32_t)each;
	rank = weft_trace_number(near_name(&r, -1), -1);
	if (t->rank == WEFT_TRACE_NONE && rank >= 0 &&
	    rank < WEFT_TRACE_MAX_RANKS &&
	    says_own_rank[t->collectives[t->n_collectives - 1].op])
		t->rank = (uint32_t)rank;
	return 0;
}

/* The process groups: a JSON text as the node's only input. */
static int groups_read(struct weft_trace_draft *d, const json_t *node)
{
	json_t *list =
		weft_trace_list(json_array_get(node_values(node, "inputs"), 0));
	json_t *item;
	size_t i;
	int code = 0;

	json_array_foreach(list, i, item)
	{
		const char *name =
			json_string_value(json_object_get(item, "pg_name"));
		const json_t *ranks = json_object_get(item, "ranks");
		double n =
			weft_trace_number(json_object_get(item, "group_size"),
					  (double)json_array_size(ranks));

		if (name && n >= 1 && n <= WEFT_TRACE_MAX_RANKS &&
		    weft_trace_add_group(d, name, ranks, (uint32_t)n) ==
			    WEFT_TRACE_NONE) {
			code = -1;
			break;
		}
	}
	json_decref(list);
	return code;
}

static const struct {
	const char *name;
	int (*read)(struct weft_trace_draft *d, const json_t *node);
} nodes[] = {
	{"record_param_comms", comms_read},
	{"## process_group:init ##", groups_read},
};

static int node_read(struct weft_trace_reader *r, const json_t *node)
{
	const char *name = json_string_value(json_object_get(node, "name"));

	for (size_t i = 0; name && i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		if (strcmp(nodes[i].name, name) == 0)
			return nodes[i].read(&r->draft, node);
	}
	return 0;
}

/* Groups known by address alone are numbered as they appear, which is the same
 * on every rank. */
static void groups_rename(struct weft_trace *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_groups; i++) {
		struct weft_trace_group *g = &t->groups[i];

		if (g->name_is_local)
			snprintf(g->name, strlen(g->name) + 1, "#%u", ++n);
	}
}

int weft_trace_graph_nodes(struct weft_trace_reader *r)
{
	struct weft_error *err = r->draft.err;
	bool first = true;
	int more;

	r->is_graph = true;
	if (weft_json_stream_take(&r->stream, '[', err))
		return -1;
	while ((more = weft_json_stream_more(&r->stream, ']', &first, err)) >
	       0) {
		json_t *node = weft_json_stream_value(&r->stream, err);
		int code = node ? node_read(r, node) : -1;

		json_decref(node);
		if (code)
			return -1;
	}
	groups_rename(r->draft.trace);
	return more;
}
