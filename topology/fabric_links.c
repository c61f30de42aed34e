/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_links.c - the sections `links` and `shapes` of a fabric file */
#include "topology/fabric_draft.h"

#include <string.h>

#define MAX_HOPS       1000
#define MAX_TORUS_SIDE 65535
/* A level's rate is at most so many times what a small message gets. */
#define MIN_SHARE 1e-6

/* {64KiB: 0.03, 1MiB: 0.2, 1GiB: 0.99} */
static int shares_read(const struct weft_draft *d,
		       const struct weft_yaml_node *node,
		       struct weft_level *level)
{
	double before = 0;

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, "shares", d->err))
		return -1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next) {
		struct weft_rate_share *share = &level->shares[level->n_shares];

		if (level->n_shares == WEFT_MAX_SHARES)
			return weft_yaml_fail_key(d->doc, c, d->err,
						  "shares: expected at most %d "
						  "sizes",
						  WEFT_MAX_SHARES);
		if (weft_yaml_size_key(d->doc, c, &share->size_bytes, d->err) ||
		    weft_yaml_number(d->doc, c, MIN_SHARE, 1, &share->share,
				     d->err))
			return -1;
		if (share->size_bytes <= before)
			return weft_yaml_fail_key(d->doc, c, d->err,
						  "shares: %.60s after a size "
						  "that is not smaller; "
						  "expected them to ascend",
						  c->key);
		before = share->size_bytes;
		level->n_shares++;
	}
	if (!node->child)
		return weft_yaml_fail(d->doc, node, d->err,
				      "shares: expected sizes, such as "
				      "{1MiB: 0.2, 1GiB: 0.98}");
	return 0;
}

static int link_read(const struct weft_draft *d,
		     const struct weft_yaml_node *node,
		     struct weft_level *level)
{
	static const char *const known[] = {"bandwidth",	"latency",
					    "oversubscription", "hops",
					    "shares",		"queue"};
	const struct weft_yaml_node *value[WEFT_N_OF(known)];
	struct weft_link *link = &level->link;
	uint64_t hops = level->hops;

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, node->key, d->err) ||
	    weft_yaml_known_keys(d->doc, node, known, WEFT_N_OF(known),
				 "a link class", d->err))
		return -1;
	for (size_t k = 0; k < WEFT_N_OF(known); k++)
		value[k] = weft_yaml_find(node, known[k]);
	if (value[0] &&
	    weft_yaml_rate(d->doc, value[0], &link->rate_bytes_per_s, d->err))
		return -1;
	if (value[1] &&
	    weft_yaml_time(d->doc, value[1], &link->latency_s, d->err))
		return -1;
	if (value[2] && weft_yaml_number(d->doc, value[2], 1, 1e6,
					 &link->oversubscription, d->err))
		return -1;
	if (value[3] &&
	    weft_yaml_uint(d->doc, value[3], 1, MAX_HOPS, &hops, d->err))
		return -1;
	level->hops = (uint32_t)hops;
	if (value[5] &&
	    weft_yaml_size(d->doc, value[5], &level->queue_bytes, d->err))
		return -1;
	return value[4] ? shares_read(d, value[4], level) : 0;
}

/* Names of the levels, innermost first. */
static uint32_t names_list(const struct weft_fabric *f, uint32_t first,
			   const char **names)
{
	for (uint32_t l = first; l < f->n_levels; l++)
		names[l - first] = f->levels[l].name;
	return f->n_levels - first;
}

/* What is further out is not nearer. */
static int hops_check(const struct weft_draft *d, const struct weft_fabric *f,
		      const struct weft_yaml_node *links)
{
	for (uint32_t l = 1; l < f->n_levels; l++)
		if (f->levels[l].hops < f->levels[l - 1].hops)
			return weft_yaml_fail(
				d->doc, links, d->err,
				"links: %u hops at level %s, but %u at level "
				"%s inside it; expected no fewer further out",
				f->levels[l].hops, f->levels[l].name,
				f->levels[l - 1].hops, f->levels[l - 1].name);
	return 0;
}

int weft_draft_links(struct weft_draft *d, struct weft_fabric *f)
{
	const struct weft_yaml_node *links =
		weft_yaml_find(d->doc->root, "links");
	const char *known[WEFT_MAX_LEVELS];
	uint32_t n = names_list(f, 0, known);

	if (!links)
		return 0;
	if (weft_yaml_known_keys(d->doc, links, known, n,
				 "links, which are by level", d->err))
		return -1;
	for (uint32_t k = 0; k < n; k++) {
		const struct weft_yaml_node *node =
			weft_yaml_find(links, known[k]);

		if (node && link_read(d, node, &f->levels[k]))
			return -1;
	}
	return hops_check(d, f, links);
}

/* [4, 4, 8], x first. */
static int torus_read(const struct weft_draft *d,
		      const struct weft_yaml_node *node,
		      struct weft_level *level)
{
	uint32_t n = 0;

	if (node->n_children < 2 || node->n_children > 3)
		return weft_yaml_fail(d->doc, node, d->err,
				      "%.60s: expected the two or three sides "
				      "of a torus, such as [4, 4, 8]",
				      node->key);
	level->dims[0] = level->dims[1] = level->dims[2] = 1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next) {
		uint64_t side = 0;

		if (weft_yaml_uint(d->doc, c, 1, MAX_TORUS_SIDE, &side, d->err))
			return -1;
		level->dims[n++] = (uint32_t)side;
	}
	level->shape = WEFT_SHAPE_TORUS;
	return 0;
}

static int shape_read(const struct weft_draft *d,
		      const struct weft_yaml_node *node,
		      struct weft_level *level)
{
	static const struct {
		const char *name;
		enum weft_level_shape shape;
	} shapes[] = {{"ring", WEFT_SHAPE_RING}, {"groups", WEFT_SHAPE_GROUPS}};

	if (node->kind == WEFT_YAML_LIST)
		return torus_read(d, node, level);
	for (size_t k = 0; k < WEFT_N_OF(shapes); k++)
		if (node->kind == WEFT_YAML_SCALAR &&
		    strcmp(node->text, shapes[k].name) == 0)
			level->shape = shapes[k].shape;
	if (level->shape == WEFT_SHAPE_SWITCHED)
		return weft_yaml_fail(d->doc, node, d->err,
				      "%.60s: expected ring, groups, or the "
				      "sides of a torus such as [4, 4, 8]",
				      node->key);
	return 0;
}

/* Every domain of the level fills its torus. */
static int torus_check(const struct weft_draft *d, const struct weft_fabric *f,
		       const struct weft_yaml_node *node,
		       const struct weft_level *level)
{
	uint64_t size =
		(uint64_t)level->dims[0] * level->dims[1] * level->dims[2];

	for (uint32_t k = 0; k < level->n_domains; k++) {
		const struct weft_domain *domain =
			&f->domains[level->first_domain + k];

		if (domain->n_children != size)
			return weft_yaml_fail(
				d->doc, node, d->err,
				"%s: a torus of %llu, but domain %.60s joins "
				"%u; expected as many",
				level->name, (unsigned long long)size,
				domain->name, domain->n_children);
	}
	return 0;
}

int weft_draft_shapes(struct weft_draft *d, struct weft_fabric *f)
{
	const struct weft_yaml_node *shapes =
		weft_yaml_find(d->doc->root, "shapes");
	const char *known[WEFT_MAX_LEVELS];
	uint32_t first = f->node_level + 1, n = 0;

	if (!shapes)
		return 0;
	if (weft_yaml_expect(d->doc, shapes, WEFT_YAML_MAP, "shapes", d->err))
		return -1;
	if (first < f->n_levels)
		n = names_list(f, first, known);
	else if (shapes->child)
		return weft_yaml_fail_key(d->doc, shapes, d->err,
					  "shapes: this fabric has no level "
					  "above the node");
	if (weft_yaml_known_keys(d->doc, shapes, known, n,
				 "shapes, which are of levels above the node",
				 d->err))
		return -1;
	for (uint32_t k = 0; k < n; k++) {
		struct weft_level *level = &f->levels[first + k];
		const struct weft_yaml_node *node =
			weft_yaml_find(shapes, known[k]);

		if (!node)
			continue;
		if (shape_read(d, node, level) ||
		    (level->shape == WEFT_SHAPE_TORUS &&
		     torus_check(d, f, node, level)))
			return -1;
		f->has_steps =
			f->has_steps || level->shape != WEFT_SHAPE_GROUPS;
	}
	return 0;
}
