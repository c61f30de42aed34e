/* SPDX-License-Identifier: GPL-3.0-or-later */
/* health.c - files of slow nodes, and what they do to a job */
#include "costmodel/time/health.h"

#include "tests/lib/fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct weft_health health_parse(const struct weft_fabric *f,
				       const char *text, const char *source)
{
	struct weft_error err = {0};
	struct weft_health health = {0};

	weft_health_parse(text, strlen(text), source, f, &health, &err);
	assert_no_error(&err);
	return health;
}

static void yaml_and_csv_say_the_same(void **state)
{
	static const struct {
		const char *source, *text;
	} files[] = {
		{"h.yaml", "weft: health/1\n"
			   "nodes:\n"
			   "  n[2,5]: 1.25\n"
			   "  n7: 3\n"},
		{"h.csv", "# measured today\n"
			  "node,factor\r\n"
			  "\"n[2,5]\" , 1.25\r\n"
			  "\n"
			  "n7,3\n"},
		{"bare.csv", " node , factor\nn7,3\nn[2,5],1.25"},
	};
	const double expected[] = {1, 1, 1.25, 1, 1, 1.25, 1, 3};
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct weft_health health =
			health_parse(f, files[i].text, files[i].source);

		assert_int_equal(health.n_nodes, 8);
		for (uint32_t k = 0; k < 8; k++)
			assert_true(health.factor[k] == expected[k]);
		weft_health_free(&health);
	}
	weft_health_free(NULL);
	weft_fabric_free(f);
}

static void a_file_without_nodes_is_all_healthy(void **state)
{
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);
	struct weft_health yaml = health_parse(f, "weft: health/1\n", "h.yaml");
	struct weft_health csv = health_parse(f, "node,factor\n", "h.csv");

	(void)state;
	for (uint32_t k = 0; k < 8; k++)
		assert_true(yaml.factor[k] == 1 && csv.factor[k] == 1);
	weft_health_free(&yaml);
	weft_health_free(&csv);
	weft_fabric_free(f);
}

static void mistakes_are_shown_where_they_are(void **state)
{
	static const struct {
		const char *source, *text;
		int line, column;
		const char *says;
	} rows[] = {
		{"h.yaml", "nodes:\n  n1: 2\n", 1, 1, "weft: health/1"},
		{"h.yaml", "weft: fabric/1\n", 1, 7, "weft: health/1"},
		{"h.yaml", "weft: health/1\nnodes:\n  n1: slow\n", 3, 7,
		 "number"},
		{"h.yaml", "weft: health/1\nnodes:\n  n1: 0.01\n", 3, 7, "0.1"},
		{"h.yaml", "weft: health/1\nnodes:\n  n1,m2: 2\n", 3, 6,
		 "unknown node \"m2\": the nearest of the fabric is \"n2\""},
		{"h.yaml", "weft: health/1\nnodes:\n  n[1-3]: 2\n  n3: 2\n", 4,
		 3, "node n3 is named twice"},
		{"h.yaml", "weft: health/1\nnode:\n", 2, 1, "nodes"},
		{"h.csv", "", 1, 1, "the header \"node,factor\""},
		{"h.csv", "host,slow\n", 1, 1, "the header \"node,factor\""},
		{"h.csv", "node,factor\n\nn1;2\n", 3, 1, "\"node,factor\""},
		{"h.csv", "node,factor\nn1, x2\n", 2, 5, "number"},
		{"h.csv", "node,factor\nn1,2000\n", 2, 4, "1000"},
		{"h.csv", "node,factor\n n1,m2,1\n", 2, 5,
		 "unknown node \"m2\""},
		{"h.csv", "node,factor\n\"n[1,m]\",1\n", 2, 6, ""},
		{"h.csv", "node,factor\nn1,1\nn1,1\n", 3, 1, "named twice"},
		{"h.csv", "node,factor\n# \xc3\xa4\nn\x1b,1\n", 3, 2,
		 "byte \\x1b"},
	};
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct weft_health health = {0};
		struct weft_error err = {0};

		assert_int_equal(
			weft_health_parse(rows[i].text, strlen(rows[i].text),
					  rows[i].source, f, &health, &err),
			-1);
		assert_error_says(&err, rows[i].says);
		assert_string_equal(err.source, rows[i].source);
		assert_int_equal(err.line, rows[i].line);
		assert_int_equal(err.column, rows[i].column);
		weft_health_free(&health);
	}
	weft_fabric_free(f);
}

static void files_are_read_or_refused(void **state)
{
	static const char path[] = "health-test.csv";
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);
	struct weft_health health = {0};
	struct weft_error err = {0};

	(void)state;
	test_write_file(path, "node,factor\nn3,1.5\n");
	weft_health_load(path, f, &health, &err);
	unlink(path);
	assert_no_error(&err);
	assert_true(health.factor[3] == 1.5);
	weft_health_free(&health);
	assert_int_equal(weft_health_load(path, f, &health, &err), -1);
	assert_int_equal(err.code, WEFT_EIO);
	memset(&err, 0, sizeof(err));
	assert_int_equal(weft_health_load("/", f, &health, &err), -1);
	assert_int_equal(err.code, WEFT_EIO);
	weft_fabric_free(f);
}

/* 32 ranks: tp=2 inside nodes of 4, pp=2, dp=8 or what is given. */
static struct weft_slowdown slowdown(const struct weft_fabric *f,
				     const char *job, const char *health_text)
{
	struct weft_health health = health_parse(f, health_text, "h.csv");
	struct weft_slowdown result;
	struct weft_error err = {0};
	struct weft_spec spec;
	struct weft_grid grid;
	uint32_t where[32];

	weft_spec_parse(job, &spec, &err);
	weft_spec_resolve(&spec, 0, &err);
	weft_spec_grid(&spec, &grid, &err);
	assert_no_error(&err);
	for (uint32_t r = 0; r < 32; r++)
		where[r] = r;
	weft_health_slowdown(&health, f, &spec, &grid, where, &result, &err);
	assert_no_error(&err);
	weft_health_free(&health);
	return result;
}

static void the_step_waits_for_the_slowest_pipeline(void **state)
{
	static const char job[] = "tp=2,pp=2,dp=8,gbs=64,order=tp-dp-pp";
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);
	struct weft_slowdown s;

	(void)state;
	s = slowdown(f, job, "node,factor\n");
	assert_close(s.factor, 1, 1e-12);
	assert_int_equal(s.rank, WEFT_NONE);
	assert_int_equal(s.node, WEFT_NONE);
	/* Stage 0 of two replicas at 1.5: 8 beats of 1.5 and one of 1. */
	s = slowdown(f, job, "node,factor\nn1,1.5\n");
	assert_close(s.factor, 13.0 / 9, 1e-12);
	assert_int_equal(s.rank, 4);
	assert_int_equal(s.node, 1);
	/* Nodes 1 and 5 have both stages of the same replicas. */
	s = slowdown(f, job, "node,factor\nn1,1.5\nn5,1.5\n");
	assert_close(s.factor, 1.5, 1e-12);
	/* Different replicas wait once. */
	s = slowdown(f, job, "node,factor\nn1,1.5\nn6,1.5\n");
	assert_close(s.factor, 13.0 / 9, 1e-12);
	/* All faster than assumed: nobody is waited for. */
	s = slowdown(f, job, "node,factor\nn[0-7],0.5\n");
	assert_close(s.factor, 0.5, 1e-12);
	assert_int_equal(s.rank, WEFT_NONE);
	weft_fabric_free(f);
}

static void without_a_pipeline_the_slowest_rank_decides(void **state)
{
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);
	struct weft_slowdown s;

	(void)state;
	s = slowdown(f, "tp=4,dp=8", "node,factor\nn[0-3],1.1\nn6,1.3\n");
	assert_close(s.factor, 1.3, 1e-12);
	assert_int_equal(s.rank, 24);
	assert_int_equal(s.node, 6);
	weft_fabric_free(f);
}

static void links_are_named_by_the_domain_below(void **state)
{
	static const struct {
		const char *text, *says;
		int line;
	} wrong[] = {
		{"weft: health/1\nlinks:\n  leaf0: 0.5\n", "1", 3},
		{"weft: health/1\nlinks:\n  nowhere: 2\n", "nowhere", 3},
		{"weft: health/1\nlinks:\n  leaf0: 2\n  leaf[0-1]: 3\n",
		 "twice", 4},
		{"weft: health/1\nlinks: 2\n", "links", 2},
	};
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:4", NULL);
	struct weft_health health = health_parse(
		f, "weft: health/1\nlinks:\n  leaf1: 2.5\n", "h.yaml");
	uint32_t n_ill = 0;

	(void)state;
	assert_int_equal(health.n_domains, f->n_domains);
	for (uint32_t d = 0; d < f->n_domains; d++) {
		if (health.link[d] == 1)
			continue;
		n_ill++;
		assert_string_equal(f->domains[d].name, "leaf1");
		assert_close(health.link[d], 2.5, 1e-12);
	}
	assert_int_equal(n_ill, 1);
	weft_health_free(&health);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(weft_health_parse(wrong[i].text,
						   strlen(wrong[i].text),
						   "h.yaml", f, &health, &err),
				 -1);
		assert_error_says(&err, wrong[i].says);
		assert_int_equal(err.line, wrong[i].line);
		weft_health_free(&health);
	}
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yaml_and_csv_say_the_same),
		cmocka_unit_test(a_file_without_nodes_is_all_healthy),
		cmocka_unit_test(mistakes_are_shown_where_they_are),
		cmocka_unit_test(files_are_read_or_refused),
		cmocka_unit_test(the_step_waits_for_the_slowest_pipeline),
		cmocka_unit_test(without_a_pipeline_the_slowest_rank_decides),
		cmocka_unit_test(links_are_named_by_the_domain_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
