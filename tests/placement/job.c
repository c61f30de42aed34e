/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job.c - from a spec to a job that can be placed */
#include "tests/placement/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char fabric_text[] = "weft: fabric/1\nname: alpha\nnodes:\n"
				  "  n[0-15]: 8\nlevels:\n"
				  "  leaf:\n    l[0-3]: n[0-15]\n"
				  "  pod:\n    p[0-1]: l[0-3]\n";

static void a_spec_becomes_a_job(void **state)
{
	struct weft_fabric *f = case_fabric(fabric_text);
	struct weft_job job;

	(void)state;
	case_job("gpus=64,tp=8,pp=2,within=pod,prefer=leaf", f, &job);
	assert_int_equal(job.n_gpus, 64);
	assert_int_equal(job.grid.n_ranks, 64);
	assert_int_equal(job.traffic.n_ranks, 64);
	assert_int_equal(job.within_level, weft_fabric_level(f, "pod"));
	assert_int_equal(job.prefer_level, weft_fabric_level(f, "leaf"));
	assert_int_equal(job.gpus_per_node, 0);
	assert_int_equal(job.max_nodes, 0);
	weft_job_free(&job);
	weft_fabric_free(f);
}

static void node_counts_become_limits(void **state)
{
	struct weft_job job;

	(void)state;
	case_job("nodes=4,gpus_per_node=8,tp=8", NULL, &job);
	assert_int_equal(job.n_gpus, 32);
	assert_int_equal(job.gpus_per_node, 8);
	assert_int_equal(job.min_nodes, 4);
	assert_int_equal(job.max_nodes, 4);
	weft_job_free(&job);
	case_job("gpus=32,gpus_per_node=4", NULL, &job);
	assert_int_equal(job.gpus_per_node, 4);
	weft_job_free(&job);
	case_job("gpus=32,nodes=5", NULL, &job);
	assert_int_equal(job.gpus_per_node, 0);
	assert_int_equal(job.min_nodes, 5);
	assert_int_equal(job.max_nodes, 5);
	weft_job_free(&job);
}

static void gpus_come_from_the_caller_too(void **state)
{
	struct weft_job job;
	struct weft_error err = {0};

	(void)state;
	weft_job_build("tp=4", 16, false, NULL, &job, &err);
	assert_no_error(&err);
	assert_int_equal(job.n_gpus, 16);
	weft_job_free(&job);
	weft_job_build("", 3, false, NULL, &job, &err);
	assert_no_error(&err);
	assert_int_equal(job.spec.dp, 3);
	weft_job_free(&job);
}

static void wrong_specs_are_explained(void **state)
{
	static const struct {
		const char *text, *says;
		bool files;
	} cases[] = {
		{"gpus=8,within=leave", "nearest is \"leaf\"", true},
		{"gpus=8,prefer=pot", "nearest is \"pod\"", true},
		{"gpus=8,model=llama3-70C", "llama3-70B", false},
		{"gpus=8,model=/etc/passwd", "unknown model", false},
		{"gpus=8,traffic=m.csv", "only on the command line", false},
		{"gpus=8,traffic=/no/such.csv", "No such file", true},
		{"gpus=8,tp=3", "tp", true},
		{"gpus=12,gpus_per_node=8", "gpus_per_node", true},
	};
	struct weft_fabric *f = case_fabric(fabric_text);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_job job;

		assert_int_equal(weft_job_build(cases[i].text, 0,
						cases[i].files, f, &job, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
		weft_job_free(&job);
	}
	weft_fabric_free(f);
}

static void a_measured_matrix_replaces_the_model(void **state)
{
	static const char path[] = "job-test.csv";
	struct weft_error err = {0};
	struct weft_job job;
	char spec[128];

	(void)state;
	test_write_file(path, "from,to,bytes\n0,7,5\n7,0,6\n");
	snprintf(spec, sizeof(spec), "gpus=8,tp=4,traffic=%s", path);
	case_job(spec, NULL, &job);
	assert_int_equal(job.traffic.n_edges, 2);
	assert_close(weft_traffic_bytes(&job.traffic), 11, 0);
	weft_job_free(&job);
	snprintf(spec, sizeof(spec), "gpus=4,traffic=%s", path);
	assert_int_equal(weft_job_build(spec, 0, true, NULL, &job, &err), -1);
	assert_string_equal(err.source, path);
	assert_int_equal(err.line, 2);
	assert_error_says(&err, "no rank 7, the job has 4");
	weft_job_free(&job);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_spec_becomes_a_job),
		cmocka_unit_test(node_counts_become_limits),
		cmocka_unit_test(gpus_come_from_the_caller_too),
		cmocka_unit_test(a_measured_matrix_replaces_the_model),
		cmocka_unit_test(wrong_specs_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
