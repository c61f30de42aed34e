/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_memory.c - allocations of a replay fail in turn */
#include "lab/replay/replay.h"

#include "tests/lib/failing.h"
#include "tests/placement/cases.h"

static const char fabric_text[] =
	"weft: fabric/1\nprofile: roce-llama3\nnodes:\n  n[0-5]: 4\n"
	"levels:\n  leaf:\n    l[0-2]: n[0-5]\n";

static int replay(const struct weft_fabric *f, const char *policy,
		  struct weft_error *err)
{
	static const struct weft_stream_job jobs[] = {
		{0, 10, 8, "a", ""},
		{1, 10, 24, "b", "tp=4"},
		{2, 20, 4, "c", ""},
		{3, 1, 1, "d", ""},
	};
	const struct weft_replay_options options = {0};
	struct weft_replay_outcome o = {0};
	struct weft_stream s = {0};
	struct weft_replay r = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(jobs) / sizeof(jobs[0]); i++)
		rc = weft_stream_add(&s, &jobs[i], err);
	if (rc == 0)
		rc = weft_stream_sort(&s, 0, err);
	if (rc == 0)
		rc = weft_replay_build(f, &s, &options, &r, err);
	if (rc == 0)
		rc = weft_replay_run(&r, weft_policy_find(policy, NULL), &o,
				     err);
	weft_replay_outcome_free(&o);
	weft_replay_free(&r);
	weft_stream_free(&s);
	return rc;
}

/* Every one at first, then ever fewer: a replay makes thousands. */
static void check(const char *policy)
{
	struct weft_fabric *f = case_fabric(fabric_text);
	int rc = -1;

	for (int n = 1; rc; n += 1 + n / 50) {
		struct weft_error err = {0};

		left = n - 1;
		rc = replay(f, policy, &err);
		left = -1;
		if (rc)
			assert_int_equal(err.code, WEFT_ENOMEM);
		assert_true(n < 1000000);
	}
	weft_fabric_free(f);
}

static void a_replay_survives_any_allocation_that_fails(void **state)
{
	(void)state;
	check("slurm-tree");
	check("slurm-block");
	check("random");
	check("weft");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_survives_any_allocation_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
