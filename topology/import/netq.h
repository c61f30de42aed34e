/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netq.h - answers of NVIDIA NetQ
 *
 * Private to import_topograph.c.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_NETQ_H
#define WEFT_TOPOLOGY_IMPORT_NETQ_H

#include "topology/import/json_source.h"

/* The graph of links, {"links": [...], "nodes": [...]}: cables. */
int weft_netq_links(struct weft_inventory *s,
		    const struct weft_import_input *input, const json_t *graph,
		    struct weft_error *err);

/* The list of compute nodes: GPUs and NVLink domains. */
int weft_netq_nodes(struct weft_inventory *s,
		    const struct weft_import_input *input, const json_t *list,
		    struct weft_error *err);

#endif
