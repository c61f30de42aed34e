/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric.c - names, distances and size of fabrics; random ones against a naive
 * model */
#include "topology/fabric.h"
#include "base/clock.h"
#include "tests/lib/fabric.h"
#include "topology/synth.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void gpus_are_found_by_name_and_index(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\n"
					    "nodes:\n  n[8-11]: 4\n  7: 4\n");
	struct weft_error err = {0};
	uint32_t gpu = 0;

	(void)state;
	assert_int_equal(weft_fabric_gpu(f, "n10:3", &gpu, &err), 0);
	assert_int_equal(gpu, 11);
	assert_int_equal(weft_fabric_gpu(f, "n9", &gpu, &err), 0);
	assert_int_equal(gpu, 4);
	assert_int_equal(weft_fabric_gpu(f, "19", &gpu, &err), 0);
	assert_int_equal(gpu, 19);
	/* A node whose name is a number goes before an index. */
	assert_int_equal(weft_fabric_gpu(f, "7", &gpu, &err), 0);
	assert_int_equal(gpu, 16);
	assert_int_equal(weft_fabric_gpu(f, "n10:4", &gpu, &err), -1);
	assert_error_says(&err, "node n10 has 4 GPUs");
	err = (struct weft_error){0};
	assert_int_equal(weft_fabric_gpu(f, "n1", &gpu, &err), -1);
	assert_error_says(&err, "nearest known node is \"n1");
	err = (struct weft_error){0};
	assert_int_equal(weft_fabric_gpu(f, "20", &gpu, &err), -1);
	assert_error_says(&err, "below 20");
	err = (struct weft_error){0};
	assert_int_equal(weft_fabric_gpu(f, "n10:", &gpu, &err), -1);
	err = (struct weft_error){0};
	assert_int_equal(weft_fabric_gpu(f, "n10:1x", &gpu, &err), -1);
	err = (struct weft_error){0};
	assert_int_equal(weft_fabric_gpu(f, "", &gpu, &err), -1);
	weft_fabric_free(f);
}

static void levels_and_nodes_are_found_by_name(void **state)
{
	struct weft_fabric *f =
		test_fabric("weft: fabric/1\nnodes:\n  n[0-3]: 4\n"
			    "levels:\n  leaf:\n    L[0-1]: n[0-3]\n");

	(void)state;
	assert_int_equal(weft_fabric_level(f, "nvlink"), 0);
	assert_int_equal(weft_fabric_level(f, "leaf"), 1);
	assert_int_equal(weft_fabric_level(f, "core"), 2);
	assert_int_equal(weft_fabric_level(f, "node"), 0);
	assert_int_equal(weft_fabric_level(f, "spine"), WEFT_NONE);
	assert_int_equal(weft_fabric_node(f, "n3"), 3);
	assert_int_equal(weft_fabric_node(f, "n"), WEFT_NONE);
	assert_int_equal(weft_fabric_node(f, "n33"), WEFT_NONE);
	assert_int_equal(weft_fabric_node(f, ""), WEFT_NONE);
	weft_fabric_free(f);
	weft_fabric_free(NULL);
}

/* The naive model: things (nodes, NVLink domains, switch domains) that know
 * their parent; distances by walking up. */
enum { MAX_THINGS = 200, MAX_DEPTH = 4 };

struct model {
	uint32_t n_nodes, n_things, n_levels;
	uint32_t gpus[MAX_THINGS], level[MAX_THINGS], parent[MAX_THINGS];
	uint32_t nvlink; /* 0: whole nodes */
	uint32_t rails;
	bool spans, pxn, disjoint;
};

/* Puts every open thing into one of the new domains of `level`; some stay open
 * for a later level unless this is the last. */
static void level_make(struct model *m, uint64_t *seed, uint32_t level)
{
	uint32_t open[MAX_THINGS], n = 0, first = m->n_things, domains;

	for (uint32_t t = 0; t < m->n_things; t++)
		if (m->parent[t] == WEFT_NONE)
			open[n++] = t;
	domains = 1 + test_random_below(seed, (n + 1) / 2);
	for (uint32_t k = 0; k < domains; k++) {
		m->level[m->n_things] = level;
		m->parent[m->n_things++] = WEFT_NONE;
	}
	for (uint32_t k = 0; k < n; k++)
		if (k < domains)
			m->parent[open[k]] = first + k;
		else if (level == m->n_levels + 1 || test_random_below(seed, 5))
			m->parent[open[k]] =
				first + test_random_below(seed, domains);
}

/* Groups neighbouring nodes into NVLink domains; some nodes stay alone. */
static void spans_make(struct model *m, uint64_t *seed)
{
	for (uint32_t t = 0; t + 2 < m->n_nodes; t += 3) {
		if (test_random_below(seed, 4) == 0)
			continue;
		m->level[m->n_things] = 1;
		m->parent[m->n_things] = WEFT_NONE;
		for (uint32_t k = 0; k < 3; k++)
			m->parent[t + k] = m->n_things;
		m->n_things++;
	}
	m->spans = m->n_things > m->n_nodes;
}

static void model_make(struct model *m, uint64_t *seed)
{
	static const uint32_t gpus[] = {4, 8, 2, 1};

	memset(m, 0, sizeof(*m));
	m->n_nodes = 1 + test_random_below(seed, 20);
	m->n_levels = test_random_below(seed, MAX_DEPTH + 1);
	m->spans = test_random_below(seed, 3) == 0;
	m->pxn = test_random_below(seed, 2);
	m->disjoint = test_random_below(seed, 4) == 0;
	m->rails = m->n_levels && test_random_below(seed, 2) ? 2 : 1;
	if (!m->spans && test_random_below(seed, 2))
		m->nvlink = 1;
	for (; m->n_things < m->n_nodes; m->n_things++) {
		m->gpus[m->n_things] = gpus[test_random_below(seed, 4)];
		m->parent[m->n_things] = WEFT_NONE;
	}
	if (m->spans)
		spans_make(m, seed);
	for (uint32_t l = 0; l < m->n_levels; l++)
		level_make(m, seed, l + 2);
}

static void members_write(FILE *out, const struct model *m, uint32_t thing)
{
	const char *comma = "";

	for (uint32_t t = 0; t < m->n_things; t++) {
		if (m->parent[t] != thing)
			continue;
		/* The first network level comes in bundles of two. */
		fprintf(out, "%st%u%s", comma, t,
			m->rails > 1 && m->level[t] == 2 ? "-[0-1]" : "");
		comma = ",";
	}
}

static char *model_write(const struct model *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "weft: fabric/1\npxn: %s\ndisjoint: %s\nrails: %u\n",
		m->pxn ? "yes" : "no", m->disjoint ? "yes" : "no", m->rails);
	fputs("nodes:\n", out);
	for (uint32_t t = 0; t < m->n_nodes; t++)
		fprintf(out, "  t%u: %u\n", t, m->gpus[t]);
	if (m->nvlink)
		fprintf(out, "nvlink: %u\n", m->nvlink);
	if (m->spans)
		fputs("nvlink:\n", out);
	for (uint32_t t = m->n_nodes; t < m->n_things; t++) {
		if (m->level[t] > 1 && m->level[t] != m->level[t - 1])
			fprintf(out, "%s  l%u:\n",
				m->level[t] == 2 ? "levels:\n" : "",
				m->level[t] - 2);
		fprintf(out, "    t%u%s: ", t,
			m->rails > 1 && m->level[t] == 2 ? "-[0-1]" : "");
		members_write(out, m, t);
		fputc('\n', out);
	}
	assert_int_equal(fclose(out), 0);
	return text;
}

/* The thing that holds `node` at model level `level`: its highest ancestor not
 * above that level. */
static uint32_t holder(const struct model *m, uint32_t node, uint32_t level)
{
	uint32_t t = node;

	while (m->parent[t] != WEFT_NONE && m->level[m->parent[t]] <= level)
		t = m->parent[t];
	return t;
}

/* Level of the fabric at which two GPUs of the model meet. */
static uint32_t naive_meet(const struct model *m, const struct weft_fabric *f,
			   uint32_t a_node, uint32_t b_node)
{
	if (a_node == b_node && !m->nvlink)
		return 0;
	if (a_node == b_node)
		return m->nvlink && f->node_level ? 1 : 0;
	for (uint32_t l = 1; l <= m->n_levels + 1; l++)
		if (holder(m, a_node, l) == holder(m, b_node, l))
			return l - 1 + f->node_level;
	if (m->disjoint)
		return f->n_levels;
	return m->n_levels + 1 + f->node_level;
}

static struct weft_distance naive_distance(const struct model *m,
					   const struct weft_fabric *f,
					   uint32_t level, bool cross)
{
	struct weft_distance d = {0};
	double within_s = 0, within_rate = 0;

	if (cross && !m->pxn && level + 1 < f->n_levels)
		level++;
	for (uint32_t l = 0; l <= level; l++) {
		const struct weft_link *link = &f->levels[l].link;

		d.latency_s = fmax(d.latency_s, link->latency_s);
		d.time_s_per_byte =
			fmax(d.time_s_per_byte,
			     link->oversubscription / link->rate_bytes_per_s);
		if (l == f->node_level) {
			within_s = d.latency_s;
			within_rate = d.time_s_per_byte;
		}
	}
	d.hops = level == 0		  ? 1
		 : level <= f->node_level ? 2
					  : 2 * (level - f->node_level);
	if (cross && m->pxn) {
		d.hops++;
		d.latency_s += within_s;
		d.time_s_per_byte = fmax(d.time_s_per_byte, within_rate);
	}
	return d;
}

static void pair_check(const struct model *m, const struct weft_fabric *f,
		       uint32_t a, uint32_t b)
{
	const struct weft_node *x = &f->nodes[f->gpu_node[a]];
	const struct weft_node *y = &f->nodes[f->gpu_node[b]];
	uint32_t level = naive_meet(m, f, x->order, y->order);
	uint32_t rail_x = (a - x->first_gpu) * m->rails / x->n_gpus;
	uint32_t rail_y = (b - y->first_gpu) * m->rails / y->n_gpus;
	bool cross = x != y && rail_x != rail_y && level > 0;
	struct weft_distance got = weft_fabric_distance(f, a, b), want;

	assert_int_equal(weft_fabric_meet(f, a, b), level);
	if (level == f->n_levels) {
		assert_int_equal(got.hops, UINT32_MAX);
		assert_true(isinf(got.latency_s) && isinf(got.time_s_per_byte));
		return;
	}
	want = naive_distance(m, f, level, cross);
	assert_int_equal(got.hops, want.hops);
	assert_close(got.latency_s, want.latency_s, 1e-12);
	assert_close(got.time_s_per_byte, want.time_s_per_byte, 1e-12);
}

static void random_fabrics_agree_with_the_naive_model(void **state)
{
	uint64_t seed = test_seed();
	struct model m;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct weft_fabric *f;
		char *text;

		model_make(&m, &seed);
		text = model_write(&m);
		f = test_fabric(text);
		for (uint32_t a = 0; a < f->n_gpus; a++)
			for (uint32_t b = 0; b < f->n_gpus; b++)
				if (a != b)
					pair_check(&m, f, a, b);
		weft_fabric_free(f);
		free(text);
	}
}

static void the_same_gpu_is_at_distance_zero(void **state)
{
	struct weft_fabric *f = test_fabric("weft: fabric/1\nnodes: {n: 2}\n");
	struct weft_distance d = weft_fabric_distance(f, 1, 1);

	(void)state;
	assert_int_equal(d.hops, 0);
	assert_true(d.latency_s == 0 && d.time_s_per_byte == 0);
	weft_fabric_free(f);
}

static void a_hundred_thousand_gpus_load_fast_and_small(void **state)
{
	const struct weft_synth_options options = {.rails = 8};
	struct weft_error err = {0};
	char *text = weft_synth("pod:8 leaf:50 node:32 gpu:8", &options, &err);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	double start = weft_clock_s(), elapsed;
	struct weft_fabric *f;
	size_t resident;

	(void)state;
	assert_no_error(&err);
	f = weft_fabric_parse(text, strlen(text), "big", &err);
	elapsed = weft_clock_s() - start;
	resident = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	assert_no_error(&err);
	assert_int_equal(f->n_gpus, 102400);
	print_message("%.3f s, %zu bytes a GPU\n", elapsed,
		      resident / f->n_gpus);
	/* Generous for sanitizers and busy machines. */
	assert_true(elapsed < 5);
	assert_true(resident / f->n_gpus < 200);
	weft_fabric_free(f);
	free(text);
}

/* One line a node and one a leaf, with long names: as a careless generator
 * would write it. */
static void a_file_of_ten_megabytes_loads(void **state)
{
	enum { N_NODES = 120000 };
	struct weft_error err = {0};
	struct weft_fabric *f;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	fputs("weft: fabric/1\nnodes:\n", out);
	for (int k = 0; k < N_NODES; k++)
		fprintf(out, "  a-rather-long-node-name-%06d: {gpus: 8}\n", k);
	fputs("levels:\n  leaf:\n", out);
	for (int k = 0; k < N_NODES; k++)
		fprintf(out, "    leaf%06d: a-rather-long-node-name-%06d\n", k,
			N_NODES - 1 - k);
	assert_int_equal(fclose(out), 0);
	assert_true(size > 10 << 20);
	f = weft_fabric_parse(text, size, "big", &err);
	assert_no_error(&err);
	assert_int_equal(f->n_nodes, N_NODES);
	weft_fabric_free(f);
	free(text);
}

static void errors_in_big_files_are_found_fast_and_exactly(void **state)
{
	enum { N_NODES = 20000 };
	struct weft_error err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	fputs("weft: fabric/1\nnodes:\n", out);
	for (int k = 0; k < N_NODES; k++)
		fprintf(out, "  n%d: 8\n", k);
	fputs("levels:\n  leaf:\n    L0: n[0-19998],n20000\n", out);
	assert_int_equal(fclose(out), 0);
	assert_null(weft_fabric_parse(text, size, "big", &err));
	assert_error_says(&err, "\"n20000\" is not defined");
	assert_error_says(&err, "nearest known name is \"n10000\"");
	assert_int_equal(err.line, N_NODES + 5);
	assert_int_equal(err.column, 20);
	free(text);
}

static void shares_lie_on_a_line_over_the_logarithm(void **state)
{
	static const char text[] =
		"weft: fabric/1\nnodes:\n  n[0-1]: 8\nlevels:\n  leaf:\n"
		"    L: n[0-1]\nlinks:\n"
		"  leaf: {shares: {1MiB: 0.2, 16 MiB: 0.6, 1GB: 0.9}}\n";
	struct weft_error err = {0};
	struct weft_fabric *f =
		weft_fabric_parse(text, strlen(text), "shares", &err);

	(void)state;
	assert_no_error(&err);
	assert_close(weft_fabric_rate_share(f, 1, 1), 0.2, 0);
	assert_close(weft_fabric_rate_share(f, 1, 1 << 20), 0.2, 1e-12);
	assert_close(weft_fabric_rate_share(f, 1, 1 << 21), 0.3, 1e-12);
	assert_close(weft_fabric_rate_share(f, 1, 1 << 23), 0.5, 1e-12);
	assert_close(weft_fabric_rate_share(f, 1, 1 << 24), 0.6, 1e-12);
	assert_close(weft_fabric_rate_share(f, 1, 1e9), 0.9, 1e-12);
	assert_close(weft_fabric_rate_share(f, 1, 1e12), 0.9, 0);
	/* no size, and no shares */
	assert_close(weft_fabric_rate_share(f, 1, 0), 1, 0);
	assert_close(weft_fabric_rate_share(f, 0, 1 << 20), 1, 0);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_are_found_by_name_and_index),
		cmocka_unit_test(levels_and_nodes_are_found_by_name),
		cmocka_unit_test(the_same_gpu_is_at_distance_zero),
		cmocka_unit_test(random_fabrics_agree_with_the_naive_model),
		cmocka_unit_test(a_hundred_thousand_gpus_load_fast_and_small),
		cmocka_unit_test(a_file_of_ten_megabytes_loads),
		cmocka_unit_test(
			errors_in_big_files_are_found_fast_and_exactly),
		cmocka_unit_test(shares_lie_on_a_line_over_the_logarithm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
