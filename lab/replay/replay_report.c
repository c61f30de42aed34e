/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_report.c - what weft replay found, to people and to programs */
#include "lab/replay/replay_report.h"

#include "base/size.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/report.h"

#include <stdio.h>

bool replay_level_tells(const struct weft_fabric *f, uint32_t level)
{
	return f->levels[level].n_domains > 1 &&
	       f->levels[level].n_domains < f->n_nodes;
}

/* A mean over no job is none. */
static json_t *real_of(double value, uint32_t n)
{
	return n ? json_real(value) : json_null();
}

static json_t *domains_json(const struct weft_fabric *f,
			    const struct weft_replay_means *m)
{
	json_t *object = json_object();

	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l))
			JSON_PUT(object, f->levels[l].name,
				 real_of(m->domains[l], m->n));
	}
	return object;
}

static json_t *spread_json(const struct weft_replay_spread *s, uint32_t n)
{
	const struct {
		const char *key;
		double value;
	} reals[] = {{"mean", s->mean},
		     {"p50", s->p50},
		     {"p90", s->p90},
		     {"p99", s->p99},
		     {"max", s->max}};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		JSON_PUT(object, reals[i].key, real_of(reals[i].value, n));
	return object;
}

static json_t *multi_json(const struct weft_fabric *f,
			  const struct weft_replay_outcome *o)
{
	const struct weft_replay_means *m = &o->multi;
	json_t *object = json_object();

	JSON_PUT(object, "jobs", m->n);
	JSON_PUT(object, "mean_cost_ratio", real_of(m->cost_ratio, m->n));
	JSON_PUT(object, "mean_step_ratio", real_of(m->step_ratio, m->n_timed));
	JSON_PUT(object, "mean_alone_step_ratio",
		 real_of(m->alone_step_ratio, m->n_timed));
	JSON_PUT(object, "mean_step_s", real_of(m->step_s, m->n_timed));
	JSON_PUT(object, "mean_ideal_step_s",
		 real_of(m->ideal_step_s, m->n_timed));
	JSON_PUT(object, "jtted_s", spread_json(&o->train_s, m->n));
	JSON_PUT(object, "jtted_ratio", spread_json(&o->train_ratio, m->n));
	JSON_PUT(object, "mean_domains", domains_json(f, m));
	return object;
}

static json_t *policy_json(const struct weft_fabric *f,
			   const struct weft_replay_outcome *o)
{
	json_t *object = json_object();
	const struct {
		const char *key;
		double value;
		uint32_t n;
	} reals[] = {
		{"mean_cost_ratio", o->all.cost_ratio, o->all.n},
		{"mean_step_ratio", o->all.step_ratio, o->all.n_timed},
		{"mean_step_s", o->all.step_s, o->all.n_timed},
		{"mean_wait_s", o->wait_s.mean, o->all.n},
		{"p95_wait_s", o->wait_s.p95, o->all.n},
		{"max_wait_s", o->wait_s.max, o->all.n},
		{"makespan_s", o->makespan_s, o->all.n},
		{"utilisation", o->sor, o->all.n},
		{"gar", o->gar, o->all.n},
		{"sor", o->sor, o->all.n},
		{"gfr", o->gfr, o->all.n},
		{"goodput", o->goodput, o->all.n},
		{"mean_decision_s", o->decision_s, o->n_decisions},
		{"max_decision_s", o->worst_decision_s, o->n_decisions},
	};

	JSON_PUT(object, "policy", o->policy->name);
	JSON_PUT(object, "jobs", o->all.n);
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		JSON_PUT(object, reals[i].key,
			 real_of(reals[i].value, reals[i].n));
	JSON_PUT(object, "jwtd_s", spread_json(&o->wait_s, o->all.n));
	JSON_PUT(object, "decisions", o->n_decisions);
	JSON_PUT(object, "multi_node", multi_json(f, o));
	return object;
}

int replay_json(const struct replay_answer *a, struct weft_error *err)
{
	const struct weft_replay *r = a->replay;
	const struct weft_replay_options *options = r->options;
	json_t *object = json_object(), *skipped = json_object();
	json_t *policies = json_array();

	JSON_PUT(object, "schema", "weft.replay/1");
	JSON_PUT(object, "fabric", r->fabric->name);
	JSON_PUT(object, "gpus", r->fabric->n_gpus);
	JSON_PUT(object, "gpu",
		 json_text_or_null(r->gpu ? r->gpu->name : NULL));
	JSON_PUT(object, "trace", a->trace);
	JSON_PUT(object, "jobs", r->stream->n - r->n_left_out);
	JSON_PUT(object, "kinds", r->n_kinds);
	JSON_PUT(skipped, "no_submit", a->skipped->no_submit);
	JSON_PUT(skipped, "no_duration", a->skipped->no_duration);
	JSON_PUT(skipped, "no_gpus", a->skipped->no_gpus);
	JSON_PUT(skipped, "larger_than_fabric", r->n_left_out);
	JSON_PUT(object, "skipped", skipped);
	JSON_PUT(object, "queue", weft_queue_names[options->queue]);
	JSON_PUT(object, "seed", options->seed);
	JSON_PUT(object, "scale", a->scale);
	JSON_PUT(object, "stretch", json_boolean(!options->as_recorded));
	JSON_PUT(object, "interrupted", a->interrupted);
	for (uint32_t i = 0; i < a->n; i++)
		json_array_append_new(policies,
				      policy_json(r->fabric, &a->outcomes[i]));
	JSON_PUT(object, "policies", policies);
	return report_print(object, err);
}

/* "42 s", "3.5 h". */
static const char *time_text(double s, char *text, size_t size)
{
	static const struct {
		double s;
		const char *unit;
	} units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (s >= 2 * units[i].s) {
			snprintf(text, size, "%.1f %s", s / units[i].s,
				 units[i].unit);
			return text;
		}
	}
	snprintf(text, size, "%.0f s", s);
	return text;
}

static void skipped_print(const struct replay_answer *a)
{
	const struct {
		uint32_t n;
		const char *why;
	} rows[] = {
		{a->skipped->no_submit, "no time of submission"},
		{a->skipped->no_duration, "no duration"},
		{a->skipped->no_gpus, "no GPU"},
		{a->replay->n_left_out, "larger than the fabric"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].n)
			printf("left out  %u: %s\n", rows[i].n, rows[i].why);
	}
}

static void means_print(const struct weft_fabric *f,
			const struct weft_replay_outcome *o)
{
	const struct weft_replay_means *m = &o->multi;
	char step[32] = "-", ratio[32] = "-", train[32] = "-";

	if (m->n_timed) {
		weft_quantity_text(m->step_s, "s", step, sizeof(step));
		snprintf(ratio, sizeof(ratio), "%.3f", m->step_ratio);
	}
	if (m->n)
		time_text(o->train_s.mean, train, sizeof(train));
	printf("  %8s %6s %9s", step, ratio, train);
	if (m->n)
		printf(" %6.3f", m->cost_ratio);
	else
		printf(" %6s", "-");
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l) && m->n)
			printf(" %6.2f", m->domains[l]);
		else if (replay_level_tells(f, l))
			printf(" %6s", "-");
	}
}

static void head_print(const struct weft_fabric *f)
{
	int width = 0;

	for (uint32_t l = f->node_level; l < f->n_levels; l++)
		width += replay_level_tells(f, l) ? 7 : 0;
	printf("%-13s  %-*s  %-19s  %s\n", "", 32 + width,
	       "mean of jobs on several nodes", "JWTD",
	       "shares of GPUs, nodes");
	printf("%-13s  %8s %6s %9s %6s", "policy", "step", "/ideal", "JTTED",
	       "cost");
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		if (replay_level_tells(f, l))
			printf(" %6.6s", f->levels[l].name);
	}
	printf("  %9s %9s  %6s %6s %6s %9s  %s\n", "mean", "95 %", "GAR", "SOR",
	       "GFR", "until", "decision");
}

void replay_text(const struct replay_answer *a)
{
	const struct weft_replay *r = a->replay;
	const struct weft_fabric *f = r->fabric;
	char wait[32], p95[32], until[32];

	printf("%u jobs, %u on several nodes, on %u GPUs (%s)\n",
	       r->stream->n - r->n_left_out, a->n ? a->outcomes[0].multi.n : 0,
	       f->n_gpus, weft_queue_names[r->options->queue]);
	skipped_print(a);
	if (a->interrupted)
		puts("interrupted: these policies were through");
	if (!r->gpu)
		printf("steps are not predicted: the fabric does not say which "
		       "GPUs it has; --gpu does\n");
	head_print(f);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct weft_replay_outcome *o = &a->outcomes[i];

		printf("%-13s", o->policy->name);
		means_print(f, o);
		printf("  %9s %9s  %4.1f %% %4.1f %% %4.1f %% %9s  %s\n",
		       time_text(o->wait_s.mean, wait, sizeof(wait)),
		       time_text(o->wait_s.p95, p95, sizeof(p95)), 100 * o->gar,
		       100 * o->sor, 100 * o->gfr,
		       time_text(o->makespan_s, until, sizeof(until)),
		       IN_UNIT(o->decision_s, "s"));
	}
}
