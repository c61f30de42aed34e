/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submission.c - specs checked before a job is queued */
#include "plugin/bridge/launch/submission.h"

#include "base/clock.h"
#include "tests/lib/check.h"

#include <stdlib.h>
#include <string.h>

/* Two leafs of four nodes of eight GPUs. */
static const char fabric_text[] = "weft: fabric/1\n"
				  "name: small\n"
				  "profile: dgx-h100-superpod\n"
				  "nodes:\n"
				  "  n[0-7]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    a: n[0-3]\n"
				  "    b: n[4-7]\n";

static struct weft_settings settings = {
	.mode = WEFT_MODE_PLACE,
	.budget_s = 1,
	.spec_limit = 60,
};
static struct weft_desk desk;

static int setup(void **state)
{
	struct weft_error err = {0};

	(void)state;
	settings.fabric = weft_fabric_parse(fabric_text, strlen(fabric_text),
					    "fabric", &err);
	return settings.fabric ? weft_desk_open(&desk, &settings, &err) : -1;
}

static int teardown(void **state)
{
	(void)state;
	weft_desk_close(&desk);
	weft_fabric_free(settings.fabric);
	return 0;
}

static const struct {
	const char *text;
	uint32_t n;
} tres[] = {
	{NULL, 0},
	{"", 0},
	{"gres:gpu:8", 8},
	{"gres/gpu:8", 8},
	{"gres:gpu", 1},
	{"gres:gpu:h100:4", 4},
	{"gres:gpu:h100", 1},
	{"cpu=2,gres/gpu=4", 4},
	{"gres/gpu:h100=4", 4},
	{"gres:gpu:a:1,gres:gpu:b:2", 3},
	{"gres:gpux:8", 0},
	{"gres:shard:8", 0},
	{"gres:gpu:99999999999", WEFT_MAX_GPUS},
};

static void gpus_are_counted_as_slurm_writes_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(tres) / sizeof(tres[0]); i++)
		if (weft_submission_gpus(tres[i].text) != tres[i].n)
			fail_msg("%s: %u GPUs", tres[i].text,
				 weft_submission_gpus(tres[i].text));
}

/* nodes 0: not given */
static const struct {
	const char *spec;
	uint32_t nodes, per_node, per_job;
	const char *refusal; /* NULL: accepted */
} checks[] = {
	{"tp=8", 2, 8, 0, NULL},
	{"tp=8", 0, 8, 0, NULL},
	{"tp=8", 0, 0, 0, NULL},
	{"tp=8,pp=2", 0, 0, 16, NULL},
	{"tp=8,model=llama3-8B", 1, 8, 0, NULL},
	{"tq=8", 2, 8, 0, "tq"},
	{"tp=eight", 2, 8, 0, "tp"},
	{"tp=8,pp=3", 4, 8, 0, "comes out even"},
	{"tp=8,pp=3", 0, 8, 0, NULL},
	{"gpus=32", 2, 8, 0, "32"},
	{"nodes=3", 2, 8, 0, "nodes=3"},
	{"within=laef", 2, 8, 0, "leaf"},
	{"prefer=rock", 2, 8, 0, "prefer=rock"},
	{"within=leaf", 4, 8, 0, NULL},
	{"within=leaf", 5, 8, 0, "never be placed"},
	{"within=leaf", 0, 0, 40, "never be placed"},
	{"within=leaf", 0, 8, 0, NULL},
	{"split=5+3", 8, 8, 0, "never be placed: split=5+3"},
	{"split=4+4", 8, 8, 0, NULL},
	{"traffic=/etc/passwd", 2, 8, 0, "files are read by"},
	{"model=llama3-8C", 1, 8, 0, "llama3-8B"},
	{"model=house/x.yaml", 1, 8, 0, "model"},
	{"tp=8,pp=1,cp=1,ep=1,dp=2,mbs=1,gbs=2,seq=4096,dtype=bf16,zero=1", 2,
	 8, 0, "60 are allowed"},
};

static void a_spec_that_cannot_be_is_refused_in_the_grammars_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct weft_request request = {
			.spec = checks[i].spec,
			.min_nodes = checks[i].nodes,
			.gpus_per_node = checks[i].per_node,
			.gpus_per_job = checks[i].per_job,
		};
		struct weft_error err = {0};
		int rc;

		weft_submission_complete(&request);
		rc = weft_desk_check(&desk, &request, &err);
		assert_int_equal(weft_desk_check(&desk, &request, NULL), rc);
		if ((rc < 0) != (checks[i].refusal != NULL))
			fail_msg("%s on %u nodes: %s", checks[i].spec,
				 checks[i].nodes, err.text);
		if (checks[i].refusal && !strstr(err.text, checks[i].refusal))
			fail_msg("%s: \"%s\" lacks \"%s\"", checks[i].spec,
				 err.text, checks[i].refusal);
	}
}

static void without_a_fabric_the_grammar_is_checked(void **state)
{
	struct weft_desk bare = {0};
	struct weft_request request = {.spec = "within=rack,model=ours"};
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(weft_desk_open(&bare, NULL, &err), 0);
	assert_int_equal(weft_desk_check(&bare, &request, &err), 0);
	request.spec = "tq=8";
	assert_int_equal(weft_desk_check(&bare, &request, &err), -1);
	assert_error_says(&err, "tq");
	weft_desk_close(&bare);
}

/* A moment more would perhaps have found a place. */
static void a_search_that_was_cut_short_refuses_nothing(void **state)
{
	struct weft_request request = {
		.spec = "within=leaf", .min_nodes = 5, .gpus_per_node = 8};
	struct weft_error err = {0};

	(void)state;
	weft_submission_complete(&request);
	assert_int_equal(weft_desk_check(&desk, &request, &err), -1);
	/* found out in some ten microseconds */
	for (double left_s = 1e-3; left_s > 1e-9; left_s /= 2) {
		double start_s = weft_worked_s();
		int rc;

		weft_deadline_set(start_s + left_s);
		rc = weft_desk_check(&desk, &request, NULL);
		weft_deadline_set(0);
		if (rc < 0)
			assert_true(weft_worked_s() - start_s < left_s);
	}
}

static void gpus_of_tasks_add_up(void **state)
{
	struct weft_request request = {
		.n_tasks = 4, .gpus_per_task = 2, .min_nodes = 2};

	(void)state;
	weft_submission_complete(&request);
	assert_int_equal(request.gpus_per_job, 8);
	assert_int_equal(request.max_nodes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_counted_as_slurm_writes_them),
		cmocka_unit_test(
			a_spec_that_cannot_be_is_refused_in_the_grammars_words),
		cmocka_unit_test(without_a_fabric_the_grammar_is_checked),
		cmocka_unit_test(a_search_that_was_cut_short_refuses_nothing),
		cmocka_unit_test(gpus_of_tasks_add_up),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
