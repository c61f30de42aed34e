/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates.c - sets of nodes worth pricing for a job */
#include "placement/nodes/candidates.h"

#include "base/bitset.h"
#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

#define MAX_UNITS  5
#define MAX_CHUNKS 9
#define MAX_SIZES  4

/* Levels looked at beyond the innermost one that holds the job: distances only
 * grow outwards, but a wider domain may have fuller nodes. */
#define LEVELS_BEYOND 1

struct build {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o;
	struct capacity *single; /* of single GPUs */
	struct candidates *out;
	uint32_t n_chunks, chunk[MAX_CHUNKS];
	struct weft_error *err;
};

static void add_chunk(struct build *b, uint64_t size)
{
	if (size <= 1 || size >= b->job->n_gpus || b->n_chunks == MAX_CHUNKS)
		return;
	for (uint32_t i = 0; i < b->n_chunks; i++)
		if (b->chunk[i] == size)
			return;
	b->chunk[b->n_chunks++] = (uint32_t)size;
}

/* Sizes of the groups that exchange more among themselves than outside: those
 * of experts, and tp times every choice of the other axes; less than the whole
 * job. */
static void find_chunks(struct build *b)
{
	const struct weft_spec *spec = &b->job->spec;
	const uint32_t axes[] = {spec->cp, spec->dp, spec->pp};

	if (spec->ep > 1) {
		uint64_t experts =
			(uint64_t)spec->ep * (spec->etp ? spec->etp : 1);

		add_chunk(b, experts);
		add_chunk(b, experts * (spec->pp ? spec->pp : 1));
	}
	for (uint32_t set = 1; set < 8; set++) {
		uint64_t size = spec->tp ? spec->tp : 1;

		for (uint32_t a = 0; a < 3; a++)
			if (set >> a & 1 && axes[a])
				size *= axes[a];
		add_chunk(b, size);
	}
}

static void add_unit(const struct build *b, uint32_t unit[MAX_UNITS],
		     uint32_t *n, uint32_t size)
{
	for (uint32_t i = 0; i < *n; i++)
		if (unit[i] == size)
			return;
	if (*n < MAX_UNITS && b->job->n_gpus % size == 0)
		unit[(*n)++] = size;
}

/* What nodes should give multiples of: a tensor group or its largest share that
 * fits a node, whole nodes, larger groups that fit, single GPUs. */
static uint32_t find_units(const struct build *b, uint32_t unit[MAX_UNITS])
{
	uint32_t tp = b->job->spec.tp ? b->job->spec.tp : 1;
	uint32_t largest = 1, n = 0;

	if (b->job->gpus_per_node) {
		unit[0] = b->job->gpus_per_node;
		return 1;
	}
	if (b->single->usable_most > largest)
		largest = b->single->usable_most;
	add_unit(b, unit, &n,
		 tp <= largest ? tp : node_set_divisor(tp, largest));
	add_unit(b, unit, &n, 1);
	add_unit(b, unit, &n, largest);
	for (uint32_t i = 0; i < b->n_chunks; i++)
		if (b->chunk[i] <= largest)
			add_unit(b, unit, &n, b->chunk[i]);
	return n;
}

void candidates_add(struct candidates *c, struct node_set *node_set)
{
	bool known = c->n == CANDIDATES_MAX;

	for (uint32_t i = 0; i < c->n; i++)
		known |= c->node_set[i].hash == node_set->hash;
	if (known)
		node_set_free(node_set);
	else
		c->node_set[c->n++] = *node_set;
}

static int try_fill(struct build *b, struct capacity *s, uint32_t domain,
		    enum distribution distribution, uint32_t chunk)
{
	struct node_set c;
	int rc = node_set_fill(s, domain, distribution, chunk, &c, b->err);

	if (rc == 1)
		candidates_add(b->out, &c);
	else
		node_set_free(&c);
	return rc < 0 ? -1 : 0;
}

static int try_flat(struct build *b, struct capacity *s, uint32_t domain)
{
	struct node_set c;
	int rc = node_set_flat(s, domain, &c, b->err);

	if (rc == 1)
		candidates_add(b->out, &c);
	else
		node_set_free(&c);
	return rc < 0 ? -1 : 0;
}

/* Every way of dealing the job to the parts of one domain. */
static int try_domain(struct build *b, struct capacity *s, uint32_t domain)
{
	if (try_fill(b, s, domain, DEAL_COMPACT, 0) ||
	    try_fill(b, s, domain, DEAL_EVEN, 0) ||
	    try_fill(b, s, domain, DEAL_PARTLY, 0))
		return -1;
	for (uint32_t i = 0; i < b->n_chunks; i++) {
		if (b->chunk[i] % s->unit)
			continue;
		if (try_fill(b, s, domain, DEAL_ALIGNED, b->chunk[i]))
			return -1;
	}
	if (b->job->min_nodes || b->job->max_nodes)
		return try_flat(b, s, domain);
	return 0;
}

/* Why a domain may be the best of its level: it is the tightest, it breaks the
 * fewest untouched nodes, its nodes give most each. */
static bool better_pick(const struct capacity *s, uint32_t kind, uint32_t a,
			uint32_t b)
{
	const uint64_t key[CANDIDATES_PICKS][2] = {
		{s->cap[a], s->cap[b]},
		{s->n_untouched[a], s->n_untouched[b]},
		{(uint64_t)s->n_givers[a] * s->cap[b],
		 (uint64_t)s->n_givers[b] * s->cap[a]},
	};

	if (key[kind][0] != key[kind][1])
		return key[kind][0] < key[kind][1];
	if (s->cap[a] != s->cap[b])
		return s->cap[a] < s->cap[b];
	if (s->n_untouched[a] != s->n_untouched[b])
		return s->n_untouched[a] < s->n_untouched[b];
	return s->shape[a] < s->shape[b];
}

uint32_t candidates_pick(const struct capacity *s, uint32_t level,
			 uint32_t out[CANDIDATES_PICKS])
{
	const struct weft_level *l = &s->f->levels[level];
	uint32_t best[CANDIDATES_PICKS], n = 0;
	uint64_t before = 0;

	if (s->cap_most[level] < s->job->n_gpus)
		return 0;
	for (uint32_t k = 0; k < CANDIDATES_PICKS; k++)
		best[k] = WEFT_NONE;
	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t d = l->first_domain + i;

		/* most domains of a level are alike, and the first is as good
		 */
		if (s->shape[d] == before || !capacity_holds(s, d))
			continue;
		before = s->shape[d];
		for (uint32_t k = 0; k < CANDIDATES_PICKS; k++)
			if (best[k] == WEFT_NONE ||
			    (s->shape[d] != s->shape[best[k]] &&
			     better_pick(s, k, d, best[k])))
				best[k] = d;
	}
	for (uint32_t k = 0; k < CANDIDATES_PICKS; k++) {
		bool known = best[k] == WEFT_NONE;

		for (uint32_t i = 0; i < n; i++)
			known |= out[i] == best[k];
		if (!known)
			out[n++] = best[k];
	}
	return n;
}

/* The domains of one capacity, from the innermost level that holds the job. */
static int try_capacity(struct build *b, struct capacity *s)
{
	uint32_t domain[CANDIDATES_PICKS], n, beyond = 0;

	for (uint32_t level = b->f->node_level; level < b->f->n_levels;
	     level++) {
		n = candidates_pick(s, level, domain);
		for (uint32_t i = 0; i < n; i++)
			if (try_domain(b, s, domain[i]))
				return -1;
		if (n && beyond++ == LEVELS_BEYOND)
			break;
	}
	return 0;
}

static int try_unit(struct build *b, uint32_t unit, uint32_t min_give)
{
	struct capacity s;
	int rc = -1;

	if (capacity_suits(b->single, unit, min_give)) {
		b->single->unit = unit;
		rc = try_capacity(b, b->single);
		b->single->unit = 1;
		return rc;
	}
	if (capacity_build(b->f, b->job, b->o, unit, min_give, &s, b->err) == 0)
		rc = try_capacity(b, &s);
	capacity_free(&s);
	return rc;
}

/* Nodes of one size alone; required ones of any. */
static int try_size(struct build *b, uint32_t size, uint32_t unit)
{
	struct weft_occupancy o = *b->o;
	struct capacity s = {0};
	int rc = -1;

	o.usable = weft_calloc(b->f->n_nodes, sizeof(*o.usable), b->err);
	if (!o.usable)
		return -1;
	for (uint32_t i = 0; i < b->f->n_nodes; i++)
		if (b->f->nodes[i].n_gpus == size ||
		    (o.required && weft_bitset_has(o.required, i)))
			o.usable[i] = b->o->usable[i];
	if (capacity_build(b->f, b->job, &o, unit, 0, &s, b->err) == 0)
		rc = try_capacity(b, &s);
	capacity_free(&s);
	free(o.usable);
	return rc;
}

/* Where nodes come in a few sizes: sets that do not mix them. */
static int try_sizes(struct build *b)
{
	uint64_t sizes = b->single->sizes;
	uint32_t k;

	if (weft_mask_count(sizes) < 2 || weft_mask_count(sizes) > MAX_SIZES)
		return 0;
	weft_mask_foreach (k, sizes) {
		uint32_t tp = b->job->spec.tp ? b->job->spec.tp : 1;
		uint32_t unit = node_set_divisor(tp, k + 1);

		if (b->job->gpus_per_node)
			unit = b->job->gpus_per_node;
		if (b->job->n_gpus % unit == 0 && try_size(b, k + 1, unit))
			return -1;
	}
	return 0;
}

/* The same share of every domain, from the innermost level outwards. */
static int try_equal(struct build *b)
{
	struct capacity *s = b->single;
	uint32_t share = b->job->gpus_per_node, beyond = 0;

	if (!share)
		share = s->give_most;
	for (uint32_t l = b->f->node_level; l < b->f->n_levels; l++) {
		uint32_t domain[CANDIDATES_PICKS];

		if (candidates_equal(s, b->chunk, b->n_chunks, share, l, false,
				     b->out, b->err))
			return -1;
		if (candidates_pick(s, l, domain) && beyond++ == LEVELS_BEYOND)
			break;
	}
	return 0;
}

/* Looking at nodes alone finds a choice whenever there is one. */
static int try_everything(struct build *b)
{
	uint32_t level = b->job->within_level;
	const struct weft_level *l;

	if (level == WEFT_NONE)
		level = b->f->n_levels - 1;
	l = &b->f->levels[level];
	for (uint32_t i = 0; i < l->n_domains && !b->out->n; i++) {
		if (!capacity_holds(b->single, l->first_domain + i))
			continue;
		if (try_flat(b, b->single, l->first_domain + i))
			return -1;
	}
	return 0;
}

/* Free GPUs of a domain inside a node, and its node. */
static uint32_t free_inside(const struct build *b, uint32_t domain,
			    uint32_t *node)
{
	const struct weft_domain *d = &b->f->domains[domain];
	uint64_t mask;

	*node = b->f->gpu_node[d->first_gpu];
	mask = weft_mask_first(d->n_gpus)
	       << (d->first_gpu - b->f->nodes[*node].first_gpu);
	return weft_mask_count(b->o->free[*node] & mask);
}

/* The tightest NVLink domain inside a node that holds the job: its node. */
static int try_inside_nodes(struct build *b)
{
	const struct weft_level *l = &b->f->levels[0];
	uint32_t best = WEFT_NONE, best_size = WEFT_NONE, node;
	uint32_t n = b->job->n_gpus;
	struct node_set c = {0};

	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t size = free_inside(b, l->first_domain + i, &node);

		if (size < n || size >= best_size ||
		    b->single->give[node] < n ||
		    (b->o->required && !weft_bitset_has(b->o->required, node)))
			continue;
		best = node;
		best_size = size;
	}
	if (best == WEFT_NONE)
		return 0;
	c.node = weft_calloc(1, sizeof(*c.node), b->err);
	c.count = weft_calloc(1, sizeof(*c.count), b->err);
	if (!c.node || !c.count) {
		node_set_free(&c);
		return -1;
	}
	node_set_add(&c, best, n);
	if (node_set_valid(&c, b->single))
		candidates_add(b->out, &c);
	else
		node_set_free(&c);
	return 0;
}

int candidates_build(struct capacity *single, struct candidates *c,
		     struct weft_error *err)
{
	const struct weft_job *job = single->job;
	struct build b = {
		.f = single->f,
		.job = job,
		.o = single->o,
		.single = single,
		.out = c,
		.err = err,
	};
	uint32_t unit[MAX_UNITS], n, most = job->max_nodes;

	memset(c, 0, sizeof(*c));
	if (b.f->node_level > 0 && try_inside_nodes(&b))
		return -1;
	if (job->within_level < b.f->node_level)
		return 0;
	find_chunks(&b);
	n = find_units(&b, unit);
	for (uint32_t i = 0; i < n; i++) {
		/* nodes that give their part of the job are few enough */
		uint32_t part = most ? (job->n_gpus + most - 1) / most : 0;

		if (part && try_unit(&b, unit[i], part))
			return -1;
		/* nothing new where all nodes give so much */
		if (part && capacity_suits(single, unit[i], part))
			continue;
		if (try_unit(&b, unit[i], 0))
			return -1;
	}
	if (try_equal(&b) || try_sizes(&b))
		return -1;
	return c->n ? 0 : try_everything(&b);
}

/* Whether a set has the nodes of the answer, which are marked. */
static bool is_same_set(const struct node_set *c, const uint64_t *marked,
			uint32_t n_marked)
{
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (!weft_bitset_has(marked, c->node[i]))
			return false;
	return c->n_nodes == n_marked;
}

static int record_next(const struct node_set *node_set, double cost,
		       struct weft_placement *p, struct weft_error *err)
{
	p->next = weft_calloc(node_set->n_nodes, sizeof(*p->next), err);
	if (!p->next)
		return -1;
	p->n_next = node_set->n_nodes;
	memcpy(p->next, node_set->node, p->n_next * sizeof(*p->next));
	qsort(p->next, p->n_next, sizeof(*p->next), weft_compare_numbers);
	p->next_cost = cost;
	return 0;
}

int candidates_next(const struct candidates *c, const struct weft_fabric *f,
		    struct weft_placement *p, uint32_t n_ranks,
		    struct weft_error *err)
{
	size_t n_words = weft_bitset_words(f->n_nodes);
	uint64_t *marked = weft_calloc(n_words, sizeof(*marked), err);
	uint32_t n_marked, i = 0;
	int rc = 0;

	if (!marked)
		return -1;
	for (uint32_t r = 0; r < n_ranks; r++)
		weft_bitset_add(marked, f->gpu_node[p->where[r]]);
	n_marked = weft_bitset_count(marked, f->n_nodes);
	while (i < c->n_priced &&
	       is_same_set(&c->node_set[c->order[i]], marked, n_marked))
		i++;
	if (i < c->n_priced)
		rc = record_next(&c->node_set[c->order[i]],
				 c->cost[c->order[i]], p, err);
	free(marked);
	return rc;
}

void candidates_free(struct candidates *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		node_set_free(&c->node_set[i]);
	c->n = 0;
}

/* The level at which the nodes of a set meet. */
static uint32_t level_of(const struct weft_fabric *f, const struct node_set *c)
{
	uint32_t low = c->node[0], high = low;

	for (uint32_t i = 1; i < c->n_nodes; i++) {
		low = c->node[i] < low ? c->node[i] : low;
		high = c->node[i] > high ? c->node[i] : high;
	}
	return weft_fabric_meet(f, f->nodes[low].first_gpu,
				f->nodes[high].first_gpu);
}

void candidates_leave_out(const struct candidates *c,
			  const struct weft_fabric *f, bool out[CANDIDATES_MAX])
{
	uint32_t most = 0, level[CANDIDATES_MAX], least = WEFT_MAX_LEVELS;

	for (uint32_t i = 0; i < c->n; i++)
		most = c->block[i] > most ? c->block[i] : most;
	for (uint32_t i = 0; i < c->n; i++) {
		level[i] = level_of(f, &c->node_set[i]);
		if (c->block[i] == most && level[i] < least)
			least = level[i];
	}
	for (uint32_t i = 0; i < c->n; i++)
		out[i] = c->block[i] < most && level[i] >= least;
}
