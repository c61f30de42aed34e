/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_load.c - the sections of a fabric file, weft-fabric(5) */
#include "base/bitset.h"
#include "base/suggest.h"
#include "topology/fabric_draft.h"

#include <stdlib.h>
#include <string.h>

#define FORMAT "fabric/1"

static int format_read(struct weft_draft *d, const struct weft_yaml_node *root)
{
	const struct weft_yaml_node *first = root->child;

	if (!first || strcmp(first->key, "weft") != 0)
		return weft_yaml_fail(d->doc, root, d->err,
				      "expected \"weft: " FORMAT
				      "\" as the first key");
	if (first->kind != WEFT_YAML_SCALAR || strcmp(first->text, FORMAT) != 0)
		return weft_yaml_fail(d->doc, first, d->err,
				      "weft: expected " FORMAT
				      ", the format this program reads");
	return 0;
}

static int name_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	if (weft_yaml_expect(d->doc, node, WEFT_YAML_SCALAR, "name", d->err))
		return -1;
	if (!*node->text || strlen(node->text) >= WEFT_NAME_SIZE)
		return weft_yaml_fail(d->doc, node, d->err,
				      "name: expected 1 to %d bytes",
				      WEFT_NAME_SIZE - 1);
	d->name = node->text;
	return 0;
}

static int profile_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	char hint[WEFT_SUGGEST_TEXT];

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_SCALAR, "profile", d->err))
		return -1;
	d->profile = weft_profile_find(node->text);
	if (d->profile)
		return 0;
	return weft_yaml_fail(d->doc, node, d->err,
			      "unknown profile \"%.60s\"; %s", node->text,
			      WEFT_ROW_HINT(node->text, weft_profiles,
					    weft_n_profiles, hint));
}

static int rails_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	uint64_t value = 0;

	if (weft_yaml_uint(d->doc, node, 1, WEFT_MAX_GPUS_PER_NODE, &value,
			   d->err))
		return -1;
	d->rails = (uint32_t)value;
	return 0;
}

static int pxn_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	return weft_yaml_bool(d->doc, node, &d->pxn, d->err);
}

/* "routing: ecmp", or "routing: {policy: ecmp, flows: 4}". */
static int routing_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	static const char *const known[] = {"policy", "flows"};
	const struct weft_yaml_node *policy = node, *flows = NULL;
	uint64_t value = 0;

	if (node->kind == WEFT_YAML_MAP) {
		if (weft_yaml_known_keys(d->doc, node, known, WEFT_N_OF(known),
					 "routing", d->err))
			return -1;
		policy = weft_yaml_find(node, "policy");
		flows = weft_yaml_find(node, "flows");
	}
	if (policy && weft_yaml_expect(d->doc, policy, WEFT_YAML_SCALAR,
				       "routing", d->err))
		return -1;
	for (uint32_t k = 0; policy && k < WEFT_N_ROUTINGS; k++)
		if (strcmp(policy->text, weft_routing_names[k]) == 0)
			d->routing = k;
	if (policy && d->routing == WEFT_N_ROUTINGS)
		return weft_yaml_fail(d->doc, policy, d->err,
				      "routing: expected ecmp, adaptive or "
				      "static, found \"%.60s\"",
				      policy->text);
	if (flows &&
	    weft_yaml_uint(d->doc, flows, 1, WEFT_MAX_FLOWS, &value, d->err))
		return -1;
	d->n_flows = (uint32_t)value;
	return 0;
}

static int disjoint_read(struct weft_draft *d,
			 const struct weft_yaml_node *node)
{
	return weft_yaml_bool(d->doc, node, &d->disjoint, d->err);
}

/* Index of the kind of GPU that a node's line names. */
static int kind_read(struct weft_draft *d, const struct weft_yaml_node *node,
		     uint32_t *kind)
{
	uint32_t k = 0;

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_SCALAR, "kind", d->err))
		return -1;
	if (!*node->text || strlen(node->text) >= WEFT_NAME_SIZE)
		return weft_yaml_fail(d->doc, node, d->err,
				      "kind: expected 1 to %d bytes, such as "
				      "h100",
				      WEFT_NAME_SIZE - 1);
	while (k < d->n_kinds && strcmp(d->kinds[k], node->text) != 0)
		k++;
	if (k == WEFT_MAX_KINDS)
		return weft_yaml_fail(d->doc, node, d->err,
				      "expected at most %d kinds of node",
				      WEFT_MAX_KINDS);
	if (k == d->n_kinds) {
		d->kinds[k] = weft_arena_copy(&d->arena, node->text, d->err);
		if (!d->kinds[k])
			return -1;
		d->n_kinds++;
	}
	*kind = k;
	return 0;
}

/* What a line of `nodes` says of each of its nodes. */
struct node_line {
	uint32_t gpus, kind, n_islands;
	uint32_t *islands;
	uint8_t *numbers;
};

static int islands_fail(struct weft_draft *d, const struct weft_yaml_node *node,
			const struct node_line *line, uint32_t found)
{
	return weft_yaml_fail(d->doc, node, d->err,
			      "nvlink: expected NVLink domains of together %u "
			      "GPUs, such as [6, 2] for 8; found %u",
			      line->gpus, found);
}

/* "[0, 2]": which GPUs of the node one domain has. */
static int island_numbers(struct weft_draft *d,
			  const struct weft_yaml_node *island, uint64_t *taken,
			  struct node_line *line, uint32_t *n)
{
	uint64_t own = 0;
	uint32_t k;

	for (const struct weft_yaml_node *c = island->child; c; c = c->next) {
		uint64_t number = 0;

		if (weft_yaml_uint(d->doc, c, 0, line->gpus - 1, &number,
				   d->err))
			return -1;
		if ((*taken | own) >> number & 1)
			return weft_yaml_fail(d->doc, c, d->err,
					      "nvlink: GPU %u is in two "
					      "NVLink domains; expected each "
					      "in one",
					      (uint32_t)number);
		own |= UINT64_C(1) << number;
	}
	if (!own)
		return weft_yaml_fail(d->doc, island, d->err,
				      "nvlink: expected GPUs in each NVLink "
				      "domain, such as [0, 2]");
	line->islands[line->n_islands++] = weft_mask_count(own);
	*taken |= own;
	weft_mask_foreach (k, own)
		line->numbers[(*n)++] = (uint8_t)k;
	return 0;
}

/* "nvlink: [[0, 2], [1, 3]]": the GPUs of each NVLink domain by number. */
static int numbers_read(struct weft_draft *d, const struct weft_yaml_node *node,
			struct node_line *line)
{
	uint64_t taken = 0;
	uint32_t n = 0, k = 0;

	line->numbers = weft_arena_alloc(&d->arena, line->gpus, d->err);
	if (!line->numbers)
		return -1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next)
		if (weft_yaml_expect(d->doc, c, WEFT_YAML_LIST, "nvlink",
				     d->err) ||
		    island_numbers(d, c, &taken, line, &n))
			return -1;
	if (n != line->gpus)
		return islands_fail(d, node, line, n);
	while (k < n && line->numbers[k] == k)
		k++;
	if (k == n)
		line->numbers = NULL;
	return 0;
}

/* "nvlink: [6, 2]": how many GPUs each NVLink domain has, in order. */
static int islands_read(struct weft_draft *d, const struct weft_yaml_node *node,
			struct node_line *line)
{
	uint32_t sum = 0;

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_LIST, "nvlink", d->err))
		return -1;
	line->islands = weft_arena_alloc(
		&d->arena, node->n_children * sizeof(*line->islands), d->err);
	if (!line->islands)
		return -1;
	if (node->child && node->child->kind == WEFT_YAML_LIST)
		return numbers_read(d, node, line);
	for (const struct weft_yaml_node *c = node->child; c; c = c->next) {
		uint64_t size = 0;

		if (weft_yaml_uint(d->doc, c, 1, WEFT_MAX_GPUS_PER_NODE, &size,
				   d->err))
			return -1;
		line->islands[line->n_islands++] = (uint32_t)size;
		sum += (uint32_t)size;
	}
	return sum == line->gpus ? 0 : islands_fail(d, node, line, sum);
}

static int gpus_read(struct weft_draft *d, const struct weft_yaml_node *node,
		     const struct weft_yaml_node *place, struct node_line *line)
{
	uint64_t value = d->profile->gpus_per_node;

	if (node && (node->kind != WEFT_YAML_SCALAR || *node->text) &&
	    weft_yaml_uint(d->doc, node, 1, WEFT_MAX_GPUS_PER_NODE, &value,
			   d->err))
		return -1;
	line->gpus = (uint32_t)value;
	if (d->rails && line->gpus % d->rails && d->rails % line->gpus)
		return weft_yaml_fail(d->doc, node ? node : place, d->err,
				      "%u GPUs cannot be spread evenly over %u "
				      "rails",
				      line->gpus, d->rails);
	return 0;
}

/* "n[0-7]: 8", "n[0-7]: {gpus: 8, kind: h100, nvlink: [6, 2]}", or "n[0-7]:"
 * for the profile's. */
static int line_read(struct weft_draft *d, const struct weft_yaml_node *place,
		     struct node_line *line)
{
	static const char *const known[] = {"gpus", "kind", "nvlink"};
	const struct weft_yaml_node *node;

	*line = (struct node_line){.kind = WEFT_NONE};
	if (place->kind != WEFT_YAML_MAP)
		return gpus_read(d, place, place, line);
	if (weft_yaml_known_keys(d->doc, place, known, WEFT_N_OF(known),
				 "a node", d->err))
		return -1;
	node = weft_yaml_find(place, "kind");
	if (node && kind_read(d, node, &line->kind))
		return -1;
	if (gpus_read(d, weft_yaml_find(place, "gpus"), place, line))
		return -1;
	node = weft_yaml_find(place, "nvlink");
	return node ? islands_read(d, node, line) : 0;
}

static int node_add(struct weft_draft *d, const struct weft_yaml_node *node,
		    struct weft_draft_name name, const struct node_line *line)
{
	struct weft_draft_thing *thing;

	name.thing = d->n_things;
	name.where = node;
	if (weft_draft_add_name(d, &d->names, name) ||
	    weft_draft_add_thing(d, d->names.item[d->names.n - 1].text, node,
				 DRAFT_NODE))
		return -1;
	thing = &d->things[d->n_things - 1];
	thing->n_gpus = line->gpus;
	thing->kind = line->kind;
	thing->islands = line->islands;
	thing->n_islands = line->n_islands;
	thing->numbers = line->numbers;
	return 0;
}

static int nodes_of_key(struct weft_draft *d, const struct weft_yaml_node *node,
			uint64_t *total)
{
	struct weft_hostlist list = {0};
	struct node_line line;
	int rc = 0;

	if (line_read(d, node, &line) || weft_draft_decode_key(d, node, &list))
		return -1;
	*total += (uint64_t)list.n * line.gpus;
	if (*total > WEFT_MAX_GPUS)
		rc = weft_yaml_fail_key(d->doc, node, d->err,
					"expected at most %u GPUs in a fabric",
					WEFT_MAX_GPUS);
	for (uint32_t i = 0; !rc && i < list.n; i++)
		rc = node_add(d, node,
			      (struct weft_draft_name){.text = list.names[i],
						       .index = i},
			      &line);
	weft_hostlist_free(&list);
	return rc;
}

static int nodes_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	uint64_t total = 0;

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, "nodes", d->err))
		return -1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next)
		if (nodes_of_key(d, c, &total))
			return -1;
	d->n_nodes = d->n_things;
	if (!d->n_nodes)
		return weft_yaml_fail(d->doc, node, d->err,
				      "nodes: expected at least one node");
	return 0;
}

/* Adds the thing that names[0..n) are parts of: one domain, or the bundle of a
 * leaf switch per rail. */
static int bundle_add(struct weft_draft *d, const struct weft_yaml_node *node,
		      char *const *names, struct weft_draft_name part,
		      uint32_t n, uint32_t level)
{
	const char *text = NULL;
	char *encoded = NULL;

	part.thing = d->n_things;
	part.where = node;
	for (uint32_t k = 0; k < n; k++) {
		part.text = names[k];
		if (weft_draft_add_name(d, &d->names, part))
			return -1;
		part.index++;
	}
	text = d->names.item[d->names.n - 1].text;
	if (n > 1) {
		encoded = weft_hostlist_encode((const char *const *)names, n);
		if (!encoded)
			return weft_fail(d->err, WEFT_ENOMEM, "out of memory");
		text = weft_arena_copy(&d->arena, encoded, d->err);
		free(encoded);
		if (!text)
			return -1;
	}
	if (weft_draft_add_thing(d, text, node, level))
		return -1;
	d->things[d->n_things - 1].parts = n;
	return 0;
}

/* Adds the domains that a key names, `per_domain` names each. */
static int domains_of_key(struct weft_draft *d,
			  const struct weft_yaml_node *node, uint32_t level,
			  uint32_t per_domain)
{
	struct weft_hostlist list = {0};
	int rc = 0;

	if (weft_draft_decode_key(d, node, &list))
		return -1;
	if (list.n % per_domain)
		rc = weft_yaml_fail_key(d->doc, node, d->err,
					"unequal rails: %u leaf switches for "
					"%u rails; expected a multiple",
					list.n, per_domain);
	for (uint32_t i = 0; !rc && i < list.n; i += per_domain) {
		struct weft_draft_name part = {.index = i};

		rc = bundle_add(d, node, list.names + i, part, per_domain,
				level);
	}
	if (!rc)
		rc = weft_draft_add_entry(d, node, list.n / per_domain);
	weft_hostlist_free(&list);
	return rc;
}

static int spans_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	for (uint32_t t = 0; t < d->n_nodes; t++)
		if (d->things[t].islands)
			return weft_yaml_fail(
				d->doc, node, d->err,
				"nvlink: node %s has NVLink domains of its "
				"own; "
				"expected no domains that span nodes beside "
				"them",
				d->things[t].name);
	for (const struct weft_yaml_node *c = node->child; c; c = c->next)
		if (domains_of_key(d, c, DRAFT_SPAN, 1))
			return -1;
	return 0;
}

static int nvlink_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	uint64_t value = 0;

	if (!node->n_children &&
	    (node->kind == WEFT_YAML_MAP || !node->text || !*node->text))
		return weft_yaml_fail(d->doc, node, d->err,
				      "nvlink: expected GPUs per domain, or "
				      "lines NAMES: NODES");
	if (node->kind == WEFT_YAML_MAP)
		return spans_read(d, node);
	if (weft_yaml_uint(d->doc, node, 1, WEFT_MAX_GPUS_PER_NODE, &value,
			   d->err))
		return -1;
	d->nvlink_gpus = (uint32_t)value;
	for (uint32_t t = 0; t < d->n_nodes; t++)
		if (!d->things[t].islands &&
		    d->things[t].n_gpus % d->nvlink_gpus)
			return weft_yaml_fail(
				d->doc, node, d->err,
				"nvlink: %u does not divide the %u GPUs of "
				"node %s",
				d->nvlink_gpus, d->things[t].n_gpus,
				d->things[t].name);
	return 0;
}

static int level_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	static const char *const reserved[] = {"nvlink", "node", "gpu", "core",
					       "rack"};
	uint32_t level = DRAFT_NETWORK + d->n_levels;
	uint32_t per_domain = d->n_levels || !d->rails ? 1 : d->rails;

	/* The levels nvlink, node and core come on top. */
	if (d->n_levels == WEFT_MAX_LEVELS - 3)
		return weft_yaml_fail_key(d->doc, node, d->err,
					  "expected at most %d levels",
					  WEFT_MAX_LEVELS - 3);
	for (size_t k = 0; k < WEFT_N_OF(reserved); k++)
		if (strcmp(node->key, reserved[k]) == 0)
			return weft_yaml_fail_key(
				d->doc, node, d->err,
				"level name \"%s\" is reserved; expected "
				"another, such as leaf",
				node->key);
	if (strlen(node->key) >= WEFT_NAME_SIZE ||
	    strspn(node->key, "abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789_-") != strlen(node->key))
		return weft_yaml_fail_key(d->doc, node, d->err,
					  "level name \"%.70s\": expected at "
					  "most 63 letters, digits, _ and -",
					  node->key);
	d->levels[d->n_levels++] = node;
	if (weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, node->key, d->err))
		return -1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next)
		if (domains_of_key(d, c, level, per_domain))
			return -1;
	if (!node->child)
		return weft_yaml_fail(d->doc, node, d->err,
				      "level %s: expected at least one domain",
				      node->key);
	return 0;
}

static int levels_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	if (weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, "levels", d->err))
		return -1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next)
		if (level_read(d, c))
			return -1;
	return 0;
}

static int rack_read(struct weft_draft *d, const struct weft_yaml_node *node)
{
	if (weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, "rack", d->err))
		return -1;
	for (const struct weft_yaml_node *c = node->child; c; c = c->next) {
		uint32_t first = d->racks.n;
		struct weft_hostlist list;
		int rc = 0;

		if (weft_draft_decode_key(d, c, &list))
			return -1;
		for (uint32_t i = 0; !rc && i < list.n; i++) {
			struct weft_draft_name name = {.text = list.names[i],
						       .thing = first + i,
						       .index = i,
						       .where = c};

			rc = weft_draft_add_name(d, &d->racks, name);
		}
		weft_hostlist_free(&list);
		if (rc ||
		    weft_draft_fill_racks(d, c, first, d->racks.n - first))
			return -1;
	}
	return weft_draft_index(d, &d->racks);
}

/* The links are read when the levels are numbered. */
static int links_skip(struct weft_draft *d, const struct weft_yaml_node *node)
{
	return weft_yaml_expect(d->doc, node, WEFT_YAML_MAP, "links", d->err);
}

/* In the order in which they depend on each other, which need not be that of
 * the file. */
static const struct section {
	const char *key;
	int (*read)(struct weft_draft *d, const struct weft_yaml_node *node);
} sections[] = {
	{"name", name_read},	   {"profile", profile_read},
	{"rails", rails_read},	   {"pxn", pxn_read},
	{"routing", routing_read}, {"disjoint", disjoint_read},
	{"nodes", nodes_read},	   {"nvlink", nvlink_read},
	{"levels", levels_read},   {"links", links_skip},
};

/* What the file leaves out is the profile's; its number of flows belongs to its
 * policy. */
static void routing_fill(const struct weft_draft *d, struct weft_fabric *f)
{
	const struct weft_profile *profile = d->profile;

	f->routing =
		d->routing < WEFT_N_ROUTINGS ? d->routing : profile->routing;
	f->n_flows = d->n_flows			      ? d->n_flows
		     : f->routing == profile->routing ? profile->n_flows
						      : 1;
}

/* Rules that span sections. */
static int sections_check(struct weft_draft *d,
			  const struct weft_yaml_node *root)
{
	const struct weft_yaml_node *rails = weft_yaml_find(root, "rails");

	if (!weft_yaml_find(root, "nodes"))
		return weft_yaml_fail(d->doc, root, d->err,
				      "nodes: missing; expected \"nodes:\" "
				      "with lines NAMES: GPUS");
	if (d->rails > 1 && !d->n_levels)
		return weft_yaml_fail_key(d->doc, rails, d->err,
					  "rails: expected \"levels:\" with a "
					  "level of leaf switches");
	if (d->profile->nvlink_nodes > 1 && !weft_yaml_find(root, "nvlink"))
		return weft_yaml_fail_key(
			d->doc, weft_yaml_find(root, "profile"), d->err,
			"profile %s has NVLink domains of %u nodes; expected "
			"\"nvlink:\" with lines NAMES: NODES",
			d->profile->name, d->profile->nvlink_nodes);
	return 0;
}

static int draft_read(struct weft_draft *d)
{
	static const char *const known[] = {
		"weft",	  "name",   "profile", "rails",	 "pxn",	  "disjoint",
		"nodes",  "nvlink", "levels",  "rack",	 "links", "switches",
		"cables", "shapes", "uplinks", "routing"};
	const struct weft_yaml_node *root = d->doc->root, *node;

	if (weft_yaml_expect(d->doc, root, WEFT_YAML_MAP, "the fabric file",
			     d->err) ||
	    format_read(d, root) ||
	    weft_yaml_known_keys(d->doc, root, known, WEFT_N_OF(known),
				 "a fabric file", d->err))
		return -1;
	for (size_t k = 0; k < WEFT_N_OF(sections); k++) {
		node = weft_yaml_find(root, sections[k].key);
		if (node && sections[k].read(d, node))
			return -1;
	}
	if (sections_check(d, root) || weft_draft_index(d, &d->names) ||
	    weft_draft_resolve(d) || weft_draft_complete(d))
		return -1;
	node = weft_yaml_find(root, "rack");
	return node ? rack_read(d, node) : 0;
}

static struct weft_fabric *fabric_of(const struct weft_yaml *doc,
				     struct weft_error *err)
{
	struct weft_draft d = {
		.doc = doc,
		.err = err,
		.name = "",
		.profile = &weft_profiles[0],
		.pxn = true,
		.routing = WEFT_N_ROUTINGS,
	};
	struct weft_fabric *f = NULL;

	if (draft_read(&d) == 0)
		f = weft_draft_build(&d);
	if (f && (weft_draft_links(&d, f) || weft_draft_shapes(&d, f) ||
		  weft_draft_cabling(&d, f) || weft_draft_uplinks(&d, f))) {
		weft_fabric_free(f);
		f = NULL;
	}
	if (f) {
		routing_fill(&d, f);
		weft_draft_distances(f, d.pxn);
		f->memory = d.arena.chunk;
		d.arena.chunk = NULL;
	}
	weft_draft_free(&d);
	return f;
}

struct weft_fabric *weft_fabric_parse(const char *text, size_t size,
				      const char *source,
				      struct weft_error *err)
{
	struct weft_fabric *f;
	struct weft_yaml doc;

	if (weft_yaml_parse(text, size, source, &doc, err))
		return NULL;
	f = fabric_of(&doc, err);
	weft_yaml_free(&doc);
	return f;
}

struct weft_fabric *weft_fabric_load(const char *path, struct weft_error *err)
{
	struct weft_fabric *f;
	struct weft_yaml doc;

	if (weft_yaml_load(path, &doc, err))
		return NULL;
	f = fabric_of(&doc, err);
	weft_yaml_free(&doc);
	return f;
}
