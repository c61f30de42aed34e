/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_cache.c - copies of the last files that could be read */
#include "plugin/bridge/files/config_cache.h"

#include "tests/lib/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "name: small\n"
				  "profile: dgx-h100-superpod\n"
				  "nodes:\n"
				  "  n[0-3]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    a: n[0-1]\n"
				  "    b: n[2-3]\n";
static const char settings_text[] = "weft: slurm/1\n"
				    "fabric: fabric.yaml\n"
				    "budget: 7 ms\n"
				    "status: status.json\n";

static char folder[64];

static const char *path_of(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	umask(022);
	snprintf(folder, sizeof(folder), "/tmp/weft-kept.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	test_write_file(path_of("fabric.yaml"), fabric_text);
	test_write_file(path_of("weft.yaml"), settings_text);
	return 0;
}

/* Removes what is directly in `name`, and it. */
static void remove_all(const char *name)
{
	DIR *dir = opendir(name);
	struct dirent *entry;
	char path[512];

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		if (entry->d_name[0] != '.' && unlink(path) < 0)
			remove_all(path);
	}
	if (dir)
		closedir(dir);
	rmdir(name);
}

static int teardown(void **state)
{
	(void)state;
	remove_all(folder);
	return access(folder, F_OK) == 0 ? -1 : 0;
}

static struct weft_settings *load(void)
{
	struct weft_error err = {0};
	struct weft_settings *s =
		weft_settings_load(path_of("weft.yaml"), &err);

	assert_no_error(&err);
	assert_non_null(s);
	return s;
}

static void save(const struct weft_settings *s)
{
	struct weft_error err = {0};

	assert_int_equal(weft_config_cache_save(s, path_of("good"), &err), 0);
	assert_no_error(&err);
}

/* How many folders of copies there are. */
static unsigned n_folders(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += strncmp(entry->d_name, "good.", 5) == 0;
	closedir(dir);
	return n;
}

static void copies_read_as_the_files_did(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load(), *kept;

	(void)state;
	save(s);
	test_write_file(path_of("fabric.yaml"), "broken");
	test_write_file(path_of("weft.yaml"), "broken");
	kept = weft_settings_load_kept(path_of("weft.yaml"), path_of("good"),
				       &err);
	assert_no_error(&err);
	assert_non_null(kept);
	assert_int_equal(kept->fabric->n_gpus, s->fabric->n_gpus);
	assert_close(kept->budget_s, 0.007, 1e-12);
	assert_string_equal(kept->status_path, path_of("status.json"));
	assert_string_equal(kept->fabric_path, path_of("fabric.yaml"));
	weft_settings_free(kept);
	weft_settings_free(s);
}

static void newer_copies_take_the_place_of_older_ones(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load(), *kept;

	(void)state;
	save(s);
	weft_settings_free(s);
	test_write_file(path_of("weft.yaml"),
			"weft: slurm/1\nfabric: fabric.yaml\n");
	s = load();
	save(s);
	weft_settings_free(s);
	assert_int_equal(n_folders(), 1);
	kept = weft_settings_load_kept(path_of("weft.yaml"), path_of("good"),
				       &err);
	assert_non_null(kept);
	assert_close(kept->budget_s, 0.020, 1e-12);
	weft_settings_free(kept);
}

static void what_broke_meanwhile_is_not_kept(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load(), *kept;

	(void)state;
	save(s);
	test_write_file(path_of("fabric.yaml"), "broken");
	assert_int_equal(weft_config_cache_save(s, path_of("good"), &err), -1);
	assert_int_not_equal(err.code, 0);
	weft_settings_free(s);
	assert_int_equal(n_folders(), 1);
	kept = weft_settings_load_kept(path_of("weft.yaml"), path_of("good"),
				       NULL);
	assert_non_null(kept);
	weft_settings_free(kept);
}

static void a_folder_that_is_not_ours_is_left_alone(void **state)
{
	struct weft_settings *s = load();

	(void)state;
	assert_int_equal(mkdir(path_of("other"), 0700), 0);
	test_write_file(path_of("other/0"), "theirs");
	assert_int_equal(symlink("other", path_of("good")), 0);
	save(s);
	weft_settings_free(s);
	assert_int_equal(access(path_of("other/0"), F_OK), 0);
}

static void folder_make(const char *name, time_t changed)
{
	char path[512];
	const struct timespec times[] = {{.tv_sec = changed},
					 {.tv_sec = changed}};

	assert_int_equal(mkdir(path_of(name), 0700), 0);
	snprintf(path, sizeof(path), "%s/0", path_of(name));
	test_write_file(path, "half");
	assert_int_equal(utimensat(AT_FDCWD, path_of(name), times, 0), 0);
}

/* slurmctld was killed while it filled them. */
static void old_folders_that_nothing_leads_to_are_removed(void **state)
{
	struct weft_settings *s = load();
	time_t now = time(NULL), old = now - 2 * 86400;

	(void)state;
	folder_make("good.aB3dEf", old);
	folder_make("good.000000", old);
	folder_make("good.newone", now);
	folder_make("good.longer1", old);
	folder_make("good.a.b-cd", old);
	folder_make("better.aaaaaa", old);
	assert_int_equal(symlink("good.000000", path_of("good.aaaaaa")), 0);
	save(s);
	weft_settings_free(s);
	assert_int_not_equal(access(path_of("good.aB3dEf"), F_OK), 0);
	assert_int_not_equal(access(path_of("good.000000"), F_OK), 0);
	assert_int_equal(access(path_of("good.newone/0"), F_OK), 0);
	assert_int_equal(access(path_of("good.longer1/0"), F_OK), 0);
	assert_int_equal(access(path_of("good.a.b-cd/0"), F_OK), 0);
	assert_int_equal(access(path_of("better.aaaaaa/0"), F_OK), 0);
	assert_int_equal(access(path_of("good/0"), F_OK), 0);
	assert_int_equal(unlink(path_of("good.aaaaaa")), 0);
}

/* The copies in use are as old. */
static void the_folder_in_use_stays_however_old(void **state)
{
	const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct weft_settings *s = load();

	(void)state;
	save(s);
	assert_int_equal(utimensat(AT_FDCWD, path_of("good"), old, 0), 0);
	test_write_file(path_of("fabric.yaml"), "broken");
	assert_int_equal(weft_config_cache_save(s, path_of("good"), NULL), -1);
	weft_settings_free(s);
	assert_int_equal(access(path_of("good/0"), F_OK), 0);
	assert_int_equal(n_folders(), 1);
}

/* An admin moved the state, and made the link anew. */
static void the_folder_in_use_stays_however_it_is_linked(void **state)
{
	const time_t old = time(NULL) - 2 * 86400;
	struct weft_settings *s = load();

	(void)state;
	folder_make("good.aB3dEf", old);
	assert_int_equal(symlink(path_of("good.aB3dEf"), path_of("good")), 0);
	test_write_file(path_of("fabric.yaml"), "broken");
	assert_int_equal(weft_config_cache_save(s, path_of("good"), NULL), -1);
	weft_settings_free(s);
	assert_int_equal(access(path_of("good/0"), F_OK), 0);
}

static void without_copies_there_is_an_error(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_null(weft_settings_load_kept(path_of("weft.yaml"),
					    path_of("good"), &err));
	assert_int_not_equal(err.code, 0);
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
	struct weft_error err = {0};
	struct weft_settings *s = load();

	(void)state;
	assert_int_equal(weft_config_cache_save(s, "/nonexistent/good", &err),
			 -1);
	assert_int_not_equal(err.code, 0);
	weft_settings_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_read_as_the_files_did,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			newer_copies_take_the_place_of_older_ones, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			what_broke_meanwhile_is_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_folder_that_is_not_ours_is_left_alone, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			old_folders_that_nothing_leads_to_are_removed, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			the_folder_in_use_stays_however_old, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_folder_in_use_stays_however_it_is_linked, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			without_copies_there_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_place_that_cannot_be_written_is_an_error, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
