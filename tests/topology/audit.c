/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.c - what an audit finds in clusters with one thing wrong, and that it
 * finds nothing in those that are right
 */
#include "topology/audit/audit.h"
#include "tests/lib/fabric.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fabric, its inventory and its levels. */
struct cluster {
	struct weft_fabric *fabric;
	struct weft_inventory *inventory;
	struct weft_hierarchy *hierarchy;
};

static void cluster_parse(struct cluster *c, const char *text)
{
	struct weft_error err = {0};

	c->fabric = test_fabric(text);
	c->inventory =
		weft_inventory_from_fabric(c->fabric, "fabric.yaml", &err);
	assert_no_error(&err);
	c->hierarchy =
		weft_hierarchy_from_fabric(c->fabric, c->inventory, &err);
	assert_no_error(&err);
}

static char *synth_text(const char *spec, uint32_t rails)
{
	const struct weft_synth_options options = {
		.rails = rails, .cables = true, .name = "test"};
	struct weft_error err = {0};
	char *text = weft_synth(spec, &options, &err);

	assert_no_error(&err);
	return text;
}

static void cluster_start(struct cluster *c, const char *spec, uint32_t rails)
{
	char *text = synth_text(spec, rails);

	cluster_parse(c, text);
	free(text);
}

static void cluster_free(struct cluster *c)
{
	weft_hierarchy_free(c->hierarchy);
	weft_inventory_free(c->inventory);
	free(c->inventory);
	weft_fabric_free(c->fabric);
}

static void findings_dump(const struct weft_findings *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		print_message("# %s %s: %s\n",
			      weft_finding_kinds[f->item[i].id].code,
			      f->item[i].place, f->item[i].text);
}

static void audit(const struct cluster *c, struct weft_findings *found)
{
	const struct weft_audit a = {.inventory = c->inventory,
				     .hierarchy = c->hierarchy,
				     .fabric = c->fabric,
				     .findings = found};
	struct weft_error err = {0};

	*found = (struct weft_findings){0};
	assert_int_equal(weft_audit_cabling(&a, &err), 0);
	assert_int_equal(weft_audit_run(&a, &err), 0);
}

static void drift(const struct cluster *wanted, const struct cluster *now,
		  struct weft_findings *found)
{
	const struct weft_audit_side a = {wanted->inventory, wanted->hierarchy};
	const struct weft_audit_side b = {now->inventory, now->hierarchy};
	struct weft_error err = {0};

	*found = (struct weft_findings){0};
	assert_int_equal(weft_audit_drift(&a, &b, found, &err), 0);
}

/* The first finding is of that kind and place, and its text has `part`. */
static void assert_first(const struct weft_findings *f, const char *code,
			 const char *place, const char *part)
{
	if (!f->n ||
	    strcmp(weft_finding_kinds[f->item[0].id].code, code) != 0 ||
	    strcmp(f->item[0].place, place) != 0 ||
	    !strstr(f->item[0].text, part)) {
		findings_dump(f);
		fail_msg("expected %s %s: ..%s..", code, place, part);
	}
}

static void assert_only(struct weft_findings *f, const char *code,
			const char *place, const char *part)
{
	assert_first(f, code, place, part);
	if (f->n != 1)
		findings_dump(f);
	assert_int_equal(f->n, 1);
	weft_findings_free(f);
}

static void assert_nothing(struct weft_findings *f)
{
	findings_dump(f);
	assert_int_equal(f->n, 0);
	weft_findings_free(f);
}

/* The cable between two names; of parallel ones the n-th. */
static struct weft_inventory_cable *cable_find(struct cluster *c, const char *a,
					       const char *b, uint32_t nth)
{
	struct weft_inventory *s = c->inventory;

	for (uint32_t i = 0; i < s->n_cables; i++) {
		struct weft_inventory_cable *x = &s->cables[i];
		const char *from = x->a.kind == WEFT_END_HOST
					   ? s->hosts[x->a.index].name
					   : s->switches[x->a.index].name;

		if (strcmp(from, a) == 0 &&
		    strcmp(s->switches[x->b.index].name, b) == 0 && nth-- == 0)
			return x;
	}
	fail_msg("no cable %s to %s", a, b);
	return NULL;
}

/* ---- nothing ---- */

static const struct {
	const char *spec;
	uint32_t rails;
} shapes[] = {
	{"spine:2 leaf:8 node:8 gpu:8", 0},
	{"pod:2 spine:2 leaf:4 node:8 gpu:8", 0},
	{"spine:2 leaf:4 node:8 gpu:8", 8},
	{"leaf:1 node:16 gpu:8", 8},
	{"leaf:4 node:4 gpu:4", 0},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void nothing_is_found_in_what_is_regular(void **state)
{
	struct weft_findings found;
	struct cluster c;

	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++) {
		cluster_start(&c, shapes[i].spec, shapes[i].rails);
		audit(&c, &found);
		assert_nothing(&found);
		drift(&c, &c, &found);
		assert_nothing(&found);
		cluster_free(&c);
	}
}

/* ---- one thing wrong ---- */

#define TREE "spine:2 leaf:8 node:8 gpu:8"

static void a_node_that_lost_a_gpu_is_told(void **state)
{
	struct weft_findings found;
	struct cluster c, now;

	(void)state;
	cluster_start(&c, TREE, 0);
	cluster_start(&now, TREE, 0);
	now.inventory->hosts[9].gpus.value = 7;
	audit(&now, &found);
	assert_only(&found, "gpus-short", now.inventory->hosts[9].name,
		    "has 7 GPUs; its siblings have 8");
	drift(&c, &now, &found);
	assert_only(&found, "drift-gpus", now.inventory->hosts[9].name,
		    "has 7 GPUs; fabric.yaml says 8");
	cluster_free(&c);
	cluster_free(&now);
}

static void a_kind_of_leaf_with_fewer_gpus_is_no_fault(void **state)
{
	struct weft_findings found;
	struct cluster c;

	(void)state;
	cluster_start(&c, TREE, 0);
	for (uint32_t h = 0; h < 8; h++)
		c.inventory->hosts[h].gpus.value = 4;
	audit(&c, &found);
	assert_nothing(&found);
	cluster_free(&c);
}

static void cables_that_are_less_than_their_siblings_are_told(void **state)
{
	struct weft_inventory_cable *cable;
	struct weft_findings found;
	struct cluster c, now;

	(void)state;
	cluster_start(&c, TREE, 0);
	cluster_start(&now, TREE, 0);
	cable = cable_find(&now, "n009", "leaf01", 3);
	cable->rate_bytes_per_s /= 2;
	audit(&now, &found);
	assert_only(&found, "link-slow", "n009:mlx5_3",
		    "is 200 Gb/s; its siblings are 400 Gb/s");
	drift(&c, &now, &found);
	assert_only(&found, "drift-link-slower", "n009:mlx5_3",
		    "carries 200 Gb/s; fabric.yaml says 400 Gb/s");
	cable->rate_bytes_per_s *= 2;
	cable->down = true;
	audit(&now, &found);
	assert_only(&found, "link-down", "n009:mlx5_3", "is down");
	drift(&c, &now, &found);
	assert_only(&found, "drift-link-down", "n009:mlx5_3", "is down");
	cluster_free(&c);
	cluster_free(&now);
}

static void a_leaf_without_uplinks_comes_before_all_that_follows(void **state)
{
	struct weft_findings found;
	struct cluster c, now;
	uint32_t kept = 0;

	(void)state;
	cluster_start(&c, TREE, 0);
	cluster_start(&now, TREE, 0);
	for (uint32_t i = 0; i < now.inventory->n_cables; i++) {
		struct weft_inventory_cable *x = &now.inventory->cables[i];

		if (x->a.kind == WEFT_END_SWITCH &&
		    strcmp(now.inventory->switches[x->a.index].name,
			   "leaf05") == 0)
			continue;
		now.inventory->cables[kept++] = *x;
	}
	now.inventory->n_cables = kept;
	audit(&now, &found);
	assert_only(&found, "leaf-orphan", "leaf05",
		    "has no uplink, its siblings have");
	drift(&c, &now, &found);
	assert_only(&found, "drift-switch-cut", "leaf05", "has none of its");
	cluster_free(&c);
	cluster_free(&now);
}

static void a_moved_uplink_is_told_at_whose_it_is(void **state)
{
	struct weft_inventory_cable *cable;
	struct weft_findings found;
	struct cluster c, now;

	(void)state;
	cluster_start(&c, TREE, 0);
	cluster_start(&now, TREE, 0);
	cable = cable_find(&now, "leaf05", "spine0-switch2", 0);
	cable->n--;
	cable = cable_find(&now, "leaf05", "spine0-switch0", 0);
	cable->n++;
	audit(&now, &found);
	assert_only(&found, "cable-moved", "leaf05",
		    "1 cable to spine0-switch0 should lead to spine0-switch2");
	drift(&c, &now, &found);
	assert_only(&found, "drift-cable-moved", "leaf05",
		    "to spine0-switch0 instead of spine0-switch2");
	cluster_free(&c);
	cluster_free(&now);
}

static void a_lost_uplink_explains_the_oversubscription(void **state)
{
	struct weft_inventory_cable *cable;
	struct weft_findings found;
	struct cluster c;

	(void)state;
	cluster_start(&c, TREE, 0);
	cable = cable_find(&c, "leaf05", "spine0-switch2", 0);
	cable->n -= 8;
	audit(&c, &found);
	assert_only(&found, "uplinks-uneven", "leaf05",
		    "has 8 cables fewer than its siblings, to spine0-switch2");
	cluster_free(&c);
}

/* Four groups of five switches, joined each to each by two cables; so are the
 * groups, by one. */
#define GROUPS	4
#define ROUTERS 5
static void dragonfly_start(struct cluster *c)
{
	char text[8192];
	size_t n = (size_t)snprintf(text, sizeof(text),
				    "weft: fabric/1\n"
				    "profile: dgx-h100-superpod\n"
				    "nodes:\n  n[00-19]: 8\n"
				    "levels:\n  leaf:\n");

#define ADD(...)                                                               \
	(n += (size_t)snprintf(text + n, sizeof(text) - n, __VA_ARGS__))
	for (int i = 0; i < GROUPS * ROUTERS; i++)
		ADD("    g%dr%d: n%02d\n", i / ROUTERS, i % ROUTERS, i);
	ADD("  group:\n");
	for (int g = 0; g < GROUPS; g++)
		ADD("    g%d: g%dr[0-4]\n", g, g);
	ADD("  dragonfly:\n    all: g[0-3]\n"
	    "shapes: {group: groups, dragonfly: groups}\n"
	    "switches: {\"g[0-3]r[0-4]\": {ports: 64}}\ncables:\n");
	for (int g = 0; g < GROUPS; g++)
		for (int r = 1; r < ROUTERS; r++)
			ADD("  - {from: \"g%dr[0-%d]\", to: g%dr%d, n: 2}\n", g,
			    r - 1, g, r);
	for (int g = 0; g < GROUPS; g++)
		for (int h = 0; h < g; h++)
			ADD("  - {from: g%dr%d, to: g%dr%d}\n", h, g, g, h);
	for (int i = 0; i < GROUPS * ROUTERS; i++)
		ADD("  - {from: n%02d, port: mlx5_0, to: g%dr%d}\n", i,
		    i / ROUTERS, i % ROUTERS);
#undef ADD
	cluster_parse(c, text);
}

static void cables_missing_between_switches_joined_each_to_each(void **state)
{
	struct weft_findings found;
	struct cluster c;

	(void)state;
	dragonfly_start(&c);
	audit(&c, &found);
	assert_nothing(&found);
	cable_find(&c, "g1r0", "g1r3", 0)->n = 1;
	audit(&c, &found);
	assert_only(&found, "mesh-uneven", "g1r0--g1r3",
		    "1 cable fewer than between the other pairs of g1");
	cable_find(&c, "g1r1", "g1r3", 0)->n = 1;
	cable_find(&c, "g0r3", "g3r0", 0)->n = 0;
	audit(&c, &found);
	assert_first(&found, "mesh-uneven", "g1r3",
		     "2 cables fewer to others of g1 than they have to each "
		     "other, first to g1r0");
	assert_int_equal(found.of_kind[WEFT_FINDING_MESH_UNEVEN], 2);
	weft_findings_free(&found);
	cluster_free(&c);
	dragonfly_start(&c);
	cable_find(&c, "g2r0", "g2r2", 0)->n = 1;
	cable_find(&c, "g2r0", "g2r4", 0)->n = 3;
	audit(&c, &found);
	assert_only(&found, "cable-moved", "g2r0",
		    "a cable to g2r4 should lead to g2r2");
	cluster_free(&c);
}

/* Two bundles of four leafs, each with four hosts; n5 lacks `lost` adapters. */
static void rails_start(struct cluster *c, int lost)
{
	char text[8192];
	size_t n = (size_t)snprintf(
		text, sizeof(text),
		"weft: fabric/1\nrails: 4\nnodes:\n  n[0-7]: 4\nlevels:\n"
		"  leaf:\n    su[0-1]-leaf[0-3]: n[0-7]\n"
		"  spine:\n    s: su[0-1]-leaf[0-3]\n"
		"switches: {s0: {domain: s, tier: 2}}\ncables:\n"
		"  - {from: \"su[0-1]-leaf[0-3]\", to: s0, n: 4}\n");

	for (int h = 0; h < 8; h++)
		for (int r = 0; r < 4; r++)
			if (h != 5 || r < 1 || r > lost)
				n += (size_t)snprintf(
					text + n, sizeof(text) - n,
					"  - {from: n%d, port: mlx5_%d, "
					"to: su%d-leaf%d}\n",
					h, r, h / 4, r);
	cluster_parse(c, text);
}

static void a_lost_adapter_is_told_once(void **state)
{
	struct weft_findings found;
	struct cluster c;

	(void)state;
	rails_start(&c, 1);
	audit(&c, &found);
	assert_only(&found, "rail-missing", "n5:mlx5_1",
		    "no cable to su1-leaf1");
	/* another one, which is not of the rails */
	cluster_free(&c);
	rails_start(&c, 1);
	for (uint32_t h = 0; h < c.inventory->n_hosts; h++)
		c.inventory->hosts[h].n_hcas += h != 5;
	audit(&c, &found);
	assert_int_equal(found.of_kind[WEFT_FINDING_RAIL_MISSING], 1);
	assert_int_equal(found.of_kind[WEFT_FINDING_HCA_MISSING], 1);
	weft_findings_free(&found);
	cluster_free(&c);
	rails_start(&c, 2);
	audit(&c, &found);
	assert_int_equal(found.of_kind[WEFT_FINDING_RAIL_MISSING], 2);
	assert_int_equal(found.n, 2);
	weft_findings_free(&found);
	cluster_free(&c);
}

static void hosts_and_switches_are_known_under_other_names(void **state)
{
	struct weft_findings found;
	struct cluster c, now;
	char *text = synth_text(TREE, 0), *at;

	(void)state;
	cluster_parse(&c, text);
	at = strstr(text, "n[");
	assert_non_null(at);
	cluster_parse(&now, text);
	now.inventory->hosts[17].name = "gpu-blue";
	drift(&c, &now, &found);
	assert_only(&found, "drift-host-renamed", "n017",
		    "is now called gpu-blue");
	cluster_free(&now);
	cluster_parse(&now, text);
	now.inventory
		->switches[weft_inventory_find_switch(now.inventory, "leaf03")]
		.name = "L3";
	drift(&c, &now, &found);
	assert_only(&found, "drift-switch-renamed", "leaf03",
		    "is now called L3");
	cluster_free(&now);
	cluster_free(&c);
	free(text);
}

static void a_host_on_another_leaf_is_told_by_tree_and_by_cables(void **state)
{
	struct weft_findings found;
	struct cluster c, now;

	(void)state;
	cluster_start(&c, TREE, 0);
	cluster_start(&now, TREE, 0);
	now.hierarchy->host_domain[17] = now.hierarchy->host_domain[60];
	now.inventory->n_cables = 0;
	drift(&c, &now, &found);
	assert_only(&found, "drift-host-moved", "n017",
		    "is attached to leaf07; by fabric.yaml it should be "
		    "attached to leaf02");
	cluster_free(&now);
	cluster_start(&now, TREE, 0);
	for (uint32_t i = 0; i < now.inventory->n_cables; i++) {
		struct weft_inventory_cable *x = &now.inventory->cables[i];

		if (x->a.kind == WEFT_END_HOST && x->a.index == 17)
			x->b.index = weft_inventory_find_switch(now.inventory,
								"leaf07");
	}
	drift(&c, &now, &found);
	assert_only(&found, "drift-host-moved", "n017",
		    "all of its 8 cables lead elsewhere");
	cluster_free(&now);
	cluster_free(&c);
}

/* Takes out every line that has `part`. */
static void lines_drop(char *text, const char *part)
{
	char *at;

	while ((at = strstr(text, part))) {
		char *end = strchr(at, '\n');

		while (at > text && at[-1] != '\n')
			at--;
		memmove(at, end + 1, strlen(end + 1) + 1);
	}
}

static void a_root_that_no_cable_makes_is_told(void **state)
{
	char *text = synth_text(TREE, 0);
	struct weft_findings found;
	struct cluster c;

	(void)state;
	lines_drop(text, "core-switch");
	cluster_parse(&c, text);
	free(text);
	audit(&c, &found);
	assert_only(&found, "root-fake", "core",
		    "joins 2 parts that no cable joins");
	cluster_free(&c);
}

static void swapped_rails_are_one_finding(void **state)
{
	struct weft_inventory_cable *a, *b;
	struct weft_findings found;
	struct cluster c, now;
	struct weft_end end;

	(void)state;
	cluster_start(&c, "spine:2 leaf:4 node:8 gpu:8", 8);
	cluster_start(&now, "spine:2 leaf:4 node:8 gpu:8", 8);
	a = cable_find(&now, "n09", "leaf1-rail2", 0);
	b = cable_find(&now, "n09", "leaf1-rail5", 0);
	end = a->b;
	a->b = b->b;
	b->b = end;
	drift(&c, &now, &found);
	assert_only(&found, "drift-rail-swapped", "n09",
		    "of mlx5_2 to leaf1-rail2 and of mlx5_5 to leaf1-rail5");
	cluster_free(&now);
	cluster_free(&c);
}

/* ---- trees, blocks, NVLink ---- */

static const struct weft_place here = {0, 7};

static uint32_t host(struct weft_inventory *s, uint32_t i)
{
	char name[64];

	snprintf(name, sizeof(name), "n%02u", i);
	return weft_inventory_host(s, name, here, NULL);
}

static void inventory_audit(struct weft_inventory *s,
			    struct weft_findings *found)
{
	const struct weft_audit a = {.inventory = s, .findings = found};
	struct weft_error err = {0};

	*found = (struct weft_findings){0};
	assert_int_equal(weft_audit_run(&a, &err), 0);
	weft_inventory_free(s);
}

static void blocks_that_slurm_refuses_are_told(void **state)
{
	struct weft_inventory s = {0};
	struct weft_findings found;
	uint32_t sizes[] = {4, 8, 24}, block;

	(void)state;
	weft_inventory_add_source(&s, "topology.conf", "slurm-topology", NULL);
	for (uint32_t b = 0; b < 2; b++) {
		block = weft_inventory_add_group(&s, WEFT_GROUP_BLOCK,
						 b ? "b1" : "b0", here, NULL);
		for (uint32_t i = 0; i < (b ? 3 : 4); i++)
			weft_inventory_group_host(&s, block, host(&s, i), NULL);
	}
	s.block_sizes = malloc(sizeof(sizes));
	memcpy(s.block_sizes, sizes, sizeof(sizes));
	s.n_block_sizes = 3;
	inventory_audit(&s, &found);
	assert_int_equal(found.item[0].line, 7);
	assert_only(&found, "block-sizes", "BlockSizes",
		    "24 is not 4 times a power of two");
}

static void a_loop_in_a_declared_tree_is_told(void **state)
{
	struct weft_inventory s = {0};
	struct weft_findings found;
	uint32_t k[3];

	(void)state;
	weft_inventory_add_source(&s, "topology.conf", "slurm-topology", NULL);
	for (uint32_t i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "s%u", i);
		k[i] = weft_inventory_switch(&s, name, here, NULL);
		weft_inventory_add_edge(&s, k[i], WEFT_END_HOST, host(&s, i),
					here, NULL);
	}
	weft_inventory_add_edge(&s, k[0], WEFT_END_SWITCH, k[1], here, NULL);
	weft_inventory_add_edge(&s, k[1], WEFT_END_SWITCH, k[2], here, NULL);
	weft_inventory_add_edge(&s, k[2], WEFT_END_SWITCH, k[1], here, NULL);
	inventory_audit(&s, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(weft_finding_kinds[found.item[0].id].code,
			    "tree-loop");
	weft_findings_free(&found);
}

static void nvlink_domains_that_lack_nodes_are_told(void **state)
{
	struct weft_inventory s = {0};
	struct weft_findings found;

	(void)state;
	weft_inventory_add_source(&s, "clique.csv", "gpu-fabric", NULL);
	for (uint32_t i = 0; i < 71; i++) {
		char name[8];

		snprintf(name, sizeof(name), "c%u", i / 18);
		weft_inventory_set_text(&s, host(&s, i), WEFT_HOST_NVLINK, name,
					here, NULL);
	}
	weft_inventory_set_text(&s, 5, WEFT_HOST_NVLINK_STATE, "not registered",
				here, NULL);
	inventory_audit(&s, &found);
	assert_int_equal(found.n, 2);
	assert_first(&found, "nvlink-degraded", "n05", "not registered");
	assert_string_equal(found.item[1].place, "c3");
	weft_findings_free(&found);
}

static void a_switch_that_joins_nothing_is_told(void **state)
{
	struct weft_inventory s = {0};
	struct weft_findings found;

	(void)state;
	weft_inventory_add_source(&s, "topology.conf", "slurm-topology", NULL);
	weft_inventory_switch(&s, "s0", here, NULL);
	inventory_audit(&s, &found);
	assert_first(&found, "switch-empty", "s0", "joins nothing");
	weft_findings_free(&found);
}

static void sources_of_other_clusters_are_told_as_such(void **state)
{
	const struct weft_synth_options options = {.prefix = "x"};
	struct weft_findings found;
	struct cluster c, now;
	char *text = weft_synth(TREE, &options, NULL);

	(void)state;
	cluster_start(&c, TREE, 0);
	cluster_parse(&now, text);
	drift(&c, &now, &found);
	assert_only(&found, "drift-unrelated", "", "no node of");
	free(text);
	cluster_free(&c);
	cluster_free(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_what_is_regular),
		cmocka_unit_test(a_node_that_lost_a_gpu_is_told),
		cmocka_unit_test(a_kind_of_leaf_with_fewer_gpus_is_no_fault),
		cmocka_unit_test(
			cables_that_are_less_than_their_siblings_are_told),
		cmocka_unit_test(
			a_leaf_without_uplinks_comes_before_all_that_follows),
		cmocka_unit_test(a_moved_uplink_is_told_at_whose_it_is),
		cmocka_unit_test(a_lost_uplink_explains_the_oversubscription),
		cmocka_unit_test(a_lost_adapter_is_told_once),
		cmocka_unit_test(
			cables_missing_between_switches_joined_each_to_each),
		cmocka_unit_test(
			hosts_and_switches_are_known_under_other_names),
		cmocka_unit_test(
			a_host_on_another_leaf_is_told_by_tree_and_by_cables),
		cmocka_unit_test(a_root_that_no_cable_makes_is_told),
		cmocka_unit_test(swapped_rails_are_one_finding),
		cmocka_unit_test(blocks_that_slurm_refuses_are_told),
		cmocka_unit_test(a_loop_in_a_declared_tree_is_told),
		cmocka_unit_test(nvlink_domains_that_lack_nodes_are_told),
		cmocka_unit_test(a_switch_that_joins_nothing_is_told),
		cmocka_unit_test(sources_of_other_clusters_are_told_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
