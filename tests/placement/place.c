/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c - what placements keep to, prefer and say */
#include "placement/objective/judge.h"
#include "tests/placement/cases.h"

#include <math.h>
#include <stdlib.h>

/* 16 nodes of 8 GPUs: leafs of 4 nodes, pods of 2 leafs. */
static const char two_pods[] = "weft: fabric/1\nname: alpha\nnodes:\n"
			       "  n[00-15]: 8\nlevels:\n"
			       "  leaf:\n    l[0-3]: n[00-15]\n"
			       "  pod:\n    p[0-1]: l[0-3]\n";

/* Everything that a placement needs, and the placement. */
struct scene {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_placement p;
};

static void scene_open(struct scene *x, const char *fabric, const char *busy,
		       const char *spec)
{
	struct weft_error err = {0};

	memset(x, 0, sizeof(*x));
	x->f = case_fabric(fabric);
	weft_occupancy_build(x->f, &x->o, &err);
	if (busy)
		weft_occupancy_busy(&x->o, busy, &err);
	assert_no_error(&err);
	case_job(spec, x->f, &x->job);
}

static void scene_place(struct scene *x)
{
	struct weft_error err = {0};

	weft_place(x->f, &x->job, &x->o, NULL, &x->p, &err);
	assert_no_error(&err);
}

static void scene_close(struct scene *x)
{
	weft_placement_free(&x->p);
	weft_job_free(&x->job);
	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
}

static void require(struct scene *x, const char *name)
{
	if (!x->o.required)
		x->o.required = calloc(weft_bitset_words(x->f->n_nodes), 8);
	weft_bitset_add(x->o.required, weft_fabric_node(x->f, name));
}

static bool uses(const struct scene *x, const char *name)
{
	uint32_t node = weft_fabric_node(x->f, name);

	for (uint32_t i = 0; i < x->p.n_nodes; i++)
		if (x->p.nodes[i] == node)
			return true;
	return false;
}

static bool says(const struct scene *x, const char *text)
{
	for (uint32_t i = 0; i < x->p.n_why; i++)
		if (strstr(x->p.why[i], text))
			return true;
	for (uint32_t i = 0; i < x->p.n_why; i++)
		print_message("  %s\n", x->p.why[i]);
	return false;
}

static uint32_t count_at(const struct scene *x, const char *level)
{
	uint32_t l = weft_fabric_level(x->f, level), n = 0;
	uint64_t *seen = calloc(weft_bitset_words(x->f->n_domains), 8);

	for (uint32_t r = 0; r < x->p.n_ranks; r++)
		weft_bitset_add(seen, x->f->gpu_domain[l][x->p.where[r]]);
	n = weft_bitset_count(seen, x->f->n_domains);
	free(seen);
	return n;
}

static void jobs_go_into_the_tightest_leaf_that_holds_them(void **state)
{
	struct scene x;

	(void)state;
	/* free nodes per leaf: 4, 2, 3, 4 */
	scene_open(&x, two_pods, "n[04-05],n08", "gpus=16,tp=8,pp=2");
	scene_place(&x);
	assert_true(x.p.placed);
	assert_int_equal(x.p.n_nodes, 2);
	assert_true(uses(&x, "n06") && uses(&x, "n07"));
	assert_int_equal(count_at(&x, "leaf"), 1);
	scene_close(&x);
}

static void switches_are_placed_and_bounded(void **state)
{
	static const char *const jobs[] = {
		"gpus=32,algorithm=in-network",
		"gpus=48,tp=4,algorithm=in-network,metric=hops",
		"gpus=64,tp=8,pp=2,algorithm=in-network,metric=latency"};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct scene x;

		scene_open(&x, two_pods, "n[04-05],n08:0-3", jobs[i]);
		scene_place(&x);
		assert_true(x.p.placed);
		assert_true(x.p.bounds[x.p.metric] > 0);
		assert_true(x.p.bounds[x.p.metric] <=
			    x.p.cost.total[x.p.metric] * (1 + 1e-9));
		scene_close(&x);
	}
}

static void untouched_leafs_stay_whole_when_cost_ties(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n13:0-3", "gpus=8,tp=8");
	scene_place(&x);
	assert_true(uses(&x, "n12") || uses(&x, "n14") || uses(&x, "n15"));
	scene_close(&x);
	/* and untouched nodes */
	scene_open(&x, two_pods, "n13:0-3", "gpus=4,tp=4");
	scene_place(&x);
	assert_true(uses(&x, "n13"));
	assert_true(says(&x, "n13 gives 4 of its 8 GPUs"));
	scene_close(&x);
}

/* All network links have one rate, so any order of whole nodes takes the same
 * time; the pairs of groups that exchange most still share a leaf. */
static void equal_times_are_decided_by_the_links_crossed(void **state)
{
	static const char busy[] = "n00,n04,n08,n12";
	static const char *const spec[] = {
		"gpus=64,tp=8,dp=8,metric=time",
		"gpus=64,tp=8,dp=8,metric=hops",
		"gpus=64,pp=4,ep=16,model=deepseek-v3,metric=time",
		"gpus=64,pp=4,ep=16,model=deepseek-v3,metric=hops",
	};
	struct scene x;
	double hops[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		scene_open(&x, two_pods, busy, spec[i]);
		scene_place(&x);
		hops[i] = x.p.cost.total[WEFT_HOPS];
		scene_close(&x);
	}
	assert_close(hops[0], hops[1], 1e-9);
	assert_close(hops[2], hops[3], 1e-9);
}

/* Where all axes are heavy, a node keeps most bytes inside as a tile of them.
 */
static void nodes_hold_tiles_of_several_axes(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, NULL, "gpus=128,tp=8,cp=4,metric=time");
	scene_place(&x);
	assert_true(x.p.gap < 0.03);
	scene_close(&x);
}

/* Gradients of experts are most of what such jobs send: ranks that hold the
 * same experts share a node, in steps of ep through the ranks. */
static void ranks_with_the_same_experts_share_nodes(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n[02,05-08,10,13-14]",
		   "gpus=32,tp=8,ep=4,model=deepseek-v3");
	scene_place(&x);
	for (uint32_t r = 4; r < 32; r++)
		assert_int_equal(x.f->gpu_node[x.p.where[r]],
				 x.f->gpu_node[x.p.where[r % 4]]);
	scene_close(&x);
}

static double step_of(const struct scene *x, const uint32_t *where)
{
	const struct weft_objective step = {.goal = WEFT_GOAL_STEP};
	struct weft_judge judge;
	struct weft_measure measure;
	struct weft_error err = {0};

	weft_judge_build(x->f, &x->job, NULL, &step, &judge, &err);
	assert_no_error(&err);
	weft_judge_measure(&judge, where, &measure, &err);
	assert_no_error(&err);
	weft_judge_free(&judge);
	return measure.value;
}

/* No link is congested, so that other nodes would not do better; another order
 * of ranks on the same nodes does. */
static void orders_are_timed_where_nodes_do_not_matter(void **state)
{
	struct scene x;
	uint32_t where[64];

	(void)state;
	scene_open(&x, two_pods, "n[02,05-08,10,13-14]",
		   "gpus=64,tp=2,pp=4,ep=4,etp=1,model=deepseek-v3");
	scene_place(&x);
	for (uint32_t r = 0, n = 0; n < 8; n++)
		for (uint32_t k = 0; k < 8; k++, r++)
			where[r] = x.f->nodes[x.p.nodes[n]].first_gpu + k;
	assert_true(step_of(&x, x.p.where) < 0.9 * step_of(&x, where));
	scene_close(&x);
}

/* Leafs of 16 nodes of which 11 to 13 are free; a group of experts has 8.  To
 * fill leafs would take fewer of them, and cost a fifth more. */
static void groups_of_experts_stay_inside_leafs(void **state)
{
	static const char fabric[] = "weft: fabric/1\nname: alpha\nnodes:\n"
				     "  n[000-255]: 8\nlevels:\n"
				     "  leaf:\n    l[00-15]: n[000-255]\n"
				     "  pod:\n    p[0-1]: l[00-15]\n";
	struct scene x;

	(void)state;
	scene_open(&x, fabric,
		   "n[000-004],n[016-019],n[032-034],n[048-052],"
		   "n[064-067],n[080-082],n[096-100],n[112-115],"
		   "n[128-130],n[144-148],n[160-163],n[176-178],"
		   "n[192-196],n[208-211],n[224-226],n[240-244]",
		   "gpus=512,pp=4,ep=64,model=deepseek-v3,metric=hops");
	scene_place(&x);
	assert_true(x.p.gap < 0.05);
	scene_close(&x);
}

static void tensor_groups_stay_inside_nodes(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n[00-15]:7", "gpus=24,tp=4,pp=2,dp=3");
	scene_place(&x);
	assert_true(x.p.placed);
	for (uint32_t r = 0; r < 24; r++)
		assert_int_equal(x.f->gpu_node[x.p.where[r]],
				 x.f->gpu_node[x.p.where[r / 4 * 4]]);
	scene_close(&x);
}

static void the_answer_carries_cost_bound_and_reasons(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n[00-01],n06,n[09,12]:0-3",
		   "gpus=64,tp=8,pp=2,dp=4");
	scene_place(&x);
	assert_true(x.p.placed);
	assert_int_equal(x.p.n_ranks, 64);
	assert_true(x.p.bounds[x.p.metric] > 0);
	assert_true(x.p.bounds[x.p.metric] <= x.p.cost.total[x.p.metric]);
	assert_true(fabs(x.p.gap - 1 + x.p.bound / x.p.cost.total[x.p.metric]) <
		    1e-9);
	assert_true(says(&x, "64 GPUs on 8 nodes"));
	assert_true(says(&x, "64 GPUs do not fit into one pod: the fullest "
			     "can give 56"));
	scene_close(&x);
}

static void required_nodes_are_used(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n03:0-5", "gpus=24,tp=8");
	require(&x, "n09");
	require(&x, "n14");
	scene_place(&x);
	assert_true(x.p.placed);
	assert_true(uses(&x, "n09") && uses(&x, "n14"));
	scene_close(&x);
	scene_open(&x, two_pods, "n03", "gpus=8,tp=8");
	require(&x, "n03");
	scene_place(&x);
	assert_false(x.p.placed);
	assert_true(says(&x, "required node n03 cannot give 1 GPU"));
	scene_close(&x);
}

static void usable_limits_what_a_node_gives(void **state)
{
	struct scene x;
	uint32_t used[16] = {0};

	(void)state;
	scene_open(&x, two_pods, NULL, "gpus=16,tp=2");
	for (uint32_t i = 0; i < 16; i++)
		x.o.usable[i] = i == 7 ? 0 : 3;
	scene_place(&x);
	assert_true(x.p.placed);
	for (uint32_t r = 0; r < 16; r++)
		used[x.f->gpu_node[x.p.where[r]]]++;
	for (uint32_t i = 0; i < 16; i++)
		assert_true(used[i] <= x.o.usable[i]);
	scene_close(&x);
}

static void the_admins_weights_break_ties(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, NULL, "gpus=8,tp=8");
	x.o.weight = calloc(16, sizeof(*x.o.weight));
	for (uint32_t i = 0; i < 16; i++)
		x.o.weight[i] = i == 2 ? 1 : 10;
	scene_place(&x);
	assert_true(uses(&x, "n02"));
	scene_close(&x);
}

static void node_limits_are_kept(void **state)
{
	static const struct {
		const char *desc, *spec, *busy;
		uint32_t min, max, nodes;
	} cases[] = {
		{"four nodes for 16", "gpus=16,nodes=4", NULL, 0, 0, 4},
		{"half of each node", "gpus=16,gpus_per_node=4", NULL, 0, 0, 4},
		{"few large nodes", "gpus=16", "n[00-13]:0-3", 0, 2, 2},
		{"more nodes than needed", "gpus=8,tp=2", NULL, 3, 0, 3},
		{"one node only", "gpus=6,tp=2", "n[00-14]:0-3", 1, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene x;

		scene_open(&x, two_pods, cases[i].busy, cases[i].spec);
		if (cases[i].min)
			x.job.min_nodes = cases[i].min;
		if (cases[i].max)
			x.job.max_nodes = cases[i].max;
		scene_place(&x);
		if (!x.p.placed || x.p.n_nodes != cases[i].nodes) {
			print_error("%s: %u nodes\n", cases[i].desc,
				    x.p.n_nodes);
			fail();
		}
		scene_close(&x);
	}
}

static void jobs_stay_within_the_level_asked_for(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n[00-01],n05,n08,n12",
		   "gpus=48,tp=8,within=pod");
	scene_place(&x);
	assert_true(x.p.placed);
	assert_int_equal(count_at(&x, "pod"), 1);
	scene_close(&x);
	scene_open(&x, two_pods, "n[00-01],n05,n08,n12",
		   "gpus=32,tp=8,within=leaf");
	scene_place(&x);
	assert_false(x.p.placed);
	assert_true(says(&x, "32 GPUs do not fit into one leaf (within=): the "
			     "fullest can give 24"));
	scene_close(&x);
}

static void preferred_levels_come_before_cost(void **state)
{
	struct scene x;

	(void)state;
	/* one leaf holds the job only with split tensor groups */
	scene_open(&x, two_pods, "n[00-03]:4-7,n[04,08,12]",
		   "gpus=16,tp=8,prefer=leaf");
	scene_place(&x);
	assert_true(x.p.placed);
	assert_int_equal(count_at(&x, "leaf"), 1);
	scene_close(&x);
	scene_open(&x, two_pods, NULL, "gpus=64,tp=8,prefer=leaf");
	scene_place(&x);
	assert_true(x.p.placed);
	assert_true(says(&x, "not within one leaf as preferred"));
	scene_close(&x);
}

static void refusals_say_what_is_missing(void **state)
{
	static const struct {
		const char *fabric, *busy, *spec, *says;
	} cases[] = {
		{two_pods, "n[00-09]", "gpus=64,tp=8",
		 "needs 64 GPUs, 48 usable of 128"},
		{two_pods, "n[00-13]:0-3", "nodes=4,gpus_per_node=8",
		 "needs 4 nodes with 8 free GPUs each, 2 such nodes"},
		{"weft: fabric/1\ndisjoint: yes\nnodes:\n  n[0-3]: 8\nlevels:\n"
		 "  leaf:\n    l[0-1]: n[0-3]\n",
		 NULL, "gpus=32,tp=8",
		 "do not fit into one connected part of the fabric: the "
		 "fullest can give 16"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene x;

		scene_open(&x, cases[i].fabric, cases[i].busy, cases[i].spec);
		scene_place(&x);
		assert_false(x.p.placed);
		assert_true(says(&x, cases[i].says));
		scene_close(&x);
	}
}

static void disjoint_parts_are_never_joined(void **state)
{
	static const char *const specs[] = {
		"gpus=24,tp=8",
		/* nor tried, to see whether a step would be as short there */
		"gpus=24,tp=8,model=llama3-8B,mbs=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct scene x;

		scene_open(&x,
			   "weft: fabric/1\nprofile: dgx-h100-superpod\n"
			   "disjoint: yes\nnodes:\n  n[0-5]: 8\n"
			   "levels:\n  leaf:\n    l[0-1]: n[0-5]\n",
			   "n0", specs[i]);
		scene_place(&x);
		assert_true(x.p.placed);
		assert_false(uses(&x, "n1") || uses(&x, "n2"));
		scene_close(&x);
	}
}

static void balance_lightens_the_busiest_link(void **state)
{
	static const char *const fabric =
		"weft: fabric/1\nnodes:\n  n[0-9]: 8\nlevels:\n"
		"  leaf:\n    l0: n[0-4]\n    l1: n[5-9]\n"
		"links:\n  core: {oversubscription: 8}\n";
	struct scene pack, even;

	(void)state;
	scene_open(&pack, fabric, "n[8-9]", "gpus=48,tp=8");
	scene_open(&even, fabric, "n[8-9]", "gpus=48,tp=8,spread=balance");
	scene_place(&pack);
	scene_place(&even);
	assert_true(even.p.cost.busiest.time_s <=
		    pack.p.cost.busiest.time_s * (1 + 1e-9));
	assert_true(pack.p.cost.total[WEFT_TIME] <=
		    even.p.cost.total[WEFT_TIME] * (1 + 1e-9));
	scene_close(&pack);
	scene_close(&even);
}

static void balance_takes_equal_shares_where_all_costs_the_same(void **state)
{
	static const char *const fabric =
		"weft: fabric/1\nnodes:\n  n[00-11]: 8\nlevels:\n"
		"  leaf:\n    l[0-1]: n[00-11]\n";
	static const char *const specs[] = {
		"gpus=64,spread=balance",
		"gpus=64,tp=8,spread=balance",
		"gpus=64,pp=8,spread=balance,metric=latency",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct scene x;
		uint32_t n = 0;

		scene_open(&x, fabric, NULL, specs[i]);
		scene_place(&x);
		for (uint32_t r = 0; r < 64; r++)
			n += x.f->gpu_domain[1][x.p.where[r]] ==
			     x.f->gpu_domain[1][0];
		assert_int_equal(n, 32);
		scene_close(&x);
	}
}

static void nvlink_domains_with_holes_are_filled_first(void **state)
{
	/* two NVL72 racks of 18 nodes with 4 GPUs, with broken trays */
	static const char *const fabric =
		"weft: fabric/1\nprofile: gb200-nvl72\nnodes:\n  n[00-35]: 4\n"
		"nvlink:\n  v[0-1]: n[00-35]\n"
		"levels:\n  leaf:\n    l0: v[0-1]\n";
	struct scene x;

	(void)state;
	scene_open(&x, fabric, "n[03,07,20]", "gpus=64,tp=8,pp=2");
	scene_place(&x);
	assert_true(x.p.placed);
	/* 16 trays are left in the first rack, 17 in the second */
	assert_int_equal(x.f->gpu_domain[0][x.p.where[0]],
			 x.f->gpu_domain[0][x.p.where[63]]);
	assert_true(uses(&x, "n00"));
	assert_true(x.p.gap < 1e-9);
	scene_close(&x);
}

static void ranks_of_other_nodes_keep_to_their_rail(void **state)
{
	static const char *const fabric =
		"weft: fabric/1\nrails: 4\nnodes:\n  n[0-3]: 4\n"
		"levels:\n  leaf:\n    l[0-3]: n[0-3]\n";
	struct scene x;

	(void)state;
	scene_open(&x, fabric, NULL, "gpus=16,tp=4");
	scene_place(&x);
	assert_true(x.p.placed);
	for (uint32_t r = 0; r < 16; r++)
		assert_int_equal(weft_fabric_rail(x.f, x.p.where[r]),
				 weft_fabric_rail(x.f, x.p.where[r % 4]));
	assert_true(x.p.gap < 1e-9);
	scene_close(&x);
}

static void every_strategy_has_a_name_and_places(void **state)
{
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, NULL, "gpus=16,tp=8");
	for (uint32_t i = 0; i < weft_n_strategies; i++) {
		const struct weft_place_options options = {
			.method = weft_strategies[i].name};
		struct weft_error err = {0};

		weft_place(x.f, &x.job, &x.o, &options, &x.p, &err);
		assert_no_error(&err);
		assert_true(x.p.placed);
		assert_true(strlen(weft_strategies[i].help) > 0);
		weft_placement_free(&x.p);
	}
	scene_close(&x);
}

static void unknown_strategies_are_refused(void **state)
{
	const struct weft_place_options options = {.method = "pak"};
	struct weft_error err = {0};
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, NULL, "gpus=16,tp=8");
	assert_int_equal(weft_place(x.f, &x.job, &x.o, &options, &x.p, &err),
			 -1);
	assert_error_says(&err, "did you mean \"pack\"");
	scene_close(&x);
}

static void work_and_time_are_bounded(void **state)
{
	const struct weft_place_options little = {.work_limit = 1};
	const struct weft_place_options late = {.budget_s = 1e-9};
	struct weft_error err = {0};
	struct scene x;

	(void)state;
	scene_open(&x, two_pods, "n[00,05]:0-3,n09", "gpus=60,tp=2,pp=3");
	weft_place(x.f, &x.job, &x.o, &little, &x.p, &err);
	assert_true(x.p.placed);
	weft_placement_free(&x.p);
	weft_place(x.f, &x.job, &x.o, &late, &x.p, &err);
	assert_true(x.p.placed);
	assert_no_error(&err);
	scene_close(&x);
}

static void scores_are_the_cost_of_what_is_given(void **state)
{
	struct weft_error err = {0};
	struct weft_placement p;
	struct weft_cost cost;
	struct scene x;
	uint32_t where[16];

	(void)state;
	scene_open(&x, two_pods, NULL, "gpus=16,tp=8");
	for (uint32_t r = 0; r < 16; r++)
		where[r] = r * 8;
	assert_int_equal(
		weft_cost(x.f, &x.job.traffic, where, NULL, &cost, &err), 0);
	weft_place_score(x.f, &x.job, NULL, where, &p, &err);
	assert_no_error(&err);
	assert_close(p.cost.total[WEFT_TIME], cost.total[WEFT_TIME], 1e-12);
	assert_int_equal(p.n_nodes, 16);
	assert_true(p.gap > 0 && p.gap < 1);
	weft_placement_free(&p);
	/* two ranks on one GPU */
	where[3] = where[2];
	assert_int_equal(weft_place_score(x.f, &x.job, NULL, where, &p, &err),
			 -1);
	weft_placement_free(&p);
	scene_close(&x);
}

static void ranks_on_given_gpus_are_never_worse_than_given(void **state)
{
	struct weft_error err = {0};
	struct weft_placement p;
	struct weft_cost cost;
	struct scene x;
	uint32_t gpus[32], used[128] = {0};

	(void)state;
	/* the GPUs of four nodes, dealt out crosswise */
	scene_open(&x, two_pods, NULL, "gpus=32,tp=8,pp=2");
	for (uint32_t r = 0; r < 32; r++)
		gpus[r] = (r % 4) * 32 + r / 4;
	weft_cost(x.f, &x.job.traffic, gpus, NULL, &cost, &err);
	weft_place_ranks(x.f, &x.job, gpus, NULL, &p, &err);
	assert_no_error(&err);
	assert_true(p.cost.total[WEFT_TIME] < cost.total[WEFT_TIME]);
	for (uint32_t r = 0; r < 32; r++)
		used[p.where[r]]++;
	for (uint32_t r = 0; r < 32; r++)
		assert_int_equal(used[gpus[r]], 1);
	assert_true(p.bound <= p.cost.total[WEFT_TIME]);
	weft_placement_free(&p);
	scene_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			jobs_go_into_the_tightest_leaf_that_holds_them),
		cmocka_unit_test(switches_are_placed_and_bounded),
		cmocka_unit_test(untouched_leafs_stay_whole_when_cost_ties),
		cmocka_unit_test(equal_times_are_decided_by_the_links_crossed),
		cmocka_unit_test(nodes_hold_tiles_of_several_axes),
		cmocka_unit_test(ranks_with_the_same_experts_share_nodes),
		cmocka_unit_test(orders_are_timed_where_nodes_do_not_matter),
		cmocka_unit_test(groups_of_experts_stay_inside_leafs),
		cmocka_unit_test(tensor_groups_stay_inside_nodes),
		cmocka_unit_test(the_answer_carries_cost_bound_and_reasons),
		cmocka_unit_test(required_nodes_are_used),
		cmocka_unit_test(usable_limits_what_a_node_gives),
		cmocka_unit_test(the_admins_weights_break_ties),
		cmocka_unit_test(node_limits_are_kept),
		cmocka_unit_test(jobs_stay_within_the_level_asked_for),
		cmocka_unit_test(preferred_levels_come_before_cost),
		cmocka_unit_test(refusals_say_what_is_missing),
		cmocka_unit_test(disjoint_parts_are_never_joined),
		cmocka_unit_test(balance_lightens_the_busiest_link),
		cmocka_unit_test(
			balance_takes_equal_shares_where_all_costs_the_same),
		cmocka_unit_test(nvlink_domains_with_holes_are_filled_first),
		cmocka_unit_test(ranks_of_other_nodes_keep_to_their_rail),
		cmocka_unit_test(every_strategy_has_a_name_and_places),
		cmocka_unit_test(unknown_strategies_are_refused),
		cmocka_unit_test(work_and_time_are_bounded),
		cmocka_unit_test(scores_are_the_cost_of_what_is_given),
		cmocka_unit_test(
			ranks_on_given_gpus_are_never_worse_than_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
