/* SPDX-License-Identifier: GPL-3.0-or-later */
/* out_of_memory.c - each allocation of traffic, cost and flows fails in turn */
#include "costmodel/time/cost.h"
#include "costmodel/time/health.h"
#include "costmodel/time/step.h"

#include "tests/lib/fabric.h"
#include "tests/lib/failing.h"
#include "tests/lib/traffic.h"

#include <stdbool.h>
#include <string.h>

static const char two_leafs[] = "weft: fabric/1\n"
				"profile: dgx-h100-superpod\n"
				"nodes:\n"
				"  n[0-3]: 4\n"
				"levels:\n"
				"  leaf:\n"
				"    L[0-1]: n[0-3]\n"
				"  pod:\n"
				"    P0: L[0-1]\n";

static void spec_build(const char *text, struct weft_spec *spec,
		       struct weft_model *model, struct weft_grid *grid)
{
	struct weft_error err = {0};

	weft_spec_parse(text, spec, &err);
	weft_spec_resolve(spec, 0, &err);
	weft_model_find(spec->model, model, &err);
	weft_spec_grid(spec, grid, &err);
	assert_no_error(&err);
}

/* Fails the n-th allocation of traffic and cost.  True once none failed. */
static bool try_with(int n, const char *text, const struct weft_fabric *f,
		     struct weft_cost_scratch *scratch, struct weft_cost *cost)
{
	struct weft_flow flows[] = {{0, 1, WEFT_AXIS_TP, 1}};
	struct weft_traffic traffic = {0}, loose = {0};
	struct weft_error err = {0};
	struct weft_model model;
	struct weft_spec spec;
	struct weft_grid grid;
	uint32_t where[16];
	int rc;

	for (uint32_t r = 0; r < 16; r++)
		where[r] = 15 - r;
	spec_build(text, &spec, &model, &grid);
	left = n;
	rc = weft_traffic_from_flows(2, flows, 1, &loose, &err);
	if (!rc)
		rc = traffic_of_spec(&spec, &model, &traffic, &err);
	if (!rc)
		rc = weft_cost(f, &traffic, where, NULL, cost, &err);
	if (!rc)
		rc = weft_cost(f, &traffic, where, scratch, cost, &err);
	left = -1;
	assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
	weft_traffic_free(&traffic);
	weft_traffic_free(&loose);
	return rc == 0;
}

static void each_failed_allocation_is_reported(void **state)
{
	struct weft_cost_scratch scratch = {0};
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(two_leafs);
	struct weft_cost cost;
	static const char *const jobs[] = {
		"tp=4,pp=2,dp=2", "tp=4,pp=2,dp=2,algorithm=in-network",
		"dp=16,ep=8,model=grok1-314B,algorithm=tree"};

	(void)state;
	assert_no_error(&err);
	for (size_t i = 0; i < 3; i++) {
		int n = 0;

		/* One scratch for all tries: a failure must leave it usable. */
		while (!try_with(n, jobs[i], f, &scratch, &cost))
			n++;
		assert_true(n >= 16);
	}
	assert_true(cost.total[WEFT_TIME] > 0);
	weft_cost_scratch_free(&scratch);
	weft_fabric_free(f);
}

/* The same for what a job sends, beside itself. */
static bool try_communication(int n, const char *text,
			      const struct weft_fabric *f,
			      struct weft_step *step)
{
	struct weft_load_parts parts = {0}, again = {0};
	struct weft_load load = {0};
	struct weft_error err = {0};
	struct weft_model model;
	struct weft_spec spec;
	struct weft_grid grid;
	uint32_t where[16];
	struct weft_step_job job = {
		.fabric = f,
		.spec = &spec,
		.model = &model,
		.where = where,
		.parts = &parts,
		.step_s = 10,
	};
	int rc;

	for (uint32_t r = 0; r < 16; r++)
		where[r] = 15 - r;
	spec_build(text, &spec, &model, &grid);
	left = n;
	rc = weft_step_communication(&job, step, &err);
	if (!rc)
		rc = weft_load_build(f, &load, &err);
	if (!rc) {
		weft_load_add(&load, &parts);
		job.load = &load;
		job.parts = &again;
		rc = weft_step_communication(&job, step, &err);
	}
	left = -1;
	assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
	weft_load_parts_free(&parts);
	weft_load_parts_free(&again);
	weft_load_free(&load);
	return rc == 0;
}

static void communication_reports_each_failed_allocation(void **state)
{
	static const char *const jobs[] = {
		"tp=4,pp=2,dp=2", "dp=16,ep=8,model=grok1-314B,algorithm=tree"};
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(two_leafs);
	struct weft_step step;

	(void)state;
	assert_no_error(&err);
	for (size_t i = 0; i < 2; i++) {
		int n = 0;

		while (!try_communication(n, jobs[i], f, &step))
			n++;
		assert_true(n >= 25);
		assert_true(step.lost_gpu_s > 0);
	}
	weft_fabric_free(f);
}

/* The same for reading which nodes are slow, and what that does to a job. */
static bool try_health(int n, const struct weft_fabric *f,
		       struct weft_slowdown *slowdown)
{
	static const char table[] = "node,factor\nn[1,3],1.5\n";
	struct weft_health health = {0};
	struct weft_error err = {0};
	struct weft_model model;
	struct weft_spec spec;
	struct weft_grid grid;
	uint32_t where[16];
	int rc;

	for (uint32_t r = 0; r < 16; r++)
		where[r] = r;
	spec_build("tp=4,pp=2,dp=2", &spec, &model, &grid);
	left = n;
	rc = weft_health_parse(table, strlen(table), "h.csv", f, &health, &err);
	if (!rc)
		rc = weft_health_slowdown(&health, f, &spec, &grid, where,
					  slowdown, &err);
	left = -1;
	assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
	weft_health_free(&health);
	return rc == 0;
}

static void health_reports_each_failed_allocation(void **state)
{
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(two_leafs);
	struct weft_slowdown slowdown;
	int n = 0;

	(void)state;
	assert_no_error(&err);
	while (!try_health(n, f, &slowdown))
		n++;
	assert_true(n >= 4);
	assert_close(slowdown.factor, 1.5, 1e-12);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_failed_allocation_is_reported),
		cmocka_unit_test(communication_reports_each_failed_allocation),
		cmocka_unit_test(health_reports_each_failed_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
