/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orders.c - rank orders: what they cost, and which suits a part of a job */
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

	assert_true(x->a.orders.cliques.n > 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			orders_cost_what_their_placements_do, setup, teardown),
		cmocka_unit_test_setup_teardown(each_kind_of_order_is_met_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			replicas_tell_the_order_of_the_whole, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
