/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inside.h - the inside of a node as a source describes it: links and PCI
 * distances, from which NVLink groups, near NICs and rails follow
 *
 * Shared by the importers of one node: nccl-xml, nvidia-smi, hwloc-xml.
 */
#ifndef WEFT_TOPOLOGY_IMPORT_NODE_INSIDE_H
#define WEFT_TOPOLOGY_IMPORT_NODE_INSIDE_H

#include "topology/inventory/inventory.h"

#define WEFT_INSIDE_MAX WEFT_MAX_GPUS_PER_NODE

/* PCI distances: bridges crossed, and these on top. */
#define WEFT_INSIDE_SAME_CPU  100 /* through the CPU */
#define WEFT_INSIDE_OTHER_CPU 200 /* through another one, too */
#define WEFT_INSIDE_UNKNOWN   UINT32_MAX

/* Large: allocate it zeroed. */
struct weft_inside_draft {
	struct weft_inventory_inside inside; /* n_gpus, kinds, n_nics, names,
					      * rates, rails where told, NUMA */
	/* NVLinks (or xGMI) between two GPUs, as either of them tells. */
	uint32_t links[WEFT_INSIDE_MAX][WEFT_INSIDE_MAX];
	uint32_t switched[WEFT_INSIDE_MAX]; /* NVLinks to switches */
	uint32_t switches[WEFT_INSIDE_MAX]; /* of the same: joined by them */
	uint32_t distance[WEFT_INSIDE_MAX][WEFT_INSIDE_MAX]; /* [NIC][GPU] */
	bool coherent[WEFT_INSIDE_MAX]; /* joined to its CPU by C2C */
	bool rails_told;
	bool nvlink_known; /* false: the source tells nothing of NVLink */
	const char *place; /* host or hostlist, for findings; NULL: "" */
	const char *hosts; /* of weft_inventory_inside */
	struct weft_place where;
};

/* A zeroed draft with all distances unknown, or NULL. */
struct weft_inside_draft *weft_inside_start(struct weft_error *err);

/* The next GPU or NIC, zeroed but for what is not known; WEFT_NONE where the
 * node has too many. */
uint32_t weft_inside_add_gpu(struct weft_inside_draft *d);
uint32_t weft_inside_add_nic(struct weft_inside_draft *d);

/* Works out groups, nearness and rails, notes what is odd, and adds the inside
 * to s. */
int weft_inside_finish(struct weft_inventory *s, struct weft_inside_draft *d,
		       struct weft_error *err);

/* Name of a GPU by PCI vendor and device ("h100"), or NULL. */
const char *weft_inside_gpu_name(unsigned vendor, unsigned device);
/* By what NCCL calls sm (NVIDIA), or NULL. */
const char *weft_inside_gpu_by_sm(unsigned sm);
/* Whether the PCI class is that of a GPU or accelerator and the vendor (0:
 * unknown) is one who makes them: not the graphics of a management chip. */
bool weft_inside_is_gpu(unsigned pci_class, unsigned vendor);

#endif
