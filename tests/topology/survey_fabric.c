/* SPDX-License-Identifier: GPL-3.0-or-later */
/* survey_fabric.c - a survey made back from a fabric says all that it knows */
#include "tests/lib/check.h"
#include "topology/survey/survey.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scene {
	struct weft_fabric *f;
	struct weft_survey *s;
};

static struct scene survey_of(const char *text)
{
	struct weft_error err = {0};
	struct scene x = {0};

	x.f = weft_fabric_parse(text, strlen(text), "test", &err);
	assert_no_error(&err);
	x.s = weft_survey_from_fabric(x.f, "f.yaml", &err);
	assert_no_error(&err);
	assert_int_equal(weft_survey_finish(x.s, &err), 0);
	assert_int_equal(x.s->findings.n, 0);
	return x;
}

static void scene_free(struct scene *x)
{
	weft_fabric_free(x->f);
	weft_survey_free(x->s);
	free(x->s);
}

static bool has_edge(const struct weft_survey *s, const char *parent,
		     const char *child)
{
	uint32_t p = weft_survey_find_switch(s, parent);
	uint32_t host = weft_survey_find_host(s, child);
	uint32_t below = weft_survey_find_switch(s, child);

	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct weft_survey_edge *e = &s->edges[i];

		if (e->parent == p &&
		    e->child == (e->child_kind == WEFT_END_HOST ? host : below))
			return true;
	}
	return false;
}

static void hosts_keep_what_the_fabric_says_of_them(void **state)
{
	struct scene x = survey_of("weft: fabric/1\nname: test\n"
				   "nodes:\n"
				   "  b[0-1]: {gpus: 4, kind: gb200}\n"
				   "  a[0-1]: {gpus: 8, kind: h100}\n"
				   "nvlink: {nvl0: \"b[0-1]\"}\n"
				   "rack: {r7: \"a0,b0\"}\n");
	const struct weft_survey_host *host = x.s->hosts;

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
	struct scene x = survey_of("weft: fabric/1\n"
				   "nodes: {n0: 4, n1: 8, n2: 4}\n"
				   "nvlink: 2\n");
	const struct weft_survey_inside *in;

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
	struct scene x = survey_of("weft: fabric/1\nrails: 2\n"
				   "nodes: {\"n[0-4]\": 4}\n"
				   "levels:\n"
				   "  leaf: {\"a[0-1]-r[0-1]\": \"n[0-3]\"}\n"
				   "  pod: {p0: \"a0-r[0-1]\"}\n"
				   "  top: {t0: \"p0,a1-r[0-1],n4\"}\n");
	const struct weft_survey *s = x.s;

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
	assert_int_equal(s->switches[weft_survey_find_switch(s, "a1-r1")].tier,
			 1);
	assert_int_equal(s->switches[weft_survey_find_switch(s, "t0")].tier, 3);
	scene_free(&x);
}

static void cables_come_back_with_their_facts(void **state)
{
	struct scene x = survey_of(
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
	const struct weft_survey *s = x.s;
	uint32_t n_down = 0, n_rail = 0;

	(void)state;
	assert_int_equal(s->n_switches, 4);
	assert_int_equal(s->n_cables, 7);
	assert_int_equal(s->n_edges, 0);
	assert_int_equal(s->n_hcas, 5);
	assert_int_equal(s->switches[0].n_ports, 64);
	assert_null(s->switches[0].network);
	assert_string_equal(
		s->switches[weft_survey_find_switch(s, "st")].network,
		"storage");
	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_survey_cable *c = &s->cables[i];

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
	struct scene x = survey_of("weft: fabric/1\n"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_keep_what_the_fabric_says_of_them),
		cmocka_unit_test(
			nodes_of_several_nvlink_domains_have_an_inside),
		cmocka_unit_test(domains_without_cables_become_a_tree),
		cmocka_unit_test(cables_come_back_with_their_facts),
		cmocka_unit_test(what_cables_leave_open_the_tree_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
