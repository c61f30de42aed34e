/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seeded_faults.c - one fault in each of 200 fabrics: is the faulty place named
 * first, and is nothing said of the fabric without it?
 *
 * The fault is put into a inventory of the fabric, and that is told in one of
 * four ways: as ibnetdiscover's text, as topology.conf, as Slurm's nodes, and
 * as a fabric file.  Each that can show the fault is looked at alone, where
 * siblings show it, and against the fabric as it was.
 */
#include "tests/lib/check.h"
#include "tests/lib/cluster_text.h"
#include "tests/lib/ibnet.h"
#include "topology/audit/audit.h"
#include "topology/import/import.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FABRICS 200
#define LEAST	  0.95

static const struct shape {
	const char *spec, *profile;
	uint32_t rails;
	double damage;
	bool storage;
} shapes[] = {
	{"leaf:8 node:8 gpu:8", NULL, 0, 0, false},
	{"spine:2 leaf:4 node:6 gpu:8", NULL, 0, 0, false},
	{"spine:2 leaf:4 node:8 gpu:8", NULL, 8, 0, false},
	{"leaf:1 node:16 gpu:8", NULL, 8, 0, false},
	{"leaf:8 node:8 gpu:8", NULL, 0, 0, true},
	{"spine:2 leaf:4 node:8 gpu:8", NULL, 8, 0, true},
	{"leaf:8 node:8 gpu:8", NULL, 0, 0.15, false},
	{"leaf:4 nvlink:1 node:18 gpu:4", "gb200-nvl72", 0, 0, false},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

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

static void told_free(struct told *t)
{
	weft_hierarchy_free(t->hierarchy);
	if (t->inventory)
		weft_inventory_free(t->inventory);
	free(t->inventory);
	weft_fabric_free(t->fabric);
	*t = (struct told){0};
}

static void told_fabric(struct told *t, const char *text)
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

static void told_import(struct told *t, const char *format, const char *text)
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
static void tell(struct weft_inventory *s,
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

/* ---- fabrics ---- */

/* Two switches of a storage network, on which every host has an adapter. */
static void storage_add(struct weft_inventory *s)
{
	uint32_t sw[2];

	for (uint32_t i = 0; i < 2; i++) {
		sw[i] = weft_inventory_switch(s, i ? "store1" : "store0",
					      (struct weft_place){0}, NULL);
		s->switches[sw[i]].network = "storage";
	}
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		struct weft_inventory_cable cable = {.n = 1,
						     .rate_bytes_per_s = 25e9};

		cable.a = (struct weft_end){
			WEFT_END_HOST, h,
			weft_inventory_hca(s, h, "mlx5_9", NULL,
					   (struct weft_place){0}, NULL),
			0};
		cable.b = (struct weft_end){WEFT_END_SWITCH, sw[h % 2],
					    WEFT_NONE, 0};
		weft_inventory_add_cable(s, &cable, NULL);
	}
	for (uint32_t k = 0; k < 2; k++) {
		struct weft_inventory_cable cable = {.n = 4,
						     .rate_bytes_per_s = 25e9};
		uint32_t core = weft_inventory_switch(
			s, "storecore", (struct weft_place){0}, NULL);

		s->switches[core].network = "storage";
		cable.a =
			(struct weft_end){WEFT_END_SWITCH, sw[k], WEFT_NONE, 0};
		cable.b =
			(struct weft_end){WEFT_END_SWITCH, core, WEFT_NONE, 0};
		weft_inventory_add_cable(s, &cable, NULL);
	}
}

/* Switches that were added to the inventory are in no domain. */
static void hierarchy_grow(struct weft_hierarchy *hierarchy, uint32_t was,
			   uint32_t n)
{
	hierarchy->switch_domain =
		realloc(hierarchy->switch_domain, n * sizeof(uint32_t));
	for (uint32_t k = was; k < n; k++)
		hierarchy->switch_domain[k] = WEFT_NONE;
}

static void plant(const struct shape *shape, uint64_t seed, struct told *t)
{
	const struct weft_synth_options options = {
		.name = "test",
		.profile = shape->profile,
		.rails = shape->rails,
		.damage = shape->damage,
		.seed = seed,
		.cables = true,
	};
	struct weft_error err = {0};
	char *text = weft_synth(shape->spec, &options, &err);
	uint32_t n;

	assert_no_error(&err);
	*t = (struct told){0};
	told_fabric(t, text);
	free(text);
	n = t->inventory->n_switches;
	if (shape->storage) {
		storage_add(t->inventory);
		hierarchy_grow(t->hierarchy, n, t->inventory->n_switches);
	}
}

/* ---- faults ---- */

struct fault {
	/* Names of which the first finding must have one. */
	char where[2][256];
};

typedef bool (*fault_function)(struct told *t, uint64_t *random,
			       struct fault *fault);

static bool is_compute(const struct weft_inventory *s,
		       const struct weft_inventory_cable *c)
{
	return !s->switches[c->b.index].network &&
	       (c->a.kind == WEFT_END_HOST || !s->switches[c->a.index].network);
}

/* A cable of the compute network: of a host, or between switches. */
static struct weft_inventory_cable *cable_pick(const struct weft_inventory *s,
					       enum weft_end_kind kind,
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

static void fault_at_host(const struct weft_inventory *s, uint32_t host,
			  struct fault *f)
{
	snprintf(f->where[0], sizeof(f->where[0]), "%s", s->hosts[host].name);
}

static void fault_at_switches(const struct weft_inventory *s,
			      const struct weft_inventory_cable *c,
			      struct fault *f)
{
	snprintf(f->where[0], sizeof(f->where[0]), "%s",
		 s->switches[c->a.index].name);
	snprintf(f->where[1], sizeof(f->where[1]), "%s",
		 s->switches[c->b.index].name);
}

/* Leads a host's cable to another leaf. */
static bool host_cable_move(struct told *t, uint64_t *random, struct fault *f)
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
static bool uplink_move(struct told *t, uint64_t *random, struct fault *f)
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

static bool cable_moved(struct told *t, uint64_t *random, struct fault *f)
{
	return test_random_below(random, 3) ? host_cable_move(t, random, f)
					    : uplink_move(t, random, f);
}

static bool rail_swapped(struct told *t, uint64_t *random, struct fault *f)
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

static bool link_slowed(struct told *t, uint64_t *random, struct fault *f)
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

static bool host_renamed(struct told *t, uint64_t *random, struct fault *f)
{
	struct weft_inventory *s = t->inventory;
	uint32_t h = test_random_below(random, s->n_hosts);

	fault_at_host(s, h, f);
	s->hosts[h].name = test_random_below(random, 2) ? "blue" : "n0999";
	return true;
}

static bool leaf_orphaned(struct told *t, uint64_t *random, struct fault *f)
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

static bool gpu_lost(struct told *t, uint64_t *random, struct fault *f)
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

static void look_alone(const struct told *t, struct weft_findings *found)
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

static void look_against(const struct told *was, const struct told *t,
			 struct weft_findings *found)
{
	const struct weft_audit_side a = {was->inventory, was->hierarchy};
	const struct weft_audit_side b = {t->inventory, t->hierarchy};
	struct weft_error err = {0};

	*found = (struct weft_findings){0};
	assert_int_equal(weft_audit_drift(&a, &b, found, &err), 0);
}

static bool names_first(const struct weft_findings *found,
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

static void report(const struct weft_findings *found, const char *what,
		   const char *form, uint32_t seed, const struct fault *f)
{
	print_message("# seed %u: %s in %s at %s: %u findings\n", seed, what,
		      form, f->where[0], found->n);
	for (uint32_t i = 0; i < found->n && i < 4; i++)
		print_message("#   %s %s: %s\n",
			      weft_finding_kinds[found->item[i].id].code,
			      found->item[i].place, found->item[i].text);
}

static void count(struct tally *tally, struct weft_findings *found,
		  const struct fault *f, const char *what, const char *form,
		  uint32_t seed)
{
	bool first = names_first(found, f);

	tally->n++;
	tally->first += first;
	if (!first)
		report(found, what, form, seed, f);
	weft_findings_free(found);
}

static void no_errors(struct run *run, struct weft_findings *found,
		      const char *what, enum form form, uint32_t seed)
{
	const struct fault nowhere = {{"nowhere", ""}};

	if (weft_findings_count(found, WEFT_ERROR)) {
		run->false_errors++;
		report(found, what, form_names[form], seed, &nowhere);
	}
	weft_findings_free(found);
}

/* The fabric as it is, in that form: alone and against itself. */
static void look_at_sound(struct run *run, struct told *was, enum form form,
			  uint32_t seed)
{
	struct weft_findings found;
	struct told same;

	tell(was->inventory, was->hierarchy, form, &same);
	look_alone(&same, &found);
	no_errors(run, &found, "nothing, alone", form, seed);
	look_against(was, &same, &found);
	no_errors(run, &found, "nothing, against", form, seed);
	told_free(&same);
}

static bool is_shown(unsigned forms, enum form form)
{
	return forms >> form & 1;
}

static void look_at_fault(struct run *run, uint32_t seed,
			  const struct told *was, struct told *faulty,
			  const struct fault *fault, size_t k)
{
	for (enum form form = 0; form < N_FORMS; form++) {
		struct weft_findings found;
		struct told now;

		if (!is_shown(kinds[k].alone | kinds[k].against, form) ||
		    (form == FORM_FABRIC && kinds[k].make == gpu_lost &&
		     was->fabric->n_rails > 1)) /* no fabric says that */
			continue;
		tell(faulty->inventory, faulty->hierarchy, form, &now);
		if (is_shown(kinds[k].alone, form)) {
			look_alone(&now, &found);
			count(&run->alone[k], &found, fault, kinds[k].name,
			      form_names[form], seed);
		}
		if (is_shown(kinds[k].against, form)) {
			look_against(was, &now, &found);
			count(&run->against[k], &found, fault, kinds[k].name,
			      form_names[form], seed);
		}
		told_free(&now);
	}
}

static void look_at_fabric(struct run *run, uint32_t seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	size_t k = seed % N_KINDS;
	const struct shape *shape;
	struct fault fault = {{{0}}};
	struct told was, faulty;

	do
		shape = &shapes[test_random_below(&random, N_SHAPES)];
	while (kinds[k].rails && !shape->rails);
	plant(shape, seed, &was);
	for (enum form form = 0; form < N_FORMS; form++)
		if (is_shown(kinds[k].alone | kinds[k].against, form))
			look_at_sound(run, &was, form, seed);
	plant(shape, seed, &faulty);
	if (kinds[k].make(&faulty, &random, &fault))
		look_at_fault(run, seed, &was, &faulty, &fault, k);
	told_free(&was);
	told_free(&faulty);
}

static void tally_print(const char *name, const char *how,
			const struct tally *t, struct tally *all)
{
	all->n += t->n;
	all->first += t->first;
	if (t->n)
		print_message("# %-14s %-8s %4u of %4u first, %.1f %%\n", name,
			      how, t->first, t->n, 100.0 * t->first / t->n);
}

static void the_faulty_place_is_named_first(void **state)
{
	uint32_t seed = (uint32_t)test_seed();
	struct tally alone = {0}, against = {0};
	struct run *run = calloc(1, sizeof(*run));

	(void)state;
	for (uint32_t i = 0; i < N_FABRICS; i++)
		look_at_fabric(run, seed * 1000 + i);
	for (size_t k = 0; k < N_KINDS; k++) {
		tally_print(kinds[k].name, "alone", &run->alone[k], &alone);
		tally_print(kinds[k].name, "against", &run->against[k],
			    &against);
	}
	print_message("# alone %u of %u, against %u of %u; errors in sound "
		      "fabrics: %u\n",
		      alone.first, alone.n, against.first, against.n,
		      run->false_errors);
	assert_int_equal(run->false_errors, 0);
	assert_true(alone.first >= LEAST * alone.n);
	assert_true(against.first >= LEAST * against.n);
	free(run);
}

/* ---- fabrics of ibnet.h: other shapes, names and order ---- */

static const struct test_ibnet nets[] = {
	{.pods = 2,
	 .bundles = 3,
	 .hosts = 6,
	 .spines = 4,
	 .parallel = 2,
	 .cores = 8,
	 .shuffled = true},
	{.bundles = 4, .hosts = 8, .rails = 4, .spines = 4, .shuffled = true},
	{.pods = 2,
	 .bundles = 4,
	 .hosts = 8,
	 .rails = 8,
	 .spines = 8,
	 .cores = 8,
	 .storage_leafs = 2},
	{.bundles = 6, .hosts = 8, .spines = 4, .parallel = 2, .uneven = true},
	{.bundles = 1, .hosts = 16, .rails = 8},
};
#define N_NETS (sizeof(nets) / sizeof(nets[0]))

static bool truth_first(const struct weft_findings *found,
			const struct test_ibnet_truth *truth)
{
	struct fault f = {{{0}}};

	for (int i = 0; i < 2; i++)
		snprintf(f.where[i], sizeof(f.where[i]), "%s", truth->place[i]);
	if (truth->was[0])
		snprintf(f.where[1], sizeof(f.where[1]), "%s", truth->was);
	return names_first(found, &f);
}

/* A name is as good as another; and of a host with one cable nobody knows on
 * which leaf it should be, or, once it has none, that it was there. */
static bool shows_alone(const struct test_ibnet *spec)
{
	bool needs_siblings = spec->fault == TEST_IBNET_CABLE_MOVED ||
			      spec->fault == TEST_IBNET_HCA_LOST;

	return spec->fault != TEST_IBNET_HOST_RENAMED &&
	       (!needs_siblings || spec->rails > 1);
}

static void net_count(struct tally *tally, struct weft_findings *found,
		      const struct test_ibnet_truth *truth, const char *how)
{
	bool first = truth_first(found, truth);
	struct fault f = {{{0}}};

	snprintf(f.where[0], sizeof(f.where[0]), "%s", truth->line);
	tally->n++;
	tally->first += first;
	if (!first)
		report(found, how, "ibnet", 0, &f);
	weft_findings_free(found);
}

static void net_look(const struct test_ibnet *spec, struct tally tally[2])
{
	const struct fault nowhere = {{"nowhere", ""}};
	struct test_ibnet sound = *spec;
	struct test_ibnet_truth truth;
	struct weft_findings found;
	struct told was = {0}, now = {0};
	char *text;
	size_t size;

	sound.fault = TEST_IBNET_SOUND;
	text = test_ibnet_text(&sound, NULL, &size);
	told_import(&was, "ibnetdiscover", text);
	free(text);
	look_alone(&was, &found);
	if (weft_findings_count(&found, WEFT_ERROR)) {
		report(&found, "nothing", "ibnet", 0, &nowhere);
		fail_msg("errors in a sound network");
	}
	weft_findings_free(&found);
	text = test_ibnet_text(spec, &truth, &size);
	if (text) {
		told_import(&now, "ibnetdiscover", text);
		if (shows_alone(spec)) {
			look_alone(&now, &found);
			net_count(&tally[0], &found, &truth, "alone");
		}
		look_against(&was, &now, &found);
		net_count(&tally[1], &found, &truth, "against");
	}
	free(text);
	told_free(&was);
	told_free(&now);
}

static void so_it_is_in_networks_made_up_otherwise(void **state)
{
	struct tally tally[TEST_IBNET_N_FAULTS][2] = {{{0}}};
	struct tally all[2] = {{0}};
	uint64_t seed = test_seed();

	(void)state;
	for (int f = TEST_IBNET_SOUND + 1; f < TEST_IBNET_N_FAULTS; f++)
		for (uint32_t i = 0; i < 3 * N_NETS; i++) {
			struct test_ibnet spec = nets[i % N_NETS];

			spec.seed = seed + i;
			spec.fault = (enum test_ibnet_fault)f;
			net_look(&spec, tally[f]);
		}
	for (int f = TEST_IBNET_SOUND + 1; f < TEST_IBNET_N_FAULTS; f++) {
		tally_print(test_ibnet_faults[f], "alone", &tally[f][0],
			    &all[0]);
		tally_print(test_ibnet_faults[f], "against", &tally[f][1],
			    &all[1]);
	}
	print_message("# alone %u of %u, against %u of %u\n", all[0].first,
		      all[0].n, all[1].first, all[1].n);
	assert_true(all[0].first >= LEAST * all[0].n);
	assert_true(all[1].first >= LEAST * all[1].n);
}

/* ---- real captures ---- */

#define N_REAL 12 /* faults of a kind in each capture */

/* Real networks are never whole.  errors: findings of that level that a person
 * who looks at the capture calls right. */
static const struct real {
	const char *name;
	uint32_t errors;
} reals[] = {
	{"selene-storage-hdr.txt", 0},
	/* a host with two cables exchanged, and a group of ten hosts whose
	 * third leaf is not in the capture */
	{"dgx-ndr-40sw-582ca.txt", 2},
};

static bool is_known(const struct weft_findings *list,
		     const struct weft_finding *f)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->item[i].id == f->id &&
		    strcmp(list->item[i].place, f->place) == 0 &&
		    strcmp(list->item[i].text, f->text) == 0)
			return true;
	return false;
}

/* Leaves what the capture shows without the fault out. */
static void known_drop(struct weft_findings *found,
		       const struct weft_findings *known)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < found->n; i++)
		if (!is_known(known, &found->item[i]))
			found->item[kept++] = found->item[i];
	found->n = kept;
}

/* The capture as the writer of these tests tells it. */
static void real_tell(const char *text, fault_function make, uint64_t *random,
		      struct fault *fault, bool *made, struct told *t)
{
	struct told first = {0};

	told_import(&first, "ibnetdiscover", text);
	*made = !make || make(&first, random, fault);
	tell(first.inventory, first.hierarchy, FORM_IBNETDISCOVER, t);
	told_free(&first);
}

static void real_fault(struct run *run, const char *text, size_t k,
		       uint32_t seed, const struct told *was,
		       const struct weft_findings *known)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 7;
	struct weft_findings found;
	struct fault fault = {{{0}}};
	struct told now;
	bool made;

	real_tell(text, kinds[k].make, &random, &fault, &made, &now);
	if (made && is_shown(kinds[k].alone, FORM_IBNETDISCOVER)) {
		look_alone(&now, &found);
		known_drop(&found, known);
		count(&run->alone[k], &found, &fault, kinds[k].name, "alone",
		      seed);
	}
	if (made) {
		look_against(was, &now, &found);
		count(&run->against[k], &found, &fault, kinds[k].name,
		      "against", seed);
	}
	told_free(&now);
}

static void real_look(struct run *run, const struct real *real)
{
	char path[1024];
	struct weft_findings known;
	struct told was;
	char *text;
	bool made;

	snprintf(path, sizeof(path), "%s/%s",
		 test_shared("data/real/ibnetdiscover"), real->name);
	text = test_read_file(path, NULL);
	assert_non_null(text);
	real_tell(text, NULL, NULL, NULL, &made, &was);
	look_alone(&was, &known);
	if (weft_findings_count(&known, WEFT_ERROR) != real->errors) {
		const struct fault nowhere = {{"nowhere", ""}};

		report(&known, "nothing", real->name, 0, &nowhere);
		fail_msg("%s: other errors", real->name);
	}
	for (size_t k = 0; k < N_KINDS; k++)
		for (uint32_t i = 0;
		     is_shown(kinds[k].against, FORM_IBNETDISCOVER) &&
		     i < N_REAL;
		     i++)
			real_fault(run, text, k, i, &was, &known);
	weft_findings_free(&known);
	told_free(&was);
	free(text);
}

static void and_in_real_captures(void **state)
{
	struct tally alone = {0}, against = {0};
	struct run *run = calloc(1, sizeof(*run));

	(void)state;
	if (!test_shared("data/real/ibnetdiscover")) {
		print_message("skipped: ../shared/data/real/ibnetdiscover is "
			      "not here\n");
		free(run);
		skip();
	}
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		real_look(run, &reals[i]);
	for (size_t k = 0; k < N_KINDS; k++) {
		tally_print(kinds[k].name, "alone", &run->alone[k], &alone);
		tally_print(kinds[k].name, "against", &run->against[k],
			    &against);
	}
	print_message("# alone %u of %u, against %u of %u\n", alone.first,
		      alone.n, against.first, against.n);
	assert_true(alone.first >= LEAST * alone.n);
	assert_true(against.first >= LEAST * against.n);
	free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_faulty_place_is_named_first),
		cmocka_unit_test(so_it_is_in_networks_made_up_otherwise),
		cmocka_unit_test(and_in_real_captures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
