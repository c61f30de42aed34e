/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_text.c - finding the spec among a job's strings */
#include "plugin/bridge/spec_text.h"

#include "tests/lib/check.h"

static const struct {
	const char *desc;
	char *env[3];
	const char *comment, *spec;
	bool wanted;
} finds[] = {
	{"nothing said", {0}, NULL, NULL, true},
	{"a comment of somebody else's", {0}, "see weft:tp=8", NULL, true},
	{"a comment", {0}, "weft: tp=8", "tp=8", true},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_spec_is_found_where_it_was_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
