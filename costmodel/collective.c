/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - names and bus bandwidth of collective operations */
#include "costmodel/collective.h"

const char *const weft_collective_names[WEFT_N_COLLECTIVES] = {
	[WEFT_ALL_REDUCE] = "all_reduce",
	[WEFT_ALL_GATHER] = "all_gather",
	[WEFT_REDUCE_SCATTER] = "reduce_scatter",
	[WEFT_BROADCAST] = "broadcast",
	[WEFT_REDUCE] = "reduce",
	[WEFT_ALL_TO_ALL] = "all_to_all",
	[WEFT_SEND_RECV] = "send_recv",
};

/* Passes over the data that a bandwidth-optimal algorithm makes on each link,
 * so that the figure can be held against the link's own rate (nccl-tests,
 * PERFORMANCE). */
double weft_collective_bus_factor(enum weft_collective collective, uint32_t n)
{
	static const double passes[WEFT_N_COLLECTIVES] = {
		[WEFT_ALL_REDUCE] = 2,
		[WEFT_ALL_GATHER] = 1,
		[WEFT_REDUCE_SCATTER] = 1,
		[WEFT_ALL_TO_ALL] = 1,
	};

	if (passes[collective] > 0)
		return n < 2 ? 0 : passes[collective] * (n - 1) / n;
	return 1;
}
