/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes.h - Slurm's nodes as the fabric's, and what is free on them now
 *
 * GPUs are read from the node records.  CPUs and memory are not (node_info is
 * refreshed for clients only) but summed up from the jobs that run.  Both are
 * kept job by job as the hooks of the select plugin tell (nodes_follow.c), and
 * counted anew when Slurm changes its table or on request.
 */
#ifndef WEFT_PLUGIN_SLURM_NODES_H
#define WEFT_PLUGIN_SLURM_NODES_H

#include "costmodel/time/health.h"
#include "placement/capacity/occupancy.h"
#include "plugin/bridge/request.h"
#include "plugin/bridge/running/holdings.h"
#include "plugin/slurm/stock.h"

/* A node whose computing takes so many times as long is slow: all of a job's
 * ranks would wait for it. */
#define WEFT_SLOW 1.05

#define WEFT_ANY_WEIGHT UINT32_MAX

/* What a node has, busy or not. */
struct weft_room {
	uint64_t memory_mb;
	uint32_t cpus;
	uint32_t cpus_per_core; /* CPUs are handed out by cores of this many */
};

/* What reservations keep of a node from a job. */
struct weft_kept_room {
	uint64_t gpus;	    /* bit k: GPU k */
	uint32_t cpus;	    /* of all its cores */
	uint32_t free_cpus; /* of those that no running job has */
};

/* What running jobs have of a node and would give back. */
struct weft_returned {
	uint64_t gpus; /* bit k: GPU k */
	uint64_t cpus, memory_mb;
};

/* n: Slurm's node table, which has holes from 22.05 on. */
struct weft_nodes {
	const struct weft_fabric *fabric;
	uint64_t generation; /* another one whenever anything below changes */
	uint32_t n;
	uint64_t table;		   /* tells tables of other nodes apart */
	uint32_t *fabric_node;	   /* [n] or WEFT_NONE */
	uint32_t *slurm_node;	   /* [fabric->n_nodes] or WEFT_NONE */
	struct weft_room *room;	   /* [n] */
	uint64_t *gpus;		   /* [n] bit k: GPU k is there */
	uint64_t *gpus_free;	   /* [n] and no job has it */
	struct weft_holdings held; /* CPUs and memory, by jobs; [n] */
	bool counted;		   /* held was counted once */
	bool stale;		   /* all of these must be counted anew */
	double read_s; /* when the records were read, by the monotonic clock */
	/* What is offered besides what is free; NULL: nothing.  Set for a
	 * look ahead and taken back at once. */
	const struct weft_returned *returned; /* [n] */
	bool emptied; /* a look as if no job ran and nothing were reserved, at
		       * GPUs alone */
	bool sized;   /* at CPUs and memory, too */
	/* of the question at hand, weft_nodes_keep; NULL: nothing is kept */
	struct weft_kept_room *kept; /* [n] */
	bool kept_known;
	/* Node weights, power and flexible reservations as Slurm weighs them:
	 * what a job is offered of the nodes of its question. */
	uint32_t heaviest;    /* none that weigh more; WEFT_ANY_WEIGHT: all */
	bool lightest;	      /* find the least weight up to which nodes suffice
			       * and take that for the heaviest; lighter ones must
			       * be used, all of them */
	uint32_t next_weight; /* of those left out, the least; 0: none were */
	const struct weft_health *health; /* NULL: all are well */
	bool apart;    /* offer no cores that other jobs have */
	bool use_slow; /* offer slow nodes even where others suffice */
	bool spared;   /* the last offer was without slow nodes */
	struct weft_occupancy occupancy;
	uint32_t *weight; /* [fabric->n_nodes], of occupancy when it differs */
	uint64_t *required; /* bitset, of occupancy when the user names any */
	uint64_t *must;	    /* bitset: those and lighter ones */
	bool named;	    /* the user names some */
};

/* Pairs the nodes by name.  summary[size] tells how that went, for the log.
 * Free with weft_nodes_free in either case. */
int weft_nodes_build(const struct weft_fabric *f, struct weft_nodes *nodes,
		     char *summary, size_t size, struct weft_error *err);
void weft_nodes_free(struct weft_nodes *nodes);

/* Nodes that Slurm has, `before` knows and `after` does not: their number;
 * text[size] names them, for the log. */
uint32_t weft_nodes_lost(const struct weft_fabric *before,
			 const struct weft_fabric *after, char *text,
			 size_t size);

/* What was kept of the same table of Slurm's before it was paired anew goes on;
 * else nothing happens. */
void weft_nodes_inherit(struct weft_nodes *nodes, struct weft_nodes *before);

/* What of its resources a job has. */
enum weft_hold { WEFT_HOLDS_NOTHING, WEFT_HOLDS_NO_CPUS, WEFT_HOLDS_ALL };

/* By its state. */
enum weft_hold weft_nodes_hold_of(const job_record_t *job);

/* Something has become of the job's resources: books what it has now. */
void weft_nodes_follow(struct weft_nodes *nodes, const job_record_t *job,
		       enum weft_hold hold);

/* Recounts, if that was asked for, after the same.  Not for callers that Slurm
 * may call while it goes through its list of jobs: the list is locked then, a
 * recount would lock it once more, and Slurm ends where a lock fails. */
void weft_nodes_verify(struct weft_nodes *nodes, const job_record_t *job,
		       enum weft_hold hold);

/* Counts everything anew, tells what differs from what was kept, and keeps that
 * from now on. */
void weft_nodes_recount(struct weft_nodes *nodes);

/* To be called before anything of what is kept is used. */
void weft_nodes_refresh(struct weft_nodes *nodes);

/* Reads node i of Slurm's table again; true: it has changed. */
bool weft_nodes_reread(struct weft_nodes *nodes, uint32_t i);

/* What is kept is another than before. */
void weft_nodes_changed(struct weft_nodes *nodes);

/* Reads what reservations keep from the test's job, once a question. */
void weft_nodes_keep(struct weft_nodes *nodes,
		     const struct weft_job_test *test);
/* Another question is about to be asked. */
void weft_nodes_settle(struct weft_nodes *nodes);
/* Adds what is kept to a hash. */
uint64_t weft_nodes_hash_kept(const struct weft_nodes *nodes, uint64_t hash);

/* The GPUs of node i of Slurm's table, which the fabric has, that a job could
 * have: those of its type, where it asks for one (else NULL). */
uint64_t weft_nodes_eligible(const struct weft_nodes *nodes, uint32_t i,
			     const char *type);

/* Whether the job may run on cores that other jobs have: how many share one is
 * stock's to know. */
bool weft_nodes_shares(const job_record_t *job);

/* Candidates of the test that could give the job, laid out as `shape`, any GPU
 * now; without slow ones where the others suffice; fills nodes->occupancy when
 * `fill`. */
uint32_t weft_nodes_offer(struct weft_nodes *nodes,
			  const struct weft_job_test *test,
			  const struct weft_request *request,
			  const struct weft_shape *shape, bool only_idle);

/* Marks the nodes that the user named with -w.  false: one of them is not in
 * the fabric. */
bool weft_nodes_require(struct weft_nodes *nodes, bitstr_t *required);

/* Drops nodes that the job cannot have as a whole now. */
void weft_nodes_keep_whole(bitstr_t *bitmap, const job_record_t *job);

/* No job is on any of these nodes. */
bool weft_nodes_idle(bitstr_t *bitmap);

/* The nodes of a plan (in the fabric's numbers), as Slurm's bitmap, for the
 * test of the last weft_nodes_offer.  NULL, and told: a node was not on offer,
 * or has lost free GPUs since.  Caller: bit_free. */
bitstr_t *weft_nodes_bitmap(struct weft_nodes *nodes,
			    const uint32_t *fabric_nodes, uint32_t n);

/* Any nodes (in the fabric's numbers), as Slurm's bitmap; NULL: Slurm lacks one
 * of them.  Caller: bit_free. */
bitstr_t *weft_nodes_set(const struct weft_nodes *nodes,
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
