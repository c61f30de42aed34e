/* SPDX-License-Identifier: GPL-3.0-or-later */
/* convention.c - the table of named differences */
#include "lab/calculators/convention.h"

#define MIB 1048576.0
#define GIB 1073741824.0

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
	{"seed_mib",
	 "MiB and GiB called MB and GB, and multiplied by 8 as such",
	 "decimal bytes and bits: 4.9 to 7.4 % more", ""},
	{"seed_gpipe",
	 "all micro-batches are in flight, of every layer of the model",
	 "1F1B keeps min(P, M) of a stage's own layers",
	 "arXiv:2104.04473 section 2.2"},
	{"seed_boundary", "the bytes of one boundary, whatever the stages",
	 "those of all P-1, times the chunks of interleaving",
	 "arXiv:2104.04473 section 2.2"},
	{"bubble_of_total",
	 "(P-1)/(M+P-1) in one place and (P-1)/M in another, under one name; "
	 "interleaving left out",
	 "bubble_of_total (P-1)/(VM+P-1) and bubble_of_ideal (P-1)/(VM)",
	 "GPipe arXiv:1811.06965; arXiv:2104.04473 section 2.2"},
	{"pipe_seed",
	 "a step is (tf+tb)(N-1)/N + tf+tb, with one N for stages "
	 "and micro-batches",
	 "(M + (P-1)/V)(tf+tb)", "arXiv:2104.04473 equation 1"},
	{"seed_advice", "twice the micro-batches, or one stage less",
	 "the fewest micro-batches, or the most stages, that suffice", ""},
	{"seed_us", "0.67 us and 43 us for 0.67 ms and 43 ms",
	 "2 S H e / B in seconds: a thousand times more, not free", ""},
	{"seed_single_buffer", "one block of K and V is the ring's buffer",
	 "overlap needs one coming in while one is computed on: twice as much",
	 "arXiv:2310.01889"},
	{"nchunk_seed",
	 "the largest power of two with chunks of 25 MB at least",
	 "sqrt(T/o), where the tail T/n + n o is shortest", ""},
	{"eta_seed",
	 "min(1, T_comm / (T_b + T_oh)), the sync's share of the "
	 "backward pass",
	 "min(1, (T_b - t_first) / T_comm), the share of the sync that is "
	 "hidden",
	 ""},
	{"launch_gap_seed", "5 us on each of 4,000 GPUs are 20 ms lost",
	 "the gaps are simultaneous: 5 us of wall time, 20 ms of GPU time", ""},
	{"seed_barrier",
	 "skew 5 to 10 us less barrier 2 to 4 us: gain 3 to 6 us",
	 "none: a barrier does not end the wait for the slowest rank, it adds "
	 "to "
	 "it",
	 ""},
	{"seed_priority", "30 to 55 % of the issue slots: 25 % less latency",
	 "1 - 30/55 = 45 % if latency goes as 1/share; measure it", ""},
	{"tp_seed", "2 b s h / t elements per layer: less with every GPU",
	 "8 b s h (t-1)/t per GPU, forward and backward; half more with full "
	 "recomputation",
	 "arXiv:2104.04473 section 3.2"},
	{"seed_tp_count", "two all-reduces per layer and step",
	 "two each in forward and backward of every micro-batch, two more with "
	 "full recomputation",
	 "arXiv:2104.04473 section 2.3"},
	{"seed_both_ways", "NVLink's both directions beside a network's one",
	 "one direction of both: half", ""},
};
const uint32_t weft_n_differences =
	sizeof(weft_differences) / sizeof(weft_differences[0]);

double weft_seed_bytes(double bytes)
{
	return bytes < GIB ? bytes / MIB * 1e6 : bytes / GIB * 1e9;
}
