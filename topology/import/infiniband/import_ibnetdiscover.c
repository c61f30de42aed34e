/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_ibnetdiscover.c - an InfiniBand subnet: switches, adapters, cables
 *
 * Reads what ibnetdiscover prints in its usual form and with -g and -p, what
 * iblinkinfo prints, and ibsim's net files, which are the same with names
 * instead of GUIDs.  Lines of other programs around it are left out with a
 * finding; a capture that was cut off gives what is whole.
 */
#include "base/hash.h"
#include "topology/import/infiniband/ibnet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes and ports ---- */

static uint32_t *id_slot(const struct ibnet *net, uint32_t *slot,
			 uint32_t n_slots, struct weft_span id)
{
	uint32_t k = (uint32_t)weft_hash_bytes(WEFT_HASH_START, id.at, id.size);

	for (k &= n_slots - 1; slot[k]; k = (k + 1) & (n_slots - 1)) {
		struct weft_span other = net->nodes[slot[k] - 1].id;

		if (other.size == id.size &&
		    memcmp(other.at, id.at, id.size) == 0)
			break;
	}
	return &slot[k];
}

static int slots_grow(struct ibnet *net)
{
	uint32_t n = net->n_slots ? 2 * net->n_slots : 1024, *slot;

	if (2 * (net->n_nodes + 1) <= net->n_slots)
		return 0;
	slot = weft_calloc(n, sizeof(*slot), net->err);
	if (!slot)
		return -1;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		*id_slot(net, slot, n, net->nodes[i].id) = i + 1;
	free(net->slot);
	net->slot = slot;
	net->n_slots = n;
	return 0;
}

static int limit_check(uint32_t n, struct weft_error *err)
{
	if (n < WEFT_INVENTORY_MAX_THINGS)
		return 0;
	return weft_fail(err, WEFT_EINVAL, "more than %u nodes or ports",
			 WEFT_INVENTORY_MAX_THINGS);
}

uint32_t ibnet_node(struct ibnet *net, struct weft_span id,
		    enum ibnet_kind kind)
{
	uint32_t *slot;

	if (slots_grow(net))
		return WEFT_NONE;
	slot = id_slot(net, net->slot, net->n_slots, id);
	if (*slot)
		return *slot - 1;
	if (limit_check(net->n_nodes, net->err) ||
	    WEFT_GROW(net->nodes, net->n_nodes, net->nodes_room, net->err))
		return WEFT_NONE;
	net->nodes[net->n_nodes] = (struct ibnet_node){
		.kind = kind,
		.id = id,
		.index = WEFT_NONE,
	};
	*slot = ++net->n_nodes;
	return net->n_nodes - 1;
}

int ibnet_port_add(struct ibnet *net, const struct ibnet_port *port)
{
	if (limit_check(net->n_ports, net->err) ||
	    WEFT_GROW(net->ports, net->n_ports, net->ports_room, net->err))
		return -1;
	net->ports[net->n_ports++] = *port;
	return 0;
}

struct weft_span ibnet_guid(const struct ibnet_node *node)
{
	struct weft_span guid = node->id;

	if (guid.size > 2 && guid.at[1] == '-') {
		guid.at += 2;
		guid.size -= 2;
	}
	for (size_t i = 0; i < guid.size; i++)
		if (!isxdigit((unsigned char)guid.at[i]))
			return (struct weft_span){guid.at, 0};
	return guid.size >= 6 && guid.size <= 16
		       ? guid
		       : (struct weft_span){guid.at, 0};
}

/* ---- rates ---- */

/* Data per lane, one direction, in Gb/s: SDR to QDR spend 2 bits of 10 on
 * coding, FDR 2 of 66. */
static const struct {
	const char *name;
	double lane_gbps;
} speeds[] = {
	{"SDR", 2},  {"DDR", 4},  {"QDR", 8},	{"FDR10", 10}, {"FDR", 13.64},
	{"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200},
};

/* Lanes in front of an 'x', or 0. */
static uint32_t width_read(const char *from, const char *x)
{
	const char *digit = x;
	uint32_t width = 0;

	while (digit > from && x - digit < 2 &&
	       isdigit((unsigned char)digit[-1]))
		digit--;
	if (digit > from && digit[-1] != ' ' && digit[-1] != '\t')
		return 0;
	for (; digit < x; digit++)
		width = 10 * width + (uint32_t)(*digit - '0');
	return width;
}

void ibnet_rate_read(struct weft_span text, struct ibnet_port *port)
{
	const char *end = weft_span_end(text);

	for (const char *x = text.at; x < end; x++) {
		struct weft_span rest = {x + 1, (size_t)(end - x) - 1}, speed;

		if (*x != 'x' || !width_read(text.at, x) ||
		    !weft_span_word(&rest, " \t", &speed))
			continue;
		port->width = width_read(text.at, x);
		port->rated = IBNET_RATE_UNKNOWN;
		for (size_t i = 0; i < WEFT_N_OF(speeds); i++)
			if (weft_span_is(speed, speeds[i].name)) {
				port->rated = IBNET_RATE_KNOWN;
				port->rate_bytes_per_s = port->width *
							 speeds[i].lane_gbps *
							 1e9 / 8;
			}
		return;
	}
}

/* ---- all of it ---- */

static int links_check(const struct ibnet *net)
{
	for (uint32_t i = 0; i < net->n_ports; i++)
		if (net->ports[i].peer != WEFT_NONE)
			return 0;
	if (net->n_nodes)
		return weft_fail_at(
			net->err, WEFT_EINVAL, net->input->path,
			net->nodes[0].line, 0,
			"%u node%s, but no link; is the capture cut "
			"off?",
			net->n_nodes, net->n_nodes == 1 ? "" : "s");
	return weft_fail_at(net->err, WEFT_EINVAL, net->input->path, 0, 0,
			    "no switch or adapter; expected what "
			    "ibnetdiscover prints");
}

static int net_read(struct ibnet *net)
{
	if (ibnet_looks_ports(net->input->text, net->input->size))
		return ibnet_read_ports(net);
	if (ibnet_looks_links(net->input->text, net->input->size))
		return ibnet_read_links(net);
	return ibnet_read_nodes(net);
}

int weft_import_ibnetdiscover(struct weft_inventory *s,
			      const struct weft_import_input *input,
			      struct weft_error *err)
{
	struct ibnet net = {
		.s = s,
		.input = input,
		.err = err,
		.here = WEFT_NONE,
	};
	int rc = net_read(&net);

	if (rc == 0)
		rc = links_check(&net);
	if (rc == 0)
		rc = ibnet_name(&net);
	if (rc == 0)
		rc = ibnet_cables(&net);
	free(net.nodes);
	free(net.ports);
	free(net.slot);
	free(net.maps);
	weft_arena_free(&net.arena);
	return rc;
}

bool weft_looks_ibnetdiscover(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct ibnet_header_words words;
	struct weft_span line;

	while (lines.number < 2000 && weft_lines_next(&lines, &line))
		if (ibnet_header_read(weft_span_trim(line), &words) ==
		    IBNET_HEADER)
			return true;
	return ibnet_looks_ports(text, size) || ibnet_looks_links(text, size);
}
