/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_slurm_yaml.c - Slurm's topology.yaml (25.05 and later), and what
 * "scontrol show topoconf" prints
 *
 *	- topology: topo1
 *	  cluster_default: true
 *	  tree:
 *	    switches:
 *	      - {switch: top, children: "leaf[0-1]"}
 *	      - {switch: leaf0, nodes: "n[0-7]"}
 *
 * All topologies of the file are checked; one is imported: the one asked for,
 * else the default of the cluster, else the first that is not flat.
 */
#include "base/yaml.h"
#include "topology/import/slurm/slurm_topology.h"

#include <string.h>

struct reader {
	struct weft_inventory *s; /* NULL: only check */
	const struct weft_import_input *input;
	const struct weft_yaml *doc;
	struct weft_slurm_topology t;
	struct weft_error *err;
};

static bool is_empty(const struct weft_yaml_node *node)
{
	return !node ||
	       (node->kind != WEFT_YAML_SCALAR && node->n_children == 0);
}

static struct weft_slurm_at at_of(const struct reader *r,
				  const struct weft_yaml_node *node)
{
	return (struct weft_slurm_at){
		r->doc->source, r->input->source, node->line,
		node->text_column ? node->text_column : node->column};
}

/* A list of maps, or one map alone; each through `use`. */
static int each(struct reader *r, const struct weft_yaml_node *node,
		const char *what,
		int (*use)(struct reader *r, const struct weft_yaml_node *node))
{
	if (!node)
		return 0;
	if (node->kind == WEFT_YAML_MAP)
		return use(r, node);
	if (weft_yaml_expect(r->doc, node, WEFT_YAML_LIST, what, r->err))
		return -1;
	for (node = node->child; node; node = node->next)
		if (weft_yaml_expect(r->doc, node, WEFT_YAML_MAP, what,
				     r->err) ||
		    use(r, node))
			return -1;
	return 0;
}

/* ---- switches, blocks, rings ---- */

/* The scalar at `key`, or NULL; an empty one counts as not given. */
static int text_of(const struct reader *r, const struct weft_yaml_node *map,
		   const char *key, const char **text, struct weft_slurm_at *at)
{
	const struct weft_yaml_node *node = weft_yaml_find(map, key);

	*text = NULL;
	if (!node || is_empty(node))
		return 0;
	if (weft_yaml_expect(r->doc, node, WEFT_YAML_SCALAR, key, r->err))
		return -1;
	if (*node->text) {
		*text = node->text;
		*at = at_of(r, node);
	}
	return 0;
}

static int unit_read(struct reader *r, const struct weft_yaml_node *node,
		     enum weft_slurm_kind kind, const char *name_key)
{
	const char *const known[] = {name_key, "nodes", "children"};
	size_t n = kind == WEFT_SLURM_SWITCH ? 3 : 2;
	struct weft_slurm_unit unit = {.kind = kind, .at = at_of(r, node)};

	if (weft_yaml_known_keys(r->doc, node, known, n, name_key, r->err) ||
	    text_of(r, node, name_key, &unit.name, &unit.at) ||
	    text_of(r, node, "nodes", &unit.nodes, &unit.nodes_at) ||
	    text_of(r, node, "children", &unit.switches, &unit.switches_at))
		return -1;
	return weft_slurm_topology_add(&r->t, &unit, r->err);
}

static int switch_read(struct reader *r, const struct weft_yaml_node *node)
{
	return unit_read(r, node, WEFT_SLURM_SWITCH, "switch");
}

static int block_read(struct reader *r, const struct weft_yaml_node *node)
{
	return unit_read(r, node, WEFT_SLURM_BLOCK, "block");
}

static int ring_read(struct reader *r, const struct weft_yaml_node *node)
{
	return unit_read(r, node, WEFT_SLURM_RING, "ring");
}

static int torus_read(struct reader *r, const struct weft_yaml_node *node)
{
	return weft_slurm_torus(r->s, r->doc, node, r->input->source, r->err);
}

static int sizes_read(struct reader *r, const struct weft_yaml_node *node)
{
	uint64_t size;

	if (!node)
		return 0;
	if (node->kind != WEFT_YAML_LIST)
		return weft_yaml_fail(r->doc, node, r->err,
				      "block_sizes: expected a list of numbers "
				      "of nodes");
	for (node = node->child; node; node = node->next)
		if (weft_yaml_uint(r->doc, node, 1, INT32_MAX, &size, r->err) ||
		    weft_slurm_topology_size(&r->t, (unsigned long)size,
					     at_of(r, node), r->err))
			return -1;
	return 0;
}

/* ---- kinds of topologies ---- */

static int map_check(struct reader *r, const struct weft_yaml_node *node,
		     const char *const *known, size_t n, const char *what)
{
	return weft_yaml_expect(r->doc, node, WEFT_YAML_MAP, what, r->err) ||
			       weft_yaml_known_keys(r->doc, node, known, n,
						    what, r->err)
		       ? -1
		       : 0;
}

static int tree_read(struct reader *r, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"switches"};

	return map_check(r, node, known, 1, "tree")
		       ? -1
		       : each(r, weft_yaml_find(node, "switches"), "switches",
			      switch_read);
}

static int blocks_read(struct reader *r, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"block_sizes", "blocks"};

	if (map_check(r, node, known, 2, "block") ||
	    sizes_read(r, weft_yaml_find(node, "block_sizes")))
		return -1;
	return each(r, weft_yaml_find(node, "blocks"), "blocks", block_read);
}

static int rings_read(struct reader *r, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"rings"};

	return map_check(r, node, known, 1, "ring")
		       ? -1
		       : each(r, weft_yaml_find(node, "rings"), "rings",
			      ring_read);
}

static int toruses_read(struct reader *r, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"toruses"};

	return map_check(r, node, known, 1, "torus3d")
		       ? -1
		       : each(r, weft_yaml_find(node, "toruses"), "toruses",
			      torus_read);
}

/* {alpha_step_rank: true} or true. */
static int flat_read(struct reader *r, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"alpha_step_rank"};
	bool flat;

	if (node->kind == WEFT_YAML_MAP)
		return map_check(r, node, known, 1, "flat");
	return weft_yaml_bool(r->doc, node, &flat, r->err);
}

static const struct {
	const char *key;
	int (*read)(struct reader *r, const struct weft_yaml_node *node);
} kinds[] =
	{
		{"tree", tree_read},  {"block", blocks_read},
		{"ring", rings_read}, {"torus3d", toruses_read},
		{"flat", flat_read}, /* the last: it names no node */
};
#define N_KINDS WEFT_N_OF(kinds)
#define FLAT	(N_KINDS - 1)

/* What scontrol prints has all kinds, the others empty; "flat: false" is none.
 */
static bool is_given(size_t kind, const struct weft_yaml_node *node)
{
	if (kind == FLAT && node && node->kind == WEFT_YAML_SCALAR)
		return strcmp(node->text, "false") != 0 &&
		       strcmp(node->text, "no") != 0;
	return !is_empty(node);
}

/* The one kind of a topology, or N_KINDS with err. */
static size_t kind_of(const struct reader *r, const struct weft_yaml_node *node)
{
	size_t kind = N_KINDS;

	for (size_t k = 0; k < N_KINDS; k++) {
		const struct weft_yaml_node *n =
			weft_yaml_find(node, kinds[k].key);

		if (!is_given(k, n))
			continue;
		if (kind != N_KINDS) {
			weft_yaml_fail_key(r->doc, n, r->err,
					   "a topology is of one kind; this "
					   "one is %s and %s",
					   kinds[kind].key, kinds[k].key);
			return N_KINDS;
		}
		kind = k;
	}
	if (kind == N_KINDS)
		weft_yaml_fail(r->doc, node, r->err,
			       "a topology has one of tree, block, ring, "
			       "torus3d and flat");
	return kind;
}

/* ---- the file ---- */

struct choice {
	const struct weft_yaml_node *node, *deflt;
	size_t kind;
	uint32_t n; /* topologies */
};

/* Checks one topology, and whether it is the one to import. */
static int topology_check(struct reader *r, const struct weft_yaml_node *node,
			  struct choice *choice)
{
	static const char *const known[] = {
		"topology", "cluster_default", "tree", "block",
		"ring",	    "torus3d",	       "flat"};
	const char *want = r->input->options->topology, *name;
	const struct weft_yaml_node *flag;
	struct weft_slurm_at at;
	bool deflt = false, better;
	size_t kind;

	if (weft_yaml_expect(r->doc, node, WEFT_YAML_MAP, "a topology",
			     r->err) ||
	    weft_yaml_known_keys(r->doc, node, known, N_KINDS + 2, "a topology",
				 r->err) ||
	    text_of(r, node, "topology", &name, &at))
		return -1;
	if (!name)
		return weft_yaml_fail(r->doc, node, r->err,
				      "a topology without \"topology: NAME\"");
	flag = weft_yaml_find(node, "cluster_default");
	if (flag && weft_yaml_bool(r->doc, flag, &deflt, r->err))
		return -1;
	kind = kind_of(r, node);
	if (kind == N_KINDS ||
	    kinds[kind].read(r, weft_yaml_find(node, kinds[kind].key)))
		return -1;
	weft_slurm_topology_free(&r->t);
	choice->n++;
	better = want ? strcmp(want, name) == 0
		      : !choice->node || (choice->kind == FLAT) ||
				 (deflt && !choice->deflt);
	if (deflt && !choice->deflt)
		choice->deflt = node;
	if (better && (want || !choice->node || kind != FLAT)) {
		choice->node = node;
		choice->kind = kind;
	}
	return 0;
}

static int choose(struct reader *r, struct choice *choice)
{
	const struct weft_yaml_node *root = r->doc->root, *node = root;

	if (root->kind != WEFT_YAML_MAP) {
		if (weft_yaml_expect(r->doc, root, WEFT_YAML_LIST,
				     "topology.yaml", r->err))
			return -1;
		node = root->child;
	}
	for (; node; node = root == node ? NULL : node->next)
		if (topology_check(r, node, choice))
			return -1;
	if (choice->node && choice->kind != FLAT)
		return 0;
	if (r->input->options->topology && !choice->node)
		return weft_fail_at(r->err, WEFT_EINVAL, r->doc->source, 0, 0,
				    "no topology \"%s\" in this file",
				    r->input->options->topology);
	return weft_yaml_fail(r->doc, root, r->err,
			      "a flat topology names no node and no switch");
}

static int others_note(struct reader *r, const struct choice *choice)
{
	const char *name = weft_yaml_find(choice->node, "topology")->text;
	const struct weft_place where = {r->input->source, choice->node->line};

	if (choice->n > 1 &&
	    weft_inventory_note(
		    r->s, WEFT_FINDING_INPUT_PARTIAL, name, where, r->err,
		    "one of %u topologies in the file; --topology NAME "
		    "takes another",
		    choice->n))
		return -1;
	if (choice->deflt && choice->deflt != choice->node &&
	    !r->input->options->topology)
		return weft_inventory_note(
			r->s, WEFT_FINDING_INPUT_PARTIAL, name,
			(struct weft_place){r->input->source,
					    choice->deflt->line},
			r->err,
			"the cluster's default, %s, is flat: it names no node",
			weft_yaml_find(choice->deflt, "topology")->text);
	return 0;
}

static int document_read(struct reader *r)
{
	struct weft_inventory *s = r->s;
	struct choice choice = {.kind = FLAT};
	int rc;

	/* none of it is used unless Slurm would use all of it */
	r->s = NULL;
	rc = choose(r, &choice);
	r->s = s;
	if (rc == 0)
		rc = others_note(r, &choice);
	if (rc == 0)
		rc = kinds[choice.kind].read(
			r, weft_yaml_find(choice.node, kinds[choice.kind].key));
	if (rc == 0 && r->t.n_units)
		rc = weft_slurm_topology_apply(s, &r->t, r->input->options,
					       r->err);
	if (rc == 0 && s->n_hosts == 0)
		rc = weft_yaml_fail(
			r->doc, choice.node, r->err,
			"topology %s names no node",
			weft_yaml_find(choice.node, "topology")->text);
	return rc;
}

int weft_import_slurm_yaml(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err)
{
	struct weft_yaml doc = {0};
	struct reader r = {.s = s, .input = input, .doc = &doc, .err = err};
	int rc;

	if (weft_yaml_parse(input->text, input->size, input->path, &doc, err))
		return -1;
	rc = document_read(&r);
	weft_slurm_topology_free(&r.t);
	weft_yaml_free(&doc);
	return rc;
}

bool weft_slurm_yaml_looks(const char *text, size_t size)
{
	static const char *const starts[] = {"- topology:", "topology:"};

	for (size_t i = 0; i < size; i++)
		for (size_t k = 0; (i == 0 || text[i - 1] == '\n') && k < 2;
		     k++) {
			size_t n = strlen(starts[k]);

			if (n <= size - i &&
			    memcmp(text + i, starts[k], n) == 0)
				return true;
		}
	return false;
}

bool weft_slurm_yaml_is_blank(const char *text, size_t size)
{
	struct weft_yaml doc = {0};
	const struct weft_yaml_node *topology;
	bool blank;

	if (weft_yaml_parse(text, size, "", &doc, NULL))
		return false;
	topology =
		doc.root->kind == WEFT_YAML_LIST ? doc.root->child : doc.root;
	for (blank = true; blank && topology; topology = topology->next)
		for (size_t k = 0; k < FLAT; k++)
			if (is_given(k, weft_yaml_find(topology, kinds[k].key)))
				blank = false;
	weft_yaml_free(&doc);
	return blank;
}
