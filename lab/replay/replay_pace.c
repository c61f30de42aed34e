/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_pace.c - jobs that run, by when they will end at their present pace */
#include "lab/replay/replay_run.h"

#include <math.h>

static bool ends_before(const struct stint *a, const struct stint *b)
{
	return a->end_s < b->end_s ||
	       (a->end_s == b->end_s && a->order < b->order);
}

static void put(struct run *run, uint32_t i, const struct stint *job)
{
	run->running[i] = *job;
	run->at[job->job] = i;
}

/* Puts the job into the heap, whose place i is empty. */
static void sift(struct run *run, uint32_t i, const struct stint *job)
{
	const struct stint *heap = run->running;
	uint32_t child;

	while (i && ends_before(job, &heap[(i - 1) / 2])) {
		put(run, i, &heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	while ((child = 2 * i + 1) < run->n_running) {
		if (child + 1 < run->n_running &&
		    ends_before(&heap[child + 1], &heap[child]))
			child++;
		if (!ends_before(&heap[child], job))
			break;
		put(run, i, &heap[child]);
		i = child;
	}
	put(run, i, job);
}

void running_add(struct run *run, struct stint job)
{
	job.since_s = run->now_s;
	job.end_s = run->now_s + job.left_s / job.pace;
	run->n_running++;
	sift(run, run->n_running - 1, &job);
}

struct stint running_next(struct run *run)
{
	struct stint next = run->running[0];
	struct stint last = run->running[--run->n_running];

	if (run->n_running)
		sift(run, 0, &last);
	return next;
}

int running_settle(struct run *run, struct weft_error *err)
{
	struct contention *c = &run->contention;

	if (contention_settle(c, err))
		return -1;
	for (uint32_t i = 0; i < c->n_timed; i++) {
		uint32_t job = c->timed[i], at = run->at[job];
		struct stint s = run->running[at];
		double pace = run_kind(run, job)->ideal_step_s /
			      contention_step_s(c, job);

		if (pace == s.pace)
			continue;
		s.left_s =
			fmax(s.left_s - (run->now_s - s.since_s) * s.pace, 0);
		s.since_s = run->now_s;
		s.pace = pace;
		s.end_s = run->now_s + s.left_s / pace;
		sift(run, at, &s);
		run->moved = true;
	}
	return 0;
}
