/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seqlock.c - records written by one thread and read by another */
#include "plugin/bridge/files/seqlock.h"

#include "tests/lib/check.h"

#include <pthread.h>
#include <stdatomic.h>

/* All words equal, in every state that a reader may see. */
struct record {
	uint64_t words[9];
};

static struct record record_of(uint64_t value)
{
	struct record record;

	for (size_t w = 0; w < 9; w++)
		record.words[w] = value;
	return record;
}

static void what_is_written_is_read(void **state)
{
	struct weft_seqlock seqlock;
	struct record record = record_of(7), got;

	(void)state;
	weft_seqlock_init(&seqlock, sizeof(record));
	assert_int_equal(weft_seqlock_write(&seqlock, 300, &record, NULL), 0);
	assert_int_equal(seqlock.n, 301);
	assert_int_equal(seqlock.n_writes, 1);
	assert_true(weft_seqlock_read(&seqlock, 300, &got));
	assert_memory_equal(&got, &record, sizeof(got));
	weft_seqlock_free(&seqlock);
}

static void what_was_never_written_is_zero(void **state)
{
	struct weft_seqlock seqlock;
	struct record record = record_of(7), zero = record_of(0), got;

	(void)state;
	weft_seqlock_init(&seqlock, sizeof(record));
	assert_true(weft_seqlock_read(&seqlock, 0, &got));
	assert_memory_equal(&got, &zero, sizeof(got));
	weft_seqlock_write(&seqlock, 1, &record, NULL);
	assert_true(weft_seqlock_read(&seqlock, 0, &got));
	assert_memory_equal(&got, &zero, sizeof(got));
	assert_true(weft_seqlock_read(&seqlock, UINT32_MAX, &got));
	assert_memory_equal(&got, &zero, sizeof(got));
	weft_seqlock_free(&seqlock);
}

static void a_full_board_says_so(void **state)
{
	struct weft_seqlock seqlock;
	struct record record = record_of(1);
	struct weft_error err = {0};
	uint32_t room = WEFT_SEQLOCK_CHUNK * WEFT_SEQLOCK_CHUNKS;

	(void)state;
	weft_seqlock_init(&seqlock, sizeof(record));
	assert_int_equal(weft_seqlock_write(&seqlock, room - 1, &record, &err),
			 0);
	assert_int_equal(weft_seqlock_write(&seqlock, room, &record, &err), -1);
	assert_error_says(&err, "65536");
	weft_seqlock_free(&seqlock);
}

struct race {
	struct weft_seqlock seqlock;
	atomic_bool over;
	uint32_t n_torn, n_read;
};

static void *read_on(void *arg)
{
	struct race *race = arg;

	while (!race->over) {
		struct record got;

		if (!weft_seqlock_read(&race->seqlock, 0, &got))
			continue;
		race->n_read++;
		for (size_t w = 1; w < 9; w++)
			race->n_torn += got.words[w] != got.words[0];
	}
	return NULL;
}

static void a_reader_never_sees_half_a_record(void **state)
{
	static struct race race;
	pthread_t reader;

	(void)state;
	weft_seqlock_init(&race.seqlock, sizeof(struct record));
	assert_int_equal(pthread_create(&reader, NULL, read_on, &race), 0);
	for (uint64_t value = 1; value < 200000; value++) {
		struct record record = record_of(value);

		assert_int_equal(
			weft_seqlock_write(&race.seqlock, 0, &record, NULL), 0);
	}
	race.over = true;
	pthread_join(reader, NULL);
	assert_int_equal(race.n_torn, 0);
	weft_seqlock_free(&race.seqlock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_was_never_written_is_zero),
		cmocka_unit_test(a_full_board_says_so),
		cmocka_unit_test(a_reader_never_sees_half_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
