/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_set_flat.c - choosing nodes by what each gives, and GPUs inside a node
 */
#include "placement/nodes/node_set.h"

#include "base/bitset.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
	uint32_t node, give;
	bool required;
	uint64_t shape;
};

WEFT_COMPARATOR(compare_give, struct candidate,
		WEFT_DOWN(required) WEFT_DOWN(give) WEFT_UP(shape)
			WEFT_UP(node));

WEFT_COMPARATOR(compare_give_up, struct candidate, WEFT_UP(give) WEFT_UP(node));

/* Tree order keeps the nodes of a domain together. */
WEFT_COMPARATOR(compare_node, struct candidate, WEFT_UP(node));

/* Mostly the list is in order as it comes. */
static void sort(struct candidate *list, uint32_t n,
		 int (*compare)(const void *, const void *))
{
	for (uint32_t i = 1; i < n; i++) {
		if (compare(&list[i - 1], &list[i]) <= 0)
			continue;
		qsort(list, n, sizeof(*list), compare);
		return;
	}
}

static uint32_t gather(const struct capacity *s, const struct weft_domain *d,
		       struct candidate *list)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n_nodes; k++) {
		uint32_t node = d->first_node + k;

		if (!s->give[node])
			continue;
		list[n++] = (struct candidate){
			.node = node,
			.give = s->give[node],
			.required = s->o->required &&
				    weft_bitset_has(s->o->required, node),
			.shape = s->node_shape[node],
		};
	}
	return n;
}

/* How many of the list's first nodes the job needs; 0: there are too few. */
static uint32_t nodes_needed(const struct capacity *s,
			     const struct candidate *list, uint32_t n)
{
	uint32_t need = s->job->n_gpus, sum = 0, k = 0;

	while (k < n &&
	       (sum < need || k < s->job->min_nodes || list[k].required))
		sum += list[k++].give;
	return sum >= need && k <= need ? k : 0;
}

/* Shares as equal as the nodes allow: from the smallest up, each gives the
 * average of what is left, and what it lacks flows to the larger ones. */
static void level_shares(const struct capacity *s, struct candidate *list,
			 uint32_t n)
{
	uint32_t left = s->job->n_gpus, share, rest;

	for (uint32_t i = 0; i < n; i++) {
		rest = n - i - 1;
		share = (left + rest) / (rest + 1);
		share = (share + s->unit - 1) / s->unit * s->unit;
		if (share > left - rest)
			share = left - rest;
		if (list[i].give > share)
			list[i].give = share;
		left -= list[i].give;
	}
}

int node_set_flat(struct capacity *s, uint32_t domain, struct node_set *c,
		  struct weft_error *err)
{
	const struct weft_domain *d = &s->f->domains[domain];
	struct candidate *list;
	uint32_t n;
	int rc = -1;

	memset(c, 0, sizeof(*c));
	list = weft_calloc(d->n_nodes, sizeof(*list), err);
	if (!list)
		return -1;
	n = gather(s, d, list);
	sort(list, n, compare_give);
	n = nodes_needed(s, list, n);
	c->node = weft_calloc(n, sizeof(*c->node), err);
	c->count = weft_calloc(n, sizeof(*c->count), err);
	if (!c->node || !c->count)
		goto out;
	sort(list, n, compare_give_up);
	if (n)
		level_shares(s, list, n);
	sort(list, n, compare_node);
	for (uint32_t i = 0; i < n; i++)
		node_set_add(c, list[i].node, list[i].give);
	rc = n > 0 && node_set_valid(c, s);
out:
	free(list);
	return rc;
}

/* Free GPUs of a node, one mask per NVLink domain; returns how many masks. */
static uint32_t split_by_domain(const struct weft_fabric *f, uint32_t node,
				uint64_t free_mask,
				uint64_t part[WEFT_MAX_GPUS_PER_NODE])
{
	uint32_t i, n = 0, gpu = f->nodes[node].first_gpu, last = WEFT_NONE;

	weft_mask_foreach (i, free_mask) {
		uint32_t d = f->gpu_domain[0][gpu + i];

		if (d != last)
			part[n++] = 0;
		last = d;
		part[n - 1] |= UINT64_C(1) << i;
	}
	return n;
}

static uint64_t lowest_bits(uint64_t mask, uint32_t count)
{
	uint64_t taken = 0;

	for (; count && mask; count--) {
		taken |= mask & -mask;
		mask &= mask - 1;
	}
	return taken;
}

/* Part that holds `count` most tightly, else the largest. */
static uint32_t best_part(const uint64_t *part, uint32_t n, uint32_t count)
{
	uint32_t best = 0, best_size = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = weft_mask_count(part[i]);
		bool better = best_size < count
				      ? size > best_size
				      : size >= count && size < best_size;

		if (size && better) {
			best = i;
			best_size = size;
		}
	}
	return best;
}

uint64_t node_set_gpus(const struct weft_occupancy *o, uint32_t node,
		       uint32_t count)
{
	const struct weft_fabric *f = o->fabric;
	uint64_t part[WEFT_MAX_GPUS_PER_NODE], taken = 0, take;
	uint32_t n, i;

	if (f->node_level == 0)
		return lowest_bits(o->free[node], count);
	n = split_by_domain(f, node, o->free[node], part);
	while (n && count) {
		i = best_part(part, n, count);
		take = lowest_bits(part[i], count);
		if (!take)
			break;
		taken |= take;
		count -= weft_mask_count(take);
		part[i] = 0;
	}
	return taken;
}

void node_set_expand(const struct node_set *c, const struct weft_occupancy *o,
		     uint32_t *gpus)
{
	const struct weft_fabric *f = o->fabric;
	uint32_t k, n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		uint64_t rest = node_set_gpus(o, c->node[i], c->count[i]);

		weft_mask_foreach (k, rest)
			gpus[n++] = f->nodes[c->node[i]].first_gpu + k;
	}
}
