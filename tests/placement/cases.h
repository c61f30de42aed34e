/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cases.h - random fabrics, occupancies and jobs for the placement tests */
#ifndef WEFT_TESTS_PLACEMENT_CASES_H
#define WEFT_TESTS_PLACEMENT_CASES_H

#include "base/bitset.h"
#include "placement/capacity/occupancy.h"
#include "placement/job.h"
#include "placement/place.h"
#include "tests/lib/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fabric file as it is written; too long a text fails the test. */
struct text {
	char at[65536];
	size_t n;
};

static inline void text_add(struct text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void text_add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at + t->n, sizeof(t->at) - t->n, format, args);
	va_end(args);
	assert_true(n >= 0 && t->n + (size_t)n < sizeof(t->at));
	t->n += (size_t)n;
}

static inline struct weft_fabric *case_fabric(const char *text)
{
	struct weft_error err = {0};
	struct weft_fabric *f =
		weft_fabric_parse(text, strlen(text), "test", &err);

	assert_no_error(&err);
	assert_non_null(f);
	return f;
}

static inline void case_job(const char *text, const struct weft_fabric *f,
			    struct weft_job *job)
{
	struct weft_error err = {0};

	weft_job_build(text, 0, true, f, job, &err);
	assert_no_error(&err);
}

/* How a random fabric looks. */
struct case_shape {
	uint32_t min_nodes, max_nodes, max_gpus; /* per node */
	bool uneven; /* nodes of different sizes, domains too */
};

/* Splits members m0..m(n-1) over random domains of a level. */
static inline uint32_t case_level(struct text *t, uint64_t *random,
				  const char *level, const char *member,
				  uint32_t n, bool uneven)
{
	uint32_t parts = 1 + test_random_below(random, n < 6 ? n : 6);
	uint32_t of[4096], used = 0;
	char letter = level[0];

	assert_true(n <= 4096);
	for (uint32_t i = 0; i < n; i++)
		of[i] = uneven ? test_random_below(random, parts)
			       : i * parts / n;
	text_add(t, "  %s:\n", level);
	for (uint32_t p = 0; p < parts; p++) {
		bool first = true;

		for (uint32_t i = 0; i < n; i++) {
			if (of[i] != p)
				continue;
			if (first)
				text_add(t, "    %c%u: ", letter, used);
			text_add(t, "%s%s%u", first ? "" : ",", member, i);
			first = false;
		}
		used += !first;
		text_add(t, "%s", first ? "" : "\n");
	}
	return used;
}

/* A fabric of random depth; sometimes with rails, with several NVLink domains
 * in a node or with some that span nodes. */
static inline void case_random_fabric(struct text *t, uint64_t *random,
				      const struct case_shape *shape)
{
	uint32_t n = shape->min_nodes +
		     test_random_below(random,
				       shape->max_nodes - shape->min_nodes + 1);
	uint32_t kind = test_random_below(random, 6);
	uint32_t gpus = 1 + test_random_below(random, shape->max_gpus);

	t->n = 0;
	if (kind < 2)
		gpus = (gpus + 1) / 2 * 2;
	text_add(t, "weft: fabric/1\nname: random\n");
	if (kind == 0)
		text_add(t, "rails: %u\n", gpus);
	if (kind == 1)
		text_add(t, "nvlink: %u\n", gpus / 2);
	text_add(t, "nodes:\n");
	for (uint32_t i = 0; i < n; i++)
		text_add(
			t, "  n%u: %u\n", i,
			kind > 1 && shape->uneven
				? 1 + test_random_below(random, shape->max_gpus)
				: gpus);
	if (kind == 2 && n >= 4)
		text_add(t, "nvlink:\n  v0: n0,n1\n  v1: n2,n3\n");
	text_add(t, "levels:\n");
	if (kind == 0) {
		/* one bundle of leaf switches, or two of equal size */
		text_add(t, "  leaf:\n    l[0-%u]: n[0-%u]\n",
			 gpus * (n % 2 ? 1 : 2) - 1, n - 1);
		return;
	}
	if (kind == 2 && n >= 4) {
		text_add(t, "  leaf:\n    l0: v0,v1\n");
		if (n > 4)
			text_add(t, "    l1: n[4-%u]\n", n - 1);
		return;
	}
	n = case_level(t, random, "leaf", "n", n, shape->uneven);
	if (test_random_below(random, 2))
		n = case_level(t, random, "pod", "l", n, shape->uneven);
	if (test_random_below(random, 2))
		text_add(t, "links:\n  leaf: {oversubscription: %u}\n",
			 1 + test_random_below(random, 3));
}

/* Some GPUs busy, some nodes short of CPUs. */
static inline void case_random_occupancy(struct weft_occupancy *o,
					 const struct weft_fabric *f,
					 uint64_t *random, uint32_t busy_pct)
{
	struct weft_error err = {0};

	weft_occupancy_build(f, o, &err);
	assert_no_error(&err);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint64_t mask = 0;

		for (uint32_t k = 0; k < f->nodes[i].n_gpus; k++)
			if (test_random_below(random, 100) < busy_pct)
				mask |= UINT64_C(1) << k;
		/* most nodes are wholly free or wholly busy */
		if (test_random_below(random, 3))
			mask = mask & 1 ? UINT64_MAX : 0;
		weft_occupancy_take(o, i, mask);
		if (test_random_below(random, 10) == 0 && o->usable[i])
			o->usable[i]--;
	}
}

/* Free GPUs of a domain. */
static inline uint32_t case_free(const struct weft_fabric *f,
				 const struct weft_occupancy *o,
				 uint32_t domain)
{
	const struct weft_domain *d = &f->domains[domain];
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_nodes; i++)
		n += weft_mask_count(o->free[d->first_node + i]);
	return n;
}

/* What comparison.c counts: domains below the outermost tapered level, else
 * NVLink domains that span nodes; twice unless p leaves none of it free. */
static inline uint32_t case_priced(const struct weft_fabric *f,
				   const struct weft_occupancy *o,
				   const struct weft_placement *p)
{
	uint32_t inner = f->node_level, level = f->n_levels - 1, n = 0, *taken;

	while (level > inner + 1 &&
	       !(f->levels[level].link.oversubscription > 1))
		level--;
	level = level > inner + 1 ? level - 1 : inner;
	if (level == inner && f->levels[inner].n_domains == f->n_nodes)
		return 1;
	taken = calloc(f->n_domains, sizeof(*taken));
	assert_non_null(taken);
	for (uint32_t r = 0; r < p->n_ranks; r++) {
		uint32_t d = f->gpu_domain[level][p->where[r]];

		n += ++taken[d] == 1 ? 2 : 0;
		n -= taken[d] == case_free(f, o, d);
	}
	free(taken);
	return n;
}

/* A spec for exactly n GPUs with random axes. */
static inline void case_random_spec(struct text *t, uint64_t *random,
				    uint32_t n)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp",
					     "pp-dp-tp-cp", "dp-tp-cp-pp"};
	static const char *const metrics[] = {"hops", "latency", "time"};
	static const char *const algorithms[] = {"tree", "hierarchical",
						 "halving-doubling"};
	uint32_t size[4] = {1, 1, 1, 1}, rest = n, ep = 8;
	uint32_t order = test_random_below(random, 4);

	for (uint32_t p = 2; rest > 1;) {
		if (rest % p) {
			p++;
			continue;
		}
		/* tp, pp, dp often, cp seldom; no model has 83 stages */
		size[p > 7 ? 2 : test_random_below(random, 10) * 3 / 9] *= p;
		rest /= p;
	}
	t->n = 0;
	text_add(t, "gpus=%u,tp=%u,pp=%u,dp=%u,cp=%u,order=%s,metric=%s", n,
		 size[0], size[1], size[2], size[3], orders[order],
		 metrics[test_random_below(random, 3)]);
	text_add(t, ",zero=%u", test_random_below(random, 4));
	/* experts need the stages of both grids to be the same */
	while (n / size[1] % ep)
		ep /= 2;
	if (test_random_below(random, 4) == 0)
		text_add(t, ",algorithm=%s",
			 algorithms[test_random_below(random, 3)]);
	if (order == 0 && test_random_below(random, 2))
		text_add(t, ",model=grok1-314B,ep=%u", ep);
	else
		text_add(t, ",model=%s",
			 test_random_below(random, 2) ? "llama3-70B"
						      : "gpt3-175B");
}

#endif
