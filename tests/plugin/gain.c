/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.c - comparisons within a share of the time */
#include "plugin/bridge/gain.h"

#include "base/clock.h"
#include "tests/lib/fabric.h"

#include <math.h>
#include <stdlib.h>

/* Time is the processor's, which other work on this machine does not lengthen.
 */
static void a_burst_of_jobs_does_not_wait_for_comparisons(void **state)
{
	static const struct weft_shape shape = {64, 8, 8, 8};
	struct weft_error err = {0};
	struct weft_settings settings = {
		.fabric = test_synth("pod:4 leaf:8 node:16 gpu:8", NULL)};
	struct weft_bridge bridge = {.settings = &settings};
	struct weft_occupancy o = {0};
	double start_s, spent_s = 0, longest_s = 0;

	(void)state;
	assert_no_error(&err);
	assert_int_equal(weft_occupancy_build(settings.fabric, &o, &err), 0);
	weft_clock_id = CLOCK_THREAD_CPUTIME_ID;
	start_s = weft_clock_s();
	while (weft_clock_s() - start_s < 0.1) {
		double before_s = weft_clock_s(), took_s;
		struct weft_baselines b;

		if (!weft_gain_may(&bridge))
			continue;
		weft_gain_baselines(&bridge, "tp=8", &shape, &o, &b);
		weft_baselines_free(&b);
		took_s = weft_clock_s() - before_s;
		longest_s = fmax(longest_s, took_s);
		spent_s += took_s;
	}
	weft_clock_id = CLOCK_MONOTONIC;
	assert_true(spent_s > WEFT_COMPARE_AT_ONCE_S / 2);
	assert_true(spent_s < 4 * WEFT_COMPARE_AT_ONCE_S + longest_s);
	weft_bridge_clear(&bridge);
	weft_occupancy_free(&o);
	weft_fabric_free(settings.fabric);
}

/* A job of thousands of GPUs has no pairs, whose cost is measured in no time.
 */
static void what_would_take_too_long_is_not_begun(void **state)
{
	struct weft_settings settings = {
		.fabric = test_synth("pod:2 leaf:2 node:2 gpu:8", NULL)};
	struct weft_bridge bridge = {.settings = &settings};
	const struct weft_baselines none = {0};
	const struct weft_evaluation untimed = {0};
	const struct weft_job *job = weft_bridge_job(&bridge, "tp=8", 64, NULL);
	uint32_t where[64];
	struct weft_account account = {
		.n_gpus = 64,
		.where = where,
		.baselines = &none,
		.compare_s = 60,
	};

	(void)state;
	assert_non_null(job);
	for (uint32_t r = 0; r < 64; r++)
		where[r] = r;
	weft_gain_compare(&bridge, job, &untimed, 0, &account);
	assert_true(isfinite(account.gain.here_s));
	account.compare_s = 10e-6;
	weft_gain_compare(&bridge, job, &untimed, 0, &account);
	assert_true(account.gain.late);
	assert_true(isnan(account.gain.here_s));
	weft_bridge_clear(&bridge);
	weft_fabric_free(settings.fabric);
}

static void the_user_reads_that_there_was_no_time(void **state)
{
	struct weft_account account = {.late = true, .planned = true};
	char text[WEFT_GAIN_TEXT_SIZE];

	(void)state;
	weft_gain_text(&account, text);
	assert_string_equal(text, " gain=late");
	account.planned = false;
	weft_gain_text(&account, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_of_jobs_does_not_wait_for_comparisons),
		cmocka_unit_test(what_would_take_too_long_is_not_begun),
		cmocka_unit_test(the_user_reads_that_there_was_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
