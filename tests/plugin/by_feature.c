/* SPDX-License-Identifier: GPL-3.0-or-later */
/* by_feature.c - nodes by feature within limits, against brute force */
#include "plugin/bridge/by_feature.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "plugin/bridge/constraints.h"
#include "tests/lib/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CASES	  3000
#define MAX_NODES 12

struct drawn {
	struct weft_by_feature q;
	uint8_t having[MAX_NODES];
	uint64_t able, required;
	uint32_t weight[MAX_NODES];
};

static uint32_t below(uint64_t *state, uint32_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % n;
}

/* ---- brute force ---- */

/* Can the nodes of the set from `node` on be matched with what is left? */
static bool matches(const struct weft_by_feature *q, uint64_t set,
		    uint32_t node, uint32_t left[WEFT_MAX_FEATURES])
{
	uint32_t n_left = 0;

	for (uint32_t k = 0; k < q->n_features; k++)
		n_left += left[k];
	if (!n_left)
		return true;
	while (node < q->fabric->n_nodes && !weft_bitset_has(&set, node))
		node++;
	if (node == q->fabric->n_nodes)
		return false;
	for (uint32_t k = 0; k < q->n_features; k++) {
		bool can = left[k] && q->having[node] >> k & 1;

		if (!can)
			continue;
		left[k]--;
		can = matches(q, set, node + 1, left);
		left[k]++;
		if (can)
			return true;
	}
	return matches(q, set, node + 1, left);
}

static bool suits(const struct weft_by_feature *q, uint64_t set)
{
	uint32_t nodes[MAX_NODES], left[WEFT_MAX_FEATURES], n = 0;

	for (uint32_t i = 0; i < q->fabric->n_nodes; i++)
		if (weft_bitset_has(&set, i))
			nodes[n++] = i;
	memcpy(left, q->count, sizeof(left));
	return n == q->n_nodes && !(set & ~*q->able) &&
	       !(q->required && *q->required & ~set) &&
	       weft_constraints_holds(q->fabric, q->spec, nodes, n) &&
	       matches(q, set, 0, left);
}

static bool any_suits(const struct weft_by_feature *q)
{
	for (uint64_t set = 1; set < UINT64_C(1) << q->fabric->n_nodes; set++)
		if (suits(q, set))
			return true;
	return false;
}

/* ---- cases ---- */

static void draw(const struct weft_fabric *f, uint64_t *random, struct drawn *d)
{
	static const char *const specs[] = {
		"segment=2",
		"segment=3",
		"within=leaf",
		"within=pod,segment=2",
		"split=2+1",
		"split=2+2",
		"split=3+1+1",
		"split=1+1",
		"within=pod,split=2+1",
		"segment=4",
	};
	static const uint32_t nodes[] = {0, 0, 0, 0, 3, 4, 5, 2, 3, 0};
	uint32_t s = below(random, sizeof(specs) / sizeof(specs[0])), left;

	*d = (struct drawn){
		.q = {
			.fabric = f,
			.spec = specs[s],
			.n_nodes = nodes[s] ? nodes[s] : 1 + below(random, 6),
			.n_features = 1 + below(random, 3),
			.deadline_s = weft_clock_s() + 60,
		}};
	left = d->q.n_nodes;
	for (uint32_t k = 0; k < d->q.n_features; k++) {
		d->q.count[k] = left ? 1 + below(random, left) : 0;
		left -= d->q.count[k];
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		d->having[i] = (uint8_t)(below(random, 8) & below(random, 8));
		d->weight[i] = below(random, 3);
		if (below(random, 4))
			weft_bitset_add(&d->able, i);
		if (weft_bitset_has(&d->able, i) && !below(random, 12))
			weft_bitset_add(&d->required, i);
	}
	d->q.having = d->having;
	d->q.able = &d->able;
	d->q.required = d->required && below(random, 2) ? &d->required : NULL;
	d->q.weight = below(random, 2) ? d->weight : NULL;
}

static void expect_nodes(const struct weft_by_feature *q,
			 const uint8_t *for_what)
{
	uint32_t n_of[WEFT_MAX_FEATURES] = {0};
	uint64_t set = 0;

	for (uint32_t i = 0; i < q->fabric->n_nodes; i++) {
		if (for_what[i] == WEFT_NOT_CHOSEN)
			continue;
		weft_bitset_add(&set, i);
		assert_true(for_what[i] <= q->n_features);
		if (for_what[i] == q->n_features)
			continue;
		assert_true(q->having[i] >> for_what[i] & 1);
		n_of[for_what[i]]++;
	}
	for (uint32_t k = 0; k < q->n_features; k++)
		assert_int_equal(n_of[k], q->count[k]);
	assert_true(suits(q, set));
}

static void nodes_are_found_where_there_are_any(void **state)
{
	struct weft_fabric *fabrics[] = {
		test_synth("pod:2 leaf:2 node:3 gpu:1", NULL),
		test_synth("pod:1 leaf:3 node:3 gpu:1", NULL),
		test_synth("pod:3 leaf:2 node:2 gpu:1", NULL),
	};
	uint64_t random = 7;
	uint32_t n_found = 0, n_none = 0;

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		uint8_t for_what[MAX_NODES];
		struct drawn d;
		enum weft_by_feature_found found;

		draw(fabrics[i % 3], &random, &d);
		found = weft_by_feature_find(&d.q, for_what);
		assert_int_not_equal(found, WEFT_FOUND_NOT_YET);
		if (found == WEFT_FOUND_NODES)
			expect_nodes(&d.q, for_what);
		else if (any_suits(&d.q))
			fail_msg("case %u: %s, %u nodes", i, d.q.spec,
				 d.q.n_nodes);
		n_found += found == WEFT_FOUND_NODES;
		n_none += found == WEFT_FOUND_NONE;
	}
	assert_true(n_found > N_CASES / 10 && n_none > N_CASES / 10);
	for (int i = 0; i < 3; i++)
		weft_fabric_free(fabrics[i]);
}

/* 512 and 6,000 nodes of 12,288 in segments of two, of which each node has one
 * feature; and where there are too few. */
static void large_jobs_take_no_long(void **state)
{
	struct weft_fabric *f =
		test_synth("pod:12 leaf:32 node:32 gpu:8", NULL);
	uint8_t *having = calloc(f->n_nodes, 1), *out = calloc(f->n_nodes, 1);
	uint64_t *able = calloc(weft_bitset_words(f->n_nodes), sizeof(*able));
	struct weft_by_feature q = {
		.fabric = f,
		.spec = "segment=2",
		.n_nodes = 512,
		.n_features = 2,
		.count = {256, 256},
		.having = having,
		.able = able,
	};
	double start_s;

	(void)state;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		having[i] = i % 32 < 16 ? 1 : i % 7 ? 0 : 2;
		weft_bitset_add(able, i);
	}
	q.deadline_s = weft_clock_s() + 60;
	start_s = weft_worked_s();
	assert_int_equal(weft_by_feature_find(&q, out), WEFT_FOUND_NODES);
	printf("found in %.1f ms\n", 1e3 * (weft_worked_s() - start_s));
	q.count[0] = 4000;
	q.count[1] = 800;
	q.n_nodes = 6000;
	start_s = weft_worked_s();
	assert_int_equal(weft_by_feature_find(&q, out), WEFT_FOUND_NODES);
	printf("6,000 found in %.1f ms\n", 1e3 * (weft_worked_s() - start_s));
	q.count[0] = 256;
	q.count[1] = 20000;
	q.n_nodes = 20256;
	assert_int_equal(weft_by_feature_find(&q, out), WEFT_FOUND_NONE);
	q.n_nodes = 512;
	q.count[1] = 256;
	q.deadline_s = weft_clock_s() - 1;
	start_s = weft_worked_s();
	assert_int_equal(weft_by_feature_find(&q, out), WEFT_FOUND_NOT_YET);
	printf("gave up in %.1f ms\n", 1e3 * (weft_worked_s() - start_s));
	free(having);
	free(out);
	free(able);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_found_where_there_are_any),
		cmocka_unit_test(large_jobs_take_no_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
