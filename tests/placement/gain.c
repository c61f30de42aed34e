/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.c - what a job is compared with, and what comes of it */
#include "placement/objective/gain.h"
#include "base/compare.h"
#include "costmodel/time/range.h"
#include "placement/objective/evaluation.h"
#include "placement/objective/objective.h"
#include "placement/place.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>

/* A fabric, what is free on it, and a job with its baselines. */
struct setting {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_baselines b;
};

/* busy: as weft_occupancy_busy, or NULL. */
static struct setting open_on(const char *profile, const char *shape,
			      const char *busy, const char *spec)
{
	const struct weft_synth_options options = {.profile = profile};
	struct weft_error err = {0};
	struct setting s = {0};

	s.f = test_synth(shape, &options);
	weft_occupancy_build(s.f, &s.o, &err);
	if (busy)
		weft_occupancy_busy(&s.o, busy, &err);
	case_job(spec, s.f, &s.job);
	assert_no_error(&err);
	return s;
}

static struct setting open_setting(const char *shape, const char *busy,
				   const char *spec)
{
	return open_on("roce-llama3", shape, busy, spec);
}

static void build(struct setting *s)
{
	struct weft_error err = {0};

	weft_baselines_free(&s->b);
	assert_int_equal(
		weft_baselines_build(s->f, &s->job, &s->o, &s->b, &err), 0);
	assert_no_error(&err);
}

static void close_setting(struct setting *s)
{
	weft_baselines_free(&s->b);
	weft_job_free(&s->job);
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

/* Nodes of a placement, as bits. */
static uint64_t nodes_of(const struct setting *s, const uint32_t *where)
{
	uint64_t set = 0;

	for (uint32_t r = 0; where && r < s->job.n_gpus; r++)
		set |= UINT64_C(1) << s->f->gpu_node[where[r]];
	return set;
}

static struct weft_gain gain_of(const struct setting *s,
				const struct weft_gain_question *more)
{
	struct weft_gain_question q = *more;
	struct weft_error err = {0};
	struct weft_gain gain;

	q.fabric = s->f;
	q.job = &s->job;
	q.baselines = &s->b;
	assert_int_equal(weft_gain(&q, &gain, &err), 0);
	assert_no_error(&err);
	return gain;
}

static double step_of(const struct setting *s, const uint32_t *where,
		      const struct weft_load *load)
{
	struct weft_evaluation e = {.load = load};
	struct weft_error err = {0};

	assert_int_equal(weft_evaluate(s->f, &s->job, where, NULL, &e, &err),
			 0);
	assert_true(e.timed);
	return e.step.step_s;
}

/* ---- the plan ---- */

/* Replicas of experts beside each other cost less than the ranks that exchange
 * tokens, which take longer. */
static void a_plan_is_no_slower_than_ranks_in_order(void **state)
{
	static const char *const profiles[] = {"dgx-h100-superpod",
					       "roce-llama3", "gb200-nvl72"};
	static const char *const specs[] = {
		"gpus=16,ep=8,dp=16,model=mixtral-8x7B",
		"gpus=32,ep=8,dp=32,model=mixtral-8x7B",
		"gpus=32,ep=16,dp=32,model=qwen3-30B-a3B",
		"gpus=32,tp=2,ep=4,dp=16,model=mixtral-8x7B",
		"gpus=32,tp=4,pp=2,dp=4,zero=3,model=llama3-8B",
		"gpus=16,cp=2,ep=4,dp=8,model=mixtral-8x7B",
	};
	static const char *const busy[] = {NULL, "n[01,06]"};

	(void)state;
	for (size_t i = 0; i < 3 * 6 * 2; i++) {
		struct setting s = open_on(profiles[i % 3],
					   i % 3 < 2 ? "leaf:4 node:4 gpu:8"
						     : "nvlink:4 node:4 gpu:4",
					   busy[i / 18], specs[i / 3 % 6]);
		struct weft_placement p;
		struct weft_error err = {0};
		double planned_s, in_order_s;

		assert_int_equal(weft_place(s.f, &s.job, &s.o, NULL, &p, &err),
				 0);
		assert_true(p.placed);
		planned_s = step_of(&s, p.where, NULL);
		qsort(p.where, p.n_ranks, sizeof(*p.where),
		      weft_compare_numbers);
		in_order_s = step_of(&s, p.where, NULL);
		if (planned_s > in_order_s * (1 + WEFT_SAME_STEP))
			fail_msg("%s on %s: %g s, in order %g s",
				 specs[i / 3 % 6], profiles[i % 3], planned_s,
				 in_order_s);
		weft_placement_free(&p);
		close_setting(&s);
	}
}

/* ---- where else ---- */

static void stock_packs_into_the_switch_that_fits_best(void **state)
{
	/* free: one node of leaf 0, all four of leaf 1, three of leaf 2 */
	struct setting s = open_setting("leaf:3 node:4 gpu:8", "n[00-02,08]",
					"gpus=24,gpus_per_node=8");

	(void)state;
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock), 0xe00);
	for (uint32_t r = 1; r < 24; r++)
		assert_true(s.b.stock[r] > s.b.stock[r - 1]);
	close_setting(&s);
}

static void stock_uses_the_nodes_that_the_user_names(void **state)
{
	struct setting s = open_setting("leaf:3 node:4 gpu:8", "n[08-09]",
					"gpus=24,gpus_per_node=8");
	uint64_t required = 0x002;

	(void)state;
	s.o.required = &required;
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock), 0x007);
	/* of two leafs: each leaf has one of them */
	required = 0x012;
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock), 0x013);
	/* four for a job of three, and one that is busy */
	required = 0x0f0;
	build(&s);
	assert_null(s.b.stock);
	required = 0x100;
	build(&s);
	assert_null(s.b.stock);
	s.o.required = NULL;
	close_setting(&s);
}

static void stock_takes_light_nodes_first(void **state)
{
	struct setting s = open_setting("leaf:3 node:4 gpu:8", NULL,
					"gpus=16,gpus_per_node=8");
	uint32_t weight[12] = {5, 5, 5, 5, 5, 5, 5, 5, 5, 1, 5, 1};

	(void)state;
	s.o.weight = weight;
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock), 0xa00);
	/* a third light one in another leaf: the lowest switch wins */
	weight[0] = 1;
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock), 0xa00);
	/* two light ones of different leafs are lighter than one leaf */
	weight[9] = 5;
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock), 0x801);
	s.o.weight = NULL;
	close_setting(&s);
}

/* The file lists racks; names count across them. */
static void stock_numbers_ranks_by_the_names_of_nodes(void **state)
{
	static const char text[] =
		"weft: fabric/1\nnodes:\n  n[0-3]: 2\nlevels:\n  leaf:\n"
		"    l0: n[1,3]\n    l1: n[0,2]\n";
	static const char *const names[] = {"n0", "n1", "n2", "n3"};
	struct setting s = {.f = case_fabric(text)};

	(void)state;
	weft_occupancy_build(s.f, &s.o, NULL);
	case_job("gpus=8,tp=2", s.f, &s.job);
	build(&s);
	for (uint32_t r = 0; r < 8; r++)
		assert_string_equal(
			s.f->nodes[s.f->gpu_node[s.b.stock[r]]].name,
			names[r / 2]);
	close_setting(&s);
}

static void an_open_job_gets_the_fewest_equal_shares(void **state)
{
	static const struct {
		const char *spec, *busy;
		uint32_t n_nodes; /* 0: none */
		uint32_t last;	  /* GPUs of the last */
	} cases[] = {
		{"gpus=16", NULL, 2, 8},
		{"gpus=12", NULL, 2, 6},
		{"gpus=3", NULL, 1, 3},
		{"gpus=20", NULL, 3, 6}, /* 7, 7, 6 */
		{"gpus=16", "n[0-7]:0-3", 4, 4},
		{"gpus=16,nodes=4", NULL, 4, 4},
		{"gpus=16,nodes=2", "n[0-7]:0", 0, 0},
		{"gpus=64", "n0:0", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct setting s = open_setting("leaf:2 node:4 gpu:8",
						cases[i].busy, cases[i].spec);
		uint32_t n = 0, last = 0;

		build(&s);
		for (uint32_t r = 0; s.b.stock && r < s.job.n_gpus; r++) {
			bool new = r == 0 ||
				   s.f->gpu_node[s.b.stock[r]] !=
					   s.f->gpu_node[s.b.stock[r - 1]];

			n += new;
			last = new ? 1 : last + 1;
		}
		assert_int_equal(n, cases[i].n_nodes);
		assert_int_equal(last, cases[i].last);
		assert_true(!s.b.stock == !s.b.spread);
		close_setting(&s);
	}
}

static void spread_goes_round_the_outermost_domains(void **state)
{
	static const uint32_t nodes[] = {0, 8, 4, 12, 1, 9};
	struct setting s = open_setting("pod:2 leaf:2 node:4 gpu:8", NULL,
					"gpus=48,gpus_per_node=8");

	(void)state;
	build(&s);
	for (uint32_t r = 0; r < 48; r++)
		assert_int_equal(s.f->gpu_node[s.b.spread[r]], nodes[r / 8]);
	weft_occupancy_busy(&s.o, "n[00-07]", NULL);
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.spread), 0x7700);
	close_setting(&s);
}

static void no_part_of_a_fabric_is_left(void **state)
{
	static const char text[] = "weft: fabric/1\nnodes:\n  n[0-5]: 2\n"
				   "disjoint: true\nlevels:\n  leaf:\n"
				   "    l0: n[0-1]\n    l1: n[2-5]\n";
	struct setting s = {.f = case_fabric(text)};

	(void)state;
	weft_occupancy_build(s.f, &s.o, NULL);
	case_job("gpus=6", s.f, &s.job);
	build(&s);
	assert_int_equal(nodes_of(&s, s.b.stock) & 3, 0);
	assert_int_equal(nodes_of(&s, s.b.spread) & 3, 0);
	close_setting(&s);
}

/* ---- comparing ---- */

/* Pod 0 has two nodes free, pod 1 has six; the job takes four of those. */
static void steps_are_compared_where_the_model_is_named(void **state)
{
	struct setting s = open_setting(
		"pod:2 leaf:2 node:4 gpu:8", "n[00-05,08,12]",
		"gpus=32,gpus_per_node=8,tp=2,zero=3,model=llama3-8B");
	struct weft_gain g;
	uint32_t where[32];

	(void)state;
	build(&s);
	for (uint32_t r = 0; r < 32; r++)
		where[r] = s.b.spread[r];
	g = gain_of(&s, &(struct weft_gain_question){.where = where});
	assert_int_equal(g.basis, WEFT_GAIN_STEP);
	assert_close(g.here_s, step_of(&s, where, NULL), 1e-12);
	assert_close(g.stock_s, step_of(&s, s.b.stock, NULL), 1e-12);
	/* the pods' links are narrow */
	assert_true(g.here_s > 1.01 * g.stock_s);
	assert_close(g.gain, 1 - g.here_s / g.stock_s, 1e-9);
	assert_true(g.gain < -0.01 && g.matters && !g.late);
	assert_close(g.best_s, g.stock_s, 1e-12);
	assert_close(g.low_s, weft_ranges[WEFT_RUN_DENSE].low * g.here_s, 1e-9);
	assert_close(g.high_s, weft_ranges[WEFT_RUN_DENSE].high * g.here_s,
		     1e-9);
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.stock});
	assert_true(g.gain == 0);
	/* on other nodes one may lose all the same */
	assert_true(g.matters);
	close_setting(&s);
}

static void a_job_inside_one_node_does_not_care(void **state)
{
	struct setting s = open_setting("pod:2 leaf:2 node:4 gpu:8", "n00",
					"gpus=8,tp=8,model=llama3-8B");
	uint32_t where[8];
	struct weft_gain g;

	(void)state;
	build(&s);
	for (uint32_t r = 0; r < 8; r++)
		where[r] = 15 * 8 + r;
	g = gain_of(&s, &(struct weft_gain_question){.where = where});
	assert_false(g.matters);
	assert_close(g.here_s, g.stock_s, 1e-12);
	close_setting(&s);
}

static void without_a_model_communication_is_compared(void **state)
{
	struct setting s =
		open_setting("pod:2 leaf:2 node:4 gpu:8", "n[00-05,08,12]",
			     "gpus=32,gpus_per_node=8,tp=2,zero=3");
	struct weft_evaluation e = {0};
	struct weft_gain g;
	double sum = 0;

	(void)state;
	build(&s);
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.spread});
	assert_int_equal(g.basis, WEFT_GAIN_COMMUNICATION);
	weft_evaluate(s.f, &s.job, s.b.stock, NULL, &e, NULL);
	for (int a = 0; a < WEFT_N_AXES; a++)
		sum += e.step.communication_s[a] + e.step.latency_s[a];
	assert_close(g.stock_s, sum, 1e-12);
	assert_close(g.gain, WEFT_ASSUMED_SHARE * (1 - g.here_s / g.stock_s),
		     1e-9);
	assert_true(isnan(g.low_s) && isnan(g.high_s) && isnan(g.bound_s));
	assert_false(g.best_is_bound);
	close_setting(&s);
}

static void a_precision_that_the_gpu_lacks_is_no_mistake(void **state)
{
	const struct weft_gpu *a100 = weft_gpu_find("A100", NULL);
	struct setting s =
		open_setting("leaf:2 node:4 gpu:8", NULL,
			     "gpus=16,tp=8,model=llama3-8B,dtype=fp8");
	struct weft_gain g;

	(void)state;
	build(&s);
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.stock,
						     .gpu = a100});
	assert_int_equal(g.basis, WEFT_GAIN_COMMUNICATION);
	close_setting(&s);
}

/* Somebody else fills the links of pod 0, where stock goes. */
static void the_load_of_others_counts(void **state)
{
	struct setting s = open_setting(
		"pod:2 leaf:2 node:4 gpu:8", "n[08-09]",
		"gpus=48,gpus_per_node=8,tp=1,zero=3,model=llama3-8B");
	struct weft_load load = {0};
	struct weft_load_parts parts = {0};
	struct weft_error err = {0};
	struct weft_gain alone, beside;

	(void)state;
	build(&s);
	weft_load_build(s.f, &load, &err);
	for (uint32_t d = 0; d < s.f->n_domains; d++) {
		struct weft_load_part part = {
			.add = {.duty = 0.9, .flows = 30, .gpus = 30}};

		part.add.rate_bytes_per_s =
			0.9 * fmin(1e12, weft_load_capacity(&load, d));
		for (uint32_t up = 0; up < 2; up++) {
			part.link = 2 * d + up;
			weft_load_parts_add(&parts, &part, &err);
		}
	}
	assert_no_error(&err);
	weft_load_add(&load, &parts);
	alone = gain_of(&s, &(struct weft_gain_question){.where = s.b.spread});
	beside = gain_of(&s, &(struct weft_gain_question){.where = s.b.spread,
							  .load = &load});
	assert_close(beside.stock_s, step_of(&s, s.b.stock, &load), 1e-12);
	assert_close(beside.here_s, step_of(&s, s.b.spread, &load), 1e-12);
	assert_true(beside.stock_s > 1.001 * alone.stock_s);
	weft_load_parts_free(&parts);
	weft_load_free(&load);
	close_setting(&s);
}

static void no_step_is_shorter_than_its_computation(void **state)
{
	struct setting s = open_setting("pod:2 leaf:2 node:4 gpu:8", NULL,
					"gpus=64,tp=8,pp=2,model=llama3-70B");
	struct weft_gain g;
	double least;

	(void)state;
	build(&s);
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.stock});
	assert_true(g.bound_s > 0 && g.bound_s < g.best_s);
	assert_false(g.best_is_bound);
	least = g.best_s;
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.stock,
						     .bound_s = least});
	assert_true(g.best_is_bound);
	assert_close(g.bound_s, least, 1e-12);
	/* one that a search has found is one more that was looked at */
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.spread,
						     .found = s.b.stock});
	assert_true(g.best_s <= least);
	close_setting(&s);
	s = open_setting("leaf:2 node:4 gpu:8", NULL, "gpus=1,model=llama3-8B");
	build(&s);
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.stock});
	assert_true(g.best_is_bound);
	assert_false(g.matters);
	close_setting(&s);
}

static void what_there_is_no_time_for_is_left_out(void **state)
{
	struct setting s = open_setting(
		"pod:2 leaf:2 node:4 gpu:8", "n[00-05,08,12]",
		"gpus=32,gpus_per_node=8,tp=2,zero=3,model=llama3-8B");
	struct weft_step here = {.step_s = 2, .congestion_s = 0.25};
	struct weft_gain g;

	(void)state;
	build(&s);
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.spread,
						     .here = &here,
						     .took_s = 1,
						     .budget_s = 0.5});
	assert_true(g.late && isnan(g.stock_s) && isnan(g.bound_s));
	assert_close(g.here_s, 2, 1e-12);
	assert_close(g.best_s, 2, 1e-12);
	assert_close(g.nominal_s, 1.75, 1e-12);
	assert_true(isnan(g.gain) && g.matters);
	/* the same place again costs no time */
	g = gain_of(&s, &(struct weft_gain_question){.where = s.b.stock,
						     .here = &here,
						     .took_s = 1,
						     .budget_s = 0.5});
	assert_close(g.stock_s, 2, 1e-12);
	assert_true(g.gain == 0);
	close_setting(&s);
}

/* Short cuts included: seconds are those of the clock itself. */
static void seconds_are_those_of_the_clock(void **state)
{
	static const struct case_shape shape = {4, 24, 8, true};
	uint64_t random = test_seed();
	uint32_t n_stock = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		struct setting s = {0};
		struct weft_gain g;
		struct text t;
		uint32_t n;

		case_random_fabric(&t, &random, &shape);
		s.f = case_fabric(t.at);
		case_random_occupancy(&s.o, s.f, &random, 30);
		n = weft_occupancy_usable(&s.o);
		if (n > 1) {
			case_random_spec(&t, &random,
					 1 + test_random_below(&random, n / 2));
			case_job(t.at, s.f, &s.job);
			build(&s);
		}
		if (s.b.stock && s.b.spread) {
			struct weft_gain_question q = {
				.where = s.b.spread,
				.gpu = weft_gpu_find("H100", NULL)};
			struct weft_evaluation e = {.gpu = q.gpu};

			g = gain_of(&s, &q);
			weft_evaluate(s.f, &s.job, s.b.stock, NULL, &e, NULL);
			assert_true(e.timed && g.basis == WEFT_GAIN_STEP);
			assert_close(g.stock_s, e.step.step_s, 1e-9);
			assert_true(g.bound_s <= g.best_s);
			n_stock++;
		}
		close_setting(&s);
	}
	assert_true(n_stock > 100);
}

static void the_range_is_that_of_the_kind_of_run(void **state)
{
	struct weft_model dense = {.seq = 8192}, experts = {.experts = 8};
	struct weft_spec spec = {0}, longer = {.seq = 32768};

	(void)state;
	assert_int_equal(weft_run_kind(&spec, &dense), WEFT_RUN_DENSE);
	assert_int_equal(weft_run_kind(&longer, &dense), WEFT_RUN_LONG);
	assert_int_equal(weft_run_kind(&longer, &experts), WEFT_RUN_EXPERTS);
	for (int run = 0; run < WEFT_N_RUNS; run++)
		assert_true(weft_ranges[run].low < 1 &&
			    weft_ranges[run].high > 1);
}

static void what_no_published_run_was_like_is_said(void **state)
{
	const struct weft_seen *seen = &weft_seen[0];
	struct weft_seen run = *seen;
	char text[WEFT_UNSEEN_SIZE];

	(void)state;
	for (uint32_t i = 0; i < weft_n_seen; i++) {
		assert_false(weft_unseen(&weft_seen[i], text, sizeof(text)));
		assert_string_equal(text, "");
	}
	run.n_gpus = seen->n_gpus + 1;
	assert_true(weft_unseen(&run, text, sizeof(text)));
	assert_non_null(strstr(text, "GPUs ("));
	run.tokens = UINT32_MAX;
	run.widths = (1u << WEFT_N_PRECISIONS) - 1;
	run.between = true;
	assert_true(weft_unseen(&run, text, sizeof(text)));
	assert_non_null(strstr(text, "4294967295 tokens"));
	assert_non_null(strstr(text, "4-bit products"));
	assert_non_null(strstr(text, "experts beyond an NVLink domain"));
	assert_true(strlen(text) + 1 < sizeof(text));
	run = (struct weft_seen){.gpu = "V100", .experts = true};
	assert_true(weft_unseen(&run, text, sizeof(text)));
	assert_string_equal(text,
			    "no published run of models with experts on V100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_is_no_slower_than_ranks_in_order),
		cmocka_unit_test(stock_packs_into_the_switch_that_fits_best),
		cmocka_unit_test(stock_uses_the_nodes_that_the_user_names),
		cmocka_unit_test(stock_takes_light_nodes_first),
		cmocka_unit_test(stock_numbers_ranks_by_the_names_of_nodes),
		cmocka_unit_test(an_open_job_gets_the_fewest_equal_shares),
		cmocka_unit_test(spread_goes_round_the_outermost_domains),
		cmocka_unit_test(no_part_of_a_fabric_is_left),
		cmocka_unit_test(steps_are_compared_where_the_model_is_named),
		cmocka_unit_test(a_job_inside_one_node_does_not_care),
		cmocka_unit_test(without_a_model_communication_is_compared),
		cmocka_unit_test(a_precision_that_the_gpu_lacks_is_no_mistake),
		cmocka_unit_test(the_load_of_others_counts),
		cmocka_unit_test(no_step_is_shorter_than_its_computation),
		cmocka_unit_test(what_there_is_no_time_for_is_left_out),
		cmocka_unit_test(seconds_are_those_of_the_clock),
		cmocka_unit_test(the_range_is_that_of_the_kind_of_run),
		cmocka_unit_test(what_no_published_run_was_like_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
