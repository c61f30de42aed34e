/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_audit.c - weft audit: what is wrong with a cluster, by what it says of
 * itself
 */
#include "base/text.h"
#include "cli/audit/audit.h"
#include "cli/audit/waivers.h"
#include "cli/cmd.h"
#include "cli/fabric/sources.h"
#include "cli/slurm/promises.h"
#include "cli/slurm/slurm_jobs.h"
#include "cli/slurm/slurm_state.h"
#include "costmodel/measured/pairwise.h"
#include "topology/audit/host_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Options of a kind. */
#define MAX_FILES 32

/* A description of the cluster: a fabric file, or foreign ones. */
struct side {
	struct sources sources; /* first: sources_line reads it */
	const char *name;
	struct weft_fabric *fabric;
	struct weft_inventory *inventory; /* of the fabric; else sources' */
	struct weft_hierarchy *hierarchy;
	struct weft_audit_side view;
};

struct invocation {
	struct side side; /* first, likewise */
	const char *fabric_path, *state, *busy;
	struct files {
		const char *path[MAX_FILES];
		uint32_t n;
	} against, measured, host_facts;
	enum weft_severity fail_on;
	bool json, html;
	struct waivers waivers;
	struct audit audit;
};

/* Whether a path is a fabric file of weft's own. */
static bool is_fabric(const char *path)
{
	char text[4096];
	FILE *in = fopen(path, "re");
	size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

	if (in)
		fclose(in);
	text[n] = '\0';
	return strncmp(text, "weft: fabric/", 13) == 0 ||
	       strstr(text, "\nweft: fabric/") != NULL;
}

/* Whether a file looks like what another program says of a cluster. */
static bool is_foreign(const char *path)
{
	size_t size;
	char *text;
	bool is;

	if (is_fabric(path) ||
	    weft_text_load(path, WEFT_IMPORT_MAX_BYTES, &text, &size, NULL))
		return false;
	is = weft_importer_guess(text, size) != NULL;
	free(text);
	return is;
}

static void file_add(const struct argp_state *state, struct files *files,
		     const char *path)
{
	if (files->n == MAX_FILES)
		argp_error(state, "more than %d files of a kind", MAX_FILES);
	files->path[files->n++] = path;
}

static void against_read(const struct argp_state *state, char *text,
			 void *input)
{
	file_add(state, &((struct invocation *)input)->against, text);
}

static void measured_read(const struct argp_state *state, char *text,
			  void *input)
{
	file_add(state, &((struct invocation *)input)->measured, text);
}

static void inventory_read(const struct argp_state *state, char *text,
			   void *input)
{
	file_add(state, &((struct invocation *)input)->host_facts, text);
}

static void baseline_read(const struct argp_state *state, char *text,
			  void *input)
{
	struct invocation *in = input;
	struct weft_error err = {0};

	(void)state;
	if (waivers_baseline(&in->waivers, text, &err))
		exit(cmd_fail(&err));
}

static void accept_read(const struct argp_state *state, char *text, void *input)
{
	struct invocation *in = input;
	struct weft_error err = {0};

	if (waivers_add(&in->waivers, text, &err))
		argp_error(state, "%s", err.text);
}

/* A fabric file, or one of the sources. */
static void argument_read(const struct argp_state *state, char *text,
			  void *input)
{
	struct invocation *in = input;

	if (!text)
		return;
	if (in->side.sources.asked || is_foreign(text)) {
		sources_line.argument(state, text, &in->side.sources);
		return;
	}
	if (in->fabric_path)
		argp_error(state, "one fabric, please: \"%s\" is a second",
			   text);
	in->fabric_path = text;
}

static void options_check(const struct argp_state *state, void *input)
{
	const struct invocation *in = input;

	if (!in->fabric_path == !in->side.sources.n)
		argp_error(state, "what shall be looked at? Either a fabric "
				  "file, or files of other programs (--from "
				  "FORMAT FILE)");
}

#define QUESTION struct invocation

static const struct option_row options[] = {
	{"against", 0, "FORMAT:FILE",
	 "compare with what another source says now; may be repeated", 0,
	 READ(against_read)},
	{"measured", 0, "FILE",
	 "bandwidth between pairs of nodes: nccl-tests logs, a folder of them, "
	 "or CSV; may be repeated",
	 0, READ(measured_read)},
	{"inventory", 0, "FILE",
	 "versions, settings and error counts of the hosts, "
	 "weft-inventory(5); may be repeated",
	 0, READ(inventory_read)},
	{"state", 0, "FILE",
	 "which GPUs are taken, and by which jobs, weft-state(5); \"slurm\" "
	 "asks the running Slurm",
	 0, TEXT(state)},
	{"busy", 0, "HOSTLIST", "nodes or GPUs that are taken", 0, TEXT(busy)},
	{"fail-on", 0, "SEVERITY",
	 "exit with 3 when there is a finding at least as grave: info, "
	 "warning or error (default)",
	 0, WORD(fail_on, weft_severity_names, WEFT_N_SEVERITIES)},
	{"baseline", 0, "FILE",
	 "leave out what an earlier answer of --json has; may be repeated", 0,
	 READ(baseline_read)},
	{"accept", 0, "CODE:PLACE[:UNTIL]",
	 "leave out findings of that code at places of that pattern, until "
	 "that day (2026-12-31); may be repeated",
	 0, READ(accept_read)},
	{"html", 0, NULL, "answer as a page", 0, FLAG(html)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

/* ---- sides ---- */

static int side_fabric(struct side *side, const char *path,
		       struct weft_error *err)
{
	side->name = path;
	side->fabric = weft_fabric_load(path, err);
	if (!side->fabric)
		return -1;
	side->inventory = weft_inventory_from_fabric(side->fabric, path, err);
	if (!side->inventory)
		return -1;
	side->hierarchy =
		weft_hierarchy_from_fabric(side->fabric, side->inventory, err);
	if (!side->hierarchy)
		return -1;
	side->view = (struct weft_audit_side){side->inventory, side->hierarchy};
	return 0;
}

static int side_sources(struct side *side, struct weft_error *err)
{
	if (sources_inventory(&side->sources, err))
		return -1;
	side->view = (struct weft_audit_side){&side->sources.inventory,
					      side->sources.hierarchy};
	return 0;
}

static void side_close(struct side *side)
{
	sources_free(&side->sources);
	weft_hierarchy_free(side->hierarchy);
	if (side->inventory)
		weft_inventory_free(side->inventory);
	free(side->inventory);
	weft_fabric_free(side->fabric);
}

static const char fabric_prefix[] = "fabric:";

/* ---- what is found ---- */

static bool is_told(const struct weft_findings *findings, uint32_t n,
		    const struct weft_finding *f)
{
	for (uint32_t i = 0; i < n; i++)
		if (findings->item[i].id == f->id &&
		    strcmp(findings->item[i].place, f->place) == 0 &&
		    strcmp(findings->item[i].text, f->text) == 0)
			return true;
	return false;
}

/* Adds what reading a source has told, unless another one has, too. */
static int findings_take(struct weft_findings *to,
			 const struct weft_findings *from,
			 struct weft_error *err)
{
	uint32_t before = to->n;

	for (uint32_t i = 0; i < from->n; i++) {
		const struct weft_finding *f = &from->item[i];
		struct weft_finding_at at = {
			.place = f->place,
			.source = f->source,
			.line = f->line,
			.weight = f->weight,
		};

		if (!is_told(to, before, f) &&
		    weft_findings_add(to, f->id, at, err, "%s", f->text))
			return -1;
	}
	return 0;
}

static int compare(struct invocation *in, const char *text,
		   struct weft_error *err)
{
	size_t n = sizeof(fabric_prefix) - 1;
	struct side now = {.name = text};
	int rc;

	if (strncmp(text, fabric_prefix, n) == 0)
		rc = side_fabric(&now, text + n, err);
	else if (is_fabric(text))
		rc = side_fabric(&now, text, err);
	else
		rc = sources_add(&now.sources, text, err) ||
				     side_sources(&now, err)
			     ? -1
			     : 0;
	if (rc == 0 && now.view.inventory)
		rc = findings_take(&in->audit.findings,
				   &now.view.inventory->findings, err);
	if (rc == 0)
		rc = weft_audit_drift(&in->side.view, &now.view,
				      &in->audit.findings, err);
	side_close(&now);
	return rc;
}

/* ---- occupancy ---- */

static int occupancy_read(struct invocation *in, struct weft_error *err)
{
	struct audit *a = &in->audit;
	struct weft_occupancy *o = &a->occupancy;

	if (weft_occupancy_build(a->fabric, o, err))
		return -1;
	if (in->state && strcmp(in->state, "slurm") == 0) {
		if (slurm_state_read(o, NULL, err) ||
		    slurm_jobs_read(o, &a->running, err))
			return -1;
	} else if (in->state &&
		   weft_running_load(o, in->state, &a->running, err)) {
		return -1;
	}
	return in->busy ? weft_occupancy_busy(o, in->busy, err) : 0;
}

/* Free GPUs that no job can have together: reported per level whose largest job
 * is smaller than one that would fit, were what is free in one place. */
static int fragmented_tell(struct audit *a, struct weft_error *err)
{
	const struct weft_fabric *f = a->fabric;

	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		uint32_t whole = f->domains[f->levels[l].first_domain].n_gpus;
		uint32_t could =
			a->room.n_free < whole ? a->room.n_free : whole;
		struct weft_finding_at at = {
			.place = f->levels[l].name,
			.weight = (double)could - a->room.largest[l],
		};

		if (2 * a->room.largest[l] > could)
			continue;
		if (weft_findings_add(&a->findings, WEFT_FINDING_FRAGMENTED, at,
				      err,
				      "%u GPUs are free, but the largest job "
				      "in one domain has %u",
				      a->room.n_free, a->room.largest[l]))
			return -1;
	}
	return 0;
}

/* What running jobs asked of their nodes and do not have. */
static int promises_tell(struct audit *a, struct weft_error *err)
{
	const struct snapshot none = {0};
	struct promises promises;
	int rc = promises_read(a->fabric, &none, &promises, err);

	for (uint32_t i = 0; rc == 0 && i < promises.n; i++) {
		char place[64];
		const struct weft_finding_at at = {.place = place};

		snprintf(place, sizeof(place), "job %s",
			 promises.broken[i].job);
		rc = weft_findings_add(&a->findings,
				       WEFT_FINDING_PROMISE_BROKEN, at, err,
				       "%s", promises.broken[i].text);
	}
	promises_free(&promises);
	return rc;
}

static int occupancy_look(struct invocation *in, struct weft_error *err)
{
	struct audit *a = &in->audit;

	a->occupied = true;
	if (!a->fabric)
		return weft_fail(err, WEFT_EINVAL,
				 "--state and --busy want a fabric");
	if (occupancy_read(in, err) ||
	    weft_fragmentation_find(&a->occupancy, &a->running,
				    &a->fragmentation, err))
		return -1;
	room_find(&a->occupancy, &a->room);
	if (in->state && strcmp(in->state, "slurm") == 0 &&
	    promises_tell(a, err))
		return -1;
	return fragmented_tell(a, err);
}

/* ---- measured bandwidth ---- */

static int measured_look(struct invocation *in, struct weft_error *err)
{
	struct audit *a = &in->audit;
	struct weft_pairwise p = {0};
	int rc = 0;

	for (uint32_t i = 0; i < in->measured.n && rc == 0; i++)
		rc = weft_pairwise_load(&p, in->measured.path[i], a->fabric,
					&a->findings, err);
	if (rc == 0)
		rc = weft_pairwise_audit(&p, a->fabric, &a->findings, err);
	weft_pairwise_free(&p);
	return rc;
}

/* ---- host facts ---- */

/* Its kinds of hosts and missing ones want a fabric, the rest does not. */
static int host_facts_look(struct invocation *in, struct weft_error *err)
{
	struct audit *a = &in->audit;
	struct weft_host_facts host_facts = {0};
	int rc = 0;

	for (uint32_t i = 0; i < in->host_facts.n && rc == 0; i++)
		rc = weft_host_facts_load(&host_facts, in->host_facts.path[i],
					  &a->findings, err);
	if (rc == 0)
		rc = weft_host_facts_audit(&host_facts, a->fabric, &a->findings,
					   err);
	weft_host_facts_free(&host_facts);
	return rc;
}

/* ---- all of it ---- */

static int accepted_take(struct invocation *in, struct weft_error *err)
{
	struct audit *a = &in->audit;
	char today[16];
	time_t now = time(NULL);
	struct tm tm;

	strftime(today, sizeof(today), "%Y-%m-%d", localtime_r(&now, &tm));
	if (waivers_apply(&in->waivers, today, &a->findings, err))
		return -1;
	a->accepted = in->waivers.accepted;
	a->n_accepted = in->waivers.n_accepted;
	return 0;
}

static int look(struct invocation *in, struct weft_error *err)
{
	struct audit *a = &in->audit;
	struct side *side = &in->side;
	bool occupied = in->state || in->busy;
	struct weft_audit request = {.findings = &a->findings};

	if (in->fabric_path ? side_fabric(side, in->fabric_path, err)
			    : side_sources(side, err))
		return -1;
	if ((occupied || in->measured.n) && !in->fabric_path &&
	    sources_fabric(&side->sources, err))
		return -1;
	a->inventory = side->view.inventory;
	a->hierarchy = side->view.hierarchy;
	a->fabric = in->fabric_path ? side->fabric : side->sources.fabric;
	request.inventory = a->inventory;
	request.hierarchy = a->hierarchy;
	request.fabric = side->fabric;
	if (findings_take(&a->findings, &a->inventory->findings, err) ||
	    weft_audit_cabling(&request, err) ||
	    weft_audit_run(&request, err) ||
	    weft_audit_tiers(a->inventory, a->hierarchy, &a->tiers, err))
		return -1;
	for (uint32_t i = 0; i < in->against.n; i++)
		if (compare(in, in->against.path[i], err))
			return -1;
	if (in->measured.n && measured_look(in, err))
		return -1;
	if (in->host_facts.n && host_facts_look(in, err))
		return -1;
	if (occupied && occupancy_look(in, err))
		return -1;
	weft_audit_rank(&a->findings);
	return accepted_take(in, err);
}

static void invocation_close(struct invocation *in)
{
	weft_fragmentation_free(&in->audit.fragmentation);
	weft_running_free(&in->audit.running);
	weft_occupancy_free(&in->audit.occupancy);
	weft_findings_free(&in->audit.findings);
	waivers_free(&in->waivers);
	side_close(&in->side);
}

static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && (!no_colour || !*no_colour);
}

static bool is_grave(const struct invocation *in)
{
	for (int s = (int)in->fail_on; s < WEFT_N_SEVERITIES; s++)
		if (weft_findings_count(&in->audit.findings,
					(enum weft_severity)s))
			return true;
	return false;
}

static int answer(const struct invocation *in, struct weft_error *err)
{
	const struct audit *a = &in->audit;

	if (in->json)
		return audit_json(a, err);
	if (in->html)
		return audit_html(a,
				  a->inventory->name && *a->inventory->name
					  ? a->inventory->name
				  : in->fabric_path ? in->fabric_path
						    : "the cluster",
				  err);
	return audit_text(a, wants_colour(), err);
}

int cmd_audit(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.shared = &sources_line,
		.argument = argument_read,
		.check = options_check,
		.in_order = true,
		.arguments = "FILE...\n--from FORMAT FILE...",
		.doc = "Reports what is wrong with a cluster, from its fabric "
		       "or from what its sources say.",
	};
	struct invocation in = {.fail_on = WEFT_ERROR};
	struct weft_error err = {0};
	enum exit_code code = EXIT_YES;
	int rc;

	command_line_read(&line, argc, argv, &in);
	rc = look(&in, &err);
	if (rc == 0)
		rc = answer(&in, &err);
	if (rc == 0 && is_grave(&in))
		code = EXIT_NEGATIVE;
	invocation_close(&in);
	return rc ? cmd_fail(&err) : (int)code;
}
