/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.c - sets of nodes that take more GPUs or nodes, and less time */
#include "placement/objective/judge.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

struct setting {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_placement p;
};

static void open_setting(struct setting *s, const char *spec)
{
	const struct weft_synth_options options = {.rails = 8};
	struct weft_error err = {0};

	memset(s, 0, sizeof(*s));
	s->f = test_synth("pod:2 leaf:5 node:5 gpu:8", &options);
	case_job(spec, s->f, &s->job);
	weft_occupancy_build(s->f, &s->o, &err);
	weft_place(s->f, &s->job, &s->o, NULL, &s->p, &err);
	assert_no_error(&err);
	assert_true(s->p.placed);
}

static void close_setting(struct setting *s)
{
	weft_placement_free(&s->p);
	weft_job_free(&s->job);
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

static double time_of(const struct setting *s, const uint32_t *where)
{
	const struct weft_objective objective =
		weft_objective_of_spec(&s->job.spec);
	struct weft_judge judge = {0};
	struct weft_measure measure;
	struct weft_error err = {0};

	weft_judge_build(s->f, &s->job, NULL, &objective, &judge, &err);
	weft_judge_measure(&judge, where, &measure, &err);
	assert_no_error(&err);
	weft_judge_free(&judge);
	return measure.value;
}

/* Stages of 50 ranks on nodes of 8: where the seventh node of one is the first
 * of the next, each has a ring there with 2 or 6 NICs of 8. */
static void groups_that_do_not_fill_nodes_have_their_own(void **state)
{
	uint32_t packed[200], stage[50];
	struct setting s;

	(void)state;
	open_setting(&s, "gpus=200,tp=1,pp=4");
	for (uint32_t r = 0; r < 200; r++)
		packed[r] = r;
	assert_true(time_of(&s, s.p.where) < 0.5 * time_of(&s, packed));
	memset(stage, 0xff, sizeof(stage));
	for (uint32_t r = 0; r < 200; r++) {
		uint32_t *of = &stage[s.f->gpu_node[s.p.where[r]]];

		assert_true(*of == UINT32_MAX || *of == r / 50);
		*of = r / 50;
	}
	close_setting(&s);
}

static void groups_that_fill_nodes_take_no_more(void **state)
{
	struct setting s;

	(void)state;
	open_setting(&s, "gpus=192,tp=1,pp=4");
	assert_int_equal(s.p.n_nodes, 24);
	close_setting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_that_do_not_fill_nodes_have_their_own),
		cmocka_unit_test(groups_that_fill_nodes_take_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
