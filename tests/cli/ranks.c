/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - hostlists as ranks; files are tested by score.sh */
#include "cli/plan/ranks.h"
#include "tests/lib/fabric.h"

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-3]: 4\n"
				  "  2x: 4\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    L0: n[0-3],2x\n";

static struct weft_fabric *f;

static int setup(void **state)
{
	(void)state;
	f = test_fabric(fabric_text);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	weft_fabric_free(f);
	return 0;
}

static const struct {
	const char *text;
	uint32_t n_ranks;
	uint32_t where[8];
} good[] = {
	{"n[0-1]", 8, {0, 1, 2, 3, 4, 5, 6, 7}},
	{"n1,n0", 8, {4, 5, 6, 7, 0, 1, 2, 3}},
	{"n[0-3]", 4, {0, 4, 8, 12}},
	{"n[0-1]", 6, {0, 1, 2, 4, 5, 6}},
	{"n0:1-2,n2:0,3,n3:1", 5, {1, 2, 8, 11, 13}},
	{"n[0-1]:2-3", 4, {2, 3, 6, 7}},
	{"n0:1,2x", 5, {1, 16, 17, 18, 19}},
	{"2x:1,n0:2", 2, {17, 2}},
};

static void hostlists_give_ranks_in_the_order_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct weft_error err = {0};
		uint32_t where[8] = {0};

		ranks_from_hostlist(f, good[i].text, good[i].n_ranks, where,
				    &err);
		assert_no_error(&err);
		for (uint32_t r = 0; r < good[i].n_ranks; r++)
			assert_int_equal(where[r], good[i].where[r]);
	}
}

static const struct {
	const char *text, *says;
	uint32_t n_ranks;
} bad[] = {
	{"n0", "names 4 GPUs, but the job has 5 ranks", 5},
	{"n[0-1],n0", "two ranks on GPU n0:0", 6},
	{"n0:0-1,n0:1", "two ranks on GPU n0:1", 3},
	{"n[0-2]", "more ranks than the job's 7", 7},
	{"n9", "n9", 4},
	{"n0:9", "9", 1},
	{"n[0-", "", 4},
	{"", "names 0 GPUs", 1},
};

static void hostlists_that_do_not_fit_the_job_are_errors(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct weft_error err = {0};
		uint32_t where[8];

		assert_int_equal(ranks_from_hostlist(f, bad[i].text,
						     bad[i].n_ranks, where,
						     &err),
				 -1);
		assert_error_says(&err, bad[i].says);
		assert_string_equal(err.source, "--nodes");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostlists_give_ranks_in_the_order_written),
		cmocka_unit_test(hostlists_that_do_not_fit_the_job_are_errors),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
