/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_text.c - finding the spec among a job's strings */
#include "plugin/bridge/launch/spec_text.h"

#include "tests/lib/check.h"

#include <string.h>

static const struct {
	const char *desc;
	char *env[3];
	const char *comment, *spec;
	bool wanted;
} finds[] = {
	{"nothing said", {0}, NULL, NULL, true},
	{"a comment of somebody else's", {0}, "see weft:tp=8", NULL, true},
	{"a comment", {0}, "weft: tp=8", "tp=8", true},
	{"a comment without the colon", {0}, "weft tp=8", "weft tp=8", true},
	{"a comment with more than the colon",
	 {0},
	 " Weft: model=x",
	 "Weft: model=x",
	 true},
	{"a comment about weft", {0}, "weft is fine, x=1", NULL, true},
	{"another word", {0}, "weftless tp=8", NULL, true},
	{"an empty comment", {0}, "weft: ", NULL, true},
	{"the option before the comment",
	 {(char[]){"A=1"}, (char[]){"_SLURM_SPANK_OPTION_weft_weft=tp=4"}},
	 "weft:tp=8",
	 "tp=4",
	 true},
	{"the option before the variable",
	 {(char[]){"WEFT_SPEC=tp=2"},
	  (char[]){"_SLURM_SPANK_OPTION_weft_weft=tp=4"}},
	 NULL,
	 "tp=4",
	 true},
	{"the variable",
	 {(char[]){"WEFT_SPEC=tp=2"}},
	 "weft:tp=8",
	 "tp=2",
	 true},
	{"a longer name", {(char[]){"WEFT_SPECIAL=tp=2"}}, NULL, NULL, true},
	{"off", {0}, "weft: off ", "off ", false},
	{"offset is not off", {0}, "weft:offset", "offset", true},
};

static void the_spec_is_found_where_it_was_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(finds) / sizeof(finds[0]); i++) {
		const char *spec = "unset";

		if (weft_spec_text_find(finds[i].env, 3, finds[i].comment,
					&spec) != finds[i].wanted)
			fail_msg("%s: wanted", finds[i].desc);
		if (!finds[i].spec)
			assert_null(spec);
		else
			assert_string_equal(spec, finds[i].spec);
	}
}

static const struct {
	const char *desc, *text, *why; /* why: NULL: nothing is wrong */
} checks[] = {
	{"a spec", "tp=8,pp=2", NULL},
	{"no key", "tq=8", "tq"},
	{"no colon", "weft tp=8", "begins with \"weft:\""},
	{"off, with blanks", "  off  ", NULL},
	{"a file", "tp=8,traffic=/tmp/t.csv", "not by Slurm"},
	{"a size that does not come out", "gpus=12,tp=8", "tp"},
	{"a size that slurmctld will know", "tp=3,pp=5", NULL},
};

static void a_spec_is_checked_as_far_as_it_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct weft_error err = {0};
		int rc = weft_spec_text_check(checks[i].text, &err);

		if (!checks[i].why != (rc == 0))
			fail_msg("%s: %s", checks[i].desc, err.text);
		if (checks[i].why && !strstr(err.text, checks[i].why))
			fail_msg("%s: %s", checks[i].desc, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spec_is_checked_as_far_as_it_goes),
		cmocka_unit_test(the_spec_is_found_where_it_was_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
