/* SPDX-License-Identifier: GPL-3.0-or-later */
/* occupancy.c - which GPUs are free, from texts and state files */
#include "tests/placement/cases.h"

#include <stdlib.h>
#include <unistd.h>

static const char fabric_text[] = "weft: fabric/1\nname: alpha\nnodes:\n"
				  "  n[00-07]: 8\n  m[1-2]: 4\n";

struct fixture {
	struct weft_fabric *f;
	struct weft_occupancy o;
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

	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
	free(x);
	return 0;
}

static uint64_t free_of(const struct fixture *x, const char *name)
{
	return x->o.free[weft_fabric_node(x->f, name)];
}

static void all_is_free_at_first(void **state)
{
	struct fixture *x = *state;

	assert_int_equal(weft_occupancy_usable(&x->o), 72);
	assert_int_equal(free_of(x, "n03"), 0xff);
	assert_int_equal(free_of(x, "m2"), 0x0f);
}

static void taken_gpus_are_not_usable(void **state)
{
	struct fixture *x = *state;
	uint32_t node = weft_fabric_node(x->f, "n00");

	x->o.usable[node] = 5;
	weft_occupancy_take(&x->o, node, 0x03);
	assert_int_equal(x->o.usable[node], 5);
	weft_occupancy_take(&x->o, node, 0x0f);
	assert_int_equal(x->o.usable[node], 4);
	assert_int_equal(weft_occupancy_usable(&x->o), 72 - 4);
}

static void busy_text_takes_nodes_and_gpus(void **state)
{
	struct fixture *x = *state;
	struct weft_error err = {0};

	weft_occupancy_busy(&x->o, "n[00-01], n02:0-3,5,n03:7,m[1-2]:[0,2]",
			    &err);
	assert_no_error(&err);
	assert_int_equal(free_of(x, "n00"), 0);
	assert_int_equal(free_of(x, "n01"), 0);
	assert_int_equal(free_of(x, "n02"), 0xff & ~0x2f);
	assert_int_equal(free_of(x, "n03"), 0x7f);
	assert_int_equal(free_of(x, "m1"), 0x0a);
	assert_int_equal(free_of(x, "m2"), 0x0a);
}

static void wrong_busy_texts_are_explained(void **state)
{
	static const struct {
		const char *text, *says;
		int column;
	} cases[] = {
		{"n00,n09", "unknown node \"n09\": the nearest", 5},
		{"n00:8", "node n00 has GPUs 0-7, not GPU 8", 1},
		{"n01,m1:0-7", "node m1 has GPUs 0-3, not GPU 7", 5},
		{"n00:x", "not a list of GPU indices", 1},
		{"n00:3-1", "not a list of GPU indices", 1},
		{"n00:64", "at most 64 GPUs", 1},
		{"n00:99999", "not a list of GPU indices", 1},
		{"n00,n[0", "", 5},
		{"", "", 1},
	};
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(
			weft_occupancy_busy(&x->o, cases[i].text, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_true(err.column >= cases[i].column);
	}
}

/* Loads `text` as a state file. */
static int load(struct fixture *x, const char *text, struct weft_error *err)
{
	static const char path[] = "occupancy-test.yaml";
	int rc;

	test_write_file(path, text);
	rc = weft_occupancy_load(&x->o, path, err);
	unlink(path);
	return rc;
}

static void state_files_take_gpus_and_nodes(void **state)
{
	struct fixture *x = *state;
	struct weft_error err = {0};

	load(x,
	     "weft: state/1\nbusy:\n  n[00-01]: all\n  n02: 0-3,5\n"
	     "  n03: 7\n  m[1-2]: [0, 2]\ndown:\n  - n04\n  - n[05-06]\n",
	     &err);
	assert_no_error(&err);
	assert_int_equal(free_of(x, "n01"), 0);
	assert_int_equal(free_of(x, "n02"), 0xff & ~0x2f);
	assert_int_equal(free_of(x, "n03"), 0x7f);
	assert_int_equal(free_of(x, "m2"), 0x0a);
	assert_int_equal(free_of(x, "n05"), 0);
	assert_int_equal(free_of(x, "n07"), 0xff);
}

static void empty_states_take_nothing(void **state)
{
	static const char *const texts[] = {
		"weft: state/1\n", "weft: state/1\nbusy:\ndown:\n",
		"weft: state/1\nbusy: {}\ndown: []\n"};
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct weft_error err = {0};

		load(x, texts[i], &err);
		assert_no_error(&err);
		assert_int_equal(weft_occupancy_usable(&x->o), 72);
	}
}

static void wrong_state_files_are_explained(void **state)
{
	static const struct {
		const char *text, *says;
		int line;
	} cases[] = {
		{"busy: {n00: all}\n", "begins with \"weft: state/1\"", 1},
		{"weft: state/2\n", "expected \"state/1\"", 1},
		{"weft: state/1\nbuzy: {}\n", "busy", 2},
		{"weft: state/1\nbusy:\n  n00: all\n  n88: all\n",
		 "unknown node \"n88\"", 4},
		{"weft: state/1\nbusy:\n  n00: some\n", "expected \"all\"", 3},
		{"weft: state/1\nbusy:\n  m1: 0-7\n", "not GPU 7", 3},
		{"weft: state/1\nbusy: n00\n", "", 2},
		{"weft: state/1\ndown: n99\n", "unknown node \"n99\"", 2},
		{"weft: state/1\ndown:\n  - n00\n  - {a: b}\n", "", 4},
	};
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(load(x, cases[i].text, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.line, cases[i].line);
		assert_true(err.column > 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(all_is_free_at_first),
		TEST(taken_gpus_are_not_usable),
		TEST(busy_text_takes_nodes_and_gpus),
		TEST(wrong_busy_texts_are_explained),
		TEST(state_files_take_gpus_and_nodes),
		TEST(empty_states_take_nothing),
		TEST(wrong_state_files_are_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
