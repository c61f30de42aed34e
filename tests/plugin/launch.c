/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.c - what srun and tasks are told of an order */
#include "plugin/bridge/launch/launch.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

static struct weft_rank_map rank_map_of(const char *text)
{
	struct weft_error err = {0};
	struct weft_rank_map r;

	weft_rank_map_decode(text, &r, &err);
	assert_no_error(&err);
	return r;
}

static void a_step_gets_a_node_for_each_task_in_rank_order(void **state)
{
	struct weft_rank_map r =
		rank_map_of("1;job=1;nodes=n[3,1];ranks=0-1:0,0-1:1");
	char *nodes;

	(void)state;
	nodes = weft_launch_nodes(&r, 4);
	assert_string_equal(nodes, "n3,n1,n3,n1");
	free(nodes);
	nodes = weft_launch_nodes(&r, 2);
	assert_string_equal(nodes, "n3,n1");
	free(nodes);
	for (uint32_t n = 0; n < 10; n++)
		if (n != 2 && n != 4)
			assert_null(weft_launch_nodes(&r, n));
	weft_rank_map_free(&r);
}

static void the_jobs_nodes_must_be_the_orders(void **state)
{
	struct weft_rank_map r =
		rank_map_of("1;job=1;nodes=n[3,1];ranks=0-1:0");

	(void)state;
	assert_true(weft_launch_same_nodes(&r, "n[1,3]"));
	assert_true(weft_launch_same_nodes(&r, "n3,n1"));
	assert_false(weft_launch_same_nodes(&r, "n[1-3]"));
	assert_false(weft_launch_same_nodes(&r, "n1"));
	assert_false(weft_launch_same_nodes(&r, "n1,n1"));
	assert_false(weft_launch_same_nodes(&r, "n[1,4]"));
	assert_false(weft_launch_same_nodes(&r, ""));
	weft_rank_map_free(&r);
}

static void tasks_are_counted_node_by_node(void **state)
{
	struct weft_rank_map r =
		rank_map_of("1;job=1;nodes=n[3,1,2];ranks=0:0,1:0-1,2:0,0:1");
	static const struct {
		const char *tasks;
		bool same;
	} cases[] = {
		/* of n1, n2, n3 */
		{"2,1,2", true},	  {"2(x3)", false},
		{"1,2(x2)", false},	  {"2,1", false},
		{"2,1,2,1", false},	  {"", false},
		{"2,1,2(x99999)", false}, {"2,1,2(x1)", true},
		{"2,1,2,", false},	  {"2;1;2", false},
		{"2(x", false},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		assert_int_equal(
			weft_launch_task_per_rank(&r, "n[1-3]", cases[k].tasks),
			cases[k].same);
	assert_false(weft_launch_task_per_rank(&r, "n[1-4]", "2,1,2,1"));
	assert_int_equal(weft_launch_most(&r), 2);
	assert_int_equal(weft_launch_nth_rank(&r, 0, 0), 0);
	assert_int_equal(weft_launch_nth_rank(&r, 0, 1), 4);
	assert_int_equal(weft_launch_nth_rank(&r, 0, 2), WEFT_NONE);
	weft_rank_map_free(&r);
}

static void gpus_follow_the_nodes_ranks(void **state)
{
	struct weft_rank_map r =
		rank_map_of("1;job=1;nodes=a,b;ranks=0:6,1:0,0:3,1:1,0:5");
	static const struct {
		uint32_t node;
		const char *list, *wanted; /* NULL: as it is */
	} cases[] = {
		{0, "3,5,6", "6,3,5"}, /* numbered as the node has them */
		{0, "0,1,2", "2,0,1"}, /* as the job's cgroup has */
		{0, "GPU-a,GPU-b,GPU-c", "GPU-c,GPU-a,GPU-b"},
		{1, "0,1", NULL}, /* in order */
		{0, "3,5", NULL}, /* a task with GPUs of its own */
		{0, "3", NULL},
		{0, "", NULL},
		{0, "3,,5", NULL},
		{0, "3,5,6,", NULL},
		{0, "3,5,6,7", NULL},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		char text[64] = "";
		bool moved = weft_launch_gpus(&r, cases[k].node, cases[k].list,
					      text, sizeof(text));

		assert_int_equal(moved, cases[k].wanted != NULL);
		if (moved)
			assert_string_equal(text, cases[k].wanted);
	}
	weft_rank_map_free(&r);
}

static const char *value_of(const struct weft_variable *variables, uint32_t n,
			    const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(variables[i].name, name) == 0)
			return variables[i].value;
	return "(none)";
}

#define EXPERTS "NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN"

static void frameworks_find_their_variables(void **state)
{
	struct weft_task task = {
		.rank = 5,
		.world = 8,
		.local_rank = 1,
		.local_world = 4,
		.node = 1,
		.n_nodes = 2,
		.master = "n03",
		.job_id = 123456,
		.step_id = 2,
	};
	struct weft_variable v[WEFT_LAUNCH_MAX_VARIABLES];
	uint32_t n = weft_launch_variables(&task, v);

	(void)state;
	assert_string_equal(value_of(v, n, "RANK"), "5");
	assert_string_equal(value_of(v, n, "WORLD_SIZE"), "8");
	assert_string_equal(value_of(v, n, "LOCAL_RANK"), "1");
	assert_string_equal(value_of(v, n, "LOCAL_WORLD_SIZE"), "4");
	assert_string_equal(value_of(v, n, "NODE_RANK"), "1");
	assert_string_equal(value_of(v, n, "GROUP_RANK"), "1");
	assert_string_equal(value_of(v, n, "GROUP_WORLD_SIZE"), "2");
	assert_string_equal(value_of(v, n, "MASTER_ADDR"), "n03");
	assert_string_equal(value_of(v, n, "MASTER_PORT"), "23458");
	assert_string_equal(value_of(v, n, "NVLINK_DOMAIN_SIZE"), "(none)");
	assert_string_equal(value_of(v, n, "USE_MNNVL"), "(none)");
	assert_string_equal(value_of(v, n, "SLURM_NODEID"), "(none)");
	task.env = WEFT_ENV_LIGHTNING;
	task.nvlink = (struct weft_rank_nvlink){72, 18, 32};
	n = weft_launch_variables(&task, v);
	assert_int_equal(n, WEFT_LAUNCH_MAX_VARIABLES);
	assert_string_equal(value_of(v, n, "NVLINK_DOMAIN_SIZE"), "72");
	assert_string_equal(value_of(v, n, "USE_MNNVL"), "1");
	assert_string_equal(value_of(v, n, EXPERTS), "32");
	assert_string_equal(value_of(v, n, "SLURM_NODEID"), "1");
	task.nvlink = (struct weft_rank_nvlink){8, 1, 0};
	n = weft_launch_variables(&task, v);
	assert_string_equal(value_of(v, n, "USE_MNNVL"), "0");
	assert_string_equal(value_of(v, n, EXPERTS), "(none)");
	task.master = NULL;
	task.job_id = UINT32_MAX;
	task.step_id = UINT32_MAX;
	n = weft_launch_variables(&task, v);
	assert_string_equal(value_of(v, n, "MASTER_ADDR"), "(none)");
	assert_string_equal(value_of(v, n, "MASTER_PORT"), "24590");
}

static void an_order_goes_by_node_or_not(void **state)
{
	static const struct {
		const char *text;
		bool by_node;
	} cases[] = {
		{"1;job=1;nodes=n[2,0];ranks=0-1:0-1", true},
		{"1;job=1;nodes=n[2,0];ranks=0:0,1:0-1,0:1", false},
		{"1;job=1;nodes=n[2,0];ranks=0:3,1:0-1", true},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct weft_rank_map r;

		assert_int_equal(weft_rank_map_decode(cases[k].text, &r, NULL),
				 0);
		assert_int_equal(weft_launch_by_node(&r), cases[k].by_node);
		weft_rank_map_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_step_gets_a_node_for_each_task_in_rank_order),
		cmocka_unit_test(the_jobs_nodes_must_be_the_orders),
		cmocka_unit_test(tasks_are_counted_node_by_node),
		cmocka_unit_test(gpus_follow_the_nodes_ranks),
		cmocka_unit_test(frameworks_find_their_variables),
		cmocka_unit_test(an_order_goes_by_node_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
