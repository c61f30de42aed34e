/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.c - the rules of other schedulers, what jobs of a trace train, and
 * prices remembered
 */
#include "lab/replay/policy.h"

#include "costmodel/job/software.h"
#include "costmodel/traffic/schedule.h"
#include "lab/replay/mix.h"
#include "lab/replay/pricing.h"
#include "placement/objective/evaluation.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

struct setting {
	struct weft_fabric *f;
	struct weft_occupancy o;
};

/* busy: as weft_occupancy_busy, or NULL. */
static struct setting open_setting(const char *shape, const char *busy)
{
	const struct weft_synth_options options = {.profile = "roce-llama3"};
	struct weft_error err = {0};
	struct setting s = {.f = test_synth(shape, &options)};

	weft_occupancy_build(s.f, &s.o, &err);
	if (busy)
		weft_occupancy_busy(&s.o, busy, &err);
	assert_no_error(&err);
	return s;
}

static void close_setting(struct setting *s)
{
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

/* Nodes that a policy takes for n whole nodes, as bits; 0: it does not. */
static uint64_t nodes_taken(const struct setting *s, const char *policy,
			    uint32_t n)
{
	const struct weft_place_options options = {0};
	struct weft_error err = {0};
	struct weft_job job;
	struct weft_policy_request q = {.rule = {.fabric = s->f,
						 .occupancy = &s->o,
						 .n_nodes = n,
						 .per_node = 8},
					.job = &job,
					.options = &options};
	const struct weft_policy *p = weft_policy_find(policy, &err);
	uint32_t where[512];
	uint64_t taken = 0;
	char text[64];
	bool yes, fits;

	snprintf(text, sizeof(text), "gpus=%u,nodes=%u,gpus_per_node=8,tp=8",
		 8 * n, n);
	case_job(text, s->f, &job);
	assert_int_equal(p->place(&q, where, &yes, &err), 0);
	if (p->fits) {
		assert_int_equal(p->fits(&q, &fits, &err), 0);
		assert_int_equal(fits, yes);
	}
	for (uint32_t r = 0; yes && r < 8 * n; r++) {
		taken |= UINT64_C(1) << s->f->gpu_node[where[r]];
		/* in the order of the nodes */
		assert_true(strcmp(policy, "slurm-tree") != 0 || r == 0 ||
			    where[r] > where[r - 1]);
	}
	weft_job_free(&job);
	return taken;
}

/* Free nodes: two of the first leaf, three of the second, all four of the
 * third. */
static void slurm_tree_takes_the_lowest_switch_that_fits_best(void **state)
{
	struct setting s = open_setting("leaf:3 node:4 gpu:8", "n[00,01,04]");

	(void)state;
	assert_int_equal(nodes_taken(&s, "slurm-tree", 1), 0x004);
	assert_int_equal(nodes_taken(&s, "slurm-tree", 2), 0x00c);
	assert_int_equal(nodes_taken(&s, "slurm-tree", 3), 0x0e0);
	assert_int_equal(nodes_taken(&s, "slurm-tree", 4), 0xf00);
	/* no leaf holds five: the largest, then what fits the rest best */
	assert_int_equal(nodes_taken(&s, "slurm-tree", 5), 0xf04);
	assert_int_equal(nodes_taken(&s, "slurm-tree", 7), 0xfe0);
	assert_int_equal(nodes_taken(&s, "slurm-tree", 10), 0);
	close_setting(&s);
}

static void slurm_tree_prefers_a_lower_switch_to_a_fuller_one(void **state)
{
	/* pod 0: leafs of 1 and 1; pod 1: leafs of 2 and 2 */
	struct setting s = open_setting("pod:2 leaf:2 node:2 gpu:8", "n[0,2]");

	(void)state;
	assert_int_equal(nodes_taken(&s, "slurm-tree", 2), 0x30);
	/* three: the second pod holds them, but the last one fits a leaf of the
	 * first pod tightly */
	assert_int_equal(nodes_taken(&s, "slurm-tree", 3), 0x32);
	close_setting(&s);
}

static void slurm_block_keeps_to_blocks_or_waits(void **state)
{
	struct setting s = open_setting("leaf:4 node:4 gpu:8", "n[00,01,04]");

	(void)state;
	assert_int_equal(nodes_taken(&s, "slurm-block", 2), 0x00c);
	assert_int_equal(nodes_taken(&s, "slurm-block", 3), 0x0e0);
	assert_int_equal(nodes_taken(&s, "slurm-block", 4), 0x0f00);
	/* two blocks: of the first two exactly five are free */
	assert_int_equal(nodes_taken(&s, "slurm-block", 5), 0x00ec);
	/* eight need both of the last pair */
	assert_int_equal(nodes_taken(&s, "slurm-block", 8), 0xff00);
	assert_int_equal(nodes_taken(&s, "slurm-block", 9), 0xff04);
	close_setting(&s);
	s = open_setting("leaf:4 node:4 gpu:8", "n[00,04,08,12]");
	assert_int_equal(nodes_taken(&s, "slurm-block", 3), 0x000e);
	assert_int_equal(nodes_taken(&s, "slurm-block", 4), 0);
	assert_int_equal(nodes_taken(&s, "slurm-tree", 4), 0x002e);
	close_setting(&s);
}

/* Pods are joined 7:1, leafs of a pod 1:1. */
static void weft_within_waits_for_a_pod_and_for_no_leaf(void **state)
{
	struct setting s = open_setting("pod:2 leaf:2 node:2 gpu:8", "n[0,4]");

	(void)state;
	assert_int_not_equal(nodes_taken(&s, "weft", 4), 0);
	assert_int_equal(nodes_taken(&s, "weft-within", 4), 0);
	assert_int_equal(nodes_taken(&s, "slurm-block", 4), 0);
	/* larger than a pod: anywhere */
	assert_int_equal(nodes_taken(&s, "weft-within", 6), 0xee);
	close_setting(&s);
	s = open_setting("pod:2 leaf:2 node:2 gpu:8", "n[0,2,4]");
	assert_int_equal(nodes_taken(&s, "weft-within", 3), 0xe0);
	assert_int_equal(nodes_taken(&s, "weft-within", 4), 0);
	close_setting(&s);
	/* no leaf has two free nodes */
	s = open_setting("pod:2 leaf:2 node:2 gpu:8", "n[0,2,4,6]");
	assert_int_not_equal(nodes_taken(&s, "weft-within", 2), 0);
	assert_int_equal(nodes_taken(&s, "slurm-block", 2), 0);
	close_setting(&s);
}

static void first_fit_takes_the_first_by_name(void **state)
{
	struct setting s = open_setting("leaf:3 node:4 gpu:8", "n[00,01,04]");

	(void)state;
	assert_int_equal(nodes_taken(&s, "first-fit", 4), 0x06c);
	close_setting(&s);
}

static void every_policy_gives_free_gpus_in_equal_shares(void **state)
{
	struct setting s = open_setting("pod:2 leaf:2 node:3 gpu:8",
					"n00:0-3,n01:0-2,n05,n07:7");
	const struct weft_place_options options = {0};
	struct weft_error err = {0};
	struct weft_job job;
	struct weft_policy_request q = {.rule = {.fabric = s.f,
						 .occupancy = &s.o,
						 .n_nodes = 4,
						 .per_node = 5},
					.job = &job,
					.random = test_seed(),
					.options = &options};

	(void)state;
	case_job("gpus=20,nodes=4,gpus_per_node=5", s.f, &job);
	for (uint32_t p = 0; p < weft_n_policies; p++) {
		uint32_t where[20], n[12] = {0};
		uint64_t seen[2] = {0};
		bool yes;

		assert_int_equal(weft_policies[p].place(&q, where, &yes, &err),
				 0);
		assert_true(yes);
		for (uint32_t r = 0; r < 20; r++) {
			uint32_t node = s.f->gpu_node[where[r]];
			uint32_t gpu = where[r] - s.f->nodes[node].first_gpu;

			assert_true(s.o.free[node] >> gpu & 1);
			assert_false(weft_bitset_has(seen, where[r]));
			weft_bitset_add(seen, where[r]);
			n[node]++;
		}
		for (uint32_t i = 0; i < 12; i++)
			assert_true(n[i] == 0 || n[i] == 5);
	}
	weft_job_free(&job);
	close_setting(&s);
}

static void an_unknown_policy_gets_the_nearest(void **state)
{
	struct weft_error err = {0};

	(void)state;
	assert_null(weft_policy_find("slurm-tre", &err));
	assert_error_says(&err, "slurm-tree");
}

static void shapes_share_gpus_evenly(void **state)
{
	static const struct {
		uint32_t gpus, node_gpus, n_nodes, per_node;
	} rows[] = {
		{1, 8, 1, 1},  {8, 8, 1, 8},  {12, 8, 2, 6}, {10, 8, 2, 5},
		{13, 8, 2, 8}, {64, 8, 8, 8}, {63, 8, 9, 7}, {62, 8, 8, 8},
		{8, 4, 2, 4},  {16, 4, 4, 4}, {6, 4, 2, 3},  {127, 8, 16, 8},
		{3, 1, 3, 1},  {5, 64, 1, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct weft_mix_shape shape =
			weft_mix_shape(rows[i].gpus, rows[i].node_gpus);

		assert_int_equal(shape.n_nodes, rows[i].n_nodes);
		assert_int_equal(shape.per_node, rows[i].per_node);
	}
}

/* Of every size, on nodes of 4 and of 8 GPUs, whatever the dice say. */
static void what_the_rule_says_can_be_trained(void **state)
{
	static const uint32_t sizes[] = {1,   2,   3,	4,   6,	   8,	12, 16,
					 24,  32,  40,	48,  63,   64,	96, 100,
					 128, 256, 296, 512, 1016, 1024};
	struct weft_error err = {0};
	char text[WEFT_SPEC_MAX_BYTES];

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct weft_mix_shape shape =
			weft_mix_shape(sizes[i / 2], i % 2 ? 4 : 8);

		for (uint64_t dice = 0; dice < 6; dice++) {
			struct weft_schedule schedule;
			struct weft_job job;

			weft_mix_spec(&shape, "", dice, NULL, text,
				      sizeof(text));
			weft_job_build(text, 0, false, NULL, &job, &err);
			assert_no_error(&err);
			assert_int_equal(job.n_gpus,
					 shape.n_nodes * shape.per_node);
			weft_schedule_build(&job.spec, &job.model, &schedule,
					    &err);
			assert_no_error(&err);
			weft_schedule_free(&schedule);
			weft_job_free(&job);
		}
	}
}

/* On the GPUs that the bench has: H100 in nodes of eight, GB200 in nodes of
 * four. */
static void what_the_rule_says_fits_in_memory(void **state)
{
	struct weft_error err = {0};
	char text[WEFT_SPEC_MAX_BYTES];

	(void)state;
	for (uint32_t i = 2; i < 2 * 1025; i++) {
		const struct weft_gpu *gpu =
			weft_gpu_find(i % 2 ? "GB200" : "H100", &err);
		struct weft_mix_shape shape =
			weft_mix_shape(i / 2, i % 2 ? 4 : 8);

		assert_no_error(&err);
		for (uint64_t dice = 0; dice < 6; dice++) {
			struct weft_memory_options options;
			struct weft_memory memory;
			struct weft_job job;

			weft_mix_spec(&shape, "", dice, gpu, text,
				      sizeof(text));
			weft_job_build(text, 0, false, NULL, &job, &err);
			assert_no_error(&err);
			options = weft_software_memory(&job.spec, gpu);
			weft_memory_worst(&job.spec, &job.model, &options,
					  &memory, &err);
			assert_no_error(&err);
			assert_true(
				weft_memory_fits(&memory, gpu->usable_bytes));
			weft_job_free(&job);
		}
	}
}

/* Prices out of the memory are those of an evaluation from scratch. */
static void a_remembered_price_is_the_right_one(void **state)
{
	struct setting s = open_setting("pod:2 leaf:3 node:3 gpu:8", NULL);
	const struct weft_gpu *gpu = weft_gpu_of_profile(s.f->profile);
	uint64_t random = test_seed();
	struct weft_schedule schedule;
	struct weft_error err = {0};
	struct pricing prices;
	struct weft_job job;
	uint32_t n_known;

	(void)state;
	case_job("gpus=32,tp=8,pp=2,gbs=32,model=llama3-8B", s.f, &job);
	weft_schedule_build(&job.spec, &job.model, &schedule, &err);
	pricing_build(s.f, gpu, &prices, &err);
	assert_no_error(&err);
	for (uint32_t i = 0; i < 300; i++) {
		const struct pricing_job priced = {&job, &schedule, 7};
		struct weft_evaluation e = {.gpu = gpu};
		uint32_t where[32], nodes[18];
		struct price price;

		for (uint32_t k = 0; k < 18; k++)
			nodes[k] = k;
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t j = k + test_random_below(&random, 18 - k);
			uint32_t node = nodes[j];

			nodes[j] = nodes[k];
			nodes[k] = node;
			for (uint32_t g = 0; g < 8; g++)
				where[8 * k + g] = 8 * node + g;
		}
		pricing_find(&prices, &priced, where, &price, &err);
		weft_evaluate(s.f, &job, where, NULL, &e, &err);
		assert_no_error(&err);
		assert_close(price.cost, e.cost.total[job.spec.metric], 1e-12);
		assert_close(price.step_s, e.step.step_s, 1e-12);
	}
	n_known = prices.n_priced;
	assert_true(n_known > 10 && n_known < 150);
	pricing_free(&prices);
	weft_schedule_free(&schedule);
	weft_job_free(&job);
	close_setting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			slurm_tree_takes_the_lowest_switch_that_fits_best),
		cmocka_unit_test(
			slurm_tree_prefers_a_lower_switch_to_a_fuller_one),
		cmocka_unit_test(slurm_block_keeps_to_blocks_or_waits),
		cmocka_unit_test(weft_within_waits_for_a_pod_and_for_no_leaf),
		cmocka_unit_test(first_fit_takes_the_first_by_name),
		cmocka_unit_test(every_policy_gives_free_gpus_in_equal_shares),
		cmocka_unit_test(an_unknown_policy_gets_the_nearest),
		cmocka_unit_test(shapes_share_gpus_evenly),
		cmocka_unit_test(what_the_rule_says_can_be_trained),
		cmocka_unit_test(what_the_rule_says_fits_in_memory),
		cmocka_unit_test(a_remembered_price_is_the_right_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
