/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_state.c - what scontrol prints, and what is taken then */
#include "cli/slurm_state.h"
#include "tests/lib/check.h"
#include "topology/bitset.h"

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
	struct weft_fabric *f = weft_fabric_parse(
		fabric_text, strlen(fabric_text), "test", err);
	struct weft_occupancy o = {0};
	char *copy = strdup(records);
	FILE *in = fmemopen(copy, strlen(copy), "r");
	int result;

	assert_no_error(err);
	assert_int_equal(weft_occupancy_build(f, &o, err), 0);
	result = slurm_state_parse(&o, in, "scontrol", err);
	memcpy(free_masks, o.free, 4 * sizeof(*free_masks));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_every_kind_are_understood),
		cmocka_unit_test(nodes_that_slurm_does_not_know_are_taken),
		cmocka_unit_test(output_without_nodes_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
