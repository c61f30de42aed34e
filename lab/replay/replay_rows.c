/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_rows.c - every job of a replay as a row of CSV */
#include "lab/replay/replay_rows.h"

#include "base/bitset.h"
#include "base/hostlist.h"
#include "lab/replay/replay_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_failed(const struct replay_rows *rows, struct weft_error *err)
{
	return weft_fail_at(err, WEFT_EIO, rows->path, 0, 0, "%s",
			    strerror(errno));
}

static void head_write(const struct replay_rows *rows)
{
	const struct weft_fabric *f = rows->replay->fabric;

	fputs("policy,job,submit_s,start_s,end_s,wait_s,gpus,nodes,cost,"
	      "cost_ratio,step_s,step_ratio",
	      rows->out);
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l))
			fprintf(rows->out, ",%s_domains", f->levels[l].name);
	}
	fputs(",nodelist,spec\n", rows->out);
}

int replay_rows_open(const char *path, const struct weft_replay *replay,
		     struct replay_rows *rows, struct weft_error *err)
{
	struct stat about;
	size_t size;

	memset(rows, 0, sizeof(*rows));
	rows->path = path;
	rows->replay = replay;
	if (!path)
		return 0;
	rows->nodes = weft_calloc(replay->stream->n, sizeof(*rows->nodes), err);
	if (!rows->nodes)
		return -1;
	/* of the name itself: /dev/stdout is a link that must stay one */
	if (lstat(path, &about) != 0 || S_ISREG(about.st_mode)) {
		size = strlen(path) + sizeof(".part");
		rows->part = weft_calloc(size, 1, err);
		if (!rows->part)
			return -1;
		snprintf(rows->part, size, "%s.part", path);
	}
	rows->out = fopen(rows->part ? rows->part : path, "w");
	if (!rows->out)
		return write_failed(rows, err);
	head_write(rows);
	return 0;
}

/* Names of the nodes in the order of their lowest rank. */
static uint32_t nodes_name(const struct weft_fabric *f, const uint32_t *where,
			   uint32_t n, uint64_t *seen, const char **names)
{
	uint32_t n_names = 0;

	for (uint32_t r = 0; r < n; r++) {
		uint32_t node = f->gpu_node[where[r]];

		if (weft_bitset_has(seen, node))
			continue;
		weft_bitset_add(seen, node);
		names[n_names++] = f->nodes[node].name;
	}
	return n_names;
}

int replay_rows_started(void *context, uint32_t job, const uint32_t *where,
			uint32_t n)
{
	struct replay_rows *rows = context;
	const struct weft_fabric *f = rows->replay->fabric;
	const char **names = malloc(n * sizeof(*names));
	uint64_t *seen = calloc(weft_bitset_words(f->n_nodes), sizeof(*seen));

	free(rows->nodes[job]);
	rows->nodes[job] = NULL;
	if (names && seen)
		rows->nodes[job] = weft_hostlist_encode(
			names, nodes_name(f, where, n, seen, names));
	free(names);
	free(seen);
	return rows->nodes[job] ? 0 : -1;
}

/* Quoted as RFC 4180 has it. */
static void text_write(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void ratio_write(FILE *out, double value, double ideal)
{
	if (value > 0 && ideal > 0)
		fprintf(out, ",%.9g,%.9g", value, value / ideal);
	else
		fprintf(out, ",%s,%s", value > 0 ? "0" : "", "");
}

static void row_write(const struct replay_rows *rows, uint32_t i,
		      const struct weft_replay_outcome *outcome)
{
	const struct weft_replay *r = rows->replay;
	const struct weft_stream_job *asked = &r->stream->jobs[i];
	const struct weft_replay_kind *kind = &r->kinds[r->kind_of[i]];
	const struct weft_replay_job *job = &outcome->jobs[i];
	const struct weft_fabric *f = r->fabric;

	fprintf(rows->out, "%s,", outcome->policy->name);
	text_write(rows->out, asked->name);
	fprintf(rows->out, ",%.9g,%.9g,%.9g,%.9g,%u,%u", asked->submit_s,
		job->start_s, job->end_s, job->start_s - asked->submit_s,
		kind->job.n_gpus, kind->n_nodes);
	ratio_write(rows->out, job->cost, kind->ideal_cost);
	ratio_write(rows->out, job->step_s, kind->ideal_step_s);
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l))
			fprintf(rows->out, ",%u", job->domains[l]);
	}
	fputc(',', rows->out);
	text_write(rows->out, rows->nodes[i] ? rows->nodes[i] : "");
	fputc(',', rows->out);
	text_write(rows->out, kind->spec);
	fputc('\n', rows->out);
}

void replay_rows_write(struct replay_rows *rows,
		       const struct weft_replay_outcome *outcome)
{
	for (uint32_t i = 0; rows->out && i < rows->replay->stream->n; i++) {
		if (rows->replay->kind_of[i] != WEFT_NONE)
			row_write(rows, i, outcome);
	}
}

int replay_rows_close(struct replay_rows *rows, struct weft_error *err)
{
	FILE *out = rows->out;
	int failed;

	if (!out)
		return 0;
	rows->out = NULL;
	failed = ferror(out);
	failed |= fclose(out);
	if (!failed && rows->part)
		failed = rename(rows->part, rows->path);
	if (!failed)
		return 0;
	write_failed(rows, err);
	if (rows->part)
		unlink(rows->part);
	return -1;
}

void replay_rows_free(struct replay_rows *rows)
{
	if (rows->out) {
		fclose(rows->out);
		if (rows->part)
			unlink(rows->part);
	}
	for (uint32_t i = 0; rows->nodes && i < rows->replay->stream->n; i++)
		free(rows->nodes[i]);
	free(rows->nodes);
	free(rows->part);
	memset(rows, 0, sizeof(*rows));
}
