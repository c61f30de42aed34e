/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker.c - threads that nobody waits for */
#include "plugin/bridge/files/worker.h"

#include "base/clock.h"
#include "plugin/bridge/files/reading.h"
#include "tests/lib/check.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file system that answers when it is told to. */
struct slow {
	sem_t answer;
	atomic_int n_rounds, n_released;
	atomic_bool saw_left;
};

static bool slow_round(void *self, const struct weft_worker *worker)
{
	struct slow *slow = self;

	while (sem_wait(&slow->answer) != 0)
		;
	slow->saw_left = weft_worker_left(worker);
	slow->n_rounds++;
	return true;
}

static void slow_release(void *self)
{
	struct slow *slow = self;

	slow->n_released++;
}

static struct weft_worker *start(struct slow *slow)
{
	const struct weft_work work = {
		.name = "slow",
		.period_s = 0.001,
		.round = slow_round,
		.release = slow_release,
		.self = slow,
	};
	struct weft_worker *worker;

	sem_init(&slow->answer, 0, 0);
	worker = weft_worker_start(&work, NULL);
	assert_non_null(worker);
	return worker;
}

/* Within ten seconds. */
static bool becomes(const atomic_int *value, int wanted)
{
	for (int i = 0; i < 1000 && *value != wanted; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	return *value == wanted;
}

static void waiting_ends_at_its_limit(void **state)
{
	struct slow slow = {0};
	struct weft_worker *worker = start(&slow);
	double start_s = weft_clock_s();

	(void)state;
	assert_false(weft_worker_wait(worker, 0.05));
	assert_true(weft_clock_s() - start_s >= 0.05);
	/* its round may begin late on a busy machine */
	for (int i = 0; i < 1000 && weft_worker_busy_s(worker) < 0.05; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_true(weft_worker_busy_s(worker) >= 0.05);
	sem_post(&slow.answer);
	assert_true(weft_worker_wait(worker, 10));
	assert_int_equal(slow.n_rounds, 1);
	weft_worker_leave(worker);
	sem_post(&slow.answer);
	assert_true(becomes(&slow.n_released, 1));
}

static void one_that_hangs_is_left_at_once_and_ends_when_it_can(void **state)
{
	struct slow slow = {0};
	struct weft_worker *worker = start(&slow);

	(void)state;
	weft_worker_leave(worker);
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	assert_int_equal(slow.n_released, 0);
	sem_post(&slow.answer);
	assert_true(becomes(&slow.n_released, 1));
	assert_true(slow.saw_left);
	assert_int_equal(slow.n_rounds, 1);
}

/* A file system that is gone for a day must not fill the process with threads.
 */
static void not_more_than_some_hang_at_a_time(void **state)
{
	enum { MANY = 100 };
	static struct slow slow[MANY];
	const struct weft_work work = {
		.name = "slow",
		.round = slow_round,
		.release = slow_release,
		.self = &slow[0],
	};
	struct weft_error err = {0};
	int n = 0, n_released = 0;

	(void)state;
	for (struct weft_worker *worker = NULL; n < MANY; n++) {
		sem_init(&slow[n].answer, 0, 0);
		worker = weft_worker_start(
			&(struct weft_work){.name = "slow",
					    .round = slow_round,
					    .release = slow_release,
					    .self = &slow[n]},
			&err);
		if (!worker)
			break;
		weft_worker_leave(worker);
	}
	assert_in_range(n, 8, MANY - 1);
	assert_error_says(&err, "wait for files already");
	for (int i = 0; i < n; i++)
		sem_post(&slow[i].answer);
	for (int i = 0; i < n; i++)
		n_released += becomes(&slow[i].n_released, 1);
	assert_int_equal(n_released, n);
	/* Then there is room again. */
	for (int i = 0; i < 1000; i++) {
		struct weft_worker *worker = weft_worker_start(&work, NULL);

		if (worker) {
			weft_worker_leave(worker);
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	sem_post(&slow[0].answer);
	assert_true(becomes(&slow[0].n_released, 2));
}

static void a_reading_without_an_answer_is_left(void **state)
{
	const struct weft_reading_from from = {.path = "/nowhere/weft.yaml",
					       .kept = "/nowhere/good",
					       .base = "/nowhere/weft.yaml"};
	struct weft_reading_answer answer;
	struct weft_reading *reading = weft_reading_start(&from, NULL);

	(void)state;
	assert_non_null(reading);
	assert_true(weft_reading_take(reading, 10, &answer));
	assert_null(answer.settings);
	assert_false(answer.kept);
	assert_int_not_equal(answer.err.code, 0);
	weft_reading_leave(weft_reading_start(&from, NULL));
	weft_reading_leave(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_ends_at_its_limit),
		cmocka_unit_test(
			one_that_hangs_is_left_at_once_and_ends_when_it_can),
		cmocka_unit_test(not_more_than_some_hang_at_a_time),
		cmocka_unit_test(a_reading_without_an_answer_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
