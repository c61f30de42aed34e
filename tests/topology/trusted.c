/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trusted.c - which files are believed */
#include "base/trusted.h"

#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-trusted.XXXXXX";
static char inner[64], path[128], link_path[64];

static int setup(void **state)
{
	FILE *file;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(inner, sizeof(inner), "%s/inner", folder);
	snprintf(path, sizeof(path), "%s/file", inner);
	snprintf(link_path, sizeof(link_path), "%s/link", folder);
	if (mkdir(inner, 0755) != 0)
		return -1;
	file = fopen(path, "w");
	if (!file)
		return -1;
	fclose(file);
	chmod(path, 0644);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(link_path);
	unlink(path);
	rmdir(inner);
	return rmdir(folder);
}

static void expect_refused(const char *says)
{
	struct weft_error err = {0};

	assert_int_equal(weft_trusted_file(path, geteuid(), &err), -1);
	assert_error_says(&err, says);
}

static void a_file_of_ours_is_believed(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(weft_trusted_file(path, geteuid(), &err), 0);
	assert_no_error(&err);
}

static void a_file_that_others_can_write_is_refused(void **state)
{
	(void)state;
	chmod(path, 0664);
	expect_refused("file is writable");
	chmod(path, 0646);
	expect_refused("file is writable");
	chmod(path, 0644);
}

static void a_folder_that_others_can_write_is_refused(void **state)
{
	(void)state;
	chmod(inner, 0775);
	expect_refused("folder is writable");
	chmod(inner, 0755);
	chmod(folder, 0777);
	expect_refused("folder is writable");
	chmod(folder, 01777);
	assert_int_equal(weft_trusted_file(path, geteuid(), NULL), 0);
	chmod(folder, 0700);
}

static void a_file_of_somebody_else_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(path, 12345, 0), 0);
	expect_refused("belongs to user 12345");
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(chown(inner, 12345, 0), 0);
	expect_refused("folder belongs to user 12345");
	assert_int_equal(chown(inner, 0, 0), 0);
}

static void a_link_is_judged_by_what_it_leads_to(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(symlink(path, link_path), 0);
	assert_int_equal(weft_trusted_file(link_path, geteuid(), NULL), 0);
	chmod(inner, 0777);
	assert_int_equal(weft_trusted_file(link_path, geteuid(), &err), -1);
	assert_error_says(&err, "folder is writable");
	chmod(inner, 0755);
}

static void what_is_no_file_is_refused(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(weft_trusted_file(inner, geteuid(), &err), -1);
	assert_error_says(&err, "regular file");
	err = (struct weft_error){0};
	assert_int_equal(weft_trusted_file("/nowhere/at/all", geteuid(), &err),
			 -1);
	assert_error_says(&err, "No such file");
}

static void expect_folder_refused(const char *says)
{
	struct weft_error err = {0};

	assert_int_equal(weft_trusted_folder(path, geteuid(), &err), -1);
	assert_error_says(&err, says);
}

static void a_folder_to_write_into_is_judged_alike(void **state)
{
	char missing[256];

	(void)state;
	assert_int_equal(weft_trusted_folder(path, geteuid(), NULL), 0);
	snprintf(missing, sizeof(missing), "%s/not-there-yet", inner);
	assert_int_equal(weft_trusted_folder(missing, geteuid(), NULL), 0);
	/* whoever the file itself belongs to: another one takes its place */
	chmod(path, 0666);
	assert_int_equal(weft_trusted_folder(path, geteuid(), NULL), 0);
	chmod(path, 0644);
	chmod(inner, 0777);
	expect_folder_refused("folder is writable");
	chmod(inner, 01777);
	assert_int_equal(weft_trusted_folder(path, geteuid(), NULL), 0);
	chmod(inner, 0755);
	chmod(folder, 0777);
	expect_folder_refused("folder is writable");
	chmod(folder, 0700);
	assert_int_equal(
		weft_trusted_folder("/nowhere/at/all", geteuid(), NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_of_ours_is_believed),
		cmocka_unit_test(a_file_that_others_can_write_is_refused),
		cmocka_unit_test(a_folder_that_others_can_write_is_refused),
		cmocka_unit_test(a_file_of_somebody_else_is_refused),
		cmocka_unit_test(a_link_is_judged_by_what_it_leads_to),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_folder_to_write_into_is_judged_alike),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
