/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_simulation.c - prices and spans of collectives against simulated
 * flows */
#include "costmodel/collective.h"
#include "costmodel/span.h"
#include "tests/costmodel/random.h"
#include "tests/costmodel/simulation.h"

#include <stdio.h>

/* A group of `inner` GPUs on each of `outer` nodes, and the fabric it fills. */
struct scene {
	struct weft_fabric *f;
	struct weft_group group;
	struct simulation s;
	uint32_t only_level; /* whose messages are simulated; WEFT_NONE: all */
};

static void scene_open(struct scene *scene, uint32_t inner, uint32_t outer)
{
	char spec[64];

	snprintf(spec, sizeof(spec), "node:%u gpu:%u", outer, inner);
	memset(scene, 0, sizeof(*scene));
	scene->f = fabric_synth(spec);
	scene->group.n_levels = outer > 1 ? 2 : 1;
	for (uint32_t l = 0; l < scene->group.n_levels; l++) {
		scene->group.level[l].n = l ? outer : inner;
		scene->group.level[l].rate_bytes_per_s =
			scene->f->levels[l].link.rate_bytes_per_s;
	}
}

static void scene_add(void *data, uint32_t from, uint32_t to, double bytes)
{
	struct scene *scene = data;

	if (scene->only_level == WEFT_NONE ||
	    scene->only_level == weft_fabric_meet(scene->f, from, to))
		simulation_add(&scene->s, scene->f, from, to, bytes);
}

/* Seconds for all that an algorithm sends at a level (or at all), at once. */
static double scene_run(struct scene *scene, enum weft_collective collective,
			enum weft_algorithm algorithm, uint32_t only_level)
{
	uint32_t n = scene->f->n_gpus;
	struct weft_error err = {0};
	double time_s;

	simulation_open(&scene->s, scene->f, 2 * n * n * n);
	scene->s.nic_beside_port = true;
	scene->only_level = only_level;
	weft_collective_flows(collective, algorithm, &scene->group, 1e9,
			      scene_add, scene, &err);
	assert_no_error(&err);
	time_s = simulation_run(&scene->s, NULL);
	simulation_close(&scene->s);
	return time_s;
}

/* A pipelined algorithm has all its links busy at once, and so takes what the
 * simulation takes.  One in phases uses a level's links at a time: each level's
 * messages, simulated alone, add up.  A ring is priced as if the one message in
 * `inner` that leaves a node crossed NVLink, too, which matters where all NICs
 * together are as fast. */
static void check_collective(struct scene *scene,
			     enum weft_collective collective,
			     enum weft_algorithm algorithm)
{
	const struct weft_group *group = &scene->group;
	double inner = group->level[0].n;
	bool nics_match = group->n_levels > 1 &&
			  inner * group->level[1].rate_bytes_per_s >=
				  group->level[0].rate_bytes_per_s;
	struct weft_collective_price price;
	double at_once_s, in_turn_s = 0;

	weft_collective_price(collective, algorithm, &scene->group, 1e9, &price,
			      NULL);
	at_once_s = scene_run(scene, collective, algorithm, WEFT_NONE);
	for (uint32_t l = 0; l < scene->group.n_levels; l++)
		in_turn_s += scene_run(scene, collective, algorithm, l);
	if (algorithm == WEFT_RING)
		assert_true(price.transfer_s <=
			    at_once_s * inner / (inner - 1) * (1 + 1e-9));
	else if (algorithm == WEFT_DOUBLE_TREE)
		assert_close(price.transfer_s, at_once_s, 1e-9);
	else if (algorithm != WEFT_PAT)
		assert_close(price.transfer_s, in_turn_s, 1e-9);
	if (algorithm == WEFT_RING && !nics_match)
		assert_close(price.transfer_s, at_once_s, 1e-9);
	/* PAT uses both levels in one phase, and waits for the slower. */
	assert_true(price.transfer_s >= at_once_s * (1 - 1e-9));
}

static void collectives_are_priced_as_simulated(void **state)
{
	static const uint32_t shapes[][2] = {{8, 1}, {5, 1}, {4, 2}, {4, 4},
					     {2, 8}, {3, 3}, {8, 3}};
	uint32_t n_checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct scene scene;

		scene_open(&scene, shapes[i][0], shapes[i][1]);
		for (uint32_t k = 0; k < WEFT_N_COLLECTIVES * WEFT_N_ALGORITHMS;
		     k++) {
			enum weft_algorithm algorithm = k % WEFT_N_ALGORITHMS;
			enum weft_collective collective = k / WEFT_N_ALGORITHMS;

			if (algorithm == WEFT_SHARP || algorithm == WEFT_NVLS ||
			    !weft_collective_applies(collective, algorithm,
						     &scene.group))
				continue;
			check_collective(&scene, collective, algorithm);
			n_checked++;
		}
		weft_fabric_free(scene.f);
	}
	assert_true(n_checked > 80);
}

/* ---- spans: what a step's calls take on a placement ---- */

/* A job on a fabric, and the flows of one of its calls. */
struct job {
	struct weft_fabric *f;
	struct weft_spec spec;
	struct weft_model model;
	struct weft_schedule schedule;
	struct weft_spans spans;
	uint32_t where[PLAN_MAX_RANKS];
	struct simulation s;
};

static void job_open(const char *text, struct weft_fabric *f, uint64_t *seed,
		     struct job *job)
{
	struct weft_error err = {0};

	memset(job, 0, sizeof(*job));
	job->f = f;
	weft_spec_parse(text, &job->spec, &err);
	weft_spec_resolve(&job->spec, 0, &err);
	weft_model_find(job->spec.model, &job->model, &err);
	weft_schedule_build(&job->spec, &job->model, &job->schedule, &err);
	assert_no_error(&err);
	for (uint32_t r = 0; r < PLAN_MAX_RANKS; r++)
		job->where[r] = r;
	if (seed)
		where_random(seed, f, job->where, job->spec.gpus);
	weft_spans_build(f, &job->schedule, job->where, NULL, &job->spans,
			 &err);
	assert_no_error(&err);
}

static void job_close(struct job *job)
{
	weft_spans_free(&job->spans);
	weft_schedule_free(&job->schedule);
}

static int gpu_order(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* End of the run of gpus[] from `first` on that share an NVLink domain. */
static uint32_t run_end(const struct weft_fabric *f, const uint32_t *gpus,
			uint32_t n, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < n &&
	       f->gpu_domain[0][gpus[end]] == f->gpu_domain[0][gpus[first]])
		end++;
	return end;
}

/* Rings through the group, NVLink domain after NVLink domain, averaged over as
 * many channels as it takes to leave and enter each by each of its GPUs. */
static void rings_add(struct job *job, const uint32_t *gpus, uint32_t n,
		      double bytes)
{
	for (uint32_t first = 0; first < n;) {
		uint32_t end = run_end(job->f, gpus, n, first), k = end - first;
		uint32_t next = end < n ? end : 0;
		uint32_t next_end = run_end(job->f, gpus, n, next);
		uint32_t next_k = next_end - next;
		double inside = k == n ? bytes : bytes * (k - 1) / k;

		for (uint32_t i = first; k > 1 && i < end; i++)
			simulation_add(&job->s, job->f, gpus[i],
				       gpus[i + 1 < end ? i + 1 : first],
				       inside);
		for (uint32_t i = first; k < n && i < end; i++) {
			for (uint32_t j = next; j < next_end; j++)
				simulation_add(&job->s, job->f, gpus[i],
					       gpus[j], bytes / k / next_k);
		}
		first = end;
	}
}

static void pairs_add(struct job *job, const uint32_t *gpus, uint32_t n,
		      double bytes)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < n; k++) {
			if (k != i)
				simulation_add(&job->s, job->f, gpus[i],
					       gpus[k], bytes / (n - 1));
		}
	}
}

/* Seconds for all groups of a call at once, each rank sending a gigabyte. */
static double call_run(struct job *job, const struct weft_call *call)
{
	const struct weft_grid *grid = call->expert_grid ? &job->schedule.expert
							 : &job->schedule.dense;
	uint32_t ranks[PLAN_MAX_RANKS], n = call->n;
	struct weft_error err = {0};
	double time_s;

	simulation_open(&job->s, job->f, PLAN_MAX_RANKS * PLAN_MAX_RANKS * n);
	job->s.nic_beside_port = true;
	for (uint32_t g = 0; g < grid->n_ranks / n; g++) {
		weft_grid_group(grid, call->group, g, ranks, &err);
		assert_no_error(&err);
		for (uint32_t i = 0; i < n; i++)
			ranks[i] = job->where[ranks[i]];
		qsort(ranks, n, sizeof(*ranks), gpu_order);
		if (call->collective == WEFT_ALL_TO_ALL)
			pairs_add(job, ranks, n, 1e9);
		else
			rings_add(job, ranks, n, 1e9);
	}
	time_s = simulation_run(&job->s, NULL);
	simulation_close(&job->s);
	return time_s;
}

static double span_of(const struct job *job, uint32_t call)
{
	const struct weft_spans *spans = &job->spans;
	double slowest = 0;

	for (uint32_t p = 0; p < spans->n_stages; p++)
		slowest = fmax(slowest, spans->span[(size_t)spans->kind[call] *
							    spans->n_stages +
						    p]
						.s_per_byte);
	return slowest;
}

static const char *const jobs[] = {
	"tp=8,pp=2,dp=4,model=llama3-8B,zero=1",
	"tp=4,cp=2,dp=8,model=llama3-8B",
	"tp=2,dp=16,pp=2,model=llama3-8B,zero=3",
	"dp=64,model=llama3-8B,zero=1",
	"tp=2,dp=32,ep=8,model=grok1-314B",
};
#define N_JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* Span of each kind of ring and all-to-all over its simulated time: the least
 * and the largest of all. */
static void spans_compare(const char *text, struct weft_fabric *f,
			  uint64_t *seed, double *least, double *largest)
{
	uint32_t n_kinds = 0;
	struct job job;

	job_open(text, f, seed, &job);
	for (uint32_t k = 0; k < job.schedule.n_calls; k++) {
		const struct weft_call *call = &job.schedule.calls[k];
		double ratio;

		if (job.spans.kind[k] < n_kinds)
			continue;
		n_kinds++;
		if (call->collective == WEFT_SEND_RECV ||
		    call->axis == WEFT_AXIS_PP)
			continue;
		ratio = 1e9 * span_of(&job, k) / call_run(&job, call);
		*least = fmin(*least, ratio);
		*largest = fmax(*largest, ratio);
	}
	job_close(&job);
}

/* A ring counts a whole message on NVLink where 7 of 8 are: see above. */
static void spans_are_as_simulated_where_nothing_is_congested(void **state)
{
	struct weft_fabric *f = fabric_synth("pod:2 leaf:2 node:2 gpu:8");
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < 6 * N_JOBS; i++) {
		double least = 2, largest = 0;

		spans_compare(jobs[i % N_JOBS], f, i < N_JOBS ? NULL : &seed,
			      &least, &largest);
		assert_close(least, i % N_JOBS == 3 ? largest : 1, 1e-9);
		assert_true(largest < 8.0 / 7);
	}
	weft_fabric_free(f);
}

/* Where links are oversubscribed, groups wait for each other at different
 * links: the span is what the busiest one needs, so a bound from below. */
static void spans_bound_the_simulation_where_links_are_congested(void **state)
{
	static const char thin[] = "weft: fabric/1\n"
				   "nodes:\n"
				   "  n[0-7]: 8\n"
				   "levels:\n"
				   "  leaf:\n"
				   "    L[0-3]: n[0-7]\n"
				   "  pod:\n"
				   "    P[0-1]: L[0-3]\n"
				   "  top:\n"
				   "    T: P[0-1]\n"
				   "links:\n"
				   "  pod: {oversubscription: 2}\n"
				   "  top: {oversubscription: 6}\n";
	struct weft_error err = {0};
	struct weft_fabric *f =
		weft_fabric_parse(thin, strlen(thin), "thin", &err);
	uint64_t seed = test_seed();
	double least = 2, largest = 0;

	(void)state;
	assert_no_error(&err);
	for (size_t i = 0; i < 10 * N_JOBS; i++)
		spans_compare(jobs[i % N_JOBS], f, i < N_JOBS ? NULL : &seed,
			      &least, &largest);
	print_message("spans are %.3f to %.3f of the simulated time\n", least,
		      largest);
	assert_true(largest < 8.0 / 7);
	assert_true(least > 0.5);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_are_priced_as_simulated),
		cmocka_unit_test(
			spans_are_as_simulated_where_nothing_is_congested),
		cmocka_unit_test(
			spans_bound_the_simulation_where_links_are_congested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
