/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.c - what is claimed to be the optimum is, and bounds are bounds */
#include "placement/place_exact.h"
#include "tests/placement/brute.h"

#define N_CASES 500

struct tally {
	uint32_t n_placed, n_proven;
};

/* A strategy's own answer, without what weft_place compares it with. */
static void compare(const struct weft_fabric *f, const struct weft_job *job,
		    const struct weft_occupancy *o, const char *text,
		    struct tally *tally)
{
	const struct weft_place_options options = {.strategy = &weft_exact,
						   .work_limit = 1000000};
	struct weft_error err = {0};
	struct weft_placement p;
	double best = brute_optimum(f, job, o), cost;

	weft_place(f, job, o, &options, &p, &err);
	assert_no_error(&err);
	if (isinf(best)) {
		assert_false(p.placed);
		weft_placement_free(&p);
		return;
	}
	if (!p.placed) {
		print_error("no placement found, but there is one:\n%s", text);
		fail();
	}
	brute_check_placement(f, job, o, &p);
	cost = p.cost.total[p.metric];
	tally->n_placed++;
	tally->n_proven += p.gap < 1e-9;
	if (cost > best * (1 + 1e-9) || cost < best * (1 - 1e-9) ||
	    p.bound > best * (1 + 1e-9) || p.gap > 1e-9) {
		print_error("optimum %.12g, cost %.12g, bound %.12g:\n%s", best,
			    cost, p.bound, text);
		fail();
	}
	weft_placement_free(&p);
}

static void run_case(uint64_t *random, struct tally *tally)
{
	static const struct case_shape shape = {2, 6, 4, true};
	static struct text fabric, spec;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_fabric *f;
	uint32_t usable;

	case_random_fabric(&fabric, random, &shape);
	f = case_fabric(fabric.at);
	case_random_occupancy(&o, f, random, 30);
	usable = weft_occupancy_usable(&o);
	usable = usable < BRUTE_MAX_RANKS ? usable : BRUTE_MAX_RANKS;
	if (usable >= 2) {
		case_random_spec(&spec, random,
				 2 + test_random_below(random, usable - 1));
		case_job(spec.at, f, &job);
		if (test_random_below(random, 4) == 0)
			brute_random_traffic(&job, random);
		brute_random_limits(&job, &o, random);
		text_add(&fabric, "# %s\n#", spec.at);
		for (uint32_t i = 0; i < f->n_nodes; i++)
			text_add(&fabric, " %s:%u/%x", f->nodes[i].name,
				 o.usable[i], (unsigned)o.free[i]);
		text_add(&fabric, " usable/free; limits %u %u %u %d\n",
			 job.gpus_per_node, job.min_nodes, job.max_nodes,
			 (int)job.within_level);
		compare(f, &job, &o, fabric.at, tally);
		weft_job_free(&job);
	}
	weft_occupancy_free(&o);
	weft_fabric_free(f);
}

static void small_jobs_get_the_optimum_and_its_proof(void **state)
{
	struct tally tally = {0};
	uint64_t random = test_seed();

	(void)state;
	if (!weft_exact_is_built()) {
		print_message("skipped: built without GLPK\n");
		skip();
	}
	for (uint32_t i = 0; i < N_CASES; i++)
		run_case(&random, &tally);
	print_message("%u of %u placed and proven optimal\n", tally.n_proven,
		      tally.n_placed);
	assert_true(tally.n_placed > N_CASES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_jobs_get_the_optimum_and_its_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
