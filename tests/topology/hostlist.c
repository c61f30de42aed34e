/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hostlist.c - hostlists expand, fold and come back the same */
#include "base/hostlist.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *names_join(const struct weft_hostlist *list)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (uint32_t i = 0; i < list->n; i++)
		fprintf(out, "%s%s", i ? " " : "", list->names[i]);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void hostlists_expand_in_order(void **state)
{
	static const struct {
		const char *text, *names;
	} cases[] = {
		{"a", "a"},
		{"n[0-3]", "n0 n1 n2 n3"},
		{"n[08-11]", "n08 n09 n10 n11"},
		{"n[8-11]", "n8 n9 n10 n11"},
		{"n[098-101]", "n098 n099 n100 n101"},
		{"n[3,1,1-2]x", "n3x n1x n1x n2x"},
		{"r[0-1]n[0-2]", "r0n0 r0n1 r0n2 r1n0 r1n1 r1n2"},
		{"[1-2][3-4]", "13 14 23 24"},
		{" a , b[1-2] ,c", "a b1 b2 c"},
		{"n[ 1 , 2 ]", "n1 n2"},
		{"a,a", "a a"},
		{"su[0-1]-leaf[00-01].x", "su0-leaf00.x su0-leaf01.x "
					  "su1-leaf00.x su1-leaf01.x"},
		{"n[999999999999999998-999999999999999999]",
		 "n999999999999999998 n999999999999999999"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_hostlist list;
		struct weft_error err = {0};
		char *joined;

		weft_hostlist_decode(cases[k].text, 100, &list, &err);
		assert_no_error(&err);
		joined = names_join(&list);
		assert_string_equal(joined, cases[k].names);
		free(joined);
		weft_hostlist_free(&list);
	}
}

static void mistakes_name_their_column(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *says;
	} cases[] = {
		{"", 1, "expected a name"},
		{" ", 2, "expected a name"},
		{",a", 1, "expected a name"},
		{"a,", 3, "expected a name"},
		{"a,,b", 3, "expected a name"},
		{"a b", 3, "expected ','"},
		{"n[]", 3, "empty brackets"},
		{"n[0-", 5, "last number"},
		{"n[0-]", 5, "last number"},
		{"n[-3]", 3, "expected a number"},
		{"n[0-3", 2, "never closed"},
		{"a,n[0,1", 4, "never closed"},
		{"n[3-1]", 3, "descends"},
		{"n[1,3-1]", 5, "descends"},
		{"n[[1]]", 3, "expected a number"},
		{"n[1-2-3]", 6, "',' or ']'"},
		{"n[1x]", 4, "',' or ']'"},
		{"n]", 2, "without '['"},
		{"n[8-011]", 5, "same width"},
		{"n[0000000000000000001]", 3, "18 digits"},
		{"n[1-1000000000000000000]", 3, "18 digits"},
		{"n[0-100]", 1, "at most 100 names"},
		{"a,n[0-99]", 3, "at most 100 names"},
		{"n[0-9][0-9][0-9]", 1, "at most 100 names"},
		{"n[0-999999999999999999][0-999999999999999999]", 1,
		 "at most 100 names"},
		{"a\nb", 2, "control character"},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct weft_hostlist list = {(char **)1, 7};
		struct weft_error err = {0};

		assert_int_equal(
			weft_hostlist_decode(cases[k].text, 100, &list, &err),
			-1);
		assert_error_says(&err, cases[k].says);
		if (err.column != cases[k].column)
			print_error("\"%s\": column %d\n", cases[k].text,
				    err.column);
		assert_int_equal(err.column, cases[k].column);
		assert_null(list.names);
		assert_int_equal(list.n, 0);
	}
}

static void names_fold_to_the_shortest_text(void **state)
{
	static const char *const texts[] = {
		"a",
		"n[0-3]",
		"n[08-11]",
		"n[8-11]",
		"n[9,010]",
		"n[1,3,5-7]",
		"r[0-1]n[0-2]",
		"a[0-1]-b[0-1]-c[0-1]",
		"n1,m1",
		"n[1-2],n1",
		"n2,n1",
		"n1,n1",
		"su[0-3]-leaf[00-07].x",
		"n12345678901234567890,n12345678901234567891",
		"n[1-2]x,n3y",
		"x1[05-06]",
	};

	(void)state;
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
		struct weft_hostlist list;
		struct weft_error err = {0};
		char *text;

		weft_hostlist_decode(texts[k], 1000, &list, &err);
		assert_no_error(&err);
		text = weft_hostlist_encode((const char *const *)list.names,
					    list.n);
		assert_string_equal(text, strcmp(texts[k], "x1[05-06]")
						  ? texts[k]
						  : "x[105-106]");
		free(text);
		weft_hostlist_free(&list);
	}
}

static void no_names_fold_to_an_empty_text(void **state)
{
	char *text = weft_hostlist_encode(NULL, 0);

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

/* Names that collide and run on often: few letters, small numbers. */
static uint32_t random_names(uint64_t *seed, char names[][48], uint32_t most)
{
	uint32_t n = 1 + test_random_below(seed, most);
	uint32_t number = test_random_below(seed, 12);

	for (uint32_t i = 0; i < n; i++) {
		if (test_random_below(seed, 4) == 0)
			number = test_random_below(seed, 120);
		snprintf(names[i], sizeof(names[i]), "%c%0*u%s%0*u%s",
			 "ab"[test_random_below(seed, 8) == 0],
			 (int)test_random_below(seed, 20) ? 1 : 3, number / 10,
			 test_random_below(seed, 16) ? "-" : "",
			 (int)test_random_below(seed, 10) ? 2 : 1, number % 10,
			 test_random_below(seed, 9) ? "" : "x");
		number += test_random_below(seed, 8) ? 1 : 2;
	}
	return n;
}

static void random_names_come_back_the_same(void **state)
{
	uint64_t seed = test_seed();
	static char names[60][48];
	const char *pointers[60];

	(void)state;
	for (int round = 0; round < 3000; round++) {
		uint32_t n = random_names(&seed, names, 60);
		struct weft_error err = {0};
		struct weft_hostlist list;
		char *text;

		for (uint32_t i = 0; i < n; i++)
			pointers[i] = names[i];
		text = weft_hostlist_encode(pointers, n);
		assert_non_null(text);
		weft_hostlist_decode(text, 60, &list, &err);
		assert_no_error(&err);
		assert_int_equal(list.n, n);
		for (uint32_t i = 0; i < n; i++)
			assert_string_equal(list.names[i], names[i]);
		weft_hostlist_free(&list);
		free(text);
	}
}

static void a_name_is_found_in_its_item(void **state)
{
	(void)state;
	assert_int_equal(weft_hostlist_column("a, n[0-3],b", 0), 1);
	assert_int_equal(weft_hostlist_column("a, n[0-3],b", 1), 4);
	assert_int_equal(weft_hostlist_column("a, n[0-3],b", 4), 4);
	assert_int_equal(weft_hostlist_column("a, n[0-3],b", 5), 11);
	assert_int_equal(weft_hostlist_column("a, n[0-3],b", 6), 1);
	assert_int_equal(weft_hostlist_column("", 0), 1);
}

static void names_compare_as_people_count(void **state)
{
	static const char *const ordered[] = {
		"",	 "a",	 "n",	"n01", "n1",	"n2",	  "n2a",
		"n002b", "n010", "n10", "n11", "n11-2", "n11-10", "o"};
	size_t n = sizeof(ordered) / sizeof(*ordered);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			int order = weft_name_compare(ordered[i], ordered[j]);

			assert_int_equal((order > 0) - (order < 0),
					 (i > j) - (i < j));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostlists_expand_in_order),
		cmocka_unit_test(mistakes_name_their_column),
		cmocka_unit_test(names_fold_to_the_shortest_text),
		cmocka_unit_test(no_names_fold_to_an_empty_text),
		cmocka_unit_test(random_names_come_back_the_same),
		cmocka_unit_test(a_name_is_found_in_its_item),
		cmocka_unit_test(names_compare_as_people_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
