/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sources.c - "--from FORMAT FILE...": foreign descriptions made one fabric */
#include "cli/fabric/sources.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/option.h"
#include "cli/slurm/slurm_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A format without a file. */
#define SLURM_LIVE "slurm-live"

/* The table of formats on stdout. */
static void formats_print(void)
{
	for (uint32_t i = 0; i < weft_n_importers; i++)
		printf("%-14s %s\n", weft_importers[i].name,
		       weft_importers[i].help);
	printf("%-14s %s\n", SLURM_LIVE,
	       "the running Slurm, asked by scontrol; takes no FILE");
}

static int source_add(struct sources *sources, struct source source,
		      struct weft_error *err)
{
	if (WEFT_GROW(sources->list, sources->n, sources->room, err))
		return -1;
	sources->list[sources->n++] = source;
	return 0;
}

/* "n[0-3]=node.xml" is for these nodes only.  A file whose own name has a "="
 * has a slash or dot before it. */
static void hosts_split(char *arg, struct source *source)
{
	char *equals = strchr(arg, '=');

	source->path = arg;
	if (!equals || strcspn(arg, "/") < (size_t)(equals - arg))
		return;
	*equals = '\0';
	source->hosts = arg;
	source->path = equals + 1;
}

int sources_add(struct sources *sources, const char *text,
		struct weft_error *err)
{
	const char *colon = strchr(text, ':');
	struct source source = {.path = text};
	char format[64];

	if (strcmp(text, SLURM_LIVE) == 0)
		return source_add(sources, (struct source){.live = true}, err);
	if (colon && (size_t)(colon - text) < sizeof(format)) {
		snprintf(format, sizeof(format), "%.*s", (int)(colon - text),
			 text);
		source.importer = weft_importer_find(format, err);
		if (!source.importer)
			return -1;
		source.path = colon + 1;
	}
	return source_add(sources, source, err);
}

static void argument_read(const struct argp_state *state, char *text,
			  void *input)
{
	struct sources *sources = input;
	struct source source = {.importer = sources->importer};

	if (!text)
		return;
	hosts_split(text, &source);
	if (source_add(sources, source, NULL))
		argp_failure(state, EXIT_ERROR, 0, "out of memory");
}

static void from_read(const struct argp_state *state, char *name, void *input)
{
	struct sources *sources = input;
	struct weft_error err = {0};

	sources->asked = true;
	if (strcmp(name, SLURM_LIVE) == 0) {
		if (source_add(sources, (struct source){.live = true}, NULL))
			argp_failure(state, EXIT_ERROR, 0, "out of memory");
		sources->importer = NULL;
		return;
	}
	sources->importer = weft_importer_find(name, &err);
	if (!sources->importer)
		argp_error(state, "%s", err.text);
}

static void names_read(const struct argp_state *state, char *path, void *input)
{
	struct sources *sources = input;
	struct weft_error err = {0};
	size_t size;

	free(sources->names);
	if (weft_text_load(path, WEFT_IMPORT_MAX_BYTES, &sources->names, &size,
			   &err))
		exit(cmd_fail(&err));
	sources->import.names = sources->names;
	(void)state;
}

#define QUESTION struct sources

static const struct option_row options[] = {
	{"from", 0, "FORMAT",
	 "format of the files that follow; may be repeated", 0,
	 READ(from_read)},
	{"formats", 0, NULL, "list the formats and exit", 0,
	 LIST(formats_print)},
	{"name", 0, "NAME", "name of the cluster", 0,
	 TEXT(hierarchy_options.name)},
	{"profile", 0, "NAME",
	 "link figures where no source has them (weft synth --profiles)", 0,
	 TEXT(hierarchy_options.profile)},
	{"gpus-per-node", 0, "N", "where no source says how many a node has", 0,
	 WHOLE(hierarchy_options.gpus_per_node, 0, WEFT_MAX_GPUS_PER_NODE)},
	{"levels", 0, "NAME,...",
	 "names of the levels, innermost first (default: leaf,spine,pod,...)",
	 0, TEXT(hierarchy_options.level_names)},
	{"topology", 0, "NAME", "which of several topologies in a file", 0,
	 TEXT(import.topology)},
	{"names", 0, "FILE",
	 "lines \"GUID-or-id HOST\" for what has no name of its own", 0,
	 READ(names_read)},
	{"no-include", 0, NULL, "do not open files that an input includes", 0,
	 FLAG(import.no_include)},
};

const struct command_line sources_line = {
	ROWS(options),
	.argument = argument_read,
};

int sources_add_read(struct sources *sources, const struct source *source,
		     struct weft_error *err)
{
	int rc = source_add(sources, *source, err);

	if (rc)
		free(source->text);
	return rc;
}

static int source_read(struct sources *sources, const struct source *source,
		       struct weft_error *err)
{
	struct weft_inventory *s = &sources->inventory;

	if (source->live)
		return slurm_live_read(s, &sources->import, err);
	if (source->text)
		return weft_import_text(s, source->importer, source->text,
					source->size, source->path,
					source->hosts, &sources->import, err);
	return weft_import_file(s, source->importer, source->path,
				source->hosts, &sources->import, err);
}

int sources_inventory(struct sources *sources, struct weft_error *err)
{
	struct weft_inventory *s = &sources->inventory;

	for (uint32_t i = 0; i < sources->n; i++)
		if (source_read(sources, &sources->list[i], err))
			return -1;
	if (weft_inventory_finish(s, err))
		return -1;
	sources->hierarchy =
		weft_hierarchy_build(s, &sources->hierarchy_options, err);
	return sources->hierarchy ? 0 : -1;
}

int sources_fabric(struct sources *sources, struct weft_error *err)
{
	struct weft_inventory *s = &sources->inventory;

	sources->text = weft_inventory_write(s, sources->hierarchy,
					     &sources->hierarchy_options, err);
	if (!sources->text)
		return -1;
	sources->fabric =
		weft_fabric_parse(sources->text, strlen(sources->text),
				  "the imported fabric", err);
	return sources->fabric ? 0 : -1;
}

int sources_load(struct sources *sources, struct weft_error *err)
{
	return sources_inventory(sources, err) ? -1
					       : sources_fabric(sources, err);
}

void sources_free(struct sources *sources)
{
	weft_fabric_free(sources->fabric);
	free(sources->text);
	weft_hierarchy_free(sources->hierarchy);
	weft_inventory_free(&sources->inventory);
	free(sources->names);
	for (uint32_t i = 0; i < sources->n; i++)
		free(sources->list[i].text);
	free(sources->list);
	*sources = (struct sources){0};
}
