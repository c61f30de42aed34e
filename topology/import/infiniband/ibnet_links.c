/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ibnet_links.c - a subnet as iblinkinfo prints it, node by node:
 *
 *	Switch: 0x0c42a103009d6eb6 MF0;leaf:MQM8700/U1:
 *	   3    1[  ] ==( 4X  53.125 Gbps Active/  LinkUp)==>  7  1[  ] "n1
 *HCA-1" ( ) 3    2[  ] ==(             Down/ Polling)==>           [  ] "" ( )
 *	CA: n1 HCA-1:
 *	      0x0c42a10300595394   7  1[  ] ==( ... )==>  3  1[  ]
 *"MF0;leaf:..." ( )
 *
 * and, with -l, a line a port that begins with the node's GUID and description
 * and has the peer's GUID.  Without it peers are known by LID and description
 * only, which the sections of all nodes tell.  LIDs alone do not do: each plane
 * of a network has its own, and one file may hold the answers of several.
 */
#include "base/hash.h"
#include "topology/import/infiniband/ibnet.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARROW	"==("
#define ARROWED ")==>"
#define MAX_LID 65535
#define MANY	UINT32_MAX

/* What the near ends of lines are. */
struct known {
	unsigned long lid;
	struct weft_span desc;
	uint32_t node;	/* WEFT_NONE until one is made */
	uint32_t ports; /* the highest */
};

struct links {
	struct ibnet *net;
	struct known *known;
	uint32_t n_known, known_room;
	uint32_t *slot; /* hash of LID and description -> known + 1 */
	uint32_t n_slots;
	uint32_t *of_lid; /* [MAX_LID + 1] known + 1, MANY: not the only one */
	struct weft_span desc;
	char guid[24]; /* of the section, "" unknown */
	size_t guid_size;
	enum ibnet_kind kind;
	bool open; /* in a section */
	int line;
};

/* Signalling rate of a lane in Gb/s, as iblinkinfo prints it. */
static const struct {
	const char *gbps, *name;
} lanes[] = {
	{"2.5", "SDR"},	    {"5.0", "DDR"},    {"10.0", "QDR"},
	{"14.0625", "FDR"}, {"14.062", "FDR"}, {"25.78125", "EDR"},
	{"25.781", "EDR"},  {"25.78", "EDR"},  {"53.125", "HDR"},
	{"50.0", "HDR"},    {"106.25", "NDR"}, {"100.0", "NDR"},
	{"212.5", "XDR"},   {"200.0", "XDR"},
};

static void rate_read(struct weft_span text, struct ibnet_port *port)
{
	struct weft_span width, lane;
	char rate[32];

	if (!weft_span_word(&text, " \t", &width) || width.size < 2 ||
	    width.size > 3 || toupper(width.at[width.size - 1]) != 'X' ||
	    !weft_span_word(&text, " \t", &lane))
		return;
	for (size_t i = 0; i < WEFT_N_OF(lanes); i++) {
		if (!weft_span_is(lane, lanes[i].gbps))
			continue;
		snprintf(rate, sizeof(rate), "%.*sx%s", (int)width.size - 1,
			 width.at, lanes[i].name);
		ibnet_rate_read((struct weft_span){rate, strlen(rate)}, port);
		return;
	}
	port->rated = IBNET_RATE_UNKNOWN;
}

/* ---- ends ---- */

struct end {
	struct weft_span guid; /* "0x..." or size 0 */
	struct weft_span desc; /* between quotes, or at NULL */
	unsigned long lid, port;
	bool linked;
};

static void blanks_skip(struct weft_span *rest)
{
	*rest = weft_span_trim(*rest);
}

/* [GUID] ["DESC"] LID PORT[ EXT] ["DESC"]; linked: LID and PORT are there. */
static void end_read(struct weft_span rest, struct end *end)
{
	struct weft_span word, number;
	const char *quote, *last;

	*end = (struct end){0};
	blanks_skip(&rest);
	if (weft_span_starts(rest, "0x"))
		weft_span_word(&rest, " \t", &end->guid);
	quote = rest.size ? memchr(rest.at, '"', rest.size) : NULL;
	for (last = quote ? weft_span_end(rest) : NULL;
	     last && last > quote + 1 && last[-1] != '"';)
		last--;
	if (quote && last > quote + 1) {
		end->desc = weft_span_trim((struct weft_span){
			quote + 1, (size_t)(last - quote) - 2});
		/* numbers stand before it, or behind it */
		if (weft_span_trim((struct weft_span){
					   rest.at, (size_t)(quote - rest.at)})
			    .size)
			rest.size = (size_t)(quote - rest.at);
		else
			rest = (struct weft_span){
				last, (size_t)(weft_span_end(rest) - last)};
	}
	if (!weft_span_word(&rest, " \t", &word) ||
	    !weft_span_uint(word, MAX_LID, &end->lid) || !end->lid)
		return;
	if (!weft_span_word(&rest, " \t[", &number) ||
	    !weft_span_uint(number, IBNET_MAX_PORTS, &end->port))
		return;
	end->linked = true;
}

/* ---- nodes ---- */

static uint32_t node_named(struct links *l, const char *id, size_t size,
			   enum ibnet_kind kind)
{
	char *kept = weft_arena_text(&l->net->arena, id, size, l->net->err);

	return kept ? ibnet_node(l->net, (struct weft_span){kept, size}, kind)
		    : WEFT_NONE;
}

/* ---- near ends ---- */

static uint32_t *slot_of(const struct links *l, unsigned long lid,
			 struct weft_span desc)
{
	uint64_t hash = weft_hash_bytes(WEFT_HASH_START, &lid, sizeof(lid));
	uint32_t i;

	hash = weft_hash_bytes(hash, desc.at, desc.size);
	for (i = (uint32_t)(hash % l->n_slots); l->slot[i];
	     i = (i + 1) % l->n_slots) {
		const struct known *k = &l->known[l->slot[i] - 1];

		if (k->lid == lid && k->desc.size == desc.size &&
		    (!desc.size || memcmp(k->desc.at, desc.at, desc.size) == 0))
			break;
	}
	return &l->slot[i];
}

static int known_grow(struct links *l)
{
	uint32_t room = l->known_room ? 2 * l->known_room : 256;
	struct known *known =
		weft_realloc(l->known, room, sizeof(*known), l->net->err);
	uint32_t *slot;

	if (!known)
		return -1;
	l->known = known;
	l->known_room = room;
	slot = weft_calloc(2 * (size_t)room, sizeof(*slot), l->net->err);
	if (!slot)
		return -1;
	free(l->slot);
	l->slot = slot;
	l->n_slots = 2 * room;
	for (uint32_t i = 0; i < l->n_known; i++)
		*slot_of(l, known[i].lid, known[i].desc) = i + 1;
	return 0;
}

/* That of the near end, added where it is new; NULL with err. */
static struct known *known_add(struct links *l, unsigned long lid,
			       struct weft_span desc)
{
	uint32_t *slot;

	if (l->n_known == l->known_room && known_grow(l))
		return NULL;
	slot = slot_of(l, lid, desc);
	if (!*slot) {
		l->known[l->n_known] = (struct known){lid, desc, WEFT_NONE, 0};
		*slot = ++l->n_known;
		l->of_lid[lid] = l->of_lid[lid] ? MANY : *slot;
	}
	return &l->known[*slot - 1];
}

/* That of a far end: of its LID and description, or of the LID where one node
 * alone has it; NULL: none. */
static struct known *known_find(const struct links *l, const struct end *end)
{
	uint32_t k = l->n_slots ? *slot_of(l, end->lid, end->desc) : 0;

	if (!k && l->of_lid[end->lid] != MANY)
		k = l->of_lid[end->lid];
	return k ? &l->known[k - 1] : NULL;
}

/* The node of an end, by its GUID where there is one; WEFT_NONE with err. */
static uint32_t node_of(struct links *l, const struct end *end,
			struct weft_span guid, enum ibnet_kind kind)
{
	char id[32];
	size_t n;

	if (guid.size > 2 && guid.size <= 18)
		n = (size_t)snprintf(id, sizeof(id), "%c-%.*s",
				     kind == IBNET_SWITCH ? 'S' : 'H',
				     (int)guid.size - 2, guid.at + 2);
	else
		n = (size_t)snprintf(id, sizeof(id), "lid%lu", end->lid);
	return node_named(l, id, n, kind);
}

static struct weft_span section_guid(const struct links *l,
				     const struct end *near)
{
	return near->guid.size ? near->guid
			       : (struct weft_span){l->guid, l->guid_size};
}

static void node_describe(struct ibnet_node *node, struct weft_span desc)
{
	if (desc.size && !node->desc.at)
		node->desc = desc;
}

/* "Switch: 0x... DESC:" or "CA: DESC:". */
static bool heading_read(struct links *l, struct weft_span line)
{
	struct weft_span word;

	if (weft_span_starts(line, "Switch:") ||
	    weft_span_starts(line, "Switch ")) {
		l->kind = IBNET_SWITCH;
		line.at += 7;
		line.size -= 7;
	} else if (weft_span_starts(line, "CA:") ||
		   weft_span_starts(line, "CA ")) {
		l->kind = IBNET_CA;
		line.at += 3;
		line.size -= 3;
	} else {
		return false;
	}
	l->open = true;
	l->guid_size = 0;
	line = weft_span_trim(line);
	if (weft_span_starts(line, "0x")) {
		weft_span_word(&line, " \t", &word);
		l->guid_size = word.size < sizeof(l->guid) ? word.size : 0;
		weft_span_copy(word, l->guid, sizeof(l->guid));
		line = weft_span_trim(line);
	}
	if (line.size && line.at[line.size - 1] == ':')
		line.size--;
	if (line.size > 1 && *line.at == '"' && line.at[line.size - 1] == '"') {
		line.at++;
		line.size -= 2;
	}
	l->desc = line;
	return true;
}

/* ---- lines ---- */

struct row {
	struct end near, far;
	struct weft_span rate;
};

static bool row_split(struct weft_span line, struct row *row)
{
	const char *from = weft_span_find(line, ARROW);
	const char *to = weft_span_find(line, ARROWED);
	struct weft_span rest;

	if (!from || !to || to < from)
		return false;
	end_read((struct weft_span){line.at, (size_t)(from - line.at)},
		 &row->near);
	row->rate = (struct weft_span){from + 3, (size_t)(to - from) - 3};
	rest = (struct weft_span){to + 4,
				  (size_t)(weft_span_end(line) - to) - 4};
	end_read(rest, &row->far);
	return true;
}

static struct weft_span near_desc(const struct links *l, const struct row *row)
{
	return l->open ? l->desc : row->near.desc;
}

/* No adapter has more than two ports; "MF0;" is a managed switch. */
static enum ibnet_kind kind_of(const struct end *end, unsigned long ports)
{
	return ports > 2 || weft_span_starts(end->desc, "MF0;") ? IBNET_SWITCH
								: IBNET_CA;
}

/* Nothing heads the lines of -l. */
static enum ibnet_kind near_kind(const struct links *l, const struct row *row,
				 const struct known *k)
{
	if (l->open)
		return l->kind;
	return kind_of(&row->near, k->ports);
}

static bool is_near(const struct links *l, const struct row *row)
{
	return row->near.linked && (l->open || row->near.desc.size);
}

/* First of all, also where nothing is linked. */
static int ports_take(struct links *l, const struct row *row, int number)
{
	struct known *k;

	(void)number;
	if (!is_near(l, row))
		return 0;
	k = known_add(l, row->near.lid, near_desc(l, row));
	if (k && row->near.port > k->ports)
		k->ports = (uint32_t)row->near.port;
	return k ? 0 : -1;
}

/* Which node each is: of all lines, before any peer is looked up. */
static int near_take(struct links *l, const struct row *row, int number)
{
	struct known *k;

	if (!is_near(l, row))
		return 0;
	k = known_add(l, row->near.lid, near_desc(l, row));
	if (k->node == WEFT_NONE)
		k->node = node_of(l, &row->near, section_guid(l, &row->near),
				  near_kind(l, row, k));
	if (k->node == WEFT_NONE)
		return -1;
	if (!l->net->nodes[k->node].line)
		l->net->nodes[k->node].line = number;
	node_describe(&l->net->nodes[k->node], k->desc);
	return 0;
}

static int link_take(struct links *l, const struct row *row, int number)
{
	struct ibnet_port port = {.line = number};
	const struct known *far;

	if (!is_near(l, row) || !row->far.linked)
		return 0;
	port.node = known_add(l, row->near.lid, near_desc(l, row))->node;
	port.port = (uint32_t)row->near.port;
	far = known_find(l, &row->far);
	port.peer = far ? far->node
			: node_of(l, &row->far, row->far.guid,
				  kind_of(&row->far, row->far.port));
	if (port.peer == WEFT_NONE)
		return -1;
	port.peer_port = (uint32_t)row->far.port;
	node_describe(&l->net->nodes[port.peer], row->far.desc);
	if (!l->net->nodes[port.peer].named_line)
		l->net->nodes[port.peer].named_line = number;
	rate_read(row->rate, &port);
	return ibnet_port_add(l->net, &port);
}

static int lines_take(struct links *l,
		      int (*take)(struct links *, const struct row *, int))
{
	const struct weft_import_input *input = l->net->input;
	struct weft_lines lines = weft_lines_start(input->text, input->size);
	struct weft_span line;
	struct row row;

	l->open = false;
	while (weft_lines_next(&lines, &line)) {
		line = weft_span_trim(line);
		if (heading_read(l, line) || !row_split(line, &row))
			continue;
		if (take(l, &row, lines.number))
			return -1;
	}
	return 0;
}

int ibnet_read_links(struct ibnet *net)
{
	struct links l = {.net = net};
	int rc = -1;

	net->links = true;
	l.of_lid = weft_calloc(MAX_LID + 1, sizeof(*l.of_lid), net->err);
	if (l.of_lid)
		rc = lines_take(&l, ports_take);
	if (rc == 0)
		rc = lines_take(&l, near_take);
	if (rc == 0)
		rc = lines_take(&l, link_take);
	free(l.known);
	free(l.slot);
	free(l.of_lid);
	return rc;
}

bool ibnet_looks_links(const char *text, size_t size)
{
	struct weft_lines lines = weft_lines_start(text, size);
	struct weft_span line;
	struct row row;

	while (lines.number < 200 && weft_lines_next(&lines, &line))
		if (row_split(line, &row) && row.near.linked)
			return true;
	return false;
}
