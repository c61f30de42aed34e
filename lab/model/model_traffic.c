/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_traffic.c - weft model traffic: what the ranks of a job exchange */
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/plan/request.h"
#include "costmodel/traffic/schedule.h"
#include "lab/model/options.h"

#include <stdio.h>

static const char *const overlap_names[WEFT_N_OVERLAPS] = {
	"exposed",	   "behind-matmul",  "behind-attention",
	"behind-backward", "behind-forward", "behind-pipeline"};

struct question {
	struct model_options options;
	const char *job_text;
	bool matrix;
};

#define QUESTION struct question

static const struct option_row options[] = {
	{"job", 'j', "SPEC", "the job, weft-spec(7): model=llama3-8B,tp=8", 1,
	 TEXT(job_text)},
	{"matrix", 0, NULL,
	 "the bytes of each pair of ranks as CSV, which traffic=FILE reads", 1,
	 FLAG(matrix)},
};

struct answer {
	struct weft_job job;
	struct weft_schedule schedule;
	double total_bytes;
	double axis_bytes[WEFT_N_AXES];
};

static void question_check(const struct argp_state *state, void *input)
{
	const struct question *question = input;

	if (!question->job_text)
		argp_error(state, "which job? Give --job SPEC, e.g. "
				  "--job model=llama3-8B,tp=2,dp=4");
	if (question->matrix && question->options.json)
		argp_error(state, "--matrix is CSV: without --json");
}

static int answer_open(const struct question *question, struct answer *answer,
		       struct weft_error *err)
{
	const struct weft_traffic *t = &answer->job.traffic;

	if (request_job_build(question->job_text, NULL, &answer->job, err) ||
	    weft_traffic_expand(&answer->job.traffic, err))
		return -1;
	/* A measured job has no calls that are known. */
	if (!answer->job.spec.traffic[0] &&
	    weft_schedule_build(&answer->job.spec, &answer->job.model,
				&answer->schedule, err))
		return -1;
	answer->total_bytes = weft_traffic_bytes(t);
	for (uint32_t k = 0; k < t->n_edges; k++)
		answer->axis_bytes[t->axis[k]] += t->bytes[k];
	for (uint32_t k = 0; k < t->n_switches; k++)
		answer->axis_bytes[t->switches[k].axis] +=
			t->switches[k].bytes * t->switches[k].n_members;
	return 0;
}

static void answer_close(struct answer *answer)
{
	weft_schedule_free(&answer->schedule);
	weft_job_free(&answer->job);
}

static int matrix_print(const struct answer *answer, struct weft_error *err)
{
	const struct weft_traffic *t = &answer->job.traffic;

	if (t->n_switches)
		return weft_fail_at(err, WEFT_EINVAL, "--matrix", 0, 0,
				    "bytes that are reduced in the network go "
				    "to no rank; leave algorithm=in-network "
				    "out");
	printf("from,to,bytes,axis\n");
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++)
			printf("%u,%u,%.17g,%s\n", r, t->peer[k], t->bytes[k],
			       weft_axis_names[t->axis[k]]);
	}
	return 0;
}

/* The stages of a call: "0-14" or "15". */
static const char *stages_text(const struct weft_call *call, char *text,
			       size_t size)
{
	uint32_t last = call->first_stage + call->n_stages - 1;

	if (call->n_stages == 1)
		snprintf(text, size, "%u", call->first_stage);
	else
		snprintf(text, size, "%u-%u", call->first_stage, last);
	return text;
}

static void text_print(const struct answer *answer)
{
	const struct weft_traffic *t = &answer->job.traffic;
	char stages[32], group[40];

	printf("%u ranks, %u pairs, %s per step\n", t->n_ranks, t->n_edges,
	       IN_UNIT(answer->total_bytes, "B"));
	for (uint32_t a = 0; a < WEFT_N_AXES; a++) {
		if (answer->axis_bytes[a] > 0)
			printf("  %-4s %12.4f GB  %5.1f %%\n",
			       weft_axis_names[a], answer->axis_bytes[a] / 1e9,
			       100 * answer->axis_bytes[a] /
				       answer->total_bytes);
	}
	if (!answer->schedule.n_calls)
		return;
	printf("\n%-10s %12s %10s %6s %-19s %-8s %-17s %s\n", "phase",
	       "calls/step", "size/call", "ranks", "group", "stages", "overlap",
	       "what");
	for (uint32_t i = 0; i < answer->schedule.n_calls; i++) {
		const struct weft_call *call = &answer->schedule.calls[i];

		snprintf(group, sizeof(group), "%s%s", call->group,
			 call->expert_grid ? " of experts" : "");
		printf("%-10s %12.6g %10s %6u %-19s %-8s %-17s %s\n",
		       weft_phase_names[call->phase], call->count,
		       IN_UNIT(call->size_bytes, "B"), call->n, group,
		       stages_text(call, stages, sizeof(stages)),
		       overlap_names[call->overlap], call->what);
	}
}

static json_t *call_json(const struct weft_call *call)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:f, s:b, s:i, s:s, s:i, s:i, s:f, "
		"s:s}",
		"axis", weft_axis_names[call->axis], "phase",
		weft_phase_names[call->phase], "collective",
		weft_collective_names[call->collective], "overlap",
		overlap_names[call->overlap], "count", call->count,
		"expert_grid", (int)call->expert_grid, "first_stage",
		(int)call->first_stage, "group", call->group, "group_ranks",
		(int)call->n, "stages", (int)call->n_stages, "size_bytes",
		call->size_bytes, "what", call->what);
}

static int json_print(const struct answer *answer, struct weft_error *err)
{
	const struct weft_traffic *t = &answer->job.traffic;
	json_t *root = model_json("traffic"), *calls = json_array();
	json_t *by_axis = json_object();
	int failed = !root || !calls || !by_axis;

	for (uint32_t i = 0; i < answer->schedule.n_calls && !failed; i++)
		failed |= json_array_append_new(
			calls, call_json(&answer->schedule.calls[i]));
	for (uint32_t a = 0; a < WEFT_N_AXES && !failed; a++)
		failed |= JSON_PUT(by_axis, weft_axis_names[a],
				   answer->axis_bytes[a]);
	if (!failed) {
		failed |= json_object_set(root, "bytes_by_axis", by_axis);
		failed |= json_object_set(root, "calls", calls);
		failed |= JSON_PUT(root, "bytes_per_step", answer->total_bytes);
		failed |= JSON_PUT(root, "pairs", t->n_edges);
		failed |= JSON_PUT(root, "ranks", t->n_ranks);
		failed |= JSON_PUT(root, "switches", t->n_switches);
	}
	if (!failed) {
		failed = json_dumpf(root, stdout, JSON_INDENT(2)) != 0;
		putchar('\n');
	}
	json_decref(by_axis);
	json_decref(calls);
	json_decref(root);
	return failed ? weft_fail(err, WEFT_ENOMEM, "out of memory") : 0;
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct answer answer = {0};
	int rc = answer_open(question, &answer, err);

	if (!rc && question->matrix)
		rc = matrix_print(&answer, err);
	else if (!rc && question->options.json)
		rc = json_print(&answer, err);
	else if (!rc)
		text_print(&answer);
	answer_close(&answer);
	return rc;
}

const struct calculator model_traffic = {
	.name = "traffic",
	.help = "what the ranks of a job exchange",
	.line.doc = "What the ranks of a training job exchange in one step: "
		    "each kind of call, or the bytes of each pair.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
