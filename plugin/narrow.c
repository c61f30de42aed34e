/* SPDX-License-Identifier: GPL-3.0-or-later */
/* narrow.c - which nodes weft proposes, and what happens when stock declines
 *
 * Rules that a wrapper of select_p_job_test must keep (each broke something
 * where it was not):
 * - TEST_ONLY decides whether a job may exist at all: stock's alone.
 * - WILL_RUN is narrowed only over nodes that are free now and counts only if
 *   it starts now: otherwise backfill loses the job's reservation.
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

#include "plugin/asking.h"
#include "plugin/engine.h"
#include "plugin/publish.h"
#include "plugin/waiting.h"

#include "src/common/log.h"

/* Calls of stock with a plan, for one question. */
#define MAX_TRIES 3

/* Jobs whose unusable spec is in the log already, by job_id: direct-mapped, so
 * that a clash costs one more line in the log. */
static uint32_t told[1024];

/* One question on its way through the steps below. */
struct attempt {
	const struct weft_job_test *test;
	struct weft_request request;
	struct weft_frame frame;
	uint32_t n_tries;
	double plan_s;		 /* spent in planning; the rest is stock's */
	bool all_idle;		 /* the last plan is on idle nodes alone */
	struct weft_shape shape; /* of the last plan, else the request's */
	double bound;
	uint32_t n_ranks, *where; /* of the last plan; malloc'ed */
	const char *unclear;
	struct weft_error err;
};

static double elapsed_s(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - since->tv_sec) +
	       (double)(now.tv_nsec - since->tv_nsec) / 1e9;
}

/* ---- stock's word on a plan ---- */

/* What a failed stock call may leave changed. */
struct saved {
	time_t start_time, wait4switch_start;
	uint32_t total_cpus, req_switch, min_cpus, priority, state_reason;
	uint64_t pn_min_memory;
	bool best_switch;
};

static void job_save(const job_record_t *job, struct saved *saved)
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

static void job_restore(job_record_t *job, const struct saved *saved)
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

static bool is_will_run(const struct weft_job_test *test)
{
	return (test->mode & SELECT_MODE_BASE) == SELECT_MODE_WILL_RUN;
}

static bool follow_one_another(bitstr_t *nodes, uint32_t n_nodes)
{
	return bit_fls(nodes) - bit_ffs(nodes) + 1 == (int64_t)n_nodes;
}

/* Asks stock for the job on exactly the plan's nodes. */
static bool stock_takes(const struct weft_job_test *test, bitstr_t *nodes,
			uint32_t n_nodes)
{
	struct weft_job_test narrowed = *test;
	struct saved saved;
	uint16_t contiguous = test->job->details->contiguous;
	bool now_only = test->job->bit_flags & TEST_NOW_ONLY, taken;

	narrowed.nodes = nodes;
	narrowed.min_nodes = n_nodes;
	narrowed.max_nodes = n_nodes;
	narrowed.want_nodes = n_nodes;
	narrowed.preemptable = NULL;
	narrowed.preempted = NULL;
	job_save(test->job, &saved);
	/* When the plan's nodes would be free later on is of no interest, and
	 * takes stock a copy of all its tables to find out. */
	if (is_will_run(test))
		test->job->bit_flags |= TEST_NOW_ONLY;
	/* Nodes in a row are asked for as a row: stock then does not look
	 * through all switches for those that it has no choice but to take. */
	if (!test->job->req_switch && follow_one_another(nodes, n_nodes))
		test->job->details->contiguous = 1;
	taken = weft_stock_job_test(&narrowed) == SLURM_SUCCESS &&
		(!is_will_run(test) || test->job->start_time <= time(NULL));
	if (!now_only)
		test->job->bit_flags &= ~(uint64_t)TEST_NOW_ONLY;
	test->job->details->contiguous = contiguous;
	if (taken)
		bit_copybits(test->nodes, nodes);
	else
		job_restore(test->job, &saved);
	return taken;
}

/* ---- steps ---- */

/* Is it a question for weft at all? */
static bool is_for_weft(const struct weft_job_test *test)
{
	uint16_t mode = test->mode & SELECT_MODE_BASE;

	if (!weft_engine_on() || !test->job->job_id || !test->job->details ||
	    !test->min_nodes)
		return false;
	return mode == SELECT_MODE_RUN_NOW || mode == SELECT_MODE_WILL_RUN;
}

/* Reads job and spec; WEFT_CAUSE_NARROWED means "go on". */
static enum weft_cause attempt_read(struct attempt *attempt)
{
	const struct weft_job_test *test = attempt->test;
	bool wanted;

	if (!is_for_weft(test) ||
	    !weft_asking_read(test, &attempt->request, &attempt->unclear))
		return WEFT_CAUSE_PASS;
	wanted = weft_asking_spec(test->job, &attempt->request.spec);
	if (!wanted)
		return WEFT_CAUSE_UNWANTED;
	if (!attempt->request.spec && !weft_engine.settings->place_unspecified)
		return WEFT_CAUSE_NO_SPEC;
	if (weft_frame_read(attempt->request.spec ? attempt->request.spec : "",
			    &attempt->frame, &attempt->err) < 0)
		return WEFT_CAUSE_SPEC;
	if (attempt->unclear)
		return WEFT_CAUSE_UNCLEAR;
	attempt->shape.gpus_per_node = attempt->request.gpus_per_node;
	attempt->shape.n_gpus = attempt->request.gpus_per_job;
	if (!weft_nodes_require(&weft_engine.nodes,
				test->job->details->req_node_bitmap))
		return WEFT_CAUSE_FOREIGN;
	return WEFT_CAUSE_NARROWED;
}

/* Nodes that could take part, before the number of nodes is settled; only
 * where it is open. */
static uint32_t count_able(struct attempt *attempt)
{
	const struct weft_request *request = &attempt->request;
	/* Tasks are spread over the number that is tried first. */
	const uint32_t n_nodes = request->want_nodes > request->min_nodes
					 ? request->want_nodes
					 : request->min_nodes;
	const struct weft_shape shape = {
		.gpus_per_node = request->gpus_per_node,
		.min_nodes = n_nodes,
		.max_nodes = n_nodes,
	};

	if (!request->gpus_per_node || attempt->frame.gpus ||
	    request->min_nodes == request->max_nodes)
		return UINT32_MAX;
	return weft_nodes_offer(&weft_engine.nodes, attempt->test, request,
				&shape, false);
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

/* Plans one shape and puts it to stock. */
static enum weft_cause attempt_shape(struct attempt *attempt,
				     const struct weft_shape *shape,
				     bool only_idle)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	double budget_s = weft_engine.settings->budget_s;
	enum weft_cause cause = WEFT_CAUSE_NO_ROOM;
	struct weft_placement p = {0};
	bitstr_t *bitmap = NULL;
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	if (weft_nodes_offer(nodes, attempt->test, &attempt->request, shape,
			     only_idle) < shape->min_nodes ||
	    weft_occupancy_usable(&nodes->occupancy) < shape->n_gpus)
		goto out;
	/* What earlier tries took is gone; a moment is left in any case, so
	 * that a tight budget means a first answer rather than none. */
	budget_s = fmax(budget_s - attempt->plan_s, budget_s / 10);
	if (weft_bridge_place(&weft_engine.bridge, &attempt->request, shape,
			      &nodes->occupancy, budget_s, &p,
			      &attempt->err) < 0)
		cause = attempt->err.code == WEFT_ENOMEM ? WEFT_CAUSE_NO_MEMORY
							 : WEFT_CAUSE_SPEC;
	else if (!p.placed)
		cause = WEFT_CAUSE_NO_PLAN;
	else
		bitmap = weft_nodes_bitmap(nodes, p.nodes, p.n_nodes);
	if (p.placed && !bitmap)
		cause = WEFT_CAUSE_AMISS;
out:
	attempt->plan_s += elapsed_s(&start);
	if (bitmap) {
		attempt_keep(attempt, &p);
		attempt->shape = *shape;
		attempt->all_idle = weft_nodes_idle(bitmap);
		attempt->n_tries++;
		cause = stock_takes(attempt->test, bitmap, p.n_nodes)
				? WEFT_CAUSE_NARROWED
				: WEFT_CAUSE_REFUSED;
		bit_free(bitmap);
	}
	weft_placement_free(&p);
	return cause;
}

/* The shapes in turn.  Where stock declined nodes that other jobs are on, too,
 * (which cores go with which GPUs is stock's to know) once more on idle ones.
 */
static enum weft_cause attempt_plans(struct attempt *attempt)
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	enum weft_cause cause = WEFT_CAUSE_NO_ROOM;
	uint32_t n_shapes =
		weft_request_shapes(&attempt->request, &attempt->frame,
				    count_able(attempt), shapes, &attempt->err);

	if (!n_shapes && attempt->err.code)
		return attempt->err.code == WEFT_ENOSYS ? WEFT_CAUSE_UNCLEAR
							: WEFT_CAUSE_SPEC;
	for (uint32_t s = 0; s < n_shapes && attempt->n_tries < MAX_TRIES;
	     s++) {
		/* A batch or an expert group may come out even at another
		 * number of nodes. */
		attempt->err = (struct weft_error){0};
		cause = attempt_shape(attempt, &shapes[s], false);
		if (cause == WEFT_CAUSE_REFUSED && !attempt->all_idle)
			cause = attempt_shape(attempt, &shapes[s], true);
		if (cause == WEFT_CAUSE_NARROWED)
			return cause;
	}
	return attempt->n_tries ? WEFT_CAUSE_REFUSED : cause;
}

/* ---- accounts ---- */

static void say_ignored(const struct attempt *attempt, const char *reason)
{
	uint32_t job_id = attempt->request.job_id;
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
	};

	if (cause == WEFT_CAUSE_NARROWED) {
		decision.n_ranks = attempt->n_ranks;
		decision.where = attempt->where;
		attempt->where = NULL;
	}
	snprintf(decision.reason, sizeof(decision.reason), "%s",
		 attempt->unclear ? attempt->unclear : weft_cause_names[cause]);
	if (cause == WEFT_CAUSE_SPEC) {
		weft_bridge_escape(&attempt->err, decision.reason);
		say_ignored(attempt, decision.reason);
	}
	weft_counters_add(&weft_counters, cause, attempt->plan_s);
	weft_publish_decided(&decision);
}

int weft_narrow(const struct weft_job_test *test)
{
	struct attempt attempt = {.test = test, .bound = (double)NAN};
	struct timespec start;
	enum weft_cause cause;

	clock_gettime(CLOCK_MONOTONIC, &start);
	cause = attempt_read(&attempt);
	if (cause == WEFT_CAUSE_NARROWED && !weft_engine_begin())
		cause = WEFT_CAUSE_RESTING;
	if (cause == WEFT_CAUSE_NARROWED) {
		cause = attempt_plans(&attempt);
		weft_engine_end();
	}
	decide(&attempt, cause, elapsed_s(&start));
	free(attempt.where);
	if (cause != WEFT_CAUSE_PASS)
		debug2("weft: JobId=%u %s: %s, %u tries, %.3f ms, of which "
		       "planning %.3f ms",
		       test->job->job_id,
		       is_will_run(test) ? "will run" : "run now",
		       weft_cause_names[cause], attempt.n_tries,
		       elapsed_s(&start) * 1e3, attempt.plan_s * 1e3);
	if (cause == WEFT_CAUSE_NARROWED)
		return SLURM_SUCCESS;
	if (cause != WEFT_CAUSE_PASS)
		weft_waiting_tell(test, &attempt.request, &attempt.frame, cause,
				  &attempt.err);
	return weft_stock_job_test(test);
}

void weft_narrow_summary(void)
{
	char text[512];

	weft_counters_text(&weft_counters, text, sizeof(text));
	if (text[0])
		verbose("weft: so far: %s", text);
}
