/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_job.c - one job's record as scontrol of several releases prints it */
#include "cli/slurm/slurm_job.h"

#include "tests/lib/check.h"

static void a_waiting_jobs_record_is_read(void **state)
{
	struct slurm_job job;

	(void)state;
	slurm_job_parse("JobId=5 ArrayJobId=4 ArrayTaskId=1 JobState=PENDING "
			"Reason=weft:_leaf_a_has_3_of_4_nodes_free "
			"SubmitTime=2026-11-21T23:15:09 StartTime=Unknown "
			"NodeList=(null) NumNodes=4-8 NumTasks=4 "
			"Comment=weft:tp=8, pp=2  TresPerNode=gres/gpu:8 \n",
			&job);
	assert_true(job.waits);
	assert_false(job.runs);
	assert_string_equal(job.id, "5");
	assert_string_equal(job.reason, "weft: leaf a has 3 of 4 nodes free");
	assert_string_equal(job.spec, "tp=8, pp=2");
	assert_string_equal(job.started, "");
	assert_string_equal(job.nodes, "");
	assert_int_equal(job.min_nodes, 4);
	assert_int_equal(job.max_nodes, 8);
	assert_int_equal(job.gpus_per_node, 8);
	assert_int_equal(job.n_gpus, 32);
}

static void a_running_jobs_record_is_read(void **state)
{
	struct slurm_job job;

	(void)state;
	slurm_job_parse(
		"JobId=7 JobState=RUNNING Reason=None NodeList=n[0-1] "
		"NumNodes=2 JOB_GRES=gpu:h100:12 SystemComment=bb: staged | "
		"weft: time=1 bound=1 gap=0% spans 1 leaf; nodes=plan; "
		"spec=tp=4; ranks=plan | other  Comment=weft:tp=2 Power=\n",
		&job);
	assert_true(job.runs);
	assert_string_equal(job.said,
			    "weft: time=1 bound=1 gap=0% spans 1 leaf; "
			    "nodes=plan; spec=tp=4; ranks=plan");
	assert_string_equal(job.spec, "tp=4");
	assert_int_equal(job.n_gpus, 12);
}

static const struct {
	const char *desc, *record;
	uint32_t n_gpus;
	bool has_spec;
} cases[] = {
	{"no GPUs", "JobId=1 JobState=RUNNING NumNodes=1", 0, false},
	{"GPUs of the job", "JobId=1 NumNodes=1 TresPerJob=gres:gpu:6", 6,
	 false},
	{"GPUs of tasks",
	 "JobId=1 NumNodes=1 NumTasks=3 TresPerTask=cpu=1,gres/gpu=2", 6,
	 false},
	{"a GPU without a number", "JobId=1 NumNodes=2 TresPerNode=gres:gpu", 2,
	 false},
	{"weft is to leave it", "JobId=1 Comment=weft:off", 0, false},
	{"somebody else's comment", "JobId=1 Comment=see weft:tp=8", 0, false},
	{"an empty spec", "JobId=1 Comment=weft: Power=", 0, true},
	{"nothing", "", 0, false},
};

static void odd_records_are_read_as_far_as_they_go(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct slurm_job job;

		slurm_job_parse(cases[i].record, &job);
		if (job.n_gpus != cases[i].n_gpus ||
		    job.has_spec != cases[i].has_spec)
			fail_msg("%s: %u GPUs, spec \"%s\"", cases[i].desc,
				 job.n_gpus, job.spec);
	}
}

static void a_job_is_asked_for_by_its_number_alone(void **state)
{
	struct weft_error err = {0};
	struct slurm_job job;

	(void)state;
	assert_int_equal(slurm_job_read("1; true", &job, &err), -1);
	assert_error_says(&err, "expected its number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiting_jobs_record_is_read),
		cmocka_unit_test(a_running_jobs_record_is_read),
		cmocka_unit_test(odd_records_are_read_as_far_as_they_go),
		cmocka_unit_test(a_job_is_asked_for_by_its_number_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
