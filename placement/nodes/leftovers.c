/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leftovers.c - a choice of nodes that leaves the most room for others */
#include "placement/nodes/leftovers.h"

#include "base/bitset.h"

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

static void describe(const struct supply *s, uint32_t node, uint32_t unit,
		     bool scattered, struct source *source)
{
	const struct weft_fabric *f = s->f;
	const struct weft_occupancy *o = s->o;
	uint32_t gpu = f->nodes[node].first_gpu, n = f->nodes[node].n_gpus;
	bool untouched = o->free[node] == weft_mask_first(n);

	source->node = node;
	source->give = s->give[node] - s->give[node] % unit;
	source->required = o->required && weft_bitset_has(o->required, node);
	source->whole = scattered && untouched;
	source->n_ranks = 0;
	for (uint32_t l = f->n_levels; l-- > f->node_level;) {
		uint32_t d = f->gpu_domain[l][gpu];

		source->rank[source->n_ranks++] =
			rank_of(supply_untouched(s, d), s->cap[d], d);
	}
	source->rank[source->n_ranks++] = rank_of(untouched, s->give[node], 0);
}

static int compare_nodes(const void *pa, const void *pb)
{
	const struct source *a = pa, *b = pb;

	return (a->node > b->node) - (a->node < b->node);
}

/* Of the sorted sources the first that are enough, each with what it gives;
 * returns how many, 0 when all are not enough. */
static uint32_t take(struct source *sources, uint32_t n, uint32_t need)
{
	for (uint32_t i = 0; i < n; i++) {
		if (sources[i].give > need)
			sources[i].give = need;
		need -= sources[i].give;
		if (!need)
			return i + 1;
	}
	return 0;
}

int leftovers_fill(const struct supply *s, uint32_t domain, uint32_t unit,
		   bool scattered, struct choice *c, struct weft_error *err)
{
	const struct weft_domain *d = &s->f->domains[domain];
	struct source *sources = weft_calloc(d->n_nodes, sizeof(*sources), err);
	uint32_t n = 0;
	int rc = -1;

	memset(c, 0, sizeof(*c));
	if (!sources)
		return -1;
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		describe(s, d->first_node + i, unit, scattered, &sources[n]);
		n += sources[n].give > 0;
	}
	qsort(sources, n, sizeof(*sources), compare_sources);
	n = take(sources, n, s->job->n_gpus);
	rc = 0;
	if (!n)
		goto out;
	/* nodes of a domain are to be consecutive */
	qsort(sources, n, sizeof(*sources), compare_nodes);
	c->node = weft_calloc(n, sizeof(*c->node), err);
	c->count = weft_calloc(n, sizeof(*c->count), err);
	rc = -1;
	if (!c->node || !c->count)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		choice_add(c, sources[i].node, sources[i].give);
	rc = choice_valid(c, s);
out:
	free(sources);
	return rc;
}
