/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_names.c - which host, adapter or switch each node of a subnet is
 *
 * Node descriptions are what someone has set: "host mlx5_3", "host HCA-4",
 * "MF0;switch:MQM9700/U1", or the maker's text where there is none.
 */
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/import/infiniband/ibnet.h"
#include "topology/import/infiniband/ibnet_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names with what no fabric file takes replaced; never empty. */
static const char *name_keep(struct ibnet *net, struct weft_span text)
{
	char name[IBNET_NAME_SIZE];

	ibnet_word_clean(text, name, sizeof(name));
	return weft_arena_copy(&net->arena, name, net->err);
}

static const char *name_of_guid(struct ibnet *net,
				const struct ibnet_node *node)
{
	struct weft_span guid = ibnet_guid(node);
	char name[IBNET_NAME_SIZE];

	if (!guid.size)
		return name_keep(net, node->id);
	snprintf(name, sizeof(name), "0x%.*s", (int)guid.size, guid.at);
	return name_keep(net, (struct weft_span){name, strlen(name)});
}

/* "NAME-GUID", with NAME cut so that it fits. */
static const char *name_with_guid(struct ibnet *net, const char *name,
				  const struct ibnet_node *node)
{
	struct weft_span guid = ibnet_guid(node);
	char text[IBNET_NAME_SIZE];

	if (!guid.size)
		guid = node->id;
	if (guid.size > 20)
		guid.size = 20;
	snprintf(text, sizeof(text), "%.*s-%.*s",
		 (int)(sizeof(text) - guid.size - 2), name, (int)guid.size,
		 guid.at);
	return name_keep(net, (struct weft_span){text, strlen(text)});
}

/* ---- switches ---- */

static int switch_name(struct ibnet *net, struct ibnet_node *node)
{
	struct ibnet_switch_words words;
	char name[2 * IBNET_NAME_SIZE];

	if (!node->desc.size) {
		node->name = name_of_guid(net, node);
		return node->name ? 0 : -1;
	}
	ibnet_switch_words(node->desc, &words);
	snprintf(name, sizeof(name), "%.*s%s%.*s%s%.*s",
		 (int)(words.name.size < 48 ? words.name.size : 48),
		 words.name.at, words.module.size ? "/" : "",
		 (int)(words.module.size < 8 ? words.module.size : 8),
		 words.module.at ? words.module.at : "",
		 words.unit.size ? "/" : "",
		 (int)(words.unit.size < 4 ? words.unit.size : 4),
		 words.unit.at ? words.unit.at : "");
	node->name = name_keep(net, (struct weft_span){name, strlen(name)});
	if (!node->name)
		return -1;
	if (words.module.size || words.unit.size)
		node->part = name_keep(net, words.name);
	if (!node->part && node->chassis) {
		snprintf(name, sizeof(name), "chassis%u", node->chassis);
		node->part =
			name_keep(net, (struct weft_span){name, strlen(name)});
	}
	return 0;
}

/* ---- adapters ---- */

static int adapter_name(struct ibnet *net, struct ibnet_node *node)
{
	struct weft_span guid = ibnet_guid(node);
	struct ibnet_adapter_words words;
	struct weft_span host = ibnet_map_find(net, guid);

	ibnet_adapter_words(node->desc, &words);
	if (host.size)
		words.host = host;
	node->part = words.part.size ? name_keep(net, words.part)
		     : guid.size     ? name_of_guid(net, node)
				     : name_keep(net, node->id);
	if (words.host.size) {
		node->name = name_keep(net, words.host);
		return node->name && node->part ? 0 : -1;
	}
	/* ibsim's ids are the names that someone gave. */
	node->name = name_of_guid(net, node);
	if (!node->name || !node->part)
		return -1;
	if (!guid.size && !node->desc.size)
		return 0;
	node->unnamed = true;
	return weft_inventory_note(
		net->s, WEFT_FINDING_HCA_UNNAMED, node->name,
		(struct weft_place){net->input->source,
				    node->line ? node->line : node->named_line},
		net->err, "its description \"%.*s\" names no host",
		(int)(node->desc.size < 100 ? node->desc.size : 100),
		node->desc.at ? node->desc.at : "");
}

static int nodes_name(struct ibnet *net)
{
	uint32_t dropped = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		struct ibnet_node *node = &net->nodes[i];

		if (node->kind == IBNET_SWITCH) {
			if (switch_name(net, node))
				return -1;
			continue;
		}
		node->dropped = ibnet_is_sharp(node->desc);
		dropped += node->dropped;
		if (!node->dropped && adapter_name(net, node))
			return -1;
	}
	if (!dropped)
		return 0;
	return weft_inventory_note(
		net->s, WEFT_FINDING_INPUT_PARTIAL, NULL,
		(struct weft_place){net->input->source, 0}, net->err,
		"%u SHARP aggregation node%s inside of switches "
		"left out",
		dropped, dropped == 1 ? "" : "s");
}

/* ---- the same name twice ---- */

struct entry {
	const struct ibnet *net;
	uint32_t node;
	uint32_t peer_port; /* of its first link */
};

/* Hosts of one name are often cabled to the same port of each leaf, so that
 * this order tells two of them apart. */
static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	const struct ibnet_node *na = &a->net->nodes[a->node];
	const struct ibnet_node *nb = &b->net->nodes[b->node];
	int order = weft_name_compare(na->name, nb->name);

	if (!order && na->kind == IBNET_CA)
		order = weft_name_compare(na->part, nb->part);
	if (!order)
		order = (a->peer_port > b->peer_port) -
			(a->peer_port < b->peer_port);
	return order ? order : weft_span_compare(na->id, nb->id);
}

/* Tells list[0..n), which have one name, apart. */
static int guids_add(struct ibnet *net, const struct entry *list, uint32_t n)
{
	const char *name = n > 1 ? net->nodes[list[0].node].name : NULL;

	for (uint32_t i = 0; n > 1 && i < n; i++) {
		struct ibnet_node *node = &net->nodes[list[i].node];

		node->name = name_with_guid(net, name, node);
		if (!node->name)
			return -1;
	}
	return 0;
}

static int duplicate_note(struct ibnet *net, const struct ibnet_node *first,
			  const struct ibnet_node *second)
{
	char where[160];

	return weft_inventory_note(
		net->s, WEFT_FINDING_HCA_DUPLICATE, first->name,
		(struct weft_place){net->input->source,
				    second->line ? second->line
						 : second->named_line},
		net->err,
		"\"%s %s\" is the description of %.*s, too (%s): hosts of one "
		"name, told apart by GUID here",
		first->name, first->part, (int)first->id.size, first->id.at,
		weft_inventory_place(
			net->s,
			(struct weft_place){net->input->source, first->line},
			where, sizeof(where)));
}

/* A name that so many adapters have is no host's. */
static int host_scatter(struct ibnet *net, const struct entry *list, uint32_t n)
{
	const struct ibnet_node *first = &net->nodes[list[0].node];
	const char *name = first->name;

	if (weft_inventory_note(
		    net->s, WEFT_FINDING_HCA_DUPLICATE, name,
		    (struct weft_place){net->input->source, first->line},
		    net->err,
		    "%u adapters say that they are of this host; each "
		    "is taken for a host of its own",
		    n))
		return -1;
	return guids_add(net, list, n);
}

/* Adapters list[0..n) say that they are of one host.  Where one adapter is
 * there twice there are several hosts: the k-th of each is the k-th host's. */
static int host_part(struct ibnet *net, const struct entry *list, uint32_t n)
{
	const char **names = weft_calloc(n, sizeof(*names), net->err);
	const char *name = net->nodes[list[0].node].name;
	uint32_t copy = 0, copies = 0;
	int rc = names ? 0 : -1;

	if (rc == 0 && n > IBNET_MAX_PARTS)
		rc = host_scatter(net, list, n);

	for (uint32_t i = 1; rc == 0 && n <= IBNET_MAX_PARTS && i < n; i++) {
		struct ibnet_node *last = &net->nodes[list[i - 1].node];
		struct ibnet_node *node = &net->nodes[list[i].node];

		copy = strcmp(node->part, last->part) == 0 ? copy + 1 : 0;
		if (copy > copies) {
			copies = copy;
			rc = duplicate_note(net, last, node);
			names[copy] = name_with_guid(net, name, node);
			if (!names[0])
				names[0] = name_with_guid(
					net, name,
					&net->nodes[list[i - 1].node]);
		}
	}
	for (uint32_t i = 0; rc == 0 && copies && i < n; i++) {
		struct ibnet_node *node = &net->nodes[list[i].node];

		copy = i && strcmp(node->part,
				   net->nodes[list[i - 1].node].part) == 0
			       ? copy + 1
			       : 0;
		node->name = names[copy];
		if (!node->name)
			rc = -1;
	}
	free(names);
	return rc;
}

static uint32_t entries_list(const struct ibnet *net, enum ibnet_kind kind,
			     const uint32_t *peer_port, struct entry *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++)
		if (net->nodes[i].kind == kind && !net->nodes[i].dropped)
			list[n++] = (struct entry){net, i, peer_port[i]};
	WEFT_SORT(list, n, compare_entries);
	return n;
}

/* ---- into the inventory ---- */

static const char *guid_text(const struct ibnet_node *node, char *text,
			     size_t size)
{
	struct weft_span guid = ibnet_guid(node);

	if (!guid.size)
		return NULL;
	snprintf(text, size, "0x%.*s", (int)guid.size, guid.at);
	for (char *c = text; *c; c++)
		if (*c >= 'A' && *c <= 'F')
			*c = (char)(*c - 'A' + 'a');
	return text;
}

static struct weft_place node_place(const struct ibnet *net,
				    const struct ibnet_node *node)
{
	return (struct weft_place){net->input->source,
				   node->line ? node->line : node->named_line};
}

static int switch_add(struct ibnet *net, struct ibnet_node *node)
{
	struct weft_inventory *s = net->s;
	struct weft_inventory_switch *sw;
	char guid[32];

	node->index = weft_inventory_switch(s, node->name,
					    node_place(net, node), net->err);
	if (node->index == WEFT_NONE)
		return -1;
	sw = &s->switches[node->index];
	if (!sw->guid && guid_text(node, guid, sizeof(guid))) {
		sw->guid = weft_arena_copy(&s->arena, guid, net->err);
		if (!sw->guid)
			return -1;
	}
	if (!sw->chassis && node->part) {
		sw->chassis = weft_arena_copy(&s->arena, node->part, net->err);
		if (!sw->chassis)
			return -1;
	}
	/* Port 0 is the switch itself; the aggregation node's is none. */
	if (node->n_ports)
		sw->n_ports = node->n_ports;
	return 0;
}

static int adapter_add(struct ibnet *net, struct ibnet_node *node)
{
	struct weft_place where = node_place(net, node);
	char guid[32];

	node->index = weft_inventory_host(net->s, node->name, where, net->err);
	if (node->index == WEFT_NONE)
		return -1;
	if (node->n_linked > 1)
		return 0; /* its ports become adapters with their cables */
	return weft_inventory_hca(net->s, node->index, node->part,
				  guid_text(node, guid, sizeof(guid)), where,
				  net->err) == WEFT_NONE
		       ? -1
		       : 0;
}

static int kind_name(struct ibnet *net, enum ibnet_kind kind,
		     const uint32_t *peer_port, struct entry *list)
{
	uint32_t n = entries_list(net, kind, peer_port, list);

	for (uint32_t i = 0, end; i < n; i = end) {
		const char *name = net->nodes[list[i].node].name;

		for (end = i + 1;
		     end < n &&
		     strcmp(net->nodes[list[end].node].name, name) == 0;
		     end++)
			;
		if (kind == IBNET_SWITCH ? guids_add(net, list + i, end - i)
					 : host_part(net, list + i, end - i))
			return -1;
	}
	n = entries_list(net, kind, peer_port, list);
	for (uint32_t i = 0; i < n; i++) {
		struct ibnet_node *node = &net->nodes[list[i].node];

		if (kind == IBNET_SWITCH ? switch_add(net, node)
					 : adapter_add(net, node))
			return -1;
	}
	return 0;
}

/* A switch whose own line does not say how many ports it has (-p, or a capture
 * that was cut off) has as many as are seen. */
static void ports_count(struct ibnet *net)
{
	for (uint32_t i = 0; i < net->n_ports; i++) {
		const struct ibnet_port *port = &net->ports[i];
		struct ibnet_node *node = &net->nodes[port->node];

		if (port->port > node->n_ports)
			node->n_ports = port->port;
		if (port->peer == WEFT_NONE)
			continue;
		node = &net->nodes[port->peer];
		if (port->peer_port > node->n_ports)
			node->n_ports = port->peer_port;
	}
}

/* Links of each node, by its own section or by those of its peers, and the port
 * at the other end of its first. */
static void links_count(struct ibnet *net, uint32_t *peer_port)
{
	ports_count(net);
	for (uint32_t i = 0; i < net->n_ports; i++) {
		const struct ibnet_port *port = &net->ports[i];

		if (port->peer == WEFT_NONE)
			continue;
		net->nodes[port->node].n_linked++;
		if (!peer_port[port->node])
			peer_port[port->node] = port->peer_port;
	}
	for (uint32_t i = 0; i < net->n_ports; i++) {
		const struct ibnet_port *port = &net->ports[i];

		if (port->peer == WEFT_NONE || net->nodes[port->peer].line)
			continue;
		net->nodes[port->peer].n_linked++;
		if (!peer_port[port->peer])
			peer_port[port->peer] = port->port;
	}
}

int ibnet_name(struct ibnet *net)
{
	struct entry *list = weft_calloc(net->n_nodes, sizeof(*list), net->err);
	uint32_t *peer_port =
		weft_calloc(net->n_nodes, sizeof(*peer_port), net->err);
	int rc = list && peer_port ? 0 : -1;

	if (rc == 0)
		links_count(net, peer_port);
	if (rc == 0)
		rc = ibnet_map_read(net);
	if (rc == 0)
		rc = nodes_name(net);
	if (rc == 0)
		rc = kind_name(net, IBNET_SWITCH, peer_port, list);
	if (rc == 0)
		rc = kind_name(net, IBNET_CA, peer_port, list);
	free(list);
	free(peer_port);
	return rc;
}
