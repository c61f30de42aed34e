/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.h - what weft knows inside slurmctld, as others may see it: nodes,
 * jobs that run and jobs that wait; no Slurm types
 *
 * Written under Slurm's locks by whoever has them; read at any time by the
 * status writer's thread, which makes the snapshot file of it (snapshot.h).
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_STATUS_H
#define WEFT_PLUGIN_BRIDGE_FILES_STATUS_H

#include "plugin/bridge/decision.h"
#include "plugin/bridge/files/seqlock.h"

#define WEFT_SHOWN_WAITS 512
#define WEFT_SHOWN_SAVED 512 /* records that wait for the status writer */
/* Bytes of a hostlist; longer ones are left out. */
#define WEFT_SHOWN_NODES 160

/* A node of the fabric, by its number there. */
struct weft_status_node {
	uint64_t gpus;	    /* bit k: Slurm has GPU k */
	uint64_t gpus_free; /* no job has it */
	uint64_t memory_mb, memory_used_mb;
	uint32_t cpus, cpus_used;
	uint32_t paired;   /* 0: Slurm has no such node */
	uint32_t reserved; /* 0 */
};

/* A job that has its GPUs. */
struct weft_status_job {
	uint32_t job_id; /* 0: no job */
	uint32_t cause;	 /* enum weft_cause; WEFT_N_CAUSES: not known, it
			  * started before slurmctld did */
	int64_t start_s; /* seconds since the epoch */
	uint32_t n_nodes, n_gpus;
	uint32_t metric, reserved;
	double cost, bound, step_s; /* NAN: not known */
	double decision_s;
	struct weft_gain gain; /* where compared */
	uint64_t compared;
	char reason[WEFT_REASON_SIZE];	/* why not as planned */
	char said[WEFT_TEXT_SIZE];	/* the sentence in SystemComment */
	char spec[WEFT_SHOWN_SPEC + 1]; /* empty: none, or too long */
	char on[WEFT_SHOWN_NODES];	/* the nodes that it has */
	char plan[WEFT_SHOWN_NODES];	/* those that weft would have chosen */
	int64_t end_s; /* of a record alone, which then says no more; 0 */
};

/* A job that weft was asked about and that did not start. */
struct weft_status_wait {
	uint32_t job_id;	  /* 0: none */
	uint32_t cause;		  /* enum weft_cause */
	int64_t since_s, asked_s; /* first and last question */
	uint32_t n_asked, reserved;
	char reason[WEFT_REASON_SIZE];
	char spec[WEFT_SHOWN_SPEC + 1]; /* empty: none, or too long */
};

/* The last comparison of what is kept with what Slurm has. */
struct weft_status_recount {
	int64_t at_s; /* 0: none yet */
	uint32_t n_counts, n_nodes, n_jobs;
	uint32_t n_cpus, n_memory, n_gpus; /* nodes where they differed */
	uint32_t n_twice;		   /* GPUs that two jobs have */
	uint32_t reserved;
};

struct weft_status {
	int64_t since_s;	     /* when weft was loaded */
	_Atomic uint64_t generation; /* of the nodes, nodes.h */
	_Atomic int64_t health_s;    /* when health was read last; 0: never */
	_Atomic uint32_t n_slow_nodes;
	_Atomic uint32_t n_loads;   /* jobs whose traffic is heeded */
	_Atomic uint64_t n_changes; /* of anything that is on no seqlock */
	struct weft_seqlock nodes, jobs, waits, recount;
	/* Records of the last jobs that started or ended, the nth at n modulo
	 * WEFT_SHOWN_SAVED; the status writer counts those that are in its
	 * file, and those that came too fast. */
	struct weft_seqlock saved;
	_Atomic uint64_t n_saved, n_kept, n_lost;
	/* for the writing thread alone: job_id of each record */
	uint32_t n_jobs, *job_ids;
	uint32_t wait_ids[WEFT_SHOWN_WAITS];
	int64_t wait_since_s[WEFT_SHOWN_WAITS];
	int64_t wait_asked_s[WEFT_SHOWN_WAITS];
	uint32_t wait_n_asked[WEFT_SHOWN_WAITS];
};

extern struct weft_status weft_status;

void weft_status_init(struct weft_status *shown);
void weft_status_free(struct weft_status *shown);

/* Other nodes from now on.  Who reads meanwhile gets some of both. */
void weft_status_forget_nodes(struct weft_status *shown);

/* Counts up with every change: a reader that finds it the same need not look.
 */
uint64_t weft_status_version(const struct weft_status *shown);

/* What cannot be kept, for want of memory, is not shown. */
void weft_status_node(struct weft_status *shown, uint32_t node,
		      const struct weft_status_node *record);
/* A job has started (or is known to run); it waits no longer. */
void weft_status_job(struct weft_status *shown,
		     const struct weft_status_job *record);
void weft_status_job_ended(struct weft_status *shown, uint32_t job_id);
/* Puts up a record for weft_records_write. */
void weft_status_save(struct weft_status *shown,
		      const struct weft_status_job *record);
/* A spec as it may be shown, printable and whole, else empty. */
void weft_status_spec(const char *spec, char text[WEFT_SHOWN_SPEC + 1]);
/* The nodes of GPUs of f (WEFT_NONE inside: not known), as a hostlist; empty
 * where it is too long. */
void weft_status_nodes(const struct weft_fabric *f, const uint32_t *where,
		       uint32_t n_gpus, char text[WEFT_SHOWN_NODES]);
/* weft's own part of a SystemComment. */
void weft_status_said(const char *comment, char said[WEFT_TEXT_SIZE]);

/* A job with that spec (NULL: none) was asked about at now_s and did not start.
 */
void weft_status_waits(struct weft_status *shown, uint32_t job_id,
		       enum weft_cause cause, const char *reason,
		       const char *spec, int64_t now_s);

#endif
