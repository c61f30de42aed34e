/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - how the time and memory of a decision grow with fabric and job
 *
 * Each row is one job on one fabric under many occupancies: runs of nodes of
 * random length are busy, some of them in part, as jobs that came and went
 * leave them.  Time is that of the processor, which other work on this machine
 * does not lengthen.  The value of the first few answers is compared with what
 * a search of one second finds.
 */
#include "base/clock.h"
#include "base/compare.h"
#include "base/hash.h"
#include "placement/mapping/effort.h"
#include "placement/objective/judge.h"
#include "placement/place.h"
#include "topology/synth.h"

#include <getopt.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 101 /* the least of which a 99th percentile is one */

static const char *const fabrics[] = {
	"pod:2 leaf:8 node:16 gpu:8",
	"pod:4 leaf:16 node:32 gpu:8",
	"pod:10 leaf:25 node:50 gpu:8",
};

static const char *const jobs[] = {
	"gpus=8,tp=8",
	"gpus=64,tp=8",
	"gpus=256,tp=8,pp=4",
	"gpus=256,tp=2",
	"gpus=1024,tp=8,pp=8",
	"gpus=1024,pp=8,ep=64,model=deepseek-v3",
	"gpus=4096,tp=8,pp=8",
	"gpus=16384,tp=8,pp=16",
	"gpus=256,pp=4,ep=64,model=deepseek-v3",
	"gpus=4096,pp=8,ep=64,model=deepseek-v3",
};

static struct {
	bool json, tell;
	const char *job;    /* NULL: all */
	uint32_t gpus;	    /* of the fabric; 0: all */
	uint32_t busy_pct;  /* of the runs of nodes */
	uint32_t samples;   /* SAMPLES at most */
	uint32_t reference; /* of these also with a second's search */
} opt = {.busy_pct = 40, .samples = SAMPLES};

static const struct option longopts[] = {
	{"json", no_argument, NULL, 'j'},
	{"tell", no_argument, NULL, 't'},
	{"busy", required_argument, NULL, 'b'},
	{"gpus", required_argument, NULL, 'g'},
	{"job", required_argument, NULL, 'o'},
	{"samples", required_argument, NULL, 's'},
	{"reference", required_argument, NULL, 'r'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static const char usage[] =
	"Usage: plan [--json] [--busy PCT] [--gpus N] [--job SPEC] [--samples "
	"N]"
	"\n            [--reference N] [--tell]\n\n"
	"  --busy PCT     part of the runs of nodes that is busy (40)\n"
	"  --gpus N       only the fabric of so many GPUs\n"
	"  --job SPEC     this job alone\n"
	"  --samples N    decisions per row, at most 101 (101)\n"
	"  --reference N  the first N of them also search for a second (0)\n"
	"  --tell         each decision: time, value and hash, on stderr\n";

struct row {
	double build_s;	     /* job: traffic and grid */
	double p50_s, p99_s; /* placement */
	double gap;	     /* mean */
	double over_fit;     /* mean cost as a share of first-fit's */
	double over_second;  /* most, as a share of the value after a second */
	size_t memory_bytes; /* what the job and one decision held at most */
	uint32_t placed;
};

static void make_busy(struct weft_occupancy *o, uint64_t seed)
{
	struct effort e = {.random = seed};
	uint32_t n = o->fabric->n_nodes, i = 0;

	while (i < n) {
		uint32_t run = 1 + effort_below(&e, 1 + effort_below(&e, 48));
		bool busy = effort_below(&e, 100) < opt.busy_pct;

		for (; run && i < n; run--, i++) {
			if (!busy)
				continue;
			weft_occupancy_take(
				o, i, effort_below(&e, 8) ? UINT64_MAX : 0x0f);
		}
	}
}

static int value_of(const struct weft_fabric *f, const struct weft_job *job,
		    const struct weft_placement *p, double *value,
		    struct weft_error *err)
{
	struct weft_objective objective = weft_objective_of_spec(&job->spec);
	struct weft_judge judge;
	struct weft_measure m;
	int rc = -1;

	if (weft_judge_build(f, job, NULL, &objective, &judge, err) == 0 &&
	    weft_judge_measure(&judge, p->where, &m, err) == 0)
		rc = 0;
	*value = rc ? 0 : m.value;
	weft_judge_free(&judge);
	return rc;
}

/* Whether p is as good as first-fit, and as a second's search. */
static int compare(const struct weft_fabric *f, const struct weft_job *job,
		   const struct weft_occupancy *o,
		   const struct weft_placement *p, struct row *row,
		   struct weft_error *err)
{
	const struct weft_place_options fit = {.method = "first-fit"},
					second = {.budget_s = 1,
						  .search_on = true};
	struct weft_placement q = {0}, r = {0};
	double value, best;
	int rc = -1;

	/* first-fit alone is slow on large fabrics; a few tell the ratio */
	if (row->placed < 5) {
		if (weft_place(f, job, o, &fit, &q, err))
			goto out;
		row->over_fit += q.placed ? p->cost.total[p->metric] /
						    q.cost.total[q.metric] / 5
					  : 0;
	}
	if (row->placed < opt.reference) {
		if (weft_place(f, job, o, &second, &r, err) ||
		    value_of(f, job, p, &value, err) ||
		    value_of(f, job, &r, &best, err))
			goto out;
		row->over_second = fmax(row->over_second, value / best);
	}
	rc = 0;
out:
	weft_placement_free(&q);
	weft_placement_free(&r);
	return rc;
}

static int tell(const struct weft_fabric *f, const struct weft_job *job,
		uint64_t seed, double time_s, const struct weft_placement *p,
		struct weft_error *err)
{
	double value = 0;
	uint64_t hash = 0;

	if (p->placed) {
		if (value_of(f, job, p, &value, err))
			return -1;
		hash = weft_hash_bytes(WEFT_HASH_START, p->where,
				       p->n_ranks * sizeof(*p->where));
	}
	fprintf(stderr,
		"%u %u busy %u seed %llu: %.2f ms %.9g cost %.9g %s %llx\n",
		f->n_gpus, job->n_gpus, opt.busy_pct, (unsigned long long)seed,
		time_s * 1e3, value, p->placed ? p->cost.total[p->metric] : 0,
		p->method, (unsigned long long)hash);
	return 0;
}

/* One decision under occupancy `seed`: timed, or compared with others. */
static int sample(const struct weft_fabric *f, const struct weft_job *job,
		  uint64_t seed, double *time_s, struct row *row,
		  struct weft_error *err)
{
	struct weft_occupancy o = {0};
	struct weft_placement p = {0};
	double start_s;
	int rc = -1;

	if (weft_occupancy_build(f, &o, err))
		goto out;
	make_busy(&o, seed);
	start_s = weft_clock_s();
	if (weft_place(f, job, &o, NULL, &p, err))
		goto out;
	if (time_s)
		*time_s = weft_clock_s() - start_s;
	if (time_s && opt.tell && tell(f, job, seed, *time_s, &p, err))
		goto out;
	rc = 0;
	if (!p.placed)
		goto out;
	if (!time_s)
		rc = compare(f, job, &o, &p, row, err);
	else
		row->gap += p.gap;
	row->placed++;
out:
	weft_placement_free(&p);
	weft_occupancy_free(&o);
	return rc;
}

/* The first few again, once the heap is measured: what they are compared with
 * takes more memory than a decision. */
static int compare_samples(const struct weft_fabric *f,
			   const struct weft_job *job, struct row *row,
			   struct weft_error *err)
{
	uint32_t placed = row->placed;
	int rc = 0;

	row->placed = 0;
	for (uint32_t i = 0; i < opt.samples && rc == 0 &&
			     (row->placed < 5 || row->placed < opt.reference);
	     i++)
		rc = sample(f, job, i + 1, NULL, row, err);
	row->placed = placed;
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
	for (uint32_t i = 0; i < opt.samples; i++)
		if (sample(f, &job, i + 1, &time_s[i], row, err))
			goto out;
	row->memory_bytes = heap_bytes() - before;
	if (compare_samples(f, &job, row, err))
		goto out;
	qsort(time_s, opt.samples, sizeof(time_s[0]), weft_compare_reals);
	row->p50_s = time_s[opt.samples / 2];
	row->p99_s = time_s[opt.samples * 99 / 100];
	if (row->placed)
		row->gap /= row->placed;
	rc = 0;
out:
	weft_job_free(&job);
	return rc;
}

static void print_row(const struct weft_fabric *f, const char *job,
		      const struct row *r)
{
	if (opt.json)
		printf("{\"gpus\": %u, \"job\": \"%s\", \"busy_pct\": %u, "
		       "\"build_s\": %.6f, \"p50_s\": %.6f, \"p99_s\": %.6f, "
		       "\"gap\": %.4f, \"cost_over_first_fit\": %.4f, "
		       "\"value_over_second\": %.5f, \"memory_bytes\": %zu, "
		       "\"placed\": %u}\n",
		       f->n_gpus, job, opt.busy_pct, r->build_s, r->p50_s,
		       r->p99_s, r->gap, r->over_fit, r->over_second,
		       r->memory_bytes, r->placed);
	else
		printf("%7u  %-40s %9.2f %9.2f %9.2f %7.2f %10.3f %8.4f "
		       "%8.1f\n",
		       f->n_gpus, job, r->build_s * 1e3, r->p50_s * 1e3,
		       r->p99_s * 1e3, r->gap * 1e2, r->over_fit,
		       r->over_second, (double)r->memory_bytes / 1048576);
	fflush(stdout);
}

static int run_jobs(const struct weft_fabric *f, struct weft_error *err)
{
	struct row row;

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		const char *job = opt.job ? opt.job : jobs[i];

		/* no more than half of the fabric, which is mostly free */
		if (!opt.job &&
		    strtoul(job + strlen("gpus="), NULL, 10) * 2 > f->n_gpus)
			continue;
		if (measure(f, job, &row, err))
			return -1;
		print_row(f, job, &row);
		if (opt.job)
			break;
	}
	return 0;
}

static int run(const char *shape, struct weft_error *err)
{
	char *text = weft_synth(shape, NULL, err);
	struct weft_fabric *f;
	int rc = 0;

	if (!text)
		return -1;
	f = weft_fabric_parse(text, strlen(text), shape, err);
	free(text);
	if (!f)
		return -1;
	if (!opt.gpus || opt.gpus == f->n_gpus)
		rc = run_jobs(f, err);
	weft_fabric_free(f);
	return rc;
}

static uint32_t number(uint32_t most)
{
	unsigned long n = strtoul(optarg, NULL, 10);

	return n < most ? (uint32_t)n : most;
}

static bool parse(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		if (c == 'j')
			opt.json = true;
		else if (c == 't')
			opt.tell = true;
		else if (c == 'b')
			opt.busy_pct = number(100);
		else if (c == 'g')
			opt.gpus = number(UINT32_MAX);
		else if (c == 'o')
			opt.job = optarg;
		else if (c == 's')
			opt.samples = number(SAMPLES);
		else if (c == 'r')
			opt.reference = number(SAMPLES);
		else
			return false;
	}
	return optind == argc && opt.samples;
}

int main(int argc, char **argv)
{
	struct weft_error err = {0};
	char text[512];

	if (!parse(argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	weft_clock_id = CLOCK_THREAD_CPUTIME_ID;
	if (!opt.json)
		printf("%7s  %-40s %9s %9s %9s %7s %10s %8s %8s\n", "fabric",
		       "job", "build ms", "p50 ms", "p99 ms", "gap %",
		       "first-fit", "second", "MiB");
	for (size_t i = 0; i < sizeof(fabrics) / sizeof(fabrics[0]); i++) {
		if (run(fabrics[i], &err)) {
			fprintf(stderr, "bench: %s: %s\n", fabrics[i],
				weft_error_text(&err, text, sizeof(text)));
			return 1;
		}
	}
	return 0;
}
