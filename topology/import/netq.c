/* SPDX-License-Identifier: GPL-3.0-or-later */
/* netq.c - answers of NVIDIA NetQ
 *
 *	[{"nodes": [{"compounded_nodes": [
 *	    {"id": "node0", "name": "leaf1", "device_type": "switch",
 *	     "tier": 1}]}],
 *	  "links": [{"compounded_links": [{"interfaces": [
 *	    {"node": "node0", "interface": "swp1"},
 *	    {"node": "node2", "interface": "ens4f0"}]}]}]}]
 *
 *	[{"Name": "n1", "DomainUUID": "3fbf...", "GpuIDList": ["...", ...],
 *	  "Health": "HEALTHY"}]
 */
#include "topology/import/netq.h"

#include <stdlib.h>
#include <string.h>

/* A device: its id in the document, and what it is in the inventory. */
struct device {
	const char *id;
	struct weft_end end;
};

struct netq {
	struct weft_inventory *s;
	struct weft_place where;
	const char *path;
	struct weft_error *err;
	struct device *devices; /* sorted by id once all are in */
	size_t n, room;
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
	if (q->n == q->room) {
		size_t room = q->room ? 2 * q->room : 64;

		d = weft_realloc(q->devices, room, sizeof(*d), q->err);
		if (!d)
			return -1;
		q->devices = d;
		q->room = room;
	}
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

static int compare_devices(const void *pa, const void *pb)
{
	const struct device *a = pa, *b = pb;

	return strcmp(a->id, b->id);
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
	qsort(q->devices, q->n, sizeof(*q->devices), compare_devices);
	return 0;
}

/* One end; 1 where the device is not in the list. */
static int end_find(struct netq *q, const json_t *interface,
		    struct weft_end *end)
{
	struct device key = {.id = weft_json_text(interface, "node")};
	const char *port = weft_json_text(interface, "interface");
	const struct device *d = key.id ? bsearch(&key, q->devices, q->n,
						  sizeof(key), compare_devices)
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

int weft_netq_links(struct weft_inventory *s,
		    const struct weft_import_input *input, const json_t *graph,
		    struct weft_error *err)
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

int weft_netq_nodes(struct weft_inventory *s,
		    const struct weft_import_input *input, const json_t *list,
		    struct weft_error *err)
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
