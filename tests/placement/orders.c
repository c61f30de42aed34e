/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orders.c - rank orders: what they cost, and which suits a part of a job */
#include "base/clock.h"
#include "placement/objective/bound.h"
#include "placement/objective/judge.h"
#include "placement/ranks/arrange.h"
#include "placement/ranks/replicas.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <math.h>

/* Groups of 8 ranks have experts, those of 4 tensors: cliques that lie in a run
 * and others that do not. */
static const char experts[] = "gpus=256,tp=4,pp=2,ep=8,model=mixtral-8x22b";

struct fixture {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct capacity s;
	struct weft_judge judge;
	struct arranger a;
	uint32_t gpus[256];
};

static int setup(void **state)
{
	const struct weft_place_options options = {0};
	struct fixture *x = calloc(1, sizeof(*x));
	struct weft_objective objective;
	struct weft_error err = {0};
	char *text = weft_synth("pod:2 leaf:4 node:5 gpu:8", NULL, &err);

	assert_no_error(&err);
	x->f = case_fabric(text);
	free(text);
	case_job(experts, x->f, &x->job);
	objective = weft_objective_of_spec(&x->job.spec);
	weft_occupancy_build(x->f, &x->o, &err);
	capacity_build(x->f, &x->job, &x->o, 1, 0, &x->s, &err);
	weft_judge_build(x->f, &x->job, NULL, &objective, &x->judge, &err);
	x->s.judge = &x->judge;
	arranger_build(&x->s, &options, 0, &x->a, &err);
	assert_no_error(&err);
	/* leaves have 40 GPUs, so that runs of 8 cross no border */
	for (uint32_t i = 0; i < x->job.n_gpus; i++)
		x->gpus[i] = i + i / 32 * 8;
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	arranger_free(&x->a);
	weft_judge_free(&x->judge);
	capacity_free(&x->s);
	weft_job_free(&x->job);
	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
	free(x);
	return 0;
}

static void place_in_order(const struct fixture *x, uint32_t k, uint32_t *where)
{
	for (uint32_t i = 0; i < x->job.n_gpus; i++)
		where[x->a.orders.rank[k][i]] = x->gpus[i];
}

static void orders_cost_what_their_placements_do(void **state)
{
	static const uint32_t blocks[] = {8, 4, 1};
	struct fixture *x = *state;
	struct weft_error err = {0};
	uint32_t where[256], order;
	double least;

	assert_true(orders_traffic(&x->a.orders)->n > 0);
	for (uint32_t i = 0; i < 3; i++) {
		arrange_price(&x->a, x->gpus, blocks[i], &least, &order, &err);
		for (uint32_t k = 0; k < x->a.orders.n; k++) {
			struct weft_cost cost;

			place_in_order(x, k, where);
			weft_cost(x->f, &x->job.traffic, where,
				  &x->judge.scratch, &cost, &err);
			assert_close(x->a.cost[k],
				     cost.total[x->job.spec.metric], 1e-6);
		}
	}
	assert_no_error(&err);
}

/* Graphs of a job have a million edges, and slurmctld waits. */
static void graphs_of_orders_keep_to_a_deadline(void **state)
{
	const struct fixture *x = *state;
	const uint32_t name[] = {3, 1, 0, 2};
	struct weft_error err = {0}, late = {0};
	struct graph g, parts, half;
	uint32_t part[256];

	for (uint32_t r = 0; r < x->job.n_gpus; r++)
		part[r] = r / 64;
	graph_build(&x->job.traffic, &g, &err);
	graph_contract(&g, part, 4, &parts, &err);
	assert_no_error(&err);
	weft_deadline_set(1e-9);
	assert_int_equal(graph_rename_half(&parts, name, &half, &late), -1);
	assert_int_equal(late.code, WEFT_ELATE);
	graph_free(&half);
	assert_int_equal(graph_halve(&parts, &late), -1);
	weft_deadline_set(0);
	graph_free(&parts);
	graph_free(&g);
}

static void each_kind_of_order_is_met_once(void **state)
{
	struct fixture *x = *state;
	bool tried[ORDERS_MAX] = {false};
	struct weft_error err = {0};
	double least, last = 0;
	uint32_t order, k, n = 0;

	arrange_price(&x->a, x->gpus, 8, &least, &order, &err);
	while ((k = arrange_next_kind(&x->a, tried, 4 * least)) != WEFT_NONE) {
		assert_true(x->a.cost[k] > last * (1 + 1e-3));
		last = x->a.cost[k];
		tried[k] = true;
		n++;
	}
	assert_in_range(n, 2, x->a.orders.n);
}

static void replicas_tell_the_order_of_the_whole(void **state)
{
	struct fixture *x = *state;
	struct weft_error err = {0};
	struct weft_measure told, cheapest;
	uint32_t where[256], order, best;
	double least;

	arrange_price(&x->a, x->gpus, 8, &least, &order, &err);
	replicas_find_order(&x->a, x->gpus, 4 * least, &best, &err);
	assert_no_error(&err);
	assert_int_not_equal(best, WEFT_NONE);
	place_in_order(x, best, where);
	weft_judge_measure(&x->judge, where, &told, &err);
	for (uint32_t k = 0; k < x->a.orders.n; k++) {
		place_in_order(x, k, where);
		weft_judge_measure(&x->judge, where, &cheapest, &err);
		assert_true(told.value <= cheapest.value * 1.03);
	}
	assert_no_error(&err);
}

/* Lines of 8 and of 64, parts of lines, in two axes at once, not in all stages;
 * gradients that are reduced in trees. */
static const char *const in_cliques[] = {
	experts,
	"gpus=256,pp=4,ep=64,model=deepseek-v3",
	"gpus=256,pp=4,ep=16,model=deepseek-v3",
	"gpus=256,pp=32,ep=8,model=deepseek-v3",
	"gpus=256,tp=2,cp=4,ep=8,model=mixtral-8x22b",
	"gpus=256,tp=4,cp=8,ep=8,etp=1,model=mixtral-8x22b",
	"gpus=240,tp=2,pp=5,ep=8,model=mixtral-8x22b",
};

static void measure_bound(const struct fixture *x, const struct weft_job *job,
			  double bound[WEFT_N_METRICS],
			  double crossing[WEFT_MAX_LEVELS])
{
	struct weft_error err = {0};
	struct capacity s = {0};

	capacity_build(x->f, job, &x->o, 1, 0, &s, &err);
	bound_measure(&s, bound, crossing, &err);
	assert_no_error(&err);
	capacity_free(&s);
}

static void cliques_bound_as_much_as_their_pairs(void **state)
{
	const struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(in_cliques) / sizeof(*in_cliques); i++) {
		double bound[2][WEFT_N_METRICS], crossing[2][WEFT_MAX_LEVELS];
		struct weft_job job, pairs;

		case_job(in_cliques[i], x->f, &job);
		assert_non_null(job.traffic.loose);
		measure_bound(x, &job, bound[0], crossing[0]);
		assert_int_equal(weft_traffic_expand(&job.traffic, NULL), 0);
		pairs = job;
		pairs.traffic.loose = NULL;
		pairs.traffic.n_cliques = 0;
		measure_bound(x, &pairs, bound[1], crossing[1]);
		for (uint32_t m = 0; m < WEFT_N_METRICS; m++)
			assert_close(bound[0][m], bound[1][m], 1e-12);
		for (uint32_t l = 0; l + 1 < x->f->n_levels; l++)
			assert_close(crossing[0][l], crossing[1][l], 1e-12);
		assert_true(crossing[0][0] > 0);
		weft_job_free(&job);
	}
}

static double weight_between(const struct graph *g, uint32_t a, uint32_t b)
{
	for (uint32_t e = g->row[a]; e < g->row[a + 1]; e++)
		if (g->peer[e] == b)
			return g->weight[e];
	return 0;
}

static void cliques_and_loose_edges_are_all_pairs(void **state)
{
	const struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(in_cliques) / sizeof(*in_cliques); i++) {
		struct weft_error err = {0};
		const struct graph *whole;
		struct cliques c = {0};
		struct graph g = {0};
		struct weft_job job;

		case_job(in_cliques[i], x->f, &job);
		graph_build(&job.traffic, &g, &err);
		cliques_build(&job.traffic, &c, &err);
		whole = cliques_whole(&c, &err);
		assert_no_error(&err);
		assert_int_equal(whole->n_edges, g.n_edges);
		for (uint32_t v = 0; v < g.n; v++) {
			assert_int_equal(whole->row[v + 1], g.row[v + 1]);
			for (uint32_t e = g.row[v]; e < g.row[v + 1]; e++) {
				uint32_t u = g.peer[e];

				assert_close(weight_between(whole, v, u),
					     g.weight[e], 1e-12);
				assert_close(cliques_weight(&c, v, u),
					     g.weight[e], 1e-12);
			}
		}
		cliques_free(&c);
		graph_free(&g);
		weft_job_free(&job);
	}
}

static void assert_runs(const struct nest *nest, uint32_t n,
			const struct nest *expected)
{
	struct nest runs;

	assert_true(nest_runs(nest, n, &runs));
	assert_memory_equal(&runs, expected, sizeof(runs));
}

static void runs_are_told_by_the_inner_axes_in_any_order(void **state)
{
	const struct nest natural = {3, {2, 4, 8}, {1, 2, 8}};
	const struct nest swapped = {3, {4, 2, 8}, {2, 1, 8}};
	const struct nest outer = {3, {8, 2, 4}, {8, 1, 2}};
	const struct nest six = {2, {6, 8}, {1, 6}};
	const struct nest eight = {1, {8}, {1}}, four = {1, {4}, {1}};
	const struct nest apart = {2, {2, 2}, {1, 8}};
	struct nest runs;

	(void)state;
	assert_runs(&natural, 8, &eight);
	assert_runs(&swapped, 8, &eight);
	assert_runs(&natural, 4, &four);
	assert_runs(&outer, 8, &(struct nest){1, {8}, {8}});
	assert_runs(&(struct nest){3, {2, 2, 4}, {8, 1, 2}}, 4, &apart);
	assert_runs(&natural, 1, &(struct nest){0});
	assert_false(nest_runs(&six, 4, &runs));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			cliques_and_loose_edges_are_all_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(
			cliques_bound_as_much_as_their_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(
			orders_cost_what_their_placements_do, setup, teardown),
		cmocka_unit_test_setup_teardown(
			graphs_of_orders_keep_to_a_deadline, setup, teardown),
		cmocka_unit_test_setup_teardown(each_kind_of_order_is_met_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			replicas_tell_the_order_of_the_whole, setup, teardown),
		cmocka_unit_test(runs_are_told_by_the_inner_axes_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
