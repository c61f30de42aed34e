/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_draft.c - names and memberships of a fabric file, checked */
#include "topology/fabric_draft.h"

#include "base/compare.h"
#include "base/suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void weft_draft_free(struct weft_draft *d)
{
	free(d->things);
	free(d->names.item);
	free(d->racks.item);
	free(d->entries);
	free(d->index_of);
	weft_arena_free(&d->arena);
}

/* For messages: "node", "nvlink" or the network level's name. */
static const char *level_name(const struct weft_draft *d, uint32_t level)
{
	static const char *const fixed[] = {"node", "nvlink"};

	return level < DRAFT_NETWORK ? fixed[level]
				     : d->levels[level - DRAFT_NETWORK]->key;
}

/* Names are used on command lines ("n07:3") and in drawings, so they are kept
 * to characters that need no quoting anywhere. */
static bool is_plain_name(const char *text)
{
	const char *p = text;

	while (isalnum((unsigned char)*p) || (*p && strchr("._-+/@~", *p)))
		p++;
	return !*p && p - text < WEFT_NAME_SIZE;
}

int weft_draft_decode(struct weft_draft *d, const struct weft_yaml_node *node,
		      bool in_key, struct weft_hostlist *list)
{
	const char *text = in_key ? node->key : node->text;
	struct weft_error err = {0};

	if (weft_hostlist_decode(text, WEFT_MAX_GPUS, list, &err) == 0)
		return 0;
	if (err.code == WEFT_ENOMEM)
		return weft_fail(d->err, err.code, "%s", err.text);
	return weft_yaml_fail_inside(d->doc, node, in_key,
				     err.column ? err.column : 1, d->err, "%s",
				     err.text);
}

int weft_draft_decode_key(struct weft_draft *d,
			  const struct weft_yaml_node *node,
			  struct weft_hostlist *list)
{
	if (weft_draft_decode(d, node, true, list))
		return -1;
	for (uint32_t i = 0; i < list->n; i++)
		if (!is_plain_name(list->names[i])) {
			weft_yaml_fail_inside(
				d->doc, node, true,
				weft_hostlist_column(node->key, i), d->err,
				"name \"%.70s\": expected at most 63 letters, "
				"digits and . _ - + / @ ~",
				list->names[i]);
			weft_hostlist_free(list);
			return -1;
		}
	return 0;
}

int weft_draft_add_name(struct weft_draft *d, struct weft_draft_names *names,
			struct weft_draft_name name)
{
	if (names->n >= 2 * WEFT_MAX_GPUS)
		return weft_yaml_fail_key(d->doc, name.where, d->err,
					  "more than %u names in a fabric",
					  2 * WEFT_MAX_GPUS);
	if (WEFT_GROW(names->item, names->n, names->room, d->err))
		return -1;
	name.text = weft_arena_copy(&d->arena, name.text, d->err);
	if (!name.text)
		return -1;
	name.order = names->n;
	names->item[names->n++] = name;
	return 0;
}

int weft_draft_add_thing(struct weft_draft *d, const char *text,
			 const struct weft_yaml_node *where, uint32_t level)
{
	const struct weft_draft_thing thing = {
		.name = text,
		.where = where,
		.level = level,
		.parent = WEFT_NONE,
		.first = WEFT_NONE,
		.last = WEFT_NONE,
		.next = WEFT_NONE,
		.parts = 1,
		.rack = WEFT_NONE,
		.kind = WEFT_NONE,
	};

	if (WEFT_GROW(d->things, d->n_things, d->things_room, d->err))
		return -1;
	d->things[d->n_things++] = thing;
	return 0;
}

int weft_draft_add_entry(struct weft_draft *d,
			 const struct weft_yaml_node *node, uint32_t n)
{
	if (WEFT_GROW(d->entries, d->n_entries, d->entries_room, d->err))
		return -1;
	d->entries[d->n_entries++] = (struct weft_draft_entry){
		.node = node, .first = d->n_things - n, .n = n};
	return 0;
}

WEFT_COMPARATOR(name_compare, struct weft_draft_name,
		WEFT_TEXT(text) WEFT_UP(order));

int weft_draft_index(struct weft_draft *d, struct weft_draft_names *names)
{
	const struct weft_draft_name *again = NULL, *before = NULL;

	if (!names->n)
		return 0;
	WEFT_SORT(names->item, names->n, name_compare);
	for (uint32_t i = 1; i < names->n; i++) {
		const struct weft_draft_name *name = &names->item[i];

		if (strcmp(name->text, name[-1].text) == 0 &&
		    (!again || name->order < again->order)) {
			again = name;
			before = name - 1;
		}
	}
	if (!again)
		return 0;
	return weft_yaml_fail_inside(
		d->doc, again->where, true,
		weft_hostlist_column(again->where->key, again->index), d->err,
		"\"%s\" is named twice, first in line %d", again->text,
		before->where->key_line);
}

struct weft_draft_name *weft_draft_find(struct weft_draft_names *names,
					const char *text)
{
	const struct weft_draft_name key = {.text = text};

	return names->n ? bsearch(&key, names->item, names->n, sizeof(key),
				  weft_compare_texts)
			: NULL;
}

/* A member of an entry, for messages. */
struct member {
	const struct weft_yaml_node *node;
	uint32_t index; /* in the value's hostlist */
	const char *text;
};

static int member_column(const struct member *m)
{
	return weft_hostlist_column(m->node->text, m->index);
}

int weft_draft_unknown(struct weft_draft *d, const struct weft_yaml_node *node,
		       bool in_key, int column, const char *text)
{
	const char **known = weft_calloc(d->names.n, sizeof(*known), d->err);

	if (!known)
		return -1;
	for (uint32_t i = 0; i < d->names.n; i++)
		known[i] = d->names.item[i].text;
	weft_yaml_fail_inside(d->doc, node, in_key, column, d->err,
			      "\"%.70s\" is not defined above; the nearest "
			      "known name is \"%s\"",
			      text, weft_suggest(text, known, d->names.n));
	free(known);
	return -1;
}

static int member_unknown(struct weft_draft *d, const struct member *m)
{
	return weft_draft_unknown(d, m->node, false, member_column(m), m->text);
}

static int member_taken(struct weft_draft *d, const struct member *m,
			const struct weft_draft_thing *thing)
{
	const char *owner = "";

	if (thing->parent != WEFT_NONE)
		owner = d->things[thing->parent].name;
	return weft_yaml_fail_inside(d->doc, m->node, false, member_column(m),
				     d->err,
				     "\"%s\" is already in domain %.60s; "
				     "expected each name in one domain",
				     m->text, owner);
}

static int member_split(struct weft_draft *d, const struct member *m,
			const struct weft_draft_thing *thing)
{
	const char *kind = thing->level == DRAFT_SPAN
				   ? "NVLink domain"
				   : "bundle of leaf switches";

	return weft_yaml_fail_inside(
		d->doc, m->node, false, member_column(m), d->err,
		"\"%s\" is of the %s %.60s, which is in domain %.60s; "
		"expected all of it in one domain",
		m->text, kind, thing->name, d->things[thing->parent].name);
}

static void member_link(struct weft_draft *d, uint32_t parent, uint32_t thing)
{
	struct weft_draft_thing *owner = &d->things[parent];

	d->things[thing].parent = parent;
	if (owner->last == WEFT_NONE)
		owner->first = thing;
	else
		d->things[owner->last].next = thing;
	owner->last = thing;
}

/* What really goes into a switch domain: a node of an NVLink domain stands for
 * a part of that domain. */
static uint32_t member_target(const struct weft_draft *d, uint32_t thing)
{
	uint32_t parent = d->things[thing].parent;

	if (d->things[thing].level == DRAFT_NODE && parent != WEFT_NONE &&
	    d->things[parent].level == DRAFT_SPAN)
		return parent;
	return thing;
}

static int network_member_add(struct weft_draft *d, const struct member *m,
			      struct weft_draft_name *name, uint32_t parent)
{
	uint32_t target = member_target(d, name->thing);
	struct weft_draft_thing *thing = &d->things[target];
	uint32_t parts =
		d->things[name->thing].level == DRAFT_SPAN ? thing->parts : 1;

	if (name->used || thing->named + parts > thing->parts)
		return member_taken(d, m, thing);
	if (thing->parent != WEFT_NONE && thing->parent != parent)
		return member_split(d, m, thing);
	name->used = true;
	thing->named += parts;
	if (thing->parent == WEFT_NONE)
		member_link(d, parent, target);
	return 0;
}

static int member_add(struct weft_draft *d, const struct member *m,
		      uint32_t parent)
{
	struct weft_draft_name *name = weft_draft_find(&d->names, m->text);
	uint32_t level = d->things[parent].level;
	const struct weft_draft_thing *thing;

	if (!name)
		return member_unknown(d, m);
	thing = &d->things[name->thing];
	if (thing->level >= level)
		return weft_yaml_fail_inside(
			d->doc, m->node, false, member_column(m), d->err,
			"\"%s\" is of level %s; expected members of a level "
			"below %s",
			m->text, level_name(d, thing->level),
			level_name(d, level));
	if (level > DRAFT_SPAN)
		return network_member_add(d, m, name, parent);
	if (thing->parent != WEFT_NONE)
		return member_taken(d, m, thing);
	member_link(d, parent, name->thing);
	return 0;
}

/* Reads a value as a hostlist whose names are dealt out evenly to n. */
static int members_decode(struct weft_draft *d,
			  const struct weft_yaml_node *node, uint32_t n,
			  struct weft_hostlist *list)
{
	if (node->kind != WEFT_YAML_SCALAR || !*node->text)
		return weft_yaml_fail(d->doc, node, d->err,
				      "%.60s: expected a hostlist of members "
				      "such as n[00-15]",
				      node->key);
	if (weft_draft_decode(d, node, false, list))
		return -1;
	if (list->n % n == 0)
		return 0;
	weft_yaml_fail(d->doc, node, d->err,
		       "%u members cannot be dealt out evenly to %u domains "
		       "(%.60s)",
		       list->n, n, node->key);
	weft_hostlist_free(list);
	return -1;
}

static int entry_resolve(struct weft_draft *d,
			 const struct weft_draft_entry *entry)
{
	struct weft_hostlist list = {0};
	uint32_t share;
	int rc = 0;

	if (members_decode(d, entry->node, entry->n, &list))
		return -1;
	share = list.n / entry->n;
	for (uint32_t i = 0; !rc && i < list.n; i++) {
		struct member m = {entry->node, i, list.names[i]};

		rc = member_add(d, &m, entry->first + i / share);
	}
	for (uint32_t k = 0; k < entry->n; k++) {
		struct weft_draft_thing *thing = &d->things[entry->first + k];

		if (thing->level == DRAFT_SPAN)
			thing->parts = share;
	}
	weft_hostlist_free(&list);
	return rc;
}

int weft_draft_resolve(struct weft_draft *d)
{
	for (uint32_t k = 0; k < d->n_entries; k++)
		if (entry_resolve(d, &d->entries[k]))
			return -1;
	return 0;
}

static int rack_put(struct weft_draft *d, const struct member *m, uint32_t node,
		    uint32_t rack)
{
	struct weft_draft_thing *thing = &d->things[node];

	if (thing->rack != WEFT_NONE)
		return weft_yaml_fail_inside(
			d->doc, m->node, false, member_column(m), d->err,
			"node \"%s\" is already in rack "
			"%s; expected one rack a node",
			thing->name, d->racks.item[thing->rack].text);
	thing->rack = rack;
	return 0;
}

static int rack_member_add(struct weft_draft *d, const struct member *m,
			   uint32_t rack)
{
	const struct weft_draft_name *name =
		weft_draft_find(&d->names, m->text);
	const struct weft_draft_thing *thing;

	if (!name)
		return member_unknown(d, m);
	thing = &d->things[name->thing];
	if (thing->level == DRAFT_NODE)
		return rack_put(d, m, name->thing, rack);
	if (thing->level > DRAFT_SPAN)
		return weft_yaml_fail_inside(
			d->doc, m->node, false, member_column(m), d->err,
			"\"%s\" is of level %s; expected nodes in a rack",
			m->text, level_name(d, thing->level));
	for (uint32_t t = thing->first; t != WEFT_NONE; t = d->things[t].next)
		if (rack_put(d, m, t, rack))
			return -1;
	return 0;
}

int weft_draft_fill_racks(struct weft_draft *d,
			  const struct weft_yaml_node *node, uint32_t first,
			  uint32_t n)
{
	struct weft_hostlist list = {0};
	int rc = 0;

	if (members_decode(d, node, n, &list))
		return -1;
	for (uint32_t i = 0; !rc && i < list.n; i++) {
		struct member m = {node, i, list.names[i]};

		rc = rack_member_add(d, &m, first + i / (list.n / n));
	}
	weft_hostlist_free(&list);
	return rc;
}

/* Column, in the key that names it, of the thing. */
static int thing_column(const struct weft_draft *d, uint32_t thing)
{
	const struct weft_draft_thing *t = &d->things[thing];
	uint32_t index = 0;

	while (index < thing && d->things[thing - index - 1].where == t->where)
		index++;
	return weft_hostlist_column(t->where->key, t->level > DRAFT_SPAN
							   ? index * t->parts
							   : index);
}

static int thing_complete(struct weft_draft *d, uint32_t index)
{
	const struct weft_draft_thing *thing = &d->things[index];
	uint32_t top = DRAFT_NETWORK + d->n_levels - 1;

	if (thing->parent == WEFT_NONE && thing->level < top && d->n_levels)
		return weft_yaml_fail_inside(
			d->doc, thing->where, true, thing_column(d, index),
			d->err,
			"%s \"%.60s\" is in no domain; expected it in one of "
			"level %s%s",
			level_name(d, thing->level), thing->name,
			level_name(d, thing->level < DRAFT_NETWORK
					      ? DRAFT_NETWORK
					      : thing->level + 1),
			d->n_levels > 1 && thing->level + 1 < top ? " or above"
								  : "");
	if (thing->parent != WEFT_NONE && thing->level > DRAFT_NODE &&
	    thing->named < thing->parts)
		return weft_yaml_fail_inside(
			d->doc, d->things[thing->parent].where, true,
			thing_column(d, thing->parent), d->err,
			"domain %.60s has %u of the %u parts of %.60s; "
			"expected all of them",
			d->things[thing->parent].name, thing->named,
			thing->parts, thing->name);
	return 0;
}

int weft_draft_complete(struct weft_draft *d)
{
	for (uint32_t t = 0; t < d->n_things; t++)
		if (thing_complete(d, t))
			return -1;
	return 0;
}
