/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_plan.c - weft plan: where would this job run, at what cost, and why */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/plan/gain.h"
#include "cli/plan/request.h"
#include "cli/plan/verdict.h"
#include "cli/report.h"
#include "cli/whole_file.h"
#include "costmodel/job/spec_words.h"
#include "placement/blockers.h"
#include "placement/exact/place_exact.h"
#include "placement/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the job without one of its wishes, and how much less it costs ---- */

/* A saving below this share is not worth a line. */
#define WORTH 0.01
/* Larger jobs are placed once only. */
#define MOST_GPUS 16384

static const char *const wishes[] = {"segment", "split", "spread", "within",
				     "prefer"};
#define N_WISHES (sizeof(wishes) / sizeof(wishes[0]))

/* Copies the spec without the entry of that key, which goes to entry. */
static void spec_without(const char *spec, const char *key, char *rest,
			 char *entry)
{
	size_t used = 0;

	rest[0] = entry[0] = '\0';
	while (*spec) {
		size_t n = strcspn(spec, ",");
		size_t name = strspn(spec, " ");
		char folded[WEFT_SPEC_WORD_SIZE] = "";
		size_t length = strcspn(spec + name, "= ,");

		weft_spec_word_fold(spec + name, length, folded);
		if (strcmp(folded, key) == 0)
			snprintf(entry, WEFT_SPEC_MAX_BYTES, "%.*s", (int)n,
				 spec);
		else
			used += (size_t)snprintf(
				rest + used, WEFT_SPEC_MAX_BYTES + 1 - used,
				"%s%.*s", used ? "," : "", (int)n, spec);
		spec += n;
		spec += *spec == ',';
	}
}

static int wish_price(const struct request *request, const char *spec,
		      const char *wish,
		      const struct weft_place_options *options,
		      struct weft_placement *placement, struct weft_error *err)
{
	struct weft_placement other = {0};
	struct weft_error why = {0};
	struct weft_job job;
	double with = placement->cost.total[placement->metric], without;
	int rc = 0;

	if (weft_job_build(spec, 0, true, request->fabric, &job, &why)) {
		weft_job_free(&job);
		return why.code == WEFT_ENOMEM
			       ? weft_fail(err, why.code, "%s", why.text)
			       : 0;
	}
	rc = weft_place(request->fabric, &job, &request->occupancy, options,
			&other, err);
	without = rc || !other.placed ? with : other.cost.total[other.metric];
	if (with > 0 && without < with * (1 - WORTH))
		weft_placement_explain(placement,
				       "%s costs: without it the job would "
				       "cost %.0f %% less",
				       wish, 100 * (1 - without / with));
	weft_placement_free(&other);
	weft_job_free(&job);
	return rc;
}

/* Adds to the placement's reasons what each wish of the spec costs: the job
 * placed once more without it.  Wishes that cost nothing are not reported.  -1
 * with err when out of memory. */
static int wishes_explain(const struct request *request,
			  const struct weft_place_options *options,
			  struct weft_placement *placement,
			  struct weft_error *err)
{
	struct weft_place_options quick = *options;
	char rest[WEFT_SPEC_MAX_BYTES + 1], entry[WEFT_SPEC_MAX_BYTES];

	if (!placement->placed || placement->n_ranks > MOST_GPUS ||
	    options->strategy)
		return 0;
	quick.progress = NULL;
	quick.certificate = NULL;
	for (size_t w = 0; w < N_WISHES; w++) {
		if (!weft_spec_given(&request->job.spec, wishes[w]))
			continue;
		spec_without(request->job_text, wishes[w], rest, entry);
		if (entry[0] &&
		    wish_price(request, rest, entry, &quick, placement, err))
			return -1;
	}
	return 0;
}

/* ---- the command ---- */

/* For what running jobs' ends would bring: a second opinion, not the answer. */
#define OUTLOOK_BUDGET_S 2

struct plan {
	struct request request;
	struct weft_place_options options;
	const char *certificate_path;
	double start_s;
};

/* Methods of seconds say what they are at, once it has been some. */
static void progress_print(void *listener, const char *text)
{
	const struct plan *plan = listener;
	double elapsed_s = weft_clock_s() - plan->start_s;

	if (elapsed_s > 1)
		fprintf(stderr, "weft: %.1f s: %s\n", elapsed_s, text);
}

static void methods_print(void)
{
	for (uint32_t i = 0; i < weft_n_strategies; i++)
		printf("%-12s %s\n", weft_strategies[i].name,
		       weft_strategies[i].help);
	printf("%-12s %s\n", weft_exact.name,
	       weft_exact_is_built() ? weft_exact.help
				     : "not built in: it needs GLPK");
}

/* The exact method is not in the library's table: its solver is not for
 * everyone who links that. */
static void method_read(const struct argp_state *state, char *name, void *input)
{
	struct plan *plan = input;
	bool exact = strcmp(name, weft_exact.name) == 0;

	(void)state;
	plan->options.strategy = exact ? &weft_exact : NULL;
	plan->options.method = exact ? NULL : name;
}

static void budget_read(const struct argp_state *state, char *text, void *input)
{
	struct plan *plan = input;

	plan->options.budget_s = option_number(state, text, 0, 1e9);
	plan->options.search_on = true;
}

#define QUESTION struct plan

static const struct option_row options[] = {
	{"method", 'm', "NAME", "how to search (default: pack)", 0,
	 READ(method_read)},
	{"methods", 0, NULL, "list the methods and exit", 0,
	 LIST(methods_print)},
	{"seed", 0, "N", "same seed, same answer (default: 0)", 0,
	 LONG(options.seed, UINT64_MAX)},
	{"work", 0, "N", "steps of search at most", 0,
	 LONG(options.work_limit, UINT64_MAX)},
	{"budget", 0, "SECONDS",
	 "wall clock at most; then the best found so far", 0,
	 READ(budget_read)},
	{"ranks", 0, NULL, "print a line of ranks for each node", 0,
	 FLAG(request.all_ranks)},
	{"certificate", 0, "FILE",
	 "with --method exact: write a program that proves the bound", 0,
	 TEXT(certificate_path)},
};

static void plan_check(const struct argp_state *state, void *input)
{
	const struct plan *plan = input;

	if (plan->certificate_path && plan->options.strategy != &weft_exact)
		argp_error(state, "--certificate is for --method "
				  "exact");
}

/* What the jobs that run keep this one from; none are known without a state.
 */
static int look_out(const struct plan *plan, struct weft_placement *placement,
		    struct weft_blockers *blockers, struct weft_error *err)
{
	const struct request *request = &plan->request;
	/* many questions: the quick method, without progress */
	const struct weft_place_options quick = {
		.seed = plan->options.seed,
		.work_limit = plan->options.work_limit,
		.budget_s = plan->options.budget_s,
		.objective = plan->options.objective,
		.method = plan->options.method,
	};
	const struct weft_blockers_request question = {
		.f = request->fabric,
		.job = &request->job,
		.o = &request->occupancy,
		.running = &request->running,
		.options = &quick,
		.now = placement,
		.budget_s = OUTLOOK_BUDGET_S,
	};

	if (!request->running.n)
		return 0;
	if (weft_blockers(&question, blockers, err))
		return -1;
	weft_blockers_explain(&question, blockers, placement);
	return 0;
}

static int place(struct plan *plan, struct weft_placement *placement,
		 struct weft_error *err)
{
	struct request *request = &plan->request;
	char *text = NULL;
	size_t size = 0;
	int rc;

	if (plan->certificate_path) {
		plan->options.certificate = open_memstream(&text, &size);
		if (!plan->options.certificate)
			return weft_fail(err, WEFT_ENOMEM, "out of memory");
	}
	plan->options.progress = progress_print;
	plan->options.listener = plan;
	plan->start_s = weft_clock_s();
	rc = weft_place(request->fabric, &request->job, &request->occupancy,
			&plan->options, placement, err);
	if (plan->options.certificate && fclose(plan->options.certificate))
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (rc == 0 && plan->certificate_path && placement->placed)
		rc = output_file_write(plan->certificate_path, text, size, err);
	free(text);
	return rc;
}

/* Its answer is that of a search for the least step. */
static bool searches_step(const struct plan *plan)
{
	const struct weft_objective *objective = &plan->request.objective;

	return objective->goal == WEFT_GOAL_STEP &&
	       !(objective->fragmentation > 0) && !plan->options.method &&
	       !plan->options.strategy;
}

static int answer(struct plan *plan, bool *placed, struct weft_error *err)
{
	struct request *request = &plan->request;
	struct weft_placement placement = {0};
	struct weft_blockers blockers = {0};
	struct verdict verdict;
	struct gain gain = {0};
	struct report report = {
		.placement = &placement, .verdict = &verdict, .gain = &gain};
	int result = -1;

	if (request_open(request, err) ||
	    request_contend(request, NULL, 0, err))
		return -1;
	plan->options.objective = &request->objective;
	if (place(plan, &placement, err))
		goto out;
	report.elapsed_s = weft_clock_s() - plan->start_s;
	*placed = placement.placed;
	if (wishes_explain(request, &plan->options, &placement, err))
		goto out;
	if (look_out(plan, &placement, &blockers, err) ||
	    (placement.placed &&
	     (verdict_find(request, &placement, &verdict, err) ||
	      gain_find(request, &placement, &verdict, searches_step(plan),
			&gain, err))))
		goto out;
	report.blockers = request->running.n ? &blockers : NULL;
	result = 0;
	if (request->json)
		result = report_print(report_object("plan", request, &report),
				      err);
	else
		report_text(request, &report);
out:
	gain_free(&gain);
	weft_blockers_free(&blockers);
	weft_placement_free(&placement);
	return result;
}

int cmd_plan(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.shared = &request_line,
		.check = plan_check,
		.doc = "Dry-run: on which GPUs would this job run, which rank "
		       "on which, at what cost, and why.",
	};
	struct plan plan = {0};
	struct weft_error err = {0};
	bool placed = false;
	int result;

	command_line_read(&line, argc, argv, &plan);
	result = answer(&plan, &placed, &err);
	request_close(&plan.request);
	if (result)
		return cmd_fail(&err);
	return placed ? EXIT_YES : EXIT_NEGATIVE;
}
