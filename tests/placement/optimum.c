/* SPDX-License-Identifier: GPL-3.0-or-later */
/* optimum.c - placements and bounds against the true optimum of small cases */
#include "tests/placement/brute.h"

#define N_CASES 250
struct tally {
	uint32_t n, n_placed, n_optimal, n_tight, n_missed;
	double worst;
};

static void compare(const struct weft_fabric *f, const struct weft_job *job,
		    const struct weft_occupancy *o, const char *text,
		    void *count)
{
	struct tally *tally = count;
	struct weft_error err = {0};
	struct weft_placement p;
	double best = brute_optimum(f, job, o), cost, bound;

	weft_place(f, job, o, NULL, &p, &err);
	assert_no_error(&err);
	tally->n++;
	if (isinf(best)) {
		assert_false(p.placed);
		assert_true(p.n_why > 0);
		weft_placement_free(&p);
		return;
	}
	if (!p.placed) {
		print_error("no placement found, but there is one:\n%s%s\n",
			    text, p.why[0]);
		fail();
	}
	brute_check_placement(f, job, o, &p);
	cost = p.cost.total[p.metric];
	bound = p.bounds[p.metric];
	if (bound > best * (1 + 1e-9) || cost < best * (1 - 1e-9)) {
		print_error("bound %g, optimum %g, cost %g:\n%s", bound, best,
			    cost, text);
		fail();
	}
	tally->n_placed++;
	tally->n_tight += bound >= best * (1 - 1e-9);
	if (cost <= best * (1 + 1e-9)) {
		tally->n_optimal++;
	} else {
		print_message("%.4f of the optimum (%u nodes limits %u %u %u "
			      "%d):\n%s",
			      cost / best, f->n_nodes, job->gpus_per_node,
			      job->min_nodes, job->max_nodes,
			      (int)job->within_level, text);
		tally->worst = fmax(tally->worst, cost / best);
	}
	weft_placement_free(&p);
}

static void small_jobs_get_the_optimum_and_bounds_hold(void **state)
{
	struct tally tally = {.worst = 1};
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++)
		brute_case(&random, compare, &tally);
	print_message("%u of %u placed optimally, worst %.4f of the optimum; "
		      "bound tight in %u\n",
		      tally.n_optimal, tally.n_placed, tally.worst,
		      tally.n_tight);
	assert_true(tally.n_optimal >= 0.97 * tally.n_placed);
	assert_true(tally.worst < 1.1);
	assert_true(tally.n_placed > N_CASES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_jobs_get_the_optimum_and_bounds_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
