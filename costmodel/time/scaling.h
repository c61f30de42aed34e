/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scaling.h - what each hop of a collective adds, and so each rank and node
 *
 * A collective of NCCL moves pieces from GPU to GPU, and each hop costs more
 * than the wire: flags are set and polled, and the protocol that reaches the
 * full rate takes longest.  The library chooses the protocol for the size:
 *
 *	time = min over protocols of hops * (hop of that protocol)
 *				     + transfer / (share of the rate it reaches)
 *
 * In a ring the hops grow with the ranks, so that a size that runs at full rate
 * on 16 GPUs does not on 1,440; in a tree with the logarithm of the domains.
 *
 * No figure here is fitted.  Hops and shares are NCCL 2.30.7's own (hwLatency
 * and bandwidths of src/graph/tuning.cc; costmodel.md, section 3); what a wire
 * takes longer than NCCL takes for granted is added as NCCL adds latencyInter.
 *
 * Against published rings from 16 MiB (tests/costmodel/scaling: 22 rows of
 *three publishers, 8 to 40 GPUs, A100 to B200) the median error is 3.6 %, where
 *hops that cost the wire alone are off by 15 %.  Smaller sizes stay too fast,
 *as the launch is not in here.  20 racks of GB200 at 2 GiB take 2.54 times as
 * long as one (published: 2.6; wires alone: 1.78), but both come out too fast
 *by 12 to 17 %, and 20 racks at 16 GiB by 29 %: there the rate is not what
 *rings of one rack reach, which no hop explains.
 *
 * Steps lose by the number of their GPUs what these hops take: they are waited
 * for, though transfers hide behind computation (step_exposed.c).  In published
 * weak scaling of jobs that shard parameters a step grows by 2 to 3 us for each
 * rank and collective (MPT of 1 to 13B to 512 H100, GPT-3 to 1,024), which is a
 * hop of LL128.  With it MPT-7B loses 7.2 % from 128 to 512 GPUs
 *(measured 7.7), without 1.1.  No constant for each doubling does as well: one
 *from other publishers (0.8 to 2.1 %) predicts one left out hardly better than
 *none.
 */
#ifndef WEFT_COSTMODEL_TIME_SCALING_H
#define WEFT_COSTMODEL_TIME_SCALING_H

#include <stdint.h>

/* One pass of a collective over its group: once around a ring, or once up a
 * tree. */
struct weft_hops {
	uint32_t n_inside;  /* hops inside NVLink domains (or a node's PCIe) */
	uint32_t n_between; /* hops over the network, one after the other */
	double inside_s;    /* wire latency of one of the former */
	double between_s;   /* of one of the latter: the mean, where they cross
			     * different levels */
	double transfer_s;  /* of all passes, at the full rate */
	double tree_share;  /* weft_scaling_tree_share; 0: 0.92 */
};

/* Share of a ring's rate that trees reach over n_domains, by the rate of NVLink
 * that tells the GPU's generation: 0.92, or less where a channel of a tree has
 * a limit below that of a ring (perChMaxTreeBandwidths and 45 GB/s of
 * Blackwell's rings, src/graph/tuning.cc: 24 / 45 over three domains and more).
 */
double weft_scaling_tree_share(double nvlink_bytes_per_s, uint32_t n_domains);

/* Seconds of a ring that goes around n_rounds times (2 for an all-reduce, else
 * 1).  Never below transfer_s; without the launch of a kernel. */
double weft_scaling_ring_s(const struct weft_hops *hops, uint32_t n_rounds);

/* Seconds of an all-reduce up and down a double binary tree over domains, with
 * a chain inside each: n_inside is the ranks of a domain less one, n_between
 * the logarithm to base 2 of the domains, rounded up. */
double weft_scaling_tree_s(const struct weft_hops *hops);

#endif
