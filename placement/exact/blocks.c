/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.c - ranks that stay together, and the boxes they can go into */
#include "placement/exact/blocks.h"

#include "base/bitset.h"
#include "placement/mapping/sites.h"

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

	/* those inside are in tree order */
	for (uint32_t i = 0; i < b->layer[layer - 1].n; i++) {
		uint32_t gpu = b->box[b->layer[layer - 1].first + i].gpu;

		if (f->gpu_domain[level][gpu] == last)
			continue;
		last = f->gpu_domain[level][gpu];
		add_box(b, layer, 0, gpu);
	}
}

/* NVLink domains of several nodes: a block may lie on any of them. */
static void add_wide(struct blocks *b, uint32_t layer)
{
	const struct weft_fabric *f = b->s->f;
	const struct weft_level *l = &f->levels[0];

	for (uint32_t d = l->first_domain; d < l->first_domain + l->n_domains;
	     d++)
		if (b->s->cap[d] >= b->unit)
			add_box(b, layer, b->s->cap[d] / b->unit,
				f->domains[d].first_gpu);
}

/* True when a box of the upper layer holds one of the lower. */
static bool holds(const struct blocks *b, uint32_t upper, uint32_t gpu,
		  uint32_t other)
{
	const struct weft_fabric *f = b->s->f;

	if (upper == b->node_layer)
		return f->gpu_node[gpu] == f->gpu_node[other];
	if (b->node_layer != WEFT_NONE && upper < b->node_layer)
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
		if (b->node_layer != WEFT_NONE && lower + 1 <= b->node_layer)
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

static bool spans_nodes(const struct blocks *b)
{
	const struct weft_fabric *f = b->s->f;

	return b->unit > 1 && f->node_level == 0 &&
	       f->levels[0].n_domains < f->n_nodes;
}

static void add_layers(struct blocks *b)
{
	const struct weft_fabric *f = b->s->f;
	uint32_t n = 0, level = f->node_level;

	b->node_layer = WEFT_NONE;
	if (spans_nodes(b)) {
		add_wide(b, n++);
		level = 1;
	} else {
		if (f->n_rails > 1 && b->unit == 1)
			add_gpus(b, n++);
		add_parts(b, n++);
		b->node_layer = n++;
		b->layer[b->node_layer].level = level;
		add_nodes(b, b->node_layer);
	}
	for (; level < f->n_levels; level++, n++) {
		b->layer[n].level = level;
		add_domains(b, n, level);
	}
	b->n_layers = n;
}

/* The layer whose boxes are the domains of a level. */
static uint32_t layer_of(const struct blocks *b, uint32_t level)
{
	uint32_t at = WEFT_NONE;

	if (level == WEFT_NONE)
		return WEFT_NONE;
	for (uint32_t i = 0; i < b->n_layers; i++)
		if (b->layer[i].level == level && i != b->node_layer)
			at = i;
	return at;
}

static void build_layers(struct blocks *b)
{
	const struct weft_fabric *f = b->s->f;

	add_layers(b);
	b->within_layer = layer_of(b, b->s->job->within_level);
	for (uint32_t i = 0; i < b->n_layers; i++) {
		b->layer[i].distance =
			least(f, b->layer[i].level, b->s->job->spec.metric);
		if (i + 1 < b->n_layers)
			join_layers(b, i);
	}
	for (uint32_t i = b->layer[b->n_layers - 1].first; i < b->n_boxes; i++)
		b->box[i].shape = mix(b->box[i].shape);
	find_twins(b);
}

static uint32_t count_boxes(const struct capacity *s)
{
	const struct weft_fabric *f = s->f;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		n += 1 + 2 * weft_mask_count(s->o->free[i]);
	return n + f->n_domains + f->n_nodes;
}

static void distribute_ranks(struct blocks *b, const uint32_t *group,
			     uint32_t *n_dealt)
{
	memset(n_dealt, 0, b->n * sizeof(*n_dealt));
	for (uint32_t r = 0; r < b->n * b->unit; r++) {
		uint32_t k = group[r];

		b->rank[k * b->unit + n_dealt[k]++] = r;
	}
}

int blocks_build(const struct capacity *s, const uint32_t *group, uint32_t n,
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
	distribute_ranks(b, group, n_dealt);
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

/* The GPUs of a bin that may be used, in order; at most room of them. */
static uint32_t list_gpus(const struct blocks *b, const struct box *box,
			  uint32_t *gpu, uint32_t room)
{
	const struct weft_fabric *f = b->s->f;
	uint32_t node = f->gpu_node[box->gpu], last = node + 1, n = 0, k;

	if (!box->mask) {
		const struct weft_domain *d =
			&f->domains[f->gpu_domain[0][box->gpu]];

		last = d->first_node + d->n_nodes;
		node = d->first_node;
	}
	for (; node < last; node++) {
		uint64_t rest = box->mask ? box->mask : b->s->o->free[node];
		uint32_t left = b->s->give[node];

		weft_mask_foreach (k, rest) {
			if (!left-- || n == room)
				break;
			gpu[n++] = f->nodes[node].first_gpu + k;
		}
	}
	return n;
}

int blocks_spread(const struct blocks *b, const uint32_t *bin, uint32_t *where,
		  struct weft_error *err)
{
	uint32_t room = b->n * b->unit;
	uint32_t *gpu = weft_calloc(room, sizeof(*gpu), err);

	if (!gpu)
		return -1;
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t first = 0;

		list_gpus(b, &b->box[bin[k]], gpu, room);
		for (uint32_t i = 0; i < k; i++)
			first += bin[i] == bin[k] ? b->unit : 0;
		memcpy(where + (size_t)k * b->unit, gpu + first,
		       b->unit * sizeof(*where));
	}
	memcpy(gpu, where, room * sizeof(*gpu));
	for (uint32_t i = 0; i < room; i++)
		where[b->rank[i]] = gpu[i];
	free(gpu);
	return 0;
}

static uint32_t bin_of(const struct blocks *b, uint32_t gpu)
{
	const struct weft_fabric *f = b->s->f;
	uint32_t node = f->gpu_node[gpu];
	uint64_t bit = UINT64_C(1) << (gpu - f->nodes[node].first_gpu);

	for (uint32_t i = 0; i < blocks_bins(b); i++) {
		const struct box *box = &b->box[i];

		if (box->mask ? box->mask & bit && f->gpu_node[box->gpu] == node
			      : f->gpu_domain[0][box->gpu] ==
					f->gpu_domain[0][gpu])
			return i;
	}
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
