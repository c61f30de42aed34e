/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - texts as people keep them are made plain, whatever wrote them */
#include "base/text.h"
#include "base/size.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *desc, *text, *plain;
	size_t size; /* 0: as long as its string */
} cases[] = {
	{"nothing to do", "a [1,0] <b>\n", "a [1,0] <b>\n", 0},
	{"byte-order mark",
	 "\xef\xbb\xbf"
	 "a\n",
	 "a\n", 0},
	{"UTF-16, little end first",
	 "\xff\xfe"
	 "a\0\xe9\0\n\0",
	 "a\xc3\xa9\n", 8},
	{"UTF-16, big end first", "\xfe\xff\0a\0\n", "a\n", 6},
	{"Windows' line ends", "a\r\nb\r\r\nc\rd\r\n", "a\nb\nc\rd\n", 0},
	{"carriage returns within a line", "a\r\r\rb\r\r\n\r", "a\r\r\rb\n\r",
	 0},
	{"colours", "\033[4mGPU0\033[0m\t\033[1;31mx\033[m\n", "GPU0\tx\n", 0},
	{"a window's title", "\033]0;host\007a\n", "a\n", 0},
	{"a sequence that is cut off", "a\033[31\nb\033", "a\nb", 0},
	{"mpirun's tags", "[1,0]<stdout>: 8 2\n[1,12]<stderr>:x\n", " 8 2\nx\n",
	 0},
	{"a tag in the middle of a row", "8 2 float [1,0]<stdout>:sum -1\n",
	 "8 2 float sum -1\n", 0},
	{"tags of newer mpirun", "[prterun-n1-77@1,3]<stdout>:a\n", "a\n", 0},
	{"tags with a blank behind each",
	 "[n@1,3]<stdout>: a\n[n@1,3]<stdout>:\n[n@1,3]<stdout>:  b "
	 "[n@1,3]<stdout>: c\n",
	 "a\n\n b c\n", 0},
	{"what only looks like a tag", "[1]\t\"S-1\"[2]<stdout>\n[]<stdout>:\n",
	 "[1]\t\"S-1\"[2]<stdout>\n[]<stdout>:\n", 0},
};

static void foreign_texts_become_plain(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size =
			cases[i].size ? cases[i].size : strlen(cases[i].text);
		char *copy = malloc(size + 1), *plain;
		size_t n;

		memcpy(copy, cases[i].text, size);
		n = weft_text_clean(copy, size);
		if (strcmp(copy, cases[i].plain) != 0)
			fail_msg("%s: \"%s\"", cases[i].desc, copy);
		assert_int_equal(n, strlen(cases[i].plain));
		assert_int_equal(
			weft_text_plain(cases[i].text, size, &plain, &n, NULL),
			0);
		assert_int_equal(plain == NULL,
				 strcmp(cases[i].text, cases[i].plain) == 0);
		if (plain)
			assert_string_equal(plain, cases[i].plain);
		assert_int_equal(n, strlen(cases[i].plain));
		free(plain);
		free(copy);
	}
}

/* In a time that grows with the text alone: the alarm ends what does not. */
static void carriage_returns_take_no_longer_than_others(void **state)
{
	size_t size = 4u << 20, n;
	char *text = malloc(size + 1), *plain;

	(void)state;
	memset(text, '\r', size);
	text[size] = '\0';
	alarm(30);
	assert_int_equal(weft_text_plain(text, size, &plain, &n, NULL), 0);
	assert_null(plain);
	assert_int_equal(weft_text_clean(text, size), size);
	alarm(0);
	free(text);
}

static void quantities_have_the_prefix_that_fits(void **state)
{
	static const struct {
		double value;
		const char *unit, *text;
	} given[] = {{14e9, "B", "14 GB"},	   {7e-9, "s", "7 ns"},
		     {999.6e3, "B", "1 MB"},	   {0.0856e-3, "s", "85.6 us"},
		     {14321, "s", "14321 s"},	   {0, "B", "0 B"},
		     {46.5e9, "B/s", "46.5 GB/s"}, {70e9, NULL, "70B"},
		     {1.5e12, NULL, "1.5T"},	   {7, NULL, "7"}};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		assert_string_equal(
			given[i].unit ? weft_quantity_text(given[i].value,
							   given[i].unit, text,
							   sizeof(text))
				      : weft_count_text(given[i].value, text,
							sizeof(text)),
			given[i].text);
}

static void files_are_read_whole_or_refused(void **state)
{
	struct weft_error err = {0};
	char *text;
	size_t size;

	(void)state;
	assert_int_equal(weft_text_load("/nonexistent", 9, &text, &size, &err),
			 -1);
	assert_int_equal(err.code, WEFT_EIO);
	assert_null(text);
	err = (struct weft_error){0};
	assert_int_equal(weft_text_load("/dev/zero", 4096, &text, &size, &err),
			 -1);
	assert_null(text);
	err = (struct weft_error){0};
	assert_int_equal(weft_text_load("/dev/null", 9, &text, &size, &err), 0);
	assert_int_equal(size, 0);
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(foreign_texts_become_plain),
		cmocka_unit_test(carriage_returns_take_no_longer_than_others),
		cmocka_unit_test(quantities_have_the_prefix_that_fits),
		cmocka_unit_test(files_are_read_whole_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
