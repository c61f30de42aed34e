/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_run.c - a stream of jobs under one policy, event by event */
#include "lab/replay/replay_run.h"
#include "base/compare.h"
#include "lab/replay/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from every job's fate to the few numbers of a policy ---- */

static double ratio(double value, double ideal)
{
	return ideal > 0 ? value / ideal : 1;
}

static void means_add(const struct weft_replay *r,
		      const struct weft_replay_kind *kind,
		      const struct weft_replay_job *job,
		      struct weft_replay_means *m)
{
	m->n++;
	m->cost_ratio += ratio(job->cost, kind->ideal_cost);
	for (uint32_t l = 0; l < r->fabric->n_levels; l++)
		m->domains[l] += job->domains[l];
	if (!kind->timed)
		return;
	m->n_timed++;
	m->step_ratio += ratio(job->step_s, kind->ideal_step_s);
	m->alone_step_ratio += ratio(job->alone_step_s, kind->ideal_step_s);
	m->step_s += job->step_s;
	m->ideal_step_s += kind->ideal_step_s;
}

static void means_finish(struct weft_replay_means *m)
{
	double n = m->n ? m->n : 1, n_timed = m->n_timed ? m->n_timed : 1;

	m->cost_ratio /= n;
	m->step_ratio /= n_timed;
	m->alone_step_ratio /= n_timed;
	m->step_s /= n_timed;
	m->ideal_step_s /= n_timed;
	for (uint32_t l = 0; l < WEFT_MAX_LEVELS; l++)
		m->domains[l] /= n;
}

/* Sorts values[n]. */
static void spread_find(double *values, uint32_t n,
			struct weft_replay_spread *spread)
{
	const struct {
		double *to;
		uint64_t percent;
	} shares[] = {{&spread->p50, 50},
		      {&spread->p90, 90},
		      {&spread->p95, 95},
		      {&spread->p99, 99},
		      {&spread->max, 100}};
	double sum = 0;

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	qsort(values, n, sizeof(*values), weft_compare_reals);
	spread->mean = sum / n;
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		*shares[i].to = values[(n - 1) * shares[i].percent / 100];
}

static int spreads_find(const struct weft_replay *r,
			struct weft_replay_outcome *outcome,
			struct weft_error *err)
{
	uint32_t n = 0, n_multi = 0, room = r->stream->n;
	double *waits = weft_calloc(3 * (size_t)room, sizeof(*waits), err);
	double *train = waits + room, *ratios = train + room;

	if (!waits)
		return -1;
	for (uint32_t i = 0; i < room; i++) {
		const struct weft_replay_job *job = &outcome->jobs[i];
		const struct weft_stream_job *asked = &r->stream->jobs[i];

		if (r->kind_of[i] == WEFT_NONE)
			continue;
		waits[n++] = job->start_s - asked->submit_s;
		if (r->kinds[r->kind_of[i]].n_nodes == 1)
			continue;
		train[n_multi] = job->end_s - job->start_s;
		ratios[n_multi] = ratio(train[n_multi], asked->duration_s);
		n_multi++;
	}
	spread_find(waits, n, &outcome->wait_s);
	spread_find(train, n_multi, &outcome->train_s);
	spread_find(ratios, n_multi, &outcome->train_ratio);
	free(waits);
	return 0;
}

/* Seconds of [start, end] before `until`. */
static double before(double start_s, double end_s, double until_s)
{
	if (start_s >= until_s)
		return 0;
	return (end_s < until_s ? end_s : until_s) - start_s;
}

static void use_summarise(const struct weft_replay *r,
			  struct weft_replay_outcome *outcome)
{
	const struct weft_stream *s = r->stream;
	double last_s = s->n ? s->jobs[s->n - 1].submit_s : 0;
	double busy = 0, busy_arrivals = 0, useful = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct weft_replay_job *job = &outcome->jobs[i];
		uint32_t gpus;

		if (r->kind_of[i] == WEFT_NONE)
			continue;
		gpus = r->kinds[r->kind_of[i]].job.n_gpus;
		busy += gpus * (job->end_s - job->start_s);
		busy_arrivals +=
			gpus * before(job->start_s, job->end_s, last_s);
		useful += gpus * s->jobs[i].duration_s;
		if (job->end_s > outcome->makespan_s)
			outcome->makespan_s = job->end_s;
	}
	if (outcome->makespan_s > 0) {
		double room = outcome->makespan_s * r->fabric->n_gpus;

		outcome->sor = busy / room;
		outcome->goodput = useful / room;
	}
	if (last_s > 0) {
		outcome->gar = busy_arrivals / (last_s * r->fabric->n_gpus);
		outcome->gfr = outcome->parted_s / last_s;
	}
}

/* Fills all of the outcome but policy, jobs, parted_s and decisions from those.
 */
static int replay_summarise(const struct weft_replay *r,
			    struct weft_replay_outcome *outcome,
			    struct weft_error *err)
{
	for (uint32_t i = 0; i < r->stream->n; i++) {
		const struct weft_replay_kind *kind;

		if (r->kind_of[i] == WEFT_NONE)
			continue;
		kind = &r->kinds[r->kind_of[i]];
		means_add(r, kind, &outcome->jobs[i], &outcome->all);
		if (kind->n_nodes > 1)
			means_add(r, kind, &outcome->jobs[i], &outcome->multi);
	}
	means_finish(&outcome->all);
	means_finish(&outcome->multi);
	use_summarise(r, outcome);
	return spreads_find(r, outcome, err);
}

/* ---- the jobs, event by event ---- */

static void waiting_add(struct run *run, uint32_t job)
{
	run->previous[job] = run->last;
	run->next[job] = WEFT_NONE;
	if (run->last == WEFT_NONE)
		run->first = job;
	else
		run->next[run->last] = job;
	run->last = job;
	run->n_waiting++;
}

static void waiting_remove(struct run *run, uint32_t job)
{
	uint32_t next = run->next[job], previous = run->previous[job];

	if (previous == WEFT_NONE)
		run->first = next;
	else
		run->next[previous] = next;
	if (next == WEFT_NONE)
		run->last = previous;
	else
		run->previous[next] = previous;
	run->n_waiting--;
}

/* A reservation holds until its job starts or the ends of running jobs move:
 * no job that would move it may pass. */
static int reservation_keep(struct run *run, struct weft_error *err)
{
	if (run->first == WEFT_NONE ||
	    run->r->options->queue == WEFT_QUEUE_FIFO ||
	    (run->reserved.job == run->first && !run->moved))
		return 0;
	run->moved = false;
	return reservation_make(run, run->first, err);
}

/* Starts jobs from the head of the queue, then reserves for the one that has to
 * wait. */
static int heads_start(struct run *run, struct weft_error *err)
{
	bool started = true;

	while (run->first != WEFT_NONE && started) {
		uint32_t job = run->first;

		if (run->reserved.job != job)
			run->reserved.job = WEFT_NONE;
		if (run_try(run, job, &started, err))
			return -1;
		if (started)
			waiting_remove(run, job);
	}
	return reservation_keep(run, err);
}

static int backfill_one(struct run *run, uint32_t job, struct weft_error *err)
{
	bool started;

	if (run_try(run, job, &started, err))
		return -1;
	if (!started)
		return 0;
	waiting_remove(run, job);
	return reservation_keep(run, err);
}

static uint32_t depth(const struct run *run)
{
	uint32_t depth = run->r->options->depth;

	return depth ? depth : WEFT_REPLAY_DEPTH;
}

/* After jobs have ended anyone may fit. */
static int queue_start(struct run *run, struct weft_error *err)
{
	uint32_t job, next;

	if (heads_start(run, err))
		return -1;
	if (run->first == WEFT_NONE ||
	    run->r->options->queue == WEFT_QUEUE_FIFO)
		return 0;
	job = run->next[run->first];
	for (uint32_t i = 0; i < depth(run) && job != WEFT_NONE; i++) {
		next = run->next[job];
		if (backfill_one(run, job, err))
			return -1;
		job = next;
	}
	return 0;
}

/* While nothing ends, no waiting job can start: only the one that has
 * just come is tried. */
static int arrival_start(struct run *run, uint32_t job, struct weft_error *err)
{
	bool alone = run->first == WEFT_NONE;

	waiting_add(run, job);
	if (alone)
		return heads_start(run, err);
	if (run->r->options->queue == WEFT_QUEUE_FIFO ||
	    run->n_waiting > depth(run) + 1)
		return 0;
	return backfill_one(run, job, err);
}

static int progress_tell(const struct run *run, struct weft_error *err)
{
	const struct weft_replay_options *o = run->r->options;

	if (!o->progress ||
	    o->progress(o->context, run->n_ended, run->r->stream->n) == 0)
		return 0;
	return weft_fail(err, WEFT_EINVAL,
			 "interrupted: policy %s had %u of %u jobs through",
			 run->policy->name, run->n_ended, run->r->stream->n);
}

/* Goes on to the time of the next event. */
static void time_pass(struct run *run, double now_s)
{
	const struct weft_stream *s = run->r->stream;
	double until_s = fmin(now_s, s->jobs[s->n - 1].submit_s);

	if (until_s > run->now_s)
		run->parted_s += (until_s - run->now_s) * run->now.n_parted /
				 run->r->fabric->n_nodes;
	run->now_s = now_s;
}

/* What the job that ends first leaves behind. */
static int end(struct run *run, struct weft_error *err)
{
	struct stint ended = running_next(run);
	const struct weft_replay_kind *kind = run_kind(run, ended.job);
	struct weft_replay_job *fate = &run->outcome->jobs[ended.job];
	double duration_s = run->r->stream->jobs[ended.job].duration_s;
	int rc = ledger_give(&run->now, ended.where, kind->job.n_gpus, err);

	fate->end_s = ended.end_s;
	if (!run->r->options->as_recorded) {
		contention_remove(&run->contention, ended.job);
		if (kind->timed && duration_s > 0)
			fate->step_s = (ended.end_s - fate->start_s) /
				       duration_s * kind->ideal_step_s;
	}
	free(ended.where);
	run->n_ended++;
	return rc;
}

/* All that end now end, then the queue moves once. */
static int ends_handle(struct run *run, struct weft_error *err)
{
	time_pass(run, run->running[0].end_s);
	while (run->n_running && run->running[0].end_s == run->now_s) {
		if (end(run, err) || progress_tell(run, err))
			return -1;
	}
	if (running_settle(run, err))
		return -1;
	return queue_start(run, err);
}

/* Ends come before arrivals of the same moment. */
static int events_handle(struct run *run, struct weft_error *err)
{
	const struct weft_stream *s = run->r->stream;
	uint32_t arriving = 0;

	for (;;) {
		while (arriving < s->n &&
		       run->r->kind_of[arriving] == WEFT_NONE)
			arriving++;
		if (run->n_running &&
		    (arriving == s->n ||
		     run->running[0].end_s <= s->jobs[arriving].submit_s)) {
			if (ends_handle(run, err))
				return -1;
		} else if (arriving < s->n) {
			time_pass(run, s->jobs[arriving].submit_s);
			if (arrival_start(run, arriving++, err))
				return -1;
		} else {
			break;
		}
	}
	if (run->n_waiting)
		return weft_fail(err, WEFT_EINVAL,
				 "policy %s never places job %u (\"%.80s\")",
				 run->policy->name, run->first,
				 run_kind(run, run->first)->spec);
	return 0;
}

static int run_build(struct run *run, struct weft_error *err)
{
	const struct weft_replay *r = run->r;
	uint32_t n = r->stream->n;

	run->place.seed = r->options->seed;
	run->place.work_limit = r->options->work_limit;
	run->first = run->last = run->reserved.job = WEFT_NONE;
	run->outcome->jobs = weft_calloc(n, sizeof(*run->outcome->jobs), err);
	run->running = weft_calloc(n, sizeof(*run->running), err);
	run->at = weft_calloc(n, sizeof(*run->at), err);
	run->next = weft_calloc(n, sizeof(*run->next), err);
	run->previous = weft_calloc(n, sizeof(*run->previous), err);
	if (!run->outcome->jobs || !run->running || !run->at || !run->next ||
	    !run->previous || ledger_build(r->fabric, &run->now, err) ||
	    ledger_build(r->fabric, &run->reserved.then, err) ||
	    (!r->options->as_recorded &&
	     contention_build(r->fabric, n, &run->contention, err)))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		if (r->kind_of[i] == WEFT_NONE)
			run->outcome->jobs[i].start_s = -1;
	}
	return pricing_build(r->fabric, r->gpu, &run->pricing, err);
}

static void run_free(struct run *run)
{
	for (uint32_t i = 0; i < run->n_running; i++)
		free(run->running[i].where);
	free(run->running);
	free(run->at);
	free(run->next);
	free(run->previous);
	ledger_free(&run->now);
	ledger_free(&run->reserved.then);
	pricing_free(&run->pricing);
	contention_free(&run->contention);
}

int weft_replay_run(const struct weft_replay *r,
		    const struct weft_policy *policy,
		    struct weft_replay_outcome *outcome, struct weft_error *err)
{
	struct run run = {.r = r, .policy = policy, .outcome = outcome};
	int rc = -1;

	memset(outcome, 0, sizeof(*outcome));
	outcome->policy = policy;
	if (run_build(&run, err) || events_handle(&run, err))
		goto out;
	if (outcome->n_decisions)
		outcome->decision_s = run.decisions_s / outcome->n_decisions;
	outcome->parted_s = run.parted_s;
	rc = replay_summarise(r, outcome, err);
out:
	run_free(&run);
	return rc;
}
