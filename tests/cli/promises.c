/* SPDX-License-Identifier: GPL-3.0-or-later */
/* promises.c - what running jobs asked of their nodes, held against scontrol's
 * records
 */
#include "cli/slurm/promises.h"

#include "tests/lib/fabric.h"
#include "topology/fabric.h"

#include <stdio.h>
#include <string.h>

/* Four leafs of 18 nodes. */
static const char fabric_text[] = "weft: fabric/1\n"
				  "name: blocks\n"
				  "profile: dgx-h100-superpod\n"
				  "nodes:\n"
				  "  n[00-71]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    leaf0: n[00-17]\n"
				  "    leaf1: n[18-35]\n"
				  "    leaf2: n[36-53]\n"
				  "    leaf3: n[54-71]\n";

static char blocks[] =
	"BlockName=b0 BlockIndex=0 Nodes=n[00-17] BlockSize=18\n"
	"BlockName=b1 BlockIndex=1 Nodes=n[18-35] BlockSize=18\n"
	"BlockName=b2 BlockIndex=2 Nodes=n[36-53] BlockSize=18\n"
	"BlockName=b3 BlockIndex=3 Nodes=n[54-70] BlockSize=18\n"
	"AggregatedBlock=b[0-1] BlockIndex=4 Nodes=n[00-35] BlockSize=36\n";

static char switches[] =
	"SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[00-17]\n"
	"SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[18-35]\n"
	"SwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[36-53]\n"
	"SwitchName=s3 Level=0 LinkSpeed=1 Nodes=n[54-71]\n"
	"SwitchName=top Level=1 LinkSpeed=1 Nodes=n[00-71] Switches=s[0-3]\n";

static struct weft_fabric *fabric;

static int setup(void **state)
{
	(void)state;
	fabric = test_fabric(fabric_text);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	weft_fabric_free(fabric);
	return 0;
}

static void look(const char *records, char *topology, struct promises *p)
{
	const struct snapshot none = {0};
	struct weft_error err = {0};
	char text[4096];
	FILE *jobs, *known = NULL;

	snprintf(text, sizeof(text), "%s\n", records);
	jobs = fmemopen(text, strlen(text), "r");
	if (topology)
		known = fmemopen(topology, strlen(topology), "r");
	assert_int_equal(promises_parse(fabric, jobs, known, &none, p, &err),
			 0);
	fclose(jobs);
	if (known)
		fclose(known);
}

#define JOB "JobId=7 JobState=RUNNING "
#define STARTED                                                                \
	"EligibleTime=2026-11-20T10:00:00 StartTime=2026-11-20T10:04:59 "

static const struct {
	const char *desc, *record;
	char *topology;
	enum promise_kind kind;
	const char *broken; /* NULL: kept */
} cases[] = {
	/* SchedMD/slurm issue 225 */
	{"36 nodes in segments of 12 came as 17+17+2",
	 JOB "NodeList=n[00-16,18-34,36-37] SegmentSize=12", blocks,
	 PROMISE_SEGMENT, "--segment=12: has 17+17+2 nodes by block"},
	{"as 12+12+12", JOB "NodeList=n[00-11,18-29,36-47] SegmentSize=12",
	 blocks, PROMISE_SEGMENT, NULL},
	{"two segments share a block",
	 JOB "NodeList=n[00-07,18-21] SegmentSize=4", blocks, PROMISE_SEGMENT,
	 NULL},
	{"a node has lost its block", JOB "NodeList=n[54-71] SegmentSize=18",
	 blocks, PROMISE_SEGMENT, "--segment=18: has 17+1 nodes by block"},
	{"one leaf switch asked for, two given",
	 JOB STARTED "NodeList=n[17-18] Switches=1@00:05:00", switches,
	 PROMISE_SWITCHES, "--switches=1: has 1+1 nodes by leaf switch"},
	{"two asked for", JOB STARTED "NodeList=n[17-18] Switches=2@00:05:00",
	 switches, PROMISE_SWITCHES, NULL},
	{"within a leaf", JOB "NodeList=n[16-18] Comment=weft:tp=8,within=leaf",
	 NULL, PROMISE_WITHIN, "within=leaf: has 2+1 nodes by leaf"},
	{"within a leaf, and it is",
	 JOB "NodeList=n[15-17] Comment=weft:tp=8,within=leaf", NULL,
	 PROMISE_WITHIN, NULL},
	{"segments of the spec, one left over",
	 JOB "NodeList=n[00-01,18-20] Comment=weft:tp=8,segment=2", NULL,
	 PROMISE_SEGMENT, NULL},
	{"segments of the spec that are torn",
	 JOB "NodeList=n[00-02,18-22] Comment=weft:tp=8,segment=4", NULL,
	 PROMISE_SEGMENT, "segment=4: has 5+3 nodes by leaf"},
	{"a split in any order",
	 JOB "NodeList=n[00-01,18-20] Comment=weft:tp=8,split=3+2", NULL,
	 PROMISE_SPLIT, NULL},
	{"another split",
	 JOB "NodeList=n[00,18-21] Comment=weft:tp=8,split=3+2", NULL,
	 PROMISE_SPLIT, "split: has 4+1 nodes by leaf"},
	{"a block of its own",
	 JOB "NodeList=n[00-07] OverSubscribe=TOPO\n"
	     "JobId=8 JobState=RUNNING NodeList=n[18-20]",
	 blocks, PROMISE_EXCLUSIVE, NULL},
	{"a block of its own that another is in",
	 JOB "NodeList=n[00-07] OverSubscribe=TOPO\n"
	     "JobId=8 JobState=RUNNING NodeList=n[17-20]",
	 blocks, PROMISE_EXCLUSIVE,
	 "--exclusive=topo beside job 8: has 8 nodes by block"},
};

static void promises_are_kept_or_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool broken = cases[i].broken != NULL;
		struct promises p;

		print_message("%s\n", cases[i].desc);
		look(cases[i].record, cases[i].topology, &p);
		assert_int_equal(p.n, broken);
		assert_int_equal(p.n_broken[cases[i].kind], broken);
		assert_int_equal(p.n_kept[cases[i].kind], !broken);
		if (broken) {
			assert_string_equal(p.broken[0].text, cases[i].broken);
			assert_string_equal(p.broken[0].job, "7");
		}
		promises_free(&p);
	}
}

static const char *const nothing_asked[] = {
	"",
	JOB "NodeList=n[00-40]",
	"JobId=7 JobState=PENDING NodeList=(null) SegmentSize=12",
	"JobId=7 JobState=COMPLETED NodeList=n[00-40] SegmentSize=12",
	JOB "NodeList=x[00-40] SegmentSize=12",
	JOB "NodeList=n[00-40] Comment=weft:nonsense=1",
	/* Slurm has waited for as long as it was told to. */
	JOB "EligibleTime=2026-11-20T10:00:00 StartTime=2026-11-20T10:05:00 "
	    "NodeList=n[17-18] Switches=1@00:05:00",
};

static void nothing_is_promised_to_the_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(nothing_asked) / sizeof(*nothing_asked);
	     i++) {
		struct promises p;

		print_message("%s\n", nothing_asked[i]);
		look(nothing_asked[i], i % 2 ? blocks : switches, &p);
		assert_int_equal(p.n, 0);
		for (int k = 0; k < PROMISE_N_KINDS; k++)
			assert_int_equal(p.n_kept[k], 0);
		promises_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promises_are_kept_or_broken),
		cmocka_unit_test(nothing_is_promised_to_the_others),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
