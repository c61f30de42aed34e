/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs_load.c - loads of the jobs that Slurm runs */
#include "plugin/jobs_load.h"

#include <stdlib.h>

#include "base/clock.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"

#include "src/common/log.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

/* Slurm's locks are held while all jobs are looked at: those that are left then
 * count for nothing. */
#define REBUILD_S 2.0

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

struct rebuild {
	uint32_t *where; /* [fabric->n_gpus] */
	double end_s;
	uint32_t n_left;
};

static int rebuild_job(void *item, void *arg)
{
	const job_record_t *job = item;
	struct rebuild *rebuild = arg;
	uint32_t n_gpus, n_partial;
	const char *spec;

	if (!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job))
		return 0;
	if (!weft_job_record_spec(job, &spec))
		spec = NULL;
	if (weft_clock_s() > rebuild->end_s) {
		rebuild->n_left++;
		return 0;
	}
	n_gpus = weft_nodes_allocated(
		&weft_engine.nodes, job, 0, rebuild->where,
		weft_engine.nodes.fabric->n_gpus, &n_partial);
	weft_jobs_load_started(job, spec, rebuild->where, n_gpus);
	return 0;
}

void weft_jobs_load_rebuild(void)
{
	struct rebuild rebuild = {.end_s = weft_clock_s() + REBUILD_S};

	if (!is_followed() || !weft_engine_on() || !job_list)
		return;
	rebuild.where = weft_calloc(weft_engine.nodes.fabric->n_gpus,
				    sizeof(*rebuild.where), NULL);
	if (!rebuild.where)
		return;
	list_for_each(job_list, rebuild_job, &rebuild);
	free(rebuild.where);
	if (rebuild.n_left)
		info("weft: the traffic of %u running jobs is left out: there "
		     "are too many to look at all",
		     rebuild.n_left);
}
