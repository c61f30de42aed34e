/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fact.c - the tables of figures and of checks */
#include "lab/calculators/fact.h"

static const char hopper[] = "CUDA Hopper tuning guide";
static const char stas[] = "stas00/ml-engineering network/README.md";
static const char a100[] = "NVIDIA A100 data sheet";
static const char h100[] = "NVIDIA H100 data sheet";

const struct weft_fact weft_facts[] = {
	{"h100.concurrent_kernels", "", 128, 128,
	 "resident grids of compute capability 9.0, not streams", hopper},
	{"h100.warps_per_sm", "", 64, 64, "", hopper},
	{"h100.threads_per_warp", "", 32, 32, "", hopper},
	{"h100.partitions_per_sm", "", 4, 4, "each with its scheduler", hopper},
	{"h100.registers_per_sm", "", 65536, 0,
	 "32 bits; a quarter of them, 16,384, are a partition's", hopper},
	{"h100.shared_per_sm", "B", 228e3, 228e3,
	 "of a unified 256 KB; not split between streams", hopper},
	{"h100.l1_per_sm", "B", 256e3, 128e3, "one store with shared memory",
	 hopper},
	{"h100.issue_cycles", "", 1, 4, "per scheduler, since Volta", hopper},
	{"h100.clock", "Hz", 1.8e9, 1.8e9, "about, under load", h100},
	{"nccl.all_reduce_kernels", "", 1, 2,
	 "both phases are loops of one kernel: no launch gap between them",
	 "NVIDIA/nccl src/device/all_reduce.h"},
	{"nccl.proxy_threads", "", 1, 0,
	 "per communicator, for network transports only; kernels are enqueued "
	 "on the caller's stream",
	 "NVIDIA/nccl src/proxy.cc"},
	{"nccl.a100_busbw", "B/s", 234.89e9, 280e9, "8 GPUs, 16 GiB", stas},
	{"nccl.h100_ring_busbw", "B/s", 370e9, 0, "8 GPUs", stas},
	{"nccl.h100_sharp_busbw", "B/s", 480e9, 0, "8 GPUs, in the switch",
	 stas},
	{"nccl.nvl72_ring_busbw", "B/s", 680e9, 0, "GTC25 S72583", stas},
	{"nccl.nvl72_sharp_busbw", "B/s", 850e9, 0, "GTC25 S72583", stas},
	{"nccl.h100_busbw_1gib", "B/s", 466e9, 0, "8 GPUs",
	 "dgxc-benchmarking nccl/README.md"},
	{"nccl.h100_busbw_128mib", "B/s", 400e9, 0, "8 GPUs",
	 "dgxc-benchmarking nccl/README.md"},
	{"opt175b.flops", "FLOP/s", 147e12, 0,
	 "per GPU at best: utilisation, not scaling efficiency",
	 "arXiv:2205.01068 section 2.4"},
	{"selene.nodes", "", 560, 560, "DGX A100, each with 8 GPUs",
	 "arXiv:2104.04473 section 5"},
	{"dgx.gpus", "", 8, 8, "per node", a100},
	{"llama3.gpus", "", 16384, 1e5,
	 "of a cluster of 24K; 1:7 oversubscribed above 3,072-GPU pods",
	 "arXiv:2407.21783 section 3.3.1"},
	{"tpu-v4.pod", "", 4096, 4096,
	 "chips, 3D torus; \"10x bisection\" is not in the paper",
	 "arXiv:2304.01433"},
	{"ethernet.jumbo", "B", 9000, 9000, "MTU", "convention of vendors"},
};
const uint32_t weft_n_facts = sizeof(weft_facts) / sizeof(weft_facts[0]);

const struct weft_check weft_checks[] = {
	{"trace",
	 "PyTorch profiler (Kineto), Nsight Systems, or TensorBoard's "
	 "trace viewer; weft model overlap reads Kineto",
	 "exposed collectives, pipeline bubbles"},
	{"algorithm", "NCCL_DEBUG=INFO; do not set NCCL_ALGO for good",
	 "a wrong algorithm, protocol or NIC"},
	{"firmware", "the same NIC firmware on every node",
	 "one node that is slower"},
	{"stragglers", "power states P2, P3 and clocks of every GPU",
	 "thermal throttling"},
	{"mtu", "9000 bytes on every port and switch of an Ethernet fabric",
	 "fragments, CPU time"},
	{"pairs", "nccl-tests or iperf3 between random pairs",
	 "a link that is blocked or degraded"},
	{"memory", "ECC and row-remapping counters (nvidia-smi -q, dmesg)",
	 "GPUs that stall"},
	{"logs", "rotate and keep them off the training file system",
	 "contention while profiling"},
	{"counters",
	 "port_xmit_wait of InfiniBand, rx_prioN_pause of RoCE; "
	 "\"ib_get_stats\" and \"PFC_XOFF_RECV\" are no counters",
	 "congestion, pause frames"},
};
const uint32_t weft_n_checks = sizeof(weft_checks) / sizeof(weft_checks[0]);
