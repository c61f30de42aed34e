/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cabling.c - switches and cables of a fabric: neighbours, rails, uplinks */
#include "topology/cabling.h"
#include "tests/lib/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char two_leafs[] =
	"weft: fabric/1\n"
	"nodes: {\"n[0-3]\": 8}\n"
	"levels:\n"
	"  leaf: {\"leaf[0-1]\": \"n[0-3]\"}\n"
	"  pod: {pod0: \"leaf[0-1]\"}\n"
	"switches:\n"
	"  spine[0-1]: {domain: pod0, ports: 40}\n"
	"  store: {network: storage}\n"
	"cables:\n"
	"  - {from: \"n[0-1]\", to: leaf0, n: 8, rate: 50 GB/s}\n"
	"  - {from: \"leaf[0-1]\", to: \"spine[0-1]\", n: 2, rate: 50 GB/s}\n"
	"  - {from: \"n[0-3]\", to: store, port: eth0, rate: 10 GB/s}\n"
	"  - {from: leaf1, to: spine1, rate: 25 GB/s}\n"
	"  - {from: leaf1, to: spine1, rate: 25 GB/s, state: down}\n";

static uint32_t domain_named(const struct weft_fabric *f, const char *name)
{
	uint32_t d = 0;

	while (strcmp(f->domains[d].name, name) != 0)
		d++;
	return d;
}

static void a_fabric_without_cables_has_no_cabling(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\nnodes: {n0: 8}\n");

	(void)state;
	assert_null(f->cabling);
	assert_null(f->uplink_rate_bytes_per_s);
	weft_fabric_free(f);
}

static void switches_are_found_by_name_and_domain(void **state)
{
	struct weft_fabric *f = test_fabric(two_leafs);
	const struct weft_cabling *c = f->cabling;
	uint32_t spine = weft_cabling_find(c, "spine1"), n;
	const uint32_t *of;

	(void)state;
	assert_int_equal(c->n_switches, 5);
	assert_int_equal(weft_cabling_find(c, "n0"), WEFT_NONE);
	assert_int_equal(weft_cabling_find(c, "leaf1"), 1);
	assert_string_equal(c->switches[spine].name, "spine1");
	assert_int_equal(c->switches[spine].n_ports, 40);
	assert_int_equal(c->switches[spine].tier, 2);
	of = weft_cabling_of_domain(c, domain_named(f, "pod0"), &n);
	assert_int_equal(n, 2);
	assert_int_equal(of[1], spine);
	of = weft_cabling_of_domain(c, domain_named(f, "leaf0"), &n);
	assert_int_equal(n, 1);
	assert_int_equal(of[0], 0);
	weft_cabling_of_domain(c, domain_named(f, "n0"), &n);
	assert_int_equal(n, 0);
	weft_fabric_free(f);
}

static void cables_are_found_at_both_ends(void **state)
{
	struct weft_fabric *f = test_fabric(two_leafs);
	const struct weft_cabling *c = f->cabling;
	const struct weft_cable *cable;
	const uint32_t *of;
	uint32_t n;

	(void)state;
	of = weft_cabling_of_node(c, 1, &n);
	assert_int_equal(n, 2);
	cable = &c->cables[of[1]];
	assert_string_equal(weft_cabling_end_name(f, cable->a), "n1");
	assert_string_equal(weft_cabling_end_name(f, cable->b), "store");
	assert_string_equal(weft_cabling_port(c, cable), "eth0");
	assert_false(weft_cabling_is_compute(c, cable));
	assert_true(weft_cabling_is_compute(c, &c->cables[of[0]]));
	assert_null(weft_cabling_port(c, &c->cables[of[0]]));
	weft_cabling_of_switch(c, weft_cabling_find(c, "leaf1"), &n);
	assert_int_equal(n, 4);
	weft_cabling_of_switch(c, weft_cabling_find(c, "store"), &n);
	assert_int_equal(n, 4);
	weft_fabric_free(f);
}

static void uplinks_count_what_leaves_a_domain(void **state)
{
	struct weft_fabric *f = test_fabric(two_leafs);
	struct weft_uplinks *u = calloc(f->n_domains, sizeof(*u));
	uint32_t leaf0 = domain_named(f, "leaf0");
	uint32_t leaf1 = domain_named(f, "leaf1");
	uint32_t pod = domain_named(f, "pod0");

	(void)state;
	assert_non_null(u);
	weft_cabling_uplinks(f, u);
	assert_close(u[leaf0].line_rate_bytes_per_s, 200e9, 1e-12);
	assert_int_equal(u[leaf0].n_up, 4);
	assert_close(u[leaf1].line_rate_bytes_per_s, 225e9, 1e-12);
	assert_int_equal(u[leaf1].n_up, 5);
	assert_int_equal(u[leaf1].n_down, 1);
	assert_int_equal(u[pod].n_up + u[pod].n_down, 0);
	assert_int_equal(u[0].n_up, 8);
	free(u);
	weft_fabric_free(f);
}

/* 46.5 GB/s arrive of a line of 50 GB/s. */
static void uplink_rates_are_what_arrives(void **state)
{
	struct weft_fabric *f = test_fabric(two_leafs);
	const double *rate = f->uplink_rate_bytes_per_s;

	(void)state;
	assert_non_null(rate);
	assert_close(rate[domain_named(f, "n0")], 8 * 46.5e9, 1e-12);
	assert_close(rate[domain_named(f, "leaf0")], 4 * 46.5e9, 1e-12);
	assert_close(rate[domain_named(f, "leaf1")], 4.5 * 46.5e9, 1e-12);
	/* no cable of the compute network, and no link above at all */
	assert_true(rate[domain_named(f, "n2")] == 0);
	assert_true(rate[domain_named(f, "pod0")] == 0);
	weft_fabric_free(f);
}

/* The rail of each node's port, "0123" for a node with ports on all rails. */
static void check_rails(const char *cables, const char *const want[4])
{
	char text[1024];
	struct weft_fabric *f;

	snprintf(text, sizeof(text),
		 "weft: fabric/1\nrails: 4\nnodes: {\"n[0-3]\": 4}\n"
		 "levels: {leaf: {\"L[0-3]\": \"n[0-3]\"}}\ncables:\n%s",
		 cables);
	f = test_fabric(text);
	for (uint32_t node = 0; node < 4; node++) {
		char got[16] = "";
		uint32_t n;
		const uint32_t *of = weft_cabling_of_node(f->cabling, node, &n);

		for (uint32_t i = 0; i < n; i++) {
			uint8_t rail = f->cabling->cables[of[i]].rail;

			got[i] =
				rail == WEFT_NO_RAIL ? '-' : (char)('0' + rail);
		}
		assert_string_equal(got, want[node]);
	}
	weft_fabric_free(f);
}

static void rails_follow_the_order_of_ports(void **state)
{
	const char *const all[] = {"0123", "0123", "0123", "0123"};
	const char *const lacking[] = {"013", "0123", "0123", "0-12"};
	const char *const said[] = {"3", "2", "", ""};

	(void)state;
	check_rails("  - {from: \"n[0-3]\", port: m2, to: L0}\n"
		    "  - {from: \"n[0-3]\", port: m3, to: L1}\n"
		    "  - {from: \"n[0-3]\", port: m10, to: L2}\n"
		    "  - {from: \"n[0-3]\", port: m11, to: L3}\n",
		    all);
	check_rails("  - {from: \"n[0-3]\", port: m2, to: L0}\n"
		    "  - {from: n3, port: x, to: L0}\n"
		    "  - {from: \"n[0-3]\", port: m3, to: L1}\n"
		    "  - {from: \"n[1-3]\", port: m10, to: L2}\n"
		    "  - {from: \"n[0-2]\", port: m11, to: L3}\n",
		    lacking);
	check_rails("  - {from: n0, port: m2, to: L0, rail: 3}\n"
		    "  - {from: n1, to: L0, rail: 2}\n",
		    said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_without_cables_has_no_cabling),
		cmocka_unit_test(switches_are_found_by_name_and_domain),
		cmocka_unit_test(cables_are_found_at_both_ends),
		cmocka_unit_test(uplinks_count_what_leaves_a_domain),
		cmocka_unit_test(uplink_rates_are_what_arrives),
		cmocka_unit_test(rails_follow_the_order_of_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
