/* SPDX-License-Identifier: GPL-3.0-or-later */
/* portfolio.c - the best of several searches, whatever thread has it */
#include "lab/map/portfolio.h"

#include "tests/lib/check.h"

/* A search that finds a random number, or nothing when it is odd. */
struct lottery {
	bool fails;
};

static int draw(const void *problem, struct effort *effort, uint32_t *answer,
		double *cost, struct weft_error *err)
{
	const struct lottery *lottery = problem;

	if (lottery->fails)
		return weft_fail(err, WEFT_EINVAL, "no luck");
	answer[0] = answer[1] = effort_below(effort, 1000000);
	*cost = answer[0];
	return 0;
}

static double best_of(uint32_t n_threads, uint64_t seed)
{
	const struct lottery lottery = {false};
	struct effort effort = {.work = 1, .random = seed};
	struct weft_error err = {0};
	uint32_t answer[2];
	double cost;

	assert_int_equal(portfolio_run(n_threads, draw, &lottery, 2, &effort,
				       answer, &cost, &err),
			 0);
	assert_int_equal(answer[0], answer[1]);
	assert_true(cost == answer[0]);
	return cost;
}

static void more_threads_are_never_worse_and_repeatable(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++) {
		double one = best_of(1, seed), four = best_of(4, seed);

		assert_true(one == best_of(0, seed));
		assert_true(four <= one);
		assert_true(four == best_of(4, seed));
		assert_true(best_of(PORTFOLIO_MAX + 5, seed) <= four);
	}
}

static void when_all_fail_the_error_is_told(void **state)
{
	const struct lottery lottery = {true};
	struct effort effort = {.work = 1};
	struct weft_error err = {0};
	uint32_t answer[2];
	double cost;

	(void)state;
	assert_int_equal(portfolio_run(3, draw, &lottery, 2, &effort, answer,
				       &cost, &err),
			 -1);
	assert_error_says(&err, "no luck");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_threads_are_never_worse_and_repeatable),
		cmocka_unit_test(when_all_fail_the_error_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
