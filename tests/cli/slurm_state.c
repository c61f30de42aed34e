/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_state.c - what scontrol prints, and what is taken then */
#include "cli/slurm/slurm_state.h"
#include "cli/slurm/slurm_jobs.h"
#include "tests/lib/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-3]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    L0: n[0-3]\n";

/* Free GPUs of the four nodes after reading `records`. */
static int read_records(const char *records, uint64_t free_masks[4],
			struct weft_error *err)
{
	uint32_t n_powered_down;
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_occupancy o = {0};
	char *copy = strdup(records);
	FILE *in = fmemopen(copy, strlen(copy), "r");
	int result;

	assert_no_error(err);
	assert_int_equal(weft_occupancy_build(f, &o, err), 0);
	result = slurm_state_parse(&o, in, "scontrol", &n_powered_down, err);
	memcpy(free_masks, o.free, 4 * sizeof(*free_masks));
	assert_int_equal(n_powered_down,
			 free_masks[0] == 0xff &&
				 strstr(records, "POWERED_DOWN"));
	fclose(in);
	free(copy);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
	return result;
}

/* Records are spelled as the named releases print them. */
static const struct {
	const char *desc, *record;
	uint64_t free_mask; /* of n0 */
} cases[] = {
	{"idle node of 22.05",
	 "NodeName=n0 Arch=x86_64 Gres=gpu:8 GresDrain=N/A "
	 "GresUsed=gpu:0(IDX:N/A) State=IDLE ThreadsPerCore=1",
	 0xff},
	{"indices", "NodeName=n0 GresUsed=gpu:3(IDX:0,2-3) State=MIXED", 0xf2},
	{"typed gres",
	 "NodeName=n0 GresUsed=gpu:h100:4(IDX:4-7) State=MIXED+PLANNED", 0x0f},
	{"two types and a shard",
	 "NodeName=n0 GresUsed=gpu:a:1(IDX:0),gpu:b:1(IDX:7),shard:0 "
	 "State=MIXED",
	 0x7e},
	{"count without indices", "NodeName=n0 GresUsed=gpu:2 State=MIXED",
	 0xfc},
	{"another gres is not a GPU",
	 "NodeName=n0 GresUsed=gpumem:8(IDX:0-7) State=MIXED", 0xff},
	{"drained", "NodeName=n0 GresUsed=gpu:0 State=IDLE+DRAIN", 0},
	{"drained while it runs",
	 "NodeName=n0 GresUsed=gpu:1 State=MIXED+DRAIN", 0},
	{"does not answer", "NodeName=n0 GresUsed=gpu:0 State=IDLE*", 0},
	{"down", "NodeName=n0 State=DOWN", 0},
	{"completing", "NodeName=n0 GresUsed=gpu:0 State=IDLE+COMPLETING", 0},
	{"in maintenance", "NodeName=n0 GresUsed=gpu:0 State=MAINT", 0},
	{"cloud node that is up", "NodeName=n0 GresUsed=gpu:0 State=IDLE+CLOUD",
	 0xff},
	{"cloud node that is powered down",
	 "NodeName=n0 GresUsed=gpu:0 State=IDLE+CLOUD+POWERED_DOWN", 0xff},
	{"cloud node that powers down",
	 "NodeName=n0 GresUsed=gpu:0 State=IDLE+CLOUD+POWERING_DOWN", 0},
	{"cloud node that is to be powered down",
	 "NodeName=n0 GresUsed=gpu:0 State=IDLE+CLOUD+POWER_DOWN", 0},
	{"powered down and drained",
	 "NodeName=n0 GresUsed=gpu:0 State=IDLE+CLOUD+DRAIN+POWERED_DOWN", 0},
	{"does not answer, of 22.05",
	 "NodeName=n0 GresUsed=gpu:0 State=IDLE+NOT_RESPONDING", 0},
	{"no state at all", "NodeName=n0 GresUsed=gpu:0", 0},
};

static void records_of_every_kind_are_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		uint64_t free_masks[4];

		assert_int_equal(
			read_records(cases[i].record, free_masks, &err), 0);
		if (free_masks[0] != cases[i].free_mask)
			fail_msg("%s: free %#llx", cases[i].desc,
				 (unsigned long long)free_masks[0]);
	}
}

static void nodes_that_slurm_does_not_know_are_taken(void **state)
{
	struct weft_error err = {0};
	uint64_t free_masks[4];

	(void)state;
	assert_int_equal(read_records("NodeName=n1 GresUsed=gpu:0 State=IDLE\n"
				      "NodeName=other State=IDLE\n",
				      free_masks, &err),
			 0);
	assert_int_equal(free_masks[0], 0);
	assert_int_equal(free_masks[1], 0xff);
}

static void output_without_nodes_is_an_error(void **state)
{
	struct weft_error err = {0};
	uint64_t free_masks[4];

	(void)state;
	assert_int_equal(
		read_records("slurm_load_node error\n", free_masks, &err), -1);
	assert_error_says(&err, "names none of the fabric's 4 nodes");
}

/* Records as scontrol of 22.05 prints them with --oneliner --details. */
static void running_jobs_are_listed_with_their_gpus(void **state)
{
	static const char records[] =
		"JobId=7 JobName=a JobState=RUNNING Reason=None "
		"EndTime=1970-01-02T00:10:00 NodeList=n[0-1] "
		"JOB_GRES=gpu:12 Nodes=n0 CPU_IDs=0-7 Mem=0 "
		"GRES=gpu:8(IDX:0-7) Nodes=n1 CPU_IDs=0-3 Mem=0 "
		"GRES=gpu:h100:4(IDX:0,2-4) Comment=weft:tp=4 Network=(null)\n"
		"JobId=8 JobState=PENDING Nodes=n2 GRES=gpu:8(IDX:0-7)\n"
		"JobId=9 JobState=RUNNING EndTime=Unknown Nodes=n[2-3] "
		"CPU_IDs=0-1 Mem=0 GRES=gpu:2(IDX:1-2) Comment=it's,gpus=9\n"
		"JobId=10 JobState=RUNNING Nodes=n2 CPU_IDs=4 Mem=0 GRES=\n"
		"JobId=11 JobState=RUNNING Nodes=elsewhere GRES=gpu:1(IDX:0)\n"
		"JobId=12 JobState=RUNNING Comment=weft:tp=3 Nodes=n1 "
		"GRES=gpu:3(IDX:4-6)\n";
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_occupancy o = {0};
	struct weft_running_list list;
	char *copy = strdup(records);
	FILE *in = fmemopen(copy, strlen(copy), "r");
	struct tm tm = {.tm_mday = 2, .tm_year = 70, .tm_isdst = -1};

	(void)state;
	assert_int_equal(weft_occupancy_build(f, &o, &err), 0);
	slurm_jobs_parse(&o, in, "scontrol", mktime(&tm), &list, &err);
	assert_no_error(&err);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.jobs[0].id, "7");
	assert_int_equal(list.jobs[0].n_gpus, 12);
	assert_int_equal(list.jobs[0].gpu[8], 8);
	assert_int_equal(list.jobs[0].gpu[9], 10);
	assert_true(list.jobs[0].remaining_s == 600);
	assert_true(list.jobs[0].known);
	assert_int_equal(list.jobs[0].job.spec.tp, 4);
	/* the same GPUs on both nodes, and no word of what it computes */
	assert_string_equal(list.jobs[1].id, "9");
	assert_int_equal(list.jobs[1].n_gpus, 4);
	assert_false(list.jobs[1].known);
	assert_true(list.jobs[1].remaining_s > 1e300);
	/* GPU 4 of n1 is job 7's already */
	assert_string_equal(list.jobs[2].id, "12");
	assert_int_equal(list.jobs[2].n_gpus, 2);
	assert_false(list.jobs[2].known);
	weft_running_free(&list);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
	fclose(in);
	free(copy);
}

/* Two jobs came, the one on the lowest GPUs went. */
static void counted_gpus_are_those_that_the_jobs_have(void **state)
{
	static const char records[] =
		"JobId=7 JobState=RUNNING SystemComment=weft: time=1; "
		"nodes=plan; spec=tp=4 Nodes=n0 GRES=gpu:4(IDX:4-7)\n"
		"JobId=8 JobState=SUSPENDED Nodes=n1 GRES=gpu:1(IDX:3)\n";
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_occupancy o = {0};
	struct weft_running_list list;
	char *copy = strdup(records);
	FILE *in = fmemopen(copy, strlen(copy), "r");

	(void)state;
	assert_int_equal(weft_occupancy_build(f, &o, &err), 0);
	weft_occupancy_take(&o, 0, 0x0f);
	weft_occupancy_take(&o, 1, 0x03); /* one more than jobs tell */
	slurm_jobs_parse(&o, in, "scontrol", 0, &list, &err);
	assert_no_error(&err);
	assert_int_equal(o.free[0], 0x0f);
	assert_int_equal(o.free[1], 0xf4);
	assert_true(list.jobs[0].known);
	assert_int_equal(list.jobs[0].job.spec.tp, 4);
	weft_running_free(&list);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
	fclose(in);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_every_kind_are_understood),
		cmocka_unit_test(nodes_that_slurm_does_not_know_are_taken),
		cmocka_unit_test(output_without_nodes_is_an_error),
		cmocka_unit_test(running_jobs_are_listed_with_their_gpus),
		cmocka_unit_test(counted_gpus_are_those_that_the_jobs_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
