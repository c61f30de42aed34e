/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.c - sets of nodes that take more GPUs or nodes, and less time */
#include "placement/objective/judge.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

struct setting {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_placement p;
};

/* free: a digit for each node, its free GPUs; NULL: all.  more: of the fabric
 * file. */
static void make_setting(struct setting *s, const char *shape,
			 const struct weft_synth_options *options,
			 const char *more, const char *free_gpus,
			 const char *spec)
{
	static struct text text;
	struct weft_error err = {0};
	char *made = weft_synth(shape, options, &err);

	assert_no_error(&err);
	text.n = 0;
	text_add(&text, "%s%s", made, more);
	free(made);
	memset(s, 0, sizeof(*s));
	s->f = case_fabric(text.at);
	case_job(spec, s->f, &s->job);
	weft_occupancy_build(s->f, &s->o, &err);
	assert_no_error(&err);
	for (uint32_t i = 0; free_gpus && i < s->f->n_nodes; i++)
		weft_occupancy_take(
			&s->o, i,
			weft_mask_first(s->f->nodes[i].n_gpus -
					(uint32_t)(free_gpus[i] - '0')));
}

static void place_job(struct setting *s, uint64_t work)
{
	const struct weft_place_options options = {.work_limit = work};
	struct weft_error err = {0};

	weft_placement_free(&s->p);
	weft_place(s->f, &s->job, &s->o, &options, &s->p, &err);
	assert_no_error(&err);
	assert_true(s->p.placed);
}

static void open_setting(struct setting *s, const char *spec)
{
	const struct weft_synth_options options = {.rails = 8};

	make_setting(s, "pod:2 leaf:5 node:5 gpu:8", &options, "", NULL, spec);
	place_job(s, 0);
}

static void close_setting(struct setting *s)
{
	weft_placement_free(&s->p);
	weft_job_free(&s->job);
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

static double time_of(const struct setting *s, const uint32_t *where)
{
	const struct weft_objective objective =
		weft_objective_of_spec(&s->job.spec);
	struct weft_judge judge = {0};
	struct weft_measure measure;
	struct weft_error err = {0};

	weft_judge_build(s->f, &s->job, NULL, &objective, &judge, &err);
	weft_judge_measure(&judge, where, &measure, &err);
	assert_no_error(&err);
	weft_judge_free(&judge);
	return measure.value;
}

/* Stages of 50 ranks on nodes of 8: where the seventh node of one is the first
 * of the next, each has a ring there with 2 or 6 NICs of 8. */
static void groups_that_do_not_fill_nodes_have_their_own(void **state)
{
	uint32_t packed[200], stage[50];
	struct setting s;

	(void)state;
	open_setting(&s, "gpus=200,tp=1,pp=4");
	for (uint32_t r = 0; r < 200; r++)
		packed[r] = r;
	assert_true(time_of(&s, s.p.where) < 0.5 * time_of(&s, packed));
	memset(stage, 0xff, sizeof(stage));
	for (uint32_t r = 0; r < 200; r++) {
		uint32_t *of = &stage[s.f->gpu_node[s.p.where[r]]];

		assert_true(*of == UINT32_MAX || *of == r / 50);
		*of = r / 50;
	}
	close_setting(&s);
}

static void groups_that_fill_nodes_take_no_more(void **state)
{
	struct setting s;

	(void)state;
	open_setting(&s, "gpus=192,tp=1,pp=4");
	assert_int_equal(s.p.n_nodes, 24);
	close_setting(&s);
}

/* The cheapest set has all seven whole nodes, which are on seven leafs. */
static void whole_nodes_are_taken_from_everywhere(void **state)
{
	const struct weft_synth_options options = {0};
	uint32_t n_whole = 0;
	struct setting s;

	(void)state;
	make_setting(&s, "pod:2 leaf:5 node:12 gpu:4", &options, "",
		     "222221221230113042302132132001343311231413120221302322422"
		     "230223213233014222231122121413223223023224111222223213222"
		     "133222",
		     "gpus=40,tp=1,pp=2,cp=2,dp=10,ep=1,gbs=160,metric=time,"
		     "model=llama3-70B");
	place_job(&s, 0);
	for (uint32_t i = 0; i < s.p.n_nodes; i++)
		n_whole += weft_mask_count(s.o.free[s.p.nodes[i]]) == 4;
	assert_int_equal(n_whole, 7);
	assert_int_equal(s.p.n_nodes, 11);
	close_setting(&s);
}

/* Ranks of tensor group g on the node that has fewest of its own; 0: they are
 * on more than two. */
static uint32_t smaller_part(const struct setting *s, uint32_t g)
{
	const uint32_t *where = s->p.where + g * s->job.spec.tp;
	uint32_t first = s->f->gpu_node[where[0]], other = WEFT_NONE, n = 0;

	for (uint32_t r = 0; r < s->job.spec.tp; r++) {
		uint32_t node = s->f->gpu_node[where[r]];

		n += node == first;
		if (node == first)
			continue;
		if (other != WEFT_NONE && other != node)
			return 0;
		other = node;
	}
	return n < s->job.spec.tp - n || n == s->job.spec.tp
		       ? n
		       : s->job.spec.tp - n;
}

/* Where no node has room for a tensor group, 3 of its ranks are with 5 others,
 * or 4 with 4: with 2 NICs for one of the parts it takes longer. */
static void broken_groups_have_large_parts(void **state)
{
	static const char free[] = "462305243001432534346114120503003331";
	const struct weft_synth_options options = {.profile =
							   "dgx-h100-superpod"};
	struct setting s;

	(void)state;
	make_setting(&s, "pod:1 leaf:3 node:12 gpu:8", &options, "", free,
		     "gpus=64,tp=8,pp=1");
	place_job(&s, 0);
	for (uint32_t g = 0; g < 8; g++)
		assert_true(smaller_part(&s, g) >= 3);
	close_setting(&s);
}

/* Places a job on 65,536 GPUs, where there is effort for few sets; no part of
 * its tensor groups is smaller than 3. */
static void check_large_parts(const char *spec)
{
	const struct weft_synth_options options = {.profile =
							   "dgx-h100-superpod"};
	static char free_gpus[8193];
	struct setting s;

	for (uint32_t i = 0; i < 8192; i++)
		free_gpus[i] = "4135326240"[(i + i / 10 * 3) % 10];
	make_setting(&s, "pod:8 leaf:32 node:32 gpu:8", &options, "", free_gpus,
		     spec);
	place_job(&s, 0);
	for (uint32_t g = 0; g < s.job.n_gpus / 8; g++)
		assert_true(smaller_part(&s, g) >= 3);
	close_setting(&s);
}

static void broken_groups_of_large_fabrics_do_too(void **state)
{
	(void)state;
	check_large_parts("gpus=64,tp=8,pp=2,model=llama3-70B");
}

static void broken_groups_of_large_jobs_do_too(void **state)
{
	(void)state;
	check_large_parts("gpus=256,tp=8,pp=2,model=llama3-70B");
	check_large_parts("gpus=1024,tp=8,pp=2,model=llama3-70B");
	check_large_parts("gpus=8192,tp=8,pp=2,model=llama3-70B");
}

/* Fifteen tensor groups across four nodes each, so that each node has seven or
 * eight ranks whose gradients are summed: no whole group on a node is as fast.
 */
static void groups_lie_across_nodes_for_large_gradients(void **state)
{
	static const uint32_t nodes[2][4] = {{8, 9, 10, 11}, {0, 12, 13, 14}};
	const struct weft_synth_options options = {
		.profile = "dgx-h100-superpod", .rails = 8};
	uint32_t where[60];
	struct setting s;

	(void)state;
	make_setting(&s, "pod:1 leaf:5 node:3 gpu:8", &options, "",
		     "800600008888888", "gpus=60,tp=4,pp=1,model=gpt3-175B");
	for (uint32_t r = 0; r < s.job.n_gpus; r++)
		where[r] =
			s.f->nodes[nodes[r / 32][r % 4]].first_gpu + r % 32 / 4;
	place_job(&s, 0);
	assert_true(time_of(&s, s.p.where) <= time_of(&s, where) * 1.001);
	close_setting(&s);
}

/* A tree of 8 nodes has fewer edges between two pods when it begins on the last
 * of them. */
static void a_tree_begins_where_it_crosses_least(void **state)
{
	static const uint32_t nodes[] = {14, 4, 5, 3, 9, 10, 11, 13};
	const struct weft_synth_options options = {.profile =
							   "dgx-h100-superpod"};
	uint32_t where[64];
	struct setting s;

	(void)state;
	make_setting(&s, "pod:2 leaf:3 node:3 gpu:8", &options,
		     "uplinks:\n  leaf0: 100Gbps\n"
		     "links:\n  pod: {oversubscription: 7}\n",
		     "888888088888088808", "gpus=64,tp=1,pp=1");
	for (uint32_t r = 0; r < s.job.n_gpus; r++)
		where[r] = s.f->nodes[nodes[r / 8]].first_gpu + r % 8;
	place_job(&s, 0);
	assert_true(time_of(&s, s.p.where) <= time_of(&s, where) * 1.001);
	/* and no later job lacks a leaf for that */
	assert_int_equal(case_priced(s.f, &s.o, &s.p), 3);
	close_setting(&s);
}

/* With twice the work that the default has at most. */
static void a_limit_of_work_leaves_some_to_other_sets(void **state)
{
	const struct weft_synth_options options = {.profile = "gb200-nvl72"};
	double by_default;
	struct setting s;

	(void)state;
	make_setting(&s, "pod:2 leaf:2 nvlink:4 node:7 gpu:2", &options,
		     "links:\n  pod: {oversubscription: 3}\n",
		     "22220222222220202222222222020022020222022222220222020202"
		     "22002202222222020022222220222222222222220222222202202222",
		     "gpus=88,tp=2,pp=2");
	place_job(&s, 0);
	by_default = time_of(&s, s.p.where);
	place_job(&s, 16000000);
	assert_true(time_of(&s, s.p.where) <= by_default * 1.02);
	close_setting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_that_do_not_fill_nodes_have_their_own),
		cmocka_unit_test(groups_that_fill_nodes_take_no_more),
		cmocka_unit_test(whole_nodes_are_taken_from_everywhere),
		cmocka_unit_test(broken_groups_have_large_parts),
		cmocka_unit_test(broken_groups_of_large_fabrics_do_too),
		cmocka_unit_test(broken_groups_of_large_jobs_do_too),
		cmocka_unit_test(groups_lie_across_nodes_for_large_gradients),
		cmocka_unit_test(a_tree_begins_where_it_crosses_least),
		cmocka_unit_test(a_limit_of_work_leaves_some_to_other_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
