/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.c - segments, splits and spread replicas, and what is said of those
 * that cannot be had
 */
#include "tests/lib/checker.h"
#include "tests/placement/cases.h"

#include <stdlib.h>

/* Two pods of four leafs of eight nodes. */
static const char regular[] =
	"weft: fabric/1\nnodes:\n  n[00-63]: 8\nlevels:\n"
	"  leaf:\n    l[0-7]: n[00-63]\n  pod:\n    p[0-1]: l[0-7]\n";

/* Racks across leafs, and a node in none. */
static const char racks[] =
	"weft: fabric/1\nnodes:\n  n[0-8]: 4\nlevels:\n  leaf:\n"
	"    l0: n[0-4]\n    l1: n[5-8]\nrack:\n  r0: n[0,5]\n  r1: n[1,6]\n"
	"  r2: n[2,7]\n  r3: n[3,8]\n";

/* NVLink domains of 4 nodes, two of them with holes. */
static const char holes[] =
	"weft: fabric/1\nprofile: gb200-nvl72\nnodes:\n  n[00-13]: 4\nnvlink:\n"
	"  v0: n[00-03]\n  v1: n[04-06]\n  v2: n[07-10]\n  v3: n[11-13]\n"
	"levels:\n  leaf:\n    l0: v[0-1]\n    l1: v[2-3]\n";

struct scene {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_placement p;
};

static void scene_open(struct scene *s, const char *fabric, const char *busy,
		       const char *spec)
{
	struct weft_error err = {0};
	const char *wrong;

	s->f = case_fabric(fabric);
	weft_occupancy_build(s->f, &s->o, &err);
	if (busy[0])
		weft_occupancy_busy(&s->o, busy, &err);
	assert_no_error(&err);
	case_job(spec, s->f, &s->job);
	weft_place(s->f, &s->job, &s->o, NULL, &s->p, &err);
	assert_no_error(&err);
	wrong = checker_answer(s->f, &s->job, &s->o, &s->p);
	if (wrong) {
		print_error("%s: %s\n", spec, wrong);
		fail();
	}
}

static void scene_close(struct scene *s)
{
	weft_placement_free(&s->p);
	weft_job_free(&s->job);
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

static bool says(const struct weft_placement *p, const char *text)
{
	for (uint32_t i = 0; i < p->n_why; i++)
		if (strstr(p->why[i], text))
			return true;
	return false;
}

/* Ranks in the order of the GPUs would begin with the smaller segment. */
static void the_smaller_segment_is_the_last(void **state)
{
	static const char fabric[] =
		"weft: fabric/1\nprofile: roce-llama3\n"
		"nodes:\n  n[0-31]: 8\nlevels:\n  leaf:\n    l[0-7]: n[0-31]\n"
		"  pod:\n    p[0-1]: l[0-7]\n";
	const struct weft_place_options options = {
		.objective = &(struct weft_objective){
			.goal = WEFT_GOAL_STEP,
			.fragmentation = 1,
			.gpu = weft_gpu_find("H100", NULL),
		}};
	struct weft_placement p;
	struct weft_error err = {0};
	struct scene s;

	(void)state;
	scene_open(&s, fabric,
		   "n[0,14,18,20-22,26,31],n2:0,3-4,6-7,n5:5,7,n[6,28]:6,"
		   "n[8,12,17,27]:7,n9:0-1,3,7,n13:1,5-6,n23:0-2,5",
		   "gpus=48,tp=8,pp=3,segment=3");
	weft_place(s.f, &s.job, &s.o, &options, &p, &err);
	assert_no_error(&err);
	assert_true(p.placed);
	assert_null(checker_answer(s.f, &s.job, &s.o, &p));
	weft_placement_free(&p);
	scene_close(&s);
}

static void what_would_fit_is_named(void **state)
{
	static const struct {
		const char *fabric, *busy, *spec, *says;
	} cases[] = {
		{regular, "n[00-02,08-10,16-18,24-26,32-34,40-42,48-50,56-58]",
		 "gpus=128,tp=8,segment=8",
		 "segment=8: no leaf has 8 free nodes, the largest has 5; fits "
		 "with segment=5"},
		{regular, "n[08-10,16-18,24-26,32-34,40-42,48-50,56-58]",
		 "gpus=128,tp=8,segment=8",
		 "segment=8: the leafs have room for 1 segment of free nodes; "
		 "fits with segment=5"},
		{regular, "n[00-07,15]", "gpus=128,tp=8,split=9+7",
		 "split=9+7: the leaf with most free nodes has 8, the next 8; "
		 "fits with split=8x2"},
		{regular, "", "gpus=72,tp=8,nodes=9,within=leaf", "within="},
		{regular, "n[00-63]:0-3", "gpus=64,nodes=4-8,tp=8",
		 "nodes=4-8 cannot be kept; fits with nodes=16"},
		{regular, "n[00-63]:0-3,n00,n63",
		 "gpus=64,nodes=16,within=leaf", "within="},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene s;

		(void)state;
		scene_open(&s, cases[i].fabric, cases[i].busy, cases[i].spec);
		assert_false(s.p.placed);
		if (!says(&s.p, cases[i].says)) {
			print_error("%s: \"%s\" does not say \"%s\"\n",
				    cases[i].spec, s.p.why[0], cases[i].says);
			fail();
		}
		scene_close(&s);
	}
}

static void first_fit_says_that_it_is_to_blame(void **state)
{
	static const struct weft_place_options fit = {.method = "first-fit"};
	struct weft_error err = {0};
	struct weft_placement p;
	struct scene s;

	(void)state;
	scene_open(&s, regular, "n07", "gpus=96,tp=8,segment=4");
	assert_true(s.p.placed);
	assert_true(says(&s.p, "first-fit finds no place"));
	weft_place(s.f, &s.job, &s.o, &fit, &p, &err);
	assert_no_error(&err);
	assert_false(p.placed);
	assert_true(says(&p, "first-fit finds no place within the limits"));
	weft_placement_free(&p);
	scene_close(&s);
}

static void a_smaller_last_segment_has_the_last_ranks(void **state)
{
	struct scene s;

	(void)state;
	/* leafs with 8, 7 and 5 free nodes: 5 + 5 + 5 + 2 */
	scene_open(&s, regular, "n[15,16-18,24-63]",
		   "gpus=136,tp=8,dp=17,segment=5");
	assert_true(s.p.placed);
	assert_int_equal(s.p.n_nodes, 17);
	scene_close(&s);
}

static void parts_take_the_domains_that_they_fill(void **state)
{
	struct scene s;

	(void)state;
	/* l0 has 3 free nodes, l1 5, the others 8 */
	scene_open(&s, regular, "n[00-04,08-10]", "gpus=64,tp=8,split=5+3");
	assert_true(s.p.placed);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(s.p.nodes[i] < 16);
	scene_close(&s);
}

static void replicas_are_spread_over_racks(void **state)
{
	struct scene s;

	(void)state;
	/* four racks and the node in none: one replica in each */
	scene_open(&s, racks, "", "gpus=20,tp=4,dp=5,spread=failure-domain");
	assert_true(s.p.placed);
	assert_int_equal(checker_lost(s.f, &s.job, s.p.where), 1);
	assert_true(says(&s.p, "the loss of one rack takes at most 1 of 5"));
	scene_close(&s);
	/* six replicas: one rack has two */
	scene_open(&s, racks, "", "gpus=24,tp=4,dp=6,spread=failure-domain");
	assert_int_equal(checker_lost(s.f, &s.job, s.p.where), 2);
	scene_close(&s);
	/* cut where they do not fit: two leafs, each takes one half */
	scene_open(&s, regular, "n[16-63]",
		   "gpus=128,tp=8,pp=16,dp=1,spread=failure-domain");
	assert_true(s.p.placed);
	scene_close(&s);
}

static void segments_lie_in_nvlink_domains_that_span_nodes(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, holes, "", "gpus=48,tp=4,pp=4,segment=3");
	assert_true(s.p.placed);
	assert_int_equal(s.p.n_nodes, 12);
	scene_close(&s);
	/* whole domains of four: only two have them */
	scene_open(&s, holes, "", "gpus=48,tp=4,pp=4,segment=4");
	assert_false(s.p.placed);
	assert_true(says(&s.p, "fits with segment=3"));
	scene_close(&s);
}

/* Leafs of nodes with 8 GPUs and with 4. */
static void nodes_of_one_size_are_taken_where_there_are(void **state)
{
	static const char fabric[] =
		"weft: fabric/1\nnodes:\n  n[0-3]: 8\n  n[4-7]: 4\n"
		"levels:\n  leaf:\n    l0: n[0,2,4,6]\n    l1: n[1,3,5,7]\n";
	static const struct {
		const char *spec;
		uint32_t n_nodes, size; /* 0: mixed */
	} cases[] = {
		{"gpus=16,tp=4,gpus_per_node=8", 2, 8},
		{"gpus=8,tp=4", 1, 8},
		{"gpus=16,tp=8", 2, 8},
		{"gpus=24,tp=4", 3, 8},
		{"gpus=40,tp=4", 6, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene s;
		uint32_t size;
		bool mixed = false;

		scene_open(&s, fabric, "", cases[i].spec);
		assert_true(s.p.placed);
		assert_int_equal(s.p.n_nodes, cases[i].n_nodes);
		size = s.f->nodes[s.p.nodes[0]].n_gpus;
		for (uint32_t k = 1; k < s.p.n_nodes; k++)
			mixed |= s.f->nodes[s.p.nodes[k]].n_gpus != size;
		assert_int_equal(mixed ? 0 : size, cases[i].size);
		scene_close(&s);
	}
}

/* Six nodes lie in three NVLink domains: bounds may count on the former, not
 * on six domains. */
static void bounds_tell_nodes_from_nvlink_domains(void **state)
{
	static const char fabric[] =
		"weft: fabric/1\nnodes:\n  n[0,6]: 1\n  n[1,3]: 2\n"
		"  n[2,4-5]: 3\nnvlink:\n  v0: n0,n1\n  v1: n2,n3\n"
		"levels:\n  leaf:\n    l0: v0,v1\n    l1: n[4-6]\n";
	struct scene some, all;

	(void)state;
	scene_open(&some, fabric, "n1:1",
		   "gpus=6,pp=3,order=tp-cp-ep-pp-dp,metric=latency,zero=1,"
		   "model=gpt3-175B,nodes=6-9");
	scene_open(&all, fabric, "",
		   "gpus=6,pp=3,order=tp-cp-ep-pp-dp,metric=latency,zero=1,"
		   "model=gpt3-175B,nodes=6-9");
	assert_true(all.p.placed && some.p.placed);
	assert_true(all.p.bounds[WEFT_LATENCY] <=
		    some.p.cost.total[WEFT_LATENCY] * (1 + 1e-9));
	scene_close(&some);
	scene_close(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smaller_segment_is_the_last),
		cmocka_unit_test(what_would_fit_is_named),
		cmocka_unit_test(first_fit_says_that_it_is_to_blame),
		cmocka_unit_test(a_smaller_last_segment_has_the_last_ranks),
		cmocka_unit_test(parts_take_the_domains_that_they_fill),
		cmocka_unit_test(replicas_are_spread_over_racks),
		cmocka_unit_test(
			segments_lie_in_nvlink_domains_that_span_nodes),
		cmocka_unit_test(nodes_of_one_size_are_taken_where_there_are),
		cmocka_unit_test(bounds_tell_nodes_from_nvlink_domains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
