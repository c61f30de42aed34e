/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log_draft.c - collects runs, rows and flaws for the readers */
#include "costmodel/measured/nccl_log_draft.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int limit_check(uint32_t n, struct weft_error *err)
{
	if (n < WEFT_NCCL_MAX_ROWS)
		return 0;
	return weft_fail(err, WEFT_EINVAL, "more than %u rows in one log",
			 WEFT_NCCL_MAX_ROWS);
}

static void run_take_ranks(struct weft_nccl_run *run,
			   const struct nccl_draft *draft)
{
	const struct nccl_setting *s = &draft->setting;
	uint32_t per_node = s->max_device + 1;

	if (s->n_ranks || s->n_nodes) {
		run->n_ranks = s->n_ranks;
		run->n_nodes = s->n_nodes;
		return;
	}
	if (!s->n_listed)
		return;
	run->n_ranks = s->max_rank + 1;
	run->n_nodes = draft->n_hosts;
	if (s->n_listed < run->n_ranks) {
		/* Lines were cut out: the device numbers say how many GPUs a
		 * node has. */
		uint32_t least = (run->n_ranks + per_node - 1) / per_node;

		if (run->n_nodes < least)
			run->n_nodes = least;
	}
}

int nccl_draft_open(struct nccl_draft *draft, uint32_t line)
{
	struct weft_nccl_log *log = draft->log;
	struct weft_nccl_run *run;

	if (limit_check(log->n_runs, draft->err) ||
	    WEFT_GROW(log->runs, log->n_runs, draft->runs_room, draft->err))
		return -1;
	run = &log->runs[log->n_runs++];
	*run = (struct weft_nccl_run){
		.collective = draft->setting.collective,
		.collective_from = draft->setting.collective_from,
		.line = line,
		.first_row = log->n_rows,
	};
	memcpy(run->program, draft->setting.program, sizeof(run->program));
	memcpy(run->label, draft->setting.label, sizeof(run->label));
	run_take_ranks(run, draft);
	draft->open = true;
	return 0;
}

int nccl_draft_row(struct nccl_draft *draft, const struct weft_nccl_row *row)
{
	struct weft_nccl_log *log = draft->log;

	if (limit_check(log->n_rows, draft->err) ||
	    WEFT_GROW(log->rows, log->n_rows, draft->rows_room, draft->err))
		return -1;
	log->rows[log->n_rows++] = *row;
	log->runs[log->n_runs - 1].n_rows++;
	return 0;
}

int nccl_draft_flaw(struct nccl_draft *draft, uint32_t line, const char *why)
{
	struct weft_nccl_log *log = draft->log;

	if (limit_check(log->n_flaws, draft->err) ||
	    WEFT_GROW(log->flaws, log->n_flaws, draft->flaws_room, draft->err))
		return -1;
	log->flaws[log->n_flaws++] = (struct weft_nccl_flaw){line, why};
	return 0;
}

void nccl_draft_devices(struct nccl_draft *draft)
{
	for (uint32_t i = 0; i < draft->n_hosts; i++)
		free(draft->hosts[i]);
	draft->n_hosts = 0;
	draft->setting.n_listed = 0;
	draft->setting.max_rank = draft->setting.max_device = 0;
}

int nccl_draft_rank(struct nccl_draft *draft, uint32_t rank, uint32_t device,
		    const char *host, size_t host_size)
{
	struct nccl_setting *s = &draft->setting;
	char *name;

	s->n_listed++;
	s->max_rank = rank > s->max_rank ? rank : s->max_rank;
	s->max_device = device > s->max_device ? device : s->max_device;
	/* Ranks come node by node: the newest host is the likely one. */
	for (uint32_t i = draft->n_hosts; i-- > 0;) {
		const char *known = draft->hosts[i];

		if (strncmp(known, host, host_size) == 0 && !known[host_size])
			return 0;
	}
	if (draft->n_hosts >= NCCL_MAX_HOSTS)
		return 0;
	if (WEFT_GROW(draft->hosts, draft->n_hosts, draft->hosts_room,
		      draft->err))
		return -1;
	name = weft_calloc(host_size + 1, 1, draft->err);
	if (!name)
		return -1;
	memcpy(name, host, host_size);
	draft->hosts[draft->n_hosts++] = name;
	return 0;
}

/* Other programs of nccl-tests: their rows are of no collective known here. */
static bool program_known(const char *name)
{
	static const char *const others[] = {
		"gather_perf",	  "scatter_perf",   "hypercube_perf",
		"alltoallv_perf", "bisection_perf",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(name, others[i]) == 0)
			return true;
	}
	return weft_nccl_collective(name) < WEFT_N_COLLECTIVES;
}

void nccl_draft_program(struct nccl_draft *draft, const char *name, size_t size,
			const char *from)
{
	static const char suffix[] = "_perf";
	const size_t tail = sizeof(suffix) - 1;
	struct nccl_setting *s = &draft->setting;

	for (size_t end = tail; end <= size; end++) {
		size_t start = end - tail, length;
		char program[sizeof(s->program)];

		if (memcmp(name + start, suffix, tail) != 0 ||
		    (end < size &&
		     (isalnum((unsigned char)name[end]) || name[end] == '_')))
			continue;
		while (start > 0 && (isalnum((unsigned char)name[start - 1]) ||
				     name[start - 1] == '_'))
			start--;
		length = end - start;
		if (length == tail || length >= sizeof(s->program))
			continue;
		memcpy(program, name + start, length);
		program[length] = '\0';
		if (!program_known(program))
			continue;
		memcpy(s->program, program, length + 1);
		s->collective = weft_nccl_collective(s->program);
		s->collective_from = from;
	}
}

void nccl_draft_close(struct nccl_draft *draft, bool failed)
{
	struct weft_nccl_run *run;

	if (!draft->open)
		return;
	run = &draft->log->runs[draft->log->n_runs - 1];
	run->complete = true;
	run->failed |= failed;
}
