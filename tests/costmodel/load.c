/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - what other jobs send over the links, and what is left of them */
#include "costmodel/load.h"

#include "costmodel/cost.h"
#include "costmodel/step.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Four nodes of two GPUs under two leafs of four GPUs; the leafs' uplinks are
 * half as fast as what is below them. */
static const char fabric_text[] =
	"weft: fabric/1\nname: alpha\nprofile: dgx-h100-superpod\nnodes:\n  "
	"n[0-3]: 2\n"
	"levels:\n  leaf:\n    l0: n[0-1]\n    l1: n[2-3]\n  pod:\n"
	"    p: l[0-1]\nlinks:\n  pod: {oversubscription: 2}\n";

struct fixture {
	struct weft_fabric *f;
	struct weft_load load;
	struct weft_traffic pair; /* rank 0 sends 8 GB to rank 1 */
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	struct weft_flow flow = {0, 1, WEFT_AXIS_DP, 8e9};

	*state = x;
	x->f = weft_fabric_parse(fabric_text, sizeof(fabric_text) - 1, "test",
				 NULL);
	return x->f && weft_load_build(x->f, &x->load, NULL) == 0 &&
			       weft_traffic_from_flows(2, &flow, 1, &x->pair,
						       NULL) == 0
		       ? 0
		       : -1;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	weft_traffic_free(&x->pair);
	weft_load_free(&x->load);
	weft_fabric_free(x->f);
	free(x);
	return 0;
}

static uint32_t leaf_of(const struct fixture *x, uint32_t gpu)
{
	return x->f->gpu_domain[weft_fabric_level(x->f, "leaf")][gpu];
}

/* A job that sends `flows` flows over a directed link for a share `duty` of
 * its time, `rate` bytes a second while it does. */
static struct weft_load_part other_job(uint32_t link, double duty, double flows,
				       double rate)
{
	return (struct weft_load_part){
		.link = link,
		.add = {.duty = duty,
			.flows = duty * flows,
			.rate_bytes_per_s = duty * rate,
			.gpus = duty * 4},
	};
}

static void other_add(struct weft_load *load, struct weft_load_part part)
{
	const struct weft_load_parts parts = {.n = 1, .part = &part};

	weft_load_add(load, &parts);
}

/* A job of four ranks on the fixture's fabric. */
struct job {
	struct weft_spec spec;
	struct weft_model model;
	struct weft_schedule schedule;
};

static void job_open(const char *text, struct job *job)
{
	struct weft_error err = {0};

	weft_spec_parse(text, &job->spec, &err);
	weft_spec_resolve(&job->spec, 4, &err);
	weft_model_find(job->spec.model, &job->model, &err);
	weft_schedule_build(&job->spec, &job->model, &job->schedule, &err);
	assert_no_error(&err);
}

/* Two data-parallel groups, on each leaf a GPU of each: over the uplink and the
 * NICs of both, which are as fast together. */
static void a_job_loads_the_links_it_crosses(void **state)
{
	static const uint32_t where[] = {0, 1, 4, 5};
	struct fixture *x = *state;
	struct weft_load_parts parts = {0};
	struct weft_error err = {0};
	struct weft_step step;
	struct job job;
	struct weft_step_job placed = {
		.fabric = x->f,
		.spec = &job.spec,
		.model = &job.model,
		.schedule = &job.schedule,
		.where = where,
		.parts = &parts,
		.step_s = 10,
	};
	double sent, nic = x->f->levels[1].link.rate_bytes_per_s;

	job_open("tp=2,dp=2,model=llama3-8B", &job);
	weft_step_communication(&placed, &step, &err);
	assert_no_error(&err);
	weft_load_add(&x->load, &parts);
	sent = weft_schedule_bytes(&job.schedule, WEFT_AXIS_DP, 0);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t leaf = leaf_of(x, i < 2 ? 0 : 4);
		const struct weft_load_link *link =
			&x->load.link[2 * leaf + i % 2];

		assert_close(link->rate_bytes_per_s, 2 * sent / 10, 1e-12);
		assert_close(link->duty, sent / nic / 10, 1e-12);
		assert_close(link->flows, 2 * link->duty, 1e-12);
		assert_close(link->gpus, 4 * link->duty, 1e-12);
		assert_close(weft_load_rate(&x->load, leaf, i % 2 == 0),
			     2 * nic / (1 + link->duty), 1e-12);
	}
	weft_load_parts_free(&parts);
	weft_schedule_free(&job.schedule);
}

static void full_links_are_shared_evenly(void **state)
{
	struct fixture *x = *state;
	uint32_t from = leaf_of(x, 0);
	double capacity = weft_cost_uplink_rate(x->f, from);

	for (int n = 1; n <= 3; n++) {
		other_add(&x->load, other_job(2 * from, 1, 1, capacity));
		assert_close(weft_load_rate(&x->load, from, true),
			     capacity / (n + 1), 1e-12);
		assert_close(weft_load_rate(&x->load, from, false), capacity,
			     1e-12);
	}
}

static void the_top_has_no_link(void **state)
{
	struct fixture *x = *state;
	uint32_t top = x->f->levels[x->f->n_levels - 1].first_domain;

	assert_true(isinf(weft_load_rate(&x->load, top, true)));
}

static void a_step_of_no_time_is_refused(void **state)
{
	static const uint32_t where[] = {0, 1, 4, 5};
	static const double bad[] = {0, -1, (double)NAN, (double)INFINITY};
	struct fixture *x = *state;
	struct weft_load_parts parts = {0};
	struct weft_spans spans;
	struct job job;

	job_open("tp=2,dp=2,model=llama3-8B", &job);
	assert_int_equal(weft_spans_build(x->f, &job.schedule, where,
					  job.spec.algorithm, NULL, &spans,
					  NULL),
			 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(
			weft_spans_load(&spans, bad[i], 4, &parts, &err), -1);
		assert_error_says(&err, "s says nothing of the load");
		assert_int_equal(parts.n, 0);
	}
	weft_spans_free(&spans);
	weft_schedule_free(&job.schedule);
}

static void without_jobs_nothing_costs_more(void **state)
{
	struct fixture *x = *state;
	const uint32_t where[] = {0, 4};
	struct weft_cost alone, shared;

	assert_int_equal(weft_cost(x->f, &x->pair, where, NULL, &alone, NULL),
			 0);
	assert_int_equal(weft_cost_shared(&x->load, &x->pair, where, NULL,
					  &shared, NULL),
			 0);
	assert_memory_equal(&alone, &shared, sizeof(alone));
}

/* A link that looks idle to the job may be the busiest because of others. */
static void the_busiest_link_is_the_one_with_the_least_left(void **state)
{
	struct fixture *x = *state;
	const uint32_t where[] = {0, 4};
	struct weft_cost alone, shared;
	uint32_t from = leaf_of(x, 0);
	double rate = weft_cost_uplink_rate(x->f, from);

	for (int i = 0; i < 2; i++)
		other_add(&x->load, other_job(2 * from, 1, 1, rate));
	assert_int_equal(weft_cost(x->f, &x->pair, where, NULL, &alone, NULL),
			 0);
	assert_int_equal(weft_cost_shared(&x->load, &x->pair, where, NULL,
					  &shared, NULL),
			 0);
	rate = weft_load_rate(&x->load, from, true);
	assert_true(rate < weft_cost_uplink_rate(x->f, from));
	assert_int_equal(shared.busiest.level, weft_fabric_level(x->f, "leaf"));
	assert_close(shared.busiest.time_s, 8e9 / rate, 1e-12);
	assert_true(shared.busiest.time_s > alone.busiest.time_s);
	assert_close(shared.total[WEFT_TIME], alone.total[WEFT_TIME], 0);
}

static double step_s(const struct fixture *x, const struct weft_load *load)
{
	static const uint32_t where[] = {0, 1, 4, 5};
	struct job job;
	const struct weft_step_job placed = {
		.fabric = x->f,
		.spec = &job.spec,
		.model = &job.model,
		.schedule = &job.schedule,
		.where = where,
		.load = load,
	};
	const struct weft_step_options options = {
		.gpu = weft_gpu_of_profile(x->f->profile)};
	struct weft_error err = {0};
	struct weft_step step;

	job_open("tp=2,dp=2,model=llama3-8B", &job);
	weft_step(&placed, &options, &step, &err);
	assert_no_error(&err);
	weft_schedule_free(&job.schedule);
	return step.step_s;
}

static void steps_take_longer_beside_others(void **state)
{
	struct fixture *x = *state;
	uint32_t from = leaf_of(x, 2);
	double alone = step_s(x, NULL);

	assert_close(step_s(x, &x->load), alone, 0);
	other_add(&x->load,
		  other_job(2 * from, 1, 2, weft_cost_uplink_rate(x->f, from)));
	assert_true(step_s(x, &x->load) > alone * 1.001);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_job_loads_the_links_it_crosses),
		TEST(full_links_are_shared_evenly),
		TEST(the_top_has_no_link),
		TEST(a_step_of_no_time_is_refused),
		TEST(without_jobs_nothing_costs_more),
		TEST(the_busiest_link_is_the_one_with_the_least_left),
		TEST(steps_take_longer_beside_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
