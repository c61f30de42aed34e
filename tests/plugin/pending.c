/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c - what keeps a job waiting, in words */
#include "plugin/bridge/pending.h"

#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four leafs of four nodes of eight GPUs, two pods. */
static const char fabric_text[] = "weft: fabric/1\n"
				  "name: small\n"
				  "profile: dgx-h100-superpod\n"
				  "nodes:\n"
				  "  n[00-15]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    a: n[00-03]\n"
				  "    b: n[04-07]\n"
				  "    c: n[08-11]\n"
				  "    d: n[12-15]\n"
				  "  pod:\n"
				  "    p: a,b\n"
				  "    q: c,d\n";

static struct weft_settings settings = {.mode = WEFT_MODE_PLACE, .budget_s = 1};
static struct weft_bridge bridge = {.settings = &settings};
static struct weft_occupancy o;

static int setup(void **state)
{
	struct weft_error err = {0};

	(void)state;
	setenv("TZ", "UTC0", 1);
	settings.fabric = weft_fabric_parse(fabric_text, strlen(fabric_text),
					    "fabric", &err);
	return settings.fabric ? weft_occupancy_build(settings.fabric, &o, &err)
			       : -1;
}

static int teardown(void **state)
{
	(void)state;
	weft_bridge_clear(&bridge);
	weft_occupancy_free(&o);
	weft_fabric_free(settings.fabric);
	return 0;
}

/* A running job of the tests: all GPUs of some nodes. */
struct running {
	const char *nodes;
};

#define FIRST_ID 101

static void release(const void *context, const struct weft_ending *ending,
		    struct weft_occupancy *target)
{
	const struct running *jobs = context;
	const struct running *job = &jobs[ending->job_id - FIRST_ID];
	struct weft_occupancy busy = {0};

	assert_int_equal(weft_occupancy_build(settings.fabric, &busy, NULL), 0);
	assert_int_equal(weft_occupancy_busy(&busy, job->nodes, NULL), 0);
	for (uint32_t i = 0; i < settings.fabric->n_nodes; i++)
		weft_occupancy_release(target, i, ~busy.free[i] & 0xff);
	weft_occupancy_free(&busy);
}

#define HOUR 3600

/* Ends in hours from midnight; 0: not known. */
static const struct {
	const char *desc, *spec;
	uint32_t n_nodes, per_node;
	struct running jobs[3];
	int64_t ends[3];
	const char *text; /* NULL: nothing is said */
} cases[] = {
	{"nothing is in the way", "tp=8", 4, 8, {{0}}, {0}, NULL},
	{"one job is",
	 "tp=8",
	 4,
	 8,
	 {{"n[00-12]"}},
	 {2},
	 "3 of 4 nodes with 8 GPUs free; fits when job 101 ends (02:00)"},
	{"the second to end is",
	 "tp=8",
	 4,
	 8,
	 {{"n[00-12]"}, {"n13"}, {"n14"}},
	 {5, 1, 0},
	 "1 of 4 nodes with 8 GPUs free; fits when job 101 ends (05:00)"},
	{"two must end",
	 "tp=8",
	 4,
	 8,
	 {{"n[00-13]:0-3"}, {"n[00-13]:4-7"}},
	 {1, 2},
	 "2 of 4 nodes with 8 GPUs free; fits when job 102 ends after 1 other "
	 "(02:00)"},
	{"nobody knows when it ends",
	 "tp=8",
	 1,
	 8,
	 {{"n[00-15]"}},
	 {0},
	 "0 of 1 nodes with 8 GPUs free; fits when job 101 ends"},
	{"it ends on another day",
	 "tp=8",
	 1,
	 8,
	 {{"n[00-15]"}},
	 {49},
	 "0 of 1 nodes with 8 GPUs free; fits when job 101 ends "
	 "(01-03T01:00)"},
	{"a leaf is asked for",
	 "tp=8,within=leaf",
	 4,
	 8,
	 {{"n[00,04,08,12]"}},
	 {3},
	 "leaf a has 3 of 4 nodes free; fits when job 101 ends (03:00), or "
	 "with within=pod"},
	{"segments are asked for",
	 "tp=8,segment=4",
	 8,
	 8,
	 {{"n[00,04,08]"}},
	 {3},
	 "; fits when job 101 ends (03:00), or with segment=2"},
	{"more than there is",
	 "tp=8",
	 17,
	 8,
	 {{"n00"}},
	 {3},
	 "would not fit if all jobs ended"},
};

static void the_obstacle_and_the_way_out_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_ending endings[3];
		struct weft_shape shape = {
			.n_gpus = cases[i].n_nodes * cases[i].per_node,
			.gpus_per_node = cases[i].per_node,
			.min_nodes = cases[i].n_nodes,
			.max_nodes = cases[i].n_nodes,
		};
		struct weft_request request = {.spec = cases[i].spec};
		struct running jobs[3];
		struct weft_pending pending = {
			.bridge = &bridge,
			.request = &request,
			.shape = &shape,
			.o = &o,
			.endings = endings,
			.release = release,
			.context = jobs,
			.budget_s = 1000,
		};
		char text[WEFT_PENDING_SIZE];

		memcpy(jobs, cases[i].jobs, sizeof(jobs));
		weft_occupancy_free(&o);
		assert_int_equal(
			weft_occupancy_build(settings.fabric, &o, NULL), 0);
		for (uint32_t k = 0; k < 3 && cases[i].jobs[k].nodes; k++) {
			endings[pending.n_endings++] = (struct weft_ending){
				.job_id = FIRST_ID + k,
				.end_s = cases[i].ends[k] * HOUR,
			};
			assert_int_equal(
				weft_occupancy_busy(&o, cases[i].jobs[k].nodes,
						    NULL),
				0);
		}
		if (weft_pending_explain(&pending, text) !=
		    (cases[i].text != NULL))
			fail_msg("%s: \"%s\"", cases[i].desc, text);
		if (cases[i].text && !strstr(text, cases[i].text))
			fail_msg("%s: \"%s\"", cases[i].desc, text);
	}
}

/* PrivateData=jobs, =nodes. */
static void of_what_is_private_nothing_is_named(void **state)
{
	struct weft_shape shape = {4 * 8, 8, 4, 4};
	struct weft_request request = {.spec = "tp=8,within=leaf"};
	struct running job = {"n[00,04,08,12]"};
	struct weft_ending ending = {.job_id = FIRST_ID, .end_s = 3 * HOUR};
	struct weft_pending pending = {
		.bridge = &bridge,
		.request = &request,
		.shape = &shape,
		.o = &o,
		.n_endings = 1,
		.endings = &ending,
		.release = release,
		.context = &job,
		.budget_s = 1000,
		.hide_jobs = true,
	};
	char text[WEFT_PENDING_SIZE];

	(void)state;
	weft_occupancy_free(&o);
	assert_int_equal(weft_occupancy_build(settings.fabric, &o, NULL), 0);
	assert_int_equal(weft_occupancy_busy(&o, job.nodes, NULL), 0);
	assert_true(weft_pending_explain(&pending, text));
	assert_string_equal(text,
			    "leaf a has 3 of 4 nodes free; fits when others "
			    "end (03:00), or with within=pod");
	pending.hide_nodes = true;
	assert_true(weft_pending_explain(&pending, text));
	assert_string_equal(text, "too few nodes are free; fits when others "
				  "end (03:00), or with within=pod");
}

static void without_time_the_obstacle_alone_is_named(void **state)
{
	struct weft_shape shape = {16 * 8, 8, 16, 16};
	struct weft_request request = {.spec = "tp=8"};
	struct running job = {"n03"};
	struct weft_ending ending = {.job_id = FIRST_ID};
	struct weft_pending pending = {
		.bridge = &bridge,
		.request = &request,
		.shape = &shape,
		.o = &o,
		.n_endings = 1,
		.endings = &ending,
		.release = release,
		.context = &job,
		.budget_s = -1,
	};
	char text[WEFT_PENDING_SIZE];

	(void)state;
	weft_occupancy_free(&o);
	assert_int_equal(weft_occupancy_build(settings.fabric, &o, NULL), 0);
	assert_int_equal(weft_occupancy_busy(&o, "n03", NULL), 0);
	assert_true(weft_pending_explain(&pending, text));
	assert_string_equal(text, "15 of 16 nodes with 8 GPUs free");
}

static void explanations_take_a_fiftieth_of_the_time(void **state)
{
	static struct weft_pending_memory memory;

	(void)state;
	assert_true(weft_pending_may(&memory, 100));
	weft_pending_keep(&memory, 5, "because", 100, 100.002);
	assert_false(weft_pending_may(&memory, 100.1));
	assert_true(weft_pending_may(&memory, 100.11));
	assert_string_equal(weft_pending_recall(&memory, 5, 101, 10),
			    "because");
	assert_null(weft_pending_recall(&memory, 5, 111, 10));
	assert_null(
		weft_pending_recall(&memory, 5 + WEFT_PENDING_SLOTS, 101, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_obstacle_and_the_way_out_are_named),
		cmocka_unit_test(of_what_is_private_nothing_is_named),
		cmocka_unit_test(without_time_the_obstacle_alone_is_named),
		cmocka_unit_test(explanations_take_a_fiftieth_of_the_time),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
