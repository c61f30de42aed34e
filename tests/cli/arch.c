/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arch.c - trees of places: what is read, what is refused */
#include "lab/map/arch.h"
#include "tests/lib/check.h"

#include <string.h>

static int read_text(const char *text, struct arch *a, struct weft_error *err)
{
	struct scan s;

	memset(err, 0, sizeof(*err));
	memset(a, 0, sizeof(*a));
	if (scan_text(&s, "a", text, strlen(text), err))
		return -1;
	return arch_read(&s, a);
}

/* Distance of two slots. */
static double distance(const struct arch *a, uint32_t x, uint32_t y)
{
	return sites_distance(&a->sites, a->site[x], a->site[y]);
}

static void distances_follow_from_the_lowest_common_domain(void **state)
{
	/* slots 0-1, 2-3, 4-5, 6, 7-9; the fourth node belongs to the leaf of
	 * the first, the last lists its leaf's number in another pod */
	static const char text[] = "# remark\nname x\nslots 10\nranks 8\n"
				   "dist 1 9 12 24\nrail 3\n"
				   "node 0 5 2\nnode 1 5 2 # why\nnode 1 6 2\n"
				   "\n  node 0 5 1\nnode 2 5 3";
	struct weft_error err;
	struct arch a;

	(void)state;
	read_text(text, &a, &err);
	assert_no_error(&err);
	assert_int_equal(a.sites.n, 10);
	assert_int_equal(a.n_nodes, 5);
	assert_int_equal(a.ranks, 8);
	for (uint32_t slot = 0; slot < 10; slot++)
		assert_int_equal(a.slot[a.site[slot]], slot);
	assert_true(distance(&a, 0, 1) == 1);
	assert_true(distance(&a, 7, 9) == 1);
	assert_true(distance(&a, 0, 6) == 9);
	assert_true(distance(&a, 1, 6) == 9 + 3);
	assert_true(distance(&a, 2, 4) == 12);
	assert_true(distance(&a, 2, 5) == 12 + 3);
	assert_true(distance(&a, 6, 2) == 24);
	assert_true(distance(&a, 9, 0) == 24 + 3);
	arch_free(&a);
}

static void the_number_of_levels_is_free(void **state)
{
	struct weft_error err;
	struct arch a;

	(void)state;
	read_text("dist 0 2.5\nnode 1\nnode 1\n", &a, &err);
	assert_no_error(&err);
	assert_true(distance(&a, 0, 1) == 2.5);
	arch_free(&a);
	read_text("dist 1 2 3 4 5\nnode 1 1 1 1\nnode 1 1 2 1\nnode 2 1 1 1\n"
		  "node 1 2 1 1\n",
		  &a, &err);
	assert_no_error(&err);
	assert_true(distance(&a, 0, 1) == 3);
	assert_true(distance(&a, 0, 3) == 4);
	assert_true(distance(&a, 0, 2) == 5);
	arch_free(&a);
}

static void what_is_no_tree_is_refused_where_it_is_wrong(void **state)
{
	static const struct {
		const char *text;
		int line, column;
		const char *says;
	} cases[] = {
		{"", 1, 1, "found no node"},
		{"dist 1 2\n", 2, 1, "found no node"},
		{"node 1\n", 1, 6, "expected a line \"dist\" before"},
		{"dist 1\n", 1, 7, "at least two distances"},
		{"dist 1 3 2\n", 1, 10, "distances must not fall"},
		{"dist -1 3\n", 1, 6, "expected a distance, 0 or above"},
		{"dist 1 inf\n", 1, 8, "found \"inf\""},
		{"dist 1 2\ndist 1 2\n", 2, 6, "dist a second time"},
		{"rail 1\nrail 1\n", 2, 6, "rail a second time"},
		{"rail 1 2\n", 1, 8, "expected the end of the line"},
		{"dist 1 2 3\nnode 8\n", 2, 7, "expected the node's slots"},
		{"dist 1 2\nnode 0\n", 2, 6, "expected the node's slots"},
		{"dist 1 2\nnode 1 8\n", 2, 8, "expected the end of the line"},
		{"dist 1 2\nnode 9999999\n", 2, 6, "expected the node's slots"},
		{"dist 1 2\nnodes 1\n", 2, 1, "did you mean \"node\""},
		{"dists 1 2\n", 1, 1, "did you mean \"dist\""},
		{"slots 4\ndist 1 2\nnode 3\n", 4, 1, "the nodes have 3 slots"},
		{"dist 1 2 3 4 5 6 7 8 9 10 11 12 13\n", 1, 33,
		 "more than 12 distances"},
	};
	struct weft_error err;
	struct arch a;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("\"%s\"\n", cases[i].text);
		assert_int_equal(read_text(cases[i].text, &a, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.line, cases[i].line);
		assert_int_equal(err.column, cases[i].column);
		arch_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			distances_follow_from_the_lowest_common_domain),
		cmocka_unit_test(the_number_of_levels_is_free),
		cmocka_unit_test(what_is_no_tree_is_refused_where_it_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
