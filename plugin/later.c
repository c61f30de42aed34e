/* SPDX-License-Identifier: GPL-3.0-or-later */
/* later.c - holding a job back, and telling when it will start */
#include "plugin/later.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/forecast.h"
#include "plugin/engine.h"
#include "plugin/future.h"
#include "plugin/proposal.h"
#include "topology/clock.h"
#include "topology/hash.h"

/* An answer is looked at again after this long: time limits change. */
#define MAX_AGE_S 30

/* That a job can never run, or can, changes with the fabric and with the nodes
 * that are candidates; the age is for what weft does not hear of. */
#define EVER_AGE_S 300

/* ---- what a question was ---- */

/* Jobs are updated while they wait: what one asks for is a part of it. */
static uint64_t signature_of(const struct weft_query *query,
			     uint64_t generation)
{
	struct weft_request request = query->request;
	uint64_t hash = weft_future_signature(&weft_engine.nodes, generation,
					      query->test->nodes);

	if (request.spec)
		hash = weft_hash_bytes(hash, request.spec,
				       strlen(request.spec));
	if (request.gpu_type)
		hash = weft_hash_bytes(hash, request.gpu_type,
				       strlen(request.gpu_type));
	request.spec = request.gpu_type = NULL;
	hash = weft_hash_bytes(hash, &request, sizeof(request));
	return hash ? hash : 1;
}

/* ---- trials ---- */

/* A search for the first end of a job after which a place costs at most so
 * much. */
struct search {
	const struct weft_query *query;
	struct weft_future future;
	double most, budget_s, deadline_s;
	struct weft_placement p; /* the last that did */
	uint32_t k;
};

/* The place after the first k ends; true when there is one. */
static bool place_after(struct search *s, uint32_t k, struct weft_placement *p)
{
	struct weft_error err = {0};
	bool placed;

	weft_future_enter(&s->future, &weft_engine.nodes, k);
	placed = weft_query_plan(s->query, s->budget_s, p, &err) ==
		 WEFT_CAUSE_NARROWED;
	weft_future_leave(&weft_engine.nodes);
	return placed;
}

static enum weft_trial try_after(void *arg, uint32_t k)
{
	struct search *s = arg;
	struct weft_placement p = {0};

	if (s->p.placed && weft_clock_s() > s->deadline_s)
		return WEFT_TRIAL_STOP;
	if (!place_after(s, k, &p) || weft_query_cost(&p) > s->most) {
		weft_placement_free(&p);
		return WEFT_TRIAL_NO;
	}
	weft_placement_free(&s->p);
	s->p = p;
	s->k = k;
	return WEFT_TRIAL_YES;
}

static int search_open(struct search *s, const struct weft_query *query)
{
	double budget_s = weft_engine.settings->budget_s;

	*s = (struct search){
		.query = query,
		.most = (double)INFINITY,
		.budget_s = budget_s / 4,
		.deadline_s = weft_clock_s() + budget_s,
	};
	return weft_future_build(&weft_engine.nodes, query->test->nodes, NULL,
				 &s->future);
}

/* What was found becomes the answer. */
static void search_answer(struct search *s, struct weft_answer *answer)
{
	if (!s->p.placed)
		return;
	free(answer->nodes);
	answer->nodes = s->p.nodes;
	answer->n_nodes = s->p.n_nodes;
	answer->start = s->future.ends[s->k - 1].end;
	s->p.nodes = NULL;
}

static void search_close(struct search *s)
{
	weft_placement_free(&s->p);
	weft_future_free(&s->future);
}

/* ---- waiting for a better place ---- */

static time_t eligible_since(const job_record_t *job)
{
	return job->details->begin_time;
}

static double seconds_left(const struct weft_query *query, time_t now)
{
	const job_record_t *job = query->test->job;
	const struct weft_asked *w =
		weft_answers_of(&weft_engine.answers, job->job_id, now);
	double wait_s = weft_rules_wait_s(&weft_engine.settings->rules,
					  &query->frame, job->partition);

	return weft_answers_left_s(w, eligible_since(job), wait_s, now);
}

bool weft_later_better(const struct weft_query *query, double cost,
		       struct weft_answer *answer,
		       char reason[WEFT_REASON_SIZE])
{
	const double alike = 1 + weft_engine.settings->rules.wait_tolerance;
	time_t now = time(NULL);
	struct weft_placement p = {0};
	struct search s;
	uint32_t ended;
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
	if (search_open(&s, query) < 0)
		goto out;
	ended = weft_future_ended(&s.future, now + (time_t)left_s);
	if (ended && place_after(&s, ended, &p) &&
	    weft_query_cost(&p) * alike < cost) {
		s.most = weft_query_cost(&p) * alike;
		better = weft_forecast_first(ended, try_after, &s) > 0;
	}
	if (better) {
		search_answer(&s, answer);
		snprintf(reason, WEFT_REASON_SIZE,
			 "waits %.0f s at most for a better place: cost %.3g "
			 "now, %.3g in %.0f s",
			 left_s, cost, weft_query_cost(&s.p),
			 difftime(answer->start, now));
	} else {
		snprintf(reason, WEFT_REASON_SIZE,
			 "nothing better within %.0f s", left_s);
	}
out:
	weft_placement_free(&p);
	search_close(&s);
	return better;
}

/* ---- limits that must hold ---- */

void weft_later_room(const struct weft_query *query, struct weft_answer *answer)
{
	struct search s;

	if (search_open(&s, query) == 0 &&
	    weft_forecast_first(s.future.n_ends, try_after, &s))
		search_answer(&s, answer);
	search_close(&s);
}

/* A search that was cut short has proved nothing. */
static bool never_fits(const struct weft_query *query)
{
	double budget_s = weft_engine.settings->budget_s;
	double start_s = weft_clock_s();
	struct weft_placement p = {0};
	struct weft_error err = {0};
	enum weft_cause cause;

	weft_engine.nodes.emptied = true;
	cause = weft_query_plan(query, budget_s, &p, &err);
	weft_engine.nodes.emptied = false;
	weft_placement_free(&p);
	return (cause == WEFT_CAUSE_NO_PLAN || cause == WEFT_CAUSE_NO_ROOM) &&
	       weft_clock_s() - start_s < budget_s;
}

int weft_later_ever(const struct weft_query *query)
{
	time_t now = time(NULL);
	struct weft_asked *w = weft_answers_of(&weft_engine.answers,
					       query->test->job->job_id, now);
	struct weft_answer answer = {
		.signature = signature_of(query, 0),
		.until = now + EVER_AGE_S,
		.cause = WEFT_CAUSE_NARROWED,
	};
	const struct weft_answer *before =
		weft_answers_find(w, WEFT_ASKED_EVER, answer.signature, now);

	if (before) {
		answer.cause = before->cause;
	} else {
		if (never_fits(query))
			answer.cause = WEFT_CAUSE_NO_PLAN;
		weft_answers_keep(w, WEFT_ASKED_EVER, &answer);
	}
	return answer.cause == WEFT_CAUSE_NO_PLAN
		       ? ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE
		       : SLURM_SUCCESS;
}

/* ---- answering ---- */

static enum weft_question question_of(const struct weft_query *query)
{
	return weft_proposal_is_will_run(query->test) ? WEFT_ASKED_LATER
						      : WEFT_ASKED_NOW;
}

const struct weft_answer *weft_later_recall(const struct weft_query *query,
					    uint64_t *signature)
{
	time_t now = time(NULL);
	const struct weft_asked *w;

	weft_nodes_refresh(&weft_engine.nodes);
	*signature = signature_of(query, weft_engine.nodes.generation);
	w = weft_answers_of(&weft_engine.answers, query->test->job->job_id,
			    now);
	return weft_answers_find(w, question_of(query), *signature, now);
}

/* Stock's word on when the answer's nodes are free, which backfill then plans
 * for the job. */
static int reply_later(const struct weft_query *query,
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

int weft_later_reply(const struct weft_query *query, struct weft_answer *answer,
		     uint64_t signature)
{
	time_t now = time(NULL);
	struct weft_asked *w = weft_answers_of(&weft_engine.answers,
					       query->test->job->job_id, now);
	int rc = ESLURM_NODES_BUSY;

	if (question_of(query) == WEFT_ASKED_LATER)
		rc = reply_later(query, answer, now);
	answer->signature = signature;
	answer->until = now + MAX_AGE_S;
	if (answer->start > now && answer->start < answer->until)
		answer->until = answer->start;
	weft_answers_keep(w, question_of(query), answer);
	return rc;
}
