/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export.c - the table of exporters */
#include "topology/export/export.h"
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>

const struct weft_exporter weft_exporters[] = {
	{"slurm-tree", "topology.conf for topology/tree",
	 weft_export_slurm_tree},
	{"slurm-block", "topology.conf for topology/block (Slurm 23.11)",
	 weft_export_slurm_block},
	{"slurm-yaml", "topology.yaml (25.05): tree, block, ring or torus3d",
	 weft_export_slurm_yaml},
	{"nccl-xml", "a node as NCCL_TOPO_FILE wants it", weft_export_nccl_xml},
	{"simgrid", "the network as a platform of SimGrid",
	 weft_export_simgrid},
	{"json", "all that the fabric holds", weft_export_json},
	{"dot", "a graph for graphviz: switches and cables, or the tree",
	 weft_export_dot},
};
const uint32_t weft_n_exporters =
	sizeof(weft_exporters) / sizeof(weft_exporters[0]);

const struct weft_exporter *weft_exporter_find(const char *name,
					       struct weft_error *err)
{
	const char *names[sizeof(weft_exporters) / sizeof(weft_exporters[0])];
	char hint[WEFT_SUGGEST_TEXT];

	for (uint32_t i = 0; i < weft_n_exporters; i++) {
		if (strcmp(weft_exporters[i].name, name) == 0)
			return &weft_exporters[i];
		names[i] = weft_exporters[i].name;
	}
	weft_fail(err, WEFT_EINVAL, "no format \"%s\" to export; %s", name,
		  weft_suggest_text(name, names, weft_n_exporters, hint));
	return NULL;
}

char *weft_export(const struct weft_fabric *f,
		  const struct weft_exporter *exporter,
		  const struct weft_export_options *options,
		  struct weft_findings *findings, struct weft_error *err)
{
	static const struct weft_export_options none;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out) {
		weft_fail(err, WEFT_ENOMEM, "out of memory");
		return NULL;
	}
	rc = exporter->run(f, options ? options : &none, out, findings, err);
	if (fclose(out) && rc == 0)
		rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (rc) {
		free(text);
		return NULL;
	}
	return text;
}
