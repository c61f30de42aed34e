/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_trace.c - job traces of others, read into a stream of jobs */
#include "lab/replay/job_trace.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWF_MAX_BYTES (64u << 20)
/* Fields of a line of the format, from 1. */
enum swf_field {
	SWF_JOB = 1,
	SWF_SUBMIT = 2,
	SWF_RUN = 4,
	SWF_PROCESSORS = 5,
	SWF_REQUESTED = 8,
	SWF_FIELDS = 18
};

/* One line of text, cut at its end; the reading position behind it. */
static int swf_line(const char *path, int line, const char *text,
		    double field[SWF_FIELDS + 1], struct weft_error *err)
{
	const char *p = text;
	char *end;

	for (int i = 1; i <= SWF_FIELDS; i++, p = end) {
		field[i] = strtod(p, &end);
		if (end == p || !(fabs(field[i]) <= JOB_TRACE_MAX_S))
			return weft_fail_at(err, WEFT_EINVAL, path, line,
					    (int)(p + strspn(p, " \t") - text) +
						    1,
					    "expected %u numbers; number %d is "
					    "missing or beyond 1e12",
					    SWF_FIELDS, i);
	}
	return 0;
}

static int swf_job(const double field[SWF_FIELDS + 1],
		   struct weft_stream *stream,
		   struct job_trace_skipped *skipped, struct weft_error *err)
{
	double gpus = field[SWF_PROCESSORS];
	struct weft_stream_job job = {
		.submit_s = field[SWF_SUBMIT],
		.duration_s = field[SWF_RUN],
	};
	char name[32];

	if (gpus <= 0)
		gpus = field[SWF_REQUESTED];
	if (job.duration_s <= 0) {
		skipped->no_duration++;
		return 0;
	}
	if (gpus <= 0 || gpus > JOB_TRACE_MAX_GPUS) {
		skipped->no_gpus++;
		return 0;
	}
	job.gpus = (uint32_t)gpus;
	snprintf(name, sizeof(name), "%.0f", field[SWF_JOB]);
	job.name = name;
	return weft_stream_add(stream, &job, err);
}

int job_trace_swf(const char *path, struct weft_stream *stream,
		  struct job_trace_skipped *skipped, struct weft_error *err)
{
	double field[SWF_FIELDS + 1];
	char *text, *next;
	size_t size;
	int line = 1,
	    rc = weft_text_load(path, SWF_MAX_BYTES, &text, &size, err);

	next = text;

	for (; rc == 0 && *next; line++) {
		char *start = next + strspn(next, " \t\r");
		size_t length = strcspn(start, "\n");

		next = start + length + (start[length] == '\n');
		start[length] = '\0';
		if (*start == ';' || *start == '\0')
			continue;
		rc = swf_line(path, line, start, field, err);
		if (rc == 0)
			rc = swf_job(field, stream, skipped, err);
	}
	free(text);
	return rc;
}

static bool name_ends(const char *path, const char *end)
{
	size_t n = strlen(path), length = strlen(end);

	return n >= length && strcmp(path + n - length, end) == 0;
}

int job_trace_load(const char *path, const char *columns,
		   struct weft_stream *stream,
		   struct job_trace_skipped *skipped, struct weft_error *err)
{
	bool swf = name_ends(path, ".swf") || name_ends(path, ".swf.gz");

	if (!swf && (columns || !job_trace_sacct_looks(path)))
		return job_trace_csv(path, columns, stream, skipped, err);
	if (columns)
		return weft_fail_at(err, WEFT_EINVAL, "--columns", 0, 0,
				    "the Standard Workload Format has its own");
	return swf ? job_trace_swf(path, stream, skipped, err)
		   : job_trace_sacct(path, stream, skipped, err);
}
