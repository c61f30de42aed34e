/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_cables.c - the section `cables` of a fabric file */
#include "base/compare.h"
#include "topology/fabric_wiring.h"

#include <stdlib.h>
#include <string.h>

enum { FROM, TO, N_ENDS };

/* One line: each of `from` to each of `to`. */
struct cable_line {
	const struct weft_yaml_node *node, *of[N_ENDS];
	uint32_t *ends[N_ENDS], n[N_ENDS];
	struct weft_cable cable; /* without its ends */
};

/* Reads a hostlist of nodes and switches; at least one end is a switch. */
static int ends_read(struct weft_wiring *w, struct cable_line *line, int side)
{
	const struct weft_yaml_node *node = line->of[side];
	struct weft_draft *d = w->d;
	struct weft_hostlist list = {0};
	int rc = 0;

	if (weft_yaml_expect(d->doc, node, WEFT_YAML_SCALAR, node->key,
			     d->err) ||
	    weft_draft_decode(d, node, false, &list))
		return -1;
	line->ends[side] = weft_calloc(list.n, sizeof(uint32_t), d->err);
	line->n[side] = list.n;
	if (!line->ends[side])
		rc = -1;
	for (uint32_t i = 0; !rc && i < list.n; i++) {
		int column = weft_hostlist_column(node->text, i);
		bool is_domain = false;
		uint32_t end = weft_wiring_end(w, list.names[i], &is_domain);

		line->ends[side][i] = end;
		if (end != WEFT_NONE)
			continue;
		rc = -1;
		if (is_domain)
			weft_yaml_fail_inside(
				d->doc, node, false, column, d->err,
				"\"%s\" is a domain, no switch; expected a "
				"node, a leaf or a name of \"switches:\"",
				list.names[i]);
		else
			weft_wiring_unknown(w, node, column, list.names[i]);
	}
	weft_hostlist_free(&list);
	return rc;
}

/* Position of the port's name in w->port_order, or where it belongs. */
static uint32_t port_seek(const struct weft_wiring *w, const char *text,
			  bool *found)
{
	uint32_t low = 0, high = w->c->n_ports;

	*found = false;
	while (low < high && !*found) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(text, w->c->ports[w->port_order[middle]]);

		*found = order == 0;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *found ? high : low;
}

static int ports_grow(struct weft_wiring *w)
{
	uint32_t room = w->ports_room ? 2 * w->ports_room : 64;
	const char **ports;
	uint16_t *order;

	if (w->c->n_ports < w->ports_room)
		return 0;
	ports = weft_realloc(w->c->ports, room, sizeof(*ports), w->d->err);
	if (!ports)
		return -1;
	w->c->ports = ports;
	order = weft_realloc(w->port_order, room, sizeof(*order), w->d->err);
	if (!order)
		return -1;
	w->port_order = order;
	w->ports_room = room;
	return 0;
}

static int port_read(struct weft_wiring *w, const struct weft_yaml_node *node,
		     uint16_t *port)
{
	struct weft_cabling *c = w->c;
	const char *text;
	uint32_t at;
	bool found;

	if (weft_yaml_expect(w->d->doc, node, WEFT_YAML_SCALAR, "port",
			     w->d->err))
		return -1;
	if (!*node->text || strlen(node->text) >= WEFT_NAME_SIZE)
		return weft_yaml_fail(w->d->doc, node, w->d->err,
				      "port: expected 1 to %d bytes, such as "
				      "mlx5_0",
				      WEFT_NAME_SIZE - 1);
	at = port_seek(w, node->text, &found);
	if (found) {
		*port = w->port_order[at];
		return 0;
	}
	if (c->n_ports == WEFT_MAX_PORTS)
		return weft_yaml_fail(w->d->doc, node, w->d->err,
				      "expected at most %d different names of "
				      "ports",
				      WEFT_MAX_PORTS);
	text = weft_arena_copy(&w->d->arena, node->text, w->d->err);
	if (!text || ports_grow(w))
		return -1;
	memmove(w->port_order + at + 1, w->port_order + at,
		(c->n_ports - at) * sizeof(*w->port_order));
	w->port_order[at] = (uint16_t)c->n_ports;
	c->ports[c->n_ports] = text;
	*port = (uint16_t)c->n_ports++;
	return 0;
}

/* A whole number of min..max; absent: *value stays. */
static int count_read(struct weft_wiring *w, const struct weft_yaml_node *node,
		      uint64_t min, uint64_t max, uint64_t *value)
{
	return node ? weft_yaml_uint(w->d->doc, node, min, max, value,
				     w->d->err)
		    : 0;
}

static int state_read(struct weft_wiring *w, const struct weft_yaml_node *node,
		      bool *up)
{
	if (weft_yaml_expect(w->d->doc, node, WEFT_YAML_SCALAR, "state",
			     w->d->err))
		return -1;
	*up = strcmp(node->text, "up") == 0;
	if (!*up && strcmp(node->text, "down") != 0)
		return weft_yaml_fail(w->d->doc, node, w->d->err,
				      "state: expected up or down, found "
				      "\"%.60s\"",
				      node->text);
	return 0;
}

enum {
	KEY_FROM,
	KEY_TO,
	KEY_PORT,
	KEY_N,
	KEY_RATE,
	KEY_WIDTH,
	KEY_STATE,
	KEY_RAIL,
	N_KEYS
};

static const char *const keys[N_KEYS] = {
	[KEY_FROM] = "from",   [KEY_TO] = "to",	    [KEY_PORT] = "port",
	[KEY_N] = "n",	       [KEY_RATE] = "rate", [KEY_WIDTH] = "width",
	[KEY_STATE] = "state", [KEY_RAIL] = "rail",
};

/* What a line says of each of its cables. */
static int facts_read(struct weft_wiring *w,
		      const struct weft_yaml_node *const value[N_KEYS],
		      struct weft_cable *cable)
{
	uint64_t n = 1, width = 0, rail = WEFT_NO_RAIL;
	uint32_t rails =
		w->f->n_rails > 1 ? w->f->n_rails : WEFT_MAX_GPUS_PER_NODE;

	*cable = (struct weft_cable){.port = WEFT_NO_PORT, .up = true};
	if (count_read(w, value[KEY_N], 1, UINT16_MAX, &n) ||
	    count_read(w, value[KEY_WIDTH], 1, UINT8_MAX, &width) ||
	    count_read(w, value[KEY_RAIL], 0, rails - 1, &rail))
		return -1;
	cable->n = (uint16_t)n;
	cable->width = (uint8_t)width;
	cable->rail = (uint8_t)rail;
	if (value[KEY_PORT] && port_read(w, value[KEY_PORT], &cable->port))
		return -1;
	if (value[KEY_RATE] &&
	    weft_yaml_rate(w->d->doc, value[KEY_RATE], &cable->rate_bytes_per_s,
			   w->d->err))
		return -1;
	return value[KEY_STATE] ? state_read(w, value[KEY_STATE], &cable->up)
				: 0;
}

static int line_read(struct weft_wiring *w, const struct weft_yaml_node *node,
		     struct cable_line *line)
{
	const struct weft_yaml *doc = w->d->doc;
	const struct weft_yaml_node *value[N_KEYS];

	line->node = node;
	if (weft_yaml_expect(doc, node, WEFT_YAML_MAP, "a cable", w->d->err) ||
	    weft_yaml_known_keys(doc, node, keys, N_KEYS, "a cable", w->d->err))
		return -1;
	for (int k = 0; k < N_KEYS; k++)
		value[k] = weft_yaml_find(node, keys[k]);
	if (!value[KEY_FROM] || !value[KEY_TO])
		return weft_yaml_fail(doc, node, w->d->err,
				      "a cable: expected {from: NAMES, to: "
				      "NAMES, ...}");
	line->of[FROM] = value[KEY_FROM];
	line->of[TO] = value[KEY_TO];
	if (facts_read(w, value, &line->cable) || ends_read(w, line, FROM) ||
	    ends_read(w, line, TO))
		return -1;
	return 0;
}

static int cables_reserve(struct weft_wiring *w, const struct cable_line *line)
{
	struct weft_cabling *c = w->c;
	uint64_t more = (uint64_t)line->n[FROM] * line->n[TO];
	uint64_t need = c->n_cables + more;
	struct weft_cable *cables;

	if (more > WEFT_MAX_CABLES || need > WEFT_MAX_CABLES)
		return weft_yaml_fail(w->d->doc, line->node, w->d->err,
				      "expected at most %u cables in a fabric",
				      WEFT_MAX_CABLES);
	if (need <= w->cables_room)
		return 0;
	need = need < 2 * (uint64_t)w->cables_room ? 2 * w->cables_room : need;
	cables = weft_realloc(c->cables, need, sizeof(*cables), w->d->err);
	if (!cables)
		return -1;
	c->cables = cables;
	w->cables_room = (uint32_t)need;
	return 0;
}

/* One cable of a line; end b is a switch, and end a a node where one is. */
static int cable_add(struct weft_wiring *w, const struct cable_line *line,
		     uint32_t i, uint32_t j)
{
	struct weft_cabling *c = w->c;
	const struct weft_yaml_node *to = line->of[TO];
	uint32_t from_end = line->ends[FROM][i], to_end = line->ends[TO][j];
	int column = weft_hostlist_column(to->text, j);
	struct weft_cable cable = line->cable;

	if (from_end < c->n_nodes && to_end < c->n_nodes)
		return weft_yaml_fail_inside(
			w->d->doc, to, false, column, w->d->err,
			"a cable from node %s to node %s; expected a switch at "
			"one end",
			w->f->nodes[from_end].name, w->f->nodes[to_end].name);
	if (from_end == to_end)
		return weft_yaml_fail_inside(
			w->d->doc, to, false, column, w->d->err,
			"a cable from %s to itself; expected two ends",
			c->switches[to_end - c->n_nodes].name);
	cable.a = to_end < c->n_nodes ? to_end : from_end;
	cable.b = to_end < c->n_nodes ? from_end : to_end;
	if (cable.a >= c->n_nodes && (line->cable.port != WEFT_NO_PORT ||
				      line->cable.rail != WEFT_NO_RAIL))
		return weft_yaml_fail_inside(
			w->d->doc, to, false, column, w->d->err,
			"a cable between switches %s and %s has no port and no "
			"rail, which are a node's",
			c->switches[from_end - c->n_nodes].name,
			c->switches[to_end - c->n_nodes].name);
	c->cables[c->n_cables++] = cable;
	return 0;
}

static int line_add(struct weft_wiring *w, const struct weft_yaml_node *node)
{
	struct cable_line line = {0};
	int rc = -1;

	if (line_read(w, node, &line) == 0)
		rc = cables_reserve(w, &line);
	for (uint32_t i = 0; !rc && i < line.n[FROM]; i++)
		for (uint32_t j = 0; !rc && j < line.n[TO]; j++)
			rc = cable_add(w, &line, i, j);
	free(line.ends[FROM]);
	free(line.ends[TO]);
	return rc;
}

struct port {
	const char *text;
	uint16_t index;
};

WEFT_COMPARATOR(port_compare, struct port, WEFT_NAME(text));

/* Numbers the ports as people count: mlx5_2 before mlx5_10. */
static int ports_sort(struct weft_wiring *w)
{
	struct weft_cabling *c = w->c;
	struct port *sorted =
		weft_calloc(c->n_ports, sizeof(*sorted), w->d->err);
	uint16_t *number = w->port_order;

	if (!sorted)
		return -1;
	for (uint32_t p = 0; p < c->n_ports; p++)
		sorted[p] = (struct port){c->ports[p], (uint16_t)p};
	WEFT_SORT(sorted, c->n_ports, port_compare);
	for (uint32_t p = 0; p < c->n_ports; p++) {
		c->ports[p] = sorted[p].text;
		number[sorted[p].index] = (uint16_t)p;
	}
	for (uint32_t k = 0; k < c->n_cables; k++)
		if (c->cables[k].port != WEFT_NO_PORT)
			c->cables[k].port = number[c->cables[k].port];
	free(sorted);
	return 0;
}

/* Memory that doubling took too much of stays with the fabric for good. */
static int cables_trim(struct weft_wiring *w)
{
	struct weft_cabling *c = w->c;
	struct weft_cable *cables;

	/* a file may name switches and no cable */
	if (c->n_cables == w->cables_room)
		return 0;
	cables = weft_realloc(c->cables, c->n_cables ? c->n_cables : 1,
			      sizeof(*cables), w->d->err);
	if (!cables)
		return -1;
	c->cables = cables;
	return 0;
}

/* Fills c->cables.  section: `cables`. */
static int wiring_cables(struct weft_wiring *w,
			 const struct weft_yaml_node *section)
{
	if (section && weft_yaml_expect(w->d->doc, section, WEFT_YAML_LIST,
					"cables", w->d->err))
		return -1;
	for (const struct weft_yaml_node *node = section ? section->child
							 : NULL;
	     node; node = node->next)
		if (line_add(w, node))
			return -1;
	if (ports_sort(w) || cables_trim(w))
		return -1;
	return 0;
}

int weft_draft_cabling(struct weft_draft *d, struct weft_fabric *f)
{
	const struct weft_yaml_node *switches =
		weft_yaml_find(d->doc->root, "switches");
	const struct weft_yaml_node *cables =
		weft_yaml_find(d->doc->root, "cables");
	struct weft_wiring w = {.d = d, .f = f};
	int rc = -1;

	if (!switches && !cables)
		return 0;
	w.c = f->cabling = weft_calloc(1, sizeof(*w.c), d->err);
	if (!w.c)
		return -1;
	w.c->n_nodes = f->n_nodes;
	if (weft_wiring_switches(&w, switches) == 0 &&
	    wiring_cables(&w, cables) == 0 && weft_wiring_rails(&w) == 0)
		rc = weft_cabling_index(w.c, f->n_domains, d->err);
	free(w.switch_of);
	free(w.said);
	free(w.names.item);
	free(w.port_order);
	return rc;
}
