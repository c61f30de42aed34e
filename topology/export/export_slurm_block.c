/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_slurm_block.c - topology.conf for topology/block (Slurm 23.11) */
#include "topology/export/outline.h"

int weft_export_slurm_block(const struct weft_fabric *f,
			    const struct weft_export_options *options,
			    FILE *out, struct weft_findings *findings,
			    struct weft_error *err)
{
	struct weft_outline o = {0};
	int rc =
		weft_outline_blocks(f, options, &o, findings, err) ||
				weft_outline_lost(f, false, true, findings, err)
			? -1
			: 0;

	fputs("# TopologyPlugin=topology/block\n", out);
	for (uint32_t i = 0; rc == 0 && i < o.n; i++)
		fprintf(out, "BlockName=%s Nodes=%s\n", o.units[i].name,
			o.units[i].nodes);
	for (uint32_t i = 0; rc == 0 && i < o.n_sizes; i++)
		fprintf(out, "%s%u", i ? "," : "BlockSizes=", o.sizes[i]);
	fputc('\n', out);
	weft_outline_free(&o);
	return rc;
}
