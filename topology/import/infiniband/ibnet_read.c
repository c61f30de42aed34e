/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_read.c - sections of nodes:
 *
 *	Switch	41 "S-0c42a103009d6eb6"		# "MF0;leaf:MQM8700/U1" ...
 *	[1]	"H-0c42a10300595394"[1](c42a10300595394)	# "host HCA-1"
 *...
 *
 * Separators are tabs or blanks.  ibsim has names instead of GUIDs, and "Hca".
 */
#include "topology/import/infiniband/ibnet.h"

#include <ctype.h>
#include <string.h>

static struct weft_place place_of(const struct ibnet *net, int line)
{
	return (struct weft_place){net->input->source, line};
}

/* ---- pieces of a line ---- */

static void blanks_skip(struct weft_span *rest)
{
	while (rest->size && (*rest->at == ' ' || *rest->at == '\t')) {
		rest->at++;
		rest->size--;
	}
}

/* Takes OPEN text CLOSE off the front. */
static bool enclosed(struct weft_span *rest, char open, char close,
		     struct weft_span *inside)
{
	const char *end;

	blanks_skip(rest);
	if (!rest->size || *rest->at != open)
		return false;
	end = memchr(rest->at + 1, close, rest->size - 1);
	if (!end)
		return false;
	*inside =
		(struct weft_span){rest->at + 1, (size_t)(end - rest->at) - 1};
	rest->size -= inside->size + 2;
	rest->at = end + 1;
	return true;
}

/* "[7]", perhaps followed by "[ext 4]" and "(GUID)". */
static bool port_number(struct weft_span *rest, uint32_t *port)
{
	struct weft_span inside;
	unsigned long n;

	if (!enclosed(rest, '[', ']', &inside) ||
	    !weft_span_uint(inside, IBNET_MAX_PORTS, &n))
		return false;
	*port = (uint32_t)n;
	while (enclosed(rest, '[', ']', &inside) ||
	       enclosed(rest, '(', ')', &inside))
		;
	return true;
}

/* What stands between the first and the last quotation mark: a description may
 * hold some of its own. */
static struct weft_span quoted(struct weft_span text)
{
	const char *first = text.size ? memchr(text.at, '"', text.size) : NULL;
	const char *last = weft_span_end(text);

	if (!first)
		return (struct weft_span){0};
	while (last > first + 1 && last[-1] != '"')
		last--;
	if (last <= first + 1)
		return (struct weft_span){0};
	return (struct weft_span){first + 1, (size_t)(last - first) - 2};
}

static struct weft_span comment(struct weft_span rest)
{
	const char *hash = rest.size ? memchr(rest.at, '#', rest.size) : NULL;

	if (!hash)
		return (struct weft_span){0};
	return (struct weft_span){hash + 1,
				  (size_t)(rest.at + rest.size - hash) - 1};
}

/* ---- lines ---- */

static const struct {
	const char *word;
	enum ibnet_kind kind;
} types[] = {
	{"Switch", IBNET_SWITCH}, {"Ca", IBNET_CA},	    {"Hca", IBNET_CA},
	{"Rt", IBNET_SWITCH},	  {"Router", IBNET_SWITCH},
};
#define N_TYPES WEFT_N_OF(types)

enum taken { TAKEN, NOT_MINE, BROKEN, FAILED };

/* The digits at the front; terminals and mail lose the tab behind them. */
static bool count(struct weft_span *rest, uint32_t *n)
{
	struct weft_span digits = {rest->at, 0};
	unsigned long value;

	while (digits.size < rest->size &&
	       isdigit((unsigned char)digits.at[digits.size]))
		digits.size++;
	if (!weft_span_uint(digits, 65535, &value))
		return false;
	*n = (uint32_t)value;
	rest->at += digits.size;
	rest->size -= digits.size;
	return true;
}

enum ibnet_header ibnet_header_read(struct weft_span line,
				    struct ibnet_header_words *words)
{
	struct weft_span rest = line;
	size_t type = 0, size;

	while (type < N_TYPES && !weft_span_starts(line, types[type].word))
		type++;
	if (type == N_TYPES)
		return IBNET_NO_HEADER;
	size = strlen(types[type].word);
	rest.at += size;
	rest.size -= size;
	if (!rest.size || isalpha((unsigned char)*rest.at))
		return IBNET_NO_HEADER;
	words->kind = types[type].kind;
	blanks_skip(&rest);
	if (!rest.size || !isdigit((unsigned char)*rest.at))
		return weft_span_find(rest, "\"") ? IBNET_BROKEN_HEADER
						  : IBNET_NO_HEADER;
	if (!count(&rest, &words->n_ports) ||
	    !enclosed(&rest, '"', '"', &words->id) || words->id.size == 0)
		return IBNET_BROKEN_HEADER;
	words->desc = quoted(comment(rest));
	return IBNET_HEADER;
}

static enum taken header_take(struct ibnet *net, struct weft_span line,
			      int number)
{
	struct ibnet_header_words words;
	enum ibnet_header header = ibnet_header_read(line, &words);
	struct ibnet_node *node;

	if (header == IBNET_NO_HEADER)
		return NOT_MINE;
	net->here = WEFT_NONE; /* what follows is not the last one's */
	if (header == IBNET_BROKEN_HEADER)
		return BROKEN;
	net->here = ibnet_node(net, words.id, words.kind);
	if (net->here == WEFT_NONE)
		return FAILED;
	node = &net->nodes[net->here];
	node->kind = words.kind;
	node->n_ports = words.n_ports;
	node->chassis = net->chassis;
	if (!node->line)
		node->line = number;
	if (words.desc.at)
		node->desc = words.desc;
	return TAKEN;
}

/* The id says what a peer is that has no section of its own. */
static enum ibnet_kind kind_guess(const struct ibnet *net, struct weft_span id)
{
	if (id.size > 1 && id.at[1] == '-')
		return *id.at == 'H' ? IBNET_CA : IBNET_SWITCH;
	return net->nodes[net->here].kind == IBNET_SWITCH ? IBNET_CA
							  : IBNET_SWITCH;
}

static enum taken port_take(struct ibnet *net, struct weft_span line,
			    int number)
{
	struct weft_span rest = line, id, note, desc;
	struct ibnet_port port = {.node = net->here, .line = number};
	struct ibnet_node *peer;

	if (line.size == 0 || *line.at != '[')
		return NOT_MINE;
	if (net->here == WEFT_NONE || !port_number(&rest, &port.port) ||
	    !enclosed(&rest, '"', '"', &id) || id.size == 0 ||
	    !port_number(&rest, &port.peer_port))
		return BROKEN;
	port.peer = ibnet_node(net, id, kind_guess(net, id));
	if (port.peer == WEFT_NONE)
		return FAILED;
	peer = &net->nodes[port.peer];
	note = comment(rest);
	desc = quoted(note);
	if (desc.at) {
		note.size -= (size_t)(desc.at + desc.size + 1 - note.at);
		note.at = desc.at + desc.size + 1;
		if (!peer->desc.at)
			peer->desc = desc;
	}
	if (!peer->named_line)
		peer->named_line = number;
	ibnet_rate_read(note, &port);
	return ibnet_port_add(net, &port) ? FAILED : TAKEN;
}

/* Facts that say nothing of cables, and headings of the -g form. */
static bool fact_take(struct ibnet *net, struct weft_span line)
{
	static const char *const keys[] = {
		"vendid=", "devid=",  "sysimgguid=", "switchguid=",
		"caguid=", "rtguid=", "chassisguid="};
	struct weft_span rest = line, word;
	unsigned long n;

	for (size_t i = 0; i < WEFT_N_OF(keys); i++)
		if (weft_span_starts(line, keys[i]))
			return true;
	if (weft_span_starts(line, "Non-Chassis ")) {
		net->chassis = 0;
		return true;
	}
	if (!weft_span_word(&rest, " \t", &word) ||
	    !weft_span_is(word, "Chassis") ||
	    !weft_span_word(&rest, " \t", &word) ||
	    !weft_span_uint(word, 65535, &n))
		return false;
	net->chassis = (uint32_t)n;
	return true;
}

/* ---- lines without a node ---- */

/* A banner is one finding, however many lines it has. */
static int odd_end(struct ibnet *net)
{
	uint32_t n = net->n_odd;

	net->n_odd = 0;
	if (!n)
		return 0;
	return weft_inventory_note(net->s, WEFT_FINDING_LINE_IGNORED, NULL,
				   place_of(net, net->odd_line), net->err,
				   n == 1 ? "%u line is not ibnetdiscover's"
					  : "%u lines are not ibnetdiscover's",
				   n);
}

static void odd_add(struct ibnet *net, int number)
{
	if (!net->n_odd++)
		net->odd_line = number;
}

/* All ports below a header that cannot be read are lost: that is no capture to
 * place jobs by. */
static int broken_note(struct ibnet *net, struct weft_span line, int number,
		       bool last)
{
	net->truncated = net->truncated || last;
	if (!last && *line.at != '[')
		return weft_fail_at(net->err, WEFT_EINVAL, net->input->path,
				    number, 0,
				    "the header of a node cannot be read; "
				    "expected Switch|Ca PORTS \"NODE\"");
	return weft_inventory_note(
		net->s,
		last ? WEFT_FINDING_INPUT_TRUNCATED : WEFT_FINDING_LINE_IGNORED,
		NULL, place_of(net, number), net->err,
		last ? "the capture ends inside of this line"
		     : "expected [PORT] \"NODE\"[PORT] in the section of a "
		       "node");
}

static int line_take(struct ibnet *net, struct weft_span line, int number,
		     bool last)
{
	enum taken taken = port_take(net, line, number);

	if (taken == NOT_MINE)
		taken = header_take(net, line, number);
	if (taken == NOT_MINE && fact_take(net, line))
		taken = TAKEN;
	if (taken == NOT_MINE) {
		odd_add(net, number);
		return 0;
	}
	if (odd_end(net))
		return -1;
	if (taken == BROKEN)
		return broken_note(net, line, number, last);
	/* A speed that was cut off reads like none. */
	if (last && taken == TAKEN && net->n_ports &&
	    net->ports[net->n_ports - 1].line == number &&
	    net->ports[net->n_ports - 1].rated != IBNET_RATE_KNOWN &&
	    memchr(line.at, '#', line.size))
		return broken_note(net, line, number, true);
	return taken == FAILED ? -1 : 0;
}

int ibnet_read_nodes(struct ibnet *net)
{
	const struct weft_import_input *input = net->input;
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct weft_span line;

	while (weft_lines_next(&lines, &line)) {
		bool last = lines.next == lines.end &&
			    input->text[input->size - 1] != '\n';

		line = weft_span_trim(line);
		if (line.size == 0 || *line.at == '#')
			continue;
		if (line_take(net, line, lines.number, last))
			return -1;
	}
	return odd_end(net);
}
