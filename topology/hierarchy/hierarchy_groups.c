/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_groups.c - levels from blocks, rings and tori
 *
 * Slurm joins blocks in the order in which they are listed: with BlockSizes
 * 18,72 the first four, the next four, ...  A block without nodes keeps its
 * place.  Each size above the first is a level, "block72".
 */
#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slurm without BlockSizes: one, two, four, eight and sixteen blocks. */
#define DEFAULT_DOUBLINGS 4

static int member_note(struct weft_inventory *s, uint32_t host, uint32_t group,
		       uint32_t before, struct weft_error *err)
{
	const struct weft_inventory_group *g = s->groups;

	return weft_inventory_note(
		s, WEFT_FINDING_NODE_TWICE, s->hosts[host].name, g[group].where,
		err, "in %s as well as %s; taken to be in %s", g[group].name,
		g[before].name, g[before].name);
}

/* The first group of `kind` that lists each host: of[n_hosts]. */
static int members_find(struct weft_inventory *s, enum weft_group_kind kind,
			uint32_t *of, struct weft_error *err)
{
	weft_fill_none(of, s->n_hosts);
	for (uint32_t g = 0; g < s->n_groups; g++) {
		const struct weft_inventory_group *group = &s->groups[g];

		for (uint32_t i = 0; group->kind == kind && i < group->n_hosts;
		     i++) {
			uint32_t host = group->hosts[i];

			if (host == WEFT_NONE)
				continue;
			if (of[host] == WEFT_NONE)
				of[host] = g;
			else if (member_note(s, host, g, of[host], err))
				return -1;
		}
	}
	return 0;
}

/* Domains of level 0 for the groups of `kind` that have a host left;
 * domain_of[n_groups]. */
static int domains_add(struct weft_inventory *s,
		       struct weft_hierarchy *hierarchy,
		       enum weft_group_kind kind, const uint32_t *of,
		       uint32_t *domain_of, struct weft_error *err)
{
	weft_fill_none(domain_of, s->n_groups);
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (of[h] != WEFT_NONE)
			domain_of[of[h]] = 0;
	for (uint32_t g = 0; g < s->n_groups; g++) {
		const struct weft_inventory_group *group = &s->groups[g];

		if (group->kind != kind)
			continue;
		if (domain_of[g] == WEFT_NONE) {
			if (weft_inventory_note(s, WEFT_FINDING_SWITCH_EMPTY,
						group->name, group->where, err,
						"no node in it"))
				return -1;
			continue;
		}
		domain_of[g] = weft_hierarchy_add_domain(hierarchy, group->name,
							 0, err);
		if (domain_of[g] == WEFT_NONE)
			return -1;
	}
	return 0;
}

static int others_note(struct weft_inventory *s, enum weft_group_kind kind,
		       struct weft_error *err)
{
	for (uint32_t g = 0; g < s->n_groups; g++)
		if (s->groups[g].kind != kind)
			return weft_inventory_note(
				s, WEFT_FINDING_LEVEL_LEFT_OUT,
				s->groups[g].name, s->groups[g].where, err,
				"blocks, rings and tori do not go together; "
				"only those named first are used");
	return 0;
}

static int unplaced_note(struct weft_inventory *s,
			 const struct weft_hierarchy *hierarchy,
			 struct weft_error *err)
{
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (hierarchy->host_domain[h] == WEFT_NONE &&
		    !s->hosts[h].no_gpus &&
		    weft_inventory_note(s, WEFT_FINDING_NODE_UNPLACED,
					s->hosts[h].name, s->hosts[h].where,
					err,
					"in no block; left out of the fabric"))
			return -1;
	return 0;
}

/* ---- blocks of blocks ---- */

/* Blocks, empty ones too, in order: place[k] is the domain or WEFT_NONE. */
struct blocks {
	uint32_t *domain;
	uint32_t n;
	uint32_t base; /* nodes in a block, as planned */
};

static int blocks_list(const struct weft_inventory *s,
		       const uint32_t *domain_of, struct blocks *b,
		       struct weft_error *err)
{
	b->domain = weft_calloc(s->n_groups, sizeof(*b->domain), err);
	if (!b->domain)
		return -1;
	b->base = s->n_block_sizes ? s->block_sizes[0] : 0;
	for (uint32_t g = 0; g < s->n_groups; g++) {
		if (s->groups[g].kind != WEFT_GROUP_BLOCK)
			continue;
		if (!b->base)
			b->base = s->groups[g].n_hosts;
		b->domain[b->n++] = domain_of[g];
	}
	return 0;
}

/* A level that joins `times` blocks each; blocks[k] becomes the domain above.
 */
static int joins_add(struct weft_hierarchy *hierarchy, struct blocks *b,
		     uint32_t *place, uint32_t times, struct weft_error *err)
{
	uint32_t level = hierarchy->n_levels;

	snprintf(hierarchy->levels[level].name,
		 sizeof(hierarchy->levels[level].name), "block%u",
		 b->base * times);
	for (uint32_t k = 0; k < b->n; k += times) {
		uint32_t end = k + times < b->n ? k + times : b->n;
		uint32_t first = WEFT_NONE, last = WEFT_NONE, domain;
		char name[512];

		for (uint32_t i = k; i < end; i++) {
			if (place[i] == WEFT_NONE)
				continue;
			first = first == WEFT_NONE ? b->domain[i] : first;
			last = b->domain[i];
		}
		if (first == WEFT_NONE)
			continue;
		snprintf(name, sizeof(name), "%.240s-%.240s",
			 hierarchy->domains[first].name,
			 hierarchy->domains[last].name);
		domain = weft_hierarchy_add_domain(hierarchy, name, level, err);
		if (domain == WEFT_NONE)
			return -1;
		for (uint32_t i = k; i < end; i++)
			if (place[i] != WEFT_NONE) {
				hierarchy->domains[place[i]].parent = domain;
				place[i] = domain;
			}
	}
	hierarchy->n_levels++;
	return 0;
}

/* Slurm leaves out sizes above the first that takes all blocks. */
static int joins_build(struct weft_inventory *s,
		       struct weft_hierarchy *hierarchy, struct blocks *b,
		       struct weft_error *err)
{
	uint32_t n =
		s->n_block_sizes ? s->n_block_sizes : DEFAULT_DOUBLINGS + 1;
	uint32_t *place = weft_calloc(b->n, sizeof(*place), err);
	int rc = place ? 0 : -1;
	uint32_t times = 1;

	if (place)
		memcpy(place, b->domain, b->n * sizeof(*place));
	for (uint32_t i = 1; rc == 0 && i < n && times < b->n; i++) {
		times = s->n_block_sizes ? s->block_sizes[i] / b->base
					 : times * 2;
		if (hierarchy->n_levels == WEFT_FILE_LEVELS) {
			rc = weft_inventory_note(
				s, WEFT_FINDING_LEVEL_LEFT_OUT, NULL,
				s->groups[0].where, err,
				"more sizes of blocks than the %u levels of a "
				"fabric file; the largest are left out",
				WEFT_FILE_LEVELS);
			break;
		}
		rc = joins_add(hierarchy, b, place, times, err);
	}
	free(place);
	return rc;
}

/* What Slurm does not join in larger blocks the network joins all the same: a
 * job may take several of the largest. */
static int blocks_build(struct weft_inventory *s,
			struct weft_hierarchy *hierarchy,
			const uint32_t *domain_of, struct weft_error *err)
{
	struct blocks b = {0};
	int rc = blocks_list(s, domain_of, &b, err);

	snprintf(hierarchy->levels[0].name, sizeof(hierarchy->levels[0].name),
		 "block");
	hierarchy->joined = hierarchy->ordered = true;
	if (rc == 0)
		rc = joins_build(s, hierarchy, &b, err);
	free(b.domain);
	return rc;
}

/* ---- rings and tori ---- */

static int shape_skip(struct weft_inventory *s,
		      const struct weft_inventory_group *g, const char *why,
		      struct weft_error *err)
{
	return weft_inventory_note(
		s, WEFT_FINDING_LEVEL_LEFT_OUT, g->name, g->where, err,
		"%s: written without its shape, as if all of "
		"its nodes were equally near",
		why);
}

/* Where hosts sit in their ring or torus. */
static int order_set(struct weft_inventory *s, struct weft_hierarchy *hierarchy,
		     struct weft_error *err)
{
	hierarchy->host_order =
		weft_calloc(s->n_hosts, sizeof(*hierarchy->host_order), err);
	if (!hierarchy->host_order)
		return -1;
	for (uint32_t g = s->n_groups; g-- > 0;)
		for (uint32_t i = 0; i < s->groups[g].n_hosts; i++)
			if (s->groups[g].hosts[i] != WEFT_NONE)
				hierarchy->host_order[s->groups[g].hosts[i]] =
					i;
	return 0;
}

/* All tori of a level have one size in a fabric file, and no holes. */
static int torus_shape(struct weft_inventory *s,
		       struct weft_hierarchy *hierarchy, const uint32_t *of,
		       struct weft_error *err)
{
	const struct weft_inventory_group *first = NULL;

	for (uint32_t g = 0; g < s->n_groups; g++) {
		const struct weft_inventory_group *group = &s->groups[g];
		uint64_t cells = (uint64_t)group->dims[0] * group->dims[1] *
				 group->dims[2];
		bool holes = cells != group->n_hosts;

		if (group->kind != WEFT_GROUP_TORUS)
			continue;
		first = first ? first : group;
		for (uint32_t i = 0; i < group->n_hosts; i++)
			holes |= group->hosts[i] == WEFT_NONE ||
				 of[group->hosts[i]] != g;
		if (holes)
			return shape_skip(s, group,
					  "a torus with cells that have no "
					  "node",
					  err);
		if (memcmp(group->dims, first->dims, sizeof(first->dims)) != 0)
			return shape_skip(s, group, "tori of different sizes",
					  err);
	}
	hierarchy->levels[0].shape = WEFT_HIERARCHY_TORUS;
	memcpy(hierarchy->levels[0].dims, first->dims, sizeof(first->dims));
	return order_set(s, hierarchy, err);
}

static int ring_shape(struct weft_inventory *s,
		      struct weft_hierarchy *hierarchy, const uint32_t *of,
		      struct weft_error *err)
{
	(void)of;
	hierarchy->levels[0].shape = WEFT_HIERARCHY_RING;
	return order_set(s, hierarchy, err);
}

static const struct {
	const char *level;
	int (*shape)(struct weft_inventory *s, struct weft_hierarchy *hierarchy,
		     const uint32_t *of, struct weft_error *err);
} shapes[] = {
	[WEFT_GROUP_BLOCK] = {"block", NULL},
	[WEFT_GROUP_RING] = {"ring", ring_shape},
	[WEFT_GROUP_TORUS] = {"torus", torus_shape},
};

static int groups_build(struct weft_inventory *s,
			struct weft_hierarchy *hierarchy, uint32_t *of,
			uint32_t *domain_of, struct weft_error *err)
{
	enum weft_group_kind kind = s->groups[0].kind;

	if (members_find(s, kind, of, err) ||
	    domains_add(s, hierarchy, kind, of, domain_of, err) ||
	    others_note(s, kind, err))
		return -1;
	if (hierarchy->n_domains == 0)
		return weft_fail(err, WEFT_EINVAL,
				 "no node in any of %u blocks", s->n_groups);
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (of[h] != WEFT_NONE)
			hierarchy->host_domain[h] = domain_of[of[h]];
	hierarchy->n_levels = 1;
	if (unplaced_note(s, hierarchy, err))
		return -1;
	if (!shapes[kind].shape)
		return blocks_build(s, hierarchy, domain_of, err);
	snprintf(hierarchy->levels[0].name, sizeof(hierarchy->levels[0].name),
		 "%s", shapes[kind].level);
	return shapes[kind].shape(s, hierarchy, of, err);
}

int weft_hierarchy_from_groups(struct weft_inventory *s,
			       struct weft_hierarchy *hierarchy,
			       struct weft_error *err)
{
	uint32_t *of = weft_calloc(s->n_hosts, sizeof(*of), err);
	uint32_t *domain_of = weft_calloc(s->n_groups, sizeof(*domain_of), err);
	int rc = -1;

	if (of && domain_of)
		rc = groups_build(s, hierarchy, of, domain_of, err);
	free(of);
	free(domain_of);
	return rc;
}

/* ---- blocks inside a tree ---- */

/* Whether each block lies under one domain, and some domain has more hosts than
 * its block.  parent_of[n_groups] gets that domain. */
static bool blocks_nest(const struct weft_inventory *s,
			const struct weft_hierarchy *hierarchy,
			const uint32_t *of, uint32_t *parent_of, bool *finer)
{
	uint32_t *block_on = NULL;

	weft_fill_none(parent_of, s->n_groups);
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		uint32_t on = hierarchy->host_domain[h];

		if (of[h] == WEFT_NONE || on == WEFT_NONE)
			continue;
		if (parent_of[of[h]] == WEFT_NONE)
			parent_of[of[h]] = on;
		else if (parent_of[of[h]] != on)
			return false;
	}
	*finer = false;
	block_on = weft_calloc(hierarchy->n_domains, sizeof(*block_on), NULL);
	for (uint32_t h = 0; block_on && h < s->n_hosts; h++) {
		uint32_t on = hierarchy->host_domain[h];

		if (on == WEFT_NONE)
			continue;
		/* block + 2, or 1: a host in none */
		if (!block_on[on])
			block_on[on] = of[h] == WEFT_NONE ? 1 : of[h] + 2;
		else if (block_on[on] != (of[h] == WEFT_NONE ? 1 : of[h] + 2))
			*finer = true;
	}
	free(block_on);
	return true;
}

/* A level of blocks below all others. */
static int blocks_insert(struct weft_inventory *s,
			 struct weft_hierarchy *hierarchy, const uint32_t *of,
			 uint32_t *parent_of, struct weft_error *err)
{
	for (uint32_t l = hierarchy->n_levels; l > 0; l--)
		hierarchy->levels[l] = hierarchy->levels[l - 1];
	hierarchy->levels[0] = (struct weft_hierarchy_level){.name = "block"};
	hierarchy->n_levels++;
	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		hierarchy->domains[d].level++;
	for (uint32_t g = 0; g < s->n_groups; g++) {
		uint32_t parent = parent_of[g], domain;

		if (parent == WEFT_NONE)
			continue;
		domain = weft_hierarchy_add_domain(hierarchy, s->groups[g].name,
						   0, err);
		if (domain == WEFT_NONE)
			return -1;
		hierarchy->domains[domain].parent = parent;
		parent_of[g] = domain;
	}
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (of[h] != WEFT_NONE &&
		    hierarchy->host_domain[h] != WEFT_NONE)
			hierarchy->host_domain[h] = parent_of[of[h]];
	return 0;
}

static int blocks_leave(struct weft_inventory *s, const char *why,
			struct weft_error *err)
{
	return weft_inventory_note(s, WEFT_FINDING_LEVEL_LEFT_OUT,
				   s->groups[0].name, s->groups[0].where, err,
				   "blocks beside switches: %s; the blocks are "
				   "left out",
				   why);
}

int weft_hierarchy_add_blocks(struct weft_inventory *s,
			      struct weft_hierarchy *hierarchy,
			      struct weft_error *err)
{
	uint32_t *of = weft_calloc(s->n_hosts, sizeof(*of), err);
	uint32_t *parent_of = weft_calloc(s->n_groups, sizeof(*parent_of), err);
	bool finer = false;
	int rc = -1;

	if (!of || !parent_of || members_find(s, WEFT_GROUP_BLOCK, of, err))
		goto out;
	if (!blocks_nest(s, hierarchy, of, parent_of, &finer))
		rc = blocks_leave(s, "some lie under several switches", err);
	else if (!finer)
		rc = 0; /* each block is what is attached to a switch */
	else if (hierarchy->n_levels == WEFT_FILE_LEVELS)
		rc = blocks_leave(s, "too many levels", err);
	else
		rc = blocks_insert(s, hierarchy, of, parent_of, err);
out:
	free(of);
	free(parent_of);
	return rc;
}
