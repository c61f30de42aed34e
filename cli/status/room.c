/* SPDX-License-Identifier: GPL-3.0-or-later */
/* room.c - counting places for jobs, and the table of them */
#include "cli/status/room.h"
#include "cli/json.h"

#include <stdio.h>
#include <string.h>

static bool is_whole(const struct weft_occupancy *o, uint32_t node)
{
	return weft_occupancy_give(o, node) == o->fabric->nodes[node].n_gpus;
}

void room_domain(const struct weft_occupancy *o, uint32_t domain,
		 uint32_t *n_free, uint32_t *largest)
{
	const struct weft_domain *d = &o->fabric->domains[domain];
	uint32_t whole = 0, most = 0;

	*n_free = 0;
	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++) {
		uint32_t give = weft_occupancy_give(o, i);

		*n_free += give;
		whole += is_whole(o, i) ? give : 0;
		most = give > most ? give : most;
	}
	*largest = whole > most ? whole : most;
}

/* Jobs of `size` GPUs that fit into one domain side by side. */
static uint32_t fits_in(const struct weft_occupancy *o,
			const struct weft_domain *d, uint32_t per_node,
			uint32_t size)
{
	uint32_t n = 0;

	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++) {
		uint32_t give = weft_occupancy_give(o, i);

		if (size <= per_node)
			n += give / size;
		else
			n += give == per_node;
	}
	return size <= per_node ? n : n / ((size + per_node - 1) / per_node);
}

static void level_find(const struct weft_occupancy *o, uint32_t level,
		       struct room *c)
{
	const struct weft_level *l = &o->fabric->levels[level];

	c->largest_domain[level] = WEFT_NONE;
	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t d = l->first_domain + i, n_free, largest;

		for (uint32_t s = 0; s < c->n_sizes; s++)
			c->fits[level][s] += fits_in(o, &o->fabric->domains[d],
						     c->per_node, c->size[s]);
		room_domain(o, d, &n_free, &largest);
		if (largest <= c->largest[level])
			continue;
		c->largest[level] = largest;
		c->largest_domain[level] = d;
	}
}

void room_find(const struct weft_occupancy *o, struct room *c)
{
	const struct weft_fabric *f = o->fabric;

	memset(c, 0, sizeof(*c));
	c->f = f;
	c->n_free = weft_occupancy_usable(o);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (f->nodes[i].n_gpus > c->per_node)
			c->per_node = f->nodes[i].n_gpus;
		c->n_whole += is_whole(o, i);
	}
	for (uint32_t size = 1;
	     size <= f->n_gpus && c->n_sizes < CAPACITY_MAX_SIZES; size *= 2)
		c->size[c->n_sizes++] = size;
	for (uint32_t level = f->node_level; level < f->n_levels; level++)
		level_find(o, level, c);
}

void room_print_head(const struct room *c)
{
	printf("jobs that fit within one   of this many GPUs\n%-12s",
	       "domain of");
	for (uint32_t s = 0; s < c->n_sizes; s++)
		printf(" %5u", c->size[s]);
}

void room_print_level(const struct room *c, uint32_t level)
{
	printf("  %-10.10s", c->f->levels[level].name);
	for (uint32_t s = 0; s < c->n_sizes; s++)
		printf(" %5u", c->fits[level][s]);
}

json_t *room_json(const struct room *c, uint32_t level)
{
	json_t *fits = json_object();

	for (uint32_t s = 0; s < c->n_sizes; s++) {
		char size[16];

		snprintf(size, sizeof(size), "%u", c->size[s]);
		JSON_PUT(fits, size, c->fits[level][s]);
	}
	return fits;
}
