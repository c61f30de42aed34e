/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parallelism.c - rank grids, against published mappings and by invariants */
#include "costmodel/job/parallelism.h"

#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <string.h>

/* "tp=2 dp=3 pp=4" -> sizes whose names live in `text`. */
static uint32_t parse_sizes(char *text, struct weft_axis_size *sizes)
{
	uint32_t n = 0;
	char *rest = NULL;

	for (char *word = strtok_r(text, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');

		assert_non_null(equals);
		assert_true(n < WEFT_MAX_AXES);
		*equals = '\0';
		sizes[n].name = word;
		sizes[n++].size = (uint32_t)strtoul(equals + 1, NULL, 10);
	}
	return n;
}

/* The tables write row-major orders as "a,b,c (row-major)". */
static void order_of(const char *cell, char *order, size_t size)
{
	size_t length = strcspn(cell, " ");

	snprintf(order, size, "%.*s", (int)length, cell);
	for (char *c = order; *c; c++) {
		if (*c == ',')
			*c = '/';
	}
}

static void format_group(const struct weft_grid *grid, const char *token,
			 uint32_t index, char *text, size_t size)
{
	struct weft_error err = {0};
	uint32_t ranks[1024];
	uint32_t n = weft_grid_group(grid, token, index, ranks, &err);
	size_t used = 0;

	assert_no_error(&err);
	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u",
					 i ? " " : "", ranks[i]);
}

static void format_coordinates(const struct weft_grid *grid, uint32_t rank,
			       char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t a = 0; a < grid->n_axes; a++)
		used += (size_t)snprintf(text + used, size - used, "%s%s=%u",
					 a ? " " : "", grid->name[a],
					 weft_grid_coordinate(grid, rank, a));
}

static void every_published_mapping_is_reproduced(void **state)
{
	struct csv csv = table_open("data/costmodel/rank_golden.csv");

	(void)state;
	assert_int_equal(csv.n_rows, 305);
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		struct weft_axis_size sizes[WEFT_MAX_AXES];
		struct weft_error err = {0};
		struct weft_grid grid;
		char order[128], words[128], text[4096];
		uint32_t index = (uint32_t)table_number(&csv, row, "index");
		const char *kind = table_cell(&csv, row, "kind");

		order_of(table_cell(&csv, row, "order"), order, sizeof(order));
		snprintf(words, sizeof(words), "%s",
			 table_cell(&csv, row, "sizes"));
		weft_grid_build(order, sizes, parse_sizes(words, sizes), &grid,
				&err);
		assert_no_error(&err);
		assert_int_equal(grid.n_ranks,
				 table_number(&csv, row, "world"));
		if (strcmp(kind, "group") == 0)
			format_group(&grid,
				     table_cell(&csv, row, "group_token"),
				     index, text, sizeof(text));
		else
			format_coordinates(&grid, index, text, sizeof(text));
		assert_string_equal(text, table_cell(&csv, row, "value"));
	}
	csv_free(&csv);
}

static void row_major_is_the_reverse_order(void **state)
{
	const struct weft_axis_size sizes[] = {
		{"tp", 2}, {"cp", 3}, {"dp", 5}, {"pp", 4}};
	struct weft_error err = {0};
	struct weft_grid a, b;

	(void)state;
	weft_grid_build("tp-cp-dp-pp", sizes, 4, &a, &err);
	weft_grid_build("pp/dp/cp/tp", sizes, 4, &b, &err);
	assert_no_error(&err);
	assert_int_equal(a.n_ranks, 120);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t j = weft_grid_axis(&b, a.name[i]);

		assert_int_equal(a.stride[i], b.stride[j]);
		assert_int_equal(a.size[i], b.size[j]);
	}
	for (uint32_t index = 0; index < 6; index++) {
		uint32_t from_a[20], from_b[20];

		assert_int_equal(
			weft_grid_group(&a, "pp-dp", index, from_a, &err), 20);
		assert_int_equal(
			weft_grid_group(&b, "dp-pp", index, from_b, &err), 20);
		assert_memory_equal(from_a, from_b, sizeof(from_a));
	}
}

/* Any token: each rank is in exactly one group, groups ascend within and are
 * numbered by their lowest rank. */
static void groups_partition_the_ranks(void **state)
{
	static const char *const tokens[] = {"tp",    "cp",    "dp",
					     "pp",    "tp-pp", "dp-cp",
					     "cp-tp", "pp-dp", "tp-cp-dp-pp"};
	static const char *const orders[] = {"tp-cp-dp-pp", "pp-dp-cp-tp",
					     "cp/pp/tp/dp", "dp/tp/pp/cp"};
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		struct weft_axis_size sizes[] = {
			{"tp", 1 + test_random_below(&seed, 4)},
			{"cp", 1 + test_random_below(&seed, 4)},
			{"dp", 1 + test_random_below(&seed, 4)},
			{"pp", 1 + test_random_below(&seed, 4)}};
		const char *token = tokens[test_random_below(&seed, 9)];
		struct weft_error err = {0};
		uint32_t ranks[256], lowest = 0, n;
		unsigned char seen[256] = {0};
		struct weft_grid grid;

		weft_grid_build(orders[test_random_below(&seed, 4)], sizes, 4,
				&grid, &err);
		assert_no_error(&err);
		n = weft_grid_group(&grid, token, 0, ranks, &err);
		assert_true(n > 0);
		for (uint32_t g = 0; g < grid.n_ranks / n; g++) {
			assert_int_equal(
				weft_grid_group(&grid, token, g, ranks, &err),
				n);
			assert_true(g == 0 || ranks[0] > lowest);
			lowest = ranks[0];
			for (uint32_t k = 0; k < n; k++) {
				assert_true(k == 0 || ranks[k] > ranks[k - 1]);
				assert_true(ranks[k] < grid.n_ranks);
				assert_int_equal(seen[ranks[k]]++, 0);
			}
		}
	}
}

static void axes_of_size_one_may_be_left_out(void **state)
{
	const struct weft_axis_size sizes[] = {{"tp", 8}, {"cp", 1}};
	struct weft_error err = {0};
	struct weft_grid grid;

	(void)state;
	assert_int_equal(weft_grid_build("tp", sizes, 2, &grid, &err), 0);
	assert_int_equal(grid.n_ranks, 8);
	assert_int_equal(weft_grid_axis(&grid, "cp"), WEFT_MAX_AXES);
}

static void wrong_orders_are_explained(void **state)
{
	static const struct {
		const char *order, *says;
	} cases[] = {
		{"", "expected axis names"},
		{"-", "expected axis names"},
		{"tp-", "expected axis names"},
		{"tp--pp", "expected axis names"},
		{"tp pp", "expected axis names"},
		{"a_name_that_is_too_long-pp", "expected axis names"},
		{"tp-pp/dp", "mixes '-' and '/'"},
		{"tp-pp-tp", "names \"tp\" twice"},
		{"tp-pp-dpp", "did you mean \"dp\""},
		{"tp-pp", "does not say where dp=3 goes"},
		{"tp-pp-dp-a-b-c-d-e-f", "unknown axis \"a\""},
	};
	const struct weft_axis_size sizes[] = {{"tp", 2}, {"dp", 3}, {"pp", 4}};
	const struct weft_axis_size big[] = {{"tp", 1u << 20},
					     {"dp", 1u << 20}};
	const struct weft_axis_size none[] = {{"tp", 0}};
	struct weft_error err = {0};
	struct weft_grid grid;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(
			weft_grid_build(cases[i].order, sizes, 3, &grid, &err),
			-1);
		assert_error_says(&err, cases[i].says);
	}
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_grid_build("tp-dp", big, 2, &grid, &err), -1);
	assert_error_says(&err, "more than");
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_grid_build("tp", none, 1, &grid, &err), -1);
	assert_error_says(&err, "size 0");
}

static void wrong_groups_are_explained(void **state)
{
	static const char *const tokens[] = {"", "x", "tp-", "tp-tp", "tp,pp"};
	const struct weft_axis_size sizes[] = {{"tp", 2}, {"pp", 4}};
	struct weft_error err = {0};
	struct weft_grid grid;
	uint32_t ranks[8];

	(void)state;
	weft_grid_build("tp-pp", sizes, 2, &grid, &err);
	assert_no_error(&err);
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(
			weft_grid_group(&grid, tokens[i], 0, ranks, &err), 0);
		assert_error_says(&err, "expected axes of the grid");
	}
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_grid_group(&grid, "tp", 4, ranks, &err), 0);
	assert_error_says(&err, "there are only 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_published_mapping_is_reproduced),
		cmocka_unit_test(row_major_is_the_reverse_order),
		cmocka_unit_test(groups_partition_the_ranks),
		cmocka_unit_test(axes_of_size_one_may_be_left_out),
		cmocka_unit_test(wrong_orders_are_explained),
		cmocka_unit_test(wrong_groups_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
