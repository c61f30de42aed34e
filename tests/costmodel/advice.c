/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice.c - gains that can be counted by hand, and none where nothing is
 * recorded */
#include "lab/trace/advice.h"

#include "tests/costmodel/trace_file.h"

struct run {
	struct weft_trace traces[2];
	struct weft_overlap overlaps[2];
	struct weft_waits waits;
	struct weft_advice_input in;
	struct weft_advice advice[WEFT_N_ADVICES];
};

static void run_of(const char *first, const char *second, struct run *run)
{
	const char *texts[] = {first, second};
	uint32_t n = second ? 2 : 1;
	struct weft_error err = {0};

	for (uint32_t i = 0; i < n; i++) {
		trace_text_load(texts[i], &run->traces[i], &err);
		assert_no_error(&err);
		weft_overlap_build(&run->traces[i], &run->overlaps[i], &err);
		assert_no_error(&err);
	}
	weft_trace_set_join(run->traces, n, &err);
	weft_waits_build(run->traces, n, &run->waits, &err);
	assert_no_error(&err);
	run->in = (struct weft_advice_input){
		.traces = run->traces,
		.overlaps = run->overlaps,
		.waits = n > 1 ? &run->waits : NULL,
		.n_traces = n,
		.n_steps = 1,
	};
	weft_advice_build(&run->in, run->advice, &err);
	assert_no_error(&err);
}

static void run_free(struct run *run)
{
	for (uint32_t i = 0; i < run->in.n_traces; i++) {
		weft_overlap_free(&run->overlaps[i]);
		weft_trace_free(&run->traces[i]);
	}
	weft_waits_free(&run->waits);
}

static const struct weft_advice *advice(const struct run *run,
					enum weft_advice_kind kind)
{
	for (int i = 0; i < WEFT_N_ADVICES; i++) {
		if (run->advice[i].kind == kind)
			return &run->advice[i];
	}
	fail();
	return NULL;
}

static double gain(const struct run *run, enum weft_advice_kind kind)
{
	assert_true(advice(run, kind)->has_basis);
	return advice(run, kind)->gain_s;
}

#define REDUCE(start, length, n)                                               \
	NCCL("AllReduce", start, length, CALL("allreduce", n, "[0, 1]"))

static void no_gain_exceeds_the_exposed_time_it_removes(void **state)
{
	struct run run;

	(void)state;
	/* 100 us of all-reduce, 80 of them hidden. */
	run_of(KINETO(RANK(0), KERNEL(7, 0, 80, ) "," REDUCE(0, 100, 1000)),
	       NULL, &run);
	assert_close(gain(&run, WEFT_ADVICE_ACCUMULATION), 10e-6, 1e-9);
	assert_close(gain(&run, WEFT_ADVICE_COMPRESSION), 20e-6, 1e-9);
	run_free(&run);
}

static void calls_of_other_axes_are_no_gradients(void **state)
{
	struct run run;

	(void)state;
	run_of(KINETO(RANK(0),
		      NCCL("AllReduce", 0, 100,
			   CALL("allreduce", 1000,
				"[0, 1]") ",\"Process Group Description\":"
					  "\"TENSOR_MODEL_PARALLEL_GROUP\"")),
	       NULL, &run);
	assert_false(advice(&run, WEFT_ADVICE_ACCUMULATION)->has_basis);
	run_free(&run);
}

static void what_is_not_recorded_gives_no_advice(void **state)
{
	static const enum weft_advice_kind silent[] = {
		WEFT_ADVICE_STRAGGLERS, WEFT_ADVICE_STREAM_PRIORITY,
		WEFT_ADVICE_BUCKET_SIZE, WEFT_ADVICE_ALGORITHM,
		WEFT_ADVICE_LAUNCH_GAPS};
	struct run run;

	(void)state;
	run_of(KINETO(RANK(0), REDUCE(0, 100, 1000)), NULL, &run);
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		assert_false(advice(&run, silent[i])->has_basis);
		assert_true(strlen(advice(&run, silent[i])->basis) > 10);
	}
	/* those with a basis come first */
	assert_true(run.advice[0].has_basis && run.advice[1].has_basis);
	assert_true(run.advice[0].gain_s >= run.advice[1].gain_s);
	run_free(&run);
}

static void waiting_for_a_straggler_is_its_gain(void **state)
{
	struct run run;

	(void)state;
	run_of(KINETO(RANK(0), REDUCE(0, 100, 1000)),
	       KINETO(RANK(1), REDUCE(60, 40, 1000)), &run);
	/* 60 us on one of two ranks */
	assert_close(gain(&run, WEFT_ADVICE_STRAGGLERS), 30e-6, 1e-9);
	assert_non_null(
		strstr(advice(&run, WEFT_ADVICE_STRAGGLERS)->what, "rank 1"));
	run_free(&run);
}

/* 10 us + size / 1 GB/s over 2 ranks; bytes are 4 n. */
#define LINE(start, n, length) REDUCE(start, length, n)

static void a_line_is_found_through_the_fastest_of_each_size(void **state)
{
	struct weft_error err = {0};
	struct weft_trace_fit fit;
	struct run run;

	(void)state;
	run_of(KINETO(RANK(0),
		      LINE(0, 1000, 14) "," LINE(100, 2500, 20) "," LINE(
			      200, 2500, 95) "," LINE(300, 5000,
						      30) "," LINE(400, 10000,
								   50)),
	       NULL, &run);
	assert_int_equal(
		weft_trace_fit(&run.in, WEFT_OP_ALL_REDUCE, 2, &fit, &err), 0);
	assert_true(fit.is_supported);
	assert_int_equal(fit.n_sizes, 4);
	assert_close(fit.alpha_s, 10e-6, 1e-6);
	assert_close(fit.rate_bytes_per_s, 1e9, 1e-6);
	/* 84 kB: sqrt(84 us / 10 us) gives 3 buckets, whose latencies and
	 * tail are 30 + 28 us; of the 5 now 50 + 16.8 us. */
	assert_close(gain(&run, WEFT_ADVICE_BUCKET_SIZE), 8.8e-6, 1e-6);
	run_free(&run);
}

static void times_that_do_not_follow_size_support_no_line(void **state)
{
	struct weft_error err = {0};
	struct weft_trace_fit fit;
	struct run run;

	(void)state;
	run_of(KINETO(RANK(0),
		      LINE(0, 1000, 90) "," LINE(100, 2500, 20) "," LINE(
			      200, 5000, 70) "," LINE(300, 10000, 40)),
	       NULL, &run);
	weft_trace_fit(&run.in, WEFT_OP_ALL_REDUCE, 2, &fit, &err);
	assert_false(fit.is_supported);
	assert_false(advice(&run, WEFT_ADVICE_BUCKET_SIZE)->has_basis);
	run_free(&run);
}

#define LAUNCH(id, at)                                                         \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\"" \
	",\"tid\":1,\"ts\":" #at ",\"dur\":1,\"args\":{\"correlation\":" #id   \
	"}}"

static void priority_gains_what_a_ready_collective_was_late(void **state)
{
	struct run run;

	(void)state;
	run_of(KINETO(RANK(0), LAUNCH(1, 0) "," KERNEL(7, 0, 50, ) "," NCCL(
				       "AllReduce", 40, 30,
				       CALL("allreduce", 8,
					    "[0, 1]") ",\"correlation\":1")),
	       NULL, &run);
	/* ready at 0, begun at 40, but only 20 us of it are exposed */
	assert_close(gain(&run, WEFT_ADVICE_STREAM_PRIORITY), 20e-6, 1e-9);
	run_free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_gain_exceeds_the_exposed_time_it_removes),
		cmocka_unit_test(calls_of_other_axes_are_no_gradients),
		cmocka_unit_test(what_is_not_recorded_gives_no_advice),
		cmocka_unit_test(waiting_for_a_straggler_is_its_gain),
		cmocka_unit_test(
			a_line_is_found_through_the_fastest_of_each_size),
		cmocka_unit_test(times_that_do_not_follow_size_support_no_line),
		cmocka_unit_test(
			priority_gains_what_a_ready_collective_was_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
