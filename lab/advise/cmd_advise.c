/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_advise.c - weft advise: the layouts that fit, the fastest first */
#include "base/clock.h"
#include "base/divisor.h"
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/option.h"
#include "cli/plan/request.h"
#include "cli/report.h"
#include "lab/advise/advise.h"
#include "lab/lab.h"
#include "lab/step/step_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of a step, where no batch is given. */
#define STEP_TOKENS    4194304
#define DEFAULT_TOP    10
#define DEFAULT_S      20
#define PLACED_LAYOUTS 8

struct query {
	struct request request; /* fabric and what is free on it */
	const struct weft_gpu *gpu;
	const char *model, *job;
	uint32_t gpus, top;
	double budget_s;
	bool json;
};

static void fabric_read(const struct argp_state *state, char *text, void *input)
{
	struct query *q = input;

	if (text && q->request.fabric_path)
		argp_error(state, "one fabric at a time, not \"%s\" too", text);
	if (text)
		q->request.fabric_path = text;
}

#define QUESTION struct query

static const struct option_row options[] = {
	{"gpus", 'g', "N", "GPUs of the job", 0, WHOLE(gpus, 0, WEFT_MAX_GPUS)},
	{"model", 'm', "NAME", "what is trained, weft-spec(7)", 0, TEXT(model)},
	{"job", 'j', "SPEC",
	 "keys that are given and not searched: gbs=512,seq=8192,dtype=fp8", 0,
	 TEXT(job)},
	{"fabric", 'f', "FILE",
	 "on this cluster (default: a usual one of the GPU)", 0,
	 TEXT(request.fabric_path)},
	{"state", 0, "FILE",
	 "what is taken, as weft-state(5); \"slurm\" asks the running Slurm", 0,
	 TEXT(request.state)},
	{"busy", 0, "HOSTLIST",
	 "what is taken: n[00-03],n07:0-3 (GPUs 0 to 3 of n07)", 0,
	 TEXT(request.busy)},
	{"gpu", 0, "NAME",
	 "kind of GPU (default: of the fabric's profile, or H100)", 0,
	 GPU(gpu)},
	{"top", 0, "N", "layouts to print (default: 10)", 0,
	 WHOLE(top, 0, 100000)},
	{"budget", 0, "SECONDS", "wall clock at most (default: 20)", 0,
	 NUMBER(budget_s, 0.01, 86400)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

static void query_check(const struct argp_state *state, void *input)
{
	const struct query *q = input;
	const struct request *r = &q->request;

	if (!q->gpus && !(q->job && strstr(q->job, "gpus=")))
		argp_error(state, "on how many GPUs? Give --gpus N");
	if (!q->model && !(q->job && (strstr(q->job, "model=") ||
				      strstr(q->job, "layers="))))
		argp_error(state, "of what? Give --model NAME, weft-spec(7)");
	if ((r->state || r->busy) && !r->fabric_path)
		argp_error(state, "--state and --busy are of a --fabric");
}

/* ---- the question ---- */

/* The model, tokens and batch, as one GPU alone would take them. */
static int space_fill(const struct query *q, const char *text,
		      struct layout_space *space, struct weft_error *err)
{
	struct weft_spec *fixed = &space->fixed;
	struct weft_job job = {0};
	char one[WEFT_SPEC_MAX_BYTES + 64];
	const char *name = q->model ? q->model : fixed->model;
	int rc;

	if (weft_spec_parse(text, fixed, err))
		return -1;
	if (fixed->gpus && q->gpus && fixed->gpus != q->gpus)
		return weft_fail(err, WEFT_EINVAL,
				 "--gpus %u, but gpus=%u in --job", q->gpus,
				 fixed->gpus);
	space->gpus = q->gpus ? q->gpus : fixed->gpus;
	space->text = text;
	space->name = name;
	snprintf(one, sizeof(one), "%s%s",
		 weft_spec_given(fixed, "model") || !q->model ? "" : "model=",
		 weft_spec_given(fixed, "model") || !q->model ? "" : q->model);
	if (!*one)
		snprintf(one, sizeof(one), "model=%s", fixed->model);
	rc = weft_job_build(one, 1, true, NULL, &job, err);
	if (rc == 0) {
		space->model = job.model;
		space->seq = fixed->seq ? fixed->seq : job.spec.seq;
		space->gbs = fixed->gbs;
		if (!space->gbs)
			space->gbs = weft_power_from(STEP_TOKENS / space->seq);
	}
	weft_job_free(&job);
	return rc;
}

static const struct weft_gpu *gpu_choose(const struct query *q,
					 struct weft_error *err)
{
	const struct weft_fabric *f = q->request.fabric;
	const struct weft_gpu *gpu = q->gpu;

	if (!gpu && f)
		gpu = weft_gpu_of_profile(f->profile);
	if (!gpu && f)
		weft_fail(err, WEFT_EINVAL,
			  "the fabric does not say which GPUs it has; give "
			  "--gpu NAME");
	return gpu || f ? gpu : weft_gpu_find("H100", err);
}

/* ---- the answer ---- */

static void answer_json_fill(const struct layout_space *space,
			     const struct advise_answer *answer, uint32_t top,
			     json_t *list)
{
	for (uint32_t i = 0; i < answer->n && i < top; i++) {
		const struct layout *l = &answer->layouts[i];
		char spec[WEFT_SPEC_MAX_BYTES + 1];

		layout_spec(space, l, spec, sizeof(spec));
		json_array_append_new(
			list,
			json_pack("{s:o, s:f, s:f, s:f, s:f}", "spec",
				  report_string(spec), "step_s", l->step_s,
				  "low_s", l->low_s, "high_s", l->high_s,
				  "memory_bytes", l->memory_bytes));
	}
}

static int answer_json(const struct query *q,
		       const struct advise_question *question,
		       const struct advise_answer *answer, double elapsed_s,
		       struct weft_error *err)
{
	const struct layout_space *space = question->space;
	json_t *object, *list = json_array();

	answer_json_fill(space, answer, q->top, list);
	object = json_pack(
		"{s:s, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:f, s:o}",
		"schema", "weft.advise/1", "layouts", list, "gpu",
		question->gpu->name, "gpus", (json_int_t)space->gpus, "gbs",
		(json_int_t)space->gbs, "fitting", (json_int_t)answer->n,
		"tried", (json_int_t)answer->n_tried, "too_large",
		(json_int_t)answer->n_too_large, "complete",
		(int)answer->complete, "elapsed_s", elapsed_s, "why",
		json_text_or_null(answer->why));
	return report_print(object, err);
}

static void answer_text(const struct query *q,
			const struct advise_question *question,
			const struct advise_answer *answer)
{
	const struct layout_space *space = question->space;
	char spec[WEFT_SPEC_MAX_BYTES + 1], range[80];

	if (answer->n)
		puts("    step  (eight of ten runs)  memory  spec");
	for (uint32_t i = 0; i < answer->n && i < q->top; i++) {
		const struct layout *l = &answer->layouts[i];

		layout_spec(space, l, spec, sizeof(spec));
		snprintf(range, sizeof(range), "(%s to %s)",
			 IN_UNIT(l->low_s, "s"), IN_UNIT(l->high_s, "s"));
		printf("%8s  %-19s  %6s  %s\n", IN_UNIT(l->step_s, "s"), range,
		       IN_UNIT(l->memory_bytes, "B"), spec);
	}
	printf("%s%u layouts of %s on %u %s fit, of %u tried; %u need more "
	       "than %.0f GB\n",
	       answer->n ? "\n" : "", answer->n, space->model.name, space->gpus,
	       question->gpu->name, answer->n_tried, answer->n_too_large,
	       question->gpu->usable_bytes / 1e9);
	if (!weft_spec_given(&space->fixed, "gbs"))
		printf("assumed: gbs=%u, some four million tokens a step\n",
		       space->gbs);
	if (!answer->complete)
		printf("stopped after %.0f s, not all layouts were tried\n",
		       q->budget_s);
	if (answer->why[0])
		printf("no place: %s\n", answer->why);
}

static int answer(struct query *q, struct weft_error *err)
{
	double start_s = weft_clock_s();
	struct layout_space space = {.gpus = 0};
	struct advise_question question = {
		.space = &space,
		.budget_s = q->budget_s,
		.n_best = PLACED_LAYOUTS,
	};
	struct advise_answer found = {0};
	struct weft_fabric *usual = NULL;
	int rc = -1;

	if (q->request.fabric_path &&
	    (request_open(&q->request, err) ||
	     request_contend(&q->request, NULL, 0, err)))
		goto out;
	question.gpu = gpu_choose(q, err);
	if (!question.gpu || space_fill(q, q->job ? q->job : "", &space, err))
		goto out;
	if (!q->request.fabric)
		usual = step_fabric(question.gpu, space.gpus, 0, "", "", err);
	else
		question.free = &q->request.occupancy;
	question.fabric = usual ? usual : q->request.fabric;
	question.load = q->request.objective.load;
	if (!question.fabric)
		goto out;
	space.inside =
		question.fabric->n_gpus / question.fabric->levels[0].n_domains;
	rc = advise(&question, &found, err);
	if (rc == 0 && q->json)
		rc = answer_json(q, &question, &found, weft_clock_s() - start_s,
				 err);
	else if (rc == 0)
		answer_text(q, &question, &found);
	if (rc == 0)
		rc = found.n ? EXIT_YES : EXIT_NEGATIVE;
out:
	advise_free(&found);
	weft_fabric_free(usual);
	request_close(&q->request);
	return rc;
}

int cmd_advise(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = fabric_read,
		.arguments = "[FILE]",
		.check = query_check,
		.doc = "Layouts of a job that fit in the GPUs' memory, the "
		       "fastest first, each with the spec to paste.",
	};
	struct query query = {.top = DEFAULT_TOP, .budget_s = DEFAULT_S};
	struct weft_error err = {0};
	int rc;

	command_line_read(&line, argc, argv, &query);
	rc = answer(&query, &err);
	return rc < 0 ? cmd_fail(&err) : rc;
}
