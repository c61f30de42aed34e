/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_trace.c - any bytes as a profiler's trace: refused with a message, or
 * times and bytes that add up */
#include "lab/trace/advice.h"
#include "lab/trace/exchange.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More ranks than a small input should make weft allocate for. */
static bool is_huge(const struct weft_trace *t)
{
	if (t->world_size > 4096 || t->rank > 4096)
		return true;
	for (uint32_t g = 0; g < t->n_groups; g++) {
		const struct weft_trace_group *group = &t->groups[g];

		if (group->n_ranks > 4096)
			return true;
		for (uint32_t i = 0; group->ranks && i < group->n_ranks; i++) {
			if (group->ranks[i] > 4096)
				return true;
		}
	}
	return false;
}

static void check_trace(const struct weft_trace *t)
{
	for (uint32_t i = 0; i < t->n_events; i++) {
		const struct weft_trace_event *e = &t->events[i];

		require(e->end_ns >= e->start_ns);
		require(!i || e->start_ns >= t->events[i - 1].start_ns);
		require(e->work != WEFT_WORK_COMM ||
			e->collective < t->n_collectives);
	}
	for (uint32_t i = 0; i < t->n_collectives; i++) {
		const struct weft_trace_collective *c = &t->collectives[i];

		require(c->size_bytes >= 0 && isfinite(c->size_bytes));
		require(c->group == WEFT_TRACE_NONE || c->group < t->n_groups);
		require(c->first_split + c->n_splits <= t->n_splits);
	}
}

static void check_overlap(const struct weft_overlap *o)
{
	double busy = o->compute_s + o->comm_s - o->overlap_s + o->copy_s;

	require(fabs(o->span_s - busy - o->idle_s) <= 1e-6 * o->span_s + 1e-9);
	require(o->eta_overlap >= 0 && o->eta_overlap <= 1);
}

/* All that is done with two traces; the second is the first once more. */
static void analyse(struct weft_trace *traces, uint32_t n)
{
	struct weft_error err = {0};
	struct weft_overlap overlaps[2] = {0};
	struct weft_waits waits;
	struct weft_exchange exchange;
	struct weft_advice advice[WEFT_N_ADVICES];
	struct weft_advice_input in = {.traces = traces,
				       .overlaps = overlaps,
				       .waits = &waits,
				       .n_traces = n,
				       .n_steps = 1};

	require(weft_trace_set_join(traces, n, &err) == 0);
	require(weft_waits_build(traces, n, &waits, &err) == 0);
	for (uint32_t i = 0; i < n; i++) {
		require(weft_overlap_build(&traces[i], &overlaps[i], &err) ==
			0);
		check_overlap(&overlaps[i]);
	}
	require(weft_exchange_build(traces, n, 1, &exchange, &err) == 0);
	require(isfinite(exchange.placed_bytes));
	require(weft_advice_build(&in, advice, &err) == 0);
	for (int k = 0; k < WEFT_N_ADVICES; k++)
		require(advice[k].gain_s >= 0 && isfinite(advice[k].gain_s));
	weft_exchange_free(&exchange);
	for (uint32_t i = 0; i < n; i++)
		weft_overlap_free(&overlaps[i]);
	weft_waits_free(&waits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;
	struct weft_error err = {0};
	struct weft_trace traces[2];

	if (fd < 0) {
		char name[] = "/tmp/weft-fuzz-XXXXXX";

		fd = mkstemp(name);
		require(fd >= 0 && unlink(name) == 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	require(ftruncate(fd, 0) == 0);
	require(pwrite(fd, data, size, 0) == (ssize_t)size);
	if (weft_trace_load(path, NULL, &traces[0], &err)) {
		require_message(&err);
		return 0;
	}
	check_trace(&traces[0]);
	if (!is_huge(&traces[0]) &&
	    !weft_trace_load(path, NULL, &traces[1], &err)) {
		traces[1].rank = traces[0].rank == 0 ? 1 : 0;
		analyse(traces, 2);
		weft_trace_free(&traces[1]);
	}
	weft_trace_free(&traces[0]);
	return 0;
}
