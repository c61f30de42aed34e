/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs_load.c - loads of the jobs that Slurm runs */
#include "plugin/jobs_load.h"

#include <stdlib.h>

#include "base/clock.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

/* Slurm's locks are held while running jobs are looked at after a restart: for
 * so long at once, and then with each question about a job. */
#define REBUILD_S 0.02
#define GO_ON_S	  0.001

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

void weft_jobs_load_started(const job_record_t *job, const char *spec,
			    const uint32_t *where, uint32_t n_gpus)
{
	struct weft_bridge *bridge = &weft_engine.bridge;
	struct weft_load_parts parts = {0};
	int rc;

	if (!is_followed())
		return;
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
	weft_link_load_drop(&weft_engine.loads, job->job_id);
	loads_show();
}

/* ---- after a restart ---- */

/* Jobs that are still to be looked at; malloc'ed. */
static struct {
	uint32_t n, *ids;
} left;

void weft_jobs_load_forget(void)
{
	free(left.ids);
	left.ids = NULL;
	left.n = 0;
}

static bool is_running(const job_record_t *job)
{
	return IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job);
}

static int note_job(void *item, void *arg)
{
	const job_record_t *job = item;
	const uint32_t *room = arg;

	if (is_running(job) && left.n < *room)
		left.ids[left.n++] = job->job_id;
	return 0;
}

static void look_at(const job_record_t *job, uint32_t *where)
{
	uint32_t n_gpus, n_partial;
	const char *spec;

	if (!weft_job_record_spec(job, &spec))
		spec = NULL;
	n_gpus = weft_nodes_allocated(&weft_engine.nodes, job, 0, where,
				      weft_engine.nodes.fabric->n_gpus,
				      &n_partial);
	weft_deadline_set(weft_worked_s() + weft_engine.settings->budget_s);
	weft_jobs_load_started(job, spec, where, n_gpus);
	weft_deadline_set(0);
}

/* One job at least. */
static void look_for(double time_s)
{
	double end_s = weft_worked_s() + time_s;
	uint32_t *where = NULL;

	if (is_followed() && weft_engine_on())
		where = weft_calloc(weft_engine.nodes.fabric->n_gpus,
				    sizeof(*where), NULL);
	while (where && left.n) {
		const job_record_t *job = find_job_record(left.ids[--left.n]);

		if (!job || !is_running(job))
			continue;
		look_at(job, where);
		if (weft_worked_s() > end_s)
			break;
	}
	if (!where || !left.n)
		weft_jobs_load_forget();
	free(where);
}

void weft_jobs_load_rebuild(void)
{
	uint32_t room = job_list ? (uint32_t)list_count(job_list) : 0;

	weft_jobs_load_forget();
	if (room)
		left.ids = weft_calloc(room, sizeof(*left.ids), NULL);
	if (!left.ids)
		return;
	list_for_each(job_list, note_job, &room);
	look_for(REBUILD_S);
}

void weft_jobs_load_go_on(void)
{
	if (left.n)
		look_for(GO_ON_S);
}
