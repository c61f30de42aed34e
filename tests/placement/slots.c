/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots.c - the room that free GPUs are, and the share of it that is lost */
#include "placement/capacity/slots.h"

#include "base/bitset.h"
#include "tests/placement/cases.h"

#include <math.h>
#include <stdlib.h>

static const char fabric_text[] =
	"weft: fabric/1\nname: alpha\nnodes:\n  n[0-3]: 4\n"
	"levels:\n  leaf:\n    l0: n[0-1]\n    l1: n[2-3]\n";

struct fixture {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_slots slots;
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

	weft_slots_free(&x->slots);
	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
	free(x);
	return 0;
}

static void build(struct fixture *x, uint32_t n_gpus)
{
	struct weft_error err = {0};

	weft_slots_free(&x->slots);
	weft_slots_build(&x->o, n_gpus, &x->slots, &err);
	assert_no_error(&err);
}

static void slots_are_counted_by_size(void **state)
{
	static const struct {
		uint32_t size, n;
	} expected[] = {{2, 7}, {4, 3}, {8, 1}, {16, 0}};
	struct fixture *x = *state;

	weft_occupancy_take(&x->o, 3, 0x1);
	build(x, 0);
	assert_int_equal(x->slots.n_sizes, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(x->slots.sizes[i].size, expected[i].size);
		assert_int_equal(x->slots.sizes[i].n, expected[i].n);
	}
}

static void domains_of_odd_size_are_a_size_of_their_own(void **state)
{
	static const char text[] = "weft: fabric/1\nname: odd\nnodes:\n"
				   "  n[0-2]: 6\n  m: 3\n";
	struct weft_fabric *f = case_fabric(text);
	struct weft_occupancy o = {0};
	struct weft_slots slots = {0};

	(void)state;
	assert_int_equal(weft_occupancy_build(f, &o, NULL), 0);
	assert_int_equal(weft_slots_build(&o, 0, &slots, NULL), 0);
	assert_int_equal(slots.n_sizes, 6);
	assert_int_equal(slots.sizes[2].size, 6);
	assert_int_equal(slots.sizes[2].n, 3);
	assert_int_equal(slots.sizes[5].size, 21);
	weft_slots_free(&slots);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
}

/* Four GPUs: a whole node costs the least that any four must; one GPU of each
 * node costs the most of every size. */
static void the_share_lost_goes_from_nothing_to_all(void **state)
{
	const uint32_t node[] = {0, 1, 2, 3}, spread[] = {0, 4, 8, 12};
	const uint32_t halves[] = {0, 1, 4, 5};
	struct fixture *x = *state;

	build(x, 4);
	assert_close(weft_slots_lost(&x->slots, node), 0, 0);
	assert_close(weft_slots_lost(&x->slots, spread), 1, 1e-12);
	/* sizes 2, 4 and 8; 16 is lost in any case: 0, 1/3 and 0 */
	assert_close(weft_slots_lost(&x->slots, halves), 1.0 / 9, 1e-12);
}

static void what_is_left_over_costs_nothing(void **state)
{
	const uint32_t rest[] = {13, 14}, whole[] = {0, 1};
	struct fixture *x = *state;

	weft_occupancy_take(&x->o, 3, 0x9);
	build(x, 2);
	assert_true(weft_slots_lost(&x->slots, rest) <
		    weft_slots_lost(&x->slots, whole));
	assert_close(weft_slots_lost(&x->slots, rest), 0, 0);
}

/* Slots of a size lost when the free GPUs of `mask` are taken. */
static uint32_t lost_of(const struct fixture *x, const uint32_t *gpus,
			uint32_t mask, uint32_t n,
			const struct weft_slot_size *z)
{
	const struct weft_level *level = &x->f->levels[z->level];
	uint32_t lost = 0;

	for (uint32_t i = 0; i < level->n_domains; i++) {
		uint32_t d = level->first_domain + i;
		uint32_t before = x->slots.n_free[d], taken = 0;

		for (uint32_t k = 0; k < n; k++)
			taken += (mask >> k & 1) &&
				 x->f->gpu_domain[z->level][gpus[k]] == d;
		lost += before / z->size - (before - taken) / z->size;
	}
	return lost;
}

static uint32_t free_gpus(const struct fixture *x, uint32_t *gpus)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->f->n_nodes; i++)
		for (uint32_t k = 0; k < x->f->nodes[i].n_gpus; k++)
			if (x->o.free[i] >> k & 1)
				gpus[n++] = x->f->nodes[i].first_gpu + k;
	return n;
}

/* Compares least and most with all ways to take k of the free GPUs. */
static void check_bounds(struct fixture *x, uint32_t k)
{
	uint32_t gpus[16], n = free_gpus(x, gpus);

	build(x, k);
	for (uint32_t i = 0; i < x->slots.n_sizes; i++) {
		const struct weft_slot_size *z = &x->slots.sizes[i];
		uint32_t least = UINT32_MAX, most = 0;

		for (uint32_t mask = 0; mask < 1u << n; mask++) {
			uint32_t lost;

			if (weft_mask_count(mask) != k)
				continue;
			lost = lost_of(x, gpus, mask, n, z);
			least = lost < least ? lost : least;
			most = lost > most ? lost : most;
		}
		if (least != UINT32_MAX) {
			assert_int_equal(z->least, least);
			assert_int_equal(z->most, most);
		}
	}
}

static void least_and_most_are_those_of_all_ways(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct fixture x = {.f = case_fabric(fabric_text)};

		assert_int_equal(weft_occupancy_build(x.f, &x.o, NULL), 0);
		for (uint32_t i = 0; i < 4; i++)
			weft_occupancy_take(&x.o, i,
					    test_random_below(&random, 16));
		/* few enough for all subsets */
		weft_occupancy_take(&x.o, test_random_below(&random, 4), 0xf);
		check_bounds(&x, 1 + test_random_below(&random, 6));
		weft_slots_free(&x.slots);
		weft_occupancy_free(&x.o);
		weft_fabric_free(x.f);
	}
}

static void one_more_gpu_never_gives_slots_back(void **state)
{
	struct fixture *x = *state;
	uint64_t random = test_seed();

	for (int round = 0; round < 200; round++) {
		uint32_t gpus[16], n = free_gpus(x, gpus);
		uint32_t mask = test_random_below(&random, 1u << n);
		uint32_t more = mask | 1u << test_random_below(&random, n);

		build(x, 4);
		for (uint32_t i = 0; i < x->slots.n_sizes; i++)
			assert_true(
				lost_of(x, gpus, mask, n, &x->slots.sizes[i]) <=
				lost_of(x, gpus, more, n, &x->slots.sizes[i]));
	}
}

static void the_share_stays_within_nothing_and_all(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (int round = 0; round < 100; round++) {
		const struct case_shape shape = {2, 12, 8, true};
		struct text t;
		struct fixture x = {0};
		uint32_t gpus[96], n, k;

		case_random_fabric(&t, &random, &shape);
		x.f = case_fabric(t.at);
		case_random_occupancy(&x.o, x.f, &random, 30);
		n = free_gpus(&x, gpus);
		k = n ? 1 + test_random_below(&random, n) : 0;
		for (uint32_t i = 0; i < k; i++) {
			uint32_t j = i + test_random_below(&random, n - i);
			uint32_t gpu = gpus[j];

			gpus[j] = gpus[i];
			gpus[i] = gpu;
		}
		build(&x, k);
		if (k) {
			double share = weft_slots_lost(&x.slots, gpus);

			assert_true(share >= 0 && share <= 1);
		}
		weft_slots_free(&x.slots);
		weft_occupancy_free(&x.o);
		weft_fabric_free(x.f);
	}
}

/* A job on all free GPUs of the nodes of odd numbers, one of which moves to one
 * of the others. */
struct mover {
	uint32_t where[240], n;
	uint32_t from, to; /* nodes; WEFT_NONE: there is none */
	uint32_t *used;	   /* [n_domains] */
};

static void list_odd(const struct fixture *x, struct mover *m)
{
	const struct weft_fabric *f = x->f;

	m->from = m->to = WEFT_NONE;
	m->used = calloc(f->n_domains, sizeof(*m->used));
	for (uint32_t g = 0; g < f->n_gpus; g++) {
		uint32_t node = f->gpu_node[g];

		if (!(x->o.free[node] >> (g - f->nodes[node].first_gpu) & 1))
			continue;
		if (node % 2 == 0) {
			m->to = node;
			continue;
		}
		m->from = node;
		m->where[m->n++] = g;
		for (uint32_t l = f->node_level; l < f->n_levels; l++)
			m->used[f->gpu_domain[l][g]]++;
	}
}

/* False: there is too little room. */
static bool move_last(const struct fixture *x, struct mover *m)
{
	uint64_t rest = x->o.free[m->to];
	uint32_t k = m->n;

	for (; rest && k && x->f->gpu_node[m->where[k - 1]] == m->from;
	     rest &= rest - 1)
		m->where[--k] = x->f->nodes[m->to].first_gpu +
				weft_mask_count((rest & -rest) - 1);
	return !k || x->f->gpu_node[m->where[k - 1]] != m->from;
}

/* Whether the move gains something. */
static bool check_gain(struct fixture *x, struct mover *m)
{
	const uint32_t *domain = x->f->gpu_domain[x->f->node_level];
	double lost = weft_slots_lost(&x->slots, m->where), gain;

	gain = weft_slots_gain(&x->slots, m->used,
			       domain[x->f->nodes[m->from].first_gpu],
			       domain[x->f->nodes[m->to].first_gpu]);
	if (!move_last(x, m))
		return false;
	lost -= weft_slots_lost(&x->slots, m->where);
	assert_close(1 + gain, 1 + lost, 1e-9);
	return gain > 0;
}

static void a_move_gains_what_less_is_lost(void **state)
{
	static const struct case_shape shape = {4, 30, 8, false};
	uint64_t random = test_seed();
	uint32_t n_gains = 0;

	(void)state;
	for (uint32_t round = 0; round < test_cases(300); round++) {
		struct fixture x = {0};
		struct mover m = {0};
		struct text t;

		case_random_fabric(&t, &random, &shape);
		x.f = case_fabric(t.at);
		case_random_occupancy(&x.o, x.f, &random, 30);
		list_odd(&x, &m);
		build(&x, m.n);
		if (m.n && m.to != WEFT_NONE)
			n_gains += check_gain(&x, &m);
		weft_slots_free(&x.slots);
		weft_occupancy_free(&x.o);
		weft_fabric_free(x.f);
		free(m.used);
	}
	assert_true(n_gains > 0);
}

/* Most nodes that a plan takes of one domain of domain_nodes, at most eight. */
static uint32_t most_of_a_domain(const struct weft_fabric *f, const char *spec,
				 const char *busy, uint32_t domain_nodes)
{
	uint32_t n_in[8] = {0}, most = 0;
	struct weft_error err = {0};
	struct weft_place_options options = {0};
	struct weft_objective objective;
	struct weft_placement p;
	struct weft_occupancy o;
	struct weft_job job;

	case_job(spec, f, &job);
	weft_occupancy_build(f, &o, &err);
	if (busy)
		weft_occupancy_busy(&o, busy, &err);
	objective = weft_objective_of_spec(&job.spec);
	options.objective = &objective;
	weft_place(f, &job, &o, &options, &p, &err);
	assert_no_error(&err);
	assert_true(p.placed);
	for (uint32_t k = 0; k < p.n_nodes; k++)
		n_in[p.nodes[k] / domain_nodes]++;
	for (uint32_t k = 0; k < 8; k++)
		most = n_in[k] > most ? n_in[k] : most;
	weft_placement_free(&p);
	weft_occupancy_free(&o);
	weft_job_free(&job);
	return most;
}

/* Pods of eight nodes behind a thin core, NVLink domains of eighteen: halves of
 * a pipeline in a domain each are a little faster, and break two domains where
 * one is enough. */
static void a_plan_breaks_few_domains(void **state)
{
	static const char pods[] =
		"weft: fabric/1\nprofile: roce-llama3\nnodes:\n  n[00-31]: 8\n"
		"levels:\n  leaf:\n    l[00-15]: n[00-31]\n"
		"  pod:\n    p[0-3]: l[00-15]\n"
		"links:\n  core: {oversubscription: 7}\n";
	static const char racks[] =
		"weft: fabric/1\nprofile: gb200-nvl72\nnodes:\n  n[00-71]: 4\n"
		"nvlink:\n  r[0-3]: n[00-71]\n"
		"levels:\n  leaf:\n    l0: r[0-3]\n";
	static const struct {
		const char *fabric;
		uint32_t domain_nodes;
		const char *job, *busy;
		uint32_t most;
	} rows[] = {
		{pods, 8, "gpus=96,nodes=12,tp=8,pp=4,gbs=48,model=llama3-70B",
		 NULL, 8},
		{pods, 8, "gpus=64,nodes=8,tp=1,zero=3,gbs=128,model=llama3-8B",
		 "n[06-07,14-31]", 6},
		{pods, 8, "gpus=48,nodes=6,tp=8,pp=2,gbs=48,model=llama3-70B",
		 "n[04-07,12-15,18-31]", 4},
		{racks, 18,
		 "gpus=72,nodes=18,tp=4,pp=2,gbs=36,model=llama3-70B",
		 "n[00-13,18-31,36-39,54-55]", 14},
		{racks, 18,
		 "gpus=64,nodes=16,tp=4,pp=4,gbs=64,model=llama3-70B",
		 "n[00-13,18-23,36-43,54-55]", 16},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct weft_fabric *f = case_fabric(rows[i].fabric);

		assert_int_equal(most_of_a_domain(f, rows[i].job, rows[i].busy,
						  rows[i].domain_nodes),
				 rows[i].most);
		weft_fabric_free(f);
	}
}

/* The share lost with the first free nodes of the leaf of four nodes, 2 if it
 * has too few. */
static double lost_in_leaf(struct weft_slots *slots,
			   const struct weft_occupancy *o, uint32_t leaf)
{
	uint32_t where[32], n = 0;

	for (uint32_t i = 4 * leaf; i < 4 * leaf + 4; i++)
		for (uint32_t k = 0; k < 8 && n < slots->n_gpus; k++)
			if (o->free[i])
				where[n++] = 8 * i + k;
	return n == slots->n_gpus ? weft_slots_lost(slots, where) : 2;
}

/* Of leafs that are as good as one another the one with which most is left
 * around it. */
static void a_job_goes_where_it_destroys_least(void **state)
{
	static const char text[] =
		"weft: fabric/1\nprofile: roce-llama3\nnodes:\n  n[00-31]: 8\n"
		"levels:\n  leaf:\n    l[0-7]: n[00-31]\n"
		"  pod:\n    p[0-1]: l[0-7]\n";
	static const char *const specs[] = {"gpus=16,metric=time",
					    "gpus=24,metric=time"};
	const struct weft_place_options options = {0};
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t round = 0; round < test_cases(200); round++) {
		struct fixture x = {.f = case_fabric(text)};
		struct weft_placement p;
		struct weft_job job;
		double least = 2;

		case_job(specs[round % 2], x.f, &job);
		weft_occupancy_build(x.f, &x.o, NULL);
		for (uint32_t i = 0; i < x.f->n_nodes; i++)
			if (test_random_below(&random, 3) == 0)
				weft_occupancy_take(&x.o, i, UINT64_MAX);
		build(&x, job.n_gpus);
		for (uint32_t i = 0; i < 8; i++)
			least = fmin(least, lost_in_leaf(&x.slots, &x.o, i));
		weft_place(x.f, &job, &x.o, &options, &p, NULL);
		if (p.placed && least <= 1)
			assert_true(weft_slots_lost(&x.slots, p.where) <=
				    least + 1e-9);
		weft_placement_free(&p);
		weft_slots_free(&x.slots);
		weft_occupancy_free(&x.o);
		weft_job_free(&job);
		weft_fabric_free(x.f);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(slots_are_counted_by_size),
		TEST(domains_of_odd_size_are_a_size_of_their_own),
		TEST(the_share_lost_goes_from_nothing_to_all),
		TEST(what_is_left_over_costs_nothing),
		TEST(least_and_most_are_those_of_all_ways),
		TEST(one_more_gpu_never_gives_slots_back),
		TEST(the_share_stays_within_nothing_and_all),
		cmocka_unit_test(a_move_gains_what_less_is_lost),
		cmocka_unit_test(a_plan_breaks_few_domains),
		cmocka_unit_test(a_job_goes_where_it_destroys_least),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
