/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sources.h - "--from FORMAT FILE...": foreign descriptions made one fabric */
#ifndef WEFT_CLI_FABRIC_SOURCES_H
#define WEFT_CLI_FABRIC_SOURCES_H

#include "cli/option.h"
#include "topology/fabric.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

/* What the options of sources_line said, and what became of it.
 * Zero-initialise; sources_free in any case. */
struct sources {
	struct source {
		const struct weft_importer *importer; /* NULL: as it looks */
		const char *path, *hosts;
		bool live;  /* no file: the running Slurm */
		char *text; /* read already, malloc'ed; NULL: path is a file */
		size_t size;
	} * list;
	uint32_t n, room;
	const struct weft_importer *importer; /* of the last --from */
	bool asked;			      /* --from was given */
	struct weft_import_options import;
	struct weft_hierarchy_options hierarchy_options;
	char *names; /* text of --names */

	struct weft_inventory inventory;
	struct weft_hierarchy *hierarchy;
	char *text; /* the fabric file */
	struct weft_fabric *fabric;
};

/* --from, --name, --profile, --gpus-per-node, --levels, --topology, --names,
 * --no-include and FILE arguments; the question is a struct sources. */
extern const struct command_line sources_line;

/* Adds "FORMAT:FILE" or FILE, as --against has it. */
int sources_add(struct sources *sources, const char *text,
		struct weft_error *err);

/* Adds a copy of *source; its text, if any, is the sources' from then on, also
 * when it fails. */
int sources_add_read(struct sources *sources, const struct source *source,
		     struct weft_error *err);

/* Reads all, fills inventory, hierarchy, text and fabric: both of the
 * following.
 */
int sources_load(struct sources *sources, struct weft_error *err);
/* Only inventory and hierarchy. */
int sources_inventory(struct sources *sources, struct weft_error *err);
/* After that, text and fabric. */
int sources_fabric(struct sources *sources, struct weft_error *err);
void sources_free(struct sources *sources);

#endif
