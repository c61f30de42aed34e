/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c - shapes of a request, and what a node adds */
#include "plugin/bridge/request.h"

#include "base/clock.h"
#include "tests/lib/check.h"

#include <stdio.h>

/* What a test looks at: the first shape, and how many there are. */
struct shape_case {
	const char *desc, *spec;
	struct weft_request request;
	uint32_t n_able, n_shapes;
	struct weft_shape first;
	const char *error; /* part of it; NULL: none */
};

static const struct shape_case shape_cases[] = {
	{
		.desc = "whole nodes",
		.request = {.min_nodes = 8, .max_nodes = 8, .gpus_per_node = 8},
		.n_shapes = 1,
		.first = {64, 8, 8, 8},
	},
	{
		.desc = "a range tries the wanted number first",
		.request = {.min_nodes = 2,
			    .max_nodes = 16,
			    .want_nodes = 16,
			    .gpus_per_node = 4},
		.n_shapes = 3,
		.first = {64, 4, 16, 16},
	},
	{
		.desc = "a range takes what there is",
		.request = {.min_nodes = 2,
			    .max_nodes = 16,
			    .want_nodes = 16,
			    .gpus_per_node = 4},
		.n_able = 5,
		.n_shapes = 3,
		.first = {20, 4, 5, 5},
	},
	{
		.desc = "a range keeps to multiples of the axes",
		.spec = "tp=4,pp=4",
		.request = {.min_nodes = 2,
			    .max_nodes = 16,
			    .want_nodes = 16,
			    .gpus_per_node = 8},
		.n_able = 7,
		.n_shapes = 3,
		.first = {48, 8, 6, 6},
	},
	{
		.desc = "a range keeps to multiples of the experts",
		.spec = "ep=16",
		.request = {.min_nodes = 1,
			    .max_nodes = 3,
			    .want_nodes = 3,
			    .gpus_per_node = 8},
		.n_shapes = 1,
		.first = {16, 8, 2, 2},
	},
	{
		.desc = "dense and expert layers share the ranks of a stage",
		.spec = "tp=4,ep=6,pp=2",
		.request = {.min_nodes = 1,
			    .max_nodes = 8,
			    .want_nodes = 8,
			    .gpus_per_node = 8},
		.n_shapes = 2,
		.first = {48, 8, 6, 6},
	},
	{
		.desc = "a range keeps to divisors of the batch",
		.spec = "tp=8,gbs=48,mbs=2",
		.request = {.min_nodes = 1,
			    .max_nodes = 64,
			    .want_nodes = 64,
			    .gpus_per_node = 8},
		.n_shapes = 3,
		.first = {192, 8, 24, 24},
	},
	{
		.desc = "a batch that no number of nodes shares",
		.spec = "tp=8,gbs=1",
		.request = {.min_nodes = 2,
			    .max_nodes = 4,
			    .want_nodes = 4,
			    .gpus_per_node = 8},
		.error = "axes and batch",
	},
	{
		.desc = "too few nodes is no error",
		.request = {.min_nodes = 4,
			    .max_nodes = 8,
			    .want_nodes = 8,
			    .gpus_per_node = 8},
		.n_able = 3,
		.n_shapes = 0,
	},
	{
		.desc = "the spec's size picks from the range",
		.spec = "tp=8,dp=4",
		.request = {.min_nodes = 1,
			    .max_nodes = 16,
			    .want_nodes = 16,
			    .gpus_per_node = 8},
		.n_shapes = 1,
		.first = {32, 8, 4, 4},
	},
	{
		.desc = "no limit on nodes is 0",
		.spec = "gpus=32",
		.request = {.min_nodes = 1, .gpus_per_node = 8},
		.n_shapes = 1,
		.first = {32, 8, 4, 4},
	},
	{
		.desc = "a total leaves the nodes open",
		.request = {.min_nodes = 1, .max_nodes = 0, .gpus_per_job = 10},
		.n_shapes = 1,
		.first = {10, 0, 1, 10},
	},
	{
		.desc = "a total and a number of nodes",
		.request = {.min_nodes = 2, .max_nodes = 2, .gpus_per_job = 10},
		.n_shapes = 1,
		.first = {10, 0, 2, 2},
	},
	{
		.desc = "a total on no more nodes than there are tasks",
		.request = {.min_nodes = 1, .gpus_per_job = 10, .n_tasks = 2},
		.n_shapes = 1,
		.first = {10, 0, 1, 2},
	},
	{
		.desc = "fewer tasks than nodes asked for",
		.request = {.min_nodes = 2,
			    .max_nodes = 4,
			    .gpus_per_job = 10,
			    .n_tasks = 1},
		.n_shapes = 1,
		.first = {10, 0, 2, 2},
	},
	{
		.desc = "a total with the spec's GPUs per node",
		.spec = "gpus_per_node=4",
		.request = {.min_nodes = 1, .gpus_per_job = 16},
		.n_shapes = 1,
		.first = {16, 4, 4, 4},
	},
	{
		.desc = "GPUs per task on nodes with equally many tasks",
		.request = {.min_nodes = 2,
			    .max_nodes = 2,
			    .gpus_per_task = 2,
			    .gpus_per_job = 8,
			    .n_tasks = 4},
		.n_shapes = 1,
		.first = {8, 4, 2, 2},
	},
	{
		.desc = "GPUs per task with tasks per node",
		.request = {.min_nodes = 1,
			    .gpus_per_task = 2,
			    .gpus_per_job = 16,
			    .n_tasks = 8,
			    .tasks_per_node = 4},
		.n_shapes = 1,
		.first = {16, 8, 2, 2},
	},
	{
		.desc = "both a total and GPUs per node",
		.request = {.min_nodes = 1,
			    .gpus_per_job = 16,
			    .gpus_per_node = 4},
		.n_shapes = 1,
		.first = {16, 4, 4, 4},
	},
	{
		.desc = "sizes that contradict each other",
		.spec = "gpus=64",
		.request = {.min_nodes = 4, .max_nodes = 4, .gpus_per_node = 8},
		.error = "64 GPUs, 8 on each node",
	},
	{
		.desc = "totals that contradict each other",
		.spec = "gpus=64",
		.request = {.min_nodes = 1, .gpus_per_job = 32},
		.error = "the spec says 64 GPUs, the job asks for 32",
	},
	{
		.desc = "GPUs per node that contradict each other",
		.spec = "gpus_per_node=4",
		.request = {.min_nodes = 4, .max_nodes = 4, .gpus_per_node = 8},
		.error = "gpus_per_node=4",
	},
	{
		.desc = "nodes that contradict each other",
		.spec = "nodes=2",
		.request = {.min_nodes = 4, .max_nodes = 4, .gpus_per_node = 8},
		.error = "nodes=2",
	},
	{
		.desc = "a range of nodes narrows that of the request",
		.spec = "nodes=3-6",
		.request = {.min_nodes = 2,
			    .max_nodes = 16,
			    .want_nodes = 16,
			    .gpus_per_node = 8},
		.n_shapes = 3,
		.first = {48, 8, 6, 6},
	},
	{
		.desc = "a range of nodes that contradicts the request",
		.spec = "nodes=3-6",
		.request = {.min_nodes = 8, .max_nodes = 8, .gpus_per_node = 8},
		.error = "nodes=3 or more",
	},
	{
		.desc = "a split has as many nodes as its parts",
		.spec = "split=2x2+1",
		.request = {.min_nodes = 1,
			    .max_nodes = 16,
			    .want_nodes = 16,
			    .gpus_per_node = 8},
		.n_shapes = 1,
		.first = {40, 8, 5, 5},
	},
	{
		.desc = "a total that is no multiple of the axes",
		.spec = "tp=8",
		.request = {.min_nodes = 1, .gpus_per_job = 12},
		.error = "not a multiple",
	},
	{
		.desc = "no number of nodes is a multiple of the axes",
		.spec = "tp=3",
		.request = {.min_nodes = 4,
			    .max_nodes = 5,
			    .want_nodes = 5,
			    .gpus_per_node = 8},
		.error = "axes and batch",
	},
	{
		.desc = "a request without GPUs",
		.request = {.min_nodes = 1},
		.error = "neither",
	},
};

static void check_shapes(const struct shape_case *c)
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	struct weft_error err = {0};
	struct weft_frame frame;
	uint32_t n;

	assert_int_equal(weft_frame_read(c->spec ? c->spec : "", &frame, &err),
			 0);
	n = weft_request_shapes(&c->request, &frame,
				c->n_able ? c->n_able : UINT32_MAX, shapes,
				&err);
	if (c->error)
		assert_error_says(&err, c->error);
	else
		assert_no_error(&err);
	assert_int_equal(n, c->n_shapes);
	if (n)
		assert_memory_equal(&shapes[0], &c->first, sizeof(c->first));
}

static void shapes_follow_request_and_spec(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shape_cases) / sizeof(shape_cases[0]);
	     i++) {
		print_message("%s\n", shape_cases[i].desc);
		check_shapes(&shape_cases[i]);
	}
}

/* The range is the user's: "-N 1-2000000000". */
static void a_range_of_nodes_is_not_walked_through(void **state)
{
	const struct weft_request request = {
		.min_nodes = 1,
		.max_nodes = 2000000000,
		.want_nodes = 2000000000,
		.gpus_per_node = 7,
	};
	static const char *const specs[] = {"tp=1,gbs=1048573", "tp=5,gbs=6"};
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	double start_s = weft_worked_s();

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct weft_error err = {0};
		struct weft_frame frame;

		assert_int_equal(weft_frame_read(specs[i], &frame, &err), 0);
		weft_request_shapes(&request, &frame, UINT32_MAX, shapes, &err);
		if (frame.replica == 1)
			assert_error_says(&err, "comes out even");
	}
	assert_true(weft_worked_s() - start_s < 0.01);
}

/* As the walk from the most nodes down finds them. */
static void numbers_of_nodes_are_those_of_the_walk(void **state)
{
	struct weft_error err = {0};
	struct weft_frame frame;

	(void)state;
	for (uint32_t gbs = 0; gbs < 100; gbs++)
		for (uint32_t tp = 1; tp < 9; tp++)
			for (uint32_t per_node = 1; per_node < 9; per_node++) {
				const struct weft_request request = {
					.min_nodes = 2,
					.max_nodes = 40,
					.want_nodes = 37,
					.gpus_per_node = per_node,
				};
				struct weft_shape shapes[WEFT_MAX_SHAPES];
				uint32_t n, k = 0;
				char spec[64];

				snprintf(spec, sizeof(spec),
					 gbs ? "tp=%u,gbs=%u" : "tp=%u", tp,
					 gbs);
				assert_int_equal(
					weft_frame_read(spec, &frame, &err), 0);
				n = weft_request_shapes(&request, &frame, 30,
							shapes, NULL);
				for (uint32_t i = 30; i >= 2; i--) {
					uint32_t gpus = i * per_node;

					if (k == WEFT_MAX_SHAPES || gpus % tp ||
					    (gbs && gbs % (gpus / tp)))
						continue;
					assert_true(k < n);
					assert_int_equal(shapes[k].min_nodes,
							 i);
					assert_int_equal(shapes[k++].n_gpus,
							 gpus);
				}
				assert_int_equal(k, n);
			}
}

static void a_frame_refuses_what_the_grammar_refuses(void **state)
{
	static const char *const wrong[] = {
		"tp",
		"weft tp=4",
		"tp=4,traffic=x.csv",
		"ddp=4",
		"tp=0",
		"tp=8,tp=8",
		"gpus=16,tp=3,dp=4",
		"tp=1000000,cp=1000000,pp=1000000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};
		struct weft_frame frame;

		assert_int_equal(weft_frame_read(wrong[i], &frame, &err), -1);
		assert_int_not_equal(err.code, 0);
	}
}

struct usable_case {
	const char *desc;
	struct weft_request request;
	struct weft_shape shape;
	struct weft_capacity capacity;
	uint32_t usable;
};

#define ROOMY .cpus = 64, .cpus_per_core = 1, .memory_mb = 512000, .idle = true

static const struct usable_case usable_cases[] = {
	{
		.desc = "an idle node gives what is asked for",
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, ROOMY},
		.usable = 8,
	},
	{
		.desc = "half a node gives no whole one",
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xf0, ROOMY},
		.usable = 0,
	},
	{
		.desc = "an open request takes half a node",
		.shape = {64, 0, 1, 64},
		.capacity = {.gpus = 0xf0, ROOMY},
		.usable = 4,
	},
	{
		.desc = "tasks need their CPUs",
		.request = {.tasks_per_node = 8, .cpus_per_task = 4},
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, .cpus = 31, .memory_mb = 1},
		.usable = 0,
	},
	{
		.desc = "tasks of the whole job are spread evenly",
		.request = {.n_tasks = 16, .cpus_per_task = 4},
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, .cpus = 8, .memory_mb = 1},
		.usable = 8,
	},
	{
		.desc = "overcommitted tasks share a CPU",
		.request = {.tasks_per_node = 8, .overcommit = true},
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, .cpus = 1},
		.usable = 8,
	},
	{
		.desc = "CPUs per GPU bound the GPUs",
		.request = {.cpus_per_gpu = 8},
		.shape = {64, 0, 1, 64},
		.capacity = {.gpus = 0xff, .cpus = 30},
		.usable = 3,
	},
	{
		.desc = "CPUs go by cores",
		.request = {.cpus_per_gpu = 3},
		.shape = {64, 0, 1, 64},
		.capacity = {.gpus = 0xff, .cpus = 6, .cpus_per_core = 4},
		.usable = 1,
	},
	{
		.desc = "memory per GPU bounds the GPUs",
		.request = {.memory_counts = true, .memory_per_gpu_mb = 1000},
		.shape = {64, 0, 1, 64},
		.capacity = {.gpus = 0xff, .cpus = 64, .memory_mb = 5999},
		.usable = 5,
	},
	{
		.desc = "memory per node is all or nothing",
		.request = {.memory_counts = true, .memory_per_node_mb = 6000},
		.shape = {64, 0, 1, 64},
		.capacity = {.gpus = 0xff, .cpus = 64, .memory_mb = 5999},
		.usable = 0,
	},
	{
		.desc = "memory per CPU counts the CPUs",
		.request = {.memory_counts = true,
			    .memory_per_cpu_mb = 1000,
			    .tasks_per_node = 8},
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, .cpus = 64, .memory_mb = 7999},
		.usable = 0,
	},
	{
		.desc = "memory that is not handed out is not looked at",
		.request = {.memory_per_node_mb = 6000},
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, .cpus = 64, .memory_mb = 0},
		.usable = 8,
	},
	{
		.desc = "all the memory needs a node whose is untouched",
		.request = {.memory_counts = true, .memory_all = true},
		.shape = {64, 8, 8, 8},
		.capacity = {.gpus = 0xff, .memory_touched = true, ROOMY},
		.usable = 0,
	},
	{
		.desc = "a whole node is an idle one",
		.request = {.whole_nodes = true},
		.shape = {4, 4, 1, 1},
		.capacity = {.gpus = 0xff, .cpus = 64, .idle = false},
		.usable = 0,
	},
	{
		.desc = "GPUs of a task stay together",
		.request = {.gpus_per_task = 3},
		.shape = {12, 0, 1, 12},
		.capacity = {.gpus = 0xff, ROOMY},
		.usable = 6,
	},
	{
		.desc = "sixty-four GPUs",
		.shape = {128, 0, 1, 128},
		.capacity = {.gpus = UINT64_MAX, ROOMY},
		.usable = 64,
	},
};

static void nodes_give_what_their_cpus_and_memory_allow(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(usable_cases) / sizeof(usable_cases[0]);
	     i++) {
		const struct usable_case *c = &usable_cases[i];

		print_message("%s\n", c->desc);
		assert_int_equal(weft_request_usable(&c->request, &c->shape,
						     &c->capacity),
				 c->usable);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_follow_request_and_spec),
		cmocka_unit_test(a_range_of_nodes_is_not_walked_through),
		cmocka_unit_test(numbers_of_nodes_are_those_of_the_walk),
		cmocka_unit_test(a_frame_refuses_what_the_grammar_refuses),
		cmocka_unit_test(nodes_give_what_their_cpus_and_memory_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
