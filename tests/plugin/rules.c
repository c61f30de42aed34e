/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugin/bridge/rules.h"

#include "plugin/bridge/constraints.h"
#include "tests/lib/fabric.h"

#include <string.h>

static struct weft_fabric *fabric;

static int setup(void **state)
{
	(void)state;
	fabric = test_synth("pod:2 leaf:2 node:4 gpu:8", NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	weft_fabric_free(fabric);
	return 0;
}

static int read_rules(const char *text, struct weft_rules *rules,
		      struct weft_error *err)
{
	const struct weft_yaml_node *map;
	struct weft_yaml doc = {0};
	int rc = 0;

	assert_int_equal(
		weft_yaml_parse(text, strlen(text), "weft.yaml", &doc, err), 0);
	weft_rules_default(rules);
	map = weft_yaml_find(doc.root, "wait");
	if (map)
		rc = weft_rules_read_wait(&doc, map, rules, err);
	map = weft_yaml_find(doc.root, "limits");
	if (map && !rc)
		rc = weft_rules_read_limits(&doc, map, fabric, rules, err);
	weft_yaml_free(&doc);
	return rc;
}

static struct weft_frame frame_of(const char *spec)
{
	struct weft_frame frame;
	struct weft_error err = {0};

	assert_int_equal(weft_frame_read(spec, &frame, &err), 0);
	return frame;
}

static int check(const struct weft_rules *rules, const char *spec,
		 const char *partition, struct weft_error *err)
{
	const struct weft_frame frame = frame_of(spec);

	memset(err, 0, sizeof(*err));
	return weft_rules_check(rules, &frame, partition, err);
}

static void without_keys_all_is_allowed(void **state)
{
	struct weft_rules rules;
	struct weft_error err = {0};
	const struct weft_frame frame = frame_of("wait=1h");

	(void)state;
	assert_int_equal(read_rules("weft: slurm/1", &rules, &err), 0);
	assert_close(rules.wait_max_s, 1800, 1e-9);
	assert_close(rules.wait_tolerance, 0.05, 1e-9);
	assert_int_equal(check(&rules, "within=pod", "any", &err), 0);
	assert_int_equal(check(&rules, "split=99x64", NULL, &err), 0);
	assert_close(weft_rules_wait_s(&rules, &frame, "any"), 1800, 1e-9);
	weft_rules_free(&rules);
}

static void what_is_written_holds(void **state)
{
	static const char text[] =
		"wait: {max: 5 min, tolerance: 0.2, partitions: [a, b]}\n"
		"limits:\n"
		"  within: [leaf]\n"
		"  segment: 8\n"
		"  parts: 2\n"
		"  partitions: [a]\n";
	const struct weft_frame brief = frame_of("wait=30s");
	const struct weft_frame lengthy = frame_of("wait=1h");
	struct weft_rules rules;
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(read_rules(text, &rules, &err), 0);
	assert_close(rules.wait_tolerance, 0.2, 1e-9);
	assert_close(weft_rules_wait_s(&rules, &brief, "b"), 30, 1e-9);
	assert_close(weft_rules_wait_s(&rules, &lengthy, "a"), 300, 1e-9);
	assert_close(weft_rules_wait_s(&rules, &lengthy, "c"), 0, 1e-9);
	assert_int_equal(check(&rules, "within=leaf", "a", &err), 0);
	assert_int_equal(check(&rules, "tp=8,prefer=pod", "c", &err), 0);
	assert_int_equal(check(&rules, "within=leaf", "b", &err), -1);
	assert_error_says(&err, "not allowed in this partition");
	assert_int_equal(check(&rules, "within=pod", "a", &err), -1);
	assert_error_says(&err, "within=pod is not allowed here; \"leaf\" is");
	assert_int_equal(check(&rules, "segment=9", "a", &err), -1);
	assert_error_says(&err, "9 nodes in one domain");
	assert_int_equal(check(&rules, "split=9+1", "a", &err), -1);
	assert_error_says(&err, "9 nodes in one domain");
	assert_int_equal(check(&rules, "split=4x3", "a", &err), -1);
	assert_error_says(&err, "split has 3 parts: 2");
	weft_rules_free(&rules);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{"wait: {maximum: 1 s}", "max"},
		{"wait: {max: 9999999 min}", "max: expected 0 s to 10080 min"},
		{"wait: {max: soon}", "soon"},
		{"wait: {tolerance: -1}", "0"},
		{"wait: {partitions: main}", "partitions"},
		{"wait: {partitions: []}", "partitions: expected 1 to 64"},
		{"limits: {witin: [leaf]}", "within"},
		{"limits: {within: [leef]}", "did you mean \"leaf\"?"},
		{"limits: {segment: 0}", "1"},
		{"limits: {parts: 1000}", "256"},
		{"limits: {partitions: [\"\"]}", "expected a name of 1 to 63"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_rules rules;
		struct weft_error err = {0};

		assert_int_equal(read_rules(wrong[i].text, &rules, &err), -1);
		assert_error_says(&err, wrong[i].says);
		weft_rules_free(&rules);
	}
}

static void only_limits_that_must_hold_make_a_frame_hard(void **state)
{
	(void)state;
	assert_true(frame_of("within=pod").hard);
	assert_true(frame_of("segment=2").hard);
	assert_true(frame_of("split=2+1").hard);
	assert_false(frame_of("segment=1").hard);
	assert_false(frame_of("prefer=leaf,spread=balance").hard);
	assert_false(frame_of("").hard);
	assert_close(frame_of("wait=2m").wait_s, 120, 1e-9);
}

static void nodes_are_counted_in_the_fullest_domain(void **state)
{
	struct weft_occupancy o = {0};
	struct weft_error err = {0};
	struct weft_frame leaf = frame_of("within=leaf");
	struct weft_frame pod = frame_of("within=pod");
	struct weft_frame any = frame_of("");

	(void)state;
	assert_int_equal(weft_occupancy_build(fabric, &o, &err), 0);
	weft_occupancy_take(&o, 0, 0xff);
	weft_occupancy_take(&o, 4, 0xff);
	weft_occupancy_take(&o, 8, 0xff);
	weft_occupancy_take(&o, 12, 0xff);
	weft_occupancy_take(&o, 13, 0x0f);
	assert_int_equal(weft_constraints_able(&o, &leaf), 3);
	assert_int_equal(weft_constraints_able(&o, &pod), 6);
	assert_int_equal(weft_constraints_able(&o, &any), 12);
	weft_occupancy_free(&o);
}

static void nodes_keep_to_limits(void **state)
{
	/* domains of four nodes: 0-3, 4-7, 8-11, 12-15 */
	static const struct {
		const char *spec;
		uint32_t n, nodes[8];
		bool holds;
	} cases[] = {
		{"within=leaf", 3, {4, 5, 7}, true},
		{"within=leaf", 2, {3, 4}, false},
		{"within=pod", 3, {0, 4, 7}, true},
		{"within=pod", 2, {7, 8}, false},
		{"within=rack", 1, {0}, false},
		{"segment=2", 4, {0, 1, 4, 5}, true},
		{"segment=2", 3, {0, 1, 4}, true},
		{"segment=2", 4, {0, 1, 2, 4}, false},
		{"segment=2", 3, {1, 2, 3}, true},
		{"split=2+1", 3, {0, 8, 9}, true},
		{"split=2+1", 3, {0, 4, 8}, false},
		{"split=2+1", 3, {0, 1, 2}, false},
		{"within=pod,segment=2", 4, {0, 1, 8, 9}, false},
		{"tp=8", 2, {0, 15}, true},
		{"within=", 1, {0}, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(weft_constraints_holds(fabric, cases[i].spec,
							cases[i].nodes,
							cases[i].n),
				 cases[i].holds);
}

static void what_is_left_keeps_to_limits(void **state)
{
	static const struct {
		const char *spec;
		uint32_t n, nodes[8], n_left, left[8];
	} cases[] = {
		{"within=leaf", 2, {0, 5}, 2, {0, 5}},
		{"segment=2", 6, {0, 1, 2, 4, 8, 9}, 4, {0, 1, 8, 9}},
		{"split=1+3", 6, {0, 1, 4, 5, 6, 8}, 4, {0, 4, 5, 6}},
		{"split=3+3", 5, {0, 1, 4, 5, 6}, 3, {4, 5, 6}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t nodes[8];

		memcpy(nodes, cases[i].nodes, sizeof(nodes));
		assert_int_equal(weft_constraints_trim(fabric, cases[i].spec,
						       nodes, cases[i].n),
				 cases[i].n_left);
		assert_memory_equal(nodes, cases[i].left,
				    cases[i].n_left * sizeof(*nodes));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_keys_all_is_allowed),
		cmocka_unit_test(what_is_written_holds),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(only_limits_that_must_hold_make_a_frame_hard),
		cmocka_unit_test(nodes_are_counted_in_the_fullest_domain),
		cmocka_unit_test(nodes_keep_to_limits),
		cmocka_unit_test(what_is_left_keeps_to_limits),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
