/* SPDX-License-Identifier: GPL-3.0-or-later */
/* components.c - turns of heterogeneous jobs */
#include "plugin/components.h"

#include <time.h>

#include "plugin/affinity.h"
#include "plugin/bridge/turns.h"
#include "plugin/proposal.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern diag_stats_t slurmctld_diag_stats __attribute__((weak));

static struct weft_turns turns;

/* Backfill's, when all of a job are to be started; not one of a user's. */
static bool is_of_cycle(const struct weft_job_test *test)
{
	return weft_proposal_is_will_run(test) && test->job->het_job_id &&
	       test->job->bit_flags & BACKFILL_TEST;
}

static int pending_add(void *item, void *arg)
{
	const job_record_t *job = item;
	uint64_t *pending = arg;

	if (IS_JOB_PENDING(job))
		*pending |= UINT64_C(1) << job->het_job_offset % 64;
	return 0;
}

/* Components that have not begun. */
static uint64_t pending_of(const job_record_t *job)
{
	const job_record_t *first = find_job_record(job->het_job_id);
	uint64_t pending = 0;

	if (first && first->het_job_list)
		list_for_each(first->het_job_list, pending_add, &pending);
	return pending;
}

bool weft_components_asked(const struct weft_job_test *test)
{
	const job_record_t *job = test->job;

	if (!is_of_cycle(test))
		return false;
	weft_turns_ask(&turns, job->het_job_id,
		       slurmctld_diag_stats.bf_cycle_counter, pending_of(job));
	return true;
}

bool weft_components_are_stocks(const job_record_t *job)
{
	return weft_turns_stocks(&turns, job->het_job_id);
}

struct others {
	const job_record_t *but;
	bitstr_t *nodes;
};

static int add_planned(void *item, void *arg)
{
	const job_record_t *job = item;
	const struct others *others = arg;

	if (job != others->but)
		weft_affinity_planned(job->job_id, others->nodes);
	return 0;
}

/* Stock would start the component now if it had nodes that others of the job
 * were to have. */
static bool others_are_in_the_way(const struct weft_job_test *test,
				  bitstr_t *candidates)
{
	const job_record_t *first = find_job_record(test->job->het_job_id);
	struct others others = {test->job, bit_copy(candidates)};
	struct weft_proposal_saved saved;
	bool would;

	if (first && first->het_job_list)
		list_for_each(first->het_job_list, add_planned, &others);
	if (test->job->part_ptr && test->job->part_ptr->node_bitmap)
		bit_and(others.nodes, test->job->part_ptr->node_bitmap);
	weft_proposal_save(test->job, &saved);
	would = !bit_equal(others.nodes, candidates) &&
		weft_proposal_any(test, others.nodes);
	weft_proposal_withdraw(test->job, &saved);
	bit_free(others.nodes);
	return would;
}

void weft_components_answered(const struct weft_job_test *test, bool narrowed,
			      int rc, bitstr_t *candidates)
{
	const job_record_t *job = test->job;
	struct weft_turn_answer answer = {
		.narrowed = narrowed,
		.startable =
			rc == SLURM_SUCCESS && job->start_time <= time(NULL),
	};

	if (!answer.startable &&
	    weft_turns_suspect(&turns, job->het_job_id, job->het_job_offset))
		answer.by_itself = !others_are_in_the_way(test, candidates);
	weft_turns_answer(&turns, job->het_job_id, job->het_job_offset,
			  &answer);
}
