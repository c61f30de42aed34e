/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holdings.c - sums of what jobs hold */
#include "plugin/bridge/running/holdings.h"

#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

static struct weft_holdings empty(uint32_t n_nodes)
{
	struct weft_holdings h;

	assert_int_equal(weft_holdings_build(n_nodes, &h, NULL), 0);
	return h;
}

static void put(struct weft_holdings *h, uint32_t job_id,
		const struct weft_holding *of, uint32_t n)
{
	assert_int_equal(weft_holdings_put(h, job_id, of, n, NULL), 0);
}

static void what_a_job_holds_is_summed_up_and_taken_off(void **state)
{
	const struct weft_holding one[] = {{0, 8, 1000, 0x0f},
					   {2, 4, 500, 0x03}};
	const struct weft_holding two[] = {{2, 2, 100, 0x0c}};
	struct weft_holdings h = empty(3);

	(void)state;
	put(&h, 1, one, 2);
	put(&h, 2, two, 1);
	assert_int_equal(h.cpus[0], 8);
	assert_int_equal(h.cpus[2], 6);
	assert_int_equal(h.memory_mb[2], 600);
	assert_int_equal(weft_holdings_find(&h, 1)->n, 2);
	put(&h, 1, NULL, 0);
	assert_null(weft_holdings_find(&h, 1));
	assert_int_equal(h.cpus[0], 0);
	assert_int_equal(h.cpus[2], 2);
	assert_int_equal(h.n_holders, 1);
	weft_holdings_free(&h);
}

static void to_put_a_job_twice_is_to_put_it_once(void **state)
{
	const struct weft_holding before[] = {{0, 8, 1000, 0x0f}};
	const struct weft_holding after[] = {{1, 4, 500, 0x03}};
	struct weft_holdings h = empty(2);

	(void)state;
	put(&h, 1, before, 1);
	put(&h, 1, before, 1);
	assert_int_equal(h.cpus[0], 8);
	put(&h, 1, after, 1);
	assert_int_equal(h.cpus[0], 0);
	assert_int_equal(h.cpus[1], 4);
	assert_int_equal(h.n_holders, 1);
	weft_holdings_free(&h);
}

static void to_drop_an_unknown_job_changes_nothing(void **state)
{
	struct weft_holdings h = empty(2);

	(void)state;
	put(&h, 77, NULL, 0);
	assert_int_equal(h.n_holders, 0);
	weft_holdings_free(&h);
	weft_holdings_free(&h);
}

/* A random stream of starts, changes and ends: sums as of those that are left,
 * each found. */
static void sums_are_exact_after_any_stream_of_jobs(void **state)
{
	enum { N_JOBS = 700, N_NODES = 20 };
	static struct weft_holding is[N_JOBS];
	static bool holds[N_JOBS];
	uint64_t seed = test_seed(), cpus[N_NODES] = {0};
	struct weft_holdings h = empty(N_NODES);

	(void)state;
	for (uint32_t step = 0; step < 20000; step++) {
		uint32_t job = test_random_below(&seed, N_JOBS);

		holds[job] = test_random_below(&seed, 3) > 0;
		is[job] = (struct weft_holding){
			.node = test_random_below(&seed, N_NODES),
			.cpus = test_random_below(&seed, 64),
		};
		put(&h, 1000 + job * 64, &is[job], holds[job]);
	}
	for (uint32_t job = 0; job < N_JOBS; job++) {
		const struct weft_holder *found =
			weft_holdings_find(&h, 1000 + job * 64);

		if (!holds[job]) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_int_equal(found->of[0].cpus, is[job].cpus);
		cpus[is[job].node] += is[job].cpus;
	}
	assert_memory_equal(cpus, h.cpus, sizeof(cpus));
	weft_holdings_free(&h);
}

static void a_recount_tells_what_differs(void **state)
{
	const struct weft_holding here[] = {{0, 8, 1000, 0x0f}};
	const struct weft_holding there[] = {{1, 8, 1000, 0x0f}};
	const struct weft_holding both[] = {{0, 0, 0, 0x18}};
	struct weft_holdings kept = empty(3), counted = empty(3);
	struct weft_holdings_audit audit;
	uint64_t held[3];

	(void)state;
	put(&kept, 1, here, 1);
	put(&counted, 1, here, 1);
	weft_holdings_compare(&kept, &counted, held, &audit);
	assert_int_equal(audit.n_cpus + audit.n_memory + audit.n_twice, 0);
	assert_int_equal(audit.n_jobs, 1);
	assert_int_equal(held[0], 0x0f);
	put(&counted, 1, there, 1);
	put(&counted, 2, here, 1);
	put(&counted, 3, both, 1);
	weft_holdings_compare(&kept, &counted, held, &audit);
	assert_int_equal(audit.n_cpus, 1);
	assert_int_equal(audit.n_memory, 1);
	assert_int_equal(audit.n_twice, 1);
	assert_int_equal(held[0], 0x1f);
	weft_holdings_compare(NULL, &counted, held, &audit);
	assert_int_equal(audit.n_cpus, 0);
	weft_holdings_free(&kept);
	weft_holdings_free(&counted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_job_holds_is_summed_up_and_taken_off),
		cmocka_unit_test(to_put_a_job_twice_is_to_put_it_once),
		cmocka_unit_test(to_drop_an_unknown_job_changes_nothing),
		cmocka_unit_test(sums_are_exact_after_any_stream_of_jobs),
		cmocka_unit_test(a_recount_tells_what_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
