/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_log_inspector.c - reads what the Inspector plugins of NCCL and RCCL
 *write
 *
 * Objects one behind the other, a line each or over several:
 *	{"header": {"rank": 2, "n_ranks": 8, "nnodes": 1}, ...,
 *	 "coll_perf": {"coll": "AllReduce", "coll_msg_size_bytes": 1048576,
 *	   "coll_exec_time_us": 61.9, "coll_algobw_gbs": 16.9, ...}}
 * Newer ones tell the header once for the records behind it, and have records
 * without "coll_perf".  Calls of a training job: each kind of call on the same
 * number of GPUs and nodes is a run.
 */
#include "costmodel/measured/nccl_log_draft.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GIGA 1e9
/* No call moves more. */
#define MAX_BYTES 1e15

struct call {
	enum weft_collective collective;
	uint32_t n_ranks, n_nodes, line;
	uint64_t size_bytes;
	double time_s, busbw_bytes_per_s;
};

struct inspector {
	struct nccl_draft *draft;
	const char *at, *end;
	uint32_t line;
	uint32_t n_ranks, n_nodes; /* of the last header */
	struct call *calls;
	uint32_t n_calls, room;
	/* of the call that is being read */
	struct call call;
	double message_bytes, algbw_bytes_per_s;
	bool open;
};

bool nccl_inspector_looks(const char *text, size_t size)
{
	static const char word[] = "\"coll_perf\"";

	for (size_t i = 0; i + sizeof(word) <= size && i < 65536; i++)
		if (text[i] == '"' &&
		    memcmp(text + i, word, sizeof(word) - 1) == 0)
			return true;
	return false;
}

WEFT_COMPARATOR(compare_calls, struct call,
		WEFT_UP(collective) WEFT_UP(n_ranks) WEFT_UP(n_nodes)
			WEFT_UP(size_bytes) WEFT_UP(line));

/* The size as nccl-tests has it: what the algorithm's bandwidth is of.  A
 * message may be one rank's part of it. */
static uint64_t size_of(const struct inspector *in)
{
	double told = in->algbw_bytes_per_s * in->call.time_s;
	double whole = in->message_bytes * in->call.n_ranks;

	if (!(told >= 1 && told < MAX_BYTES) ||
	    fabs(told - in->message_bytes) < 0.02 * told)
		return (uint64_t)in->message_bytes;
	return (uint64_t)(fabs(told - whole) < 0.02 * told ? whole : told);
}

/* The call that was read, if all of it was there. */
static int call_close(struct inspector *in)
{
	if (!in->open)
		return 0;
	in->open = false;
	in->call.n_ranks = in->n_ranks;
	in->call.n_nodes = in->n_nodes;
	if (in->call.collective == WEFT_N_COLLECTIVES || !in->n_ranks ||
	    !(in->message_bytes >= 1 && in->message_bytes < MAX_BYTES) ||
	    !(in->call.time_s > 0 && in->call.time_s < 1e9))
		return nccl_draft_flaw(in->draft, in->call.line,
				       "a call without a kind, ranks, a size "
				       "or a time");
	in->call.size_bytes = size_of(in);
	if (in->n_calls == WEFT_NCCL_MAX_ROWS)
		return weft_fail(in->draft->err, WEFT_EINVAL,
				 "more than %u calls", WEFT_NCCL_MAX_ROWS);
	if (WEFT_GROW(in->calls, in->n_calls, in->room, in->draft->err))
		return -1;
	in->calls[in->n_calls++] = in->call;
	return 0;
}

static bool is_key(const char *key, size_t size, const char *name)
{
	return size == strlen(name) && memcmp(key, name, size) == 0;
}

static int text_take(struct inspector *in, const char *key, size_t size,
		     const char *value, size_t n)
{
	char name[64];

	if (!is_key(key, size, "coll") || n >= sizeof(name))
		return 0;
	if (call_close(in))
		return -1;
	memcpy(name, value, n);
	name[n] = '\0';
	in->call = (struct call){.collective = weft_nccl_collective(name),
				 .line = in->line};
	in->message_bytes = in->algbw_bytes_per_s = 0;
	in->open = true;
	return 0;
}

static int number_take(struct inspector *in, const char *key, size_t size,
		       double value)
{
	bool header =
		is_key(key, size, "n_ranks") || is_key(key, size, "nnodes");

	/* a header is of the calls behind it */
	if (header && call_close(in))
		return -1;
	if (is_key(key, size, "n_ranks") && value >= 1 && value < 1e7)
		in->n_ranks = (uint32_t)value;
	else if (is_key(key, size, "nnodes") && value >= 1 && value < 1e7)
		in->n_nodes = (uint32_t)value;
	else if (is_key(key, size, "coll_msg_size_bytes"))
		in->message_bytes = value;
	else if (is_key(key, size, "coll_exec_time_us"))
		in->call.time_s = value * 1e-6;
	else if (is_key(key, size, "coll_algobw_gbs"))
		in->algbw_bytes_per_s = value * GIGA;
	else if (is_key(key, size, "coll_busbw_gbs"))
		in->call.busbw_bytes_per_s = value * GIGA;
	return 0;
}

/* The text between quotes at in->at, behind which it goes. */
static size_t string_take(struct inspector *in, const char **text)
{
	const char *from = ++in->at;

	for (; in->at < in->end && *in->at != '"'; in->at++)
		if (*in->at == '\\' && in->at + 1 < in->end)
			in->at++;
	*text = from;
	if (in->at < in->end)
		in->at++;
	return (size_t)(in->at - from) - (in->at > from ? 1 : 0);
}

static void blanks_skip(struct inspector *in)
{
	for (; in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at;
	     in->at++)
		in->line += *in->at == '\n';
}

/* A key and, where it has one, its text or number. */
static int pair_take(struct inspector *in)
{
	const char *key, *value;
	size_t size = string_take(in, &key), n = 0;
	char number[64];

	blanks_skip(in);
	if (in->at == in->end || *in->at != ':')
		return 0;
	in->at++;
	blanks_skip(in);
	if (in->at < in->end && *in->at == '"') {
		n = string_take(in, &value);
		return text_take(in, key, size, value, n);
	}
	while (in->at + n < in->end && n + 1 < sizeof(number) &&
	       strchr("+-.0123456789eE", in->at[n]) && in->at[n])
		n++;
	if (!n)
		return 0;
	memcpy(number, in->at, n);
	number[n] = '\0';
	in->at += n;
	return number_take(in, key, size, strtod(number, NULL));
}

static int calls_write(struct inspector *in)
{
	struct nccl_draft *d = in->draft;
	int rc = 0;

	if (in->n_calls)
		qsort(in->calls, in->n_calls, sizeof(*in->calls),
		      compare_calls);
	for (uint32_t i = 0; i < in->n_calls && rc == 0; i++) {
		const struct call *c = &in->calls[i];
		const struct call *last = i ? &in->calls[i - 1] : NULL;
		const struct weft_nccl_row row = {
			.size_bytes = c->size_bytes,
			.time_s = c->time_s,
			.busbw_bytes_per_s = c->busbw_bytes_per_s,
			.line = c->line,
		};

		if (!last || last->collective != c->collective ||
		    last->n_ranks != c->n_ranks ||
		    last->n_nodes != c->n_nodes) {
			if (last)
				nccl_draft_close(d, false);
			d->setting.collective = c->collective;
			d->setting.collective_from = "Inspector";
			d->setting.n_ranks = c->n_ranks;
			d->setting.n_nodes = c->n_nodes;
			rc = nccl_draft_open(d, c->line);
		}
		if (rc == 0)
			rc = nccl_draft_row(d, &row);
	}
	if (in->n_calls && rc == 0)
		nccl_draft_close(d, false);
	return rc;
}

int nccl_inspector_read(struct nccl_draft *draft, const char *text, size_t size)
{
	struct inspector in = {
		.draft = draft,
		.at = text,
		.end = text + size,
		.line = 1,
	};
	int rc = 0;

	while (rc == 0 && in.at < in.end) {
		if (*in.at == '"') {
			rc = pair_take(&in);
		} else {
			in.line += *in.at == '\n';
			in.at++;
		}
	}
	if (rc == 0)
		rc = call_close(&in);
	if (rc == 0)
		rc = calls_write(&in);
	draft->log->n_lines = in.line;
	free(in.calls);
	return rc;
}
