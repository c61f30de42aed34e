/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugin/bridge/running/forecast.h"

#include "tests/lib/check.h"

struct asked {
	uint32_t from; /* it holds from this many ends on */
	uint32_t stop; /* trials until it is stopped */
	uint32_t n_asked;
};

static enum weft_trial holds(void *arg, uint32_t k)
{
	struct asked *asked = arg;

	if (asked->n_asked++ >= asked->stop)
		return WEFT_TRIAL_STOP;
	return k >= asked->from ? WEFT_TRIAL_YES : WEFT_TRIAL_NO;
}

static void the_first_end_that_helps_is_found(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40; n++) {
		for (uint32_t from = 1; from <= n; from++) {
			struct asked asked = {.from = from, .stop = 8};

			assert_int_equal(weft_forecast_first(n, holds, &asked),
					 from);
		}
	}
}

static void nothing_is_found_where_all_ends_do_not_help(void **state)
{
	struct asked asked = {.from = 11, .stop = 8};

	(void)state;
	assert_int_equal(weft_forecast_first(10, holds, &asked), 0);
	assert_int_equal(weft_forecast_first(0, holds, &asked), 0);
	assert_int_equal(asked.n_asked, 1);
}

static void a_stopped_search_has_one_that_helps(void **state)
{
	(void)state;
	for (uint32_t stop = 1; stop < 8; stop++) {
		struct asked asked = {.from = 3, .stop = stop};
		uint32_t k = weft_forecast_first(100, holds, &asked);

		assert_true(k >= 3 && k <= 100);
		assert_true(asked.n_asked <= stop + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_end_that_helps_is_found),
		cmocka_unit_test(nothing_is_found_where_all_ends_do_not_help),
		cmocka_unit_test(a_stopped_search_has_one_that_helps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
