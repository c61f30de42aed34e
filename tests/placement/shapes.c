/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shapes.c - placements and bounds against the truth where domains of a level
 * are not alike: rings, tori, and uplinks of which each says its own rate */
#include "placement/exact/place_exact.h"
#include "placement/objective/judge.h"
#include "tests/placement/brute.h"

#define N_SHAPE_CASES  120
#define N_UPLINK_CASES 60
#define MAX_PLACES     12 /* GPUs of a fabric with uplinks */

struct tally {
	uint32_t n_placed, n_optimal;
	double worst;
};

static const char *const shaped[] = {
	"nodes: {\"n[0-11]\": 2}\n"
	"levels: {leaf: {\"leaf[0-5]\": \"n[0-11]\"}}\n"
	"links: {core: {hops: 3}}\n"
	"shapes: {core: ring}\n",
	"nodes: {\"n[0-7]\": 2}\n"
	"levels: {cube: {c0: \"n[0-7]\"}}\n"
	"shapes: {cube: [2, 2, 2]}\n",
	"nodes: {\"n[0-11]\": 1}\n"
	"levels: {ring: {\"r[0-1]\": \"n[0-11]\"}}\n"
	"shapes: {ring: ring}\n",
	"rails: 2\n"
	"nodes: {\"n[0-7]\": 2}\n"
	"levels: {leaf: {\"L[0-7]-r[0-1]\": \"n[0-7]\"}}\n"
	"shapes: {core: [4, 2]}\n",
};
#define N_SHAPED (sizeof(shaped) / sizeof(*shaped))

/* A random job of at most BRUTE_MAX_RANKS on what is free; false: too little
 * is.
 */
static bool random_job(const struct weft_fabric *f, uint64_t *random,
		       uint32_t most, struct weft_occupancy *o,
		       struct weft_job *job, struct text *spec)
{
	uint32_t usable;

	case_random_occupancy(o, f, random, 30);
	usable = weft_occupancy_usable(o);
	usable = usable < most ? usable : most;
	if (usable < 2)
		return false;
	case_random_spec(spec, random,
			 2 + test_random_below(random, usable - 1));
	case_job(spec->at, f, job);
	if (test_random_below(random, 3) == 0)
		brute_random_traffic(job, random);
	return true;
}

static void compare(const struct weft_fabric *f, const struct weft_job *job,
		    const struct weft_occupancy *o,
		    const struct weft_strategy *strategy, const char *text,
		    struct tally *tally)
{
	const struct weft_place_options options = {.strategy = strategy,
						   .work_limit = 1000000};
	struct weft_error err = {0};
	struct weft_placement p;
	double best = brute_optimum(f, job, o), cost;

	weft_place(f, job, o, &options, &p, &err);
	assert_no_error(&err);
	assert_int_equal(p.placed, isfinite(best));
	if (!p.placed) {
		weft_placement_free(&p);
		return;
	}
	brute_check_placement(f, job, o, &p);
	cost = p.cost.total[p.metric];
	if (p.bound > best * (1 + 1e-9) || cost < best * (1 - 1e-9)) {
		print_error("bound %.12g, optimum %.12g, cost %.12g:\n%s",
			    p.bound, best, cost, text);
		fail();
	}
	tally->n_placed++;
	tally->n_optimal += cost <= best * (1 + 1e-9);
	tally->worst = fmax(tally->worst, cost / best);
	weft_placement_free(&p);
}

static void rings_and_tori_get_good_answers_and_true_bounds(void **state)
{
	static struct text fabric, spec;
	struct tally tally[2] = {{.worst = 1}, {.worst = 1}};
	uint64_t random = test_seed();
	/* exact wants a solver */
	int n_methods = weft_exact_is_built() ? 2 : 1;

	(void)state;
	for (uint32_t i = 0; i < N_SHAPE_CASES; i++) {
		struct weft_occupancy o;
		struct weft_job job;
		struct weft_fabric *f;

		fabric.n = 0;
		text_add(&fabric, "weft: fabric/1\n%s", shaped[i % N_SHAPED]);
		f = case_fabric(fabric.at);
		if (random_job(f, &random, 6, &o, &job, &spec)) {
			text_add(&fabric, "# %s\n", spec.at);
			compare(f, &job, &o, NULL, fabric.at, &tally[0]);
			if (n_methods > 1)
				compare(f, &job, &o, &weft_exact, fabric.at,
					&tally[1]);
			weft_job_free(&job);
		}
		weft_occupancy_free(&o);
		weft_fabric_free(f);
	}
	for (int k = 0; k < n_methods; k++) {
		print_message("%s: %u of %u optimal, worst %.4f of it\n",
			      k ? "exact" : "default", tally[k].n_optimal,
			      tally[k].n_placed, tally[k].worst);
		assert_true(tally[k].n_placed > N_SHAPE_CASES / 2);
		assert_true(tally[k].n_optimal >= 0.95 * tally[k].n_placed);
		assert_true(tally[k].worst < 1.2);
	}
}

/* ---- uplinks ---- */

struct least {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o;
	struct weft_judge judge;
	uint32_t where[BRUTE_MAX_RANKS];
	bool taken[MAX_PLACES];
	uint32_t of_node[MAX_PLACES];
	double time_s;
};

/* The least time of the busiest link, of all placements. */
static void least_extend(struct least *x, uint32_t rank)
{
	struct weft_measure measure;

	if (rank == x->job->n_gpus) {
		assert_int_equal(
			weft_judge_measure(&x->judge, x->where, &measure, NULL),
			0);
		x->time_s = fmin(x->time_s, measure.goal);
		return;
	}
	for (uint32_t gpu = 0; gpu < x->f->n_gpus; gpu++) {
		uint32_t n = x->f->gpu_node[gpu];
		uint32_t k = gpu - x->f->nodes[n].first_gpu;

		if (x->taken[gpu] || !(x->o->free[n] >> k & 1) ||
		    x->of_node[n] >= weft_occupancy_give(x->o, n))
			continue;
		x->taken[gpu] = true;
		x->of_node[n]++;
		x->where[rank] = gpu;
		least_extend(x, rank + 1);
		x->of_node[n]--;
		x->taken[gpu] = false;
	}
}

static void random_uplinks(struct text *t, uint64_t *random)
{
	text_add(t, "weft: fabric/1\n"
		    "nodes: {\"n[0-5]\": 2}\n"
		    "levels: {leaf: {\"l[0-2]\": \"n[0-5]\"}}\n"
		    "uplinks:\n");
	for (uint32_t k = 0; k < 6; k++)
		if (test_random_below(random, 2))
			text_add(t, "  n%u: %u GB/s\n", k,
				 1 + test_random_below(random, 100));
	for (uint32_t k = 0; k < 3; k++)
		text_add(t, "  l%u: %u GB/s\n", k,
			 1 + test_random_below(random, 200));
}

static void compare_busiest(const struct weft_fabric *f,
			    const struct weft_job *job,
			    const struct weft_occupancy *o, const char *text,
			    struct tally *tally)
{
	static struct least x;
	const struct weft_objective objective = {.goal = WEFT_GOAL_BUSIEST,
						 .metric = job->spec.metric};
	const struct weft_place_options options = {.objective = &objective};
	struct weft_error err = {0};
	struct weft_placement p;
	double bound = 0, time_s;

	memset(&x, 0, sizeof(x));
	x.f = f;
	x.job = job;
	x.o = o;
	x.time_s = INFINITY;
	weft_judge_build(f, job, NULL, &objective, &x.judge, NULL);
	least_extend(&x, 0);
	weft_place(f, job, o, &options, &p, &err);
	assert_no_error(&err);
	assert_int_equal(p.placed, isfinite(x.time_s));
	if (p.placed) {
		assert_int_equal(
			weft_judge_bound(&x.judge, o, p.bound, &bound, NULL),
			0);
		time_s = p.cost.busiest.time_s;
		if (bound > x.time_s * (1 + 1e-9) ||
		    time_s < x.time_s * (1 - 1e-9)) {
			print_error("bound %g, least %g, found %g:\n%s", bound,
				    x.time_s, time_s, text);
			fail();
		}
		tally->n_placed++;
		tally->n_optimal += time_s <= x.time_s * (1 + 1e-3);
		if (x.time_s > 0)
			tally->worst = fmax(tally->worst, time_s / x.time_s);
	}
	weft_placement_free(&p);
	weft_judge_free(&x.judge);
}

static void uneven_uplinks_get_good_answers_and_true_bounds(void **state)
{
	static struct text fabric, spec;
	struct tally tally = {.worst = 1};
	uint64_t random = test_seed() + 7;

	(void)state;
	for (uint32_t i = 0; i < N_UPLINK_CASES; i++) {
		struct weft_occupancy o;
		struct weft_job job;
		struct weft_fabric *f;

		fabric.n = 0;
		random_uplinks(&fabric, &random);
		f = case_fabric(fabric.at);
		if (random_job(f, &random, 4, &o, &job, &spec)) {
			text_add(&fabric, "# %s\n", spec.at);
			compare_busiest(f, &job, &o, fabric.at, &tally);
			weft_job_free(&job);
		}
		weft_occupancy_free(&o);
		weft_fabric_free(f);
	}
	print_message("busiest link: %u of %u the least, worst %.4f of it\n",
		      tally.n_optimal, tally.n_placed, tally.worst);
	assert_true(tally.n_placed > N_UPLINK_CASES / 2);
	assert_true(tally.n_optimal >= 0.8 * tally.n_placed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			rings_and_tori_get_good_answers_and_true_bounds),
		cmocka_unit_test(
			uneven_uplinks_get_good_answers_and_true_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
