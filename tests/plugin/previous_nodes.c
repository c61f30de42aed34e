/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugin/bridge/running/previous_nodes.h"

#include "tests/lib/check.h"

static struct weft_previous_nodes previous;
static const uint32_t some[] = {4, 2, 9};

static int clear(void **state)
{
	(void)state;
	weft_previous_nodes_clear(&previous);
	return previous.n_nodes ? -1 : 0;
}

static void the_nodes_of_a_job_are_found_again(void **state)
{
	const struct weft_previous_nodes_job *job;

	(void)state;
	weft_previous_nodes_keep(&previous, 7, some, 3);
	job = weft_previous_nodes_find(&previous, 7);
	assert_non_null(job);
	assert_int_equal(job->n_nodes, 3);
	assert_memory_equal(job->nodes, some, sizeof(some));
	assert_null(weft_previous_nodes_find(&previous, 8));
	assert_null(weft_previous_nodes_find(&previous, 0));
}

static void of_jobs_that_clash_the_last_is_known(void **state)
{
	(void)state;
	weft_previous_nodes_keep(&previous, 7, some, 3);
	weft_previous_nodes_keep(&previous, 7 + WEFT_MAX_PAST, some, 2);
	assert_null(weft_previous_nodes_find(&previous, 7));
	assert_int_equal(
		weft_previous_nodes_find(&previous, 7 + WEFT_MAX_PAST)->n_nodes,
		2);
	assert_int_equal(previous.n_nodes, 2);
}

static void a_job_without_nodes_is_forgotten(void **state)
{
	(void)state;
	weft_previous_nodes_keep(&previous, 7, some, 3);
	weft_previous_nodes_keep(&previous, 7, some, 0);
	assert_null(weft_previous_nodes_find(&previous, 7));
	assert_int_equal(previous.n_nodes, 0);
}

static void no_more_is_kept_than_there_is_room_for(void **state)
{
	static uint32_t many[WEFT_MAX_PAST_NODES];

	(void)state;
	weft_previous_nodes_keep(&previous, 1, many, WEFT_MAX_PAST_NODES - 2);
	weft_previous_nodes_keep(&previous, 2, some, 2);
	assert_non_null(weft_previous_nodes_find(&previous, 1));
	assert_int_equal(previous.n_nodes, WEFT_MAX_PAST_NODES);
	weft_previous_nodes_keep(&previous, 600, some, 3);
	assert_non_null(weft_previous_nodes_find(&previous, 600));
	assert_null(weft_previous_nodes_find(&previous, 1));
	assert_true(previous.n_nodes <= WEFT_MAX_PAST_NODES);
}

/* What a component of a job has just been given is what the next one asks
 * about. */
static void the_oldest_make_room(void **state)
{
	static uint32_t many[WEFT_MAX_PAST_NODES + 1];

	(void)state;
	weft_previous_nodes_keep(&previous, 1100, many,
				 WEFT_MAX_PAST_NODES / 2);
	weft_previous_nodes_keep(&previous, 1500, many,
				 WEFT_MAX_PAST_NODES / 2);
	weft_previous_nodes_keep(&previous, 1501, some, 3);
	assert_null(weft_previous_nodes_find(&previous, 1100));
	assert_non_null(weft_previous_nodes_find(&previous, 1500));
	assert_non_null(weft_previous_nodes_find(&previous, 1501));
	/* too many by itself */
	weft_previous_nodes_keep(&previous, 1502, many,
				 WEFT_MAX_PAST_NODES + 1);
	assert_null(weft_previous_nodes_find(&previous, 1502));
	assert_non_null(weft_previous_nodes_find(&previous, 1501));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_nodes_of_a_job_are_found_again,
					  clear),
		cmocka_unit_test_teardown(of_jobs_that_clash_the_last_is_known,
					  clear),
		cmocka_unit_test_teardown(a_job_without_nodes_is_forgotten,
					  clear),
		cmocka_unit_test_teardown(
			no_more_is_kept_than_there_is_room_for, clear),
		cmocka_unit_test_teardown(the_oldest_make_room, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
