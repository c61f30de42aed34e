/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_torus.h - the toruses of topology.yaml
 *
 * Private to import_slurm_yaml.c.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_SLURM_SLURM_TORUS_H
#define WEFT_TOPOLOGY_IMPORT_SLURM_SLURM_TORUS_H

#include "base/yaml.h"
#include "topology/import/import.h"

/* One of `toruses`: checked as Slurm does and, unless s is NULL, added as a
 * group of hosts with x fastest. */
int weft_slurm_torus(struct weft_inventory *s, const struct weft_yaml *doc,
		     const struct weft_yaml_node *node, uint32_t source,
		     struct weft_error *err);

#endif
