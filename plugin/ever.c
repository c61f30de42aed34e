/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ever.c - proving that a job with limits can never run */
#include "plugin/ever.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "plugin/engine.h"
#include "plugin/hold.h"
#include "plugin/slurm/gpus.h"

/* Only slurmctld has it, but clients load the plugin, too.  Set, it has Slurm
 * let go of all jobs that it holds for BadConstraints, within half a minute. */
extern bool node_features_updated __attribute__((weak));

/* That a job can never run, or can, changes with the fabric and with the nodes
 * that it could have; the age is for what weft does not hear of. */
#define EVER_AGE_S 300

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

/* Nothing but GPUs counts; how few nodes the tasks take is no limit, either:
 * some releases of Slurm give GPUs without a task on their node.  Of a range of
 * nodes the first few numbers are tried, and the least, with which any limit is
 * kept most easily. */
static bool never_fits(const struct weft_plan_request *query)
{
	struct weft_plan_request least = *query;
	struct weft_plan_request any = *query;
	bool never;

	any.request.n_tasks = least.request.n_tasks = 0;
	least.request.want_nodes = least.request.max_nodes =
		least.request.min_nodes;
	weft_engine.nodes.emptied = true;
	weft_engine.nodes.use_slow = true;
	never = has_no_plan(&any) &&
		(query->request.max_nodes == query->request.min_nodes ||
		 has_no_plan(&least));
	weft_engine.nodes.use_slow = false;
	weft_engine.nodes.emptied = false;
	return never;
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

int weft_ever(const struct weft_plan_request *query)
{
	time_t now = time(NULL);
	struct weft_job_test test = *query->test;
	struct weft_plan_request asked = *query;
	struct weft_asked *w;
	struct weft_answer answer = {
		.until = now + EVER_AGE_S,
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
		if (can_tell(query, test.nodes) && never_fits(&asked))
			answer.cause = WEFT_CAUSE_NO_PLAN;
		weft_answers_keep(w, WEFT_ASKED_EVER, &answer);
	}
	bit_free(test.nodes);
	if (answer.cause != WEFT_CAUSE_NO_PLAN)
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
