/* SPDX-License-Identifier: GPL-3.0-or-later */
/* matrix.c - how long the matrix of a large job and its cost take, and how much
 * memory; one JSON object per line */
#include "base/clock.h"
#include "costmodel/time/cost.h"
#include "costmodel/traffic/schedule.h"
#include "tests/lib/traffic.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define FABRIC	"pod:4 leaf:16 node:32 gpu:8"
#define REPEATS 9

/* Smallest first: the peak of memory does not fall again. */
static const char *const jobs[] = {
	"tp=8,pp=16,dp=128,model=llama3-405B",
	"tp=8,cp=2,pp=16,dp=64,model=llama3-405B",
	"tp=8,cp=2,pp=16,dp=64,zero=3,recompute=full,model=llama3-405B",
	"tp=8,cp=2,pp=16,dp=64,ep=64,model=deepseek-v3",
};

struct times {
	double schedule_s, matrix_s, cost_s;
};

static double peak_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return 1024.0 * (double)usage.ru_maxrss;
}

static int measure(const struct weft_fabric *f, const struct weft_spec *spec,
		   const uint32_t *where, struct times *times,
		   struct weft_error *err)
{
	double start_s = weft_clock_s();
	struct weft_schedule schedule = {0};
	struct weft_traffic traffic = {0};
	struct weft_model model;
	struct weft_grid grid;
	struct weft_cost cost;
	int rc = -1;

	if (weft_model_find(spec->model, &model, err) ||
	    weft_spec_grid(spec, &grid, err) ||
	    weft_schedule_build(spec, &model, &schedule, err))
		goto out;
	times->schedule_s = weft_clock_s() - start_s;
	start_s = weft_clock_s();
	if (traffic_of_spec(spec, &model, &traffic, err))
		goto out;
	times->matrix_s = weft_clock_s() - start_s;
	start_s = weft_clock_s();
	if (weft_cost(f, &traffic, where, NULL, &cost, err))
		goto out;
	times->cost_s = weft_clock_s() - start_s;
	rc = 0;
out:
	weft_traffic_free(&traffic);
	weft_schedule_free(&schedule);
	return rc;
}

static int run(const struct weft_fabric *f, const uint32_t *where,
	       const char *job, struct weft_error *err)
{
	struct times best = {0}, times = {0};
	struct weft_spec spec;

	if (weft_spec_parse(job, &spec, err) ||
	    weft_spec_resolve(&spec, 0, err))
		return -1;
	for (int i = 0; i < REPEATS; i++) {
		if (measure(f, &spec, where, &times, err))
			return -1;
		if (i == 0 ||
		    times.matrix_s + times.cost_s < best.matrix_s + best.cost_s)
			best = times;
	}
	printf("{\"job\": \"%s\", \"ranks\": %u, \"schedule_s\": %.6f, "
	       "\"matrix_s\": %.6f, \"cost_s\": %.6f, "
	       "\"peak_bytes\": %.0f}\n",
	       job, spec.gpus, best.schedule_s, best.matrix_s, best.cost_s,
	       peak_bytes());
	return 0;
}

int main(void)
{
	const struct weft_synth_options options = {0};
	struct weft_error err = {0};
	char *text = weft_synth(FABRIC, &options, &err);
	struct weft_fabric *f = NULL;
	uint32_t *where = NULL;
	char message[512];
	int rc = -1;

	if (text)
		f = weft_fabric_parse(text, strlen(text), FABRIC, &err);
	if (f)
		where = weft_calloc(f->n_gpus, sizeof(*where), &err);
	if (!where)
		goto out;
	for (uint32_t r = 0; r < f->n_gpus; r++)
		where[r] = r;
	rc = 0;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]) && !rc; i++)
		rc = run(f, where, jobs[i], &err);
out:
	if (rc)
		fprintf(stderr, "bench: %s\n",
			weft_error_text(&err, message, sizeof(message)));
	free(where);
	weft_fabric_free(f);
	free(text);
	return rc ? 1 : 0;
}
