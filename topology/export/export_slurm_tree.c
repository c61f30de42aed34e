/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_slurm_tree.c - topology.conf for topology/tree */
#include "topology/export/outline.h"

int weft_export_slurm_tree(const struct weft_fabric *f,
			   const struct weft_export_options *options, FILE *out,
			   struct weft_findings *findings,
			   struct weft_error *err)
{
	struct weft_outline o = {0};
	int rc = weft_outline_tree(f, options, &o, findings, err) ||
				 weft_outline_lost(f, true, true, findings, err)
			 ? -1
			 : 0;

	fputs("# TopologyPlugin=topology/tree\n", out);
	for (uint32_t i = 0; rc == 0 && i < o.n; i++)
		fprintf(out, "SwitchName=%s %s=%s\n", o.units[i].name,
			o.units[i].nodes ? "Nodes" : "Switches",
			o.units[i].nodes ? o.units[i].nodes
					 : o.units[i].switches);
	weft_outline_free(&o);
	return rc;
}
