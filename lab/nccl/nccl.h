/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl.h - which algorithm and protocol NCCL takes, and the time it expects
 *
 * NCCL prices every (algorithm, protocol) by a latency and a bandwidth that it
 * derives from the channels it found ("graphs"), and takes the cheapest at the
 * size asked.  This is that model, keyed by release, 2.18 to 2.30.  It is a
 * selector: the times are NCCL's own expectation and leave out launch and
 * saturation.  Outside of it: in-network reduction (CollNet), GPUs without
 * NVLink, tuner plugins, symmetric-memory kernels, operations aggregated in one
 * group, and all-to-all and send-receive, for which NCCL has nothing to choose.
 *
 *	struct weft_nccl_graph graph = {.n_nodes = 1, .n_ranks = 8, ...};
 *	struct weft_nccl_tuning tuning;
 *	struct weft_nccl_choice choice;
 *
 *	if (weft_nccl_tune(&graph, &tuning, err) == 0)
 *		weft_nccl_choose(&tuning, WEFT_ALL_REDUCE, 1 << 20, &choice,
 *				 err);
 */
#ifndef WEFT_LAB_NCCL_NCCL_H
#define WEFT_LAB_NCCL_NCCL_H

#include "base/error.h"
#include "costmodel/traffic/collective.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order in which NCCL tries them; the first of equal ones wins. */
enum weft_nccl_algorithm {
	WEFT_NCCL_TREE,
	WEFT_NCCL_RING,
	WEFT_NCCL_NVLS,
	WEFT_NCCL_NVLS_TREE,
	WEFT_NCCL_PAT,
	WEFT_N_NCCL_ALGORITHMS
};
extern const char *const weft_nccl_algorithm_names[WEFT_N_NCCL_ALGORITHMS];

enum weft_nccl_protocol {
	WEFT_NCCL_LL,
	WEFT_NCCL_LL128,
	WEFT_NCCL_SIMPLE,
	WEFT_N_NCCL_PROTOCOLS
};
extern const char *const weft_nccl_protocol_names[WEFT_N_NCCL_PROTOCOLS];

enum weft_nccl_cpu { WEFT_CPU_INTEL, WEFT_CPU_AMD, WEFT_CPU_X86, WEFT_CPU_ARM };

#define WEFT_NCCL_VERSION(major, minor) ((major)*10000u + (minor)*100u)
#define WEFT_NCCL_OLDEST		WEFT_NCCL_VERSION(2, 18)
#define WEFT_NCCL_NEWEST		(WEFT_NCCL_VERSION(2, 30) + 7)

/* The channels that NCCL found for one family of algorithms, and what each
 * carries inside a node and between nodes. */
struct weft_nccl_channels {
	uint32_t n_channels;			     /* 0: not available */
	double intra_bytes_per_s, inter_bytes_per_s; /* of one channel */
};

/* Zero-initialise; then n_nodes, n_ranks, compute_capability and ring must be
 * set, the rest has the defaults named. */
struct weft_nccl_graph {
	uint32_t version; /* as ncclGetVersion(): 23007 is 2.30.7; 0: the
			   * newest known */
	uint32_t n_nodes; /* an NVLink domain of several hosts is one node */
	uint32_t n_ranks; /* in all */
	uint32_t compute_capability; /* 90 is Hopper; of all GPUs */
	enum weft_nccl_cpu cpu;
	struct weft_nccl_channels ring, tree, nvls;
	double net_latency_s; /* that the network plugin reports; 0 for
			       * InfiniBand and sockets */
	bool tree_on_one_gpu; /* a node's tree enters and leaves at one GPU
			       * (NCCL's pattern TREE: one GPU per node) */
	bool torn_stores;     /* on the way to the NIC, where it passes the
			       * host's bridge: no LL128 */
};

/* Collectives that NCCL tunes are the first of enum weft_collective. */
#define WEFT_N_NCCL_COLLECTIVES (WEFT_REDUCE + 1)

/* Expected time = latency + size / rate.  rate 0: the pair cannot be used. */
struct weft_nccl_line {
	double latency_s, rate_bytes_per_s;
};
struct weft_nccl_tuning {
	struct weft_nccl_graph graph; /* with every default filled in */
	struct weft_nccl_line line[WEFT_N_NCCL_COLLECTIVES]
				  [WEFT_N_NCCL_ALGORITHMS]
				  [WEFT_N_NCCL_PROTOCOLS];
};

struct weft_nccl_choice {
	enum weft_nccl_algorithm algorithm;
	enum weft_nccl_protocol protocol;
	double time_s;
	uint32_t n_channels, n_threads; /* used of them; without the extra
					 * warps for synchronisation */
};

/* "2.30.7" or "2.30" as a version; 0 with err when it is neither or older than
 * 2.18. */
uint32_t weft_nccl_version(const char *text, struct weft_error *err);

/* Latency and rate of every pair on these graphs.  WEFT_EINVAL names the input
 * that is missing or out of range. */
int weft_nccl_tune(const struct weft_nccl_graph *graph,
		   struct weft_nccl_tuning *tuning, struct weft_error *err);

/* Time of one pair at one size, corrections included; INFINITY when the pair
 * cannot be used.  size_bytes is the larger of the send and the receive buffer:
 * the gathered size of an all-gather. */
double weft_nccl_time(const struct weft_nccl_tuning *tuning,
		      enum weft_collective collective,
		      enum weft_nccl_algorithm algorithm,
		      enum weft_nccl_protocol protocol, uint64_t size_bytes);

/* What NCCL takes at that size.  WEFT_EINVAL for a collective that it does not
 * tune. */
int weft_nccl_choose(const struct weft_nccl_tuning *tuning,
		     enum weft_collective collective, uint64_t size_bytes,
		     struct weft_nccl_choice *choice, struct weft_error *err);

/* Channels that NCCL is known, or assumed, to find on a machine. */
struct weft_nccl_machine {
	const char *name;     /* as the fabric profile, where there is one */
	const char *basis[2]; /* where the figures come from: one node, several;
			       * NULL: not known */
	uint32_t gpus_per_node;
	uint32_t compute_capability;
	enum weft_nccl_cpu cpu;
	struct {
		struct weft_nccl_channels ring, nvls; /* trees as rings */
		double net_latency_s;
	} on[2]; /* one node, several */
};
extern const struct weft_nccl_machine weft_nccl_machines[];
extern const uint32_t weft_n_nccl_machines;

/* The graph of n_nodes of them with so many ranks on each, for the newest
 * release; set the version afterwards.
 * WEFT_EINVAL when that many ranks do not fit or nothing is known. */
int weft_nccl_machine_graph(const struct weft_nccl_machine *machine,
			    uint32_t n_nodes, uint32_t ranks_per_node,
			    struct weft_nccl_graph *graph,
			    struct weft_error *err);

#endif
