/* SPDX-License-Identifier: GPL-3.0-or-later */
/* room.c - how many jobs of which size would fit */
#include "cli/status/room.h"

#include "tests/lib/fabric.h"

/* Two leafs of two nodes of eight GPUs. */
static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-3]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    a: n[0-1]\n"
				  "    b: n[2-3]\n";

#define LEAF 1

/* fits: by size 1, 2, 4, 8, 16, 32, in a leaf */
static const struct {
	const char *desc, *busy;
	uint32_t fits[6], largest, n_whole;
} cases[] = {
	{"all is free", NULL, {32, 16, 8, 4, 2, 0}, 16, 4},
	{"half of each node is taken", "n[0-3]:0-3", {16, 8, 4, 0, 0, 0}, 4, 0},
	{"one whole node", "n[0-2]", {8, 4, 2, 1, 0, 0}, 8, 1},
	{"a node of each leaf", "n0,n2", {16, 8, 4, 2, 0, 0}, 8, 2},
	{"a leaf", "n[0-1]", {16, 8, 4, 2, 1, 0}, 16, 2},
	{"odd pieces", "n0:0,n1,n2,n3", {7, 3, 1, 0, 0, 0}, 7, 0},
	{"nothing is", "n[0-3]", {0, 0, 0, 0, 0, 0}, 0, 0},
};

static void jobs_are_counted_by_size_and_level(void **state)
{
	struct weft_error err = {0};
	struct weft_fabric *f = test_fabric(fabric_text);

	(void)state;
	assert_no_error(&err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_occupancy o = {0};
		struct room c;

		assert_int_equal(weft_occupancy_build(f, &o, &err), 0);
		if (cases[i].busy)
			weft_occupancy_busy(&o, cases[i].busy, &err);
		assert_no_error(&err);
		room_find(&o, &c);
		assert_int_equal(c.n_sizes, 6);
		for (uint32_t s = 0; s < 6; s++)
			if (c.fits[LEAF][s] != cases[i].fits[s])
				fail_msg("%s: %u jobs of %u", cases[i].desc,
					 c.fits[LEAF][s], c.size[s]);
		assert_int_equal(c.largest[LEAF], cases[i].largest);
		assert_int_equal(c.n_whole, cases[i].n_whole);
		assert_true(c.largest_domain[LEAF] == WEFT_NONE ||
			    c.largest[LEAF] > 0);
		weft_occupancy_free(&o);
	}
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_counted_by_size_and_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
