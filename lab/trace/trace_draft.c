/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_draft.c - growing arrays, and what the words of a trace mean */
#include "lab/trace/trace_draft.h"

#include <stdlib.h>
#include <string.h>

uint32_t weft_trace_add_event(struct weft_trace_draft *d)
{
	struct weft_trace *t = d->trace;

	if (WEFT_GROW(t->events, t->n_events, d->room_events, d->err))
		return WEFT_TRACE_NONE;
	t->events[t->n_events] = (struct weft_trace_event){
		.launch_ns = WEFT_TRACE_NO_TIME,
		.collective = WEFT_TRACE_NONE,
	};
	return t->n_events++;
}

uint32_t weft_trace_add_collective(struct weft_trace_draft *d)
{
	struct weft_trace *t = d->trace;

	if (WEFT_GROW(t->collectives, t->n_collectives, d->room_collectives,
		      d->err))
		return WEFT_TRACE_NONE;
	t->collectives[t->n_collectives] = (struct weft_trace_collective){
		.start_ns = WEFT_TRACE_NO_TIME,
		.end_ns = WEFT_TRACE_NO_TIME,
		.sequence = -1,
		.group = WEFT_TRACE_NONE,
		.peer = WEFT_TRACE_NONE,
		.op = WEFT_OP_OTHER,
	};
	return t->n_collectives++;
}

json_t *weft_trace_list(const json_t *value)
{
	json_t *list;

	if (json_is_array(value))
		return json_deep_copy(value);
	if (!json_is_string(value))
		return NULL;
	list = json_loads(json_string_value(value), 0, NULL);
	if (list && !json_is_array(list)) {
		json_decref(list);
		list = NULL;
	}
	return list;
}

double weft_trace_number(const json_t *value, double otherwise)
{
	const char *text = json_string_value(value);
	double number;
	char *end;

	if (json_is_number(value))
		return json_number_value(value);
	if (!text || !*text)
		return otherwise;
	number = strtod(text, &end);
	return *end ? otherwise : number;
}

/* Each rank of the list, when it is a list of n different ranks. */
static int ranks_take(struct weft_trace_group *g, const json_t *list,
		      struct weft_error *err)
{
	uint32_t n = (uint32_t)json_array_size(list);
	uint32_t *ranks;

	if (!n || n != g->n_ranks)
		return 0;
	ranks = weft_calloc(n, sizeof(*ranks), err);
	if (!ranks)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		double r = weft_trace_number(json_array_get(list, i), -1);

		if (!(r >= 0 && r < WEFT_TRACE_MAX_RANKS)) {
			free(ranks);
			return 0;
		}
		ranks[i] = (uint32_t)r;
	}
	g->ranks = ranks;
	return 0;
}

static uint32_t group_find(const struct weft_trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_groups; i++) {
		if (strcmp(t->groups[i].name, name) == 0)
			return i;
	}
	return WEFT_TRACE_NONE;
}

uint32_t weft_trace_add_group(struct weft_trace_draft *d, const char *name,
			      const json_t *ranks, uint32_t n_ranks)
{
	struct weft_trace *t = d->trace;
	uint32_t i = group_find(t, name);
	struct weft_trace_group *g;
	json_t *list;
	int failed;

	if (i == WEFT_TRACE_NONE) {
		if (WEFT_GROW(t->groups, t->n_groups, d->room_groups, d->err))
			return WEFT_TRACE_NONE;
		i = t->n_groups;
		t->groups[i] = (struct weft_trace_group){
			.name = weft_strdup(name, d->err),
			.axis = weft_trace_axis_of(name)};
		if (!t->groups[i].name)
			return WEFT_TRACE_NONE;
		t->n_groups++;
	}
	g = &t->groups[i];
	if (!g->n_ranks)
		g->n_ranks = n_ranks;
	if (g->ranks || !ranks)
		return i;
	list = weft_trace_list(ranks);
	failed = list ? ranks_take(g, list, d->err) : 0;
	json_decref(list);
	return failed ? WEFT_TRACE_NONE : i;
}

/* A group given as "first, step": how the profiler shortens long lists. */
static int group_stride(struct weft_trace_draft *d, uint32_t group,
			double start, double stride)
{
	struct weft_trace_group *g = &d->trace->groups[group];

	if (g->ranks || !g->n_ranks || !(start >= 0) || !(stride >= 1) ||
	    !(start + stride * g->n_ranks <= WEFT_TRACE_MAX_RANKS))
		return 0;
	g->ranks = weft_calloc(g->n_ranks, sizeof(*g->ranks), d->err);
	if (!g->ranks)
		return -1;
	for (uint32_t i = 0; i < g->n_ranks; i++)
		g->ranks[i] = (uint32_t)(start + stride * i);
	return 0;
}

/* What each member gets of an all-to-all; a list cut short is left out. */
static int splits_take(struct weft_trace_draft *d,
		       struct weft_trace_collective *c, const json_t *split)
{
	struct weft_trace *t = d->trace;
	json_t *list = split ? weft_trace_list(split) : NULL;
	size_t n = json_array_size(list), i;
	int code = 0;

	if (n && n <= WEFT_TRACE_MAX_RANKS &&
	    (n == c->n_ranks || !c->n_ranks)) {
		c->first_split = t->n_splits;
		for (i = 0; i < n && !code; i++) {
			double share =
				weft_trace_number(json_array_get(list, i), -1);

			code = WEFT_GROW(t->splits, t->n_splits, d->room_splits,
					 d->err);
			if (code || !(share >= 0 && share < 1e15))
				break;
			t->splits[t->n_splits++] = share;
		}
		if (i == n) {
			c->n_splits = c->n_ranks = (uint32_t)n;
		} else {
			t->n_splits = c->first_split;
		}
	}
	json_decref(list);
	return code;
}

/* Where the number of ranks is not known yet. */
static double part_bytes(enum weft_trace_op op, double in, double out)
{
	if (op == WEFT_OP_ALL_GATHER)
		return in;
	return op == WEFT_OP_REDUCE_SCATTER ? out : 0;
}

/* The whole of a collective out of what one rank puts in and gets out. */
static double whole_bytes(enum weft_trace_op op, double in, double out,
			  uint32_t n)
{
	switch (op) {
	case WEFT_OP_ALL_GATHER:
		return out > in ? out : in * n;
	case WEFT_OP_REDUCE_SCATTER:
		return in > out ? in : out * n;
	case WEFT_OP_ALL_TO_ALL:
		return in > 0 ? in : out;
	case WEFT_OP_BARRIER:
		return 0;
	default:
		return in > out ? in : out;
	}
}

static double bytes_of(double elements, double bytes, uint32_t each)
{
	double product = elements * each;

	if (!(product > 0))
		product = bytes;
	return product > 0 && product < 1e18 ? product : 0;
}

int weft_trace_describe(struct weft_trace_draft *d, uint32_t index,
			const struct weft_trace_call *call)
{
	struct weft_trace_collective *c = &d->trace->collectives[index];
	const json_t *split = call->in_split ? call->in_split : call->out_split;
	double in, out;

	c->op = weft_trace_op_of(call->name);
	c->n_ranks = call->n_ranks;
	if (call->sequence >= 0 && call->sequence < 1e15)
		c->sequence = (int64_t)call->sequence;
	if (call->peer >= 0 && call->peer < WEFT_TRACE_MAX_RANKS)
		c->peer = (uint32_t)call->peer;
	if (c->op == WEFT_OP_ALL_TO_ALL && splits_take(d, c, split))
		return -1;
	if (call->group_name) {
		c->group = weft_trace_add_group(d, call->group_name,
						call->group_ranks, c->n_ranks);
		if (c->group == WEFT_TRACE_NONE ||
		    group_stride(d, c->group, call->rank_start,
				 call->rank_stride))
			return -1;
		d->trace->groups[c->group].name_is_local |=
			call->group_is_local;
		d->trace->groups[c->group].is_world |= call->group_is_world;
		weft_trace_group_about(&d->trace->groups[c->group],
				       call->group_about);
	}
	c->element_bytes = weft_trace_dtype_bytes(call->dtype, &c->is_float);
	in = bytes_of(call->in_elements, call->in_bytes, c->element_bytes);
	out = bytes_of(call->out_elements, call->out_bytes, c->element_bytes);
	c->size_bytes = whole_bytes(c->op, in, out, c->n_ranks);
	if (!(c->size_bytes > 0))
		c->part_bytes = part_bytes(c->op, in, out);
	return 0;
}
