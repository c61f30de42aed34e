/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leftovers.c - a choice of nodes that leaves the most room for others */
#include "placement/nodes/leftovers.h"

#include "base/bitset.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

/* A node, and what decides when it is taken; smaller goes first. */
struct source {
	uint32_t node, give;
	bool required;
	bool whole; /* and to be spared: not in use */
	/* from the outermost level in: twice the GPUs that its domain has left,
	 * beyond all others where nothing of it is in use */
	uint64_t rank[WEFT_MAX_LEVELS + 1];
	uint32_t n_ranks;
};

static int compare_sources(const void *pa, const void *pb)
{
	const struct source *a = pa, *b = pb;

	if (a->required != b->required)
		return a->required ? -1 : 1;
	if (a->whole != b->whole)
		return a->whole ? 1 : -1;
	for (uint32_t i = 0; i < a->n_ranks; i++)
		if (a->rank[i] != b->rank[i])
			return a->rank[i] < b->rank[i] ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static uint64_t rank_of(bool untouched, uint32_t left, uint32_t index)
{
	/* domains of equal size one after the other, not in turns */
	return (uint64_t)untouched << 63 | (uint64_t)left << 32 | index;
}

static void describe(const struct capacity *s, uint32_t node, uint32_t give,
		     bool scattered, struct source *source)
{
	const struct weft_fabric *f = s->f;
	const struct weft_occupancy *o = s->o;
	uint32_t gpu = f->nodes[node].first_gpu, n = f->nodes[node].n_gpus;
	bool untouched = o->free[node] == weft_mask_first(n);

	source->node = node;
	source->give = give;
	source->required = o->required && weft_bitset_has(o->required, node);
	source->whole = scattered && untouched;
	source->n_ranks = 0;
	for (uint32_t l = f->n_levels; l-- > f->node_level;) {
		uint32_t d = f->gpu_domain[l][gpu];

		source->rank[source->n_ranks++] =
			rank_of(capacity_untouched(s, d), s->cap[d], d);
	}
	source->rank[source->n_ranks++] = rank_of(untouched, s->give[node], 0);
}

/* Lets the source at the root of a heap below `at` sink to its place. */
static void sink(uint32_t *heap, uint32_t n, uint32_t at,
		 const struct source *sources)
{
	uint32_t moved = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < n && compare_sources(&sources[heap[child + 1]],
						     &sources[heap[child]]) < 0)
			child++;
		if (child >= n ||
		    compare_sources(&sources[moved], &sources[heap[child]]) < 0)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

/* Of n sources the first that are enough, each with what it gives: the last of
 * heap[n]; returns how many, 0 when all are not enough.  A job takes few of
 * them: a heap finds these without sorting the rest. */
static uint32_t take(struct source *sources, uint32_t n, uint32_t need,
		     uint32_t *heap)
{
	uint32_t n_left = n;

	for (uint32_t i = 0; i < n; i++)
		heap[i] = i;
	for (uint32_t i = n / 2; i-- > 0;)
		sink(heap, n, i, sources);
	while (n_left && need) {
		uint32_t at = heap[0];

		if (sources[at].give > need)
			sources[at].give = need;
		need -= sources[at].give;
		heap[0] = heap[--n_left];
		sink(heap, n_left, 0, sources);
		heap[n_left] = at;
	}
	return need ? 0 : n - n_left;
}

int leftovers_fill(const struct capacity *s, uint32_t domain, uint32_t unit,
		   bool scattered, struct node_set *c, struct weft_error *err)
{
	const struct weft_domain *d = &s->f->domains[domain];
	struct source *sources =
		weft_realloc(NULL, d->n_nodes, sizeof(*sources), err);
	uint32_t *heap = weft_realloc(NULL, d->n_nodes, sizeof(*heap), err);
	uint32_t n_sources = 0, n, *taken;
	int rc = -1;

	memset(c, 0, sizeof(*c));
	if (!sources || !heap)
		goto out;
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		uint32_t node = d->first_node + i;
		uint32_t give = s->give[node] - s->give[node] % unit;

		if (give)
			describe(s, node, give, scattered,
				 &sources[n_sources++]);
	}
	n = take(sources, n_sources, s->job->n_gpus, heap);
	rc = 0;
	if (!n)
		goto out;
	/* sources are in the order of nodes; those of a domain are to be
	 * consecutive */
	taken = heap + n_sources - n;
	qsort(taken, n, sizeof(*taken), weft_compare_numbers);
	c->node = weft_calloc(n, sizeof(*c->node), err);
	c->count = weft_calloc(n, sizeof(*c->count), err);
	rc = -1;
	if (!c->node || !c->count)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		node_set_add(c, sources[taken[i]].node, sources[taken[i]].give);
	rc = node_set_valid(c, s);
out:
	free(sources);
	free(heap);
	return rc;
}
