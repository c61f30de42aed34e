/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - whose order a started job gets, and what it is told */
#include "plugin/bridge/launch/ranks.h"

#include "tests/lib/fabric.h"

#include <stdlib.h>
#include <string.h>

struct world {
	struct weft_settings settings;
	struct weft_bridge bridge;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->settings.mode = WEFT_MODE_PLACE;
	w->settings.fabric = test_synth("leaf:2 node:4 gpu:4", NULL);
	w->bridge.settings = &w->settings;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	weft_bridge_clear(&w->bridge);
	weft_fabric_free(w->settings.fabric);
	free(w);
	return 0;
}

static struct weft_ranks settle(struct world *w,
				const struct weft_ranks_question *q)
{
	struct weft_ranks ranks;

	weft_ranks_settle(&w->bridge, q, &ranks);
	return ranks;
}

static void the_plans_gpus_keep_the_plans_order(void **state)
{
	struct world *w = *state;
	static const uint32_t given[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint32_t planned[] = {7, 0, 6, 1, 5, 2, 4, 3};
	const struct weft_ranks_question q = {
		.spec = "tp=2,dp=4",
		.n_gpus = 8,
		.given = given,
		.n_planned = 8,
		.planned = planned,
	};
	struct weft_ranks ranks = settle(w, &q);
	char text[WEFT_TEXT_SIZE] = "weft:";
	char *said;

	assert_int_equal(ranks.n, 8);
	assert_memory_equal(ranks.where, planned, sizeof(planned));
	assert_int_equal(ranks.env, WEFT_ENV_NONE);
	said = weft_ranks_text(w->settings.fabric, 9, &ranks);
	assert_non_null(strstr(said, "1;job=9;nodes="));
	free(said);
	weft_ranks_tell(&ranks, text);
	assert_string_equal(text, "weft:; ranks=plan");
	free(ranks.where);
}

/* Pairs of ranks that exchange most end up on one node each. */
static void other_gpus_are_ordered_anew(void **state)
{
	struct world *w = *state;
	static const uint32_t given[] = {0, 1, 4, 5, 8, 9, 12, 13};
	static const uint32_t planned[] = {2, 3, 6, 7, 10, 11, 14, 15};
	const struct weft_ranks_question q = {
		.spec = "tp=2,dp=4,order=dp-tp",
		.n_gpus = 8,
		.given = given,
		.n_planned = 8,
		.planned = planned,
		.budget_s = 1,
	};
	const struct weft_fabric *f = w->settings.fabric;
	struct weft_ranks ranks = settle(w, &q);

	assert_int_equal(ranks.n, 8);
	for (uint32_t r = 0; r < 4; r++)
		assert_int_equal(f->gpu_node[ranks.where[r]],
				 f->gpu_node[ranks.where[r + 4]]);
	free(ranks.where);
}

static void jobs_without_an_order_say_why(void **state)
{
	struct world *w = *state;
	static const uint32_t given[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint32_t foreign[] = {0, 1, 2, 3, 4, 5, 6, WEFT_NONE};
	static const struct {
		struct weft_ranks_question q;
		const char *why;
		bool torch;
	} cases[] = {
		{{.n_gpus = 8, .given = given}, "no spec", false},
		{{.spec = "dp=8", .n_gpus = 8, .given = foreign},
		 "some GPUs are not in the fabric",
		 false},
		{{.spec = "dp=8", .n_gpus = 0, .given = given},
		 "some GPUs are not in the fabric",
		 false},
		{{.spec = "tp=3", .n_gpus = 8, .given = given},
		 "the spec does not suit these GPUs",
		 false},
		{{.spec = "dp=8,ranks=leave,env=torch",
		  .n_gpus = 8,
		  .given = given},
		 "left to Slurm",
		 true},
		{{.spec = "dp=8", .leave = true, .n_gpus = 8, .given = given},
		 "left to Slurm",
		 false},
		{{.spec = "dp=8", .n_gpus = 8, .given = given},
		 "no time to order them",
		 false},
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct weft_ranks ranks = settle(w, &cases[k].q);
		char text[WEFT_TEXT_SIZE] = "", wanted[WEFT_TEXT_SIZE];
		char *said = weft_ranks_text(w->settings.fabric, 9, &ranks);

		assert_null(ranks.where);
		assert_string_equal(ranks.why, cases[k].why);
		if (cases[k].torch)
			assert_string_equal(said,
					    "1;job=9;env=torch;nvlink=4:1:0");
		else
			assert_null(said);
		free(said);
		snprintf(wanted, sizeof(wanted), "; ranks=slurm (%s)",
			 cases[k].why);
		weft_ranks_tell(&ranks, text);
		assert_string_equal(text, wanted);
	}
}

static void the_spec_overrules_the_admin(void **state)
{
	struct world *w = *state;
	static const uint32_t given[] = {0, 1, 2, 3};
	const struct weft_ranks_question q = {
		.spec = "dp=4,ranks=order,env=torch",
		.leave = true,
		.n_gpus = 4,
		.given = given,
		.n_planned = 4,
		.planned = given,
	};
	struct weft_ranks ranks = settle(w, &q);
	char *said = weft_ranks_text(w->settings.fabric, 9, &ranks);

	assert_int_equal(ranks.n, 4);
	assert_int_equal(ranks.env, WEFT_ENV_TORCH);
	assert_non_null(strstr(said, "1;job=9;env=torch;nvlink=4:1:0;nodes="));
	free(said);
	weft_ranks_drop(&ranks, "a reason");
	assert_null(ranks.where);
	assert_string_equal(ranks.why, "a reason");
}

/* Groups of experts as large as four ranks, in NVLink domains of one node. */
static void neighbours_among_experts_share_an_nvlink_domain(void **state)
{
	struct world *w = *state;
	static const uint32_t whole[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const uint32_t dealt[] = {0, 4, 1, 5, 2, 6, 3, 7};
	static const uint32_t mixed[] = {0, 1, 4, 5, 2, 3, 6, 7};
	static const struct {
		const char *spec;
		const uint32_t *where;
		uint32_t together;
	} cases[] = {
		{"dp=8,ep=4", whole, 4}, {"dp=8,ep=4", mixed, 2},
		{"dp=8,ep=4", dealt, 1}, {"dp=8,ep=8", whole, 4},
		{"dp=8,ep=8", mixed, 2}, {"dp=8", whole, 0},
	};

	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		char spec[200];
		struct weft_ranks_question q = {
			.spec = spec,
			.n_gpus = 8,
			.given = whole,
			.n_planned = 8,
			.planned = cases[k].where,
		};
		struct weft_ranks ranks;

		snprintf(spec, sizeof(spec), "%s,model=mixtral-8x7B,env=torch",
			 cases[k].spec);
		ranks = settle(w, &q);
		assert_non_null(ranks.where);
		assert_int_equal(ranks.nvlink.n_gpus, 4);
		assert_int_equal(ranks.nvlink.n_nodes, 1);
		assert_int_equal(ranks.nvlink.n_experts, cases[k].together);
		free(ranks.where);
	}
}

static void an_order_by_nodes_is_told_by_their_first_ranks(void **state)
{
	const struct world *w = *state;
	const struct weft_fabric *f = w->settings.fabric;
	uint32_t by_node[] = {8, 9, 0, 2, 1, 12};
	uint32_t mixed[] = {8, 0, 9, 1};
	struct weft_ranks ranks = {.n = 6, .where = by_node};
	uint32_t *first = weft_ranks_of_nodes(f, &ranks);

	assert_non_null(first);
	assert_int_equal(first[2], 0);
	assert_int_equal(first[0], 2);
	assert_int_equal(first[3], 5);
	assert_int_equal(first[1], WEFT_NONE);
	free(first);
	ranks.n = 4;
	ranks.where = mixed;
	assert_null(weft_ranks_of_nodes(f, &ranks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			neighbours_among_experts_share_an_nvlink_domain),
		cmocka_unit_test(the_plans_gpus_keep_the_plans_order),
		cmocka_unit_test(other_gpus_are_ordered_anew),
		cmocka_unit_test(jobs_without_an_order_say_why),
		cmocka_unit_test(the_spec_overrules_the_admin),
		cmocka_unit_test(
			an_order_by_nodes_is_told_by_their_first_ranks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
