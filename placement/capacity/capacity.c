/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capacity.c - what every node and domain can give to one job */
#include "placement/capacity/capacity.h"

#include "base/bitset.h"
#include "base/compare.h"
#include "base/divisor.h"

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

/* The domain's links, where the fabric says of each what it carries; else 0:
 * then domains of a level and size have the same. */
static double own_uplink(const struct weft_fabric *f, uint32_t domain)
{
	return f->uplink_rate_bytes_per_s ? weft_cost_uplink_rate(f, domain)
					  : 0;
}

static double node_uplink(const struct weft_fabric *f, uint32_t node)
{
	uint32_t gpu = f->nodes[node].first_gpu;

	return own_uplink(f, f->gpu_domain[f->node_level][gpu]);
}

static uint64_t rate_shape(double rate)
{
	uint64_t bits;

	memcpy(&bits, &rate, sizeof(bits));
	return bits ? mix(bits) : 0;
}

/* Whether it matters which children of a level's domain lie side by side. */
static bool has_steps(const struct weft_fabric *f, uint32_t level)
{
	return f->levels[level].shape == WEFT_SHAPE_RING ||
	       f->levels[level].shape == WEFT_SHAPE_TORUS;
}

static bool is_required(const struct weft_occupancy *o, uint32_t node)
{
	return o->required && weft_bitset_has(o->required, node);
}

/* Free GPUs of an NVLink domain, by number: on rails it matters which. */
static uint64_t island_pattern(const struct weft_fabric *f, uint64_t own)
{
	return f->n_rails > 1 ? own : weft_mask_count(own);
}

/* Which of the free GPUs a node has matters only where GPUs of a node differ:
 * on rails, or in several NVLink domains. */
static uint64_t free_pattern(const struct capacity *s, uint32_t node)
{
	const struct weft_fabric *f = s->f;
	uint64_t rest = s->o->free[node], own = 0, sum = 0;
	uint32_t i, gpu = f->nodes[node].first_gpu, last = WEFT_NONE;

	if (f->node_level == 0)
		return f->n_rails > 1 ? mix(rest) : weft_mask_count(rest);
	weft_mask_foreach (i, rest) {
		if (f->gpu_domain[0][gpu + i] != last) {
			sum += mix(island_pattern(f, own));
			own = 0;
			last = f->gpu_domain[0][gpu + i];
		}
		own |= UINT64_C(1) << weft_fabric_number(f, gpu + i);
	}
	return sum + mix(island_pattern(f, own));
}

static void build_node(struct capacity *s, uint32_t node, uint32_t min_give)
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
				      mix(weight + s->f->nodes[node].n_gpus)) ^
				  rate_shape(node_uplink(s->f, node)));
}

/* From nodes by what they give to what all together do. */
static void sum_counts(struct capacity *s)
{
	s->usable = s->usable_most = s->n_giving = 0;
	s->give_most = s->give_least = s->give_common = 0;
	for (uint32_t n = 1; n <= WEFT_MAX_GPUS_PER_NODE; n++) {
		if (s->n_of_usable[n]) {
			s->usable += n * s->n_of_usable[n];
			s->usable_most = n;
		}
		if (!s->n_of_give[n])
			continue;
		s->n_giving += s->n_of_give[n];
		s->give_most = n;
		if (!s->give_least)
			s->give_least = n;
		s->give_common = (uint32_t)weft_divisor(s->give_common, n);
	}
}

/* Neighbours mostly are, and to find that out is cheap. */
static bool is_alike(const struct capacity *s, uint32_t a, uint32_t b)
{
	const struct weft_occupancy *o = s->o;

	return s->f->node_level == 0 &&
	       s->f->nodes[a].n_gpus == s->f->nodes[b].n_gpus &&
	       o->free[a] == o->free[b] && o->usable[a] == o->usable[b] &&
	       (!o->weight || o->weight[a] == o->weight[b]) &&
	       node_uplink(s->f, a) == node_uplink(s->f, b) &&
	       is_required(o, a) == is_required(o, b);
}

/* What the parts of a domain have together. */
struct sums {
	uint32_t cap, n_givers, must, n_untouched;
	uint64_t shape;
};

static struct sums sum_nodes(const struct capacity *s, uint32_t first,
			     uint32_t n)
{
	struct sums sums = {0};

	for (uint32_t i = first; i < first + n; i++) {
		const struct weft_node *node = &s->f->nodes[i];

		sums.cap += s->give[i];
		sums.n_givers += s->give[i] > 0;
		sums.must += is_required(s->o, i);
		sums.n_untouched +=
			s->o->free[i] == weft_mask_first(node->n_gpus);
		sums.shape += s->node_shape[i];
	}
	return sums;
}

static struct sums sum_children(const struct capacity *s, uint32_t first,
				uint32_t n)
{
	bool ordered = has_steps(s->f, s->f->domains[first].level + 1);
	struct sums sums = {0};

	for (uint32_t i = first; i < first + n; i++) {
		sums.cap += s->cap[i];
		sums.n_givers += s->n_givers[i];
		sums.must += s->must[i];
		sums.n_untouched += s->n_untouched[i];
		sums.shape +=
			ordered ? mix(s->shape[i] + i - first) : s->shape[i];
	}
	return sums;
}

/* Domains of the node level are single nodes, unless NVLink spans several. */
static bool has_single_nodes(const struct capacity *s)
{
	return s->f->levels[s->f->node_level].n_domains == s->f->n_nodes;
}

static void set_domain(struct capacity *s, uint32_t level, uint32_t d,
		       const struct sums *sums)
{
	s->cap[d] = sums->cap;
	s->n_givers[d] = sums->n_givers;
	s->must[d] = sums->must;
	s->n_untouched[d] = sums->n_untouched;
	s->shape[d] = mix((sums->shape ^ rate_shape(own_uplink(s->f, d))) +
			  level + 1);
	if (sums->cap > s->cap_most[level])
		s->cap_most[level] = sums->cap;
}

/* The same for nodes from + 1 ... to - 1, which are alike. */
static void copy_node(struct capacity *s, uint32_t from, uint32_t to)
{
	uint32_t first = s->f->levels[s->f->node_level].first_domain;

	for (uint32_t i = from + 1; i < to; i++) {
		s->give[i] = s->give[from];
		s->node_shape[i] = s->node_shape[from];
	}
	if (!has_single_nodes(s))
		return;
	from += first;
	for (uint32_t d = from + 1; d < first + to; d++) {
		s->cap[d] = s->cap[from];
		s->n_givers[d] = s->n_givers[from];
		s->must[d] = s->must[from];
		s->n_untouched[d] = s->n_untouched[from];
		s->shape[d] = s->shape[from];
	}
}

/* The node, `times` of its kind, and the domain that it alone makes up. */
static void set_node(struct capacity *s, uint32_t node, uint32_t times)
{
	uint32_t level = s->f->node_level;

	s->n_of_give[s->give[node]] += times;
	s->n_of_usable[weft_occupancy_give(s->o, node)] += times;
	s->sizes |= UINT64_C(1) << (s->f->nodes[node].n_gpus - 1);
	if (has_single_nodes(s)) {
		struct sums sums = sum_nodes(s, node, 1);

		set_domain(s, level, s->f->levels[level].first_domain + node,
			   &sums);
	}
}

static void build_nodes(struct capacity *s, uint32_t min_give)
{
	for (uint32_t i = 0, next; i < s->f->n_nodes; i = next) {
		for (next = i + 1; next < s->f->n_nodes; next++)
			if (!is_alike(s, i, next))
				break;
		build_node(s, i, min_give);
		set_node(s, i, next - i);
		copy_node(s, i, next);
	}
}

static void build_domain(struct capacity *s, uint32_t level, uint32_t d)
{
	const struct weft_domain *domain = &s->f->domains[d];
	struct sums sums =
		level == s->f->node_level
			? sum_nodes(s, domain->first_node, domain->n_nodes)
			: sum_children(s, domain->first_child,
				       domain->n_children);

	set_domain(s, level, d, &sums);
}

static void build_domains(struct capacity *s)
{
	const struct weft_fabric *f = s->f;
	uint32_t level = f->node_level;

	for (level += has_single_nodes(s); level < f->n_levels; level++) {
		const struct weft_level *l = &f->levels[level];

		for (uint32_t i = 0; i < l->n_domains; i++)
			build_domain(s, level, l->first_domain + i);
	}
}

/* One block for all arrays: the widest first, for alignment. */
static int allocate(struct capacity *s, struct weft_error *err)
{
	size_t nodes = s->f->n_nodes, domains = s->f->n_domains;
	size_t words = 2 * nodes + 5 * domains;
	char *p = weft_calloc((nodes + domains) * 8 + words * 4 + 2 * domains +
				      nodes,
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
	s->n_on = s->seen + domains;
	return 0;
}

int capacity_build(const struct weft_fabric *f, const struct weft_job *job,
		   const struct weft_occupancy *o, uint32_t unit,
		   uint32_t min_give, struct capacity *s,
		   struct weft_error *err)
{
	memset(s, 0, sizeof(*s));
	s->f = f;
	s->job = job;
	s->o = o;
	s->unit = unit;
	if (allocate(s, err))
		return -1;
	build_nodes(s, min_give);
	sum_counts(s);
	build_domains(s);
	return 0;
}

/* ---- kept from one decision to the next ---- */

static int kept_build(const struct weft_fabric *f, const struct weft_job *job,
		      const struct weft_occupancy *o, struct capacity *s,
		      struct weft_error *err)
{
	size_t n = f->n_nodes;

	capacity_free(s);
	if (capacity_build(f, job, o, 1, 0, s, err))
		return -1;
	s->fixed = job->gpus_per_node;
	s->was_free = weft_calloc(n, sizeof(*s->was_free), err);
	s->was_usable = weft_calloc(n, 2 * sizeof(*s->was_usable), err);
	if (!s->was_free || !s->was_usable)
		return -1;
	s->changed = s->was_usable + n;
	memcpy(s->was_free, o->free, n * sizeof(*o->free));
	memcpy(s->was_usable, o->usable, n * sizeof(*o->usable));
	return 0;
}

static void renew_node(struct capacity *s, uint32_t node)
{
	const struct weft_occupancy was = {
		.fabric = s->f,
		.free = s->was_free,
		.usable = s->was_usable,
	};

	s->n_of_give[s->give[node]]--;
	s->n_of_usable[weft_occupancy_give(&was, node)]--;
	build_node(s, node, 0);
	set_node(s, node, 1);
	s->was_free[node] = s->o->free[node];
	s->was_usable[node] = s->o->usable[node];
}

/* The nodes that have changed, in ascending order; returns how many. */
static uint32_t renew_nodes(struct capacity *s)
{
	enum { BLOCK = 32 };
	const struct weft_occupancy *o = s->o;
	uint32_t n = 0;

	for (uint32_t i = 0, next; i < s->f->n_nodes; i = next) {
		uint32_t size = s->f->n_nodes - i;

		size = size < BLOCK ? size : BLOCK;
		next = i + size;
		if (!memcmp(o->free + i, s->was_free + i,
			    size * sizeof(*o->free)) &&
		    !memcmp(o->usable + i, s->was_usable + i,
			    size * sizeof(*o->usable)))
			continue;
		for (; i < next; i++) {
			if (o->free[i] == s->was_free[i] &&
			    o->usable[i] == s->was_usable[i])
				continue;
			renew_node(s, i);
			s->changed[n++] = i;
		}
	}
	return n;
}

static void renew_cap_most(struct capacity *s, uint32_t level)
{
	const struct weft_level *l = &s->f->levels[level];
	const uint32_t *cap = s->cap + l->first_domain;

	if (level == s->f->node_level && has_single_nodes(s)) {
		s->cap_most[level] = s->give_most;
		return;
	}
	s->cap_most[level] = 0;
	for (uint32_t i = 0; i < l->n_domains; i++)
		if (cap[i] > s->cap_most[level])
			s->cap_most[level] = cap[i];
}

/* The domains that the changed nodes are in, from inside outwards. */
static void renew_domains(struct capacity *s, uint32_t n_changed)
{
	const struct weft_fabric *f = s->f;
	uint32_t level = f->node_level;

	for (level += has_single_nodes(s); level < f->n_levels; level++) {
		uint32_t last = WEFT_NONE;

		for (uint32_t i = 0; i < n_changed; i++) {
			uint32_t gpu = f->nodes[s->changed[i]].first_gpu;
			uint32_t d = f->gpu_domain[level][gpu];

			if (d == last)
				continue;
			last = d;
			build_domain(s, level, d);
			s->is_sorted[d] = false;
		}
	}
	for (level = f->node_level; level < f->n_levels; level++)
		renew_cap_most(s, level);
}

int capacity_renew(const struct weft_fabric *f, const struct weft_job *job,
		   const struct weft_occupancy *o, struct capacity *s,
		   struct weft_error *err)
{
	uint32_t n;

	if (!s->memory || s->f != f || s->fixed != job->gpus_per_node)
		return kept_build(f, job, o, s, err);
	s->job = job;
	s->o = o;
	s->unit = 1;
	n = renew_nodes(s);
	if (!n)
		return 0;
	sum_counts(s);
	renew_domains(s, n);
	return 0;
}

bool capacity_suits(const struct capacity *s, uint32_t unit, uint32_t min_give)
{
	return s->n_giving == 0 ||
	       (s->give_common % unit == 0 && s->give_least >= min_give);
}

void capacity_free(struct capacity *s)
{
	free(s->memory);
	free(s->was_free);
	free(s->was_usable);
	memset(s, 0, sizeof(*s));
}

bool capacity_keeps_limits(const struct capacity *s, uint32_t domain)
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
	double uplink;
	uint64_t shape; /* all the same where neighbours are to go together */
};

WEFT_COMPARATOR(compare_parts, struct part,
		WEFT_DOWN(n_gpus) WEFT_UP(untouched) WEFT_UP(weight)
			WEFT_DOWN(uplink) WEFT_UP(shape) WEFT_UP(index));

static struct part node_part(const struct capacity *s, uint32_t node)
{
	return (struct part){
		.index = node,
		.n_gpus = s->give[node],
		.untouched = s->o->free[node] ==
			     weft_mask_first(s->f->nodes[node].n_gpus),
		.weight = s->o->weight ? s->o->weight[node] : 0,
		.uplink = node_uplink(s->f, node),
		.shape = s->node_shape[node],
	};
}

static struct part domain_part(const struct capacity *s, uint32_t domain)
{
	uint32_t above = s->f->domains[domain].level + 1;

	return (struct part){
		.index = domain,
		.n_gpus = s->cap[domain],
		.untouched = capacity_untouched(s, domain),
		.uplink = own_uplink(s->f, domain),
		.shape = has_steps(s->f, above) ? 0 : s->shape[domain],
	};
}

/* Parts of one shape, which are alike but for their indices. */
struct kind {
	struct part part; /* the first one: compare_parts looks at it alone */
	uint64_t shape;
	uint32_t n, at;
};

enum { FEW_KINDS = 8 };

/* The kind of that shape, or n_kinds; neighbours mostly are of one, `last`. */
static uint32_t kind_find(const struct kind *kinds, uint32_t n_kinds,
			  uint32_t last, uint64_t shape)
{
	uint32_t k = 0;

	if (last < n_kinds && kinds[last].shape == shape)
		return last;
	while (k < n_kinds && kinds[k].shape != shape)
		k++;
	return k;
}

/* Puts indices from `first` on into order[n] by kind; false: there are more
 * than a few. */
static bool sort_kinds(const struct capacity *s, bool of_nodes, uint32_t first,
		       uint32_t n, uint32_t *order)
{
	const uint64_t *shape = (of_nodes ? s->node_shape : s->shape) + first;
	struct kind kinds[FEW_KINDS];
	uint32_t n_kinds = 0, k = 0, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		k = kind_find(kinds, n_kinds, k, shape[i]);
		if (k == FEW_KINDS)
			return false;
		if (k == n_kinds)
			kinds[n_kinds++] = (struct kind){
				.part = of_nodes ? node_part(s, first + i)
						 : domain_part(s, first + i),
				.shape = shape[i],
			};
		kinds[k].n++;
	}
	qsort(kinds, n_kinds, sizeof(*kinds), compare_parts);
	for (k = 0; k < n_kinds; k++) {
		kinds[k].at = at;
		at += kinds[k].n;
	}
	k = 0;
	for (uint32_t i = 0; i < n; i++) {
		k = kind_find(kinds, n_kinds, k, shape[i]);
		order[kinds[k].at++] = first + i;
	}
	return true;
}

static int sort_parts(const struct capacity *s, bool of_nodes, uint32_t first,
		      uint32_t n, uint32_t *order, struct weft_error *err)
{
	struct part *parts = weft_calloc(n, sizeof(*parts), err);

	if (!parts)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		parts[i] = of_nodes ? node_part(s, first + i)
				    : domain_part(s, first + i);
	qsort(parts, n, sizeof(*parts), compare_parts);
	for (uint32_t i = 0; i < n; i++)
		order[i] = parts[i].index;
	free(parts);
	return 0;
}

int capacity_sort(struct capacity *s, uint32_t domain, struct weft_error *err)
{
	const struct weft_domain *d = &s->f->domains[domain];
	bool of_nodes = d->level == s->f->node_level;
	uint32_t first = of_nodes ? d->first_node : d->first_child;
	uint32_t n = of_nodes ? d->n_nodes : d->n_children;
	uint32_t *order = (of_nodes ? s->node_order : s->domain_order) + first;
	/* where steps count, neighbours of any shape go together */
	bool by_kind = of_nodes || !has_steps(s->f, d->level);

	if (s->is_sorted[domain])
		return 0;
	if (!(by_kind && sort_kinds(s, of_nodes, first, n, order)) &&
	    sort_parts(s, of_nodes, first, n, order, err))
		return -1;
	s->is_sorted[domain] = true;
	return 0;
}
