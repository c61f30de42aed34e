/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_export.c - weft export: a fabric in the words of other programs */
#include "cli/cmd.h"
#include "cli/fabric/findings.h"
#include "cli/fabric/job_calls.h"
#include "cli/option.h"
#include "cli/plan/ranks.h"
#include "cli/plan/request.h"
#include "cli/whole_file.h"
#include "placement/job.h"
#include "topology/export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct export
{
	const char *path;
	const struct weft_exporter *exporter;
	struct weft_export_options options;
	bool quiet;
	const char *job, *nodes, *ranks, *calls; /* simgrid */
};

static void exporter_read(const struct argp_state *state, char *text,
			  void *input)
{
	struct export *r = input;
	struct weft_error err = {0};

	r->exporter = weft_exporter_find(text, &err);
	if (!r->exporter)
		argp_error(state, "%s", err.text);
}

static void formats_list(void)
{
	for (uint32_t i = 0; i < weft_n_exporters; i++)
		printf("%-14s %s\n", weft_exporters[i].name,
		       weft_exporters[i].help);
}

static void path_read(const struct argp_state *state, char *text, void *input)
{
	struct export *r = input;

	if (text && r->path)
		argp_error(state, "one fabric file, not also \"%s\"", text);
	if (text)
		r->path = text;
}

#define QUESTION struct export

static const struct option_row options[] = {
	{"to", 0, "FORMAT", "what to write; see --list", 0,
	 READ(exporter_read)},
	{"list", 0, NULL, "list the formats and exit", 0, LIST(formats_list)},
	{"level", 0, "LEVEL",
	 "level whose domains become blocks (default: NVLink domains that span "
	 "nodes, else the innermost switches)",
	 0, TEXT(options.block_level)},
	{"shape", 0, "SHAPE",
	 "slurm-yaml: tree, block, ring or torus3d (default: what the fabric "
	 "is)",
	 0, TEXT(options.shape)},
	{"physical", 0, NULL,
	 "trees: every switch above the leafs, not one for each domain", 0,
	 FLAG(options.physical)},
	{"node", 0, "NODE",
	 "the node that a format of one node is about (default: the first)", 0,
	 TEXT(options.node)},
	{"fabric", 'f', "FILE", "the same as FILE", 0, READ(path_read)},
	{"job", 'j', "SPEC", "simgrid: a job on it, weft-spec(7)", 0,
	 TEXT(job)},
	{"nodes", 'n', "HOSTLIST",
	 "simgrid: the job's ranks in order on these nodes", 0, TEXT(nodes)},
	{"ranks", 0, "FILE",
	 "simgrid: the GPU of each rank, as weft score takes it", 0,
	 TEXT(ranks)},
	{"calls", 0, "FILE",
	 "simgrid: write the job's collectives and their GPUs there, as CSV", 0,
	 TEXT(calls)},
	{"quiet", 'q', NULL, "do not report what the format cannot hold", 0,
	 FLAG(quiet)},
};

static void request_check(const struct argp_state *state, void *input)
{
	struct export *r = input;

	option_fabric(state, &r->path, "which fabric file?");
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

/* ---- a job ---- */

static int job_open(const struct export *r, const struct weft_fabric *f,
		    struct weft_job *job, struct weft_error *err)
{
	if (request_job_build(r->job, f, job, err))
		return -1;
	if (job->spec.traffic[0])
		return weft_fail_at(err, WEFT_EINVAL, "--job", 0, 0,
				    "traffic=%s has no calls that are known",
				    job->spec.traffic);
	return 0;
}

static int job_write(const struct export *r, const struct weft_fabric *f,
		     struct weft_error *err)
{
	struct weft_schedule schedule = {0};
	struct weft_job job = {0};
	struct job_calls calls = {.fabric = f, .schedule = &schedule};
	struct output file;
	uint32_t *where = NULL;
	int rc = -1;

	if (job_open(r, f, &job, err) ||
	    weft_schedule_build(&job.spec, &job.model, &schedule, err))
		goto out;
	where = weft_calloc(job.n_gpus, sizeof(*where), err);
	if (!where || ranks_read(f, r->nodes, r->ranks, job.n_gpus, where, err))
		goto out;
	calls.where = where;
	calls.algorithm = job.spec.algorithm;
	rc = output_open(&file, r->calls, err);
	if (rc == 0)
		rc = output_close(&file, job_calls_write(&calls, file.out, err),
				  err);
out:
	free(where);
	weft_schedule_free(&schedule);
	weft_job_free(&job);
	return rc;
}

int cmd_export(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = path_read,
		.check = request_check,
		.arguments = "--to FORMAT [FILE]",
		.doc = "Writes a fabric, weft-fabric(5), in the format of "
		       "another program.  What that format cannot hold it "
		       "reports "
		       "on stderr.  FILE defaults to $WEFT_FABRIC.",
	};
	struct weft_findings findings = {0};
	struct export request = {0};
	struct weft_error err = {0};
	struct weft_fabric *f;
	char *text = NULL;

	command_line_read(&line, argc, argv, &request);
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
