/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.c - ranks that stay together, and the boxes they can go into */
#include "placement/blocks.h"

#include "placement/sites.h"
#include "topology/bitset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The usable GPUs of a node that share an NVLink domain with the first of
 * `rest`. */
static uint64_t part_of(const struct weft_fabric *f, uint32_t node,
			uint64_t rest)
{
	uint32_t gpu = f->nodes[node].first_gpu, i;
	uint32_t domain =
		f->gpu_domain[0][gpu + (uint32_t)__builtin_ctzll(rest)];
	uint64_t part = 0;

	weft_mask_foreach (i, rest)
		if (f->gpu_domain[0][gpu + i] == domain)
			part |= UINT64_C(1) << i;
	return part;
}

static struct box *add_box(struct blocks *b, uint32_t layer, uint32_t cap,
			   uint32_t gpu)
{
	struct box *box = &b->box[b->n_boxes];

	if (!b->layer[layer].n++)
		b->layer[layer].first = b->n_boxes;
	*box = (struct box){
		.parent = WEFT_NONE, .cap = cap, .gpu = gpu, .twin = WEFT_NONE};
	b->n_boxes++;
	return box;
}

/* A node gives nothing where it cannot hold a block. */
static uint32_t node_cap(const struct blocks *b, uint32_t node)
{
	uint32_t cap = b->s->give[node] / b->unit;

	return b->s->job->gpus_per_node && b->s->job->gpus_per_node % b->unit
		       ? 0
		       : cap;
}

static uint32_t part_cap(const struct blocks *b, uint32_t node, uint64_t part)
{
	uint32_t n = weft_mask_count(part) / b->unit;
	uint32_t most = node_cap(b, node);

	return n < most ? n : most;
}

/* Single GPUs, where rails tell them apart. */
static void add_gpus(struct blocks *b, uint32_t layer)
{
	const struct weft_fabric *f = b->s->f;
	uint32_t k;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint64_t rest = b->s->o->free[i];

		if (!node_cap(b, i))
			continue;
		weft_mask_foreach (k, rest) {
			uint32_t gpu = f->nodes[i].first_gpu + k;
			struct box *box = add_box(b, layer, 1, gpu);

			box->mask = UINT64_C(1) << k;
			box->shape = mix(1 + weft_fabric_rail(f, gpu));
		}
	}
}

static void add_parts(struct blocks *b, uint32_t layer)
{
	const struct weft_fabric *f = b->s->f;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint64_t rest = b->s->o->free[i], part;

		for (; rest; rest &= ~part) {
			uint32_t k = (uint32_t)__builtin_ctzll(rest), cap;
			struct box *box;

			part = part_of(f, i, rest);
			cap = part_cap(b, i, part);
			if (!cap)
				continue;
			box = add_box(b, layer, cap, f->nodes[i].first_gpu + k);
			box->mask = part;
		}
	}
}

/* What the NVLink domains of a node can take together. */
static uint32_t parts_cap(const struct blocks *b, uint32_t node)
{
	uint64_t rest = b->s->o->free[node], part;
	uint32_t cap = 0, most = node_cap(b, node);

	for (; rest; rest &= ~part) {
		part = part_of(b->s->f, node, rest);
		cap += part_cap(b, node, part);
	}
	return cap < most ? cap : most;
}

static void add_nodes(struct blocks *b, uint32_t layer)
{
	const struct weft_fabric *f = b->s->f;
	const struct weft_occupancy *o = b->s->o;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t cap = parts_cap(b, i);
		struct box *box;

		if (!cap)
			continue;
		box = add_box(b, layer, cap,
			      f->nodes[i].first_gpu +
				      (uint32_t)__builtin_ctzll(o->free[i]));
		box->n_required =
			o->required && weft_bitset_has(o->required, i);
	}
}

static void add_domains(struct blocks *b, uint32_t layer, uint32_t level)
{
	const struct weft_fabric *f = b->s->f;
	uint32_t last = WEFT_NONE;

	/* nodes are in tree order */
	for (uint32_t i = 0; i < b->layer[b->node_layer].n; i++) {
		uint32_t gpu = b->box[b->layer[b->node_layer].first + i].gpu;

		if (f->gpu_domain[level][gpu] == last)
			continue;
		last = f->gpu_domain[level][gpu];
		add_box(b, layer, 0, gpu);
	}
}

/* True when a box of the upper layer holds one of the lower. */
static bool holds(const struct blocks *b, uint32_t upper, uint32_t gpu,
		  uint32_t other)
{
	const struct weft_fabric *f = b->s->f;

	if (upper == b->node_layer)
		return f->gpu_node[gpu] == f->gpu_node[other];
	if (upper < b->node_layer)
		return f->gpu_node[gpu] == f->gpu_node[other] &&
		       f->gpu_domain[0][gpu] == f->gpu_domain[0][other];
	return f->gpu_domain[b->layer[upper].level][gpu] ==
	       f->gpu_domain[b->layer[upper].level][other];
}

/* Parents, capacities, shapes; both layers are in tree order. */
static void join_layers(struct blocks *b, uint32_t lower)
{
	const struct layer *low = &b->layer[lower], *up = low + 1;
	uint32_t at = up->first;

	for (uint32_t i = low->first; i < low->first + low->n; i++) {
		struct box *box = &b->box[i];

		box->shape = mix(box->shape +
				 mix(box->cap * UINT64_C(2) + box->n_required) +
				 lower);
		while (!holds(b, lower + 1, b->box[at].gpu, box->gpu))
			at++;
		box->parent = at;
		b->box[at].shape += box->shape;
		if (lower + 1 <= b->node_layer)
			continue;
		b->box[at].cap += box->cap;
		b->box[at].n_required += box->n_required;
	}
}

/* Siblings of equal shape are twins, each with the one before it. */
static void find_twins(struct blocks *b)
{
	for (uint32_t i = 0; i < b->n_boxes; i++) {
		struct box *box = &b->box[i];
		uint32_t k = i;

		while (k > 0 && b->box[k - 1].parent == box->parent) {
			k--;
			if (b->box[k].shape != box->shape ||
			    b->box[k].cap != box->cap)
				continue;
			box->twin = k;
			break;
		}
	}
}

static double least(const struct weft_fabric *f, uint32_t level,
		    enum weft_metric metric)
{
	double d = sites_metric(&f->distance[level][0], metric);

	if (level && f->n_rails > 1)
		d = fmin(d, sites_metric(&f->distance[level][1], metric));
	return d;
}

static void build_layers(struct blocks *b)
{
	const struct weft_fabric *f = b->s->f;
	const struct weft_job *job = b->s->job;
	enum weft_metric metric = job->spec.metric;
	uint32_t n = 0;

	if (f->n_rails > 1 && b->unit == 1)
		add_gpus(b, n++);
	add_parts(b, n++);
	b->node_layer = n++;
	b->layer[b->node_layer].level = f->node_level;
	add_nodes(b, b->node_layer);
	for (uint32_t l = f->node_level; l < f->n_levels; l++, n++) {
		b->layer[n].level = l;
		add_domains(b, n, l);
	}
	b->n_layers = n;
	b->within_layer = WEFT_NONE;
	for (uint32_t i = 0; i < n; i++) {
		b->layer[i].distance = least(f, b->layer[i].level, metric);
		if (b->layer[i].level == job->within_level &&
		    (i > b->node_layer || job->within_level < f->node_level))
			b->within_layer = i;
		if (i + 1 < n)
			join_layers(b, i);
	}
	for (uint32_t i = b->layer[n - 1].first; i < b->n_boxes; i++)
		b->box[i].shape = mix(b->box[i].shape);
	find_twins(b);
}

static uint32_t count_boxes(const struct supply *s)
{
	const struct weft_fabric *f = s->f;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		n += 1 + 2 * weft_mask_count(s->o->free[i]);
	return n + f->n_domains + f->n_nodes;
}

static void deal_ranks(struct blocks *b, const uint32_t *group,
		       uint32_t *n_dealt)
{
	memset(n_dealt, 0, b->n * sizeof(*n_dealt));
	for (uint32_t r = 0; r < b->n * b->unit; r++) {
		uint32_t k = group[r];

		b->rank[k * b->unit + n_dealt[k]++] = r;
	}
}

int blocks_build(const struct supply *s, const uint32_t *group, uint32_t n,
		 struct blocks *b, struct weft_error *err)
{
	const struct weft_job *job = s->job;
	struct graph ranks = {0};
	uint32_t *n_dealt = weft_calloc(n, sizeof(*n_dealt), err);
	int rc = -1;

	memset(b, 0, sizeof(*b));
	b->s = s;
	b->n = n;
	b->unit = job->n_gpus / n;
	b->rank = weft_calloc(job->n_gpus, sizeof(*b->rank), err);
	b->box = weft_calloc(count_boxes(s), sizeof(*b->box), err);
	if (!n_dealt || !b->rank || !b->box ||
	    graph_build(&job->traffic, &ranks, err) ||
	    graph_contract(&ranks, group, n, &b->g, err))
		goto out;
	build_layers(b);
	deal_ranks(b, group, n_dealt);
	b->base = b->g.inside * least(s->f, 0, job->spec.metric);
	b->exact = !job->traffic.n_switches &&
		   (s->f->n_rails == 1 || b->unit == 1);
	rc = 0;
out:
	graph_free(&ranks);
	free(n_dealt);
	return rc;
}

void blocks_free(struct blocks *b)
{
	free(b->rank);
	free(b->box);
	graph_free(&b->g);
	memset(b, 0, sizeof(*b));
}

double blocks_distance(const struct blocks *b, uint32_t bin, uint32_t other)
{
	const struct weft_fabric *f = b->s->f;
	enum weft_metric metric = b->s->job->spec.metric;
	uint32_t level, cross;

	if (bin == other)
		return b->layer[0].distance;
	level = weft_fabric_relation(f, b->box[bin].gpu, b->box[other].gpu,
				     &cross);
	if (level >= f->n_levels)
		return (double)INFINITY;
	if (b->unit > 1)
		return least(f, level, metric);
	return sites_metric(&f->distance[level][cross], metric);
}

uint32_t blocks_around(const struct blocks *b, uint32_t bin, uint32_t layer)
{
	for (uint32_t l = 0; l < layer; l++)
		bin = b->box[bin].parent;
	return bin;
}

/* Blocks of a bin take its GPUs in order. */
void blocks_spread(const struct blocks *b, const uint32_t *bin, uint32_t *where)
{
	const struct weft_fabric *f = b->s->f;

	for (uint32_t k = 0; k < b->n; k++) {
		const struct box *box = &b->box[bin[k]];
		uint32_t node = f->gpu_node[box->gpu];
		uint64_t rest = box->mask;

		for (uint32_t i = 0; i < k; i++)
			for (uint32_t u = 0; bin[i] == bin[k] && u < b->unit;
			     u++)
				rest &= rest - 1;
		for (uint32_t u = 0; u < b->unit; u++, rest &= rest - 1)
			where[b->rank[k * b->unit + u]] =
				f->nodes[node].first_gpu +
				(uint32_t)__builtin_ctzll(rest);
	}
}

static uint32_t bin_of(const struct blocks *b, uint32_t gpu)
{
	const struct weft_fabric *f = b->s->f;
	uint32_t node = f->gpu_node[gpu];
	uint64_t bit = UINT64_C(1) << (gpu - f->nodes[node].first_gpu);

	for (uint32_t i = 0; i < blocks_bins(b); i++)
		if (b->box[i].mask & bit && f->gpu_node[b->box[i].gpu] == node)
			return i;
	return WEFT_NONE;
}

bool blocks_gather(const struct blocks *b, const uint32_t *where, uint32_t *bin)
{
	for (uint32_t k = 0; k < b->n; k++) {
		bin[k] = bin_of(b, where[b->rank[k * b->unit]]);
		for (uint32_t u = 0; u < b->unit; u++)
			if (bin[k] == WEFT_NONE ||
			    bin_of(b, where[b->rank[k * b->unit + u]]) !=
				    bin[k])
				return false;
	}
	return true;
}
