/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_straggler.c - weft model straggler: waiting for the slowest rank */
#include "cli/plan/ranks.h"
#include "costmodel/time/health.h"
#include "costmodel/time/straggler.h"
#include "lab/model/options.h"
#include "lab/step/step_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct question {
	struct model_options options;
	uint32_t n_ranks;
	double jitter;
	enum weft_jitter distribution;
	const char *health, *job, *fabric, *nodes;
};

#define QUESTION struct question

static const struct option_row options[] = {
	{"gpus", 'g', "N", "ranks that wait for each other", 1,
	 WHOLE(n_ranks, 0, 1u << 22)},
	{"jitter", 0, "SHARE",
	 "by which a rank's time varies from step to step: 0.02", 1,
	 NUMBER(jitter, 0, 10)},
	{"distribution", 0, "NAME",
	 "normal (default) or lognormal, which has a heavy tail", 1,
	 NAME(distribution, weft_jitter_names, WEFT_N_JITTERS,
	      "a distribution")},
	{"health", 0, "FILE",
	 "how many times as long nodes take: YAML, or CSV node,factor", 2,
	 TEXT(health)},
	{"job", 'j', "SPEC", "the job that runs there, weft-spec(7)", 2,
	 TEXT(job)},
	{"fabric", 'f', "FILE",
	 "the cluster, weft-fabric(5) (default: $WEFT_FABRIC)", 2,
	 TEXT(fabric)},
	{"nodes", 'n', "HOSTLIST",
	 "the job's ranks in order on these (default: as weft plan places it)",
	 2, TEXT(nodes)},
};

static void question_check(const struct argp_state *state, void *input)
{
	struct question *question = input;

	if (!question->fabric)
		question->fabric = getenv("WEFT_FABRIC");
	if (question->health && (!question->job || !question->fabric))
		argp_error(state,
			   "--health needs --job SPEC and --fabric FILE");
	if (!question->health && (question->job || question->nodes))
		argp_error(state, "--job and --nodes need --health FILE");
	if (!question->health && !question->n_ranks)
		argp_error(state, "who waits? Give --gpus N and --jitter "
				  "SHARE, or --health FILE");
	if (question->health && question->n_ranks)
		argp_error(state, "--gpus: the job says how many");
}

/* What model_print shows, all of it doubles. */
struct result {
	double ranks, jitter_factor, health_factor, factor, efficiency;
	double rank, node_factor, without_factor;
};

#define RESULT struct result

static const struct model_figure figures[] = {
	FIGURE("factor", "computation takes", factor, {1, 4, " times as long"}),
	FIGURE("jitter_factor", "for jitter", jitter_factor, PLAIN(4)),
	FIGURE("health_factor", "for slow nodes", health_factor, PLAIN(4)),
	FIGURE("efficiency", "GPUs compute", efficiency,
	       {0.01, 1, " % of the time"}),
	FIGURE("ranks", "ranks", ranks, PLAIN(0)),
	FIGURE("rank", "all wait for rank", rank, PLAIN(0)),
	FIGURE("node_factor", "whose node takes", node_factor,
	       {1, 3, " times as long"}),
	FIGURE("without_factor", "were it healthy", without_factor, PLAIN(4)),
};

/* A job on the nodes of a cluster, and how healthy they are. */
struct scene {
	struct weft_fabric *f;
	struct weft_job job;
	struct weft_health health;
	uint32_t *where;
};

static int scene_open(const struct question *question, struct scene *scene,
		      struct weft_error *err)
{
	scene->f = weft_fabric_load(question->fabric, err);
	if (!scene->f ||
	    weft_health_load(question->health, scene->f, &scene->health, err) ||
	    weft_job_build(question->job, 0, true, scene->f, &scene->job, err))
		return -1;
	scene->where =
		weft_calloc(scene->job.n_gpus, sizeof(*scene->where), err);
	if (!scene->where)
		return -1;
	if (question->nodes)
		return ranks_from_hostlist(scene->f, question->nodes,
					   scene->job.n_gpus, scene->where,
					   err);
	return step_place(scene->f, &scene->job, scene->where, err);
}

static void scene_close(struct scene *scene)
{
	free(scene->where);
	weft_health_free(&scene->health);
	weft_job_free(&scene->job);
	weft_fabric_free(scene->f);
}

/* The slowdown, and what it would be if the node that all wait for were well.
 */
static int slowdown_find(struct scene *scene, struct result *result,
			 struct model_report *report, struct weft_error *err)
{
	const struct weft_job *job = &scene->job;
	struct weft_slowdown slow, without;

	if (weft_health_slowdown(&scene->health, scene->f, &job->spec,
				 &job->grid, scene->where, &slow, err))
		return -1;
	result->ranks = job->n_gpus;
	result->health_factor = slow.factor;
	if (slow.node == WEFT_NONE)
		return 0;
	result->rank = slow.rank;
	result->node_factor = scene->health.factor[slow.node];
	scene->health.factor[slow.node] = 1;
	if (weft_health_slowdown(&scene->health, scene->f, &job->spec,
				 &job->grid, scene->where, &without, err))
		return -1;
	result->without_factor = without.factor;
	model_note(report, "all wait for %s; were it healthy, for %s",
		   scene->f->nodes[slow.node].name,
		   without.node == WEFT_NONE
			   ? "no node"
			   : scene->f->nodes[without.node].name);
	return 0;
}

static int answer(void *input, struct weft_error *err)
{
	const struct question *question = input;
	struct scene scene = {0};
	struct result result = {
		.ranks = question->n_ranks,
		.jitter_factor = 1,
		.health_factor = 1,
		/* No such rank or node: not shown. */
		.rank = (double)NAN,
		.node_factor = (double)NAN,
		.without_factor = (double)NAN,
	};
	struct model_report report = {
		.model = "straggler",
		.options = &question->options,
		.figures = figures,
		.n_figures = sizeof(figures) / sizeof(figures[0]),
		.title = "waiting for the slowest rank",
		.right = &result,
		.seed = &result,
	};
	int rc = -1;

	if (question->health && (scene_open(question, &scene, err) ||
				 slowdown_find(&scene, &result, &report, err)))
		goto out;
	result.jitter_factor = weft_straggler_expected_max(
		(uint32_t)result.ranks, question->jitter,
		question->distribution);
	result.factor = result.jitter_factor * result.health_factor;
	result.efficiency = 1 / result.factor;
	if (question->jitter == 0)
		model_note(&report, "no --jitter given: ranks are taken to be "
				    "equal from step to step");
	rc = model_print(&report, err);
out:
	scene_close(&scene);
	return rc;
}

const struct calculator model_straggler = {
	.name = "straggler",
	.help = "how much longer a step takes for the slowest rank",
	.line.doc = "How much longer computation takes because all ranks wait "
		    "for the slowest: of equal ones from step to step, and of "
		    "those on slow nodes in every step.",
	LINE_ROWS(options),
	.line.check = question_check,
	.question_size = sizeof(struct question),
	.answer = answer,
};
