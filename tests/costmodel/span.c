/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.c - the time of the flows of a step, against their simulation */
#include "costmodel/time/span.h"

#include "costmodel/time/span_parts.h"
#include "costmodel/time/step.h"
#include "tests/costmodel/flows_scene.h"
#include "tests/lib/traffic.h"

/* ---- the time of equal and unequal flows ---- */

/* NICs of a host that share a rail are as fast as its GPUs there together. */
static double link_rate(const struct weft_fabric *f, uint32_t link)
{
	uint32_t thing = link / 2, n = 0, host;

	if (thing < f->n_domains)
		return weft_cost_uplink_rate(f, thing);
	thing -= f->n_domains;
	if (thing >= f->n_gpus)
		return f->levels[0].link.rate_bytes_per_s;
	if (f->node_level + 1 >= f->n_levels)
		return (double)INFINITY;
	host = host_at(f, thing);
	for (uint32_t i = 0; i < f->domains[host].n_gpus; i++)
		n += nic_at(f, f->domains[host].first_gpu + i) == thing;
	return n * f->levels[f->node_level + 1].link.rate_bytes_per_s;
}

/* Seconds until the last of the flows of each stage has ended, max-min fair. */
static void flows_run(const struct explicit_flows *x, double *stage_s)
{
	double *end_s = calloc(x->n + 1, sizeof(*end_s));
	struct simulation sim;

	assert_non_null(end_s);
	simulation_open(&sim, x->f, x->n);
	for (uint32_t w = 0; w < sim.n_wires; w++)
		sim.wires[w].rate = link_rate(x->f, w);
	for (uint32_t i = 0; i < x->n; i++) {
		struct flow *flow = &sim.flows[sim.n_flows++];

		flow->left = x->flow[i].bytes;
		for (uint32_t k = 0; k < x->flow[i].n_path; k++)
			path_add(&sim, flow, x->flow[i].path[k]);
	}
	simulation_run(&sim, end_s);
	for (uint32_t i = 0; i < x->n; i++)
		stage_s[x->flow[i].stage] =
			fmax(stage_s[x->flow[i].stage], end_s[i]);
	simulation_close(&sim);
	free(end_s);
}

static bool same_row(const struct weft_call *a, const struct weft_call *b)
{
	return a->what == b->what && a->phase == b->phase;
}

/* Spans over simulated times of the kinds of some scenes. */
struct ratios {
	uint32_t n, n_close;
	double least, most;
};

static void ratios_add(struct ratios *ratios, double span_s, double run_s)
{
	ratios->n++;
	ratios->n_close += fabs(span_s / run_s - 1) < 0.01;
	ratios->least = fmin(ratios->least, span_s / run_s);
	ratios->most = fmax(ratios->most, span_s / run_s);
}

/* The calls of a kind's first row, which all stages make at once: seconds of
 * each stage, predicted and simulated.  False: too many flows. */
static bool kind_time(const struct scene *s, const struct weft_spans *spans,
		      uint32_t kind, double *span_s, double *run_s)
{
	const struct weft_call *calls = s->schedule.calls;
	const struct weft_call *first = &calls[s->flows.kinds[kind].call];
	struct explicit_flows x = {
		.f = s->f,
		.schedule = &s->schedule,
		.where = s->where,
		.algorithm = s->spec.algorithm,
	};
	bool few;

	memset(span_s, 0, EXPLICIT_MAX_RANKS * sizeof(*span_s));
	memset(run_s, 0, EXPLICIT_MAX_RANKS * sizeof(*run_s));
	for (uint32_t i = 0; i < s->schedule.n_calls; i++) {
		if (s->flows.kind_of[i] != kind || !same_row(first, &calls[i]))
			continue;
		explicit_call(&x, &calls[i]);
		for (uint32_t k = 0; k < calls[i].n_stages; k++) {
			uint32_t p = calls[i].first_stage + k;

			span_s[p] = calls[i].count *
				    weft_spans_call(spans, i, p).transfer_s;
		}
	}
	few = x.n <= 1200;
	if (few)
		flows_run(&x, run_s);
	explicit_free(&x);
	return few;
}

/* Its slowest stage. */
static void kind_bound(const struct scene *s, const struct weft_spans *spans,
		       uint32_t kind, struct ratios *ratios)
{
	double span_s[EXPLICIT_MAX_RANKS], run_s[EXPLICIT_MAX_RANKS];
	double most_s = 0, longest_s = 0;

	if (!kind_time(s, spans, kind, span_s, run_s))
		return;
	for (uint32_t p = 0; p < EXPLICIT_MAX_RANKS; p++) {
		most_s = fmax(most_s, span_s[p]);
		longest_s = fmax(longest_s, run_s[p]);
	}
	if (most_s > longest_s * (1 + 1e-9))
		scene_print(s, kind);
	assert_true(most_s <= longest_s * (1 + 1e-9));
	ratios_add(ratios, most_s, longest_s);
}

/* The fullest link cannot be done earlier.  It may be later where flows wait
 * for each other at several links: on random fabrics, half of the jobs on
 * random GPUs, nine of ten kinds of calls are within 1 % of it, and none of the
 * 27,000 of 25 seeds takes more than 1.49 times as long. */
static void spans_bound_what_is_simulated(void **state)
{
	struct ratios of[WEFT_WAY_ENDS + 1] = {{0}};
	uint32_t n = 0, n_close = 0;
	uint64_t seed = test_seed() + 1;

	(void)state;
	for (int w = 0; w <= WEFT_WAY_ENDS; w++)
		of[w].least = 2;
	for (uint32_t i = 0; i < 300; i++) {
		struct weft_error err = {0};
		struct weft_spans spans;
		struct scene s;

		if (!scene_random(&seed, &s))
			continue;
		weft_spans_build(s.f, &s.schedule, s.where, s.spec.algorithm,
				 NULL, &spans, &err);
		assert_no_error(&err);
		for (uint32_t k = 0; k < s.flows.n_kinds; k++)
			kind_bound(&s, &spans, k, &of[s.flows.kinds[k].way]);
		weft_spans_free(&spans);
		scene_close(&s);
	}
	for (int w = 0; w <= WEFT_WAY_ENDS; w++) {
		print_message(
			"way %d: %u kinds, %u within 1 %%, %.4f to %.4f\n", w,
			of[w].n, of[w].n_close, of[w].least, of[w].most);
		assert_true(of[w].least > 0.6);
		n += of[w].n;
		n_close += of[w].n_close;
	}
	assert_true(n > 500 && n_close > 0.88 * n);
}

/* The slowest stage of a kind, and all stages. */
static void kind_exact(const struct scene *s, const struct weft_spans *spans,
		       uint32_t kind, struct ratios *slowest,
		       struct ratios *all)
{
	double span_s[EXPLICIT_MAX_RANKS], run_s[EXPLICIT_MAX_RANKS];
	double most_s = 0, longest_s = 0;

	if (!kind_time(s, spans, kind, span_s, run_s))
		return;
	for (uint32_t p = 0; p < s->flows.n_stages; p++) {
		most_s = fmax(most_s, span_s[p]);
		longest_s = fmax(longest_s, run_s[p]);
		if (run_s[p] > 0)
			ratios_add(all, span_s[p], run_s[p]);
	}
	if (fabs(most_s / longest_s - 1) > 0.02)
		scene_print(s, kind);
	ratios_add(slowest, most_s, longest_s);
}

/* Flows that are not alike wait for each other at several links: of the 10,700
 * slowest stages of ten seeds none is below 1.000 or above 1.015 of what is
 * simulated.  Links inside hosts are not shared out, so nodes of several NVLink
 * domains are left out. */
static void shared_spans_are_what_is_simulated(void **state)
{
	struct ratios slowest = {.least = 2}, all = {.least = 2};
	uint64_t seed = test_seed() + 3;

	(void)state;
	for (uint32_t i = 0; i < 400; i++) {
		struct weft_error err = {0};
		struct weft_spans spans;
		struct scene s;

		if (!scene_random(&seed, &s))
			continue;
		weft_spans_build(s.f, &s.schedule, s.where, s.spec.algorithm,
				 NULL, &spans, &err);
		weft_spans_share(&spans, NULL, &err);
		assert_no_error(&err);
		for (uint32_t k = 0;
		     s.f->node_level == 0 && k < s.flows.n_kinds; k++)
			kind_exact(&s, &spans, k, &slowest, &all);
		weft_spans_free(&spans);
		scene_close(&s);
	}
	print_message("slowest stages: %u, %.4f to %.4f; all: %u of %u within "
		      "1 %%, %.4f to %.4f\n",
		      slowest.n, slowest.least, slowest.most, all.n_close,
		      all.n, all.least, all.most);
	assert_true(slowest.n > 500 && all.n_close > 0.98 * all.n);
	assert_true(slowest.least > 0.98 && slowest.most < 1.02);
}

static double flows_capacity(const void *fabric, uint32_t link)
{
	return weft_flows_capacity(fabric, link);
}

/* With 30 million visits a ring of this job ended 6 % too early. */
static void sharing_ends_for_4096_ranks_in_random_order(void **state)
{
	struct scene s = {
		.fabric_text = "weft: fabric/1\nnodes:\n  n[000-511]: 8\n"
			       "levels:\n  leaf:\n    L[00-31]: n[000-511]\n"
			       "  pod:\n    P[0-3]: L[00-31]\n"
			       "  top:\n    T: P[0-3]\nlinks:\n"
			       "  pod: {oversubscription: 2}\n"
			       "  top: {oversubscription: 2}\n",
		.spec_text = "gpus=4096,tp=2,cp=2,model=gpt-18.4B,zero=2,"
			     "algorithm=ring,cp_comm=allgather",
	};
	uint32_t *where = calloc(4096, sizeof(*where));
	uint64_t random = test_seed(), visits = SHARING_VISITS;
	struct weft_error err = {0};

	(void)state;
	fabric_open(&s);
	assert_true(job_open(&s));
	for (uint32_t i = 0; i < 4096; i++) {
		uint32_t k = test_random_below(&random, i + 1);

		where[i] = where[k];
		where[k] = i;
	}
	weft_flows_build(s.f, &s.schedule, where, s.spec.algorithm, &s.flows,
			 &err);
	assert_no_error(&err);
	for (uint32_t k = 0; k < s.flows.n_kinds; k++) {
		double end_s[1];

		weft_sharing_ends(&s.flows, k, flows_capacity, s.f, end_s,
				  &visits, &err);
		assert_no_error(&err);
	}
	assert_true(visits > 0);
	scene_close(&s);
	free(where);
}

/* Nodes full, neighbours together: flows over a link are of the same size and
 * find the same on their way. */
static void spans_are_exact_where_flows_are_alike(void **state)
{
	static const char *const jobs[] = {
		"tp=8,pp=2,dp=4,model=llama3-8B,zero=1,algorithm=ring",
		"tp=4,cp=2,dp=8,model=llama3-8B,algorithm=tree",
		"tp=2,dp=16,pp=2,model=llama3-8B,zero=3",
		"dp=64,model=llama3-8B,algorithm=hierarchical",
		"tp=2,dp=32,ep=8,model=grok1-314B,algorithm=ring",
	};
	static const char text[] = "weft: fabric/1\nnodes:\n  n[0-7]: 8\n"
				   "levels:\n  leaf:\n    L[0-3]: n[0-7]\n"
				   "  pod:\n    P[0-1]: L[0-3]\n"
				   "  top:\n    T: P[0-1]\nlinks:\n"
				   "  pod: {oversubscription: %d}\n"
				   "  top: {oversubscription: %d}\n";

	(void)state;
	for (uint32_t i = 0; i < 2 * sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct ratios ratios = {.least = 2};
		struct weft_error err = {0};
		struct weft_spans spans;
		char fabric[512];
		struct scene s;

		snprintf(fabric, sizeof(fabric), text, i % 2 ? 2 : 1,
			 i % 2 ? 3 : 1);
		scene_open(&s, fabric, jobs[i / 2], NULL);
		weft_spans_build(s.f, &s.schedule, s.where, s.spec.algorithm,
				 NULL, &spans, &err);
		assert_no_error(&err);
		for (uint32_t k = 0; k < s.flows.n_kinds; k++)
			kind_bound(&s, &spans, k, &ratios);
		assert_true(ratios.n > 0);
		assert_close(ratios.least, 1, 1e-9);
		weft_spans_free(&spans);
		scene_close(&s);
	}
}

/* Over all kinds of calls of a step together. */
static void the_fullest_link_is_that_of_all_flows_together(void **state)
{
	uint64_t seed = test_seed() + 2;
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		struct weft_error err = {0};
		struct weft_spans spans;
		double most_s = 0;
		struct sums sum;
		struct scene s;

		if (!scene_random(&seed, &s))
			continue;
		sum = sums_open(&s);
		for (uint32_t k = 0; k < s.flows.n_kinds; k++) {
			struct explicit_flows x = kind_flows(&s, k);

			explicit_sum(&x, &sum);
			explicit_free(&x);
		}
		for (uint32_t l = 0; l < 2 * (s.f->n_domains + s.f->n_gpus);
		     l++)
			most_s = fmax(most_s, sum.bytes[l] / link_rate(s.f, l));
		weft_spans_build(s.f, &s.schedule, s.where, s.spec.algorithm,
				 NULL, &spans, &err);
		assert_no_error(&err);
		if (most_s > 0) {
			assert_close(spans.fullest.time_s, most_s, 1e-9);
			assert_close(spans.fullest.bytes,
				     sum.bytes[spans.fullest.link], 1e-9);
			n++;
		} else {
			assert_int_equal(spans.fullest.link, WEFT_NONE);
		}
		weft_spans_free(&spans);
		sums_close(&sum);
		scene_close(&s);
	}
	assert_true(n > 50);
}

/* ---- by hand ---- */

/* Two pipelines begin under leafs of their own and end under the same one. */
static void the_fuller_downlink_of_a_receiver_counts(void **state)
{
	static const uint32_t where[] = {0, 2, 4, 5};
	struct weft_spans spans;
	struct weft_error err = {0};
	struct scene s;
	uint32_t i = 0;

	(void)state;
	scene_open(&s,
		   "weft: fabric/1\nnodes:\n  n[0-5]: 1\nlevels:\n"
		   "  leaf:\n    L[0-2]: n[0-5]\n  pod:\n    P: L[0-2]\n"
		   "links:\n  pod: {oversubscription: 8}\n",
		   "pp=2,dp=2,gbs=8,model=llama3-8B", where);
	weft_spans_build(s.f, &s.schedule, s.where, s.spec.algorithm, NULL,
			 &spans, &err);
	assert_no_error(&err);
	while (s.schedule.calls[i].axis != WEFT_AXIS_PP ||
	       s.schedule.calls[i].phase != WEFT_FORWARD)
		i++;
	assert_close(weft_spans_call(&spans, i, 0).transfer_s,
		     2 * s.schedule.calls[i].size_bytes /
			     weft_cost_uplink_rate(s.f, leaf_of(&s, 4)),
		     1e-12);
	weft_spans_free(&spans);
	scene_close(&s);
}

/* The last stage computes longest, the first one's replicas are far apart. */
static void communication_is_of_the_stage_that_sends_longest(void **state)
{
	static const uint32_t where[] = {0, 4, 1, 2};
	struct weft_error err = {0};
	const struct weft_step_options options = {
		.gpu = weft_gpu_find("H100", &err)};
	struct weft_step step;
	struct scene s;
	struct weft_step_job job = {.where = where};
	double sent, rate;

	(void)state;
	scene_open(&s, two_pods,
		   "pp=2,dp=2,gbs=8,model=llama3-8B,algorithm=ring", where);
	job.fabric = s.f;
	job.spec = &s.spec;
	job.model = &s.model;
	job.schedule = &s.schedule;
	weft_step(&job, &options, &step, &err);
	assert_no_error(&err);
	sent = schedule_bytes(&s.schedule, WEFT_AXIS_DP, 0);
	rate = s.f->levels[1].link.rate_bytes_per_s;
	assert_int_equal(step.slowest_stage, 1);
	assert_int_equal(step.communication_stage[WEFT_AXIS_DP], 0);
	/* alone on the uplink of four GPUs, which is as wide as a NIC */
	assert_close(
		step.communication_s[WEFT_AXIS_DP],
		sent / fmin(rate, weft_cost_uplink_rate(s.f, leaf_of(&s, 0))),
		1e-12);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_bound_what_is_simulated),
		cmocka_unit_test(shared_spans_are_what_is_simulated),
		cmocka_unit_test(sharing_ends_for_4096_ranks_in_random_order),
		cmocka_unit_test(spans_are_exact_where_flows_are_alike),
		cmocka_unit_test(
			the_fullest_link_is_that_of_all_flows_together),
		cmocka_unit_test(the_fuller_downlink_of_a_receiver_counts),
		cmocka_unit_test(
			communication_is_of_the_stage_that_sends_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
