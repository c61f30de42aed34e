/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/costmodel/measured.h"

static struct measured *open_or_skip(void)
{
	struct measured *m = measured_open();

	if (!m) {
		print_message("no reference data beside the checkout\n");
		skip();
	}
	return m;
}

static double median(const struct measured *m, enum measured_kind kind,
		     bool large, bool common, size_t least)
{
	size_t count;
	double pct =
		measured_median(m->rows, m->n, kind, large, common, &count);

	print_message("%s, %s sizes: median error %.1f %% of %zu rows\n",
		      kind == MEASURED_WEFT ? "weft" : "NCCL's model",
		      large ? "large" : "small", pct, count);
	assert_true(count >= least);
	return pct;
}

static void sizes_not_seen_are_predicted(void **state)
{
	struct measured *m = open_or_skip();

	(void)state;
	assert_true(median(m, MEASURED_WEFT, true, false, 90) < 10);
	assert_true(median(m, MEASURED_WEFT, false, false, 50) < 25);
	free(m);
}

/* Where NCCL's own model has a figure, the calibration has a better one. */
static void predictions_are_closer_than_nccls_own(void **state)
{
	struct measured *m = open_or_skip();

	(void)state;
	for (int large = 0; large < 2; large++)
		assert_true(median(m, MEASURED_WEFT, large, true, 30) <
			    median(m, MEASURED_NCCL, large, true, 30) / 2);
	free(m);
}

/* Between and beyond the numbers of nodes that were measured: the tables have
 * large sizes only. */
static void other_numbers_of_nodes_are_predicted(void **state)
{
	struct measured *m = open_or_skip();

	(void)state;
	measured_predict_across(m, MEASURED_OTHERS);
	assert_true(median(m, MEASURED_WEFT, true, false, 20) < 10);
	assert_true(median(m, MEASURED_WEFT, true, true, 15) <
		    median(m, MEASURED_NCCL, true, true, 15));
	free(m);
}

/* One number of nodes says nothing of the network, or of the links inside:
 * guesses, that stay nearer than NCCL's own model all the same. */
static void one_number_of_nodes_lets_guess_others(void **state)
{
	struct measured *m = open_or_skip();

	(void)state;
	measured_predict_across(m, MEASURED_NEAREST);
	assert_true(median(m, MEASURED_WEFT, false, false, 20) < 50);
	assert_true(median(m, MEASURED_WEFT, true, false, 60) < 15);
	assert_true(median(m, MEASURED_WEFT, true, true, 40) <
		    median(m, MEASURED_NCCL, true, true, 40));
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_not_seen_are_predicted),
		cmocka_unit_test(predictions_are_closer_than_nccls_own),
		cmocka_unit_test(other_numbers_of_nodes_are_predicted),
		cmocka_unit_test(one_number_of_nodes_lets_guess_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
