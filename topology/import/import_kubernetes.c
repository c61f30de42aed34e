/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_kubernetes.c - nodes of a Kubernetes cluster: "kubectl get nodes -o
 * json", or -o yaml, or manifests of nodes
 *
 * Where a node is, its labels say, whose keys differ by who has set them; read
 * is the first family of which a node has any.  GPUs are those of its capacity.
 * Slinky annotates nodes with the line that Slurm gets of them.
 */
#include "base/lines.h"
#include "base/yaml.h"
#include "topology/import/chain.h"
#include "topology/import/json_source.h"
#include "topology/import/names.h"

#include <stdlib.h>
#include <string.h>

/* Labels of one author: levels innermost first, each with other names that it
 * had. */
#define SPELLINGS 2
static const struct family {
	struct {
		const char *key[SPELLINGS], *label;
	} level[4];
	const char *nvlink;
} families[] = {
	{{{{"network.topology.nvidia.com/leaf",
	    "network.topology.nvidia.com/block"},
	   "leaf"},
	  {{"network.topology.nvidia.com/spine"}, "spine"},
	  {{"network.topology.nvidia.com/core",
	    "network.topology.nvidia.com/datacenter"},
	   "core"}},
	 "network.topology.nvidia.com/accelerator"},
	{{{{"fabric.topograph.run/tier-0"}, "leaf"},
	  {{"fabric.topograph.run/tier-1"}, "spine"},
	  {{"fabric.topograph.run/tier-2"}, "core"},
	  {{"fabric.topograph.run/tier-3"}, "zone"}},
	 "accelerator.topograph.run/domain"},
	{{{{"topology.nebius.com/tier-1"}, "leaf"},
	  {{"topology.nebius.com/tier-2"}, "spine"},
	  {{"topology.nebius.com/tier-3"}, "core"},
	  {{"topology.nebius.com/gpu-cluster-id"}, "cluster"}},
	 "topology.nebius.com/tier-0"},
	{{{{"cloud.google.com/gce-topology-subblock"}, "subblock"},
	  {{"cloud.google.com/gce-topology-block"}, "block"}},
	 NULL},
	{{{{"topology.k8s.aws/network-node-layer-4",
	    "topology.k8s.aws/network-node-layer-3"},
	   "leaf"},
	  {{"topology.k8s.aws/network-node-layer-2"}, "spine"},
	  {{"topology.k8s.aws/network-node-layer-1"}, "core"}},
	 NULL},
	{{{{"ib.coreweave.cloud/leafgroup"}, "leaf"},
	  {{"ib.coreweave.cloud/superpod"}, "superpod"},
	  {{"ib.coreweave.cloud/fabric"}, "fabric"}},
	 "ds.coreweave.com/nvlink.domain"},
};

/* Whoever has set the rest, these mean the same. */
static const char *const nvlink_keys[] = {"nvidia.com/gpu.clique",
					  "ds.coreweave.com/nvlink.domain"};
static const char *const rack_keys[] = {"node.coreweave.cloud/rack",
					"topology.kubernetes.io/rack"};
static const char *const gpu_keys[] = {"nvidia.com/gpu", "amd.com/gpu",
				       "habana.ai/gaudi"};
static const char *const kind_keys[] = {"nvidia.com/gpu.product",
					"amd.com/gpu.product-name"};
static const char *const slinky_keys[] = {"topology.slinky.slurm.net/spec",
					  "topology.slinky.slurm.net/line"};

struct nodes {
	struct weft_inventory *s;
	const struct weft_import_input *input;
	struct weft_names names;
	struct weft_error *err;
	uint32_t located;
};

static const char *first_text(const json_t *object, const char *const *keys,
			      size_t n)
{
	const char *text = NULL;

	for (size_t i = 0; i < n && (!text || !*text); i++)
		if (keys[i])
			text = weft_json_text(object, keys[i]);
	return text && *text ? text : NULL;
}

static void labels_read(const json_t *labels, struct weft_located *l)
{
	for (size_t f = 0; f < WEFT_N_OF(families) && l->n == 0; f++) {
		for (size_t i = 0; i < WEFT_N_OF(families[f].level); i++) {
			const char *text = first_text(
				labels, families[f].level[i].key, SPELLINGS);

			if (!text)
				continue;
			l->level[l->n] = text;
			l->label[l->n++] = families[f].level[i].label;
		}
		l->nvlink = first_text(labels, &families[f].nvlink, 1);
	}
	if (!l->nvlink)
		l->nvlink =
			first_text(labels, nvlink_keys, WEFT_N_OF(nvlink_keys));
	l->rack = first_text(labels, rack_keys, WEFT_N_OF(rack_keys));
	l->gpu_kind = first_text(labels, kind_keys, WEFT_N_OF(kind_keys));
}

/* "topo-switch:root:s2,topo-block:b2": units of each topology, outermost first;
 * the one with most is read.  text is cut. */
static void slinky_read(char *text, struct weft_located *l)
{
	char *best = NULL, *topology, *next = text, *unit;
	size_t most = 0;

	while ((topology = strsep(&next, ",")) != NULL) {
		char *units = strchr(topology, ':');
		size_t n = 0;

		for (char *c = units; c; c = strchr(c + 1, ':'))
			n++;
		if (n > most) {
			most = n;
			best = units + 1;
		}
	}
	if (most > WEFT_MAX_LEVELS)
		return;
	for (size_t i = most; best && i-- > 0;) {
		unit = strsep(&best, ":");
		l->level[i] = unit;
		l->label[i] = "unit";
	}
	l->n = most;
}

/* "8", as Kubernetes writes quantities. */
static void gpus_read(const json_t *status, struct weft_located *l)
{
	const json_t *capacity = json_object_get(status, "capacity");

	l->gpus_told = json_is_object(capacity);
	for (size_t i = 0; i < WEFT_N_OF(gpu_keys); i++) {
		const json_t *value = json_object_get(capacity, gpu_keys[i]);
		const char *text = json_string_value(value);
		struct weft_span span = {text, text ? strlen(text) : 0};
		unsigned long n = (unsigned long)json_integer_value(value);

		if (text && !weft_span_uint(span, WEFT_MAX_GPUS_PER_NODE, &n))
			continue;
		if (n && n <= WEFT_MAX_GPUS_PER_NODE)
			l->gpus = (uint32_t)n;
	}
}

static int node_add(struct nodes *n, const json_t *node, size_t index)
{
	const struct weft_place where = {n->input->source, 0};
	const json_t *meta = json_object_get(node, "metadata");
	const char *name = weft_json_text(meta, "name"), *known, *slinky;
	struct weft_located l = {0};
	char *copy = NULL;
	int rc;

	if (!name || !*name)
		return weft_fail_at(n->err, WEFT_EINVAL, n->input->path, 0, 0,
				    "items[%zu]: expected a metadata.name",
				    index);
	known = weft_names_find(&n->names, name);
	l.host = known ? known : name;
	labels_read(json_object_get(meta, "labels"), &l);
	slinky = first_text(json_object_get(meta, "annotations"), slinky_keys,
			    WEFT_N_OF(slinky_keys));
	if (l.n == 0 && slinky) {
		copy = weft_strdup(slinky, n->err);
		if (!copy)
			return -1;
		slinky_read(copy, &l);
	}
	gpus_read(json_object_get(node, "status"), &l);
	n->located += l.n > 0 || l.nvlink;
	rc = weft_located_add(n->s, &l, where, n->err);
	free(copy);
	return rc;
}

/* Of a list of several kinds only nodes count. */
static int item_read(struct nodes *n, const json_t *item, size_t index)
{
	const char *kind = weft_json_text(item, "kind");

	return kind && strcmp(kind, "Node") != 0 ? 0 : node_add(n, item, index);
}

static int nodes_read(struct nodes *n, const json_t *root)
{
	const json_t *items = json_object_get(root, "items");
	int rc = 0;

	if (!items)
		rc = node_add(n, root, 0);
	for (size_t i = 0; rc == 0 && i < json_array_size(items); i++)
		rc = item_read(n, json_array_get(items, i), i);
	if (rc == 0 && n->s->n_hosts == 0)
		rc = weft_fail_at(n->err, WEFT_EINVAL, n->input->path, 0, 0,
				  "no node; expected what \"kubectl get nodes "
				  "-o json\" prints");
	if (rc || n->located)
		return rc;
	return weft_inventory_note(
		n->s, WEFT_FINDING_INPUT_PARTIAL, NULL,
		(struct weft_place){n->input->source, 0}, n->err,
		"no node has a label of topology that weft knows");
}

/* ---- YAML ---- */

/* Scalars become texts; NULL: out of memory. */
static json_t *json_of(const struct weft_yaml_node *node)
{
	json_t *to;
	int rc = 0;

	if (node->kind == WEFT_YAML_SCALAR)
		return json_string(node->text);
	to = node->kind == WEFT_YAML_LIST ? json_array() : json_object();
	for (const struct weft_yaml_node *child = node->child;
	     to && rc == 0 && child; child = child->next)
		rc = child->key ? json_object_set_new(to, child->key,
						      json_of(child))
				: json_array_append_new(to, json_of(child));
	if (rc) {
		json_decref(to);
		return NULL;
	}
	return to;
}

/* Adds a document: a node, or a list of them. */
static int document_add(const struct nodes *n, const char *text, size_t size,
			json_t *items)
{
	struct weft_yaml doc;
	json_t *object, *list;
	int rc;

	if (weft_yaml_parse(text, size, n->input->path, &doc, n->err))
		return -1;
	object = json_of(doc.root);
	weft_yaml_free(&doc);
	list = json_object_get(object, "items");
	rc = list ? json_array_extend(items, list)
		  : json_array_append(items, object);
	json_decref(object);
	return rc ? weft_fail(n->err, WEFT_ENOMEM,
			      "out of memory, or items that are no list")
		  : 0;
}

static bool is_separator(struct weft_span line)
{
	return weft_span_is(weft_span_trim(line), "---");
}

/* Documents with lines "---" between them. */
static json_t *yaml_source(const struct nodes *n)
{
	struct weft_lines lines =
		weft_lines_start(n->input->text, n->input->size);
	const char *from = n->input->text;
	json_t *items = json_array(), *root = NULL;
	struct weft_span line;
	bool filled = false;
	int rc = items ? 0 : -1;

	while (rc == 0 && weft_lines_next(&lines, &line)) {
		if (is_separator(line)) {
			if (filled)
				rc = document_add(n, from,
						  (size_t)(line.at - from),
						  items);
			from = lines.next;
			filled = false;
		} else {
			line = weft_span_trim(line);
			filled = filled || (line.size && *line.at != '#');
		}
	}
	if (rc == 0 && filled)
		rc = document_add(
			n, from,
			(size_t)(n->input->text + n->input->size - from),
			items);
	if (rc == 0)
		root = json_pack("{s:O}", "items", items);
	json_decref(items);
	return root;
}

int weft_import_kubernetes(struct weft_inventory *s,
			   const struct weft_import_input *input,
			   struct weft_error *err)
{
	struct nodes n = {.s = s, .input = input, .err = err};
	const char *at = input->text + strspn(input->text, " \t\r\n");
	json_t *root = *at == '{' || *at == '[' ? weft_json_source(input, err)
						: yaml_source(&n);
	int rc = -1;

	if (root && weft_names_read(&n.names, input->options->names, err) == 0)
		rc = nodes_read(&n, root);
	weft_names_free(&n.names);
	json_decref(root);
	return rc;
}

bool weft_looks_kubernetes(const char *text, size_t size)
{
	static const char *const keys[] = {
		"kubernetes.io/hostname", "network.topology.nvidia.com/",
		"topology.nebius.com/",	  "fabric.topograph.run/",
		"topology.k8s.aws/",	  "ib.coreweave.cloud/",
		"gce-topology-block",	  "topology.slinky.slurm.net/",
	};
	const struct weft_span span = {text, size};

	if (!weft_span_find(span, "metadata"))
		return false;
	for (size_t i = 0; i < WEFT_N_OF(keys); i++)
		if (weft_span_find(span, keys[i]))
			return true;
	return false;
}
