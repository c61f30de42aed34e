/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holdings.h - what each running job holds of each node, and the sums: no Slurm
 * types
 *
 * A job's part is taken off as it was put on, whatever has become of its record
 * since: the sums cannot drift.
 */
#ifndef WEFT_PLUGIN_BRIDGE_RUNNING_HOLDINGS_H
#define WEFT_PLUGIN_BRIDGE_RUNNING_HOLDINGS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one job on one node. */
struct weft_holding {
	uint32_t node;
	uint32_t cpus;
	uint64_t memory_mb;
	uint64_t gpus; /* bit k: GPU k */
};

struct weft_holder {
	uint32_t job_id;
	uint32_t n;
	struct weft_holding of[];
};

struct weft_holdings {
	uint32_t n_nodes;
	uint64_t *cpus, *memory_mb; /* [n_nodes] of all jobs */
	uint32_t n_holders;
	/* by job_id: an open hash of n_slots, a power of two, never full */
	uint32_t n_slots;
	struct weft_holder **slots;
};

/* Of no job.  Free with weft_holdings_free in either case. */
int weft_holdings_build(uint32_t n_nodes, struct weft_holdings *h,
			struct weft_error *err);
void weft_holdings_free(struct weft_holdings *h);

/* What the job holds now, instead of what it held: n nodes below n_nodes, each
 * once.  n == 0: nothing any more.  -1 (no memory): as before. */
int weft_holdings_put(struct weft_holdings *h, uint32_t job_id,
		      const struct weft_holding *of, uint32_t n,
		      struct weft_error *err);

/* Valid until that job changes; NULL: it holds nothing. */
const struct weft_holder *weft_holdings_find(const struct weft_holdings *h,
					     uint32_t job_id);

/* How a recount came out. */
struct weft_holdings_audit {
	uint32_t n_cpus, n_memory; /* nodes whose sums differ */
	uint32_t n_jobs;	   /* that hold anything */
	uint32_t n_twice;	   /* GPUs that several jobs hold */
};

/* Compares what was kept with what was counted anew, for the same nodes (kept
 * NULL: nothing was kept).  held[counted->n_nodes] gets the GPUs that jobs hold
 * by the count. */
void weft_holdings_compare(const struct weft_holdings *kept,
			   const struct weft_holdings *counted, uint64_t *held,
			   struct weft_holdings_audit *audit);

#endif
