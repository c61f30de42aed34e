/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proposal.c - stock's word on nodes that weft chose */
#include "plugin/proposal.h"

#include <string.h>
#include <time.h>

#include "src/common/job_resources.h"
#include "src/common/read_config.h"

void weft_proposal_save(const job_record_t *job,
			struct weft_proposal_saved *saved)
{
	saved->start_time = job->start_time;
	saved->wait4switch_start = job->wait4switch_start;
	saved->total_cpus = job->total_cpus;
	saved->req_switch = job->req_switch;
	saved->best_switch = job->best_switch;
	saved->priority = job->priority;
	saved->state_reason = job->state_reason;
	saved->min_cpus = job->details->min_cpus;
	saved->pn_min_memory = job->details->pn_min_memory;
}

void weft_proposal_restore(job_record_t *job,
			   const struct weft_proposal_saved *saved)
{
	job->start_time = saved->start_time;
	job->wait4switch_start = saved->wait4switch_start;
	job->total_cpus = saved->total_cpus;
	job->req_switch = saved->req_switch;
	job->best_switch = saved->best_switch;
	job->priority = saved->priority;
	job->state_reason = saved->state_reason;
	job->details->min_cpus = saved->min_cpus;
	job->details->pn_min_memory = saved->pn_min_memory;
}

bool weft_proposal_is_will_run(const struct weft_job_test *test)
{
	return (test->mode & SELECT_MODE_BASE) == SELECT_MODE_WILL_RUN;
}

bool weft_proposal_is_ahead(const struct weft_job_test *test)
{
	return weft_proposal_is_will_run(test) &&
	       WEFT_WILL_RUN_START(test) > time(NULL);
}

struct weft_job_test weft_proposal_on(const struct weft_job_test *test,
				      bitstr_t *nodes, uint32_t n_nodes)
{
	struct weft_job_test narrowed = *test;

	narrowed.nodes = nodes;
	narrowed.min_nodes = n_nodes;
	narrowed.max_nodes = n_nodes;
	narrowed.want_nodes = n_nodes;
	return narrowed;
}

static bool follow_one_another(bitstr_t *nodes, uint32_t n_nodes)
{
	return bit_fls(nodes) - bit_ffs(nodes) + 1 == (int64_t)n_nodes;
}

/* true: the job could start on narrowed->nodes, which are stock's choice of
 * them.  Else they are what stock has left of them, and the job record is as it
 * was. */
static bool ask_now(const struct weft_job_test *test,
		    struct weft_job_test *narrowed)
{
	struct weft_proposal_saved saved;
	bool now_only = test->job->bit_flags & TEST_NOW_ONLY, taken;
	bool will_run = weft_proposal_is_will_run(test);

	narrowed->preemptable = NULL;
	narrowed->preempted = NULL;
	weft_proposal_save(test->job, &saved);
	/* When the nodes would be free later on is of no interest, and takes
	 * stock a copy of all its tables to find out. */
	if (will_run)
		test->job->bit_flags |= TEST_NOW_ONLY;
	taken = weft_stock_job_test(narrowed) == SLURM_SUCCESS &&
		(!will_run || test->job->start_time <= time(NULL));
	if (!now_only)
		test->job->bit_flags &= ~(uint64_t)TEST_NOW_ONLY;
	if (!taken)
		weft_proposal_restore(test->job, &saved);
	return taken;
}

/* As many tasks and GPUs on each node, whichever stock looks at first? */
static bool is_alike_on_each(const job_record_t *job, uint32_t n_nodes)
{
	uint32_t n_tasks = job->details->num_tasks;
	uint32_t tasks_each = job->details->ntasks_per_node
				      ? job->details->ntasks_per_node
				      : 1;

	return !job->tres_per_job &&
	       (!n_tasks || n_tasks == n_nodes * tasks_each);
}

/* Asked for nodes as a row, stock does not look through all switches for those
 * that it has no choice but to take.  Without switches it saves nothing.  It
 * goes through a row in order of names, through switches by weight, and
 * through nodes that the user names first: where tasks or GPUs are parted among
 * the nodes it gives other CPUs then. */
static bool is_quicker_in_a_row(const struct weft_job_test *test,
				uint32_t n_nodes)
{
	const char *topology = slurm_conf.topology_plugin;

	return topology && strstr(topology, "tree") && !test->job->req_switch &&
	       !test->job->details->req_node_bitmap &&
	       is_alike_on_each(test->job, n_nodes);
}

/* What stock does with nodes of which it may leave some. */
enum range { RANGE_DECLINED, RANGE_FEWER, RANGE_ALL };

/* Of a range of nodes stock counts CPUs by the least number, which the question
 * keeps therefore.  Declined: *nodes is what stock has left of them. */
static enum range ask_range(const struct weft_job_test *test, bitstr_t *nodes,
			    uint32_t n_nodes)
{
	struct weft_job_test narrowed = *test;
	struct weft_proposal_saved saved;
	enum range range = RANGE_ALL;

	narrowed.nodes = nodes;
	weft_proposal_save(test->job, &saved);
	if (!ask_now(test, &narrowed)) {
		range = RANGE_DECLINED;
	} else if (bit_set_count(nodes) < (int64_t)n_nodes) {
		range = RANGE_FEWER;
		weft_proposal_withdraw(test->job, &saved);
	}
	return range;
}

/* The CPUs of a job with a range of nodes are those of its least number.  Asked
 * for more nodes, stock keeps a CPU for each of the others: _cpus_to_use of its
 * cons_tres has less than none left then, which is less than what a node
 * without room for a task offers (with --ntasks-per-socket, say), and gives the
 * node pn_min_cpus all the same. */
static bool is_short_of_cpus(const job_record_t *job, uint32_t n_nodes)
{
	const job_details_t *details = job->details;

	return details->min_cpus < (uint64_t)n_nodes * details->pn_min_cpus;
}

/* As a range first, where it is one.  *nodes is what stock has left of them. */
static bool ask_exactly(const struct weft_job_test *test, bitstr_t *nodes,
			uint32_t n_nodes)
{
	struct weft_job_test narrowed = weft_proposal_on(test, nodes, n_nodes);
	bitstr_t *all;
	enum range range;
	bool done;

	if (test->min_nodes < n_nodes) {
		all = bit_copy(nodes);
		range = ask_range(test, nodes, n_nodes);
		done = range == RANGE_ALL ||
		       (range == RANGE_DECLINED &&
			is_short_of_cpus(test->job, n_nodes));
		if (!done)
			bit_copybits(nodes, all);
		bit_free(all);
		if (done)
			return range == RANGE_ALL;
	}
	return ask_now(test, &narrowed);
}

bool weft_proposal_now(const struct weft_job_test *test, bitstr_t *nodes,
		       uint32_t n_nodes)
{
	uint16_t contiguous = test->job->details->contiguous;
	bool taken;

	if (is_quicker_in_a_row(test, n_nodes) &&
	    follow_one_another(nodes, n_nodes))
		test->job->details->contiguous = 1;
	taken = ask_exactly(test, nodes, n_nodes);
	test->job->details->contiguous = contiguous;
	if (taken)
		bit_copybits(test->nodes, nodes);
	return taken;
}

static bool has_several(uint16_t n_tasks)
{
	return n_tasks > 1 && n_tasks < NO_VAL16;
}

/* Where a node's GPUs have no free cores beside them, cons_tres chooses a
 * second time, and can then decline nodes for several tasks each that it
 * accepts with --nodelist.  It does not check named nodes for --contiguous, nor
 * always for --switches. */
static bool may_be_named(const job_record_t *job, bitstr_t *nodes)
{
	const job_details_t *details = job->details;
	const multi_core_data_t *mc = details->mc_ptr;
	bitstr_t *required = details->req_node_bitmap;

	return !details->contiguous && !job->req_switch &&
	       !(required && bit_super_set(nodes, required)) &&
	       (has_several(details->ntasks_per_node) ||
		(mc && (has_several(mc->ntasks_per_board) ||
			has_several(mc->ntasks_per_socket) ||
			has_several(mc->ntasks_per_core))));
}

bool weft_proposal_named(const struct weft_job_test *test, bitstr_t *nodes,
			 uint32_t n_nodes)
{
	job_details_t *details = test->job->details;
	bitstr_t *required = details->req_node_bitmap, *chosen;
	bool taken;

	if (!may_be_named(test->job, nodes))
		return false;
	chosen = bit_copy(nodes);
	details->req_node_bitmap = nodes;
	taken = ask_exactly(test, chosen, n_nodes);
	details->req_node_bitmap = required;
	if (taken)
		bit_copybits(test->nodes, chosen);
	bit_free(chosen);
	return taken;
}

bool weft_proposal_any(const struct weft_job_test *test, bitstr_t *nodes)
{
	struct weft_job_test narrowed = *test;

	narrowed.nodes = nodes;
	return ask_now(test, &narrowed);
}

void weft_proposal_withdraw(job_record_t *job,
			    const struct weft_proposal_saved *saved)
{
	free_job_resources(&job->job_resrcs);
	weft_proposal_restore(job, saved);
}

bool weft_proposal_when(const struct weft_job_test *test, bitstr_t *nodes,
			time_t *start)
{
	struct weft_job_test narrowed = *test;
	struct weft_proposal_saved saved;
	bool taken;

	narrowed.nodes = nodes;
	narrowed.preemptable = NULL;
	narrowed.preempted = NULL;
	weft_proposal_save(test->job, &saved);
	taken = weft_stock_job_test(&narrowed) == SLURM_SUCCESS;
	*start = test->job->start_time;
	weft_proposal_withdraw(test->job, &saved);
	return taken;
}

/* So many of a part of n in all. */
static uint32_t share_of(uint32_t whole, uint32_t part, uint32_t n)
{
	return (uint32_t)(((uint64_t)whole * part + n - 1) / n);
}

bool weft_proposal_share(const struct weft_job_test *test, bitstr_t *nodes,
			 uint32_t part, uint32_t n)
{
	job_details_t *details = test->job->details;
	uint32_t n_tasks = details->num_tasks, min_cpus = details->min_cpus;
	uint32_t min_nodes = details->min_nodes;
	struct weft_job_test narrowed = weft_proposal_on(test, nodes, part);
	bool taken;

	details->num_tasks = share_of(n_tasks, part, n);
	details->min_cpus = share_of(min_cpus, part, n);
	details->min_nodes = part;
	taken = ask_now(test, &narrowed);
	details->num_tasks = n_tasks;
	details->min_cpus = min_cpus;
	details->min_nodes = min_nodes;
	if (taken)
		bit_copybits(test->nodes, nodes);
	return taken;
}

bool weft_proposal_part(const struct weft_job_test *test, uint32_t node,
			uint32_t n)
{
	job_details_t *details = test->job->details;
	bitstr_t *required = details->req_node_bitmap;
	uint16_t contiguous = details->contiguous;
	uint32_t req_switch = test->job->req_switch;
	bitstr_t *alone = bit_alloc(bit_size(test->nodes));
	struct weft_job_test asked = *test;
	struct weft_proposal_saved saved;
	bool taken;

	asked.nodes = bit_alloc(bit_size(test->nodes));
	bit_set(alone, node);
	weft_proposal_save(test->job, &saved);
	details->req_node_bitmap = NULL;
	details->contiguous = 0;
	test->job->req_switch = 0;
	taken = weft_proposal_share(&asked, alone, 1, n);
	details->req_node_bitmap = required;
	details->contiguous = contiguous;
	test->job->req_switch = req_switch;
	weft_proposal_withdraw(test->job, &saved);
	bit_free(asked.nodes);
	bit_free(alone);
	return taken;
}

bool weft_proposal_whole(const struct weft_job_test *test, bitstr_t *nodes,
			 bitstr_t *required, uint32_t n_nodes)
{
	job_details_t *details = test->job->details;
	bitstr_t *required_now = details->req_node_bitmap;
	uint32_t min_nodes = details->min_nodes, n_tasks = details->num_tasks;
	struct weft_job_test narrowed = *test;
	struct weft_proposal_saved saved;
	bool taken;

	narrowed.nodes = nodes;
	narrowed.min_nodes = n_nodes;
	narrowed.want_nodes = n_nodes;
	if (narrowed.max_nodes < n_nodes)
		narrowed.max_nodes = n_nodes;
	weft_proposal_save(test->job, &saved);
	details->req_node_bitmap = bit_ffs(required) < 0 ? NULL : required;
	details->min_nodes = n_nodes;
	details->min_cpus = details->orig_min_cpus;
	if (details->ntasks_per_node)
		details->num_tasks = n_nodes * details->ntasks_per_node;
	taken = ask_now(test, &narrowed);
	details->req_node_bitmap = required_now;
	details->min_nodes = min_nodes;
	details->num_tasks = n_tasks;
	weft_proposal_withdraw(test->job, &saved);
	return taken;
}

bool weft_proposal_later(const struct weft_job_test *test, bitstr_t *nodes,
			 uint32_t n_nodes)
{
	struct weft_job_test narrowed = weft_proposal_on(test, nodes, n_nodes);
	struct weft_proposal_saved saved;

	narrowed.preemptable = NULL;
	narrowed.preempted = NULL;
	weft_proposal_save(test->job, &saved);
	if (weft_stock_job_test(&narrowed) == SLURM_SUCCESS) {
		bit_copybits(test->nodes, nodes);
		return true;
	}
	weft_proposal_restore(test->job, &saved);
	return false;
}
