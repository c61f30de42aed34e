/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bridge.c - placing requests and telling how it went, without Slurm */
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/gain.h"

#include "base/clock.h"
#include "tests/lib/fabric.h"
#include "topology/synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct weft_model house = {
	.name = "house",
	.layers = 4,
	.hidden = 256,
	.ffn = 1024,
	.heads = 8,
	.kv_heads = 8,
	.vocab = 1000,
	.seq = 512,
};

struct world {
	struct weft_settings settings;
	struct weft_bridge bridge;
	struct weft_occupancy occupancy;
};

static int setup_profile(void **state, const char *profile)
{
	struct world *w = calloc(1, sizeof(*w));
	struct weft_error err = {0};
	const struct weft_synth_options options = {.profile = profile};

	assert_non_null(w);
	w->settings.mode = WEFT_MODE_PLACE;
	w->settings.fabric = test_synth("pod:2 leaf:2 node:4 gpu:8", &options);
	w->settings.models = &house;
	w->settings.n_models = 1;
	w->bridge.settings = &w->settings;
	assert_int_equal(
		weft_occupancy_build(w->settings.fabric, &w->occupancy, &err),
		0);
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return setup_profile(state, NULL);
}

/* Links between pods are narrow. */
static int setup_narrow(void **state)
{
	return setup_profile(state, "roce-llama3");
}

static int teardown(void **state)
{
	struct world *w = *state;

	weft_bridge_clear(&w->bridge);
	assert_int_equal(w->bridge.n_edges, 0);
	weft_occupancy_free(&w->occupancy);
	weft_fabric_free(w->settings.fabric);
	free(w);
	return 0;
}

static void a_request_gets_its_shape(void **state)
{
	struct world *w = *state;
	const struct weft_request request = {.spec = "tp=8,pp=2,dp=2"};
	const struct weft_shape shape = {32, 8, 4, 4};
	struct weft_placement p = {0};
	struct weft_error err = {0};

	assert_int_equal(weft_bridge_place(&w->bridge, &request, &shape,
					   &w->occupancy, 0, &p, &err),
			 0);
	assert_no_error(&err);
	assert_true(p.placed);
	assert_int_equal(p.n_ranks, 32);
	assert_int_equal(p.n_nodes, 4);
	weft_placement_free(&p);
}

static void a_request_is_placed_as_the_command_line_places_it(void **state)
{
	struct world *w = *state;
	const struct weft_request request = {
		.spec = "gpus=32,gpus_per_node=8,tp=8,pp=2"};
	const struct weft_shape shape = {32, 8, 4, 4};
	const struct weft_place_options options = {0};
	struct weft_placement ours = {0}, theirs = {0};
	struct weft_error err = {0};
	struct weft_job job;

	assert_int_equal(weft_job_build(request.spec, 0, true,
					w->settings.fabric, &job, &err),
			 0);
	assert_int_equal(weft_place(w->settings.fabric, &job, &w->occupancy,
				    &options, &theirs, &err),
			 0);
	assert_int_equal(weft_bridge_place(&w->bridge, &request, &shape,
					   &w->occupancy, 0, &ours, &err),
			 0);
	assert_memory_equal(ours.where, theirs.where, 32 * sizeof(*ours.where));
	weft_placement_free(&ours);
	weft_placement_free(&theirs);
	weft_job_free(&job);
}

static void a_full_cluster_is_an_answer(void **state)
{
	struct world *w = *state;
	const struct weft_request request = {0};
	const struct weft_shape shape = {32, 8, 4, 4};
	struct weft_placement p = {0};
	struct weft_error err = {0};

	for (uint32_t n = 0; n < w->settings.fabric->n_nodes - 3; n++)
		weft_occupancy_take(&w->occupancy, n, 1);
	assert_int_equal(weft_bridge_place(&w->bridge, &request, &shape,
					   &w->occupancy, 0, &p, &err),
			 0);
	assert_false(p.placed);
	weft_placement_free(&p);
}

static void no_spec_is_one_data_parallel_group(void **state)
{
	struct world *w = *state;
	struct weft_error err = {0};
	const struct weft_job *job =
		weft_bridge_job(&w->bridge, NULL, 24, &err);

	assert_no_error(&err);
	assert_non_null(job);
	assert_int_equal(job->spec.dp, 24);
	assert_int_equal(job->spec.tp, 1);
}

static void a_registered_model_needs_no_file(void **state)
{
	struct world *w = *state;
	struct weft_error err = {0};
	const struct weft_job *job =
		weft_bridge_job(&w->bridge, "tp=8,pp=2,model=House", 16, &err);

	assert_no_error(&err);
	assert_non_null(job);
	assert_int_equal(job->model.layers, 4);
	assert_int_equal(job->spec.seq, 512);
	assert_int_equal(job->n_gpus, 16);
}

static void a_user_can_name_no_file(void **state)
{
	static const char *const wrong[] = {
		"model=/etc/passwd", "model=../x.yaml", "traffic=/etc/passwd"};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};

		assert_null(weft_bridge_job(&w->bridge, wrong[i], 8, &err));
		assert_int_not_equal(err.code, 0);
	}
}

static void segments_and_parts_hold_for_the_nodes(void **state)
{
	/* leafs of 4 nodes that give 1, 2, 3 or 4 */
	static const struct {
		const char *spec;
		uint32_t leafs[5];
	} cases[] = {
		{"tp=8,segment=3", {[3] = 1, [2] = 1}},
		{"tp=8,split=2x2+1", {[2] = 2, [1] = 1}},
	};
	struct world *w = *state;
	const struct weft_fabric *f = w->settings.fabric;
	const struct weft_shape shape = {40, 8, 5, 5};
	uint32_t leaf = weft_fabric_level(f, "leaf");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct weft_request request = {.spec = cases[i].spec};
		uint32_t n[4] = {0}, leafs[5] = {0};
		struct weft_placement p = {0};
		struct weft_error err = {0};

		weft_bridge_place(&w->bridge, &request, &shape, &w->occupancy,
				  0, &p, &err);
		assert_no_error(&err);
		assert_true(p.placed);
		for (uint32_t k = 0; k < p.n_nodes; k++) {
			uint32_t gpu = f->nodes[p.nodes[k]].first_gpu;

			n[f->gpu_domain[leaf][gpu] -
			  f->levels[leaf].first_domain]++;
		}
		for (uint32_t k = 0; k < 4; k++)
			leafs[n[k]]++;
		for (uint32_t k = 1; k < 5; k++)
			assert_int_equal(leafs[k], cases[i].leafs[k]);
		weft_placement_free(&p);
	}
}

static void replicas_are_spread_over_what_fails_together(void **state)
{
	struct world *w = *state;
	const struct weft_fabric *f = w->settings.fabric;
	struct weft_error err = {0};
	const struct weft_request request = {
		.spec = "tp=8,pp=2,dp=2,spread=failure-domain",
	};
	const struct weft_shape shape = {32, 8, 4, 4};
	const struct weft_domain *leaf;
	struct weft_placement p = {0};
	uint32_t level = weft_fabric_level(f, "leaf");

	assert_int_equal(weft_bridge_place(&w->bridge, &request, &shape,
					   &w->occupancy, 0, &p, &err),
			 0);
	assert_true(p.placed);
	leaf = &f->domains[f->gpu_domain[level][p.where[0]]];
	/* replicas are ranks 0-7 and 16-23, 8-15 and 24-31 */
	for (uint32_t r = 0; r < 32; r++)
		assert_int_equal(
			&f->domains[f->gpu_domain[level][p.where[r]]] == leaf,
			r / 8 % 2 == 0);
	weft_placement_free(&p);
}

static void a_wrong_spec_is_wrong_every_time(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < 3; i++) {
		struct weft_error err = {0};

		assert_null(weft_bridge_job(&w->bridge, "ddp=4", 8, &err));
		assert_error_says(&err, "ddp");
	}
}

static void the_same_question_is_built_once(void **state)
{
	struct world *w = *state;
	const struct weft_job *first =
		weft_bridge_job(&w->bridge, "tp=8", 16, NULL);

	assert_ptr_equal(weft_bridge_job(&w->bridge, "tp=8", 16, NULL), first);
	assert_ptr_not_equal(weft_bridge_job(&w->bridge, "tp=8", 32, NULL),
			     first);
	assert_ptr_not_equal(weft_bridge_job(&w->bridge, "tp=4", 16, NULL),
			     first);
}

static void what_is_kept_is_bounded(void **state)
{
	struct world *w = *state;

	for (uint32_t n = 1; n <= 3 * WEFT_MAX_BUILT; n++)
		assert_non_null(weft_bridge_job(&w->bridge, "tp=1", n, NULL));
	/* A job of a million edges, then two more: one has to go. */
	for (uint32_t n = 0; n < 3; n++)
		assert_non_null(weft_bridge_job(&w->bridge, "algorithm=ring",
						(1u << 20) - n, NULL));
	assert_true(w->bridge.n_edges <= UINT64_C(1) << 21);
}

/* A user's environment may have megabytes. */
static void a_spec_that_is_too_long_is_not_kept(void **state)
{
	struct world *w = *state;
	const size_t size = 1u << 20;
	char *spec = malloc(size);
	struct weft_error err = {0};

	assert_non_null(spec);
	memset(spec, '8', size);
	memcpy(spec, "tp=", 3);
	spec[size - 1] = '\0';
	assert_null(weft_bridge_job(&w->bridge, spec, 8, &err));
	assert_int_equal(err.code, WEFT_EINVAL);
	for (uint32_t i = 0; i < WEFT_MAX_BUILT; i++)
		assert_null(w->bridge.built[i].spec);
	free(spec);
}

static void fill_where(uint32_t *where, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		where[i] = first + i;
}

static void the_user_reads_cost_levels_and_choice(void **state)
{
	struct world *w = *state;
	uint32_t where[64];
	struct weft_account account = {
		.spec = "tp=8,dp=8",
		.planned = true,
		.bound = 0.001,
		.n_gpus = 64,
		.where = where,
	};
	struct weft_account with_model = account;
	char text[WEFT_TEXT_SIZE];

	fill_where(where, 0, 64);
	weft_bridge_tell(&w->bridge, &account, text);
	assert_ptr_equal(strstr(text, "weft: cost="), text);
	assert_non_null(strstr(text, " bound=0.001 gap="));
	assert_non_null(strstr(text, " spans 1 pod, 2 leaf; nodes=plan"));
	assert_null(strstr(text, "part of"));
	assert_null(strstr(text, "no spec"));
	assert_null(strstr(text, "step="));
	with_model.spec = "tp=8,dp=8,model=llama3-70B";
	weft_bridge_tell(&w->bridge, &with_model, text);
	assert_non_null(strstr(text, " step="));
	/* the range, then where */
	assert_non_null(strstr(text, "s("));
	assert_non_null(strstr(text, ") spans"));
	account.spec = "tp=8,dp=8,metric=hops";
	weft_bridge_tell(&w->bridge, &account, text);
	assert_non_null(strstr(text, "(hops) bound="));
}

/* The state of the job's start: two nodes of a pod are free, six of the other.
 */
static void compare(struct world *w, struct weft_account *account,
		    const char *spec, struct weft_baselines *baselines,
		    char text[WEFT_TEXT_SIZE])
{
	const struct weft_shape shape = {32, 8, 4, 4};
	struct weft_error err = {0};

	weft_occupancy_free(&w->occupancy);
	weft_occupancy_build(w->settings.fabric, &w->occupancy, &err);
	weft_occupancy_busy(&w->occupancy, "n[00-05,08,12]", &err);
	assert_no_error(&err);
	account->spec = spec;
	assert_int_equal(weft_gain_baselines(&w->bridge, spec, &shape,
					     &w->occupancy, baselines),
			 0);
	account->baselines = baselines;
	weft_bridge_tell(&w->bridge, account, text);
	assert_int_equal(account->compared, account->compare_s > 0);
}

static void the_user_reads_what_the_nodes_bring(void **state)
{
	struct world *w = *state;
	struct weft_baselines b = {0};
	uint32_t where[32];
	struct weft_account account = {
		.planned = true,
		.bound = (double)NAN,
		.n_gpus = 32,
		.where = where,
		.compare_s = 60,
	};
	char text[WEFT_TEXT_SIZE];

	/* the pods in turn: a loss, and told as one */
	for (uint32_t n = 0; n < 4; n++)
		fill_where(where + 8 * n, 48 + n % 2 * 24 + n / 2 * 8, 8);
	compare(w, &account, "tp=2,zero=3,model=llama3-8B", &b, text);
	assert_non_null(strstr(text, ") stock="));
	assert_non_null(strstr(text, "s gain=-"));
	assert_true(account.gain.gain < -0.05);
	assert_non_null(strstr(text, "% least="));
	assert_true(account.gain.here_s == account.step_s);
	weft_baselines_free(&b);
	/* the spec names no model */
	compare(w, &account, "tp=2,zero=3", &b, text);
	assert_null(strstr(text, "step="));
	assert_non_null(strstr(text, " communication="));
	assert_non_null(strstr(text, "xstock spans"));
	weft_baselines_free(&b);
	/* without time nothing is begun */
	account.compare_s = 1e-9;
	compare(w, &account, "tp=2,zero=3,model=llama3-8B", &b, text);
	assert_non_null(strstr(text, " gain=late spans"));
	assert_null(strstr(text, "stock="));
	weft_baselines_free(&b);
	account.compare_s = 0;
	compare(w, &account, "tp=2,zero=3,model=llama3-8B", &b, text);
	assert_null(strstr(text, "gain="));
	weft_baselines_free(&b);
}

static void the_user_reads_that_any_nodes_do(void **state)
{
	static const struct weft_shape shape = {8, 8, 1, 1};
	struct world *w = *state;
	struct weft_baselines b = {0};
	uint32_t where[8];
	struct weft_account account = {
		.spec = "tp=8,model=llama3-8B",
		.planned = true,
		.bound = (double)NAN,
		.n_gpus = 8,
		.where = where,
		.compare_s = 60,
		.baselines = &b,
	};
	char text[WEFT_TEXT_SIZE];

	fill_where(where, 24, 8);
	assert_int_equal(weft_gain_baselines(&w->bridge, account.spec, &shape,
					     &w->occupancy, &b),
			 0);
	weft_bridge_tell(&w->bridge, &account, text);
	assert_non_null(strstr(text, " (any nodes: within 0.3%) spans"));
	assert_false(account.gain.matters);
	weft_baselines_free(&b);
}

/* Of stock's own choice only the order of the ranks is compared. */
static void nodes_of_stocks_choice_bring_nothing(void **state)
{
	struct world *w = *state;
	uint32_t where[32], given[32];
	struct weft_baselines b = {.stock = given};
	struct weft_account account = {
		.spec = "tp=2,zero=3,model=llama3-8B",
		.reason = "too little is free now",
		.bound = (double)NAN,
		.n_gpus = 32,
		.where = where,
		.compare_s = 60,
		.baselines = &b,
	};
	char text[WEFT_TEXT_SIZE];

	fill_where(where, 0, 32);
	fill_where(given, 0, 32);
	weft_bridge_tell(&w->bridge, &account, text);
	assert_null(strstr(text, "gain="));
	/* neighbours parted, by Slurm's order */
	for (uint32_t r = 0; r < 32; r++)
		given[r] = r % 4 * 32 + r / 4;
	weft_bridge_tell(&w->bridge, &account, text);
	assert_non_null(strstr(text, " gain="));
	assert_null(strstr(text, "gain=-"));
}

static void the_user_reads_the_time_and_a_spec_that_nobody_shows(void **state)
{
	struct world *w = *state;
	uint32_t where[8];
	char long_spec[WEFT_SHOWN_SPEC + 2];
	struct weft_account account = {
		.spec = "tp=8",
		.planned = true,
		.bound = (double)NAN,
		.n_gpus = 8,
		.where = where,
		.decision_s = 0.00123,
		.show_spec = true,
	};
	char text[WEFT_TEXT_SIZE];
	static const char end[] = "; nodes=plan; decided=1.23ms; spec=tp=8";

	fill_where(where, 0, 8);
	weft_bridge_tell(&w->bridge, &account, text);
	assert_string_equal(text + strlen(text) - strlen(end), end);
	memset(long_spec, 'a', sizeof(long_spec) - 1);
	long_spec[sizeof(long_spec) - 1] = '\0';
	account.spec = long_spec;
	weft_bridge_tell(&w->bridge, &account, text);
	assert_null(strstr(text, "spec="));
	account.spec = "tp=8 | weft: time=0";
	weft_bridge_tell(&w->bridge, &account, text);
	assert_null(strstr(text, "spec="));
}

static void the_user_reads_why_stock_chose(void **state)
{
	struct world *w = *state;
	uint32_t where[12];
	struct weft_account account = {
		.reason = "too little is free now",
		.bound = (double)NAN,
		.n_partial = 1,
		.n_gpus = 12,
		.where = where,
	};
	char text[WEFT_TEXT_SIZE];

	fill_where(where, 0, 12);
	weft_bridge_tell(&w->bridge, &account, text);
	assert_null(strstr(text, "bound"));
	assert_non_null(strstr(text, "; nodes=stock (too little is free now)"));
	assert_non_null(strstr(text, "; part of 1 node;"));
	assert_non_null(strstr(text, "no spec, taken as dp=12"));
}

/* Domains are numbered level by level: on more than a few nodes the leafs' own
 * numbers are far beyond their count. */
static void levels_of_a_large_fabric_are_counted(void **state)
{
	struct weft_settings settings = {.mode = WEFT_MODE_PLACE};
	struct weft_bridge bridge = {.settings = &settings};
	uint32_t where[8];
	struct weft_account account = {.spec = "dp=8",
				       .planned = true,
				       .bound = (double)NAN,
				       .n_gpus = 8,
				       .where = where};
	char text[WEFT_TEXT_SIZE];

	(void)state;
	settings.fabric = test_synth("leaf:200 node:5 gpu:1", NULL);
	fill_where(where, 992, 8);
	weft_bridge_tell(&bridge, &account, text);
	assert_non_null(strstr(text, " spans 2 leaf; "));
	weft_bridge_clear(&bridge);
	weft_fabric_free(settings.fabric);
}

static void gpus_outside_the_fabric_have_no_cost(void **state)
{
	struct world *w = *state;
	uint32_t where[2] = {0, WEFT_NONE};
	struct weft_account account = {.spec = "tp=2",
				       .bound = (double)NAN,
				       .n_gpus = 2,
				       .where = where};
	char text[WEFT_TEXT_SIZE];

	weft_bridge_tell(&w->bridge, &account, text);
	assert_non_null(strstr(text, "not in the fabric"));
	assert_null(strstr(text, "cost="));
}

static void an_error_is_shown_in_ascii_and_bounded(void **state)
{
	struct weft_error err = {0};
	char text[WEFT_REASON_SIZE];

	(void)state;
	weft_fail(&err, WEFT_EINVAL, "a\nb\x1b[31m\xc3\xa9|%0300d", 7);
	weft_bridge_escape(&err, text);
	assert_int_equal(strlen(text), WEFT_REASON_SIZE - 1);
	assert_ptr_equal(strstr(text, "a?b?[31m??"), text);
	assert_null(strchr(text, '|'));
}

static void what_weft_said_before_is_replaced(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{"", ""},
		{"weft: time=1; nodes=plan", ""},
		{"somebody else", "somebody else"},
		{"weft: a | somebody else | weft: b", "somebody else"},
		{"one | weft: a | two", "one | two"},
		{"one |two | weft: a", "one |two"},
		{"weft: a | weft: b | weft: c", ""},
		{"weft is not weft: a", "weft is not weft: a"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].before);
		weft_bridge_strip(text);
		assert_string_equal(text, cases[i].after);
	}
}

static void an_all_to_all_too_large_counts_as_rings(void **state)
{
	struct world *w = *state;
	struct weft_error err = {0};
	const struct weft_job *job = weft_bridge_job(
		&w->bridge, "ep=256,model=deepseek-v3", 16384, &err);

	assert_no_error(&err);
	assert_int_equal(job->n_gpus, 16384);
	assert_true(job->traffic.n_edges < 16 * job->n_gpus);
}

/* A small place is found at once, and what it costs is not looked at. */
/* Others have the processor while this thread sleeps. */
static void a_budget_does_not_count_what_others_do(void **state)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	double start_s, until_s;

	(void)state;
	weft_deadline_set(weft_worked_s() + 10);
	start_s = weft_budget_clock_s();
	until_s = start_s + 0.025;
	assert_false(weft_budget_passed(until_s));
	nanosleep(&pause, NULL);
	assert_false(weft_budget_passed(until_s));
	assert_true(weft_budget_clock_s() < until_s);
	while (weft_worked_s() < until_s)
		continue;
	assert_true(weft_budget_passed(until_s));
	weft_deadline_set(0);
	start_s = weft_budget_clock_s();
	nanosleep(&pause, NULL);
	assert_true(weft_budget_passed(start_s + 0.05));
}

static void a_late_decision_is_by_structure(void **state)
{
	struct world *w = *state;
	const struct weft_request request = {.spec = "tp=8",
					     .gpus_per_node = 8};
	const struct weft_shape shape = {16, 8, 2, 2};
	struct weft_placement p;
	struct weft_error err = {0};

	weft_deadline_set(1e-9);
	assert_int_equal(weft_deadline_check(&err), -1);
	assert_int_equal(err.code, WEFT_ELATE);
	err = (struct weft_error){0};
	assert_int_equal(weft_bridge_place(&w->bridge, &request, &shape,
					   &w->occupancy, 1, &p, &err),
			 0);
	assert_no_error(&err);
	assert_string_equal(p.method, "first");
	assert_true(isnan(p.cost.total[p.metric]));
	assert_int_equal(p.n_nodes, 2);
	weft_placement_free(&p);
	weft_deadline_set(0);
	/* and the next one is not late */
	assert_int_equal(weft_bridge_place(&w->bridge, &request, &shape,
					   &w->occupancy, 0, &p, &err),
			 0);
	assert_no_error(&err);
	assert_false(isnan(p.cost.total[p.metric]));
	weft_placement_free(&p);
}

/* Half a microsecond a rank is not enough for its traffic, but for its place.
 */
static void without_time_structure_decides(void **state)
{
	struct weft_settings settings = {.budget_s = 0.02};
	struct weft_bridge *bridge = calloc(1, sizeof(*bridge));
	struct weft_error err = {0};
	const struct weft_request request = {
		.spec = "tp=8,segment=16,within=pod,model=llama3-405B",
		.gpus_per_node = 8,
	};
	const struct weft_shape shape = {65536, 8, 8192, 8192};
	struct weft_occupancy o = {0};
	struct weft_placement p;

	(void)state;
	settings.fabric = test_synth("pod:2 leaf:256 node:32 gpu:8", NULL);
	bridge->settings = &settings;
	assert_int_equal(weft_occupancy_build(settings.fabric, &o, &err), 0);
	assert_int_equal(weft_bridge_place(bridge, &request, &shape, &o, 0.019,
					   &p, &err),
			 0);
	assert_true(p.placed);
	assert_int_equal(p.n_nodes, 8192);
	assert_string_equal(p.method, "first");
	weft_placement_free(&p);
	weft_occupancy_free(&o);
	weft_bridge_clear(bridge);
	weft_fabric_free(settings.fabric);
	free(bridge);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_budget_does_not_count_what_others_do),
		CASE(a_request_gets_its_shape),
		CASE(a_request_is_placed_as_the_command_line_places_it),
		CASE(a_full_cluster_is_an_answer),
		CASE(no_spec_is_one_data_parallel_group),
		CASE(a_registered_model_needs_no_file),
		CASE(a_user_can_name_no_file),
		CASE(segments_and_parts_hold_for_the_nodes),
		CASE(replicas_are_spread_over_what_fails_together),
		CASE(a_wrong_spec_is_wrong_every_time),
		CASE(the_same_question_is_built_once),
		CASE(a_spec_that_is_too_long_is_not_kept),
		CASE(what_is_kept_is_bounded),
		CASE(the_user_reads_cost_levels_and_choice),
		CASE(the_user_reads_the_time_and_a_spec_that_nobody_shows),
		CASE(the_user_reads_why_stock_chose),
		cmocka_unit_test(levels_of_a_large_fabric_are_counted),
		cmocka_unit_test_setup_teardown(
			the_user_reads_what_the_nodes_bring, setup_narrow,
			teardown),
		cmocka_unit_test_setup_teardown(
			the_user_reads_that_any_nodes_do, setup, teardown),
		cmocka_unit_test_setup_teardown(
			nodes_of_stocks_choice_bring_nothing, setup, teardown),
		CASE(gpus_outside_the_fabric_have_no_cost),
		CASE(an_all_to_all_too_large_counts_as_rings),
		CASE(a_late_decision_is_by_structure),
		cmocka_unit_test(without_time_structure_decides),
		cmocka_unit_test(what_weft_said_before_is_replaced),
		cmocka_unit_test(an_error_is_shown_in_ascii_and_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
