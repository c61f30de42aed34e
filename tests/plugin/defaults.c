/* SPDX-License-Identifier: GPL-3.0-or-later */
/* defaults.c - the specs of jobs that come without one */
#include "plugin/bridge/defaults.h"

#include "tests/lib/check.h"

#include <string.h>

static int read_text(const char *text, struct weft_defaults *defaults,
		     struct weft_error *err)
{
	struct weft_yaml doc = {0};
	int rc = weft_yaml_parse(text, strlen(text), "weft.yaml", &doc, err);

	if (rc == 0)
		rc = weft_defaults_read(&doc,
					weft_yaml_find(doc.root, "defaults"),
					defaults, err);
	weft_yaml_free(&doc);
	return rc;
}

static void the_partitions_own_goes_before_the_one_for_all(void **state)
{
	struct weft_defaults defaults;
	struct weft_error err = {0};

	(void)state;
	read_text("defaults: {\"*\": dp=8, big: \"tp=8,pp=2\"}\n", &defaults,
		  &err);
	assert_no_error(&err);
	assert_string_equal(weft_defaults_find(&defaults, "big"), "tp=8,pp=2");
	assert_string_equal(weft_defaults_find(&defaults, "big,small"),
			    "tp=8,pp=2");
	assert_string_equal(weft_defaults_find(&defaults, "bigger"), "dp=8");
	assert_string_equal(weft_defaults_find(&defaults, NULL), "dp=8");
	weft_defaults_free(&defaults);
}

static void without_any_there_is_none(void **state)
{
	struct weft_defaults defaults;

	(void)state;
	assert_int_equal(read_text("weft: slurm/1\n", &defaults, NULL), 0);
	assert_null(weft_defaults_find(&defaults, "big"));
	weft_defaults_free(&defaults);
}

static void a_default_that_is_no_spec_is_a_mistake(void **state)
{
	struct weft_defaults defaults;
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(read_text("defaults:\n  big: tq=8\n", &defaults, &err),
			 -1);
	assert_error_says(&err, "tq");
	assert_int_equal(err.line, 2);
	weft_defaults_free(&defaults);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_partitions_own_goes_before_the_one_for_all),
		cmocka_unit_test(without_any_there_is_none),
		cmocka_unit_test(a_default_that_is_no_spec_is_a_mistake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
