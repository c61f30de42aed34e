/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_defrag.c - weft defrag: what to wait for, or to move, for a better place
 */
#include "base/clock.h"
#include "base/hostlist.h"
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/option.h"
#include "cli/plan/blockers_report.h"
#include "cli/plan/request.h"
#include "cli/report.h"
#include "placement/blockers.h"
#include "placement/defrag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_BUDGET_S 10

struct defrag {
	struct request request;
	double budget_s, most_cost_ratio;
	/* the answer */
	struct weft_placement now;
	struct weft_blockers blockers;
	struct weft_defrag advice;
	double elapsed_s;
};

#define QUESTION struct defrag

static const struct option_row options[] = {
	{"budget", 0, "SECONDS", "wall clock at most (default: 10)", 0,
	 NUMBER(budget_s, 0, 1e9)},
	{"most-cost", 0, "RATIO",
	 "a moved job may cost so many times what it does now (default: 1.05)",
	 0, NUMBER(most_cost_ratio, 1, 1e9)},
};

static void defrag_check(const struct argp_state *state, void *input)
{
	const struct defrag *defrag = input;

	if (!defrag->request.state)
		argp_error(state, "which jobs run? Give --state FILE, "
				  "or --state slurm");
}

static int find(struct defrag *d, struct weft_error *err)
{
	const struct request *r = &d->request;
	const struct weft_blockers_request wait = {
		.f = r->fabric,
		.job = &r->job,
		.o = &r->occupancy,
		.running = &r->running,
		.now = &d->now,
		.budget_s = d->budget_s / 2,
	};
	const struct weft_defrag_request move = {
		.f = r->fabric,
		.job = &r->job,
		.o = &r->occupancy,
		.running = &r->running,
		.now = &d->now,
		.most_cost_ratio = d->most_cost_ratio,
		.budget_s = d->budget_s / 2,
	};
	double start_s = weft_clock_s();

	if (weft_place(r->fabric, &r->job, &r->occupancy, NULL, &d->now, err) ||
	    weft_blockers(&wait, &d->blockers, err) ||
	    weft_defrag(&move, &d->advice, err))
		return -1;
	d->now.n_why = 0;
	weft_blockers_explain(&wait, &d->blockers, &d->now);
	d->elapsed_s = weft_clock_s() - start_s;
	return 0;
}

/* True when the job has the best place already, or something leads to one. */
static bool is_helped(const struct defrag *d)
{
	const struct weft_blockers *o = &d->blockers;

	return d->advice.n_plans || o->alone.job != WEFT_NONE ||
	       o->fits.job != WEFT_NONE || o->good.job != WEFT_NONE ||
	       (isfinite(o->cost) && o->ideal >= o->cost);
}

/* ---- JSON ---- */

/* Where n ranks are, as the --busy option writes it: "n00:0-7" a node. */
static json_t *json_where(const struct weft_fabric *f, const uint32_t *where,
			  uint32_t n)
{
	json_t *array = json_array();

	for (uint32_t r = 0; r < n; r++) {
		const struct weft_node *node = &f->nodes[f->gpu_node[where[r]]];

		json_array_append_new(
			array, json_pack("{s:i, s:s, s:i}", "rank", (int)r,
					 "node", node->name, "gpu",
					 (int)weft_fabric_number(f, where[r])));
	}
	return array;
}

static json_t *json_move(const struct defrag *d, const struct weft_move *m)
{
	const struct weft_running *job = &d->request.running.jobs[m->job];
	const struct weft_fabric *f = d->request.fabric;

	return json_pack(
		"{s:o, s:I, s:o, s:o, s:o}", "job", report_string(job->id),
		"gpus", (json_int_t)job->n_gpus, "cost_before",
		job->known ? json_real_or_null(m->cost_before) : json_null(),
		"cost_after",
		job->known ? json_real_or_null(m->cost_after) : json_null(),
		"ranks", json_where(f, m->where, job->n_gpus));
}

static json_t *json_plan(const struct defrag *d,
			 const struct weft_defrag_plan *plan)
{
	const struct weft_fabric *f = d->request.fabric;
	json_t *moves = json_array();

	for (uint32_t i = 0; i < plan->n_moves; i++)
		json_array_append_new(moves, json_move(d, &plan->moves[i]));
	return json_pack(
		"{s:s, s:s, s:I, s:f, s:o, s:o}", "domain",
		f->domains[plan->domain].name, "level",
		f->levels[f->domains[plan->domain].level].name, "gpus_moved",
		(json_int_t)plan->n_gpus_moved, "cost",
		plan->placement.cost.total[plan->placement.metric], "moves",
		moves, "ranks",
		json_where(f, plan->placement.where, plan->placement.n_ranks));
}

static int print_json(const struct defrag *d, struct weft_error *err)
{
	json_t *plans = json_array(), *why = json_array();

	for (uint32_t i = 0; i < d->advice.n_plans; i++)
		json_array_append_new(plans, json_plan(d, &d->advice.plans[i]));
	for (uint32_t i = 0; i < d->now.n_why; i++)
		json_array_append_new(why, report_string(d->now.why[i]));
	return report_print(
		json_pack("{s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:f}", "schema",
			  "weft.defrag/1", "placed", d->now.placed, "metric",
			  weft_metric_names[d->now.metric], "cost",
			  json_real_or_null(d->blockers.cost), "outlook",
			  blockers_json(&d->request, &d->blockers), "plans",
			  plans, "why", why, "elapsed_s", d->elapsed_s),
		err);
}

/* ---- text ---- */

static const char *const metric_units[WEFT_N_METRICS] = {"B hops", "B s", "s"};

/* The nodes that n ranks are on, folded; malloc'ed, or NULL. */
static char *hosts_text(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n)
{
	const char **names = calloc(n, sizeof(*names));
	uint32_t n_names = 0;
	char *text;

	if (!names)
		return NULL;
	for (uint32_t r = 0; r < n; r++) {
		const char *name = f->nodes[f->gpu_node[where[r]]].name;

		if (n_names == 0 || names[n_names - 1] != name)
			names[n_names++] = name;
	}
	text = weft_hostlist_encode(names, n_names);
	free(names);
	return text;
}

static void text_move(const struct defrag *d, const struct weft_move *m)
{
	const struct weft_running *job = &d->request.running.jobs[m->job];
	const struct weft_fabric *f = d->request.fabric;
	char *from = hosts_text(f, job->gpu, job->n_gpus);
	char *to = hosts_text(f, m->where, job->n_gpus);

	printf("    move job %s (%u GPUs) from %s to %s", job->id, job->n_gpus,
	       from ? from : "?", to ? to : "?");
	if (job->known && m->cost_before > 0)
		printf(", where it costs %.3gx",
		       m->cost_after / m->cost_before);
	putchar('\n');
	free(from);
	free(to);
}

static void text_plan(const struct defrag *d,
		      const struct weft_defrag_plan *plan)
{
	const struct weft_placement *p = &plan->placement;
	const struct weft_fabric *f = d->request.fabric;
	const struct weft_domain *domain = &f->domains[plan->domain];
	char *hosts = hosts_text(f, p->where, p->n_ranks);

	printf("  move %u GPUs, to make room in %s %s: cost %s",
	       plan->n_gpus_moved, f->levels[domain->level].name, domain->name,
	       IN_UNIT(p->cost.total[p->metric], metric_units[p->metric]));
	if (isfinite(d->blockers.cost) && d->blockers.cost > 0)
		printf(" (%.3gx)", p->cost.total[p->metric] / d->blockers.cost);
	putchar('\n');
	for (uint32_t i = 0; i < plan->n_moves; i++)
		text_move(d, &plan->moves[i]);
	printf("    then the job fits on %s\n", hosts ? hosts : "?");
	free(hosts);
}

static void print_text(const struct defrag *d)
{
	const struct weft_placement *now = &d->now;

	if (now->placed)
		printf("now: on %u nodes, cost (%s, all ranks added up) %s\n",
		       now->n_nodes, weft_metric_names[now->metric],
		       IN_UNIT(now->cost.total[now->metric],
			       metric_units[now->metric]));
	else
		puts("now: no place");
	for (uint32_t i = 0; i < now->n_why; i++)
		printf("  %s\n", now->why[i]);
	for (uint32_t i = 0; i < d->advice.n_plans; i++)
		text_plan(d, &d->advice.plans[i]);
	if (!d->advice.n_plans)
		printf("  no moves help, of those in %u domains that are large "
		       "enough\n",
		       d->advice.n_domains);
}

int cmd_defrag(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.shared = &request_line,
		.check = defrag_check,
		.doc = "Advice: which running jobs to wait for, or to move and "
		       "where to, so that this job gets a place or a better "
		       "one. Moves nothing.",
	};
	struct defrag d = {.budget_s = DEFAULT_BUDGET_S};
	struct weft_error err = {0};
	bool helped = false;
	int result;

	command_line_read(&line, argc, argv, &d);
	result = request_open(&d.request, &err);
	if (result == 0)
		result = find(&d, &err);
	if (result == 0) {
		helped = is_helped(&d);
		if (d.request.json)
			result = print_json(&d, &err);
		else
			print_text(&d);
	}
	weft_defrag_free(&d.advice);
	weft_blockers_free(&d.blockers);
	weft_placement_free(&d.now);
	request_close(&d.request);
	if (result)
		return cmd_fail(&err);
	return helped ? EXIT_YES : EXIT_NEGATIVE;
}
