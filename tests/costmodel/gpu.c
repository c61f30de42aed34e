/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpu.c - the table of GPUs, and the time of kernels */
#include "costmodel/job/gpu.h"

#include "tests/lib/check.h"
#include "topology/profile.h"

#include <string.h>

static const struct weft_gpu *gpu(const char *text)
{
	struct weft_error err = {0};
	const struct weft_gpu *found = weft_gpu_find(text, &err);

	assert_no_error(&err);
	assert_non_null(found);
	return found;
}

static void names_are_found_in_what_people_write(void **state)
{
	static const struct {
		const char *text, *name;
	} cases[] = {
		{"H100", "H100"},	  {"h100-80G-SXM", "H100"},
		{"A100-80G-SXM", "A100"}, {"Ampere (A100 class)", "A100"},
		{"Ampere", "A100"},	  {"DGX-GB300", "GB300"},
		{"DGX-B300", "B300"},	  {"nvidia_gb200_nvl", "GB200"},
		{"DGX-B200", "B200"},	  {"H800", "H800"},
		{"H200", "H200"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(gpu(cases[i].text)->name, cases[i].name);
}

static void an_unknown_name_gets_the_nearest_one(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_null(weft_gpu_find("H101", &err));
	assert_error_says(&err, "unknown GPU \"H101\"");
	assert_error_says(&err, "H100");
	memset(&err, 0, sizeof(err));
	assert_null(weft_gpu_find("", &err));
	assert_error_says(&err, "unknown GPU");
}

static void every_profile_but_the_plain_one_has_a_gpu(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < weft_n_profiles; i++) {
		const char *name = weft_profiles[i].name;
		/* nor is there one of AMD's in the table */
		bool plain = strcmp(name, "pcie4-100g-tcp") == 0 ||
			     strcmp(name, "mi300x") == 0;

		assert_int_equal(weft_gpu_of_profile(name) == NULL, plain);
	}
	assert_string_equal(weft_gpu_of_profile("dgx-h100-superpod")->name,
			    "H100");
	assert_string_equal(weft_gpu_of_profile("selene-a100")->name, "A100");
	assert_string_equal(weft_gpu_of_profile("aws-p4d")->name, "A100");
	assert_string_equal(weft_gpu_of_profile("gb200-nvl72")->name, "GB200");
	assert_string_equal(weft_gpu_of_profile("dgx-b200")->name, "B200");
	assert_null(weft_gpu_of_profile(""));
}

static void every_gpu_is_complete(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < weft_n_gpus; i++) {
		const struct weft_gpu *g = &weft_gpus[i];

		assert_non_null(weft_profile_find(g->fabric));
		assert_true(g->n_sms > 0 && g->memory_bytes > 1e9 &&
			    g->memory_bytes_per_s > 1e11);
		/* Binary units are more than what is sold, by 7 % at most. */
		assert_true(g->usable_bytes > g->memory_bytes &&
			    g->usable_bytes < 1.075 * g->memory_bytes);
		for (int p = 0; p < WEFT_N_PRECISIONS; p++) {
			assert_true((g->flops_per_s[p] > 0) ==
				    (g->efficiency[p] > 0));
			assert_true(g->efficiency[p] < 1);
		}
		assert_true(g->flops_per_s[WEFT_BITS_16] > 0);
		assert_true(g->attention[WEFT_ATTENTION_PLAIN] > 0);
		assert_true(g->framework != WEFT_FRAMEWORK_USUAL);
	}
}

static void large_products_come_near_the_efficiency(void **state)
{
	const struct weft_gpu *g = gpu("H100");
	double n = 65536;
	double rate =
		2 * n * n * n / weft_gpu_product_s(g, WEFT_BITS_16, n, n, n, 1);

	(void)state;
	assert_close(rate,
		     g->flops_per_s[WEFT_BITS_16] * g->efficiency[WEFT_BITS_16],
		     0.02);
}

static void small_products_are_less_efficient_than_large_ones(void **state)
{
	const struct weft_gpu *g = gpu("A100");
	double last = 0;

	(void)state;
	for (double n = 256; n <= 16384; n *= 4) {
		double rate = 2 * n * n * n /
			      weft_gpu_product_s(g, WEFT_BITS_16, n, n, n, 1);

		assert_true(rate > last);
		last = rate;
	}
}

static void products_never_get_faster_by_growing(void **state)
{
	const struct weft_gpu *g = gpu("H100");
	uint64_t seed = test_seed();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		double m = 1 + test_random_below(&seed, 8192);
		double n = 1 + test_random_below(&seed, 8192);
		double k = 1 + test_random_below(&seed, 8192);
		double t = weft_gpu_product_s(g, WEFT_BITS_16, m, n, k, 1);
		double more = 1 + test_random_below(&seed, 512);
		double slack = 1 - 1e-12;

		assert_true(weft_gpu_product_s(g, WEFT_BITS_16, m, n, k + more,
					       1) >= t * slack);
		/* Both orientations of a tile are tried. */
		assert_close(weft_gpu_product_s(g, WEFT_BITS_16, n, m, k, 1), t,
			     1e-12);
		assert_true(weft_gpu_product_s(g, WEFT_BITS_8, m, n, k, 1) <=
			    t);
		assert_true(weft_gpu_product_s(g, WEFT_BITS_16, m, n, k, 4) >=
			    t * slack);
	}
}

/* Those of experts fill waves together, but each is started. */
static void products_side_by_side_are_each_a_kernel(void **state)
{
	const struct weft_gpu *g = gpu("H100");
	double one = weft_gpu_product_s(g, WEFT_BITS_16, 128, 256, 1024, 1);
	double all = weft_gpu_product_s(g, WEFT_BITS_16, 128, 256, 1024, 100);
	double kernel_s = weft_gpu_memory_s(g, 0, 1);

	(void)state;
	assert_close(all - one, 99 * kernel_s, 0.01);
}

static void memory_time_grows_with_bytes_and_kernels(void **state)
{
	const struct weft_gpu *g = gpu("H100");
	double one = weft_gpu_memory_s(g, 1e9, 1);

	(void)state;
	assert_true(one > 1e9 / g->memory_bytes_per_s);
	assert_close(weft_gpu_memory_s(g, 2e9, 2), 2 * one, 1e-12);
	assert_close(weft_gpu_memory_s(g, 0, 0), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_in_what_people_write),
		cmocka_unit_test(an_unknown_name_gets_the_nearest_one),
		cmocka_unit_test(every_profile_but_the_plain_one_has_a_gpu),
		cmocka_unit_test(every_gpu_is_complete),
		cmocka_unit_test(large_products_come_near_the_efficiency),
		cmocka_unit_test(
			small_products_are_less_efficient_than_large_ones),
		cmocka_unit_test(products_never_get_faster_by_growing),
		cmocka_unit_test(products_side_by_side_are_each_a_kernel),
		cmocka_unit_test(memory_time_grows_with_bytes_and_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
