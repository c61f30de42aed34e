/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_cables.c - what both ends of each link say, as cables
 *
 * Each link is listed from either end.  A capture takes minutes in which people
 * move cables, so that the ends may disagree; and it may be cut off before the
 * other end's section.
 */
#include "topology/import/infiniband/ibnet.h"

#include "base/compare.h"

#include <stdio.h>
#include <stdlib.h>

WEFT_COMPARATOR(compare_ports, struct ibnet_port,
		WEFT_UP(node) WEFT_UP(port) WEFT_KEY((a->peer == WEFT_NONE) -
						     (b->peer == WEFT_NONE))
			WEFT_UP(line));

WEFT_COMPARATOR(compare_places, struct ibnet_port, WEFT_UP(node) WEFT_UP(port));

/* Once each port is there once. */
static const struct ibnet_port *port_find(const struct ibnet *net,
					  uint32_t node, uint32_t port)
{
	const struct ibnet_port key = {.node = node, .port = port};

	return bsearch(&key, net->ports, net->n_ports, sizeof(key),
		       compare_places);
}

static struct weft_place port_place(const struct ibnet *net,
				    const struct ibnet_port *port)
{
	return (struct weft_place){net->input->source, port->line};
}

/* "leaf07[3]" or "n012:mlx5_3". */
static const char *port_text(const struct ibnet *net, uint32_t node,
			     uint32_t port, char *text, size_t size)
{
	const struct ibnet_node *n = &net->nodes[node];

	if (n->kind == IBNET_SWITCH)
		snprintf(text, size, "%s[%u]", n->name, port);
	else
		snprintf(text, size, "%s:%s", n->name, n->part);
	return text;
}

/* Sections that were printed twice say the same of a port, or not. */
static int repeats_drop(struct ibnet *net)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < net->n_ports; i++) {
		const struct ibnet_port *port = &net->ports[i];
		const struct ibnet_port *last =
			kept ? &net->ports[kept - 1] : NULL;
		char place[160];

		if (!last || last->node != port->node ||
		    last->port != port->port) {
			net->ports[kept++] = *port;
			continue;
		}
		if (port->peer == WEFT_NONE ||
		    (last->peer == port->peer &&
		     last->peer_port == port->peer_port))
			continue;
		if (weft_inventory_note(
			    net->s, WEFT_FINDING_LINK_ENDS_DIFFER,
			    port_text(net, port->node, port->port, place,
				      sizeof(place)),
			    port_place(net, port), net->err,
			    "the port is listed twice with different "
			    "peers; the first is kept"))
			return -1;
	}
	net->n_ports = kept;
	return 0;
}

/* ---- one link ---- */

/* An adapter of several linked ports is one per port. */
static int end_fill(struct ibnet *net, uint32_t node, uint32_t port,
		    struct weft_place where, struct weft_end *end)
{
	const struct ibnet_node *n = &net->nodes[node];
	char name[IBNET_NAME_SIZE + 16], guid[32];
	struct weft_span id = ibnet_guid(n);

	*end = (struct weft_end){
		.kind = n->kind == IBNET_SWITCH ? WEFT_END_SWITCH
						: WEFT_END_HOST,
		.index = n->index,
		.hca = WEFT_NONE,
		.port = port,
	};
	if (n->kind == IBNET_SWITCH)
		return 0;
	snprintf(name, sizeof(name), n->n_linked > 1 ? "%s/%u" : "%s", n->part,
		 port);
	snprintf(guid, sizeof(guid), "0x%.*s", (int)id.size, id.at);
	end->hca = weft_inventory_hca(net->s, n->index, name,
				      id.size ? guid : NULL, where, net->err);
	return end->hca == WEFT_NONE ? -1 : 0;
}

static int rate_note(struct ibnet *net, const struct ibnet_port *port)
{
	char place[160];

	return weft_inventory_note(
		net->s, WEFT_FINDING_RATE_UNKNOWN,
		port_text(net, port->node, port->port, place, sizeof(place)),
		port_place(net, port), net->err,
		"the link's speed is not told");
}

/* far: what the other end says, or NULL. */
static int cable_add(struct ibnet *net, const struct ibnet_port *near,
		     const struct ibnet_port *far)
{
	struct weft_inventory_cable cable = {
		.n = 1,
		.rate_bytes_per_s = near->rate_bytes_per_s,
		.width = near->width,
		.where = port_place(net, near),
	};
	bool turn = net->nodes[near->node].kind == IBNET_SWITCH;

	if (far && far->rated == IBNET_RATE_KNOWN &&
	    (near->rated != IBNET_RATE_KNOWN ||
	     far->rate_bytes_per_s < near->rate_bytes_per_s)) {
		cable.rate_bytes_per_s = far->rate_bytes_per_s;
		cable.width = far->width;
	}
	if (cable.rate_bytes_per_s <= 0 && net->rates_told &&
	    rate_note(net, near))
		return -1;
	if (end_fill(net, near->node, near->port, cable.where,
		     turn ? &cable.b : &cable.a) ||
	    end_fill(net, near->peer, near->peer_port, cable.where,
		     turn ? &cable.a : &cable.b))
		return -1;
	return weft_inventory_add_cable(net->s, &cable, net->err);
}

static int differ_note(struct ibnet *net, const struct ibnet_port *near,
		       const struct ibnet_port *far, const char *what)
{
	char place[160], peer[160], where[160];

	return weft_inventory_note(
		net->s, WEFT_FINDING_LINK_ENDS_DIFFER,
		port_text(net, near->node, near->port, place, sizeof(place)),
		port_place(net, near), net->err, "%s, %s says otherwise (%s)",
		what,
		port_text(net, near->peer, near->peer_port, peer, sizeof(peer)),
		weft_inventory_place(net->s, port_place(net, far), where,
				     sizeof(where)));
}

/* near is listed, and the other end is, too: each link comes here twice. */
static int pair_take(struct ibnet *net, const struct ibnet_port *near,
		     const struct ibnet_port *far)
{
	char text[200], peer[120];

	if (far->peer == near->node && far->peer_port == near->port) {
		if (near > far)
			return 0;
		if (near->rated == IBNET_RATE_KNOWN &&
		    far->rated == IBNET_RATE_KNOWN &&
		    (near->width != far->width ||
		     near->rate_bytes_per_s != far->rate_bytes_per_s) &&
		    differ_note(net, near, far,
				"the ends tell different rates"))
			return -1;
		return cable_add(net, near, far);
	}
	snprintf(text, sizeof(text), "said to be linked to %s",
		 port_text(net, near->peer, near->peer_port, peer,
			   sizeof(peer)));
	return differ_note(net, near, far, text);
}

static bool is_cable(const struct ibnet *net, const struct ibnet_port *port)
{
	return port->peer != WEFT_NONE && port->peer != port->node &&
	       !net->nodes[port->node].dropped &&
	       !net->nodes[port->peer].dropped;
}

static int port_take(struct ibnet *net, const struct ibnet_port *near)
{
	const struct ibnet_port *far;
	char place[160], peer[160];

	if (net->nodes[near->node].kind == IBNET_CA &&
	    net->nodes[near->peer].kind == IBNET_CA)
		return weft_inventory_note(
			net->s, WEFT_FINDING_LINE_IGNORED, NULL,
			port_place(net, near), net->err,
			"two adapters without a switch between them");
	far = port_find(net, near->peer, near->peer_port);
	if (far && far->peer != WEFT_NONE)
		return pair_take(net, near, far);
	if (net->nodes[near->peer].line &&
	    weft_inventory_note(net->s, WEFT_FINDING_LINK_ONE_SIDED,
				port_text(net, near->node, near->port, place,
					  sizeof(place)),
				port_place(net, near), net->err,
				"%s does not list the link",
				port_text(net, near->peer, near->peer_port,
					  peer, sizeof(peer))))
		return -1;
	return cable_add(net, near, NULL);
}

/* ---- what is missing ---- */

/* Nodes that others name and that have no section: the capture ended before,
 * unless iblinkinfo listed switches alone. */
static int sections_check(struct ibnet *net)
{
	uint32_t missing = 0, first = 0, adapters = 0, n_adapters = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		bool adapter = net->nodes[i].kind == IBNET_CA;

		n_adapters += adapter && !net->nodes[i].dropped;
		if (net->nodes[i].line || net->nodes[i].dropped)
			continue;
		first = missing++ ? first : i;
		adapters += adapter;
	}
	if (!missing ||
	    (net->links && adapters == missing && adapters == n_adapters))
		return 0;
	return weft_inventory_note(
		net->s, WEFT_FINDING_INPUT_TRUNCATED, NULL,
		(struct weft_place){net->input->source,
				    net->nodes[first].named_line},
		net->err,
		"%u of %u nodes named by their peers only, first %s: the "
		"capture is not whole",
		missing, net->n_nodes, net->nodes[first].name);
}

/* A scheduler cannot use a node without a name: its adapters stay in
 * the inventory, the fabric goes without, unless all are like that. */
static int unnamed_mark(struct ibnet *net)
{
	struct weft_inventory *s = net->s;
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++)
		n += net->nodes[i].unnamed;
	if (!n || n >= s->n_hosts)
		return 0;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		if (net->nodes[i].unnamed)
			s->hosts[net->nodes[i].index].no_gpus = true;
	return weft_inventory_note(
		s, WEFT_FINDING_INPUT_PARTIAL, NULL,
		(struct weft_place){net->input->source, 0}, net->err,
		"%u adapter%s whose host has no name %s left out of the fabric",
		n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
}

int ibnet_cables(struct ibnet *net)
{
	WEFT_SORT(net->ports, net->n_ports, compare_ports);
	if (repeats_drop(net))
		return -1;
	for (uint32_t i = 0; i < net->n_ports; i++)
		net->rates_told = net->rates_told ||
				  net->ports[i].rated != IBNET_RATE_NONE;
	for (uint32_t i = 0; i < net->n_ports; i++)
		if (is_cable(net, &net->ports[i]) &&
		    port_take(net, &net->ports[i]))
			return -1;
	return sections_check(net) || unnamed_mark(net) ? -1 : 0;
}
