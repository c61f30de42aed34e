/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing_facts.c - title, facts and tables of what weft draw shows */
#include "base/hostlist.h"
#include "cli/draw/drawing_parts.h"
#include "cli/in_unit.h"
#include "cli/plan/axes.h"
#include "cli/report.h"
#include "costmodel/time/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FACTS  9
#define MAX_TABLES 3
#define MAX_PARTS  16
/* Bytes of a node list that people still read. */
#define LIST_BYTES 90

static const char *const metric_units[WEFT_N_METRICS] =
	{[WEFT_HOPS] = "B hops", [WEFT_LATENCY] = "B s", [WEFT_TIME] = "s"};

struct writer {
	struct drawing *d;
	struct weft_error *err;
	struct weft_fact *facts;
	struct weft_table *tables;
	bool failed; /* memory; looked at once, at the end */
};

static void fact(struct writer *w, const char *label, const char *value,
		 const char *note)
{
	struct weft_scene *scene = &w->d->scene;

	if (!value || !note || scene->n_facts == MAX_FACTS) {
		w->failed = true;
		return;
	}
	w->facts[scene->n_facts++] = (struct weft_fact){label, value, note};
}

/* ---- where ---- */

/* Names of the job's nodes as a hostlist, cut where it gets long; their
 * number in *n. */
static const char *nodes_text(struct writer *w, uint32_t *n)
{
	struct drawing *d = w->d;
	const struct weft_fabric *f = d->request.fabric;
	const char **names =
		drawing_array(d, f->n_nodes, sizeof(*names), w->err);
	const char *kept;
	char *text;

	*n = 0;
	if (!names)
		return NULL;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct weft_node *node = &f->nodes[i];

		for (uint32_t k = 0; k < node->n_gpus; k++) {
			if (d->scene.use[node->first_gpu + k] != WEFT_USE_JOB)
				continue;
			names[(*n)++] = node->name;
			break;
		}
	}
	text = weft_hostlist_encode(names, *n);
	if (!text) {
		weft_fail(w->err, WEFT_ENOMEM, "out of memory");
		return NULL;
	}
	kept = drawing_text(d, w->err, "%.*s%s", LIST_BYTES, text,
			    strlen(text) > LIST_BYTES ? "..." : "");
	free(text);
	return kept;
}

/* Domains of a level that hold one of the job's GPUs. */
static uint32_t domains_touched(const struct drawing *d, uint32_t level)
{
	const struct weft_fabric *f = d->request.fabric;
	const struct weft_level *l = &f->levels[level];
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n_domains; i++) {
		const struct weft_domain *domain =
			&f->domains[l->first_domain + i];
		struct weft_census census = weft_scene_count(
			&d->scene, domain->first_gpu, domain->n_gpus);

		n += census.n[WEFT_USE_JOB] > 0;
	}
	return n;
}

/* "8 leafs, 2 pods": how many of each level's domains, innermost first. */
static const char *spanned_text(struct writer *w)
{
	const struct weft_fabric *f = w->d->request.fabric;
	const char *text = "";

	for (uint32_t l = 0; l < f->n_levels && text; l++) {
		uint32_t n;

		if (f->levels[l].n_domains == f->n_nodes || l < f->node_level ||
		    f->levels[l].n_domains == 1)
			continue;
		n = domains_touched(w->d, l);
		text = drawing_text(
			w->d, w->err, "%s%s%u of %u %ss", text,
			*text ? ", " : "", n, f->levels[l].n_domains,
			l == 0 ? "NVLink domain" : f->levels[l].name);
	}
	return text;
}

static void fact_nodes(struct writer *w)
{
	uint32_t n;
	const char *names = nodes_text(w, &n);

	fact(w, "Nodes",
	     drawing_text(w->d, w->err, "%u node%s", n, n == 1 ? "" : "s"),
	     names);
}

static void fact_spanned(struct writer *w)
{
	const struct weft_fabric *f = w->d->request.fabric;
	const struct weft_job *job = &w->d->request.job;
	uint32_t level[WEFT_MAX_AXES];
	const char *text = "", *spanned = spanned_text(w);

	if (!w->d->priced) {
		fact(w, "Spans", spanned, "");
		return;
	}
	axes_reach(f, job, w->d->where, level);
	for (uint32_t a = 0; a < job->grid.n_axes && text; a++) {
		if (level[a] == WEFT_NONE)
			continue;
		text = drawing_text(
			w->d, w->err, "%s%s%s to %s", text,
			*text ? ", " : "ranks reach ", job->grid.name[a],
			level[a] < f->n_levels ? f->levels[level[a]].name
					       : "nowhere");
	}
	fact(w, "Spans", spanned && *spanned ? spanned : "one domain", text);
}

/* ---- what it costs ---- */

static void fact_cost(struct writer *w)
{
	const struct drawing *d = w->d;
	enum weft_metric metric = d->request.objective.metric;
	double cost = d->evaluation.cost.total[metric];
	const char *unit = metric_units[metric], *note = "no bound is known";

	if (!isnan(d->bound))
		note = drawing_text(
			w->d, w->err,
			"all ranks; no placement below %s: gap %.1f %%",
			IN_UNIT(d->bound, unit), 100 * d->gap);
	fact(w, "Cost per step",
	     drawing_text(w->d, w->err, "%s", IN_UNIT(cost, unit)), note);
}

static void fact_busiest(struct writer *w)
{
	const struct weft_cost *cost = &w->d->evaluation.cost;
	const struct weft_fabric *f = w->d->request.fabric;
	char name[2 * WEFT_NAME_SIZE];

	if (cost->busiest.domain == WEFT_NONE)
		return;
	report_busiest(f, cost, name, sizeof(name));
	fact(w, "Busiest link",
	     drawing_text(w->d, w->err, "%s %s",
			  cost->busiest.up ? "up from" : "down to", name),
	     drawing_text(w->d, w->err, "%s, %s per step",
			  IN_UNIT(cost->busiest.bytes, "B"),
			  IN_UNIT(cost->busiest.time_s, "s")));
}

bool drawing_is_predicted(const struct drawing *d)
{
	return d->evaluation.timed &&
	       weft_spec_names_model(&d->request.job.spec);
}

static void fact_verdict(struct writer *w)
{
	const char *verdict = NULL, *note = NULL;

	if (drawing_verdict(w->d, &verdict, &note, w->err))
		w->failed = true;
	else
		fact(w, "Verdict", verdict, note);
}

static void fact_step(struct writer *w)
{
	const struct weft_evaluation *e = &w->d->evaluation;
	const struct weft_job *job = &w->d->request.job;
	const struct weft_range *range =
		&weft_ranges[weft_run_kind(&job->spec, &job->model)];
	char unseen[WEFT_UNSEEN_SIZE];
	double s = e->step.step_s;

	if (!drawing_is_predicted(w->d)) {
		fact(w, "Predicted step", "not predicted",
		     e->timed ? "the job names no model: model=, or layers=, "
				"hidden=, heads="
			      : e->why);
		return;
	}
	fact(w, "Predicted step",
	     drawing_text(w->d, w->err, "%s (%s to %s)", IN_UNIT(s, "s"),
			  IN_UNIT(range->low * s, "s"),
			  IN_UNIT(range->high * s, "s")),
	     drawing_text(w->d, w->err, "%s on %s, MFU %.1f %%",
			  job->model.name, e->gpu->name, 100 * e->step.mfu));
	if (report_unseen(&w->d->request, e, unseen, sizeof(unseen)))
		fact(w, "Unseen", "the range may not hold",
		     drawing_text(w->d, w->err, "%s", unseen));
}

static void fact_cluster(struct writer *w)
{
	const struct weft_fabric *f = w->d->request.fabric;
	struct weft_census census =
		weft_scene_count(&w->d->scene, 0, f->n_gpus);

	fact(w, "Cluster",
	     drawing_text(w->d, w->err, "%u of %u GPUs free",
			  census.n[WEFT_USE_FREE], f->n_gpus),
	     drawing_text(w->d, w->err, "%u node%s; %u GPUs busy, %u closed",
			  f->n_nodes, f->n_nodes == 1 ? "" : "s",
			  census.n[WEFT_USE_BUSY], census.n[WEFT_USE_CLOSED]));
}

/* ---- tables ---- */

static struct weft_table *table(struct writer *w, const char *title,
				uint32_t n_rows, uint32_t n_columns,
				double **values, const char ***rows)
{
	struct weft_scene *scene = &w->d->scene;
	struct weft_table *t = &w->tables[scene->n_tables];

	*values = drawing_array(w->d, (size_t)n_rows * n_columns,
				sizeof(**values), w->err);
	*rows = drawing_array(w->d, n_rows, sizeof(**rows), w->err);
	if (!*values || !*rows) {
		w->failed = true;
		return NULL;
	}
	scene->n_tables++;
	*t = (struct weft_table){.title = title,
				 .n_rows = n_rows,
				 .n_columns = n_columns,
				 .rows = *rows,
				 .values = *values};
	return t;
}

/* Columns of both tables of cost: the job's metric decides. */
static void cost_columns(const struct drawing *d, struct weft_table *t)
{
	for (uint32_t m = 0; m < WEFT_N_METRICS; m++) {
		t->columns[m] = weft_metric_names[m];
		t->units[m] = metric_units[m];
	}
	t->columns[WEFT_N_METRICS] = "bytes";
	t->units[WEFT_N_METRICS] = "B";
	t->main_column = d->request.objective.metric;
}

static double axis_bytes(const struct weft_traffic *t, int axis)
{
	double sum = 0;

	for (uint32_t e = 0; e < t->n_edges; e++)
		if (t->axis[e] == axis)
			sum += t->bytes[e];
	for (uint32_t s = 0; s < t->n_switches; s++)
		if ((int)t->switches[s].axis == axis)
			sum += t->switches[s].bytes * t->switches[s].n_members;
	return sum;
}

static void table_axes(struct writer *w)
{
	const struct weft_cost *cost = &w->d->evaluation.cost;
	double *values;
	const char **rows;
	struct weft_table *t =
		table(w, "Cost by what the bytes are for", WEFT_N_AXES,
		      WEFT_N_METRICS + 1, &values, &rows);
	uint32_t n = 0;

	if (!t)
		return;
	cost_columns(w->d, t);
	for (int a = 0; a < WEFT_N_AXES; a++) {
		double *row = values + n * (WEFT_N_METRICS + 1);

		row[WEFT_N_METRICS] = axis_bytes(&w->d->request.job.traffic, a);
		if (!(row[WEFT_N_METRICS] > 0))
			continue;
		memcpy(row, cost->by_axis[a], sizeof(cost->by_axis[a]));
		rows[n++] = weft_axis_names[a];
	}
	t->n_rows = n;
}

static void table_levels(struct writer *w)
{
	const struct weft_fabric *f = w->d->request.fabric;
	const struct weft_cost *cost = &w->d->evaluation.cost;
	double *values;
	const char **rows;
	struct weft_table *t =
		table(w, "Cost by where the two GPUs meet", f->n_levels,
		      WEFT_N_METRICS + 1, &values, &rows);

	if (!t)
		return;
	cost_columns(w->d, t);
	for (uint32_t l = 0; l < f->n_levels; l++) {
		double *row = values + l * (WEFT_N_METRICS + 1);

		memcpy(row, cost->by_level[l], sizeof(cost->by_level[l]));
		row[WEFT_N_METRICS] = cost->bytes_by_level[l];
		rows[l] = f->levels[l].name;
	}
}

static void table_step(struct writer *w)
{
	const struct weft_step *step = &w->d->evaluation.step;
	const struct {
		const char *name;
		double time_s;
	} parts[] = {
		{"matrix products", step->products_s},
		{"attention", step->attention_s},
		{"memory-bound kernels", step->memory_s},
		{"recomputation", step->recompute_s},
		{"output layer", step->logits_s},
		{"pipeline bubble", step->bubble_s},
		{"tp, exposed", step->exposed_s[WEFT_AXIS_TP]},
		{"cp, exposed", step->exposed_s[WEFT_AXIS_CP]},
		{"ep, exposed", step->exposed_s[WEFT_AXIS_EP]},
		{"pp, exposed", step->exposed_s[WEFT_AXIS_PP]},
		{"dp, exposed", step->exposed_s[WEFT_AXIS_DP]},
		{"optimizer", step->optimizer_s},
		{"stragglers", step->straggler_s},
	};
	double *values;
	const char **rows;
	struct weft_table *t;

	if (!drawing_is_predicted(w->d))
		return;
	t = table(w, "Predicted step by part", MAX_PARTS, 1, &values, &rows);
	if (!t)
		return;
	t->columns[0] = "time";
	t->units[0] = "s";
	t->n_rows = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!(parts[i].time_s > 0))
			continue;
		values[t->n_rows] = parts[i].time_s;
		rows[t->n_rows++] = parts[i].name;
	}
}

/* ---- all of it ---- */

static const char *title(struct writer *w)
{
	struct drawing *d = w->d;
	const struct weft_fabric *f = d->request.fabric;
	const char *name = *f->name ? f->name : d->request.fabric_path;
	const char *job = d->request.job_text;

	if (d->absent)
		return drawing_text(d, w->err, "No placement on %s now%s%s%s%s",
				    name, job ? " for " : "", job ? job : "",
				    d->why && *d->why ? ": " : "",
				    d->why ? d->why : "");
	if (d->where)
		return drawing_text(d, w->err, "%u GPU%s on %s%s%s", d->n_ranks,
				    d->n_ranks == 1 ? "" : "s", name,
				    job ? ": " : "", job ? job : "");
	return drawing_text(d, w->err, "%s: %u node%s, %u GPU%s", name,
			    f->n_nodes, f->n_nodes == 1 ? "" : "s", f->n_gpus,
			    f->n_gpus == 1 ? "" : "s");
}

int drawing_facts(struct drawing *d, struct weft_error *err)
{
	struct writer w = {
		.d = d,
		.err = err,
		.facts = drawing_array(d, MAX_FACTS, sizeof(*w.facts), err),
		.tables = drawing_array(d, MAX_TABLES, sizeof(*w.tables), err),
	};

	if (!w.facts || !w.tables)
		return -1;
	d->scene.title = title(&w);
	d->scene.facts = w.facts;
	d->scene.tables = w.tables;
	if (d->priced)
		fact_verdict(&w);
	if (d->where)
		fact_nodes(&w);
	if (d->where)
		fact_spanned(&w);
	if (d->priced) {
		fact_cost(&w);
		fact_step(&w);
		fact_busiest(&w);
		table_axes(&w);
		table_levels(&w);
		table_step(&w);
	}
	fact_cluster(&w);
	if (!w.failed && d->scene.title)
		return 0;
	return weft_fail(err, WEFT_ENOMEM, "out of memory");
}
