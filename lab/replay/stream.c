/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stream.c - jobs as they arrive at a cluster */
#include "lab/replay/stream.h"

#include "base/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *text_keep(struct weft_stream *s, const char *text,
			     struct weft_error *err)
{
	if (!text || !*text)
		return "";
	return weft_arena_text(&s->texts, text, strlen(text), err);
}

int weft_stream_add(struct weft_stream *s, const struct weft_stream_job *job,
		    struct weft_error *err)
{
	struct weft_stream_job copy = *job;

	if (WEFT_GROW(s->jobs, s->n, s->room, err))
		return -1;
	copy.name = text_keep(s, job->name, err);
	copy.axes = text_keep(s, job->axes, err);
	if (!copy.name || !copy.axes)
		return -1;
	s->jobs[s->n++] = copy;
	return 0;
}

void weft_stream_free(struct weft_stream *s)
{
	int saved = errno;

	if (s) {
		free(s->jobs);
		weft_arena_free(&s->texts);
		memset(s, 0, sizeof(*s));
	}
	errno = saved;
}

/* A job and its place among those added: qsort is not stable. */
struct arrival {
	struct weft_stream_job job;
	uint32_t index;
};

WEFT_COMPARATOR(by_submission, struct arrival,
		WEFT_UP(job.submit_s) WEFT_UP(index));

int weft_stream_sort(struct weft_stream *s, uint32_t limit,
		     struct weft_error *err)
{
	struct arrival *arrivals = weft_calloc(s->n, sizeof(*arrivals), err);
	double first_s;

	if (!arrivals)
		return -1;
	for (uint32_t i = 0; i < s->n; i++)
		arrivals[i] = (struct arrival){s->jobs[i], i};
	if (s->n)
		qsort(arrivals, s->n, sizeof(*arrivals), by_submission);
	if (limit && s->n > limit)
		s->n = limit;
	first_s = s->n ? arrivals[0].job.submit_s : 0;
	for (uint32_t i = 0; i < s->n; i++) {
		s->jobs[i] = arrivals[i].job;
		s->jobs[i].submit_s -= first_s;
	}
	free(arrivals);
	return 0;
}

void weft_stream_scale(struct weft_stream *s, double factor)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->jobs[i].submit_s *= factor;
}
