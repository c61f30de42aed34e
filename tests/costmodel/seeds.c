/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeds.c - every figure of the seeds: those that hold as they are printed, and
 * the right value of those that do not
 */
#include "tests/costmodel/seeds.h"

#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <string.h>

/* The table writes six digits in `computed`, and fewer in the right values. */
#define COMPUTED_DIGITS 1e-5
#define RIGHT_DIGITS	1e-3

enum { N_ROWS = 143, N_HOLD = 114 };

void seeds_add(struct seeds *seeds, const char *id, double computed,
	       double right, bool holds)
{
	assert_true(seeds->n < SEEDS_MAX);
	seeds->row[seeds->n++] = (struct seed){id, computed, right, holds};
}

bool seeds_same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

struct weft_gradsync seeds_sync(double parameters, uint32_t n_gpus,
				double link_bytes_per_s,
				enum weft_convention convention)
{
	struct weft_gradsync_job job = {.parameters = parameters,
					.parameter_bytes = 2,
					.n_gpus = n_gpus,
					.link_bytes_per_s = link_bytes_per_s};
	struct weft_error err = {0};
	struct weft_gradsync sync;

	assert_int_equal(weft_gradsync(&job, convention, &sync, &err), 0);
	assert_no_error(&err);
	return sync;
}

const struct weft_gpu *seeds_gpu(const char *name)
{
	const struct weft_gpu *gpu = weft_gpu_find(name, NULL);

	assert_non_null(gpu);
	return gpu;
}

const struct weft_fact *seeds_fact(const char *name)
{
	for (uint32_t i = 0; i < weft_n_facts; i++) {
		if (strcmp(weft_facts[i].name, name) == 0)
			return &weft_facts[i];
	}
	fail_msg("no fact %s", name);
	return NULL;
}

double seeds_value(const char *name)
{
	return seeds_fact(name)->value;
}

static bool is_number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && *end == '\0';
}

/* The row's tolerance is absolute in the row's unit, with a time unit or none,
 * or a percentage.  False: the table asks for no such comparison. */
static bool tolerance_read(const char *text, double expected, double *tolerance)
{
	char *end;

	*tolerance = strtod(text, &end);
	if (end == text)
		return false;
	if (*end == '%')
		*tolerance *= fabs(expected) / 100;
	/* "0" means exactly, in floating point. */
	*tolerance += 1e-9 * fabs(expected);
	return true;
}

static void check_printed(const struct csv *csv, uint32_t row,
			  const struct seed *seed)
{
	bool reproduces = *table_cell(csv, row, "reproduces") == 'y';
	bool bound = strcmp(table_cell(csv, row, "kind"), "bound") == 0;
	double expected, tolerance;

	if (!is_number(table_cell(csv, row, "expected"), &expected) ||
	    isnan(seed->computed))
		return;
	if (bound && seed->computed < expected * (1 - 1e-12))
		fail_msg("%s: %g is below the bound %g", seed->id,
			 seed->computed, expected);
	if (!reproduces || bound ||
	    !tolerance_read(table_cell(csv, row, "tolerance"), expected,
			    &tolerance))
		return;
	if (fabs(seed->computed - expected) > tolerance)
		fail_msg("%s: computed %g, the seed prints %g", seed->id,
			 seed->computed, expected);
}

static void check_column(const struct csv *csv, uint32_t row,
			 const char *column, const struct seed *seed,
			 double value, double digits)
{
	double expected;

	if (!is_number(table_cell(csv, row, column), &expected)) {
		assert_true(isnan(value) ||
			    *table_cell(csv, row, column) == '\0');
		return;
	}
	if (isnan(value))
		fail_msg("%s: the table has %s %g, the test none", seed->id,
			 column, expected);
	if (fabs(value - expected) > digits * fabs(expected))
		fail_msg("%s: %s is %.9g, expected %.9g", seed->id, column,
			 value, expected);
}

/* A row that does not reproduce must say what is right: a number, or what the
 * library states instead. */
static void check_row(const struct csv *csv, uint32_t row,
		      const struct seed *seed)
{
	check_printed(csv, row, seed);
	check_column(csv, row, "computed", seed, seed->computed,
		     COMPUTED_DIGITS);
	check_column(csv, row, "correct_value", seed, seed->right,
		     RIGHT_DIGITS);
	if (!seed->holds)
		fail_msg("%s (%s) does not hold", seed->id,
			 table_cell(csv, row, "quantity"));
}

static size_t find(const struct seeds *seeds, const char *id)
{
	size_t found = seeds->n;

	for (size_t i = 0; i < seeds->n; i++) {
		if (strcmp(seeds->row[i].id, id) != 0)
			continue;
		if (found < seeds->n)
			fail_msg("%s is there twice", id);
		found = i;
	}
	return found;
}

static void seeds_fill(struct seeds *seeds)
{
	seeds_of_sync(seeds);
	seeds_of_pipeline(seeds);
	seeds_of_overlap(seeds);
	seeds_of_waits(seeds);
	seeds_of_scaling(seeds);
}

static void every_figure_of_the_seeds_is_answered(void **state)
{
	struct csv csv = table_open("data/costmodel/seed_examples.csv");
	struct seeds seeds = {0};
	size_t n_hold = 0;

	(void)state;
	seeds_fill(&seeds);
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		const char *id = table_cell(&csv, row, "id");
		size_t i = find(&seeds, id);

		if (i == seeds.n)
			fail_msg("%s is not answered", id);
		check_row(&csv, row, &seeds.row[i]);
		n_hold += *table_cell(&csv, row, "reproduces") == 'y';
	}
	assert_int_equal(csv.n_rows, N_ROWS);
	assert_int_equal(seeds.n, N_ROWS);
	assert_int_equal(n_hold, N_HOLD);
	csv_free(&csv);
}

/* The same without the table, which not everybody has. */
static void every_statement_of_the_seeds_holds(void **state)
{
	struct seeds seeds = {0};

	(void)state;
	seeds_fill(&seeds);
	for (size_t i = 0; i < seeds.n; i++) {
		if (!seeds.row[i].holds)
			fail_msg("%s does not hold", seeds.row[i].id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_of_the_seeds_is_answered),
		cmocka_unit_test(every_statement_of_the_seeds_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
