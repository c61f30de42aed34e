/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_draft.h - a fabric file's names, resolved, before they are numbered
 *
 * Private to the loader: fabric_load.c reads the sections into a draft,
 * fabric_draft.c keeps its names and members, fabric_build.c turns it into a
 * weft_fabric.
 */
#ifndef WEFT_TOPOLOGY_FABRIC_DRAFT_H
#define WEFT_TOPOLOGY_FABRIC_DRAFT_H

#include "base/arena.h"
#include "base/hostlist.h"
#include "base/yaml.h"
#include "topology/fabric.h"
#include "topology/profile.h"

/* Draft levels: nodes, NVLink domains that span nodes, then the network levels
 * of the file, innermost first. */
enum { DRAFT_NODE, DRAFT_SPAN, DRAFT_NETWORK };

/* A node, an NVLink domain or a switch domain.  Members are a list in the order
 * named.  A thing of several parts (the leaf switches of a bundle, the nodes of
 * an NVLink domain) goes into the domain above whole: `named` counts the parts
 * that were named there. */
struct weft_draft_thing {
	const char *name;
	const struct weft_yaml_node *where; /* its key names the thing */
	uint32_t level;
	uint32_t parent, first, last, next; /* things, or WEFT_NONE */
	uint32_t parts, named;
	uint32_t n_gpus, rack, kind; /* of a node */
	/* Of a node: GPUs of each of its NVLink domains, in order; NULL: as
	 * nvlink says. */
	const uint32_t *islands;
	uint32_t n_islands;
	/* Of a node with those: [n_gpus] numbers of its GPUs, domain by domain;
	 * NULL: in order. */
	const uint8_t *numbers;
};

struct weft_draft_name {
	const char *text; /* first: weft_compare_texts looks at nothing else */
	uint32_t thing;	  /* or rack */
	uint32_t order;	  /* in the file, over all names */
	uint32_t index;	  /* in the hostlist that is */
	const struct weft_yaml_node *where; /* the key of this node */
	bool used;			    /* as a member */
};

struct weft_draft_names {
	struct weft_draft_name *item;
	uint32_t n, room;
};

/* One line "NAMES: MEMBERS" of a level or of nvlink. */
struct weft_draft_entry {
	const struct weft_yaml_node *node;
	uint32_t first, n; /* its things */
};

struct weft_draft {
	const struct weft_yaml *doc;
	struct weft_arena arena; /* becomes the fabric's */
	struct weft_error *err;

	const char *name;
	const struct weft_profile *profile;
	uint32_t rails, nvlink_gpus; /* nvlink_gpus 0: whole nodes, or spans */
	bool pxn, disjoint;
	enum weft_routing routing; /* WEFT_N_ROUTINGS: not said */
	uint32_t n_flows;	   /* 0: not said */

	struct weft_draft_thing *things; /* nodes, then spans, then levels */
	uint32_t n_things, things_room, n_nodes;
	struct weft_draft_names names;
	struct weft_draft_entry *entries;
	uint32_t n_entries, entries_room;
	const struct weft_yaml_node *levels[WEFT_MAX_LEVELS];
	uint32_t n_levels;
	struct weft_draft_names racks;
	const char *kinds[WEFT_MAX_KINDS];
	uint32_t n_kinds;
	uint32_t *index_of; /* thing -> node, or domain, once it is built */
};

void weft_draft_free(struct weft_draft *d);

/* Reads the value of `node`, or its key, as a hostlist. */
int weft_draft_decode(struct weft_draft *d, const struct weft_yaml_node *node,
		      bool in_key, struct weft_hostlist *list);

/* Reads the key of `node` as a hostlist and checks each name's characters. */
int weft_draft_decode_key(struct weft_draft *d,
			  const struct weft_yaml_node *node,
			  struct weft_hostlist *list);

/* Adds the thing `text`, or only a further name of the last thing. */
int weft_draft_add_thing(struct weft_draft *d, const char *text,
			 const struct weft_yaml_node *where, uint32_t level);
int weft_draft_add_name(struct weft_draft *d, struct weft_draft_names *names,
			struct weft_draft_name name);
int weft_draft_add_entry(struct weft_draft *d,
			 const struct weft_yaml_node *node, uint32_t n);

/* Sorts the table for look-ups; two equal names are an error. */
int weft_draft_index(struct weft_draft *d, struct weft_draft_names *names);

/* After indexing: the name, or NULL. */
struct weft_draft_name *weft_draft_find(struct weft_draft_names *names,
					const char *text);

/* Fails: the name at that column of node's value or key is unknown; the message
 * has the nearest known one. */
int weft_draft_unknown(struct weft_draft *d, const struct weft_yaml_node *node,
		       bool in_key, int column, const char *text);

/* After indexing: reads every entry's members and puts them into its things.
 * -1 on unknown, repeated or badly nested members. */
int weft_draft_resolve(struct weft_draft *d);

/* Assigns the nodes named in `rack: NAMES: MEMBERS` to racks first.. (n). */
int weft_draft_fill_racks(struct weft_draft *d,
			  const struct weft_yaml_node *node, uint32_t first,
			  uint32_t n);

/* Every thing below the top has been put into a domain, whole. */
int weft_draft_complete(struct weft_draft *d);

/* Numbers the draft in tree order and fills d->index_of.  Names stay in
 * d->arena, which the caller hands over to the fabric when all is read.  NULL
 * with d->err. */
struct weft_fabric *weft_draft_build(struct weft_draft *d);

/* Once the draft is built: reads what `links` and `shapes` say of the levels.
 */
int weft_draft_links(struct weft_draft *d, struct weft_fabric *f);
int weft_draft_shapes(struct weft_draft *d, struct weft_fabric *f);

/* Once the draft is built: reads switches and cables into f->cabling, which
 * stays NULL where the file has neither. */
int weft_draft_cabling(struct weft_draft *d, struct weft_fabric *f);

/* After the cabling: what it and `uplinks` say of the links above domains. */
int weft_draft_uplinks(struct weft_draft *d, struct weft_fabric *f);

/* Fills f->distance from the levels' links. */
void weft_draft_distances(struct weft_fabric *f, bool pxn);

#endif
