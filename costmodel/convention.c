/* SPDX-License-Identifier: GPL-3.0-or-later */
/* convention.c - the table of named differences */
#include "costmodel/convention.h"

#include <stddef.h>
#include <string.h>

const struct weft_difference weft_differences[] = {
	{"seed_gib", "bytes in units of 2^30 over a link in 10^9 B/s",
	 "bytes and bytes per second both decimal: 6.9 % more time", ""},
	{"seed_tree", "a tree takes 2 S/B: no latency, no log n",
	 "2 log2(n) a + 2 S/B for a pipelined double tree",
	 "NVIDIA/nccl src/graph/trees.cc"},
	{"seed_minbw", "S / T_comp hides the sync",
	 "2(n-1)/n S / T_comp, what a ring really sends, decimal",
	 "NVIDIA/nccl-tests doc/PERFORMANCE.md"},
	{"seed_recommend",
	 "minimum bandwidth in 100G units, rounded up, times "
	 "the link's rate",
	 "as many links of the chosen rate as reach the minimum", ""},
	{"seed_sb", "an all-reduce takes S/B",
	 "2(n-1)/n S/B: S/B is two GPUs, or one of the two phases",
	 "NVIDIA/nccl-tests doc/PERFORMANCE.md"},
};
const uint32_t weft_n_differences =
	sizeof(weft_differences) / sizeof(weft_differences[0]);

const struct weft_difference *weft_difference_find(const char *name)
{
	for (uint32_t i = 0; i < weft_n_differences; i++) {
		if (strcmp(weft_differences[i].name, name) == 0)
			return &weft_differences[i];
	}
	return NULL;
}
