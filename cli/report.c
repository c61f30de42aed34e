/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c - a placement as JSON and as text */
#include "cli/report.h"

#include "base/hostlist.h"
#include "base/size.h"
#include "cli/fold.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/plan/blockers_report.h"
#include "cli/plan/fit.h"
#include "cli/plan/gain.h"
#include "cli/plan/verdict.h"
#include "costmodel/time/range.h"
#include "placement/objective/evaluation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes of a text report's rank table; more are left to --json. */
#define MAX_TABLE_NODES 64

/* An allocation of jansson failed. */
static bool starved;
static bool printed;

static void *json_allocate(size_t size)
{
	void *block = malloc(size);

	starved = starved || !block;
	return block;
}

void report_start(void)
{
	starved = false;
	json_set_alloc_funcs(json_allocate, free);
}

bool report_starved(void)
{
	return starved;
}

/* As text first: what does not fit into memory is not half-written. */
int report_print(json_t *object, struct weft_error *err)
{
	char *text = NULL;

	if (object && !starved)
		text = json_dumps(object,
				  JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	json_decref(object);
	if (!text)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	puts(text);
	printed = true;
	free(text);
	return 0;
}

bool report_printed(void)
{
	return printed;
}

json_t *report_string(const char *text)
{
	json_t *string = json_string(text);
	char *plain;

	if (string || !text || starved)
		return string;
	plain = strdup(text);
	starved = starved || !plain;
	if (!plain)
		return NULL;
	for (char *c = plain; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}
	string = json_string(plain);
	free(plain);
	return string;
}

/* ---- JSON ---- */

/* {NAME: number, ...} */
static json_t *json_named(const char *const *names, const double *values, int n)
{
	json_t *object = json_object();

	for (int i = 0; i < n; i++)
		JSON_PUT(object, names[i], values[i]);
	return object;
}

static json_t *json_metrics(const double value[WEFT_N_METRICS])
{
	return json_named(weft_metric_names, value, WEFT_N_METRICS);
}

static json_t *json_nodes(const struct weft_fabric *f, const uint32_t *nodes,
			  uint32_t n)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(array,
				      json_string(f->nodes[nodes[i]].name));
	return array;
}

static json_t *json_ranks(const struct weft_fabric *f,
			  const struct weft_placement *p)
{
	json_t *array = json_array();

	for (uint32_t rank = 0; p->placed && rank < p->n_ranks; rank++) {
		uint32_t gpu = p->where[rank];
		const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];

		json_array_append_new(
			array,
			json_pack("{s:I, s:s, s:I}", "rank", (json_int_t)rank,
				  "node", node->name, "gpu",
				  (json_int_t)weft_fabric_number(f, gpu)));
	}
	return array;
}

static json_t *json_by_axis(const struct weft_cost *cost)
{
	json_t *object = json_object();

	for (int a = 0; a < WEFT_N_AXES; a++)
		JSON_PUT(object, weft_axis_names[a],
			 json_metrics(cost->by_axis[a]));
	return object;
}

static json_t *json_by_level(const struct weft_fabric *f,
			     const struct weft_cost *cost)
{
	json_t *object = json_object();

	for (uint32_t l = 0; l < f->n_levels; l++) {
		json_t *level = json_metrics(cost->by_level[l]);

		JSON_PUT(level, "bytes", cost->bytes_by_level[l]);
		JSON_PUT(object, f->levels[l].name, level);
	}
	return object;
}

void report_busiest(const struct weft_fabric *f, const struct weft_cost *cost,
		    char *name, size_t size)
{
	uint32_t gpu = cost->busiest.gpu;
	const struct weft_node *node;

	if (gpu == WEFT_NONE) {
		snprintf(name, size, "%s",
			 f->domains[cost->busiest.domain].name);
		return;
	}
	node = &f->nodes[f->gpu_node[gpu]];
	snprintf(name, size, "%s:%u", node->name, weft_fabric_number(f, gpu));
}

static json_t *json_busiest(const struct weft_fabric *f,
			    const struct weft_cost *cost)
{
	char name[2 * WEFT_NAME_SIZE];
	const char *level = "gpu";

	if (cost->busiest.domain == WEFT_NONE)
		return json_null();
	report_busiest(f, cost, name, sizeof(name));
	if (cost->busiest.gpu == WEFT_NONE)
		level = f->levels[cost->busiest.level].name;
	return json_pack("{s:s, s:s, s:s, s:f, s:f}", "level", level, "below",
			 name, "direction", cost->busiest.up ? "up" : "down",
			 "bytes", cost->busiest.bytes, "time_s",
			 cost->busiest.time_s);
}

static json_t *json_why(const struct weft_placement *p, const struct fit *fit)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < p->n_why; i++)
		json_array_append_new(array, json_string(p->why[i]));
	if (*fit->warning)
		json_array_append_new(array, json_string(fit->warning));
	return array;
}

static json_t *json_step(const struct request *request,
			 const struct weft_evaluation *e)
{
	bool assumed = !weft_spec_given(&request->job.spec, "model");

	return json_pack("{s:s, s:s, s:b, s:f, s:f, s:f}", "gpu", e->gpu->name,
			 "model", request->job.model.name, "model_assumed",
			 assumed, "mfu", e->step.mfu, "hfu", e->step.hfu,
			 "bubble_s", e->step.bubble_s);
}

/* One number for each axis. */
static json_t *json_axes(const double by_axis[WEFT_N_AXES])
{
	return json_named(weft_axis_names, by_axis, WEFT_N_AXES);
}

static json_t *json_stages(const uint32_t by_axis[WEFT_N_AXES])
{
	json_t *object = json_object();

	for (int a = 0; a < WEFT_N_AXES; a++)
		JSON_PUT(object, weft_axis_names[a], by_axis[a]);
	return object;
}

/* What the job sends takes, before anything hides it, and what of it is seen:
 * each with the pipeline stage that it is of. */
static void json_add_communication(json_t *object,
				   const struct weft_evaluation *e)
{
	const struct weft_step *step = &e->step;

	JSON_PUT(object, "communication_s", json_axes(step->communication_s));
	JSON_PUT(object, "loss_s", json_axes(step->loss_s));
	JSON_PUT(object, "latency_s", json_axes(step->latency_s));
	JSON_PUT(object, "communication_stage",
		 json_stages(step->communication_stage));
	if (!e->timed)
		return;
	JSON_PUT(object, "exposed_s", json_axes(step->exposed_s));
	JSON_PUT(object, "exposed_stage", json_stages(step->exposed_stage));
}

/* The best of the other sets of nodes. */
static json_t *json_next(const struct weft_fabric *f,
			 const struct weft_placement *p)
{
	return json_pack("{s:f, s:o}", "cost", p->next_cost, "nodes",
			 json_nodes(f, p->next, p->n_next));
}

bool report_unseen(const struct request *request,
		   const struct weft_evaluation *e, char *text, size_t size)
{
	const struct weft_job *job = &request->job;
	const struct weft_seen run =
		weft_run_of(e->gpu, &job->spec, &job->model, request->fabric);

	return weft_spec_names_model(&job->spec) &&
	       weft_unseen(&run, text, size);
}

/* What only a placement has; without one every key is there and null, as are
 * step_s and step where the step cannot be predicted. */
static void json_add_placement(json_t *object, const struct request *request,
			       const struct weft_placement *p,
			       const struct weft_evaluation *e)
{
	const struct weft_fabric *f = request->fabric;
	char unseen[WEFT_UNSEEN_SIZE];
	static const char *const keys[] = {"cost",	"bound",
					   "gap",	"method",
					   "by_axis",	"by_level",
					   "busiest",	"step_s",
					   "step",	"next",
					   "objective", "communication_s",
					   "latency_s", "communication_stage",
					   "exposed_s", "exposed_stage",
					   "gain",	"unseen"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		JSON_PUT(object, keys[i], json_null());
	if (!p->placed)
		return;
	JSON_PUT(object, "cost", json_metrics(p->cost.total));
	JSON_PUT(object, "bound", p->bound);
	JSON_PUT(object, "gap", p->gap);
	JSON_PUT(object, "method", p->method);
	JSON_PUT(object, "by_axis", json_by_axis(&p->cost));
	JSON_PUT(object, "by_level", json_by_level(f, &p->cost));
	JSON_PUT(object, "busiest", json_busiest(f, &e->cost));
	if (p->n_next)
		JSON_PUT(object, "next", json_next(f, p));
	if (!request->job.spec.traffic[0])
		json_add_communication(object, e);
	if (!e->timed)
		return;
	JSON_PUT(object, "step_s", e->step.step_s);
	JSON_PUT(object, "step", json_step(request, e));
	if (report_unseen(request, e, unseen, sizeof(unseen)))
		JSON_PUT(object, "unseen", unseen);
}

/* The kind that was asked for, or the fabric's; NULL: not known. */
static const struct weft_gpu *gpu_of(const struct request *request)
{
	return request->gpu ? request->gpu
			    : weft_gpu_of_profile(request->fabric->profile);
}

/* The step on this placement, with the GPU that was asked for. */
static void step_predict(const struct request *request,
			 const struct weft_placement *p,
			 struct weft_evaluation *e)
{
	memset(e, 0, sizeof(*e));
	e->gpu = request->gpu;
	e->load = request->objective.load;
	e->exact_sharing = true;
	if (p->placed)
		weft_evaluate(request->fabric, &request->job, p->where, NULL, e,
			      NULL);
}

json_t *report_object(const char *command, const struct request *request,
		      const struct report *report)
{
	const struct weft_fabric *f = request->fabric;
	const struct weft_placement *p = report->placement;
	const struct fit fit = fit_find(&request->job, gpu_of(request));
	struct weft_evaluation evaluation;
	json_t *object;
	char schema[64];

	snprintf(schema, sizeof(schema), "weft.%s/1", command);
	object = json_pack(
		"{s:s, s:b, s:I, s:s, s:f}", "schema", schema, "placed",
		p->placed, "gpus", (json_int_t)request->job.n_gpus, "metric",
		weft_metric_names[p->metric], "elapsed_s", report->elapsed_s);
	if (!object)
		return NULL;
	JSON_PUT(object, "job", request->job_text);
	JSON_PUT(object, "nodes", json_nodes(f, p->nodes, p->n_nodes));
	JSON_PUT(object, "ranks", json_ranks(f, p));
	step_predict(request, p, &evaluation);
	json_add_placement(object, request, p, &evaluation);
	if (p->placed) {
		JSON_PUT(object, "objective",
			 verdict_json(request, report->verdict));
		JSON_PUT(object, "gain", gain_json(request, report->gain));
	}
	JSON_PUT(object, "memory_bytes_per_gpu", fit_json(&fit));
	if (report->blockers)
		JSON_PUT(object, "outlook",
			 blockers_json(request, report->blockers));
	JSON_PUT(object, "why", json_why(p, &fit));
	return object;
}

/* ---- text ---- */

static const char *const metric_units[WEFT_N_METRICS] = {"B hops", "B s", "s"};
static const char *const metric_sums[WEFT_N_METRICS] = {
	"bytes x hops", "bytes x latency", "time on links"};

/* A sum over ranks, which the user is not to take for the time of a step. */
static void text_cost(const struct weft_placement *p)
{
	const char *unit = metric_units[p->metric];

	printf("  cost       %s, %s of all ranks added up;\n"
	       "             at least %s: gap %.1f %%\n",
	       IN_UNIT(p->cost.total[p->metric], unit), metric_sums[p->metric],
	       IN_UNIT(p->bound, unit), 100 * p->gap);
}

static void text_share(const char *name, double part, double whole)
{
	if (part > 0)
		printf("  %s %.1f %%", name, 100 * part / whole);
}

static void text_split(const struct weft_fabric *f,
		       const struct weft_placement *p)
{
	const struct weft_cost *cost = &p->cost;
	double whole = cost->total[p->metric];

	if (whole <= 0)
		return;
	printf("  by axis    ");
	for (int a = 0; a < WEFT_N_AXES; a++)
		text_share(weft_axis_names[a], cost->by_axis[a][p->metric],
			   whole);
	printf("\n  by level   ");
	for (uint32_t l = 0; l < f->n_levels; l++)
		text_share(f->levels[l].name, cost->by_level[l][p->metric],
			   whole);
	putchar('\n');
}

static void text_busiest(const struct weft_fabric *f,
			 const struct weft_cost *cost)
{
	char name[2 * WEFT_NAME_SIZE];

	if (cost->busiest.domain == WEFT_NONE)
		return;
	report_busiest(f, cost, name, sizeof(name));
	printf("  busiest    %s %s: %s, %s per step\n",
	       cost->busiest.up ? "up from" : "down to", name,
	       IN_UNIT(cost->busiest.bytes, "B"),
	       IN_UNIT(cost->busiest.time_s, "s"));
}

static void text_predicted(const struct request *request,
			   const struct weft_evaluation *e)
{
	const struct weft_job *job = &request->job;
	char unseen[WEFT_UNSEEN_SIZE];
	const struct weft_range *range =
		&weft_ranges[weft_run_kind(&job->spec, &job->model)];
	double s = e->step.step_s;

	printf("  step       %s (%s to %s) predicted for %s on %s, MFU "
	       "%.1f %%\n",
	       IN_UNIT(s, "s"), IN_UNIT(range->low * s, "s"),
	       IN_UNIT(range->high * s, "s"), job->model.name, e->gpu->name,
	       100 * e->step.mfu);
	if (report_unseen(request, e, unseen, sizeof(unseen)))
		printf("  unseen     %s: the range may not hold\n", unseen);
}

static void text_step(const struct request *request,
		      const struct weft_evaluation *e)
{
	const struct weft_job *job = &request->job;

	if (!e->timed)
		printf("  step       not predicted: %s\n", e->why);
	else if (!weft_spec_names_model(&job->spec))
		printf("  step       not predicted: the job names no model; "
		       "give model=, or layers=, hidden=, heads=\n"
		       "             (bytes and times are those of %s)\n",
		       job->model.name);
	else
		text_predicted(request, e);
}

/* Of GPU k of the node, or WEFT_NONE. */
static uint32_t rank_on(const struct weft_fabric *f, uint32_t node, uint32_t k,
			const uint32_t *rank_of)
{
	return rank_of[weft_fabric_numbered(f, node, k)];
}

/* One line a node: its ranks in the order of its GPUs, runs folded. */
static void text_node_ranks(const struct weft_fabric *f, uint32_t node,
			    const uint32_t *rank_of)
{
	const struct weft_node *n = &f->nodes[node];
	uint32_t k = 0;
	const char *separator = "";

	printf("    %-12s ", n->name);
	while (k < n->n_gpus) {
		uint32_t first = k, rank = rank_on(f, node, k, rank_of);

		k++;
		if (rank == WEFT_NONE)
			continue;
		while (k < n->n_gpus &&
		       rank_on(f, node, k, rank_of) == rank + (k - first))
			k++;
		printf("%s%u", separator, rank);
		if (k - first > 1)
			printf("-%u", rank + (k - first) - 1);
		printf(" on GPU %u", first);
		if (k - first > 1)
			printf("-%u", k - 1);
		separator = ", ";
	}
	putchar('\n');
}

char *report_hostlist(const struct weft_fabric *f, const uint32_t *nodes,
		      uint32_t n)
{
	const char **names = malloc((n + 1) * sizeof(*names));
	char *text;

	if (!names)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		names[i] = f->nodes[nodes[i]].name;
	text = weft_hostlist_encode(names, n);
	free(names);
	return text;
}

/* A node whose ranks are one run, GPUs too. */
struct run {
	uint32_t gpu, rank, n; /* n = 0: more than one run */
};

static struct run run_of(const struct weft_fabric *f, uint32_t node,
			 const uint32_t *rank_of)
{
	const struct weft_node *n = &f->nodes[node];
	struct run run = {0};

	for (uint32_t k = 0; k < n->n_gpus; k++) {
		uint32_t rank = rank_on(f, node, k, rank_of);

		if (rank == WEFT_NONE)
			continue;
		if (!run.n)
			run = (struct run){k, rank, 0};
		if (k != run.gpu + run.n || rank != run.rank + run.n)
			return (struct run){0};
		run.n++;
	}
	return run;
}

/* Prints nodes i.. of the placement that go on alike as one line, and returns
 * how many those are. */
static uint32_t text_nodes_ranks(const struct weft_fabric *f,
				 const struct weft_placement *p, uint32_t i,
				 const uint32_t *rank_of)
{
	struct run first = run_of(f, p->nodes[i], rank_of);
	uint32_t n = 1;
	char *names;

	while (first.n && i + n < p->n_nodes) {
		struct run next = run_of(f, p->nodes[i + n], rank_of);

		if (next.n != first.n || next.gpu != first.gpu ||
		    next.rank != first.rank + n * first.n)
			break;
		n++;
	}
	if (n == 1) {
		text_node_ranks(f, p->nodes[i], rank_of);
		return 1;
	}
	names = report_hostlist(f, p->nodes + i, n);
	printf("    %-12s %u-%u, on each node %u on GPU %u",
	       names ? names : "?", first.rank, first.rank + n * first.n - 1,
	       first.n, first.gpu);
	free(names);
	if (first.n > 1)
		printf("-%u", first.gpu + first.n - 1);
	putchar('\n');
	return n;
}

static void text_ranks(const struct weft_fabric *f,
		       const struct weft_placement *p, bool all)
{
	uint32_t *rank_of = malloc(f->n_gpus * sizeof(*rank_of));

	if (!rank_of) {
		printf("  ranks        %u on %u nodes (--json lists them)\n",
		       p->n_ranks, p->n_nodes);
		free(rank_of);
		return;
	}
	memset(rank_of, 0xff, f->n_gpus * sizeof(*rank_of));
	for (uint32_t rank = 0; rank < p->n_ranks; rank++)
		rank_of[p->where[rank]] = rank;
	puts("  ranks");
	for (uint32_t i = 0, lines = 0; i < p->n_nodes; lines++) {
		if (!all && lines == MAX_TABLE_NODES) {
			printf("    and %u nodes more (--ranks lists them)\n",
			       p->n_nodes - i);
			break;
		}
		if (!all)
			i += text_nodes_ranks(f, p, i, rank_of);
		else
			text_node_ranks(f, p->nodes[i++], rank_of);
	}
	free(rank_of);
}

static void text_why(const struct weft_placement *p, const struct fit *fit)
{
	for (uint32_t i = 0; i < p->n_why; i++)
		printf("%s    %s\n", i == 0 ? "  why\n" : "", p->why[i]);
	if (*fit->warning)
		printf("%s    %s\n", p->n_why ? "" : "  why\n", fit->warning);
}

void report_text(const struct request *request, const struct report *report)
{
	const struct weft_fabric *f = request->fabric;
	const struct weft_placement *p = report->placement;
	const struct fit fit = fit_find(&request->job, gpu_of(request));
	const char *plural = request->job.n_gpus == 1 ? "" : "s";
	struct weft_evaluation evaluation;
	char *nodes = report_hostlist(f, p->nodes, p->n_nodes);

	fold_begin();
	if (p->placed)
		printf("%u GPU%s on %s  (%s, %s)\n", p->n_ranks, plural,
		       nodes ? nodes : "?", p->method,
		       IN_UNIT(report->elapsed_s, "s"));
	else
		printf("no placement for %u GPU%s  (%s)\n", request->job.n_gpus,
		       plural, IN_UNIT(report->elapsed_s, "s"));
	free(nodes);
	text_why(p, &fit);
	step_predict(request, p, &evaluation);
	if (p->placed) {
		text_cost(p);
		text_split(f, p);
		text_busiest(f, &evaluation.cost);
		text_step(request, &evaluation);
		gain_print(report->gain);
		verdict_print(request, report->verdict);
		fit_print(&fit);
		text_ranks(f, p, request->all_ranks);
	}
	fold_end();
}
