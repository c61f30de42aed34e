/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status_writer.c - the snapshot and the thread that keeps it */
#include "plugin/bridge/files/status_writer.h"

#include "plugin/bridge/files/snapshot.h"
#include "tests/lib/fabric.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "name: small\n"
				  "profile: dgx-h100-superpod\n"
				  "nodes:\n"
				  "  n[0-3]: 8\n";

static char folder[] = "/tmp/weft-keeper.XXXXXX";
static char path[256], verify[272], health_path[256];
static struct weft_status shown;
static struct weft_counters counters;
static struct weft_fabric *fabric;

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/status.json", folder);
	snprintf(health_path, sizeof(health_path), "%s/health.yaml", folder);
	snprintf(verify, sizeof(verify), "%s.verify", path);
	fabric = test_fabric(fabric_text);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	weft_fabric_free(fabric);
	return rmdir(folder);
}

static int fresh(void **state)
{
	(void)state;
	weft_status_init(&shown);
	memset(&counters, 0, sizeof(counters));
	return 0;
}

/* Within ten seconds: a status writer that was stopped ends when it likes. */
static int threads_gone(void)
{
	struct stat tasks;

	for (int i = 0; i < 1000; i++) {
		/* "." and ".." and this thread */
		if (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3)
			return 0;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return -1;
}

static int cleared(void **state)
{
	(void)state;
	if (threads_gone() < 0)
		return -1;
	weft_status_free(&shown);
	unlink(path);
	unlink(verify);
	return 0;
}

/* The snapshot as text; the caller frees. */
static char *snapshot(double now_s)
{
	const struct weft_snapshot_place place = {.path = path};
	struct weft_error err = {0};
	char *text;

	assert_int_equal(weft_snapshot_save(&shown, fabric, &counters, now_s,
					    &place, &err),
			 0);
	text = test_read_file(path, NULL);
	assert_non_null(text);
	return text;
}

static void expect_in(double now_s, const char *part)
{
	char *text = snapshot(now_s);

	if (!strstr(text, part))
		fail_msg("no %s in:\n%s", part, text);
	free(text);
}

static void expect_not_in(double now_s, const char *part)
{
	char *text = snapshot(now_s);

	if (strstr(text, part))
		fail_msg("%s in:\n%s", part, text);
	free(text);
}

static void a_node_is_shown_with_its_free_gpus(void **state)
{
	const struct weft_status_node node = {
		.gpus = 0xff,
		.gpus_free = 0x8b,
		.cpus = 64,
		.cpus_used = 3,
		.memory_mb = 512000,
		.memory_used_mb = 1000,
		.paired = 1,
	};

	(void)state;
	weft_status_node(&shown, 2, &node);
	expect_in(10, "\"schema\": \"weft.state/1\"");
	expect_in(10, "{\"name\": \"n2\", \"gpus\": \"0-7\", "
		      "\"gpus_free\": \"0-1,3,7\", \"cpus\": 64, "
		      "\"cpus_used\": 3, \"memory_mb\": 512000, "
		      "\"memory_used_mb\": 1000}");
	expect_not_in(10, "\"n1\"");
}

static void a_node_of_64_gpus_is_shown_whole(void **state)
{
	const struct weft_status_node node = {.gpus = UINT64_MAX,
					      .gpus_free = UINT64_C(1) << 63,
					      .paired = 1};

	(void)state;
	weft_status_node(&shown, 0, &node);
	expect_in(10, "\"gpus\": \"0-63\", \"gpus_free\": \"63\"");
}

static void jobs_come_and_go(void **state)
{
	struct weft_status_job job = {
		.job_id = 5,
		.cause = WEFT_CAUSE_NARROWED,
		.start_s = 1000,
		.n_nodes = 2,
		.n_gpus = 16,
		.metric = WEFT_TIME,
		.cost = 0.5,
		.bound = (double)NAN,
		.step_s = (double)NAN,
		.said = "weft: \"quoted\"\n",
	};

	(void)state;
	weft_status_waits(&shown, 5, WEFT_CAUSE_NO_ROOM, "too little", "tp=8",
			  990);
	weft_status_job(&shown, &job);
	job.job_id = 6;
	weft_status_job(&shown, &job);
	expect_in(1010, "\"job\": 5, \"cause\": \"narrowed\", "
			"\"planned\": true");
	expect_in(1010, "\"job\": 6");
	expect_in(1010, "\"cost\": 0.5");
	expect_in(1010, "weft: \\\"quoted\\\"\\u000a");
	expect_not_in(1010, "bound");
	expect_in(1010, "\"waiting\": []");
	weft_status_job_ended(&shown, 5);
	expect_not_in(1010, "\"job\": 5");
	expect_in(1010, "\"job\": 6");
}

static void what_nodes_bring_is_shown(void **state)
{
	struct weft_status_job job = {
		.job_id = 5,
		.compared = true,
		.gain = {.basis = WEFT_GAIN_STEP,
			 .here_s = 2,
			 .stock_s = 2.5,
			 .spread_s = (double)NAN,
			 .best_s = 2,
			 .nominal_s = (double)NAN,
			 .bound_s = 1.5,
			 .gain = 0.2,
			 .low_s = 1.8,
			 .high_s = 2.4,
			 .matters = true},
	};

	(void)state;
	weft_status_job(&shown, &job);
	expect_in(1010, "\"gain\": {\"basis\": \"step\", \"step_s\": 2, "
			"\"stock_step_s\": 2.5, \"best_step_s\": 2, "
			"\"best_is\": \"found\", \"bound_s\": 1.5, "
			"\"gain\": 0.2, \"share\": 1, "
			"\"low_s\": 1.8, \"high_s\": 2.4, \"matters\": true, "
			"\"late\": false}");
	expect_not_in(1010, "spread");
	job.compared = false;
	weft_status_job(&shown, &job);
	expect_not_in(1010, "gain");
}

static void a_record_of_an_ended_job_is_used_again(void **state)
{
	struct weft_status_job job = {0};

	(void)state;
	for (uint32_t id = 1; id < 1000; id++) {
		job.job_id = id;
		weft_status_job(&shown, &job);
		if (id > 10)
			weft_status_job_ended(&shown, id - 10);
	}
	assert_true(shown.jobs.n <= 11);
}

static void who_waits_is_shown_until_forgotten(void **state)
{
	(void)state;
	weft_status_waits(&shown, 7, WEFT_CAUSE_NO_ROOM, "first", NULL, 1000);
	weft_status_waits(&shown, 7, WEFT_CAUSE_NO_PLAN, "second", NULL, 1100);
	expect_in(1200, "\"job\": 7, \"cause\": \"no-plan\", "
			"\"since_s\": 1000, \"asked_s\": 1100, \"asked\": 2, "
			"\"reason\": \"second\"");
	expect_not_in(1200, "first");
	expect_in(3000, "\"waiting\": []");
}

static void more_who_wait_than_room_push_out_the_oldest(void **state)
{
	(void)state;
	for (uint32_t id = 1; id <= WEFT_SHOWN_WAITS + 1; id++)
		weft_status_waits(&shown, id, WEFT_CAUSE_NO_ROOM, "", NULL,
				  1000 + id);
	expect_not_in(1600, "\"job\": 1,");
	expect_in(1600, "\"job\": 513,");
}

static void everybody_may_read_the_file(void **state)
{
	struct stat status;
	mode_t before = umask(077);

	(void)state;
	free(snapshot(10));
	umask(before);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
}

static void a_private_file_is_for_nobody_else(void **state)
{
	const struct weft_snapshot_place place = {.path = path,
						  .is_private = true};
	struct stat status;
	mode_t before = umask(0);

	(void)state;
	assert_int_equal(
		weft_snapshot_save(&shown, fabric, &counters, 10, &place, NULL),
		0);
	umask(before);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

/* Here there is something where the new file is to be; as on a full disk, what
 * was written before stays. */
static void what_cannot_be_written_anew_becomes_private(void **state)
{
	struct weft_snapshot_place place = {.path = path};
	char beside[600];
	struct stat status;

	(void)state;
	snprintf(beside, sizeof(beside), "%s.new", path);
	assert_int_equal(
		weft_snapshot_save(&shown, fabric, &counters, 10, &place, NULL),
		0);
	assert_int_equal(mkdir(beside, 0700), 0);
	place.is_private = true;
	assert_int_equal(
		weft_snapshot_save(&shown, fabric, &counters, 11, &place, NULL),
		-1);
	rmdir(beside);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void a_folder_that_others_can_write_is_refused(void **state)
{
	const struct weft_snapshot_place place = {.path = path};
	struct weft_error err = {0};

	(void)state;
	chmod(folder, 0777);
	assert_int_equal(
		weft_snapshot_save(&shown, fabric, &counters, 10, &place, &err),
		-1);
	chmod(folder, 0700);
	assert_error_says(&err, "folder is writable");
	assert_int_not_equal(access(path, F_OK), 0);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
	const struct weft_snapshot_place place = {.path = "/nowhere/at/all"};
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(
		weft_snapshot_save(&shown, fabric, &counters, 1, &place, &err),
		-1);
	assert_error_says(&err, "cannot be written");
}

/* Within ten seconds. */
static bool appears(const char *part)
{
	for (int i = 0; i < 1000; i++) {
		char *text = test_read_file(path, NULL);
		bool there = text && strstr(text, part);

		free(text);
		if (there)
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return false;
}

static struct weft_status_writer_options every_ms(void)
{
	return (struct weft_status_writer_options){
		.status_path = path,
		.shown = &shown,
		.fabric = fabric,
		.counters = &counters,
		.period_s = 0.001,
	};
}

static struct weft_status_writer *
start(const struct weft_status_writer_options *options)
{
	struct weft_error err = {0};
	struct weft_status_writer *writer =
		weft_status_writer_start(options, &err);

	assert_no_error(&err);
	assert_non_null(writer);
	return writer;
}

static void the_keeper_writes_what_changes(void **state)
{
	const struct weft_status_writer_options options = every_ms();
	struct weft_status_writer *writer = start(&options);

	(void)state;
	assert_true(appears("weft.state/1"));
	for (uint32_t id = 1; id <= 50; id++)
		weft_status_waits(&shown, id, WEFT_CAUSE_NO_ROOM, "", NULL,
				  time(NULL));
	assert_true(appears("\"job\": 50,"));
	weft_status_writer_stop(writer);
	weft_status_writer_stop(NULL);
}

static double clock_of(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The processor's time of all threads but this one. */
static double others_s(void)
{
	return clock_of(CLOCK_PROCESS_CPUTIME_ID) -
	       clock_of(CLOCK_THREAD_CPUTIME_ID);
}

/* Thousands of jobs change for a second. */
static void expect_rests(void)
{
	double before_s = others_s(), start_s = clock_of(CLOCK_MONOTONIC);
	double took_s;

	do {
		shown.n_changes++;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		took_s = clock_of(CLOCK_MONOTONIC) - start_s;
	} while (took_s < 1);
	assert_true(others_s() - before_s < 0.2 * took_s);
}

static void make_long(void)
{
	for (uint32_t id = 1; id <= 2000; id++)
		weft_status_job(&shown,
				&(struct weft_status_job){.job_id = id});
}

static void write_long(const struct weft_status_writer_options *options)
{
	struct weft_status_writer *writer;

	make_long();
	writer = start(options);
	expect_rests();
	weft_status_writer_stop(writer);
}

static void a_long_file_is_written_less_often(void **state)
{
	const struct weft_status_writer_options options = every_ms();

	(void)state;
	write_long(&options);
	assert_int_equal(access(path, F_OK), 0);
}

/* Within ten seconds. */
static bool mode_becomes(mode_t mode)
{
	for (int i = 0; i < 1000; i++) {
		struct stat status;

		if (stat(path, &status) == 0 && (status.st_mode & 0777) == mode)
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return false;
}

static void what_becomes_private_is_written_anew(void **state)
{
	const struct weft_status_writer_options options = every_ms();
	struct weft_status_writer *writer = start(&options);

	(void)state;
	assert_true(mode_becomes(0644));
	weft_status_writer_keep_private(writer, true);
	assert_true(mode_becomes(0600));
	weft_status_writer_keep_private(writer, false);
	assert_true(mode_becomes(0644));
	weft_status_writer_keep_private(NULL, true);
	weft_status_writer_stop(writer);
}

static void ask_for_recount(void)
{
	FILE *file = fopen(verify, "w");

	assert_non_null(file);
	fclose(file);
}

static void a_recount_is_asked_for_by_a_file(void **state)
{
	const struct weft_status_writer_options options = every_ms();
	struct weft_status_writer *writer = start(&options);
	bool wanted = false;

	(void)state;
	assert_false(weft_status_writer_wants_recount(writer));
	ask_for_recount();
	for (int i = 0; i < 1000 && !wanted; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		wanted = weft_status_writer_wants_recount(writer);
	}
	assert_true(wanted);
	assert_false(weft_status_writer_wants_recount(writer));
	assert_int_not_equal(access(verify, F_OK), 0);
	weft_status_writer_stop(writer);
}

static void a_recount_is_not_made_at_the_wish_of_anybody(void **state)
{
	const struct weft_status_writer_options options = every_ms();
	struct weft_status_writer *writer;

	(void)state;
	ask_for_recount();
	if (chown(verify, 12345, 12345) != 0)
		skip();
	writer = start(&options);
	assert_true(appears("weft.state/1"));
	assert_false(weft_status_writer_wants_recount(writer));
	assert_int_equal(access(verify, F_OK), 0);
	weft_status_writer_stop(writer);
}

static _Atomic int n_complaints;

static void count_complaint(const struct weft_error *err)
{
	assert_error_says(err, "cannot be written");
	n_complaints++;
}

static void trouble_with_the_file_is_told_once(void **state)
{
	struct weft_status_writer_options options = every_ms();
	struct weft_status_writer *writer;

	(void)state;
	options.status_path = "/nowhere/at/all";
	options.complain = count_complaint;
	writer = start(&options);
	for (int i = 0; i < 1000 && !n_complaints; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	weft_status_writer_stop(writer);
	assert_int_equal(n_complaints, 1);
}

/* No file may be long, as on a full disk; returns the limit before. */
static struct rlimit fill_disk(void)
{
	struct rlimit before, small;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 1000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	return before;
}

static void a_long_file_that_fails_is_written_less_often(void **state)
{
	struct weft_status_writer_options options = every_ms();
	struct rlimit before;

	(void)state;
	options.complain = count_complaint;
	unlink(path);
	n_complaints = 0;
	before = fill_disk();
	write_long(&options);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(n_complaints, 1);
	assert_int_not_equal(access(path, F_OK), 0);
}

/* PrivateData is switched on meanwhile: the old file is closed at once. */
static void one_that_fails_to_become_private_rests(void **state)
{
	const struct weft_status_writer_options options = every_ms();
	struct weft_status_writer *writer;
	struct rlimit before;

	(void)state;
	make_long();
	writer = start(&options);
	assert_true(mode_becomes(0644));
	before = fill_disk();
	weft_status_writer_keep_private(writer, true);
	assert_true(mode_becomes(0600));
	expect_rests();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	weft_status_writer_stop(writer);
}

/* In one step, as monitoring does. */
static void write_health(const char *text)
{
	char new_path[sizeof(health_path) + 4];
	FILE *file;

	snprintf(new_path, sizeof(new_path), "%s.new", health_path);
	file = fopen(new_path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(new_path, 0644), 0);
	assert_int_equal(rename(new_path, health_path), 0);
}

static struct weft_health *next_health(struct weft_status_writer *writer)
{
	struct weft_health *health = NULL;

	for (int i = 0; i < 1000 && !health; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		health = weft_status_writer_health(writer);
	}
	return health;
}

static _Atomic int n_health_complaints;

static void count_health_complaint(const struct weft_error *err)
{
	assert_non_null(strstr(err->source, "health"));
	n_health_complaints++;
}

static void expect_factor(struct weft_status_writer *writer, uint32_t node,
			  double factor)
{
	struct weft_health *health = next_health(writer);

	assert_non_null(health);
	assert_close(health->factor[node], factor, 1e-12);
	weft_health_free(health);
	free(health);
}

static void health_is_read_whenever_its_file_changes(void **state)
{
	const struct weft_status_writer_options options = {
		.health_path = health_path,
		.shown = &shown,
		.fabric = fabric,
		.counters = &counters,
		.period_s = 0.002,
		.complain = count_health_complaint,
	};
	struct weft_status_writer *writer;

	(void)state;
	write_health("weft: health/1\nnodes: {n1: 1.5}\n");
	writer = start(&options);
	expect_factor(writer, 1, 1.5);
	assert_null(weft_status_writer_health(writer));
	write_health("weft: health/1\nnodes: {n2: 2}\n");
	expect_factor(writer, 2, 2);
	assert_int_equal(n_health_complaints, 0);
	/* A broken one is told once and changes nothing. */
	write_health("weft: health/1\nnodes: {nowhere: 2}\n");
	for (int i = 0; i < 1000 && !n_health_complaints; i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	assert_int_equal(n_health_complaints, 1);
	assert_null(weft_status_writer_health(writer));
	write_health("weft: health/1\nnodes: {n3: 3}\n");
	expect_factor(writer, 3, 3);
	/* One that nobody takes goes with the status writer. */
	write_health("weft: health/1\n");
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
	weft_status_writer_stop(writer);
	unlink(health_path);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, cleared)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_node_is_shown_with_its_free_gpus),
		CASE(a_node_of_64_gpus_is_shown_whole),
		CASE(jobs_come_and_go),
		CASE(what_nodes_bring_is_shown),
		CASE(a_record_of_an_ended_job_is_used_again),
		CASE(who_waits_is_shown_until_forgotten),
		CASE(more_who_wait_than_room_push_out_the_oldest),
		CASE(everybody_may_read_the_file),
		CASE(a_private_file_is_for_nobody_else),
		CASE(what_cannot_be_written_anew_becomes_private),
		CASE(a_folder_that_others_can_write_is_refused),
		CASE(a_file_that_cannot_be_written_is_an_error),
		CASE(the_keeper_writes_what_changes),
		CASE(a_long_file_is_written_less_often),
		CASE(what_becomes_private_is_written_anew),
		CASE(a_recount_is_asked_for_by_a_file),
		CASE(a_recount_is_not_made_at_the_wish_of_anybody),
		CASE(trouble_with_the_file_is_told_once),
		CASE(a_long_file_that_fails_is_written_less_often),
		CASE(one_that_fails_to_become_private_rests),
		CASE(health_is_read_whenever_its_file_changes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
