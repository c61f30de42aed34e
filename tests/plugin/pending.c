/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c - what keeps a job waiting, in words */
#include "plugin/bridge/pending.h"

#include "base/clock.h"
#include "tests/lib/check.h"

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

/* Nodes of eight GPUs are asked for with `spec` while one job runs. */
struct asked {
	struct weft_request request;
	struct weft_shape shape;
	struct running job;
	struct weft_ending ending;
	struct weft_pending pending;
};

static void ask(struct asked *a, const char *spec, uint32_t n_nodes,
		const char *running, int64_t end_s)
{
	*a = (struct asked){
		.request = {.spec = spec},
		.shape = {n_nodes * 8, 8, n_nodes, n_nodes},
		.job = {running},
		.ending = {.job_id = FIRST_ID, .end_s = end_s},
	};
	a->pending = (struct weft_pending){
		.bridge = &bridge,
		.request = &a->request,
		.shape = &a->shape,
		.o = &o,
		.n_endings = 1,
		.endings = &a->ending,
		.release = release,
		.context = &a->job,
		.budget_s = 1000,
	};
	weft_occupancy_free(&o);
	assert_int_equal(weft_occupancy_build(settings.fabric, &o, NULL), 0);
	assert_int_equal(weft_occupancy_busy(&o, running, NULL), 0);
}

static void explained(const struct asked *a, const char *text)
{
	char found[WEFT_PENDING_SIZE];

	assert_true(weft_pending_explain(&a->pending, found));
	assert_string_equal(found, text);
}

/* Any number on each node: there may be GPUs enough, and too few nodes. */
static void of_a_total_what_is_scarce_is_named(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "tp=1,within=leaf", 4, "n[00,04,08,12]", 0);
	a.shape.gpus_per_node = 0;
	a.shape.n_gpus = 4;
	explained(&a, "leaf a has 3 of 4 nodes with free GPUs; fits when job "
		      "101 ends, or with within=pod");
	a.shape.n_gpus = 32;
	a.shape.min_nodes = 1;
	explained(&a, "leaf a has 24 of 32 GPUs free; fits when job 101 ends, "
		      "or with within=pod");
}

/* PrivateData=jobs, =nodes. */
static void of_what_is_private_nothing_is_named(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "tp=8,within=leaf", 4, "n[00,04,08,12]", 3 * HOUR);
	a.pending.hide_jobs = true;
	explained(&a, "leaf a has 3 of 4 nodes free; fits when others end "
		      "(03:00), or with within=pod");
	a.pending.hide_nodes = true;
	explained(&a,
		  "too few nodes are free; fits when others end (03:00), or "
		  "with within=pod");
}

static void without_time_the_obstacle_alone_is_named(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "tp=8", 16, "n03", 0);
	a.pending.budget_s = -1;
	explained(&a, "15 of 16 nodes with 8 GPUs free");
}

/* A job without GPUs has the memory, and ends as well. */
static void nothing_is_never_where_memory_is_taken(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "tp=8", 2, "n00", 0);
	memset(o.usable, 0, settings.fabric->n_nodes * sizeof(*o.usable));
	explained(&a, "0 of 2 nodes with 8 GPUs free");
}

/* No more than a thousand jobs are looked at. */
static void nothing_is_never_where_more_jobs_run(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "tp=8", 16, "n00", 0);
	assert_int_equal(weft_occupancy_busy(&o, "n01", NULL), 0);
	explained(&a, "14 of 16 nodes with 8 GPUs free; would not fit if all "
		      "jobs ended");
	a.pending.more = true;
	explained(&a, "14 of 16 nodes with 8 GPUs free");
}

/* The plan has used up the time of the question. */
static void after_the_deadline_nothing_is_said_not_to_fit(void **state)
{
	char text[WEFT_PENDING_SIZE];
	struct asked a;

	(void)state;
	ask(&a, "tp=8,within=leaf", 4, "n[00,04,08,12]", 0);
	assert_true(weft_pending_explain(&a.pending, text));
	weft_deadline_set(weft_worked_s());
	explained(&a, "leaf a has 3 of 4 nodes free");
	weft_deadline_set(0);
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
		cmocka_unit_test(of_a_total_what_is_scarce_is_named),
		cmocka_unit_test(of_what_is_private_nothing_is_named),
		cmocka_unit_test(without_time_the_obstacle_alone_is_named),
		cmocka_unit_test(nothing_is_never_where_memory_is_taken),
		cmocka_unit_test(nothing_is_never_where_more_jobs_run),
		cmocka_unit_test(after_the_deadline_nothing_is_said_not_to_fit),
		cmocka_unit_test(explanations_take_a_fiftieth_of_the_time),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
