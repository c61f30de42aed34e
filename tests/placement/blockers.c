/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers.c - what would make a better place, by waiting and by moving */
#include "placement/blockers.h"

#include "placement/defrag.h"
#include "tests/placement/cases.h"

#include <math.h>
#include <stdlib.h>

/* 8 nodes of 8 GPUs in leafs of 4; the uplinks are slow. */
static const char two_leafs[] = "weft: fabric/1\nname: alpha\nnodes:\n"
				"  n[0-7]: 8\nlevels:\n"
				"  leaf:\n    l[0-1]: n[0-7]\n";

struct scene {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_running_list running;
	struct weft_job job;
	struct weft_placement p;
};

static void scene_open(struct scene *x, const char *state, const char *spec)
{
	struct weft_error err = {0};

	memset(x, 0, sizeof(*x));
	x->f = case_fabric(two_leafs);
	weft_occupancy_build(x->f, &x->o, &err);
	weft_running_parse(&x->o, state, strlen(state), "state", &x->running,
			   &err);
	assert_no_error(&err);
	case_job(spec, x->f, &x->job);
	weft_place(x->f, &x->job, &x->o, NULL, &x->p, &err);
	assert_no_error(&err);
}

static void scene_close(struct scene *x)
{
	weft_placement_free(&x->p);
	weft_job_free(&x->job);
	weft_running_free(&x->running);
	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
}

static void look(const struct scene *x, struct weft_blockers *out)
{
	const struct weft_blockers_request request = {
		.f = x->f,
		.job = &x->job,
		.o = &x->o,
		.running = &x->running,
		.now = &x->p,
	};
	struct weft_error err = {0};

	weft_blockers(&request, out, &err);
	assert_no_error(&err);
}

static const char *id(const struct scene *x, uint32_t job)
{
	return job == WEFT_NONE ? "none" : x->running.jobs[job].id;
}

/* Two jobs hold a leaf's half each, one holds another leaf's. */
static const char spread_state[] =
	"weft: state/1\njobs:\n"
	"  - id: 10\n    nodes: n[0-1]\n    remaining_s: 7200\n"
	"  - id: 11\n    nodes: n[4-5]\n    remaining_s: 600\n"
	"  - id: 12\n    nodes: n6\n    remaining_s: 60\n";

static void the_job_whose_end_helps_is_named(void **state)
{
	struct weft_blockers out;
	struct scene x;

	(void)state;
	/* 4 nodes: n2 and n3 with n7 now; a whole leaf when 10 has ended */
	scene_open(&x, spread_state, "gpus=24,tp=8,metric=hops");
	assert_true(x.p.placed);
	look(&x, &out);
	assert_true(out.ideal < out.cost);
	/* 12 leaves n6 to n7 alone; 10 and 11 each free a leaf's third node */
	assert_true(out.alone.job != WEFT_NONE);
	assert_string_equal(id(&x, out.alone.job), "11");
	assert_string_equal(id(&x, out.good.job), "11");
	assert_true(out.good.remaining_s == 600);
	assert_int_equal(out.fits.job, WEFT_NONE);
	weft_blockers_free(&out);
	scene_close(&x);
}

static void a_job_without_a_place_is_told_when_it_fits(void **state)
{
	struct weft_blockers out;
	struct scene x;

	(void)state;
	scene_open(&x, spread_state, "gpus=40,tp=8");
	assert_false(x.p.placed);
	look(&x, &out);
	assert_true(isinf(out.cost));
	assert_true(isfinite(out.ideal));
	/* 24 free; 12 ends first and brings 8, 11 then 16 more */
	assert_string_equal(id(&x, out.fits.job), "11");
	assert_true(out.fits.remaining_s == 600);
	/* alone, either of the larger ones will do: the sooner */
	assert_string_equal(id(&x, out.alone.job), "11");
	weft_blockers_free(&out);
	scene_close(&x);
}

static void nothing_is_said_against_an_ideal_place(void **state)
{
	struct weft_blockers out;
	struct scene x;

	(void)state;
	scene_open(&x, spread_state, "gpus=16,tp=8,metric=hops");
	look(&x, &out);
	assert_close(out.ideal, out.cost, 1e-12);
	assert_int_equal(out.alone.job, WEFT_NONE);
	assert_int_equal(out.good.job, WEFT_NONE);
	weft_blockers_free(&out);
	scene_close(&x);
}

static void ends_that_are_not_known_are_tried_alone_only(void **state)
{
	static const char text[] = "weft: state/1\njobs:\n"
				   "  - id: a\n    nodes: n[0-2]\n"
				   "  - id: b\n    nodes: n[4-7]\n";
	struct weft_blockers out;
	struct scene x;

	(void)state;
	scene_open(&x, text, "gpus=32,tp=8");
	assert_false(x.p.placed);
	look(&x, &out);
	assert_true(isinf(out.alone.remaining_s));
	/* with n3 a leaf of its own; b would leave the job in two */
	assert_string_equal(id(&x, out.alone.job), "a");
	assert_int_equal(out.fits.job, WEFT_NONE);
	weft_blockers_free(&out);
	scene_close(&x);
}

static void defragment(const struct scene *x, struct weft_defrag *out)
{
	const struct weft_defrag_request request = {
		.f = x->f,
		.job = &x->job,
		.o = &x->o,
		.running = &x->running,
		.now = &x->p,
	};
	struct weft_error err = {0};

	weft_defrag(&request, out, &err);
	assert_no_error(&err);
}

/* After a plan every GPU has one job at most, and moved ones are whole. */
static void check_plan(const struct scene *x,
		       const struct weft_defrag_plan *plan)
{
	uint8_t *taken = calloc(x->f->n_gpus, 1);
	uint32_t n_moved = 0;

	for (uint32_t i = 0; i < x->job.n_gpus; i++)
		assert_int_equal(taken[plan->placement.where[i]]++, 0);
	for (uint32_t j = 0; j < x->running.n; j++) {
		const struct weft_running *r = &x->running.jobs[j];
		const uint32_t *gpu = r->gpu;

		for (uint32_t i = 0; i < plan->n_moves; i++)
			if (plan->moves[i].job == j)
				gpu = plan->moves[i].where;
		n_moved += gpu == r->gpu ? 0 : r->n_gpus;
		for (uint32_t i = 0; i < r->n_gpus; i++)
			assert_int_equal(taken[gpu[i]]++, 0);
	}
	assert_int_equal(n_moved, plan->n_gpus_moved);
	free(taken);
}

static void the_smallest_job_moves_to_make_room(void **state)
{
	struct weft_defrag out;
	struct scene x;

	(void)state;
	scene_open(&x, spread_state, "gpus=24,tp=8,metric=hops");
	defragment(&x, &out);
	assert_true(out.n_plans > 0);
	for (uint32_t i = 0; i < out.n_plans; i++) {
		check_plan(&x, &out.plans[i]);
		assert_true(out.plans[i].placement.cost.total[WEFT_HOPS] <
			    x.p.cost.total[WEFT_HOPS]);
	}
	/* 10 goes beside n7, or 11 or 12 beside n3; 16 GPUs do, 8 do not */
	assert_int_equal(out.plans[0].n_gpus_moved, 16);
	weft_defrag_free(&out);
	scene_close(&x);
}

static void no_plan_where_nothing_can_move(void **state)
{
	static const char text[] = "weft: state/1\njobs:\n"
				   "  - id: a\n    nodes: n[0-3]\n"
				   "  - id: b\n    nodes: n[4-6]\n";
	struct weft_defrag out;
	struct scene x;

	(void)state;
	scene_open(&x, text, "gpus=16,tp=8");
	assert_false(x.p.placed);
	defragment(&x, &out);
	assert_int_equal(out.n_plans, 0);
	assert_true(out.n_domains > 0);
	weft_defrag_free(&out);
	scene_close(&x);
}

/* Random states: whatever is advised can be done and brings something. */
static void advice_can_be_followed(void **state)
{
	uint64_t random = test_seed();
	uint32_t n_plans = 0;

	(void)state;
	for (uint32_t round = 0; round < 60; round++) {
		struct text text = {.n = 0};
		struct weft_defrag out;
		struct scene x;
		uint32_t node = 0, n = 0;

		text_add(&text, "weft: state/1\njobs:\n");
		while (node < 8) {
			uint32_t size = 1 + test_random_below(&random, 2);

			if (node + size <= 8 && test_random_below(&random, 2))
				text_add(&text,
					 "  - id: %u\n    nodes: n[%u-%u]\n",
					 n++, node, node + size - 1);
			node += size;
		}
		if (!n)
			continue;
		scene_open(&x, text.at,
			   round % 2 ? "gpus=32,tp=8,metric=hops"
				     : "gpus=16,tp=8,within=leaf,metric=hops");
		defragment(&x, &out);
		for (uint32_t i = 0; i < out.n_plans; i++) {
			check_plan(&x, &out.plans[i]);
			assert_true(!x.p.placed ||
				    out.plans[i].placement.cost.total[0] <
					    x.p.cost.total[0]);
			assert_true(i == 0 ||
				    out.plans[i].n_gpus_moved >=
					    out.plans[i - 1].n_gpus_moved);
			n_plans++;
		}
		weft_defrag_free(&out);
		scene_close(&x);
	}
	assert_true(n_plans > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_job_whose_end_helps_is_named),
		cmocka_unit_test(a_job_without_a_place_is_told_when_it_fits),
		cmocka_unit_test(nothing_is_said_against_an_ideal_place),
		cmocka_unit_test(ends_that_are_not_known_are_tried_alone_only),
		cmocka_unit_test(the_smallest_job_moves_to_make_room),
		cmocka_unit_test(no_plan_where_nothing_can_move),
		cmocka_unit_test(advice_can_be_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
