/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs_load.c - loads of the jobs that Slurm runs */
#include "plugin/jobs_load.h"

#include <stdlib.h>

#include "base/clock.h"
#include "plugin/bridge/running/loads_worker.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"

#include "src/common/log.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

/* Slurm's locks are held: after a restart the loads of a small cluster are
 * waited for. */
#define REBUILD_S 0.02

/* And what threads have found is put with the other loads for so long in each
 * question. */
#define PUT_S 0.001

/* Threads at work: more is done at once, as far as there is time. */
#define MAX_WORKING 8

static struct working {
	struct weft_loads_worker *worker; /* NULL: none, or it is done */
	uint32_t n, *ids;	      /* [n] job_id; 0: it is not what it was */
	struct weft_loads_jobs found; /* by the thread */
	uint32_t n_put;		      /* of them */
} working[MAX_WORKING];

/* For those who look from outside. */
static void loads_show(void)
{
	weft_status.n_loads = weft_engine.loads.n;
	weft_status.n_changes++;
}

static bool is_followed(void)
{
	return weft_engine.settings && weft_engine.settings->contention &&
	       weft_engine.loads.total.fabric;
}

/* ---- by a thread ---- */

static void working_end(struct working *w)
{
	weft_loads_worker_leave(w->worker);
	weft_loads_jobs_free(&w->found);
	free(w->ids);
	*w = (struct working){0};
}

/* Takes over the jobs, also on failure. */
static struct working *work_on(struct weft_loads_jobs *jobs,
			       struct weft_error *err)
{
	struct working *w = working;

	while (w < working + MAX_WORKING && w->ids)
		w++;
	if (w == working + MAX_WORKING) {
		weft_loads_jobs_free(jobs);
		return NULL;
	}
	w->n = jobs->n;
	w->ids = weft_calloc(jobs->n, sizeof(*w->ids), err);
	for (uint32_t i = 0; w->ids && i < jobs->n; i++)
		w->ids[i] = jobs->jobs[i].job_id;
	if (w->ids)
		w->worker = weft_loads_worker_start(weft_engine.settings, jobs,
						    err);
	else
		weft_loads_jobs_free(jobs);
	if (w->worker)
		return w;
	working_end(w);
	return NULL;
}

/* Takes over what the thread has found, if it is ready in time, and puts some
 * of it with the other loads. */
static void take_from(struct working *w, double limit_s)
{
	double end_s;

	if (w->worker) {
		if (!weft_loads_worker_take(w->worker, limit_s, &w->found))
			return;
		w->worker = NULL;
	}
	end_s = weft_worked_s() + PUT_S;
	while (w->n_put < w->found.n && weft_worked_s() < end_s) {
		struct weft_loads_job *job = &w->found.jobs[w->n_put];

		if (w->ids[w->n_put++] && job->known && is_followed())
			weft_link_load_put(&weft_engine.loads, job->job_id,
					   &job->parts, NULL);
	}
	loads_show();
	if (w->n_put == w->found.n)
		working_end(w);
}

static void forget_job(uint32_t job_id)
{
	for (struct working *w = working; w < working + MAX_WORKING; w++)
		for (uint32_t i = w->n_put; i < w->n; i++)
			if (w->ids[i] == job_id)
				w->ids[i] = 0;
}

void weft_jobs_load_forget(void)
{
	for (struct working *w = working; w < working + MAX_WORKING; w++)
		working_end(w);
}

void weft_jobs_load_go_on(void)
{
	for (struct working *w = working; w < working + MAX_WORKING; w++)
		if (w->ids)
			take_from(w, 0);
}

/* ---- a job ---- */

static bool hand_over(uint32_t job_id, const char *spec, const uint32_t *where,
		      uint32_t n_gpus)
{
	struct weft_loads_jobs jobs;

	if (weft_loads_jobs_build(1, &jobs, NULL) < 0)
		return false;
	if (weft_loads_jobs_add(&jobs, job_id, spec, where, n_gpus, NULL) < 0) {
		weft_loads_jobs_free(&jobs);
		return false;
	}
	return work_on(&jobs, NULL);
}

void weft_jobs_load_started(const job_record_t *job, const char *spec,
			    const uint32_t *where, uint32_t n_gpus)
{
	struct weft_bridge *bridge = &weft_engine.bridge;
	struct weft_load_parts parts = {0};
	int rc;

	if (!is_followed())
		return;
	if (n_gpus > WEFT_LOADS_AT_ONCE &&
	    hand_over(job->job_id, spec, where, n_gpus)) {
		weft_link_load_drop(&weft_engine.loads, job->job_id);
		return;
	}
	rc = weft_bridge_running(bridge, spec, where, n_gpus, &parts, NULL);
	if (rc && spec) {
		weft_load_parts_free(&parts);
		parts = (struct weft_load_parts){0};
		rc = weft_bridge_running(bridge, NULL, where, n_gpus, &parts,
					 NULL);
	}
	if (rc ||
	    weft_link_load_put(&weft_engine.loads, job->job_id, &parts, NULL)) {
		weft_load_parts_free(&parts);
		weft_link_load_drop(&weft_engine.loads, job->job_id);
	}
	loads_show();
}

void weft_jobs_load_ended(const job_record_t *job)
{
	if (!is_followed())
		return;
	forget_job(job->job_id);
	weft_link_load_drop(&weft_engine.loads, job->job_id);
	loads_show();
}

/* ---- after a restart ---- */

struct collecting {
	struct weft_loads_jobs jobs;
	uint32_t room, *where;
};

static int collect(void *item, void *arg)
{
	const job_record_t *job = item;
	struct collecting *c = arg;
	uint32_t n_gpus = 0, n_partial;
	const char *spec;

	if ((!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job)) ||
	    c->jobs.n == c->room)
		return 0;
	if (!weft_job_record_spec(job, &spec))
		spec = NULL;
	n_gpus = weft_nodes_allocated(&weft_engine.nodes, job, 0, c->where,
				      weft_engine.nodes.fabric->n_gpus,
				      &n_partial);
	if (n_gpus)
		weft_loads_jobs_add(&c->jobs, job->job_id, spec, c->where,
				    n_gpus, NULL);
	return 0;
}

void weft_jobs_load_rebuild(void)
{
	struct collecting c = {.room = job_list ? list_count(job_list) : 0};
	struct weft_error err = {0};
	struct working *w = NULL;

	weft_jobs_load_forget();
	if (!c.room || !is_followed() || !weft_engine_on())
		return;
	c.where = weft_calloc(weft_engine.nodes.fabric->n_gpus,
			      sizeof(*c.where), &err);
	if (c.where && weft_loads_jobs_build(c.room, &c.jobs, &err) == 0) {
		list_for_each(job_list, collect, &c);
		if (c.jobs.n)
			w = work_on(&c.jobs, &err);
		else
			weft_loads_jobs_free(&c.jobs);
	}
	free(c.where);
	if (w)
		take_from(w, REBUILD_S);
	else if (err.code)
		error("weft: what running jobs send is not known: %s",
		      err.text);
}
