/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_replay.c - weft replay: a stream of jobs under several policies */
#include "base/bitset.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/whole_file.h"
#include "lab/lab.h"
#include "lab/replay/job_trace.h"
#include "lab/replay/replay.h"
#include "lab/replay/replay_report.h"
#include "lab/stop.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* nodes[job]: hostlist of what the job got under the policy that runs. */
struct replay_rows {
	struct output file; /* not open: no rows */
	const struct weft_replay *replay;
	char **nodes;
};

/* ---- every job of a replay as a row of CSV ---- */

static void head_write(const struct replay_rows *rows)
{
	const struct weft_fabric *f = rows->replay->fabric;

	fputs("policy,job,submit_s,start_s,end_s,wait_s,gpus,nodes,cost,"
	      "cost_ratio,step_s,step_ratio",
	      rows->file.out);
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l))
			fprintf(rows->file.out, ",%s_domains",
				f->levels[l].name);
	}
	fputs(",nodelist,spec\n", rows->file.out);
}

/* Free with replay_rows_free in either case. */
static int replay_rows_open(const char *path, const struct weft_replay *replay,
			    struct replay_rows *rows, struct weft_error *err)
{
	memset(rows, 0, sizeof(*rows));
	rows->replay = replay;
	if (!path)
		return 0;
	rows->nodes = weft_calloc(replay->stream->n, sizeof(*rows->nodes), err);
	if (!rows->nodes)
		return -1;
	if (output_open(&rows->file, path, err))
		return -1;
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

/* Keeps the nodes of a job that starts, as weft_replay_options.started. */
static int replay_rows_started(void *context, uint32_t job,
			       const uint32_t *where, uint32_t n)
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

	fprintf(rows->file.out, "%s,", outcome->policy->name);
	text_write(rows->file.out, asked->name);
	fprintf(rows->file.out, ",%.9g,%.9g,%.9g,%.9g,%u,%u", asked->submit_s,
		job->start_s, job->end_s, job->start_s - asked->submit_s,
		kind->job.n_gpus, kind->n_nodes);
	ratio_write(rows->file.out, job->cost, kind->ideal_cost);
	ratio_write(rows->file.out, job->step_s, kind->ideal_step_s);
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l))
			fprintf(rows->file.out, ",%u", job->domains[l]);
	}
	fputc(',', rows->file.out);
	text_write(rows->file.out, rows->nodes[i] ? rows->nodes[i] : "");
	fputc(',', rows->file.out);
	text_write(rows->file.out, kind->spec);
	fputc('\n', rows->file.out);
}

/* Writes the rows of one policy. */
static void replay_rows_write(struct replay_rows *rows,
			      const struct weft_replay_outcome *outcome)
{
	for (uint32_t i = 0; rows->file.out && i < rows->replay->stream->n;
	     i++) {
		if (rows->replay->kind_of[i] != WEFT_NONE)
			row_write(rows, i, outcome);
	}
}

static void replay_rows_free(struct replay_rows *rows)
{
	output_close(&rows->file, -1, NULL);
	for (uint32_t i = 0; rows->nodes && i < rows->replay->stream->n; i++)
		free(rows->nodes[i]);
	free(rows->nodes);
	memset(rows, 0, sizeof(*rows));
}

/* ---- the command ---- */

#define MAX_POLICIES	 16
#define DEFAULT_POLICIES "weft,slurm-tree,slurm-block,first-fit,random"
/* Seconds until the first report of progress, and between two. */
#define PATIENCE_S 1.0

struct replay {
	/* options */
	const char *fabric_path, *trace_path, *columns, *policies, *csv;
	double scale, load;
	uint32_t limit;
	bool json;
	struct weft_replay_options options;
	/* made from them */
	const struct weft_policy *policy[MAX_POLICIES];
	uint32_t n_policies;
	struct weft_fabric *fabric;
	struct weft_stream stream;
	struct job_trace_skipped skipped;
	struct weft_replay replay;
	struct weft_replay_outcome outcomes[MAX_POLICIES];
	struct replay_rows rows;
	/* progress */
	const char *running;
	double told_s; /* INFINITY: no terminal */
	const volatile sig_atomic_t *stop;
	uint32_t n_finished; /* policies */
};

static void policies_print(void)
{
	for (uint32_t i = 0; i < weft_n_policies; i++)
		printf("%-14s %s\n", weft_policies[i].name,
		       weft_policies[i].help);
}

/* "weft,slurm-tree" */
static void policies_read(const struct argp_state *state, struct replay *replay)
{
	const char *at = replay->policies;
	struct weft_error err = {0};

	while (*at) {
		size_t length = strcspn(at, ",");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (replay->n_policies == MAX_POLICIES)
			argp_error(state, "--policy: at most %u policies",
				   MAX_POLICIES);
		replay->policy[replay->n_policies] =
			weft_policy_find(name, &err);
		if (!replay->policy[replay->n_policies++])
			argp_error(state, "--policy: %s", err.text);
		at += length + (at[length] == ',');
	}
}

static void options_check(const struct argp_state *state, void *input)
{
	struct replay *replay = input;

	option_fabric(state, &replay->fabric_path,
		      "which cluster? Give --fabric FILE or set "
		      "WEFT_FABRIC");
	if (!replay->trace_path)
		argp_error(state, "which jobs? Give --trace FILE");
	if (replay->load > 0 && replay->scale > 0)
		argp_error(state, "--load and --scale exclude each other");
	policies_read(state, replay);
	if (!replay->n_policies)
		argp_error(state, "--policy: which? --policies lists them");
}

static void fabric_read(const struct argp_state *state, char *text, void *input)
{
	struct replay *replay = input;

	if (text && replay->fabric_path)
		argp_error(state,
			   "one fabric, please: \"%s\" is a "
			   "second; the jobs are --trace FILE",
			   text);
	if (text)
		replay->fabric_path = text;
}

#define QUESTION struct replay

static const struct option_row options[] = {
	{"fabric", 'f', "FILE",
	 "the cluster, weft-fabric(5) (default: $WEFT_FABRIC)", 0,
	 TEXT(fabric_path)},
	{"trace", 't', "FILE",
	 "the jobs: CSV, or SWF by its name; gzip'ed or not", 0,
	 TEXT(trace_path)},
	{"columns", 'c', "ROLE=COLUMN,...",
	 "which columns of the CSV are submit, duration, gpus, job", 0,
	 TEXT(columns)},
	{"policy", 'p', "NAME,...",
	 "which policies (default: weft and others')", 0, TEXT(policies)},
	{"policies", 0, NULL, "list the policies and exit", 0,
	 LIST(policies_print)},
	{"queue", 0, "NAME", "backfill (default) or fifo", 0,
	 WORD(options.queue, weft_queue_names, WEFT_N_QUEUES)},
	{"depth", 0, "N", "waiting jobs to try behind the first (default: 100)",
	 0, WHOLE(options.depth, 0, UINT32_MAX)},
	{"limit", 'n', "N", "only the first N jobs", 0,
	 WHOLE(limit, 0, UINT32_MAX)},
	{"scale", 0, "FACTOR", "stretch times of arrival by it", 0,
	 NUMBER(scale, 1e-9, 1e9)},
	{"load", 0, "SHARE",
	 "stretch times of arrival until jobs ask for this share of all GPU "
	 "time",
	 0, NUMBER(load, 1e-6, 1e6)},
	{"as-recorded", 0, NULL,
	 "a job lasts as long as the trace says, wherever it runs", 0,
	 FLAG(options.as_recorded)},
	{"stretch", 0, NULL, NULL, 0, IGNORE}, /* what happens anyway */
	{"seed", 0, "N",
	 "seed of what jobs train and of random placement (default: 0)", 0,
	 LONG(options.seed, UINT32_MAX)},
	{"work", 0, "N", "steps of search at most, per decision", 0,
	 LONG(options.work_limit, UINT64_MAX)},
	{"gpu", 0, "NAME",
	 "kind of GPU, to predict steps (default: of the fabric's profile)", 0,
	 GPU(options.gpu)},
	{"csv", 0, "FILE", "write a row for each job and policy", 0, TEXT(csv)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

/* A person who waits sees how far it is, and may have had enough. */
static int progress_tell(void *context, uint32_t done, uint32_t n)
{
	struct replay *replay = context;
	double now_s = weft_clock_s();

	if (*replay->stop)
		return -1;
	if (now_s - replay->told_s < PATIENCE_S)
		return 0;
	replay->told_s = now_s;
	fprintf(stderr,
		"\rweft: %s: %u of %u jobs; Ctrl-C takes the policies that are "
		"through\033[K",
		replay->running, done, n);
	return 0;
}

static int started(void *context, uint32_t job, const uint32_t *where,
		   uint32_t n)
{
	struct replay *replay = context;

	return replay_rows_started(&replay->rows, job, where, n);
}

/* The factor by which the jobs that the fabric can hold ask for `load` of its
 * GPU time while they arrive. */
static int load_apply(struct replay *replay, struct weft_error *err)
{
	const struct weft_stream *s = &replay->stream;
	double asked = 0, last_s = s->n ? s->jobs[s->n - 1].submit_s : 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->jobs[i].gpus <= replay->fabric->n_gpus)
			asked += s->jobs[i].duration_s * s->jobs[i].gpus;
	}
	if (last_s <= 0 || asked <= 0)
		return weft_fail_at(err, WEFT_EINVAL, "--load", 0, 0,
				    "all jobs arrive at once; no factor "
				    "changes that");
	replay->scale =
		asked / (replay->load * last_s * replay->fabric->n_gpus);
	return 0;
}

static int stream_open(struct replay *replay, struct weft_error *err)
{
	if (job_trace_load(replay->trace_path, replay->columns, &replay->stream,
			   &replay->skipped, err) ||
	    weft_stream_sort(&replay->stream, replay->limit, err))
		return -1;
	if (replay->stream.n == 0)
		return weft_fail_at(err, WEFT_EINVAL, replay->trace_path, 0, 0,
				    "no job in it: %u rows have no time of "
				    "submission, %u no duration, %u no GPU",
				    replay->skipped.no_submit,
				    replay->skipped.no_duration,
				    replay->skipped.no_gpus);
	if (replay->load > 0 && load_apply(replay, err))
		return -1;
	if (replay->scale <= 0)
		replay->scale = 1;
	weft_stream_scale(&replay->stream, replay->scale);
	return 0;
}

/* After a first Ctrl-C with the policies that are through, if any. */
static int policies_run(struct replay *replay, struct weft_error *err)
{
	bool person = isatty(STDERR_FILENO);
	uint32_t n = 0;
	int rc = 0;

	replay->options.context = replay;
	replay->options.progress = progress_tell;
	replay->options.started = replay->csv ? started : NULL;
	replay->told_s = person ? weft_clock_s() : (double)INFINITY;
	replay->stop = stop_on_signal();
	while (n < replay->n_policies && !(*replay->stop && n)) {
		struct weft_error why = {0};

		replay->running = replay->policy[n]->name;
		rc = weft_replay_run(&replay->replay, replay->policy[n],
				     &replay->outcomes[n], &why);
		if (rc) {
			if (*replay->stop && n)
				rc = 0;
			else if (err)
				*err = why;
			break;
		}
		replay_rows_write(&replay->rows, &replay->outcomes[n++]);
	}
	replay->n_finished = n;
	if (person)
		fputs("\r\033[K", stderr);
	return rc;
}

static int answer(struct replay *replay, struct weft_error *err)
{
	const struct replay_answer a = {
		.trace = replay->trace_path,
		.skipped = &replay->skipped,
		.scale = replay->scale,
		.replay = &replay->replay,
		.n = replay->n_finished,
		.interrupted = replay->n_finished < replay->n_policies,
		.outcomes = replay->outcomes,
	};

	if (replay->json)
		return replay_json(&a, err);
	replay_text(&a);
	return 0;
}

static int run(struct replay *replay, struct weft_error *err)
{
	replay->fabric = weft_fabric_load(replay->fabric_path, err);
	if (!replay->fabric || stream_open(replay, err) ||
	    weft_replay_build(replay->fabric, &replay->stream, &replay->options,
			      &replay->replay, err) ||
	    replay_rows_open(replay->csv, &replay->replay, &replay->rows,
			     err) ||
	    policies_run(replay, err) ||
	    output_close(&replay->rows.file, 0, err))
		return -1;
	return answer(replay, err);
}

int cmd_replay(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = fabric_read,
		.check = options_check,
		.doc = "Runs a stream of jobs over a fabric under several "
		       "policies: what would it have cost, and who would have "
		       "waited?",
	};
	struct replay replay = {.policies = DEFAULT_POLICIES};
	struct weft_error err = {0};
	int result;

	command_line_read(&line, argc, argv, &replay);
	result = run(&replay, &err);
	replay_rows_free(&replay.rows);
	for (uint32_t i = 0; i < replay.n_policies; i++)
		weft_replay_outcome_free(&replay.outcomes[i]);
	weft_replay_free(&replay.replay);
	weft_stream_free(&replay.stream);
	weft_fabric_free(replay.fabric);
	return result ? cmd_fail(&err) : EXIT_YES;
}
