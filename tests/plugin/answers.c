/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugin/bridge/answers.h"

#include "tests/lib/check.h"

#include <stdlib.h>

static struct weft_answers table;

static int clear(void **state)
{
	(void)state;
	weft_answers_clear(&table);
	return 0;
}

static void keep_of(uint32_t job_id, uint64_t signature, time_t until,
		    uint32_t n_nodes)
{
	struct weft_answer answer = {
		.signature = signature,
		.until = until,
		.cause = WEFT_CAUSE_NO_PLAN,
		.n_nodes = n_nodes,
		.nodes = calloc(n_nodes, sizeof(uint32_t)),
	};

	weft_answers_keep(&table, weft_answers_of(&table, job_id, 100),
			  WEFT_ASKED_NOW, &answer, 100);
	assert_null(answer.nodes);
}

static void keep(uint32_t job_id, uint64_t signature, time_t until)
{
	keep_of(job_id, signature, until, 2);
}

static const struct weft_answer *find(uint32_t job_id, uint64_t signature,
				      time_t now)
{
	return weft_answers_find(weft_answers_of(&table, job_id, now),
				 WEFT_ASKED_NOW, signature, now);
}

static void an_answer_holds_while_nothing_changes(void **state)
{
	(void)state;
	keep(7, 42, 200);
	assert_non_null(find(7, 42, 199));
	assert_int_equal(find(7, 42, 199)->cause, WEFT_CAUSE_NO_PLAN);
	assert_null(find(7, 43, 199));
	assert_null(find(7, 42, 200));
	assert_null(weft_answers_find(weft_answers_of(&table, 7, 199),
				      WEFT_ASKED_LATER, 42, 199));
}

static void a_newer_answer_replaces_an_older_one(void **state)
{
	(void)state;
	keep(7, 42, 200);
	keep(7, 43, 200);
	assert_null(find(7, 42, 150));
	assert_non_null(find(7, 43, 150));
}

static void nodes_of_all_answers_have_a_bound(void **state)
{
	uint32_t half = WEFT_MAX_ANSWER_NODES / 2;

	(void)state;
	keep_of(1, 42, 200, half);
	keep_of(2, 42, 200, half);
	keep_of(3, 42, 200, 1);
	assert_non_null(find(1, 42, 150));
	assert_non_null(find(2, 42, 150));
	assert_null(find(3, 42, 150));
	/* An answer makes room for the one that replaces it, and a clash for
	 * others. */
	keep_of(2, 43, 200, half);
	assert_non_null(find(2, 43, 150));
	keep_of(2 + WEFT_MAX_ASKED, 42, 200, 1);
	keep_of(3, 42, 200, half - 1);
	assert_non_null(find(3, 42, 150));
	assert_int_equal(table.n_nodes, WEFT_MAX_ANSWER_NODES);
	/* Those that hold no more make room. */
	keep_of(1, 42, 100, half);
	keep_of(4, 42, 200, 1);
	assert_non_null(find(4, 42, 150));
	assert_int_equal(table.n_nodes, half + 1);
	keep_of(1, 42, 100 + WEFT_ANSWER_AGE_S + 1, half);
	assert_non_null(find(4, 42, 150));
	keep_of(5, 42, 200, 1);
	assert_non_null(find(5, 42, 150));
	weft_answers_clear(&table);
	assert_int_equal(table.n_nodes, 0);
}

static void jobs_that_clash_lose_the_answer_only(void **state)
{
	(void)state;
	keep(7, 42, 200);
	assert_null(find(7 + WEFT_MAX_ASKED, 42, 150));
	assert_null(find(7, 42, 150));
}

static void a_clock_that_is_set_back_prolongs_nothing(void **state)
{
	(void)state;
	keep(7, 42, 5000);
	assert_non_null(find(7, 42, 5000 - WEFT_ANSWER_AGE_S));
	assert_null(find(7, 42, 4000));
	/* first seen at 100 */
	assert_close(
		weft_answers_left_s(weft_answers_of(&table, 7, 40), 0, 300, 40),
		300, 1e-9);
	assert_close(
		weft_answers_left_s(weft_answers_of(&table, 7, 90), 0, 300, 90),
		250, 1e-9);
}

static void the_wait_counts_from_when_the_job_was_eligible(void **state)
{
	const struct weft_asked *w = weft_answers_of(&table, 9, 1000);

	(void)state;
	assert_close(weft_answers_left_s(w, 900, 300, 1000), 200, 1e-9);
	/* not said, or not yet: since it was first seen */
	assert_close(weft_answers_left_s(w, 0, 300, 1100), 200, 1e-9);
	assert_close(weft_answers_left_s(w, 5000, 300, 1100), 200, 1e-9);
	assert_true(weft_answers_left_s(w, 900, 300, 1300) <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(an_answer_holds_while_nothing_changes,
					  clear),
		cmocka_unit_test_teardown(a_newer_answer_replaces_an_older_one,
					  clear),
		cmocka_unit_test_teardown(nodes_of_all_answers_have_a_bound,
					  clear),
		cmocka_unit_test_teardown(jobs_that_clash_lose_the_answer_only,
					  clear),
		cmocka_unit_test_teardown(
			a_clock_that_is_set_back_prolongs_nothing, clear),
		cmocka_unit_test_teardown(
			the_wait_counts_from_when_the_job_was_eligible, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
