/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_tables.c - constants of NCCL 2.30, and what older releases had instead
 *
 * Facts of NCCL's tuning model as published with each release.  A release is
 * the newest table with cells put back, newest change first.
 */
#include "lab/nccl/nccl_model.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const struct weft_nccl_constants newest = {
	/*                              LL    LL128 Simple */
	.base_us = {
		[WEFT_NCCL_TREE]    = { 6.8, 14.0,  8.4 },
		[WEFT_NCCL_RING]    = { 6.6, 14.0,  8.4 },
		[WEFT_NCCL_PAT]     = { 8.0,  8.0,  8.0 },
	},
	.hop_us = {
		[WEFT_WIRE_NVLINK] = {
			[WEFT_NCCL_TREE]           = { 0.6, 1.25,  4.0 },
			[WEFT_NCCL_RING]           = { 0.6, 1.9,   3.4 },
			[WEFT_NCCL_NVLS]           = { 0,   0,    25   },
			[WEFT_NCCL_NVLS_TREE]      = { 0,   0,    25   },
			[WEFT_NCCL_PAT]            = { 0,   0,     4.0 },
		},
		[WEFT_WIRE_NET] = {
			[WEFT_NCCL_TREE]           = { 5.0, 8.5,  14   },
			[WEFT_NCCL_RING]           = { 2.7, 4.0,  14   },
			[WEFT_NCCL_NVLS_TREE]      = { 0,   0,    20.9 },
			[WEFT_NCCL_PAT]            = { 0,   0,    14   },
		},
	},
	/*                  1 node  2      more */
	.ll_gb = {
		[WEFT_VOLTA]     = {  39,  39,    20.4 },
		[WEFT_AMPERE]    = {  87.7, 22.5, 19   },
		[WEFT_HOPPER]    = { 141,  45,    35   },
		[WEFT_BLACKWELL] = { 282,  90,    70   },
	},
	.ring_ll128_gb = {
		[WEFT_VOLTA]     = { 20,   20,    20   },
		[WEFT_AMPERE]    = { 20,   20,    20   },
		[WEFT_HOPPER]    = { 36.7, 36.7,  36.7 },
		[WEFT_BLACKWELL] = { 40,   40,    40   },
	},
	.tree_ll128_gb = {
		[WEFT_VOLTA]     = { 20,   20,    20   },
		[WEFT_AMPERE]    = { 20,   20,    20   },
		[WEFT_HOPPER]    = { 36.7, 36.7,  29   },
		[WEFT_BLACKWELL] = { 55.6, 31.67, 20   },
	},
	.tree_gb = {
		[WEFT_VOLTA]     = { 26.5, 18.5,  10   },
		[WEFT_AMPERE]    = { 24,   23.6,  17.8 },
		[WEFT_HOPPER]    = { 38.7, 41.4,  36   },
		[WEFT_BLACKWELL] = { 70,   42.8,  24   },
	},
	.nvls_tree_gb = {
		[WEFT_VOLTA]     = { 26.5, 18.5,  10   },
		[WEFT_AMPERE]    = { 24,   23.6,  17.8 },
		[WEFT_HOPPER]    = {  0,   57.7,  45.5 },
		[WEFT_BLACKWELL] = {  0,   96,    80   },
	},
	.nvls_efficiency = {
		[WEFT_HOPPER] = 0.85,
		[WEFT_BLACKWELL] = 0.74,
	},
	.pat_efficiency = 0.75,
};

const double weft_nccl_correction[WEFT_N_NCCL_PROTOCOLS]
				 [WEFT_NCCL_CORRECTIONS] = {
	[WEFT_NCCL_LL] = {
		1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5,
		.4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1 },
	[WEFT_NCCL_LL128] = {
		1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6,
		.6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1 },
	[WEFT_NCCL_SIMPLE] = {
		.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
		.5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9 },
};

#define CELL(member) offsetof(struct weft_nccl_constants, member)
#define BASE(a, p)   CELL(base_us[WEFT_NCCL_##a][WEFT_NCCL_##p])
#define HOP(w, a, p) \
	CELL(hop_us[WEFT_WIRE_##w][WEFT_NCCL_##a][WEFT_NCCL_##p])

/* Releases before `until` had `value` in the cell.  Newest change first. */
static const struct {
	uint32_t until;
	size_t cell;
	double value;
} before[] = {
	{ WEFT_NCCL_VERSION(2, 30), CELL(nvls_tree_gb[WEFT_BLACKWELL][2]), 43.8 },

	{ WEFT_NCCL_VERSION(2, 29), CELL(ring_ll128_gb[WEFT_BLACKWELL][0]), 73.4 },
	{ WEFT_NCCL_VERSION(2, 29), CELL(ring_ll128_gb[WEFT_BLACKWELL][1]), 34.6 },
	{ WEFT_NCCL_VERSION(2, 29), CELL(ring_ll128_gb[WEFT_BLACKWELL][2]), 73.4 },

	/* Blackwell was taken for a Hopper of twice the speed. */
	{ WEFT_NCCL_VERSION(2, 28), CELL(ring_ll128_gb[WEFT_BLACKWELL][1]), 73.4 },
	{ WEFT_NCCL_VERSION(2, 28), CELL(tree_ll128_gb[WEFT_BLACKWELL][0]), 73.4 },
	{ WEFT_NCCL_VERSION(2, 28), CELL(tree_ll128_gb[WEFT_BLACKWELL][1]), 73.4 },
	{ WEFT_NCCL_VERSION(2, 28), CELL(tree_ll128_gb[WEFT_BLACKWELL][2]), 58 },
	{ WEFT_NCCL_VERSION(2, 28), CELL(tree_gb[WEFT_BLACKWELL][0]), 77.4 },
	{ WEFT_NCCL_VERSION(2, 28), CELL(tree_gb[WEFT_BLACKWELL][1]), 82.8 },
	{ WEFT_NCCL_VERSION(2, 28), CELL(tree_gb[WEFT_BLACKWELL][2]), 72 },
	{ WEFT_NCCL_VERSION(2, 28), HOP(NET, NVLS_TREE, SIMPLE), 14 },

	{ WEFT_NCCL_VERSION(2, 24), CELL(pat_efficiency), 0.85 },

	{ WEFT_NCCL_VERSION(2, 23), CELL(pat_efficiency), 0 },
	{ WEFT_NCCL_VERSION(2, 23), BASE(TREE, SIMPLE), 0 },
	{ WEFT_NCCL_VERSION(2, 23), HOP(NVLINK, TREE, SIMPLE), 28 },
	{ WEFT_NCCL_VERSION(2, 23), HOP(NET, TREE, SIMPLE), 28 },

	{ WEFT_NCCL_VERSION(2, 21), CELL(ll_gb[WEFT_HOPPER][0]), 87.7 },
	{ WEFT_NCCL_VERSION(2, 21), CELL(ll_gb[WEFT_HOPPER][1]), 22.5 },
	{ WEFT_NCCL_VERSION(2, 21), CELL(ll_gb[WEFT_HOPPER][2]), 19 },
	{ WEFT_NCCL_VERSION(2, 21), HOP(NVLINK, NVLS, SIMPLE), 23 },
	{ WEFT_NCCL_VERSION(2, 21), HOP(NVLINK, NVLS_TREE, SIMPLE), 23 },

	/* NVLS took its whole latency from the start, none from hops. */
	{ WEFT_NCCL_VERSION(2, 19), BASE(NVLS, SIMPLE), 23 },
	{ WEFT_NCCL_VERSION(2, 19), BASE(NVLS_TREE, SIMPLE), 23 },
	{ WEFT_NCCL_VERSION(2, 19), HOP(NVLINK, TREE, SIMPLE), 4 },
	{ WEFT_NCCL_VERSION(2, 19), HOP(NET, TREE, SIMPLE), 14 },
	{ WEFT_NCCL_VERSION(2, 19), HOP(NVLINK, NVLS, SIMPLE), 0 },
	{ WEFT_NCCL_VERSION(2, 19), HOP(NVLINK, NVLS_TREE, SIMPLE), 0 },
	{ WEFT_NCCL_VERSION(2, 19), HOP(NET, NVLS_TREE, SIMPLE), 19 },
};
/* clang-format on */

void weft_nccl_constants(uint32_t version,
			 struct weft_nccl_constants *constants)
{
	*constants = newest;
	for (size_t k = 0; k < sizeof(before) / sizeof(before[0]); k++) {
		if (version < before[k].until)
			memcpy((char *)constants + before[k].cell,
			       &before[k].value, sizeof(before[k].value));
	}
}
