/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_load.c - jobs' traffic comes and goes */
#include "plugin/bridge/running/link_load.h"

#include "costmodel/time/cost.h"
#include "costmodel/time/step.h"
#include "placement/job.h"
#include "placement/objective/objective.h"
#include "plugin/bridge/bridge.h"
#include "tests/lib/fabric.h"

#include <stdlib.h>

struct world {
	struct weft_fabric *fabric;
	struct weft_job job; /* on GPUs 0 to 31, two leafs */
	uint32_t where[32];
	struct weft_link_load loads;
};

static int setup(void **state)
{
	static struct world w;
	struct weft_error err = {0};

	w.fabric = test_synth("leaf:4 node:2 gpu:8", NULL);
	if (weft_job_build("tp=8,dp=4", 32, false, w.fabric, &w.job, &err) < 0)
		return -1;
	for (uint32_t r = 0; r < 32; r++)
		w.where[r] = r;
	*state = &w;
	return weft_link_load_build(w.fabric, &w.loads, &err);
}

static int teardown(void **state)
{
	struct world *w = *state;

	weft_link_load_free(&w->loads);
	weft_job_free(&w->job);
	weft_fabric_free(w->fabric);
	return 0;
}

/* What the job sends in steps of step_s. */
static struct weft_load_parts parts_of(const struct world *w, double step_s)
{
	struct weft_load_parts parts = {0};
	const struct weft_step_job placed = {
		.fabric = w->fabric,
		.spec = &w->job.spec,
		.model = &w->job.model,
		.schedule = &w->job.schedule,
		.where = w->where,
		.parts = &parts,
		.step_s = step_s,
	};
	struct weft_step step;

	assert_int_equal(weft_step_communication(&placed, &step, NULL), 0);
	assert_true(parts.n > 0);
	return parts;
}

static void put(struct world *w, uint32_t job_id, double step_s)
{
	struct weft_load_parts parts = parts_of(w, step_s);

	assert_int_equal(weft_link_load_put(&w->loads, job_id, &parts, NULL),
			 0);
	assert_null(parts.part);
}

/* The domain of GPU 0 just below the top. */
static uint32_t outer(const struct world *w)
{
	return w->fabric->gpu_domain[w->fabric->n_levels - 2][0];
}

static void the_sum_is_that_of_the_library(void **state)
{
	struct world *w = *state;
	struct weft_load load;

	assert_int_equal(weft_load_build(w->fabric, &load, NULL), 0);
	for (uint32_t job = 1; job <= 3; job++) {
		struct weft_load_parts parts = parts_of(w, job);

		put(w, job, job);
		weft_load_add(&load, &parts);
		weft_load_parts_free(&parts);
	}
	for (uint32_t i = 0; i < 2 * w->fabric->n_domains; i++) {
		const struct weft_load_link *a = &w->loads.total.link[i];
		const struct weft_load_link *b = &load.link[i];

		assert_close(a->duty, b->duty, 1e-12);
		assert_close(a->flows, b->flows, 1e-12);
		assert_close(a->rate_bytes_per_s, b->rate_bytes_per_s, 1e-12);
		assert_close(a->gpus, b->gpus, 1e-12);
		assert_int_equal(w->loads.total.n_parts[i], load.n_parts[i]);
	}
	assert_true(load.link[2 * outer(w)].rate_bytes_per_s > 0);
	weft_load_free(&load);
}

static void nothing_is_left_when_all_have_ended(void **state)
{
	struct world *w = *state;

	assert_null(weft_link_load_total(&w->loads));
	for (uint32_t job = 1; job <= 200; job++)
		put(w, job, 0.1 * job);
	put(w, 7, 3);
	assert_int_equal(w->loads.n, 200);
	assert_non_null(weft_link_load_total(&w->loads));
	for (uint32_t job = 1; job <= 200; job++)
		weft_link_load_drop(&w->loads, job);
	weft_link_load_drop(&w->loads, 7);
	assert_null(weft_link_load_total(&w->loads));
	for (uint32_t i = 0; i < 2 * w->fabric->n_domains; i++) {
		const struct weft_load_link *link = &w->loads.total.link[i];

		assert_true(link->duty == 0 && link->flows == 0 &&
			    link->rate_bytes_per_s == 0 && link->gpus == 0 &&
			    w->loads.total.n_parts[i] == 0);
	}
}

static void an_ill_link_has_its_share_left(void **state)
{
	static const double factors[] = {1.25, 2, 3.5, 40};
	struct world *w = *state;
	struct weft_health health = {.n_domains = w->fabric->n_domains};
	uint32_t d = outer(w);
	double rate = weft_cost_uplink_rate(w->fabric, d);

	health.link = weft_calloc(health.n_domains, sizeof(double), NULL);
	assert_non_null(health.link);
	for (uint32_t k = 0; k < health.n_domains; k++)
		health.link[k] = 1;
	for (size_t k = 0; k < sizeof(factors) / sizeof(factors[0]); k++) {
		health.link[d] = factors[k];
		weft_link_load_ill(&w->loads, &health);
		assert_close(weft_load_rate(weft_link_load_total(&w->loads), d,
					    true),
			     rate / factors[k], 1e-9);
		assert_close(weft_load_rate(weft_link_load_total(&w->loads),
					    d + 1, true),
			     weft_cost_uplink_rate(w->fabric, d + 1), 1e-9);
	}
	weft_link_load_ill(&w->loads, NULL);
	assert_null(weft_link_load_total(&w->loads));
	free(health.link);
}

/* Leafs of the plan for four nodes. */
static bool uses_leaf(const struct world *w, const struct weft_placement *p,
		      uint32_t leaf)
{
	for (uint32_t k = 0; k < p->n_nodes; k++)
		if (w->fabric->nodes[p->nodes[k]].first_gpu / 16 == leaf)
			return true;
	return false;
}

static void placing_keeps_off_links_that_are_in_use(void **state)
{
	struct world *w = *state;
	struct weft_settings settings = {.fabric = w->fabric};
	struct weft_bridge bridge = {.settings = &settings};
	const struct weft_request request = {.spec = "dp=32,zero=1"};
	const struct weft_shape shape = {32, 8, 4, 4};
	struct weft_placement p = {0};
	struct weft_occupancy o;

	assert_int_equal(weft_occupancy_build(w->fabric, &o, NULL), 0);
	put(w, 1, 1e-3);
	bridge.load = weft_link_load_total(&w->loads);
	assert_int_equal(
		weft_bridge_place(&bridge, &request, &shape, &o, 0, &p, NULL),
		0);
	assert_true(p.placed);
	assert_false(uses_leaf(w, &p, 0));
	assert_false(uses_leaf(w, &p, 1));
	weft_placement_free(&p);
	weft_occupancy_free(&o);
	weft_bridge_clear(&bridge);
}

static void a_running_job_sends_where_all_is_known(void **state)
{
	struct world *w = *state;
	struct weft_settings settings = {.fabric = w->fabric};
	struct weft_bridge bridge = {.settings = &settings};
	struct weft_load_parts parts = {0}, none = {0};

	assert_int_equal(weft_bridge_running(&bridge, "tp=8,dp=4", w->where, 32,
					     &parts, NULL),
			 0);
	assert_true(parts.n > 0);
	for (uint32_t i = 0; i < parts.n; i++)
		assert_true(parts.part[i].add.duty > 0 &&
			    parts.part[i].add.duty <= 1);
	/* without a spec it is taken for one data-parallel group */
	weft_load_parts_free(&parts);
	assert_int_equal(
		weft_bridge_running(&bridge, NULL, w->where, 32, &parts, NULL),
		0);
	for (uint32_t i = 0; i < parts.n; i++)
		assert_true(parts.part[i].add.duty <=
			    WEFT_ASSUMED_SHARE * (1 + 1e-9));
	assert_true(parts.n > 0);
	assert_int_equal(weft_bridge_running(&bridge, "tp=3,dp=7", w->where, 32,
					     &none, NULL),
			 -1);
	w->where[5] = WEFT_NONE;
	assert_int_equal(weft_bridge_running(&bridge, "tp=8,dp=4", w->where, 32,
					     &none, NULL),
			 -1);
	assert_int_equal(none.n, 0);
	weft_load_parts_free(&parts);
	weft_load_parts_free(&none);
	weft_bridge_clear(&bridge);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_sum_is_that_of_the_library),
		CASE(nothing_is_left_when_all_have_ended),
		CASE(an_ill_link_has_its_share_left),
		CASE(placing_keeps_off_links_that_are_in_use),
		CASE(a_running_job_sends_where_all_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
