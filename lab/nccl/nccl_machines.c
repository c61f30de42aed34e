/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_machines.c - channels that NCCL finds on well-known machines */
#include "lab/nccl/nccl.h"

#include "topology/fabric.h"

#define GB 1e9
#define US 1e-6

/* clang-format off */
const struct weft_nccl_machine weft_nccl_machines[] = {
	{ "dgx-h100-superpod",
	  { "logged (NCCL_DEBUG_SUBSYS=TUNING of eight H200)",
	    "assumed: a 400G NIC of each GPU, 48 GB/s of it" },
	  8, 90, WEFT_CPU_INTEL,
	  { { { 12, 30 * GB, 30 * GB }, { 8, 40 * GB, 60 * GB }, 0 },
	    { { 8, 48 * GB, 48 * GB }, { 8, 40 * GB, 48 * GB }, 0 } } },
	{ "aws-p5en",
	  { "logged (NCCL_DEBUG_SUBSYS=TUNING of eight H200)",
	    "fitted to published choices on two and four nodes" },
	  8, 90, WEFT_CPU_INTEL,
	  { { { 12, 30 * GB, 30 * GB }, { 8, 40 * GB, 60 * GB }, 0 },
	    { { 8, 44 * GB, 44 * GB }, { 8, 40 * GB, 22 * GB }, 5 * US } } },
	{ "selene-a100",
	  { "the channels that logs of DGX A100 show",
	    "assumed: a 200G NIC of each GPU" },
	  8, 80, WEFT_CPU_AMD,
	  { { { 12, 20 * GB, 20 * GB }, { 0, 0, 0 }, 0 },
	    { { 8, 24 * GB, 24 * GB }, { 0, 0, 0 }, 0 } } },
	{ "dgx-b200",
	  { "assumed: NVLink of twice the rate", NULL },
	  8, 100, WEFT_CPU_INTEL,
	  { { { 16, 45 * GB, 45 * GB }, { 8, 90 * GB, 90 * GB }, 0 },
	    { { 0, 0, 0 }, { 0, 0, 0 }, 0 } } },
	/* An NVLink domain is one node to NCCL. */
	{ "gb200-nvl72",
	  { "assumed: NVLink of twice the rate", NULL },
	  72, 100, WEFT_CPU_ARM,
	  { { { 16, 45 * GB, 45 * GB }, { 16, 45 * GB, 45 * GB }, 0 },
	    { { 0, 0, 0 }, { 0, 0, 0 }, 0 } } },
};
/* clang-format on */

const uint32_t weft_n_nccl_machines =
	sizeof(weft_nccl_machines) / sizeof(weft_nccl_machines[0]);

int weft_nccl_machine_graph(const struct weft_nccl_machine *machine,
			    uint32_t n_nodes, uint32_t ranks_per_node,
			    struct weft_nccl_graph *graph,
			    struct weft_error *err)
{
	const int several = n_nodes > 1;

	if (n_nodes == 0 || n_nodes > WEFT_MAX_GPUS / machine->gpus_per_node ||
	    ranks_per_node == 0 || ranks_per_node > machine->gpus_per_node)
		return weft_fail(err, WEFT_EINVAL,
				 "%u ranks on each of %u nodes of %s, expected "
				 "1 to %u on 1 or more",
				 ranks_per_node, n_nodes, machine->name,
				 machine->gpus_per_node);
	if (!machine->basis[several])
		return weft_fail(err, WEFT_EINVAL,
				 "the channels that NCCL finds on several %s "
				 "are not known: give them",
				 machine->name);
	*graph = (struct weft_nccl_graph){
		.n_nodes = n_nodes,
		.n_ranks = n_nodes * ranks_per_node,
		.compute_capability = machine->compute_capability,
		.cpu = machine->cpu,
		.ring = machine->on[several].ring,
		.tree = machine->on[several].ring,
		.nvls = machine->on[several].nvls,
		.net_latency_s = machine->on[several].net_latency_s,
		.tree_on_one_gpu = several && ranks_per_node == 1,
	};
	return 0;
}
