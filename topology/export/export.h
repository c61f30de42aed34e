/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export.h - a fabric in the words of other programs
 *
 * One file export_FORMAT.c per format, one row in the table of export.c.  What
 * a format cannot hold is said in a finding.
 */
#ifndef WEFT_TOPOLOGY_EXPORT_EXPORT_H
#define WEFT_TOPOLOGY_EXPORT_EXPORT_H

#include "topology/fabric.h"
#include "topology/inventory/finding.h"

#include <stdio.h>

/* Choices of the caller; zero-initialise for the defaults. */
struct weft_export_options {
	const char *node;	 /* the node that a format of one node is about;
				  * NULL: the first */
	const char *block_level; /* level whose domains become blocks; NULL:
				  * spanning NVLink domains, else the innermost
				  * network level */
	bool physical;	   /* slurm-tree: each switch of a domain above the
			    * leafs, not one for all */
	const char *shape; /* slurm-yaml: tree, block, ring, torus3d; NULL:
			    * what the fabric is */
};

typedef int weft_export_run(const struct weft_fabric *f,
			    const struct weft_export_options *options,
			    FILE *out, struct weft_findings *findings,
			    struct weft_error *err);

struct weft_exporter {
	const char *name; /* "slurm-tree" */
	const char *help;
	weft_export_run *run;
};
extern const struct weft_exporter weft_exporters[];
extern const uint32_t weft_n_exporters;

/* By name; NULL with err that suggests the nearest. */
const struct weft_exporter *weft_exporter_find(const char *name,
					       struct weft_error *err);

/* The text, malloc'ed; NULL with err, and then nothing was written. */
char *weft_export(const struct weft_fabric *f,
		  const struct weft_exporter *exporter,
		  const struct weft_export_options *options,
		  struct weft_findings *findings, struct weft_error *err);

/* For the table. */
weft_export_run weft_export_dot, weft_export_json, weft_export_nccl_xml,
	weft_export_simgrid, weft_export_slurm_block, weft_export_slurm_tree,
	weft_export_slurm_yaml;

#endif
