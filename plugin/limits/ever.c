/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ever.c - proving that a job with limits can never run: by weft's own figures,
 * and by stock's word on every part of the cluster that meets them
 */
#include "plugin/limits/ever.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "plugin/engine.h"
#include "plugin/limits/again.h"
#include "plugin/limits/hold.h"
#include "plugin/limits/parts.h"
#include "plugin/slurm/gpus.h"

/* Only slurmctld has it, but clients load the plugin, too.  Set, it has Slurm
 * let go of all jobs that it holds for BadConstraints, within half a minute. */
extern bool node_features_updated __attribute__((weak));

/* Since Slurm was last made to look at held jobs again. */
static bool said_no;

/* Nodes that are candidates now, and all others of the partition: features,
 * reservations and states of nodes change.  Caller: bit_free. */
static bitstr_t *could_have(const struct weft_job_test *test)
{
	bitstr_t *nodes = bit_copy(test->nodes);

	if (test->job->part_ptr && test->job->part_ptr->node_bitmap)
		bit_or(nodes, test->job->part_ptr->node_bitmap);
	if (test->job->details->exc_node_bitmap)
		bit_and_not(nodes, test->job->details->exc_node_bitmap);
	return nodes;
}

static uint32_t count_unknown(bitstr_t *nodes)
{
	const struct weft_nodes *n = &weft_engine.nodes;
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < n->n; i++) {
		uint32_t known = n->fabric_node[i], n_gpus = 0;

		if (!bit_test(nodes, i) || !node_record_table_ptr[i])
			continue;
		if (known != WEFT_NONE)
			n_gpus = n->fabric->nodes[known].n_gpus;
		unknown +=
			weft_gpus_of_node(node_record_table_ptr[i], NULL).all &
					~weft_mask_first(n_gpus)
				? 1
				: 0;
	}
	return unknown;
}

uint32_t weft_ever_unknown(const struct weft_job_test *test)
{
	bitstr_t *nodes = could_have(test);
	uint32_t unknown = count_unknown(nodes);

	bit_free(nodes);
	return unknown;
}

/* Half of what was granted: a search that was cut short has proved nothing, and
 * part of the budget is not for the search. */
static bool has_no_plan(const struct weft_plan_request *query)
{
	double budget_s = weft_engine.settings->budget_s;
	double start_s = weft_clock_s();
	struct weft_placement p = {0};
	struct weft_error err = {0};
	enum weft_cause cause =
		weft_plan_request_plan(query, budget_s, &p, &err);

	weft_placement_free(&p);
	return (cause == WEFT_CAUSE_NO_PLAN || cause == WEFT_CAUSE_NO_ROOM) &&
	       weft_clock_s() - start_s < budget_s / 2 &&
	       !weft_engine_hurried();
}

/* On nodes that are wholly free.  Of a range of nodes the first few numbers are
 * tried, and the least and the most: with the least any limit is kept most
 * easily, with the most there are most CPUs. */
static bool never_fits(const struct weft_plan_request *query)
{
	struct weft_plan_request least = *query, most = *query;
	bool never;

	least.request.want_nodes = least.request.max_nodes =
		least.request.min_nodes;
	most.request.want_nodes = most.request.min_nodes =
		most.request.max_nodes;
	weft_engine.nodes.emptied = true;
	weft_engine.nodes.use_slow = true;
	never = has_no_plan(query) &&
		(query->request.max_nodes == query->request.min_nodes ||
		 (has_no_plan(&least) &&
		  (!query->request.n_tasks || has_no_plan(&most))));
	weft_engine.nodes.use_slow = false;
	weft_engine.nodes.emptied = false;
	return never;
}

/* By their GPUs alone; how few nodes the tasks take is no limit, either: some
 * releases of Slurm give GPUs without a task on their node. */
static bool lacks_gpus(const struct weft_plan_request *query)
{
	struct weft_plan_request any = *query;

	any.request.n_tasks = 0;
	return never_fits(&any);
}

/* On an incomplete fabric, inside a reservation, which may be changed, of a job
 * with nodes that need give no GPU, and while the watchdog allows quick
 * searches only, "no" would be a guess. */
static bool can_tell(const struct weft_plan_request *query, bitstr_t *nodes)
{
	const struct weft_request *request = &query->request;

	return !query->test->job->resv_name && !weft_engine.bridge.method &&
	       !request->by_socket &&
	       !(request->gpus_per_job &&
		 request->gpus_per_job < request->min_nodes) &&
	       !count_unknown(nodes);
}

/* What nodes have Slurm knows for sure when they have registered. */
static bool have_registered(bitstr_t *nodes)
{
	for (uint32_t i = 0; i < weft_engine.nodes.n; i++)
		if (bit_test(nodes, i) && node_record_table_ptr[i] &&
		    !node_record_table_ptr[i]->slurmd_start_time)
			return false;
	return true;
}

/* By their CPUs and memory, too: of those stock knows better. */
static bool lacks_cpus(const struct weft_plan_request *query)
{
	bool never;

	weft_engine.nodes.sized = true;
	never = never_fits(query);
	weft_engine.nodes.sized = false;
	return never;
}

/* Stock has refused all domains: the job would wait for ever. */
static bool is_refused(const struct weft_plan_request *query, bitstr_t *nodes)
{
	double until_s = weft_clock_s() + weft_engine.settings->budget_s / 2;

	return query->frame.within[0] && have_registered(nodes) &&
	       !weft_again_ever(query, until_s);
}

/* That a job can never run, or can, changes with the fabric and with the nodes
 * that it could have; the age is for what weft does not hear of. */
int weft_ever(const struct weft_plan_request *query)
{
	time_t now = time(NULL);
	struct weft_job_test test = *query->test;
	struct weft_plan_request asked = *query;
	struct weft_asked *w;
	struct weft_answer answer = {
		.until = now + WEFT_ANSWER_AGE_S,
		.cause = WEFT_CAUSE_NARROWED,
	};
	const struct weft_answer *before;

	test.nodes = could_have(query->test);
	test.excluded = NULL;
	asked.test = &test;
	answer.signature = weft_hold_signature(&asked, 0);
	w = weft_answers_of(&weft_engine.answers, test.job->job_id, now);
	before = weft_answers_find(w, WEFT_ASKED_EVER, answer.signature, now);
	if (before) {
		answer.cause = before->cause;
	} else {
		/* Most jobs have a place by all of it. */
		if (can_tell(query, test.nodes) && lacks_cpus(&asked) &&
		    (lacks_gpus(&asked) || is_refused(&asked, test.nodes)))
			answer.cause = WEFT_CAUSE_NO_PLAN;
		weft_answers_keep(&weft_engine.answers, w, WEFT_ASKED_EVER,
				  &answer, now);
	}
	bit_free(test.nodes);
	if (answer.cause != WEFT_CAUSE_NO_PLAN)
		return SLURM_SUCCESS;
	said_no = true;
	return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
}

int weft_ever_by_feature(const struct weft_plan_request *query)
{
	double until_s = weft_clock_s() + weft_engine.settings->budget_s / 4;
	bitstr_t *nodes = could_have(query->test);
	bool never = can_tell(query, nodes) &&
		     weft_parts_never(query, nodes, until_s);

	bit_free(nodes);
	if (!never)
		return SLURM_SUCCESS;
	said_no = true;
	return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
}

void weft_ever_changed(void)
{
	if (said_no && &node_features_updated)
		node_features_updated = true;
	said_no = false;
}
