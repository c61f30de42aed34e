/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hold.c - holding a job back, and telling when it will start */
#include "plugin/limits/hold.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "plugin/bridge/running/forecast.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/limits/again.h"
#include "plugin/limits/ever.h"
#include "plugin/limits/release_times.h"
#include "plugin/proposal.h"

#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern bitstr_t *up_node_bitmap __attribute__((weak));

/* An answer is looked at again after this long: time limits change. */
#define MAX_AGE_S 30

/* ---- what a question was ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return weft_hash_bytes(hash, text ? text : "",
			       text ? strlen(text) + 1 : 1);
}

/* What is stock's business alone: its word is a part of answers. */
static uint64_t hash_job(const job_record_t *job, uint64_t hash)
{
	const job_details_t *details = job->details;
	/* Backfill asks for cores of the job's own first, and then, whether or
	 * not the partition shares any, as the user has it. */
	const uint32_t numbers[] = {
		details->contiguous, details->core_spec, details->min_cpus,
		details->task_dist,  job->req_switch,	 weft_nodes_shares(job),
	};
	const char *const texts[] = {
		details->features,
		job->cpus_per_tres,
		job->mem_per_tres,
		job->tres_per_job,
		job->tres_per_node,
		job->tres_per_task,
		job->tres_per_socket,
		/* has limits of its own: MaxCPUsPerNode, OverSubscribe */
		weft_job_record_partition(job),
	};

	hash = weft_hash_bytes(hash, numbers, sizeof(numbers));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		hash = hash_text(hash, texts[i]);
	if (details->mc_ptr)
		hash = weft_hash_bytes(hash, details->mc_ptr,
				       sizeof(*details->mc_ptr));
	if (details->req_node_bitmap)
		hash = weft_release_times_signature(&weft_engine.nodes, hash,
						    details->req_node_bitmap);
	return hash;
}

/* Jobs are updated while they wait: what one asks for is a part of it. */
uint64_t weft_hold_signature(const struct weft_plan_request *query,
			     uint64_t generation)
{
	struct weft_request request = query->request;
	uint64_t hash = weft_release_times_signature(
		&weft_engine.nodes, generation, query->test->nodes);

	/* what is reserved now says nothing of "ever" */
	if (generation) {
		weft_nodes_keep(&weft_engine.nodes, query->test);
		hash = weft_nodes_hash_kept(&weft_engine.nodes, hash);
	}

	hash = hash_text(hash, request.spec);
	hash = hash_text(hash, request.gpu_type);
	hash = hash_job(query->test->job, hash);
	request.spec = request.gpu_type = NULL;
	hash = weft_hash_bytes(hash, &request, sizeof(request));
	return hash ? hash : 1;
}

/* ---- trials ---- */

/* A search for the first end of a job after which a place costs at most so
 * much. */
struct search {
	const struct weft_plan_request *query;
	struct weft_release_times ends;
	double most, budget_s, deadline_s;
	struct weft_placement p; /* the last that did */
	uint32_t k;
};

/* The place after the first k ends; true when there is one. */
static bool place_after(struct search *s, uint32_t k, struct weft_placement *p)
{
	struct weft_error err = {0};
	bool placed;

	weft_release_times_enter(&s->ends, &weft_engine.nodes, k);
	placed = weft_plan_request_plan(s->query, s->budget_s, p, &err) ==
		 WEFT_CAUSE_NARROWED;
	weft_release_times_leave(&weft_engine.nodes);
	return placed;
}

static enum weft_trial try_after(void *arg, uint32_t k)
{
	struct search *s = arg;
	struct weft_placement p = {0};

	if (weft_deadline_passed() ||
	    (s->p.placed && weft_clock_s() > s->deadline_s))
		return WEFT_TRIAL_STOP;
	if (!place_after(s, k, &p) || weft_plan_request_cost(&p) > s->most) {
		weft_placement_free(&p);
		return WEFT_TRIAL_NO;
	}
	weft_placement_free(&s->p);
	s->p = p;
	s->k = k;
	return WEFT_TRIAL_YES;
}

static int search_open(struct search *s, const struct weft_plan_request *query)
{
	double budget_s = weft_engine.settings->budget_s;

	*s = (struct search){
		.query = query,
		.most = (double)INFINITY,
		.budget_s = budget_s / 4,
		.deadline_s = weft_clock_s() + budget_s,
	};
	return weft_release_times_build(&weft_engine.nodes, query->test->nodes,
					NULL, &s->ends);
}

/* What was found becomes the answer. */
static void search_answer(struct search *s, struct weft_answer *answer)
{
	if (!s->p.placed)
		return;
	free(answer->nodes);
	answer->nodes = s->p.nodes;
	answer->n_nodes = s->p.n_nodes;
	answer->start = s->ends.ends[s->k - 1].end;
	s->p.nodes = NULL;
}

static void search_close(struct search *s)
{
	weft_placement_free(&s->p);
	weft_release_times_free(&s->ends);
}

/* ---- waiting for a better place ---- */

static time_t eligible_since(const job_record_t *job)
{
	return job->details->begin_time;
}

static double seconds_left(const struct weft_plan_request *query, time_t now)
{
	const job_record_t *job = query->test->job;
	const struct weft_asked *w =
		weft_answers_of(&weft_engine.answers, job->job_id, now);
	double wait_s =
		weft_rules_wait_s(&weft_engine.settings->rules, &query->frame,
				  weft_job_record_partition(job));

	return weft_answers_left_s(w, eligible_since(job), wait_s, now);
}

/* The search ends with the first place that is so much better than one of this
 * cost, if there is any once jobs have ended by then. */
static bool search_better(struct search *s, double cost, time_t by)
{
	const double alike = 1 + weft_engine.settings->rules.wait_tolerance;
	uint32_t ended = weft_release_times_ended(&s->ends, by);
	struct weft_placement p = {0};
	bool better = place_after(s, ended, &p) &&
		      weft_plan_request_cost(&p) * alike < cost;

	s->most = weft_plan_request_cost(&p) * alike;
	weft_placement_free(&p);
	if (better && ended)
		weft_forecast_first(ended, try_after, s);
	return better;
}

/* A job in several partitions, one of which has a better place. */
struct elsewhere {
	const struct weft_plan_request *query;
	double cost;
	time_t by;
	bool better;
};

/* Of the partition, those that take the job.  Slurm's avail_node_bitmap is not
 * it: the main scheduler takes a partition's nodes out of it once a job has to
 * wait there.  Caller: bit_free. */
static bitstr_t *nodes_of(const part_record_t *part, const job_record_t *job)
{
	bitstr_t *nodes = bit_copy(part->node_bitmap);

	bit_and(nodes, up_node_bitmap);
	if (job->details->exc_node_bitmap)
		bit_and_not(nodes, job->details->exc_node_bitmap);
	for (uint32_t i = 0; i < weft_engine.nodes.n; i++) {
		const node_record_t *node = node_record_table_ptr[i];

		if (node && bit_test(nodes, i) &&
		    (IS_NODE_DRAIN(node) || IS_NODE_FAIL(node) ||
		     node->node_state & (NODE_STATE_RES | NODE_STATE_MAINT)))
			bit_clear(nodes, i);
	}
	return nodes;
}

/* Which nodes have its features, or are in its reservation, is looked up for
 * the partition that is asked about alone. */
static bool may_be_elsewhere(const job_record_t *job)
{
	return job->part_ptr_list && up_node_bitmap && !job->resv_name &&
	       !weft_job_record_features(job->details);
}

/* Whether the partition starts jobs of this length and size. */
static bool starts(const part_record_t *part, const job_record_t *job)
{
	uint32_t minutes = job->time_min ? job->time_min : job->time_limit;

	return part->state_up & PARTITION_SCHED &&
	       (minutes == NO_VAL || minutes <= part->max_time) &&
	       job->details->min_nodes <= part->max_nodes;
}

static void look_elsewhere(const part_record_t *part, struct elsewhere *e)
{
	const job_record_t *job = e->query->test->job;
	struct weft_job_test test = *e->query->test;
	struct weft_plan_request query = *e->query;
	struct search s;

	if (e->better || weft_deadline_passed() || part == job->part_ptr ||
	    !starts(part, job) ||
	    weft_rules_wait_s(&weft_engine.settings->rules, &query.frame,
			      part->name) <= 0)
		return;
	test.nodes = nodes_of(part, job);
	query.test = &test;
	e->better = search_open(&s, &query) == 0 &&
		    search_better(&s, e->cost, e->by);
	search_close(&s);
	bit_free(test.nodes);
}

/* By their names: where a user asks when the job will start, Slurm goes through
 * part_ptr_list from 24.11 on, which is locked then, and ends where a lock
 * fails. */
static bool better_elsewhere(const struct weft_plan_request *query, double cost,
			     time_t by)
{
	const job_record_t *job = query->test->job;
	struct elsewhere e = {query, cost, by, false};
	char *names = NULL, *rest = NULL;

	if (may_be_elsewhere(job))
		names = xstrdup(job->partition);
	for (char *name = names ? strtok_r(names, ",", &rest) : NULL; name;
	     name = strtok_r(NULL, ",", &rest)) {
		const part_record_t *part = find_part_record(name);

		if (part)
			look_elsewhere(part, &e);
	}
	xfree(names);
	return e.better;
}

bool weft_hold_better(const struct weft_plan_request *query, double cost,
		      struct weft_answer *answer, char reason[WEFT_REASON_SIZE])
{
	time_t now = time(NULL), by;
	struct search s;
	bool better = false;
	double left_s;

	reason[0] = '\0';
	if (query->frame.wait_s <= 0)
		return false;
	left_s = seconds_left(query, now);
	if (left_s <= 0) {
		snprintf(reason, WEFT_REASON_SIZE, "waited long enough");
		return false;
	}
	by = now + (time_t)left_s;
	/* The answer holds no longer than the wait. */
	answer->until = left_s < MAX_AGE_S ? by : 0;
	if (search_open(&s, query) == 0 &&
	    weft_release_times_ended(&s.ends, by) &&
	    search_better(&s, cost, by) && s.p.placed) {
		better = true;
		search_answer(&s, answer);
		snprintf(reason, WEFT_REASON_SIZE,
			 "waits %.0f s at most for a better place: cost %.3g "
			 "now, %.3g in %.0f s",
			 left_s, cost, weft_plan_request_cost(&s.p),
			 difftime(answer->start, now));
	} else if (better_elsewhere(query, cost, by)) {
		better = true;
		snprintf(reason, WEFT_REASON_SIZE,
			 "waits %.0f s at most for a better place in another "
			 "partition: cost %.3g here",
			 left_s, cost);
	} else {
		snprintf(reason, WEFT_REASON_SIZE,
			 "nothing better within %.0f s", left_s);
	}
	search_close(&s);
	return better;
}

/* ---- limits that must hold ---- */

void weft_hold_room(const struct weft_plan_request *query,
		    struct weft_answer *answer)
{
	struct search s;

	if (search_open(&s, query) == 0 &&
	    weft_forecast_first(s.ends.n_ends, try_after, &s))
		search_answer(&s, answer);
	search_close(&s);
}

/* ---- answering ---- */

static enum weft_question question_of(const struct weft_plan_request *query)
{
	return weft_proposal_is_will_run(query->test) ? WEFT_ASKED_LATER
						      : WEFT_ASKED_NOW;
}

const struct weft_answer *
weft_hold_recall(const struct weft_plan_request *query, uint64_t *signature)
{
	time_t now = time(NULL);
	const struct weft_asked *w;

	weft_nodes_refresh(&weft_engine.nodes);
	*signature = weft_hold_signature(query, weft_engine.nodes.generation);
	w = weft_answers_of(&weft_engine.answers, query->test->job->job_id,
			    now);
	return weft_answers_find(w, question_of(query), *signature, now);
}

/* Stock's word on when the answer's nodes are free, which backfill then plans
 * for the job. */
static int reply_later(const struct weft_plan_request *query,
		       const struct weft_answer *answer, time_t now)
{
	job_record_t *job = query->test->job;
	bitstr_t *bitmap;
	bool taken;

	if (!answer->n_nodes || job->bit_flags & TEST_NOW_ONLY)
		return ESLURM_NODES_BUSY;
	bitmap = weft_nodes_set(&weft_engine.nodes, answer->nodes,
				answer->n_nodes);
	if (!bitmap)
		return ESLURM_NODES_BUSY;
	taken = weft_proposal_later(query->test, bitmap, answer->n_nodes);
	bit_free(bitmap);
	if (!taken)
		return ESLURM_NODES_BUSY;
	/* A start now would be one that RUN_NOW declines. */
	if (job->start_time <= now)
		job->start_time = answer->start > now ? answer->start : now + 1;
	return SLURM_SUCCESS;
}

/* Slurm has the time and the nodes. */
static void reply_with(const struct weft_plan_request *query, bitstr_t *nodes,
		       time_t start, time_t now)
{
	bit_copybits(query->test->nodes, nodes);
	query->test->job->start_time = start > now ? start : now + 1;
}

/* The same nodes are asked for next time. */
static void answer_keep(struct weft_answer *answer, bitstr_t *nodes,
			time_t start)
{
	const struct weft_nodes *n = &weft_engine.nodes;

	free(answer->nodes);
	answer->n_nodes = 0;
	answer->nodes = weft_calloc((uint32_t)bit_set_count(nodes),
				    sizeof(*answer->nodes), NULL);
	for (uint32_t i = 0; answer->nodes && i < n->n; i++)
		if (bit_test(nodes, i))
			answer->nodes[answer->n_nodes++] = n->fabric_node[i];
	answer->start = start;
}

/* Weft knows no nodes that stock would take: stock's own choice that keeps to
 * the limits; else, for a user who asks rather than for backfill, which would
 * keep nodes for it, the time at which stock would start the job. */
static int reply_by_stock(const struct weft_plan_request *query,
			  struct weft_answer *answer, time_t now)
{
	const struct weft_job_test *test = query->test;
	double deadline_s = weft_clock_s() + weft_engine.settings->budget_s / 4;
	bitstr_t *nodes;
	time_t start;
	bool found, cut;
	int rc = ESLURM_NODES_BUSY;

	if (test->job->bit_flags & TEST_NOW_ONLY)
		return ESLURM_NODES_BUSY;
	found = weft_again_when(query, deadline_s, &nodes, &start, &cut);
	if (cut)
		answer->until = now + WEFT_CUT_AGE_S;
	if (found) {
		answer_keep(answer, nodes, start);
		reply_with(query, nodes, start, now);
		bit_free(nodes);
		return SLURM_SUCCESS;
	}
	if (test->job->bit_flags & BACKFILL_TEST ||
	    weft_ever(query) != SLURM_SUCCESS)
		return ESLURM_NODES_BUSY;
	nodes = bit_copy(test->nodes);
	if (weft_proposal_when(test, nodes, &start)) {
		reply_with(query, nodes, start, now);
		rc = SLURM_SUCCESS;
	}
	bit_free(nodes);
	return rc;
}

int weft_hold_reply(const struct weft_plan_request *query,
		    struct weft_answer *answer, uint64_t signature,
		    bool recalled)
{
	time_t now = time(NULL);
	struct weft_asked *w = weft_answers_of(&weft_engine.answers,
					       query->test->job->job_id, now);
	int rc = ESLURM_NODES_BUSY;

	if (question_of(query) == WEFT_ASKED_LATER)
		rc = reply_later(query, answer, now);
	if (question_of(query) == WEFT_ASKED_LATER && rc != SLURM_SUCCESS &&
	    query->frame.hard && answer->cause != WEFT_CAUSE_WAITS &&
	    !(recalled && query->test->job->bit_flags & BACKFILL_TEST))
		rc = reply_by_stock(query, answer, now);
	answer->signature = signature;
	if (!answer->until)
		answer->until = now + MAX_AGE_S;
	if (answer->start > now && answer->start < answer->until)
		answer->until = answer->start;
	weft_answers_keep(&weft_engine.answers, w, question_of(query), answer,
			  now);
	return rc;
}
