/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_system.h - what NCCL's topology file holds: devices in a tree of CPUs
 * and PCI bridges, GPUs with their links, NICs
 */
#ifndef WEFT_TOPOLOGY_IMPORT_NODE_NCCL_SYSTEM_H
#define WEFT_TOPOLOGY_IMPORT_NODE_NCCL_SYSTEM_H

#include "topology/import/import.h"

#include <stdint.h>

/* PCI bus of the switches that NVLink fabrics of several hosts go through. */
#define WEFT_NCCL_FABRIC_BUS UINT64_MAX

/* A CPU or PCI device; parents come before their children. */
struct weft_nccl_device {
	uint32_t parent; /* WEFT_NONE: a CPU */
	uint32_t host;
	uint32_t depth; /* 0: a CPU */
	int numa;
	uint64_t bus;			    /* "0000:1c:00.0" as a number */
	unsigned pci_class, vendor, device; /* 0: not said */
	uint32_t n_children;
	int line;
};

struct weft_nccl_gpu {
	uint32_t device;
	int dev; /* as CUDA counts */
	int sm;
	char gcn[16]; /* of AMD */
	bool c2c;
	int line;
};

struct weft_nccl_link {
	uint32_t gpu;
	uint64_t target;
	uint32_t count;
	unsigned target_class;
};

struct weft_nccl_net {
	uint32_t device; /* a CPU: an interface without PCI device */
	char name[32];
	double speed_mbps;
	int rail; /* -1: not told */
	int line;
};

struct weft_nccl_system {
	struct weft_nccl_device *devices;
	struct weft_nccl_gpu *gpus;
	struct weft_nccl_link *links;
	struct weft_nccl_net *nets;
	uint64_t *hosts; /* hashes, in the order met */
	uint32_t n_devices, n_gpus, n_links, n_nets, n_hosts;
	uint32_t devices_room, gpus_room, links_room, nets_room, hosts_room;
};

/* Adds its hosts and insides to s.  where: of the <system> element. */
int weft_nccl_system_use(const struct weft_nccl_system *system,
			 struct weft_inventory *s,
			 const struct weft_import_input *input,
			 struct weft_place where, struct weft_error *err);

#endif
