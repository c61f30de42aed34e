/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.c - invariants of pipelines; the seeds' rows are in seeds.c */
#include "lab/calculators/pipeline.h"

#include "tests/lib/check.h"

#include <math.h>

static struct weft_pipeline pipeline_of(struct weft_pipeline_job job)
{
	struct weft_error err = {0};
	struct weft_pipeline pipeline;

	assert_int_equal(weft_pipeline(&job, WEFT_RIGHT, &pipeline, &err), 0);
	assert_no_error(&err);
	return pipeline;
}

static void one_stage_has_no_bubble_and_sends_nothing(void **state)
{
	struct weft_pipeline p = pipeline_of(
		(struct weft_pipeline_job){.stages = 1, .micro_batches = 8});

	(void)state;
	assert_true(p.bubble_of_ideal == 0 && p.bubble_of_total == 0);
	assert_true(p.efficiency == 1 && !p.inefficient);
	assert_true(p.transfer_bytes == 0 && p.min_link_bytes_per_s == 0);
	assert_true(p.advised_micro_batches == 1);
}

static void both_bubbles_say_the_same(void **state)
{
	(void)state;
	for (uint32_t stages = 1; stages <= 16; stages *= 2) {
		for (uint32_t v = 1; v <= 4; v++) {
			struct weft_pipeline p =
				pipeline_of((struct weft_pipeline_job){
					.stages = stages,
					.micro_batches = 4 * stages,
					.interleave = v});

			assert_close(p.efficiency, 1 / (1 + p.bubble_of_ideal),
				     1e-12);
			assert_close(p.efficiency, 1 - p.bubble_of_total,
				     1e-12);
			assert_close(p.step_s,
				     p.compute_s * (1 + p.bubble_of_ideal),
				     1e-12);
		}
	}
}

/* What a picture of the schedule shows: with two stages and two chunks, stage 0
 * starts five chunk passes before its first backward pass. */
static void interleaving_holds_more_micro_batches(void **state)
{
	struct weft_pipeline p = pipeline_of((struct weft_pipeline_job){
		.stages = 2, .micro_batches = 8, .interleave = 2});

	(void)state;
	assert_true(p.in_flight == 5);
	p = pipeline_of(
		(struct weft_pipeline_job){.stages = 4, .micro_batches = 2});
	assert_true(p.in_flight == 2);
}

static void the_advice_is_enough_and_no_more(void **state)
{
	(void)state;
	for (uint32_t stages = 2; stages <= 64; stages++) {
		struct weft_pipeline_job job = {.stages = stages,
						.micro_batches = 8};
		struct weft_pipeline p = pipeline_of(job);
		struct weft_pipeline_job few = job, deep = job;

		few.micro_batches = (uint32_t)p.advised_micro_batches;
		assert_false(pipeline_of(few).inefficient);
		few.micro_batches--;
		assert_true(pipeline_of(few).inefficient);
		deep.stages = (uint32_t)p.advised_stages;
		assert_false(pipeline_of(deep).inefficient);
		deep.stages++;
		if (p.inefficient)
			assert_true(pipeline_of(deep).inefficient);
	}
}

static void tensor_ranks_share_a_boundary(void **state)
{
	struct weft_pipeline_job job = {.stages = 4, .micro_batches = 8};
	double whole = pipeline_of(job).transfer_bytes;

	(void)state;
	job.tensor = 8;
	assert_close(pipeline_of(job).transfer_bytes, whole / 8, 1e-12);
}

static void a_batch_split_finer_sends_as_much(void **state)
{
	struct weft_pipeline_job coarse = {
		.stages = 4, .micro_batches = 8, .sequences = 2};
	struct weft_pipeline_job fine = {
		.stages = 4, .micro_batches = 16, .sequences = 1};

	(void)state;
	assert_close(pipeline_of(coarse).transfer_bytes,
		     pipeline_of(fine).transfer_bytes, 1e-12);
}

static void impossible_pipelines_are_refused(void **state)
{
	const struct {
		struct weft_pipeline_job job;
		const char *says;
	} cases[] = {
		{{.stages = 4}, "start at 1"},
		{{.stages = 4, .micro_batches = 8, .forward_s = 1}, "together"},
		{{.stages = 4, .micro_batches = 6, .interleave = 2},
		 "whole rounds"},
		{{.stages = 4, .micro_batches = 8, .threshold = 1}, "below 1"},
		{{.stages = 4, .micro_batches = 8, .threshold = NAN},
		 "below 1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_pipeline pipeline;

		assert_int_equal(weft_pipeline(&cases[i].job, WEFT_RIGHT,
					       &pipeline, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stage_has_no_bubble_and_sends_nothing),
		cmocka_unit_test(both_bubbles_say_the_same),
		cmocka_unit_test(interleaving_holds_more_micro_batches),
		cmocka_unit_test(the_advice_is_enough_and_no_more),
		cmocka_unit_test(tensor_ranks_share_a_boundary),
		cmocka_unit_test(a_batch_split_finer_sends_as_much),
		cmocka_unit_test(impossible_pipelines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
