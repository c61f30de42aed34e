/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise.c - measured pairs: reading them, and what is found to be slow */
#include "costmodel/measured/pairwise.h"
#include "tests/lib/fabric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_LEAFS 4
#define N_NODES 32

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[00-31]: 8\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    leaf[0-3]: n[00-31]\n"
				  "  spine:\n"
				  "    spine0: leaf[0-3]\n";

/* Parses and audits; the caller frees. */
static void audit_text(const struct weft_fabric *f, const char *text,
		       struct weft_findings *findings)
{
	struct weft_pairwise p = {0};
	struct weft_error err = {0};

	weft_pairwise_parse(&p, text, strlen(text), "in", f, findings, &err);
	assert_no_error(&err);
	assert_int_equal(weft_pairwise_audit(&p, f, findings, &err), 0);
	assert_no_error(&err);
	weft_findings_sort(findings);
	weft_pairwise_free(&p);
}

static const struct weft_finding *finding_of(const struct weft_findings *list,
					     enum weft_finding_id id)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (list->item[i].id == id)
			return &list->item[i];
	return NULL;
}

/* ---- reading ---- */

#define RANKS(a, b)                                                            \
	"#  Rank  0 Group  0 Pid 11 on " a " device  0 [0000:1b:00] H100\n"    \
	"#  Rank  1 Group  0 Pid 12 on " b " device  0 [0000:1b:00] H100\n"
#define START(name, a, b)                                                      \
	"# Collective test starting: " name "\n"                               \
	"# nThread 1 nGpus 1 minBytes 1 maxBytes 2 step: 2(factor)\n"          \
	"#\n# Using devices\n" RANKS(a, b) "#\n"
#define TABLE                                                                  \
	"#       size         count      type   redop    root     time   "     \
	"algbw   busbw  #wrong     time   algbw   busbw  #wrong\n"             \
	"#        (B)    (elements)                               (us)  "      \
	"(GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n"

static const char log_text[] =
	START("alltoall_perf", "n00", "n01.site.example") TABLE
	"      1024  128 double none -1   10.0   0.10   0.05  0   10.0 0.10 "
	"0.05 N/A\n"
	"  33554432  4194304 double none -1  1000.0  33.55  16.78  0  1000.0 "
	"33.55 16.78 N/A\n"
	"  67108864  8388608 double none -1  2000.0  33.55  16.80  0  2000.0 "
	"33.55 16.80 N/A\n"
	"# Out of bounds values : 0 OK\n"
	"# Avg bus bandwidth    : 11.2\n" START("sendrecv_perf", "n00", "n01")
		TABLE "n01: Test NCCL failure common.cu:1 'network error'\n";

static void logs_give_pairs_with_their_failures(void **state)
{
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_findings findings = {0};
	struct weft_pairwise p = {0};
	struct weft_error err = {0};

	(void)state;
	weft_pairwise_parse(&p, log_text, strlen(log_text), "log", f, &findings,
			    &err);
	assert_no_error(&err);
	assert_int_equal(p.n_pairs, 2);
	assert_int_equal(p.n_tests, 2);
	assert_string_equal(p.tests[0].name, "all_to_all");
	assert_int_equal(p.tests[0].gpus, 1);
	assert_close(p.pairs[0].rate_bytes_per_s, 16.79e9, 1e-9);
	assert_close(p.pairs[1].rate_bytes_per_s, 0, 0);
	assert_int_equal(weft_pairwise_audit(&p, f, &findings, &err), 0);
	assert_non_null(finding_of(&findings, WEFT_FINDING_PAIR_FAILED));
	assert_string_equal(
		finding_of(&findings, WEFT_FINDING_PAIR_FAILED)->place,
		"n00-n01");
	weft_pairwise_free(&p);
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

static void tables_give_pairs_in_their_units(void **state)
{
	static const char text[] = "# made by hand\n"
				   "a,b,bandwidth_Gbps\n"
				   "n00,n01,400\r\n"
				   "n00, n02 ,\n"
				   "n00,n99,400\n"
				   "n00,n03,fast\n"
				   "n00,,3\n"
				   "n00,n00,3\n"
				   "test,G,nodes,avg_bus_bw_GBs\n"
				   "alltoall_perf,4,\"n[04,07]\",12.5\n"
				   "alltoall_perf,4,n[04-07],12.5\n";
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_findings findings = {0};
	struct weft_pairwise p = {0};
	struct weft_error err = {0};

	(void)state;
	weft_pairwise_parse(&p, text, strlen(text), "t.csv", f, &findings,
			    &err);
	assert_no_error(&err);
	assert_int_equal(p.n_pairs, 3);
	assert_close(p.pairs[0].rate_bytes_per_s, 50e9, 1e-9);
	assert_close(p.pairs[1].rate_bytes_per_s, 0, 0);
	assert_int_equal(p.pairs[2].b, weft_fabric_node(f, "n07"));
	assert_int_equal(p.tests[p.pairs[2].test].gpus, 4);
	assert_int_equal(findings.n, 5);
	assert_int_equal(findings.item[0].line, 5);
	assert_int_equal(findings.item[4].line, 11);
	weft_pairwise_free(&p);
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

static void what_is_neither_is_refused(void **state)
{
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_findings findings = {0};
	struct weft_pairwise p = {0};
	struct weft_error err = {0};

	(void)state;
	assert_int_equal(
		weft_pairwise_parse(&p, "hello\n", 6, "x", f, &findings, &err),
		-1);
	assert_error_says(&err, "neither a log of nccl-tests");
	err = (struct weft_error){0};
	assert_int_equal(
		weft_pairwise_load(&p, "/nonexistent", f, &findings, &err), -1);
	assert_error_says(&err, "No such file");
	weft_pairwise_free(&p);
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

/* ---- finding ---- */

enum fault { SLOW_NODE, SLOW_UPLINK, SLOW_INSIDE, NO_FAULT, N_FAULTS };

static double random_unit(uint64_t *state)
{
	return ((double)(test_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(uint64_t *state)
{
	return sqrt(-2 * log(random_unit(state))) *
	       cos(6.283185307179586 * random_unit(state));
}

/* Every pair of 32 nodes on four leafs, 45 GB/s on a leaf and 40 across, with
 * noise of 5 to 20 per cent, and one part 0.4 to 0.75 as fast. */
static char *matrix_make(uint64_t *state, enum fault fault, uint32_t part)
{
	double noise = 0.05 + 0.15 * random_unit(state);
	double factor = 0.4 + 0.35 * random_unit(state);
	char *text = malloc(1 << 16);
	size_t at = (size_t)sprintf(text, "a,b,bandwidth\n");

	for (uint32_t a = 0; a < N_NODES; a++)
		for (uint32_t b = a + 1; b < N_NODES; b++) {
			uint32_t la = a / 8, lb = b / 8;
			double rate = la == lb ? 45 : 40;
			bool slow =
				fault == SLOW_NODE ? a == part || b == part
				: fault == SLOW_UPLINK
					? la != lb && (la == part || lb == part)
				: fault == SLOW_INSIDE ? la == lb && la == part
						       : false;

			rate *= slow ? factor : 1;
			rate *= exp(noise * random_normal(state));
			at += (size_t)sprintf(text + at, "n%02u,n%02u,%.3f\n",
					      a, b, rate);
		}
	return text;
}

static void one_fault_is_named_first(enum fault fault, int rounds, int least)
{
	struct weft_fabric *f = test_fabric(fabric_text);
	uint64_t state = test_seed();
	int right = 0;

	for (int round = 0; round < rounds; round++) {
		struct weft_findings findings = {0};
		uint32_t part = test_random_below(
			&state, fault == SLOW_NODE ? N_NODES : N_LEAFS);
		char *text = matrix_make(&state, fault, part), place[32];

		snprintf(place, sizeof(place),
			 fault == SLOW_NODE ? "n%02u" : "leaf%u", part);
		audit_text(f, text, &findings);
		if (fault == NO_FAULT)
			right +=
				weft_findings_count(&findings, WEFT_ERROR) == 0;
		else
			right += findings.n &&
				 findings.item[0].id ==
					 (fault == SLOW_NODE
						  ? WEFT_FINDING_NODE_SLOW
						  : WEFT_FINDING_PATH_SLOW) &&
				 strcmp(findings.item[0].place, place) == 0;
		weft_findings_free(&findings);
		free(text);
	}
	print_message("%d of %d\n", right, rounds);
	assert_true(right >= least);
	weft_fabric_free(f);
}

static void a_slow_node_is_named_first(void **state)
{
	(void)state;
	one_fault_is_named_first(SLOW_NODE, 200, 190);
}

static void slow_uplinks_are_named_first(void **state)
{
	(void)state;
	one_fault_is_named_first(SLOW_UPLINK, 200, 190);
}

static void a_slow_leaf_is_named_first(void **state)
{
	(void)state;
	one_fault_is_named_first(SLOW_INSIDE, 200, 190);
}

static void noise_alone_names_nobody(void **state)
{
	(void)state;
	one_fault_is_named_first(NO_FAULT, 200, 196);
}

static void one_slow_pair_blames_no_node(void **state)
{
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_findings findings = {0};
	uint64_t seed = 7;
	char *text = matrix_make(&seed, NO_FAULT, 0), *at;

	(void)state;
	/* matrix_make has drawn at most 20 % of noise. */
	at = strstr(text, "n03,n20,");
	assert_non_null(at);
	memcpy(at + 8, "5.0000", 6);
	audit_text(f, text, &findings);
	assert_null(finding_of(&findings, WEFT_FINDING_NODE_SLOW));
	assert_non_null(finding_of(&findings, WEFT_FINDING_PAIR_SLOW));
	assert_string_equal(
		finding_of(&findings, WEFT_FINDING_PAIR_SLOW)->place,
		"n03-n20");
	free(text);
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

static void all_far_below_the_model_is_told(void **state)
{
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_findings findings = {0};

	(void)state;
	audit_text(f,
		   "a,b,bandwidth\nn00,n01,12\nn00,n02,12.1\nn01,n02,11.9\n"
		   "n00,n08,45\n",
		   &findings);
	/* Two pairs of the four nodes were not measured. */
	assert_int_equal(findings.n, 2);
	assert_int_equal(findings.item[0].id,
			 WEFT_FINDING_BANDWIDTH_BELOW_MODEL);
	assert_int_equal(findings.item[1].id, WEFT_FINDING_PAIR_MISSING);
	assert_string_equal(findings.item[0].place, "leaf");
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

/* 22 of the 28 pairs have a slow end: the middle is theirs. */
static void half_of_the_nodes_share_one_drop(void **state)
{
	struct weft_fabric *f = test_fabric(fabric_text);
	struct weft_findings findings = {0};
	uint32_t named = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fputs("a,b,bandwidth\n", out);
	for (int a = 0; a < 8; a++)
		for (int b = a + 1; b < 8; b++)
			fprintf(out, "n%02d,n%02d,%.2f\n", a, b,
				(a >= 4 || b >= 4 ? 30 : 50) +
					0.1 * ((a + b) % 3));
	fclose(out);
	audit_text(f, text, &findings);
	for (uint32_t i = 0; i < findings.n; i++) {
		if (findings.item[i].id != WEFT_FINDING_NODE_SLOW)
			continue;
		named++;
		assert_true(strcmp(findings.item[i].place, "n04") >= 0);
		assert_string_equal(findings.item[i].text,
				    findings.item[0].text);
	}
	assert_int_equal(named, 4);
	free(text);
	weft_findings_free(&findings);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(logs_give_pairs_with_their_failures),
		cmocka_unit_test(half_of_the_nodes_share_one_drop),
		cmocka_unit_test(tables_give_pairs_in_their_units),
		cmocka_unit_test(what_is_neither_is_refused),
		cmocka_unit_test(a_slow_node_is_named_first),
		cmocka_unit_test(slow_uplinks_are_named_first),
		cmocka_unit_test(a_slow_leaf_is_named_first),
		cmocka_unit_test(noise_alone_names_nobody),
		cmocka_unit_test(one_slow_pair_blames_no_node),
		cmocka_unit_test(all_far_below_the_model_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
