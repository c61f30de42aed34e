/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watchdog.c - the effort goes down with slow decisions, and up again */
#include "plugin/bridge/watchdog.h"

#include "tests/lib/check.h"

#include <stdlib.h>

#define BUDGET_S 0.02
#define SLOW_S	 0.2

static void a_slow_decision_now_and_then_is_borne(void **state)
{
	struct weft_watchdog w = {0};

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, i));
		assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, i));
		assert_false(weft_watchdog_note(&w, BUDGET_S, BUDGET_S, i));
	}
	assert_int_equal(weft_watchdog_effort(&w, 20), WEFT_EFFORT_FULL);
}

static void three_slow_ones_in_a_row_lower_the_effort(void **state)
{
	struct weft_watchdog w = {0};

	(void)state;
	assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 1));
	assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 2));
	assert_true(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 3));
	assert_int_equal(weft_watchdog_effort(&w, 4), WEFT_EFFORT_FIRST_FIT);
	assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 5));
	assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 6));
	assert_true(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 7));
	assert_int_equal(weft_watchdog_effort(&w, 8), WEFT_EFFORT_NONE);
}

static void after_ten_minutes_all_is_as_before(void **state)
{
	struct weft_watchdog w = {0};

	(void)state;
	for (int i = 0; i < 6; i++)
		weft_watchdog_note(&w, SLOW_S, BUDGET_S, 10);
	assert_int_equal(weft_watchdog_effort(&w, 609), WEFT_EFFORT_NONE);
	assert_int_equal(weft_watchdog_effort(&w, 610), WEFT_EFFORT_FULL);
	assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 611));
	assert_false(weft_watchdog_note(&w, SLOW_S, BUDGET_S, 612));
}

static void a_tight_budget_has_a_limit_of_its_own(void **state)
{
	(void)state;
	assert_close(weft_watchdog_limit_s(0.0001), 0.05, 1e-9);
	assert_close(weft_watchdog_limit_s(0.1), 0.5, 1e-9);
}

/* 20 ms a second are within the share, 200 ms are not. */
static void a_user_may_take_a_share_of_the_time(void **state)
{
	struct weft_rations *r = calloc(1, sizeof(*r));
	uint32_t n_told = 0;

	(void)state;
	for (int i = 0; i < 600; i++) {
		assert_false(weft_rations_charge(r, 1000, 0.02, i));
		n_told += weft_rations_charge(r, 1001, 0.2, i);
	}
	assert_int_equal(n_told, 1);
	assert_true(weft_rations_part(r, 1000, 600) == 1);
	assert_true(weft_rations_part(r, 1001, 600) < 1);
	assert_int_equal(r->n_cut, 1);
	assert_true(weft_rations_part(r, 1002, 600) == 1);
	/* 90 s too much, at a twentieth */
	assert_true(weft_rations_part(r, 1001, 600 + 1700) < 1);
	assert_true(weft_rations_part(r, 1001, 600 + 1900) == 1);
	free(r);
}

/* A few at once are within what may be owed, a cycle of a thousand is
 * not; short ones cost nothing. */
static void long_questions_have_a_share_of_the_time(void **state)
{
	struct weft_owed longs = {0};
	uint32_t n_whole = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		weft_longs_charge(&longs, BUDGET_S, BUDGET_S / 50, 10);
		if (weft_longs_part(&longs, 10) < 1)
			continue;
		n_whole++;
		weft_longs_charge(&longs, BUDGET_S, BUDGET_S, 10);
	}
	assert_true(n_whole > WEFT_LONG_S / BUDGET_S);
	assert_true(n_whole < WEFT_LONG_S / BUDGET_S + 2);
	assert_true(weft_longs_part(&longs, 10.1) < 1);
	assert_true(weft_longs_part(&longs, 10 + 2) == 1);
}

/* Who owes more keeps the place that two users share. */
static void users_that_clash_do_not_clear_each_other(void **state)
{
	struct weft_rations *r = calloc(1, sizeof(*r));

	(void)state;
	assert_true(weft_rations_charge(r, 5, 2, 10));
	assert_false(weft_rations_charge(r, 5 + WEFT_N_RATIONS, 0.001, 10));
	assert_true(weft_rations_part(r, 5, 10) < 1);
	assert_true(weft_rations_part(r, 5 + WEFT_N_RATIONS, 10) == 1);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_decision_now_and_then_is_borne),
		cmocka_unit_test(three_slow_ones_in_a_row_lower_the_effort),
		cmocka_unit_test(after_ten_minutes_all_is_as_before),
		cmocka_unit_test(a_tight_budget_has_a_limit_of_its_own),
		cmocka_unit_test(a_user_may_take_a_share_of_the_time),
		cmocka_unit_test(long_questions_have_a_share_of_the_time),
		cmocka_unit_test(users_that_clash_do_not_clear_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
