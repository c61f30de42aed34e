/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log_draft.h - a log while it is read; shared by the readers of its
 * formats
 */
#ifndef WEFT_COSTMODEL_MEASURED_NCCL_LOG_DRAFT_H
#define WEFT_COSTMODEL_MEASURED_NCCL_LOG_DRAFT_H

#include "costmodel/measured/nccl_log.h"

#define NCCL_MAX_HOSTS 16384

/* What was said of the run whose table comes next. */
struct nccl_setting {
	enum weft_collective collective;
	const char *collective_from;
	char program[32];
	char label[WEFT_NCCL_LABEL_SIZE];
	uint32_t n_listed, max_rank, max_device; /* of the rank list */
	uint32_t n_ranks, n_nodes;		 /* said outright; 0: not */
};

struct nccl_draft {
	struct weft_nccl_log *log;
	struct weft_error *err;
	struct nccl_setting setting;
	char **hosts; /* of the rank list, distinct */
	uint32_t n_hosts, hosts_room;
	uint32_t runs_room, rows_room, flaws_room;
	bool open; /* rows belong to the last run */
};

/* Those that return int: 0, or -1 with draft->err set (memory, limits). */

/* Begins a run with what was said so far. */
int nccl_draft_open(struct nccl_draft *draft, uint32_t line);
int nccl_draft_row(struct nccl_draft *draft, const struct weft_nccl_row *row);
int nccl_draft_flaw(struct nccl_draft *draft, uint32_t line, const char *why);
/* A rank list begins, and has this rank. */
void nccl_draft_devices(struct nccl_draft *draft);
int nccl_draft_rank(struct nccl_draft *draft, uint32_t rank, uint32_t device,
		    const char *host, size_t host_size);
/* A program's name ("all_reduce_perf", maybe with a path and more behind). */
void nccl_draft_program(struct nccl_draft *draft, const char *name, size_t size,
			const char *from);
/* The open run's summary was reached. */
void nccl_draft_close(struct nccl_draft *draft, bool failed);

/* Readers of one format each; text is size bytes, no NUL behind. */
int nccl_text_read(struct nccl_draft *draft, const char *text, size_t size);
int nccl_json_read(struct nccl_draft *draft, const char *text, size_t size);
int nccl_csv_read(struct nccl_draft *draft, const char *text, size_t size);
int nccl_inspector_read(struct nccl_draft *draft, const char *text,
			size_t size);
/* Has it a record of an Inspector plugin early on? */
bool nccl_inspector_looks(const char *text, size_t size);
/* Is the first line that of a CSV table of measurements? */
bool nccl_csv_looks(const char *text, size_t size);

/* A decimal number that fills text[0..size), or false. */
bool nccl_number(const char *text, size_t size, double *value);
bool nccl_uint(const char *text, size_t size, uint64_t *value);

#endif
