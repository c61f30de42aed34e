/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proposal.h - putting nodes that weft chose to stock */
#ifndef WEFT_PLUGIN_PROPOSAL_H
#define WEFT_PLUGIN_PROPOSAL_H

#include "plugin/slurm/stock.h"

bool weft_proposal_is_will_run(const struct weft_job_test *test);

/* Whether it is asked about a time to come, as backfill does from 24.11 on: no
 * nodes are an answer for what they are now. */
bool weft_proposal_is_ahead(const struct weft_job_test *test);

/* What a stock call may leave changed in a job's record, besides what it is
 * meant to fill. */
struct weft_proposal_saved {
	time_t start_time, wait4switch_start;
	uint32_t total_cpus, req_switch, min_cpus, priority, state_reason;
	uint64_t pn_min_memory;
	bool best_switch;
};

void weft_proposal_save(const job_record_t *job,
			struct weft_proposal_saved *saved);
void weft_proposal_restore(job_record_t *job,
			   const struct weft_proposal_saved *saved);

/* Takes back what stock was ready to start, before anything of it is used. */
void weft_proposal_withdraw(job_record_t *job,
			    const struct weft_proposal_saved *saved);

/* The test on these nodes alone, all of them. */
struct weft_job_test weft_proposal_on(const struct weft_job_test *test,
				      bitstr_t *nodes, uint32_t n_nodes);

/* Asks stock for the job on exactly these nodes, now and without preemption.
 * true: test->nodes are these, and the job record is as stock left it; false:
 * both are as they were, and *nodes is what stock has left of them. */
bool weft_proposal_now(const struct weft_job_test *test, bitstr_t *nodes,
		       uint32_t n_nodes);

/* The same as if the user had named these nodes (--nodelist), for jobs that
 * stock starts then and not on the same nodes as a choice; false for others.
 * nodes stay as they are. */
bool weft_proposal_named(const struct weft_job_test *test, bitstr_t *nodes,
			 uint32_t n_nodes);

/* The same on any of these nodes; *nodes becomes stock's choice, test->nodes
 * stay as they were. */
bool weft_proposal_any(const struct weft_job_test *test, bitstr_t *nodes);

/* When could the job start on any of these nodes, by stock's word?  false:
 * never.  *nodes becomes stock's choice, the job record stays as it was. */
bool weft_proposal_when(const struct weft_job_test *test, bitstr_t *nodes,
			time_t *start);

/* The same for a part of a WILL_RUN test, with its share of the tasks and CPUs
 * of the job on n nodes. */
bool weft_proposal_share(const struct weft_job_test *test, bitstr_t *nodes,
			 uint32_t part, uint32_t n);

/* Could one of n like parts of the job start now on this node of Slurm's table
 * alone?  The job record stays as it was. */
bool weft_proposal_part(const struct weft_job_test *test, uint32_t node,
			uint32_t n);

/* Slurm asks for a part of the job alone: could all of it start now on n_nodes
 * or more of these nodes, all that are required among them?  The job record
 * stays as it was. */
bool weft_proposal_whole(const struct weft_job_test *test, bitstr_t *nodes,
			 bitstr_t *required, uint32_t n_nodes);

/* As weft_proposal_now of a WILL_RUN test, at whatever time stock finds the
 * nodes free: job->start_time. */
bool weft_proposal_later(const struct weft_job_test *test, bitstr_t *nodes,
			 uint32_t n_nodes);

#endif
