/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_export.c - weft export: a fabric in the words of other programs */
#include "cli/cmd.h"
#include "cli/findings.h"
#include "topology/export/export.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_TO = 256, KEY_NODE, KEY_LEVEL, KEY_SHAPE, KEY_PHYSICAL, KEY_LIST };

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
	{"quiet", 'q', NULL, 0, "do not tell what the format cannot hold", 0},
	{0},
};

struct request {
	const char *path;
	const struct weft_exporter *exporter;
	struct weft_export_options options;
	bool quiet;
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
	case ARGP_KEY_ARG:
		if (r->path)
			argp_error(state, "one fabric file, not also \"%s\"",
				   arg);
		r->path = arg;
		return 0;
	case ARGP_KEY_END:
		end(r, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "--to FORMAT [FILE]",
		.doc = "Writes a fabric, weft-fabric(5), in the format of "
		       "another program.  What that format cannot hold is told "
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
	if (text) {
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
