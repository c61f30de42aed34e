/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.h - Slurm's nodes as the fabric's, and what is free on them now
 *
 * GPUs are read from the node records.  CPUs and memory are not (node_info is
 * refreshed for clients only) but counted from the jobs that run.  Both are
 * kept and follow the jobs that start; any other change makes them stale, and
 * read anew.  What slips through (a node that registers with fewer GPUs) is
 * stale for a blink only and costs no more than a refusal by stock.
 */
#ifndef WEFT_PLUGIN_NODES_H
#define WEFT_PLUGIN_NODES_H

#include "placement/occupancy.h"
#include "plugin/request.h"
#include "plugin/stock.h"

/* n: Slurm's node table, which has holes from 22.05 on. */
struct weft_nodes {
	const struct weft_fabric *fabric;
	uint64_t generation; /* another one whenever anything below changes */
	uint32_t n;
	uint32_t *fabric_node; /* [n] or WEFT_NONE */
	uint32_t *slurm_node;  /* [fabric->n_nodes] or WEFT_NONE */
	uint64_t *cpus_used;   /* [n] */
	uint64_t *memory_used; /* [n] MB */
	uint64_t *gpus_free;   /* [n] bit k: GPU k */
	bool stale;	       /* the three above must be read anew */
	double read_s;	       /* when they were, by the monotonic clock */
	struct weft_occupancy occupancy;
	uint32_t *weight; /* [fabric->n_nodes], of occupancy when it differs */
	uint64_t *required; /* bitset, of occupancy when the user names any */
};

/* Pairs the nodes by name.  summary[size] tells how that went, for the log.
 * Free with weft_nodes_free in either case. */
int weft_nodes_build(const struct weft_fabric *f, struct weft_nodes *nodes,
		     char *summary, size_t size, struct weft_error *err);
void weft_nodes_free(struct weft_nodes *nodes);

/* A job has just got its resources. */
void weft_nodes_job_started(struct weft_nodes *nodes, const job_record_t *job);

/* Candidates of the test that could give the job, laid out as `shape`, any GPU
 * now; fills nodes->occupancy when `fill`. */
uint32_t weft_nodes_offer(struct weft_nodes *nodes,
			  const struct weft_job_test *test,
			  const struct weft_request *request,
			  const struct weft_shape *shape, bool only_idle);

/* Marks the nodes that the user named with -w.  false: one of them is not in
 * the fabric. */
bool weft_nodes_require(struct weft_nodes *nodes, bitstr_t *required);

/* No job is on any of these nodes. */
bool weft_nodes_idle(bitstr_t *bitmap);

/* Bits of nodes in the fabric's numbers, as Slurm's bitmap; NULL when a plan
 * names a node that Slurm lacks.  Caller: bit_free. */
bitstr_t *weft_nodes_bitmap(const struct weft_nodes *nodes,
			    const uint32_t *fabric_nodes, uint32_t n);

/* The GPUs that the job was given, in the order of Slurm's ranks: nodes in the
 * order of the table, GPUs by index.  Fills where (room for max) with fabric
 * GPUs or WEFT_NONE, and how many nodes were taken in part.  Takes per_node
 * GPUs at most of each node (0: all).  Returns their number. */
uint32_t weft_nodes_allocated(const struct weft_nodes *nodes,
			      const job_record_t *job, uint32_t per_node,
			      uint32_t *where, uint32_t max,
			      uint32_t *n_partial);

#endif
