/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_html.c - weft status --html: what is free and whose the rest is, how
 * full domains were over time, who waits and why, what weft gains
 */
#include "cli/status/fleet.h"

#include "cli/draw/drawing.h"
#include "cli/page.h"
#include "topology/draw/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- now ---- */

static void title_print(const struct fleet *fleet)
{
	const struct weft_fabric *f = fleet->fabric;

	page_open("weft status: ", f->name);
	fputs("<h1>", stdout);
	page_text(f->name);
	if (fleet->now)
		printf(": %u of %u GPUs are free, %u job%s %s",
		       fleet->now->room.n_free, f->n_gpus,
		       fleet->now->n_waiting,
		       fleet->now->n_waiting == 1 ? "" : "s",
		       fleet->now->n_waiting == 1 ? "waits" : "wait");
	else
		printf(": %u nodes, %u GPUs", f->n_nodes, f->n_gpus);
	puts("</h1>");
}

static void room_print(const struct status *now)
{
	const struct weft_fabric *f = now->fabric;

	puts("<h2>Jobs that would fit now, within one domain</h2>\n"
	     "<table><tr><th>Domain of</th><th>Largest job</th>"
	     "<th>Where</th></tr>");
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		uint32_t best = now->room.largest_domain[l];

		printf("<tr><td>%s</td><td>%u GPUs</td><td>", f->levels[l].name,
		       now->room.largest[l]);
		if (best != WEFT_NONE)
			page_text(f->domains[best].name);
		puts("</td></tr>");
	}
	puts("</table>");
}

static void waiting_print(const struct status *now)
{
	puts("<h2>Jobs that wait</h2>");
	if (!now->n_waiting) {
		puts("<p>No GPU job waits.</p>");
		return;
	}
	puts("<table><tr><th>Job</th><th>GPUs</th><th>Since</th><th>Why</th>"
	     "</tr>");
	for (uint32_t i = 0; i < now->n_waiting; i++) {
		const struct slurm_job *job = &now->waiting[i];

		fputs("<tr><td>", stdout);
		page_text(job->id);
		printf("</td><td>%u</td><td>", job->n_gpus);
		page_text(job->submitted);
		fputs("</td><td>", stdout);
		page_text(job->reason);
		puts("</td></tr>");
	}
	puts("</table>");
}

static void promises_print(const struct status *now)
{
	const struct promises *p = &now->promises;

	if (!p->n)
		return;
	puts("<h2>Promises that are broken</h2>\n<table><tr><th>Job</th>"
	     "<th>What</th></tr>");
	for (uint32_t i = 0; i < p->n; i++) {
		fputs("<tr><td>", stdout);
		page_text(p->broken[i].job);
		fputs("</td><td>", stdout);
		page_text(p->broken[i].text);
		puts("</td></tr>");
	}
	puts("</table>");
}

/* The picture of weft draw --state slurm. */
static int map_print(const struct fleet *fleet, struct weft_error *err)
{
	struct drawing d = {
		.request = {.fabric_path = fleet->fabric_path,
			    .state = "slurm"},
	};
	const struct weft_draw_options how = {0};
	int rc = drawing_open(&d, NULL, NULL, err);

	if (rc == 0) {
		puts("<h2>Domains now</h2>\n<div class=\"map\">");
		d.scene.n_facts = 0;
		rc = weft_renderer_find("svg", err)
			     ->render(&d.scene, &how, stdout, err);
		puts("</div>");
	}
	drawing_close(&d);
	return rc;
}

/* ---- over time ---- */

static int history_print(const struct fleet *fleet, struct weft_error *err)
{
	double until_s = fleet->now ? (double)time(NULL) : 0;
	struct history h;
	json_t *job;
	size_t i;
	int rc;

	/* without Slurm the last thing that happened is the end */
	json_array_foreach(fleet->records->jobs, i, job)
	{
		until_s = fmax(until_s, json_number_value(json_object_get(
						job, "start_s")));
		until_s =
			fmax(until_s,
			     json_number_value(json_object_get(job, "end_s")));
	}
	rc = history_build(fleet->fabric, fleet->records, until_s,
			   fleet->now ? &fleet->now->running : NULL, &h, err);
	puts("<h2>Domains over time</h2>");
	if (rc == 0 && h.n_jobs)
		fleet_history(&h);
	else if (rc == 0)
		puts("<p>The records have no job yet.</p>");
	history_free(&h);
	return rc;
}

int fleet_html(const struct fleet *fleet, struct weft_error *err)
{
	int rc = 0;

	title_print(fleet);
	if (fleet->now) {
		waiting_print(fleet->now);
		promises_print(fleet->now);
		room_print(fleet->now);
		rc = map_print(fleet, err);
	}
	if (rc == 0 && fleet->records)
		rc = history_print(fleet, err);
	else if (rc == 0)
		puts("<p>What domains held over time is in the plugin's "
		     "records: there are none yet, or root and SlurmUser "
		     "alone may read them.</p>");
	if (rc == 0 && fleet->records)
		saved_html(fleet->records);
	page_close();
	return rc;
}
