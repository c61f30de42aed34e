/* SPDX-License-Identifier: GPL-3.0-or-later */
/* faults.h - one fault in a cluster, written in one of four forms, and what the
 * audit reports of it
 *
 * The fault is put into an inventory, which is written as ibnetdiscover's text,
 * topology.conf, Slurm's nodes or a fabric file.  The audit reads each form
 * that can show the fault alone, where siblings show it, and against the
 * cluster as it was.
 */
#ifndef WEFT_TESTS_TOPOLOGY_FAULTS_H
#define WEFT_TESTS_TOPOLOGY_FAULTS_H

#include "tests/lib/check.h"
#include "tests/lib/cluster_text.h"
#include "topology/audit/audit.h"
#include "topology/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.95

/* A description as audit gets it. */
struct told {
	struct weft_fabric *fabric; /* of a fabric file */
	struct weft_inventory *inventory;
	struct weft_hierarchy *hierarchy;
};

enum form { FORM_FABRIC, FORM_IBNETDISCOVER, FORM_TREE, FORM_NODES, N_FORMS };
static const char *const form_names[N_FORMS] = {"fabric", "ibnetdiscover",
						"slurm-tree", "slurm-nodes"};

/* ---- telling ---- */

static inline void told_free(struct told *t)
{
	weft_hierarchy_free(t->hierarchy);
	if (t->inventory)
		weft_inventory_free(t->inventory);
	free(t->inventory);
	weft_fabric_free(t->fabric);
	*t = (struct told){0};
}

static inline void told_fabric(struct told *t, const char *text)
{
	struct weft_error err = {0};

	t->fabric = weft_fabric_parse(text, strlen(text), "fabric.yaml", &err);
	assert_no_error(&err);
	t->inventory =
		weft_inventory_from_fabric(t->fabric, "fabric.yaml", &err);
	assert_no_error(&err);
	t->hierarchy =
		weft_hierarchy_from_fabric(t->fabric, t->inventory, &err);
	assert_no_error(&err);
}

static inline void told_import(struct told *t, const char *format,
			       const char *text)
{
	const struct weft_hierarchy_options options = {0};
	struct weft_error err = {0};

	t->inventory = calloc(1, sizeof(*t->inventory));
	assert_int_equal(
		weft_import_text(t->inventory, weft_importer_find(format, &err),
				 text, strlen(text), format, NULL, NULL, &err),
		0);
	assert_int_equal(weft_inventory_finish(t->inventory, &err), 0);
	t->hierarchy = weft_hierarchy_build(t->inventory, &options, &err);
	assert_no_error(&err);
}

/* The inventory, said in that form and read again. */
static inline void tell(struct weft_inventory *s,
			const struct weft_hierarchy *hierarchy, enum form form,
			struct told *t)
{
	const struct weft_hierarchy_options options = {.name = "test"};
	struct weft_error err = {0};
	char *text;

	*t = (struct told){0};
	if (form == FORM_FABRIC) {
		text = weft_inventory_write(s, hierarchy, &options, &err);
		assert_no_error(&err);
		told_fabric(t, text);
	} else {
		text = form == FORM_IBNETDISCOVER ? test_ibnetdiscover(s)
		       : form == FORM_TREE ? test_topology_conf(s, hierarchy)
					   : test_slurm_nodes(s);
		told_import(t, form_names[form], text);
	}
	free(text);
}

/* ---- faults ---- */

struct fault {
	/* Names of which the first finding must have one. */
	char where[2][256];
};

typedef bool (*fault_function)(struct told *t, uint64_t *random,
			       struct fault *fault);

static inline bool is_compute(const struct weft_inventory *s,
			      const struct weft_inventory_cable *c)
{
	return !s->switches[c->b.index].network &&
	       (c->a.kind == WEFT_END_HOST || !s->switches[c->a.index].network);
}

/* A cable of the compute network: of a host, or between switches. */
static inline struct weft_inventory_cable *
cable_pick(const struct weft_inventory *s, enum weft_end_kind kind,
	   uint64_t *random)
{
	for (uint32_t tries = 0; tries < 1000; tries++) {
		struct weft_inventory_cable *c =
			&s->cables[test_random_below(random, s->n_cables)];

		/* storage and login hosts have no siblings to be judged by */
		if (c->a.kind == kind && is_compute(s, c) &&
		    !(kind == WEFT_END_HOST && s->hosts[c->a.index].no_gpus))
			return c;
	}
	return NULL;
}

static inline void fault_at_host(const struct weft_inventory *s, uint32_t host,
				 struct fault *f)
{
	snprintf(f->where[0], sizeof(f->where[0]), "%s", s->hosts[host].name);
}

static inline void fault_at_switches(const struct weft_inventory *s,
				     const struct weft_inventory_cable *c,
				     struct fault *f)
{
	snprintf(f->where[0], sizeof(f->where[0]), "%s",
		 s->switches[c->a.index].name);
	snprintf(f->where[1], sizeof(f->where[1]), "%s",
		 s->switches[c->b.index].name);
}

/* Leads a host's cable to another leaf. */
static inline bool host_cable_move(struct told *t, uint64_t *random,
				   struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	struct weft_inventory_cable *c = cable_pick(s, WEFT_END_HOST, random);
	struct weft_inventory_cable *other =
		cable_pick(s, WEFT_END_HOST, random);

	if (c->b.index == other->b.index)
		return false;
	c->b = other->b;
	fault_at_host(s, c->a.index, f);
	return true;
}

/* Leads one of parallel uplinks to another switch of that tier. */
static inline bool uplink_move(struct told *t, uint64_t *random,
			       struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	struct weft_inventory_cable *c = cable_pick(s, WEFT_END_SWITCH, random);
	struct weft_inventory_cable moved;

	for (uint32_t i = 0; c && c->n > 1 && i < s->n_cables; i++) {
		const struct weft_inventory_cable *x = &s->cables[i];

		if (x->a.kind != WEFT_END_SWITCH || x->a.index != c->a.index ||
		    x->b.index == c->b.index)
			continue;
		moved = *x;
		moved.n = 1;
		c->n--;
		fault_at_switches(s, c, f);
		return weft_inventory_add_cable(s, &moved, NULL) == 0;
	}
	return false;
}

static inline bool cable_moved(struct told *t, uint64_t *random,
			       struct fault *f)
{
	return test_random_below(random, 3) ? host_cable_move(t, random, f)
					    : uplink_move(t, random, f);
}

static inline bool rail_swapped(struct told *t, uint64_t *random,
				struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	struct weft_inventory_cable *a = cable_pick(s, WEFT_END_HOST, random);

	for (uint32_t i = 0; i < s->n_cables; i++) {
		struct weft_inventory_cable *b = &s->cables[i];
		struct weft_end end = a->b;

		if (b->a.kind != WEFT_END_HOST || b->a.index != a->a.index ||
		    b->b.index == a->b.index || !is_compute(s, b))
			continue;
		a->b = b->b;
		b->b = end;
		fault_at_host(s, a->a.index, f);
		return true;
	}
	return false;
}

static inline bool link_slowed(struct told *t, uint64_t *random,
			       struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	bool up = test_random_below(random, 2);
	struct weft_inventory_cable *c =
		cable_pick(s, up ? WEFT_END_SWITCH : WEFT_END_HOST, random);
	struct weft_inventory_cable slow;

	if (!c)
		return false;
	slow = *c;
	slow.n = 1;
	slow.rate_bytes_per_s /= 2;
	if (up)
		fault_at_switches(s, c, f);
	else
		fault_at_host(s, c->a.index, f);
	if (c->n > 1) {
		c->n--;
		return weft_inventory_add_cable(s, &slow, NULL) == 0;
	}
	*c = slow;
	return true;
}

static inline bool host_renamed(struct told *t, uint64_t *random,
				struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	uint32_t h = test_random_below(random, s->n_hosts);

	fault_at_host(s, h, f);
	s->hosts[h].name = test_random_below(random, 2) ? "blue" : "n0999";
	return true;
}

static inline bool leaf_orphaned(struct told *t, uint64_t *random,
				 struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	struct weft_inventory_cable *c = cable_pick(s, WEFT_END_HOST, random);
	uint32_t leaf = c->b.index, kept = 0, lost = 0;

	for (uint32_t i = 0; i < s->n_cables; i++) {
		bool up = s->cables[i].a.kind == WEFT_END_SWITCH &&
			  (s->cables[i].a.index == leaf ||
			   s->cables[i].b.index == leaf);

		if (!up)
			s->cables[kept++] = s->cables[i];
		lost += up;
	}
	s->n_cables = kept;
	snprintf(f->where[0], sizeof(f->where[0]), "%s",
		 s->switches[leaf].name);
	return lost > 0;
}

static inline bool gpu_lost(struct told *t, uint64_t *random, struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	uint32_t h = test_random_below(random, s->n_hosts);

	fault_at_host(s, h, f);
	s->hosts[h].gpus.value--;
	return true;
}

/* Where a fault shows: bit f of alone and against for form f. */
static const struct kind {
	const char *name;
	fault_function make;
	unsigned alone, against;
	bool rails; /* only in fabrics with rails */
} kinds[] = {
	{"cable moved", cable_moved,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC, false},
	{"rail swapped", rail_swapped,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC, true},
	{"link slowed", link_slowed,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC, false},
	{"host renamed", host_renamed, 0,
	 1u << FORM_IBNETDISCOVER | 1u << FORM_FABRIC | 1u << FORM_TREE |
		 1u << FORM_NODES,
	 false},
	{"leaf orphaned", leaf_orphaned, 1u << FORM_IBNETDISCOVER,
	 1u << FORM_IBNETDISCOVER, false},
	{"GPU lost", gpu_lost, 1u << FORM_FABRIC | 1u << FORM_NODES,
	 1u << FORM_FABRIC | 1u << FORM_NODES, false},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* ---- looking ---- */

static inline void look_alone(const struct told *t, struct weft_findings *found)
{
	const struct weft_audit a = {.inventory = t->inventory,
				     .hierarchy = t->hierarchy,
				     .fabric = t->fabric,
				     .findings = found};
	struct weft_error err = {0};

	*found = (struct weft_findings){0};
	for (uint32_t i = 0; i < t->inventory->findings.n; i++) {
		const struct weft_finding *f = &t->inventory->findings.item[i];
		const struct weft_finding_at at = {f->place, f->source, f->line,
						   f->weight};

		weft_findings_add(found, f->id, at, &err, "%s", f->text);
	}
	assert_int_equal(weft_audit_cabling(&a, &err), 0);
	assert_int_equal(weft_audit_run(&a, &err), 0);
}

static inline void look_against(const struct told *was, const struct told *t,
				struct weft_findings *found)
{
	const struct weft_audit_side a = {was->inventory, was->hierarchy};
	const struct weft_audit_side b = {t->inventory, t->hierarchy};
	struct weft_error err = {0};

	*found = (struct weft_findings){0};
	assert_int_equal(weft_audit_drift(&a, &b, found, &err), 0);
}

static inline bool names_first(const struct weft_findings *found,
			       const struct fault *f)
{
	for (int i = 0; i < 2 && found->n; i++)
		if (f->where[i][0] && strstr(found->item[0].place, f->where[i]))
			return true;
	return false;
}

struct tally {
	uint32_t n, first;
};

struct run {
	struct tally alone[N_KINDS], against[N_KINDS];
	uint32_t false_errors;
};

static inline void report(const struct weft_findings *found, const char *what,
			  const char *form, uint32_t seed,
			  const struct fault *f)
{
	print_message("# seed %u: %s in %s at %s: %u findings\n", seed, what,
		      form, f->where[0], found->n);
	for (uint32_t i = 0; i < found->n && i < 4; i++)
		print_message("#   %s %s: %s\n",
			      weft_finding_kinds[found->item[i].id].code,
			      found->item[i].place, found->item[i].text);
}

static inline void count(struct tally *tally, struct weft_findings *found,
			 const struct fault *f, const char *what,
			 const char *form, uint32_t seed)
{
	bool first = names_first(found, f);

	tally->n++;
	tally->first += first;
	if (!first)
		report(found, what, form, seed, f);
	weft_findings_free(found);
}

static inline bool is_shown(unsigned forms, enum form form)
{
	return forms >> form & 1;
}

static inline void tally_print(const char *name, const char *how,
			       const struct tally *t, struct tally *all)
{
	all->n += t->n;
	all->first += t->first;
	if (t->n)
		print_message("# %-14s %-8s %4u of %4u first, %.1f %%\n", name,
			      how, t->first, t->n, 100.0 * t->first / t->n);
}

#endif
