/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.c - how near the default method comes to the best that is known
 *
 * Random jobs of up to 64 groups on leafs with nodes that are busy in whole or
 * half, on racks of NVLink (NVL72) with whole nodes busy, and on leafs with
 * single GPUs busy.  Best known: of the default, of method exact, and of the
 * same job in segments of 1 to 8 nodes.  One JSON object a line, then one for
 * each kind.  $WEFT_BENCH_CASES (400), $WEFT_BENCH_FIRST (0) and
 * $WEFT_BENCH_BUDGET_S (5) say which and how long.
 */
#include "base/bitset.h"
#include "base/clock.h"
#include "placement/exact/place_exact.h"
#include "placement/mapping/effort.h"
#include "topology/synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CASES    10000
#define MOST_SEGMENT 8

enum kind { LEAFS, NVL72, SINGLE_GPUS, N_KINDS };
static const char *const kind_names[N_KINDS] = {
	"leafs, nodes busy", "NVL72, nodes busy", "leafs, GPUs busy"};

struct instance {
	enum kind kind;
	char fabric[128], spec[256];
	uint32_t busy_pct;
	uint64_t random;
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
};

struct outcome {
	enum kind kind;
	bool placed, proven;
	/* costs; in segments: the least */
	double pack, exact, segments, bound;
	double time_s; /* of exact */
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((next_random(state) >> 32) * n >> 32);
}

/* Nodes wholly, partly or not at all busy. */
static void make_busy(struct instance *x)
{
	for (uint32_t i = 0; i < x->f->n_nodes; i++) {
		uint32_t half = x->f->nodes[i].n_gpus / 2;

		for (uint32_t k = 0; x->kind == SINGLE_GPUS && k < 2 * half;
		     k++)
			if (below(&x->random, 100) < x->busy_pct)
				weft_occupancy_take(&x->o, i, UINT64_C(1) << k);
		if (x->kind == SINGLE_GPUS)
			continue;
		if (below(&x->random, 100) >= x->busy_pct)
			continue;
		weft_occupancy_take(&x->o, i,
				    x->kind == NVL72 || below(&x->random, 3)
					    ? UINT64_MAX
					    : weft_mask_first(half));
	}
}

/* A product of up to 64 tensor groups that fits what is free. */
static bool choose_job(struct instance *x)
{
	static const char *const models[] = {"llama3-70B", "gpt3-175B",
					     "llama3-8B"};
	static const char *const metrics[] = {"time", "time", "hops",
					      "latency"};
	uint32_t tp = x->f->nodes[0].n_gpus >> below(&x->random, 3);
	uint32_t pp = 1u << below(&x->random, 4);
	uint32_t cp = below(&x->random, 4) ? 1 : 2, dp, most, ep;
	bool experts = cp == 1 && below(&x->random, 5) == 0;

	most = weft_occupancy_usable(&x->o) / (tp * pp * cp);
	most = most < 64 / (pp * cp) ? most : 64 / (pp * cp);
	if (most < 1 || most * pp * cp < 4)
		return false;
	dp = 1 + below(&x->random, most);
	if (pp * cp * dp < 4)
		dp = most;
	ep = dp % 8 == 0 ? 8 : dp % 4 == 0 ? 4 : dp % 2 == 0 ? 2 : 1;
	snprintf(x->spec, sizeof(x->spec),
		 "gpus=%u,tp=%u,pp=%u,cp=%u,dp=%u,ep=%u,gbs=%u,metric=%s,"
		 "model=%s",
		 tp * pp * cp * dp, tp, pp, cp, dp, experts ? ep : 1,
		 dp * (8u << below(&x->random, 4)),
		 metrics[below(&x->random, 4)],
		 experts ? "grok1-314B" : models[below(&x->random, 3)]);
	return true;
}

static void choose_shape(struct instance *x)
{
	uint32_t pods = 1 + below(&x->random, 3), n = 0;
	uint32_t leafs = 2 + below(&x->random, 16 / pods - 1);
	uint32_t nodes = 2 + below(&x->random, 11);

	if (x->kind == NVL72) {
		snprintf(x->fabric, sizeof(x->fabric),
			 "leaf:%u nvlink:%u node:18 gpu:4", pods,
			 2 + below(&x->random, 4));
		return;
	}
	if (pods > 1)
		n = (uint32_t)snprintf(x->fabric, sizeof(x->fabric), "pod:%u ",
				       pods);
	snprintf(x->fabric + n, sizeof(x->fabric) - n, "leaf:%u node:%u gpu:%u",
		 leafs, nodes, below(&x->random, 3) ? 8 : 4);
}

/* 1: there is no such instance; -1 with err. */
static int build(struct instance *x, uint64_t seed, struct weft_error *err)
{
	struct weft_synth_options options = {0};
	char *text;

	x->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	x->kind = below(&x->random, N_KINDS);
	choose_shape(x);
	x->busy_pct = below(&x->random, 60);
	if (x->kind == NVL72)
		options.profile = "gb200-nvl72";
	text = weft_synth(x->fabric, &options, err);
	if (!text)
		return -1;
	x->f = weft_fabric_parse(text, strlen(text), x->fabric, err);
	free(text);
	if (!x->f || weft_occupancy_build(x->f, &x->o, err))
		return -1;
	make_busy(x);
	for (uint32_t i = 0; !choose_job(x); i++)
		if (i > 20)
			return 1;
	return weft_job_build(x->spec, 0, false, x->f, &x->job, NULL) ? 1 : 0;
}

/* The least cost in segments; INFINITY where the job has no place in any. */
static int enumerate(const struct instance *x, double *least,
		     struct weft_error *err)
{
	struct weft_job job = x->job;

	*least = (double)INFINITY;
	for (uint32_t n = 1; n <= MOST_SEGMENT; n++) {
		struct weft_placement p;

		job.spec.segment = n;
		if (weft_place(x->f, &job, &x->o, NULL, &p, err))
			return -1;
		if (p.placed && p.cost.total[p.metric] < *least)
			*least = p.cost.total[p.metric];
		weft_placement_free(&p);
	}
	return 0;
}

static int compare(const struct instance *x, double budget_s,
		   struct outcome *out, struct weft_error *err)
{
	const struct weft_place_options exact = {.strategy = &weft_exact,
						 .budget_s = budget_s};
	struct weft_placement p;
	double start_s;

	if (weft_place(x->f, &x->job, &x->o, NULL, &p, err))
		return -1;
	out->kind = x->kind;
	out->placed = p.placed;
	out->pack = p.cost.total[p.metric];
	weft_placement_free(&p);
	if (!out->placed)
		return 0;
	start_s = weft_clock_s();
	if (weft_place(x->f, &x->job, &x->o, &exact, &p, err))
		return -1;
	out->time_s = weft_clock_s() - start_s;
	out->exact = p.cost.total[p.metric];
	out->bound = p.bound;
	out->proven = p.gap < 1e-9;
	weft_placement_free(&p);
	return enumerate(x, &out->segments, err);
}

/* The default's cost as a multiple of the least that is known. */
static double over_known(const struct outcome *o)
{
	double least = o->exact < o->segments ? o->exact : o->segments;

	return least > 0 && o->pack > least ? o->pack / least : 1;
}

static void report_one(const struct instance *x, uint64_t seed,
		       const struct outcome *o)
{
	printf("{\"seed\": %llu, \"kind\": \"%s\", \"fabric\": \"%s\", "
	       "\"job\": \"%s\", \"busy_pct\": %u, \"proven\": %s, "
	       "\"gap\": %.3g, \"pack_over_exact\": %.9g, "
	       "\"pack_over_known\": %.9g, \"elapsed_s\": %.3f}\n",
	       (unsigned long long)seed, kind_names[x->kind], x->fabric,
	       x->spec, x->busy_pct, o->proven ? "true" : "false",
	       o->exact > 0 ? 1 - o->bound / o->exact : 0,
	       o->exact > 0 ? o->pack / o->exact : 1, over_known(o), o->time_s);
	fflush(stdout);
}

/* 0: counted; 1: no such instance; -1 with err. */
static int run(uint64_t seed, double budget_s, struct outcome *out,
	       struct weft_error *err)
{
	struct instance x = {.fabric = ""};
	int rc = build(&x, seed, err);

	if (rc == 0)
		rc = compare(&x, budget_s, out, err);
	if (rc == 0 && !out->placed)
		rc = 1;
	if (rc == 0)
		report_one(&x, seed, out);
	weft_job_free(&x.job);
	weft_occupancy_free(&x.o);
	weft_fabric_free(x.f);
	return rc;
}

static void report_kind(const struct outcome *out, uint32_t n, enum kind kind)
{
	uint32_t cases = 0, proven = 0, known = 0, near = 0;
	double worst = 1;

	for (uint32_t i = 0; i < n; i++) {
		double over = over_known(&out[i]);

		if (out[i].kind != kind)
			continue;
		cases++;
		proven += out[i].proven;
		known += over <= 1 + 1e-7;
		near += over <= 1.01;
		worst = over > worst ? over : worst;
	}
	printf("{\"kind\": \"%s\", \"cases\": %u, \"proven\": %u, "
	       "\"best_known\": %u, \"within_1_pct\": %u, "
	       "\"worst\": %.6g}\n",
	       kind_names[kind], cases, proven, known, near, worst);
}

static double setting(const char *name, double fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtod(text, NULL) : fallback;
}

int main(void)
{
	static struct outcome out[MAX_CASES];
	uint64_t seed = (uint64_t)setting("WEFT_BENCH_FIRST", 0);
	uint32_t cases = (uint32_t)setting("WEFT_BENCH_CASES", 400), n = 0;
	double budget_s = setting("WEFT_BENCH_BUDGET_S", 5);
	struct weft_error err = {0};
	char text[512];

	/* budgets are of the processor, which other work does not take */
	weft_clock_id = CLOCK_THREAD_CPUTIME_ID;
	if (!weft_exact_is_built()) {
		printf("skipped: built without GLPK\n");
		return 0;
	}
	for (; n < cases && n < MAX_CASES; seed++) {
		int rc = run(seed, budget_s, &out[n], &err);

		if (rc < 0) {
			fprintf(stderr, "bench: seed %llu: %s\n",
				(unsigned long long)seed,
				weft_error_text(&err, text, sizeof(text)));
			return 1;
		}
		n += rc == 0;
	}
	for (uint32_t k = 0; k < N_KINDS; k++)
		report_kind(out, n, k);
	return 0;
}
