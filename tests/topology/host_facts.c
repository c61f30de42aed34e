/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host_facts.c - the odd ones out of an host facts */
#include "topology/audit/host_facts.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Audits text; the caller frees. */
static void audit_text(const char *text, const struct weft_fabric *f,
		       struct weft_findings *findings)
{
	struct weft_host_facts host_facts = {0};
	struct weft_error err = {0};

	*findings = (struct weft_findings){0};
	weft_host_facts_parse(&host_facts, text, strlen(text), "in.csv",
			      findings, &err);
	assert_no_error(&err);
	assert_int_equal(weft_host_facts_audit(&host_facts, f, findings, &err),
			 0);
	weft_findings_sort(findings);
	weft_host_facts_free(&host_facts);
}

static void assert_finding(const struct weft_findings *findings, uint32_t i,
			   enum weft_finding_id id, const char *place, int line,
			   const char *says)
{
	assert_true(i < findings->n);
	assert_string_equal(weft_finding_kinds[findings->item[i].id].code,
			    weft_finding_kinds[id].code);
	assert_string_equal(findings->item[i].place, place);
	assert_int_equal(findings->item[i].line, line);
	if (!strstr(findings->item[i].text, says))
		fail_msg("\"%s\" does not say \"%s\"", findings->item[i].text,
			 says);
}

static void settings_are_held_against_those_of_most(void **state)
{
	struct weft_findings findings;

	(void)state;
	audit_text("place,key,value\n"
		   "n1,mtu,9000\nn2,mtu,9000\nn3,mtu,1500\n"
		   "n1, driver ,\"550.54\"\nn2,driver,550.54\n"
		   "n3,driver,535.1\n"
		   "n1,nic_firmware,28.39\nn2,nic_firmware,28.40\n"
		   "n3,nic_firmware,28.40\n"
		   "n1,shoe_size,42\nn2,shoe_size,43\nn3,shoe_size,42\n",
		   NULL, &findings);
	assert_int_equal(findings.n, 4);
	assert_finding(&findings, 0, WEFT_FINDING_MTU_ODD, "n3", 4,
		       "\"1500\", but \"9000\" on 2 of 3");
	assert_finding(&findings, 1, WEFT_FINDING_FIRMWARE_ODD, "n1", 8,
		       "NIC firmware");
	assert_finding(&findings, 2, WEFT_FINDING_DRIVER_ODD, "n3", 7,
		       "\"535.1\"");
	assert_finding(&findings, 3, WEFT_FINDING_INVENTORY_ODD, "n2", 12,
		       "shoe_size");
	weft_findings_free(&findings);
}

static void kinds_of_hosts_are_held_apart(void **state)
{
	struct weft_findings findings;

	(void)state;
	audit_text("n1,kind,h100\nn2,kind,h100\nn3,kind,h100\n"
		   "s1,kind,storage\n"
		   "n1,driver,1\nn2,driver,1\nn3,driver,1\ns1,driver,2\n",
		   NULL, &findings);
	assert_int_equal(findings.n, 0);
	weft_findings_free(&findings);
}

static void parts_are_held_against_their_like(void **state)
{
	struct weft_findings findings;

	(void)state;
	audit_text("n1:lo,mtu,65536\nn1:mlx5_0,mtu,4096\nn1:mlx5_1,mtu,4096\n"
		   "n2:lo,mtu,65536\nn2:mlx5_0,mtu,2048\nn2:mlx5_1,mtu,4096\n",
		   NULL, &findings);
	assert_int_equal(findings.n, 1);
	assert_finding(&findings, 0, WEFT_FINDING_MTU_ODD, "n2:mlx5_0", 5,
		       "3 of 4");
	weft_findings_free(&findings);
}

static void the_fabric_tells_kinds_and_missing_hosts(void **state)
{
	static const char text[] = "weft: fabric/1\nnodes:\n  n[1-4]: 8\n"
				   "  g[1-3]: 4\n";
	struct weft_fabric *f =
		weft_fabric_parse(text, strlen(text), "f", NULL);
	struct weft_findings findings;

	(void)state;
	assert_non_null(f);
	audit_text("n1,cuda,12\nn2,cuda,12\nn3,cuda,12\nn10,cuda,1\n"
		   "g1,cuda,13\ng2,cuda,13\ng3:gpu0,xid,0\n",
		   f, &findings);
	assert_int_equal(findings.n, 1);
	assert_finding(&findings, 0, WEFT_FINDING_INVENTORY_PARTIAL, "", 0,
		       "1 of the fabric's 7 nodes, the first being n4");
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

static void the_last_line_of_a_key_counts(void **state)
{
	struct weft_findings findings;

	(void)state;
	audit_text("n1,mtu,1500\nn1,mtu,9000\nn2,mtu,9000\nn3,mtu,9000\n", NULL,
		   &findings);
	assert_int_equal(findings.n, 0);
	weft_findings_free(&findings);
}

static void counts_over_their_limit_are_found(void **state)
{
	struct weft_findings findings;

	(void)state;
	audit_text("n1:gpu0,xid,0\nn1:gpu1,xid,2\n"
		   "n1:gpu1,hbm_remap_pending,Yes\n"
		   "n1:gpu0,hbm_remap_pending,No\n"
		   "n1:gpu0,throttle,0x0000000000000004\n"
		   "n1:gpu1,throttle,0x0000000000000040\n"
		   "n2,throttle,Not Active\n"
		   "n1:mlx5_0,symbol_errors,7\nn1:mlx5_1,symbol_errors,5000\n"
		   "n2:mlx5_0,symbol_errors,many\n",
		   NULL, &findings);
	assert_int_equal(findings.n, 5);
	assert_finding(&findings, 0, WEFT_FINDING_THROTTLED, "n1:gpu1", 6,
		       "0x0000000000000040");
	assert_finding(&findings, 1, WEFT_FINDING_GPU_ERRORS, "n1:gpu1", 2,
		       "2 Xid messages");
	assert_finding(&findings, 2, WEFT_FINDING_LINE_IGNORED, "n2:mlx5_0", 10,
		       "expected a number");
	assert_finding(&findings, 3, WEFT_FINDING_HBM_ERRORS, "n1:gpu1", 3,
		       "pending");
	assert_finding(&findings, 4, WEFT_FINDING_PORT_ERRORS, "n1:mlx5_1", 9,
		       "5000 symbol errors");
	weft_findings_free(&findings);
}

static void a_port_that_stalls_stands_out_of_its_siblings(void **state)
{
	struct weft_findings findings;
	char text[4096] = "place,key,value\n";

	(void)state;
	for (int i = 0; i < 32; i++)
		sprintf(text + strlen(text), "n%d:mlx5_%d,xmit_wait,%d\n",
			i / 8, i % 8, i == 19 ? 90000000 : 3000000 + i);
	audit_text(text, NULL, &findings);
	assert_int_equal(findings.n, 1);
	assert_finding(&findings, 0, WEFT_FINDING_PORT_STALLS, "n2:mlx5_3", 21,
		       "median of its siblings is 3000016");
	weft_findings_free(&findings);
}

static void lines_that_are_none_are_told(void **state)
{
	struct weft_host_facts host_facts = {0};
	struct weft_findings findings;
	struct weft_error err = {0};

	(void)state;
	audit_text(
		"# comment\n\nn1\nn1,\n,mtu,1\nn1,mtu,9,000\nplace,key,value\n",
		NULL, &findings);
	assert_int_equal(findings.n, 3);
	assert_finding(&findings, 0, WEFT_FINDING_LINE_IGNORED, "", 3,
		       "not three fields");
	assert_finding(&findings, 2, WEFT_FINDING_LINE_IGNORED, "", 5,
		       "place or key is empty");
	weft_findings_free(&findings);
	assert_int_equal(weft_host_facts_parse(&host_facts, "a b\n", 4, "x",
					       &findings, &err),
			 -1);
	assert_error_says(&err, "weft-inventory(5)");
	weft_host_facts_free(&host_facts);
	weft_findings_free(&findings);
}

/* 200 clusters of 64 hosts, each with one fault of a random sort. */
static void one_fault_is_named_first(void **state)
{
	static const struct {
		const char *key, *usual, *fault;
	} sorts[] = {
		{"mtu", "9000", "1500"},
		{"nic_firmware", "28.39.1002", "28.35.2000"},
		{"driver", "550.90.07", "535.161"},
		{"nccl", "2.21.5", "2.19.3"},
		{"throttle", "0x0000000000000004", "0x0000000000000020"},
		{"xid", "0", "1"},
		{"symbol_errors", "3", "4000"},
		{"xmit_wait", "120000", "80000000"},
	};
	uint64_t seed = test_seed();
	uint32_t n_sorts = sizeof(sorts) / sizeof(sorts[0]), right = 0;
	char *text = malloc(1 << 16);

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct weft_findings findings;
		uint32_t host = test_random_below(&seed, 64);
		uint32_t sort = test_random_below(&seed, n_sorts);
		char place[32];
		size_t at = 0;

		for (uint32_t h = 0; h < 64; h++)
			for (uint32_t k = 0; k < n_sorts; k++)
				at += (size_t)sprintf(text + at,
						      "n%02u,%s,%s\n", h,
						      sorts[k].key,
						      h == host && k == sort
							      ? sorts[k].fault
							      : sorts[k].usual);
		audit_text(text, NULL, &findings);
		snprintf(place, sizeof(place), "n%02u", host);
		right += findings.n == 1 &&
			 strcmp(findings.item[0].place, place) == 0;
		weft_findings_free(&findings);
	}
	free(text);
	assert_int_equal(right, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_held_against_those_of_most),
		cmocka_unit_test(kinds_of_hosts_are_held_apart),
		cmocka_unit_test(parts_are_held_against_their_like),
		cmocka_unit_test(the_fabric_tells_kinds_and_missing_hosts),
		cmocka_unit_test(the_last_line_of_a_key_counts),
		cmocka_unit_test(counts_over_their_limit_are_found),
		cmocka_unit_test(a_port_that_stalls_stands_out_of_its_siblings),
		cmocka_unit_test(lines_that_are_none_are_told),
		cmocka_unit_test(one_fault_is_named_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
