/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugin/bridge/decision.h"

#include "tests/lib/check.h"

#include <string.h>

static void each_decision_is_counted_by_cause_and_time(void **state)
{
	struct weft_counters counters = {0};
	char text[512];

	(void)state;
	weft_counters_add(&counters, WEFT_CAUSE_NARROWED, 40e-6);
	weft_counters_add(&counters, WEFT_CAUSE_NARROWED, 60e-6);
	weft_counters_add(&counters, WEFT_CAUSE_NO_ROOM, 1e3);
	assert_int_equal(counters.by_cause[WEFT_CAUSE_NARROWED], 2);
	assert_int_equal(counters.by_time[0], 1);
	assert_int_equal(counters.by_time[1], 1);
	assert_int_equal(counters.by_time[WEFT_N_TIME_BUCKETS - 1], 1);
	weft_counters_text(&counters, text, sizeof(text));
	assert_non_null(strstr(text, "narrowed 2, too little is free now 1"));
}

static void what_is_passed_over_in_silence_has_no_time(void **state)
{
	struct weft_counters counters = {0};
	char text[512];

	(void)state;
	weft_counters_add(&counters, WEFT_CAUSE_PASS, 1);
	assert_int_equal(counters.by_cause[WEFT_CAUSE_PASS], 1);
	assert_int_equal(counters.by_time[WEFT_N_TIME_BUCKETS - 1], 0);
	weft_counters_text(&counters, text, sizeof(text));
	assert_string_equal(text, "");
}

static void a_text_that_is_too_long_is_cut(void **state)
{
	struct weft_counters counters = {0};
	char text[24];

	(void)state;
	for (uint32_t c = 0; c < WEFT_N_CAUSES; c++)
		weft_counters_add(&counters, (enum weft_cause)c, 0);
	weft_counters_text(&counters, text, sizeof(text));
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

static void every_cause_has_a_name_and_a_code(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < WEFT_N_CAUSES; c++) {
		assert_non_null(weft_cause_names[c]);
		if (c != WEFT_CAUSE_SILENT)
			assert_non_null(weft_cause_codes[c]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_decision_is_counted_by_cause_and_time),
		cmocka_unit_test(what_is_passed_over_in_silence_has_no_time),
		cmocka_unit_test(a_text_that_is_too_long_is_cut),
		cmocka_unit_test(every_cause_has_a_name_and_a_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
