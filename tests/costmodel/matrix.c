/* SPDX-License-Identifier: GPL-3.0-or-later */
/* matrix.c - measured bytes: what is read, and what is refused where */
#include "costmodel/traffic/matrix.h"

#include "tests/lib/check.h"

#include <math.h>
#include <string.h>

static int read_text(const char *text, uint32_t n_ranks, struct weft_traffic *t,
		     struct weft_error *err)
{
	char copy[4096];
	FILE *file;
	int rc;

	snprintf(copy, sizeof(copy), "%s", text);
	file = fmemopen(copy, strlen(copy), "r");
	assert_non_null(file);
	rc = weft_matrix_read(file, "m.csv", n_ranks, t, err);
	fclose(file);
	return rc;
}

static void rows_become_edges(void **state)
{
	struct weft_error err = {0};
	struct weft_traffic t;

	(void)state;
	read_text("from,to,bytes,axis\n"
		  "# a comment\n"
		  "0,1,1.5e9,tp\n"
		  "\n"
		  " 1 , 0 , 10 , pp \r\n"
		  "0,1,5e8,tp\n"
		  "3,2,0,dp\n"
		  "0,1,7,ep",
		  4, &t, &err);
	assert_no_error(&err);
	assert_int_equal(t.n_ranks, 4);
	assert_int_equal(t.n_edges, 3);
	assert_int_equal(t.peer[0], 1);
	assert_int_equal(t.axis[0], WEFT_AXIS_TP);
	assert_close(t.bytes[0], 2e9, 0);
	assert_int_equal(t.axis[1], WEFT_AXIS_EP);
	assert_close(t.bytes[1], 7, 0);
	assert_int_equal(t.row[1], 2);
	assert_int_equal(t.axis[2], WEFT_AXIS_PP);
	assert_close(weft_traffic_bytes(&t), 2e9 + 17, 0);
	weft_traffic_free(&t);
}

static void columns_may_be_in_any_order(void **state)
{
	struct weft_error err = {0};
	struct weft_traffic t;

	(void)state;
	read_text("\xef\xbb\xbf"
		  "bytes,to,from\n8,1,0\n",
		  2, &t, &err);
	assert_no_error(&err);
	assert_int_equal(t.n_edges, 1);
	assert_int_equal(t.row[1], 1);
	assert_int_equal(t.axis[0], WEFT_AXIS_DP);
	assert_close(t.bytes[0], 8, 0);
	weft_traffic_free(&t);
}

static void mistakes_are_named_with_their_place(void **state)
{
	static const struct {
		const char *text, *says;
		int line, column;
	} cases[] = {
		{"\n", "there is no from", 1, 1},
		{"0,1,5\n", "unknown column \"0\"", 1, 1},
		{"from,to\n", "there is no bytes", 1, 1},
		{"from,to,bites\n", "did you mean \"bytes\"", 1, 9},
		{"from,to,to,bytes\n", "column to twice", 1, 9},
		{"from,to,bytes,axis,x\n", "at most 4 columns", 1, 20},
		{"from,to,bytes\n0,4,1\n", "no rank 4, the job has 4", 2, 3},
		{"from,to,bytes\n0,1,1\n99999999999,1,1\n", "no rank 9999", 3,
		 1},
		{"from,to,bytes\n-1,1,1\n", "is not a rank", 2, 1},
		{"from,to,bytes\n,1,1\n", "is not a rank", 2, 1},
		{"from,to,bytes\n0,1.0,1\n", "is not a rank", 2, 3},
		{"from,to,bytes\n2,2,1\n", "rank 2 sends to itself", 2, 3},
		{"from,to,bytes\n0,1,x\n", "\"x\" is not a number", 2, 5},
		{"from,to,bytes\n0,1, -5\n", "is not a number", 2, 6},
		{"from,to,bytes\n0,1,nan\n", "is not a number", 2, 5},
		{"from,to,bytes\n0,1,inf\n", "is not a number", 2, 5},
		{"from,to,bytes\n0,1,0x10\n", "is not a number", 2, 5},
		{"from,to,bytes\n0,1,1e999\n", "is not a number", 2, 5},
		{"from,to,bytes\n0,1,1e308\n", "from 0 to 1e30", 2, 5},
		{"from,to,bytes\n0,1\n", "expected 3 columns, found 2", 2, 3},
		{"from,to,bytes\n0,1,1,tp\n", "expected 3 columns, found 4", 2,
		 7},
		{"from,to,bytes,axis\n0,1,1,xp\n", "not one of tp, cp", 2, 7},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_traffic t;

		assert_int_equal(read_text(cases[i].text, 4, &t, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_string_equal(err.source, "m.csv");
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
		weft_traffic_free(&t);
	}
}

static void lines_too_long_and_absent_files_are_refused(void **state)
{
	struct weft_error err = {0};
	struct weft_traffic t;
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(read_text(text, 4, &t, &err), -1);
	assert_error_says(&err, "the line is longer");
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_matrix_load("/no/such.csv", 4, &t, &err), -1);
	assert_int_equal(err.code, WEFT_EIO);
	assert_error_says(&err, "No such file");
	weft_traffic_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_become_edges),
		cmocka_unit_test(columns_may_be_in_any_order),
		cmocka_unit_test(mistakes_are_named_with_their_place),
		cmocka_unit_test(lines_too_long_and_absent_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
