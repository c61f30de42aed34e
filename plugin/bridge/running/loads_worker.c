/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loads_worker.c - traffic of running jobs, priced by a thread */
#include "plugin/bridge/running/loads_worker.h"

#include "base/clock.h"
#include "placement/capacity/running.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files/worker.h"

#include <stdlib.h>
#include <string.h>

/* A user writes the spec: of the processor's time for one job. */
#define JOB_LIMIT_S 1.0

struct weft_loads_worker {
	struct weft_worker *worker;
	struct weft_settings *settings;
	struct weft_loads_jobs jobs; /* the thread's until its round has ended
				      */
};

/* ---- jobs ---- */

int weft_loads_jobs_build(uint32_t n, struct weft_loads_jobs *jobs,
			  struct weft_error *err)
{
	*jobs = (struct weft_loads_jobs){0};
	jobs->jobs = weft_calloc(n, sizeof(*jobs->jobs), err);
	return jobs->jobs ? 0 : -1;
}

int weft_loads_jobs_add(struct weft_loads_jobs *jobs, uint32_t job_id,
			const char *spec, const uint32_t *where,
			uint32_t n_gpus, struct weft_error *err)
{
	struct weft_loads_job job = {.job_id = job_id, .n_gpus = n_gpus};

	job.where = weft_calloc(n_gpus, sizeof(*job.where), err);
	job.spec = spec ? weft_strdup(spec, err) : NULL;
	if (!job.where || (spec && !job.spec)) {
		free(job.where);
		free(job.spec);
		return -1;
	}
	memcpy(job.where, where, n_gpus * sizeof(*where));
	jobs->jobs[jobs->n++] = job;
	return 0;
}

void weft_loads_jobs_free(struct weft_loads_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		weft_load_parts_free(&jobs->jobs[i].parts);
		free(jobs->jobs[i].where);
		free(jobs->jobs[i].spec);
	}
	free(jobs->jobs);
	*jobs = (struct weft_loads_jobs){0};
}

/* ---- the thread ---- */

static bool find_parts(const struct weft_settings *settings, const char *spec,
		       struct weft_loads_job *job)
{
	struct weft_job built;
	bool found;

	weft_deadline_set(weft_worked_s() + JOB_LIMIT_S);
	found = weft_bridge_build(settings, spec, job->n_gpus, WEFT_NO_PAIRS,
				  &built, NULL) == 0 &&
		built.n_gpus == job->n_gpus &&
		weft_running_parts(settings->fabric, &built, job->where, NULL,
				   0, &job->parts, NULL) == 0;
	weft_deadline_set(0);
	weft_job_free(&built);
	if (!found) {
		weft_load_parts_free(&job->parts);
		job->parts = (struct weft_load_parts){0};
	}
	return found;
}

static bool has_all_gpus(const struct weft_loads_job *job)
{
	for (uint32_t r = 0; r < job->n_gpus; r++)
		if (job->where[r] == WEFT_NONE)
			return false;
	return job->n_gpus > 0;
}

static bool find_loads(void *self, const struct weft_worker *worker)
{
	struct weft_loads_worker *loads = self;

	for (uint32_t i = 0; i < loads->jobs.n && !weft_worker_left(worker);
	     i++) {
		struct weft_loads_job *job = &loads->jobs.jobs[i];

		job->known = has_all_gpus(job) &&
			     ((job->spec &&
			       find_parts(loads->settings, job->spec, job)) ||
			      find_parts(loads->settings, "", job));
	}
	return false;
}

static void loads_free(void *self)
{
	struct weft_loads_worker *loads = self;

	weft_loads_jobs_free(&loads->jobs);
	weft_settings_free(loads->settings);
	free(loads);
}

/* ---- the owner ---- */

struct weft_loads_worker *
weft_loads_worker_start(struct weft_settings *settings,
			struct weft_loads_jobs *jobs, struct weft_error *err)
{
	struct weft_loads_worker *loads = weft_calloc(1, sizeof(*loads), err);
	const struct weft_work work = {
		.name = "weft-loads",
		.round = find_loads,
		.release = loads_free,
		.self = loads,
	};

	if (!loads) {
		weft_loads_jobs_free(jobs);
		return NULL;
	}
	loads->settings = weft_settings_hold(settings);
	loads->jobs = *jobs;
	*jobs = (struct weft_loads_jobs){0};
	loads->worker = weft_worker_start(&work, err);
	if (loads->worker)
		return loads;
	loads_free(loads);
	return NULL;
}

bool weft_loads_worker_take(struct weft_loads_worker *loads, double limit_s,
			    struct weft_loads_jobs *jobs)
{
	if (!weft_worker_wait(loads->worker, limit_s))
		return false;
	*jobs = loads->jobs;
	loads->jobs = (struct weft_loads_jobs){0};
	weft_loads_worker_leave(loads);
	return true;
}

void weft_loads_worker_leave(struct weft_loads_worker *loads)
{
	if (loads)
		weft_worker_leave(loads->worker);
}
