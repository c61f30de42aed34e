/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - integer programs: solved, written, stopped, and solver's ends */
#include "placement/exact/program.h"

#include "base/clock.h"
#include "tests/lib/check.h"
#include "topology/fabric.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define NO WEFT_NONE

/* Cover `need` with coins of random sizes at random prices. */
static void coins(struct program *p, uint64_t *random, uint32_t n,
		  uint32_t *size, uint32_t *price)
{
	for (uint32_t i = 0; i < n; i++) {
		size[i] = 20 + test_random_below(random, 60);
		price[i] = 10 + test_random_below(random, 50);
		program_column(p,
			       (struct program_column){.high = 1,
						       .cost = price[i],
						       .whole = true},
			       'x', (const uint32_t[3]){i, NO, NO});
	}
	program_row(p, 200, 230);
	for (uint32_t i = 0; i < n; i++)
		program_put(p, i, size[i]);
}

/* The same by trying all subsets. */
static double coins_by_force(uint32_t n, const uint32_t *size,
			     const uint32_t *price)
{
	double best = INFINITY;

	for (uint32_t set = 0; set < 1u << n; set++) {
		uint32_t sum = 0, cost = 0;

		for (uint32_t i = 0; i < n; i++) {
			sum += set >> i & 1 ? size[i] : 0;
			cost += set >> i & 1 ? price[i] : 0;
		}
		if (sum >= 200 && sum <= 230)
			best = fmin(best, cost);
	}
	return best;
}

static void check_coins(uint64_t seed)
{
	uint32_t size[12], price[12];
	double x[12], best;
	const struct program_limits limits = {.cutoff = INFINITY};
	struct program_limits below = {0};
	struct program_answer a = {.x = x};
	struct weft_error err = {0};
	struct program p = {0};

	coins(&p, &seed, 12, size, price);
	best = coins_by_force(12, size, price);
	assert_int_equal(program_solve(&p, &limits, &a, &err), 0);
	assert_no_error(&err);
	if (isinf(best)) {
		assert_int_equal(a.status, PROGRAM_INFEASIBLE);
	} else {
		assert_int_equal(a.status, PROGRAM_OPTIMAL);
		assert_true(a.found);
		assert_close(a.value, best, 1e-7);
		assert_close(a.bound, best, 1e-7);
		below.cutoff = best - 0.5;
		assert_int_equal(program_solve(&p, &below, &a, &err), 0);
		assert_int_equal(a.status, PROGRAM_INFEASIBLE);
		assert_close(a.bound, below.cutoff, 1e-12);
	}
	program_free(&p);
}

static void optima_agree_with_trying_all(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 40; i++)
		check_coins(test_random(&random));
}

/* cmocka's assertions are for one thread; this one counts. */
static void *solve_some(void *info)
{
	uint64_t random = *(uint64_t *)info;
	uintptr_t wrong = 0;

	for (uint32_t i = 0; i < 25; i++) {
		uint32_t size[12], price[12];
		const struct program_limits limits = {.cutoff = INFINITY};
		struct program_answer a = {0};
		struct program p = {0};
		double best;

		coins(&p, &random, 12, size, price);
		best = coins_by_force(12, size, price);
		if (program_solve(&p, &limits, &a, NULL) ||
		    (isinf(best) ? a.status != PROGRAM_INFEASIBLE
				 : fabs(a.value - best) > 1e-6))
			wrong++;
		program_free(&p);
	}
	return (void *)wrong;
}

static void two_threads_solve_at_once(void **state)
{
	uint64_t seed[2] = {test_seed(), test_seed() + 1};
	pthread_t thread[2];
	void *wrong;

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			pthread_create(&thread[i], NULL, solve_some, &seed[i]),
			0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(thread[i], &wrong), 0);
		assert_null(wrong);
	}
}

/* A cover of random sets: seconds of work. */
static void hard(struct program *p)
{
	uint64_t random = 5;

	for (uint32_t i = 0; i < 60; i++)
		program_column(p,
			       (struct program_column){
				       .high = 1, .cost = 1, .whole = true},
			       'x', (const uint32_t[3]){i, NO, NO});
	for (uint32_t r = 0; r < 300; r++) {
		bool in[60] = {false};

		program_row(p, 1, INFINITY);
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t c = test_random_below(&random, 60);

			if (!in[c])
				program_put(p, c, 1);
			in[c] = true;
		}
	}
}

static void a_deadline_leaves_a_bound(void **state)
{
	struct effort effort = {.work = 1, .deadline_s = weft_clock_s() + 0.2};
	const struct program_limits limits = {.effort = &effort,
					      .cutoff = INFINITY};
	struct program_answer a = {0};
	struct weft_error err = {0};
	struct program p = {0};

	(void)state;
	hard(&p);
	assert_int_equal(program_solve(&p, &limits, &a, &err), 0);
	assert_no_error(&err);
	if (a.status == PROGRAM_STOPPED)
		assert_true(a.bound >= 15 && a.bound < 60);
	if (a.found)
		assert_true(a.value >= a.bound - 1e-6);
	program_free(&p);
}

static void told_to_stop_it_stops(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct effort effort = {.work = 1, .stop = &stop};
	const struct program_limits limits = {.effort = &effort,
					      .cutoff = INFINITY};
	struct program_answer a = {0};
	struct program p = {0};

	(void)state;
	hard(&p);
	assert_int_equal(program_solve(&p, &limits, &a, NULL), 0);
	assert_int_equal(a.status, PROGRAM_STOPPED);
	assert_false(a.found);
	program_free(&p);
}

static void a_solver_without_memory_fails_and_the_next_works(void **state)
{
	const struct program_limits small = {.memory_mb = 1,
					     .cutoff = INFINITY};
	struct program_answer a = {0};
	struct weft_error err = {0};
	struct program p = {0};

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		program_column(&p, (struct program_column){.high = 1}, 'x',
			       (const uint32_t[3]){i, NO, NO});
	program_row(&p, 1, INFINITY);
	program_put(&p, 7, 1);
	assert_int_equal(program_solve(&p, &small, &a, &err), -1);
	assert_error_says(&err, "solver");
	program_free(&p);
	check_coins(1);
}

static void programs_are_written_as_others_read_them(void **state)
{
	struct program p = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	program_column(&p,
		       (struct program_column){
			       .low = 1, .high = 4, .cost = 2.5, .whole = true},
		       'n', (const uint32_t[3]){3, 7, NO});
	program_column(&p,
		       (struct program_column){.high = INFINITY, .cost = -1},
		       'c', (const uint32_t[3]){NO, NO, NO});
	program_row(&p, 1, 9);
	program_put(&p, 0, 2);
	program_put(&p, 1, -0.5);
	assert_int_equal(program_check(&p, NULL), 0);
	assert_non_null(file);
	program_write(&p, file);
	fclose(file);
	assert_string_equal(text, "Minimize\n cost: + 2.5 n3_7 - 1 c\n"
				  "Subject To\n r0l: + 2 n3_7 - 0.5 c >= 1\n"
				  " r0h: + 2 n3_7 - 0.5 c <= 9\n"
				  "Bounds\n 1 <= n3_7 <= 4\n c >= 0\n"
				  "Generals\n n3_7\nEnd\n");
	free(text);
	program_free(&p);
}

/* Where GLPK is absent programs are written all the same. */
static void without_a_solver_that_is_said(void **state)
{
	struct program p = {0};
	struct program_limits limits = {0};
	struct program_answer answer = {0};
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(program_solve(&p, &limits, &answer, &err), -1);
	assert_error_says(&err, "built without GLPK");
}

int main(void)
{
	const struct CMUnitTest with_solver[] = {
		cmocka_unit_test(optima_agree_with_trying_all),
		cmocka_unit_test(two_threads_solve_at_once),
		cmocka_unit_test(a_deadline_leaves_a_bound),
		cmocka_unit_test(told_to_stop_it_stops),
		cmocka_unit_test(
			a_solver_without_memory_fails_and_the_next_works),
		cmocka_unit_test(programs_are_written_as_others_read_them),
	};
	const struct CMUnitTest without_solver[] = {
		cmocka_unit_test(without_a_solver_that_is_said),
		cmocka_unit_test(programs_are_written_as_others_read_them),
	};

	if (!program_is_solvable())
		return cmocka_run_group_tests(without_solver, NULL, NULL);
	return cmocka_run_group_tests(with_solver, NULL, NULL);
}
