/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_build.c - numbering a resolved draft in tree order
 *
 * From the top downwards every level is spread out into the slots of the level
 * below; a thing that skips levels fills one slot of each (a pass-through
 * domain).  Then domains are filled in from the bottom upwards.
 */
#include "base/append.h"
#include "base/compare.h"
#include "topology/fabric_draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GPUs of one node that do not share an NVLink domain talk over PCIe 5: NCCL's
 * constant for a gen5 x16 link, and the latency of a PCIe hop. */
static const struct weft_link node_link = {48e9, 2.0e-6, 1};

/* One level under construction: slot k is filled by things[k], whose slots of
 * the level below begin at first[k]. */
struct slots {
	uint32_t *things, *first;
	uint32_t n;
};

struct build {
	struct weft_draft *d;
	struct weft_fabric *f;
	uint32_t n_network;		   /* network levels, core included */
	struct slots net[WEFT_MAX_LEVELS]; /* network levels */
	struct slots base;		   /* NVLink domains of whole nodes */
	uint64_t n_slots;
	struct weft_arena memory; /* of the slots, and scratch */
};

static int slots_alloc(struct build *b, struct slots *s, uint32_t n)
{
	s->n = n;
	b->n_slots += n;
	if (b->n_slots > 2 * WEFT_MAX_GPUS)
		return weft_fail_at(b->d->err, WEFT_EINVAL, b->d->doc->source,
				    0, 0, "more than %u domains in a fabric",
				    2 * WEFT_MAX_GPUS);
	return WEFT_ARRAY(s->things, n, &b->memory, b->d->err) ||
			       WEFT_ARRAY(s->first, (size_t)n + 1, &b->memory,
					  b->d->err)
		       ? -1
		       : 0;
}

static uint32_t members_count(const struct weft_draft *d, uint32_t thing)
{
	uint32_t n = 0;

	for (uint32_t t = d->things[thing].first; t != WEFT_NONE;
	     t = d->things[t].next)
		n++;
	return n;
}

/* The things that have no parent, in the order of the file: the top level. */
static int tops_list(struct build *b, struct slots *s)
{
	const struct weft_draft *d = b->d;
	uint32_t n = 0;

	for (uint32_t t = 0; t < d->n_things; t++)
		n += d->things[t].parent == WEFT_NONE;
	if (slots_alloc(b, s, n))
		return -1;
	n = 0;
	for (uint32_t t = 0; t < d->n_things; t++)
		if (d->things[t].parent == WEFT_NONE)
			s->things[n++] = t;
	return 0;
}

/* Spreads `above`, whose own things are of draft level `level`, out into
 * `below`: its members, or the thing itself where it is of a lower level. */
static int slots_spread(struct build *b, struct slots *above, uint32_t level,
			struct slots *below)
{
	const struct weft_draft *d = b->d;
	uint32_t n = 0;

	for (uint32_t k = 0; k < above->n; k++) {
		uint32_t thing = above->things[k];

		above->first[k] = n;
		n += d->things[thing].level == level ? members_count(d, thing)
						     : 1;
	}
	above->first[above->n] = n;
	if (slots_alloc(b, below, n))
		return -1;
	for (uint32_t k = 0; k < above->n; k++) {
		uint32_t thing = above->things[k], slot = above->first[k];

		if (d->things[thing].level != level) {
			below->things[slot] = thing;
			continue;
		}
		for (uint32_t t = d->things[thing].first; t != WEFT_NONE;
		     t = d->things[t].next)
			below->things[slot++] = t;
	}
	return 0;
}

/* The level that joins several domains of the topmost level of the file. */
static int core_add(struct build *b, struct slots *core, struct slots *tops)
{
	if (slots_alloc(b, core, 1))
		return -1;
	core->things[0] = WEFT_NONE;
	core->first[1] = tops->n;
	return 0;
}

/* Slots of every level, from the top to the nodes. */
static int slots_build(struct build *b)
{
	const struct weft_draft *d = b->d;
	uint32_t level = d->n_levels;
	struct slots *top = level ? &b->net[level - 1] : &b->base;

	b->n_network = d->n_levels;
	if (tops_list(b, top))
		return -1;
	if (top->n > 1 && !d->disjoint &&
	    core_add(b, &b->net[b->n_network++], top))
		return -1;
	while (level-- > 0)
		if (slots_spread(b, &b->net[level], DRAFT_NETWORK + level,
				 level ? &b->net[level - 1] : &b->base))
			return -1;
	return 0;
}

static void node_fill(struct build *b, uint32_t thing)
{
	const struct weft_draft_thing *source = &b->d->things[thing];
	struct weft_fabric *f = b->f;
	struct weft_node *node = &f->nodes[f->n_nodes];

	node->name = source->name;
	node->first_gpu = f->n_gpus;
	node->n_gpus = source->n_gpus;
	node->rack = source->rack;
	node->order = thing;
	node->kind = source->kind;
	b->d->index_of[thing] = f->n_nodes++;
	f->n_gpus += source->n_gpus;
}

/* Nodes in tree order; base.first becomes the first node of each slot. */
static int nodes_build(struct build *b)
{
	struct weft_draft *d = b->d;
	struct weft_fabric *f = b->f;

	d->index_of = weft_calloc(d->n_things, sizeof(*d->index_of), d->err);
	if (!d->index_of || WEFT_ARRAY(f->nodes, d->n_nodes, &d->arena, d->err))
		return -1;
	for (uint32_t k = 0; k < b->base.n; k++) {
		uint32_t thing = b->base.things[k];

		b->base.first[k] = f->n_nodes;
		if (d->things[thing].level == DRAFT_NODE)
			node_fill(b, thing);
		else
			for (uint32_t t = d->things[thing].first;
			     t != WEFT_NONE; t = d->things[t].next)
				node_fill(b, t);
	}
	b->base.first[b->base.n] = f->n_nodes;
	return 0;
}

/* Where some node counts its GPUs in another order than its NVLink domains. */
static int numbers_build(struct build *b)
{
	struct weft_draft *d = b->d;
	struct weft_fabric *f = b->f;
	uint32_t t = 0;

	while (t < d->n_nodes && !d->things[t].numbers)
		t++;
	if (t == d->n_nodes)
		return 0;
	if (WEFT_ARRAY(f->gpu_number, f->n_gpus, &d->arena, d->err))
		return -1;
	for (uint32_t k = 0; k < f->n_nodes; k++) {
		const uint8_t *own = d->things[f->nodes[k].order].numbers;

		uint8_t *number = f->gpu_number + f->nodes[k].first_gpu;

		for (uint32_t g = 0; g < f->nodes[k].n_gpus; g++)
			number[g] = own ? own[g] : (uint8_t)g;
	}
	return 0;
}

/* NVLink domains of node k. */
static uint32_t n_islands(const struct build *b, uint32_t k)
{
	const struct weft_node *node = &b->f->nodes[k];
	const struct weft_draft_thing *thing = &b->d->things[node->order];

	if (thing->islands)
		return thing->n_islands;
	return b->d->nvlink_gpus ? node->n_gpus / b->d->nvlink_gpus : 1;
}

/* Domains of level 0 where that is finer than nodes, else 0. */
static uint32_t split_count(const struct build *b)
{
	uint32_t n = 0;
	bool split = false;

	for (uint32_t k = 0; k < b->f->n_nodes; k++) {
		uint32_t own = n_islands(b, k);

		split = split || own > 1;
		n += own;
	}
	return split ? n : 0;
}

static void level_add(struct build *b, const char *name, struct weft_link link,
		      uint32_t hops, uint32_t n_domains)
{
	struct weft_fabric *f = b->f;
	struct weft_level *level = &f->levels[f->n_levels++];

	snprintf(level->name, sizeof(level->name), "%s", name);
	level->link = link;
	level->hops = hops;
	level->first_domain = f->n_domains;
	level->n_domains = n_domains;
	f->n_domains += n_domains;
}

static void levels_build(struct build *b)
{
	const struct weft_profile *profile = b->d->profile;
	uint32_t n_split = split_count(b);

	level_add(b, "nvlink", profile->link[0], 1,
		  n_split ? n_split : b->base.n);
	if (n_split) {
		level_add(b, "node", node_link, 2, b->f->n_nodes);
		b->f->node_level = 1;
	}
	for (uint32_t k = 0; k < b->n_network; k++) {
		uint32_t link =
			k + 1 < profile->n_links ? k + 1 : profile->n_links - 1;

		level_add(b, k < b->d->n_levels ? b->d->levels[k]->key : "core",
			  profile->link[link], 2 * (k + 1), b->net[k].n);
	}
	b->f->connected = b->f->levels[b->f->n_levels - 1].n_domains == 1;
}

/* Makes children first..last of the level below (or its nodes, at the lowest
 * level) a domain. */
static void domain_fill(struct weft_fabric *f, uint32_t level, uint32_t slot,
			const char *name, uint32_t first, uint32_t last)
{
	uint32_t index = f->levels[level].first_domain + slot;
	struct weft_domain *domain = &f->domains[index];

	domain->name = name;
	domain->level = level;
	domain->parent = WEFT_NONE;
	domain->first_child = f->levels[level - 1].first_domain + first;
	domain->n_children = last - first;
	domain->first_node = f->domains[domain->first_child].first_node;
	domain->first_gpu = f->domains[domain->first_child].first_gpu;
	for (uint32_t k = 0; k < domain->n_children; k++) {
		struct weft_domain *child =
			&f->domains[domain->first_child + k];

		child->parent = index;
		domain->n_gpus += child->n_gpus;
		domain->n_nodes =
			child->first_node + child->n_nodes - domain->first_node;
	}
}

/* Level 0, where it holds whole nodes. */
static void base_fill(struct build *b)
{
	struct weft_fabric *f = b->f;

	for (uint32_t k = 0; k < b->base.n; k++) {
		struct weft_domain *domain = &f->domains[k];
		uint32_t first = b->base.first[k], end = b->base.first[k + 1];
		const struct weft_node *last = &f->nodes[end - 1];

		domain->name = b->d->things[b->base.things[k]].name;
		if (b->d->things[b->base.things[k]].level == DRAFT_SPAN)
			b->d->index_of[b->base.things[k]] = k;
		domain->parent = WEFT_NONE;
		domain->first_node = first;
		domain->n_nodes = end - first;
		domain->first_gpu = f->nodes[first].first_gpu;
		domain->n_gpus =
			last->first_gpu + last->n_gpus - domain->first_gpu;
	}
}

/* "n07:4-7", "n07:0,2" or, for a lone GPU, "n07:4". */
static const char *part_name(struct build *b, uint32_t node, uint32_t first,
			     uint32_t n)
{
	char text[WEFT_NAME_SIZE + 4 * WEFT_MAX_GPUS_PER_NODE];
	const uint8_t *numbers = b->f->gpu_number;
	const char *separator = ":";

	numbers = numbers ? numbers + b->f->nodes[node].first_gpu : NULL;

	snprintf(text, sizeof(text), "%s", b->f->nodes[node].name);
	for (uint32_t i = 0, run; i < n; i += run) {
		uint32_t k = first + i, number = numbers ? numbers[k] : k;

		run = 1;
		while (i + run < n &&
		       (!numbers || numbers[k + run] == number + run))
			run++;
		weft_append(text, sizeof(text), "%s%u", separator, number);
		if (run > 1)
			weft_append(text, sizeof(text), "-%u",
				    number + run - 1);
		separator = ",";
	}
	return weft_arena_copy(&b->d->arena, text, b->d->err);
}

/* One NVLink domain of node k: GPUs first to first + n of it. */
static int island_fill(struct build *b, struct weft_domain *domain, uint32_t k,
		       uint32_t first, uint32_t n)
{
	const struct weft_node *node = &b->f->nodes[k];

	domain->name = part_name(b, k, first, n);
	if (!domain->name)
		return -1;
	domain->parent = WEFT_NONE;
	domain->first_node = k;
	domain->n_nodes = 1;
	domain->first_gpu = node->first_gpu + first;
	domain->n_gpus = n;
	return 0;
}

/* Levels 0 and 1, where a node has several NVLink domains. */
static int split_fill(struct build *b)
{
	struct weft_fabric *f = b->f;

	for (uint32_t k = 0, slot = 0; k < f->n_nodes; k++) {
		const struct weft_node *node = &f->nodes[k];
		const uint32_t *sizes = b->d->things[node->order].islands;
		uint32_t n = n_islands(b, k), first = slot, gpu = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t size = sizes ? sizes[i] : node->n_gpus / n;

			if (island_fill(b, &f->domains[slot++], k, gpu, size))
				return -1;
			gpu += size;
		}
		domain_fill(f, 1, k, node->name, first, slot);
	}
	return 0;
}

static int domains_build(struct build *b)
{
	struct weft_fabric *f = b->f;

	if (WEFT_ARRAY(f->domains, f->n_domains, &b->d->arena, b->d->err))
		return -1;
	if (f->node_level && split_fill(b))
		return -1;
	if (!f->node_level)
		base_fill(b);
	for (uint32_t k = 0; k < b->n_network; k++) {
		const struct slots *s = &b->net[k];

		for (uint32_t slot = 0; slot < s->n; slot++) {
			const struct weft_draft_thing *thing = NULL;

			if (s->things[slot] != WEFT_NONE)
				thing = &b->d->things[s->things[slot]];
			domain_fill(f, f->node_level + 1 + k, slot,
				    thing ? thing->name : "core",
				    s->first[slot], s->first[slot + 1]);
			/* not where it only passes through */
			if (thing && thing->level == DRAFT_NETWORK + k)
				b->d->index_of[s->things[slot]] =
					f->levels[f->node_level + 1 + k]
						.first_domain +
					slot;
		}
	}
	return 0;
}

/* GPU -> node and GPU -> domain of each level. */
static int maps_build(struct build *b)
{
	struct weft_fabric *f = b->f;

	if (WEFT_ARRAY(f->gpu_node, f->n_gpus, &b->d->arena, b->d->err))
		return -1;
	for (uint32_t k = 0; k < f->n_nodes; k++)
		for (uint32_t g = 0; g < f->nodes[k].n_gpus; g++)
			f->gpu_node[f->nodes[k].first_gpu + g] = k;
	for (uint32_t l = 0; l < f->n_levels; l++)
		if (WEFT_ARRAY(f->gpu_domain[l], f->n_gpus, &b->d->arena,
			       b->d->err))
			return -1;
	for (uint32_t k = 0; k < f->n_domains; k++) {
		const struct weft_domain *domain = &f->domains[k];

		for (uint32_t g = 0; g < domain->n_gpus; g++)
			f->gpu_domain[domain->level][domain->first_gpu + g] = k;
	}
	return 0;
}

struct named {
	const char *name; /* first: weft_compare_names looks at nothing else */
	uint32_t node;
};

/* Names of equal width, as most clusters have them, are in order already. */
static int names_count(struct build *b)
{
	struct weft_fabric *f = b->f;
	struct named *named;
	bool sorted = true;

	if (WEFT_ARRAY(named, f->n_nodes, &b->memory, b->d->err) ||
	    WEFT_ARRAY(f->counted, f->n_nodes, &b->d->arena, b->d->err))
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		named[i].node = f->by_name[i];
		named[i].name = f->nodes[f->by_name[i]].name;
		if (i && sorted)
			sorted = weft_compare_names(&named[i - 1], &named[i]) <=
				 0;
	}
	if (!sorted)
		WEFT_SORT(named, f->n_nodes, weft_compare_names);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->counted[i] = named[i].node;
	return 0;
}

/* The draft's names are sorted already. */
static int names_build(struct build *b)
{
	struct weft_draft *d = b->d;
	struct weft_fabric *f = b->f;
	uint32_t n = 0;

	f->name = weft_arena_copy(&d->arena, d->name, d->err);
	if (!f->name || WEFT_ARRAY(f->by_name, f->n_nodes, &d->arena, d->err) ||
	    WEFT_ARRAY(f->racks, d->racks.n, &d->arena, d->err) ||
	    WEFT_ARRAY(f->kinds, d->n_kinds, &d->arena, d->err))
		return -1;
	for (uint32_t k = 0; k < d->names.n; k++)
		if (d->names.item[k].thing < d->n_nodes)
			f->by_name[n++] = d->index_of[d->names.item[k].thing];
	if (names_count(b))
		return -1;
	for (uint32_t k = 0; k < d->racks.n; k++)
		f->racks[d->racks.item[k].thing] = d->racks.item[k].text;
	f->n_racks = d->racks.n;
	for (uint32_t k = 0; k < d->n_kinds; k++)
		f->kinds[k] = d->kinds[k];
	f->n_kinds = d->n_kinds;
	f->profile = d->profile->name;
	f->n_rails = d->rails ? d->rails : 1;
	return 0;
}

struct weft_fabric *weft_draft_build(struct weft_draft *d)
{
	struct build b = {.d = d};
	int rc = -1;

	b.f = weft_calloc(1, sizeof(*b.f), d->err);
	if (b.f && slots_build(&b) == 0 && nodes_build(&b) == 0) {
		levels_build(&b);
		rc = numbers_build(&b) || domains_build(&b) || maps_build(&b) ||
		     names_build(&b);
	}
	weft_arena_free(&b.memory);
	if (rc) {
		weft_fabric_free(b.f);
		return NULL;
	}
	return b.f;
}

static struct weft_distance distance_max(struct weft_distance a,
					 struct weft_distance b)
{
	a.hops = a.hops > b.hops ? a.hops : b.hops;
	a.latency_s = fmax(a.latency_s, b.latency_s);
	a.time_s_per_byte = fmax(a.time_s_per_byte, b.time_s_per_byte);
	return a;
}

/* A message crosses the links of every level up to the one where its ends meet,
 * so an outer level is never nearer than an inner one, whatever its own link.
 * To another rail: first over the node's own links to the GPU on that rail
 * (PXN), or else up through the level above the leaf switches.  Each step
 * beyond the first on a ring or torus is a further hop, and takes as long as
 * one hop to the neighbour does on average. */
void weft_draft_distances(struct weft_fabric *f, bool pxn)
{
	struct weft_distance own = {0}, within;

	f->pxn = pxn;
	for (uint32_t l = 0; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];
		struct weft_distance d = {level->hops, level->link.latency_s,
					  level->link.oversubscription /
						  level->link.rate_bytes_per_s};

		own = distance_max(own, d);
		f->distance[l][0] = own;
		f->distance[l][1] = own;
		if (level->shape == WEFT_SHAPE_RING ||
		    level->shape == WEFT_SHAPE_TORUS)
			f->levels[l].hop_latency_s = own.latency_s / own.hops;
	}
	within = f->distance[f->node_level][0];
	for (uint32_t l = f->node_level + 1; f->n_rails > 1 && l < f->n_levels;
	     l++) {
		struct weft_distance *cross = &f->distance[l][1];

		if (pxn) {
			cross->hops++;
			cross->latency_s += within.latency_s;
			cross->time_s_per_byte = fmax(cross->time_s_per_byte,
						      within.time_s_per_byte);
		} else if (l + 1 < f->n_levels) {
			*cross = f->distance[l + 1][0];
		}
	}
}
