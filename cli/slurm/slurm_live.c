/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_live.c - what the running Slurm says of its nodes and topology
 *
 * Slurm 25.05 and later print topology.yaml (scontrol show topoconf); for all
 * others, and where a later one reads topology.conf, scontrol show topology has
 * trees and blocks.
 */
#include "cli/slurm/slurm_live.h"
#include "cli/command.h"

#include <stdlib.h>

static int text_import(struct weft_inventory *s,
		       const struct weft_import_options *options,
		       const char *format, const char *command,
		       const char *text, size_t size, struct weft_error *err)
{
	const struct weft_importer *importer = weft_importer_find(format, err);

	return importer ? weft_import_text(s, importer, text, size, command,
					   NULL, options, err)
			: -1;
}

static int nodes_read(struct weft_inventory *s,
		      const struct weft_import_options *options,
		      struct weft_error *err)
{
	static const char command[] = "scontrol --oneliner show nodes";
	size_t size;
	char *text = command_read(command, &size, err);
	int rc = text ? text_import(s, options, "slurm-nodes", command, text,
				    size, err)
		      : -1;

	free(text);
	return rc;
}

/* 1: this Slurm has none to show. */
static int topology_yaml(struct weft_inventory *s,
			 const struct weft_import_options *options,
			 struct weft_error *err)
{
	static const char command[] = "scontrol show topoconf 2>/dev/null";
	size_t size;
	char *text = command_read(command, &size, NULL);
	int rc = 1;

	if (text && weft_slurm_yaml_looks(text, size) &&
	    !weft_slurm_yaml_is_blank(text, size))
		rc = text_import(s, options, "slurm-yaml",
				 "scontrol show topoconf", text, size, err);
	free(text);
	return rc;
}

static int topology_lines(struct weft_inventory *s,
			  const struct weft_import_options *options,
			  struct weft_error *err)
{
	static const char command[] = "scontrol show topology 2>/dev/null";
	size_t size;
	char *text = command_read(command, &size, NULL);
	int rc = 0;

	if (text && weft_slurm_topology_looks(text, size))
		rc = text_import(s, options, "slurm-tree",
				 "scontrol show topology", text, size, err);
	free(text);
	return rc;
}

int slurm_live_read(struct weft_inventory *s,
		    const struct weft_import_options *options,
		    struct weft_error *err)
{
	int rc = nodes_read(s, options, err);

	/* scontrol has a width for lines of topologies */
	unsetenv("SLURM_TOPO_LEN");
	if (rc == 0)
		rc = topology_yaml(s, options, err);
	return rc == 1 ? topology_lines(s, options, err) : rc;
}
