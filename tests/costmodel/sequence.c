/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sequence.c - invariants of split sequences; the seeds' rows are in seeds.c */
#include "lab/calculators/sequence.h"

#include "tests/lib/check.h"

#include <math.h>

static const struct weft_sequence_job example = {.ways = 16,
						 .tokens = 131072,
						 .hidden = 1024,
						 .query_width = 8192,
						 .link_bytes_per_s = 50e9,
						 .flops = 400e12};

static struct weft_sequence sequence_of(struct weft_sequence_job job)
{
	struct weft_error err = {0};
	struct weft_sequence q;

	assert_int_equal(weft_sequence(&job, WEFT_RIGHT, &q, &err), 0);
	assert_no_error(&err);
	return q;
}

static void one_gpu_sends_nothing(void **state)
{
	struct weft_sequence_job job = example;
	struct weft_sequence q;

	(void)state;
	job.ways = 1;
	q = sequence_of(job);
	assert_true(q.hops == 0 && q.ring_s == 0 && q.ring_elements == 0);
	assert_close(q.serial_s, q.compute_s, 1e-12);
	assert_close(q.overlapped_s, q.compute_s, 1e-12);
}

static void a_double_buffer_is_never_slower(void **state)
{
	(void)state;
	for (uint32_t ways = 1; ways <= 1024; ways *= 2) {
		struct weft_sequence_job job = example;
		struct weft_sequence q;

		job.ways = ways;
		job.sync_s = 1e-6;
		q = sequence_of(job);
		assert_true(q.overlapped_s <= q.serial_s * (1 + 1e-12));
		assert_true(q.overlapped_s >= q.compute_s * (1 - 1e-12));
		assert_true(q.overlapped_s >= q.ring_s);
		assert_true(q.gather_overlapped_s <= q.gather_serial_s);
	}
}

/* At the least block that hides, a hop takes as long as a block. */
static void the_least_block_is_where_both_are_equal(void **state)
{
	struct weft_sequence_job job = example;
	double least = sequence_of(job).min_block_tokens;

	(void)state;
	/* F e H_kv / (2 B H_q): grouped queries need an eighth. */
	assert_close(least, 400e12 / 50e9 / 8, 1e-12);
	job.tokens = least * job.ways;
	assert_close(sequence_of(job).ratio, 1, 1e-12);
}

static void twice_the_link_is_half_the_hops(void **state)
{
	struct weft_sequence_job job = example;
	double before = sequence_of(job).ring_s;

	(void)state;
	job.link_bytes_per_s *= 2;
	assert_close(sequence_of(job).ring_s, before / 2, 1e-12);
}

static void without_a_speed_the_bars_are_unknown(void **state)
{
	struct weft_sequence_job job = example;
	struct weft_sequence q;

	(void)state;
	job.flops = 0;
	q = sequence_of(job);
	assert_true(isnan(q.compute_s) && isnan(q.overlapped_s));
	assert_true(isnan(q.gather_overlapped_s) && isnan(q.min_block_tokens));
	assert_false(q.hidden);
	assert_true(q.ring_s > 0);
}

static void impossible_sequences_are_refused(void **state)
{
	const struct {
		struct weft_sequence_job job;
		const char *says;
	} cases[] = {
		{{.tokens = 8, .hidden = 8, .link_bytes_per_s = 1},
		 "needs a GPU"},
		{{.ways = 9, .tokens = 8, .hidden = 8, .link_bytes_per_s = 1},
		 "8 tokens cannot be split over 9"},
		{{.ways = 2, .tokens = 8, .link_bytes_per_s = 1}, "width"},
		{{.ways = 2, .tokens = 8, .hidden = 8}, "rate"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_sequence q;

		assert_int_equal(
			weft_sequence(&cases[i].job, WEFT_RIGHT, &q, &err), -1);
		assert_error_says(&err, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_gpu_sends_nothing),
		cmocka_unit_test(a_double_buffer_is_never_slower),
		cmocka_unit_test(the_least_block_is_where_both_are_equal),
		cmocka_unit_test(twice_the_link_is_half_the_hops),
		cmocka_unit_test(without_a_speed_the_bars_are_unknown),
		cmocka_unit_test(impossible_sequences_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
