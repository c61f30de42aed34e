/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_ports.c - one line a port, as "ibnetdiscover --ports" prints:
 *
 *	CA  134  1 0x7cfe9003003b4bde 4x EDR - SW 1719 10 0x7cfe9003009ce5b0
 *		( 'o0001 HCA-1' - 'ib-i1l1s01' )
 *
 * on one line; what has no link ends with its own description.
 */
#include "topology/import/infiniband/ibnet.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *word;
	char prefix; /* of ids in the usual form */
	enum ibnet_kind kind;
} types[] = {
	{"CA", 'H', IBNET_CA},
	{"SW", 'S', IBNET_SWITCH},
	{"RT", 'R', IBNET_SWITCH},
};
#define N_TYPES WEFT_N_OF(types)

struct end {
	size_t type;
	uint32_t port;
	char id[24];
	size_t id_size;
};

/* "CA 134 1 0x7cfe9003003b4bde". */
static bool end_read(struct weft_span *rest, struct end *end)
{
	struct weft_span word;
	unsigned long n;

	if (!weft_span_word(rest, " \t", &word))
		return false;
	end->type = 0;
	while (end->type < N_TYPES &&
	       !weft_span_is(word, types[end->type].word))
		end->type++;
	if (end->type == N_TYPES || !weft_span_word(rest, " \t", &word) ||
	    !weft_span_uint(word, 65535, &n) ||
	    !weft_span_word(rest, " \t", &word) ||
	    !weft_span_uint(word, IBNET_MAX_PORTS, &n))
		return false;
	end->port = (uint32_t)n;
	if (!weft_span_word(rest, " \t", &word) ||
	    !weft_span_starts(word, "0x") || word.size > 18 || word.size < 3)
		return false;
	end->id_size = (size_t)snprintf(end->id, sizeof(end->id), "%c-%.*s",
					types[end->type].prefix,
					(int)word.size - 2, word.at + 2);
	return true;
}

static uint32_t end_node(struct ibnet *net, const struct end *end, int line)
{
	char *id =
		weft_arena_text(&net->arena, end->id, end->id_size, net->err);
	uint32_t node =
		id ? ibnet_node(net, (struct weft_span){id, end->id_size},
				types[end->type].kind)
		   : WEFT_NONE;

	if (node != WEFT_NONE && !net->nodes[node].named_line)
		net->nodes[node].named_line = line;
	return node;
}

/* The two descriptions of "( 'A' - 'B' )"; B may hold " - " and marks.  False:
 * they have no end. */
static bool descs_read(struct weft_span rest, struct weft_span *a,
		       struct weft_span *b)
{
	const char *open = weft_span_find(rest, "( '"), *middle, *close;

	*a = *b = (struct weft_span){0};
	if (!open)
		return true;
	rest.size -= (size_t)(open + 3 - rest.at);
	rest.at = open + 3;
	middle = weft_span_find(rest, "' - '");
	if (!middle)
		return false;
	*a = (struct weft_span){rest.at, (size_t)(middle - rest.at)};
	rest.size -= (size_t)(middle + 5 - rest.at);
	rest.at = middle + 5;
	close = weft_span_find(rest, "' )");
	if (close)
		*b = (struct weft_span){rest.at, (size_t)(close - rest.at)};
	return close != NULL;
}

static void desc_give(struct ibnet_node *node, struct weft_span desc)
{
	if (desc.at && !node->desc.at)
		node->desc = desc;
}

/* What stands behind a port without a link: its node's own description. */
static struct weft_span desc_alone(struct weft_span rest)
{
	rest = weft_span_trim(rest);
	if (rest.size >= 2 && *rest.at == '\'' &&
	    rest.at[rest.size - 1] == '\'')
		return (struct weft_span){rest.at + 1, rest.size - 2};
	return rest;
}

/* The width and the speed, which stand apart: "4x EDR". */
static bool rate_take(struct weft_span *rest, struct ibnet_port *port)
{
	struct weft_span width, speed;
	char text[32];

	if (!weft_span_word(rest, " \t", &width) ||
	    !weft_span_word(rest, " \t", &speed) || width.size > 3 ||
	    speed.size > 16)
		return false;
	snprintf(text, sizeof(text), "%.*s%.*s", (int)width.size, width.at,
		 (int)speed.size, speed.at);
	ibnet_rate_read((struct weft_span){text, strlen(text)}, port);
	return port->rated != IBNET_RATE_NONE;
}

/* 1: a port; 0: no line of this form; -1: failed. */
static int port_take(struct ibnet *net, struct weft_span line, int number)
{
	struct ibnet_port port = {.line = number, .peer = WEFT_NONE};
	struct weft_span rest = line, word, mine, theirs;
	struct end near, far;

	if (!end_read(&rest, &near) || !rate_take(&rest, &port))
		return 0;
	port.node = end_node(net, &near, number);
	if (port.node == WEFT_NONE)
		return -1;
	port.port = near.port;
	if (!net->nodes[port.node].line)
		net->nodes[port.node].line = number;
	mine = rest;
	if (weft_span_word(&rest, " \t", &word) && weft_span_is(word, "-")) {
		if (!end_read(&rest, &far))
			return 0;
		port.peer = end_node(net, &far, number);
		if (port.peer == WEFT_NONE)
			return -1;
		port.peer_port = far.port;
		if (!descs_read(rest, &mine, &theirs))
			return 0;
		desc_give(&net->nodes[port.peer], theirs);
	} else {
		mine = desc_alone(mine);
	}
	desc_give(&net->nodes[port.node], mine);
	return ibnet_port_add(net, &port) ? -1 : 1;
}

int ibnet_read_ports(struct ibnet *net)
{
	const struct weft_import_input *input = net->input;
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct weft_span line;

	while (weft_lines_next(&lines, &line)) {
		struct weft_place where = {input->source, lines.number};
		bool last = lines.next == lines.end &&
			    input->text[input->size - 1] != '\n';
		int taken;

		line = weft_span_trim(line);
		if (line.size == 0 || *line.at == '#')
			continue;
		taken = port_take(net, line, lines.number);
		if (taken < 0)
			return -1;
		net->truncated = net->truncated || (last && !taken);
		if (!taken && weft_inventory_note(
				      net->s,
				      last ? WEFT_FINDING_INPUT_TRUNCATED
					   : WEFT_FINDING_LINE_IGNORED,
				      NULL, where, net->err,
				      last ? "the capture ends inside of this "
					     "line"
					   : "expected SW|CA LID PORT GUID "
					     "WIDTH SPEED and the peer"))
			return -1;
	}
	return 0;
}

bool ibnet_looks_ports(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line;

	for (int tried = 0; tried < 50 && weft_lines_next(&lines, &line);
	     tried++) {
		struct weft_span rest = line;
		struct end end;

		if (end_read(&rest, &end))
			return true;
	}
	return false;
}
