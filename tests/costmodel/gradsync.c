/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gradsync.c - invariants of the gradient sync; the seeds' rows are in seeds.c
 */
#include "lab/calculators/gradsync.h"

#include "tests/lib/check.h"

#include <math.h>

static const struct weft_gradsync_job example = {
	.parameters = 7e9,
	.parameter_bytes = 2,
	.link_bytes_per_s = 50e9,
	.n_gpus = 8,
};

static struct weft_gradsync sync_of(struct weft_gradsync_job job,
				    enum weft_convention convention)
{
	struct weft_error err = {0};
	struct weft_gradsync sync;

	assert_int_equal(weft_gradsync(&job, convention, &sync, &err), 0);
	assert_no_error(&err);
	return sync;
}

static void a_ring_sends_nearly_twice_the_gradients(void **state)
{
	struct weft_gradsync sync = sync_of(example, WEFT_RIGHT);

	(void)state;
	assert_close(sync.wire_bytes, 2 * 7.0 / 8 * 14e9, 1e-12);
	assert_close(sync.time_s[WEFT_GRADSYNC_RING], 0.49, 1e-12);
	assert_close(sync.bus_bytes_per_s, 50e9, 1e-12);
}

static void one_gpu_has_nothing_to_synchronise(void **state)
{
	struct weft_gradsync_job job = example;
	struct weft_gradsync sync;

	(void)state;
	job.n_gpus = 1;
	sync = sync_of(job, WEFT_RIGHT);
	for (int a = WEFT_GRADSYNC_RING; a <= WEFT_GRADSYNC_HALVING; a++)
		assert_true(sync.time_s[a] == 0);
	assert_true(sync.overhead == 0 && !sync.wall);
	assert_true(sync.efficiency == 1);
	assert_true(sync.recommended_bytes_per_s == 0);
}

static void twice_the_rate_is_half_the_time(void **state)
{
	struct weft_gradsync_job fast = example;
	struct weft_gradsync a = sync_of(example, WEFT_RIGHT), b;

	(void)state;
	fast.link_bytes_per_s *= 2;
	b = sync_of(fast, WEFT_RIGHT);
	assert_close(a.exposed_s, 2 * b.exposed_s, 1e-12);
	assert_close(a.hiding_bytes_per_s, b.hiding_bytes_per_s, 1e-12);
}

static void the_link_that_hides_it_hides_it(void **state)
{
	struct weft_gradsync_job job = example;
	struct weft_gradsync sync = sync_of(job, WEFT_RIGHT);

	(void)state;
	job.link_bytes_per_s = sync.hiding_bytes_per_s;
	job.overlap = 1;
	sync = sync_of(job, WEFT_RIGHT);
	assert_close(sync.ratio, 1, 1e-12);
	assert_true(fabs(sync.exposed_s) < 1e-12);
	assert_false(sync.wall);
}

static void accumulation_and_compression_divide_the_ratio(void **state)
{
	struct weft_gradsync_job job = example;
	double before = sync_of(job, WEFT_RIGHT).ratio;

	(void)state;
	job.accumulation = 8;
	assert_close(sync_of(job, WEFT_RIGHT).ratio, before / 8, 1e-12);
	job.compression = 10;
	assert_close(sync_of(job, WEFT_RIGHT).ratio, before / 80, 1e-12);
}

static void latency_makes_trees_win_small_syncs(void **state)
{
	struct weft_gradsync_job job = example;

	(void)state;
	job.latency_s = 5e-6;
	job.n_gpus = 24;
	assert_int_equal(sync_of(job, WEFT_RIGHT).algorithm,
			 WEFT_GRADSYNC_RING);
	job.parameters = 1e6;
	assert_int_equal(sync_of(job, WEFT_RIGHT).algorithm,
			 WEFT_GRADSYNC_TREE);
	job.n_gpus = 32;
	assert_int_equal(sync_of(job, WEFT_RIGHT).algorithm,
			 WEFT_GRADSYNC_HALVING);
}

/* Inside nodes 2 * 7/8 * 14e9 / 450e9, between them 2 * 1/2 * 1.75e9 / 50e9. */
static void syncing_inside_nodes_first_uses_every_link(void **state)
{
	struct weft_gradsync_job job = example;
	struct weft_gradsync sync;

	(void)state;
	job.n_gpus = 16;
	job.gpus_per_node = 8;
	job.intra_bytes_per_s = 450e9;
	sync = sync_of(job, WEFT_RIGHT);
	assert_int_equal(sync.algorithm, WEFT_GRADSYNC_HIERARCHICAL);
	assert_close(sync.time_s[WEFT_GRADSYNC_HIERARCHICAL],
		     2 * 7.0 / 8 * 14e9 / 450e9 + 1.75e9 / 50e9, 1e-12);
}

/* The textbook forms, of n a power of two. */
static void algorithms_take_what_their_forms_say(void **state)
{
	(void)state;
	for (uint32_t log_n = 2; log_n <= 8; log_n++) {
		struct weft_gradsync_job job = example;
		double n = (double)(1u << log_n), a = 3e-6, s = 14e9 / 50e9;
		struct weft_gradsync sync;

		job.n_gpus = 1u << log_n;
		job.latency_s = a;
		sync = sync_of(job, WEFT_RIGHT);
		assert_close(sync.time_s[WEFT_GRADSYNC_RING],
			     2 * (n - 1) * a + 2 * (n - 1) / n * s, 1e-12);
		assert_close(sync.time_s[WEFT_GRADSYNC_HALVING],
			     2 * log_n * a + 2 * (n - 1) / n * s, 1e-12);
		assert_close(sync.time_s[WEFT_GRADSYNC_TREE],
			     2 * log_n * a + 2 * s, 1e-12);
	}
}

static void impossible_jobs_are_refused(void **state)
{
	const struct {
		struct weft_gradsync_job job;
		const char *says;
	} cases[] = {
		{{.parameter_bytes = 2, .link_bytes_per_s = 1, .n_gpus = 1},
		 "parameters"},
		{{.parameters = 1, .parameter_bytes = 2, .link_bytes_per_s = 1},
		 "GPU"},
		{{.parameters = 1, .parameter_bytes = 2, .n_gpus = 1}, "rate"},
		{{.parameters = 1,
		  .parameter_bytes = 2,
		  .link_bytes_per_s = 1,
		  .n_gpus = 9,
		  .gpus_per_node = 8,
		  .intra_bytes_per_s = 1},
		 "whole number of nodes"},
		{{.parameters = 1,
		  .parameter_bytes = 2,
		  .link_bytes_per_s = 1,
		  .n_gpus = 8,
		  .algorithm = WEFT_GRADSYNC_HIERARCHICAL},
		 "GPUs per node"},
		{{.parameters = 1,
		  .parameter_bytes = 2,
		  .link_bytes_per_s = 1,
		  .n_gpus = 6,
		  .algorithm = WEFT_GRADSYNC_HALVING},
		 "power of two"},
		{{.parameters = 1,
		  .parameter_bytes = 2,
		  .link_bytes_per_s = 1,
		  .n_gpus = 8,
		  .overlap = NAN},
		 "overlap"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_gradsync sync;

		assert_int_equal(
			weft_gradsync(&cases[i].job, WEFT_RIGHT, &sync, &err),
			-1);
		assert_error_says(&err, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_sends_nearly_twice_the_gradients),
		cmocka_unit_test(one_gpu_has_nothing_to_synchronise),
		cmocka_unit_test(twice_the_rate_is_half_the_time),
		cmocka_unit_test(the_link_that_hides_it_hides_it),
		cmocka_unit_test(accumulation_and_compression_divide_the_ratio),
		cmocka_unit_test(latency_makes_trees_win_small_syncs),
		cmocka_unit_test(syncing_inside_nodes_first_uses_every_link),
		cmocka_unit_test(algorithms_take_what_their_forms_say),
		cmocka_unit_test(impossible_jobs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
