/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_bound.c - bounds against optima and best known answers */
#include "placement/mapping/mapping.h"

#include "lab/map/arch.h"
#include "lab/map/map.h"
#include "lab/map/metis.h"
#include "placement/bounds/contour.h"
#include "placement/bounds/cut.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SITES 12
#define N_CASES	  300 /* of each kind */

/* A small graph as a matrix. */
struct matrix {
	uint32_t n;
	double weight[MAX_SITES][MAX_SITES];
};

static struct graph graph_of(const struct matrix *m)
{
	struct graph g = {.n = m->n};
	struct weft_error err = {0};

	g.row = weft_calloc(m->n + (size_t)1, sizeof(*g.row), &err);
	g.peer = weft_calloc((size_t)m->n * m->n, sizeof(*g.peer), &err);
	g.weight = weft_calloc((size_t)m->n * m->n, sizeof(*g.weight), &err);
	assert_no_error(&err);
	for (uint32_t i = 0; i < m->n; i++) {
		for (uint32_t j = 0; j < m->n; j++) {
			if (i == j || m->weight[i][j] == 0)
				continue;
			g.peer[g.n_edges] = j;
			g.weight[g.n_edges++] = m->weight[i][j];
		}
		g.row[i + 1] = g.n_edges;
	}
	return g;
}

static void put(struct matrix *m, uint32_t i, uint32_t j, double weight)
{
	m->weight[i][j] += weight;
	m->weight[j][i] += weight;
}

static uint32_t percent(uint64_t *random)
{
	return test_random_below(random, 100);
}

static void random_graph(struct matrix *m, uint32_t n, uint64_t *random)
{
	memset(m, 0, sizeof(*m));
	m->n = n;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			if (percent(random) < 40)
				put(m, i, j, 1 + test_random_below(random, 5));
}

/* What joins two vertices of a line. */
enum { CLIQUE, RING, PATH, CLIQUE_AND_PATH, N_LINES };

static double on_line(uint32_t kind, uint32_t size, uint32_t a, uint32_t b,
		      double w)
{
	bool next = a - b == 1 || b - a == 1;
	bool ends = size > 2 && (a + b == size - 1) && (!a || !b);

	switch (kind) {
	case CLIQUE:
		return w;
	case RING:
		return next || ends ? w : 0;
	case PATH:
		return next ? w : 0;
	default:
		return w + (next ? w / 2 : 0);
	}
}

/* Sizes of axes that multiply to n; returns how many. */
static uint32_t random_sizes(uint32_t n, uint32_t *size, uint64_t *random)
{
	uint32_t k = 0;

	for (uint32_t p = 2; n > 1;) {
		if (n % p) {
			p++;
			continue;
		}
		if (k && percent(random) < 40)
			size[k - 1] *= p;
		else
			size[k++] = p;
		n /= p;
	}
	return k;
}

static void shuffle(uint32_t *name, uint32_t n, uint64_t *random)
{
	for (uint32_t i = 0; i < n; i++)
		name[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = test_random_below(random, i), other = name[j];

		name[j] = name[i - 1];
		name[i - 1] = other;
	}
}

struct axes {
	uint32_t n, size[4], kind[4];
	double weight[4];
};

/* Weight between two vertices that differ along one axis; else 0. */
static double between(const struct axes *axes, uint32_t i, uint32_t j)
{
	uint32_t differ = 0;
	double w = 0;

	for (uint32_t x = 0; x < axes->n; x++) {
		uint32_t size = axes->size[x], a = i % size, b = j % size;

		if (a != b) {
			w = on_line(axes->kind[x], size, a, b, axes->weight[x]);
			differ++;
		}
		i /= size;
		j /= size;
	}
	return differ == 1 ? w : 0;
}

/* A product of lines under a random numbering.  uneven: lines differ by the
 * layers that they are in, and some edges are on no line. */
static void random_lattice(struct matrix *m, uint32_t n, bool uneven,
			   uint64_t *random)
{
	uint32_t name[MAX_SITES];
	struct axes axes;

	memset(m, 0, sizeof(*m));
	m->n = n;
	axes.n = random_sizes(n, axes.size, random);
	for (uint32_t i = 0; i < axes.n; i++) {
		axes.kind[i] = test_random_below(random, N_LINES);
		/* classes of their own */
		axes.weight[i] = 1 + test_random_below(random, 40) + 0.25 * i;
	}
	shuffle(name, n, random);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++) {
			double w = between(&axes, i, j);

			if (uneven && w > 0 && i < n / 2)
				w *= 1.1;
			if (uneven && w == 0 && percent(random) < 5)
				w = 0.3;
			if (w > 0)
				put(m, name[i], name[j], w);
		}
	}
}

static void random_tree(struct sites *s, uint32_t n, bool rails,
			uint64_t *random)
{
	uint8_t meet[MAX_SITES];
	uint32_t node[MAX_SITES] = {0}, rail[MAX_SITES] = {0};
	uint32_t levels = 2 + test_random_below(random, 3);
	uint32_t even = test_random_below(random, 2) ? n / 2 : 0;
	double distance[5] = {test_random_below(random, 2)};
	struct sites_tree tree = {
		n, levels, meet, node, rails ? rail : NULL, distance, 0};
	struct weft_error err = {0};

	for (uint32_t l = 1; l < levels; l++)
		distance[l] = distance[l - 1] + test_random_below(random, 9);
	if (rails)
		tree.rail_distance = 1 + test_random_below(random, 5);
	for (uint32_t i = 0; i + 1 < n; i++) {
		meet[i] = 0;
		if (even ? (i + 1) % even == 0 : percent(random) < 45)
			meet[i] = (uint8_t)(1 + test_random_below(random,
								  levels - 1));
		node[i + 1] = node[i] + (meet[i] > 0);
		rail[i + 1] = meet[i] ? 0 : rail[i] + 1;
	}
	sites_from_tree(&tree, s, &err);
	assert_no_error(&err);
}

/* Vertex by vertex on every site that is left. */
struct exact {
	const struct matrix *m;
	const struct sites *s;
	uint32_t site[MAX_SITES];
	bool taken[MAX_SITES];
	double best;
};

static void extend(struct exact *x, uint32_t v, double cost)
{
	if (cost >= x->best)
		return;
	if (v == x->m->n) {
		x->best = cost;
		return;
	}
	for (uint32_t p = 0; p < x->s->n; p++) {
		double more = 0;

		if (x->taken[p])
			continue;
		for (uint32_t u = 0; u < v; u++)
			if (x->m->weight[v][u] > 0)
				more += x->m->weight[v][u] *
					sites_distance(x->s, p, x->site[u]);
		x->taken[p] = true;
		x->site[v] = p;
		extend(x, v + 1, cost + more);
		x->taken[p] = false;
	}
}

static double optimum(const struct matrix *m, const struct sites *s)
{
	struct exact x = {.m = m, .s = s, .best = INFINITY};

	extend(&x, 0, 0);
	return x.best;
}

static double bound_of(const struct matrix *m, const struct sites *s,
		       uint64_t work)
{
	struct effort effort = {.work = work};
	struct weft_error err = {0};
	struct graph g = graph_of(m);
	double bound;

	mapping_bound(&g, s, &effort, &bound, &err);
	assert_no_error(&err);
	graph_free(&g);
	return bound;
}

static void bound_is_never_above_the_optimum(void **state)
{
	static const struct {
		const char *desc;
		bool lattice, uneven, spare, rails;
	} kinds[] = {
		{"any graph", false, false, false, false},
		{"any graph, spare sites", false, false, true, false},
		{"any graph, rails", false, false, false, true},
		{"lattice", true, false, false, false},
		{"lattice, spare sites", true, false, true, false},
		{"lattice, rails", true, false, false, true},
		{"uneven lattice", true, true, false, false},
		{"uneven lattice, spare sites, rails", true, true, true, true},
	};
	uint64_t random = test_seed();

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		double found = 0, least = 0, best, bound;

		for (uint32_t i = 0; i < N_CASES; i++) {
			uint32_t n = 4 + test_random_below(&random, 5);
			uint32_t more = kinds[k].spare && n < 8 ? 1 + i % 2 : 0;
			struct matrix m;
			struct sites s;

			if (kinds[k].lattice)
				random_lattice(&m, n, kinds[k].uneven, &random);
			else
				random_graph(&m, n, &random);
			random_tree(&s, n + more, kinds[k].rails, &random);
			best = optimum(&m, &s);
			bound = bound_of(&m, &s, UINT64_MAX);
			assert_true(bound <= best * (1 + 1e-9) + 1e-9);
			assert_true(bound_of(&m, &s, 0) <= bound + 1e-9);
			found += bound;
			least += best;
			sites_free(&s);
		}
		print_message("%-36s %.3f of the optimum\n", kinds[k].desc,
			      found / least);
	}
}

/* Least weight between parts of these sizes, by subsets. */
static double least_cut(const struct matrix *m, const uint32_t *size,
			uint32_t n_sizes)
{
	uint32_t all = (1u << m->n) - 1, before = 0;
	double *cut = calloc(all + (size_t)1, 2 * sizeof(*cut)), *best, sum;

	assert_non_null(cut);
	best = cut + all + 1;
	for (uint32_t set = 1; set <= all; set++) {
		best[set] = INFINITY;
		for (uint32_t i = 0; i < m->n; i++)
			for (uint32_t j = 0; j < m->n; j++)
				if (set >> i & 1 && !(set >> j & 1))
					cut[set] += m->weight[i][j] / 2;
	}
	for (uint32_t k = 0; k < n_sizes; before += size[k++]) {
		for (uint32_t set = all; set > 0; set--) {
			if ((uint32_t)__builtin_popcount(set) !=
			    before + size[k])
				continue;
			for (uint32_t part = set; part;
			     part = (part - 1) & set) {
				if ((uint32_t)__builtin_popcount(part) !=
				    size[k])
					continue;
				best[set] = fmin(best[set],
						 best[set ^ part] + cut[part]);
			}
		}
	}
	sum = best[all];
	free(cut);
	return sum;
}

/* Least weight between domains that are filled as `parts` allows, from the k-th
 * on. */
static double least_filling(const struct matrix *m, const struct parts *parts,
			    uint32_t *size, uint32_t k, uint32_t left)
{
	double best = INFINITY;

	if (k == parts->n) {
		uint32_t used = 0, full[MAX_SITES];

		for (uint32_t i = 0; i < parts->n; i++)
			if (size[i])
				full[used++] = size[i];
		if (left || used < parts->min_used ||
		    (parts->max_used && used > parts->max_used))
			return INFINITY;
		return least_cut(m, full, used);
	}
	for (uint32_t s = 0; s <= parts->size[k] && s <= left; s++) {
		if (parts->step && s % parts->step)
			continue;
		size[k] = s;
		best = fmin(best,
			    least_filling(m, parts, size, k + 1, left - s));
	}
	return best;
}

static void check_contour(const struct matrix *m, const struct parts *parts,
			  const struct contour_terms *terms)
{
	struct effort effort = {.work = UINT64_MAX};
	struct weft_error err = {0};
	struct contour_lines lines = {0};
	struct lattice l;
	struct contour c = {0};
	struct graph g = graph_of(m);
	uint32_t size[MAX_SITES];
	double cut = 0;

	assert_false(lattice_find(&g, &effort, &l, &err));
	if (l.n_axes) {
		contour_lines_build(&l, &lines, &err);
		contour_build(&l, &lines, terms, parts->size[0], &effort, &c,
			      &err);
		assert_true(c.complete);
		cut_by_contour(&c, parts, &cut, &err);
		assert_no_error(&err);
	}
	assert_true(cut <=
		    least_filling(m, parts, size, 0, parts->n_vertices) + 1e-9);
	contour_free(&c);
	contour_lines_free(&lines);
	lattice_free(&l);
	graph_free(&g);
}

static void check_all_terms(const struct matrix *m, const struct parts *parts)
{
	const struct contour_terms terms[] = {
		{0, 0, false, false},
		{1, 0, false, false},
		{0.5, parts->size[0], false, false},
		{1, 0, true, false},
		{1, parts->size[0], true, false},
		{1, 1, false, true},
		{1, 1, true, true},
	};

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++)
		check_contour(m, parts, &terms[i]);
}

static void contours_cut_no_more_than_any_partition(void **state)
{
	static const uint32_t n[] = {8, 9, 10, 12};
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 160; i++) {
		uint32_t size[MAX_SITES] = {0}, left = n[i % 4];
		struct parts parts = {
			.n_vertices = left, .n_sites = left, .size = size};
		struct matrix m;

		random_lattice(&m, left, i % 8 > 3, &random);
		while (left) {
			uint32_t most = parts.n ? size[parts.n - 1] : left - 1;
			uint32_t s = 1 + test_random_below(&random, most);

			size[parts.n] = s < left ? s : left;
			left -= size[parts.n++];
		}
		parts.step = 0;
		check_all_terms(&m, &parts);
	}
}

static void contours_heed_how_domains_may_be_filled(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t n = i % 2 ? 8 : 6, size[3], used;
		struct parts parts = {.n = 3, .n_vertices = n, .size = size};
		struct matrix m;

		random_lattice(&m, n, i % 4 > 1, &random);
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t most = k ? size[k - 1] : n;

			size[k] = most - test_random_below(&random, 2);
			parts.n_sites += size[k];
		}
		parts.step = 1 + test_random_below(&random, 2);
		used = 2 + test_random_below(&random, 2);
		parts.min_used = i % 3 ? used : 0;
		parts.max_used = i % 5 ? used : 0;
		check_all_terms(&m, &parts);
	}
}

static void bound_does_not_depend_on_the_numbering(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t n = 8 + 2 * (i % 3), name[MAX_SITES];
		struct matrix m, other = {.n = n};
		struct sites s;

		random_lattice(&m, n, false, &random);
		shuffle(name, n, &random);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				other.weight[name[a]][name[b]] = m.weight[a][b];
		random_tree(&s, n, i % 3 == 0, &random);
		assert_close(bound_of(&m, &s, UINT64_MAX),
			     bound_of(&other, &s, UINT64_MAX), 1e-9);
		sites_free(&s);
	}
}

static void bound_of_a_regular_problem_is_its_optimum(void **state)
{
	struct matrix m = {.n = 12};
	struct weft_error err = {0};
	uint8_t meet[11];
	uint32_t node[12];
	double distance[] = {1, 5, 8};
	struct sites_tree tree = {12, 3, meet, node, NULL, distance, 0};
	struct sites s;

	(void)state;
	/* pairs of 100, 3 of which make a ring of 10, and two rings joined by
	 * 1: a pair is a node, a ring a domain */
	for (uint32_t v = 0; v < 12; v++) {
		uint32_t pair = v / 2, ring = pair / 3, at = pair % 3;

		if (v % 2)
			put(&m, v, v - 1, 100);
		put(&m, v, 2 * (3 * ring + (at + 1) % 3) + v % 2, 10);
		if (ring)
			put(&m, v, v - 6, 1);
		node[v] = pair;
		if (v < 11)
			meet[v] = v == 5 ? 2 : v % 2;
	}
	sites_from_tree(&tree, &s, &err);
	assert_no_error(&err);
	/* 6 pairs of 100 inside, 12 edges of 10, 6 of 1 */
	assert_close(bound_of(&m, &s, UINT64_MAX), 600 * 1 + 120 * 5 + 6 * 8,
		     1e-12);
	sites_free(&s);
}

/* Reads an instance; false where there is none. */
static bool load(const char *name, struct graph *g, struct arch *a)
{
	struct weft_error err = {0};
	struct scan s;
	char path[128];
	const char *file;

	snprintf(path, sizeof(path), "data/mapping/%s.graph", name);
	file = test_shared(path);
	if (!file)
		return false;
	assert_false(scan_load(&s, file, &err) || metis_read(&s, g));
	scan_free(&s);
	snprintf(path, sizeof(path), "data/mapping/%s.arch", name);
	file = test_shared(path);
	assert_false(scan_load(&s, file, &err) || arch_read(&s, a));
	scan_free(&s);
	return true;
}

static void bound_of_public_instances_is_near_the_best_known(void **state)
{
	/* cost with every byte inside a node, and the best known */
	static const struct {
		const char *name;
		double floor, best;
	} cases[] = {
		{"p01-llama70b-512-reg", 594044672, 654286592},
		{"p02-llama70b-512-frag", 594044672, 666652304},
		{"p03-llama405b-4096-reg", 251742208, 422479872},
		{"p04-llama405b-4096-frag", 251742208, 436547256},
		{"p05-mixtral8x22b-512-frag", 48924928, 213017034},
		{"p06-gpt175b-1024-frag", 414796032, 602424048},
		{"p07-llama70b-nvl72-576", 677198016, 732755584},
		{"p08-gpt20b-288of296", 22828608, 32286048},
		{"p09-gpt20b-64-small", 6880288, 8954960},
		{"p10-dsv3-1024-perm", 440495616, 4316888631},
	};
	double product = 1;
	uint32_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct effort effort = {.work = 400000000};
		struct weft_error err = {0};
		double bound, ratio;
		struct graph g;
		struct arch a;

		if (!load(cases[i].name, &g, &a))
			continue;
		mapping_bound(&g, &a.sites, &effort, &bound, &err);
		assert_no_error(&err);
		ratio = (bound - cases[i].floor) /
			(cases[i].best - cases[i].floor);
		print_message("%-26s %.4f\n", cases[i].name, ratio);
		assert_true(bound <= cases[i].best);
		product *= ratio;
		n++;
		arch_free(&a);
		graph_free(&g);
	}
	if (!n) {
		print_message("skipped: no ../shared/data/mapping\n");
		skip();
	}
	assert_true(pow(product, 1.0 / n) >= 0.98);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound_is_never_above_the_optimum),
		cmocka_unit_test(contours_cut_no_more_than_any_partition),
		cmocka_unit_test(contours_heed_how_domains_may_be_filled),
		cmocka_unit_test(bound_does_not_depend_on_the_numbering),
		cmocka_unit_test(bound_of_a_regular_problem_is_its_optimum),
		cmocka_unit_test(
			bound_of_public_instances_is_near_the_best_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
