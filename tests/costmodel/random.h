/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.h - random clusters, traffic and placements for property tests
 *
 * A cluster is kept as a plan and written as YAML, so that a changed plan (two
 * domains merged, siblings in another order, every link twice as fast) goes
 * through the same loader as the first.
 */
#ifndef WEFT_TESTS_COSTMODEL_RANDOM_H
#define WEFT_TESTS_COSTMODEL_RANDOM_H

#include "costmodel/time/cost.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_MAX       16
#define PLAN_MAX_FLOWS 120
#define PLAN_MAX_RANKS 64

/* Link classes, innermost first. */
enum { PLAN_NVLINK, PLAN_LEAF, PLAN_POD, PLAN_TOP, PLAN_LINKS };

/* Things of one kind, each with the parent it is attached to. */
struct tier {
	uint32_t n;
	uint32_t parent[PLAN_MAX]; /* WEFT_NONE: there is no such thing */
	uint32_t order[PLAN_MAX];  /* as the file has them, and so the tree */
};

/* Unit k is node "n<k>" or, with pairs, the NVLink domain "v<k>" of the nodes
 * n<2k> and n<2k+1>.  All pods are attached to parent 0, the top. */
struct plan {
	struct tier units, leafs, pods;
	uint32_t gpus; /* of a node */
	uint32_t rails;
	bool pairs;
	struct weft_link link[PLAN_LINKS];
	bool outwards; /* links get slower from level to level, as usual */
};

static inline void order_shuffle(uint64_t *seed, uint32_t *order, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = test_random_below(seed, i), kept = order[i - 1];

		order[i - 1] = order[j];
		order[j] = kept;
	}
}

/* n things dealt to parents, at least one to each. */
static inline struct tier tier_random(uint64_t *seed, uint32_t n,
				      uint32_t n_parents)
{
	struct tier tier = {.n = n};

	for (uint32_t i = 0; i < n; i++) {
		tier.parent[i] =
			i < n_parents ? i : test_random_below(seed, n_parents);
		tier.order[i] = i;
	}
	return tier;
}

static inline struct plan plan_random(uint64_t *seed)
{
	uint32_t n_units = 2 + test_random_below(seed, PLAN_MAX - 1);
	uint32_t n_leafs = 1 + test_random_below(seed, n_units);
	uint32_t n_pods = 1 + test_random_below(seed, n_leafs);
	struct plan plan = {
		.units = tier_random(seed, n_units, n_leafs),
		.leafs = tier_random(seed, n_leafs, n_pods),
		.pods = tier_random(seed, n_pods, 1),
		.gpus = 1u << test_random_below(seed, 4),
		.pairs = test_random_below(seed, 3) == 0,
	};

	if (plan.gpus > 1 && !plan.pairs && test_random_below(seed, 3) == 0)
		plan.rails = plan.gpus;
	for (uint32_t l = 0; l < PLAN_LINKS; l++) {
		struct weft_link *link = &plan.link[l];

		link->rate_bytes_per_s =
			1e9 * (10 + test_random_below(seed, 400));
		link->latency_s = 1e-6 * (1 + test_random_below(seed, 9));
		link->oversubscription =
			l < PLAN_POD ? 1 : 1 + test_random_below(seed, 4);
	}
	plan.outwards = test_random_below(seed, 2);
	for (uint32_t l = 1; plan.outwards && l < PLAN_LINKS; l++) {
		plan.link[l].rate_bytes_per_s =
			fmin(plan.link[l].rate_bytes_per_s,
			     plan.link[l - 1].rate_bytes_per_s);
		plan.link[l].latency_s += plan.link[l - 1].latency_s;
	}
	return plan;
}

/* Children of `parent` as "n4,n6"; a bundle of rails as "L4-[0-7]".  Whether
 * there is any; out may be NULL to ask just that. */
static inline bool members_write(FILE *out, const struct plan *plan,
				 const struct tier *tier, uint32_t parent)
{
	const char *separator = "";
	char letter = tier == &plan->pods    ? 'P'
		      : tier == &plan->leafs ? 'L'
		      : plan->pairs	     ? 'v'
					     : 'n';
	bool found = false;

	for (uint32_t i = 0; i < tier->n; i++) {
		if (tier->parent[tier->order[i]] != parent)
			continue;
		found = true;
		if (!out)
			continue;
		fprintf(out, "%s%c%u", separator, letter, tier->order[i]);
		if (letter == 'L' && plan->rails)
			fprintf(out, "-[0-%u]", plan->rails - 1);
		separator = ",";
	}
	return found;
}

/* Level `name`, whose domains are `above` and have members from `below`. */
static inline void tier_write(FILE *out, const struct plan *plan,
			      const struct tier *above,
			      const struct tier *below)
{
	bool bundle = above == &plan->leafs && plan->rails;

	fprintf(out, "  %s:\n", above == &plan->leafs ? "leaf" : "pod");
	for (uint32_t i = 0; i < above->n; i++) {
		uint32_t k = above->order[i];

		if (!members_write(NULL, plan, below, k))
			continue;
		fprintf(out, "    %c%u", above == &plan->leafs ? 'L' : 'P', k);
		if (bundle)
			fprintf(out, "-[0-%u]", plan->rails - 1);
		fputs(": ", out);
		members_write(out, plan, below, k);
		fputc('\n', out);
	}
}

static inline void links_write(FILE *out, const struct plan *plan)
{
	static const char *const name[PLAN_LINKS] = {"nvlink", "leaf", "pod",
						     "top"};

	fputs("links:\n", out);
	for (uint32_t l = 0; l < PLAN_LINKS; l++)
		fprintf(out,
			"  %s: {bandwidth: %.0f GB/s, latency: %.0f us, "
			"oversubscription: %.0f}\n",
			name[l], plan->link[l].rate_bytes_per_s / 1e9,
			plan->link[l].latency_s * 1e6,
			plan->link[l].oversubscription);
}

static inline struct weft_fabric *plan_fabric(const struct plan *plan)
{
	struct weft_error err = {0};
	struct weft_fabric *f;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "weft: fabric/1\n");
	if (plan->rails)
		fprintf(out, "rails: %u\n", plan->rails);
	fprintf(out, "nodes:\n  n[0-%u]: %u\n",
		plan->units.n * (plan->pairs ? 2 : 1) - 1, plan->gpus);
	for (uint32_t k = 0; plan->pairs && k < plan->units.n; k++)
		fprintf(out, "%s  v%u: n%u,n%u\n", k ? "" : "nvlink:\n", k,
			2 * k, 2 * k + 1);
	fputs("levels:\n", out);
	tier_write(out, plan, &plan->leafs, &plan->units);
	tier_write(out, plan, &plan->pods, &plan->leafs);
	fputs("  top:\n    T: ", out);
	members_write(out, plan, &plan->pods, 0);
	fputc('\n', out);
	links_write(out, plan);
	fclose(out);
	f = weft_fabric_parse(text, size, "plan", &err);
	assert_no_error(&err);
	free(text);
	return f;
}

/* The same cluster with siblings in another order: its nodes keep their names,
 * its GPUs get other numbers. */
static inline void plan_shuffle(uint64_t *seed, struct plan *plan)
{
	order_shuffle(seed, plan->units.order, plan->units.n);
	order_shuffle(seed, plan->leafs.order, plan->leafs.n);
	order_shuffle(seed, plan->pods.order, plan->pods.n);
}

/* Merges two siblings of `tier`, a member of plan; below: their members.
 * Whether there were two. */
static inline bool plan_merge(uint64_t *seed, struct tier *tier,
			      struct tier *below)
{
	uint32_t a = test_random_below(seed, tier->n), b = WEFT_NONE;

	for (uint32_t i = 0; i < tier->n; i++) {
		if (i != a && tier->parent[i] == tier->parent[a])
			b = i;
	}
	if (b == WEFT_NONE)
		return false;
	for (uint32_t i = 0; i < below->n; i++) {
		if (below->parent[i] == b)
			below->parent[i] = a;
	}
	tier->parent[b] = WEFT_NONE;
	return true;
}

/* The GPU of g that has the name of GPU `gpu` of f. */
static inline uint32_t gpu_renamed(const struct weft_fabric *f, uint32_t gpu,
				   const struct weft_fabric *g)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	uint32_t same = weft_fabric_node(g, node->name);

	assert_int_not_equal(same, WEFT_NONE);
	return g->nodes[same].first_gpu + gpu - node->first_gpu;
}

/* n distinct GPUs of f. */
static inline void where_random(uint64_t *seed, const struct weft_fabric *f,
				uint32_t *where, uint32_t n)
{
	uint32_t *all = calloc(f->n_gpus, sizeof(*all));

	assert_non_null(all);
	for (uint32_t i = 0; i < f->n_gpus; i++)
		all[i] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = i + test_random_below(seed, f->n_gpus - i);

		where[i] = all[j];
		all[j] = all[i];
	}
	free(all);
}

static inline struct weft_traffic traffic_random(uint64_t *seed,
						 uint32_t n_ranks)
{
	uint32_t n_flows = 1 + test_random_below(seed, PLAN_MAX_FLOWS);
	struct weft_flow flows[PLAN_MAX_FLOWS];
	struct weft_error err = {0};
	struct weft_traffic t;

	for (uint32_t i = 0; i < n_flows; i++) {
		uint32_t from = test_random_below(seed, n_ranks);
		uint32_t to = test_random_below(seed, n_ranks - 1);

		flows[i].from = from;
		flows[i].to = to + (to >= from);
		flows[i].axis =
			(enum weft_axis)test_random_below(seed, WEFT_N_AXES);
		flows[i].bytes = 1e6 * (1 + test_random_below(seed, 1000));
	}
	weft_traffic_from_flows(n_ranks, flows, n_flows, &t, &err);
	assert_no_error(&err);
	return t;
}

#endif
