/* SPDX-License-Identifier: GPL-3.0-or-later */
/* narrow.c - which nodes weft proposes, and what happens when stock declines
 *
 * Rules that a wrapper of select_p_job_test must keep (each broke something
 * where it was not):
 * - TEST_ONLY decides whether a job may exist at all: stock's alone, but for
 *   limits of the spec that can never hold.
 * - WILL_RUN is narrowed only over nodes that are free now and counts only if
 *   it starts now: otherwise backfill loses the job's reservation.  About a
 *   time to come weft has no opinion.  A job that stock must not start is given
 *   the time and nodes of its own (limits/hold.c).
 * - The narrowed try gets no preemptees: it must not kill for a preference.
 * - What a failed try changed in the job record is put back before stock is
 *   asked about all candidates.
 */
#include "plugin/narrow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "placement/job.h"
#include "plugin/affinity.h"
#include "plugin/bridge/gain.h"
#include "plugin/bridge/turns.h"
#include "plugin/components.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/limits/again.h"
#include "plugin/limits/ever.h"
#include "plugin/limits/hold.h"
#include "plugin/limits/parts.h"
#include "plugin/limits/preempt.h"
#include "plugin/observe.h"
#include "plugin/proposal.h"
#include "plugin/publish.h"
#include "plugin/waiting.h"

#include "src/common/log.h"

/* Calls of stock with a plan, for one question. */
#define MAX_TRIES 3

/* Of the budget, what plans may take: to compare and to tell takes the rest. */
#define PLAN_SHARE 0.7

/* Jobs whose unusable spec is in the log already, by job_id: direct-mapped, so
 * that a clash costs one more line in the log.  Slurm keeps 10,000 jobs if not
 * told otherwise (MaxJobCount). */
static uint32_t told[16384];

/* Jobs for which stock has taken weft's nodes and that have not begun since. */
static struct weft_last_turns last_turns;

/* One question on its way through the steps below. */
struct attempt {
	const struct weft_job_test *test;
	struct weft_plan_request query;
	uint32_t n_tries;
	double plan_s;		  /* spent in planning; the rest is stock's */
	double deadline_s;	  /* by the monotonic clock */
	bitstr_t *planned, *left; /* of limits: the last nodes that stock has
				   * declined, and what it left of them */
	bool by_stock;		 /* its own choice, which keeps to the limits */
	bool all_idle;		 /* the last plan is on idle nodes alone */
	struct weft_shape shape; /* of the last plan, else the request's */
	double bound;
	uint32_t n_ranks, *where;	 /* of the last plan; malloc'ed */
	struct weft_baselines baselines; /* the same */
	bool late;			 /* there was no time for them */
	const char *unclear;
	uint64_t signature; /* of what is free, for jobs that may be held */
	struct weft_answer answer;   /* to a job that is held */
	char note[WEFT_REASON_SIZE]; /* for the user; may be empty */
	struct weft_error err;
};

/* ---- steps ---- */

/* Is it a question for weft at all? */
static bool is_for_weft(const struct weft_job_test *test)
{
	uint16_t mode = test->mode & SELECT_MODE_BASE;

	if (!weft_engine_on() || !test->job->job_id || !test->job->details ||
	    !test->min_nodes)
		return false;
	return mode == SELECT_MODE_RUN_NOW || mode == SELECT_MODE_WILL_RUN ||
	       mode == SELECT_MODE_TEST_ONLY;
}

/* Jobs that stock may have to be kept from starting. */
static bool may_be_held(const struct attempt *attempt)
{
	return attempt->query.frame.hard || attempt->query.frame.wait_s > 0;
}

/* Reads job and spec; WEFT_CAUSE_NARROWED means "go on". */
static enum weft_cause attempt_read(struct attempt *attempt)
{
	const struct weft_job_test *test = attempt->test;
	struct weft_request *request = &attempt->query.request;
	struct weft_frame *frame = &attempt->query.frame;
	uint32_t level;
	bool wanted;

	if (!is_for_weft(test) ||
	    !weft_job_record_read(test, request, &attempt->unclear))
		return WEFT_CAUSE_PASS;
	wanted = weft_job_record_spec(test->job, &request->spec);
	if (!wanted)
		return WEFT_CAUSE_UNWANTED;
	if (!request->spec && !weft_engine.settings->place_unspecified)
		return WEFT_CAUSE_NO_SPEC;
	if (weft_frame_read(request->spec ? request->spec : "", frame,
			    &attempt->err) < 0 ||
	    weft_job_level(weft_engine.settings->fabric, "within",
			   frame->within, &level, &attempt->err) < 0 ||
	    weft_rules_check(&weft_engine.settings->rules, frame,
			     weft_job_record_partition(test->job),
			     &attempt->err) < 0) {
		frame->hard = false;
		return WEFT_CAUSE_SPEC;
	}
	/* Ranks that exchange anything must reach each other. */
	if (request->spec && !weft_engine.settings->fabric->connected)
		frame->hard = true;
	if (!frame->hard && weft_proposal_is_ahead(test))
		return WEFT_CAUSE_PASS;
	/* Nodes that keep to limits are found, however many GPUs stock gives of
	 * them. */
	if (attempt->unclear && !(frame->hard && request->by_socket))
		return WEFT_CAUSE_UNCLEAR;
	attempt->shape.gpus_per_node = request->gpus_per_node;
	attempt->shape.n_gpus = request->gpus_per_job;
	if (!weft_nodes_require(&weft_engine.nodes,
				test->job->details->req_node_bitmap))
		return WEFT_CAUSE_FOREIGN;
	return WEFT_CAUSE_NARROWED;
}

enum weft_cause weft_narrow_read(struct weft_plan_request *query,
				 const char **unclear, struct weft_error *err)
{
	struct attempt attempt = {.test = query->test, .query = *query};
	enum weft_cause cause = attempt_read(&attempt);

	*query = attempt.query;
	*unclear = attempt.unclear;
	*err = attempt.err;
	return cause;
}

/* Takes over the ranks of a plan. */
static void attempt_keep(struct attempt *attempt, struct weft_placement *p)
{
	attempt->bound = p->bound;
	free(attempt->where);
	attempt->where = p->where;
	attempt->n_ranks = p->n_ranks;
	p->where = NULL;
}

/* Where else the job could start, on what was offered: to tell the user. */
static void attempt_baselines(struct attempt *attempt)
{
	weft_baselines_free(&attempt->baselines);
	if (weft_proposal_is_will_run(attempt->test))
		return;
	attempt->late = !weft_gain_may(&weft_engine.bridge);
	if (!attempt->late)
		weft_gain_baselines(
			&weft_engine.bridge, attempt->query.request.spec,
			&attempt->shape, &weft_engine.nodes.occupancy,
			&attempt->baselines);
}

/* Which nodes stock declines is of interest to jobs with limits alone: others
 * are then stock's. */
static enum weft_cause attempt_put(struct attempt *attempt, bitstr_t *bitmap,
				   uint32_t n_nodes)
{
	bitstr_t *planned;

	if (weft_proposal_is_ahead(attempt->test)) {
		bit_free(bitmap);
		return WEFT_CAUSE_NO_ROOM;
	}
	planned = attempt->query.frame.hard ? bit_copy(bitmap) : NULL;
	attempt->n_tries++;
	/* By name but once: Slurm 22.05 logs each refusal of named nodes. */
	if (weft_proposal_now(attempt->test, bitmap, n_nodes) ||
	    (planned && attempt->n_tries == 1 &&
	     weft_proposal_named(attempt->test, planned, n_nodes))) {
		FREE_NULL_BITMAP(planned);
		bit_free(bitmap);
		return WEFT_CAUSE_NARROWED;
	}
	FREE_NULL_BITMAP(attempt->planned);
	FREE_NULL_BITMAP(attempt->left);
	attempt->planned = planned;
	attempt->left = bitmap;
	return WEFT_CAUSE_REFUSED;
}

/* Puts a plan to stock, unless the job rather waits. */
static enum weft_cause attempt_plan(struct attempt *attempt,
				    struct weft_placement *p)
{
	enum weft_cause cause;
	bitstr_t *bitmap;

	/* Before anything else is offered. */
	bitmap = weft_nodes_bitmap(&weft_engine.nodes, p->nodes, p->n_nodes);
	if (!bitmap)
		return WEFT_CAUSE_AMISS;
	if (attempt->query.frame.wait_s > 0 &&
	    weft_hold_better(&attempt->query, weft_plan_request_cost(p),
			     &attempt->answer, attempt->note)) {
		bit_free(bitmap);
		return WEFT_CAUSE_WAITS;
	}
	attempt_keep(attempt, p);
	attempt->all_idle = weft_nodes_idle(bitmap);
	cause = attempt_put(attempt, bitmap, p->n_nodes);
	if (cause == WEFT_CAUSE_NARROWED) {
		weft_affinity_plan(attempt->test->job, p);
		attempt_baselines(attempt);
	}
	return cause;
}

/* Plans one shape and puts it to stock. */
static enum weft_cause attempt_shape(struct attempt *attempt,
				     const struct weft_shape *shape,
				     bool only_idle)
{
	double budget_s = PLAN_SHARE * weft_engine.granted_s;
	struct weft_placement p = {0};
	double start_s = weft_worked_s();
	enum weft_cause cause;

	/* What earlier tries took is gone; a moment is left in any case, so
	 * that a tight budget means a first answer rather than none. */
	budget_s = fmax(budget_s - attempt->plan_s, budget_s / 10);
	cause = weft_plan_request_place(&attempt->query, shape, only_idle,
					budget_s, &p, &attempt->err);
	attempt->plan_s += weft_worked_s() - start_s;
	if (cause == WEFT_CAUSE_NARROWED) {
		if (!only_idle)
			weft_affinity_prefer(&attempt->query, shape, budget_s,
					     &p);
		attempt->shape = *shape;
		cause = attempt_plan(attempt, &p);
	}
	weft_placement_free(&p);
	return cause;
}

/* Without the nodes that stock has declined, for as long as there are others.
 */
static enum weft_cause attempt_again(struct attempt *attempt,
				     const struct weft_shape *shape)
{
	enum weft_cause cause = WEFT_CAUSE_REFUSED;
	struct weft_again again;

	weft_again_open(attempt->test, attempt->deadline_s, &again);
	attempt->query.test = &again.test;
	while (cause == WEFT_CAUSE_REFUSED &&
	       weft_again_decline(&again, attempt->planned, attempt->left))
		cause = attempt_shape(attempt, shape, false);
	attempt->query.test = attempt->test;
	weft_again_close(&again, cause == WEFT_CAUSE_REFUSED);
	return cause == WEFT_CAUSE_NARROWED || cause == WEFT_CAUSE_WAITS
		       ? cause
		       : WEFT_CAUSE_REFUSED;
}

/* The shapes in turn.  Where stock declined nodes that other jobs are on, too,
 * (which cores go with which GPUs is stock's to know) once more on idle ones.
 */
static enum weft_cause attempt_plans(struct attempt *attempt)
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	enum weft_cause cause = WEFT_CAUSE_NO_ROOM;
	uint32_t n_shapes = weft_plan_request_shapes(&attempt->query, shapes,
						     &attempt->err);

	if (!n_shapes && attempt->err.code)
		return attempt->err.code == WEFT_ENOSYS ? WEFT_CAUSE_UNCLEAR
							: WEFT_CAUSE_SPEC;
	for (uint32_t s = 0; s < n_shapes && attempt->n_tries < MAX_TRIES;
	     s++) {
		/* A batch or an expert group may come out even at another
		 * number of nodes. */
		attempt->err = (struct weft_error){0};
		cause = attempt_shape(attempt, &shapes[s], false);
		if (cause == WEFT_CAUSE_NO_PLAN && weft_engine.nodes.spared) {
			weft_engine.nodes.use_slow = true;
			cause = attempt_shape(attempt, &shapes[s], false);
			weft_engine.nodes.use_slow = false;
		}
		if (cause == WEFT_CAUSE_REFUSED && !attempt->all_idle)
			cause = attempt_shape(attempt, &shapes[s], true);
		if (cause == WEFT_CAUSE_NARROWED || cause == WEFT_CAUSE_WAITS)
			return cause;
		if (!attempt->planned)
			continue;
		cause = attempt_again(attempt, &shapes[s]);
		if (cause != WEFT_CAUSE_REFUSED)
			return cause;
	}
	return attempt->n_tries ? WEFT_CAUSE_REFUSED : cause;
}

/* Weft has no nodes that stock takes, cannot tell which would do, or has no
 * time or memory to look for them, or rests: the job is not to wait for that.
 * GPUs on nodes that the fabric lacks keep to no limit. */
static bool may_ask_stock(const struct attempt *attempt, enum weft_cause cause)
{
	return attempt->query.frame.hard &&
	       !weft_proposal_is_ahead(attempt->test) &&
	       (cause == WEFT_CAUSE_NO_ROOM || cause == WEFT_CAUSE_NO_PLAN ||
		cause == WEFT_CAUSE_REFUSED || cause == WEFT_CAUSE_UNCLEAR ||
		cause == WEFT_CAUSE_LATE || cause == WEFT_CAUSE_RESTING ||
		cause == WEFT_CAUSE_NO_MEMORY || cause == WEFT_CAUSE_AMISS);
}

/* ---- jobs that stock must not start ---- */

static bool is_held(const struct attempt *attempt, enum weft_cause cause)
{
	if (cause == WEFT_CAUSE_WAITS)
		return true;
	return attempt->query.frame.hard && cause != WEFT_CAUSE_NARROWED &&
	       cause > WEFT_CAUSE_SILENT && cause != WEFT_CAUSE_SPEC;
}

/* Slurm did not start the job on weft's nodes: the choice is stock's once.
 * Limits of the job's own hold all the same. */
static bool is_stocks_turn(const struct attempt *attempt)
{
	const job_record_t *job = attempt->test->job;

	if (job->het_job_id)
		return !attempt->query.frame.hard &&
		       weft_components_are_stocks(job);
	return weft_last_turns_stocks_next(&last_turns, job->job_id,
					   weft_clock_s());
}

/* Where no choice of stock's keeps to the limits, weft plans all the same. */
static bool take_stocks_turn(struct attempt *attempt)
{
	if (attempt->query.frame.hard && !weft_proposal_is_ahead(attempt->test))
		attempt->by_stock = weft_again_by_stock(&attempt->query, true,
							attempt->deadline_s);
	return attempt->by_stock || !attempt->query.frame.hard;
}

/* After the answer to "start now". */
static void turn_take(const struct attempt *attempt, enum weft_cause cause)
{
	const struct weft_job_test *test = attempt->test;

	if (weft_proposal_is_will_run(test) || test->job->het_job_id)
		return;
	if (cause == WEFT_CAUSE_NARROWED)
		weft_last_turns_add(&last_turns, test->job->job_id,
				    weft_clock_s());
	else
		weft_narrow_begun(test->job->job_id);
}

void weft_narrow_begun(uint32_t job_id)
{
	weft_last_turns_drop(&last_turns, job_id);
}

/* The same answer as before, as long as nothing has changed. */
static bool attempt_recall(struct attempt *attempt, enum weft_cause *cause)
{
	const struct weft_answer *before;

	if (!may_be_held(attempt))
		return false;
	before = weft_hold_recall(&attempt->query, &attempt->signature);
	if (!before)
		return false;
	memcpy(attempt->note, before->reason, sizeof(attempt->note));
	attempt->answer = *before;
	attempt->answer.nodes = NULL;
	if (before->n_nodes) {
		attempt->answer.nodes = weft_calloc(
			before->n_nodes, sizeof(*before->nodes), NULL);
		if (!attempt->answer.nodes) {
			attempt->answer = (struct weft_answer){0};
			return false;
		}
		memcpy(attempt->answer.nodes, before->nodes,
		       before->n_nodes * sizeof(*before->nodes));
	}
	*cause = before->cause;
	return true;
}

/* Tells Slurm that the job does not start now, and, if asked, when. */
static int attempt_hold(struct attempt *attempt, enum weft_cause cause,
			bool recalled)
{
	struct weft_answer *answer = &attempt->answer;

	if (!recalled && cause != WEFT_CAUSE_WAITS &&
	    cause != WEFT_CAUSE_RESTING && cause != WEFT_CAUSE_AMISS &&
	    weft_proposal_is_will_run(attempt->test))
		weft_hold_room(&attempt->query, answer);
	/* What there was no time for comes next. */
	if (!recalled &&
	    (weft_clock_s() > attempt->deadline_s || weft_engine_hurried()))
		answer->until = time(NULL) + WEFT_CUT_AGE_S;
	answer->cause = cause;
	memcpy(answer->reason, attempt->note, sizeof(answer->reason));
	return weft_hold_reply(&attempt->query, answer, attempt->signature,
			       recalled);
}

/* Do limits that stock does not know let the job run here at all? */
static int limits_ever(const struct weft_job_test *test)
{
	struct attempt attempt = {.test = test, .query = {.test = test}};
	enum weft_cause cause;

	if (!is_for_weft(test))
		return SLURM_SUCCESS;
	cause = attempt_read(&attempt);
	if (!attempt.query.frame.hard || cause <= WEFT_CAUSE_SILENT)
		return SLURM_SUCCESS;
	if (cause == WEFT_CAUSE_UNCLEAR && weft_parts_may(&attempt.query))
		return weft_ever_by_feature(&attempt.query);
	return cause == WEFT_CAUSE_NARROWED ? weft_ever(&attempt.query)
					    : SLURM_SUCCESS;
}

/* Weft before stock, which leaves no more than the nodes that it chose. */
static int test_only(const struct weft_job_test *test)
{
	int rc = limits_ever(test);

	return rc == SLURM_SUCCESS ? weft_stock_job_test(test) : rc;
}

/* ---- accounts ---- */

static void say_ignored(const struct attempt *attempt, const char *reason)
{
	uint32_t job_id = attempt->query.request.job_id;
	uint32_t *slot = &told[job_id % (sizeof(told) / sizeof(told[0]))];

	if (*slot == job_id)
		return;
	*slot = job_id;
	info("weft: JobId=%u: spec ignored: %s", job_id, reason);
}

static void decide(struct attempt *attempt, enum weft_cause cause,
		   double elapsed_s)
{
	struct weft_decision decision = {
		.job_id = attempt->test->job->job_id,
		.cause = cause,
		.bound = attempt->bound,
		.elapsed_s = elapsed_s,
		.shape = attempt->shape,
		.spec = attempt->query.request.spec,
	};

	if (attempt->query.request.by_socket)
		decision.shape.gpus_per_node = 0;
	if (cause == WEFT_CAUSE_NARROWED) {
		decision.n_ranks = attempt->n_ranks;
		decision.where = attempt->where;
		decision.baselines = attempt->baselines;
		decision.late = attempt->late;
		attempt->where = NULL;
		attempt->baselines = (struct weft_baselines){0};
	}
	memcpy(decision.note, attempt->note, sizeof(decision.note));
	snprintf(decision.reason, sizeof(decision.reason), "%s",
		 attempt->unclear ? attempt->unclear : weft_cause_names[cause]);
	if (cause == WEFT_CAUSE_SPEC) {
		weft_bridge_escape(&attempt->err, decision.reason);
		say_ignored(attempt, decision.reason);
	}
	weft_counters_add(&weft_counters, cause, attempt->plan_s);
	weft_publish_decided(&decision);
}

/* Nothing is free for the job, but others may have to go.  When stock is asked
 * when a job without limits will run, its word is as good as weft's. */
static bool may_preempt(const struct attempt *attempt, enum weft_cause cause)
{
	return (cause == WEFT_CAUSE_NO_ROOM || cause == WEFT_CAUSE_NO_PLAN ||
		cause == WEFT_CAUSE_REFUSED ||
		(attempt->query.frame.hard && cause == WEFT_CAUSE_UNCLEAR)) &&
	       weft_preempt_may(attempt->test) &&
	       (attempt->query.frame.hard ||
		!weft_proposal_is_will_run(attempt->test));
}

/* What else there is for a job that does not start on weft's nodes.  Where no
 * victims help a job that is held, it is planned for when others end. */
static int attempt_else(struct attempt *attempt, enum weft_cause cause,
			bool recalled)
{
	bool held = is_held(attempt, cause);

	if (may_preempt(attempt, cause)) {
		int rc = weft_preempt(&attempt->query);

		if (rc == SLURM_SUCCESS || !held)
			return rc;
	}
	return held ? attempt_hold(attempt, cause, recalled)
		    : weft_stock_job_test(attempt->test);
}

static int attempt_end(struct attempt *attempt, enum weft_cause cause,
		       bool recalled)
{
	int rc = SLURM_SUCCESS;

	if (attempt->by_stock)
		goto out;
	if (cause == WEFT_CAUSE_WAITS)
		weft_fail(&attempt->err, WEFT_EINVAL, "%s", attempt->note);
	/* Before stock changes the candidates. */
	if (cause != WEFT_CAUSE_NARROWED && cause != WEFT_CAUSE_PASS)
		weft_waiting_tell(attempt->test, &attempt->query.request,
				  &attempt->query.frame, cause, &attempt->err);
	if (cause != WEFT_CAUSE_NARROWED)
		rc = attempt_else(attempt, cause, recalled);
	weft_waiting_heed(attempt->test->job);
out:
	FREE_NULL_BITMAP(attempt->planned);
	FREE_NULL_BITMAP(attempt->left);
	free(attempt->answer.nodes);
	free(attempt->where);
	weft_baselines_free(&attempt->baselines);
	return rc;
}

int weft_narrow(const struct weft_job_test *test)
{
	struct attempt attempt = {.test = test, .query = {.test = test}};
	double start_s = weft_clock_s();
	bitstr_t *candidates = NULL;
	enum weft_cause cause;
	bool recalled = false;
	int rc;

	if (weft_observe_only(test->job))
		return weft_observe(test);
	if ((test->mode & SELECT_MODE_BASE) == SELECT_MODE_TEST_ONLY)
		return test_only(test);
	attempt.bound = (double)NAN;
	if (weft_engine_on())
		attempt.deadline_s = start_s + weft_engine.settings->budget_s;
	if (weft_components_asked(test))
		candidates = bit_copy(test->nodes);
	cause = attempt_read(&attempt);
	if (cause == WEFT_CAUSE_NARROWED && is_stocks_turn(&attempt) &&
	    take_stocks_turn(&attempt))
		cause = WEFT_CAUSE_NOT_BEGUN;
	if (cause == WEFT_CAUSE_NARROWED && !weft_engine_begin())
		cause = WEFT_CAUSE_RESTING;
	if (cause == WEFT_CAUSE_NARROWED || cause == WEFT_CAUSE_UNCLEAR)
		recalled = attempt_recall(&attempt, &cause);
	if (!recalled && cause == WEFT_CAUSE_NARROWED) {
		cause = attempt_plans(&attempt);
		weft_engine_end();
		/* The spec's GPUs are those that stock gives. */
		if (cause == WEFT_CAUSE_SPEC && attempt.query.request.by_socket)
			cause = WEFT_CAUSE_UNCLEAR;
	}
	if (!recalled && !attempt.by_stock && may_ask_stock(&attempt, cause))
		attempt.by_stock = weft_again_by_stock(&attempt.query, false,
						       attempt.deadline_s);
	decide(&attempt, cause, weft_clock_s() - start_s);
	turn_take(&attempt, cause);
	if (cause != WEFT_CAUSE_PASS)
		debug2("weft: JobId=%u %s: %s, %u tries, %.3f ms, of which "
		       "planning %.3f ms",
		       test->job->job_id,
		       weft_proposal_is_will_run(test) ? "will run" : "run now",
		       weft_cause_names[cause], attempt.n_tries,
		       (weft_clock_s() - start_s) * 1e3, attempt.plan_s * 1e3);
	rc = attempt_end(&attempt, cause, recalled);
	if (candidates)
		weft_components_answered(test, cause == WEFT_CAUSE_NARROWED, rc,
					 candidates);
	FREE_NULL_BITMAP(candidates);
	return rc;
}

void weft_narrow_summary(void)
{
	char text[512];

	weft_counters_text(&weft_counters, text, sizeof(text));
	if (text[0])
		verbose("weft: so far: %s", text);
}
