/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layout.c - boxes in boxes: nothing overlaps, nothing sticks out, every GPU is
 * drawn once */
#include "topology/draw/layout.h"
#include "tests/lib/fabric.h"
#include "topology/synth.h"

#include <stdio.h>

#define WIDTH  1200.0
#define HEIGHT 900.0
#define SLACK  0.01

static struct weft_fabric *synth(const char *text, uint32_t rails)
{
	const struct weft_synth_options options = {.rails = rails};

	return test_synth(text, &options);
}

static void is_inside(const struct weft_box *in, const struct weft_box *out)
{
	assert_true(in->x >= out->x - SLACK);
	assert_true(in->y >= out->y + out->head - SLACK);
	assert_true(in->x + in->w <= out->x + out->w + SLACK);
	assert_true(in->y + in->h <= out->y + out->h + SLACK);
}

static bool is_apart(const struct weft_box *a, const struct weft_box *b)
{
	return a->x + a->w <= b->x + SLACK || b->x + b->w <= a->x + SLACK ||
	       a->y + a->h <= b->y + SLACK || b->y + b->h <= a->y + SLACK;
}

/* Boxes of one parent, each against those that come next: rows are in order,
 * so that overlaps are with a neighbour of the same row or the row below. */
static void siblings_check(const struct weft_layout *l, uint32_t at)
{
	for (uint32_t i = at + 1; i < l->boxes[at].end; i = l->boxes[i].end) {
		uint32_t seen = 0;

		is_inside(&l->boxes[i], &l->boxes[at]);
		for (uint32_t k = l->boxes[i].end;
		     k < l->boxes[at].end && seen < 300;
		     k = l->boxes[k].end, seen++)
			assert_true(is_apart(&l->boxes[i], &l->boxes[k]));
	}
}

/* The innermost boxes hold the GPUs in order, each once. */
static void layout_check(const struct weft_fabric *f,
			 const struct weft_layout *l)
{
	uint32_t next = 0;

	assert_int_equal(l->boxes[0].end, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct weft_box *box = &l->boxes[i];

		assert_true(box->w > 0 && box->h > 0 && box->n_gpus > 0);
		if (box->whole) {
			assert_int_equal(box->end, i + 1);
			assert_int_equal(box->first_gpu, next);
			next += box->n_gpus;
		} else {
			siblings_check(l, i);
		}
	}
	assert_int_equal(next, f->n_gpus);
}

static void fabric_check(struct weft_fabric *f, enum weft_box_kind finest)
{
	struct weft_error err = {0};
	struct weft_layout l = {0};

	assert_int_equal(weft_layout_build(f, WIDTH, HEIGHT, &l, &err), 0);
	layout_check(f, &l);
	assert_int_equal(l.finest, finest);
	assert_true(l.width <= WIDTH + SLACK);
	assert_true(l.height <= HEIGHT + SLACK);
	weft_layout_free(&l);
	weft_fabric_free(f);
}

static const struct {
	const char *synth;
	uint32_t rails;
	enum weft_box_kind finest;
} cases[] = {
	{"node:1 gpu:1", 0, WEFT_BOX_GPU},
	{"node:1 gpu:2", 0, WEFT_BOX_GPU},
	{"leaf:2 node:8 gpu:8", 0, WEFT_BOX_GPU},
	{"pod:2 leaf:4 node:8 gpu:8", 8, WEFT_BOX_GPU},
	{"pod:2 leaf:4 node:8 gpu:8", 0, WEFT_BOX_GPU},
	{"pod:4 spine:4 leaf:8 node:32 gpu:8", 8, WEFT_BOX_NODE},
	{"pod:4 spine:4 leaf:8 node:32 gpu:8", 0, WEFT_BOX_NODE},
	{"leaf:7 node:13 gpu:4", 4, WEFT_BOX_GPU},
	{"leaf:2 nvlink:2 node:18 gpu:4", 0, WEFT_BOX_GPU},
	{"pod:16 spine:16 leaf:16 node:16 gpu:8", 0, WEFT_BOX_DOMAIN},
};

static void every_gpu_is_drawn_once_and_nothing_overlaps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		fabric_check(synth(cases[i].synth, cases[i].rails),
			     cases[i].finest);
}

static void uneven_and_disjoint_fabrics_fit_too(void **state)
{
	(void)state;
	fabric_check(test_fabric("weft: fabric/1\n"
				 "nodes:\n"
				 "  a[0-20]: 8\n"
				 "  b[0-2]: 1\n"
				 "  c: 64\n"
				 "levels:\n"
				 "  leaf:\n"
				 "    L0: a[0-18]\n"
				 "    L1: a19\n"
				 "    L2: a20,b[0-2]\n"
				 "  spine:\n"
				 "    S0: L0,L1\n"
				 "    S1: L2,c\n"
				 "disjoint: yes\n"),
		     WEFT_BOX_GPU);
	fabric_check(test_fabric("weft: fabric/1\n"
				 "nodes:\n"
				 "  a[0-3]: 8\n"
				 "disjoint: yes\n"),
		     WEFT_BOX_GPU);
}

static void pairs_inside_a_node_have_boxes(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "nodes:\n"
					    "  a[0-3]: 8\n"
					    "nvlink: 2\n"
					    "levels:\n"
					    "  leaf:\n"
					    "    L: a[0-3]\n");
	struct weft_inside inside = weft_inside_of(f, WEFT_BOX_NODE, 1);

	(void)state;
	assert_int_equal(inside.kind, WEFT_BOX_DOMAIN);
	assert_int_equal(inside.n, 4);
	fabric_check(f, WEFT_BOX_GPU);
}

static void levels_that_group_nothing_are_passed_over(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "nodes:\n"
					    "  a[0-3]: 8\n"
					    "nvlink: 1\n");
	struct weft_inside inside = weft_inside_of(f, WEFT_BOX_NODE, 0);

	(void)state;
	assert_int_equal(inside.kind, WEFT_BOX_GPU);
	assert_int_equal(inside.n, 8);
	fabric_check(f, WEFT_BOX_GPU);
}

static void random_fabrics_are_laid_out_without_overlap(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int i = 0; i < 60; i++) {
		struct weft_error err = {0};
		struct weft_layout l = {0};
		struct weft_fabric *f;
		char text[128];

		snprintf(text, sizeof(text), "pod:%u leaf:%u node:%u gpu:%u",
			 1 + test_random_below(&seed, 4),
			 1 + test_random_below(&seed, 9),
			 1 + test_random_below(&seed, 40),
			 1 + test_random_below(&seed, 16));
		f = synth(text, 0);
		assert_int_equal(weft_layout_build(f, WIDTH, HEIGHT, &l, &err),
				 0);
		layout_check(f, &l);
		weft_layout_free(&l);
		weft_fabric_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_gpu_is_drawn_once_and_nothing_overlaps),
		cmocka_unit_test(uneven_and_disjoint_fabrics_fit_too),
		cmocka_unit_test(pairs_inside_a_node_have_boxes),
		cmocka_unit_test(levels_that_group_nothing_are_passed_over),
		cmocka_unit_test(random_fabrics_are_laid_out_without_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
