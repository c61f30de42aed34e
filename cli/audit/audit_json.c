/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_json.c - what an audit has found, for programs */
#include "cli/audit/audit.h"
#include "cli/fabric/findings.h"
#include "cli/json.h"
#include "cli/report.h"

static json_t *tiers_json(const struct audit *a)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < a->tiers.n; i++) {
		const struct weft_tier *t = &a->tiers.item[i];
		bool named = t->network[0] == 'c' && a->hierarchy && t->tier &&
			     t->tier <= a->hierarchy->n_levels;

		json_array_append_new(
			array,
			json_pack("{s:o, s:I, s:o, s:I, s:I, s:f, s:f, s:f, "
				  "s:s}",
				  "network", report_string(t->network), "tier",
				  (json_int_t)t->tier, "level",
				  named ? json_string(
						  a->hierarchy
							  ->levels[t->tier - 1]
							  .name)
					: json_null(),
				  "switches", (json_int_t)t->n_switches,
				  "blocking", (json_int_t)t->n_blocking, "min",
				  t->least, "median", t->median, "max", t->most,
				  "measured_in",
				  t->by_rate ? "rate" : "cables"));
	}
	return array;
}

static json_t *jobs_json(const struct audit *a, const struct weft_fragment *x)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < x->n_jobs; i++)
		json_array_append_new(
			array, report_string(a->running.jobs[x->job[i]].id));
	return array;
}

static json_t *freed_json(const struct audit *a, const struct weft_fragment *x)
{
	if (x->domain == WEFT_NONE)
		return json_null();
	return json_pack("{s:s, s:o, s:I, s:o}", "domain",
			 a->fabric->domains[x->domain].name, "jobs",
			 jobs_json(a, x), "gpus", (json_int_t)x->n_gpus,
			 "remaining_s", json_real_or_null(x->remaining_s));
}

static json_t *fragmentation_json(const struct audit *a)
{
	const struct weft_fabric *f = a->fabric;
	json_t *levels;

	if (!a->occupied)
		return json_null();
	levels = json_array();
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		const struct weft_fragment *x = &a->fragmentation.level[l];

		json_array_append_new(
			levels,
			json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "name",
				  f->levels[l].name, "domains",
				  (json_int_t)x->n_domains, "domains_free",
				  (json_int_t)x->n_whole, "largest_fit_gpus",
				  (json_int_t)a->room.largest[l], "fits",
				  room_json(&a->room, l), "cheapest_to_free",
				  freed_json(a, x)));
	}
	return json_pack("{s:I, s:I, s:o}", "gpus_free",
			 (json_int_t)a->room.n_free, "nodes_free",
			 (json_int_t)a->room.n_whole, "levels", levels);
}

int audit_json(const struct audit *a, struct weft_error *err)
{
	const struct weft_findings accepted = {
		.item = (struct weft_finding *)(uintptr_t)a->accepted,
		.n = a->n_accepted,
	};

	return report_print(
		json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
			  "schema", "weft.audit/1", "hosts",
			  (json_int_t)a->inventory->n_hosts, "switches",
			  (json_int_t)a->inventory->n_switches, "cables",
			  (json_int_t)a->inventory->n_cables, "counts",
			  findings_counts(&a->findings), "findings",
			  findings_json(&a->findings), "accepted",
			  findings_json(&accepted), "non_blocking",
			  a->tiers.known ? json_boolean(a->tiers.non_blocking)
					 : json_null(),
			  "oversubscription", tiers_json(a), "fragmentation",
			  fragmentation_json(a)),
		err);
}
