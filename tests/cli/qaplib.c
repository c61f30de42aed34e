/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qaplib.c - problems and solutions of QAPLIB: what is read, what is refused */
#include "lab/map/qaplib.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_text(const char *text, struct qap *q, uint32_t *n_left,
		     struct weft_error *err)
{
	struct scan s;

	memset(err, 0, sizeof(*err));
	memset(q, 0, sizeof(*q));
	if (scan_text(&s, "q", text, strlen(text), err))
		return -1;
	return qaplib_read(&s, q, n_left);
}

static void lines_may_break_anywhere(void **state)
{
	static const char *const texts[] = {
		"2\n\n0 3\n-1 0\n\n0 5\n7 1\n",
		"2 0 3 -1 0 0 5 7 1",
		"\r\n  2\r\n0\r\n3 -1\r\n0 0\t5\r\n7 1\r\n\r\n",
	};
	static const int64_t a[] = {0, 3, -1, 0}, b[] = {0, 5, 7, 1};
	struct weft_error err;
	uint32_t n_left;
	struct qap q;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_text(texts[i], &q, &n_left, &err);
		assert_no_error(&err);
		assert_int_equal(q.n, 2);
		assert_memory_equal(q.a, a, sizeof(a));
		assert_memory_equal(q.b, b, sizeof(b));
		assert_int_equal(n_left, 0);
		qap_free(&q);
	}
}

static void what_follows_the_matrices_is_counted(void **state)
{
	struct weft_error err;
	uint32_t n_left;
	struct qap q;

	(void)state;
	read_text("1 0 0\n 2, 1\n\n3.5 -4\n", &q, &n_left, &err);
	assert_no_error(&err);
	assert_int_equal(n_left, 4);
	qap_free(&q);
}

static void what_is_no_problem_is_refused_where_it_is_wrong(void **state)
{
	static const struct {
		const char *text;
		int line, column;
		const char *says;
	} cases[] = {
		{"", 1, 1, "expected the size of the problem"},
		{"0\n", 1, 1, "expected the size of the problem"},
		{"5000\n", 1, 1, "expected the size of the problem, 1 to 4096"},
		{"4096\n", 1, 5, "the file is too short"},
		{"2\n0 1 1 10\n0 10 10\n", 4, 1,
		 "after 3 of the 4 numbers of "
		 "matrix B"},
		{"2\n0 1 1 a0\n0 10 10 0\n", 2, 7, "found \"a0\""},
		{"2\n0 1 1 1.5\n0 10 10 0\n", 2, 7, "found \"1.5\""},
		{"1 9223372036854775808 1\n", 1, 3, "expected a whole number"},
		{"1 4611686018427387904 1\n", 1, 24, "could exceed 2^62"},
		{"1 0 0\nx\n", 2, 1, "expected numbers or the end"},
	};
	struct weft_error err;
	uint32_t n_left;
	struct qap q;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("\"%s\"\n", cases[i].text);
		assert_int_equal(read_text(cases[i].text, &q, &n_left, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
		qap_free(&q);
	}
}

static int read_assignment(const char *text, uint32_t n_places, uint32_t *place,
			   struct weft_error *err)
{
	struct scan s;

	memset(err, 0, sizeof(*err));
	if (scan_text(&s, "s", text, strlen(text), err))
		return -1;
	return qaplib_read_assignment(&s, 3, n_places, place);
}

static void lists_count_from_0_and_solutions_from_1(void **state)
{
	static const char *const texts[] = {
		"2 0 1\n",
		"2\n0\n1\n",
		"3 77\n3 1 2\n",
		"  3   77\n3, 1,\n2\n",
	};
	uint32_t place[3];
	struct weft_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_assignment(texts[i], 3, place, &err);
		assert_no_error(&err);
		assert_int_equal(place[0], 2);
		assert_int_equal(place[1], 0);
		assert_int_equal(place[2], 1);
	}
	read_assignment("4 0 1", 5, place, &err);
	assert_no_error(&err);
}

static void what_is_no_assignment_is_refused_where_it_is_wrong(void **state)
{
	static const struct {
		const char *text;
		int line, column;
		const char *says;
	} cases[] = {
		{"1 2 3\n", 1, 5, "from 0 to 2 (a list counts from 0)"},
		{"3 9\n0 1 2\n", 2, 1, "from 1 to 3 (a solution counts from"},
		{"0 1\n1\n", 2, 1, "place 1 is taken already"},
		{"0 1 1.5\n", 1, 5, "expected a place"},
		{"0 1\n", 2, 1, "expected 3 places"},
		{"4 1 0 1 2\n", 2, 1, "the first of them 3"},
		{"0 1 2 0 1 2\n", 1, 11, "found more"},
		{"0 x 2\n", 1, 3, "expected a number, found \"x\""},
	};
	uint32_t place[3];
	struct weft_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("\"%s\"\n", cases[i].text);
		assert_int_equal(read_assignment(cases[i].text, 3, place, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
	}
}

/* Every problem that the list of best known values names is one of its size. */
static void the_public_problems_are_read(void **state)
{
	const char *csv = test_shared("data/qaplib/bks.csv");
	char folder[4096], path[4200], line[256], name[64];
	uint32_t n, n_left, n_problems = 0;
	FILE *list;

	(void)state;
	if (!csv) {
		print_message("skipped: no ../shared/data/qaplib\n");
		skip();
	}
	snprintf(folder, sizeof(folder), "%s", csv);
	*strrchr(folder, '/') = '\0';
	list = fopen(csv, "r");
	assert_non_null(list);
	while (fgets(line, sizeof(line), list)) {
		struct weft_error err = {0};
		struct qap q = {0};
		struct scan s;

		if (sscanf(line, "%63[^,],%u", name, &n) != 2)
			continue; /* the header */
		snprintf(path, sizeof(path), "%s/%s.dat", folder, name);
		if (scan_load(&s, path, &err) == 0)
			qaplib_read(&s, &q, &n_left);
		assert_no_error(&err);
		assert_int_equal(q.n, n);
		scan_free(&s);
		qap_free(&q);
		n_problems++;
	}
	fclose(list);
	assert_true(n_problems > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_may_break_anywhere),
		cmocka_unit_test(what_follows_the_matrices_is_counted),
		cmocka_unit_test(
			what_is_no_problem_is_refused_where_it_is_wrong),
		cmocka_unit_test(lists_count_from_0_and_solutions_from_1),
		cmocka_unit_test(
			what_is_no_assignment_is_refused_where_it_is_wrong),
		cmocka_unit_test(the_public_problems_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
