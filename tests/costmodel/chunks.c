/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.c - invariants of chunk counts; the seeds' rows are in seeds.c */
#include "lab/calculators/chunks.h"

#include "tests/lib/check.h"

#include <math.h>

static struct weft_chunks chunks_of(struct weft_chunks_job job)
{
	struct weft_error err = {0};
	struct weft_chunks c;

	assert_int_equal(weft_chunks(&job, WEFT_RIGHT, &c, &err), 0);
	assert_no_error(&err);
	return c;
}

static void no_other_count_has_a_shorter_tail(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct weft_chunks_job job = {
			.gradient_bytes =
				1e6 * (1 + test_random_below(&random, 10000)),
			.link_bytes_per_s =
				1e9 * (1 + test_random_below(&random, 400)),
			.overhead_s =
				1e-6 * (1 + test_random_below(&random, 50)),
			.n_gpus = 2 + test_random_below(&random, 100)};
		double best = chunks_of(job).tail_s;
		uint32_t n = (uint32_t)chunks_of(job).n_chunks;

		job.n_chunks = n + 1;
		assert_true(chunks_of(job).tail_s >= best);
		job.n_chunks = n > 1 ? n - 1 : 1;
		assert_true(chunks_of(job).tail_s >= best);
	}
}

/* The timeline, chunk by chunk. */
static double exposed_by_timeline(const struct weft_chunks_job *job,
				  const struct weft_chunks *c)
{
	double each_s = c->total_s / c->n_chunks, end_s = 0;

	for (double i = 1; i <= c->n_chunks; i++)
		end_s = fmax(end_s, job->backward_s * i / c->n_chunks) + each_s;
	return end_s - job->backward_s;
}

static void what_is_exposed_is_the_timelines(void **state)
{
	(void)state;
	for (double backward_s = 1e-4; backward_s < 1; backward_s *= 1.7) {
		for (uint32_t n = 1; n < 100; n += 7) {
			struct weft_chunks_job job = {.gradient_bytes = 500e6,
						      .link_bytes_per_s = 50e9,
						      .overhead_s = 5e-6,
						      .backward_s = backward_s,
						      .n_chunks = n};
			struct weft_chunks c = chunks_of(job);

			assert_close(c.exposed_s, exposed_by_timeline(&job, &c),
				     1e-9);
		}
	}
}

static void without_overhead_there_is_no_best_count(void **state)
{
	struct weft_chunks c = chunks_of((struct weft_chunks_job){
		.gradient_bytes = 500e6, .link_bytes_per_s = 50e9});

	(void)state;
	assert_true(isinf(c.best));
	assert_true(isfinite(c.n_chunks) && c.n_chunks >= 1);
	assert_true(isnan(c.hidden_share) && isnan(c.achieved_s));
}

static void buckets_round_up(void **state)
{
	(void)state;
	assert_true(weft_bucket_count(1) == 1);
	assert_true(weft_bucket_count(WEFT_BUCKET_FIRST_BYTES + 1) == 2);
	assert_true(weft_bucket_count(WEFT_BUCKET_FIRST_BYTES +
				      10 * WEFT_BUCKET_BYTES) == 11);
}

static void impossible_chunks_are_refused(void **state)
{
	const struct weft_chunks_job cases[] = {
		{.link_bytes_per_s = 1},
		{.gradient_bytes = 1},
		{.gradient_bytes = 1, .link_bytes_per_s = 1, .overhead_s = -1},
		{.gradient_bytes = 1, .link_bytes_per_s = 1, .backward_s = NAN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_chunks c;

		assert_int_equal(weft_chunks(&cases[i], WEFT_RIGHT, &c, &err),
				 -1);
		assert_int_equal(err.code, WEFT_EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_other_count_has_a_shorter_tail),
		cmocka_unit_test(what_is_exposed_is_the_timelines),
		cmocka_unit_test(without_overhead_there_is_no_best_count),
		cmocka_unit_test(buckets_round_up),
		cmocka_unit_test(impossible_chunks_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
