/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log.h - what nccl-tests measured: sizes and times, run by run
 *
 * Reads what people keep: the output of any nccl-tests release, old or new
 * columns, alone or inside a job's output (NCCL INFO lines, "srun -l" and
 * mpirun prefixes, traces of the shell), several runs in a file, runs that were
 * killed; the JSON that -J writes, also cut short; and CSV tables with one
 * measurement a line.  Nothing is dropped silently: a row that cannot be used
 * is a flaw with its line number.
 */
#ifndef WEFT_COSTMODEL_MEASURED_NCCL_LOG_H
#define WEFT_COSTMODEL_MEASURED_NCCL_LOG_H

#include "base/error.h"
#include "costmodel/traffic/collective.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_NCCL_MAX_BYTES  (256u << 20)
#define WEFT_NCCL_MAX_ROWS   (1u << 20)
#define WEFT_NCCL_LABEL_SIZE 96

/* One size.  A time of 0 was not measured. */
struct weft_nccl_row {
	uint64_t size_bytes; /* as collective.h defines it */
	double time_s;	     /* out of place */
	double time_in_place_s;
	double busbw_bytes_per_s; /* as printed, out of place; 0: not given */
	uint32_t line;
};

/* A row that cannot be used, and why (static text). */
struct weft_nccl_flaw {
	uint32_t line;
	const char *why;
};

/* One table: the rows of one collective on one set of GPUs. */
struct weft_nccl_run {
	char label[WEFT_NCCL_LABEL_SIZE]; /* the system of a CSV table, or "" */
	enum weft_collective collective;  /* WEFT_N_COLLECTIVES: unknown */
	const char *collective_from;	  /* where that stands, for people */
	char program[32];		  /* as named in the log, or "" */
	uint32_t n_ranks;		  /* 0: unknown */
	uint32_t n_nodes;		  /* 0: unknown */
	uint32_t line;			  /* of its column names */
	uint32_t first_row, n_rows;	  /* in log.rows */
	uint32_t n_wrong; /* rows left out because results were wrong */
	bool failed;	  /* its summary says that values were out of bounds */
	bool complete;	  /* its summary was reached */
};

struct weft_nccl_log {
	char source[120];
	struct weft_nccl_run *runs;
	struct weft_nccl_row *rows;
	struct weft_nccl_flaw *flaws;
	uint32_t n_runs, n_rows, n_flaws;
	uint32_t n_lines;
};

/* 0 with *log filled, also where no row was found, or -1.  Free *log after 0.
 * The text need not be plain (base/text.h); the name of its file (`source`)
 * may tell the collective. */
int weft_nccl_log_parse(const char *text, size_t size, const char *source,
			struct weft_nccl_log *log, struct weft_error *err);
void weft_nccl_log_free(struct weft_nccl_log *log);

/* "all_reduce" as nccl-tests and others write it (allreduce, AllReduce,
 * all-reduce, all_reduce_perf).  WEFT_N_COLLECTIVES where it is none of them.
 */
enum weft_collective weft_nccl_collective(const char *name);

#endif
