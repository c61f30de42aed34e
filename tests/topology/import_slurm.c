/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_slurm.c - what Slurm's own files become */
#include "tests/lib/check.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fabric file that a text becomes, malloc'ed, or NULL with err. */
static char *imported(const char *format, const char *text,
		      const struct weft_import_options *options,
		      struct weft_inventory *s, struct weft_error *err)
{
	const struct weft_hierarchy_options how = {.gpus_per_node = 8};
	const struct weft_importer *importer = weft_importer_find(format, err);
	struct weft_hierarchy *hierarchy = NULL;
	struct weft_fabric *f;
	char *yaml = NULL;

	assert_non_null(importer);
	*s = (struct weft_inventory){0};
	if (weft_import_text(s, importer, text, strlen(text), "t.conf", NULL,
			     options, err) == 0 &&
	    weft_inventory_finish(s, err) == 0)
		hierarchy = weft_hierarchy_build(s, &how, err);
	if (hierarchy)
		yaml = weft_inventory_write(s, hierarchy, &how, err);
	weft_hierarchy_free(hierarchy);
	if (!yaml)
		return NULL;
	f = weft_fabric_parse(yaml, strlen(yaml), "written", err);
	assert_no_error(err);
	weft_fabric_free(f);
	return yaml;
}

static bool has_finding(const struct weft_inventory *s, const char *code,
			int line)
{
	for (uint32_t i = 0; i < s->findings.n; i++) {
		const struct weft_finding *f = &s->findings.item[i];

		if (strcmp(weft_finding_kinds[f->id].code, code) == 0 &&
		    f->line == line)
			return true;
	}
	return false;
}

static const struct {
	const char *desc, *text, *levels, *code;
	int line;
} good[] = {
	{"a tree of three levels, any order of lines, any case of keys",
	 "switchname=top Switches=sp[0-1]\n"
	 "SWITCHNAME=l0 NODES=n[0-1] LinkSpeed=900\n"
	 "SwitchName=l1 Nodes=n[2-3]\n"
	 "SwitchName=sp0 Switches=l0\nSwitchName=sp1 Switches=l1\n",
	 "levels:\n  leaf:\n    l0: n[0-1]\n    l1: n[2-3]\n"
	 "  spine:\n    sp0: l0\n    sp1: l1\n  pod:\n    top: sp[0-1]\n",
	 NULL, 0},
	{"comments, continuation, quotes, blanks, no newline at the end",
	 "# nothing\n\n  SwitchName = l0 \\\n   Nodes=\"n[0-1]\" # two\n"
	 "SwitchName=top Switches=l0",
	 "levels:\n  leaf:\n    l0: n[0-1]\n  spine:\n    top: l0\n", NULL, 0},
	{"several brackets in a list, the last varies fastest",
	 "SwitchName=l0 Nodes=r[1-2]n[1-2],x\n",
	 "levels:\n  leaf:\n    l0: r[1-2]n[1-2],x\n", NULL, 0},
	{"parents with the same children are one domain of several switches",
	 "SwitchName=a Nodes=n0\n"
	 "SwitchName=b Nodes=n1\nSwitchName=s0 Switches=a,b\n"
	 "SwitchName=s1 Switches=a,b\n",
	 "  spine:\n    s0-s1: a,b\n", NULL, 0},
	{"roots that nothing joins are disjoint",
	 "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\n", "disjoint: yes\n",
	 "tree-unconnected", 0},
	{"a root that is lower than others keeps its level",
	 "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\n"
	 "SwitchName=s Switches=b\n",
	 "  leaf:\n    a: n0\n    b: n1\n  spine:\n    s: b\n"
	 "    a~root: a\ndisjoint: yes\n",
	 "tree-unconnected", 0},
	{"a node under two switches stays under the first",
	 "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[1-2]\n",
	 "    a: n[0-1]\n    b: n2\n", "node-twice", 2},
	{"a node twice in one list", "SwitchName=a Nodes=n0,n0\n",
	 "    a: n0\n", "node-twice", 1},
	{"a switch with nothing below it is left out",
	 "SwitchName=a Nodes=n0\nSwitchName=b\n", "    a: n0\n", "switch-empty",
	 2},
	{"parents of different heights: the lowest counts",
	 "SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\n"
	 "SwitchName=m Switches=a\nSwitchName=t Switches=m,a,b\n",
	 "  spine:\n    m: a\n  pod:\n    t: b,m\n", "tree-skewed", 4},
	{"a word that means nothing is told",
	 "SwitchName=a Nodes=n0 Colour=red\n", "    a: n0\n", "line-ignored",
	 1},
	{"blocks keep their order, sizes make levels",
	 "BlockSizes=2,4\nBlockName=z Nodes=n[0-1]\nBlockName=y Nodes=n[2-3]\n"
	 "BlockName=x Nodes=n[4-5]\nBlockName=w Nodes=n[6-7]\n",
	 "  block:\n    z: n[0-1]\n    y: n[2-3]\n    x: n[4-5]\n"
	 "    w: n[6-7]\n  block4:\n    z-y: z,y\n    x-w: x,w\n",
	 NULL, 0},
	{"an empty block keeps its place",
	 "BlockName=a Nodes=n0\nBlockName=b\nBlockName=c Nodes=n2\n"
	 "BlockName=d Nodes=n3\nBlockSizes=1,2\n",
	 "  block2:\n    a-a: a\n    c-d: c,d\n", "switch-empty", 2},
	{"a block below the base size",
	 "BlockName=a Nodes=n[0-1]\nBlockName=b Nodes=n2\nBlockSizes=2\n",
	 "    b: n2\n", "block-short", 2},
	{"blocks inside of leafs are a level below them",
	 "SwitchName=l Nodes=n[0-3]\nBlockName=a Nodes=n[0-1]\n"
	 "BlockName=b Nodes=n[2-3]\nBlockSizes=2\n",
	 "  block:\n    a: n[0-1]\n    b: n[2-3]\n  leaf:\n    l: a,b\n", NULL,
	 0},
	{"blocks across leafs are left out",
	 "SwitchName=l Nodes=n0\nSwitchName=m Nodes=n1\n"
	 "BlockName=a Nodes=n[0-1]\n",
	 "  leaf:\n    l: n0\n    m: n1\n", "level-left-out", 3},
	{"what scontrol prints of a tree",
	 "SwitchName=l0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n"
	 "SwitchName=s Level=1 LinkSpeed=1 Nodes=n[0-1] Switches=l0\n",
	 "  spine:\n    s: l0\n", NULL, 0},
	{"what scontrol prints of blocks",
	 "BlockName=b1 BlockIndex=0 Nodes=n[0-1] BlockSize=2\n"
	 "BlockName=b2 BlockIndex=1 Nodes=n[2-3] BlockSize=2\n"
	 "BlockName=b3 BlockIndex=2 Nodes=n[4-5] BlockSize=2\n"
	 "AggregatedBlock=b[1-2] BlockIndex=3 Nodes=n[0-3] BlockSize=4\n",
	 "  block4:\n    b1-b2: b[1-2]\n    b3-b3: b3\n", NULL, 0},
};

static void good_topologies_become_levels(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct weft_error err = {0};
		struct weft_inventory s;
		char *yaml =
			imported("slurm-tree", good[i].text, NULL, &s, &err);

		print_message("%s\n", good[i].desc);
		assert_no_error(&err);
		if (!strstr(yaml, good[i].levels))
			fail_msg("expected\n%sin\n%s", good[i].levels, yaml);
		if (good[i].code)
			assert_true(
				has_finding(&s, good[i].code, good[i].line));
		free(yaml);
		weft_inventory_free(&s);
	}
}

static const struct {
	const char *desc, *text, *says;
	int line, column;
} bad[] = {
	{"an unknown child", "SwitchName=a Nodes=n0\nSwitchName=s Switches=a,b",
	 "its child b is not a switch", 2, 25},
	{"a switch that is its own child", "SwitchName=s Switches=s\n",
	 "its child s is itself", 1, 23},
	{"a loop", "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
	 "switches form a loop: ", 1, 23},
	{"nodes and switches",
	 "SwitchName=a Nodes=n0\nSwitchName=s Nodes=n1 Switches=a\n",
	 "has child switches and nodes", 2, 32},
	{"a name twice", "SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n",
	 "switch a is already defined in line 1", 2, 12},
	{"sizes that are no powers of two",
	 "BlockName=a Nodes=n[0-2]\nBlockSizes=3,9\n", "block size 9", 2, 14},
	{"a size of zero", "BlockSizes=0\n", "from 1", 1, 12},
	{"a hostlist that never ends", "SwitchName=a Nodes=n[0-1\n", "n[0-1", 1,
	 21},
	{"a ring of seventeen", "RingName=r Nodes=n[1-17]\n", "at most 16", 1,
	 18},
	{"sizes and no block", "BlockSizes=20\n", "no line SwitchName=", 0, 0},
	{"nothing", "# empty\n", "no line SwitchName=", 0, 0},
	{"a torus, whose coordinates scontrol does not tell",
	 "TorusName=t Dims=2x2x2 Nodes=n[1-8]\n", "show topoconf", 1, 1},
	{"a name that Slurm refuses",
	 "SwitchName=a123456789a123456789a123456789a123456789a123456789a1234567"
	 "89aaaaa Nodes=n1\n",
	 "longer than 64", 1, 12},
};

static void what_slurm_refuses_is_refused_with_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct weft_error err = {0};
		struct weft_inventory s;
		char *yaml =
			imported("slurm-block", bad[i].text, NULL, &s, &err);

		print_message("%s: %s\n", bad[i].desc, err.text);
		assert_null(yaml);
		assert_error_says(&err, bad[i].says);
		assert_int_equal(err.line, bad[i].line);
		assert_int_equal(err.column, bad[i].column);
		weft_inventory_free(&s);
	}
}

static void original_names_are_kept_from_comments(void **state)
{
	static const char text[] = "# switch.1.1=leaf-1-1\n"
				   "SwitchName=switch.1.1 Nodes=n0\n";
	struct weft_error err = {0};
	struct weft_inventory s;
	char *yaml = imported("slurm-tree", text, NULL, &s, &err);

	(void)state;
	assert_no_error(&err);
	assert_string_equal(s.switches[0].original, "leaf-1-1");
	free(yaml);
	weft_inventory_free(&s);
}

static void ids_get_the_names_that_the_caller_has(void **state)
{
	const struct weft_import_options options = {
		.names = "# id host\n0x12 n7\n"};
	struct weft_error err = {0};
	struct weft_inventory s;
	char *yaml = imported("slurm-tree", "SwitchName=a Nodes=0x12,n8\n",
			      &options, &s, &err);

	(void)state;
	assert_no_error(&err);
	assert_non_null(strstr(yaml, "a: n[7-8]\n"));
	free(yaml);
	weft_inventory_free(&s);
}

/* Files that include each other, beside this test's own. */
static void includes_are_followed_and_bounded(void **state)
{
	struct weft_import_options options = {0};
	struct weft_error err = {0};
	struct weft_inventory s;
	char *yaml;

	(void)state;
	test_write_file("import_slurm.inc",
			"SwitchName=a Nodes=n0\nInclude import_slurm.inc2\n");
	test_write_file("import_slurm.inc2", "SwitchName=b Nodes=n1\n");
	yaml = imported("slurm-tree", "include import_slurm.inc\n", NULL, &s,
			&err);
	assert_no_error(&err);
	assert_non_null(strstr(yaml, "b: n1\n"));
	free(yaml);
	weft_inventory_free(&s);

	test_write_file("import_slurm.inc2", "Include import_slurm.inc\n");
	assert_null(imported("slurm-tree", "Include import_slurm.inc\n", NULL,
			     &s, &err));
	assert_error_says(&err, "import_slurm.inc includes itself");
	assert_string_equal(err.source, "import_slurm.inc2");
	weft_inventory_free(&s);

	options.no_include = true;
	err = (struct weft_error){0};
	yaml = imported("slurm-tree",
			"Include import_slurm.inc\nSwitchName=a Nodes=n0\n",
			&options, &s, &err);
	assert_no_error(&err);
	assert_true(has_finding(&s, "input-partial", 1));
	free(yaml);
	weft_inventory_free(&s);
	remove("import_slurm.inc");
	remove("import_slurm.inc2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_topologies_become_levels),
		cmocka_unit_test(what_slurm_refuses_is_refused_with_its_place),
		cmocka_unit_test(original_names_are_kept_from_comments),
		cmocka_unit_test(ids_get_the_names_that_the_caller_has),
		cmocka_unit_test(includes_are_followed_and_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
