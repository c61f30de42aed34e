/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whatif.c - invariants of single terms; the seeds' rows are in seeds.c */
#include "lab/calculators/whatif.h"

#include "tests/lib/check.h"

#include <math.h>

static struct weft_whatif_job example(void)
{
	return (struct weft_whatif_job){.compute_s = 0.3,
					.comm_s = 0.5,
					.latency_s = 0.1,
					.n_gpus = 64,
					.terms = weft_whatif_off};
}

static double *value(struct weft_whatif_terms *terms,
		     const struct weft_whatif_term *term)
{
	return (double *)(void *)((char *)terms + term->offset);
}

static struct weft_whatif whatif_of(struct weft_whatif_job job)
{
	struct weft_error err = {0};
	struct weft_whatif w;

	assert_int_equal(weft_whatif(&job, WEFT_RIGHT, &w, &err), 0);
	assert_no_error(&err);
	return w;
}

static void every_term_is_off_by_default(void **state)
{
	struct weft_whatif w = whatif_of(example());

	(void)state;
	assert_close(w.step_s, 0.8, 1e-12);
	assert_close(w.step_s, w.base_s, 1e-12);
	assert_close(w.speedup, 1, 1e-12);
	assert_true(fabs(w.lost_gpu_s) < 1e-12 && w.launch_gap_s == 0);
}

/* Neither the name nor the member of a row is another's. */
static void every_term_reaches_the_step(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < weft_n_whatif_rows; i++) {
		const struct weft_whatif_term *term = &weft_whatif_rows[i];
		struct weft_whatif_job job = example();
		double off = *value(&job.terms, term);

		assert_ptr_equal(weft_whatif_find(term->name), term);
		assert_true(off == term->min || off == term->max);
		*value(&job.terms, term) =
			off == term->min
				? term->min + 0.01 * (term->max - term->min)
				: 0.5 * term->max;
		if (fabs(whatif_of(job).step_s / 0.8 - 1) < 1e-9)
			fail_msg("%s changes nothing", term->name);
	}
}

static void terms_out_of_range_are_refused(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < weft_n_whatif_rows; i++) {
		const struct weft_whatif_term *term = &weft_whatif_rows[i];
		const double wrong[] = {term->min - 1, term->max + 1, NAN};

		for (size_t k = 0; k < 3; k++) {
			struct weft_whatif_job job = example();
			struct weft_error err = {0};
			struct weft_whatif w;

			*value(&job.terms, term) = wrong[k];
			assert_int_equal(
				weft_whatif(&job, WEFT_RIGHT, &w, &err), -1);
			assert_error_says(&err, term->name);
		}
	}
}

static void terms_without_a_source_say_so(void **state)
{
	(void)state;
	assert_string_equal(weft_whatif_find("rdma")->source, "");
	assert_string_equal(weft_whatif_find("priority")->source, "");
	assert_string_not_equal(weft_whatif_find("in-network")->source, "");
	assert_null(weft_whatif_find("magic"));
}

static void hidden_communication_is_free(void **state)
{
	struct weft_whatif_job job = example();

	(void)state;
	job.overlap = 1;
	job.comm_s = 0.25;
	job.terms.compression = 2;
	assert_close(whatif_of(job).step_s, 0.3, 1e-12);
	assert_close(whatif_of(job).speedup, 1, 1e-12);
}

static void impossible_steps_are_refused(void **state)
{
	struct weft_whatif_job cases[3] = {example(), example(), example()};

	(void)state;
	cases[0].compute_s = 0;
	cases[1].latency_s = 0.6;
	cases[2].overlap = 1.5;
	for (size_t i = 0; i < 3; i++) {
		struct weft_error err = {0};
		struct weft_whatif w;

		assert_int_equal(weft_whatif(&cases[i], WEFT_RIGHT, &w, &err),
				 -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_term_is_off_by_default),
		cmocka_unit_test(every_term_reaches_the_step),
		cmocka_unit_test(terms_out_of_range_are_refused),
		cmocka_unit_test(terms_without_a_source_say_so),
		cmocka_unit_test(hidden_communication_is_free),
		cmocka_unit_test(impossible_steps_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
