/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export.c - the table of exporters */
#include "topology/export/export.h"
#include "base/suggest.h"

#include <stdlib.h>

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
const uint32_t weft_n_exporters = WEFT_N_OF(weft_exporters);

const struct weft_exporter *weft_exporter_find(const char *name,
					       struct weft_error *err)
{
	const struct weft_exporter *exporter =
		WEFT_ROW(name, weft_exporters, weft_n_exporters);
	char hint[WEFT_SUGGEST_TEXT];

	if (!exporter)
		weft_fail(err, WEFT_EINVAL, "no format \"%s\" to export; %s",
			  name,
			  WEFT_ROW_HINT(name, weft_exporters, weft_n_exporters,
					hint));
	return exporter;
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
