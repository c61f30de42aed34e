/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory.c - inventories, their findings, and the fabric file made from them
 */
#include "tests/lib/check.h"
#include "topology/hierarchy/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct weft_place here = {0, 1};

/* A inventory of n hosts n0..; one source. */
static void inventory_start(struct weft_inventory *s, uint32_t n)
{
	*s = (struct weft_inventory){0};
	assert_int_equal(weft_inventory_add_source(s, "a.txt", "test", NULL),
			 0);
	for (uint32_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u", i);
		assert_int_equal(weft_inventory_host(s, name, here, NULL), i);
	}
}

/* Finishes, takes `fill` for the hierarchy, writes and loads. */
typedef void (*hierarchy_filler)(struct weft_hierarchy *hierarchy);
static struct weft_fabric *fabric_of(struct weft_inventory *s,
				     hierarchy_filler fill, char **text)
{
	const struct weft_hierarchy_options options = {.gpus_per_node = 8};
	struct weft_error err = {0};
	struct weft_hierarchy *hierarchy;
	struct weft_fabric *f = NULL;

	assert_int_equal(weft_inventory_finish(s, &err), 0);
	hierarchy = calloc(1, sizeof(*hierarchy));
	hierarchy->n_rails = 1;
	hierarchy->host_domain = malloc((s->n_hosts + 1) * sizeof(uint32_t));
	hierarchy->switch_domain =
		malloc((s->n_switches + 1) * sizeof(uint32_t));
	memset(hierarchy->host_domain, 0xff, s->n_hosts * sizeof(uint32_t));
	memset(hierarchy->switch_domain, 0xff,
	       s->n_switches * sizeof(uint32_t));
	if (fill)
		fill(hierarchy);
	*text = weft_inventory_write(s, hierarchy, &options, &err);
	if (*text)
		f = weft_fabric_parse(*text, strlen(*text), "written", &err);
	if (!f)
		print_error("%s\n%s\n", err.text, *text ? *text : "");
	weft_hierarchy_free(hierarchy);
	return f;
}

static uint32_t count_of(const struct weft_inventory *s,
			 enum weft_finding_id id)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->findings.n; i++)
		n += s->findings.item[i].id == id;
	return n;
}

static void a_name_is_one_host(void **state)
{
	struct weft_inventory s;

	(void)state;
	inventory_start(&s, 3000);
	assert_int_equal(weft_inventory_host(&s, "n2999", here, NULL), 2999);
	assert_int_equal(weft_inventory_find_host(&s, "n17"), 17);
	assert_int_equal(weft_inventory_find_host(&s, "n3000"), WEFT_NONE);
	assert_int_equal(weft_inventory_find_switch(&s, "n17"), WEFT_NONE);
	weft_inventory_free(&s);
}

static void adapters_are_chained_in_order(void **state)
{
	struct weft_inventory s;
	char name[32];

	(void)state;
	inventory_start(&s, 2);
	for (uint32_t i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "mlx5_%u", i);
		assert_int_equal(
			weft_inventory_hca(&s, i % 2, name, NULL, here, NULL),
			i);
	}
	assert_int_equal(weft_inventory_hca(&s, 1, "mlx5_3", NULL, here, NULL),
			 3);
	assert_int_equal(s.hosts[0].n_hcas, 20);
	assert_int_equal(s.hosts[0].first_hca, 0);
	assert_int_equal(s.hcas[0].next, 2);
	assert_int_equal(s.hcas[38].next, WEFT_NONE);
	weft_inventory_free(&s);
}

static void sources_that_differ_make_a_conflict(void **state)
{
	const struct weft_place there = {1, 7};
	struct weft_inventory s;

	(void)state;
	inventory_start(&s, 1);
	assert_int_equal(weft_inventory_add_source(&s, "b.txt", "test", NULL),
			 1);
	weft_inventory_set_gpus(&s, 0, 8, here, NULL);
	weft_inventory_set_gpus(&s, 0, 8, there, NULL);
	assert_int_equal(s.findings.n, 0);
	weft_inventory_set_gpus(&s, 0, 4, there, NULL);
	weft_inventory_set_text(&s, 0, WEFT_HOST_NVLINK, "x", here, NULL);
	weft_inventory_set_text(&s, 0, WEFT_HOST_NVLINK, "y", there, NULL);
	assert_int_equal(count_of(&s, WEFT_FINDING_CONFLICT), 2);
	assert_string_equal(s.findings.item[0].source, "b.txt");
	assert_int_equal(s.findings.item[0].line, 7);
	assert_non_null(strstr(s.findings.item[0].text, "a.txt:1"));
	assert_true(s.hosts[0].gpus.value == 8);
	weft_inventory_free(&s);
}

static void a_cable_of_two_sources_is_one(void **state)
{
	struct weft_inventory_cable cable = {
		.a = {WEFT_END_SWITCH, 0, WEFT_NONE, 1},
		.b = {WEFT_END_HOST, 0, WEFT_NONE, 0},
		.n = 1,
	};
	struct weft_inventory s;

	(void)state;
	inventory_start(&s, 1);
	weft_inventory_add_source(&s, "b.txt", "test", NULL);
	weft_inventory_switch(&s, "leaf0", here, NULL);
	weft_inventory_add_cable(&s, &cable, NULL);
	cable.where.source = 1;
	weft_inventory_add_cable(&s, &cable, NULL);
	cable.where.source = 0;
	cable.b.index = 9;
	assert_int_equal(weft_inventory_add_cable(&s, &cable, NULL), -1);
	cable.b = cable.a;
	assert_int_equal(weft_inventory_add_cable(&s, &cable, NULL), 0);
	assert_int_equal(count_of(&s, WEFT_FINDING_LINK_LOOP), 1);
	assert_int_equal(weft_inventory_finish(&s, NULL), 0);
	assert_int_equal(s.n_cables, 1);
	assert_int_equal(s.cables[0].a.kind, WEFT_END_HOST);
	weft_inventory_free(&s);
}

static void findings_come_gravest_first_and_once(void **state)
{
	struct weft_findings list = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		weft_findings_add(&list, WEFT_FINDING_INPUT_PARTIAL,
				  (struct weft_finding_at){.place = "n2"}, NULL,
				  "part\x1b[31m");
		weft_findings_add(&list, WEFT_FINDING_CONFLICT,
				  (struct weft_finding_at){.place = "n10"},
				  NULL, "which");
		weft_findings_add(&list, WEFT_FINDING_CONFLICT,
				  (struct weft_finding_at){.place = "n9"}, NULL,
				  "which");
	}
	weft_findings_add(&list, WEFT_FINDING_CONFLICT,
			  (struct weft_finding_at){.place = "n11", .weight = 2},
			  NULL, "which");
	weft_findings_sort(&list);
	assert_int_equal(list.n, 4);
	assert_string_equal(list.item[0].place, "n11");
	assert_string_equal(list.item[1].place, "n9");
	assert_string_equal(list.item[2].place, "n10");
	assert_string_equal(list.item[3].text, "part?[31m");
	assert_int_equal(weft_findings_count(&list, WEFT_ERROR), 3);
	weft_findings_free(&list);
}

static void findings_of_a_kind_are_bounded(void **state)
{
	struct weft_findings list = {0};

	(void)state;
	for (int i = 0; i < 5000; i++)
		weft_findings_add(&list, WEFT_FINDING_LINE_IGNORED,
				  (struct weft_finding_at){.line = i}, NULL,
				  "line");
	assert_int_equal(list.n, WEFT_FINDINGS_OF_A_KIND);
	assert_int_equal(list.of_kind[WEFT_FINDING_LINE_IGNORED], 5000);
	weft_findings_free(&list);
}

/* Two leafs named like a host and with a blank, under one spine. */
static void two_leafs(struct weft_hierarchy *hierarchy)
{
	hierarchy->n_levels = 2;
	snprintf(hierarchy->levels[0].name, WEFT_NAME_SIZE, "leaf");
	snprintf(hierarchy->levels[1].name, WEFT_NAME_SIZE, "spine");
	weft_hierarchy_add_domain(hierarchy, "n1", 0, NULL);
	weft_hierarchy_add_domain(hierarchy, "leaf 1", 0, NULL);
	weft_hierarchy_add_domain(hierarchy, "spine", 1, NULL);
	hierarchy->domains[0].parent = hierarchy->domains[1].parent = 2;
	for (uint32_t h = 0; h < 4; h++)
		hierarchy->host_domain[h] = h / 2;
	hierarchy->levels[1].rate_bytes_per_s = 50e9;
	hierarchy->levels[1].oversubscription = 2;
}

static void hosts_keep_their_names_before_switches(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	f = fabric_of(&s, two_leafs, &text);
	assert_non_null(f);
	assert_int_equal(f->n_levels, 3);
	assert_non_null(strstr(text, "n1~2: n[0-1]"));
	assert_non_null(strstr(text, "leaf_1: n[2-3]"));
	assert_non_null(
		strstr(text, "bandwidth: 400 Gbps, oversubscription: 2"));
	weft_fabric_free(f);
	weft_inventory_free(&s);
	free(text);
}

static void switches_and_cables_are_folded(void **state)
{
	struct weft_inventory_cable cable = {
		.n = 1, .rate_bytes_per_s = 50e9, .width = 4};
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	weft_inventory_switch(&s, "n1", here, NULL);
	weft_inventory_switch(&s, "sp0", here, NULL);
	weft_inventory_switch(&s, "sp1", here, NULL);
	for (uint32_t h = 0; h < 4; h++) {
		cable.a = (struct weft_end){WEFT_END_HOST, h, WEFT_NONE, 0};
		cable.b = (struct weft_end){WEFT_END_SWITCH, 0, WEFT_NONE, h};
		weft_inventory_add_cable(&s, &cable, NULL);
	}
	for (uint32_t k = 0; k < 4; k++) {
		cable.a = (struct weft_end){WEFT_END_SWITCH, 0, WEFT_NONE,
					    10 + k};
		cable.b = (struct weft_end){WEFT_END_SWITCH, 1 + k % 2,
					    WEFT_NONE, k};
		weft_inventory_add_cable(&s, &cable, NULL);
	}
	f = fabric_of(&s, two_leafs, &text);
	assert_non_null(strstr(text, "from: \"n[0-3]\", to: "));
	assert_non_null(strstr(text, "to: \"sp[0-1]\", n: 2, rate: 400 Gbps"));
	weft_fabric_free(f);
	weft_inventory_free(&s);
	free(text);
}

/* Leafs are attached to the pod, and the level between has a domain without
 * hosts. */
static void an_empty_level(struct weft_hierarchy *hierarchy)
{
	two_leafs(hierarchy);
	hierarchy->n_levels = 3;
	snprintf(hierarchy->levels[2].name, WEFT_NAME_SIZE, "pod");
	hierarchy->levels[1].shape = WEFT_HIERARCHY_RING;
	hierarchy->domains[2].level = 2;
	weft_hierarchy_add_domain(hierarchy, "nobody", 1, NULL);
}

static void a_level_that_nobody_hangs_on_is_left_out(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	f = fabric_of(&s, an_empty_level, &text);
	assert_non_null(f);
	assert_int_equal(f->n_levels, 3);
	weft_fabric_free(f);
	weft_inventory_free(&s);
	free(text);
}

/* The spine domain is one switch, of which no more is known. */
static void one_spine(struct weft_hierarchy *hierarchy)
{
	two_leafs(hierarchy);
	hierarchy->switch_domain[0] = 2;
	hierarchy->switch_domain[1] = 1;
}

static void a_spine_of_one_switch_is_a_switch(void **state)
{
	struct weft_inventory_cable cable = {
		.a = {WEFT_END_SWITCH, 1, WEFT_NONE, 1},
		.b = {WEFT_END_SWITCH, 0, WEFT_NONE, 1},
		.n = 1,
	};
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	weft_inventory_switch(&s, "spine", here, NULL);
	weft_inventory_switch(&s, "leaf 1", here, NULL);
	weft_inventory_add_cable(&s, &cable, NULL);
	f = fabric_of(&s, one_spine, &text);
	assert_non_null(f);
	weft_fabric_free(f);
	weft_inventory_free(&s);
	free(text);
}

/* Four rails, of which the second bundle lacks one leaf. */
static void two_bundles(struct weft_hierarchy *hierarchy)
{
	static const uint32_t leafs[] = {0, 1, 2, 3, 4, 5, WEFT_NONE, 6};

	two_leafs(hierarchy);
	hierarchy->n_rails = 4;
	hierarchy->rail_switch = calloc(12, sizeof(uint32_t));
	memset(hierarchy->rail_switch, 0xff, 12 * sizeof(uint32_t));
	memcpy(hierarchy->rail_switch, leafs, sizeof(leafs));
}

static void a_bundle_without_a_leaf_is_written_whole(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	for (uint32_t i = 0; i < 7; i++) {
		char name[16];

		snprintf(name, sizeof(name), "l%u", i);
		weft_inventory_switch(&s, name, here, NULL);
	}
	f = fabric_of(&s, two_bundles, &text);
	assert_non_null(f);
	assert_int_equal(f->n_rails, 4);
	assert_int_equal(f->levels[1].n_domains, 2);
	weft_fabric_free(f);
	weft_inventory_free(&s);
	free(text);
}

static void an_nvlink_domain_over_two_leafs_is_left_out(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	weft_inventory_set_text(&s, 0, WEFT_HOST_NVLINK, "a.1", here, NULL);
	weft_inventory_set_text(&s, 1, WEFT_HOST_NVLINK, "a.1", here, NULL);
	weft_inventory_set_text(&s, 2, WEFT_HOST_NVLINK, "b.1", here, NULL);
	f = fabric_of(&s, two_leafs, &text);
	assert_non_null(f);
	assert_non_null(strstr(text, "a.1: n[0-1]"));
	assert_null(strstr(text, "b.1"));
	weft_fabric_free(f);
	free(text);
	weft_inventory_free(&s);

	inventory_start(&s, 4);
	weft_inventory_set_text(&s, 1, WEFT_HOST_NVLINK, "a.1", here, NULL);
	weft_inventory_set_text(&s, 2, WEFT_HOST_NVLINK, "a.1", here, NULL);
	f = fabric_of(&s, two_leafs, &text);
	assert_non_null(f);
	assert_int_equal(count_of(&s, WEFT_FINDING_NVLINK_SPLIT), 1);
	weft_fabric_free(f);
	free(text);
	weft_inventory_free(&s);
}

/* A rack on each leaf; the domain is one, as its source says. */
static void an_nvlink_domain_over_two_racks_is_kept(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 4);
	for (uint32_t h = 0; h < 4; h++)
		weft_inventory_set_text(&s, h, WEFT_HOST_NVLINK, "a.1", here,
					NULL);
	f = fabric_of(&s, two_leafs, &text);
	assert_non_null(f);
	assert_int_equal(count_of(&s, WEFT_FINDING_NVLINK_SPLIT), 0);
	assert_int_equal(count_of(&s, WEFT_FINDING_INPUT_PARTIAL), 1);
	assert_non_null(strstr(text, "a.1: n[0-1]"));
	assert_non_null(strstr(text, "a.1.part2: n[2-3]"));
	weft_fabric_free(f);
	free(text);
	weft_inventory_free(&s);
}

static void gpus_bridged_in_pairs_are_pairs(void **state)
{
	struct weft_inventory_inside inside = {.n_gpus = 8, .hosts = "n[0-1]"};
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 0);
	for (uint32_t g = 0; g < 8; g++)
		inside.gpus[g].nvlink_group = g / 2;
	weft_inventory_add_inside(&s, &inside, NULL);
	f = fabric_of(&s, NULL, &text);
	assert_non_null(f);
	assert_int_equal(f->n_gpus, 16);
	assert_int_equal(f->levels[0].n_domains, 8);
	weft_fabric_free(f);
	free(text);
	weft_inventory_free(&s);
}

static void names_that_do_not_fold_fill_several_lines(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 0);
	for (uint32_t i = 0; i < 500; i++) {
		char name[120];

		snprintf(name, sizeof(name), "%c%u_a long: name of some %080u",
			 'a' + (int)(i * 7 % 26), i * 7919 % 4093, i % 3);
		weft_inventory_host(&s, name, here, NULL);
	}
	f = fabric_of(&s, NULL, &text);
	assert_non_null(f);
	assert_int_equal(f->n_nodes, 500);
	weft_fabric_free(f);
	free(text);
	weft_inventory_free(&s);
}

static void hosts_without_gpus_are_left_out(void **state)
{
	struct weft_inventory s;
	struct weft_fabric *f;
	char *text;

	(void)state;
	inventory_start(&s, 3);
	weft_inventory_set_gpus(&s, 0, 4, here, NULL);
	weft_inventory_set_gpus(&s, 1, 0, here, NULL);
	weft_inventory_set_text(&s, 0, WEFT_HOST_RACK, "r 1", here, NULL);
	f = fabric_of(&s, NULL, &text);
	assert_non_null(f);
	assert_int_equal(f->n_nodes, 2);
	assert_int_equal(f->n_racks, 1);
	weft_fabric_free(f);
	free(text);
	weft_inventory_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_one_host),
		cmocka_unit_test(adapters_are_chained_in_order),
		cmocka_unit_test(sources_that_differ_make_a_conflict),
		cmocka_unit_test(a_cable_of_two_sources_is_one),
		cmocka_unit_test(findings_come_gravest_first_and_once),
		cmocka_unit_test(findings_of_a_kind_are_bounded),
		cmocka_unit_test(hosts_keep_their_names_before_switches),
		cmocka_unit_test(switches_and_cables_are_folded),
		cmocka_unit_test(a_level_that_nobody_hangs_on_is_left_out),
		cmocka_unit_test(a_spine_of_one_switch_is_a_switch),
		cmocka_unit_test(a_bundle_without_a_leaf_is_written_whole),
		cmocka_unit_test(an_nvlink_domain_over_two_leafs_is_left_out),
		cmocka_unit_test(an_nvlink_domain_over_two_racks_is_kept),
		cmocka_unit_test(gpus_bridged_in_pairs_are_pairs),
		cmocka_unit_test(names_that_do_not_fold_fill_several_lines),
		cmocka_unit_test(hosts_without_gpus_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
