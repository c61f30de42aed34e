/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_topograph.c - what NVIDIA topograph reads and writes
 *
 * Models (YAML):
 *	switches: {core: {switches: [leaf-1, leaf-2]}}
 *	blocks:
 *	  - {switch: leaf-1, nodes: ["n[1-18]"],
 *	     annotations: {accelerator.topology.test/domain: nvl-1}}
 * Its graph engine's answer (JSON), layers closest first:
 *	{"instances": [{"id": "n1", "network_layers": ["leaf-1", "core"],
 *	  "labels": {"accelerator.topograph.run/domain": "nvl-1"}}]}
 * NetQ's answers, which it asks for: the graph of links, import_netq.c, and the
 * list of compute nodes with their NVLink domains.
 */
#include "base/compare.h"
#include "base/hostlist.h"
#include "base/lines.h"
#include "base/yaml.h"
#include "topology/import/chain.h"
#include "topology/import/json_source.h"
#include "topology/import/names.h"
#include "topology/import/slurm/slurm_topology.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- answers of NVIDIA NetQ ---- */

/* [{"nodes": [{"compounded_nodes": [
 *	    {"id": "node0", "name": "leaf1", "device_type": "switch",
 *	     "tier": 1}]}],
 *	  "links": [{"compounded_links": [{"interfaces": [
 *	    {"node": "node0", "interface": "swp1"},
 *	    {"node": "node2", "interface": "ens4f0"}]}]}]}]
 *
 *	[{"Name": "n1", "DomainUUID": "3fbf...", "GpuIDList": ["...", ...],
 *	  "Health": "HEALTHY"}]
 */

/* A device: its id in the document, and what it is in the inventory. */
struct device {
	const char *id; /* first: weft_compare_texts looks at nothing else */
	struct weft_end end;
};

struct netq {
	struct weft_inventory *s;
	struct weft_place where;
	const char *path;
	struct weft_error *err;
	struct device *devices; /* sorted by id once all are in */
	size_t n;
	uint32_t room;
};

static int device_add(struct netq *q, const json_t *node)
{
	const char *id = weft_json_text(node, "id");
	const char *name = weft_json_text(node, "name");
	const char *type = weft_json_text(node, "device_type");
	json_int_t tier = json_integer_value(json_object_get(node, "tier"));
	struct device *d;

	if (!id || !name || !*name || !type)
		return weft_fail_at(q->err, WEFT_EINVAL, q->path, 0, 0,
				    "a device without id, name or device_type");
	if (WEFT_GROW(q->devices, q->n, q->room, q->err))
		return -1;
	d = &q->devices[q->n++];
	*d = (struct device){id, {.hca = WEFT_NONE}};
	if (strcmp(type, "switch") == 0) {
		d->end.kind = WEFT_END_SWITCH;
		d->end.index =
			weft_inventory_switch(q->s, name, q->where, q->err);
		if (d->end.index != WEFT_NONE && tier > 0 && tier < 64)
			q->s->switches[d->end.index].tier = (uint32_t)tier;
	} else {
		d->end.kind = WEFT_END_HOST;
		d->end.index =
			weft_inventory_host(q->s, name, q->where, q->err);
	}
	return d->end.index == WEFT_NONE ? -1 : 0;
}

static int devices_add(struct netq *q, const json_t *graph)
{
	const json_t *tiers = json_object_get(graph, "nodes");

	for (size_t i = 0; i < json_array_size(tiers); i++) {
		const json_t *nodes = json_object_get(json_array_get(tiers, i),
						      "compounded_nodes");

		for (size_t k = 0; k < json_array_size(nodes); k++)
			if (device_add(q, json_array_get(nodes, k)))
				return -1;
	}
	if (q->n == 0)
		return weft_fail_at(q->err, WEFT_EINVAL, q->path, 0, 0,
				    "a graph of links without nodes");
	WEFT_SORT(q->devices, q->n, weft_compare_texts);
	return 0;
}

/* One end; 1 where the device is not in the list. */
static int end_find(struct netq *q, const json_t *interface,
		    struct weft_end *end)
{
	struct device key = {.id = weft_json_text(interface, "node")};
	const char *port = weft_json_text(interface, "interface");
	const struct device *d =
		key.id ? bsearch(&key, q->devices, q->n, sizeof(key),
				 weft_compare_texts)
		       : NULL;

	if (!d)
		return 1;
	*end = d->end;
	if (end->kind == WEFT_END_HOST && port && *port) {
		end->hca = weft_inventory_hca(q->s, end->index, port, NULL,
					      q->where, q->err);
		if (end->hca == WEFT_NONE)
			return -1;
	}
	return 0;
}

static int cable_add(struct netq *q, const json_t *link)
{
	const json_t *ends = json_object_get(link, "interfaces");
	struct weft_inventory_cable cable = {.n = 1, .where = q->where};
	int a = 1, b = 1;

	if (json_array_size(ends) == 2) {
		a = end_find(q, json_array_get(ends, 0), &cable.a);
		b = end_find(q, json_array_get(ends, 1), &cable.b);
	}
	if (a < 0 || b < 0)
		return -1;
	if (a || b ||
	    (cable.a.kind == cable.b.kind && cable.a.index == cable.b.index))
		return weft_inventory_note(
			q->s, WEFT_FINDING_LINE_IGNORED,
			weft_json_text(link, "id"), q->where, q->err,
			"a link without two devices that are "
			"listed");
	if (cable.a.kind == WEFT_END_SWITCH && cable.b.kind == WEFT_END_HOST) {
		struct weft_end host = cable.b;

		cable.b = cable.a;
		cable.a = host;
	}
	return weft_inventory_add_cable(q->s, &cable, q->err);
}

static int links_add(struct netq *q, const json_t *graph)
{
	const json_t *links = json_object_get(graph, "links");

	for (size_t i = 0; i < json_array_size(links); i++) {
		const json_t *cables = json_object_get(json_array_get(links, i),
						       "compounded_links");

		for (size_t k = 0; k < json_array_size(cables); k++)
			if (cable_add(q, json_array_get(cables, k)))
				return -1;
	}
	return 0;
}

/* The graph of links, {"links": [...], "nodes": [...]}: cables. */
static int weft_netq_links(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   const json_t *graph, struct weft_error *err)
{
	struct netq q = {.s = s,
			 .where = {input->source, 0},
			 .path = input->path,
			 .err = err};
	int rc = devices_add(&q, graph) || links_add(&q, graph) ? -1 : 0;

	free(q.devices);
	return rc;
}

static int node_add(struct netq *q, const json_t *node, size_t index)
{
	const char *name = weft_json_text(node, "Name");
	const char *domain = weft_json_text(node, "DomainUUID");
	const char *health = weft_json_text(node, "Health");
	size_t gpus = json_array_size(json_object_get(node, "GpuIDList"));
	uint32_t host;

	if (!name || !*name || gpus > WEFT_MAX_GPUS_PER_NODE)
		return weft_fail_at(q->err, WEFT_EINVAL, q->path, 0, 0,
				    "node %zu: expected a Name, and at most %u "
				    "GPUs in GpuIDList",
				    index, WEFT_MAX_GPUS_PER_NODE);
	host = weft_inventory_host(q->s, name, q->where, q->err);
	if (host == WEFT_NONE ||
	    (gpus && weft_inventory_set_gpus(q->s, host, (uint32_t)gpus,
					     q->where, q->err)) ||
	    (domain && *domain &&
	     weft_inventory_set_text(q->s, host, WEFT_HOST_NVLINK, domain,
				     q->where, q->err)))
		return -1;
	return health && *health && strcmp(health, "HEALTHY") != 0
		       ? weft_inventory_set_text(q->s, host,
						 WEFT_HOST_NVLINK_STATE, health,
						 q->where, q->err)
		       : 0;
}

/* The list of compute nodes: GPUs and NVLink domains. */
static int weft_netq_nodes(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   const json_t *list, struct weft_error *err)
{
	struct netq q = {.s = s,
			 .where = {input->source, 0},
			 .path = input->path,
			 .err = err};

	for (size_t i = 0; i < json_array_size(list); i++)
		if (node_add(&q, json_array_get(list, i), i))
			return -1;
	return 0;
}

/* ---- models ---- */

struct model {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	const struct weft_yaml *doc;
	struct weft_error *err;
};

static struct weft_place place_of(const struct model *m,
				  const struct weft_yaml_node *node)
{
	return (struct weft_place){m->input->source, node->line};
}

/* The switches below each. */
static int switch_add(struct model *m, const struct weft_yaml_node *node)
{
	const struct weft_yaml_node *list = weft_yaml_find(node, "switches");
	uint32_t parent, child;

	if (weft_yaml_expect(m->doc, node, WEFT_YAML_MAP, "a switch", m->err) ||
	    (list && weft_yaml_expect(m->doc, list, WEFT_YAML_LIST, "switches",
				      m->err)))
		return -1;
	parent = weft_inventory_switch(m->s, node->key, place_of(m, node),
				       m->err);
	if (parent == WEFT_NONE)
		return -1;
	for (const struct weft_yaml_node *n = list ? list->child : NULL; n;
	     n = n->next) {
		if (weft_yaml_expect(m->doc, n, WEFT_YAML_SCALAR, "a switch",
				     m->err))
			return -1;
		child = weft_inventory_switch(m->s, n->text, place_of(m, n),
					      m->err);
		if (child == parent)
			return weft_yaml_fail(m->doc, n, m->err,
					      "switch %s is below itself",
					      node->key);
		if (child == WEFT_NONE ||
		    weft_inventory_add_edge(m->s, parent, WEFT_END_SWITCH,
					    child, place_of(m, n),
					    m->err) == WEFT_NONE)
			return -1;
	}
	return 0;
}

/* The NVLink domain that a block's annotations name, or NULL. */
static const char *domain_of(const struct weft_yaml_node *block)
{
	static const char *const keys[] = {
		"accelerator.topology.test/domain",
		"accelerator.topograph.run/domain",
	};
	static const char *const maps[] = {"annotations", "labels"};

	for (size_t k = 0; k < 4; k++) {
		const struct weft_yaml_node *map =
			weft_yaml_find(block, maps[k / 2]);
		const struct weft_yaml_node *node =
			map && map->kind == WEFT_YAML_MAP
				? weft_yaml_find(map, keys[k % 2])
				: NULL;

		if (node && node->kind == WEFT_YAML_SCALAR && *node->text)
			return node->text;
	}
	return NULL;
}

static int hosts_add(struct model *m, const struct weft_yaml_node *node,
		     uint32_t sw, const char *domain)
{
	const struct weft_slurm_at at = {m->doc->source, m->input->source,
					 node->line, node->text_column};
	struct weft_hostlist list = {0};
	int rc;

	if (weft_yaml_expect(m->doc, node, WEFT_YAML_SCALAR, "nodes", m->err))
		return -1;
	rc = weft_slurm_hosts(node->text, at, &list, m->err);
	for (uint32_t i = 0; rc == 0 && i < list.n; i++) {
		uint32_t host = weft_inventory_host(m->s, list.names[i],
						    place_of(m, node), m->err);

		if (host == WEFT_NONE ||
		    weft_inventory_add_edge(m->s, sw, WEFT_END_HOST, host,
					    place_of(m, node),
					    m->err) == WEFT_NONE)
			rc = -1;
		else if (domain)
			rc = weft_inventory_set_text(m->s, host,
						     WEFT_HOST_NVLINK, domain,
						     place_of(m, node), m->err);
	}
	weft_hostlist_free(&list);
	return rc;
}

static int block_add(struct model *m, const struct weft_yaml_node *block)
{
	const struct weft_yaml_node *name, *nodes;
	uint32_t sw;

	if (weft_yaml_expect(m->doc, block, WEFT_YAML_MAP, "a block", m->err))
		return -1;
	name = weft_yaml_find(block, "switch");
	nodes = weft_yaml_find(block, "nodes");
	if (!name || name->kind != WEFT_YAML_SCALAR || !*name->text || !nodes)
		return weft_yaml_fail(m->doc, block, m->err,
				      "a block has \"switch: NAME\" and "
				      "\"nodes: [LIST]\"");
	sw = weft_inventory_switch(m->s, name->text, place_of(m, name), m->err);
	if (sw == WEFT_NONE)
		return -1;
	if (nodes->kind == WEFT_YAML_SCALAR)
		return hosts_add(m, nodes, sw, domain_of(block));
	if (weft_yaml_expect(m->doc, nodes, WEFT_YAML_LIST, "nodes", m->err))
		return -1;
	for (nodes = nodes->child; nodes; nodes = nodes->next)
		if (hosts_add(m, nodes, sw, domain_of(block)))
			return -1;
	return 0;
}

static int model_parts(struct model *m)
{
	const struct weft_yaml_node *root = m->doc->root, *switches, *blocks;

	if (weft_yaml_expect(m->doc, root, WEFT_YAML_MAP, "a topograph model",
			     m->err))
		return -1;
	switches = weft_yaml_find(root, "switches");
	blocks = weft_yaml_find(root, "blocks");
	if (!blocks)
		return weft_yaml_fail(m->doc, root, m->err,
				      "a topograph model has \"blocks\", and "
				      "above them \"switches\"");
	if (weft_yaml_expect(m->doc, blocks, WEFT_YAML_LIST, "blocks",
			     m->err) ||
	    (switches && weft_yaml_expect(m->doc, switches, WEFT_YAML_MAP,
					  "switches", m->err)))
		return -1;
	for (const struct weft_yaml_node *n = switches ? switches->child : NULL;
	     n; n = n->next)
		if (switch_add(m, n))
			return -1;
	for (const struct weft_yaml_node *n = blocks->child; n; n = n->next)
		if (block_add(m, n))
			return -1;
	return 0;
}

static int model_read(struct weft_inventory *s,
		      const struct weft_import_input *input,
		      struct weft_error *err)
{
	struct weft_yaml doc = {0};
	struct model m = {.s = s, .input = input, .doc = &doc, .err = err};
	int rc;

	if (weft_yaml_parse(input->text, input->size, input->path, &doc, err))
		return -1;
	rc = model_parts(&m);
	weft_yaml_free(&doc);
	return rc;
}

/* ---- graphs ---- */

struct graph {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_names names;
	struct weft_error *err;
};

static int graph_fail(const struct graph *g, size_t index, const char *what)
{
	return weft_fail_at(g->err, WEFT_EINVAL, g->input->path, 0, 0,
			    "instances[%zu]: %s", index, what);
}

static int instance_add(struct graph *g, const json_t *instance, size_t index)
{
	const struct weft_place where = {g->input->source, 0};
	const json_t *layers = json_object_get(instance, "network_layers");
	const char *id = weft_json_text(instance, "id"), *known;
	const char *names[WEFT_MAX_LEVELS], *domain;
	size_t n = json_array_size(layers);
	uint32_t host;

	if (!id || !*id)
		return graph_fail(g, index, "expected an id");
	if (n > WEFT_MAX_LEVELS)
		return graph_fail(g, index, "too many network_layers");
	for (size_t i = 0; i < n; i++) {
		names[n - 1 - i] = json_string_value(json_array_get(layers, i));
		if (!names[n - 1 - i] || !*names[n - 1 - i])
			return graph_fail(g, index,
					  "network_layers holds something that "
					  "is no name");
	}
	known = weft_names_find(&g->names, id);
	host = weft_inventory_host(g->s, known ? known : id, where, g->err);
	if (host == WEFT_NONE ||
	    weft_chain_add(g->s, names, n, host, where, g->err))
		return -1;
	domain = weft_json_text(json_object_get(instance, "labels"),
				"accelerator.topograph.run/domain");
	return domain && *domain
		       ? weft_inventory_set_text(g->s, host, WEFT_HOST_NVLINK,
						 domain, where, g->err)
		       : 0;
}

static int graph_read(struct weft_inventory *s,
		      const struct weft_import_input *input, const json_t *list,
		      struct weft_error *err)
{
	struct graph g = {.s = s, .input = input, .err = err};
	int rc = weft_names_read(&g.names, input->options->names, err);

	if (rc == 0 && json_array_size(list) == 0)
		rc = weft_fail_at(err, WEFT_EINVAL, input->path, 0, 0,
				  "a graph without instances");
	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
		rc = instance_add(&g, json_array_get(list, i), i);
	weft_names_free(&g.names);
	return rc;
}

/* ---- which of them ---- */

static int json_choose(struct weft_inventory *s,
		       const struct weft_import_input *input,
		       const json_t *root, struct weft_error *err)
{
	const json_t *first = json_array_get(root, 0);
	const char *what = "a JSON document that is neither topograph's graph "
			   "(\"instances\") nor an answer of NetQ";

	if (json_object_get(root, "instances"))
		return graph_read(s, input, json_object_get(root, "instances"),
				  err);
	if (json_object_get(first, "links"))
		return weft_netq_links(s, input, first, err);
	if (json_object_get(first, "DomainUUID"))
		return weft_netq_nodes(s, input, root, err);
	if (json_object_get(root, "provider") &&
	    json_object_get(root, "engine"))
		what = "a request to topograph, which says whom to ask, not "
		       "what the topology is; import the answer";
	else if (json_object_get(root, "Instances"))
		what = "an answer of AWS: import it as aws";
	return weft_fail_at(err, WEFT_EINVAL, input->path, 0, 0, "%s", what);
}

static bool is_json(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && isspace((unsigned char)text[i]))
		i++;
	return i < size && (text[i] == '{' || text[i] == '[');
}

int weft_import_topograph(struct weft_inventory *s,
			  const struct weft_import_input *input,
			  struct weft_error *err)
{
	json_t *root;
	int rc;

	if (!is_json(input->text, input->size))
		return model_read(s, input, err);
	root = weft_json_source(input, err);
	rc = root ? json_choose(s, input, root, err) : -1;
	json_decref(root);
	return rc;
}

bool weft_topograph_looks(const char *text, size_t size)
{
	const struct weft_span span = {text, size};

	if (is_json(text, size))
		return weft_span_find(span, "\"network_layers\"") ||
		       weft_span_find(span, "\"compounded_links\"") ||
		       weft_span_find(span, "\"DomainUUID\"");
	return weft_span_find(span, "\nblocks:") != NULL &&
	       weft_span_find(span, "switch:") != NULL;
}
