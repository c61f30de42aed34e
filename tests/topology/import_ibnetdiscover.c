/* SPDX-License-Identifier: GPL-3.0-or-later */
/* import_ibnetdiscover.c - real captures: all that they hold is found */
#include "tests/lib/check.h"
#include "topology/hierarchy/hierarchy.h"
#include "topology/import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void file_import(struct weft_inventory *s, const char *name)
{
	struct weft_error err = {0};
	char path[512];
	const char *shared;

	snprintf(path, sizeof(path), "data/real/ibnetdiscover/%s", name);
	shared = test_shared(path);
	if (!shared) {
		print_message("skipped: no %s\n", path);
		skip();
	}
	*s = (struct weft_inventory){0};
	weft_import_file(s, weft_importer_find("ibnetdiscover", &err), shared,
			 NULL, NULL, &err);
	assert_no_error(&err);
	assert_int_equal(weft_inventory_finish(s, &err), 0);
}

/* Of the fabric made of it. */
struct shape {
	uint32_t n_levels, n_rails, domains[WEFT_MAX_LEVELS];
};

static struct shape shape_of(struct weft_inventory *s)
{
	const struct weft_hierarchy_options options = {0};
	struct weft_error err = {0};
	struct weft_hierarchy *hierarchy =
		weft_hierarchy_build(s, &options, &err);
	struct shape shape = {0};
	char *text;

	assert_no_error(&err);
	shape.n_levels = hierarchy->n_levels;
	shape.n_rails = hierarchy->n_rails;
	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		shape.domains[hierarchy->domains[d].level]++;
	text = weft_inventory_write(s, hierarchy, &options, &err);
	assert_no_error(&err);
	weft_fabric_free(weft_fabric_parse(text, strlen(text), "", &err));
	assert_no_error(&err);
	free(text);
	weft_hierarchy_free(hierarchy);
	return shape;
}

static void selene_has_its_160_switches_and_1247_adapters(void **state)
{
	struct weft_inventory s;
	struct shape shape;

	(void)state;
	file_import(&s, "selene-storage-hdr.txt");
	assert_int_equal(s.n_switches, 160);
	assert_int_equal(s.n_hcas, 1247);
	shape = shape_of(&s);
	assert_int_equal(shape.n_levels, 3);
	assert_int_equal(shape.n_rails, 2);
	assert_int_equal(shape.domains[1], 4);
	assert_int_equal(shape.domains[2], 1);
	assert_int_equal(weft_findings_count(&s.findings, WEFT_ERROR), 0);
	weft_inventory_free(&s);
}

static void dgx_fabric_has_four_rails_and_one_pair_exchanged(void **state)
{
	struct weft_inventory s;
	struct shape shape;

	(void)state;
	file_import(&s, "dgx-ndr-40sw-582ca.txt");
	assert_int_equal(s.n_switches, 40);
	assert_int_equal(s.n_hcas, 582 - 40); /* aggregation nodes */
	shape = shape_of(&s);
	assert_int_equal(shape.n_levels, 2);
	assert_int_equal(shape.n_rails, 4);
	assert_int_equal(shape.domains[0], 8);
	assert_int_equal(s.findings.of_kind[WEFT_FINDING_RAIL_SWAPPED], 1);
	assert_int_equal(s.findings.of_kind[WEFT_FINDING_RAIL_MISSING], 1);
	assert_int_equal(s.findings.of_kind[WEFT_FINDING_CABLE_MOVED], 0);
	assert_int_equal(weft_findings_count(&s.findings, WEFT_ERROR), 2);
	weft_inventory_free(&s);
}

static void generated_fat_tree_has_three_tiers(void **state)
{
	struct weft_inventory s;
	struct shape shape;

	(void)state;
	file_import(&s, "fattree-k4-n3-generated.topo");
	assert_int_equal(s.n_switches, 80);
	assert_int_equal(s.n_hosts, 128);
	shape = shape_of(&s);
	assert_int_equal(shape.n_levels, 3);
	assert_int_equal(shape.domains[0], 32);
	assert_int_equal(shape.domains[1], 8);
	assert_int_equal(shape.domains[2], 1);
	assert_int_equal(weft_findings_count(&s.findings, WEFT_ERROR), 0);
	weft_inventory_free(&s);
}

static void small_captures_have_what_they_list(void **state)
{
	static const struct {
		const char *name;
		uint32_t n_switches, n_hosts, n_cables;
	} files[] = {
		{"exporter-p-test.out", 4, 3, 4},
		{"ibsim/net", 2, 2, 4},
		{"ibsim/net.1", 1, 2, 2},
		{"ibsim/net.2sw2path", 2, 2, 4},
		{"ibsim/net.2sw2path4hca", 2, 4, 6},
		{"ibsim/net.2sw2path4hca2port", 2, 2, 6},
		{"ibtopotool-1.topo", 2, 4, 7},
		{"ibtopotool-2.topo", 1, 2, 2},
		{"superbench-fake-director.txt", 8, 10, 17},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct weft_inventory s;

		file_import(&s, files[i].name);
		print_message("%s\n", files[i].name);
		assert_int_equal(s.n_switches, files[i].n_switches);
		assert_int_equal(s.n_hosts, files[i].n_hosts);
		assert_int_equal(s.n_cables, files[i].n_cables);
		shape_of(&s);
		weft_inventory_free(&s);
	}
}

static void captures_without_a_link_are_refused(void **state)
{
	static const char *const names[] = {"bad.txt", "exporter-p-test3.out"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct weft_error err = {0}, ignored = {0};
		struct weft_inventory s = {0};
		char path[512];

		snprintf(path, sizeof(path), "data/real/ibnetdiscover/%s",
			 names[i]);
		if (!test_shared(path))
			skip();
		assert_int_equal(
			weft_import_file(
				&s,
				weft_importer_find("ibnetdiscover", &ignored),
				test_shared(path), NULL, NULL, &err),
			-1);
		assert_error_says(&err, "no link");
		weft_inventory_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selene_has_its_160_switches_and_1247_adapters),
		cmocka_unit_test(
			dgx_fabric_has_four_rails_and_one_pair_exchanged),
		cmocka_unit_test(generated_fat_tree_has_three_tiers),
		cmocka_unit_test(small_captures_have_what_they_list),
		cmocka_unit_test(captures_without_a_link_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
