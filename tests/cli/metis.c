/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metis.c - graphs in the format of METIS: what is read, what is refused */
#include "lab/map/metis.h"
#include "tests/lib/check.h"

#include <string.h>

static int read_text(const char *text, struct graph *g, struct weft_error *err)
{
	struct scan s;

	memset(err, 0, sizeof(*err));
	memset(g, 0, sizeof(*g));
	if (scan_text(&s, "g", text, strlen(text), err))
		return -1;
	return metis_read(&s, g);
}

static double weight_of(const struct graph *g, uint32_t a, uint32_t b)
{
	for (uint32_t k = g->row[a]; k < g->row[a + 1]; k++) {
		if (g->peer[k] == b)
			return g->weight[k];
	}
	return 0;
}

static void every_form_of_a_triangle_and_a_single_vertex_is_read(void **state)
{
	static const struct {
		const char *desc, *text;
		double weight; /* of the edge 1-3, the others weigh 1 */
	} cases[] = {
		{"plain", "4 3\n2 3\n1 3\n1 2\n\n", 1},
		{"no end of the last line", "4 3\n2 3\n1 3\n1 2\n", 1},
		{"format 0", "4 3 0\n2 3\n1 3\n1 2\n\n", 1},
		{"edge weights", "4 3 1\n2 1 3 7\n1 1 3 1\n1 7 2 1\n\n", 7},
		{"decimals", "4 3 001\n2 1 3 .75\n1 1 3 1\n1 7.5e-1 2 1\n\n",
		 0.75},
		{"vertex weights", "4 3 10\n5 2 3\n5 1 3\n5 1 2\n5\n", 1},
		{"sizes", "4 3 100\n5 2 3\n6 1 3\n7 1 2\n8\n", 1},
		{"everything",
		 "4 3 111 2\n9 5 6 2 1 3 7\n1 5 6 1 1 3 1\n1 5 6 1 7 2 1\n"
		 "1 5 6\n",
		 7},
		{"comments and odd blanks",
		 "% one\n%\n 4\t3  1 \r\n2 1  3 7\r\n% two\n 1 1 3 1 \n"
		 "1 7 2 1\n\n% three\n\n",
		 7},
		{"an edge of weight 0",
		 "4 4 1\n2 1 3 7 4 0\n1 1 3 1\n1 7 2 1\n1 0\n", 7},
	};
	struct weft_error err;
	struct graph g;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].desc);
		read_text(cases[i].text, &g, &err);
		assert_no_error(&err);
		assert_int_equal(g.n, 4);
		assert_int_equal(g.n_edges, 6);
		assert_int_equal(g.row[3], 6);
		assert_true(g.inside == 0);
		assert_true(weight_of(&g, 0, 1) == 1);
		assert_true(weight_of(&g, 0, 2) == cases[i].weight);
		assert_true(weight_of(&g, 2, 0) == cases[i].weight);
		assert_true(weight_of(&g, 2, 1) == 1);
		graph_free(&g);
	}
}

static void what_is_no_graph_is_refused_where_it_is_wrong(void **state)
{
	static const struct {
		const char *text;
		int line, column;
		const char *says;
	} cases[] = {
		{"", 1, 1, "expected a line \"n m [fmt [ncon]]\""},
		{"% only\n", 2, 1, "expected a line \"n m [fmt [ncon]]\""},
		{"x 1\n", 1, 1, "expected a number of vertices, found \"x\""},
		{"0 0\n", 1, 1, "expected a number of vertices"},
		{"2\n2\n1\n", 1, 2,
		 "expected a number of edges, found the end"},
		{"99999999 0\n", 1, 1, "more than the file has"},
		{"2 99999\n2\n1\n", 1, 3, "more than the file has"},
		{"99999999999999999999 0\n", 1, 1, "expected a number of"},
		{"2 1 20\n2\n1\n", 1, 5, "expected a format of the digits"},
		{"2 1 1 1 1\n2\n1\n", 1, 9, "expected the end of the line"},
		{"2 1\n3\n1\n", 2, 1, "expected a neighbour"},
		{"2 1\n0\n1\n", 2, 1, "expected a neighbour"},
		{"2 1\n2,\n1\n", 2, 2, "found \",\""},
		{"2 1\n1\n1\n", 2, 1, "vertex 1 is its own neighbour"},
		{"2 1 1\n2 -1\n1 -1\n", 2, 3, "expected the edge's weight"},
		{"2 1 1\n2 1e99\n1 1e99\n", 2, 3, "expected the edge's weight"},
		{"2 1 1\n2\n1 1\n", 2, 2, "found the end of the line"},
		{"2 1 1\n2 0x1\n1 1\n", 2, 3, "found \"0x1\""},
		{"3 1\n2\n1 3\n2\n", 3, 3, "more neighbours than the header"},
		{"3 2\n2\n1\n\n", 5, 1, "expected 4 neighbours"},
		{"3 1\n2\n1\n\n3\n", 5, 1, "expected the end of the file"},
		{"4 1\n2\n1\n", 4, 1, "expected a line for each of 4"},
		{"3 2\n2 2\n1\n1\n", 2, 3, "neighbour 2 is listed twice"},
		{"3 2\n2 3\n1\n2\n", 4, 1, "neighbour 2 does not list this"},
		{"3 2\n2 3\n1 3\n\n", 2, 3, "neighbour 3 does not list this"},
		{"2 1 1\n2 3\n1 4\n", 3, 1, "with another weight"},
		{"2 1 10\n1 2\n2 1\n", 3, 1, "vertices of different weights"},
	};
	struct weft_error err;
	struct graph g;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("\"%s\"\n", cases[i].text);
		assert_int_equal(read_text(cases[i].text, &g, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
		assert_string_equal(err.source, "g");
		graph_free(&g);
	}
}

static void a_nul_and_a_missing_file_are_errors(void **state)
{
	struct weft_error err = {0};
	struct scan s;

	(void)state;
	assert_int_equal(scan_text(&s, "g", "1\0 2", 4, &err), -1);
	assert_error_says(&err, "found a NUL");
	memset(&err, 0, sizeof(err));
	assert_int_equal(scan_load(&s, "/nonexistent/g", &err), -1);
	assert_int_equal(err.code, WEFT_EIO);
	scan_free(&s);
}

static void the_public_instances_are_read(void **state)
{
	const char *path = test_shared("data/mapping/p03-llama405b-4096-reg."
				       "graph");
	struct weft_error err = {0};
	struct graph g = {0};
	struct scan s;

	(void)state;
	if (!path) {
		print_message("skipped: no ../shared/data/mapping\n");
		skip();
	}
	if (scan_load(&s, path, &err) == 0)
		metis_read(&s, &g);
	assert_no_error(&err);
	assert_int_equal(g.n, 4096);
	scan_free(&s);
	graph_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_form_of_a_triangle_and_a_single_vertex_is_read),
		cmocka_unit_test(what_is_no_graph_is_refused_where_it_is_wrong),
		cmocka_unit_test(a_nul_and_a_missing_file_are_errors),
		cmocka_unit_test(the_public_instances_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
