/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_model.h - the inside of NCCL's tuning model: constants and formulas
 *
 * Private to nccl*.c.  Microseconds, 10^9 bytes per second and single precision
 * as in NCCL itself, so that its tables can be compared and near ties fall the
 * same way.
 */
#ifndef WEFT_LAB_NCCL_NCCL_MODEL_H
#define WEFT_LAB_NCCL_NCCL_MODEL_H

#include "lab/nccl/nccl.h"

enum weft_nccl_wire { WEFT_WIRE_NVLINK, WEFT_WIRE_NET, WEFT_N_WIRES };

enum weft_nccl_generation {
	WEFT_VOLTA,
	WEFT_AMPERE,
	WEFT_HOPPER,
	WEFT_BLACKWELL,
	WEFT_N_GENERATIONS
};

/* Columns of the per-channel limits: one node, two, more. */
#define WEFT_NCCL_SPANS 3

/* Sizes 64 B * 2^k that the tree's correction covers. */
#define WEFT_NCCL_CORRECTIONS 24

/* Only doubles: a release replaces single cells. */
struct weft_nccl_constants {
	/* Start of an algorithm, and each hop of it by wire. */
	double base_us[WEFT_N_NCCL_ALGORITHMS][WEFT_N_NCCL_PROTOCOLS];
	double hop_us[WEFT_N_WIRES][WEFT_N_NCCL_ALGORITHMS]
		     [WEFT_N_NCCL_PROTOCOLS];
	/* Limit of LL, all channels together.  Rows are generations on one
	 * node; on several, row 0 is for most hosts and row 1 for AMD's. */
	double ll_gb[WEFT_N_GENERATIONS][WEFT_NCCL_SPANS];
	/* Limits of one channel. */
	double ring_ll128_gb[WEFT_N_GENERATIONS][WEFT_NCCL_SPANS];
	double tree_ll128_gb[WEFT_N_GENERATIONS][WEFT_NCCL_SPANS];
	double tree_gb[WEFT_N_GENERATIONS][WEFT_NCCL_SPANS];
	double nvls_tree_gb[WEFT_N_GENERATIONS][WEFT_NCCL_SPANS];
	/* Part of the NVLink rate that multicast reaches. */
	double nvls_efficiency[WEFT_N_GENERATIONS];
	double pat_efficiency; /* 0: the release has no PAT */
};

/* Factor on a tree's bandwidth at 64 B * 2^k, measured by NCCL's authors. */
extern const double weft_nccl_correction[WEFT_N_NCCL_PROTOCOLS]
					[WEFT_NCCL_CORRECTIONS];

/* Constants of a release, 2.18 or newer. */
void weft_nccl_constants(uint32_t version,
			 struct weft_nccl_constants *constants);

/* What the formulas share. */
struct weft_nccl_model {
	const struct weft_nccl_graph *graph;
	struct weft_nccl_constants k;
	uint32_t n_nodes, n_ranks;
	uint32_t others_here;  /* further ranks of a node, as whole ones */
	double ranks_per_node; /* need not be whole */
	enum weft_nccl_generation generation;
	uint32_t span; /* column of the tables */
	double ll_limit_gb;
};

/* The model of a graph that has no field left at "default"; keeps `graph`. */
void weft_nccl_model_build(const struct weft_nccl_graph *graph,
			   struct weft_nccl_model *model);

/* One pair's line; rate 0 where the algorithm does not do the collective or
 * these graphs do not carry it. */
struct weft_nccl_line weft_nccl_model_line(const struct weft_nccl_model *model,
					   enum weft_collective collective,
					   enum weft_nccl_algorithm algorithm,
					   enum weft_nccl_protocol protocol);

static inline double weft_nccl_single(double x)
{
	return (double)(float)x;
}

#endif
