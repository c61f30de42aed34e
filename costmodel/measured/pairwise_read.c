/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise_read.c - pairs of nodes out of nccl-tests logs and CSV tables */
#include "base/compare.h"
#include "base/hostlist.h"
#include "base/lines.h"
#include "costmodel/measured/nccl_log.h"
#include "costmodel/measured/pairwise.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 64
/* Messages this much smaller than the largest do not count. */
#define SIZE_RANGE 16
#define MAX_ROWS   64

struct reader {
	struct weft_pairwise *p;
	const struct weft_fabric *f;
	struct weft_findings *findings;
	struct weft_error *err;
	uint32_t source;
};

static int note(const struct reader *r, uint32_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int note(const struct reader *r, uint32_t line, const char *format, ...)
{
	struct weft_finding_at at = {
		.source = r->p->sources[r->source],
		.line = (int)line,
	};
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return weft_findings_add(r->findings, WEFT_FINDING_LINE_IGNORED, at,
				 r->err, "%s", text);
}

static int limit_check(uint32_t n, uint32_t most, const char *what,
		       struct weft_error *err)
{
	return n < most ? 0
			: weft_fail(err, WEFT_EINVAL, "more than %u %s", most,
				    what);
}

/* ---- what is kept ---- */

/* A node by its name, or by that without its domain. */
static uint32_t node_find(const struct weft_fabric *f, const char *name)
{
	uint32_t node = weft_fabric_node(f, name);
	char brief[WEFT_NAME_SIZE];
	size_t size = strcspn(name, ".");

	if (node != WEFT_NONE || size >= sizeof(brief))
		return node;
	memcpy(brief, name, size);
	brief[size] = '\0';
	return weft_fabric_node(f, brief);
}

/* Index of the test, added where it is new; WEFT_NONE with err. */
static uint32_t test_find(struct reader *r,
			  const struct weft_pairwise_test *test)
{
	struct weft_pairwise *p = r->p;

	for (uint32_t i = 0; i < p->n_tests; i++)
		if (strcmp(p->tests[i].name, test->name) == 0 &&
		    p->tests[i].gpus == test->gpus)
			return i;
	if (limit_check(p->n_tests, 4096, "kinds of tests", r->err) ||
	    WEFT_GROW(p->tests, p->n_tests, p->tests_room, r->err))
		return WEFT_NONE;
	p->tests[p->n_tests] = *test;
	return p->n_tests++;
}

static int pair_add(struct reader *r, const char *const *names,
		    const struct weft_pairwise_test *test, double rate,
		    uint32_t line)
{
	uint32_t a = node_find(r->f, names[0]), b = node_find(r->f, names[1]);
	struct weft_pairwise *p = r->p;
	uint32_t index;

	if (a == WEFT_NONE || b == WEFT_NONE)
		return note(r, line, "the fabric has no node %.64s",
			    names[a == WEFT_NONE ? 0 : 1]);
	if (a == b)
		return note(r, line, "a pair of %.64s and itself", names[0]);
	index = test_find(r, test);
	if (index == WEFT_NONE ||
	    limit_check(p->n_pairs, WEFT_PAIRWISE_MAX_PAIRS, "pairs", r->err) ||
	    WEFT_GROW(p->pairs, p->n_pairs, p->pairs_room, r->err))
		return -1;
	p->pairs[p->n_pairs++] = (struct weft_pairwise_pair){
		.a = a < b ? a : b,
		.b = a < b ? b : a,
		.test = index,
		.rate_bytes_per_s = rate,
		.line = line,
		.source = r->source,
	};
	return 0;
}

/* ---- logs ---- */

/* One run of a program: from its settings to those of the next. */
struct block {
	uint32_t line; /* of its settings */
	char hosts[2][WEFT_NAME_SIZE];
	uint32_t n_hosts, gpus[2]; /* n_hosts 3: too many */
	char program[32];
};

/* The word behind `mark`, of at most size - 1 bytes; false where it is not in
 * the line. */
static bool word_behind(const char *line, const char *end, const char *mark,
			char *word, size_t size)
{
	size_t n = strlen(mark), k = 0;
	const char *at = line;

	while (at + n <= end && memcmp(at, mark, n) != 0)
		at++;
	if (at + n > end)
		return false;
	for (at += n; at < end && *at == ' '; at++)
		;
	for (; at < end && *at != ' ' && *at != '\t' && *at != '\r' &&
	       k + 1 < size;
	     at++)
		word[k++] = *at;
	word[k] = '\0';
	return k > 0;
}

/* "#  Rank  0 Group  0 Pid 42 on n01 device  0 [0000:1b:00] NVIDIA H100" */
static void rank_take(struct block *b, const char *line, const char *end)
{
	char host[WEFT_NAME_SIZE], rank[16], device[16];
	uint32_t i = 0;

	if (!word_behind(line, end, " Rank ", rank, sizeof(rank)) ||
	    !word_behind(line, end, " on ", host, sizeof(host)) ||
	    !word_behind(line, end, " device ", device, sizeof(device)))
		return;
	while (i < b->n_hosts && i < 2 && strcmp(b->hosts[i], host) != 0)
		i++;
	if (i == 2) {
		b->n_hosts = 3;
		return;
	}
	if (i == b->n_hosts) {
		memcpy(b->hosts[i], host, sizeof(host));
		b->n_hosts++;
	}
	b->gpus[i]++;
}

/* The median bus bandwidth of the larger messages; 0: the run failed. */
static double run_rate(const struct weft_nccl_log *log,
		       const struct weft_nccl_run *run)
{
	double rates[MAX_ROWS];
	uint64_t largest = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->n_rows; i++)
		if (log->rows[run->first_row + i].size_bytes > largest)
			largest = log->rows[run->first_row + i].size_bytes;
	for (uint32_t i = 0; i < run->n_rows && n < MAX_ROWS; i++) {
		const struct weft_nccl_row *row =
			&log->rows[run->first_row + i];

		if (row->size_bytes >= largest / SIZE_RANGE &&
		    row->busbw_bytes_per_s > 0)
			rates[n++] = row->busbw_bytes_per_s;
	}
	if (n == 0 || run->failed || run->n_wrong)
		return 0;
	return weft_median(rates, n);
}

static int block_use(struct reader *r, const struct weft_nccl_log *log,
		     const struct block *b, uint32_t end)
{
	struct weft_pairwise_test test = {.gpus = b->gpus[0]};
	const char *names[] = {b->hosts[0], b->hosts[1]};
	const struct weft_nccl_run *run = NULL;

	/* Of one node, or of more than two: no pair. */
	if (b->n_hosts != 2)
		return 0;
	for (uint32_t i = 0; i < log->n_runs && !run; i++)
		if (log->runs[i].line > b->line && log->runs[i].line < end)
			run = &log->runs[i];
	test.collective =
		run ? run->collective : weft_nccl_collective(b->program);
	if (test.collective == WEFT_N_COLLECTIVES)
		test.collective = weft_nccl_collective(b->program);
	snprintf(test.name, sizeof(test.name), "%s",
		 test.collective < WEFT_N_COLLECTIVES
			 ? weft_collective_names[test.collective]
			 : b->program);
	return pair_add(r, names, &test, run ? run_rate(log, run) : 0, b->line);
}

static int blocks_read(struct reader *r, const struct weft_nccl_log *log,
		       const char *text, size_t size, uint32_t *n_blocks)
{
	const char *end = text + size;
	struct block block = {0};
	uint32_t number = 0;
	char program[32] = "", word[32];

	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		number++;
		(void)word_behind(line, stop, "test starting:", program,
				  sizeof(program));
		if (word_behind(line, stop, "# nThread", word, sizeof(word))) {
			if (block_use(r, log, &block, number))
				return -1;
			block = (struct block){.line = number};
			memcpy(block.program, program, sizeof(program));
			(*n_blocks)++;
		}
		rank_take(&block, line, stop);
		line = stop + 1;
	}
	return block_use(r, log, &block, UINT32_MAX);
}

static int log_read(struct reader *r, const char *text, size_t size)
{
	const char *source = r->p->sources[r->source];
	struct weft_nccl_log log;
	uint32_t n_blocks = 0, before = r->p->n_pairs;
	int rc;

	if (weft_nccl_log_parse(text, size, source, &log, r->err))
		return -1;
	rc = blocks_read(r, &log, text, size, &n_blocks);
	weft_nccl_log_free(&log);
	if (rc == 0 && n_blocks == 0)
		rc = weft_fail_at(r->err, WEFT_EINVAL, source, 0, 0,
				  "neither a log of nccl-tests (no \"# "
				  "nThread\" line) nor CSV with the columns a, "
				  "b, bandwidth");
	if (rc == 0 && r->p->n_pairs == before)
		rc = note(r, 0, "no run between two nodes of the fabric");
	return rc;
}

/* ---- CSV ---- */

enum column { COL_A, COL_B, COL_NODES, COL_TEST, COL_GPUS, COL_RATE, N_COLS };

static const struct {
	const char *name;
	enum column column;
	double unit; /* bytes per second, of a rate */
} columns[] = {
	{"a", COL_A, 0},
	{"b", COL_B, 0},
	{"node_a", COL_A, 0},
	{"node_b", COL_B, 0},
	{"src", COL_A, 0},
	{"dst", COL_B, 0},
	{"nodes", COL_NODES, 0},
	{"test", COL_TEST, 0},
	{"gpus", COL_GPUS, 0},
	{"G", COL_GPUS, 0},
	{"avg_bus_bw_GBs", COL_RATE, 1e9},
	{"busbw", COL_RATE, 1e9},
	{"bandwidth", COL_RATE, 1e9},
	{"bandwidth_GBps", COL_RATE, 1e9},
	{"bandwidth_Gbps", COL_RATE, 1e9 / 8},
};

struct table {
	int at[N_COLS]; /* field, or -1 */
	double unit;
};

/* Fields of a line, cut in place. */
static uint32_t fields_split(char *line, char **fields)
{
	struct weft_span rest = {line, strcspn(line, "\r")}, field;
	uint32_t n = 0;

	while (n < MAX_COLUMNS && weft_span_csv(&rest, ',', &field)) {
		fields[n] = line + (field.at - line);
		fields[n++][field.size] = '\0';
	}
	return n;
}

static bool header_take(struct table *t, char *const *fields, uint32_t n)
{
	for (int c = 0; c < N_COLS; c++)
		t->at[c] = -1;
	for (uint32_t i = 0; i < n; i++)
		for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]);
		     c++) {
			if (strcmp(columns[c].name, fields[i]) != 0 ||
			    t->at[columns[c].column] >= 0)
				continue;
			t->at[columns[c].column] = (int)i;
			if (columns[c].column == COL_RATE)
				t->unit = columns[c].unit;
		}
	return t->at[COL_RATE] >= 0 &&
	       (t->at[COL_NODES] >= 0 ||
		(t->at[COL_A] >= 0 && t->at[COL_B] >= 0));
}

static const char *field_of(const struct table *t, enum column column,
			    char *const *fields, uint32_t n)
{
	return t->at[column] >= 0 && (uint32_t)t->at[column] < n
		       ? fields[t->at[column]]
		       : "";
}

static int row_add(struct reader *r, const struct table *t, char *const *fields,
		   uint32_t n, const char *const *names, uint32_t line)
{
	const char *text = field_of(t, COL_RATE, fields, n);
	const char *kind = field_of(t, COL_TEST, fields, n);
	struct weft_pairwise_test test = {.collective = WEFT_N_COLLECTIVES};
	char *end = NULL;
	double rate = *text ? strtod(text, &end) : 0;

	if (*text && (*end || !(rate >= 0) || rate > 1e6))
		return note(r, line,
			    "\"%.40s\" is no bandwidth; expected a number, or "
			    "nothing where the test failed",
			    text);
	if (*kind)
		test.collective = weft_nccl_collective(kind);
	snprintf(test.name, sizeof(test.name), "%.31s",
		 test.collective < WEFT_N_COLLECTIVES
			 ? weft_collective_names[test.collective]
			 : kind);
	test.gpus =
		(uint32_t)strtoul(field_of(t, COL_GPUS, fields, n), NULL, 10);
	return pair_add(r, names, &test, rate * t->unit, line);
}

static int row_read(struct reader *r, const struct table *t,
		    char *const *fields, uint32_t n, uint32_t line)
{
	const char *names[] = {field_of(t, COL_A, fields, n),
			       field_of(t, COL_B, fields, n)};
	struct weft_hostlist list;
	int rc;

	if (t->at[COL_NODES] < 0) {
		if (!*names[0] || !*names[1])
			return note(r, line, "a node is missing; expected two");
		return row_add(r, t, fields, n, names, line);
	}
	if (weft_hostlist_decode(field_of(t, COL_NODES, fields, n), 64, &list,
				 NULL))
		return note(r, line, "\"%.64s\" is no hostlist",
			    field_of(t, COL_NODES, fields, n));
	if (list.n == 2)
		rc = row_add(r, t, fields, n, (const char *const *)list.names,
			     line);
	else
		rc = note(r, line, "%u nodes; expected two", list.n);
	weft_hostlist_free(&list);
	return rc;
}

/* Header first; more headers may follow, as where files were joined. */
static int csv_read(struct reader *r, char *text)
{
	struct table table = {{0}, 0};
	char *fields[MAX_COLUMNS];
	uint32_t number = 0;
	bool known = false;

	for (char *line = text; line;) {
		char *next = strchr(line, '\n');
		struct table other;
		uint32_t n;

		if (next)
			*next++ = '\0';
		number++;
		n = *line && *line != '#' ? fields_split(line, fields) : 0;
		line = next;
		if (n == 0)
			continue;
		if (header_take(&other, fields, n)) {
			table = other;
			known = true;
		} else if (known && row_read(r, &table, fields, n, number)) {
			return -1;
		}
	}
	return 0;
}

/* The first line that is no comment has the columns. */
static bool csv_looks(const char *text)
{
	struct table table;
	char line[1024], *fields[MAX_COLUMNS];
	size_t size;

	while (*text == '#') {
		text += strcspn(text, "\n");
		text += *text != '\0';
	}
	size = strcspn(text, "\n");
	if (size >= sizeof(line))
		return false;
	memcpy(line, text, size);
	line[size] = '\0';
	return header_take(&table, fields, fields_split(line, fields));
}

/* ---- either ---- */

int weft_pairwise_parse(struct weft_pairwise *p, const char *text, size_t size,
			const char *source, const struct weft_fabric *f,
			struct weft_findings *findings, struct weft_error *err)
{
	struct reader r = {p, f, findings, err, p->n_sources};
	char *copy;
	int rc;

	if (limit_check(p->n_sources, WEFT_PAIRWISE_MAX_FILES, "files", err) ||
	    WEFT_GROW(p->sources, p->n_sources, p->sources_room, err))
		return -1;
	p->sources[p->n_sources] = weft_strdup(source, err);
	if (!p->sources[p->n_sources])
		return -1;
	p->n_sources++;
	copy = weft_calloc(size + 1, 1, err);
	if (!copy)
		return -1;
	memcpy(copy, text, size);
	rc = csv_looks(copy) ? csv_read(&r, copy) : log_read(&r, text, size);
	free(copy);
	return rc;
}
