/* SPDX-License-Identifier: GPL-3.0-or-later */
/* time_text.c - times as logs write them */
#include "lab/replay/time_text.h"

#include "tests/lib/check.h"

static void every_form_is_read(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{"0", 0},
		{"12.5", 12.5},
		{"-3", -3},
		{"1e3", 1000},
		{".5", 0.5},
		{"1970-01-01 00:00:00", 0},
		{"1970-01-02", 86400},
		{"2017-10-03 10:30:41", 1507026641},
		{"2017/10/03 10:30:41", 1507026641},
		{"2017-10-03T10:30:41Z", 1507026641},
		{"2017-10-03 10:30:41.25", 1507026641.25},
		{"2017-10-03 10:30", 1507026600},
		{"2017-10-03 12:30:41+02:00", 1507026641},
		{"2017-10-03T06:30:41 -0400", 1507026641},
		{"10:41", 641},
		{"27:10:41", 97841},
		{"27:10:41.5", 97841.5},
		{"1-03:10:41", 97841},
		{"1-03:10", 97800},
		{"1-03", 97200},
	};
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(time_text_read(rows[i].text, &value), 0);
		assert_close(value, rows[i].value, 1e-12);
	}
}

static void anything_else_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"soon",
		"12 s",
		"2017-13-01",
		"2017-10-03 25:00:00",
		"2017-10-03 10:30:41 CET",
		"2017-10",
		"1:2:3:4",
		"10:99",
		"1e999",
		"nan",
		"0x",
		"-",
		"2017-10-03 10:30:41+99",
	};
	double value;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(time_text_read(texts[i], &value), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_is_read),
		cmocka_unit_test(anything_else_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
