/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric.c - asking a fabric: names, distances; and its end */
#include "topology/fabric.h"

#include "base/arena.h"
#include "base/suggest.h"
#include "topology/cabling.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_shape_names[WEFT_N_SHAPES] = {
	[WEFT_SHAPE_SWITCHED] = "switched",
	[WEFT_SHAPE_RING] = "ring",
	[WEFT_SHAPE_TORUS] = "torus",
	[WEFT_SHAPE_GROUPS] = "groups",
};

const char *const weft_routing_names[WEFT_N_ROUTINGS] = {
	[WEFT_ROUTING_ADAPTIVE] = "adaptive",
	[WEFT_ROUTING_ECMP] = "ecmp",
	[WEFT_ROUTING_STATIC] = "static",
};

void weft_fabric_free(struct weft_fabric *f)
{
	struct weft_arena arena;

	if (!f)
		return;
	arena.chunk = f->memory;
	weft_arena_free(&arena);
	weft_cabling_free(f->cabling);
	free(f);
}

/* The node whose name is text[0..length), or WEFT_NONE. */
static uint32_t node_find(const struct weft_fabric *f, const char *text,
			  size_t length)
{
	uint32_t low = 0, high = f->n_nodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *name = f->nodes[f->by_name[middle]].name;
		int order = strncmp(text, name, length);

		if (!order && name[length])
			order = -1;
		if (!order)
			return f->by_name[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return WEFT_NONE;
}

uint32_t weft_fabric_node(const struct weft_fabric *f, const char *name)
{
	return node_find(f, name, strlen(name));
}

uint32_t weft_fabric_segment_level(const struct weft_fabric *f)
{
	for (uint32_t l = f->node_level; l < f->n_levels; l++)
		if (f->levels[l].n_domains < f->n_nodes)
			return l;
	return f->n_levels - 1;
}

uint32_t weft_fabric_level(const struct weft_fabric *f, const char *name)
{
	for (uint32_t l = 0; l < f->n_levels; l++)
		if (strcmp(f->levels[l].name, name) == 0)
			return l;
	if (strcmp(name, "node") == 0 &&
	    f->levels[f->node_level].n_domains == f->n_nodes)
		return f->node_level;
	return WEFT_NONE;
}

/* A decimal number below `limit`, or WEFT_NONE. */
static uint32_t index_read(const char *text, uint32_t limit)
{
	uint64_t value = 0;

	if (!*text)
		return WEFT_NONE;
	for (; isdigit((unsigned char)*text) && value < limit; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return *text || value >= limit ? WEFT_NONE : (uint32_t)value;
}

/* The node's name nearest to an unknown one; only for messages, hence the
 * table is made when it is needed. */
static const char *node_nearest(const struct weft_fabric *f, const char *text)
{
	const char **known = weft_calloc(f->n_nodes, sizeof(*known), NULL);
	const char *nearest = NULL;

	if (known) {
		for (uint32_t k = 0; k < f->n_nodes; k++)
			known[k] = f->nodes[f->by_name[k]].name;
		nearest = weft_suggest(text, known, f->n_nodes);
	}
	free(known);
	return nearest ? nearest : "";
}

uint32_t weft_fabric_find(const struct weft_fabric *f, const char *name,
			  struct weft_error *err)
{
	uint32_t node = weft_fabric_node(f, name);

	if (node == WEFT_NONE)
		weft_fail(err, WEFT_EINVAL,
			  "unknown node \"%.70s\": the nearest of the fabric "
			  "is \"%s\"",
			  name, node_nearest(f, name));
	return node;
}

uint32_t weft_fabric_numbered(const struct weft_fabric *f, uint32_t node,
			      uint32_t number)
{
	uint32_t gpu = f->nodes[node].first_gpu;

	if (!f->gpu_number)
		return gpu + number;
	while (f->gpu_number[gpu] != number)
		gpu++;
	return gpu;
}

/* A mask of the node's GPUs by place as one by number, or the other way. */
static uint64_t mask_turn(const struct weft_fabric *f, uint32_t node,
			  uint64_t mask, bool to_numbers)
{
	const struct weft_node *n = &f->nodes[node];
	uint64_t turned = 0;

	if (!f->gpu_number)
		return mask;
	for (uint32_t k = 0; k < n->n_gpus; k++) {
		uint32_t number = f->gpu_number[n->first_gpu + k];

		turned |= to_numbers ? (mask >> k & 1) << number
				     : (mask >> number & 1) << k;
	}
	return turned;
}

uint64_t weft_fabric_places(const struct weft_fabric *f, uint32_t node,
			    uint64_t numbers)
{
	return mask_turn(f, node, numbers, false);
}

uint64_t weft_fabric_numbers(const struct weft_fabric *f, uint32_t node,
			     uint64_t places)
{
	return mask_turn(f, node, places, true);
}

int weft_fabric_gpu(const struct weft_fabric *f, const char *text,
		    uint32_t *gpu, struct weft_error *err)
{
	size_t length = strcspn(text, ":");
	uint32_t node = node_find(f, text, length), index = 0;

	if (node == WEFT_NONE) {
		*gpu = index_read(text, f->n_gpus);
		if (*gpu != WEFT_NONE)
			return 0;
		return weft_fail(err, WEFT_EINVAL,
				 "unknown GPU \"%.70s\"; expected NODE, "
				 "NODE:GPU or an index below %u (the nearest "
				 "known node is \"%s\")",
				 text, f->n_gpus, node_nearest(f, text));
	}
	if (text[length])
		index = index_read(text + length + 1, f->nodes[node].n_gpus);
	if (index == WEFT_NONE)
		return weft_fail(err, WEFT_EINVAL,
				 "\"%.70s\": node %s has %u GPUs; expected "
				 "%s:0 to %s:%u",
				 text, f->nodes[node].name,
				 f->nodes[node].n_gpus, f->nodes[node].name,
				 f->nodes[node].name,
				 f->nodes[node].n_gpus - 1);
	*gpu = weft_fabric_numbered(f, node, index);
	return 0;
}

static uint32_t ring_steps(uint32_t a, uint32_t b, uint32_t n)
{
	uint32_t forth = a < b ? b - a : a - b;

	return forth < n - forth ? forth : n - forth;
}

uint32_t weft_fabric_steps(const struct weft_fabric *f, uint32_t level,
			   uint32_t a, uint32_t b)
{
	const struct weft_level *l = &f->levels[level];
	const struct weft_domain *domain;
	uint32_t x, y, steps = 0;

	if (l->shape != WEFT_SHAPE_RING && l->shape != WEFT_SHAPE_TORUS)
		return 0;
	domain = &f->domains[f->gpu_domain[level][a]];
	x = f->gpu_domain[level - 1][a] - domain->first_child;
	y = f->gpu_domain[level - 1][b] - domain->first_child;
	if (l->shape == WEFT_SHAPE_RING)
		steps = ring_steps(x, y, domain->n_children);
	for (uint32_t k = 0; l->shape == WEFT_SHAPE_TORUS && k < 3; k++) {
		steps += ring_steps(x % l->dims[k], y % l->dims[k], l->dims[k]);
		x /= l->dims[k];
		y /= l->dims[k];
	}
	return steps ? steps - 1 : 0;
}

double weft_fabric_rate_share(const struct weft_fabric *f, uint32_t level,
			      double size_bytes)
{
	const struct weft_level *l = &f->levels[level];
	const struct weft_rate_share *low, *high;
	uint32_t k = 0;

	if (!l->n_shares || !(size_bytes > 0))
		return 1;
	while (k < l->n_shares && l->shares[k].size_bytes <= size_bytes)
		k++;
	if (k == 0 || k == l->n_shares)
		return l->shares[k ? k - 1 : 0].share;
	low = &l->shares[k - 1];
	high = &l->shares[k];
	return low->share + (high->share - low->share) *
				    log(size_bytes / low->size_bytes) /
				    log(high->size_bytes / low->size_bytes);
}

struct weft_distance weft_fabric_distance(const struct weft_fabric *f,
					  uint32_t a, uint32_t b)
{
	struct weft_distance d = {0};
	uint32_t cross_rail, level, further;

	if (a == b)
		return d;
	level = weft_fabric_relation(f, a, b, &cross_rail);
	if (level == f->n_levels)
		return (struct weft_distance){UINT32_MAX, HUGE_VAL, HUGE_VAL};
	d = f->distance[level][cross_rail];
	further = weft_fabric_further(f, level, a, b);
	d.hops += further;
	d.latency_s += further * f->levels[level].hop_latency_s;
	return d;
}
