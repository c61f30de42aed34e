/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waits.c - who waited for whom, on ranks that were made to wait */
#include "lab/trace/waits.h"

#include "tests/costmodel/trace_file.h"

#include <math.h>

#define MAX_TRACES 4

struct run {
	struct weft_trace traces[MAX_TRACES];
	struct weft_waits waits;
	uint32_t n;
};

static void run_of(const char *const *texts, uint32_t n, struct run *run)
{
	struct weft_error err = {0};

	run->n = n;
	for (uint32_t i = 0; i < n; i++) {
		trace_text_load(texts[i], &run->traces[i], &err);
		assert_no_error(&err);
	}
	weft_trace_set_join(run->traces, n, &err);
	assert_no_error(&err);
	weft_waits_build(run->traces, n, &run->waits, &err);
	assert_no_error(&err);
}

static void run_free(struct run *run)
{
	weft_waits_free(&run->waits);
	for (uint32_t i = 0; i < run->n; i++)
		weft_trace_free(&run->traces[i]);
}

#define REDUCE(start, length, n)                                               \
	NCCL("AllReduce", start, length, CALL("allreduce", n, "[0, 1]"))

static void the_last_to_begin_is_the_straggler(void **state)
{
	/* Rank 1 is 30 us late to the first, rank 0 10 us to the second. */
	static const char *const texts[] = {
		KINETO(RANK(0), REDUCE(100, 50, 10) "," REDUCE(210, 40, 20)),
		KINETO(RANK(1), REDUCE(130, 20, 10) "," REDUCE(200, 50, 20)),
	};
	struct run run;

	(void)state;
	run_of(texts, 2, &run);
	assert_int_equal(run.waits.n_matches, 2);
	assert_close(run.waits.wait_s[0][0], 30e-6, 1e-9);
	assert_close(run.waits.wait_s[1][0], 0, 0);
	assert_close(run.waits.transfer_s[0][0], 20e-6, 1e-9);
	assert_close(run.waits.transfer_s[1][0], 20e-6, 1e-9);
	assert_close(run.waits.wait_s[1][1], 10e-6, 1e-9);
	assert_close(run.waits.ranks[1].caused_s, 30e-6, 1e-9);
	assert_close(run.waits.ranks[1].waited_s, 10e-6, 1e-9);
	assert_int_equal(run.waits.n_pairs, 2);
	assert_int_equal(run.waits.pairs[0].waiter, 0);
	assert_int_equal(run.waits.pairs[0].last, 1);
	assert_int_equal(run.waits.pairs[0].n, 1);
	assert_close(run.waits.pairs[0].wait_s, 30e-6, 1e-9);
	assert_close(run.waits.pairs[1].wait_s, 10e-6, 1e-9);
	assert_int_equal(run.waits.ranks[0].n_last, 1);
	assert_int_equal(run.waits.ranks[1].n_last, 1);
	run_free(&run);
}

/* The same with rank 1's clock an hour ahead and two calls more at its front:
 * sizes and ends say which belong together. */
static void clocks_apart_are_aligned_by_the_ends(void **state)
{
	static const char *const texts[] = {
		KINETO(RANK(0),
		       REDUCE(100, 50, 10) "," REDUCE(210, 40, 20) "," REDUCE(
			       300, 40, 10) "," REDUCE(390, 50, 30)),
		KINETO(RANK(1),
		       REDUCE(3600000000, 9, 10) "," REDUCE(3600000050, 9, 20) "," REDUCE(
			       3600000130, 20,
			       10) "," REDUCE(3600000200, 50,
					      20) "," REDUCE(3600000300, 40,
							     10) "," REDUCE(3600000390,
									    50,
									    30)),
	};
	struct run run;

	(void)state;
	run_of(texts, 2, &run);
	assert_int_equal(run.waits.n_matches, 4);
	assert_close(run.waits.ranks[1].clock_s, 3600, 1e-9);
	assert_close(run.waits.wait_s[0][0], 30e-6, 1e-9);
	assert_true(run.waits.wait_s[1][0] < 0);
	assert_close(run.waits.wait_s[1][3], 10e-6, 1e-9);
	run_free(&run);
}

#define IN(group, start, length, n)                                            \
	NCCL("AllReduce", start, length,                                       \
	     ",\"Collective name\":\"allreduce\",\"In msg nelems\":" #n        \
	     ",\"dtype\":\"Float\",\"Group size\":2,"                          \
	     "\"Process Group Name\":\"" group "\"")

/* Rank 2 has calls in common with rank 1 alone, on a clock of its own. */
static void clocks_are_set_along_chains_of_groups(void **state)
{
	static const char *const texts[] = {
		KINETO("\"distributedInfo\":{\"rank\":0},",
		       IN("a", 100, 50, 10) "," IN("a", 210, 40, 20) "," IN(
			       "a", 300, 40, 30)),
		KINETO("\"distributedInfo\":{\"rank\":1},",
		       IN("a", 5000130, 20, 10) "," IN(
			       "a", 5000200, 50,
			       20) "," IN("a", 5000300, 40,
					  30) "," IN("b", 5000400, 60, 7)),
		KINETO("\"distributedInfo\":{\"rank\":2},",
		       IN("b", 9000425, 35, 7)),
	};
	struct run run;

	(void)state;
	run_of(texts, 3, &run);
	assert_int_equal(run.waits.n_matches, 4);
	assert_close(run.waits.ranks[1].clock_s, 5, 1e-9);
	assert_close(run.waits.ranks[2].clock_s, 9, 1e-9);
	assert_close(run.waits.wait_s[1][3], 25e-6, 1e-9);
	run_free(&run);
}

static void a_trace_that_nothing_ties_to_the_first_has_no_clock(void **state)
{
	static const char *const texts[] = {
		KINETO("\"distributedInfo\":{\"rank\":0},",
		       IN("a", 100, 50, 10)),
		KINETO("\"distributedInfo\":{\"rank\":1},",
		       IN("b", 100, 50, 10)),
	};
	struct run run;

	(void)state;
	run_of(texts, 2, &run);
	assert_int_equal(run.waits.n_matches, 0);
	assert_true(isnan(run.waits.ranks[1].clock_s));
	run_free(&run);
}

static void sequence_numbers_match_whatever_the_times(void **state)
{
	static const char *const texts[] = {
		KINETO(RANK(0),
		       NCCL("AllReduce", 100, 9,
			    CALL("allreduce", 4,
				 "[0, 1]") ",\"Seq\":7") "," NCCL("AllReduce",
								  200, 9,
								  CALL("allred"
								       "uce",
								       4,
								       "[0, "
								       "1]") ","
									     "\"Seq\":8")),
		KINETO(RANK(1),
		       NCCL("AllReduce", 900, 9,
			    CALL("allreduce", 4, "[0, 1]") ",\"Seq\":8")),
	};
	struct run run;

	(void)state;
	run_of(texts, 2, &run);
	assert_int_equal(run.waits.n_matches, 1);
	assert_true(run.waits.wait_s[0][0] < 0);
	assert_close(run.waits.wait_s[0][1], 0, 0);
	assert_close(run.waits.ranks[1].clock_s, 700e-6, 1e-9);
	run_free(&run);
}

static void calls_of_other_groups_or_sizes_do_not_match(void **state)
{
	static const char *const texts[] = {
		KINETO(RANK(0), REDUCE(100, 50, 10)),
		KINETO(RANK(1), REDUCE(100, 50, 11)),
		KINETO("\"distributedInfo\":{\"rank\":2},",
		       NCCL("AllReduce", 100, 50,
			    CALL("allreduce", 10, "[2, 3]"))),
	};
	struct run run;

	(void)state;
	run_of(texts, 3, &run);
	assert_int_equal(run.waits.n_matches, 0);
	for (uint32_t r = 0; r < 3; r++)
		assert_true(run.waits.wait_s[r][0] < 0);
	run_free(&run);
}

static void one_trace_alone_has_no_waits(void **state)
{
	static const char *const texts[] = {
		KINETO(RANK(0), REDUCE(100, 50, 10))};
	struct run run;

	(void)state;
	run_of(texts, 1, &run);
	assert_int_equal(run.waits.n_matches, 0);
	run_free(&run);
}

/* Random lateness of three ranks with clocks apart: what was put in comes
 * out. */
static void random_lateness_is_found_again(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int round = 0; round < 50; round++) {
		uint32_t late[8][3];
		char text[3][8192];
		const char *texts[3] = {text[0], text[1], text[2]};
		struct run run;

		for (int r = 0; r < 3; r++)
			snprintf(text[r], sizeof(text[r]),
				 "{\"distributedInfo\":{\"rank\":%d},"
				 "\"traceEvents\":[",
				 r);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t last = 0;

			for (int r = 0; r < 3; r++) {
				late[i][r] = test_random_below(&seed, 400);
				last = late[i][r] > last ? late[i][r] : last;
			}
			for (int r = 0; r < 3; r++) {
				size_t used = strlen(text[r]);

				snprintf(text[r] + used, sizeof(text[r]) - used,
					 "%s{\"ph\":\"X\",\"cat\":\"kernel\","
					 "\"name\":\"ncclAllReduce\",\"ts\":%u,"
					 "\"dur\":%u,\"args\":{\"stream\":1"
					 ",\"Collective name\":\"allreduce\","
					 "\"dtype\":\"Int\",\"Group size\":3,"
					 "\"In msg nelems\":%u,"
					 "\"Process Group Name\":\"0\"}}",
					 i ? "," : "",
					 5000000 * (uint32_t)r + 1000 * i +
						 late[i][r],
					 last + 100 - late[i][r], i + 1);
			}
		}
		for (int r = 0; r < 3; r++)
			strcat(text[r], "]}");
		run_of(texts, 3, &run);
		assert_int_equal(run.waits.n_matches, 8);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t last = 0;

			for (int r = 0; r < 3; r++)
				last = late[i][r] > last ? late[i][r] : last;
			for (int r = 0; r < 3; r++)
				assert_close(run.waits.wait_s[r][i] + 1,
					     1e-6 * (last - late[i][r]) + 1,
					     1e-12);
		}
		run_free(&run);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_to_begin_is_the_straggler),
		cmocka_unit_test(clocks_apart_are_aligned_by_the_ends),
		cmocka_unit_test(clocks_are_set_along_chains_of_groups),
		cmocka_unit_test(
			a_trace_that_nothing_ties_to_the_first_has_no_clock),
		cmocka_unit_test(sequence_numbers_match_whatever_the_times),
		cmocka_unit_test(calls_of_other_groups_or_sizes_do_not_match),
		cmocka_unit_test(one_trace_alone_has_no_waits),
		cmocka_unit_test(random_lateness_is_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
