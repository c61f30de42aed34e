/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_trace_sacct.c - jobs as "sacct --parsable2" prints them
 *
 * JobID|Submit|ElapsedRaw|AllocTRES|Comment, in any order and among others,
 * with that line of names first.  Start and End stand in for ElapsedRaw,
 * ReqTRES for AllocTRES.  Steps (7.batch) are part of their job.
 */
#include "base/text.h"
#include "lab/replay/job_trace.h"
#include "lab/replay/time_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES  (256u << 20)
#define MAX_FIELDS 128
#define SPEC_MARK  "weft:"

enum sacct_field {
	JOB,
	SUBMIT,
	START,
	END,
	ELAPSED,
	ALLOCATED,
	REQUESTED,
	COMMENT,
	N_SACCT_FIELDS
};
static const char *const field_names[N_SACCT_FIELDS] = {
	"JobIDRaw",   "Submit",	   "Start",   "End",
	"ElapsedRaw", "AllocTRES", "ReqTRES", "Comment",
};

struct sacct {
	const char *path;
	uint32_t column[N_SACCT_FIELDS]; /* MAX_FIELDS: it has none */
	struct weft_stream *stream;
	struct job_trace_skipped *skipped;
};

/* Cuts a line at "|"; returns how many fields it has, MAX_FIELDS at most. */
static uint32_t line_cut(char *line, char *field[MAX_FIELDS])
{
	uint32_t n = 0;

	for (char *at = line; at && n < MAX_FIELDS; n++) {
		field[n] = at;
		at = strchr(at, '|');
		if (at)
			*at++ = '\0';
	}
	return n;
}

static int head_read(struct sacct *s, char *line, struct weft_error *err)
{
	char *field[MAX_FIELDS];
	uint32_t n = line_cut(line, field);

	for (int f = 0; f < N_SACCT_FIELDS; f++) {
		s->column[f] = MAX_FIELDS;
		for (uint32_t i = 0; i < n; i++)
			if (strcmp(field[i], field_names[f]) == 0 ||
			    (f == JOB && strcmp(field[i], "JobID") == 0))
				s->column[f] = i;
	}
	if (s->column[SUBMIT] == MAX_FIELDS ||
	    (s->column[ELAPSED] == MAX_FIELDS &&
	     (s->column[START] == MAX_FIELDS ||
	      s->column[END] == MAX_FIELDS)) ||
	    (s->column[ALLOCATED] == MAX_FIELDS &&
	     s->column[REQUESTED] == MAX_FIELDS))
		return weft_fail_at(err, WEFT_EINVAL, s->path, 1, 0,
				    "expected the columns Submit, ElapsedRaw "
				    "and AllocTRES of sacct --parsable2");
	return 0;
}

/* The GPUs of "billing=64,cpu=64,gres/gpu=8,gres/gpu:h100=8,node=1". */
static double tres_gpus(const char *text)
{
	double all = 0, typed = 0;

	for (const char *at = text; *at; at += strcspn(at, ","), at += !!*at) {
		if (strncmp(at, "gres/gpu=", 9) == 0)
			all += strtod(at + 9, NULL);
		else if (strncmp(at, "gres/gpu:", 9) == 0)
			typed += strtod(at + strcspn(at, "=,") + 1, NULL);
	}
	return all > 0 ? all : typed;
}

static const char *cell(const struct sacct *s, char *const *field, uint32_t n,
			enum sacct_field which)
{
	return s->column[which] < n ? field[s->column[which]] : "";
}

static double duration_of(const struct sacct *s, char *const *field, uint32_t n)
{
	double start, end, elapsed;
	char *rest;

	elapsed = strtod(cell(s, field, n, ELAPSED), &rest);
	if (s->column[ELAPSED] < n)
		return elapsed;
	return time_text_read(cell(s, field, n, START), &start) == 0 &&
			       time_text_read(cell(s, field, n, END), &end) == 0
		       ? end - start
		       : 0;
}

static int job_take(const struct sacct *s, char *const *field, uint32_t n,
		    struct weft_error *err)
{
	const char *comment = cell(s, field, n, COMMENT);
	struct weft_stream_job job = {
		.name = cell(s, field, n, JOB),
		.axes = "",
		.duration_s = duration_of(s, field, n),
	};
	double gpus = tres_gpus(cell(s, field, n, ALLOCATED));

	if (strchr(job.name, '.'))
		return 0;
	if (gpus <= 0)
		gpus = tres_gpus(cell(s, field, n, REQUESTED));
	if (time_text_read(cell(s, field, n, SUBMIT), &job.submit_s)) {
		s->skipped->no_submit++;
		return 0;
	}
	if (!(job.duration_s > 0)) {
		s->skipped->no_duration++;
		return 0;
	}
	if (!(gpus >= 1 && gpus <= JOB_TRACE_MAX_GPUS)) {
		s->skipped->no_gpus++;
		return 0;
	}
	job.gpus = (uint32_t)ceil(gpus);
	if (strncmp(comment, SPEC_MARK, strlen(SPEC_MARK)) == 0 &&
	    job_trace_axes(comment + strlen(SPEC_MARK)))
		job.axes = comment + strlen(SPEC_MARK);
	return weft_stream_add(s->stream, &job, err);
}

bool job_trace_sacct_looks(const char *path)
{
	char line[4096] = "";
	FILE *in = fopen(path, "re");
	bool looks = in && fgets(line, sizeof(line), in) && strchr(line, '|') &&
		     strstr(line, "Submit") && strstr(line, "TRES");

	if (in)
		fclose(in);
	return looks;
}

/* Cuts the text; path is for messages. */
static int text_read(const char *path, char *text, struct weft_stream *stream,
		     struct job_trace_skipped *skipped, struct weft_error *err)
{
	struct sacct s = {
		.path = path,
		.stream = stream,
		.skipped = skipped,
	};
	char *field[MAX_FIELDS], *rest = NULL;
	char *line = strtok_r(text, "\n", &rest);
	int rc = 0;

	if (!line)
		return weft_fail_at(err, WEFT_EINVAL, path, 1, 0,
				    "nothing in it; expected what sacct "
				    "--parsable2 prints");
	rc = head_read(&s, line, err);
	while (rc == 0 && (line = strtok_r(NULL, "\n", &rest)) != NULL) {
		uint32_t n = line_cut(line, field);

		rc = job_take(&s, field, n, err);
	}
	return rc;
}

int job_trace_sacct(const char *path, struct weft_stream *stream,
		    struct job_trace_skipped *skipped, struct weft_error *err)
{
	char *text;
	size_t size;
	int rc;

	if (weft_text_load(path, MAX_BYTES, &text, &size, err))
		return -1;
	rc = text_read(path, text, stream, skipped, err);
	free(text);
	return rc;
}
