/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_job_trace.c - any bytes as a job trace: refused, or jobs that can be
 * replayed
 *
 * The first line says which columns are what; empty: the usual ones; "swf": the
 * rest is in the Standard Workload Format; "sacct": as sacct prints it.
 */
#define _GNU_SOURCE /* memfd_create */
#include "lab/replay/job_trace.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_stream(struct weft_stream *s)
{
	struct weft_error err = {0};
	double before_s = 0;

	require(weft_stream_sort(s, 0, &err) == 0);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct weft_stream_job *job = &s->jobs[i];

		require(job->gpus > 0 && job->gpus <= 1u << 22);
		require(isfinite(job->duration_s) && job->duration_s > 0);
		require(isfinite(job->submit_s) && job->submit_s >= before_s);
		require(job->name && job->axes);
		before_s = job->submit_s;
	}
}

/* The trace as a file that is nowhere on a disk. */
static int file_open(const uint8_t *data, size_t size, char *path, size_t room)
{
	int fd = memfd_create("trace", 0);

	if (fd < 0)
		return -1;
	snprintf(path, room, "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		return fd;
	close(fd);
	return -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	struct job_trace_skipped skipped = {0};
	struct weft_stream s = {0};
	struct weft_error err = {0};
	char columns[256] = "", path[64];
	size_t head = end ? (size_t)(end - data) : size;
	int fd, rc;

	if (head >= sizeof(columns))
		return 0;
	memcpy(columns, data, head);
	head += end != NULL;
	fd = file_open(data + head, size - head, path, sizeof(path));
	if (fd < 0)
		return 0;
	if (strcmp(columns, "swf") == 0)
		rc = job_trace_swf(path, &s, &skipped, &err);
	else if (strcmp(columns, "sacct") == 0)
		rc = job_trace_sacct(path, &s, &skipped, &err);
	else
		rc = job_trace_csv(path, columns, &s, &skipped, &err);
	if (rc)
		require_message(&err);
	else
		check_stream(&s);
	weft_stream_free(&s);
	close(fd);
	return 0;
}
