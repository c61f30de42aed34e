/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_torus.c - the toruses of topology.yaml
 *
 *	name: pod1
 *	dims: {x: 4, y: 4, z: 2}
 *	nodes: n[01-32]			x varies fastest
 *	regions:			instead of nodes
 *	  - {anchor: {x: 0, y: 0, z: 0}, dims: {...}, nodes: ...}
 *	placements:			shapes that jobs may take
 *	  - {dims: {...}, anchor_seed: {...}, anchor_spacing: {...}}
 */
#include "topology/import/slurm/slurm_topology.h"

#include "base/hostlist.h"
#include "base/yaml.h"

#include <stdlib.h>

/* Slurm counts axes in 16 bits; cells are bounded by what a inventory holds. */
#define AXIS_MAX UINT16_MAX

struct torus {
	const struct weft_yaml *doc;
	struct weft_error *err;
	const char *name;
	uint64_t dims[3];
	char **cells; /* names, NULL: a hole; NULL: not wanted */
	uint64_t n_cells;
};

static const char *const axes[] = {"x", "y", "z"};

/* {x: , y: , z: }; an axis that is missing is 0. */
static int triple(const struct torus *t, const struct weft_yaml_node *node,
		  const char *what, uint64_t min, uint64_t value[3])
{
	for (int a = 0; a < 3; a++)
		value[a] = 0;
	if (!node)
		return 0;
	if (weft_yaml_expect(t->doc, node, WEFT_YAML_MAP, what, t->err) ||
	    weft_yaml_known_keys(t->doc, node, axes, 3, what, t->err))
		return -1;
	for (int a = 0; a < 3; a++) {
		const struct weft_yaml_node *n = weft_yaml_find(node, axes[a]);

		if (n &&
		    weft_yaml_uint(t->doc, n, min, AXIS_MAX, &value[a], t->err))
			return -1;
	}
	return 0;
}

static int dims_read(const struct torus *t, const struct weft_yaml_node *owner,
		     const char *what, uint64_t dims[3])
{
	const struct weft_yaml_node *node = weft_yaml_find(owner, "dims");

	if (!node)
		return weft_yaml_fail(t->doc, owner, t->err,
				      "%s has no dims: {x: , y: , z: }", what);
	if (triple(t, node, "dims", 1, dims))
		return -1;
	for (int a = 0; a < 3; a++)
		if (!dims[a])
			return weft_yaml_fail(t->doc, node, t->err,
					      "dims has no %s", axes[a]);
	return 0;
}

static int names_decode(const struct torus *t,
			const struct weft_yaml_node *node,
			struct weft_hostlist *list)
{
	const struct weft_slurm_at at = {t->doc->source, 0, node->line,
					 node->text_column};

	if (weft_yaml_expect(t->doc, node, WEFT_YAML_SCALAR, "nodes", t->err))
		return -1;
	return weft_slurm_hosts(node->text, at, list, t->err);
}

/* Puts the names of `node` into the box at anchor. */
static int box_fill(struct torus *t, const struct weft_yaml_node *node,
		    const uint64_t anchor[3], const uint64_t dims[3])
{
	uint64_t n = dims[0] * dims[1] * dims[2];
	struct weft_hostlist list = {0};
	int rc = names_decode(t, node, &list);

	if (rc == 0 && list.n != n)
		rc = weft_yaml_fail(t->doc, node, t->err,
				    "%u nodes for %llu x %llu x %llu cells",
				    list.n, (unsigned long long)dims[0],
				    (unsigned long long)dims[1],
				    (unsigned long long)dims[2]);
	for (uint64_t i = 0; rc == 0 && i < n; i++) {
		uint64_t x = anchor[0] + i % dims[0];
		uint64_t y = anchor[1] + i / dims[0] % dims[1];
		uint64_t z = anchor[2] + i / dims[0] / dims[1];
		char **cell = &t->cells[(z * t->dims[1] + y) * t->dims[0] + x];

		if (*cell)
			rc = weft_yaml_fail(t->doc, node, t->err,
					    "cell %llu,%llu,%llu has node %s "
					    "already",
					    (unsigned long long)x,
					    (unsigned long long)y,
					    (unsigned long long)z, *cell);
		else if (!(*cell = weft_strdup(list.names[i], t->err)))
			rc = -1;
	}
	weft_hostlist_free(&list);
	return rc;
}

static int region_read(struct torus *t, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"anchor", "dims", "nodes"};
	const struct weft_yaml_node *nodes;
	uint64_t anchor[3], dims[3];

	if (weft_yaml_expect(t->doc, node, WEFT_YAML_MAP, "a region", t->err) ||
	    weft_yaml_known_keys(t->doc, node, known, 3, "a region", t->err) ||
	    triple(t, weft_yaml_find(node, "anchor"), "anchor", 0, anchor) ||
	    dims_read(t, node, "a region", dims))
		return -1;
	for (int a = 0; a < 3; a++)
		if (anchor[a] + dims[a] > t->dims[a])
			return weft_yaml_fail(
				t->doc, node, t->err,
				"the region reaches beyond the torus in %s",
				axes[a]);
	nodes = weft_yaml_find(node, "nodes");
	if (!nodes)
		return weft_yaml_fail(t->doc, node, t->err,
				      "a region has no nodes");
	return box_fill(t, nodes, anchor, dims);
}

static int placement_check(struct torus *t, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"dims", "anchor_seed",
					    "anchor_spacing"};
	uint64_t dims[3], seed[3], spacing[3];

	if (weft_yaml_expect(t->doc, node, WEFT_YAML_MAP, "a placement",
			     t->err) ||
	    weft_yaml_known_keys(t->doc, node, known, 3, "a placement",
				 t->err) ||
	    dims_read(t, node, "a placement", dims) ||
	    triple(t, weft_yaml_find(node, "anchor_seed"), "anchor_seed", 0,
		   seed) ||
	    triple(t, weft_yaml_find(node, "anchor_spacing"), "anchor_spacing",
		   0, spacing))
		return -1;
	for (int a = 0; a < 3; a++)
		if (dims[a] > t->dims[a] || seed[a] >= t->dims[a] ||
		    spacing[a] > t->dims[a])
			return weft_yaml_fail(
				t->doc, node, t->err,
				"the placement is larger than the torus in %s",
				axes[a]);
	return 0;
}

/* A list, or one alone; each through `use`. */
static int each(struct torus *t, const struct weft_yaml_node *node,
		const char *what,
		int (*use)(struct torus *t, const struct weft_yaml_node *node))
{
	if (!node)
		return 0;
	if (node->kind == WEFT_YAML_MAP)
		return use(t, node);
	if (weft_yaml_expect(t->doc, node, WEFT_YAML_LIST, what, t->err))
		return -1;
	for (node = node->child; node; node = node->next)
		if (use(t, node))
			return -1;
	return 0;
}

static bool is_given(const struct weft_yaml_node *node)
{
	return node && (node->kind == WEFT_YAML_SCALAR ? *node->text != '\0'
						       : node->n_children > 0);
}

static int cells_fill(struct torus *t, const struct weft_yaml_node *node)
{
	static const uint64_t origin[3] = {0};
	const struct weft_yaml_node *nodes = weft_yaml_find(node, "nodes");
	const struct weft_yaml_node *regions = weft_yaml_find(node, "regions");

	if (is_given(nodes) && is_given(regions))
		return weft_yaml_fail_key(t->doc, regions, t->err,
					  "a torus has nodes or regions, not "
					  "both");
	if (is_given(nodes))
		return box_fill(t, nodes, origin, t->dims);
	if (!is_given(regions))
		return weft_yaml_fail(t->doc, node, t->err,
				      "a torus has neither nodes nor regions");
	return each(t, regions, "regions", region_read);
}

static int torus_read(struct torus *t, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"name", "nodes", "dims",
					    "placements", "regions"};
	const struct weft_yaml_node *name;

	if (weft_yaml_expect(t->doc, node, WEFT_YAML_MAP, "a torus", t->err) ||
	    weft_yaml_known_keys(t->doc, node, known, 5, "a torus", t->err))
		return -1;
	name = weft_yaml_find(node, "name");
	if (!name || name->kind != WEFT_YAML_SCALAR || !*name->text)
		return weft_yaml_fail(t->doc, node, t->err,
				      "a torus without a name");
	t->name = name->text;
	if (dims_read(t, node, "a torus", t->dims))
		return -1;
	t->n_cells = t->dims[0] * t->dims[1];
	if (t->n_cells > WEFT_INVENTORY_MAX_HOSTS ||
	    (t->n_cells *= t->dims[2]) > WEFT_INVENTORY_MAX_HOSTS)
		return weft_yaml_fail(t->doc, node, t->err,
				      "a torus of more than %u cells",
				      WEFT_INVENTORY_MAX_HOSTS);
	t->cells = weft_calloc(t->n_cells, sizeof(*t->cells), t->err);
	if (!t->cells || cells_fill(t, node))
		return -1;
	return each(t, weft_yaml_find(node, "placements"), "placements",
		    placement_check);
}

static int torus_add(struct weft_inventory *s, const struct torus *t,
		     struct weft_place where)
{
	uint32_t group = weft_inventory_add_group(s, WEFT_GROUP_TORUS, t->name,
						  where, t->err);

	if (group == WEFT_NONE)
		return -1;
	for (int a = 0; a < 3; a++)
		s->groups[group].dims[a] = (uint32_t)t->dims[a];
	for (uint64_t i = 0; i < t->n_cells; i++) {
		uint32_t host = WEFT_NONE;

		if (t->cells[i]) {
			host = weft_inventory_host(s, t->cells[i], where,
						   t->err);
			if (host == WEFT_NONE)
				return -1;
		}
		if (weft_inventory_group_host(s, group, host, t->err))
			return -1;
	}
	return 0;
}

int weft_slurm_torus(struct weft_inventory *s, const struct weft_yaml *doc,
		     const struct weft_yaml_node *node, uint32_t source,
		     struct weft_error *err)
{
	struct torus t = {.doc = doc, .err = err};
	int rc = torus_read(&t, node);

	if (rc == 0 && s)
		rc = torus_add(s, &t, (struct weft_place){source, node->line});
	for (uint64_t i = 0; t.cells && i < t.n_cells; i++)
		free(t.cells[i]);
	free(t.cells);
	return rc;
}
