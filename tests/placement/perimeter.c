/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perimeter.c - the least traffic that leaves a set of ranks, against every
 * subset of small grids
 */
#include "placement/bounds/perimeter.h"

#include "tests/lib/check.h"

#include <math.h>
#include <stdlib.h>

#define MAX_RANKS 16
#define N_GRIDS	  120

static double edge(const struct chain *c, uint32_t at, uint32_t other)
{
	uint32_t low = at < other ? at : other, high = at < other ? other : at;
	double sum = 0;

	if (high - low == 1)
		sum = fmax(c->path, c->ring);
	else if (c->size > 2 && low == 0 && high == c->size - 1)
		sum = c->ring;
	return sum;
}

/* Weight between two ranks of the product; its first chain varies fastest. */
static double between(const struct product *p, uint32_t a, uint32_t b)
{
	const struct chain *differs = NULL;
	uint32_t at = 0, other = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct chain *c = &p->chain[i];

		if (a % c->size != b % c->size) {
			if (differs)
				return 0;
			differs = c;
			at = a % c->size;
			other = b % c->size;
		}
		a /= c->size;
		b /= c->size;
	}
	return differs ? edge(differs, at, other) : 0;
}

static double leaves(const struct product *p, uint32_t set)
{
	double sum = 0;

	for (uint32_t a = 0; a < p->n_ranks; a++)
		for (uint32_t b = 0; b < p->n_ranks; b++)
			if ((set >> a & 1) && !(set >> b & 1))
				sum += between(p, a, b);
	return sum;
}

static void random_product(struct product *p, uint64_t *random)
{
	*p = (struct product){.n_ranks = 1};
	while (p->n < 3) {
		uint32_t size = 2 + test_random_below(random, 5);
		struct chain *c = &p->chain[p->n];

		if (p->n_ranks * size > MAX_RANKS)
			break;
		p->n_ranks *= size;
		c->size = size;
		c->path = test_random_below(random, 8);
		c->ring = size > 2 && test_random_below(random, 2)
				  ? test_random_below(random,
						      (uint32_t)c->path + 1)
				  : 0;
		p->n++;
	}
}

static void no_set_of_ranks_costs_less(void **state)
{
	uint64_t random = test_seed();
	uint32_t n_tight = 0;

	(void)state;
	for (uint32_t i = 0; i < N_GRIDS; i++) {
		double truth[MAX_RANKS + 1], bytes;
		struct weft_error err = {0};
		struct product p;

		random_product(&p, &random);
		for (uint32_t s = 0; s <= MAX_RANKS; s++)
			truth[s] = INFINITY;
		for (uint32_t set = 1; set < 1u << p.n_ranks; set++) {
			uint32_t s = (uint32_t)__builtin_popcount(set);

			truth[s] = fmin(truth[s], leaves(&p, set));
		}
		for (uint32_t s = 1; s < p.n_ranks; s++) {
			perimeter_least(&p, s, &bytes, &err);
			assert_no_error(&err);
			assert_true(bytes <= truth[s] * (1 + 1e-12));
			n_tight += bytes >= truth[s] * (1 - 1e-12);
		}
	}
	/* it would be no use were it always far below */
	assert_true(n_tight > N_GRIDS * 3);
}

/* Rings of 8 heavy enough to stay together, joined by rings of 32: no parts of
 * 8 cut less than the parts along the short rings. */
static void tensor_groups_on_nodes_are_known_to_be_best(void **state)
{
	const struct product p = {
		.n = 2,
		.n_ranks = 256,
		.chain = {{.size = 8, .path = 4, .ring = 4},
			  {.size = 32, .path = 1, .ring = 1}},
	};
	uint32_t size[32];
	struct weft_error err = {0};
	double bytes;

	(void)state;
	for (uint32_t i = 0; i < 32; i++)
		size[i] = 8;
	perimeter_cut(&p, 1, size, 32, &bytes, &err);
	assert_no_error(&err);
	assert_close(bytes, 256, 1e-12);
}

/* Whole columns of 8 on two leafs: each of the 8 long rings is cut twice. */
static void two_leafs_cut_every_ring_twice(void **state)
{
	const struct product p = {
		.n = 2,
		.n_ranks = 256,
		.chain = {{.size = 8, .path = 4, .ring = 4},
			  {.size = 32, .path = 1, .ring = 1}},
	};
	const uint32_t size[] = {200, 56}, all_but_one[] = {255, 1};
	struct weft_error err = {0};
	double bytes;

	(void)state;
	perimeter_cut(&p, 8, size, 2, &bytes, &err);
	assert_no_error(&err);
	assert_close(bytes, 16, 1e-12);
	/* where shares are free, one rank on the other leaf cuts two rings of
	 * each kind, once */
	perimeter_cut(&p, 1, all_but_one, 2, &bytes, &err);
	assert_no_error(&err);
	assert_close(bytes, 10, 1e-12);
}

/* A path in m pieces is cut m - 1 times, not half as often. */
static void stages_of_a_pipeline_pay_for_each_border(void **state)
{
	const struct product p = {
		.n = 2,
		.n_ranks = 32,
		.chain = {{.size = 8, .path = 9, .ring = 9},
			  {.size = 4, .path = 1, .ring = 0}},
	};
	const uint32_t size[] = {8, 8, 8, 8};
	struct weft_error err = {0};
	double bytes;

	(void)state;
	perimeter_cut(&p, 1, size, 4, &bytes, &err);
	assert_no_error(&err);
	assert_close(bytes, 24, 1e-12);
}

static void questions_that_take_long_are_left_open(void **state)
{
	const struct product p = {
		.n = 3,
		.n_ranks = 1 << 15,
		.chain = {{.size = 32, .path = 1, .ring = 1},
			  {.size = 32, .path = 1, .ring = 1},
			  {.size = 32, .path = 1, .ring = 1}},
	};
	struct weft_error err = {0};
	double bytes = 1;

	(void)state;
	perimeter_least(&p, 1 << 14, &bytes, &err);
	assert_no_error(&err);
	assert_true(bytes == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_set_of_ranks_costs_less),
		cmocka_unit_test(tensor_groups_on_nodes_are_known_to_be_best),
		cmocka_unit_test(two_leafs_cut_every_ring_twice),
		cmocka_unit_test(stages_of_a_pipeline_pay_for_each_border),
		cmocka_unit_test(questions_that_take_long_are_left_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
