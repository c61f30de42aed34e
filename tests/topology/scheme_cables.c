/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_cables.c - levels from cables: the same in any order of lines, and
 * one fault changes no domain
 */
#include "tests/lib/check.h"
#include "tests/lib/ibnet.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <stdlib.h>
#include <string.h>

static const struct shape {
	const char *desc;
	struct test_ibnet spec;
	uint32_t n_levels, n_rails;
	uint32_t domains[3];
} shapes[] = {
	{"one leaf", {.bundles = 1, .hosts = 4}, 1, 1, {1}},
	{"two tiers", {.bundles = 4, .hosts = 8, .spines = 4}, 2, 1, {4, 1}},
	{"two tiers, uneven, parallel cables",
	 {.bundles = 5, .hosts = 6, .spines = 2, .parallel = 2, .uneven = true},
	 2,
	 1,
	 {5, 1}},
	{"three tiers",
	 {.pods = 3, .bundles = 4, .hosts = 6, .spines = 4, .cores = 8},
	 3,
	 1,
	 {12, 3, 1}},
	{"rails with spines",
	 {.bundles = 3, .hosts = 8, .rails = 8, .spines = 4},
	 2,
	 8,
	 {3, 1}},
	{"rails, three tiers",
	 {.pods = 2,
	  .bundles = 2,
	  .hosts = 5,
	  .rails = 4,
	  .spines = 3,
	  .cores = 6,
	  .uneven = true},
	 3,
	 4,
	 {4, 2, 1}},
	{"rail only", {.bundles = 1, .hosts = 12, .rails = 8}, 1, 8, {1}},
	{"disjoint pods",
	 {.pods = 2, .bundles = 2, .hosts = 6, .spines = 2},
	 2,
	 1,
	 {4, 2}},
	{"rails and storage",
	 {.bundles = 2,
	  .hosts = 8,
	  .rails = 4,
	  .spines = 4,
	  .storage_leafs = 2},
	 2,
	 4,
	 {2, 1}},
	{"rail only and storage",
	 {.bundles = 1, .hosts = 12, .rails = 8, .storage_leafs = 3},
	 1,
	 8,
	 {1}},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* ---- one fabric ---- */

struct made {
	struct weft_inventory s;
	struct weft_hierarchy *hierarchy;
	char *text;
};

static void made_free(struct made *m)
{
	weft_hierarchy_free(m->hierarchy);
	weft_inventory_free(&m->s);
	free(m->text);
}

/* False where that fault cannot be in that fabric. */
static bool make(const struct test_ibnet *spec, struct made *m,
		 struct test_ibnet_truth *truth)
{
	const struct weft_hierarchy_options options = {.gpus_per_node = 8};
	struct weft_error err = {0};
	size_t size;
	char *text = test_ibnet_text(spec, truth, &size);

	*m = (struct made){0};
	if (!text)
		return false;
	weft_import_text(&m->s, weft_importer_find("ibnetdiscover", &err), text,
			 size, "made", NULL, NULL, &err);
	assert_no_error(&err);
	free(text);
	assert_int_equal(weft_inventory_finish(&m->s, &err), 0);
	m->hierarchy = weft_hierarchy_build(&m->s, &options, &err);
	assert_no_error(&err);
	weft_findings_sort(&m->s.findings);
	m->text = weft_inventory_write(&m->s, m->hierarchy, &options, &err);
	assert_no_error(&err);
	return true;
}

static void findings_print(const struct made *m, const char *desc)
{
	print_error("%s\n", desc);
	for (uint32_t i = 0; i < m->s.findings.n; i++)
		print_error("  %s %s: %s\n",
			    weft_finding_kinds[m->s.findings.item[i].id].code,
			    m->s.findings.item[i].place,
			    m->s.findings.item[i].text);
}

/* ---- shapes ---- */

static void levels_and_rails_are_those_of_the_cables(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++) {
		const struct shape *shape = &shapes[i];
		uint32_t domains[WEFT_MAX_LEVELS] = {0};
		struct made m;

		assert_true(make(&shape->spec, &m, NULL));
		print_message("%s\n", shape->desc);
		for (uint32_t d = 0; d < m.hierarchy->n_domains; d++)
			domains[m.hierarchy->domains[d].level]++;
		assert_int_equal(m.hierarchy->n_levels, shape->n_levels);
		assert_int_equal(m.hierarchy->n_rails, shape->n_rails);
		for (uint32_t l = 0; l < shape->n_levels; l++)
			assert_int_equal(domains[l], shape->domains[l]);
		for (enum weft_severity s = WEFT_WARNING; s <= WEFT_ERROR;
		     s++) {
			if (weft_findings_count(&m.s.findings, s))
				findings_print(&m, shape->desc);
			assert_int_equal(weft_findings_count(&m.s.findings, s),
					 0);
		}
		made_free(&m);
	}
}

static void the_order_of_lines_and_the_guids_change_nothing(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++)
		for (int round = 0; round < 3; round++) {
			struct test_ibnet spec = shapes[i].spec;
			struct made sound, other;

			assert_true(make(&spec, &sound, NULL));
			spec.shuffled = true;
			spec.seed = test_random(&seed);
			assert_true(make(&spec, &other, NULL));
			assert_string_equal(sound.text, other.text);
			made_free(&sound);
			made_free(&other);
		}
}

/* ---- faults ---- */

/* Domain of each host, by the names of its first switches: the same in both. */
static void compare_domains(const struct made *a, const struct made *b,
			    const struct test_ibnet_truth *truth)
{
	assert_int_equal(a->hierarchy->n_levels, b->hierarchy->n_levels);
	assert_int_equal(a->hierarchy->n_rails, b->hierarchy->n_rails);
	for (uint32_t h = 0; h < a->s.n_hosts; h++) {
		const char *name = a->s.hosts[h].name;
		uint32_t x = a->hierarchy->host_domain[h], y, other;

		if (truth->was[0] && strcmp(name, truth->was) == 0)
			name = truth->place[0];
		other = weft_inventory_find_host(&b->s, name);
		if (other == WEFT_NONE)
			continue; /* it has lost its only adapter */
		y = b->hierarchy->host_domain[other];
		assert_int_equal(x == WEFT_NONE, y == WEFT_NONE);
		if (x != WEFT_NONE)
			assert_string_equal(a->hierarchy->domains[x].name,
					    b->hierarchy->domains[y].name);
	}
}

/* With several cables a host, or several uplinks a leaf, one of them is not
 * what decides. */
static bool is_decided(const struct test_ibnet *spec)
{
	switch (spec->fault) {
	case TEST_IBNET_CABLE_MOVED:
	case TEST_IBNET_LINK_DOWN:
	case TEST_IBNET_HCA_LOST:
		return spec->rails > 2;
	case TEST_IBNET_UPLINK_MOVED:
		return spec->cores > 0;
	case TEST_IBNET_LEAF_ORPHANED:
		return spec->pods < 2;
	default:
		return true;
	}
}

static void one_fault_changes_no_domain(void **state)
{
	uint64_t seed = test_seed();
	uint32_t n = 0;

	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++)
		for (uint32_t k = 0; k < 6 * TEST_IBNET_N_FAULTS; k++) {
			struct test_ibnet spec = shapes[i].spec;
			struct test_ibnet_truth truth;
			struct made sound, fault;

			assert_true(make(&spec, &sound, NULL));
			spec.fault = k % TEST_IBNET_N_FAULTS;
			spec.seed = test_random(&seed);
			if (is_decided(&spec) && make(&spec, &fault, &truth)) {
				compare_domains(&sound, &fault, &truth);
				n++;
				made_free(&fault);
			}
			made_free(&sound);
		}
	print_message("%u fabrics\n", n);
	assert_true(n > 200);
}

static void cables_of_hosts_that_are_elsewhere_are_found(void **state)
{
	static const struct {
		enum test_ibnet_fault fault;
		enum weft_finding_id id;
	} faults[] = {
		{TEST_IBNET_CABLE_MOVED, WEFT_FINDING_CABLE_MOVED},
		{TEST_IBNET_UPLINK_MOVED, WEFT_FINDING_CABLE_MOVED},
		{TEST_IBNET_RAIL_SWAPPED, WEFT_FINDING_RAIL_SWAPPED},
		{TEST_IBNET_HCA_LOST, WEFT_FINDING_RAIL_MISSING},
		{TEST_IBNET_LEAF_ORPHANED, WEFT_FINDING_LEAF_ORPHAN},
	};
	uint64_t seed = test_seed();
	uint32_t n = 0;

	(void)state;
	for (size_t i = 0; i < N_SHAPES; i++)
		for (size_t k = 0; k < sizeof(faults) / sizeof(faults[0]);
		     k++) {
			struct test_ibnet spec = shapes[i].spec;
			struct test_ibnet_truth truth;
			const struct weft_finding *f;
			struct made m;

			spec.fault = faults[k].fault;
			spec.seed = test_random(&seed);
			/* of one cable each, none is like the others */
			if ((spec.rails < 2 || !is_decided(&spec)) &&
			    faults[k].fault != TEST_IBNET_LEAF_ORPHANED &&
			    faults[k].fault != TEST_IBNET_UPLINK_MOVED)
				continue;
			if (!is_decided(&spec) || !make(&spec, &m, &truth))
				continue;
			f = &m.s.findings.item[0];
			if (!m.s.findings.n || f->id != faults[k].id ||
			    strncmp(f->place, truth.place[0],
				    strlen(truth.place[0])) != 0) {
				print_error("%s\n", truth.line);
				findings_print(&m, shapes[i].desc);
				fail();
			}
			n++;
			made_free(&m);
		}
	print_message("%u faults\n", n);
	assert_true(n > 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_and_rails_are_those_of_the_cables),
		cmocka_unit_test(
			the_order_of_lines_and_the_guids_change_nothing),
		cmocka_unit_test(one_fault_changes_no_domain),
		cmocka_unit_test(cables_of_hosts_that_are_elsewhere_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
