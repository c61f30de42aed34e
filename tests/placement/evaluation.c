/* SPDX-License-Identifier: GPL-3.0-or-later */
/* evaluation.c - all that one placement costs, in one call */
#include "placement/objective/evaluation.h"

#include "tests/lib/fabric.h"
#include "tests/lib/traffic.h"
#include "topology/synth.h"

#include <string.h>

struct case_ {
	struct weft_fabric *f;
	struct weft_job job;
	uint32_t where[64];
};

static struct case_ open_case(const char *profile, const char *spec)
{
	struct weft_synth_options options = {.profile = profile};
	struct weft_error err = {0};
	struct case_ c = {0};

	c.f = test_synth("leaf:2 node:4 gpu:8", &options);
	weft_job_build(spec, 0, true, c.f, &c.job, &err);
	assert_no_error(&err);
	for (uint32_t r = 0; r < c.job.n_gpus; r++)
		c.where[r] = r;
	return c;
}

static void close_case(struct case_ *c)
{
	weft_job_free(&c->job);
	weft_fabric_free(c->f);
}

static void cost_and_step_are_those_of_their_own_functions(void **state)
{
	struct case_ c =
		open_case("dgx-h100-superpod", "gpus=64,tp=8,pp=2,gbs=64");
	struct weft_evaluation e = {0};
	const struct weft_step_job placed = {
		.fabric = c.f,
		.spec = &c.job.spec,
		.model = &c.job.model,
		.where = c.where,
	};
	struct weft_error err = {0};
	struct weft_step_options options = {0};
	struct weft_cost cost;
	struct weft_step step;

	(void)state;
	assert_int_equal(weft_evaluate(c.f, &c.job, c.where, NULL, &e, &err),
			 0);
	weft_cost(c.f, &c.job.traffic, c.where, NULL, &cost, &err);
	options.gpu = weft_gpu_find("H100", &err);
	weft_step(&placed, &options, &step, &err);
	assert_no_error(&err);
	assert_memory_equal(&e.cost, &cost, sizeof(cost));
	assert_true(e.timed);
	assert_ptr_equal(e.gpu, options.gpu);
	assert_close(e.step.step_s, step.step_s, 0);
	close_case(&c);
}

/* A ring over two NVLink domains of four nodes and 16 GPUs: the NICs of all of
 * them carry a part of what one rank sends. */
static void the_busiest_link_is_the_steps_fullest(void **state)
{
	static const char text[] =
		"weft: fabric/1\nprofile: dgx-h100-superpod\nnodes:\n"
		"  n[0-7]: 4\nnvlink:\n  v0: n[0-3]\n  v1: n[4-7]\nlevels:\n"
		"  leaf:\n    L: v0,v1\n";
	struct weft_evaluation e = {0};
	struct weft_error err = {0};
	struct weft_flow_end end;
	struct case_ c = {0};
	double sent;

	(void)state;
	c.f = test_fabric(text);
	weft_job_build("gpus=32,dp=32,model=llama3-8B,algorithm=ring", 0, true,
		       c.f, &c.job, &err);
	assert_no_error(&err);
	for (uint32_t r = 0; r < 32; r++)
		c.where[r] = r;
	assert_int_equal(weft_evaluate(c.f, &c.job, c.where, NULL, &e, &err),
			 0);
	sent = schedule_bytes(&c.job.schedule, WEFT_AXIS_DP, 0);
	assert_close(e.cost.busiest.bytes, sent, 1e-12);
	assert_close(e.cost.busiest.time_s,
		     sent / 16 / c.f->levels[1].link.rate_bytes_per_s, 1e-12);
	assert_close(e.cost.busiest.time_s, e.step.fullest.time_s, 0);
	assert_close(e.cost.busiest.bytes, e.step.fullest.bytes, 0);
	end = weft_flows_end(c.f, e.step.fullest.link);
	assert_int_equal(end.what, WEFT_LINK_DOMAIN);
	assert_int_equal(e.cost.busiest.domain, end.domain);
	assert_int_equal(e.cost.busiest.up, end.up);
	assert_int_equal(e.cost.busiest.level, 0);
	close_case(&c);
}

static void a_step_that_cannot_be_predicted_is_no_error(void **state)
{
	static const struct {
		const char *profile, *spec, *why;
	} cases[] = {
		{"pcie4-100g-tcp", "gpus=8", "does not say which GPUs"},
		{"selene-a100", "gpus=8,tp=8,dtype=fp8", "8-bit"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct case_ c = open_case(cases[i].profile, cases[i].spec);
		struct weft_evaluation e = {0};
		struct weft_error err = {0};

		assert_int_equal(
			weft_evaluate(c.f, &c.job, c.where, NULL, &e, &err), 0);
		assert_false(e.timed);
		assert_non_null(strstr(e.why, cases[i].why));
		assert_true(e.cost.total[WEFT_HOPS] > 0);
		close_case(&c);
	}
}

static void ranks_on_one_gpu_are_an_error(void **state)
{
	struct case_ c = open_case("dgx-h100-superpod", "gpus=16,tp=8");
	struct weft_evaluation e = {0};
	struct weft_error err = {0};

	(void)state;
	c.where[3] = c.where[2];
	assert_int_equal(weft_evaluate(c.f, &c.job, c.where, NULL, &e, &err),
			 -1);
	close_case(&c);
}

static void renaming_gpus_of_a_node_changes_no_step(void **state)
{
	struct case_ c =
		open_case("dgx-h100-superpod", "gpus=64,tp=4,pp=2,gbs=64");
	struct weft_evaluation before = {0}, after = {0};
	struct weft_error err = {0};

	(void)state;
	weft_evaluate(c.f, &c.job, c.where, NULL, &before, &err);
	for (uint32_t r = 0; r < 64; r++)
		c.where[r] = c.where[r] / 8 * 8 + (c.where[r] + 3) % 8;
	weft_evaluate(c.f, &c.job, c.where, NULL, &after, &err);
	assert_no_error(&err);
	assert_close(after.step.step_s, before.step.step_s, 1e-12);
	close_case(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			cost_and_step_are_those_of_their_own_functions),
		cmocka_unit_test(the_busiest_link_is_the_steps_fullest),
		cmocka_unit_test(a_step_that_cannot_be_predicted_is_no_error),
		cmocka_unit_test(ranks_on_one_gpu_are_an_error),
		cmocka_unit_test(renaming_gpus_of_a_node_changes_no_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
