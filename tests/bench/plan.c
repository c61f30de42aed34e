/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - how the time and memory of a decision grow with fabric and job
 *
 * Each row is one job on one fabric under many occupancies: runs of nodes of
 * random length are busy, some of them in part, as jobs that came and went
 * leave them.  --json prints one object per line.
 */
#include "base/clock.h"
#include "base/compare.h"
#include "placement/mapping/effort.h"
#include "placement/place.h"
#include "topology/synth.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES	 101 /* the least of which a 99th percentile is one */
#define BUSY_PCT 40

static const char *const fabrics[] = {
	"pod:2 leaf:8 node:16 gpu:8",
	"pod:4 leaf:16 node:32 gpu:8",
	"pod:10 leaf:25 node:50 gpu:8",
};

static const char *const jobs[] = {
	"gpus=8,tp=8",	       "gpus=64,tp=8",
	"gpus=256,tp=8,pp=4",  "gpus=256,tp=2",
	"gpus=1024,tp=8,pp=8", "gpus=1024,pp=8,ep=64,model=deepseek-v3",
	"gpus=4096,tp=8,pp=8", "gpus=16384,tp=8,pp=16",
};

struct row {
	double build_s;	     /* job: traffic and grid */
	double p50_s, p99_s; /* placement */
	double gap;	     /* mean */
	double over_fit;     /* mean cost as a share of first-fit's */
	size_t memory_bytes; /* what the job and one decision held at most */
	uint32_t placed;
};

static void make_busy(struct weft_occupancy *o, uint64_t seed)
{
	struct effort e = {.random = seed};
	uint32_t n = o->fabric->n_nodes, i = 0;

	while (i < n) {
		uint32_t run = 1 + effort_below(&e, 1 + effort_below(&e, 48));
		bool busy = effort_below(&e, 100) < BUSY_PCT;

		for (; run && i < n; run--, i++) {
			if (!busy)
				continue;
			weft_occupancy_take(
				o, i, effort_below(&e, 8) ? UINT64_MAX : 0x0f);
		}
	}
}

/* One decision under occupancy `seed`, and first-fit's for comparison. */
static int sample(const struct weft_fabric *f, const struct weft_job *job,
		  uint64_t seed, double *time_s, struct row *row,
		  struct weft_error *err)
{
	const struct weft_place_options fit = {.method = "first-fit"};
	struct weft_occupancy o = {0};
	struct weft_placement p = {0}, q = {0};
	double start_s;
	int rc = -1;

	if (weft_occupancy_build(f, &o, err))
		goto out;
	make_busy(&o, seed);
	start_s = weft_clock_s();
	if (weft_place(f, job, &o, NULL, &p, err))
		goto out;
	*time_s = weft_clock_s() - start_s;
	rc = 0;
	if (!p.placed)
		goto out;
	/* first-fit alone is slow on large fabrics; a few tell the ratio */
	if (row->placed < 5) {
		rc = weft_place(f, job, &o, &fit, &q, err);
		row->over_fit += q.placed ? p.cost.total[p.metric] /
						    q.cost.total[q.metric] / 5
					  : 0;
	}
	row->gap += p.gap;
	row->placed++;
out:
	weft_placement_free(&p);
	weft_placement_free(&q);
	weft_occupancy_free(&o);
	return rc;
}

/* The heap's size after a decision: freed memory stays in it, so this is the
 * most that was in use at a time. */
static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.arena + info.hblkhd;
}

static int measure(const struct weft_fabric *f, const char *text,
		   struct row *row, struct weft_error *err)
{
	double time_s[SAMPLES], start_s = weft_clock_s();
	struct weft_job job = {0};
	size_t before;
	int rc = -1;

	memset(row, 0, sizeof(*row));
	malloc_trim(0);
	before = heap_bytes();
	if (weft_job_build(text, 0, false, f, &job, err))
		goto out;
	row->build_s = weft_clock_s() - start_s;
	for (uint32_t i = 0; i < SAMPLES; i++)
		if (sample(f, &job, i + 1, &time_s[i], row, err))
			goto out;
	row->memory_bytes = heap_bytes() - before;
	qsort(time_s, SAMPLES, sizeof(time_s[0]), weft_compare_reals);
	row->p50_s = time_s[SAMPLES / 2];
	row->p99_s = time_s[SAMPLES * 99 / 100];
	if (row->placed)
		row->gap /= row->placed;
	rc = 0;
out:
	weft_job_free(&job);
	return rc;
}

static void print_row(const struct weft_fabric *f, const char *job,
		      const struct row *r, bool json)
{
	if (json)
		printf("{\"gpus\": %u, \"job\": \"%s\", \"build_s\": %.6f, "
		       "\"p50_s\": %.6f, \"p99_s\": %.6f, \"gap\": %.4f, "
		       "\"cost_over_first_fit\": %.4f, "
		       "\"memory_bytes\": %zu, \"placed\": %u}\n",
		       f->n_gpus, job, r->build_s, r->p50_s, r->p99_s, r->gap,
		       r->over_fit, r->memory_bytes, r->placed);
	else
		printf("%7u  %-40s %9.2f %9.2f %9.2f %7.2f %10.3f %8.1f\n",
		       f->n_gpus, job, r->build_s * 1e3, r->p50_s * 1e3,
		       r->p99_s * 1e3, r->gap * 1e2, r->over_fit,
		       (double)r->memory_bytes / 1048576);
	fflush(stdout);
}

static int run(const char *shape, bool json, struct weft_error *err)
{
	char *text = weft_synth(shape, NULL, err);
	struct weft_fabric *f = NULL;
	struct row row;
	int rc = -1;

	if (!text)
		return -1;
	f = weft_fabric_parse(text, strlen(text), shape, err);
	free(text);
	if (!f)
		return -1;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		/* no more than half of the fabric, which is mostly free */
		if (strtoul(jobs[i] + strlen("gpus="), NULL, 10) * 2 >
		    f->n_gpus)
			continue;
		if (measure(f, jobs[i], &row, err))
			goto out;
		print_row(f, jobs[i], &row, json);
	}
	rc = 0;
out:
	weft_fabric_free(f);
	return rc;
}

int main(int argc, char **argv)
{
	bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
	struct weft_error err = {0};
	char text[512];

	if (!json)
		printf("%7s  %-40s %9s %9s %9s %7s %10s %8s\n", "fabric", "job",
		       "build ms", "p50 ms", "p99 ms", "gap %", "first-fit",
		       "MiB");
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		if (run(fabrics[i], json, &err)) {
			fprintf(stderr, "bench: %s: %s\n", fabrics[i],
				weft_error_text(&err, text, sizeof(text)));
			return 1;
		}
	}
	return 0;
}
