/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_switches.c - the section `switches` of a fabric file */
#include "base/suggest.h"
#include "topology/fabric_wiring.h"

#include <stdlib.h>
#include <string.h>

#define COMPUTE "compute"

/* Adds a switch without facts; *index is its number. */
static int switch_add(struct weft_wiring *w, const char *name, uint32_t domain,
		      uint32_t *index)
{
	struct weft_cabling *c = w->c;
	uint32_t room = w->switches_room ? 2 * w->switches_room : 64;

	if (c->n_switches == w->switches_room) {
		struct weft_cabling_switch *switches = weft_realloc(
			c->switches, room, sizeof(*switches), w->d->err);
		const struct weft_yaml_node **said = NULL;

		if (!switches)
			return -1;
		c->switches = switches;
		said = weft_realloc(w->said, room, sizeof(*said), w->d->err);
		if (!said)
			return -1;
		w->said = said;
		w->switches_room = room;
	}
	*index = c->n_switches++;
	w->said[*index] = NULL;
	c->switches[*index] = (struct weft_cabling_switch){
		.name = name, .domain = domain, .rail = WEFT_NO_RAIL};
	if (domain != WEFT_NONE)
		c->switches[*index].tier =
			(uint8_t)(w->f->domains[domain].level -
				  w->f->node_level);
	return 0;
}

/* The switches that the first network level is. */
static int leafs_add(struct weft_wiring *w)
{
	const struct weft_draft *d = w->d;
	uint32_t index;

	for (uint32_t t = 0; t < d->n_things; t++) {
		const struct weft_draft_thing *thing = &d->things[t];

		w->switch_of[t] = WEFT_NONE;
		if (thing->level != DRAFT_NETWORK)
			continue;
		w->switch_of[t] = w->c->n_switches;
		for (uint32_t part = 0; part < thing->parts; part++) {
			if (switch_add(w, thing->name, d->index_of[t], &index))
				return -1;
			if (thing->parts > 1)
				w->c->switches[index].rail = (uint8_t)part;
		}
	}
	/* the parts of a bundle have names of their own */
	for (uint32_t k = 0; k < d->names.n; k++) {
		const struct weft_draft_name *name = &d->names.item[k];
		const struct weft_draft_thing *thing = &d->things[name->thing];

		if (thing->level == DRAFT_NETWORK)
			w->c->switches[w->switch_of[name->thing] +
				       name->index % thing->parts]
				.name = name->text;
	}
	return 0;
}

uint32_t weft_wiring_end(struct weft_wiring *w, const char *name,
			 bool *is_domain)
{
	const struct weft_draft *d = w->d;
	const struct weft_draft_name *item =
		weft_draft_find(&w->d->names, name);
	const struct weft_draft_thing *thing;

	*is_domain = false;
	if (!item) {
		item = weft_draft_find(&w->names, name);
		return item ? w->f->n_nodes + item->thing : WEFT_NONE;
	}
	thing = &d->things[item->thing];
	if (thing->level == DRAFT_NODE)
		return d->index_of[item->thing];
	*is_domain = w->switch_of[item->thing] == WEFT_NONE;
	if (*is_domain)
		return WEFT_NONE;
	return w->f->n_nodes + w->switch_of[item->thing] +
	       item->index % thing->parts;
}

int weft_wiring_unknown(struct weft_wiring *w,
			const struct weft_yaml_node *node, int column,
			const char *name)
{
	const struct weft_draft_names *tables[] = {&w->d->names, &w->names};
	uint32_t n = 0;
	const char **known = weft_calloc((size_t)w->d->names.n + w->names.n,
					 sizeof(*known), w->d->err);

	if (!known)
		return -1;
	for (size_t t = 0; t < WEFT_N_OF(tables); t++)
		for (uint32_t i = 0; i < tables[t]->n; i++)
			known[n++] = tables[t]->item[i].text;
	weft_yaml_fail_inside(w->d->doc, node, false, column, w->d->err,
			      "\"%.70s\" is no node, switch or domain of this "
			      "file; the nearest known name is \"%s\"",
			      name, weft_suggest(name, known, n));
	free(known);
	return -1;
}

/* Domain of the name that `node` gives, a domain of `levels` or core. */
static int domain_read(struct weft_wiring *w, const struct weft_yaml_node *node,
		       uint32_t *domain)
{
	const struct weft_fabric *f = w->f;
	const struct weft_draft_name *item;

	if (weft_yaml_expect(w->d->doc, node, WEFT_YAML_SCALAR, "domain",
			     w->d->err))
		return -1;
	item = weft_draft_find(&w->d->names, node->text);
	if (item && w->d->things[item->thing].level >= DRAFT_NETWORK) {
		*domain = w->d->index_of[item->thing];
		return 0;
	}
	*domain = f->n_domains - 1;
	if (!item && strcmp(node->text, "core") == 0 &&
	    strcmp(f->domains[*domain].name, "core") == 0)
		return 0;
	if (!item)
		return weft_wiring_unknown(w, node, 1, node->text);
	return weft_yaml_fail(
		w->d->doc, node, w->d->err,
		"domain: \"%.70s\" is a node or an NVLink domain; "
		"expected a domain of a level of \"levels:\"",
		node->text);
}

static int network_read(struct weft_wiring *w,
			const struct weft_yaml_node *node, uint8_t *network)
{
	struct weft_cabling *c = w->c;
	uint32_t k = 0;

	if (weft_yaml_expect(w->d->doc, node, WEFT_YAML_SCALAR, "network",
			     w->d->err))
		return -1;
	if (!*node->text || strlen(node->text) >= WEFT_NAME_SIZE)
		return weft_yaml_fail(
			w->d->doc, node, w->d->err,
			"network: expected 1 to %d bytes, such as "
			"storage",
			WEFT_NAME_SIZE - 1);
	while (k < c->n_networks && strcmp(c->networks[k], node->text) != 0)
		k++;
	if (k == WEFT_MAX_NETWORKS)
		return weft_yaml_fail(w->d->doc, node, w->d->err,
				      "expected at most %d networks",
				      WEFT_MAX_NETWORKS);
	if (k == c->n_networks) {
		c->networks[k] =
			weft_arena_copy(&w->d->arena, node->text, w->d->err);
		if (!c->networks[k])
			return -1;
		c->n_networks++;
	}
	*network = (uint8_t)k;
	return 0;
}

/* Reads {ports:, domain:, network:, tier:} over what the facts are now. */
static int facts_read(struct weft_wiring *w, const struct weft_yaml_node *node,
		      struct weft_cabling_switch *facts)
{
	static const char *const known[] = {"ports", "domain", "network",
					    "tier"};
	const struct weft_yaml *doc = w->d->doc;
	const struct weft_yaml_node *ports, *domain, *network, *tier;
	uint64_t value = 0;

	if (node->kind == WEFT_YAML_SCALAR && !*node->text)
		return 0;
	if (weft_yaml_expect(doc, node, WEFT_YAML_MAP, node->key, w->d->err) ||
	    weft_yaml_known_keys(doc, node, known, WEFT_N_OF(known), "a switch",
				 w->d->err))
		return -1;
	ports = weft_yaml_find(node, known[0]);
	domain = weft_yaml_find(node, known[1]);
	network = weft_yaml_find(node, known[2]);
	tier = weft_yaml_find(node, known[3]);
	if (ports &&
	    weft_yaml_uint(doc, ports, 1, UINT16_MAX, &value, w->d->err))
		return -1;
	facts->n_ports = (uint16_t)value;
	if (domain && domain_read(w, domain, &facts->domain))
		return -1;
	if (domain)
		facts->tier = (uint8_t)(w->f->domains[facts->domain].level -
					w->f->node_level);
	if (network && network_read(w, network, &facts->network))
		return -1;
	value = facts->tier;
	if (tier && weft_yaml_uint(doc, tier, 1, UINT8_MAX, &value, w->d->err))
		return -1;
	facts->tier = (uint8_t)value;
	if (domain && facts->network != WEFT_COMPUTE)
		return weft_yaml_fail(
			doc, domain, w->d->err,
			"a switch of network %.60s has no domain: "
			"domains are of the compute network",
			network->text);
	return 0;
}

/* The switch that the i-th name of a line is, made where it is new. */
static int switch_name(struct weft_wiring *w, const struct weft_yaml_node *line,
		       const char *text, uint32_t i, uint32_t *index)
{
	struct weft_draft *d = w->d;
	const struct weft_draft_name *item = weft_draft_find(&d->names, text);
	const struct weft_draft_thing *thing;
	struct weft_draft_name own = {.text = text,
				      .thing = w->c->n_switches,
				      .index = i,
				      .where = line};

	if (!item) {
		if (weft_draft_add_name(d, &w->names, own))
			return -1;
		return switch_add(w, w->names.item[w->names.n - 1].text,
				  WEFT_NONE, index);
	}
	thing = &d->things[item->thing];
	if (thing->level < DRAFT_NETWORK)
		return weft_yaml_fail_inside(
			d->doc, line, true, weft_hostlist_column(line->key, i),
			d->err,
			"\"%s\" is a node or an NVLink domain; expected a "
			"switch",
			item->text);
	if (w->switch_of[item->thing] != WEFT_NONE) {
		*index = w->switch_of[item->thing] + item->index % thing->parts;
		return 0;
	}
	if (switch_add(w, item->text, d->index_of[item->thing], index))
		return -1;
	w->switch_of[item->thing] = *index;
	return 0;
}

static int switch_said(struct weft_wiring *w, const struct weft_yaml_node *line,
		       uint32_t i, uint32_t index,
		       const struct weft_cabling_switch *facts)
{
	struct weft_cabling_switch *s = &w->c->switches[index];
	int column = weft_hostlist_column(line->key, i);

	if (w->said[index])
		return weft_yaml_fail_inside(
			w->d->doc, line, true, column, w->d->err,
			"\"%s\" is named twice, first in line %d", s->name,
			w->said[index]->key_line);
	w->said[index] = line;
	if (s->domain != WEFT_NONE && facts->domain != WEFT_NONE &&
	    facts->domain != s->domain)
		return weft_yaml_fail_inside(
			w->d->doc, line, true, column, w->d->err,
			"\"%s\" is itself a domain of \"levels:\"; expected no "
			"other domain for it",
			s->name);
	if (s->domain != WEFT_NONE && facts->network != WEFT_COMPUTE)
		return weft_yaml_fail_inside(
			w->d->doc, line, true, column, w->d->err,
			"\"%s\" is a domain of \"levels:\", which are the "
			"compute network; expected no other network",
			s->name);
	s->n_ports = facts->n_ports;
	s->network = facts->network;
	if (facts->domain != WEFT_NONE)
		s->domain = facts->domain;
	if (facts->tier)
		s->tier = facts->tier;
	return 0;
}

static int line_read(struct weft_wiring *w, const struct weft_yaml_node *line)
{
	struct weft_cabling_switch facts = {.domain = WEFT_NONE};
	struct weft_hostlist list = {0};
	uint32_t index = 0;
	int rc = 0;

	if (facts_read(w, line, &facts) ||
	    weft_draft_decode_key(w->d, line, &list))
		return -1;
	if (w->c->n_switches + (uint64_t)list.n > WEFT_MAX_SWITCHES)
		rc = weft_yaml_fail_key(w->d->doc, line, w->d->err,
					"expected at most %u switches in a "
					"fabric",
					WEFT_MAX_SWITCHES);
	for (uint32_t i = 0; !rc && i < list.n; i++) {
		rc = switch_name(w, line, list.names[i], i, &index);
		if (!rc)
			rc = switch_said(w, line, i, index, &facts);
	}
	weft_hostlist_free(&list);
	return rc;
}

int weft_wiring_switches(struct weft_wiring *w,
			 const struct weft_yaml_node *section)
{
	w->c->networks[w->c->n_networks++] = COMPUTE;
	w->switch_of =
		weft_calloc(w->d->n_things, sizeof(*w->switch_of), w->d->err);
	if (!w->switch_of || leafs_add(w))
		return -1;
	if (!section)
		return 0;
	if (weft_yaml_expect(w->d->doc, section, WEFT_YAML_MAP, "switches",
			     w->d->err))
		return -1;
	for (const struct weft_yaml_node *c = section->child; c; c = c->next)
		if (line_read(w, c))
			return -1;
	return weft_draft_index(w->d, &w->names);
}
