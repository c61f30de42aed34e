/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.c - what other jobs send over the links, and what is left of them */
#include "costmodel/time/load.h"
#include "base/compare.h"

#include "costmodel/time/cost.h"
#include "costmodel/time/step.h"
#include "tests/lib/check.h"
#include "tests/lib/traffic.h"

#include <math.h>
#include <stdlib.h>

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
	sent = schedule_bytes(&job.schedule, WEFT_AXIS_DP, 0);
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

/* Messages as long as what a flow that always sends keeps in the queue: while
 * one of them passes, that one passes twice as much. */
static void short_messages_count_for_part_of_a_flow(void **state)
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
	double n_calls = 0;

	job_open("tp=2,dp=2,zero=1,model=llama3-8B", &job);
	for (uint32_t i = 0; i < job.schedule.n_calls; i++)
		if (job.schedule.calls[i].axis == WEFT_AXIS_DP)
			n_calls += job.schedule.calls[i].count;
	x->f->levels[weft_fabric_level(x->f, "pod")].queue_bytes =
		schedule_bytes(&job.schedule, WEFT_AXIS_DP, 0) / n_calls;
	weft_step_communication(&placed, &step, &err);
	assert_no_error(&err);
	weft_load_add(&x->load, &parts);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t leaf = leaf_of(x, i < 2 ? 0 : 4);
		const struct weft_load_link *link =
			&x->load.link[2 * leaf + i % 2];

		assert_true(link->duty > 0);
		assert_close(link->flows, 2 * link->duty / 2, 1e-12);
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

/* ---- a call beside other jobs ---- */

/* Seconds of a call that takes one second alone, sending n_flows flows at a
 * share `rate` of the uplink of GPU 0's leaf. */
static double call_s(const struct fixture *x, double n_flows, double rate,
		     double *lost_gpu_s)
{
	uint32_t leaf = leaf_of(x, 0);
	const struct weft_load_call call = {
		.link = 2 * leaf,
		.bytes = rate * weft_cost_uplink_rate(x->f, leaf),
		.n_flows = n_flows,
		.alone_s = 1,
	};

	return weft_load_call_s(&x->load, &call, lost_gpu_s);
}

/* Another job, its rate as a share of the uplink. */
static void beside(struct fixture *x, double duty, double flows, double rate)
{
	uint32_t leaf = leaf_of(x, 0);

	other_add(&x->load,
		  other_job(2 * leaf, duty, flows,
			    rate * weft_cost_uplink_rate(x->f, leaf)));
}

static void one_job_that_always_sends_doubles_the_time(void **state)
{
	struct fixture *x = *state;
	double lost_gpu_s;

	assert_close(call_s(x, 4, 1, &lost_gpu_s), 1, 1e-12);
	assert_close(lost_gpu_s, 0, 0);
	beside(x, 1, 4, 1);
	assert_close(call_s(x, 4, 1, &lost_gpu_s), 2, 1e-12);
	/* four GPUs at half their pace for two seconds */
	assert_close(lost_gpu_s, 4, 1e-12);
}

static void links_are_shared_flow_by_flow(void **state)
{
	struct fixture *x = *state;
	double lost_gpu_s;

	beside(x, 1, 6, 1);
	assert_close(call_s(x, 2, 1, &lost_gpu_s), 4, 1e-12);
	assert_close(lost_gpu_s, 4 * 4 * 0.25, 1e-12);
	assert_close(call_s(x, 18, 1, &lost_gpu_s), 4.0 / 3, 1e-12);
	assert_close(lost_gpu_s, 4.0 / 3 * 4 * 0.75, 1e-12);
}

/* Its NIC lets one through a third of the link, whatever it could have. */
static void a_job_held_up_by_its_nic_takes_only_that(void **state)
{
	struct fixture *x = *state;
	double lost_gpu_s;

	beside(x, 1, 8, 1.0 / 3);
	assert_close(call_s(x, 1, 1, &lost_gpu_s), 1.5, 1e-12);
	assert_close(lost_gpu_s, 0, 1e-12);
	assert_close(call_s(x, 1, 2.0 / 3, &lost_gpu_s), 1, 1e-12);
	/* the call's own NIC is the narrower one */
	assert_close(call_s(x, 8, 0.5, &lost_gpu_s), 1, 1e-12);
}

static void a_duty_of_d_adds_d_of_the_full_slowdown(void **state)
{
	static const double duties[] = {1, 0.5, 0.25, 0.01, 1e-18};
	double lost_gpu_s;

	for (size_t i = 0; i < sizeof(duties) / sizeof(duties[0]); i++) {
		struct fixture *x = *state;
		double d = duties[i];
		struct weft_load_part part;
		struct weft_load_parts parts = {.n = 1, .part = &part};
		uint32_t leaf = leaf_of(x, 0);

		part = other_job(2 * leaf, d, 3,
				 weft_cost_uplink_rate(x->f, leaf));
		weft_load_add(&x->load, &parts);
		assert_close(call_s(x, 3, 1, &lost_gpu_s), 1 + d, 1e-9);
		/* a step of 1 takes 1 + d: d / (1 + d) of 1 + d seconds */
		assert_true(fabs(lost_gpu_s - 4 * d) <= 1e-9);
		weft_load_subtract(&x->load, &parts);
		assert_close(call_s(x, 3, 1, &lost_gpu_s), 1, 0);
		assert_close(lost_gpu_s, 0, 0);
	}
}

/* The others' bytes get through in any case: many flows that seldom send cost
 * few flows that always do no more than those bytes. */
static void few_flows_lose_no_more_than_the_others_send(void **state)
{
	struct fixture *x = *state;
	double lost_gpu_s, d = 0.25, q = 1.0 / 8;

	beside(x, d, 8, 1);
	assert_close(call_s(x, 1, 1, &lost_gpu_s), 1 + d / (1 - d * (1 - q)),
		     1e-12);
}

static void a_second_job_adds_to_the_first(void **state)
{
	static const double duties[] = {1, 0.5, 0.25};
	struct fixture *x = *state;
	double lost_gpu_s, before_s = 1;

	for (size_t i = 0; i < sizeof(duties) / sizeof(duties[0]); i++) {
		double one_s, two_s;

		beside(x, duties[i], 2, 1);
		one_s = call_s(x, 2, 1, &lost_gpu_s);
		beside(x, duties[i], 2, 1);
		two_s = call_s(x, 2, 1, &lost_gpu_s);
		if (i == 0)
			assert_close(two_s, 3, 1e-12);
		assert_true(one_s > before_s && two_s > one_s);
		before_s = two_s;
	}
}

/* ---- against jobs that send and compute in turn ---- */

/* Sends for duty * period seconds when alone, then computes. */
struct sender {
	double flows, duty, period_s, rate; /* of a link of capacity 1 */
	bool sending;
	double left; /* bytes, or seconds of computation */
	double share;
};
#define MAX_SENDERS 3

/* Max-min shares of those that send: the narrowest NICs first. */
static void senders_share(struct sender *s, uint32_t n)
{
	double rest = 1, flows = 0;
	bool done[MAX_SENDERS] = {false};

	for (uint32_t i = 0; i < n; i++)
		flows += s[i].sending ? s[i].flows : 0;
	for (uint32_t round = 0; round < n; round++) {
		uint32_t next = n;

		for (uint32_t i = 0; i < n; i++)
			if (s[i].sending && !done[i] &&
			    (next == n || s[i].rate / s[i].flows <
						  s[next].rate / s[next].flows))
				next = i;
		if (next == n)
			return;
		s[next].share =
			fmin(s[next].rate, rest / flows * s[next].flows);
		rest -= s[next].share;
		flows -= s[next].flows;
		done[next] = true;
	}
}

static void sender_turn(struct sender *s)
{
	s->sending = !s->sending || s->duty >= 1;
	s->left = s->sending ? s->rate * s->duty * s->period_s
			     : (1 - s->duty) * s->period_s;
}

/* Mean seconds that the first one sends over those alone, 20 times from each of
 * 10 random beginnings. */
static double senders_run(struct sender *s, uint32_t n, uint64_t *seed)
{
	double sum_s = 0;

	for (uint32_t k = 0; k < 10; k++) {
		uint32_t ended = 0;
		double began_s = -1, now_s = 0;

		for (uint32_t i = 0; i < n; i++) {
			double at = test_random_below(seed, 1000) / 1000.0;

			s[i].sending = at < s[i].duty;
			s[i].left = s[i].period_s *
				    (s[i].sending ? s[i].rate * (s[i].duty - at)
						  : 1 - at);
		}
		while (ended < 20) {
			uint32_t next = 0;
			double least_s = INFINITY;

			senders_share(s, n);
			for (uint32_t i = 0; i < n; i++) {
				double time_s = s[i].left;

				if (s[i].sending)
					time_s /= s[i].share;
				if (time_s < least_s) {
					least_s = time_s;
					next = i;
				}
			}
			now_s += least_s;
			for (uint32_t i = 0; i < n; i++)
				s[i].left -= least_s *
					     (s[i].sending ? s[i].share : 1);
			if (next == 0 && s[0].sending && began_s >= 0) {
				sum_s += now_s - began_s;
				ended++;
			}
			sender_turn(&s[next]);
			if (next == 0 && s[0].sending)
				began_s = now_s;
		}
	}
	return sum_s / 200 / (s[0].duty * s[0].period_s);
}

/* 1, 2, 4 or 8 flows, a duty of 1, 1/2 or 1/4, periods from 1/3 to 3; with
 * nics, a NIC of 1, 1/2 or 1/4 of the link. */
static struct sender sender_random(uint64_t *seed, bool nics)
{
	return (struct sender){
		.flows = 1u << test_random_below(seed, 4),
		.duty = 1.0 / (1u << test_random_below(seed, 3)),
		.period_s = pow(3, test_random_below(seed, 2001) / 1000.0 - 1),
		.rate = nics ? 1.0 / (1u << test_random_below(seed, 3)) : 1,
	};
}

#define N_MEETINGS 400

/* Errors of weft_load_call_s over the simulated time, ascending. */
static void meetings_run(struct fixture *x, uint32_t n, bool nics,
			 uint64_t *seed, double error[N_MEETINGS])
{
	uint32_t leaf = leaf_of(x, 0);
	double capacity = weft_cost_uplink_rate(x->f, leaf), lost_gpu_s;

	for (uint32_t k = 0; k < N_MEETINGS; k++) {
		struct weft_load_part part[MAX_SENDERS];
		const struct weft_load_parts parts = {.n = n - 1, .part = part};
		struct sender s[MAX_SENDERS];

		for (uint32_t i = 0; i < n; i++)
			s[i] = sender_random(seed, nics);
		for (uint32_t i = 1; i < n; i++)
			part[i - 1] = other_job(2 * leaf, s[i].duty, s[i].flows,
						s[i].rate * capacity);
		weft_load_add(&x->load, &parts);
		error[k] = fabs(call_s(x, s[0].flows, s[0].rate, &lost_gpu_s) /
					senders_run(s, n, seed) -
				1);
		weft_load_subtract(&x->load, &parts);
	}
	qsort(error, N_MEETINGS, sizeof(*error), weft_compare_reals);
}

/* With 11 seeds, of 4,400 cases each: within 15 % are 95 % of those beside one
 * job, 99 % where NICs hold some up; 88 and 86 % beside two jobs, whose sums
 * tell only of their average.  Of all together 91 to 93 %. */
static void calls_take_what_jobs_that_send_in_turns_leave(void **state)
{
	uint64_t seed = test_seed();
	uint32_t n_close = 0, n_close_of_two = 0;

	for (uint32_t k = 0; k < 4; k++) {
		double error[N_MEETINGS];
		uint32_t n = 0;

		meetings_run(*state, 2 + k / 2, k % 2, &seed, error);
		while (n < N_MEETINGS && error[n] <= 0.15)
			n++;
		print_message("%u jobs%s: %u of %u within 15 %%, half %.3f, "
			      "nine of ten %.3f, all %.3f\n",
			      2 + k / 2, k % 2 ? " with NICs" : "", n,
			      N_MEETINGS, error[N_MEETINGS / 2],
			      error[N_MEETINGS * 9 / 10],
			      error[N_MEETINGS - 1]);
		n_close += n;
		n_close_of_two += k < 2 ? n : 0;
	}
	assert_true(n_close >= 0.9 * 4 * N_MEETINGS);
	assert_true(n_close_of_two >= 0.93 * 2 * N_MEETINGS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_job_loads_the_links_it_crosses),
		TEST(short_messages_count_for_part_of_a_flow),
		TEST(full_links_are_shared_evenly),
		TEST(the_top_has_no_link),
		TEST(a_step_of_no_time_is_refused),
		TEST(without_jobs_nothing_costs_more),
		TEST(the_busiest_link_is_the_one_with_the_least_left),
		TEST(steps_take_longer_beside_others),
		TEST(one_job_that_always_sends_doubles_the_time),
		TEST(links_are_shared_flow_by_flow),
		TEST(a_job_held_up_by_its_nic_takes_only_that),
		TEST(a_duty_of_d_adds_d_of_the_full_slowdown),
		TEST(few_flows_lose_no_more_than_the_others_send),
		TEST(a_second_job_adds_to_the_first),
		TEST(calls_take_what_jobs_that_send_in_turns_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
