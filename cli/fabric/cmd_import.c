/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_import.c - weft import: foreign descriptions of a cluster -> fabric file
 */
#include "cli/cmd.h"
#include "cli/fabric/findings.h"
#include "cli/fabric/sources.h"
#include "cli/report.h"
#include "cli/whole_file.h"

#include <stdio.h>

struct import {
	struct sources sources;
	const char *output;
	bool json, quiet;
};

#define QUESTION struct import

static const struct option_row options[] = {
	{"output", 'o', "FILE",
	 "write the fabric there, whole or not at all (default: stdout)", 0,
	 TEXT(output)},
	{"json", 0, NULL, "counts, findings and the fabric in JSON", 0,
	 FLAG(json)},
	{"quiet", 'q', NULL, "report only errors", 0, FLAG(quiet)},
};

static void options_check(const struct argp_state *state, void *input)
{
	const struct import *import = input;

	if (!import->sources.n)
		argp_error(state, "which file? For example --from "
				  "ibnetdiscover ib.txt");
}

static json_t *levels_json(const struct weft_fabric *f)
{
	json_t *levels = json_array();

	for (uint32_t l = 0; l < f->n_levels; l++)
		json_array_append_new(
			levels, json_pack("{s:s, s:I}", "name",
					  f->levels[l].name, "domains",
					  (json_int_t)f->levels[l].n_domains));
	return levels;
}

static json_t *sources_json(const struct weft_inventory *s)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < s->n_sources; i++)
		json_array_append_new(
			array,
			json_pack("{s:s, s:o}", "format", s->sources[i].format,
				  "name", report_string(s->sources[i].name)));
	return array;
}

static int answer_json(const struct import *import, struct weft_error *err)
{
	const struct sources *sources = &import->sources;
	const struct weft_inventory *s = &sources->inventory;
	const struct weft_fabric *f = sources->fabric;

	return report_print(
		json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
			  "s:o, s:o, s:s}",
			  "schema", "weft.import/1", "sources", sources_json(s),
			  "hosts", (json_int_t)s->n_hosts, "hcas",
			  (json_int_t)s->n_hcas, "switches",
			  (json_int_t)s->n_switches, "cables",
			  (json_int_t)s->n_cables, "nodes",
			  (json_int_t)f->n_nodes, "gpus", (json_int_t)f->n_gpus,
			  "rails", (json_int_t)f->n_rails, "levels",
			  levels_json(f), "counts",
			  findings_counts(&s->findings), "findings",
			  findings_json(&s->findings), "fabric", sources->text),
		err);
}

static int answer(const struct import *import, struct weft_error *err)
{
	if (import->output &&
	    whole_file_write(import->output, import->sources.text, err))
		return -1;
	if (import->json)
		return answer_json(import, err);
	if (!import->output)
		fputs(import->sources.text, stdout);
	return 0;
}

int cmd_import(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.shared = &sources_line,
		.check = options_check,
		.in_order = true,
		.arguments = "--from FORMAT [NODES=]FILE...",
		.doc = "Writes a fabric file, weft-fabric(5), from what a "
		       "cluster says of itself.  Several sources become one "
		       "fabric; where they disagree, it reports both.  "
		       "NODES=FILE: the file describes each of these nodes.",
	};
	struct import import = {0};
	struct weft_error err = {0};
	int result;

	command_line_read(&line, argc, argv, &import);
	report_start();
	result = sources_load(&import.sources, &err);
	weft_findings_sort(&import.sources.inventory.findings);
	if (!import.json || result)
		findings_print(&import.sources.inventory.findings,
			       import.quiet ? WEFT_ERROR : WEFT_INFO);
	if (result == 0)
		result = answer(&import, &err);
	sources_free(&import.sources);
	return result ? cmd_fail(&err) : EXIT_YES;
}
