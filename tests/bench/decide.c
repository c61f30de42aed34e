/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decide.c - how long slurmctld waits for a decision, and what a limit costs
 *
 * Each row is one job that asks again and again under other occupancies, whole
 * nodes of it, as the plugin asks: with its budget, and with what earlier
 * decisions have left behind.  Time is that of the processor, which other work
 * on this machine does not lengthen.  The cost is compared with that of the
 * same decisions without a budget.  --json prints one object per line.
 */
#include "base/compare.h"
#include "placement/mapping/effort.h"
#include "plugin/bridge/bridge.h"
#include "topology/synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES	 101 /* the least of which a 99th percentile is one */
#define COMPARED 5   /* of them without a budget, too */
#define BUDGET_S 0.02
#define PER_NODE 8
#define BUSY_PCT 30

static const char *const fabrics[] = {
	"pod:8 leaf:16 node:32 gpu:8",
	"pod:13 leaf:24 node:32 gpu:8",
};

static const struct {
	uint32_t n_gpus;
	const char *spec;
} jobs[] = {
	{8, "tp=8"},
	{32, "tp=8"},
	{64, "tp=8"},
	{256, "tp=8,pp=4"},
	{1024, "tp=8,pp=8"},
	{4096, "tp=8,pp=8"},
	{16384, "tp=8,pp=16"},
	{256, "pp=4,ep=64,model=deepseek-v3"},
	{1024, "pp=8,ep=64,model=deepseek-v3"},
	{4096, "pp=8,ep=64,model=deepseek-v3"},
};

struct row {
	double first_s, p50_s, p99_s, most_s;
	double over_free; /* cost as a share of that without a budget */
	uint32_t placed;
};

static double processor_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs of nodes, as jobs that came and went leave them. */
static void make_busy(struct weft_occupancy *o, uint64_t seed)
{
	struct effort e = {.random = seed};
	uint32_t n = o->fabric->n_nodes, i = 0;

	while (i < n) {
		uint32_t run = 1 + effort_below(&e, 1 + effort_below(&e, 48));
		bool busy = effort_below(&e, 100) < BUSY_PCT;

		for (; run && i < n; run--, i++)
			if (busy)
				weft_occupancy_take(o, i, UINT64_MAX);
	}
}

/* *cost: 0 where there is no placement; NAN where there was no time to price
 * it. */
static int decide(struct weft_bridge *bridge, size_t job,
		  const struct weft_occupancy *o, double budget_s, double *cost,
		  struct weft_error *err)
{
	const uint32_t n_nodes = jobs[job].n_gpus / PER_NODE;
	const struct weft_request request = {
		.spec = jobs[job].spec,
		.gpus_per_node = PER_NODE,
		.min_nodes = n_nodes,
		.max_nodes = n_nodes,
		.want_nodes = n_nodes,
	};
	const struct weft_shape shape = {jobs[job].n_gpus, PER_NODE, n_nodes,
					 n_nodes};
	struct weft_placement p = {0};
	int rc = weft_bridge_place(bridge, &request, &shape, o, budget_s, &p,
				   err);

	*cost = rc == 0 && p.placed ? p.cost.total[p.metric] : 0;
	weft_placement_free(&p);
	return rc;
}

static int measure(struct weft_bridge *bridge, size_t job, struct row *row,
		   struct weft_error *err)
{
	double time_s[SAMPLES], cost, free_cost, sum = 0, free_sum = 0;
	int rc = 0;

	memset(row, 0, sizeof(*row));
	for (uint32_t i = 0; i < SAMPLES && rc == 0; i++) {
		struct weft_occupancy o = {0};

		rc = weft_occupancy_build(bridge->settings->fabric, &o, err);
		if (rc == 0) {
			make_busy(&o, i + 1);
			time_s[i] = processor_s();
			rc = decide(bridge, job, &o, BUDGET_S, &cost, err);
			time_s[i] = processor_s() - time_s[i];
		}
		if (rc == 0 && i < COMPARED) {
			rc = decide(bridge, job, &o, 0, &free_cost, err);
			sum += isnan(cost) ? 0 : cost;
			free_sum += isnan(cost) ? 0 : free_cost;
		}
		row->placed += rc == 0 && cost != 0;
		weft_occupancy_free(&o);
	}
	if (rc)
		return -1;
	row->first_s = time_s[0];
	qsort(time_s, SAMPLES, sizeof(time_s[0]), weft_compare_reals);
	row->p50_s = time_s[SAMPLES / 2];
	row->p99_s = time_s[SAMPLES * 99 / 100];
	row->most_s = time_s[SAMPLES - 1];
	row->over_free = free_sum > 0 ? sum / free_sum : 1;
	return 0;
}

static void print_row(const struct weft_fabric *f, size_t job,
		      const struct row *r, bool json)
{
	if (json)
		printf("{\"bench\": \"decide\", \"nodes\": %u, "
		       "\"gpus\": %u, \"job\": \"%s\", \"first_s\": %.6f, "
		       "\"p50_s\": %.6f, \"p99_s\": %.6f, \"max_s\": %.6f, "
		       "\"cost_over_unhurried\": %.4f, \"placed\": %u}\n",
		       f->n_nodes, jobs[job].n_gpus, jobs[job].spec, r->first_s,
		       r->p50_s, r->p99_s, r->most_s, r->over_free, r->placed);
	else
		printf("%6u %6u  %-30s %8.2f %8.2f %8.2f %8.2f %10.4f %6u\n",
		       f->n_nodes, jobs[job].n_gpus, jobs[job].spec,
		       r->first_s * 1e3, r->p50_s * 1e3, r->p99_s * 1e3,
		       r->most_s * 1e3, r->over_free, r->placed);
	fflush(stdout);
}

static int run(const char *fabric, bool json, struct weft_error *err)
{
	char *text = weft_synth(fabric, NULL, err);
	struct weft_bridge *bridge = weft_calloc(1, sizeof(*bridge), err);
	struct weft_settings settings = {.budget_s = BUDGET_S};
	struct row row;
	int rc = -1;

	if (!text || !bridge)
		goto out;
	settings.fabric = weft_fabric_parse(text, strlen(text), fabric, err);
	if (!settings.fabric)
		goto out;
	bridge->settings = &settings;
	rc = 0;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]) && rc == 0; i++) {
		rc = measure(bridge, i, &row, err);
		if (rc == 0)
			print_row(settings.fabric, i, &row, json);
	}
	weft_bridge_clear(bridge);
out:
	weft_fabric_free(settings.fabric);
	free(bridge);
	free(text);
	return rc;
}

int main(int argc, char **argv)
{
	bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
	struct weft_error err = {0};
	char text[512];

	if (!json)
		printf("%6s %6s  %-30s %8s %8s %8s %8s %10s %6s\n", "nodes",
		       "gpus", "job", "first ms", "p50 ms", "p99 ms", "max ms",
		       "unhurried", "placed");
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		if (run(fabrics[i], json, &err)) {
			fprintf(stderr, "bench: %s: %s\n", fabrics[i],
				weft_error_text(&err, text, sizeof(text)));
			return 1;
		}
	}
	return 0;
}
