/* SPDX-License-Identifier: GPL-3.0-or-later */
/* turns.c - a heterogeneous job starts where stock would start it */
#include "plugin/bridge/turns.h"

#include "tests/lib/check.h"

#include <stdlib.h>

#define JOB   1000
#define N     3
#define ALL   UINT64_C(7)
#define TURNS 12

/* What happens to component k when weft placed others before it. */
struct world {
	uint32_t weft_blocks[N]; /* components that weft's nodes of it block */
	bool waits;		 /* the last one has no nodes in any case */
	uint32_t n_weft;	 /* cycles that weft placed any in */
};

/* One cycle of backfill, for one job; true: all can start. */
static bool cycle_of(struct weft_turns *turns, uint32_t job, struct world *w,
		     uint32_t number)
{
	uint32_t blocked = 0, n_startable = 0;
	bool any = false;

	for (uint32_t k = 0; k < N; k++) {
		bool stocks = weft_turns_ask(turns, job, number, ALL);
		bool itself = w->waits && k == N - 1;
		bool startable = !itself && !(blocked >> k & 1);
		struct weft_turn_answer answer = {
			.narrowed = startable && !stocks,
			.startable = startable,
			.by_itself =
				itself && weft_turns_suspect(turns, job, k),
		};

		assert_int_equal(stocks, weft_turns_stocks(turns, job));
		if (answer.narrowed)
			blocked |= w->weft_blocks[k];
		any |= answer.narrowed;
		n_startable += startable;
		weft_turns_answer(turns, job, k, &answer);
	}
	w->n_weft += any;
	return n_startable == N;
}

static bool cycle(struct weft_turns *turns, struct world *w, uint32_t number)
{
	return cycle_of(turns, JOB, w, number);
}

/* Weft's nodes of the first leave none for the second, those of the second none
 * for the third: turns by component would never be stock's for both. */
static void a_job_starts_though_components_block_each_other(void **state)
{
	struct weft_turns *turns = calloc(1, sizeof(*turns));
	struct world w = {.weft_blocks = {1u << 1, 1u << 2, 0}};

	(void)state;
	assert_false(cycle(turns, &w, 1));
	assert_true(cycle(turns, &w, 2));
	assert_false(weft_turns_stocks(turns, JOB + 1));
	free(turns);
}

/* All could start, and Slurm has not started them: limits. */
static void where_nothing_blocks_turns_go_on(void **state)
{
	struct weft_turns *turns = calloc(1, sizeof(*turns));
	struct world w = {0};

	(void)state;
	for (uint32_t i = 0; i < TURNS; i++)
		assert_true(cycle(turns, &w, i));
	assert_int_equal(w.n_weft, TURNS / 2);
	free(turns);
}

/* No nodes of weft's are in the way: when the last one can start, the others
 * are where weft wants them. */
static void while_one_waits_by_itself_all_turns_are_wefts(void **state)
{
	struct weft_turns *turns = calloc(1, sizeof(*turns));
	struct world w = {.waits = true};

	(void)state;
	for (uint32_t i = 0; i < TURNS; i++)
		assert_false(cycle(turns, &w, i));
	assert_int_equal(w.n_weft, TURNS);
	w.waits = false;
	assert_true(cycle(turns, &w, TURNS));
	assert_int_equal(w.n_weft, TURNS + 1);
	free(turns);
}

/* Backfill asks again within a cycle, for a later time. */
static void asking_again_is_the_same_turn(void **state)
{
	struct weft_turns *turns = calloc(1, sizeof(*turns));
	const struct weft_turn_answer yes = {true, true, false};

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_false(weft_turns_ask(turns, JOB, 1, ALL));
		weft_turns_answer(turns, JOB, 0, &yes);
	}
	assert_true(weft_turns_ask(turns, JOB, 2, ALL));
	/* what has begun is of no matter */
	weft_turns_answer(turns, JOB, 0, &yes);
	assert_false(weft_turns_ask(turns, JOB, 3, ALL & ~UINT64_C(1)));
	assert_false(weft_turns_ask(turns, JOB, 4, ALL & ~UINT64_C(1)));
	free(turns);
}

/* However many there are, and whatever numbers they have. */
static void many_jobs_have_turns_of_their_own(void **state)
{
	static const uint32_t steps[] = {1, WEFT_MAX_TURNS, N};
	enum { N_JOBS = 2 * WEFT_MAX_TURNS };

	(void)state;
	for (uint32_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		struct weft_turns *turns = calloc(1, sizeof(*turns));
		struct world w = {.weft_blocks = {1u << 1, 1u << 2, 0}};
		bool started[N_JOBS] = {false};

		for (uint32_t i = 1; i <= 3; i++)
			for (uint32_t j = 0; j < N_JOBS; j++)
				started[j] |= cycle_of(
					turns, JOB + j * steps[s], &w, i);
		for (uint32_t j = 0; j < N_JOBS; j++)
			assert_true(started[j]);
		free(turns);
	}
}

/* Jobs whose numbers clash, asked in turn: each is stock's in at least every
 * second cycle. */
static void jobs_that_clash_are_stocks_every_second_time(void **state)
{
	enum { N_JOBS = 3, N_CYCLES = 24 };
	struct weft_last_turns *turns = calloc(1, sizeof(*turns));
	uint32_t n_wefts[N_JOBS] = {0};

	(void)state;
	for (uint32_t cycle = 0; cycle < N_CYCLES; cycle++) {
		for (uint32_t j = 0; j < N_JOBS; j++) {
			uint32_t job_id = JOB + j * WEFT_MAX_LAST_TURNS;

			if (weft_last_turns_stocks_next(turns, job_id, cycle)) {
				weft_last_turns_drop(turns, job_id);
				n_wefts[j] = 0;
			} else {
				weft_last_turns_add(turns, job_id, cycle);
				n_wefts[j]++;
			}
			assert_true(n_wefts[j] <= 1);
		}
	}
	free(turns);
}

static void a_job_that_is_gone_takes_no_turn(void **state)
{
	struct weft_last_turns *turns = calloc(1, sizeof(*turns));
	uint32_t other = JOB + WEFT_MAX_LAST_TURNS;

	(void)state;
	weft_last_turns_add(turns, JOB, 10);
	assert_true(weft_last_turns_stocks_next(turns, other, 20));
	assert_false(weft_last_turns_stocks_next(turns, other, 10 + 3600));
	assert_true(weft_last_turns_stocks_next(turns, JOB, 10 + 3600));
	weft_last_turns_drop(turns, other);
	assert_true(weft_last_turns_stocks_next(turns, JOB, 20));
	weft_last_turns_drop(turns, JOB);
	assert_false(weft_last_turns_stocks_next(turns, other, 20));
	free(turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_job_starts_though_components_block_each_other),
		cmocka_unit_test(where_nothing_blocks_turns_go_on),
		cmocka_unit_test(while_one_waits_by_itself_all_turns_are_wefts),
		cmocka_unit_test(asking_again_is_the_same_turn),
		cmocka_unit_test(many_jobs_have_turns_of_their_own),
		cmocka_unit_test(jobs_that_clash_are_stocks_every_second_time),
		cmocka_unit_test(a_job_that_is_gone_takes_no_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
