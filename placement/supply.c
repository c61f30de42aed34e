/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supply.c - what every node and domain can give to one job */
#include "placement/supply.h"

#include "topology/bitset.h"

#include <stdlib.h>
#include <string.h>

/* A finaliser of splitmix64: sums of mixed words do not depend on the order of
 * the terms, and do not collide in practice. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool is_required(const struct weft_occupancy *o, uint32_t node)
{
	return o->required && weft_bitset_has(o->required, node);
}

/* Which of the free GPUs a node has matters only where GPUs of a node differ:
 * on rails, or in several NVLink domains. */
static uint64_t free_pattern(const struct supply *s, uint32_t node)
{
	const struct weft_fabric *f = s->f;
	uint64_t rest = s->o->free[node], sum = 0;
	uint32_t i, gpu = f->nodes[node].first_gpu, run = 0, last = WEFT_NONE;

	if (f->n_rails > 1)
		return mix(rest);
	if (f->node_level == 0)
		return weft_mask_count(rest);
	weft_mask_foreach (i, rest) {
		if (f->gpu_domain[0][gpu + i] != last) {
			sum += mix(run);
			run = 0;
			last = f->gpu_domain[0][gpu + i];
		}
		run++;
	}
	return sum + mix(run);
}

static void build_node(struct supply *s, uint32_t node, uint32_t min_give)
{
	uint32_t n = weft_occupancy_give(s->o, node);
	uint32_t fixed = s->job->gpus_per_node;
	bool required = is_required(s->o, node);
	uint64_t weight = s->o->weight ? s->o->weight[node] : 0;

	if (fixed)
		n = n >= fixed ? fixed : 0;
	else if (n >= s->unit || !required)
		n -= n % s->unit;
	if (n < min_give && !required)
		n = 0;
	s->give[node] = n;
	s->node_shape[node] = mix(free_pattern(s, node) ^
				  mix(((uint64_t)n << 1 | required) +
				      mix(weight + s->f->nodes[node].n_gpus)));
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* What the node is to all of them; each kind of node once. */
static void note_node(struct supply *s, uint32_t node)
{
	uint32_t usable = weft_occupancy_give(s->o, node);
	uint32_t give = s->give[node];

	s->sizes |= UINT64_C(1) << (s->f->nodes[node].n_gpus - 1);
	if (usable > s->usable_most)
		s->usable_most = usable;
	if (!give)
		return;
	if (give > s->give_most)
		s->give_most = give;
	if (!s->give_least || give < s->give_least)
		s->give_least = give;
	s->give_common = common_divisor(s->give_common, give);
}

/* Neighbours mostly are, and to find that out is cheap. */
static bool is_alike(const struct supply *s, uint32_t a, uint32_t b)
{
	const struct weft_occupancy *o = s->o;

	return s->f->node_level == 0 &&
	       s->f->nodes[a].n_gpus == s->f->nodes[b].n_gpus &&
	       o->free[a] == o->free[b] && o->usable[a] == o->usable[b] &&
	       (!o->weight || o->weight[a] == o->weight[b]) &&
	       is_required(o, a) == is_required(o, b);
}

static void add_node(struct supply *s, uint32_t d, uint32_t node)
{
	const struct weft_node *n = &s->f->nodes[node];

	s->cap[d] += s->give[node];
	s->n_givers[d] += s->give[node] > 0;
	s->must[d] += is_required(s->o, node);
	s->n_untouched[d] += s->o->free[node] == weft_mask_first(n->n_gpus);
	s->shape[d] += s->node_shape[node];
}

static void add_child(struct supply *s, uint32_t d, uint32_t child)
{
	s->cap[d] += s->cap[child];
	s->n_givers[d] += s->n_givers[child];
	s->must[d] += s->must[child];
	s->n_untouched[d] += s->n_untouched[child];
	s->shape[d] += s->shape[child];
}

static void build_domains(struct supply *s)
{
	const struct weft_fabric *f = s->f;

	for (uint32_t level = f->node_level; level < f->n_levels; level++) {
		const struct weft_level *l = &f->levels[level];
		uint64_t sum = 0, mixed = 0;

		for (uint32_t i = 0; i < l->n_domains; i++) {
			uint32_t d = l->first_domain + i;
			const struct weft_domain *domain = &f->domains[d];

			if (level == f->node_level)
				for (uint32_t k = 0; k < domain->n_nodes; k++)
					add_node(s, d, domain->first_node + k);
			else
				for (uint32_t k = 0; k < domain->n_children;
				     k++)
					add_child(s, d,
						  domain->first_child + k);
			/* neighbours mostly are alike */
			if (i == 0 || s->shape[d] != sum) {
				sum = s->shape[d];
				mixed = mix(sum + level + 1);
			}
			s->shape[d] = mixed;
			if (s->cap[d] > s->cap_most[level])
				s->cap_most[level] = s->cap[d];
		}
	}
}

/* One block for all arrays: the widest first, for alignment. */
static int allocate(struct supply *s, struct weft_error *err)
{
	size_t nodes = s->f->n_nodes, domains = s->f->n_domains;
	size_t words = 2 * nodes + 5 * domains;
	char *p = weft_calloc((nodes + domains) * 8 + words * 4 + 2 * domains,
			      1, err);

	if (!p)
		return -1;
	s->memory = p;
	s->node_shape = (uint64_t *)(void *)p;
	s->shape = s->node_shape + nodes;
	s->give = (uint32_t *)(void *)(s->shape + domains);
	s->node_order = s->give + nodes;
	s->cap = s->node_order + nodes;
	s->n_givers = s->cap + domains;
	s->must = s->n_givers + domains;
	s->n_untouched = s->must + domains;
	s->domain_order = s->n_untouched + domains;
	s->is_sorted = (bool *)(s->domain_order + domains);
	s->seen = (uint8_t *)(s->is_sorted + domains);
	return 0;
}

int supply_build(const struct weft_fabric *f, const struct weft_job *job,
		 const struct weft_occupancy *o, uint32_t unit,
		 uint32_t min_give, struct supply *s, struct weft_error *err)
{
	uint32_t usable = 0;

	memset(s, 0, sizeof(*s));
	s->f = f;
	s->job = job;
	s->o = o;
	s->unit = unit;
	if (allocate(s, err))
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (i > 0 && is_alike(s, i - 1, i)) {
			s->give[i] = s->give[i - 1];
			s->node_shape[i] = s->node_shape[i - 1];
		} else {
			build_node(s, i, min_give);
			note_node(s, i);
			usable = weft_occupancy_give(o, i);
		}
		s->usable += usable;
		s->n_giving += s->give[i] > 0;
	}
	build_domains(s);
	return 0;
}

bool supply_suits(const struct supply *s, uint32_t unit, uint32_t min_give)
{
	return s->n_giving == 0 ||
	       (s->give_common % unit == 0 && s->give_least >= min_give);
}

void supply_free(struct supply *s)
{
	free(s->memory);
	memset(s, 0, sizeof(*s));
}

bool supply_keeps_limits(const struct supply *s, uint32_t domain)
{
	const struct weft_job *job = s->job;
	const struct weft_domain *d = &s->f->domains[domain];
	const struct weft_level *top = &s->f->levels[s->f->n_levels - 1];
	uint32_t must = 0;

	if (s->n_givers[domain] == 0 || s->n_givers[domain] < job->min_nodes)
		return false;
	if (job->within_level != WEFT_NONE && d->level > job->within_level)
		return false;
	if (!s->o->required)
		return true;
	for (uint32_t i = 0; i < top->n_domains; i++)
		must += s->must[top->first_domain + i];
	return s->must[domain] == must;
}

/* What decides which of two parts of equal size is taken first. */
struct part {
	uint32_t index, n_gpus;
	bool untouched;
	uint32_t weight;
	uint64_t shape;
};

#define COMPARE(a, b)                                                          \
	if ((a) != (b))                                                        \
	return (a) < (b) ? -1 : 1

static int compare_parts(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	COMPARE(b->n_gpus, a->n_gpus);
	COMPARE(a->untouched, b->untouched);
	COMPARE(a->weight, b->weight);
	COMPARE(a->shape, b->shape);
	COMPARE(a->index, b->index);
	return 0;
}

static struct part node_part(const struct supply *s, uint32_t node)
{
	return (struct part){
		.index = node,
		.n_gpus = s->give[node],
		.untouched = s->o->free[node] ==
			     weft_mask_first(s->f->nodes[node].n_gpus),
		.weight = s->o->weight ? s->o->weight[node] : 0,
		.shape = s->node_shape[node],
	};
}

static struct part domain_part(const struct supply *s, uint32_t domain)
{
	return (struct part){
		.index = domain,
		.n_gpus = s->cap[domain],
		.untouched = supply_untouched(s, domain),
		.shape = s->shape[domain],
	};
}

int supply_sort(struct supply *s, uint32_t domain, struct weft_error *err)
{
	const struct weft_domain *d = &s->f->domains[domain];
	bool of_nodes = d->level == s->f->node_level;
	uint32_t first = of_nodes ? d->first_node : d->first_child;
	uint32_t n = of_nodes ? d->n_nodes : d->n_children;
	uint32_t *order = (of_nodes ? s->node_order : s->domain_order) + first;
	struct part *parts;

	if (s->is_sorted[domain])
		return 0;
	parts = weft_calloc(n, sizeof(*parts), err);
	if (!parts)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		parts[i] = of_nodes ? node_part(s, first + i)
				    : domain_part(s, first + i);
	qsort(parts, n, sizeof(*parts), compare_parts);
	for (uint32_t i = 0; i < n; i++)
		order[i] = parts[i].index;
	s->is_sorted[domain] = true;
	free(parts);
	return 0;
}
