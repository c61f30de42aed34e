/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.h - the collective operations of a group of ranks: who sends how
 * much to whom by each algorithm
 *
 * size_bytes is what nccl-tests calls size: the whole vector of an all-reduce,
 * broadcast or reduce; the gathered vector of an all-gather or reduce-scatter;
 * what one rank contributes in total to an all-to-all; the message of a
 * send-recv.
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_COLLECTIVE_H
#define WEFT_COSTMODEL_TRAFFIC_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Those for which NCCL chooses an algorithm come first. */
enum weft_collective {
	WEFT_ALL_REDUCE,
	WEFT_ALL_GATHER,
	WEFT_REDUCE_SCATTER,
	WEFT_BROADCAST,
	WEFT_REDUCE,
	WEFT_ALL_TO_ALL,
	WEFT_SEND_RECV,
	WEFT_N_COLLECTIVES
};
/* "all_reduce", "send_recv", ... */
extern const char *const weft_collective_names[WEFT_N_COLLECTIVES];

enum weft_algorithm {
	WEFT_RING,
	WEFT_DOUBLE_TREE,      /* two pipelined binary trees, half of the vector
				* each, as NCCL builds them: over the nodes with
				* a chain inside each; over ranks where the group
				* has one rank on each node */
	WEFT_HIERARCHICAL,     /* rings in nodes, and between them on a share */
	WEFT_HALVING_DOUBLING, /* needs a power of two ranks */
	WEFT_SHARP	       /* network switches reduce: no pairs of ranks */
};

/* Ranks 0..n-1: rank r is number r mod local of its node. */
struct weft_group {
	uint32_t local;	     /* ranks of a node, >= 1 */
	uint32_t n_nodes;    /* >= 1 */
	uint32_t n_channels; /* rings; each leaves a node from another rank */
};

/* Whether the algorithm does the collective on such a group at all. */
bool weft_collective_applies(enum weft_collective collective,
			     enum weft_algorithm algorithm,
			     const struct weft_group *group);

/* Calls flow() for the share of size_bytes that ranks send each other, > 0 and
 * from != to.  A pair may come several times: add up.  For a collective, an
 * algorithm and a group that apply. */
typedef void (*weft_collective_flow)(void *data, uint32_t from, uint32_t to,
				     double share);
void weft_collective_flows(enum weft_collective collective,
			   enum weft_algorithm algorithm,
			   const struct weft_group *group,
			   weft_collective_flow flow, void *data);

/* The double tree over k vertices (NCCL, src/graph/trees.cc).  Parent of v > 0
 * in the first tree: vertices with h trailing zeros are at height h, so that
 * leaves and inner vertices alternate; a parent beyond the end is replaced by
 * the next one down. */
uint32_t weft_tree_parent(uint32_t v, uint32_t k);
/* The vertex of the second tree that stands where v does in the first; leaves
 * become inner vertices: the mirror image for an even k, the next vertex for
 * an odd one. */
uint32_t weft_tree_second(uint32_t v, uint32_t k);

/* Bus bandwidth of nccl-tests over n ranks: algorithm bandwidth (size over
 * time) times this factor. */
double weft_collective_bus_factor(enum weft_collective collective, uint32_t n);

/* Bytes that one rank sends in one call among n ranks, bandwidth-optimal
 * algorithms (rings; pairs for an all-to-all).  Of broadcast and reduce the
 * mean over the ranks. */
double weft_volume_collective(enum weft_collective collective, uint32_t n,
			      double size_bytes);
double weft_volume_all_reduce(uint32_t n, double size_bytes);

#endif
