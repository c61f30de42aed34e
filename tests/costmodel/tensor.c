/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tensor.c - invariants of tensor parallelism; the seeds' rows are in seeds.c
 */
#include "lab/calculators/tensor.h"
#include "costmodel/traffic/collective.h"

#include "tests/lib/check.h"
#include "tests/lib/traffic.h"

#include <math.h>

static const struct weft_tensor_job example = {.ways = 8,
					       .tokens = 4096,
					       .hidden = 8192,
					       .link_bytes_per_s = 450e9,
					       .flops = 400e12,
					       .layers = 80,
					       .micro_batches = 8};

static struct weft_tensor tensor_of(struct weft_tensor_job job)
{
	struct weft_error err = {0};
	struct weft_tensor t;

	assert_int_equal(weft_tensor(&job, WEFT_RIGHT, &t, &err), 0);
	assert_no_error(&err);
	return t;
}

static void the_volume_is_the_closed_form(void **state)
{
	(void)state;
	for (uint32_t ways = 1; ways <= 64; ways *= 2) {
		struct weft_tensor_job job = example;

		job.ways = ways;
		assert_close(tensor_of(job).layer_bytes,
			     tp_layer_bytes(ways, 1, 4096, 8192, 2), 1e-12);
	}
}

static void one_gpu_reduces_nothing(void **state)
{
	struct weft_tensor_job job = example;

	(void)state;
	job.ways = 1;
	assert_true(tensor_of(job).step_s == 0 && tensor_of(job).ratio == 0);
}

static void a_step_is_layers_and_micro_batches(void **state)
{
	struct weft_tensor t = tensor_of(example);

	(void)state;
	assert_close(t.step_s, t.all_reduces * t.all_reduce_s * 80 * 8, 1e-12);
}

static void recomputation_repeats_the_forward_pass(void **state)
{
	struct weft_tensor_job job = example;
	double before = tensor_of(job).step_s;

	(void)state;
	job.full_recompute = true;
	assert_close(tensor_of(job).step_s, 1.5 * before, 1e-12);
}

static void without_a_speed_there_is_no_ratio(void **state)
{
	struct weft_tensor_job job = example;

	(void)state;
	job.flops = 0;
	assert_true(isnan(tensor_of(job).ratio));
}

static void missing_members_are_refused(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct weft_tensor_job job = example;
		struct weft_error err = {0};
		struct weft_tensor t;

		job.ways = i == 0 ? 0 : 8;
		job.tokens = i == 1 ? 0 : 1;
		job.hidden = i == 2 ? (double)NAN : 1;
		job.link_bytes_per_s = i == 3 ? 0 : 1;
		assert_int_equal(weft_tensor(&job, WEFT_RIGHT, &t, &err), -1);
		assert_error_says(&err, "above 0");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_volume_is_the_closed_form),
		cmocka_unit_test(one_gpu_reduces_nothing),
		cmocka_unit_test(a_step_is_layers_and_micro_batches),
		cmocka_unit_test(recomputation_repeats_the_forward_pass),
		cmocka_unit_test(without_a_speed_there_is_no_ratio),
		cmocka_unit_test(missing_members_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
