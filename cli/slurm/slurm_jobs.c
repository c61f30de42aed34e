/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_jobs.c - running jobs from scontrol's one-line job records
 *
 * Fields used, as Slurm 22.05 to 26.05 print them with --details:
 *   JobId=812 ... JobState=RUNNING ... EndTime=2026-01-31T12:00:00 ...
 *   Nodes=n[00-01] CPU_IDs=0-7 Mem=0 GRES=gpu:8(IDX:0-7) Nodes=n02 ...
 *   ... SystemComment=weft: ...; spec=tp=8 Comment=weft:tp=8,pp=2
 * They become a state file, so that there is one reader of jobs.
 */
#include "cli/slurm/slurm_jobs.h"
#include "base/bitset.h"
#include "base/hostlist.h"
#include "cli/command.h"
#include "cli/slurm/slurm_fields.h"
#include "cli/slurm/slurm_job.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct weft_fabric *f;
	FILE *out;
	uint64_t *taken; /* [n_nodes] GPUs that a job before has */
	time_t now;
};

/* One name's GPUs that no job has yet: a GPU shared by jobs is the first's. */
static uint32_t write_node(struct writer *w, const char *name, uint64_t gpus,
			   bool first)
{
	uint32_t node = weft_fabric_node(w->f, name), n = 0, k;

	if (node == WEFT_NONE)
		return 0;
	gpus &= weft_mask_first(w->f->nodes[node].n_gpus) & ~w->taken[node];
	w->taken[node] |= gpus;
	weft_mask_foreach (k, gpus) {
		if (n == 0)
			fprintf(w->out, "%s%s:%u", first ? "" : ",", name, k);
		else
			fprintf(w->out, ",%u", k);
		n++;
	}
	return n;
}

/* The allocation at " Nodes=": its hosts, each with the same GPUs. */
static uint32_t write_hosts(struct writer *w, const char *nodes, uint64_t gpus,
			    bool first)
{
	size_t length = strcspn(nodes, " \n");
	char *text = strndup(nodes, length);
	struct weft_hostlist hosts = {0};
	uint32_t n = 0;

	if (text &&
	    weft_hostlist_decode(text, WEFT_MAX_GPUS, &hosts, NULL) == 0)
		for (uint32_t i = 0; i < hosts.n; i++)
			n += write_node(w, hosts.names[i], gpus,
					first && n == 0);
	weft_hostlist_free(&hosts);
	free(text);
	return n;
}

/* Every " Nodes=... GRES=..." of the record; those without GPUs have
 * "GRES=". */
static uint32_t write_gpus(struct writer *w, const char *record)
{
	uint32_t n = 0;

	for (const char *at = strstr(record, " Nodes="); at;) {
		const char *next = strstr(at + 1, " Nodes=");
		const char *gres = strstr(at, " GRES=");
		uint64_t gpus;

		if (gres && (!next || gres < next)) {
			gpus = slurm_gres_gpus(gres + strlen(" GRES="));
			n += write_hosts(w, at + strlen(" Nodes="), gpus,
					 n == 0);
		}
		at = next;
	}
	return n;
}

/* The spec that the record shows, unless it is not one: then only its GPUs
 * count. */
static void write_spec(struct writer *w, const char *record, uint32_t n_gpus)
{
	struct slurm_job told;
	struct weft_job job = {0};

	slurm_job_parse(record, &told);
	if (told.has_spec && !strpbrk(told.spec, "'\\") &&
	    weft_job_build(told.spec, n_gpus, false, w->f, &job, NULL) == 0 &&
	    job.n_gpus == n_gpus)
		fprintf(w->out, "    job: '%s'\n", told.spec);
	weft_job_free(&job);
}

/* A job that completes has given its GPUs back. */
static bool has_gpus(const char *state)
{
	static const char *const states[] = {"RUNNING", "CONFIGURING",
					     "SUSPENDED"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strncmp(state, states[i], strlen(states[i])) == 0)
			return true;
	return false;
}

static void write_job(struct writer *w, const char *record)
{
	const char *id = slurm_field(record, "JobId");
	const char *state = slurm_field(record, "JobState");
	char *text = NULL;
	size_t size = 0;
	uint32_t n;
	time_t end;
	FILE *out = w->out;

	if (!id || !state || !has_gpus(state))
		return;
	/* whether it has GPUs shows when they are written */
	w->out = open_memstream(&text, &size);
	n = w->out ? write_gpus(w, record) : 0;
	if (w->out)
		fclose(w->out);
	w->out = out;
	if (n) {
		fprintf(out, "  - id: '%.*s'\n    gpus: '%s'\n",
			(int)strspn(id, "0123456789_+"), id, text);
		write_spec(w, record, n);
		if (slurm_time(slurm_field(record, "EndTime"), &end))
			fprintf(out, "    remaining_s: %.0f\n",
				end > w->now ? difftime(end, w->now) : 0);
	}
	free(text);
}

static void write_jobs(struct writer *w, FILE *in)
{
	char *line = NULL;
	size_t size = 0;

	fputs("weft: state/1\njobs:\n", w->out);
	while (getline(&line, &size, in) >= 0)
		write_job(w, line);
	free(line);
}

/* Node records of some releases only count the GPUs in use, and the lowest were
 * taken for them.  Where the jobs make up that number, theirs are the ones. */
static void correct_guesses(const struct writer *w, struct weft_occupancy *o)
{
	for (uint32_t i = 0; i < w->f->n_nodes; i++) {
		uint64_t all = weft_mask_first(w->f->nodes[i].n_gpus);

		if (w->taken[i] && weft_mask_count(all & ~o->free[i]) ==
					   weft_mask_count(w->taken[i]))
			weft_occupancy_release(o, i, all);
	}
}

int slurm_jobs_parse(struct weft_occupancy *o, FILE *in, const char *source,
		     time_t now, struct weft_running_list *list,
		     struct weft_error *err)
{
	struct writer w = {.f = o->fabric, .now = now};
	char *text = NULL;
	size_t size = 0;
	int rc = -1;

	memset(list, 0, sizeof(*list));
	w.taken = weft_calloc(o->fabric->n_nodes, sizeof(*w.taken), err);
	w.out = open_memstream(&text, &size);
	if (!w.taken || !w.out) {
		weft_fail(err, WEFT_ENOMEM, "out of memory");
		goto out;
	}
	write_jobs(&w, in);
	if (fclose(w.out) || ferror(in)) {
		w.out = NULL;
		weft_fail_at(err, WEFT_EIO, source, 0, 0, "%s",
			     strerror(errno));
		goto out;
	}
	w.out = NULL;
	correct_guesses(&w, o);
	rc = weft_running_parse(o, text, size, source, list, err);
out:
	if (w.out)
		fclose(w.out);
	free(text);
	free(w.taken);
	return rc;
}

int slurm_jobs_read(struct weft_occupancy *o, struct weft_running_list *list,
		    struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner --details show job";
	FILE *in = command_open(command, err);
	int rc;

	memset(list, 0, sizeof(*list));
	if (!in)
		return -1;
	rc = slurm_jobs_parse(o, in, command, time(NULL), list, err);
	return command_close(in, command, rc, err);
}
