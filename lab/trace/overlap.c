/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap.c - unions of intervals, and what of one lies in another */
#include "lab/trace/overlap.h"

#include "base/compare.h"

#include <stdlib.h>

/* Disjoint intervals by start; covered[i]: length of those before i. */
struct span {
	int64_t start_ns, end_ns, covered_ns;
	uint32_t first; /* event that begins it */
};

struct cover {
	struct span *spans;
	size_t n;
	int64_t total_ns;
};

/* The union of the events whose work is in the mask; events are sorted. */
static int cover_build(const struct weft_trace *t, unsigned works,
		       struct cover *cover, struct weft_error *err)
{
	cover->spans = weft_calloc(t->n_events, sizeof(*cover->spans), err);
	cover->n = 0;
	cover->total_ns = 0;
	if (!cover->spans)
		return -1;
	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct weft_trace_event *e = &t->events[i];
		struct span *last =
			cover->n ? &cover->spans[cover->n - 1] : NULL;

		if (!(works >> e->work & 1))
			continue;
		if (last && e->start_ns <= last->end_ns) {
			if (e->end_ns > last->end_ns)
				last->end_ns = e->end_ns;
			continue;
		}
		cover->spans[cover->n++] = (struct span){
			.start_ns = e->start_ns,
			.end_ns = e->end_ns,
			.first = i,
		};
	}
	for (size_t i = 0; i < cover->n; i++) {
		struct span *s = &cover->spans[i];

		s->covered_ns = cover->total_ns;
		cover->total_ns += s->end_ns - s->start_ns;
	}
	return 0;
}

/* Covered time before `at`. */
static int64_t covered_before(const struct cover *cover, int64_t at)
{
	size_t low = 0, high = cover->n;
	const struct span *s;

	while (low < high) { /* the first that starts at or after */
		size_t middle = low + (high - low) / 2;

		if (cover->spans[middle].start_ns < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	s = &cover->spans[low - 1];
	return s->covered_ns + (at < s->end_ns ? at : s->end_ns) - s->start_ns;
}

static int64_t covered_between(const struct cover *cover, int64_t from,
			       int64_t to)
{
	return covered_before(cover, to) - covered_before(cover, from);
}

static double seconds(int64_t ns)
{
	return 1e-9 * (double)ns;
}

/* Each call's time and exposed part, from its kernels. */
static void each_measure(const struct weft_trace *t, const struct cover *comp,
			 struct weft_overlap *o)
{
	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct weft_trace_event *e = &t->events[i];
		int64_t time = e->end_ns - e->start_ns;

		if (e->work != WEFT_WORK_COMM)
			continue;
		o->time_each_s[e->collective] += seconds(time);
		o->exposed_each_s[e->collective] += seconds(
			time - covered_between(comp, e->start_ns, e->end_ns));
	}
}

static void kinds_sum(const struct weft_trace *t, struct weft_overlap *o)
{
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];
		struct weft_overlap_kind *kind = &o->kinds[c->op];

		kind->n++;
		kind->bytes += c->size_bytes;
		kind->time_s += o->time_each_s[i];
		kind->exposed_s += o->exposed_each_s[i];
	}
}

static void whole_measure(const struct weft_trace *t, const struct cover *comp,
			  const struct cover *comm, struct weft_overlap *o)
{
	int64_t first = t->events[0].start_ns, last = first, overlap = 0;

	for (uint32_t i = 0; i < t->n_events; i++) {
		if (t->events[i].end_ns > last)
			last = t->events[i].end_ns;
	}
	for (size_t i = 0; i < comm->n; i++)
		overlap += covered_between(comp, comm->spans[i].start_ns,
					   comm->spans[i].end_ns);
	o->first_ns = first;
	o->span_s = seconds(last - first);
	o->compute_s = seconds(comp->total_ns);
	o->comm_s = seconds(comm->total_ns);
	o->overlap_s = seconds(overlap);
	o->exposed_s = seconds(comm->total_ns - overlap);
	if (comm->total_ns > 0)
		o->eta_overlap = (double)overlap / (double)comm->total_ns;
}

/* What of the gaps passes before the work that ends them is launched. */
static double unlaunched(const struct weft_trace *t, const struct cover *all)
{
	int64_t sum = 0;
	bool recorded = false;

	for (size_t i = 1; i < all->n; i++) {
		const struct span *s = &all->spans[i];
		int64_t launch = t->events[s->first].launch_ns;
		int64_t free = all->spans[i - 1].end_ns;

		if (launch == WEFT_TRACE_NO_TIME)
			continue;
		recorded = true;
		if (launch > s->start_ns)
			launch = s->start_ns;
		if (launch > free)
			sum += launch - free;
	}
	return recorded ? seconds(sum) : -1;
}

/* Kernels by launch, with the latest end of those launched so far. */
struct launched {
	int64_t launch_ns, done_ns;
};

WEFT_COMPARATOR(by_launch, struct launched, WEFT_UP(launch_ns));

/* When the last of the work launched before `at` was done. */
static int64_t done_before(const struct launched *list, size_t n, int64_t at)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].launch_ns < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? list[low - 1].done_ns : INT64_MIN;
}

static size_t launched_fill(const struct weft_trace *t, struct launched *list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct weft_trace_event *e = &t->events[i];

		/* What a collective waits for is what computes its input. */
		if (e->work == WEFT_WORK_COMM ||
		    e->launch_ns == WEFT_TRACE_NO_TIME)
			continue;
		list[n++] = (struct launched){e->launch_ns, e->end_ns};
	}
	if (n)
		qsort(list, n, sizeof(*list), by_launch);
	for (size_t i = 1; i < n; i++) {
		if (list[i].done_ns < list[i - 1].done_ns)
			list[i].done_ns = list[i - 1].done_ns;
	}
	return n;
}

/* When each communication stream's last work ended.  Libraries use a handful;
 * those beyond the table are taken as free, which only lengthens delays. */
struct streams {
	struct {
		uint32_t stream;
		int64_t end_ns;
	} list[64];
	size_t n;
};

/* When the stream was free before this event, which then ends it. */
static int64_t stream_next(struct streams *s, const struct weft_trace_event *e)
{
	int64_t before = INT64_MIN;
	size_t i = 0;

	while (i < s->n && s->list[i].stream != e->stream)
		i++;
	if (i == sizeof(s->list) / sizeof(s->list[0]))
		return before;
	if (i == s->n)
		s->n++;
	else
		before = s->list[i].end_ns;
	s->list[i].stream = e->stream;
	s->list[i].end_ns = e->end_ns > before ? e->end_ns : before;
	return before;
}

static int delays_measure(const struct weft_trace *t, struct weft_overlap *o,
			  struct weft_error *err)
{
	struct launched *list = weft_calloc(t->n_events, sizeof(*list), err);
	struct streams streams = {.n = 0};
	size_t n;

	if (!list)
		return -1;
	n = launched_fill(t, list);
	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct weft_trace_event *e = &t->events[i];
		int64_t ready = e->launch_ns, other;

		if (e->work != WEFT_WORK_COMM)
			continue;
		other = stream_next(&streams, e);
		if (e->launch_ns == WEFT_TRACE_NO_TIME ||
		    o->delay_each_s[e->collective] >= 0)
			continue;
		ready = other > ready ? other : ready;
		other = done_before(list, n, e->launch_ns);
		ready = other > ready ? other : ready;
		o->delay_each_s[e->collective] =
			e->start_ns > ready ? seconds(e->start_ns - ready) : 0;
	}
	free(list);
	return 0;
}

static int arrays_make(const struct weft_trace *t, struct weft_overlap *o,
		       struct weft_error *err)
{
	uint32_t n = t->n_collectives;

	o->n_collectives = n;
	o->time_each_s = weft_calloc(n, sizeof(double), err);
	o->exposed_each_s = weft_calloc(n, sizeof(double), err);
	o->delay_each_s = weft_calloc(n, sizeof(double), err);
	if (!o->time_each_s || !o->exposed_each_s || !o->delay_each_s)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		o->delay_each_s[i] = -1;
	return 0;
}

int weft_overlap_build(const struct weft_trace *trace, struct weft_overlap *o,
		       struct weft_error *err)
{
	struct cover comp = {0}, comm = {0}, both = {0}, all = {0};
	int code = -1;

	*o = (struct weft_overlap){.unlaunched_s = -1};
	if (arrays_make(trace, o, err))
		goto out;
	if (!trace->n_events) {
		code = 0;
		goto out;
	}
	if (cover_build(trace, 1u << WEFT_WORK_COMPUTE, &comp, err) ||
	    cover_build(trace, 1u << WEFT_WORK_COMM, &comm, err) ||
	    cover_build(trace, 1u << WEFT_WORK_COMPUTE | 1u << WEFT_WORK_COMM,
			&both, err) ||
	    cover_build(trace, ~0u, &all, err) || delays_measure(trace, o, err))
		goto out;
	whole_measure(trace, &comp, &comm, o);
	o->copy_s = seconds(all.total_ns - both.total_ns);
	o->idle_s = o->span_s - seconds(all.total_ns);
	o->unlaunched_s = unlaunched(trace, &all);
	each_measure(trace, &comp, o);
	code = 0;
out:
	if (!code)
		kinds_sum(trace, o);
	free(comp.spans);
	free(comm.spans);
	free(both.spans);
	free(all.spans);
	if (code)
		weft_overlap_free(o);
	return code;
}

void weft_overlap_free(struct weft_overlap *o)
{
	if (!o)
		return;
	free(o->time_each_s);
	free(o->exposed_each_s);
	free(o->delay_each_s);
	o->time_each_s = o->exposed_each_s = o->delay_each_s = NULL;
	o->n_collectives = 0;
}

/* steps = a * (n-1) + b; share of S = c * (n-1)/n + d */
static const struct {
	double steps_each, steps, share_each, share;
} rings[WEFT_N_OPS] = {
	[WEFT_OP_ALL_REDUCE] = {2, 0, 2, 0},
	[WEFT_OP_ALL_GATHER] = {1, 0, 1, 0},
	[WEFT_OP_REDUCE_SCATTER] = {1, 0, 1, 0},
	[WEFT_OP_ALL_TO_ALL] = {1, 0, 1, 0},
	[WEFT_OP_BROADCAST] = {1, 0, 0, 1},
	[WEFT_OP_REDUCE] = {1, 0, 0, 1},
	[WEFT_OP_GATHER] = {1, 0, 1, 0},
	[WEFT_OP_SCATTER] = {1, 0, 1, 0},
	[WEFT_OP_SEND] = {0, 1, 0, 1},
	[WEFT_OP_RECV] = {0, 1, 0, 1},
	[WEFT_OP_SEND_RECV] = {0, 1, 0, 1},
	[WEFT_OP_BARRIER] = {2, 0, 0, 0},
};

/* Between two ranks it is the same in a group of any size. */
static bool too_few(enum weft_trace_op op, uint32_t n)
{
	return n < 2 && rings[op].steps == 0;
}

double weft_overlap_ring_steps(enum weft_trace_op op, uint32_t n)
{
	if (too_few(op, n))
		return 0;
	return rings[op].steps_each * ((double)n - 1) + rings[op].steps;
}

double weft_overlap_ring_share(enum weft_trace_op op, uint32_t n)
{
	if (too_few(op, n))
		return 0;
	return rings[op].share_each * ((double)n - 1) / (n ? n : 1) +
	       rings[op].share;
}

double weft_overlap_ring_s(enum weft_trace_op op, uint32_t n, double size_bytes,
			   double rate_bytes_per_s, double latency_s)
{
	return weft_overlap_ring_steps(op, n) * latency_s +
	       weft_overlap_ring_share(op, n) * size_bytes / rate_bytes_per_s;
}
