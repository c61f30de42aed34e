/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_fixtures.c - every file of tests/import/FORMAT: NAME.txt (or .xml,
 * .json, .conf, ...) gives the findings and the fabric file of NAME.golden, or
 * is refused with the message of NAME.error.  NAME.names, if there is one, is
 * the text of --names.  A new case needs no code, a new format a folder:
 * "import_fixtures FORMAT FILE" prints what belongs into its .golden or .error.
 */
#include "tests/lib/check.h"
#include "tests/lib/fabric_check.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 1024

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file beside `path` with another ending; NULL: there is none. */
static char *beside_read(const char *path, const char *ending)
{
	char other[PATH_SIZE];
	const char *dot = strrchr(path, '.');

	snprintf(other, sizeof(other), "%.*s%s", (int)(dot - path), path,
		 ending);
	return test_read_file(other, NULL);
}

static bool beside_exists(const char *path, const char *ending)
{
	char *text = beside_read(path, ending);

	free(text);
	return text != NULL;
}

/* ---- one case ---- */

static char *fabric_text(struct weft_inventory *s, struct weft_error *err)
{
	const struct weft_hierarchy_options options = {0};
	struct weft_hierarchy *hierarchy =
		weft_hierarchy_build(s, &options, err);
	char *text = hierarchy
			     ? weft_inventory_write(s, hierarchy, &options, err)
			     : NULL;

	weft_hierarchy_free(hierarchy);
	return text;
}

static void findings_dump(FILE *out, struct weft_findings *findings)
{
	weft_findings_sort(findings);
	for (uint32_t i = 0; i < findings->n; i++) {
		const struct weft_finding *f = &findings->item[i];

		fprintf(out, "%s:%d: %s %s: %s: %s\n", f->source, f->line,
			weft_severity_names[f->severity],
			weft_finding_kinds[f->id].code, f->place, f->text);
	}
}

/* What a case's .golden or .error holds; malloc'ed. */
static char *outcome(const char *format, const char *path, bool *valid)
{
	struct weft_error err = {0};
	const struct weft_importer *importer = weft_importer_find(format, &err);
	char *names = beside_read(path, ".names"), *text = NULL;
	const struct weft_import_options options = {.names = names};
	struct weft_inventory s = {0};
	struct weft_fabric *f = NULL;
	char *content, *got = NULL;
	size_t size = 0, content_size;
	FILE *out = open_memstream(&got, &size);

	assert_no_error(&err);
	assert_non_null(out);
	content = test_read_file(path, &content_size);
	assert_non_null(content);
	if (importer->looks && beside_exists(path, ".golden"))
		assert_ptr_equal(weft_importer_guess(content, content_size),
				 importer);
	if (weft_import_text(&s, importer, content, content_size,
			     file_name(path), NULL, &options, &err) == 0 &&
	    weft_inventory_finish(&s, &err) == 0)
		text = fabric_text(&s, &err);
	*valid = text != NULL;
	if (text) {
		findings_dump(out, &s.findings);
		fputs(text, out);
		f = weft_fabric_parse(text, strlen(text), path, &err);
		assert_no_error(&err);
		assert_int_equal(fabric_check(f, &err), 0);
	} else {
		fprintf(out, "%d:%d: %s\n", err.line, err.column, err.text);
	}
	assert_int_equal(fclose(out), 0);
	weft_fabric_free(f);
	weft_inventory_free(&s);
	free(content);
	free(names);
	free(text);
	return got;
}

static int case_check(const char *format, const char *path)
{
	char *golden = beside_read(path, ".golden");
	char *error = beside_read(path, ".error");
	const char *want = golden ? golden : error;
	bool valid;
	char *got = outcome(format, path, &valid);
	int failed =
		!want || strcmp(want, got) != 0 || valid != (golden != NULL);

	if (failed)
		print_error("%s\nexpected:\n%sfound:\n%s", path,
			    want ? want : "(no .golden, no .error)\n", got);
	free(golden);
	free(error);
	free(got);
	return failed;
}

/* ---- folders ---- */

static bool is_input(const char *name)
{
	static const char *const endings[] = {".golden", ".error", ".names"};
	const char *dot = strrchr(name, '.');

	if (!dot || *name == '.')
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcmp(dot, endings[i]) == 0)
			return false;
	return true;
}

static int format_check(const char *folder, const char *format, int *n)
{
	char path[PATH_SIZE];
	const struct dirent *entry;
	int failed = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", folder, format);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (!is_input(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", folder, format,
			 entry->d_name);
		failed += case_check(format, path);
		++*n;
	}
	closedir(dir);
	return failed;
}

static void files_are_imported_as_their_golden_file_says(void **state)
{
	char folder[PATH_SIZE / 2];
	const struct dirent *entry;
	int n = 0, failed = 0;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", test_source("tests/import"));
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			failed += format_check(folder, entry->d_name, &n);
	closedir(dir);
	print_message("%d cases\n", n);
	assert_int_equal(failed, 0);
	assert_true(n >= 10);
}

static int file_print(const char *format, const char *path)
{
	bool valid;
	char *text = outcome(format, path, &valid);

	fputs(text, stdout);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_imported_as_their_golden_file_says),
	};

	if (argc > 2)
		return file_print(argv[1], argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
