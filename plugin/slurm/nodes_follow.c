/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nodes_follow.c - keeping what is free on the nodes, job by job */
#include "plugin/slurm/nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bitset.h"
#include "base/clock.h"
#include "plugin/bridge/files/status.h"
#include "plugin/engine.h"
#include "plugin/slurm/gpus.h"
#include "plugin/slurm/trouble.h"

#include "src/common/node_conf.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

/* A node may register with other GPUs than it had, of which weft does not hear:
 * its record is looked at again after this long at most. */
#define MAX_AGE_S 5.0

/* ---- one node ---- */

/* For those who look from outside. */
static void node_show(const struct weft_nodes *nodes, uint32_t i)
{
	uint32_t known = nodes->fabric_node[i];
	struct weft_status_node shown = {
		.gpus = nodes->gpus[i],
		.gpus_free = nodes->gpus_free[i],
		.memory_mb = nodes->room[i].memory_mb,
		.memory_used_mb = nodes->held.memory_mb[i],
		.cpus = nodes->room[i].cpus,
		.cpus_used = (uint32_t)nodes->held.cpus[i],
		.paired = 1,
	};

	if (known != WEFT_NONE && weft_engine.writer)
		weft_status_node(&weft_status, known, &shown);
}

/* Reads a node's record; true: it is not what was kept. */
static bool node_read(struct weft_nodes *nodes, uint32_t i)
{
	const node_record_t *node = node_record_table_ptr[i];
	struct weft_room room = {0};
	struct weft_gpus gpus;
	uint64_t known;

	if (nodes->fabric_node[i] == WEFT_NONE || !node)
		return false;
	gpus = weft_gpus_of_node(node, NULL);
	known = weft_mask_first(
		nodes->fabric->nodes[nodes->fabric_node[i]].n_gpus);
	room.cpus = node->cpus_efctv;
	room.cpus_per_core = node->tpc;
	if (node->real_memory > node->mem_spec_limit)
		room.memory_mb = node->real_memory - node->mem_spec_limit;
	if (nodes->gpus[i] == (gpus.all & known) &&
	    nodes->gpus_free[i] == (gpus.free & known) &&
	    nodes->room[i].cpus == room.cpus &&
	    nodes->room[i].cpus_per_core == room.cpus_per_core &&
	    nodes->room[i].memory_mb == room.memory_mb)
		return false;
	nodes->gpus[i] = gpus.all & known;
	nodes->gpus_free[i] = gpus.free & known;
	nodes->room[i] = room;
	return true;
}

bool weft_nodes_reread(struct weft_nodes *nodes, uint32_t i)
{
	if (!node_read(nodes, i))
		return false;
	node_show(nodes, i);
	weft_nodes_changed(nodes);
	return true;
}

void weft_nodes_changed(struct weft_nodes *nodes)
{
	weft_status.generation = ++nodes->generation;
}

/* ---- one job ---- */

enum weft_hold weft_nodes_hold_of(const job_record_t *job)
{
	if (IS_JOB_RUNNING(job))
		return WEFT_HOLDS_ALL;
	if (!IS_JOB_SUSPENDED(job))
		return WEFT_HOLDS_NOTHING;
	/* Suspended by hand, which takes the priority away, a job lets go of
	 * its CPUs alone; by gang scheduling, of nothing. */
	return job->priority ? WEFT_HOLDS_ALL : WEFT_HOLDS_NO_CPUS;
}

/* What the record says, into a malloc'ed *of; returns how many nodes. */
static uint32_t job_read(const struct weft_nodes *nodes,
			 const job_record_t *job, enum weft_hold hold,
			 struct weft_holding **of)
{
	const struct job_resources *given = job->job_resrcs;
	uint32_t nth = 0, n = 0;
	int64_t first;

	*of = NULL;
	if (hold == WEFT_HOLDS_NOTHING || !given || !given->node_bitmap ||
	    !given->cpus)
		return 0;
	first = bit_ffs(given->node_bitmap);
	if (first < 0)
		return 0;
	if (bit_size(given->node_bitmap) != (int64_t)nodes->n) {
		weft_trouble(WEFT_TROUBLE_RECORD, 1);
		return 0;
	}
	*of = weft_calloc(given->nhosts, sizeof(**of), NULL);
	if (!*of) {
		weft_trouble(WEFT_TROUBLE_ROOM, 1);
		return 0;
	}
	for (uint32_t i = (uint32_t)first; i < nodes->n && nth < given->nhosts;
	     i++) {
		if (!bit_test(given->node_bitmap, i))
			continue;
		/* No CPUs: the job has lost the node. */
		if (given->cpus[nth])
			(*of)[n++] = (struct weft_holding){
				.node = i,
				.cpus = hold == WEFT_HOLDS_ALL
						? given->cpus[nth]
						: 0,
				.memory_mb =
					given->memory_allocated
						? given->memory_allocated[nth]
						: 0,
				.gpus = weft_gpus_of_job(job, nth),
			};
		nth++;
	}
	return n;
}

/* A job that was there before weft was: only what it was told then is known. */
static void job_show(const job_record_t *job)
{
	struct weft_status_job shown = {
		.job_id = job->job_id,
		.cause = WEFT_N_CAUSES,
		.start_s = job->start_time,
		.cost = (double)NAN,
		.bound = (double)NAN,
		.step_s = (double)NAN,
		.decision_s = (double)NAN,
	};

	if (!weft_engine.writer || !job->gres_list_alloc || !job->job_resrcs)
		return;
	shown.n_nodes = job->job_resrcs->nhosts;
	for (uint32_t nth = 0; nth < shown.n_nodes; nth++)
		shown.n_gpus += weft_mask_count(weft_gpus_of_job(job, nth));
	if (job->system_comment)
		weft_status_said(job->system_comment, shown.said);
	if (shown.n_gpus)
		weft_status_job(&weft_status, &shown);
}

/* Reads the nodes of a holder (NULL: none). */
static void holder_reread(struct weft_nodes *nodes,
			  const struct weft_holder *holder)
{
	for (uint32_t k = 0; holder && k < holder->n; k++) {
		node_read(nodes, holder->of[k].node);
		node_show(nodes, holder->of[k].node);
	}
}

/* The nodes of a job that is about to be forgotten, or NULL. */
static struct weft_holder *holder_copy(const struct weft_holder *holder)
{
	size_t size =
		holder ? sizeof(*holder) + holder->n * sizeof(*holder->of) : 0;
	struct weft_holder *copy = size ? weft_calloc(1, size, NULL) : NULL;

	if (copy)
		memcpy(copy, holder, size);
	return copy;
}

/* ---- all of them ---- */

struct counting {
	struct weft_nodes *nodes;
	const job_record_t *followed; /* its record may be behind, or NULL */
	enum weft_hold hold;	      /* what that job has */
	struct weft_holdings counted;
	int rc;
};

static int count_job(void *item, void *arg)
{
	const job_record_t *job = item;
	struct counting *counting = arg;
	enum weft_hold hold = job == counting->followed
				      ? counting->hold
				      : weft_nodes_hold_of(job);
	struct weft_holding *of;
	uint32_t n = job_read(counting->nodes, job, hold, &of);

	if (n &&
	    weft_holdings_put(&counting->counted, job->job_id, of, n, NULL) < 0)
		counting->rc = -1;
	free(of);
	if (n && !weft_holdings_find(&counting->nodes->held, job->job_id))
		job_show(job);
	return 0;
}

/* A node whose GPUs are not those that jobs have.  Those that are only counted
 * have no indices to compare. */
static bool gpus_contradict(const struct weft_nodes *nodes, uint32_t i,
			    uint64_t held)
{
	const node_record_t *node = node_record_table_ptr[i];
	struct weft_gpus gpus;

	if (!node || nodes->fabric_node[i] == WEFT_NONE)
		return false;
	gpus = weft_gpus_of_node(node, NULL);
	return gpus.has_indices &&
	       gpus.free != (gpus.all & ~held & ~gpus.shared);
}

/* kept: nothing was counted before when false. */
static void audit_tell(const struct weft_nodes *nodes,
		       const struct weft_holdings_audit *audit, uint32_t n_gpus)
{
	struct weft_status_recount last;

	weft_trouble(WEFT_TROUBLE_CPUS, audit->n_cpus);
	weft_trouble(WEFT_TROUBLE_MEMORY, audit->n_memory);
	weft_trouble(WEFT_TROUBLE_GPUS, n_gpus);
	weft_trouble(WEFT_TROUBLE_TWICE, audit->n_twice);
	if (!weft_seqlock_read(&weft_status.recount, 0, &last))
		return;
	last.at_s = time(NULL);
	last.n_counts++;
	last.n_nodes = nodes->n;
	last.n_jobs = audit->n_jobs;
	last.n_cpus = audit->n_cpus;
	last.n_memory = audit->n_memory;
	last.n_gpus = n_gpus;
	last.n_twice = audit->n_twice;
	if (weft_engine.writer)
		weft_seqlock_write(&weft_status.recount, 0, &last, NULL);
}

static uint32_t nodes_reread(struct weft_nodes *nodes, const uint64_t *held)
{
	uint32_t n_differ = 0;

	for (uint32_t i = 0; i < nodes->n; i++) {
		bool differs = node_read(nodes, i) && !nodes->stale;

		if (gpus_contradict(nodes, i, held[i]))
			differs = true;
		n_differ += differs;
		node_show(nodes, i);
	}
	return n_differ;
}

/* followed: a job whose state Slurm changes only after its hook; has `hold`. */
static void recount(struct weft_nodes *nodes, const job_record_t *followed,
		    enum weft_hold hold)
{
	struct counting counting = {
		.nodes = nodes,
		.followed = followed,
		.hold = hold,
	};
	struct weft_holdings_audit audit;
	uint64_t *held = weft_calloc(nodes->n, sizeof(*held), NULL);
	bool kept = nodes->held.n_nodes == nodes->n && nodes->counted;

	counting.rc = weft_holdings_build(nodes->n, &counting.counted, NULL);
	if (counting.rc == 0 && job_list)
		list_for_each(job_list, count_job, &counting);
	if (!held || counting.rc < 0) {
		weft_trouble(WEFT_TROUBLE_ROOM, 1);
		weft_holdings_free(&counting.counted);
		free(held);
		return;
	}
	weft_holdings_compare(kept ? &nodes->held : NULL, &counting.counted,
			      held, &audit);
	weft_holdings_free(&nodes->held);
	nodes->held = counting.counted;
	audit_tell(nodes, &audit, nodes_reread(nodes, held));
	nodes->counted = true;
	nodes->stale = false;
	nodes->read_s = weft_clock_s();
	weft_nodes_changed(nodes);
	free(held);
}

void weft_nodes_recount(struct weft_nodes *nodes)
{
	recount(nodes, NULL, WEFT_HOLDS_NOTHING);
}

void weft_nodes_follow(struct weft_nodes *nodes, const job_record_t *job,
		       enum weft_hold hold)
{
	const struct weft_holder *held =
		weft_holdings_find(&nodes->held, job->job_id);
	struct weft_holder *before = holder_copy(held);
	struct weft_holding *of;
	uint32_t n = job_read(nodes, job, hold, &of);

	if ((held && !before) ||
	    weft_holdings_put(&nodes->held, job->job_id, of, n, NULL) < 0) {
		weft_trouble(WEFT_TROUBLE_ROOM, 1);
		nodes->stale = true;
	} else if (!nodes->stale) {
		holder_reread(nodes, before);
		holder_reread(nodes,
			      weft_holdings_find(&nodes->held, job->job_id));
		weft_nodes_changed(nodes);
	}
	free(before);
	free(of);
}

void weft_nodes_verify(struct weft_nodes *nodes, const job_record_t *job,
		       enum weft_hold hold)
{
	if (!nodes->stale &&
	    weft_status_writer_wants_recount(weft_engine.writer))
		recount(nodes, job, hold);
}

void weft_nodes_refresh(struct weft_nodes *nodes)
{
	bool changed = false;

	if (nodes->stale ||
	    weft_status_writer_wants_recount(weft_engine.writer)) {
		weft_nodes_recount(nodes);
		return;
	}
	if (weft_clock_s() - nodes->read_s <= MAX_AGE_S)
		return;
	for (uint32_t i = 0; i < nodes->n; i++)
		if (node_read(nodes, i)) {
			node_show(nodes, i);
			changed = true;
		}
	if (changed)
		weft_nodes_changed(nodes);
	nodes->read_s = weft_clock_s();
}
