/* SPDX-License-Identifier: GPL-3.0-or-later */
/* invariants.c - what should never happen is told with measure */
#include "plugin/bridge/files/invariants.h"

#include "tests/lib/check.h"

static void each_trouble_is_told_once_an_hour(void **state)
{
	struct weft_invariants c = {0};
	uint64_t n;

	(void)state;
	assert_true(weft_invariant_broken(&c, WEFT_TROUBLE_PLAN, 1, 100, &n));
	assert_int_equal(n, 1);
	assert_false(weft_invariant_broken(&c, WEFT_TROUBLE_PLAN, 1, 101, &n));
	assert_false(weft_invariant_broken(&c, WEFT_TROUBLE_PLAN, 2, 3699, &n));
	assert_true(weft_invariant_broken(&c, WEFT_TROUBLE_PLAN, 1, 3701, &n));
	assert_int_equal(n, 4);
	assert_int_equal(c.n[WEFT_TROUBLE_PLAN], 5);
}

static void one_trouble_does_not_silence_another(void **state)
{
	struct weft_invariants c = {0};
	uint64_t n;

	(void)state;
	assert_true(weft_invariant_broken(&c, WEFT_TROUBLE_PLAN, 1, 100, &n));
	assert_true(weft_invariant_broken(&c, WEFT_TROUBLE_BUSY, 1, 100, &n));
}

static void what_did_not_happen_is_not_told(void **state)
{
	struct weft_invariants c = {0};
	uint64_t n;

	(void)state;
	assert_false(weft_invariant_broken(&c, WEFT_TROUBLE_CPUS, 0, 100, &n));
	assert_int_equal(c.n[WEFT_TROUBLE_CPUS], 0);
}

static void every_trouble_has_a_text_and_a_code(void **state)
{
	(void)state;
	for (int t = 0; t < WEFT_N_TROUBLES; t++) {
		assert_non_null(weft_trouble_texts[t]);
		assert_non_null(weft_trouble_codes[t]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_trouble_is_told_once_an_hour),
		cmocka_unit_test(one_trouble_does_not_silence_another),
		cmocka_unit_test(what_did_not_happen_is_not_told),
		cmocka_unit_test(every_trouble_has_a_text_and_a_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
