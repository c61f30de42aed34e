/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.c - the file of what was decided on jobs that started */
#include "plugin/bridge/files/records.h"

#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY UINT64_MAX

static char folder[] = "/tmp/weft-records.XXXXXX";
static char path[256], aside[272];
static struct weft_status shown;

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/records", folder);
	snprintf(aside, sizeof(aside), "%s.1", path);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(folder);
}

static int fresh(void **state)
{
	(void)state;
	weft_status_init(&shown);
	return 0;
}

static int cleared(void **state)
{
	(void)state;
	weft_status_free(&shown);
	unlink(path);
	unlink(aside);
	return 0;
}

static void save(uint32_t job_id)
{
	struct weft_status_job job = {
		.job_id = job_id,
		.cause = WEFT_CAUSE_OBSERVED,
		.start_s = 1000 + job_id,
		.n_nodes = 2,
		.n_gpus = 16,
		.on = "n[00-01]",
		.plan = "n[02-03]",
	};

	weft_status_spec("tp=8", job.spec);
	weft_status_save(&shown, &job);
}

static void write_all(uint64_t max_bytes)
{
	struct weft_error err = {0};

	assert_int_equal(weft_records_write(&shown, path, max_bytes, &err), 0);
}

static uint32_t count_lines(const char *file)
{
	char *text = test_read_file(file, NULL);
	uint32_t n = 0;

	for (const char *c = text; c && *c; c++)
		n += *c == '\n';
	free(text);
	return n;
}

static void expect_in(const char *part)
{
	char *text = test_read_file(path, NULL);

	assert_non_null(text);
	if (!strstr(text, part))
		fail_msg("no %s in:\n%s", part, text);
	free(text);
}

static void each_job_is_a_line(void **state)
{
	const struct weft_status_job ended = {
		.job_id = 7, .start_s = 1007, .end_s = 1099};
	struct stat status;

	(void)state;
	write_all(MANY);
	assert_int_not_equal(access(path, F_OK), 0);
	save(7);
	weft_status_save(&shown, &ended);
	write_all(MANY);
	write_all(MANY);
	assert_int_equal(count_lines(path), 2);
	expect_in("{\"job\": 7, \"cause\": \"observed\", \"planned\": false, "
		  "\"start_s\": 1007, \"nodes\": 2, \"gpus\": 16");
	expect_in("\"spec\": \"tp=8\", \"on\": \"n[00-01]\", "
		  "\"plan\": \"n[02-03]\"}\n");
	expect_in("{\"job\": 7, \"start_s\": 1007, \"end_s\": 1099}\n");
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	save(8);
	write_all(MANY);
	assert_int_equal(count_lines(path), 3);
}

static void what_comes_too_fast_is_counted(void **state)
{
	(void)state;
	for (uint32_t id = 1; id <= WEFT_SHOWN_SAVED + 3; id++)
		save(id);
	write_all(MANY);
	assert_int_equal(count_lines(path), WEFT_SHOWN_SAVED);
	assert_int_equal(shown.n_lost, 3);
	expect_in("{\"job\": 4, ");
	expect_in("{\"job\": 515, ");
}

static void a_full_file_is_set_aside(void **state)
{
	(void)state;
	save(1);
	write_all(100);
	save(2);
	write_all(100);
	assert_int_equal(count_lines(aside), 1);
	assert_int_equal(count_lines(path), 1);
	expect_in("{\"job\": 2, ");
	save(3);
	write_all(100);
	assert_int_equal(count_lines(aside), 1);
	expect_in("{\"job\": 3, ");
}

static void what_cannot_be_written_is_kept(void **state)
{
	struct weft_error err = {0};

	(void)state;
	save(1);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(weft_records_write(&shown, path, MANY, &err), -1);
	assert_error_says(&err, "cannot be written");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	err = (struct weft_error){0};
	assert_int_equal(weft_records_write(&shown, path, MANY, &err), -1);
	unlink(path);
	write_all(MANY);
	assert_int_equal(count_lines(path), 1);
}

static void a_line_that_was_cut_stands_alone(void **state)
{
	FILE *file;

	(void)state;
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("{\"job\": 1, \"cau", file);
	fclose(file);
	save(2);
	write_all(MANY);
	expect_in("\"cau\n{\"job\": 2, ");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, cleared)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_job_is_a_line),
		CASE(what_comes_too_fast_is_counted),
		CASE(a_full_file_is_set_aside),
		CASE(what_cannot_be_written_is_kept),
		CASE(a_line_that_was_cut_stands_alone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
