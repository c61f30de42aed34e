/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_export.c - weft export: a fabric in the words of other programs */
#include "cli/cmd.h"
#include "cli/fabric/findings.h"
#include "cli/fabric/job_calls.h"
#include "cli/plan/ranks.h"
#include "placement/job.h"
#include "topology/export/export.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_TO = 256,
	KEY_NODE,
	KEY_LEVEL,
	KEY_SHAPE,
	KEY_PHYSICAL,
	KEY_LIST,
	KEY_RANKS,
	KEY_CALLS
};

static const struct argp_option options[] = {
	{"to", KEY_TO, "FORMAT", 0, "what to write; see --list", 0},
	{"list", KEY_LIST, NULL, 0, "list the formats and exit", 0},
	{"level", KEY_LEVEL, "LEVEL", 0,
	 "level whose domains become blocks (default: NVLink domains that span "
	 "nodes, else the innermost switches)",
	 0},
	{"shape", KEY_SHAPE, "SHAPE", 0,
	 "slurm-yaml: tree, block, ring or torus3d (default: what the fabric "
	 "is)",
	 0},
	{"physical", KEY_PHYSICAL, NULL, 0,
	 "trees: every switch above the leafs, not one for each domain", 0},
	{"node", KEY_NODE, "NODE", 0,
	 "the node that a format of one node is about (default: the first)", 0},
	{"fabric", 'f', "FILE", 0, "the same as FILE", 0},
	{"job", 'j', "SPEC", 0, "simgrid: a job on it, weft-spec(7)", 0},
	{"nodes", 'n', "HOSTLIST", 0,
	 "simgrid: the job's ranks in order on these nodes", 0},
	{"ranks", KEY_RANKS, "FILE", 0,
	 "simgrid: the GPU of each rank, as weft score takes it", 0},
	{"calls", KEY_CALLS, "FILE", 0,
	 "simgrid: write the job's collectives and their GPUs there, as CSV",
	 0},
	{"quiet", 'q', NULL, 0, "do not tell what the format cannot hold", 0},
	{0},
};

struct request {
	const char *path;
	const struct weft_exporter *exporter;
	struct weft_export_options options;
	bool quiet;
	const char *job, *nodes, *ranks, *calls; /* simgrid */
};

static void formats_list(void)
{
	for (uint32_t i = 0; i < weft_n_exporters; i++)
		printf("%-14s %s\n", weft_exporters[i].name,
		       weft_exporters[i].help);
	exit(fflush(stdout) == 0 ? EXIT_YES : EXIT_ERROR);
}

static void end(struct request *r, struct argp_state *state)
{
	if (!r->path)
		r->path = getenv("WEFT_FABRIC");
	if (!r->path || !*r->path)
		argp_error(state, "which fabric file?");
	if (!r->exporter)
		argp_error(state, "which format? --list names them");
	if (!r->job) {
		if (r->nodes || r->ranks || r->calls)
			argp_error(state, "of which job? Give --job SPEC");
		return;
	}
	if (strcmp(r->exporter->name, "simgrid") != 0)
		argp_error(state, "--job is for --to simgrid");
	if (!r->nodes == !r->ranks)
		argp_error(state, "which allocation? Give either --nodes or "
				  "--ranks");
	if (!r->calls)
		argp_error(state, "where to? Give --calls FILE");
}

static void path_set(struct request *r, const struct argp_state *state,
		     const char *path)
{
	if (r->path)
		argp_error(state, "one fabric file, not also \"%s\"", path);
	r->path = path;
}

static error_t job_parse(struct request *r, int key, char *arg)
{
	switch (key) {
	case 'j':
		r->job = arg;
		return 0;
	case 'n':
		r->nodes = arg;
		return 0;
	case KEY_RANKS:
		r->ranks = arg;
		return 0;
	case KEY_CALLS:
		r->calls = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;
	struct weft_error err = {0};

	switch (key) {
	case KEY_TO:
		r->exporter = weft_exporter_find(arg, &err);
		if (!r->exporter)
			argp_error(state, "%s", err.text);
		return 0;
	case KEY_LIST:
		formats_list();
		return 0;
	case KEY_NODE:
		r->options.node = arg;
		return 0;
	case KEY_LEVEL:
		r->options.block_level = arg;
		return 0;
	case KEY_SHAPE:
		r->options.shape = arg;
		return 0;
	case KEY_PHYSICAL:
		r->options.physical = true;
		return 0;
	case 'q':
		r->quiet = true;
		return 0;
	case 'f':
	case ARGP_KEY_ARG:
		path_set(r, state, arg);
		return 0;
	case ARGP_KEY_END:
		end(r, state);
		return 0;
	default:
		return job_parse(r, key, arg);
	}
}

/* ---- a job ---- */

static int job_open(const struct request *r, const struct weft_fabric *f,
		    struct weft_job *job, struct weft_error *err)
{
	struct weft_error why = {0};

	if (weft_job_build(r->job, 0, true, f, job, &why))
		return weft_fail_at(err, why.code,
				    why.source[0] ? why.source : "--job",
				    why.line, why.column, "%s", why.text);
	if (job->spec.traffic[0])
		return weft_fail_at(err, WEFT_EINVAL, "--job", 0, 0,
				    "traffic=%s has no calls that are known",
				    job->spec.traffic);
	return 0;
}

static int where_read(const struct request *r, const struct weft_fabric *f,
		      uint32_t *where, uint32_t n, struct weft_error *err)
{
	if (r->nodes)
		return ranks_from_hostlist(f, r->nodes, n, where, err);
	return ranks_from_file(f, r->ranks, n, where, err);
}

static int file_write(const char *path, const struct job_calls *calls,
		      struct weft_error *err)
{
	FILE *out = fopen(path, "w");
	int rc;

	if (!out)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	rc = job_calls_write(calls, out, err);
	if (fclose(out) && rc == 0)
		rc = weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				  strerror(errno));
	if (rc)
		remove(path);
	return rc;
}

static int job_write(const struct request *r, const struct weft_fabric *f,
		     struct weft_error *err)
{
	struct weft_schedule schedule = {0};
	struct weft_job job = {0};
	struct job_calls calls = {.fabric = f, .schedule = &schedule};
	uint32_t *where = NULL;
	int rc = -1;

	if (job_open(r, f, &job, err) ||
	    weft_schedule_build(&job.spec, &job.model, &schedule, err))
		goto out;
	where = weft_calloc(job.n_gpus, sizeof(*where), err);
	if (!where || where_read(r, f, where, job.n_gpus, err))
		goto out;
	calls.where = where;
	calls.algorithm = job.spec.algorithm;
	rc = file_write(r->calls, &calls, err);
out:
	free(where);
	weft_schedule_free(&schedule);
	weft_job_free(&job);
	return rc;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "--to FORMAT [FILE]",
		.doc = "Writes a fabric, weft-fabric(5), in the format of "
		       "another program.  What that format cannot hold it "
		       "reports "
		       "on stderr.  FILE defaults to $WEFT_FABRIC.",
	};
	struct weft_findings findings = {0};
	struct request request = {0};
	struct weft_error err = {0};
	struct weft_fabric *f;
	char *text = NULL;

	argp_parse(&argp, argc, argv, 0, NULL, &request);
	f = weft_fabric_load(request.path, &err);
	if (f)
		text = weft_export(f, request.exporter, &request.options,
				   &findings, &err);
	if (text && (!request.job || job_write(&request, f, &err) == 0)) {
		weft_findings_sort(&findings);
		if (!request.quiet)
			findings_print(&findings, WEFT_INFO);
		fputs(text, stdout);
	}
	free(text);
	weft_findings_free(&findings);
	weft_fabric_free(f);
	return err.code ? cmd_fail(&err) : EXIT_YES;
}
