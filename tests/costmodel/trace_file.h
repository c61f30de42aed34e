/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace_file.h - a text as a trace file, read */
#ifndef WEFT_TESTS_COSTMODEL_TRACE_FILE_H
#define WEFT_TESTS_COSTMODEL_TRACE_FILE_H

#include "lab/trace/trace.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes size bytes to a new file and gives its path; unlink and free it. */
static inline char *trace_file_write(const void *data, size_t size)
{
	char path[] = "/tmp/weft-trace-XXXXXX";
	int fd = mkstemp(path);
	char *copy = strdup(path);

	assert_true(fd >= 0 && copy);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	close(fd);
	return copy;
}

/* Loads a text; the return value of weft_trace_load. */
static inline int trace_text_load(const char *text, struct weft_trace *trace,
				  struct weft_error *err)
{
	char *path = trace_file_write(text, strlen(text));
	int code = weft_trace_load(path, NULL, trace, err);

	unlink(path);
	free(path);
	return code;
}

/* Pieces of Kineto events; times in microseconds. */
#define KERNEL(stream, start, length, more)                                    \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":" #start    \
	",\"dur\":" #length ",\"args\":{\"stream\":" #stream more "}}"
#define NCCL(kind, start, length, more)                                        \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"                           \
	"\"ncclDevKernel_" kind "_Sum_f32_RING_LL(args)\",\"ts\":" #start      \
	",\"dur\":" #length ",\"args\":{\"stream\":20" more "}}"
/* Size and group of an NCCL kernel: n floats each. */
#define CALL(name, n, ranks)                                                   \
	",\"Collective name\":\"" name "\",\"In msg nelems\":" #n              \
	",\"Out msg nelems\":" #n ",\"dtype\":\"Float\",\"Group size\":2,"     \
	"\"Process Group Name\":\"0\",\"Process Group Ranks\":\"" ranks "\""
#define KINETO(head, events) "{" head "\"traceEvents\":[" events "]}"
#define RANK(rank)	     "\"distributedInfo\":{\"rank\":" #rank ",\"world_size\":2},"

#endif
