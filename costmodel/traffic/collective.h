/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.h - the collective operations of a group of ranks: what each
 * algorithm takes by the alpha-beta model, and who sends how much to whom
 *
 * size_bytes (S below) is what nccl-tests calls size: the whole vector of an
 * all-reduce, broadcast or reduce; the gathered vector of an all-gather or
 * reduce-scatter; what one rank contributes in total to an all-to-all; the
 * message of a send-recv.
 *
 *	struct weft_group group = {
 *		.n_levels = 2,
 *		.level = {{8, 0.8e-6, 366e9}, {4, 2.8e-6, 46.5e9}},
 *	};
 *	struct weft_collective_price price;
 *
 *	weft_collective_choose(WEFT_ALL_REDUCE, &group, 1e9, &price, err);
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_COLLECTIVE_H
#define WEFT_COSTMODEL_TRAFFIC_COLLECTIVE_H

#include "base/error.h"
#include "topology/fabric.h"

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

/* Of equally fast ones the first is chosen. */
enum weft_algorithm {
	WEFT_RING,
	WEFT_DOUBLE_TREE,      /* two pipelined binary trees, half of S each, as
				* NCCL builds them: over the innermost domains with
				* a chain inside each; over ranks where the group
				* has one level */
	WEFT_HIERARCHICAL,     /* rings level by level, outer ones on a share */
	WEFT_HALVING_DOUBLING, /* needs a power of two ranks */
	WEFT_RECURSIVE_DOUBLING, /* likewise; the whole vector each time */
	WEFT_PAT,		 /* log n exchanges of growing blocks (Bruck) */
	WEFT_BINOMIAL,		 /* a tree that is not pipelined */
	WEFT_SHARP,		 /* network switches reduce */
	WEFT_NVLS,   /* NVSwitches reduce and multicast; one level */
	WEFT_DIRECT, /* every pair by itself */
	WEFT_N_ALGORITHMS
};
/* "ring", "double-tree", ... */
extern const char *const weft_algorithm_names[WEFT_N_ALGORITHMS];

/* Ranks 0..n-1 of a group and what connects them: innermost level first, each
 * of n domains of the level below; n is the product.  Rank r is number r mod
 * level[0].n of its innermost domain, and so on outwards. */
struct weft_group {
	uint32_t n_levels; /* >= 1 */
	struct {
		uint32_t n; /* >= 1 */
		double latency_s;
		double rate_bytes_per_s; /* of one rank, one direction */
	} level[WEFT_MAX_LEVELS];
	/* The rest may be 0. */
	uint32_t n_channels;   /* rings; 0: each rank of an innermost domain has
				* one that leaves the domain from it */
	const uint32_t *order; /* [n_channels][n] ranks along each ring;
				* NULL: rank order, turned inside the
				* innermost domains by one per channel */
	uint32_t sharp_tiers;  /* switch tiers that reduce; 0: none do */
	double multicast_efficiency; /* of NVSwitches; 0: they cannot */
	uint32_t in_flight;	     /* messages of an all-to-all that a rank
				      * has under way at once; 0: one */
};

/* A group of one level. */
struct weft_group weft_group_flat(uint32_t n, double latency_s,
				  double rate_bytes_per_s);
/* Number of ranks; 0 with err when the group is malformed. */
uint32_t weft_group_ranks(const struct weft_group *group,
			  struct weft_error *err);

/* time_s = latency_s + transfer_s. */
struct weft_collective_price {
	enum weft_algorithm algorithm;
	uint32_t n_steps;  /* messages one after the other, without chunks */
	double sent_bytes; /* by the rank that sends most */
	double latency_s, transfer_s, time_s;
};

/* Prices one algorithm.  time_s is INFINITY where it does not do the collective
 * or the group does not allow it.  -1 with err when the group or size is
 * malformed. */
int weft_collective_price(enum weft_collective collective,
			  enum weft_algorithm algorithm,
			  const struct weft_group *group, double size_bytes,
			  struct weft_collective_price *price,
			  struct weft_error *err);

/* The algorithm of least time. */
int weft_collective_choose(enum weft_collective collective,
			   const struct weft_group *group, double size_bytes,
			   struct weft_collective_price *price,
			   struct weft_error *err);

/* Calls flow() for what ranks send each other, bytes > 0 and from != to.  A
 * pair may come several times: add up.  Switches that reduce are vertices too:
 * n is the one of SHARP (its tiers are one), or that of NVLS.  Rates and
 * latencies of the group are not read.  Broadcast starts and reduce ends at
 * rank 0; send-recv goes from rank 0 to 1.  -1 with err where the algorithm
 * does not do the collective on this group.  Seven parameters, since a callback
 * is two. */
typedef void (*weft_collective_flow)(void *data, uint32_t from, uint32_t to,
				     double bytes);
int weft_collective_flows(enum weft_collective collective,
			  enum weft_algorithm algorithm,
			  const struct weft_group *group, double size_bytes,
			  weft_collective_flow flow, void *data,
			  struct weft_error *err)
	__attribute__((nonnull(3, 5)));

/* Whether the algorithm does the collective on such a group at all. */
bool weft_collective_applies(enum weft_collective collective,
			     enum weft_algorithm algorithm,
			     const struct weft_group *group);

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

#endif
