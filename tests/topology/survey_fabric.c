/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory_fabric.c - a inventory made back from a fabric says all that it
 * knows */
#include "tests/lib/fabric.h"
#include "tests/lib/fabric_check.h"
#include "topology/cabling.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/synth.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scene {
	struct weft_fabric *f;
	struct weft_inventory *s;
};

static struct scene inventory_of(const char *text)
{
	struct weft_error err = {0};
	struct scene x = {0};

	x.f = test_fabric(text);
	x.s = weft_inventory_from_fabric(x.f, "f.yaml", &err);
	assert_no_error(&err);
	assert_int_equal(weft_inventory_finish(x.s, &err), 0);
	assert_int_equal(x.s->findings.n, 0);
	return x;
}

static void scene_free(struct scene *x)
{
	weft_fabric_free(x->f);
	weft_inventory_free(x->s);
	free(x->s);
}

static bool has_edge(const struct weft_inventory *s, const char *parent,
		     const char *child)
{
	uint32_t p = weft_inventory_find_switch(s, parent);
	uint32_t host = weft_inventory_find_host(s, child);
	uint32_t below = weft_inventory_find_switch(s, child);

	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct weft_inventory_edge *e = &s->edges[i];

		if (e->parent == p &&
		    e->child == (e->child_kind == WEFT_END_HOST ? host : below))
			return true;
	}
	return false;
}

static void hosts_keep_what_the_fabric_says_of_them(void **state)
{
	struct scene x = inventory_of("weft: fabric/1\nname: test\n"
				      "nodes:\n"
				      "  b[0-1]: {gpus: 4, kind: gb200}\n"
				      "  a[0-1]: {gpus: 8, kind: h100}\n"
				      "nvlink: {nvl0: \"b[0-1]\"}\n"
				      "rack: {r7: \"a0,b0\"}\n");
	const struct weft_inventory_host *host = x.s->hosts;

	(void)state;
	assert_string_equal(x.s->name, "test");
	assert_string_equal(x.s->sources[0].format, "fabric");
	assert_int_equal(x.s->n_hosts, 4);
	assert_string_equal(host[0].name, "b0");
	assert_string_equal(host[0].gpu_kind.text, "gb200");
	assert_string_equal(host[0].nvlink.text, "nvl0");
	assert_string_equal(host[0].rack.text, "r7");
	assert_true(host[0].gpus.value == 4);
	assert_string_equal(host[3].name, "a1");
	assert_string_equal(host[3].gpu_kind.text, "h100");
	assert_null(host[3].nvlink.text);
	assert_null(host[3].rack.text);
	assert_true(host[3].gpus.value == 8);
	/* the level that joins all */
	assert_true(has_edge(x.s, "core", "a0"));
	scene_free(&x);
}

static void nodes_of_several_nvlink_domains_have_an_inside(void **state)
{
	struct scene x = inventory_of("weft: fabric/1\n"
				      "nodes: {n0: 4, n1: 8, n2: 4}\n"
				      "nvlink: 2\n");
	const struct weft_inventory_inside *in;

	(void)state;
	assert_int_equal(x.s->n_insides, 2);
	in = &x.s->insides[x.s->hosts[1].inside];
	assert_int_equal(in->n_gpus, 8);
	assert_int_equal(in->gpus[1].nvlink_group, 0);
	assert_int_equal(in->gpus[7].nvlink_group, 3);
	assert_int_equal(x.s->hosts[0].inside, x.s->hosts[2].inside);
	scene_free(&x);
}

static void domains_without_cables_become_a_tree(void **state)
{
	struct scene x =
		inventory_of("weft: fabric/1\nrails: 2\n"
			     "nodes: {\"n[0-4]\": 4}\n"
			     "levels:\n"
			     "  leaf: {\"a[0-1]-r[0-1]\": \"n[0-3]\"}\n"
			     "  pod: {p0: \"a0-r[0-1]\"}\n"
			     "  top: {t0: \"p0,a1-r[0-1],n4\"}\n");
	const struct weft_inventory *s = x.s;

	(void)state;
	assert_int_equal(s->n_switches, 6);
	assert_int_equal(s->n_cables, 0);
	assert_true(has_edge(s, "a0-r0", "n0"));
	assert_true(has_edge(s, "a0-r1", "n0"));
	assert_true(has_edge(s, "p0", "a0-r1"));
	assert_true(has_edge(s, "t0", "p0"));
	/* those that skip levels hang where they do */
	assert_true(has_edge(s, "t0", "a1-r0"));
	assert_true(has_edge(s, "t0", "n4"));
	assert_int_equal(s->n_edges, 2 * 4 + 2 + 1 + 2 + 1);
	assert_int_equal(
		s->switches[weft_inventory_find_switch(s, "a1-r1")].tier, 1);
	assert_int_equal(s->switches[weft_inventory_find_switch(s, "t0")].tier,
			 3);
	scene_free(&x);
}

static void cables_come_back_with_their_facts(void **state)
{
	struct scene x = inventory_of(
		"weft: fabric/1\nrails: 2\n"
		"nodes: {\"n[0-1]\": 2}\n"
		"levels: {leaf: {\"L[0-1]\": \"n[0-1]\"}, "
		"pod: {p0: \"L[0-1]\"}}\n"
		"switches: {\"L[0-1]\": {ports: 64}, "
		"st: {network: storage, ports: 8}, S0: {domain: p0}}\n"
		"cables:\n"
		"  - {from: \"n[0-1]\", port: m0, to: L0, rate: 50 GB/s}\n"
		"  - {from: \"n[0-1]\", port: m1, to: L1, rate: 50 GB/s}\n"
		"  - {from: \"L[0-1]\", to: S0, n: 3, width: 4, state: down}\n"
		"  - {from: n0, port: e0, to: st, rate: 1 GB/s}\n");
	const struct weft_inventory *s = x.s;
	uint32_t n_down = 0, n_rail = 0;

	(void)state;
	assert_int_equal(s->n_switches, 4);
	assert_int_equal(s->n_cables, 7);
	assert_int_equal(s->n_edges, 0);
	assert_int_equal(s->n_hcas, 5);
	assert_int_equal(s->switches[0].n_ports, 64);
	assert_null(s->switches[0].network);
	assert_string_equal(
		s->switches[weft_inventory_find_switch(s, "st")].network,
		"storage");
	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];

		n_down += c->down && c->n == 3 && c->width == 4;
		n_rail += c->a.kind == WEFT_END_HOST &&
			  s->hcas[c->a.hca].rail == 1 &&
			  c->rate_bytes_per_s == 50e9;
	}
	assert_int_equal(n_down, 2);
	assert_int_equal(n_rail, 2);
	scene_free(&x);
}

static void what_cables_leave_open_the_tree_says(void **state)
{
	struct scene x =
		inventory_of("weft: fabric/1\n"
			     "nodes: {\"n[0-3]\": 8}\n"
			     "levels: {leaf: {\"L[0-1]\": \"n[0-3]\"}}\n"
			     "cables: [{from: \"n[0-1]\", to: L0}]\n");

	(void)state;
	assert_int_equal(x.s->n_cables, 2);
	assert_true(has_edge(x.s, "L1", "n2"));
	assert_true(has_edge(x.s, "core", "L0"));
	assert_int_equal(x.s->n_edges, 4);
	scene_free(&x);
}

/* ---- and back again ---- */

static struct weft_fabric *written_back(const struct weft_fabric *f)
{
	const struct weft_hierarchy_options options = {.profile = f->profile};
	struct weft_error err = {0};
	struct weft_inventory *s =
		weft_inventory_from_fabric(f, "f.yaml", &err);
	struct weft_hierarchy *hierarchy;
	struct weft_fabric *back;
	char *text;

	assert_no_error(&err);
	assert_int_equal(weft_inventory_finish(s, &err), 0);
	hierarchy = weft_hierarchy_from_fabric(f, s, &err);
	assert_no_error(&err);
	text = weft_inventory_write(s, hierarchy, &options, &err);
	assert_no_error(&err);
	back = weft_fabric_parse(text, strlen(text), "written", &err);
	if (err.code)
		print_error("%s\n", text);
	assert_no_error(&err);
	assert_int_equal(fabric_check(back, &err), 0);
	free(text);
	weft_hierarchy_free(hierarchy);
	weft_inventory_free(s);
	free(s);
	return back;
}

static const char *kind_of(const struct weft_fabric *f, uint32_t node)
{
	uint32_t kind = f->nodes[node].kind;

	return kind == WEFT_NONE ? "" : f->kinds[kind];
}

static const char *rack_of(const struct weft_fabric *f, uint32_t node)
{
	uint32_t rack = f->nodes[node].rack;

	return rack == WEFT_NONE ? "" : f->racks[rack];
}

/* NVLink domains of one node, and what stands for them further out, come back
 * under the node's name. */
static void check_same_domain(const struct weft_fabric *f,
			      const struct weft_fabric *g, uint32_t a,
			      uint32_t b)
{
	const struct weft_domain *d = &f->domains[a];
	const char *inner = f->domains[f->gpu_domain[0][d->first_gpu]].name;

	assert_int_equal(d->n_nodes, g->domains[b].n_nodes);
	assert_int_equal(d->n_gpus, g->domains[b].n_gpus);
	if (d->n_nodes > 1 || strcmp(inner, d->name) != 0)
		assert_string_equal(d->name, g->domains[b].name);
}

static void check_same_nodes(const struct weft_fabric *f,
			     const struct weft_fabric *g)
{
	assert_int_equal(f->n_nodes, g->n_nodes);
	assert_int_equal(f->n_gpus, g->n_gpus);
	assert_int_equal(f->n_rails, g->n_rails);
	assert_int_equal(f->n_domains, g->n_domains);
	assert_int_equal(f->n_levels, g->n_levels);
	assert_int_equal(f->routing, g->routing);
	assert_int_equal(f->n_flows, g->n_flows);
	for (uint32_t l = f->node_level + 1; l < f->n_levels; l++)
		for (double size = 1e4; size < 1e11; size *= 3)
			assert_close(weft_fabric_rate_share(f, l, size),
				     weft_fabric_rate_share(g, l, size), 1e-8);
	for (uint32_t a = 0; a < f->n_nodes; a++) {
		uint32_t b = weft_fabric_node(g, f->nodes[a].name);

		assert_int_not_equal(b, WEFT_NONE);
		assert_int_equal(f->nodes[a].n_gpus, g->nodes[b].n_gpus);
		assert_string_equal(kind_of(f, a), kind_of(g, b));
		assert_string_equal(rack_of(f, a), rack_of(g, b));
		for (uint32_t l = 0; l < f->n_levels; l++)
			check_same_domain(
				f, g, f->gpu_domain[l][f->nodes[a].first_gpu],
				g->gpu_domain[l][g->nodes[b].first_gpu]);
	}
}

/* The distance of a node's last GPU to the first of every other, too. */
static void check_same_distances(const struct weft_fabric *f,
				 const struct weft_fabric *g)
{
	for (uint32_t a = 0; a < f->n_nodes; a += 1 + f->n_nodes / 30)
		for (uint32_t b = 0; b < f->n_nodes; b++) {
			const struct weft_node *x = &g->nodes[weft_fabric_node(
				g, f->nodes[a].name)];
			const struct weft_node *y = &g->nodes[weft_fabric_node(
				g, f->nodes[b].name)];
			struct weft_distance d = weft_fabric_distance(
				f,
				f->nodes[a].first_gpu + f->nodes[a].n_gpus - 1,
				f->nodes[b].first_gpu);
			struct weft_distance e = weft_fabric_distance(
				g, x->first_gpu + x->n_gpus - 1, y->first_gpu);

			assert_int_equal(d.hops, e.hops);
			if (d.hops == UINT32_MAX)
				continue;
			assert_close(d.latency_s, e.latency_s, 1e-8);
			assert_close(d.time_s_per_byte, e.time_s_per_byte,
				     1e-8);
		}
}

/* A number that does not depend on the order of cables. */
static double cables_sum(const struct weft_fabric *f)
{
	double sum = 0;

	for (uint32_t k = 0; f->cabling && k < f->cabling->n_cables; k++) {
		const struct weft_cable *c = &f->cabling->cables[k];
		const char *texts[] = {weft_cabling_end_name(f, c->a),
				       weft_cabling_end_name(f, c->b),
				       weft_cabling_port(f->cabling, c)};
		double product = 1 + c->rate_bytes_per_s / 1e9 + c->width;

		for (size_t t = c->a < f->n_nodes ? 0 : 2; t < 3; t++)
			for (const char *p = texts[t] ? texts[t] : ""; *p; p++)
				product = 1 + product / 3 * (*p % 7 + 1);
		sum += c->n * (product + (c->up ? 0 : 100) +
			       (c->rail == WEFT_NO_RAIL ? 7 : c->rail));
	}
	return sum;
}

/* A domain of which the file names no switch comes back as one. */
static void check_same_switches(const struct weft_fabric *f,
				const struct weft_fabric *g)
{
	for (uint32_t k = 0; k < f->cabling->n_switches; k++) {
		const struct weft_cabling_switch *a = &f->cabling->switches[k];
		uint32_t at = weft_cabling_find(g->cabling, a->name);
		const struct weft_cabling_switch *b;

		assert_int_not_equal(at, WEFT_NONE);
		b = &g->cabling->switches[at];
		assert_int_equal(a->tier, b->tier);
		assert_int_equal(a->n_ports, b->n_ports);
		assert_int_equal(a->rail, b->rail);
		assert_string_equal(f->cabling->networks[a->network],
				    g->cabling->networks[b->network]);
	}
}

static void check_same(const struct weft_fabric *f)
{
	struct weft_fabric *g = written_back(f);

	check_same_nodes(f, g);
	check_same_distances(f, g);
	assert_int_equal(f->cabling != NULL, g->cabling != NULL);
	if (f->cabling)
		check_same_switches(f, g);
	assert_close(cables_sum(f), cables_sum(g), 1e-9);
	weft_fabric_free(g);
}

/* What a inventory or its writer has no place for: links of nvlink, pxn,
 * switches that are in no domain. */
static bool is_holdable(const char *name)
{
	static const char *const lost[] = {"links-monotone", "pcie-",
					   "cables-cut-leaf",
					   "rail-without-pxn"};

	for (size_t k = 0; k < sizeof(lost) / sizeof(*lost); k++)
		if (strncmp(name, lost[k], strlen(lost[k])) == 0)
			return false;
	return true;
}

static void every_valid_fabric_comes_back(void **state)
{
	char folder[512], path[1024];
	const struct dirent *entry;
	int n = 0;
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "%s",
		 test_source("tests/fabrics/valid"));
	dir = opendir(folder);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		const char *dot = strrchr(entry->d_name, '.');
		struct weft_error err = {0};
		struct weft_fabric *f;

		if (!dot || strcmp(dot, ".yaml") || !is_holdable(entry->d_name))
			continue;
		print_message("%s\n", entry->d_name);
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		f = weft_fabric_load(path, &err);
		assert_no_error(&err);
		check_same(f);
		weft_fabric_free(f);
		n++;
	}
	closedir(dir);
	assert_true(n > 20);
}

static void synthetic_fabrics_come_back(void **state)
{
	static const char *const specs[] = {
		"leaf:3 node:2 gpu:4",
		"pod:2 leaf:3 node:4 gpu:8",
		"zone:2 pod:2 leaf:2 node:3 gpu:4",
		"pod:2 leaf:2 nvlink:2 node:3 gpu:4",
	};
	uint64_t random = test_seed();

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct weft_synth_options options = {
			.rails = 1u << test_random_below(&random, 3),
			.cables = test_random_below(&random, 2),
			.damage = 0.1 * test_random_below(&random, 4),
			.seed = test_random(&random)};
		const char *spec = specs[test_random_below(&random, 4)];
		struct weft_fabric *f = test_synth(spec, &options);

		check_same(f);
		weft_fabric_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_keep_what_the_fabric_says_of_them),
		cmocka_unit_test(
			nodes_of_several_nvlink_domains_have_an_inside),
		cmocka_unit_test(domains_without_cables_become_a_tree),
		cmocka_unit_test(cables_come_back_with_their_facts),
		cmocka_unit_test(what_cables_leave_open_the_tree_says),
		cmocka_unit_test(every_valid_fabric_comes_back),
		cmocka_unit_test(synthetic_fabrics_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
