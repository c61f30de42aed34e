/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_map.c - orders of ranks come back from text as they went, and fit */
#include "topology/rank_map.h"
#include "tests/lib/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void each_written_form_is_read(void **state)
{
	static const struct {
		const char *text;
		uint32_t job_id, n_nodes, n_ranks;
		enum weft_env env;
		const char *seats; /* node.gpu of each rank */
		struct weft_rank_nvlink nvlink;
	} cases[] = {
		{"1;job=5", 5, 0, 0, 0, "", {0}},
		{"1;job=5;env=torch", 5, 0, 0, WEFT_ENV_TORCH, "", {0}},
		{"1;job=5;env=lightning;nvlink=72:18:0",
		 5,
		 0,
		 0,
		 WEFT_ENV_LIGHTNING,
		 "",
		 {72, 18, 0}},
		{"1;job=5;nodes=a;ranks=0:3", 5, 1, 1, 0, "a.3", {0}},
		{"1;job=7;env=torch;nvlink=8:1:4;nodes=n[2,0];ranks=0-1:0-1",
		 7,
		 2,
		 4,
		 WEFT_ENV_TORCH,
		 "n2.0 n2.1 n0.0 n0.1",
		 {8, 1, 4}},
		{"1;job=7;nodes=n[0-1];ranks=0-1:0,1:1,0:1",
		 7,
		 2,
		 4,
		 0,
		 "n0.0 n1.0 n1.1 n0.1",
		 {0}},
		{"1;job=7;nodes=n[0-1];ranks==2:3021",
		 7,
		 2,
		 4,
		 0,
		 "n1.1 n0.0 n1.0 n0.1",
		 {0}},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct weft_error err = {0};
		struct weft_rank_map r;
		char seats[200] = "";

		weft_rank_map_decode(cases[k].text, &r, &err);
		assert_no_error(&err);
		assert_int_equal(r.job_id, cases[k].job_id);
		assert_int_equal(r.n_nodes, cases[k].n_nodes);
		assert_int_equal(r.n_ranks, cases[k].n_ranks);
		assert_int_equal(r.env, cases[k].env);
		assert_memory_equal(&r.nvlink, &cases[k].nvlink,
				    sizeof(r.nvlink));
		for (uint32_t i = 0; i < r.n_ranks; i++)
			snprintf(seats + strlen(seats),
				 sizeof(seats) - strlen(seats), "%s%s.%u",
				 i ? " " : "", r.nodes[r.node[i]], r.gpu[i]);
		assert_string_equal(seats, cases[k].seats);
		weft_rank_map_free(&r);
	}
}

static void mistakes_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "version"},
		{"2;job=5", "version"},
		{"1", "job"},
		{"1;job=", "job"},
		{"1;job=5x", "job"},
		{"1;job=99999999999", "job"},
		{"1;job=5;env=jax", "env"},
		{"1;job=5;env=none", "env"},
		{"1;job=5;nvlink=8:1:0", "nvlink"},
		{"1;job=5;env=torch;nvlink=8:1", "nvlink"},
		{"1;job=5;env=torch;nvlink=8:1:0:0", "nvlink"},
		{"1;job=5;env=torch;nvlink=0:1:0", "nvlink"},
		{"1;job=5;env=torch;nvlink=8:0:0", "nvlink"},
		{"1;job=5;env=torch;nvlink=8:1:9", "nvlink"},
		{"1;job=5;env=torch;nvlink=9999999999:1:9", "nvlink"},
		{"1;job=5;speed=9", "expected the fields"},
		{"1;job=5;ranks=0:0", "expected the fields"},
		{"1;job=5;nodes=a", "expected the fields"},
		{"1;job=5;nodes=a;ranks=0:0;more=1", "expected the fields"},
		{"1;job=5;nodes=a[;ranks=0:0", ""},
		{"1;job=5;nodes=a;ranks=", "blocks"},
		{"1;job=5;nodes=a;ranks=1:0", "blocks"},
		{"1;job=5;nodes=a;ranks=0:64", "blocks"},
		{"1;job=5;nodes=a;ranks=0:2-1", "blocks"},
		{"1;job=5;nodes=a;ranks=0:0,", "blocks"},
		{"1;job=5;nodes=a;ranks==1:", "blocks"},
		{"1;job=5;nodes=a;ranks==65:0", "blocks"},
		{"1;job=5;nodes=a;ranks==1:1", "blocks"},
		{"1;job=5;nodes=a;ranks==1:+", "blocks"},
		{"1;job=5;nodes=n[0-99];ranks==8:0", "blocks"},
		{"1;job=5;nodes=a;ranks=0:0,0:0", "two ranks on one GPU"},
		{"1;job=5;nodes=a,b;ranks=0:0", "a node without ranks"},
		{"1;job=5;nodes=a,a;ranks=0-1:0", "named twice"},
		{"1;job=5;nodes=n[0-99999999];ranks=0:0", ""},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct weft_error err = {0};
		struct weft_rank_map r;

		assert_int_equal(weft_rank_map_decode(cases[k].text, &r, &err),
				 -1);
		assert_error_says(&err, cases[k].says);
		assert_int_equal(r.n_ranks, 0);
	}
}

/* What goes into where[] comes out of the text. */
static size_t round_trip(const struct weft_fabric *f, const uint32_t *where,
			 uint32_t n, char *head, size_t size)
{
	struct weft_error err = {0};
	struct weft_rank_map r, again;
	char *text;
	size_t length;

	assert_int_equal(weft_rank_map_build(f, where, n, &r, &err), 0);
	r.job_id = 4294967294;
	r.env = WEFT_ENV_LIGHTNING;
	r.nvlink = (struct weft_rank_nvlink){72, 18, 64};
	text = weft_rank_map_encode(&r, &err);
	assert_no_error(&err);
	length = strlen(text);
	snprintf(head, size, "%s", text);
	weft_rank_map_decode(text, &again, &err);
	assert_no_error(&err);
	assert_int_equal(again.job_id, r.job_id);
	assert_int_equal(again.env, r.env);
	assert_memory_equal(&again.nvlink, &r.nvlink, sizeof(r.nvlink));
	assert_int_equal(again.n_nodes, r.n_nodes);
	assert_int_equal(again.n_ranks, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(again.nodes[again.node[i]],
				    f->nodes[f->gpu_node[where[i]]].name);
		assert_int_equal(
			again.gpu[i],
			where[i] - f->nodes[f->gpu_node[where[i]]].first_gpu);
	}
	free(text);
	weft_rank_map_free(&r);
	weft_rank_map_free(&again);
	return length;
}

static void whole_nodes_in_order_take_a_line(void **state)
{
	struct weft_fabric *f = test_synth("leaf:64 node:32 gpu:8", NULL);
	uint32_t *where = calloc(f->n_gpus, sizeof(*where));
	char head[200];

	(void)state;
	for (uint32_t i = 0; i < f->n_gpus; i++)
		where[i] = i;
	assert_true(round_trip(f, where, f->n_gpus, head, sizeof(head)) < 200);
	assert_non_null(strstr(head, ";ranks=0-2047:0-7"));
	/* dealt over nodes: rank 1 on the second node, and so on */
	for (uint32_t i = 0; i < f->n_gpus; i++)
		where[i] = i % 2048 * 8 + i / 2048;
	assert_true(round_trip(f, where, f->n_gpus, head, sizeof(head)) < 200);
	assert_non_null(strstr(head, ";ranks=0-2047:0,0-2047:1,"));
	free(where);
	weft_fabric_free(f);
}

static void ranks_in_any_order_fit(void **state)
{
	struct weft_fabric *f = test_synth("leaf:64 node:32 gpu:8", NULL);
	uint32_t *where = calloc(f->n_gpus, sizeof(*where));
	uint64_t seed = test_seed();
	char head[200];

	(void)state;
	for (uint32_t i = 0; i < f->n_gpus; i++)
		where[i] = i;
	for (uint32_t i = f->n_gpus; i > 1; i--) {
		uint32_t k = test_random_below(&seed, i), gpu = where[i - 1];

		where[i - 1] = where[k];
		where[k] = gpu;
	}
	assert_true(round_trip(f, where, f->n_gpus, head, sizeof(head)) <=
		    WEFT_RANK_MAP_MAX_BYTES);
	assert_true(round_trip(f, where, 100, head, sizeof(head)) < 2000);
	free(where);
	weft_fabric_free(f);
}

static void what_does_not_fit_is_not_written(void **state)
{
	struct weft_fabric *f = test_synth("leaf:64 node:32 gpu:64", NULL);
	uint32_t *where = calloc(f->n_gpus, sizeof(*where));
	struct weft_error err = {0};
	struct weft_rank_map r;

	(void)state;
	for (uint32_t i = 0; i < f->n_gpus; i++)
		where[i] = i;
	assert_int_equal(weft_rank_map_build(f, where, f->n_gpus, &r, &err), 0);
	assert_null(weft_rank_map_encode(&r, &err));
	assert_int_equal(err.code, WEFT_ENOSYS);
	weft_rank_map_free(&r);
	free(where);
	weft_fabric_free(f);
}

static void nodes_are_found_by_name(void **state)
{
	struct weft_error err = {0};
	struct weft_rank_map r;

	(void)state;
	weft_rank_map_decode("1;job=1;nodes=b,a;ranks=0:0-2,1:0", &r, &err);
	assert_no_error(&err);
	assert_int_equal(weft_rank_map_node(&r, "a"), 1);
	assert_int_equal(weft_rank_map_node(&r, "c"), WEFT_NONE);
	weft_rank_map_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_written_form_is_read),
		cmocka_unit_test(mistakes_are_refused),
		cmocka_unit_test(whole_nodes_in_order_take_a_line),
		cmocka_unit_test(ranks_in_any_order_fit),
		cmocka_unit_test(what_does_not_fit_is_not_written),
		cmocka_unit_test(nodes_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
