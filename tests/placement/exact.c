/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.c - what is claimed to be the optimum is, and bounds are bounds */
#include "placement/bounds/boundary.h"
#include "placement/exact/excess.h"
#include "placement/exact/grouping.h"
#include "placement/exact/place_exact.h"
#include "placement/exact/proof.h"
#include "tests/placement/brute.h"

#define N_CASES	      500
#define N_BLOCK_CASES 120

struct tally {
	uint32_t n_placed, n_proven;
};

/* A strategy's own answer, without what weft_place compares it with. */
static void compare(const struct weft_fabric *f, const struct weft_job *job,
		    const struct weft_occupancy *o, const char *text,
		    void *count)
{
	struct tally *tally = count;
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

/* All three programs of one way: bounds, and more detail proves more. */
static void check_programs(const struct proof *proof, double best)
{
	double whole[3] = {0};

	for (enum aggregate_detail d = AGGREGATE_SIZES; d <= AGGREGATE_TOLD;
	     d++) {
		const struct program_limits limits = {.cutoff =
							      (double)INFINITY};
		struct program_answer answer = {0};
		struct aggregate a;
		bool too_large;

		assert_int_equal(aggregate_build(&proof->blocks, proof->least,
						 d, &a, &too_large, NULL),
				 0);
		whole[d] = a.offset;
		if (!too_large && a.program.n_columns) {
			assert_int_equal(program_solve(&a.program, &limits,
						       &answer, NULL),
					 0);
			whole[d] = answer.status == PROGRAM_INFEASIBLE
					   ? (double)INFINITY
					   : a.offset + a.scale * answer.value;
		}
		if (!too_large) {
			assert_true(fmin(whole[d], proof->parted) <=
				    best * (1 + 1e-6));
			assert_true(whole[d] >= whole[0] * (1 - 1e-6));
		}
		aggregate_free(&a);
	}
}

/* Every way to take the ranks together, by enumeration and by both programs. */
static void prove_blocks(const struct weft_fabric *f,
			 const struct weft_job *job,
			 const struct weft_occupancy *o, const char *text,
			 void *count)
{
	struct tally *tally = count;
	struct grouping way[GROUPINGS_MAX];
	uint32_t group[BRUTE_MAX_RANKS], where[BRUTE_MAX_RANKS];
	uint32_t n = groupings_list(job, BRUTE_MAX_RANKS, BRUTE_MAX_RANKS, way);
	double best = brute_optimum(f, job, o);
	struct weft_error err = {0};
	struct capacity s = {0};

	assert_int_equal(capacity_build(f, job, o, 1, 0, &s, &err), 0);
	for (uint32_t i = 0; i < n && isfinite(best); i++) {
		struct proof proof = {.s = &s,
				      .effort = {.work = 20000},
				      .known = i % 2 ? (double)INFINITY
						     : best * 1.1,
				      .wants_certificate = true,
				      .where = where};

		grouping_apply(job, &way[i], group);
		assert_int_equal(
			proof_start(&proof, group, way[i].n_groups, &err), 0);
		if (blocks_bins(&proof.blocks))
			check_programs(&proof, best);
		assert_int_equal(proof_run(&proof, &err), 0);
		tally->n_placed++;
		tally->n_proven += proof.bound >= best * (1 - 1e-6);
		if (proof.bound > best * (1 + 1e-6)) {
			print_error("bound %.12g above the optimum %.12g, "
				    "parted %.12g, %u blocks:\n%s",
				    proof.bound, best, proof.parted,
				    way[i].n_groups, text);
			fail();
		}
		proof_free(&proof);
	}
	capacity_free(&s);
}

static void small_jobs_get_the_optimum_and_its_proof(void **state)
{
	struct tally tally = {0};
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++)
		brute_case(&random, compare, &tally);
	print_message("%u of %u placed and proven optimal\n", tally.n_proven,
		      tally.n_placed);
	assert_true(tally.n_placed > N_CASES / 2);
}

static void blocks_and_programs_never_claim_too_much(void **state)
{
	struct tally tally = {0};
	uint64_t random = test_seed() + 1000;

	(void)state;
	for (uint32_t i = 0; i < N_BLOCK_CASES; i++)
		brute_case(&random, prove_blocks, &tally);
	print_message("%u of %u proven\n", tally.n_proven, tally.n_placed);
	assert_true(tally.n_proven > tally.n_placed / 3);
}

/* Random traffic of n ranks, about `degree` edges each. */
static void random_graph(uint64_t *random, uint32_t n, uint32_t degree,
			 struct graph *g)
{
	struct weft_flow flow[128];
	struct weft_traffic t = {0};
	uint32_t m = 0;

	for (uint32_t i = 0; i < degree * n; i++) {
		uint32_t a = test_random_below(random, n);
		uint32_t b = test_random_below(random, n);

		if (a != b)
			flow[m++] = (struct weft_flow){
				a, b, WEFT_AXIS_DP,
				1 + test_random_below(random, 9)};
	}
	assert_int_equal(weft_traffic_from_flows(n, flow, m, &t, NULL), 0);
	assert_int_equal(graph_build(&t, g, NULL), 0);
	weft_traffic_free(&t);
}

static double leaves(const struct graph *g, uint32_t set)
{
	double out = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (set >> v & 1 && !(set >> g->peer[e] & 1))
				out += g->weight[e];
	return out;
}

/* The least boundaries by trying all sets of vertices. */
static void check_boundaries(uint64_t *random)
{
	uint32_t n = 2 + test_random_below(random, 10);
	double least[12], found[12];
	struct graph g = {0};
	bool exact;

	random_graph(random, n, 3, &g);
	for (uint32_t s = 0; s <= n; s++)
		least[s] = INFINITY;
	for (uint32_t set = 0; set < 1u << n; set++) {
		uint32_t s = weft_mask_count(set);

		least[s] = fmin(least[s], leaves(&g, set));
	}
	assert_int_equal(boundary_least(&g, NULL, found, &exact, NULL), 0);
	assert_true(exact);
	for (uint32_t s = 0; s <= n; s++)
		assert_close(found[s], least[s], 1e-12);
	graph_free(&g);
}

static void least_boundaries_are_those_of_all_sets(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 60; i++)
		check_boundaries(&random);
}

/* Blocks are pairs of ranks; sets of up to four. */
static void check_excess(uint64_t *random)
{
	uint32_t n = 2 * (2 + test_random_below(random, 4));
	uint32_t block[12];
	double price = INFINITY, best, least;
	struct effort effort = {.work = UINT64_MAX};
	struct graph g = {0};
	struct excess x = {.g = &g, .block = block, .unit = 2, .most = 4};
	bool complete;

	random_graph(random, n, 2, &g);
	for (uint32_t v = 0; v < n; v++)
		block[v] = v / 2;
	for (uint32_t set = 1; set < 1u << n; set++)
		if ((set & 0x555) == (set >> 1 & 0x555) &&
		    weft_mask_count(set) <= x.most)
			price = fmin(price,
				     leaves(&g, set) / weft_mask_count(set));
	x.price = price;
	x.enough = best = test_random_below(random, 60);
	for (uint32_t set = 1; set < 1u << n; set++)
		if ((set & 0x555) != (set >> 1 & 0x555) &&
		    weft_mask_count(set) <= x.most)
			best = fmin(best, leaves(&g, set) -
						  price * weft_mask_count(set));
	assert_int_equal(excess_least(&x, &effort, &least, &complete, NULL), 0);
	assert_true(complete);
	/* below nothing, sets in several parts may add up to less */
	if (best >= 0)
		assert_close(least + 1, best + 1, 1e-9);
	else
		assert_true(least < 1e-9);
	graph_free(&g);
}

static void sets_that_part_blocks_are_all_looked_at(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		check_excess(&random);
}

static void without_a_solver_that_is_said(void **state)
{
	const struct weft_place_options options = {.strategy = &weft_exact};
	struct weft_fabric *f = case_fabric("weft: fabric/1\nname: small\n"
					    "nodes:\n  n[0-1]: 2\n");
	struct weft_error err = {0};
	struct weft_occupancy o;
	struct weft_placement p;
	struct weft_job job;

	(void)state;
	assert_int_equal(weft_occupancy_build(f, &o, &err), 0);
	case_job("gpus=3", f, &job);
	assert_int_equal(weft_place(f, &job, &o, &options, &p, &err), -1);
	assert_error_says(&err, "needs GLPK");
	weft_placement_free(&p);
	weft_job_free(&job);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest with_solver[] = {
		cmocka_unit_test(sets_that_part_blocks_are_all_looked_at),
		cmocka_unit_test(least_boundaries_are_those_of_all_sets),
		cmocka_unit_test(blocks_and_programs_never_claim_too_much),
		cmocka_unit_test(small_jobs_get_the_optimum_and_its_proof),
	};
	const struct CMUnitTest without_solver[] = {
		cmocka_unit_test(sets_that_part_blocks_are_all_looked_at),
		cmocka_unit_test(least_boundaries_are_those_of_all_sets),
		cmocka_unit_test(without_a_solver_that_is_said),
	};

	if (!weft_exact_is_built())
		return cmocka_run_group_tests(without_solver, NULL, NULL);
	return cmocka_run_group_tests(with_solver, NULL, NULL);
}
