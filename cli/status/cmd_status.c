/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_status.c - weft status: what is free, how weft decides, who waits */
#include "base/bitset.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/slurm/slurm_fields.h"
#include "cli/slurm/slurm_jobs.h"
#include "cli/slurm/slurm_state.h"
#include "cli/status/fleet.h"
#include "cli/status/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- comparing the status file with a recount ---- */

/* A difference is one when it is the same so many times, a second apart: the
 * file is at most a second behind. */
#define SAME_TIMES 3
#define MAX_TIMES  15

/* One look at both, by node of the fabric. */
struct look {
	uint64_t *believed, *counted; /* GPUs taken */
	bool *paired;
	uint32_t *n_same; /* looks in a row that showed this difference */
};

static void look_free(struct look *look)
{
	free(look->believed);
	free(look->counted);
	free(look->paired);
	free(look->n_same);
}

static int look_build(uint32_t n_nodes, struct look *look,
		      struct weft_error *err)
{
	look->believed = weft_calloc(n_nodes, sizeof(*look->believed), err);
	look->counted = weft_calloc(n_nodes, sizeof(*look->counted), err);
	look->paired = weft_calloc(n_nodes, sizeof(*look->paired), err);
	look->n_same = weft_calloc(n_nodes, sizeof(*look->n_same), err);
	return look->believed && look->counted && look->paired && look->n_same
		       ? 0
		       : -1;
}

static int read_believed(const struct weft_fabric *f, const char *path,
			 struct look *look, struct weft_error *err)
{
	struct snapshot s = {0};
	json_t *node;
	size_t i;
	int rc = snapshot_load(path, &s, err);

	memset(look->paired, 0, f->n_nodes * sizeof(*look->paired));
	json_array_foreach(s.nodes, i, node)
	{
		const char *name =
			json_string_value(json_object_get(node, "name"));
		uint32_t n = name ? weft_fabric_node(f, name) : WEFT_NONE;

		if (n == WEFT_NONE)
			continue;
		look->paired[n] = true;
		look->believed[n] =
			slurm_indices(json_text_of(node, "gpus")) &
			~slurm_indices(json_text_of(node, "gpus_free"));
	}
	snapshot_free(&s);
	return rc;
}

static int read_counted(const struct weft_fabric *f, struct look *look,
			struct weft_error *err)
{
	struct weft_running_list list = {0};
	struct weft_occupancy o = {0};
	int rc = -1;

	if (weft_occupancy_build(f, &o, err) == 0 &&
	    slurm_jobs_read(&o, &list, err) == 0) {
		for (uint32_t i = 0; i < f->n_nodes; i++)
			look->counted[i] = weft_fabric_numbers(
				f, i,
				weft_mask_first(f->nodes[i].n_gpus) &
					~o.free[i]);
		rc = 0;
	}
	weft_running_free(&list);
	weft_occupancy_free(&o);
	return rc;
}

/* Looks once.  *n_open: differences that are not old enough yet; returns those
 * that are. */
static int look_again(const struct weft_fabric *f, const char *path,
		      struct look *now, const struct look *before,
		      uint32_t *n_open, struct weft_error *err)
{
	int n = 0;

	*n_open = 0;
	if (read_counted(f, now, err) < 0 ||
	    read_believed(f, path, now, err) < 0)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		bool differs =
			now->paired[i] && now->believed[i] != now->counted[i];
		bool same = before->believed[i] == now->believed[i] &&
			    before->counted[i] == now->counted[i];

		now->n_same[i] = 0;
		if (!differs)
			continue;
		now->n_same[i] = 1 + (same ? before->n_same[i] : 0);
		if (now->n_same[i] >= SAME_TIMES)
			n++;
		else
			(*n_open)++;
	}
	return n;
}

/* ---- telling ---- */

static void mask_text(uint64_t mask, char *text, size_t size)
{
	size_t used = 0;
	uint32_t k;

	text[0] = '\0';
	weft_mask_foreach (k, mask)
		if (used < size)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%u", used ? "," : "", k);
	if (!used)
		snprintf(text, size, "none");
}

static json_t *difference_json(const char *node, const char *believed,
			       const char *counted)
{
	return json_pack("{s:s, s:s, s:s}", "node", node, "weft", believed,
			 "slurm", counted);
}

static int tell(const struct weft_fabric *f, const struct look *look, bool json,
		struct weft_error *err)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		char believed[256], counted[256];

		if (look->n_same[i] < SAME_TIMES)
			continue;
		mask_text(look->believed[i], believed, sizeof(believed));
		mask_text(look->counted[i], counted, sizeof(counted));
		if (json)
			json_array_append_new(
				list, difference_json(f->nodes[i].name,
						      believed, counted));
		else
			printf("%s: weft takes GPUs %s as taken, jobs have "
			       "%s\n",
			       f->nodes[i].name, believed, counted);
	}
	if (json)
		return report_print(json_pack("{s:s, s:o}", "schema",
					      "weft.status/1", "verify", list),
				    err);
	json_decref(list);
	return 0;
}

/* Recounts from scontrol's job records which GPUs of each node are taken, and
 * compares the plugin's status file, again and again while jobs come and go.
 * Lists on stdout what differs (json: {"schema": "weft.status/1", "verify":
 * [...]}).  Returns the number of nodes that differ for good; -1 with err, also
 * when it never holds still. */
static int verify_run(const struct weft_fabric *f, const char *status_path,
		      bool json, struct weft_error *err)
{
	struct look looks[2] = {{0}, {0}};
	uint32_t n_open = 1, times = 0;
	int n = -1;

	if (look_build(f->n_nodes, &looks[0], err) < 0 ||
	    look_build(f->n_nodes, &looks[1], err) < 0)
		goto out;
	for (; n_open && times < MAX_TIMES; times++) {
		if (times)
			sleep(1);
		n = look_again(f, status_path, &looks[times % 2],
			       &looks[(times + 1) % 2], &n_open, err);
		if (n < 0)
			goto out;
	}
	if (n_open) {
		n = weft_fail(err, WEFT_EIO,
			      "%u nodes differ and keep changing: jobs come "
			      "and go too fast to compare",
			      n_open);
		goto out;
	}
	if (tell(f, &looks[(times + 1) % 2], json, err) < 0)
		n = -1;
	else if (n == 0 && !json)
		printf("all %u nodes agree with Slurm's jobs\n", f->n_nodes);
out:
	look_free(&looks[0]);
	look_free(&looks[1]);
	return n;
}

/* ---- the command ---- */

struct invocation {
	const char *fabric_path, *status_path, *saved_path, *prometheus;
	bool verify, saved, html, json;
	struct status status;
	struct saved records;
};

static void saved_read(const struct argp_state *state, char *text, void *input)
{
	struct invocation *in = input;

	(void)state;
	in->saved = true;
	in->saved_path = text;
}

static void prometheus_read(const struct argp_state *state, char *text,
			    void *input)
{
	struct invocation *in = input;

	(void)state;
	in->prometheus = text ? text : "-";
}

static void fabric_read(const struct argp_state *state, char *text, void *input)
{
	struct invocation *in = input;

	if (text && in->fabric_path)
		argp_error(state, "one fabric, please: \"%s\" is a second",
			   text);
	if (text)
		in->fabric_path = text;
}

static void options_check(const struct argp_state *state, void *input)
{
	const struct invocation *in = input;

	if (in->prometheus && (in->json || in->verify))
		argp_error(state, "--prometheus is a format of its own");
	if (in->html && (in->json || in->verify || in->prometheus))
		argp_error(state, "--html is a format of its own");
	if (in->saved && in->verify)
		argp_error(state, "--verify has nothing to do with --saved");
}

#define QUESTION struct invocation

static const struct option_row options[] = {
	{"fabric", 'f', "FILE",
	 "the cluster (default: $WEFT_FABRIC, else what weft.yaml beside "
	 "slurm.conf names)",
	 0, TEXT(fabric_path)},
	{"status", 0, "FILE",
	 "the plugin's status file (default: what weft.yaml names)", 0,
	 TEXT(status_path)},
	{"verify", 0, NULL,
	 "compare the GPUs that the plugin counts as taken with Slurm's jobs; "
	 "exit with 3 when they differ",
	 0, FLAG(verify)},
	{"saved", 0, "FILE",
	 "what weft's nodes saved, or would have saved, job by job and by the "
	 "week, from the plugin's records (default: those in "
	 "StateSaveLocation)",
	 0, MAYBE(saved_read)},
	{"prometheus", 0, "FILE",
	 "write metrics for node_exporter's textfile collector (default: to "
	 "standard output)",
	 0, MAYBE(prometheus_read)},
	{"html", 0, NULL,
	 "answer as a page: who waits and why, what is free, how full domains "
	 "were over time; with --saved without asking Slurm",
	 0, FLAG(html)},
	{"json", 0, NULL, "answer in JSON", 0, FLAG(json)},
};

/* ---- reading ---- */

static int waiting_read(struct status *status, FILE *in, struct weft_error *err)
{
	char *line = NULL;
	size_t size = 0;
	uint32_t room = 0;
	int rc = 0;

	while (rc == 0 && getline(&line, &size, in) > 0) {
		struct slurm_job job;

		slurm_job_parse(line, &job);
		if (!job.waits || !job.n_gpus)
			continue;
		rc = WEFT_GROW(status->waiting, status->n_waiting, room, err);
		if (rc == 0)
			status->waiting[status->n_waiting++] = job;
	}
	free(line);
	return rc;
}

static int waiting_ask(struct status *status, struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner --details show job";
	FILE *in = command_open(command, err);
	int rc;

	if (!in)
		return -1;
	rc = waiting_read(status, in, err);
	return command_close(in, command, rc, err);
}

/* Without the plugin's file everything but its own counts is known. */
static void snapshot_read(struct status *status)
{
	struct weft_error why = {0};

	if (!status->site.status_path) {
		snprintf(status->no_snapshot, sizeof(status->no_snapshot),
			 "weft.yaml has no \"status:\"");
		return;
	}
	if (snapshot_load(status->site.status_path, &status->snapshot, &why) ==
	    0)
		return;
	snapshot_free(&status->snapshot);
	weft_error_text(&why, status->no_snapshot, sizeof(status->no_snapshot));
}

static int status_read(struct status *status, struct weft_error *err)
{
	struct weft_occupancy *o = &status->occupancy;

	if (weft_occupancy_build(status->fabric, o, err) < 0 ||
	    slurm_state_read(o, &status->n_powered_down, err) < 0 ||
	    slurm_jobs_read(o, &status->running, err) < 0 ||
	    waiting_ask(status, err) < 0)
		return -1;
	status->n_closed =
		weft_bitset_count(o->closed, status->fabric->n_nodes);
	snapshot_read(status);
	room_find(o, &status->room);
	return promises_read(status->fabric, &status->snapshot,
			     &status->promises, err);
}

static int status_open(struct invocation *in, struct weft_error *err)
{
	struct site *site = &in->status.site;

	if (site_open(site, in->fabric_path, err) < 0)
		return -1;
	if (in->status_path) {
		free(site->status_path);
		site->status_path = weft_strdup(in->status_path, err);
		if (!site->status_path)
			return -1;
	}
	in->status.fabric = weft_fabric_load(site->fabric_path, err);
	return in->status.fabric ? 0 : -1;
}

static void status_close(struct status *status)
{
	promises_free(&status->promises);
	snapshot_free(&status->snapshot);
	free(status->waiting);
	weft_running_free(&status->running);
	weft_occupancy_free(&status->occupancy);
	weft_fabric_free(status->fabric);
	site_close(&status->site);
}

/* ---- answers ---- */

static int verify(const struct invocation *in, enum exit_code *code,
		  struct weft_error *err)
{
	const char *path = in->status.site.status_path;
	int n;

	if (!path)
		return weft_fail(err, WEFT_EINVAL,
				 "nothing to verify: weft.yaml has no "
				 "\"status:\"; give --status FILE");
	n = verify_run(in->status.fabric, path, in->json, err);
	if (n > 0)
		*code = EXIT_NEGATIVE;
	return n < 0 ? -1 : 0;
}

/* Needs no running Slurm where the file is named. */
static int report_saved(struct invocation *in, struct weft_error *err)
{
	if (saved_load(in->saved_path, &in->records, err) < 0)
		return -1;
	if (in->prometheus)
		return prometheus_write(NULL, &in->records, in->prometheus,
					err);
	if (in->json)
		return saved_json(&in->records, err);
	saved_text(&in->records);
	return 0;
}

/* The records are for those alone who may read Slurm's state. */
static int report_metrics(struct invocation *in, struct weft_error *err)
{
	bool has_records = saved_load(NULL, &in->records, NULL) == 0;

	return prometheus_write(&in->status, has_records ? &in->records : NULL,
				in->prometheus, err);
}

/* Of the running Slurm, or with --saved of the records alone. */
static int report_html(struct invocation *in, struct weft_error *err)
{
	bool has_records = saved_load(in->saved_path, &in->records,
				      in->saved ? err : NULL) == 0;
	const struct fleet fleet = {
		.fabric = in->status.fabric,
		.fabric_path = in->status.site.fabric_path,
		.now = in->saved ? NULL : &in->status,
		.records = has_records ? &in->records : NULL,
	};

	if (in->saved && !has_records)
		return -1;
	return fleet_html(&fleet, err);
}

static int answer(struct invocation *in, enum exit_code *code,
		  struct weft_error *err)
{
	if (in->saved && !in->html)
		return report_saved(in, err);
	if (status_open(in, err) < 0)
		return -1;
	if (in->saved)
		return report_html(in, err);
	if (in->verify)
		return verify(in, code, err);
	if (status_read(&in->status, err) < 0)
		return -1;
	if (in->prometheus)
		return report_metrics(in, err);
	if (in->html)
		return report_html(in, err);
	if (in->json)
		return status_json(&in->status, err);
	status_text(&in->status);
	return 0;
}

int cmd_status(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = fabric_read,
		.check = options_check,
		.doc = "The running Slurm as weft sees it: free places by size "
		       "and level, decisions, waiting jobs.",
	};
	struct invocation in = {0};
	struct weft_error err = {0};
	enum exit_code code = EXIT_YES;
	int result;

	command_line_read(&line, argc, argv, &in);
	result = answer(&in, &code, &err);
	saved_free(&in.records);
	status_close(&in.status);
	return result ? cmd_fail(&err) : (int)code;
}
