/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c - the table of link classes
 *
 * Rates are what a GPU really gets (measured or derived collective bandwidth,
 * one direction), not the port's line rate.  Where a figure was measured
 * through oversubscribed uplinks, the rate here is the one before
 * oversubscription, so that rate / oversubscription gives the figure back.
 *
 * Routing: adaptive where NCCL takes it for granted (NCCL_IB_ADAPTIVE_ROUTING
 * is on for InfiniBand, off for RoCE) and on EFA, whose transport sprays
 * packets over all ways (SRD; L. Shalev et al., IEEE Micro 40(6), 2020).  RoCE
 * and TCP are hashed.  Llama 3's network cuts the traffic of two GPUs into 16
 * flows (arXiv:2407.21783, section 3.3.1); elsewhere one queue pair or socket
 * is the default (NCCL_IB_QPS_PER_CONNECTION, NCCL_NSOCKS_PERTHREAD).
 */
#include "topology/profile.h"

#include <strings.h>

#define GB 1e9
#define US 1e-6

/* The levels from the inside out: GB/s, us, and oversubscription of a link. */
#define PROFILE(NAME, HELP, GPUS, NODES, LEVELS, ROUTING, FLOWS, ...)          \
	{                                                                      \
		NAME, HELP, GPUS, NODES, LEVELS, ROUTING, FLOWS,               \
		{                                                              \
			__VA_ARGS__                                            \
		}                                                              \
	}
#define LINK(RATE, LATENCY, OVERSUBSCRIPTION)                                  \
	{                                                                      \
		RATE *GB, LATENCY *US, OVERSUBSCRIPTION                        \
	}

const struct weft_profile weft_profiles[] = {
	PROFILE("dgx-h100-superpod",
		"DGX H100, NDR InfiniBand, rail-optimised scalable units of 32 "
		"nodes",
		8, 1, 4, WEFT_ROUTING_ADAPTIVE, 1, LINK(366, 0.8, 1),
		LINK(46.5, 2.8, 1), LINK(46.5, 3.7, 1), LINK(46.5, 4.6, 1)),
	PROFILE("selene-a100", "DGX A100, HDR InfiniBand, rail-optimised", 8, 1,
		4, WEFT_ROUTING_ADAPTIVE, 1, LINK(235, 0.8, 1),
		LINK(23.5, 2.8, 1), LINK(23.5, 3.7, 1), LINK(23.5, 4.6, 1)),
	/* NVLink 2 measured on 8 V100 (all-reduce rings); four EDR ports for 8
	 * GPUs, as a DGX-1 has them. */
	PROFILE("dgx-v100",
		"DGX-1 and DGX-2 V100, EDR InfiniBand, a port for two GPUs", 8,
		1, 4, WEFT_ROUTING_ADAPTIVE, 1, LINK(130, 0.8, 1),
		LINK(5.9, 2.8, 1), LINK(5.9, 3.7, 1), LINK(5.9, 4.6, 1)),
	/* Seven xGMI links of 48 GB/s each, what protocol and checksums leave
	 * of 64 (AMD); the network is that of 400 Gb/s ports. */
	PROFILE("mi300x", "MI300X, all 8 joined by xGMI, 400G per GPU", 8, 1, 3,
		WEFT_ROUTING_ECMP, 1, LINK(336, 0.8, 1), LINK(46, 3.6, 1),
		LINK(46, 5.6, 1)),
	PROFILE("gb200-nvl72",
		"GB200 NVL72 racks of 18 trays with 4 GPUs, NDR InfiniBand", 4,
		18, 3, WEFT_ROUTING_ADAPTIVE, 1, LINK(680, 0.79, 1),
		LINK(46.5, 2.8, 1), LINK(46.5, 3.7, 1)),
	PROFILE("dgx-b200", "DGX B200, NDR InfiniBand, rail-optimised", 8, 1, 3,
		WEFT_ROUTING_ADAPTIVE, 1, LINK(682, 0.79, 1),
		LINK(47.7, 2.8, 1), LINK(47.7, 3.7, 1)),
	PROFILE("aws-p5", "AWS p5 (H100), EFA", 8, 1, 2, WEFT_ROUTING_ADAPTIVE,
		1, LINK(366, 0.8, 1), LINK(46.2, 18, 1)),
	PROFILE("aws-p4d", "AWS p4d (A100), EFA of 4 x 100 Gbps per node", 8, 1,
		2, WEFT_ROUTING_ADAPTIVE, 1, LINK(235, 0.8, 1),
		LINK(5.2, 75, 1)),
	PROFILE("roce-llama3",
		"H100, 400G RoCE: racks of 2 servers, pods, 1:7 aggregation", 8,
		1, 4, WEFT_ROUTING_ECMP, 16, LINK(366, 0.8, 1),
		LINK(46, 3.6, 1), LINK(46, 5.6, 1), LINK(6.6 * 7, 7.6, 7)),
	PROFILE("pcie4-100g-tcp",
		"PCIe 4 GPUs without NVLink, 100G TCP, 1:3 spine", 8, 1, 3,
		WEFT_ROUTING_ECMP, 1, LINK(12, 2, 1), LINK(9, 20, 1),
		LINK(9, 30, 3)),
};

const uint32_t weft_n_profiles = WEFT_N_OF(weft_profiles);

/* What people call them. */
static const char *profile_alias(const char *name)
{
	static const struct {
		const char *alias, *name;
	} aliases[] = {
		{"h100", "dgx-h100-superpod"},
		{"dgx-h100", "dgx-h100-superpod"},
		{"a100", "selene-a100"},
		{"dgx-a100", "selene-a100"},
		{"b200", "dgx-b200"},
		{"gb200", "gb200-nvl72"},
		{"nvl72", "gb200-nvl72"},
		{"p4d", "aws-p4d"},
		{"p5", "aws-p5"},
		{"v100", "dgx-v100"},
		{"mi300", "mi300x"},
	};

	for (size_t a = 0; a < WEFT_N_OF(aliases); a++)
		if (strcasecmp(aliases[a].alias, name) == 0)
			return aliases[a].name;
	return name;
}

const struct weft_profile *weft_profile_find(const char *name)
{
	name = profile_alias(name);
	for (uint32_t k = 0; k < weft_n_profiles; k++)
		if (strcasecmp(weft_profiles[k].name, name) == 0)
			return &weft_profiles[k];
	return NULL;
}
