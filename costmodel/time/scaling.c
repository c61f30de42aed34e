/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scaling.c - hops of NCCL's protocols */
#include "costmodel/time/scaling.h"

#include <math.h>
#include <stdbool.h>

#define US 1e-6

/* NCCL's latency of a message over one switch of InfiniBand, which is in its
 * figures; what a wire takes more comes on top. */
#define WIRE_S (2.7 * US)
/* Of rings over several domains, for each hop of the protocol Simple. */
#define SIMPLE_FACTOR 1.4

/* Seconds of a hop, and which share of the rate is reached. */
struct protocol {
	double inside_s, between_s;
	double wires; /* times that a long wire counts */
	double share;
};

/* LL, LL128, Simple: hwLatency of NVLINK and NET; the bandwidth of LL is half,
 * of LL128 0.92 of the ring's. */
static const struct protocol ring[] = {
	{0.6 * US, 2.7 * US, 1, 0.5},
	{1.9 * US, 4.0 * US, 1, 0.92},
	{3.4 * US, 14.0 * US, 2, 1},
};

/* Shares of what trees reach: LL 1 / 3.8, LL128 120 / 128. */
static const struct protocol tree[] = {
	{0.6 * US, 5.0 * US, 1, 1 / 3.8},
	{1.25 * US, 8.5 * US, 1, 120.0 / 128},
	{4.0 * US, 14.0 * US, 2, 1},
};

#define TREE_SHARE 0.92
/* Between Hopper's NVLink and Blackwell's. */
#define BLACKWELL_BYTES_PER_S 500e9
#define BLACKWELL_TREE_SHARE  (24.0 / 45)

double weft_scaling_tree_share(double nvlink_bytes_per_s, uint32_t n_domains)
{
	return nvlink_bytes_per_s >= BLACKWELL_BYTES_PER_S && n_domains > 2
		       ? BLACKWELL_TREE_SHARE
		       : TREE_SHARE;
}

#define N_PROTOCOLS 3

/* Seconds of one pass over all hops. */
static double pass_s(const struct weft_hops *hops, const struct protocol *p,
		     double factor)
{
	double longer = fmax(0, hops->between_s - WIRE_S);
	double inside = fmax(p->inside_s * factor, hops->inside_s);
	double between = (p->between_s + p->wires * longer) * factor;

	return hops->n_inside * inside + hops->n_between * between;
}

double weft_scaling_ring_s(const struct weft_hops *hops, uint32_t n_rounds)
{
	double best = HUGE_VAL;

	for (int k = 0; k < N_PROTOCOLS; k++) {
		bool simple = k == N_PROTOCOLS - 1 && hops->n_between > 0;
		double pass =
			pass_s(hops, &ring[k], simple ? SIMPLE_FACTOR : 1);

		best = fmin(best,
			    n_rounds * pass + hops->transfer_s / ring[k].share);
	}
	return best;
}

double weft_scaling_tree_s(const struct weft_hops *hops)
{
	double share = hops->tree_share > 0 ? hops->tree_share : TREE_SHARE;
	double best = HUGE_VAL;

	for (int k = 0; k < N_PROTOCOLS; k++)
		best = fmin(best,
			    2 * pass_s(hops, &tree[k], 1) +
				    hops->transfer_s / (share * tree[k].share));
	return best;
}
