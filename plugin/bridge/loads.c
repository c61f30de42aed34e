/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loads.c - sums of jobs' traffic that can be taken apart again */
#include "plugin/bridge/loads.h"

#include "costmodel/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_STEP 64

/* One job's share of the links that it uses. */
struct weft_job_load {
	uint32_t n;
	struct {
		uint32_t domain;
		double up, down; /* bytes per second */
	} of[];
};

int weft_loads_build(const struct weft_fabric *f, struct weft_loads *loads,
		     struct weft_error *err)
{
	uint32_t n = f->n_domains;

	memset(loads, 0, sizeof(*loads));
	loads->up = weft_calloc(n, sizeof(double), err);
	loads->down = weft_calloc(n, sizeof(double), err);
	loads->n_jobs = weft_calloc(n, sizeof(*loads->n_jobs), err);
	loads->work[0] = weft_calloc(n, sizeof(double), err);
	loads->work[1] = weft_calloc(n, sizeof(double), err);
	if (!loads->up || !loads->down || !loads->n_jobs || !loads->work[0] ||
	    !loads->work[1])
		return -1;
	return weft_load_build(f, &loads->total, err);
}

void weft_loads_free(struct weft_loads *loads)
{
	for (uint32_t j = 0; j < loads->n; j++)
		free(loads->jobs[j]);
	free(loads->jobs);
	free(loads->ids);
	free(loads->up);
	free(loads->down);
	free(loads->n_jobs);
	free(loads->work[0]);
	free(loads->work[1]);
	weft_load_free(&loads->total);
	memset(loads, 0, sizeof(*loads));
}

/* ---- sums ---- */

/* A link that is f times as slow has 1/f left: weft_load_rate says that of a
 * load of 1 - 1/f of it by so many jobs that their equal share is no more. */
static void total_set(struct weft_loads *loads, uint32_t d)
{
	struct weft_load *total = &loads->total;
	double ill = loads->ill ? loads->ill[d] : 1;
	double lost = 0;

	total->n_jobs[d] = loads->n_jobs[d];
	if (ill > 1) {
		lost = weft_cost_uplink_rate(total->fabric, d) * (1 - 1 / ill);
		total->n_jobs[d] += (uint32_t)ceil(ill) - 1;
	}
	total->up[d] = loads->up[d] + lost;
	total->down[d] = loads->down[d] + lost;
}

static void job_add(struct weft_loads *loads, const struct weft_job_load *job)
{
	for (uint32_t k = 0; k < job->n; k++) {
		uint32_t d = job->of[k].domain;

		loads->up[d] += job->of[k].up;
		loads->down[d] += job->of[k].down;
		loads->n_jobs[d]++;
		total_set(loads, d);
	}
}

static void job_subtract(struct weft_loads *loads,
			 const struct weft_job_load *job)
{
	for (uint32_t k = 0; k < job->n; k++) {
		uint32_t d = job->of[k].domain;

		loads->up[d] -= job->of[k].up;
		loads->down[d] -= job->of[k].down;
		/* Rounding must not add up over years. */
		if (--loads->n_jobs[d] == 0)
			loads->up[d] = loads->down[d] = 0;
		total_set(loads, d);
	}
}

/* ---- jobs ---- */

static bool jobs_grow(struct weft_loads *loads, struct weft_error *err)
{
	uint32_t room = loads->room + ROOM_STEP;
	struct weft_job_load **jobs;
	uint32_t *ids;

	if (loads->n < loads->room)
		return true;
	ids = weft_realloc(loads->ids, room, sizeof(*ids), err);
	if (!ids)
		return false;
	loads->ids = ids;
	jobs = weft_realloc(loads->jobs, room, sizeof(struct weft_job_load *),
			    err);
	if (!jobs)
		return false;
	loads->jobs = jobs;
	loads->room = room;
	return true;
}

void weft_loads_drop(struct weft_loads *loads, uint32_t job_id)
{
	uint32_t j = 0;

	while (j < loads->n && loads->ids[j] != job_id)
		j++;
	if (j == loads->n)
		return;
	job_subtract(loads, loads->jobs[j]);
	free(loads->jobs[j]);
	loads->n--;
	loads->ids[j] = loads->ids[loads->n];
	loads->jobs[j] = loads->jobs[loads->n];
	loads->total.n = loads->n;
}

/* The links that are used, out of work[], which is left all zeros. */
static struct weft_job_load *links_take(struct weft_loads *loads, double step_s,
					struct weft_error *err)
{
	const uint32_t n_domains = loads->total.fabric->n_domains;
	double *up = loads->work[0], *down = loads->work[1];
	struct weft_job_load *job;
	uint32_t n = 0;

	for (uint32_t d = 0; d < n_domains; d++)
		n += up[d] > 0 || down[d] > 0;
	job = weft_calloc(1, sizeof(*job) + n * sizeof(job->of[0]), err);
	for (uint32_t d = 0; job && d < n_domains; d++) {
		if (!(up[d] > 0 || down[d] > 0))
			continue;
		job->of[job->n].domain = d;
		job->of[job->n].up = up[d] / step_s;
		job->of[job->n].down = down[d] / step_s;
		job->n++;
	}
	memset(up, 0, n_domains * sizeof(*up));
	memset(down, 0, n_domains * sizeof(*down));
	return job;
}

int weft_loads_put(struct weft_loads *loads, uint32_t job_id,
		   const struct weft_traffic *t, const uint32_t *where,
		   double step_s, struct weft_error *err)
{
	struct weft_job_load *job;
	int rc;

	weft_loads_drop(loads, job_id);
	if (!(step_s > 0) || !isfinite(step_s))
		return weft_fail(err, WEFT_EINVAL,
				 "a step of %g s says nothing of the load",
				 step_s);
	if (!jobs_grow(loads, err))
		return -1;
	rc = weft_cost_links(loads->total.fabric, t, where, loads->work[0],
			     loads->work[1], err);
	job = links_take(loads, step_s, err);
	if (rc < 0 || !job) {
		free(job);
		return -1;
	}
	job_add(loads, job);
	loads->ids[loads->n] = job_id;
	loads->jobs[loads->n] = job;
	loads->total.n = ++loads->n;
	return 0;
}

void weft_loads_ill(struct weft_loads *loads, const struct weft_health *health)
{
	loads->ill = health ? health->link : NULL;
	for (uint32_t d = 0; d < loads->total.fabric->n_domains; d++)
		total_set(loads, d);
}

const struct weft_load *weft_loads_total(const struct weft_loads *loads)
{
	return loads->n || loads->ill ? &loads->total : NULL;
}
