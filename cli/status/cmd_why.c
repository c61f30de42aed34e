/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_why.c - weft why: why a job of the running Slurm is where it is, or still
 * waits
 */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/option.h"
#include "cli/plan/axes.h"
#include "cli/plan/gain.h"
#include "cli/plan/ranks.h"
#include "cli/plan/request.h"
#include "cli/plan/verdict.h"
#include "cli/report.h"
#include "cli/slurm/site.h"
#include "cli/slurm/slurm_job.h"
#include "cli/slurm/slurm_jobs.h"
#include "cli/slurm/slurm_state.h"
#include "cli/slurm/snapshot.h"
#include "placement/blockers.h"
#include "placement/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What would help is looked for so long. */
#define OUTLOOK_BUDGET_S 2

/* A better place for a job that runs is worth a word from here on. */
#define WORTH 0.005

struct why {
	const char *id, *spec;
	struct site site;
	struct slurm_job job;
	struct request request;
	uint32_t *where; /* GPUs that the job has, or NULL */
	bool indices;	 /* which GPUs of the nodes they are is known */
	struct weft_placement placement;
	struct weft_placement best; /* if it were placed now; or not placed */
	struct weft_blockers blockers;
	struct verdict verdict;
	struct gain gain;
	double decision_s; /* NAN: not known */
	json_t *gain_then; /* when it started; NULL: not known */
	double elapsed_s;
};

static void id_read(const struct argp_state *state, char *text, void *input)
{
	struct why *why = input;

	if (why->id)
		argp_error(state, "one job at a time");
	if (!text)
		argp_error(state, "which job? Give its number");
	why->id = text;
}

#define QUESTION struct why

static const struct option_row options[] = {
	{"fabric", 'f', "FILE",
	 "the cluster (default: $WEFT_FABRIC, else what weft.yaml beside "
	 "slurm.conf names)",
	 0, TEXT(request.fabric_path)},
	{"job", 'j', "SPEC",
	 "the job's spec, where neither Slurm nor the plugin shows it", 0,
	 TEXT(spec)},
	{"json", 'J', NULL, "answer in JSON", 0, FLAG(request.json)},
};

/* ---- what is known ---- */

/* Another user wrote this spec: it opens no files. */
static int job_build(struct why *why, struct weft_error *err)
{
	struct request *r = &why->request;
	struct weft_model model;
	struct weft_spec spec;
	int registered = 0;

	if (weft_spec_parse(r->job_text, &spec, err) < 0)
		return -1;
	if (spec.model[0])
		registered = site_model(&why->site, spec.model, &model, err);
	if (registered < 0)
		return -1;
	if (registered)
		return weft_job_build_model(r->job_text, why->job.n_gpus,
					    &model, WEFT_ALL_PAIRS, r->fabric,
					    &r->job, err);
	return weft_job_build(r->job_text, why->job.n_gpus, false, r->fabric,
			      &r->job, err);
}

static int request_fill(struct why *why, struct weft_error *err)
{
	struct request *r = &why->request;
	struct slurm_job *job = &why->job;
	struct weft_error own = {0};

	r->job_text = why->spec ? why->spec : job->spec;
	r->fabric = weft_fabric_load(r->fabric_path, err);
	if (!r->fabric)
		return -1;
	if (job_build(why, &own) < 0)
		return weft_fail_at(err, own.code,
				    why->spec ? "--job" : "the job's spec", 0,
				    own.column, "%s", own.text);
	if (!r->job.gpus_per_node)
		r->job.gpus_per_node = job->gpus_per_node;
	if (!r->job.min_nodes && !r->job.max_nodes) {
		r->job.min_nodes = job->min_nodes;
		r->job.max_nodes = job->max_nodes;
	}
	r->objective = weft_objective_of_spec(&r->job.spec);
	if (weft_occupancy_build(r->fabric, &r->occupancy, err) < 0 ||
	    slurm_state_read(&r->occupancy, NULL, err) < 0)
		return -1;
	return slurm_jobs_read(&r->occupancy, &r->running, err);
}

/* The job's GPUs: from its record among the running ones, which has their
 * indices, else the first of its nodes. */
static int where_fill(struct why *why, struct weft_error *err)
{
	struct request *r = &why->request;
	const struct weft_running *own = NULL;

	why->where = weft_calloc(r->job.n_gpus, sizeof(*why->where), err);
	if (!why->where)
		return -1;
	for (uint32_t i = 0; i < r->running.n; i++)
		if (strcmp(r->running.jobs[i].id, why->job.id) == 0)
			own = &r->running.jobs[i];
	if (own && own->n_gpus == r->job.n_gpus) {
		memcpy(why->where, own->gpu,
		       r->job.n_gpus * sizeof(*why->where));
		why->indices = true;
		return 0;
	}
	return ranks_from_hostlist(r->fabric, why->job.nodes, r->job.n_gpus,
				   why->where, err);
}

/* What the plugin's status file has of the job.  Slurm does not show what was
 * given with --weft, which goes before a comment. */
static void snapshot_read(struct why *why)
{
	struct snapshot snapshot = {0};
	const char *spec;

	why->decision_s = (double)NAN;
	if (why->site.status_path &&
	    snapshot_load(why->site.status_path, &snapshot, NULL) == 0) {
		why->decision_s = snapshot_decision_s(&snapshot, why->job.id);
		why->gain_then =
			json_incref(snapshot_gain(&snapshot, why->job.id));
		spec = snapshot_spec(&snapshot, why->job.id);
		if (spec && strlen(spec) < sizeof(why->job.spec)) {
			snprintf(why->job.spec, sizeof(why->job.spec), "%s",
				 spec);
			why->job.has_spec = true;
		}
	}
	snapshot_free(&snapshot);
}

/* ---- the two questions ---- */

/* Where it is: what that costs, and what a choice made now would. */
static int look_at_place(struct why *why, struct weft_error *err)
{
	struct request *r = &why->request;
	struct weft_occupancy *o = &r->occupancy;

	if (where_fill(why, err) < 0 ||
	    request_contend(r, why->where, r->job.n_gpus, err) < 0 ||
	    weft_place_score(r->fabric, &r->job, o, why->where, &why->placement,
			     err) < 0 ||
	    verdict_find(r, &why->placement, &why->verdict, err) < 0 ||
	    gain_find(r, &why->placement, &why->verdict, false, &why->gain,
		      err) < 0)
		return -1;
	why->placement.cost = why->verdict.measure.cost;
	if (!why->job.runs)
		return 0;
	for (uint32_t i = 0; i < r->job.n_gpus; i++) {
		uint32_t node = r->fabric->gpu_node[why->where[i]];

		weft_occupancy_release(
			o, node,
			UINT64_C(1) << (why->where[i] -
					r->fabric->nodes[node].first_gpu));
	}
	return weft_place(r->fabric, &r->job, o, NULL, &why->best, err);
}

/* Why it waits: whether there is a place, and what would bring one. */
static int look_at_wait(struct why *why, struct weft_error *err)
{
	struct request *r = &why->request;
	const struct weft_blockers_request question = {
		.f = r->fabric,
		.job = &r->job,
		.o = &r->occupancy,
		.running = &r->running,
		.now = &why->placement,
		.budget_s = OUTLOOK_BUDGET_S,
	};

	if (request_contend(r, NULL, 0, err) < 0 ||
	    weft_place(r->fabric, &r->job, &r->occupancy, NULL, &why->placement,
		       err) < 0)
		return -1;
	if (why->placement.placed &&
	    (verdict_find(r, &why->placement, &why->verdict, err) < 0 ||
	     gain_find(r, &why->placement, &why->verdict, false, &why->gain,
		       err) < 0))
		return -1;
	if (!r->running.n)
		return 0;
	if (weft_blockers(&question, &why->blockers, err) < 0)
		return -1;
	weft_blockers_explain(&question, &why->blockers, &why->placement);
	return 0;
}

/* ---- telling ---- */

/* What a choice made now would cost, in parts of what it costs; NAN: not
 * known. */
static double best_ratio(const struct why *why)
{
	enum weft_metric metric = why->placement.metric;
	double cost = why->placement.cost.total[metric];

	if (!why->best.placed || cost <= 0)
		return (double)NAN;
	return why->best.cost.total[metric] / cost;
}

static const char *level_name(const struct weft_fabric *f, uint32_t level)
{
	return level < f->n_levels ? f->levels[level].name : "no level";
}

static void axes_print(const struct why *why)
{
	const struct weft_grid *grid = &why->request.job.grid;
	const struct weft_fabric *f = why->request.fabric;
	uint32_t level[WEFT_MAX_AXES];
	const char *before = "  spans      ";

	axes_reach(f, &why->request.job, why->where, level);
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		if (level[a] == WEFT_NONE)
			continue;
		printf("%s%s=%u within one %s", before, grid->name[a],
		       grid->size[a], level_name(f, level[a]));
		before = ", ";
	}
	if (before[0] == ',')
		putchar('\n');
}

static void job_print(const struct why *why)
{
	const struct slurm_job *job = &why->job;

	printf("job %s is %s", job->id, job->state);
	if (job->reason[0] && strcmp(job->reason, "None") != 0)
		printf(" (%s)", job->reason);
	if (job->waits)
		printf(", submitted %s\n", job->submitted);
	else
		printf(" since %s on %s\n", job->started, job->nodes);
	if (why->spec || job->has_spec)
		printf("  spec       %s\n", why->request.job_text);
	else
		printf("  spec       none is shown: taken as dp=%u\n",
		       why->request.job.n_gpus);
	if (job->said[0])
		printf("  told then  %s\n", job->said);
	if (isfinite(why->decision_s))
		printf("  decided in %s\n", IN_UNIT(why->decision_s, "s"));
}

static void best_print(const struct why *why)
{
	double ratio = best_ratio(why);
	char *nodes;

	if (!isfinite(ratio))
		return;
	if (ratio > 1 - WORTH) {
		printf("  now        no better place is free\n");
		return;
	}
	nodes = report_hostlist(why->request.fabric, why->best.nodes,
				why->best.n_nodes);
	printf("  now        it would cost %.3gx on %s\n", ratio,
	       nodes ? nodes : "?");
	free(nodes);
}

static void text_print(const struct why *why, const struct report *report)
{
	job_print(why);
	if (why->where) {
		axes_print(why);
		if (strstr(why->job.said, "; ranks=plan"))
			printf("  ranks      weft laid them out its own way: "
			       "below they are in Slurm's order\n");
		if (!why->indices)
			printf("  GPUs       the first of its nodes are "
			       "assumed: Slurm gives no indices\n");
		best_print(why);
	} else if (why->placement.placed) {
		printf("  now        weft finds a place: what it waits for is "
		       "Slurm's\n");
	}
	report_text(&why->request, report);
}

static json_t *axes_json(const struct why *why)
{
	const struct weft_grid *grid = &why->request.job.grid;
	uint32_t level[WEFT_MAX_AXES];
	json_t *axes = json_object();

	if (!why->where)
		return axes;
	axes_reach(why->request.fabric, &why->request.job, why->where, level);
	for (uint32_t a = 0; a < grid->n_axes; a++)
		if (level[a] < why->request.fabric->n_levels)
			JSON_PUT(axes, grid->name[a],
				 level_name(why->request.fabric, level[a]));
	return axes;
}

static int json_print(const struct why *why, const struct report *report,
		      struct weft_error *err)
{
	const struct slurm_job *job = &why->job;
	json_t *object = report_object("why", &why->request, report);
	bool known = why->spec || job->has_spec;

	JSON_PUT(object, "job",
		 json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			   "id", report_string(job->id), "state",
			   report_string(job->state), "reason",
			   json_text_or_null(job->reason), "spec",
			   known ? report_string(why->request.job_text)
				 : json_null(),
			   "said", json_text_or_null(job->said), "submitted",
			   json_text_or_null(job->submitted), "started",
			   json_text_or_null(job->waits ? "" : job->started),
			   "decision_s", json_real_or_null(why->decision_s),
			   "gain",
			   why->gain_then ? json_incref(why->gain_then)
					  : json_null()));
	JSON_PUT(object, "reach_by_axis", axes_json(why));
	JSON_PUT(object, "indices_known", why->indices);
	JSON_PUT(object, "now_ratio", best_ratio(why));
	return report_print(object, err);
}

static int answer(struct why *why, struct weft_error *err)
{
	struct report report = {.placement = &why->placement,
				.verdict = &why->verdict,
				.gain = &why->gain};
	double start_s = weft_clock_s();

	if (slurm_job_read(why->id, &why->job, err) < 0)
		return -1;
	if (!why->job.n_gpus)
		return weft_fail(err, WEFT_EINVAL,
				 "job %s has asked for no GPUs: weft leaves it "
				 "alone",
				 why->job.id);
	if (!why->job.waits && !why->job.nodes[0])
		return weft_fail(err, WEFT_EINVAL,
				 "job %s is %s and never had nodes",
				 why->job.id, why->job.state);
	if (site_open(&why->site, why->request.fabric_path, err) < 0)
		return -1;
	why->request.fabric_path = why->site.fabric_path;
	why->request.alone = why->site.alone;
	snapshot_read(why);
	if (request_fill(why, err) < 0)
		return -1;
	if ((why->job.waits ? look_at_wait : look_at_place)(why, err) < 0)
		return -1;
	report.blockers = why->job.waits && why->request.running.n
				  ? &why->blockers
				  : NULL;
	report.elapsed_s = weft_clock_s() - start_s;
	if (why->request.json)
		return json_print(why, &report, err);
	text_print(why, &report);
	return 0;
}

int cmd_why(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = id_read,
		.arguments = "JOBID",
		.doc = "Why a job of the running Slurm is where it is, at what "
		       "cost, or what it waits for.",
	};
	struct why why = {0};
	struct weft_error err = {0};
	bool placed;
	int result;

	command_line_read(&line, argc, argv, &why);
	result = answer(&why, &err);
	placed = why.placement.placed;
	json_decref(why.gain_then);
	gain_free(&why.gain);
	weft_blockers_free(&why.blockers);
	weft_placement_free(&why.best);
	weft_placement_free(&why.placement);
	free(why.where);
	request_close(&why.request);
	site_close(&why.site);
	if (result)
		return cmd_fail(&err);
	return placed ? EXIT_YES : EXIT_NEGATIVE;
}
