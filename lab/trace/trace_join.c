/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_join.c - which call each communication kernel belongs to */
#include "base/compare.h"
#include "lab/trace/trace_draft.h"

#include <stdlib.h>
#include <string.h>

/* How many operators a launch may lie behind the one that encloses it: those
 * of a coalesced group are its siblings. */
#define MAX_SIBLINGS 256

WEFT_COMPARATOR(by_correlation, struct weft_trace_launch, WEFT_UP(correlation));

WEFT_COMPARATOR(by_thread, struct weft_trace_site,
		WEFT_UP(thread) WEFT_UP(start_ns) WEFT_DOWN(end_ns));

WEFT_COMPARATOR(by_external, struct weft_trace_site,
		WEFT_UP(external) WEFT_BY(by_thread));

static int indices_build(struct weft_trace_kineto *k, struct weft_error *err)
{
	size_t n = k->n_operators;

	k->by_external = weft_calloc(n, sizeof(*k->by_external), err);
	if (!k->by_external)
		return -1;
	if (k->n_launches)
		qsort(k->launches, k->n_launches, sizeof(*k->launches),
		      by_correlation);
	if (!n)
		return 0;
	memcpy(k->by_external, k->operators, n * sizeof(*k->by_external));
	qsort(k->by_external, n, sizeof(*k->by_external), by_external);
	qsort(k->operators, n, sizeof(*k->operators), by_thread);
	return 0;
}

static const struct weft_trace_launch *
launch_of(const struct weft_trace_kineto *k, const struct weft_trace_link *link)
{
	struct weft_trace_launch key = {.correlation = link->correlation};

	return link->correlation > 0 && k->n_launches
		       ? bsearch(&key, k->launches, k->n_launches, sizeof(key),
				 by_correlation)
		       : NULL;
}

static bool encloses(const struct weft_trace_site *o,
		     const struct weft_trace_launch *launch)
{
	return o->thread == launch->thread && o->start_ns <= launch->at_ns &&
	       launch->at_ns <= o->end_ns;
}

/* The operator that the kernel's record names.  Old releases number these two
 * independently, hence the check against the launch. */
static const struct weft_trace_site *
operator_named(const struct weft_trace_kineto *k, int64_t external,
	       const struct weft_trace_launch *launch)
{
	size_t low = 0, high = k->n_operators;

	if (external <= 0)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->by_external[middle].external < external)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == k->n_operators || k->by_external[low].external != external)
		return NULL;
	if (launch && !encloses(&k->by_external[low], launch))
		return NULL;
	return &k->by_external[low];
}

/* The innermost operator around the launch that knows its size, or the
 * innermost. */
static const struct weft_trace_site *
operator_around(const struct weft_trace_kineto *k, const struct weft_trace *t,
		const struct weft_trace_launch *launch)
{
	const struct weft_trace_site *nearest = NULL;
	size_t low = 0, high = k->n_operators;

	while (low < high) { /* the first that starts later */
		size_t middle = low + (high - low) / 2;
		const struct weft_trace_site *o = &k->operators[middle];

		if (o->thread < launch->thread ||
		    (o->thread == launch->thread &&
		     o->start_ns <= launch->at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < MAX_SIBLINGS; i--) {
		const struct weft_trace_site *o = &k->operators[i - 1];

		if (o->thread != launch->thread)
			break;
		if (!encloses(o, launch))
			continue;
		if (t->collectives[o->collective].size_bytes > 0)
			return o;
		if (!nearest)
			nearest = o;
	}
	return nearest;
}

/* Puts the kernel's event under the call that says most about it. */
static void kernel_join(const struct weft_trace_kineto *k, struct weft_trace *t,
			uint32_t event, const struct weft_trace_launch *launch)
{
	const struct weft_trace_link *link = &k->links[event];
	const struct weft_trace_site *o =
		operator_named(k, link->external, launch);
	struct weft_trace_collective *own = &t->collectives[link->own];
	struct weft_trace_collective *c = own;

	if (!o && launch && !link->described)
		o = operator_around(k, t, launch);
	if (o && t->collectives[o->collective].op != WEFT_OP_OTHER) {
		c = &t->collectives[o->collective];
		t->events[event].collective = o->collective;
		memcpy(c->how, own->how, sizeof(c->how));
	}
	if (c->start_ns == WEFT_TRACE_NO_TIME ||
	    t->events[event].start_ns < c->start_ns)
		c->start_ns = t->events[event].start_ns;
	if (c->end_ns == WEFT_TRACE_NO_TIME ||
	    t->events[event].end_ns > c->end_ns)
		c->end_ns = t->events[event].end_ns;
}

static void events_join(const struct weft_trace_kineto *k, struct weft_trace *t)
{
	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct weft_trace_launch *launch =
			launch_of(k, &k->links[i]);

		t->events[i].start_ns += k->base_ns;
		t->events[i].end_ns += k->base_ns;
		if (launch)
			t->events[i].launch_ns = launch->at_ns + k->base_ns;
		if (t->events[i].work == WEFT_WORK_COMM)
			kernel_join(k, t, i, launch);
	}
}

WEFT_COMPARATOR(collective_by_start, struct weft_trace_collective,
		WEFT_UP(start_ns) WEFT_UP(end_ns));

WEFT_COMPARATOR(event_by_start, struct weft_trace_event,
		WEFT_UP(start_ns) WEFT_UP(end_ns));

/* Drops calls without kernels (other calls say the same), sorts the
 * rest, and renumbers them in the events. */
static int collectives_order(struct weft_trace *t, struct weft_error *err)
{
	struct placed {
		struct weft_trace_collective c; /* first: compared as one */
		uint32_t was;
	} *placed = weft_calloc(t->n_collectives, sizeof(*placed), err);
	uint32_t *now = weft_calloc(t->n_collectives, sizeof(*now), err);
	uint32_t n = 0;

	if (!placed || !now) {
		free(placed);
		free(now);
		return -1;
	}
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		if (t->collectives[i].start_ns == WEFT_TRACE_NO_TIME)
			continue;
		placed[n].c = t->collectives[i];
		placed[n++].was = i;
	}
	if (n)
		qsort(placed, n, sizeof(*placed), collective_by_start);
	for (uint32_t i = 0; i < n; i++) {
		t->collectives[i] = placed[i].c;
		now[placed[i].was] = i;
	}
	for (uint32_t i = 0; i < t->n_events; i++) {
		if (t->events[i].work == WEFT_WORK_COMM)
			t->events[i].collective = now[t->events[i].collective];
	}
	t->n_collectives = n;
	free(placed);
	free(now);
	return 0;
}

int weft_trace_kineto_finish(struct weft_trace_reader *r)
{
	struct weft_trace_kineto *k = r->kineto;
	struct weft_trace *t = r->draft.trace;

	if (!k)
		return 0;
	t->n_devices = (uint32_t)__builtin_popcountll(k->devices);
	/* A trace of the CPU alone still has calls and sizes. */
	if (!t->n_events)
		return 0;
	if (indices_build(k, r->draft.err))
		return -1;
	events_join(k, t);
	if (collectives_order(t, r->draft.err))
		return -1;
	qsort(t->events, t->n_events, sizeof(*t->events), event_by_start);
	return 0;
}
