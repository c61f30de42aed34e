/* SPDX-License-Identifier: GPL-3.0-or-later */
/* running.c - the jobs of a state file */
#include "placement/capacity/running.h"

#include "tests/placement/cases.h"

#include <math.h>
#include <stdlib.h>

static const char fabric_text[] = "weft: fabric/1\nname: alpha\nnodes:\n"
				  "  n[00-07]: 8\n  m[1-2]: 4\n";

struct fixture {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_running_list list;
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));

	x->f = case_fabric(fabric_text);
	*state = x;
	return weft_occupancy_build(x->f, &x->o, NULL);
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	weft_running_free(&x->list);
	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
	free(x);
	return 0;
}

static int parse(struct fixture *x, const char *text, struct weft_error *err)
{
	weft_running_free(&x->list);
	return weft_running_parse(&x->o, text, strlen(text), "state", &x->list,
				  err);
}

static void jobs_are_read_with_their_gpus_in_order(void **state)
{
	struct fixture *x = *state;
	struct weft_error err = {0};
	const struct weft_running *job;

	parse(x,
	      "weft: state/1\nbusy: {n07: 7}\njobs:\n"
	      "  - {id: 17, nodes: \"n[02,01]\", job: \"tp=8,dp=2\","
	      " remaining_s: 90}\n"
	      "  - id: x.1\n    gpus: n00:2-3,m1:[0,2]\n    step_s: 1.5\n",
	      &err);
	assert_no_error(&err);
	assert_int_equal(x->list.n, 2);
	job = &x->list.jobs[0];
	assert_string_equal(job->id, "17");
	assert_int_equal(job->n_gpus, 16);
	assert_true(job->known);
	assert_int_equal(job->job.spec.tp, 8);
	assert_close(job->remaining_s, 90, 0);
	for (uint32_t r = 0; r < 16; r++)
		assert_string_equal(
			x->f->nodes[x->f->gpu_node[job->gpu[r]]].name,
			r < 8 ? "n02" : "n01");
	job = &x->list.jobs[1];
	assert_false(job->known);
	assert_true(isinf(job->remaining_s));
	assert_close(job->step_s, 1.5, 0);
	assert_int_equal(job->n_gpus, 4);
	assert_int_equal(job->gpu[3] - job->gpu[2], 2);
}

static void gpus_of_jobs_are_taken(void **state)
{
	struct fixture *x = *state;
	struct weft_error err = {0};

	parse(x,
	      "weft: state/1\njobs:\n- {id: a, nodes: n01}\n"
	      "- {id: b, gpus: 'n02:0-3'}\n",
	      &err);
	assert_no_error(&err);
	assert_int_equal(weft_occupancy_usable(&x->o), 72 - 8 - 4);
	assert_int_equal(x->o.free[weft_fabric_node(x->f, "n02")], 0xf0);
}

static void no_jobs_are_no_jobs(void **state)
{
	static const char *const texts[] = {"weft: state/1\n",
					    "weft: state/1\njobs:\n",
					    "weft: state/1\njobs: []\n"};
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct weft_error err = {0};

		parse(x, texts[i], &err);
		assert_no_error(&err);
		assert_int_equal(x->list.n, 0);
		assert_int_equal(weft_occupancy_usable(&x->o), 72);
	}
}

static void wrong_jobs_are_explained(void **state)
{
	static const struct {
		const char *jobs, *says;
		int line, column;
	} cases[] = {
		{"jobs: n00\n", "", 2, 7},
		{"jobs:\n  - n00\n", "", 3, 5},
		{"jobs:\n  - {nodes: n00}\n", "a job needs an id", 3, 5},
		{"jobs:\n  - {id: '', nodes: n00}\n", "1 to 63 characters", 3,
		 10},
		{"jobs:\n  - {id: 1}\n", "Give either nodes or gpus", 3, 5},
		{"jobs:\n  - {id: 1, nodes: n00, gpus: n00}\n",
		 "Give either nodes or gpus", 3, 5},
		{"jobs:\n  - {id: 1, node: n00}\n", "nodes", 3, 13},
		{"jobs:\n  - id: 1\n    nodes: n00:0-3\n",
		 "\"gpus\" may name single GPUs", 4, 12},
		{"jobs:\n  - id: 1\n    gpus: n00,n99\n",
		 "unknown node \"n99\"", 4, 15},
		{"jobs:\n  - {id: 1, nodes: n00}\n  - {id: 2, gpus: 'n00:3'}\n",
		 "GPU 3 of n00 is job 1's already", 4, 20},
		{"jobs:\n  - id: 1\n    gpus: n00:3,n00:3\n", "named twice", 4,
		 17},
		{"jobs:\n  - {id: 1, nodes: n00}\n  - {id: 1, nodes: n01}\n",
		 "job 1 is in line 3 already", 4, 10},
		{"jobs:\n  - id: 1\n    nodes: n00\n    job: tp=8,ppp=2\n",
		 "ppp", 5, 15},
		{"jobs:\n  - id: 1\n    nodes: n00\n    job: tp=16\n", "", 5,
		 10},
		{"jobs:\n  - {id: 1, nodes: n00, remaining_s: -1}\n", "", 3,
		 38},
		{"jobs:\n  - {id: 1, nodes: n00, step_s: 0}\n", "", 3, 33},
		{"jobs:\n  - {id: 1, nodes: n00, step_s: fast}\n", "", 3, 33},
	};
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct text t = {.n = 0};

		text_add(&t, "weft: state/1\n%s", cases[i].jobs);
		assert_int_equal(parse(x, t.at, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_string_equal(err.source, "state");
		if (err.line != cases[i].line || err.column != cases[i].column)
			fail_msg("case %zu: line %d column %d, not %d %d: %s",
				 i, err.line, err.column, cases[i].line,
				 cases[i].column, err.text);
	}
}

/* What only occupies GPUs need not know what the jobs compute. */
static void without_a_list_only_the_gpus_are_taken(void **state)
{
	static const char text[] = "weft: state/1\njobs:\n"
				   "- {id: a, nodes: n01, job: tp=77}\n";
	struct fixture *x = *state;
	struct weft_error err = {0};

	weft_running_parse(&x->o, text, sizeof(text) - 1, "state", NULL, &err);
	assert_no_error(&err);
	assert_int_equal(weft_occupancy_usable(&x->o), 64);
}

static void a_file_is_read_as_its_text(void **state)
{
	struct fixture *x = *state;
	struct weft_error err = {0};

	test_write_file("running-test.yaml",
			"weft: state/1\njobs:\n"
			"- {id: a, nodes: n01, job: tp=8}\n");
	weft_running_load(&x->o, "running-test.yaml", &x->list, &err);
	remove("running-test.yaml");
	assert_no_error(&err);
	assert_int_equal(x->list.n, 1);
	assert_true(x->list.jobs[0].known);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(jobs_are_read_with_their_gpus_in_order),
		TEST(gpus_of_jobs_are_taken),
		TEST(no_jobs_are_no_jobs),
		TEST(wrong_jobs_are_explained),
		TEST(without_a_list_only_the_gpus_are_taken),
		TEST(a_file_is_read_as_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
