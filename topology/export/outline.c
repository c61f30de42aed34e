/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outline.c - what Slurm's trees and blocks have in common */
#include "topology/export/outline.h"
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/cabling.h"
#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slurm: HOST_NAME_MAX */
#define NAME_MAX_SLURM 64

void weft_outline_free(struct weft_outline *o)
{
	for (uint32_t i = 0; i < o->n; i++) {
		free(o->units[i].nodes);
		free(o->units[i].switches);
	}
	free(o->units);
	weft_arena_free(&o->arena);
	*o = (struct weft_outline){0};
}

/* ---- names ---- */

struct taken {
	const char *name;
	uint32_t domain;
};

WEFT_COMPARATOR(compare_taken, struct taken, WEFT_TEXT(name) WEFT_UP(domain));

/* A bundle of leafs is called "leaf[0-7]": to Slurm that would be a list. */
static void name_clean(const char *name, char *text, size_t size)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++)
		if (!strchr("[]", *name))
			text[n++] = *name == ',' ? '+' : *name;
	text[n] = '\0';
}

/* Names of the domains from level `first` on, each once.  The level that weft
 * itself puts on top is called core, as a switch of the file may be. */
static int names_make(const struct weft_fabric *f, uint32_t first,
		      struct weft_outline *o, struct weft_error *err)
{
	uint32_t begin = f->levels[first].first_domain, n = 0;
	struct taken *taken;

	if (WEFT_ARRAY(taken, f->n_domains - begin, &o->arena, err) ||
	    WEFT_ARRAY(o->names, f->n_domains, &o->arena, err))
		return -1;
	for (uint32_t d = begin; d < f->n_domains; d++) {
		char text[NAME_MAX_SLURM + 1];

		name_clean(f->domains[d].name, text, sizeof(text) - 4);
		o->names[d] = weft_arena_copy(&o->arena, text, err);
		if (!o->names[d])
			return -1;
		if (!weft_inventory_passes(f, d))
			taken[n++] = (struct taken){o->names[d], d};
	}
	WEFT_SORT(taken, n, compare_taken);
	for (uint32_t i = 1, twin = 2; i < n; i++) {
		char text[NAME_MAX_SLURM + 1];

		if (strcmp(taken[i].name, taken[i - 1].name) != 0) {
			twin = 2;
			continue;
		}
		snprintf(text, sizeof(text), "%.55s~%u", taken[i].name, twin++);
		o->names[taken[i].domain] =
			weft_arena_copy(&o->arena, text, err);
	}
	return 0;
}

/* ---- units ---- */

static struct weft_outline_unit *
unit_add(struct weft_outline *o, const char *name, struct weft_error *err)
{
	struct weft_outline_unit *u;

	if (WEFT_GROW(o->units, o->n, o->room, err))
		return NULL;
	u = &o->units[o->n++];
	*u = (struct weft_outline_unit){weft_arena_copy(&o->arena, name, err),
					NULL, NULL};
	return u->name ? u : NULL;
}

/* The order of names means nothing unless `kept`: sorted ones are short. */
static char *list_of(const char **names, uint32_t n, bool kept,
		     struct weft_error *err)
{
	char *text;

	if (n && !kept)
		WEFT_SORT(names, n, weft_compare_names);
	text = weft_hostlist_encode(names, n);

	if (!text)
		weft_fail(err, WEFT_ENOMEM, "out of memory");
	return text;
}

/* A domain with all of its nodes. */
static int nodes_add(const struct weft_fabric *f, const struct weft_domain *d,
		     const char *name, bool kept, struct weft_outline *o,
		     struct weft_error *err)
{
	uint32_t n = d->n_nodes;
	const char **names = weft_calloc(n, sizeof(*names), err);
	struct weft_outline_unit *u = unit_add(o, name, err);

	for (uint32_t i = 0; names && i < n; i++)
		names[i] = f->nodes[d->first_node + i].name;
	if (u && names)
		u->nodes = list_of(names, n, kept, err);
	free(names);
	return u && u->nodes ? 0 : -1;
}

int weft_outline_level(const struct weft_fabric *f, uint32_t level, bool kept,
		       struct weft_outline *o, struct weft_error *err)
{
	const struct weft_level *l = &f->levels[level];

	if (names_make(f, level, o, err))
		return -1;
	for (uint32_t k = 0; k < l->n_domains; k++) {
		uint32_t d = l->first_domain + k;

		if (nodes_add(f, &f->domains[d], o->names[d], kept, o, err))
			return -1;
	}
	return 0;
}

/* ---- trees ---- */

struct tree {
	const struct weft_fabric *f;
	const struct weft_export_options *options;
	struct weft_outline *o;
	struct weft_findings *findings;
	struct weft_error *err;
	const char **switches, **nodes; /* of the domain at hand */
	uint32_t n_switches, n_nodes;
};

/* What the importer puts around a root that is no domain of the last level. */
static bool is_wrapper(const struct weft_fabric *f, uint32_t domain)
{
	const struct weft_domain *d = &f->domains[domain];
	const char *child;
	size_t size;

	if (d->parent != WEFT_NONE || d->n_children != 1)
		return false;
	child = f->domains[d->first_child].name;
	size = strlen(child);
	return strncmp(d->name, child, size) == 0 &&
	       strcmp(d->name + size, WEFT_ROOT_SUFFIX) == 0;
}

/* The domain for which a chain of passed ones stands. */
static uint32_t passed_end(const struct weft_fabric *f, uint32_t domain)
{
	while (f->domains[domain].level > f->node_level &&
	       weft_inventory_passes(f, domain))
		domain = f->domains[domain].first_child;
	return domain;
}

/* The switches that are to be written for a domain above the leafs: NULL where
 * it is one. */
static const uint32_t *made_of(const struct tree *t, uint32_t domain,
			       uint32_t *n)
{
	const struct weft_fabric *f = t->f;
	const struct weft_domain *d = &f->domains[domain];
	const uint32_t *list;
	bool above = false;

	for (uint32_t k = 0; k < d->n_children && !above; k++)
		above = f->domains[passed_end(f, d->first_child + k)].level >
			f->node_level;
	*n = 0;
	if (!t->options->physical || !f->cabling || !above)
		return NULL;
	list = weft_cabling_of_domain(f->cabling, domain, n);
	return *n > 1 ? list : NULL;
}

static void child_add(struct tree *t, uint32_t domain)
{
	uint32_t n;
	const uint32_t *list = made_of(t, domain, &n);

	if (!list)
		t->switches[t->n_switches++] = t->o->names[domain];
	for (uint32_t i = 0; list && i < n; i++)
		t->switches[t->n_switches++] =
			t->f->cabling->switches[list[i]].name;
}

/* Sorts the children of a domain into switches and nodes. */
static void children_sort(struct tree *t, uint32_t domain)
{
	const struct weft_fabric *f = t->f;
	const struct weft_domain *d = &f->domains[domain];

	t->n_switches = t->n_nodes = 0;
	for (uint32_t k = 0; k < d->n_children; k++) {
		uint32_t c = passed_end(f, d->first_child + k);
		const struct weft_domain *child = &f->domains[c];

		if (child->level > f->node_level) {
			child_add(t, c);
			continue;
		}
		for (uint32_t i = 0; i < child->n_nodes; i++)
			t->nodes[t->n_nodes++] =
				f->nodes[child->first_node + i].name;
	}
}

/* Slurm takes nodes or switches under a switch: nodes beside switches get one
 * of their own. */
static int nodes_part(struct tree *t, const char *name)
{
	char own[NAME_MAX_SLURM + 1];
	const char *kept;
	struct weft_outline_unit *u;

	snprintf(own, sizeof(own), "%.50s-nodes", name);
	u = unit_add(t->o, own, t->err);
	if (!u)
		return -1;
	kept = u->name;
	u->nodes = list_of(t->nodes, t->n_nodes, false, t->err);
	if (!u->nodes)
		return -1;
	t->switches[t->n_switches++] = kept;
	t->n_nodes = 0;
	return weft_findings_add(
		t->findings, WEFT_FINDING_EXPORT_CHANGED,
		(struct weft_finding_at){.place = name}, t->err,
		"nodes are attached to it beside switches, which Slurm does "
		"not take: "
		"they are written under a switch %s of their own",
		kept);
}

static int switch_write(struct tree *t, const char *name)
{
	struct weft_outline_unit *u = unit_add(t->o, name, t->err);
	char *text;

	if (!u)
		return -1;
	text = t->n_switches
		       ? list_of(t->switches, t->n_switches, false, t->err)
		       : list_of(t->nodes, t->n_nodes, false, t->err);
	if (t->n_switches)
		u->switches = text;
	else
		u->nodes = text;
	return text ? 0 : -1;
}

/* The domain as one switch, or each of the physical ones of which it is made,
 * all with the same children, as Slurm's guide has it. */
static int domain_write(struct tree *t, uint32_t domain)
{
	const struct weft_domain *d = &t->f->domains[domain];
	const struct weft_cabling *c = t->f->cabling;
	uint32_t n;
	const uint32_t *list = made_of(t, domain, &n);

	children_sort(t, domain);
	if (t->n_switches && t->n_nodes && nodes_part(t, t->o->names[domain]))
		return -1;
	if (d->level > t->f->node_level + 1 && t->n_nodes > 1 &&
	    weft_findings_add(
		    t->findings, WEFT_FINDING_EXPORT_CHANGED,
		    (struct weft_finding_at){.place = d->name}, t->err,
		    "its nodes skip a level; to Slurm they are attached to a "
		    "leaf like others"))
		return -1;
	if (!list)
		return switch_write(t, t->o->names[domain]);
	for (uint32_t i = 0; i < n; i++)
		if (switch_write(t, c->switches[list[i]].name))
			return -1;
	return 0;
}

WEFT_COMPARATOR(compare_units, struct weft_outline_unit, WEFT_NAME(name));

/* Level by level, each sorted: the order of switches means nothing either. */
static int tree_write(struct tree *t)
{
	const struct weft_fabric *f = t->f;

	for (uint32_t l = f->node_level + 1; l < f->n_levels; l++) {
		uint32_t first = t->o->n;

		for (uint32_t k = 0; k < f->levels[l].n_domains; k++) {
			uint32_t d = f->levels[l].first_domain + k;

			if (!weft_inventory_passes(f, d) && !is_wrapper(f, d) &&
			    domain_write(t, d))
				return -1;
		}
		WEFT_SORT(t->o->units + first, t->o->n - first, compare_units);
	}
	return 0;
}

int weft_outline_tree(const struct weft_fabric *f,
		      const struct weft_export_options *options,
		      struct weft_outline *o, struct weft_findings *findings,
		      struct weft_error *err)
{
	struct tree t = {.f = f,
			 .options = options,
			 .o = o,
			 .findings = findings,
			 .err = err};
	size_t most = (size_t)f->n_domains + 1 +
		      (f->cabling ? f->cabling->n_switches : 0);

	if (f->node_level + 1 >= f->n_levels)
		return weft_fail(err, WEFT_EINVAL,
				 "the fabric has no switches: no tree can be "
				 "written");
	if (WEFT_ARRAY(t.switches, most, &o->arena, err) ||
	    WEFT_ARRAY(t.nodes, f->n_nodes, &o->arena, err) ||
	    names_make(f, f->node_level + 1, o, err))
		return -1;
	return tree_write(&t);
}
