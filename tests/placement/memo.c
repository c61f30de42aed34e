/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan cache.c - what is kept between decisions changes none of them */
#include "base/clock.h"
#include "placement/mapping/effort.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"

#define DECISIONS 50
#define LATE	  10 /* of them */

static const char *const specs[] = {
	"gpus=8,tp=8",
	"gpus=64,tp=8,pp=2",
	"gpus=96,tp=2",
	"gpus=64,tp=4,cp=2",
	"gpus=64,ep=16,model=deepseek-v3",
	"gpus=64,tp=8,segment=2",
};

/* Nodes become busy, wholly or in part, or free: many now and then, else a few.
 */
static void change(struct weft_occupancy *o, uint64_t seed)
{
	struct effort e = {.random = seed};
	uint32_t pct = seed % 10 == 1 ? 50 : 3;

	for (uint32_t i = 0; i < o->fabric->n_nodes; i++) {
		if (effort_below(&e, 100) >= pct)
			continue;
		if (effort_below(&e, 2))
			weft_occupancy_release(o, i, 0xff);
		else
			weft_occupancy_take(
				o, i, effort_below(&e, 3) ? UINT64_MAX : 0x0f);
	}
}

static void expect_equal(const struct weft_placement *a,
			 const struct weft_placement *b, const char *spec)
{
	if (a->placed == b->placed && a->bound == b->bound &&
	    (!a->placed ||
	     memcmp(a->where, b->where, a->n_ranks * sizeof(*a->where)) == 0))
		return;
	print_error("%s: placed %d and %d, bound %g and %g\n", spec, a->placed,
		    b->placed, a->bound, b->bound);
	fail();
}

/* Limits on nodes differ from one request to the next, the job does not. */
static void limit(struct weft_job *job, uint64_t seed)
{
	uint32_t n = job->n_gpus / 8, kind = (uint32_t)(seed / 4 % 3);

	job->gpus_per_node = kind == 1 ? 8 : 0;
	job->min_nodes = kind == 1 ? n : 0;
	job->max_nodes = kind ? n + kind - 1 : 0;
}

/* Places with so many frames more on the stack, and leaves nothing of what was
 * there before: what is kept must point into no frame of an earlier decision.
 */
static int place_deep(uint32_t frames, const struct weft_fabric *f,
		      const struct weft_job *job,
		      const struct weft_occupancy *o,
		      const struct weft_place_options *options,
		      struct weft_placement *p, struct weft_error *err)
{
	volatile unsigned char frame[512];

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = 0xa5;
	if (frames)
		return place_deep(frames - 1, f, job, o, options, p, err) +
		       (frame[frames] != 0xa5);
	return weft_place(f, job, o, options, p, err);
}

/* The next decision is on another job of the same spec: nothing of this one may
 * be looked at again. */
static void spoil(struct weft_job *job)
{
	for (uint32_t k = 0; k < job->traffic.n_cliques; k++)
		job->traffic.cliques[k].bytes = 1e30;
	weft_job_free(job);
}

/* with: a placement by a plan cache, which it frees. */
static void expect_uncached(const struct weft_fabric *f,
			    const struct weft_job *job,
			    const struct weft_occupancy *o,
			    struct weft_placement *with, const char *spec)
{
	struct weft_error err = {0};
	struct weft_placement without;

	weft_place(f, job, o, NULL, &without, &err);
	assert_no_error(&err);
	expect_equal(with, &without, spec);
	weft_placement_free(with);
	weft_placement_free(&without);
}

static void decide_often(const struct weft_fabric *f, const char *spec)
{
	struct weft_error err = {0};
	struct weft_place_options keeping = {
		.plan_cache = weft_plan_cache_build(&err)};
	struct weft_placement with;
	struct weft_occupancy o;
	struct weft_job job;

	weft_occupancy_build(f, &o, &err);
	for (uint64_t seed = 1; seed <= DECISIONS; seed++) {
		case_job(spec, f, &job);
		change(&o, seed);
		limit(&job, seed);
		place_deep((uint32_t)(seed % 8), f, &job, &o, &keeping, &with,
			   &err);
		assert_no_error(&err);
		expect_uncached(f, &job, &o, &with, spec);
		spoil(&job);
	}
	weft_occupancy_free(&o);
	weft_plan_cache_free(keeping.plan_cache);
}

static void the_answer_is_the_same_with_a_memo(void **state)
{
	struct weft_fabric *f = test_synth("pod:2 leaf:4 node:8 gpu:8", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		decide_often(f, specs[i]);
	weft_fabric_free(f);
}

/* Each occupancy first meets a decision that has no time left. */
static void place_late(const struct weft_fabric *f, const char *spec)
{
	struct weft_error err = {0}, late = {0};
	struct weft_place_options keeping = {
		.plan_cache = weft_plan_cache_build(&err)};
	struct weft_placement with;
	struct weft_occupancy o;
	struct weft_job job;

	weft_occupancy_build(f, &o, &err);
	case_job(spec, f, &job);
	for (uint64_t seed = 0; seed <= LATE; seed++) {
		if (seed)
			change(&o, seed);
		weft_deadline_set(seed ? 1e-9 : 0);
		weft_place(f, &job, &o, &keeping, &with, &late);
		weft_deadline_set(0);
		weft_placement_free(&with);
		weft_place(f, &job, &o, &keeping, &with, &err);
		assert_no_error(&err);
		expect_uncached(f, &job, &o, &with, spec);
	}
	weft_job_free(&job);
	weft_occupancy_free(&o);
	weft_plan_cache_free(keeping.plan_cache);
}

static void a_late_decision_leaves_nothing_half_done(void **state)
{
	struct weft_fabric *f = test_synth("pod:2 leaf:4 node:8 gpu:8", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		place_late(f, specs[i]);
	place_late(f, "gpus=24,tp=8,cp=3,gpus_per_node=3");
	weft_fabric_free(f);
}

static void no_memo_is_freed_without_harm(void **state)
{
	(void)state;
	weft_plan_cache_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answer_is_the_same_with_a_memo),
		cmocka_unit_test(a_late_decision_leaves_nothing_half_done),
		cmocka_unit_test(no_memo_is_freed_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
