/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.c - the tree knows its places, and typed access says what it expects */
#include "base/yaml.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void parse(const char *text, struct weft_yaml *doc)
{
	struct weft_error err = {0};

	weft_yaml_parse(text, strlen(text), "t.yaml", doc, &err);
	assert_no_error(&err);
}

static void keys_and_values_have_columns(void **state)
{
	const struct weft_yaml_node *a, *b, *c, *item;
	struct weft_yaml doc;

	(void)state;
	parse("a: x\n\"b\":\n  - y\n  - {c: 'z'}\n\xc3\xa9\xc3\xa9: 1\ne:\n",
	      &doc);
	assert_int_equal(doc.root->kind, WEFT_YAML_MAP);
	assert_int_equal(doc.root->n_children, 4);
	a = weft_yaml_find(doc.root, "a");
	assert_string_equal(a->text, "x");
	assert_int_equal(a->column, 4);
	assert_int_equal(a->text_column, 4);
	assert_int_equal(a->key_column, 1);
	b = weft_yaml_find(doc.root, "b");
	assert_int_equal(b->key_line, 2);
	assert_int_equal(b->key_text_column, 2);
	assert_int_equal(b->kind, WEFT_YAML_LIST);
	assert_int_equal(b->n_children, 2);
	assert_null(b->child->key);
	item = b->child->next;
	c = weft_yaml_find(item, "c");
	assert_int_equal(c->line, 4);
	assert_int_equal(c->column, 9);
	assert_int_equal(c->text_column, 10);
	assert_int_equal(weft_yaml_find(doc.root, "\xc3\xa9\xc3\xa9")->column,
			 5);
	assert_string_equal(weft_yaml_find(doc.root, "e")->text, "");
	assert_null(weft_yaml_find(doc.root, "f"));
	assert_null(weft_yaml_find(NULL, "f"));
	weft_yaml_free(&doc);
}

static void folded_and_escaped_text_has_no_column(void **state)
{
	struct weft_yaml doc;

	(void)state;
	parse("a: \"x\\x41\"\nb: one\n  two\nc: 'it''s'\n", &doc);
	assert_string_equal(weft_yaml_find(doc.root, "a")->text, "xA");
	assert_int_equal(weft_yaml_find(doc.root, "a")->text_column, 0);
	assert_string_equal(weft_yaml_find(doc.root, "b")->text, "one two");
	assert_int_equal(weft_yaml_find(doc.root, "b")->text_column, 0);
	assert_int_equal(weft_yaml_find(doc.root, "c")->text_column, 0);
	weft_yaml_free(&doc);
}

typedef int (*reader)(const struct weft_yaml *doc,
		      const struct weft_yaml_node *node, double *value,
		      struct weft_error *err);

static int number(const struct weft_yaml *doc,
		  const struct weft_yaml_node *node, double *value,
		  struct weft_error *err)
{
	return weft_yaml_number(doc, node, -1e30, 1e30, value, err);
}

static void quantities_are_read_with_their_unit(void **state)
{
	static const struct {
		const char *text;
		reader read;
		double value;
	} cases[] = {
		{"400 Gbps", weft_yaml_rate, 50e9},
		{"46.5 GB/s", weft_yaml_rate, 46.5e9},
		{"46.5GB/s", weft_yaml_rate, 46.5e9},
		{"1.6 Tbps", weft_yaml_rate, 200e9},
		{"1e3 B/s", weft_yaml_rate, 1000},
		{"2.8 us", weft_yaml_time, 2.8e-6},
		{"2.8 \xc2\xb5s", weft_yaml_time, 2.8e-6},
		{"2.8 \xce\xbcs", weft_yaml_time, 2.8e-6},
		{"800 ns", weft_yaml_time, 800e-9},
		{"20 ms", weft_yaml_time, 20e-3},
		{"1 s", weft_yaml_time, 1},
		{"5 min", weft_yaml_time, 300},
		{"0 us", weft_yaml_time, 0},
		{"2h", weft_yaml_time, 7200},
		{"0.1", number, 0.1},
		{".5", number, 0.5},
		{"5.", number, 5},
		{"-3e-2", number, -0.03},
		{"1E+3", number, 1000},
		{"123456789012345678901234567890", number,
		 123456789012345678901234567890.0},
		{"0.000000000000000000000000000001", number, 1e-30},
		{"0e999", number, 0},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_error err = {0};
		char text[128];
		struct weft_yaml doc;
		double value = -1;

		snprintf(text, sizeof(text), "v: %s\n", cases[k].text);
		parse(text, &doc);
		cases[k].read(&doc, doc.root->child, &value, &err);
		assert_no_error(&err);
		assert_close(value, cases[k].value, 1e-14);
		weft_yaml_free(&doc);
	}
}

static void wrong_quantities_say_what_was_expected(void **state)
{
	static const struct {
		const char *text;
		reader read;
		const char *says;
	} cases[] = {
		{"400", weft_yaml_rate, "no unit"},
		{"400 GBit", weft_yaml_rate, "nearest known is \"Gbps\""},
		{"fast", weft_yaml_rate, "expected a rate"},
		{"", weft_yaml_rate, "expected a rate"},
		{"[1]", weft_yaml_rate, "expected one value"},
		{"0 GB/s", weft_yaml_rate, "expected a rate from"},
		{"1e30 GB/s", weft_yaml_rate, "expected a rate from"},
		{"1e400 GB/s", weft_yaml_rate, "expected a rate"},
		{"-1 us", weft_yaml_time, "expected a time"},
		{"3", weft_yaml_time, "no unit"},
		{"1e307 h", weft_yaml_time, "expected a time of at most"},
		{"1.1e9 s", weft_yaml_time, "expected a time of at most"},
		{"3 sec", weft_yaml_time, "unknown unit \"sec\""},
		{"1.2.3", number, "expected a number"},
		{"0x10", number, "expected a number"},
		{"nan", number, "expected a number"},
		{"inf", number, "expected a number"},
		{"1e", number, "expected a number"},
		{"1e99", number, "expected a number"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_error err = {0};
		struct weft_yaml doc;
		char text[128];
		double value = 0;

		snprintf(text, sizeof(text), "v: %s\n", cases[k].text);
		parse(text, &doc);
		assert_int_equal(
			cases[k].read(&doc, doc.root->child, &value, &err), -1);
		assert_error_says(&err, cases[k].says);
		weft_yaml_free(&doc);
	}
}

static void whole_numbers_and_yes_no_are_strict(void **state)
{
	struct weft_error err = {0};
	struct weft_yaml doc;
	uint64_t value = 0;
	bool yes = false;

	(void)state;
	parse("a: 18446744073709551615\nb: -1\nc: 1.5\nd: yes\ne: Yes\n", &doc);
	weft_yaml_uint(&doc, weft_yaml_find(doc.root, "a"), 0, 7, &value, &err);
	assert_error_says(&err, "from 0 to 7");
	err = (struct weft_error){0};
	weft_yaml_uint(&doc, weft_yaml_find(doc.root, "b"), 0, 7, &value, &err);
	assert_error_says(&err, "found \"-1\"");
	err = (struct weft_error){0};
	weft_yaml_uint(&doc, weft_yaml_find(doc.root, "c"), 0, 7, &value, &err);
	assert_error_says(&err, "whole number");
	err = (struct weft_error){0};
	weft_yaml_bool(&doc, weft_yaml_find(doc.root, "d"), &yes, &err);
	assert_no_error(&err);
	assert_true(yes);
	weft_yaml_bool(&doc, weft_yaml_find(doc.root, "e"), &yes, &err);
	assert_error_says(&err, "yes or no");
	weft_yaml_free(&doc);
}

static void what_is_no_file_is_said(void **state)
{
	struct weft_error err = {0};
	struct weft_yaml doc;

	(void)state;
	assert_int_equal(weft_yaml_load("/", &doc, &err), -1);
	assert_error_says(&err, "is a directory");
	assert_int_equal(err.code, WEFT_EIO);
	err = (struct weft_error){0};
	assert_int_equal(weft_yaml_load("/no/such/file", &doc, &err), -1);
	assert_error_says(&err, "No such file");
	assert_string_equal(err.source, "/no/such/file");
}

static void files_beyond_the_limit_are_refused(void **state)
{
	char path[] = "/tmp/weft-test-XXXXXX";
	struct weft_error err = {0};
	struct weft_yaml doc;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)WEFT_YAML_MAX_BYTES + 1), 0);
	close(fd);
	assert_int_equal(weft_yaml_load(path, &doc, &err), -1);
	assert_error_says(&err, "larger than 32 MiB");
	unlink(path);
}

static void a_deep_document_is_refused_early(void **state)
{
	size_t size = 1 << 20;
	char *text = malloc(size);
	struct weft_error err = {0};
	struct weft_yaml doc;

	(void)state;
	assert_non_null(text);
	memset(text, '[', size);
	assert_int_equal(weft_yaml_parse(text, size, "deep", &doc, &err), -1);
	assert_error_says(&err, "nested more than 16 deep");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_and_values_have_columns),
		cmocka_unit_test(folded_and_escaped_text_has_no_column),
		cmocka_unit_test(quantities_are_read_with_their_unit),
		cmocka_unit_test(wrong_quantities_say_what_was_expected),
		cmocka_unit_test(whole_numbers_and_yes_no_are_strict),
		cmocka_unit_test(what_is_no_file_is_said),
		cmocka_unit_test(files_beyond_the_limit_are_refused),
		cmocka_unit_test(a_deep_document_is_refused_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
