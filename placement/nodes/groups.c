/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups.c - the nodes of each domain that segments and parts lie in */
#include "placement/nodes/groups.h"

#include "base/bitset.h"
#include "base/compare.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>

WEFT_COMPARATOR(compare_members, struct member,
		WEFT_DOWN(required) WEFT_DOWN(give) WEFT_UP(untouched)
			WEFT_UP(weight) WEFT_UP(shape) WEFT_UP(node));

/* Mostly they are in order: where all nodes of a domain are alike. */
static void sort_members(struct member *member, uint32_t n,
			 int (*compare)(const void *, const void *))
{
	for (uint32_t i = 1; i < n; i++)
		if (compare(&member[i - 1], &member[i]) > 0) {
			qsort(member, n, sizeof(*member), compare);
			return;
		}
}

void groups_sort(struct member *member, uint32_t n)
{
	sort_members(member, n, compare_members);
}

struct member groups_member(const struct capacity *s, uint32_t node,
			    uint32_t share)
{
	const struct weft_occupancy *o = s->o;
	bool required = o->required && weft_bitset_has(o->required, node);
	uint32_t give = s->give[node];

	if (give > share && share)
		give = share;
	if (give < share && !required)
		give = 0;
	return (struct member){
		.node = node,
		.give = give,
		.required = required,
		.untouched = o->free[node] ==
			     weft_mask_first(s->f->nodes[node].n_gpus),
		.weight = o->weight ? o->weight[node] : 0,
		.shape = s->node_shape[node],
	};
}

static void build_group(struct groups *g, uint32_t domain)
{
	const struct weft_domain *d = &g->s->f->domains[domain];
	struct group *group = &g->group[g->n];
	uint64_t *sum;

	*group = (struct group){.domain = domain, .first = g->n_members};
	for (uint32_t k = 0; k < d->n_nodes; k++) {
		struct member m =
			groups_member(g->s, d->first_node + k, g->share);

		if (!m.give)
			continue;
		g->member[g->n_members++] = m;
		group->n_must += m.required;
	}
	group->n_nodes = g->n_members - group->first;
	groups_sort(g->member + group->first, group->n_nodes);
	sum = g->sum + group->first + g->n++;
	for (uint32_t k = 0; k < group->n_nodes; k++)
		sum[k + 1] = sum[k] + g->member[group->first + k].give;
}

int groups_build(const struct capacity *s, uint32_t scope, uint32_t share,
		 struct groups *g, struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	const struct weft_domain *d = &f->domains[scope];
	const uint32_t *domain = f->gpu_domain[limits_level(f)];
	uint32_t first = domain[d->first_gpu];
	uint32_t last = domain[d->first_gpu + d->n_gpus - 1];
	uint32_t n = last - first + 1;

	memset(g, 0, sizeof(*g));
	g->s = s;
	g->scope = scope;
	g->share = share;
	g->group = weft_calloc(n, sizeof(*g->group), err);
	g->take = weft_calloc(n, sizeof(*g->take), err);
	g->member = weft_calloc(d->n_nodes, sizeof(*g->member), err);
	g->sum = weft_calloc((size_t)d->n_nodes + n, sizeof(*g->sum), err);
	if (!g->group || !g->take || !g->member || !g->sum)
		return -1;
	for (uint32_t i = first; i <= last; i++)
		build_group(g, i);
	return 0;
}

void groups_free(struct groups *g)
{
	free(g->group);
	free(g->take);
	free(g->member);
	free(g->sum);
	memset(g, 0, sizeof(*g));
}

WEFT_COMPARATOR(compare_nodes, struct member, WEFT_UP(node));

/* The members taken of group i, in tree order; returns where they end. */
static struct member *list_group(const struct groups *g, uint32_t i,
				 struct member *at)
{
	uint32_t n = g->take[i];

	if (!n)
		return at;
	memcpy(at, g->member + g->group[i].first, n * sizeof(*at));
	sort_members(at, n, compare_nodes);
	return at + n;
}

/* All that are taken: level by level from the scope inwards, first the domains
 * that `last` is not in, so that those of one domain stay together. */
static uint32_t list_members(const struct groups *g, uint32_t last,
			     struct member *list)
{
	const struct weft_fabric *f = g->s->f;
	uint32_t inner = limits_level(f);
	struct member *at = list;
	uint32_t end = f->domains[g->group[last].domain].first_gpu;

	for (uint32_t l = f->domains[g->scope].level; l-- > inner;) {
		for (uint32_t i = 0; i < g->n; i++) {
			uint32_t d = g->group[i].domain;
			uint32_t gpu = f->domains[d].first_gpu;

			if (f->gpu_domain[l][gpu] != f->gpu_domain[l][end] &&
			    f->gpu_domain[l + 1][gpu] ==
				    f->gpu_domain[l + 1][end])
				at = list_group(g, i, at);
		}
	}
	at = list_group(g, last, at);
	return (uint32_t)(at - list);
}

/* One node after the other gives all, as long as enough is left for the rest to
 * give one each. */
static void fill_in_turn(struct member *list, uint32_t n, uint32_t need)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t left = need - (n - i - 1);

		if (list[i].give > left)
			list[i].give = left;
		need -= list[i].give;
	}
}

/* As evenly as what they have allows. */
static void fill_evenly(struct member *list, uint32_t n, uint32_t need)
{
	uint32_t most = 0, sum = 0, spare;

	while (sum < need) {
		most++;
		sum = 0;
		for (uint32_t i = 0; i < n; i++)
			sum += list[i].give < most ? list[i].give : most;
	}
	spare = sum - need;
	for (uint32_t i = n; i-- > 0;) {
		if (list[i].give < most)
			continue;
		list[i].give = spare ? most - 1 : most;
		spare -= spare > 0;
	}
}

int groups_choose(const struct groups *g, uint32_t last, struct node_set *c,
		  struct weft_error *err)
{
	uint32_t need = g->s->job->n_gpus, n = 0;
	struct member *list;
	uint64_t sum = 0;
	int rc = -1;

	memset(c, 0, sizeof(*c));
	for (uint32_t i = 0; i < g->n; i++) {
		n += g->take[i];
		sum += groups_sum(g, i, g->take[i]);
	}
	if (sum < need || n > need || !n)
		return 0;
	list = weft_calloc(n, sizeof(*list), err);
	c->node = weft_calloc(n, sizeof(*c->node), err);
	c->count = weft_calloc(n, sizeof(*c->count), err);
	if (!list || !c->node || !c->count)
		goto out;
	list_members(g, last, list);
	if (g->share)
		fill_in_turn(list, n, need);
	else
		fill_evenly(list, n, need);
	for (uint32_t i = 0; i < n; i++)
		node_set_add(c, list[i].node, list[i].give);
	rc = node_set_valid(c, g->s);
out:
	free(list);
	return rc;
}
