/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status_report.c - weft status for people and for programs */
#include "base/size.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/status/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Waiting jobs of the text; more are left to --json. */
#define MAX_LISTED 40

static const struct {
	const char *name;
	double part;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
#define N_QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

/* Time that the given part of decisions took at most, from the histogram's
 * steps; NAN: none was made, INFINITY: longer than the last step. */
static double quantile_of(const struct status *status, double part)
{
	json_t *steps = json_object_get(status->snapshot.planning, "up_to");
	json_t *step;
	double n = 0, sum = 0;
	size_t i;

	json_array_foreach(steps, i, step) n +=
		json_number_value(json_object_get(step, "n"));
	if (n <= 0)
		return (double)NAN;
	json_array_foreach(steps, i, step)
	{
		json_t *limit = json_object_get(step, "s");

		sum += json_number_value(json_object_get(step, "n"));
		if (sum >= part * n)
			return limit ? json_number_value(limit)
				     : (double)INFINITY;
	}
	return (double)INFINITY;
}

/* ---- text ---- */

static void room_print(const struct status *status)
{
	const struct room *c = &status->room;
	const struct weft_fabric *f = status->fabric;

	printf("fabric %s: %u of %u GPUs free, %u of %u nodes as a whole",
	       f->name, c->n_free, f->n_gpus, c->n_whole, f->n_nodes);
	if (status->n_closed)
		printf("; %u node%s no jobs", status->n_closed,
		       status->n_closed == 1 ? " takes" : "s take");
	if (status->n_powered_down)
		printf("; %u of the free %s powered down until a job comes",
		       status->n_powered_down,
		       status->n_powered_down == 1 ? "is" : "are");
	printf("\n\n");
	room_print_head(c);
	printf("   largest\n");
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		uint32_t best = c->largest_domain[l];

		room_print_level(c, l);
		printf("   %u", c->largest[l]);
		if (best != WEFT_NONE && f->levels[l].n_domains > 1)
			printf(" (%s)", f->domains[best].name);
		putchar('\n');
	}
}

static void decisions_print(const struct status *status)
{
	const struct snapshot *s = &status->snapshot;
	double age_s = (double)time(NULL) - s->written_s;
	const char *before = "";
	const char *key;
	json_t *value;

	if (!s->root) {
		printf("\ndecisions are not known: %s\n", status->no_snapshot);
		return;
	}
	printf("\ndecisions  ");
	json_object_foreach(s->decisions, key, value)
	{
		if (json_integer_value(value) == 0)
			continue;
		printf("%s%s %lld", before, key,
		       (long long)json_integer_value(value));
		before = ", ";
	}
	printf("%s\n", before[0] ? "" : "none yet");
	for (size_t q = 0; q < N_QUANTILES; q++) {
		double limit_s = quantile_of(status, quantiles[q].part);

		if (isnan(limit_s))
			break;
		printf("%s%s up to %s", q ? ", " : "planning   ",
		       quantiles[q].name,
		       isinf(limit_s) ? "any time" : IN_UNIT(limit_s, "s"));
		if (q + 1 == N_QUANTILES)
			putchar('\n');
	}
	json_object_foreach(s->troubles, key,
			    value) if (json_integer_value(value))
		printf("trouble    %s %lld\n", key,
		       (long long)json_integer_value(value));
	if (age_s > 90)
		printf("stale      the status file is %.0f s old: slurmctld or "
		       "weft is gone\n",
		       age_s);
}

/* "32 GPUs  step 2.41 s, stock Slurm 2.62 s, gain 8.0 %" of a job that was
 * compared when it started. */
static void gain_print(json_t *job, json_t *gain)
{
	const char *basis = json_string_value(json_object_get(gain, "basis"));
	json_t *share = json_object_get(gain, "gain");
	char key[64], here[32], stock[32];

	if (!basis)
		return;
	snprintf(key, sizeof(key), "%.40s_s", basis);
	weft_quantity_text(json_number_value(json_object_get(gain, key)), "s",
			   here, sizeof(here));
	snprintf(key, sizeof(key), "stock_%.40s_s", basis);
	weft_quantity_text(json_number_value(json_object_get(gain, key)), "s",
			   stock, sizeof(stock));
	printf("  %-10lld %5lld GPUs  %s %s",
	       (long long)json_integer_value(json_object_get(job, "job")),
	       (long long)json_integer_value(json_object_get(job, "gpus")),
	       basis, here);
	if (json_is_false(json_object_get(gain, "matters")))
		printf(", any nodes\n");
	else if (share)
		printf(", stock Slurm %s, gain %s%.1f %%\n", stock,
		       strcmp(basis, "step") == 0 ? "" : "up to ",
		       100 * json_number_value(share));
	else
		printf(", stock Slurm not computed in time\n");
}

/* Running jobs, as far as weft compared them when they started. */
static void running_print(const struct status *status)
{
	json_t *job, *gain;
	size_t i, n = 0;

	json_array_foreach(status->snapshot.jobs, i, job)
	{
		gain = json_object_get(job, "gain");
		if (!gain || ++n > MAX_LISTED)
			continue;
		if (n == 1)
			printf("\nrunning jobs, as compared when they "
			       "started:\n");
		gain_print(job, gain);
	}
	if (n > MAX_LISTED)
		printf("  and %zu more: --json has all\n", n - MAX_LISTED);
}

static void waiting_print(const struct status *status)
{
	uint32_t n =
		status->n_waiting < MAX_LISTED ? status->n_waiting : MAX_LISTED;

	if (!status->n_waiting) {
		printf("\nno GPU job waits\n");
		return;
	}
	printf("\n%u GPU job%s:\n", status->n_waiting,
	       status->n_waiting == 1 ? " waits" : "s wait");
	for (uint32_t i = 0; i < n; i++) {
		const struct slurm_job *job = &status->waiting[i];

		printf("  %-10s %5u GPUs  since %s  %s\n", job->id, job->n_gpus,
		       job->submitted, job->reason);
	}
	if (n < status->n_waiting)
		printf("  and %u more: --json has all\n",
		       status->n_waiting - n);
}

static void promises_print(const struct status *status)
{
	const struct promises *p = &status->promises;
	uint32_t n_kept = 0;

	for (int k = 0; k < PROMISE_N_KINDS; k++)
		n_kept += p->n_kept[k];
	if (!n_kept && !p->n)
		return;
	printf("\npromises to running jobs: %u kept, %u broken\n", n_kept,
	       p->n);
	for (uint32_t i = 0; i < p->n && i < MAX_LISTED; i++)
		printf("  %-10s %s\n", p->broken[i].job, p->broken[i].text);
	if (p->n > MAX_LISTED)
		printf("  and %u more: --json has all\n", p->n - MAX_LISTED);
}

void status_text(const struct status *status)
{
	room_print(status);
	decisions_print(status);
	running_print(status);
	promises_print(status);
	waiting_print(status);
}

/* ---- JSON ---- */

static json_t *levels_json(const struct status *status)
{
	const struct room *c = &status->room;
	const struct weft_fabric *f = status->fabric;
	json_t *levels = json_array();

	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		json_array_append_new(
			levels,
			json_pack(
				"{s:s, s:I, s:o, s:o}", "name",
				f->levels[l].name, "largest_fit_gpus",
				(json_int_t)c->largest[l], "largest_domain",
				c->largest_domain[l] == WEFT_NONE
					? json_null()
					: json_string(
						  f->domains
							  [c->largest_domain[l]]
								  .name),
				"fits", room_json(c, l)));
	}
	return levels;
}

static json_t *waiting_json(const struct status *status)
{
	json_t *waiting = json_array();

	for (uint32_t i = 0; i < status->n_waiting; i++) {
		const struct slurm_job *job = &status->waiting[i];

		json_array_append_new(
			waiting,
			json_pack("{s:o, s:I, s:o, s:o}", "job",
				  report_string(job->id), "gpus",
				  (json_int_t)job->n_gpus, "submitted",
				  report_string(job->submitted), "reason",
				  report_string(job->reason)));
	}
	return waiting;
}

static json_t *planning_json(const struct status *status)
{
	json_t *object = json_object();

	for (size_t q = 0; q < N_QUANTILES; q++) {
		double limit_s = quantile_of(status, quantiles[q].part);
		char key[16];

		snprintf(key, sizeof(key), "%s_s", quantiles[q].name);
		JSON_PUT(object, key, limit_s);
	}
	return object;
}

/* What the plugin's own file has, as it is there; null without it. */
static json_t *borrowed(json_t *part)
{
	return part ? json_incref(part) : json_null();
}

/* Running jobs that the plugin's file has; null without it. */
static json_t *running_json(const struct status *status)
{
	json_t *running, *job;
	size_t i;

	if (!status->snapshot.root)
		return json_null();
	running = json_array();
	json_array_foreach(status->snapshot.jobs, i, job) json_array_append_new(
		running, json_pack("{s:O?, s:O?, s:o}", "job",
				   json_object_get(job, "job"), "gpus",
				   json_object_get(job, "gpus"), "gain",
				   borrowed(json_object_get(job, "gain"))));
	return running;
}

static json_t *promises_json(const struct status *status)
{
	const struct promises *p = &status->promises;
	json_t *kept = json_object(), *broken = json_array();

	for (int k = 0; k < PROMISE_N_KINDS; k++)
		JSON_PUT(kept, promise_names[k], p->n_kept[k]);
	for (uint32_t i = 0; i < p->n; i++)
		json_array_append_new(
			broken,
			json_pack("{s:o, s:s, s:o}", "job",
				  report_string(p->broken[i].job), "kind",
				  promise_names[p->broken[i].kind], "text",
				  report_string(p->broken[i].text)));
	return json_pack("{s:o, s:o}", "kept", kept, "broken", broken);
}

int status_json(const struct status *status, struct weft_error *err)
{
	const struct room *c = &status->room;
	const struct snapshot *s = &status->snapshot;
	json_t *object =
		json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "schema",
			  "weft.status/1", "fabric", status->fabric->name,
			  "gpus", (json_int_t)status->fabric->n_gpus,
			  "gpus_free", (json_int_t)c->n_free, "nodes",
			  (json_int_t)status->fabric->n_nodes, "nodes_free",
			  (json_int_t)c->n_whole, "nodes_closed",
			  (json_int_t)status->n_closed, "nodes_powered_down",
			  (json_int_t)status->n_powered_down);

	if (!object)
		return report_print(NULL, err);
	JSON_PUT(object, "levels", levels_json(status));
	JSON_PUT(object, "running", running_json(status));
	JSON_PUT(object, "promises", promises_json(status));
	JSON_PUT(object, "waiting", waiting_json(status));
	JSON_PUT(object, "decisions", borrowed(s->decisions));
	JSON_PUT(object, "troubles", borrowed(s->troubles));
	JSON_PUT(object, "planning",
		 s->root ? planning_json(status) : json_null());
	JSON_PUT(object, "written_s",
		 s->root ? json_real(s->written_s) : json_null());
	return report_print(object, err);
}
